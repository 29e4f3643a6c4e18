/* parts.c - seeds of a template with one unknown function that enters linearly, as in
 * m1 m2 / r^2 f(r) + 3: solving for the function gives a table of its own. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "seed.h"

/* The template with a number in place of its function, for every row. */
static bool put_number(const struct sr_settings *s, const struct sr_data *data, double number,
                       double *value)
{
    struct sr_expr expr = s->form->form;
    const struct sr_expr part = {.count = 1, .node = {sr_constant_node(number)}};
    return sr_template_put(s->form, 0, &part, SR_NODES, &expr) && sr_eval(&expr, data, value);
}

/* The rows of a table for the function alone. */
struct solved {
    size_t rows;
    double *x, *y, *weight; /* (columns, rows), (rows), (rows) */
};

/* Where the template is a f + b: the values (y - b) / a of f, and the weights a^2 (in units of the
 * largest), for which the loss of a formula is that of the template, but for a factor. Rows that
 * say nothing of f are left out. None where f does not enter linearly. */
static void solve_rows(const struct sr_settings *s, const struct sr_data *data, struct solved *out)
{
    const struct sr_part *part = &s->form->part[0];
    const size_t n = data->rows;
    double *const b = out->weight + n, *const one = b + n, *const two = one + n;
    double most = 0;
    out->rows = 0;
    if (!put_number(s, data, 0, b) || !put_number(s, data, 1, one) || !put_number(s, data, 2, two))
        return;
    for (size_t i = 0; i < n; i++) { /* one becomes a; 0: no effect up to rounding */
        const double a = one[i] - b[i], scale = fabs(one[i]) + fabs(two[i]) + fabs(b[i]);
        if (!(fabs(two[i] - one[i] - a) <= 1e-12 * scale))
            return;
        one[i] = fabs(a) > 1e-12 * scale ? a : 0;
        most = fmax(most, fabs(one[i]));
    }
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        const double y = (data->y[i] - b[i]) / one[i], a = one[i] / most;
        const double weight = a * a * sr_row_weight(data, i);
        if (!isfinite(y) || !(weight > 0))
            continue;
        out->y[kept] = y;
        out->weight[kept] = weight;
        for (int f = 0; f < part->columns; f++) /* (the columns are packed below) */
            out->x[(size_t)f * n + kept] = data->x[(size_t)part->column[f] * n + i];
        kept++;
    }
    for (int f = 1; f < part->columns && kept < n; f++)
        memmove(out->x + (size_t)f * kept, out->x + (size_t)f * n, kept * sizeof *out->x);
    out->rows = kept;
}

/* Whether the template admits the function, alone or with a factor, which may have a dimension. */
static bool admits_part(const struct sr_expr *part, const void *context)
{
    const struct sr_settings *s = context;
    struct sr_expr scaled = {.count = 0}, expr = s->form->form;
    sr_put_constant(&scaled, 0.7548776662466927);
    sr_put_expr(&scaled, part);
    sr_put_op(&scaled, SR_MUL);
    if (sr_template_put(s->form, 0, part, SR_NODES, &expr) && s->admissible(&expr, s->context))
        return true;
    expr = s->form->form;
    return sr_put_end(s->language, &scaled, SR_NODES) &&
           sr_template_put(s->form, 0, &scaled, SR_NODES, &expr) &&
           s->admissible(&expr, s->context);
}

/* The seeds of the function, with their factors, and the best constant become formulas of the
 * template. */
static void put_seeds(const struct sr_settings *s, const struct sr_loss *loss, struct sr_work *work,
                      struct sr_seeds *seeds)
{
    int kept = 0;
    if (seeds->count < SR_SEEDS) {
        seeds->expr[seeds->count] = (struct sr_expr){.count = 1, .node = {sr_constant_node(1)}};
        seeds->loss[seeds->count++] = loss->base;
    }
    for (int i = 0; i < seeds->count; i++) {
        struct sr_expr part = seeds->expr[i], expr = s->form->form;
        double scale;
        if (!isfinite(sr_eval_loss(&part, loss, work, &scale)) || scale == 0 ||
            (fabs(scale - 1) > 1e-9 && !sr_expr_scale(&part, scale)) ||
            !sr_template_put(s->form, 0, &part, s->maxsize, &expr))
            continue;
        seeds->loss[kept] = seeds->loss[i];
        seeds->expr[kept++] = expr;
    }
    seeds->count = kept;
}

int sr_seeds_template(const struct sr_settings *settings, const struct sr_loss *loss,
                      struct sr_limit limit, struct sr_thread *thread, int threads,
                      struct sr_seeds *seeds)
{
    const struct sr_template *form = settings->form;
    const size_t n = loss->data->rows;
    seeds->count = 0;
    seeds->evaluations = 0;
    if (form->parts != 1 || loss->kind != ORR_SR_L2 || settings->penalty)
        return 0;
    const int columns = form->part[0].columns;
    struct solved solved = {.x = orr_alloc((size_t)(columns + 5) * n, sizeof(double))};
    if (!solved.x)
        return ORR_ENOMEM;
    solved.y = solved.x + (size_t)columns * n;
    solved.weight = solved.y + n;
    solve_rows(settings, loss->data, &solved);
    struct sr_settings own = *settings;
    own.form = NULL;
    own.admissible = settings->admissible ? admits_part : NULL;
    own.whole = NULL;
    own.context = settings;
    own.units = NULL;
    own.guesses = 0;
    own.maxsize = settings->maxsize - form->form.count + 1;
    struct sr_loss of_part;
    const struct sr_data data = {.rows = solved.rows,
                                 .features = columns,
                                 .x = solved.x,
                                 .y = solved.y,
                                 .weight = solved.weight,
                                 .language = settings->language};
    int rc = 0;
    if (solved.rows > 1) {
        rc = sr_loss_init_with(&of_part, loss->kind, loss->parameter, &data);
        rc = rc ? rc : sr_seeds_all(&own, &of_part, limit, thread, threads, seeds);
        if (!rc)
            put_seeds(settings, &of_part, &thread->work, seeds);
        sr_loss_free(&of_part);
    }
    free(solved.x);
    if (rc == ORR_ENOMEM)
        return rc;
    if (rc) /* values beyond the largest number: the islands start without seeds */
        orr_error_clear();
    return 0;
}
