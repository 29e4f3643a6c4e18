/* page.c - report.html of a system: its equations typeset, constants, tracks beside solutions,
 * residuals, phase portraits, conserved quantities, remarks and how to use it, in one file that
 * needs no network. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>

#include "base/html.h"
#include "sentences.h"
#include "symreg/table/charts.h"

enum { FIELD = 15 }; /* arrows along each axis of a phase portrait */

struct page {
    const struct sr_states *s;
    const struct sr_language *language;
    const struct sr_system *system;
    const struct sr_flow_track *track; /* (s->count) with models */
    struct orr_file *html;
};

static void put(const struct page *p, const char *text)
{
    orr_file_printf(p->html, "%s", text);
}

static void put_name(const struct page *p, const char *name)
{
    put(p, "<code>");
    orr_html_text(p->html, name);
    put(p, "</code>");
}

static void begin_table(const struct page *p, const char *title, const char *heads)
{
    orr_file_printf(p->html,
                    "<h2>%s</h2>\n<div class=\"wide\" tabindex=\"0\" role=\"region\" "
                    "aria-label=\"%s\"><table><thead><tr>%s</tr></thead><tbody>\n",
                    title, title, heads);
}

/* ---- equations */

/* A name in MathML. */
static void write_symbol(const struct page *p, int k)
{
    const char *name[SR_SYSTEM_NAMES];
    struct sr_expr expr = {.count = 0};
    char text[SR_TEXT];
    sr_said_names(p->s, name);
    sr_put_node(&expr, sr_feature_node(k));
    sr_expr_text(p->language, &expr, SR_MATHML, name, text, sizeof text);
    put(p, text);
}

static void write_equation(const struct page *p, int d)
{
    const struct sr_states *s = p->s;
    const char *const power = s->order == 2 ? "<mn>2</mn></msup>" : "";
    const char *name[SR_SYSTEM_NAMES];
    struct sr_expr readable = p->system->expr[d];
    char text[SR_TEXT];
    sr_said_names(s, name);
    put(p, "<math displaystyle=\"true\"><mrow><mfrac><mrow>");
    put(p, s->order == 2 ? "<msup><mi>d</mi>" : "<mi>d</mi>");
    put(p, power);
    write_symbol(p, d);
    put(p, "</mrow><mrow><mi>d</mi>");
    put(p, s->order == 2 ? "<msup>" : "");
    write_symbol(p, sr_states_time(s));
    put(p, power);
    put(p, "</mrow></mfrac><mo>=</mo>");
    sr_expr_collect(p->language, &readable);
    sr_expr_text(p->language, &readable, SR_MATHML, name, text, sizeof text);
    put(p, text);
    put(p, "</mrow></math>\n");
}

static void write_answer(const struct page *p)
{
    char text[300];
    put(p, "<section class=\"answer\" aria-label=\"Equations\">\n");
    for (int d = 0; d < p->s->dims; d++)
        write_equation(p, d);
    sr_said_choice(p->system, text, sizeof text);
    orr_file_printf(p->html, "<p>Equations %s.</p>\n</section>\n", text);
}

/* The numbers of the equations as they print them; those without an error are fractions, or
 * exponents. */
static void write_constants(const struct page *p)
{
    bool any = false;
    for (int d = 0; d < p->s->dims; d++) {
        double value[SR_NODES];
        const double *error = p->system->error[d];
        const int count = sr_expr_constants(&p->system->expr[d], value);
        for (int c = 0; c < count; c++) {
            char number[SR_NUMBER], from[40], to[40];
            if (!isfinite(error[c]))
                continue;
            if (!any)
                begin_table(p, "Constants",
                            "<th>equation of</th><th>constant</th><th>standard error</th>"
                            "<th>95% from</th><th>to</th>");
            any = true;
            put(p, "<tr><td>");
            put_name(p, p->s->target[d]);
            sr_number_print(sr_round_digits(value[c], 10), number);
            const double low = p->system->low[d][c], high = p->system->high[d][c];
            const double off = SR_NORMAL_95 * error[c];
            sr_bound_print(isfinite(low) ? low : value[c] - off, value[c], from, sizeof from);
            sr_bound_print(isfinite(high) ? high : value[c] + off, value[c], to, sizeof to);
            orr_file_printf(p->html, "</td><td>%s</td><td>%.2g</td><td>%s</td><td>%s</td></tr>\n",
                            number, error[c], from, to);
        }
    }
    if (any)
        put(p, "</tbody></table></div>\n<p class=\"caption\">Numbers that are not listed are "
               "fractions or whole exponents, or the tracks do not determine them. Intervals are "
               "profiles of the likelihood, or 1.96 standard errors where there was no time for "
               "one.</p>\n");
}

