/* page.c - report.html of orbits: elements with errors, velocities over the phase of each planet,
 * residuals, the periodogram, in one file that needs no network. */
#include <math.h>
#include <stdlib.h>

#include "base/html.h"
#include "orbit.h"
#include "symreg/table/charts.h"

enum { CURVE = SR_CHART_POINTS };

static void put(struct orr_file *html, const char *text)
{
    orr_file_printf(html, "%s", text);
}

/* What is said of a planet, or -1: of their number, as a paragraph. */
static int write_notes(const struct sr_orbit_answer *a, int p, struct orr_file *html)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    if (!out)
        return ORR_ENOMEM;
    sr_orbit_notes(a, p, out);
    const int rc = fclose(out) ? ORR_ENOMEM : 0;
    if (!rc && bytes) {
        put(html, "<p>");
        orr_html_text(html, text);
        put(html, "</p>\n");
    }
    free(text);
    return rc;
}

static void begin_table(struct orr_file *html, const char *label, const char *heads)
{
    orr_file_printf(html,
                    "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"%s\"><table>"
                    "<thead><tr>%s</tr></thead><tbody>\n",
                    label, heads);
}

static void write_models(const struct sr_orbit_answer *a, struct orr_file *html)
{
    const struct sr_orbits *found = a->found;
    put(html, "<h2>How many planets</h2>\n");
    begin_table(html, "Models",
                "<th>planets</th><th>parameters</th><th>ln L</th><th>chi^2</th><th>BIC</th>"
                "<th>chance in noise</th>");
    for (int k = 0; k <= found->most; k++) {
        const struct sr_orbit *orbit = &found->orbit[k];
        orr_file_printf(html,
                        "<tr%s><td>%d</td><td>%d</td><td>%.2f</td><td>%.2f</td><td>%.2f</td><td>",
                        k == a->orbit->planets ? " class=\"shown\"" : "", k, sr_orbit_count(orbit),
                        orbit->likelihood, orbit->chi2, found->bic[k]);
        orr_file_printf(html, k ? "%.2g</td></tr>\n" : "</td></tr>\n", found->chance[k]);
    }
    put(html, "</tbody></table></div>\n");
}

/* The numbers of a planet, or -1: of the instruments. */
static void write_lines(const struct sr_orbit_answer *a, int p, struct orr_file *html)
{
    struct sr_orbit_line line;
    begin_table(html, p < 0 ? "Instruments" : "Elements",
                "<th></th><th>value and standard error</th><th>95%</th>");
    for (int k = 0; sr_orbit_line(a, p, k, &line); k++) {
        put(html, "<tr><td>");
        orr_html_text(html, line.name);
        orr_file_printf(html, "%s%s</td><td>%s</td><td>%s</td></tr>\n", *line.unit ? ", " : "",
                        line.unit, line.text, line.interval);
    }
    put(html, "</tbody></table></div>\n");
}

/* The highest power of the periods in each of CURVE shares of their logarithm, what the offsets
 * alone leave. */
static int add_periodogram(const struct sr_orbit_answer *a, struct sr_charts *charts)
{
    struct sr_periodogram of = {0};
    double period[CURVE], power[CURVE];
    const int rc =
        sr_periodogram_make(a->data, a->data->v, &a->found->orbit[0], a->options->periods, &of);
    if (!rc) {
        const double shortest = orr_log(1 / (of.low + of.step * (double)(of.count - 1)));
        const double wide = orr_log(1 / of.low) - shortest;
        for (int k = 0; k < CURVE; k++)
            power[k] = period[k] = NAN;
        for (size_t i = 0; i < of.count; i++) {
            const double P = 1 / (of.low + of.step * (double)i);
            const int k = (int)fmin(CURVE * (orr_log(P) - shortest) / wide, CURVE - 1);
            if (!(power[k] >= of.power[i])) {
                power[k] = of.power[i];
                period[k] = P;
            }
        }
        sr_charts_add(
            charts,
            &(struct sr_chart){.title = "periodogram: share of the variance that a sine explains",
                               .across = "period",
                               .curve_n = CURVE,
                               .curve_x = period,
                               .curve_y = power,
                               .decades = true});
    }
    sr_periodogram_free(&of);
    return rc;
}

static int write_charts(const struct sr_orbit_answer *a, struct orr_file *html)
{
    const size_t n = a->data->n;
    struct sr_charts charts = {.html = html, .what = "Orbit"};
    double phase[CURVE], v[CURVE], *const x = orr_alloc(3 * n, sizeof *x);
    if (!x)
        return ORR_ENOMEM;
    struct sr_chart points = {.n = n, .x = x, .y = x + n, .sigma = x + 2 * n};
    put(html,
        "<h2>Velocities beside orbits</h2>\n<p>Points: velocities without offsets and without "
        "other planets, bars: their errors with jitter. Lines: the orbits. Of many "
        "velocities every k-th is drawn; <code>orbit.csv</code> has all.</p>\n");
    sr_charts_begin(&charts);
    sr_charts_group(&charts, "all");
    for (int p = 0; p < a->orbit->planets; p++) {
        char title[80];
        sr_orbit_folded(a, p, x, x + n, x + 2 * n);
        sr_orbit_curve(a, p, CURVE, phase, v);
        snprintf(title, sizeof title, "velocity of planet %d, P = %.6g", p + 1,
                 a->planet[p].element[SR_ELEMENT_P].value);
        points.title = title;
        points.across = "phase since periastron";
        points.curve_n = CURVE;
        points.curve_x = phase;
        points.curve_y = v;
        sr_charts_add(&charts, &points);
    }
    sr_orbit_folded(a, -1, x, x + n, x + 2 * n);
    for (size_t i = 0; i < n; i++)
        x[n + i] /= x[2 * n + i];
    sr_charts_add(&charts, &(struct sr_chart){.title = "residual in sigmas, with jitter",
                                              .across = "time",
                                              .n = n,
                                              .x = x,
                                              .y = x + n,
                                              .residuals = true});
    const int rc = add_periodogram(a, &charts);
    sr_charts_end(&charts);
    free(x);
    return rc;
}

static int write_page(const struct sr_orbit_answer *a, struct orr_file *html)
{
    TRY(sr_page_begin(html, "Orbit"));
    orr_file_printf(html, "<p class=\"meta\">%zu velocities of <strong>", a->data->n);
    orr_html_text(html, a->data->file);
    orr_file_printf(
        html, "</strong>, %d instrument%s, over %.6g, Orrery %s</p>\n</header>\n<main>\n",
        a->data->instruments, a->data->instruments == 1 ? "" : "s", a->data->span, ORR_VERSION);
    write_models(a, html);
    TRY(write_notes(a, -1, html));
    for (int p = 0; p < a->orbit->planets; p++) {
        orr_file_printf(html, "<h2>Planet %d</h2>\n", p + 1);
        write_lines(a, p, html);
        TRY(write_notes(a, p, html));
    }
    put(html, "<h2>Instruments</h2>\n");
    write_lines(a, -1, html);
    TRY(write_charts(a, html));
    sr_page_command(html);
    return sr_page_end(html);
}

int sr_orbit_page(const struct sr_orbit_answer *a, const char *folder, bool quiet)
{
    struct orr_file html;
    char path[4096];
    if (!sr_page_ready(quiet))
        return 0;
    TRY(orr_path(path, "%s/report.html", folder));
    TRY(orr_file_create(&html, path));
    int rc = write_page(a, &html);
    if (!rc)
        rc = orr_file_commit(&html);
    orr_file_close(&html);
    return rc;
}
