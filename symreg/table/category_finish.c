/* category_finish.c - completes the front of a table with categories: fits all constants, decides
 * which are shared, and writes the others as columns. */
#include "output.h"

#include <math.h>
#include <stdlib.h>

/* What the rows of the front are made with. */
struct finish {
    const struct sr_settings *s;
    struct sr_table *table;
    struct sr_categories c;
    struct sr_work work;
    struct sr_hall_of_fame *hall;
    struct sr_category_row row[SR_NODES + 1]; /* by complexity */
    double mdl[SR_NODES + 1], cost[SR_NODES + 1];
    bool unfitted[SR_NODES + 1]; /* no time was left for all steps of its fit */
};

/* Writes the constants of each category as features. False where there are too many. */
static bool write_columns(const struct sr_category_fit *fit, int features, struct sr_expr *expr)
{
    int constant = 0, column = 0;
    for (int i = 0; i < expr->count; i++) {
        if (expr->node[i].op != SR_CONSTANT)
            continue;
        if (!fit->shared[constant] && column < SR_PARAMETERS)
            expr->node[i] = sr_feature_node(features + column);
        column += !fit->shared[constant++];
    }
    return column <= SR_PARAMETERS;
}

/* Keeps constants and errors of a fit: those of each category by column, the shared in order. */
static int keep_row(struct finish *f, const struct sr_expr *expr, const struct sr_category_fit *fit,
                    struct sr_category_row *row)
{
    const int n = fit->constants, count = f->c.count;
    const size_t numbers = (size_t)count * (size_t)n + 1;
    int shared = 0;
    double *error = orr_alloc(numbers, sizeof *error);
    row->value = orr_alloc(numbers, sizeof *row->value);
    row->error = orr_alloc(numbers, sizeof *row->error);
    int rc = error && row->value && row->error ? 0 : ORR_ENOMEM;
    if (!rc)
        rc = sr_categories_errors(&f->c, expr, fit->shared, f->table->variance, &f->work,
                                  fit->value, error);
    for (size_t k = 0; k < numbers && !rc && sr_fit_over(&f->work); k++)
        error[k] = NAN; /* the fit was interrupted */
    for (int i = 0; i < n && !rc; i++) {
        if (fit->shared[i]) {
            row->shared[shared++] = error[i];
            continue;
        }
        for (int k = 0; k < count; k++) {
            row->value[row->parameters * count + k] = fit->value[k * n + i];
            row->error[row->parameters * count + k] = error[k * n + i];
        }
        row->parameters++;
    }
    free(error);
    return rc;
}

/* Rounds the shared constants with the others as they are; returns the loss. */
static int round_shared(struct finish *f, const struct sr_category_row *row, struct sr_expr *expr,
                        double *loss)
{
    struct sr_table *table = f->table;
    struct sr_category *category = table->category;
    const int features = table->data.features;
    struct sr_loss whole;
    category->row[0] = *row;
    category->most = row->parameters;
    sr_category_enter(category, category, table->data.rows, 0);
    table->data.features += category->most;
    int rc = sr_loss_init_with(&whole, f->s->loss, f->s->loss_parameter, &table->data);
    if (!rc) {
        const struct sr_tidy tidy = {f->s->language, &whole, sr_settings_operators(f->s),
                                     f->s->maxsize,  NULL,   NULL};
        const double reached = sr_snap(&whole, expr, &f->work);
        struct sr_expr other = *expr;
        sr_tidy_factors(&tidy, &other);
        if (other.count == expr->count)
            *expr = other;
        *loss = isfinite(reached) ? reached : *loss;
        sr_loss_free(&whole);
    }
    category->row[0] = (struct sr_category_row){0};
    table->data.features = features;
    return rc;
}

static void free_row(struct sr_category_row *row)
{
    free(row->value);
    free(row->error);
    *row = (struct sr_category_row){0};
}

/* Fits a formula of the search; *smallest is the least loss of simpler ones. */
static int finish_row(struct finish *f, const struct sr_expr *found, double *smallest)
{
    const struct sr_settings *s = f->s;
    struct sr_category_fit fit;
    struct sr_expr expr = *found;
    sr_expr_rewrite(s->language, &expr, sr_settings_operators(s));
    if (s->whole && !s->whole(&expr, s->context))
        expr = *found; /* the product 1 x may have a dimension that x alone does not have */
    const int complexity = sr_expr_complexity(s->language, &expr);
    const double penalty =
        s->penalty ? s->penalty(&expr, true, s->context) * fmax(f->c.base, 0) : 0;
    struct sr_category_row row = {0};
    int rc = sr_categories_share(&f->c, sr_settings_operators(s), &expr, &f->work, &fit);
    struct sr_expr written = expr;
    double loss = fit.loss;
    if (!rc && isfinite(loss) && write_columns(&fit, f->table->data.features, &written)) {
        int shared = 0;
        double common[SR_NODES];
        for (int i = 0; i < fit.constants; i++)
            if (fit.shared[i])
                common[shared++] = fit.value[i];
        sr_expr_set_constants(&written, common);
        rc = keep_row(f, &expr, &fit, &row);
        if (!rc)
            rc = round_shared(f, &row, &written, &loss);
        loss = loss <= f->c.noise ? 0 : loss;
        if (loss <= 0 && (size_t)fit.constants + 2 > f->c.cases)
            loss = f->c.noise; /* so few rows of a category are no evidence for an exact law */
        loss += penalty;
        if (!rc && loss < *smallest * (1 - sr_snap_share(f->table->data.rows))) {
            *smallest = loss;
            f->hall->loss[complexity] = loss;
            f->hall->expr[complexity] = written;
            f->mdl[complexity] = fit.mdl;
            f->cost[complexity] = fit.cost;
            f->unfitted[complexity] = fit.constants > 0 && sr_fit_over(&f->work);
            free_row(&f->row[complexity]);
            f->row[complexity] = row;
            row = (struct sr_category_row){0};
        }
    }
    free_row(&row);
    free(fit.value);
    return rc;
}