/* The constants of each category with their standard errors. */
static void write_categories(const struct page *p)
{
    char text[SR_SAID_CONSTANT];
    if (!p->system->constants)
        return;
    put(p,
        "<h2>Constants of each category</h2>\n<div class=\"wide\" tabindex=\"0\" role=\"region\" "
        "aria-label=\"Constants of each category\"><table><thead><tr><th>");
    orr_html_text(p->html, p->s->category);
    for (int k = 0; k < p->system->constants; k++) {
        put(p, "</th><th>");
        orr_html_text(p->html, p->s->each_name[k]);
    }
    put(p, "</th></tr></thead><tbody>\n");
    for (int i = 0; i < p->s->categories; i++) {
        put(p, "<tr><td>");
        put_name(p, p->s->category_label[i]);
        for (int k = 0; k < p->system->constants; k++) {
            sr_said_constant(p->system, k, i, text);
            put(p, "</td><td>");
            put(p, text);
        }
        put(p, "</td></tr>\n");
    }
    put(p, "</tbody></table></div>\n");
}

/* ---- drawings */

/* Whether equations depend on states and velocities alone. */
static bool is_autonomous(const struct page *p)
{
    for (int d = 0; d < p->s->dims; d++)
        for (int i = 0; i < p->system->expr[d].count; i++)
            if (p->system->expr[d].node[i].op == SR_FEATURE &&
                p->system->expr[d].node[i].feature >= sr_states_time(p->s))
                return false;
    return true;
}

/* The arrows of a plane over the range of points (n): x, y, and where the system moves there; of
 * positions in a plane the acceleration at rest. numbers: (4, FIELD^2). */
static int make_field(const struct page *p, const struct sr_chart *chart, double *numbers)
{
    const struct sr_states *s = p->s;
    const size_t n = (size_t)FIELD * FIELD;
    double range[2][2] = {{HUGE_VAL, -HUGE_VAL}, {HUGE_VAL, -HUGE_VAL}};
    double *table = orr_alloc((size_t)s->names * n, sizeof *table);
    if (!table)
        return ORR_ENOMEM;
    for (size_t i = 0; i < chart->n; i++)
        for (int k = 0; k < 2; k++) {
            const double at = k ? chart->y[i] : chart->x[i];
            range[k][0] = fmin(range[k][0], at);
            range[k][1] = fmax(range[k][1], at);
        }
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < 2; k++) {
            const double share = (double)(k ? i / FIELD : i % FIELD) / (FIELD - 1);
            numbers[k * n + i] = table[k * n + i] =
                range[k][0] + share * (range[k][1] - range[k][0]);
        }
    const struct sr_data data = {
        .rows = n, .features = s->names, .x = table, .language = p->language};
    const bool passes = s->order == 2 && s->dims == 1; /* the first arrow is the velocity */
    for (size_t i = 0; i < n && passes; i++)
        numbers[2 * n + i] = table[n + i];
    for (int d = 0; d < s->dims; d++) {
        double *const to = numbers + (size_t)(2 + d + passes) * n;
        if (!sr_eval(&p->system->expr[d], &data, to))
            for (size_t i = 0; i < n; i++)
                to[i] = isfinite(to[i]) ? to[i] : NAN;
    }
    free(table);
    return 0;
}

