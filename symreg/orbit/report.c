/* report.c - the answer in a person's words: on the terminal, and as report.md. */
#include "orbit.h"

#include <math.h>
#include <string.h>

#include "base/text.h"

/* Where lines go: to standard output, or into a file of Markdown. */
struct page {
    const struct sr_orbit_answer *answer;
    bool markdown;
    struct orr_file *file;
    FILE *out; /* in place of the file */
};

__attribute__((format(printf, 2, 3))) static void say(const struct page *page, const char *format,
                                                      ...)
{
    char text[1024];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (page->markdown)
        orr_file_write(page->file, text, strlen(text));
    else
        fputs(text, page->out);
}

/* Decimals that show two digits of an error. */
static int decimals_of(double error)
{
    int decimals = 0;
    for (double size = error; isfinite(size) && size > 0 && size < 9.5 && decimals < 12; decimals++)
        size *= 10;
    return decimals;
}

/* "1201.1 +- 5.6", and "1190.2 to 1212.3"; without an error six digits. */
static void write_numbers(const struct sr_value *value, double unit, double since, char text[80],
                          char interval[80])
{
    const double error = value->error * unit;
    const int decimals = decimals_of(error);
    *interval = '\0';
    if (!isfinite(error)) {
        snprintf(text, 80, since != 0 ? "%.9g" : "%.6g", value->value * unit + since);
        return;
    }
    snprintf(text, 80, "%.*f +- %.*f", decimals, value->value * unit + since, decimals, error);
    snprintf(interval, 80, "%.*f to %.*f", decimals, value->low * unit + since, decimals,
             value->high * unit + since);
}

bool sr_orbit_line(const struct sr_orbit_answer *a, int p, int k, struct sr_orbit_line *line)
{
    static const struct {
        const char *name, *unit;
    } of[SR_ELEMENT_A_SIN_I] = {{"semi-amplitude K", "unit of velocity"},
                                {"period P", "unit of time"},
                                {"eccentricity e", ""},
                                {"omega of the star", "degrees"},
                                {"T0 of periastron", "unit of time"},
                                {"T0 of conjunction", "unit of time"}};
    const double earths = 317.828; /* GM of IAU 2015 B3 */
    const struct sr_planet *const planet = p < 0 ? NULL : &a->planet[p];
    const bool is_time = planet && (k == SR_ELEMENT_PERIASTRON || k == SR_ELEMENT_CONJUNCTION);
    const struct sr_value *value;
    double unit = 1;
    line->unit = "";
    if (!planet) {
        char shown[40];
        if (k >= 2 * a->data->instruments)
            return false;
        orr_shown(shown, sizeof shown, a->data->name[k / 2]);
        snprintf(line->name, sizeof line->name, "%s%s%s", k % 2 ? "jitter" : "gamma",
                 *shown ? " of " : "", shown);
        value = k % 2 ? &a->jitter[k / 2] : &a->gamma[k / 2];
    } else if (k < SR_ELEMENT_A_SIN_I) {
        snprintf(line->name, sizeof line->name, "%s", of[k].name);
        line->unit = of[k].unit;
        value = &planet->element[k];
        unit = k == SR_ELEMENT_OMEGA ? SR_ORBIT_DEGREES : 1;
    } else if (a->star_mass > 0 && k < SR_ELEMENT_A_SIN_I + 2) {
        const bool light = planet->mass.value < 0.1, mass = k == SR_ELEMENT_A_SIN_I;
        snprintf(line->name, sizeof line->name, "%s",
                 !mass   ? "semi-major axis, AU"
                 : light ? "m sin i, Earths"
                         : "m sin i, Jupiters");
        value = mass ? &planet->mass : &planet->axis;
        unit = mass && light ? earths : 1;
    } else {
        return false;
    }
    write_numbers(value, unit, is_time ? a->data->middle : 0, line->text, line->interval);
    return true;
}

/* The lines of a planet, or -1: of the instruments. */
static void say_lines(const struct page *page, int p)
{
    struct sr_orbit_line line;
    if (page->markdown)
        say(page, "| | value and standard error | 95%% |\n|---|---|---|\n");
    for (int k = 0; sr_orbit_line(page->answer, p, k, &line); k++) {
        for (char *c = line.name; *c && page->markdown; c++)
            *c = *c == '|' || *c == '<' ? ' ' : *c;
        if (page->markdown)
            say(page, "| %s%s%s | %s | %s |\n", line.name, *line.unit ? ", " : "", line.unit,
                line.text, line.interval);
        else
            say(page, "  %-20s %-26s%s%s\n", line.name, line.text, *line.interval ? "95%: " : "",
                line.interval);
    }
}

/* A name of a file or an instrument. */
static void say_name(const struct page *page, const char *name)
{
    char shown[256];
    if (page->markdown)
        orr_markdown_code(page->file, name, true);
    else
        say(page, "%s", orr_shown(shown, sizeof shown, name));
}

static void say_models(const struct page *page)
{
    const struct sr_orbits *found = page->answer->found;
    if (page->markdown)
        say(page, "\n| planets | parameters | ln L | chi^2 | BIC | chance in noise |\n"
                  "|---:|---:|---:|---:|---:|---:|\n");
    else
        say(page, "planets  parameters        ln L       chi^2         BIC  chance in noise\n");
    for (int k = 0; k <= found->most; k++) {
        const struct sr_orbit *orbit = &found->orbit[k];
        char chance[80] = "";
        if (k)
            snprintf(chance, sizeof chance, "%.2g", found->chance[k]);
        say(page,
            page->markdown ? "| %d%s | %d | %.2f | %.2f | %.2f | %s |\n"
                           : "%6d%s %11d %11.2f %11.2f %11.2f  %s\n",
            k,
            page->markdown            ? ""
            : k == found->recommended ? "*"
                                      : " ",
            sr_orbit_count(orbit), orbit->likelihood, orbit->chi2, found->bic[k], chance);
    }
}

