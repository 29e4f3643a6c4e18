/* categories.c - fits a formula's constants in every category of a table, each by itself or with
 * some of them shared.
 *
 * With shared constants the least-squares matrix is an arrow: a block for each category, bordered
 * by the shared constants. The blocks are eliminated first (Schur complement), so a step costs as
 * much as a step of each category. */
#include "categories.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "symreg/value/cholesky.h"

/* ---- set-up */

/* Sorts the rows by category and copies those of each. */
static int split_rows(struct sr_categories *c, const struct sr_data *data, const int *category)
{
    const size_t count = (size_t)c->count;
    size_t *row = orr_alloc(data->rows, sizeof *row), most = 0;
    /* places of the categories among the sorted rows: their firsts, and after sorting their ends */
    size_t *end = orr_alloc(count + 1, sizeof *end);
    int rc = row && end ? 0 : ORR_ENOMEM;
    for (size_t i = 0; i < data->rows && !rc; i++)
        end[category[i] + 1]++;
    for (size_t k = 1; k < count && !rc; k++)
        end[k] += end[k - 1];
    for (size_t i = 0; i < data->rows && !rc; i++)
        row[end[category[i]]++] = i;
    for (int k = 0; k < c->count && !rc; k++) {
        const size_t first = k ? end[k - 1] : 0, rows = end[k] - first;
        rc = rows ? sr_rows_take(data, rows, row + first, &c->data[k], &c->storage[k])
                  : ORR_FAIL(ORR_EINVAL, "category %d: expected rows, found none", k);
        if (rows > most) {
            most = rows;
            c->reference = k;
        }
    }
    free(end);
    free(row);
    return rc;
}

/* Gives a reference of few rows those of all categories, with y counted from its mean in each. */
static int pool_rows(struct sr_categories *c, const struct sr_data *data)
{
    enum { FEW = 40 }; /* rows; fewer do not show which of many periods is right */
    const size_t rows = data->rows, columns = (size_t)data->features;
    struct sr_data *reference = &c->data[c->reference];
    if (reference->rows >= FEW || rows < FEW)
        return 0;
    double *x = c->pooled_x = orr_alloc(rows * (columns + 2), sizeof *x);
    if (!x)
        return ORR_ENOMEM;
    double *y = x + rows * columns, *weight = y + rows;
    size_t at = 0;
    for (int k = 0; k < c->count; k++) {
        const struct sr_data *own = &c->data[k];
        const double mean = sr_weighted_mean(own);
        for (size_t i = 0; i < own->rows; i++, at++) {
            for (size_t f = 0; f < columns; f++)
                x[f * rows + at] = own->x[f * own->rows + i];
            y[at] = own->y[i] - mean;
            weight[at] = sr_row_weight(own, i);
        }
    }
    c->pooled = (struct sr_data){.rows = rows,
                                 .features = data->features,
                                 .x = x,
                                 .y = y,
                                 .weight = weight,
                                 .language = data->language};
    reference->pooled = &c->pooled;
    return 0;
}

static int make_losses(struct sr_categories *c, enum orr_symreg_loss kind, double parameter,
                       const struct sr_data *data)
{
    struct sr_loss whole;
    TRY(sr_loss_init_with(&whole, kind, parameter, data));
    c->total = whole.total;
    c->noise = whole.noise;
    c->cases = SIZE_MAX;
    int rc = 0;
    for (int k = 0; k < c->count && !rc; k++) {
        struct sr_loss *loss = &c->loss[k];
        rc = sr_loss_init_with(loss, kind, parameter, &c->data[k]);
        loss->unit = whole.unit;
        loss->parameter = whole.parameter;
        c->base += loss->total * loss->base / c->total;
        c->cases = loss->cases < c->cases ? loss->cases : c->cases;
    }
    sr_loss_free(&whole);
    return rc;
}

