/* page.c - writes report.html: the front as formulas, and for each row predictions, residuals,
 * constants and texts for programs, in one file that needs no network. The page has the look of a
 * run's report: its style and script are files of figures/. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/html.h"
#include "charts.h"
#include "program.h"

enum { POINTS = 800 }; /* rows drawn, at most */

struct page {
    const struct sr_answer *o;
    const struct sr_export *names;
    struct orr_file *html;
    int chosen;                      /* row that o->rule selects; -1: none */
    const struct sr_page_part *part; /* NULL: none */
};

static void put(const struct page *p, const char *text)
{
    orr_file_printf(p->html, "%s", text);
}

static void write_head(const struct page *p)
{
    const struct sr_answer *o = p->o;
    char spent[ORR_DURATION], since[SR_DAY_TEXT];
    orr_duration_print(o->seconds, spent);
    orr_file_printf(p->html, "<p class=\"meta\">%zu rows of <strong>", o->data->rows);
    orr_html_text(p->html, o->file);
    put(p, "</strong>");
    if (o->test) {
        orr_file_printf(p->html, ", tested on %zu rows of <strong>", o->test->rows);
        orr_html_text(p->html, o->test->file);
        put(p, "</strong>");
    }
    put(p, "; features ");
    for (int f = 0; f < sr_answer_features(o); f++) {
        put(p, f ? ", " : "");
        orr_html_text(p->html, o->names[f]);
        if (sr_answer_since(o, f, since))
            orr_file_printf(p->html, " (days since %s)", since);
    }
    put(p, "; loss ");
    orr_html_text(p->html, o->loss);
    if (o->loss_parameter > 0)
        orr_file_printf(p->html, " (parameter %.4g)", o->loss_parameter);
    orr_file_printf(p->html, ", seed %llu, %.4g formulas in %s, Orrery %s</p>\n",
                    (unsigned long long)o->seed, o->evaluations, spent, ORR_VERSION);
    for (int k = 0; k < SR_STATEMENTS; k++) {
        struct sr_statement said;
        if (!sr_output_statement(o, (enum sr_statement_of)k, &said))
            continue;
        put(p, "<p class=\"meta\">");
        orr_html_text(p->html, said.before);
        if (*said.code) {
            put(p, "<code>");
            orr_html_text(p->html, said.code);
            put(p, "</code>");
        }
        orr_html_text(p->html, said.after);
        put(p, "</p>\n");
    }
    put(p, "</header>\n<main>\n");
}

/* "T = ..." in MathML, of a row of the front or of the alternatives. */
static int write_formula(const struct page *p, const struct sr_answer *o, int row, bool target)
{
    char text[SR_TEXT];
    put(p, "<math displaystyle=\"true\"><mrow>");
    if (target) {
        sr_target_write(o->data->language, o->column, o->log_target, SR_MATHML, text, sizeof text);
        put(p, text);
        put(p, "<mo>=</mo>");
    }
    TRY(sr_answer_write(o, row, SR_MATHML, p->names, text, sizeof text));
    put(p, text);
    put(p, "</mrow></math>");
    return 0;
}

static int write_answer(const struct page *p)
{
    char text[SR_SENTENCE];
    if (p->chosen < 0)
        return 0;
    TRY(sr_answer_sentence(p->o, text, sizeof text));
    put(p, "<section class=\"answer\" aria-label=\"Answer\">\n");
    TRY(write_formula(p, p->o, p->chosen, true));
    put(p, "\n<p><code>");
    orr_html_text(p->html, text);
    put(p, "</code></p>\n</section>\n");
    return 0;
}

/* ---- loss against complexity, as SVG; a loss of 0 lies one decade below the others */

