/* html_tables.c - the tables of report.html. */
#include "report.h"
#include "stage/provenance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char dash[] = "&ndash;";

/* A right-aligned cell; a dash if the value is not finite. */
static void write_cell(struct orr_file *html, const char *format, double value)
{
    char text[64];
    if (!isfinite(value)) {
        orr_file_printf(html, "<td class=\"n\">%s</td>", dash);
        return;
    }
    snprintf(text, sizeof text, format, value);
    /* a true minus sign */
    const bool minus = text[0] == '-';
    orr_file_printf(html, "<td class=\"n\">%s%s</td>", minus ? "&minus;" : "", text + minus);
}

/* A relative error. */
static void error_cell(struct orr_file *html, double error)
{
    char text[32];
    report_percent(error, text);
    if (isfinite(error))
        orr_file_printf(html, "<td class=\"n\">%s%s</td>", *text == '<' ? "&lt;" : "",
                        text + (*text == '<'));
    else
        write_cell(html, "%g", error);
}

void report_html_dot(const struct report_source *source, struct orr_file *html)
{
    if (source->role == REPORT_TRUTH) /* the colour of the text, in light and dark */ {
        orr_file_printf(html, "<span class=\"dot\"></span>");
        return;
    }
    orr_file_printf(html, "<span class=\"dot\" style=\"--dot:%s\"></span>", source->colour);
}

static void open_row(struct orr_file *html, const struct report_source *source)
{
    orr_file_printf(html, "<tr%s><th scope=\"row\">",
                    source->role == REPORT_UNTRAINED ? " class=\"baseline\"" : "");
    report_html_dot(source, html);
    orr_html_text(html, source->title);
    orr_file_printf(html, "</th>");
}

static void open_heads(struct orr_file *html, const char *heads)
{
    while (*heads) {
        const bool number = *heads == '#';
        const int bytes = (int)strcspn(heads += number, "|");
        orr_file_printf(html, "<th scope=\"col\"%s>%.*s</th>", number ? " class=\"n\"" : "", bytes,
                        heads);
        heads += bytes + (heads[bytes] == '|');
    }
}

void report_html_rows(struct orr_file *html)
{
    orr_file_printf(html, "</tr></thead>\n<tbody>\n");
}

int report_html_table_end(struct orr_file *html)
{
    return orr_file_printf(html, "</tbody></table></div>\n");
}

void report_html_table(struct orr_file *html, const char *id, const char *caption,
                       const char *heads)
{
    orr_file_printf(html,
                    "<p class=\"caption\" id=\"%s\">%s</p>\n<div class=\"wide\" "
                    "role=\"region\" aria-labelledby=\"%s\" tabindex=\"0\"><table>\n"
                    "<thead><tr>",
                    id, caption, id);
    open_heads(html, heads);
}

static const struct report_law *find_law(const struct report_run *run, int source, int sample,
                                         const char *rule)
{
    for (size_t i = 0; i < run->law_count; i++) {
        const struct report_law *law = &run->law[i];
        if (law->source == source && law->sample == sample && !strcmp(law->rule, rule))
            return law;
    }
    return NULL;
}

/* Samples whose front has the true structure, and the median of k over them. */
static int true_law(const struct report_run *run, int source, int *on_front, double *constant)
{
    double *k = orr_alloc((size_t)run->samples + 1, sizeof *k);
    if (!k)
        return ORR_ENOMEM;
    size_t n = 0;
    *on_front = 0;
    for (int sample = 0; sample < run->samples; sample++) {
        const struct report_law *law = NULL;
        for (int r = 0; r < run->rules.count && !law; r++)
            law = find_law(run, source, sample, run->rules.item[r]);
        if (!law || !law->on_front)
            continue;
        ++*on_front;
        if (isfinite(law->constant))
            k[n++] = law->constant;
    }
    *constant = orr_median(k, n);
    free(k);
    return 0;
}

static void count_cell(struct orr_file *html, int count, int of)
{
    orr_file_printf(html, "<td class=\"n%s\">%d/%d</td>", count == of ? " yes" : "", count, of);
}