int sr_categories_init(struct sr_categories *c, enum orr_symreg_loss kind, double parameter,
                       const struct sr_data *data, const int *category, int count)
{
    const size_t n = (size_t)count;
    *c = (struct sr_categories){.count = count};
    c->data = orr_alloc(n, sizeof *c->data);
    c->loss = orr_alloc(n, sizeof *c->loss);
    c->storage = orr_alloc(n, sizeof *c->storage);
    if (!c->data || !c->loss || !c->storage)
        return ORR_ENOMEM;
    TRY(split_rows(c, data, category));
    TRY(pool_rows(c, data));
    return make_losses(c, kind, parameter, data);
}

void sr_categories_free(struct sr_categories *c)
{
    for (int k = 0; k < c->count; k++) {
        if (c->loss)
            sr_loss_free(&c->loss[k]);
        if (c->storage)
            free(c->storage[k]);
    }
    free(c->data);
    free(c->loss);
    free(c->storage);
    free(c->pooled_x);
    *c = (struct sr_categories){0};
}

/* ---- each category by itself */

static const double poor = 4; /* so many times the reference's share of its base is a bad fit */

/* The loss as a share of the loss of the category's best constant. */
static double share_of(const struct sr_categories *c, int k, double loss)
{
    const double base = c->loss[k].base > 0 ? c->loss[k].base : c->base;
    return base > 0 ? loss / base : loss;
}

/* Fits from the given constants; keeps the better constants and returns the smaller loss. */
static double fit_from(const struct sr_loss *loss, const struct sr_expr *form, const double *start,
                       int steps, double reached, double *best, struct sr_work *work)
{
    struct sr_expr expr = *form;
    sr_expr_set_constants(&expr, start);
    const double here = sr_constants_fit(loss, &expr, false, steps, 0, NULL, work);
    if (here < reached)
        sr_expr_constants(&expr, best);
    return here < reached ? here : reached;
}

/* A factor between 1/3 and 3 for constant i of restart r, the same in every fit: an evaluation must
 * not depend on what its thread did before. */
static double factor_of(int r, int i)
{
    uint64_t z = (uint64_t)(r + 1) * 0x9e3779b97f4a7c15u + (uint64_t)(i + 1) * 0xd1b54a32d192ed03u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    const double u = (double)(z >> 11) * 0x1p-53;
    return u < 0.5 ? 1 / (3 - 4 * u) : 4 * u - 1;
}

/* first: the reference's constants; best: in: those of the category before, out: of this one. */
static double fit_category(const struct sr_categories *c, int k, const struct sr_expr *expr,
                           const double *first, int steps, int restarts, double good, double *best,
                           struct sr_work *work)
{
    const int constants = sr_expr_constants(expr, NULL);
    double before[SR_NODES], start[SR_NODES];
    memcpy(before, best, (size_t)constants * sizeof *before);
    double reached = fit_from(&c->loss[k], expr, first, steps, HUGE_VAL, best, work);
    if (constants && share_of(c, k, reached) > good)
        reached = fit_from(&c->loss[k], expr, before, steps, reached, best, work);
    for (int r = 0; r < restarts && constants && share_of(c, k, reached) > good; r++) {
        for (int i = 0; i < constants; i++)
            start[i] = (r % 2 ? before : first)[i] * factor_of(r, i);
        reached = fit_from(&c->loss[k], expr, start, steps, reached, best, work);
    }
    return reached;
}

double sr_categories_fit(const struct sr_categories *c, struct sr_expr *expr, int steps,
                         int restarts, double limit, struct sr_work *work, double *value)
{
    const double exact = 1e-14;
    const int constants = sr_expr_constants(expr, NULL);
    double first[SR_NODES], best[SR_NODES], sum = 0, done = 0, good = HUGE_VAL;
    sr_expr_constants(expr, first);
    memcpy(best, first, sizeof best);
    for (int i = 0; i < c->count; i++) {
        const int k = sr_category_at(c, i);
        const double loss = fit_category(c, k, expr, first, steps, restarts, good, best, work);
        if (!isfinite(loss))
            return HUGE_VAL;
        if (i == 0) {
            memcpy(first, best, sizeof first);
            good = poor * fmax(share_of(c, k, loss), exact);
        }
        if (value)
            memcpy(value + (size_t)k * (size_t)constants, best, (size_t)constants * sizeof *value);
        sum += c->loss[k].total * loss;
        done += c->loss[k].total;
        if (sum / c->total > limit)
            break;
    }
    sr_expr_set_constants(expr, first);
    return sum / done;
}