static void write_losses(const struct page *p)
{
    const struct sr_front *front = p->o->front;
    const int n = front->count;
    double least = HUGE_VAL, most = 0;
    for (int i = 0; i < n; i++)
        if (front->loss[i] > 0 && isfinite(front->loss[i])) {
            least = fmin(least, front->loss[i]);
            most = fmax(most, front->loss[i]);
        }
    if (!isfinite(least) || n < 2)
        return;
    const double decade = orr_log(10), high = orr_log(most);
    double low = orr_log(least);
    low -= front->loss[n - 1] > 0 ? 0 : decade;
    const double wide = fmax(high - low, 1e-9), first = front->complexity[0],
                 sizes = fmax(front->complexity[n - 1] - first, 1);
    put(p, "<figure class=\"losses\"><svg viewBox=\"0 0 480 220\" role=\"img\" aria-label=\"Loss "
           "against complexity\">\n<polyline class=\"line\" points=\"");
    for (int turn = 0; turn < 2; turn++) {
        for (int i = 0; i < n; i++) {
            const double loss = front->loss[i] > 0 ? orr_log(front->loss[i]) : low;
            const double x = 74 + 390 * (front->complexity[i] - first) / sizes;
            const double y = 24 + 146 * (high - loss) / wide;
            if (turn == 0)
                orr_file_printf(p->html, "%.1f,%.1f ", x, y);
            else
                orr_file_printf(p->html,
                                "<circle class=\"point\" data-row=\"%d\" cx=\"%.1f\" cy=\"%.1f\" "
                                "r=\"6\"><title>complexity %d, loss %.4g</title></circle>\n",
                                i, x, y, front->complexity[i], front->loss[i]);
        }
        put(p, turn == 0 ? "\"/>\n" : "");
    }
    orr_file_printf(p->html,
                    "<text x=\"64\" y=\"28\" text-anchor=\"end\">%.2g</text><text x=\"64\" "
                    "y=\"175\" text-anchor=\"end\">%.2g</text><text x=\"74\" y=\"194\" "
                    "text-anchor=\"middle\">%d</text><text x=\"464\" y=\"194\" "
                    "text-anchor=\"middle\">%d</text><text x=\"269\" y=\"212\" "
                    "text-anchor=\"middle\">complexity</text><text x=\"74\" y=\"13\">loss</text>"
                    "</svg></figure>\n",
                    most, front->loss[n - 1] > 0 ? least : 0.0, front->complexity[0],
                    front->complexity[n - 1]);
}

/* ---- the front */

static void write_rules(const struct page *p, int row)
{
    bool any = false;
    for (int rule = 0; rule < SR_RULES; rule++)
        if (sr_front_select(p->o->front, (enum sr_rule)rule) == row) {
            orr_file_printf(p->html, "%s%s", any ? ", " : "", sr_rule_name[rule]);
            any = true;
        }
}

static int write_rows(const struct page *p, const struct sr_answer *o, bool buttons)
{
    char r2[40];
    orr_file_printf(p->html,
                    "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"%s\">"
                    "<table><thead><tr><th>complexity</th><th>formula</th>%s<th>loss</th>"
                    "<th>%s</th>%s</tr></thead>\n<tbody>\n",
                    buttons ? "The front" : "Alternatives", buttons ? "<th>chosen by</th>" : "",
                    sr_output_score(o), o->test ? "<th>test R2</th>" : "");
    for (int i = 0; i < o->front->count; i++) {
        if (buttons)
            orr_file_printf(p->html,
                            "<tr data-row=\"%d\"%s><td><button type=\"button\" "
                            "aria-pressed=\"%s\">%d</button></td>",
                            i, i == p->chosen ? " class=\"shown\"" : "",
                            i == p->chosen ? "true" : "false", o->front->complexity[i]);
        else
            orr_file_printf(p->html, "<tr><td>%d</td>", o->front->complexity[i]);
        put(p, "<td><div class=\"formula\">");
        TRY(write_formula(p, o, i, false));
        put(p, buttons ? "</div></td><td>" : "</div></td>");
        if (buttons)
            write_rules(p, i);
        orr_file_printf(p->html, "%s<td>%.4g</td><td>%.3g</td>", buttons ? "</td>" : "",
                        o->front->loss[i], o->front->score[i]);
        if (o->test) {
            sr_test_text(o->test->r2[i], 0, r2, sizeof r2);
            orr_file_printf(p->html, "<td>%s</td>", r2);
        }
        put(p, "</tr>\n");
    }
    put(p, "</tbody></table></div>\n");
    return 0;
}

/* ---- what is shown of a row */

static int write_constants(const struct page *p, int row)
{
    struct sr_shown_constants s;
    TRY(sr_output_constants(p->o, row, &s));
    if (!s.count)
        return 0;
    orr_file_printf(p->html,
                    "<h3>Constants</h3>\n<div "
                    "class=\"wide\"><table><thead><tr><th>constant</th><th>standard error"
                    "</th>%s</tr></thead><tbody>\n",
                    s.profiles ? "<th>95% from</th><th>to</th>" : "");
    for (int c = 0; c < s.count; c++) {
        char number[SR_NUMBER], text[40], from[40], to[40];
        sr_number_print(s.constant[c], number);
        sr_test_text(s.error[c], 0, text, sizeof text);
        orr_file_printf(p->html, "<tr><td>%s</td><td>%s</td>", number, text);
        if (s.profiles) {
            sr_bound_print(s.low[c], s.constant[c], from, sizeof from);
            sr_bound_print(s.high[c], s.constant[c], to, sizeof to);
            orr_file_printf(p->html, "<td>%s</td><td>%s</td>", from, to);
        }
        put(p, "</tr>\n");
    }
    put(p, "</tbody></table></div>\n");
    return 0;
}