/* The second state against the first, of one position its velocity against it. */
static int add_portrait(const struct page *p, struct sr_charts *charts, size_t k)
{
    const struct sr_states *s = p->s;
    const struct sr_flow_track *track = &p->track[k];
    const size_t n = track->n;
    const bool planar = s->order * s->dims == 2 || s->dims == 2;
    char title[3 * SR_STATE_NAME];
    double numbers[4 * FIELD * FIELD];
    struct sr_chart chart = {.title = title,
                             .across = s->name[0],
                             .n = n,
                             .curve_n = n,
                             .x = track->x,
                             .y = s->dims > 1 ? track->x + n : s->track[k].rate,
                             .curve_x = track->model,
                             .curve_y = track->model + n};
    if (s->order * s->dims < 2)
        return 0;
    snprintf(title, sizeof title, "%s against %s", s->name[1], s->name[0]);
    if (planar && is_autonomous(p)) {
        TRY(make_field(p, &chart, numbers));
        chart.field = numbers;
        chart.field_n = (size_t)FIELD * FIELD;
        orr_append(title, sizeof title, "%s",
                   s->order * s->dims == 2 ? ", with directions" : ", with accelerations at rest");
    }
    sr_charts_add(charts, &chart);
    return 0;
}

static int add_track(const struct page *p, struct sr_charts *charts, size_t k, double *rest)
{
    const struct sr_states *s = p->s;
    const struct sr_flow_track *track = &p->track[k];
    const size_t n = track->n;
    char title[SR_STATE_NAME + 40];
    sr_charts_group(charts, *s->track[k].label ? s->track[k].label : "the track");
    for (size_t d = 0; d < (size_t)s->dims; d++) {
        const double *const x = track->x + d * n, *const model = track->model + d * n;
        sr_charts_add(charts, &(struct sr_chart){.title = s->name[d],
                                                 .across = s->name[sr_states_time(s)],
                                                 .n = n,
                                                 .x = track->t,
                                                 .y = x,
                                                 .curve_n = n,
                                                 .curve_x = track->t,
                                                 .curve_y = model});
        snprintf(title, sizeof title, "residual of %s in sigmas", s->name[d]);
        for (size_t i = 0; i < n; i++)
            rest[i] = (x[i] - model[i]) / track->sigma[d * n + i];
        sr_charts_add(charts, &(struct sr_chart){.title = title,
                                                 .across = s->name[sr_states_time(s)],
                                                 .n = n,
                                                 .x = track->t,
                                                 .y = rest,
                                                 .residuals = true});
    }
    return add_portrait(p, charts, k);
}

static int write_tracks(const struct page *p)
{
    const struct sr_states *s = p->s;
    struct sr_charts charts = {.html = p->html, .what = "Track"};
    size_t longest = 0;
    for (size_t k = 0; k < s->count; k++)
        longest = s->track[k].n > longest ? s->track[k].n : longest;
    double *const rest = orr_alloc(longest, sizeof *rest);
    int rc = rest ? 0 : ORR_ENOMEM;
    put(p, "<h2>Tracks beside solutions</h2>\n<p>Points: the rows of the file. Lines: solutions of "
           "the equations, each from the start that follows its track best; residuals are in "
           "standard deviations of the noise, which was estimated. Of many rows every k-th is "
           "drawn; <code>solutions.csv</code> has all.</p>\n");
    sr_charts_begin(&charts);
    for (size_t k = 0; k < s->count && k < SR_CHART_GROUPS && !rc; k++)
        rc = add_track(p, &charts, k, rest);
    sr_charts_end(&charts);
    free(rest);
    return rc;
}

/* ---- the rest */

static void write_conserved(const struct page *p)
{
    char text[SR_TEXT], how[300];
    for (int q = 0; q < p->system->conserved.count; q++) {
        put(p, q ? "<p>" : "<h2>Conserved quantities</h2>\n<p>");
        sr_said_how(&p->system->conserved, q, how, sizeof how);
        orr_file_printf(p->html, "%c%s: <math><mrow>", toupper((unsigned char)*how), how + 1);
        sr_said_quantity(p->s, p->language, &p->system->conserved, q, SR_MATHML, text, sizeof text);
        put(p, text);
        put(p, "</mrow></math></p>\n");
    }
}