static int column_notes(const struct report_run *run, struct orr_file *html)
{
    return orr_file_printf(
        html,
        "<details><summary>What the columns mean</summary><ul>\n"
        "<li>Size: nodes of the formula. Loss: its mean absolute error.</li>\n"
        "<li>On front: in how many samples a formula with the structure of %s law is on the Pareto "
        "front; k: its constant (median).</li>\n"
        "<li>Selected by: in how many samples each rule selects that formula.</li>\n"
        "<li>k without m<sub>2</sub>: the best k of k m<sub>1</sub> / r<sup>2</sup>, by least "
        "absolute deviation, on sample 0: the constant of a law that misses m<sub>2</sub>.</li>\n"
        "<li>Leverage: the largest share of the sum of |F| that one sequence has, on sample "
        "0.</li>\n</ul></details>\n",
        run->true_law.newton ? "Newton&rsquo;s" : "the run&rsquo;s");
}

/* Explains the inputs of the row "positions", if laws.json has it. */
static void positions_note(const struct report_run *run, struct orr_file *html)
{
    const int s = report_find(run, ORR_POSITIONS);
    if (s < 0)
        return;
    orr_file_printf(html, "<p class=\"note\">");
    orr_html_text(html, run->source[s].title);
    orr_file_printf(html,
                    ": forces estimated from the positions of the same held-out sequences. The "
                    "row knows times, both masses and positions, before and after each of them; "
                    "it has no force labels and no network. The search weights its rows by their "
                    "estimated errors, and so does the loss.</p>\n");
}

int report_html_laws(const struct report_run *run, struct orr_file *html)
{
    const char *headline = report_headline_rule(run);
    char caption[1024];
    snprintf(caption, sizeof caption,
             "Law: the formula that the rule &ldquo;%s&rdquo; selects on sample 0; a click on it "
             "shows the formula as it was found. The other columns count over %d samples of "
             "held-out positions.",
             headline, run->samples);
    report_html_table(
        html, "laws", caption,
        "Source|Law|#Size|#Loss|#On <br>front|#k|#k <br>without m<sub>2</sub>|#Leverage");
    for (int r = 0; r < run->rules.count; r++)
        orr_file_printf(html,
                        "<th scope=\"col\" class=\"n\">Selected <br>by <br>&ldquo;%s&rdquo;</th>",
                        run->rules.item[r]);
    report_html_rows(html);
    for (int s = 0; s < run->source_count; s++) {
        const struct report_law *law = find_law(run, s, 0, headline);
        if (!law)
            continue;
        int on_front;
        double k;
        TRY(true_law(run, s, &on_front, &k));
        open_row(html, &run->source[s]);
        orr_file_printf(html, "<td>");
        report_html_law(html, law->equation, law->selected_true ? "law yes" : "law");
        orr_file_printf(html, "</td>");
        write_cell(html, "%.0f", law->complexity);
        write_cell(html, "%.3g", law->loss);
        count_cell(html, on_front, run->samples);
        write_cell(html, "%.4g", k);
        write_cell(html, "%.4g", run->source[s].k_dropped_m2);
        write_cell(html, "%.2f", run->source[s].leverage);
        for (int r = 0; r < run->rules.count; r++) {
            int selected = 0;
            for (int sample = 0; sample < run->samples; sample++) {
                law = find_law(run, s, sample, run->rules.item[r]);
                selected += law && law->selected_true;
            }
            count_cell(html, selected, run->samples);
        }
        orr_file_printf(html, "</tr>\n");
    }
    TRY(report_html_table_end(html));
    positions_note(run, html);
    return column_notes(run, html);
}

void report_html_choices(const struct report_run *run, struct orr_file *html)
{
    orr_file_printf(html, "<details><summary>Every choice, sample by sample</summary>\n");
    report_html_table(html, "choices",
                      "The choice of each rule on each sample of held-out positions.",
                      run->true_law.newton ? "Source|#Sample|Rule|Law|#Size|#Loss|Newton"
                                           : "Source|#Sample|Rule|Law|#Size|#Loss|True");
    report_html_rows(html);
    for (size_t i = 0; i < run->law_count; i++) {
        const struct report_law *law = &run->law[i];
        open_row(html, &run->source[law->source]);
        orr_file_printf(html, "<td class=\"n\">%d</td><td>", law->sample);
        orr_html_text(html, law->rule);
        orr_file_printf(html, "</td><td>");
        report_html_law(html, law->equation, "law");
        orr_file_printf(html, "</td>");
        write_cell(html, "%.0f", law->complexity);
        write_cell(html, "%.3g", law->loss);
        orr_file_printf(html, "<td>%s</td></tr>\n",
                        law->selected_true ? "<span class=\"yes\">yes</span>" : "no");
    }
    orr_file_printf(html, "</tbody></table></div></details>\n");
}