static int write_code(const struct page *p, int row, enum sr_notation notation, const char *title)
{
    char text[SR_TEXT];
    const struct sr_answer *o = p->o;
    orr_file_printf(p->html, "<dt>%s</dt><dd><code>", title);
    if (notation == SR_PRINTED)
        sr_expr_print(o->data->language, &o->front->expr[row], o->names, text, sizeof text);
    else
        TRY(sr_answer_write(o, row, notation, p->names, text, sizeof text));
    orr_html_text(p->html, text);
    put(p, "</code></dd>\n");
    return 0;
}

static int write_detail(const struct page *p, int row)
{
    char line[SR_SENTENCE];
    orr_file_printf(p->html, "<div class=\"detail\" data-row=\"%d\"%s>\n<p><code>", row,
                    row == p->chosen ? "" : " hidden");
    TRY(sr_answer_line(p->o, row, line, sizeof line));
    orr_html_text(p->html, line);
    put(p, "</code></p>\n");
    TRY(write_constants(p, row));
    put(p, "<details><summary>For programs</summary><dl>\n");
    TRY(write_code(p, row, SR_PRINTED, "symreg --guess"));
    TRY(write_code(p, row, SR_NUMPY, "Python with NumPy"));
    TRY(write_code(p, row, SR_SYMPY, "SymPy"));
    TRY(write_code(p, row, SR_C, "C"));
    TRY(write_code(p, row, SR_LATEX, "LaTeX"));
    put(p, "</dl></details>\n</div>\n");
    return 0;
}

/* A number of a list, with all its digits: the page subtracts predictions from y. */
static void write_value(const struct page *p, bool first, double value)
{
    char number[SR_NUMBER] = "null";
    if (isfinite(value))
        sr_number_print(value, number);
    orr_file_printf(p->html, "%s%s", first ? "" : ",", number);
}

/* y, its sigmas or intervals where they are known, and the predictions of every row of the front,
 * on at most POINTS evenly spaced rows. */
static int write_data(const struct page *p)
{
    const struct sr_answer *o = p->o;
    const size_t rows = o->data->rows, points = rows < POINTS ? rows : POINTS;
    double *value = orr_alloc(rows, sizeof *value);
    if (!value)
        return ORR_ENOMEM;
    orr_file_printf(p->html, "<script type=\"application/json\" id=\"data\">{\"rows\":%zu,\"y\":[",
                    rows);
    for (size_t k = 0; k < points; k++)
        write_value(p, k == 0, o->data->y[k * rows / points]);
    put(p, "],\"sigma\":[");
    for (size_t k = 0; k < points && o->variance > 0; k++)
        write_value(p, k == 0, sr_row_sigma(o, k * rows / points));
    put(p, "],\"bars\":[");
    for (size_t k = 0; k < points && o->data->low; k++) {
        put(p, k ? ",[" : "[");
        write_value(p, true, o->data->low[k * rows / points]);
        write_value(p, false, o->data->high[k * rows / points]);
        put(p, "]");
    }
    put(p, "],\"values\":[");
    for (int i = 0; i < o->front->count; i++) {
        put(p, i ? ",[" : "[");
        const bool finite = sr_eval(&o->front->expr[i], sr_answer_data(o, i), value);
        for (size_t k = 0; k < points; k++)
            write_value(p, k == 0, finite ? value[k * rows / points] : (double)NAN);
        put(p, "]");
    }
    put(p, "]}</script>\n");
    free(value);
    return 0;
}

static int write_shown(const struct page *p)
{
    put(p, "<h2 id=\"shown\">A formula beside the data</h2>\n<p>The button or point of a row shows "
           "its formula here.</p>\n<noscript><p>The drawings need JavaScript.</p></noscript>\n"
           "<div class=\"charts\"><figure id=\"fit\"></figure><figure id=\"rest\"></figure></div>\n"
           "<div aria-live=\"polite\">\n");
    for (int i = 0; i < p->o->front->count; i++)
        TRY(write_detail(p, i));
    put(p, "</div>\n");
    return write_data(p);
}