static void write_remarks(const struct page *p)
{
    struct sr_said_remark remark[SR_SAID_REMARKS];
    const int count = sr_said_remarks(p->s, p->system, remark);
    for (int k = 0; k < count; k++) {
        put(p, k ? "<li>" : "<h2>Remarks</h2>\n<ul>\n<li>");
        if (*remark[k].subject) {
            put_name(p, remark[k].subject);
            put(p, ": ");
        }
        orr_html_text(p->html, remark[k].advice);
        put(p, k == count - 1 ? ".</li>\n</ul>\n" : ".</li>\n");
    }
}

static void write_noise(const struct page *p)
{
    begin_table(p, "Noise", "<th>column</th><th>standard deviation</th><th>of</th>");
    for (int d = 0; d < p->s->dims; d++) {
        put(p, "<tr><td>");
        put_name(p, p->s->name[d]);
        orr_file_printf(p->html, "</td><td>%.3g%s</td><td>%s</td></tr>\n",
                        p->s->noise[d] * (p->s->proportional[d] ? 100 : 1),
                        p->s->proportional[d] ? "%" : "",
                        p->s->proportional[d] ? "the value" : "one size");
    }
    put(p, "</tbody></table></div>\n");
}

/* The command that follows the first track from where its smoothed path begins. */
static void write_use(const struct page *p)
{
    const struct sr_states *s = p->s;
    const struct sr_state_track *track = &s->track[0];
    char text[ORR_COMMAND] = "symreg simulate equations.json --start", start[ORR_COMMAND] = "",
         number[SR_NUMBER];
    const double end = track->t[track->n - 1];
    for (int k = 0; k < s->order * s->dims; k++) {
        const size_t at = (size_t)(k % s->dims) * track->n;
        sr_number_print(sr_round_digits((k < s->dims ? track->smooth : track->rate)[at], 6),
                        number);
        orr_append(start, sizeof start, "%s%s=%s", k ? "," : "", s->name[k], number);
    }
    orr_command_add(text, sizeof text, start);
    if (s->categories) {
        orr_append(text, sizeof text, " --category");
        orr_command_add(text, sizeof text, s->category_label[track->category]);
    }
    orr_append(text, sizeof text, " --times %.10g:%.10g:%.3g%s", track->t[0], end,
               (end - track->t[0]) / 200, s->inputs ? " --input FILE.csv" : "");
    put(p, "<h2>How to use it</h2>\n<p>In the folder of this page, which also has the right-hand "
           "side in Python (<code>equations.py</code>) and C (<code>equations.c</code>):</p>\n"
           "<pre tabindex=\"0\"><code>");
    orr_html_text(p->html, text);
    put(p, "</code></pre>\n");
}

static int write_page(const struct page *p)
{
    const struct sr_states *s = p->s;
    TRY(sr_page_begin(p->html, "Equations of motion"));
    orr_file_printf(p->html, "<p class=\"meta\">%zu rows of <strong>", s->rows);
    orr_html_text(p->html, s->file);
    orr_file_printf(p->html, "</strong>, %zu track%s, Orrery %s</p>\n</header>\n<main>\n", s->count,
                    s->count == 1 ? "" : "s", ORR_VERSION);
    write_answer(p);
    write_constants(p);
    write_categories(p);
    TRY(write_tracks(p));
    write_conserved(p);
    write_remarks(p);
    write_noise(p);
    write_use(p);
    sr_page_command(p->html);
    return sr_page_end(p->html);
}

int sr_system_page(const struct sr_states *states, const struct sr_language *language,
                   const struct sr_system *system, const struct sr_flow_track *track,
                   const char *folder, bool quiet)
{
    struct orr_file file;
    char path[4096];
    if (!sr_page_ready(quiet))
        return 0;
    TRY(orr_path(path, "%s/report.html", folder));
    TRY(orr_file_create(&file, path));
    const struct page page = {states, language, system, track, &file};
    int rc = write_page(&page);
    if (!rc)
        rc = orr_file_commit(&file);
    orr_file_close(&file);
    return rc;
}
