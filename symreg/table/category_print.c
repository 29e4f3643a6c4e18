/* category_print.c - prints the constants that each category has in the selected formula. */
#include <math.h>

#include "base/html.h"
#include "program.h"

enum { WIDTH = 20 }; /* of the labels on the terminal */

struct place {
    enum sr_medium medium;
    struct orr_file *file; /* NULL: the terminal */
};

/* ---- a line of the table: a label and a number, with its error, for every column */

static void write_markdown(struct orr_file *file, const char *label, int columns,
                           const double *value, const double *error)
{
    orr_file_printf(file, error ? "| " : "| *%s*", label);
    if (error)
        orr_markdown_code(file, label, true);
    for (int k = 0; k < columns; k++)
        orr_file_printf(file, error && isfinite(error[k]) ? " | %.7g +- %.2g" : " | %.7g", value[k],
                        error ? error[k] : 0);
    orr_file_printf(file, " |\n");
}

static void write_html(struct orr_file *file, const char *label, int columns, const double *value,
                       const double *error)
{
    orr_file_printf(file, error ? "<tr><td>" : "<tr><td><em>");
    orr_html_text(file, label);
    orr_file_printf(file, error ? "</td>" : "</em></td>");
    for (int k = 0; k < columns; k++)
        orr_file_printf(file,
                        error && isfinite(error[k]) ? "<td>%.7g +- %.2g</td>" : "<td>%.7g</td>",
                        value[k], error ? error[k] : 0);
    orr_file_printf(file, "</tr>\n");
}

static void print_line(const struct place *to, const char *label, int columns, const double *value,
                       const double *error)
{
    if (to->medium == SR_MARKDOWN) {
        write_markdown(to->file, label, columns, value, error);
        return;
    }
    if (to->medium == SR_HTML) {
        write_html(to->file, label, columns, value, error);
        return;
    }
    char shown[256]; /* a value of the table, which may hold any character */
    printf("  %-*s", WIDTH, orr_shown(shown, sizeof shown, label));
    for (int k = 0; k < columns; k++) {
        char text[16] = "";
        if (error && isfinite(error[k]))
            snprintf(text, sizeof text, " +- %.2g", error[k]);
        printf("  %12.6g%-*s", value[k], k + 1 < columns ? 12 : 0, text);
    }
    printf("\n");
}

/* Mean and standard deviation over the categories. */
static void print_spread(const struct sr_category *c, const struct sr_category_row *row,
                         const struct place *to)
{
    double mean[SR_PARAMETERS] = {0}, square[SR_PARAMETERS] = {0};
    for (int k = 0; k < row->parameters; k++) {
        for (int i = 0; i < c->count; i++)
            mean[k] += row->value[k * c->count + i] / c->count;
        for (int i = 0; i < c->count; i++) {
            const double d = row->value[k * c->count + i] - mean[k];
            square[k] += d * d / fmax(c->count - 1, 1);
        }
        square[k] = sqrt(square[k]);
    }
    print_line(to, "mean", row->parameters, mean, NULL);
    print_line(to, "standard deviation", row->parameters, square, NULL);
}

static void write_html_head(const struct sr_answer *o, int columns, struct orr_file *file)
{
    orr_file_printf(
        file,
        "<h2>Constants of each category</h2>\n<p>In the formula that <code>%s</code> "
        "selects, with standard errors.</p>\n<div class=\"wide\"><table><thead><tr><th>",
        sr_rule_name[o->rule]);
    orr_html_text(file, o->category->name);
    for (int k = 0; k < columns; k++) {
        orr_file_printf(file, "</th><th>");
        orr_html_text(file, o->category->parameter[k]);
    }
    orr_file_printf(file, "</th></tr></thead><tbody>\n");
}

static void write_head(const struct sr_answer *o, int columns, struct orr_file *file)
{
    orr_file_printf(file,
                    "\n## Constants of each category\n\nIn the formula that %s selects, with "
                    "standard errors.\n\n| ",
                    sr_rule_name[o->rule]);
    orr_markdown_code(file, o->category->name, true);
    for (int k = 0; k < columns; k++) {
        orr_file_printf(file, " | ");
        orr_markdown_code(file, o->category->parameter[k], true);
    }
    orr_file_printf(file, " |\n|---|");
    for (int k = 0; k < columns; k++)
        orr_file_printf(file, "---:|");
    orr_file_printf(file, "\n");
}

static void print_head(const struct sr_answer *o, int columns)
{
    printf("constants of each %s, in the formula that %s selects:\n  %-*s", o->category->name,
           sr_rule_name[o->rule], WIDTH, o->category->name);
    for (int k = 0; k < columns; k++)
        printf("  %12s%*s", o->category->parameter[k], k + 1 < columns ? 12 : 0, "");
    printf("\n");
}

void sr_output_categories(const struct sr_answer *o, int most, enum sr_medium medium,
                          struct orr_file *file)
{
    const struct sr_category *c = o->category;
    const int row = c ? sr_front_select(o->front, o->rule) : -1;
    const struct place to = {medium, file};
    if (row < 0 || !c->row[row].parameters)
        return;
    const struct sr_category_row *of = &c->row[row];
    if (medium == SR_HTML)
        write_html_head(o, of->parameters, file);
    else if (medium == SR_MARKDOWN)
        write_head(o, of->parameters, file);
    else
        print_head(o, of->parameters);
    for (int k = 0; k < c->count && k < most; k++) {
        double value[SR_PARAMETERS], error[SR_PARAMETERS];
        for (int p = 0; p < of->parameters; p++) {
            value[p] = of->value[p * c->count + k];
            error[p] = o->least_squares ? of->error[p * c->count + k] : NAN;
        }
        print_line(&to, c->label[k], of->parameters, value, error);
    }
    if (c->count > most && medium == SR_TERMINAL)
        printf("  ... and %d more (front.json of --out DIR has all)\n", c->count - most);
    print_spread(c, of, &to);
    if (medium == SR_HTML)
        orr_file_printf(file, "</tbody></table></div>\n");
}
