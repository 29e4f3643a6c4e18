/* category_print.c - prints the constants that each category has in the selected formula. */
#include <math.h>

#include "program.h"

/* A line of the table: a label and a number, with its error, for every column. */
static void print_line(struct orr_file *file, int width, const char *label, int columns,
                       const double *value, const double *error)
{
    if (file) {
        orr_file_printf(file, error ? "| " : "| *%s*", label);
        if (error)
            orr_markdown_code(file, label, true);
        for (int k = 0; k < columns; k++)
            orr_file_printf(file, error && isfinite(error[k]) ? " | %.7g +- %.2g" : " | %.7g",
                            value[k], error ? error[k] : 0);
        orr_file_printf(file, " |\n");
        return;
    }
    char shown[256]; /* a value of the table, which may hold any character */
    printf("  %-*s", width, orr_shown(shown, sizeof shown, label));
    for (int k = 0; k < columns; k++) {
        char text[16] = "";
        if (error && isfinite(error[k]))
            snprintf(text, sizeof text, " +- %.2g", error[k]);
        printf("  %12.6g%-*s", value[k], k + 1 < columns ? 12 : 0, text);
    }
    printf("\n");
}

/* Mean and standard deviation over the categories. */
static void print_spread(const struct sr_category *c, const struct sr_category_row *row, int width,
                         struct orr_file *file)
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
    print_line(file, width, "mean", row->parameters, mean, NULL);
    print_line(file, width, "standard deviation", row->parameters, square, NULL);
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

static void print_head(const struct sr_answer *o, int columns, int width)
{
    printf("constants of each %s, in the formula that %s selects:\n  %-*s", o->category->name,
           sr_rule_name[o->rule], width, o->category->name);
    for (int k = 0; k < columns; k++)
        printf("  %12s%*s", o->category->parameter[k], k + 1 < columns ? 12 : 0, "");
    printf("\n");
}

void sr_output_categories(const struct sr_answer *o, int most, struct orr_file *file)
{
    const struct sr_category *c = o->category;
    const int row = c ? sr_front_select(o->front, o->rule) : -1;
    const int width = 20;
    if (row < 0 || !c->row[row].parameters)
        return;
    const struct sr_category_row *of = &c->row[row];
    if (file)
        write_head(o, of->parameters, file);
    else
        print_head(o, of->parameters, width);
    for (int k = 0; k < c->count && k < most; k++) {
        double value[SR_PARAMETERS], error[SR_PARAMETERS];
        for (int p = 0; p < of->parameters; p++) {
            value[p] = of->value[p * c->count + k];
            error[p] = o->least_squares ? of->error[p * c->count + k] : NAN;
        }
        print_line(file, width, c->label[k], of->parameters, value, error);
    }
    if (c->count > most && !file)
        printf("  ... and %d more (front.json of --out DIR has all)\n", c->count - most);
    print_spread(c, of, width, file);
}