/* ---- all categories together */

/* The equations of all categories. Constants are in the order of the formula. */
struct arrow {
    const struct sr_categories *c;
    struct sr_expr expr;
    int n, own, common;                 /* constants; of each category; shared */
    int own_at[SR_NODES], at[SR_NODES]; /* their places: of each category, shared */
    double *normal;                     /* (count, n, n) own constants first */
    double *gradient;                   /* (count, n) own first */
    double *factor;                     /* (count, own, own) Cholesky factor of the blocks */
    double *border; /* (count, common + 1, own) block^-1 of border and gradient */
    double schur[SR_NODES][SR_NODES], right[SR_NODES];
    double *block;
};

static int make_arrow(struct arrow *a, const struct sr_categories *c, const struct sr_expr *expr,
                      const bool *shared)
{
    *a = (struct arrow){.c = c, .expr = *expr, .n = sr_expr_constants(expr, NULL)};
    for (int k = 0; k < a->n; k++)
        if (shared[k])
            a->at[a->common++] = k;
        else
            a->own_at[a->own++] = k;
    const size_t count = (size_t)c->count, n = (size_t)a->n;
    a->block = orr_alloc(count * (3 * n * n + 3 * n) + 1, sizeof *a->block);
    if (!a->block)
        return ORR_ENOMEM;
    a->normal = a->block;
    a->factor = a->normal + count * n * n;
    a->border = a->factor + count * n * n;
    a->gradient = a->border + count * (n * n + n);
    return 0;
}

static int column_of(const struct arrow *a, int k)
{
    return k < a->own ? a->own_at[k] : a->at[k - a->own];
}

static double loss_of(struct arrow *a, const double *value, struct sr_work *work)
{
    double sum = 0;
    for (int k = 0; k < a->c->count; k++) {
        sr_expr_set_constants(&a->expr, value + (size_t)k * (size_t)a->n);
        sum += a->c->loss[k].total * sr_eval_plain(&a->expr, &a->c->loss[k], work);
    }
    return isfinite(sum) ? sum / a->c->total : HUGE_VAL;
}

static bool fill_equations(struct arrow *a, const double *value, struct sr_work *work)
{
    struct sr_equations equations;
    for (int k = 0; k < a->c->count; k++) {
        double *normal = a->normal + (size_t)(k * a->n * a->n);
        sr_expr_set_constants(&a->expr, value + (size_t)k * (size_t)a->n);
        if (!sr_constants_equations(&a->c->loss[k], &a->expr, 1, a->n, work, &equations))
            return false;
        for (int i = 0; i < a->n; i++)
            if (equations.scale[i] != 1)
                return false; /* shared constants would need one scale in all categories */
        for (int i = 0; i < a->n; i++) {
            a->gradient[k * a->n + i] = equations.gradient[column_of(a, i)];
            for (int j = 0; j < a->n; j++)
                normal[i * a->n + j] = equations.normal[column_of(a, i)][column_of(a, j)];
        }
    }
    return true;
}

/* Eliminates the blocks: fills factor, border, schur (factorised) and right, the shared constants'
 * step. False where the equations are singular. */