static void interval_cell(struct orr_file *html, const struct report_interval *x)
{
    if (!isfinite(x->value)) {
        orr_file_printf(html, "<td class=\"n\">%s</td>", dash);
        return;
    }
    orr_file_printf(html, "<td class=\"n\">%s%.3f", x->value < 0 ? "&minus;" : "", fabs(x->value));
    if (isfinite(x->low) && isfinite(x->high))
        orr_file_printf(html, " <span class=\"note\">[%s%.3f, %s%.3f]</span>",
                        x->low < 0 ? "&minus;" : "", fabs(x->low), x->high < 0 ? "&minus;" : "",
                        fabs(x->high));
    orr_file_printf(html, "</td>");
}

/* "3 of 5000"; a dash if laws.json has no value. */
static void dropped_cell(struct orr_file *html, const struct report_source *source)
{
    if (!isfinite(source->dropped) || !isfinite(source->predictions)) {
        write_cell(html, "%.0f", source->dropped);
        return;
    }
    orr_file_printf(html, "<td class=\"n\">%.0f of %.0f</td>", source->dropped,
                    source->predictions);
}

static void baseline_row(struct orr_file *html, const char *title, double r2)
{
    if (!isfinite(r2))
        return;
    orr_file_printf(html, "<tr class=\"baseline\"><th scope=\"row\">%s</th>", title);
    write_cell(html, "%.4f", r2);
    for (int c = 0; c < 5; c++)
        orr_file_printf(html, "<td class=\"n\">%s</td>", dash);
    orr_file_printf(html, "</tr>\n");
}

void report_html_exponents(const struct report_run *run, struct orr_file *html)
{
    char caption[1024];
    snprintf(
        caption, sizeof caption,
        "Held-out force magnitudes: R&sup2; of log F, median relative error, and exponents by "
        "least squares in log space with bootstrap intervals. Dropped: predictions that are not "
        "positive and have no logarithm; they count in the median error and in the search alone. "
        "%sThe last rows are baselines: a constant, or a regression on the named quantities.",
        run->true_law.newton ? "" : "In brackets: exponents of the truth. ");
    report_html_table(html, "powers", caption, "Source|#R&sup2;|#Dropped|#Median error");
    for (int e = 0; e < 3; e++) {
        static const char *const names[3] = {"r", "m<sub>1</sub>", "m<sub>2</sub>"};
        const double x = run->true_law.exponent[e];
        orr_file_printf(html, "<th scope=\"col\" class=\"n\">%s (%s%.4g)</th>", names[e],
                        x < 0 ? "&minus;" : "", fabs(x));
    }
    report_html_rows(html);
    for (int s = 0; s < run->source_count; s++) {
        const struct report_source *source = &run->source[s];
        if (!source->has_laws)
            continue;
        open_row(html, source);
        write_cell(html, "%.4f", source->r2_log);
        dropped_cell(html, source);
        error_cell(html, source->median_relative_error);
        for (int e = 0; e < 3; e++)
            interval_cell(html, &source->exponent[e]);
        orr_file_printf(html, "</tr>\n");
    }
    baseline_row(html, "baseline: log r only", run->baseline_log_r);
    baseline_row(html, "baseline: log scale, log dt, log r", run->baseline_log_scale_dt_r);
    baseline_row(html, "baseline: constant", run->baseline_constant);
    report_html_table_end(html);
}