/* Makes the front of the finished rows, and gives the table the columns that they use. */
static int make_front(struct finish *f, struct sr_front *front)
{
    struct sr_category *category = f->table->category;
    struct sr_data *data = &f->table->data;
    struct sr_loss whole;
    sr_front_make(f->hall, front);
    front->rows = 0;
    for (int k = 0; k < f->c.count; k++)
        front->rows += f->c.data[k].rows;
    category->most = 0;
    for (int i = 0; i < front->count; i++) {
        const int complexity = front->complexity[i];
        category->row[i] = f->row[complexity];
        f->row[complexity] = (struct sr_category_row){0};
        front->mdl[i] = f->mdl[complexity];
        front->cost[i] = f->cost[complexity];
        front->unfitted[i] = f->unfitted[complexity];
        if (category->row[i].parameters > category->most)
            category->most = category->row[i].parameters;
    }
    for (int k = 0; k < category->most; k++)
        f->table->name[data->features + k] = category->parameter[k];
    data->features += category->most;
    TRY(sr_loss_init_with(&whole, f->s->loss, f->s->loss_parameter, data));
    whole.cases = f->c.cases;
    sr_front_correct(front, &whole);
    sr_loss_free(&whole);
    return 0;
}

int sr_category_finish(const struct sr_settings *s, double forms_until_s, struct sr_table *table,
                       struct sr_fit *fit)
{
    struct finish *f = orr_alloc(1, sizeof *f);
    double smallest = HUGE_VAL;
    if (!f)
        return ORR_ENOMEM;
    f->s = s;
    f->table = table;
    f->hall = orr_alloc(1, sizeof *f->hall);
    int rc = f->hall ? 0 : ORR_ENOMEM;
    if (!rc)
        rc = sr_categories_init(&f->c, s->loss, s->loss_parameter, &table->data,
                                table->category->of_row, table->category->count);
    f->c.forms_until_s = forms_until_s;
    if (!rc)
        rc = sr_work_init(&f->work, table->data.rows, SR_NODES);
    f->work.finishing = true;
    if (!rc) {
        sr_hall_of_fame_clear(f->hall);
        for (int i = 0; i < fit->front.count && !rc; i++) {
            const double now = orr_time_s(); /* every row has its share of the time */
            if (forms_until_s > now)
                f->c.forms_until_s = now + (forms_until_s - now) / (fit->front.count - i);
            rc = finish_row(f, &fit->front.expr[i], &smallest);
        }
    }
    if (!rc)
        rc = make_front(f, &fit->front);
    for (int c = 0; c <= SR_NODES; c++)
        free_row(&f->row[c]);
    sr_categories_free(&f->c);
    sr_work_free(&f->work);
    free(f->hall);
    free(f);
    return rc;
}

/* ---- output */

double sr_output_variance(const struct sr_output *o, int row)
{
    const double n = (double)o->data->rows,
                 freedom = n - sr_expr_constants(&o->front->expr[row], NULL);
    if (!(o->variance_factor > 0) || !(o->variance > 0))
        return o->variance;
    const double chi2 = n * o->front->loss[row] / o->variance;
    return o->variance * o->variance_factor * (freedom > 0 ? fmax(1, chi2 / freedom) : 1);
}

int sr_output_errors(const struct sr_output *o, int row, double error[SR_NODES])
{
    const int count = sr_expr_constants(&o->front->expr[row], NULL);
    if (!o->category && !o->front->unfitted[row])
        return sr_constants_errors(&o->front->expr[row], o->data, sr_output_variance(o, row),
                                   error);
    for (int i = 0; i < count; i++)
        error[i] = o->front->unfitted[row] ? (double)NAN : o->category->row[row].shared[i];
    return 0;
}

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

static void write_head(const struct sr_output *o, int columns, struct orr_file *file)
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

static void print_head(const struct sr_output *o, int columns, int width)
{
    printf("constants of each %s, in the formula that %s selects:\n  %-*s", o->category->name,
           sr_rule_name[o->rule], width, o->category->name);
    for (int k = 0; k < columns; k++)
        printf("  %12s%*s", o->category->parameter[k], k + 1 < columns ? 12 : 0, "");
    printf("\n");
}

void sr_output_categories(const struct sr_output *o, int most, struct orr_file *file)
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