static bool eliminate(struct arrow *a, double lambda)
{
    const int n = a->n, own = a->own;
    memset(a->schur, 0, sizeof a->schur);
    memset(a->right, 0, sizeof a->right);
    for (int k = 0; k < a->c->count; k++) {
        const double *normal = a->normal + (size_t)(k * n * n), *gradient = a->gradient + k * n;
        double *factor = a->factor + (size_t)(k * n * n);
        double *border = a->border + (size_t)(k * (n + 1) * n);
        for (int i = 0; i < own; i++)
            for (int j = 0; j < own; j++)
                factor[i * own + j] =
                    normal[i * n + j] * (i == j ? 1 + lambda : 1) + (i == j ? DBL_MIN : 0);
        if (!sr_cholesky(factor, (size_t)own, (size_t)own, 0))
            return false;
        for (int s = 0; s <= a->common; s++) {
            double *column = border + s * own;
            for (int i = 0; i < own; i++)
                column[i] = s < a->common ? normal[i * n + own + s] : gradient[i];
            sr_cholesky_solve(factor, (size_t)own, (size_t)own, column);
        }
        for (int s = 0; s < a->common; s++) {
            const double *row = normal + (size_t)((own + s) * n);
            a->right[s] += gradient[own + s];
            for (int i = 0; i < own; i++)
                a->right[s] -= row[i] * border[a->common * own + i];
            for (int t = 0; t < a->common; t++) {
                a->schur[s][t] += row[own + t] * (s == t ? 1 + lambda : 1);
                for (int i = 0; i < own; i++)
                    a->schur[s][t] -= row[i] * border[t * own + i];
            }
        }
    }
    if (!sr_cholesky(a->schur[0], (size_t)a->common, SR_NODES, 0))
        return false;
    sr_cholesky_solve(a->schur[0], (size_t)a->common, SR_NODES, a->right);
    return true;
}

/* trial = value + the step of the eliminated equations. */
static void take_step(const struct arrow *a, const double *value, double *trial)
{
    for (int k = 0; k < a->c->count; k++) {
        const double *border = a->border + (size_t)(k * (a->n + 1) * a->n);
        const double *from = value + (size_t)(k * a->n);
        double *to = trial + (size_t)(k * a->n);
        for (int s = 0; s < a->common; s++)
            to[a->at[s]] = from[a->at[s]] + a->right[s];
        for (int i = 0; i < a->own; i++) {
            double step = border[a->common * a->own + i];
            for (int s = 0; s < a->common; s++)
                step -= border[s * a->own + i] * a->right[s];
            to[a->own_at[i]] = from[a->own_at[i]] + step;
        }
    }
}

static double descend_steps(struct arrow *a, int steps, double *value, double *trial,
                            struct sr_work *work)
{
    enum { TRIES = 6 };
    const size_t bytes = (size_t)a->c->count * (size_t)a->n * sizeof *value;
    double lambda = 1e-3, loss = loss_of(a, value, work);
    for (int it = 0; it < steps && a->n; it++) {
        double reached = HUGE_VAL;
        if (loss <= a->c->noise || sr_fit_over(work) || !fill_equations(a, value, work))
            break;
        for (int attempt = 0; attempt < TRIES && !(reached < loss); attempt++) {
            if (eliminate(a, lambda)) {
                take_step(a, value, trial);
                reached = loss_of(a, trial, work);
            }
            lambda = reached < loss ? fmax(lambda / 8, 1e-12) : lambda * 8;
        }
        if (!(reached < loss))
            break;
        const double gain = (loss - reached) / loss;
        memcpy(value, trial, bytes);
        loss = reached;
        if (gain < 1e-7)
            break;
    }
    return loss;
}

int sr_categories_fit_shared(const struct sr_categories *c, const struct sr_expr *expr,
                             const bool *shared, int steps, struct sr_work *work, double *value,
                             double *loss)
{
    struct arrow *a = orr_alloc(1, sizeof *a);
    int rc = a ? make_arrow(a, c, expr, shared) : ORR_ENOMEM;
    double *trial = rc ? NULL : orr_alloc((size_t)c->count * (size_t)a->n + 1, sizeof *trial);
    if (trial)
        *loss = descend_steps(a, steps, value, trial, work);
    rc = rc ? rc : trial ? 0 : ORR_ENOMEM;
    free(trial);
    free(a ? a->block : NULL);
    free(a);
    return rc;
}