/* Limits of planet runs (docs/laws.md). */
static void planets_note(const struct report_run *run, struct orr_file *html)
{
    if (!run->settings.planets.enabled)
        return;
    orr_file_printf(html, "<p class=\"note\">Planet runs test directions and the dependence on r "
                          "only, not magnitudes and not one planet against another: ");
    if (isfinite(run->period_r2)) {
        orr_file_printf(html,
                        "the time step, an input, predicts the period of the training orbits "
                        "with R&sup2; = %.3f (ln T on ln dt, in the prior of this run).</p>\n",
                        run->period_r2);
        return;
    }
    orr_file_printf(html, "how well the time step, an input, predicts the period was not recorded "
                          "in this run.</p>\n");
}

/* Columns of a table of vectors: some bodies, their mean in time and in true anomaly. */
struct bodies {
    const char *name, *title, *all;
    int first, count;
    bool anomaly; /* has the last column; nearly round orbits lack it */
};

static int vector_cells(struct orr_file *html, const struct report_orbit *orbit, bool cosine,
                        enum report_baseline baseline, const struct bodies *bodies)
{
    const struct report_orbit *first = orbit + bodies->first;
    for (int p = 0; p <= bodies->count + bodies->anomaly; p++) {
        const bool one = p < bodies->count;
        struct report_agreement a = {0};
        TRY(report_agree(one ? first + p : first, one ? 1 : (size_t)bodies->count,
                         p > bodies->count ? REPORT_EVEN_IN_ANOMALY : REPORT_EVEN_IN_TIME, baseline,
                         &a));
        if (cosine)
            write_cell(html, "%.4f", a.cosine);
        else
            error_cell(html, a.relative_error);
    }
    return orr_file_printf(html, "</tr>\n");
}

/* One table over some bodies: the cosine, or the median relative error. */
static int vector_table(const struct report_run *run, bool cosine, const struct bodies *bodies,
                        struct orr_file *html)
{
    static const struct {
        const char *name;
        enum report_baseline baseline;
    } baselines[] = {{"exact direction, mean size of the labels", REPORT_BASELINE_MEAN},
                     {"exact reference: 1/r&sup2; through the labels", REPORT_BASELINE_SQUARE}};
    char id[64], caption[256];
    snprintf(id, sizeof id, "%s-%s", cosine ? "cosines" : "errors", bodies->name);
    snprintf(caption, sizeof caption, "%s: %s, over unlabelled positions.", bodies->title,
             cosine ? "mean cosine of the angle to the true force"
                    : "median relative error of the force vector");
    report_html_table(html, id, caption, "Source");
    for (int p = 0; p < bodies->count; p++)
        orr_file_printf(html, "<th scope=\"col\" class=\"n\">%s</th>",
                        report_body_title[bodies->first + p]);
    open_heads(html, bodies->all);
    report_html_rows(html);
    for (int s = 0; s < run->source_count; s++)
        if (run->source[s].has_vectors) {
            open_row(html, &run->source[s]);
            TRY(vector_cells(html, run->source[s].orbit, cosine, REPORT_NO_BASELINE, bodies));
        }
    /* the second is exact under Newton's law only */
    for (size_t f = 0; f < (run->settings.orbits.law == ORR_LAW_NEWTON ? 2 : 1); f++) {
        orr_file_printf(html, "<tr class=\"baseline\"><th scope=\"row\">%s</th>",
                        baselines[f].name);
        TRY(vector_cells(html, run->source[0].orbit, cosine, baselines[f].baseline, bodies));
    }
    return report_html_table_end(html);
}

int report_html_vectors(const struct report_run *run, struct orr_file *html)
{
    static const struct bodies groups[] = {{"planets", "Planets", "#All", 0, REPORT_PLANETS, false},
                                           {"eccentric", "Eccentric bodies",
                                            "#All, even in time|#even in true anomaly",
                                            REPORT_PLANETS, REPORT_BODIES - REPORT_PLANETS, true}};
    for (int g = 0; g < (report_bodies(run) > REPORT_PLANETS ? 2 : 1); g++)
        for (int cosine = 1; cosine >= 0; cosine--)
            TRY(vector_table(run, cosine, &groups[g], html));
    planets_note(run, html);
    if (report_bodies(run) > REPORT_PLANETS)
        orr_file_printf(html,
                        "<p class=\"note\">Even in time: the mean over time steps. Even in "
                        "true anomaly: each step counts by the angle that the body covers, so "
                        "that the few steps near the Sun count as much as the many far "
                        "away.</p>\n");
    return 0;
}
