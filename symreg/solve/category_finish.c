/* category_finish.c - completes the front of a table with categories: fits all constants, decides
 * which are shared, and writes the others as columns. */
#include "solve.h"

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