/* ---- remarks and use */

static void write_remark(const struct page *p, bool *any, const char *text)
{
    put(p, *any ? "<li>" : "<h2>Remarks</h2>\n<ul>\n<li>");
    orr_html_text(p->html, text);
    put(p, "</li>\n");
    *any = true;
}

static void write_remarks(const struct page *p)
{
    char text[512];
    bool any = false;
    for (int k = 0; k < SR_TABLE_REMARKS; k++)
        if (sr_table_remark(p->o, (enum sr_table_remark)k, text, sizeof text))
            write_remark(p, &any, text);
    if (p->o->permutations) {
        sr_permutations_text(p->o->permutations, text, sizeof text);
        write_remark(p, &any, text);
    }
    put(p, any ? "</ul>\n" : "");
}

/* The columns whose name in C and Python differs. */
static void write_renamed(const struct page *p)
{
    bool any = false;
    for (int f = 0; f < p->names->features; f++) {
        if (!sr_export_renamed(p->names, f))
            continue;
        if (!any)
            put(p, "<p>Formulas in C and Python have other names for these columns:</p>\n<div "
                   "class=\"wide\"><table><thead><tr><th>column</th><th>name</th></tr></thead>"
                   "<tbody>\n");
        any = true;
        put(p, "<tr><td>");
        orr_html_text(p->html, p->names->column[f]);
        orr_file_printf(p->html, "</td><td><code>%s</code></td></tr>\n", p->names->name[f]);
    }
    put(p, any ? "</tbody></table></div>\n" : "");
}

static int write_use(const struct page *p)
{
    const int features = sr_answer_features(p->o);
    put(p, "<h2>How to use it</h2>\n");
    write_renamed(p);
    put(p, "<p>In the folder of this page:</p>\n<pre><code>symreg predict front.json NEW.csv</code>"
           "</pre>\n");
    if (p->o->category)
        return 0; /* from_file() and C have no constants of a category */
    put(p, "<pre><code>import orrery\nmodel = orrery.SymbolicRegressor.from_file(\"front.json\")\n"
           "model.predict(X)  # columns: ");
    for (int f = 0; f < features; f++) {
        put(p, f ? ", " : "");
        orr_html_text(p->html, p->o->names[f]);
    }
    put(p, "</code></pre>\n");
    if (p->chosen < 0)
        return 0;
    char text[SR_TEXT];
    TRY(sr_answer_write(p->o, p->chosen, SR_C, p->names, text, sizeof text));
    put(p, "<pre><code>#include &lt;math.h&gt;\n\ndouble predict(");
    for (int f = 0; f < features; f++)
        orr_file_printf(p->html, "%sdouble %s", f ? ", " : "", p->names->name[f]);
    put(p, ")\n{\n    return ");
    orr_html_text(p->html, text);
    put(p, ";\n}</code></pre>\n");
    return 0;
}

static int write_page(const struct page *p)
{
    TRY(sr_page_begin(p->html, p->o->target));
    write_head(p);
    TRY(write_answer(p));
    put(p, "<h2>The front</h2>\n");
    write_losses(p);
    TRY(write_rows(p, p->o, true));
    TRY(write_shown(p));
    if (p->part && p->chosen >= 0)
        TRY(p->part->write(p->part->context, p->o, p->chosen, p->html));
    sr_output_parts(p->o, SR_HTML, p->html);
    sr_output_categories(p->o, SR_REPORTED_CATEGORIES, SR_HTML, p->html);
    if (p->o->alternatives && p->o->alternatives->front->count) {
        put(p, "<h2>Alternatives</h2>\n<p>Other functions, as good as what <code>best</code> "
               "selects; nats: by which their description is longer.</p>\n");
        TRY(write_rows(p, p->o->alternatives, false));
    }
    write_remarks(p);
    TRY(write_use(p));
    return sr_page_end(p->html);
}

int sr_page(const struct sr_answer *o, const char *folder, const struct sr_page_part *part,
            bool quiet)
{
    struct orr_file file;
    struct sr_export names;
    char path[4096];
    if (!sr_page_ready(quiet))
        return 0;
    TRY(orr_path(path, "%s/report.html", folder));
    TRY(orr_file_create(&file, path));
    sr_export_make(&names, o->names, o->data->features);
    const struct page page = {o, &names, &file, sr_front_select(o->front, o->rule), part};
    int rc = write_page(&page);
    if (!rc)
        rc = orr_file_commit(&file);
    orr_file_close(&file);
    return rc;
}
