/* template_seeds.c - seeds of a template with one unknown function that enters linearly, as in
 * m1 m2 / r^2 f(r) + 3: solving for the function gives a table of its own. */
#include <math.h>
#include <stdlib.h>

#include "derived.h"
#include "shared.h"

/* The template with a formula in place of its function; false where it is too long. */
static bool put_part(const struct sr_settings *s, const struct sr_expr *part, int limit,
                     struct sr_expr *expr)
{
    *expr = s->form->form;
    return sr_template_put(s->form, 0, part, limit, expr);
}

/* The rows that say something of f where the template is a f + b; none where f does not enter
 * linearly. value (3, rows): of the template for f = 0, 1, 2; the second becomes a. */
static size_t choose_rows(const struct sr_data *data, double *value, size_t *row, double *most)
{
    const double *b = value, *two = value + 2 * data->rows;
    double *one = value + data->rows;
    size_t kept = 0;
    *most = 0;
    for (size_t i = 0; i < data->rows; i++) { /* 0: no effect up to rounding */
        const double a = one[i] - b[i], scale = fabs(one[i]) + fabs(two[i]) + fabs(b[i]);
        if (!(fabs(two[i] - one[i] - a) <= 1e-12 * scale))
            return 0;
        one[i] = fabs(a) > 1e-12 * scale ? a : 0;
        *most = fmax(*most, fabs(one[i]));
    }
    for (size_t i = 0; i < data->rows; i++)
        if (isfinite((data->y[i] - b[i]) / one[i]) &&
            one[i] / *most * (one[i] / *most) * sr_row_weight(data, i) > 0)
            row[kept++] = i;
    return kept;
}

/* The table of the values (y - b) / a of f, with the weights a^2 (in units of the largest), for
 * which the loss of a formula is that of the template, but for a factor. */
static int make_part(const struct sr_settings *s, const struct sr_loss *loss, struct sr_derived *d)
{
    const struct sr_part *part = &s->form->part[0];
    const struct sr_data *all = loss->data;
    const size_t n = all->rows;
    double *b = orr_alloc(3 * n, sizeof *b), most;
    size_t *row = orr_alloc(n, sizeof *row), rows = 0;
    int rc = b && row ? 0 : ORR_ENOMEM, number = 0;
    struct sr_expr expr, one = {.count = 1, .node = {sr_constant_node(0)}};
    while (!rc && number < 3 && put_part(s, &one, SR_NODES, &expr) &&
           sr_eval(&expr, all, b + (size_t)number * n))
        one.node[0].value = ++number;
    if (number == 3)
        rows = choose_rows(all, b, row, &most);
    if (!rc && rows > 1) {
        rc = sr_derived_init(d, all, rows, row, part->columns);
        for (int f = 0; f < part->columns && !rc; f++)
            sr_derived_feature(d, all, part->column[f]);
        for (size_t i = 0; i < rows && !rc; i++) {
            const double a = b[n + row[i]];
            d->y[i] = (d->y[i] - b[row[i]]) / a;
            d->weight[i] *= a / most * (a / most);
        }
        if (!rc) /* without a table the islands start without seeds */
            rc = sr_derived_close(
                d, sr_loss_init_with(&d->loss, loss->kind, loss->parameter, &d->data));
    }
    free(b);
    free(row);
    return rc;
}

/* Whether the template admits the function, alone or with a factor, which may have a dimension. */
static bool admits_part(const struct sr_expr *part, const void *context)
{
    const struct sr_settings *s = context;
    struct sr_expr scaled = {.count = 0}, expr;
    sr_put_text("c * u", part, "c", &(double){0.7548776662466927}, &scaled);
    return (put_part(s, part, SR_NODES, &expr) && s->admissible(&expr, s->context)) ||
           (sr_put_end(s->language, &scaled, SR_NODES) && put_part(s, &scaled, SR_NODES, &expr) &&
            s->admissible(&expr, s->context));
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
        struct sr_expr part = seeds->expr[i];
        double scale;
        if (!isfinite(sr_eval_loss(&part, loss, work, &scale)) || scale == 0 ||
            (fabs(scale - 1) > 1e-9 && !sr_expr_scale(&part, scale)) ||
            !put_part(s, &part, s->maxsize, &seeds->expr[kept]))
            continue;
        seeds->loss[kept++] = seeds->loss[i];
    }
    seeds->count = kept;
}

int sr_seeds_template(const struct sr_settings *settings, const struct sr_loss *loss,
                      struct sr_limit limit, struct sr_thread *thread, int threads,
                      struct sr_seeds *seeds)
{
    const struct sr_template *form = settings->form;
    struct sr_derived *d;
    seeds->count = 0;
    seeds->evaluations = 0;
    if (form->parts != 1 || !form->functions || loss->kind != ORR_SR_L2 || settings->penalty)
        return 0;
    struct sr_settings own = *settings;
    own.form = NULL;
    own.admissible = settings->admissible ? admits_part : NULL;
    own.whole = NULL;
    own.context = settings;
    own.units = NULL;
    own.guesses = 0;
    own.maxsize = settings->maxsize - form->form.count + 1;
    d = orr_alloc(1, sizeof *d);
    int rc = d ? make_part(settings, loss, d) : ORR_ENOMEM;
    if (!rc && d->data.rows) {
        rc = sr_seeds_all(&own, &d->loss, limit, thread, threads, seeds);
        if (!rc)
            put_seeds(settings, &d->loss, &thread->work, seeds);
    }
    if (d)
        sr_derived_free(d);
    free(d);
    return rc;
}