static void say_recommendation(const struct page *page)
{
    const struct sr_orbits *found = page->answer->found;
    const int n = found->recommended, next = n < found->most ? n + 1 : n - 1;
    static const char *const number[] = {"no planet", "one planet", "two planets"};
    say(page, "%sRecommended: %s", page->markdown ? "\n" : "", number[n]);
    const double above = found->bic[next] - found->bic[n];
    if (found->most > 0)
        say(page, "; the BIC of %s is %s by %.1f", number[next], above < 0 ? "lower" : "higher",
            fabs(above));
    say(page, ".%sA further planet has to lower the BIC by %d, with a chance below %g.\n",
        page->markdown ? " " : "\n", SR_ORBIT_EVIDENCE, SR_ORBIT_CHANCE);
}

/* What a reader should know beside the reported orbits: another maximum of the likelihood, and a
 * period in what two planets leave. */
static void say_doubts(const struct page *page)
{
    const struct sr_orbits *found = page->answer->found;
    const struct sr_orbit *orbit = page->answer->orbit, *rival = &found->rival[orbit->planets];
    const char *const start = page->markdown ? "\n" : "";
    for (int p = 0; p < rival->planets; p++)
        say(page, "%s%sP = %.6g, K = %.4g, e = %.2g", p ? ";\n  " : start,
            p ? "" : "Another orbit is nearly as likely:\n  ",
            sr_orbit_element(rival, p, SR_ELEMENT_P), sr_orbit_element(rival, p, SR_ELEMENT_K),
            sr_orbit_element(rival, p, SR_ELEMENT_E));
    if (rival->planets)
        say(page, " (its BIC is %+.1f).\n", 2 * (orbit->likelihood - rival->likelihood));
    if (orbit->planets == SR_ORBIT_PLANETS && found->left_chance < SR_ORBIT_CHANCE)
        say(page,
            "%sThe residuals of %d planets have a period of %.6g (chance in noise %.2g),\n"
            "perhaps of a further planet; this program fits no more than %d.\n",
            start, SR_ORBIT_PLANETS, found->left_period, found->left_chance, SR_ORBIT_PLANETS);
}

/* What a reader should know of a planet. */
static void say_notes(const struct page *page, int p)
{
    const struct sr_orbit_answer *a = page->answer;
    const struct sr_planet *planet = &a->planet[p];
    if (planet->circular)
        say(page,
            "%sA circular orbit is within the 95%% interval of e: omega and the time of%s"
            "periastron are not determined.\n",
            page->markdown ? "\n" : "  ", page->markdown ? " " : "\n  ");
    if (planet->element[SR_ELEMENT_P].value > a->data->span)
        say(page, "%sThe period is longer than the velocities span: all elements depend on it.\n",
            page->markdown ? "\n" : "  ");
    if (a->star_mass > 0)
        say(page, "%sm sin i and the axis are those of times in days and velocities in m/s.\n",
            page->markdown ? "\n" : "  ");
    for (int k = 0; k < planet->aliases; k++) {
        const struct sr_alias *alias = &planet->alias[k];
        if (k > 1 && alias->bic > SR_ORBIT_EVIDENCE)
            break;
        say(page, "%sAlias by %s: P = %.6g, BIC %+.1f: %s.\n", page->markdown ? "\n" : "  ",
            alias->of, alias->period, alias->bic,
            alias->bic > SR_ORBIT_EVIDENCE    ? "excluded"
            : alias->bic < -SR_ORBIT_EVIDENCE ? "likelier; see --period"
                                              : "it cannot be excluded");
    }
}

void sr_orbit_notes(const struct sr_orbit_answer *answer, int p, FILE *out)
{
    const struct page page = {.answer = answer, .out = out};
    if (p >= 0) {
        say_notes(&page, p);
        return;
    }
    say_recommendation(&page);
    say_doubts(&page);
}

void sr_orbit_print(const struct sr_orbit_answer *answer, enum sr_medium medium,
                    struct orr_file *file)
{
    const struct page page = {answer, medium == SR_MARKDOWN, file, stdout};
    const struct sr_velocities *data = answer->data;
    say(&page, page.markdown ? "# Orbit of " : "orbit of ");
    say_name(&page, data->file);
    say(&page, page.markdown ? "\n\n" : ": ");
    say(&page, "%zu velocities", data->n);
    if (data->instruments > 1)
        say(&page, " of %d instruments", data->instruments);
    say(&page, " over %.6g", data->span);
    if (page.markdown)
        say(&page, ", Orrery %s.", ORR_VERSION);
    say(&page, "\n");
    say_models(&page);
    say_recommendation(&page);
    say_doubts(&page);
    for (int p = 0; p < answer->orbit->planets; p++) {
        say(&page, page.markdown ? "\n## Planet %d\n\n" : "\nplanet %d\n", p + 1);
        say_lines(&page, p);
        say_notes(&page, p);
    }
    say(&page, page.markdown ? "\n## Instruments\n\n" : "\n");
    say_lines(&page, -1);
}