/* ---- standard errors */

/* The variance of a row of weight 1, as in standard_errors.c. NAN where rows do not exceed
 * constants. */
static double variance_of(struct arrow *a, const double *value, struct sr_work *work)
{
    double residual = 0, rows = 0;
    for (int k = 0; k < a->c->count; k++) {
        const struct sr_data *data = &a->c->data[k];
        sr_expr_set_constants(&a->expr, value + (size_t)(k * a->n));
        if (!sr_eval(&a->expr, data, work->trial))
            return NAN;
        for (size_t i = 0; i < data->rows; i++) {
            const double d = work->trial[i] - data->y[i], w = sr_row_weight(data, i);
            residual += w * d * d;
            rows += w > 0;
        }
    }
    const double freedom = rows - a->own * a->c->count - a->common;
    return freedom > 0 ? residual / freedom : NAN;
}

/* Scales the equations to a unit diagonal; size (count, n): the divisors. Shared constants have one
 * divisor. False where a constant has no effect. */
static bool scale_equations(struct arrow *a, double *size)
{
    const int n = a->n;
    for (int k = 0; k < a->c->count; k++)
        for (int i = 0; i < n; i++) {
            double square = 0;
            for (int l = i < a->own ? k : 0; l < (i < a->own ? k + 1 : a->c->count); l++)
                square += a->normal[(l * n + i) * n + i];
            size[k * n + i] = sqrt(square);
            if (!(square > 0) || !isfinite(square))
                return false;
        }
    for (int k = 0; k < a->c->count; k++)
        for (int i = 0; i < n * n; i++)
            a->normal[k * n * n + i] /= size[k * n + i / n] * size[k * n + i % n];
    return true;
}

/* The diagonal of the inverse of the eliminated equations. */
static double inverse_of(const struct arrow *a, int k, int i)
{
    double work[SR_NODES], row[SR_NODES];
    const double *border = a->border + (size_t)(k * (a->n + 1) * a->n);
    if (i >= a->own)
        return sr_cholesky_inverse(a->schur[0], (size_t)a->common, SR_NODES, (size_t)(i - a->own),
                                   work);
    double sum = sr_cholesky_inverse(a->factor + (size_t)(k * a->n * a->n), (size_t)a->own,
                                     (size_t)a->own, (size_t)i, work);
    for (int s = 0; s < a->common; s++)
        row[s] = border[s * a->own + i];
    sr_cholesky_lower(a->schur[0], (size_t)a->common, SR_NODES, row);
    for (int s = 0; s < a->common; s++)
        sum += row[s] * row[s];
    return sum;
}

int sr_categories_errors(const struct sr_categories *c, const struct sr_expr *expr,
                         const bool *shared, double variance, struct sr_work *work,
                         const double *value, double *error)
{
    const double most = 1e12; /* beyond it the constants are not distinguishable */
    struct arrow *a = orr_alloc(1, sizeof *a);
    int rc = a ? make_arrow(a, c, expr, shared) : ORR_ENOMEM;
    double *size = rc ? NULL : orr_alloc((size_t)c->count * (size_t)a->n + 1, sizeof *size);
    rc = rc ? rc : size ? 0 : ORR_ENOMEM;
    if (!rc) {
        const double row = variance > 0 ? variance : variance_of(a, value, work);
        const bool solved =
            fill_equations(a, value, work) && scale_equations(a, size) && eliminate(a, 0);
        for (int k = 0; k < c->count; k++)
            for (int i = 0; i < a->n; i++) {
                const double inverse = solved ? inverse_of(a, k, i) : NAN;
                error[k * a->n + column_of(a, i)] =
                    inverse <= most ? sqrt(row * inverse) / size[k * a->n + i] : NAN;
            }
    }
    free(size);
    free(a ? a->block : NULL);
    free(a);
    return rc;
}
