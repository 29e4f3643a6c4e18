/* sums.c - y = h H(a f + b g + c k + d): the target, the weights, and the written formula. */
#include "sums.h"

#include <math.h>

#include "shared.h"
#include "symreg/value/cholesky.h"

enum { MOST_ROWS = 256 };

int sr_outer_list(const struct sr_settings *settings, int most, struct sr_outer *list)
{
    double z;
    int n = 0;
    list[n++] = (struct sr_outer){SR_CONSTANT, SR_CONSTANT};
    for (int i = 0; i < settings->unary_count && n < most; i++)
        if (sr_op_invert(settings->unary[i], 0.5, &z))
            list[n++] = (struct sr_outer){settings->unary[i], SR_CONSTANT};
    const int single = n;
    for (int i = 1; i < single; i++)
        for (int k = 1; k < single && n < most; k++)
            if (i != k && list[k].inner == SR_INV)
                list[n++] = (struct sr_outer){list[i].inner, SR_INV};
    return n;
}

double sr_outer_value(struct sr_outer outer, double v)
{
    if (outer.inner != SR_CONSTANT)
        v = sr_op_table[outer.inner].value(v, v);
    if (outer.last != SR_CONSTANT)
        v = sr_op_table[outer.last].value(v, v);
    return v;
}

/* ---- targets */

bool sr_sum_target(int rows, const double *y, const double *h, struct sr_outer outer, double *z)
{
    for (int i = 0; i < rows; i++) {
        double middle;
        if (!sr_op_invert(outer.last, y[i] / h[i], &middle) ||
            !sr_op_invert(outer.inner, middle, &z[i]))
            return false;
    }
    return true;
}

/* ---- weights */

bool sr_sum_weigh(int rows, int terms, const double *const value[SR_TERMS], const double *z,
                  double weight[SR_TERMS + 1])
{
    double column[SR_TERMS + 1][MOST_ROWS], mean[SR_TERMS + 1], length[SR_TERMS + 1];
    double a[SR_TERMS * SR_TERMS];
    for (int k = 0; k <= terms; k++) { /* the target is the last column */
        if (!sr_centre(k < terms ? value[k] : z, rows, 1e-20, column[k], &mean[k]))
            return false;
        length[k] = sr_scale_to_one(column[k], rows);
    }
    for (int k = 0; k < terms; k++) {
        for (int j = 0; j <= k; j++)
            a[k * SR_TERMS + j] = sr_dot(column[k], column[j], rows);
        weight[k] = sr_dot(column[k], column[terms], rows);
    }
    /* the pivot of a dependent term is only rounding */
    if (!sr_cholesky(a, (size_t)terms, SR_TERMS, 1e-12))
        return false;
    sr_cholesky_solve(a, (size_t)terms, SR_TERMS, weight);
    weight[SR_TERMS] = mean[terms];
    for (int k = 0; k < terms; k++) {
        weight[k] *= length[terms] / length[k];
        weight[SR_TERMS] -= weight[k] * mean[k];
        if (weight[k] == 0)
            return false;
    }
    return isfinite(weight[SR_TERMS]);
}

/* ---- formulas */

bool sr_sum_write(const struct sr_language *language, const struct sr_sum *sum, int limit,
                  struct sr_expr *out)
{
    out->count = 0;
    sr_put_expr(out, sum->factor);
    for (int k = 0; k < sum->terms; k++) {
        const struct sr_written_term *term = &sum->term[k];
        if (!term->plain)
            sr_put_constant(out, term->weight);
        sr_put_expr(out, term->expr);
        if (!term->plain)
            sr_put_op(out, SR_MUL);
        if (k > 0)
            sr_put_op(out, term->join);
    }
    if (sum->offset)
        sr_put_by(SR_ADD, sum->d, out);
    if (sum->outer.inner != SR_CONSTANT)
        sr_put_op(out, sum->outer.inner);
    if (sum->outer.last != SR_CONSTANT)
        sr_put_op(out, sum->outer.last);
    if (sum->factor->count)
        sr_put_op(out, SR_MUL);
    return sr_put_end(language, out, limit);
}
