/* mdl.c - description lengths of the rows of a front. */
#include "select.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

/* Number of different operators and features of a formula; constants count as one more. */
static int basis_of(const struct sr_expr *expr)
{
    bool op[SR_ALL_OPS] = {false}, feature[SR_FEATURES] = {false};
    int count = 0;
    for (int i = 0; i < expr->count; i++) {
        const struct sr_node *node = &expr->node[i];
        bool *const seen = node->op == SR_FEATURE ? &feature[node->feature] : &op[node->op];
        count += !*seen;
        *seen = true;
    }
    return count;
}

double sr_expr_nats(const struct sr_expr *expr, int added)
{
    return (expr->count + 2 * added) * orr_log(basis_of(expr));
}

/* A weighted sum of squares, most^2 sum: squares of numbers beyond 1e+-154 have no room. */
struct squares {
    double most, sum;
};

/* Adds n rows; weight may be NULL. */
static void add_squares(size_t n, const double *weight, const double *a, const double *b,
                        struct squares *s)
{
    double most = s->most;
    for (size_t i = 0; i < n; i++) {
        const double size = fabs(a[i] - (b ? b[i] : 0));
        most = size > most ? size : most;
    }
    if (most > s->most)
        s->sum *= (s->most / most) * (s->most / most);
    s->most = most;
    for (size_t i = 0; i < n && most > 0; i++) {
        const double share = (a[i] - (b ? b[i] : 0)) / most;
        s->sum += (weight ? weight[i] : 1) * share * share;
    }
}

/* ln of the sum; that of the smallest number for 0. */
static double log_of_sum(const struct squares *s)
{
    return s->most > 0 && s->sum > 0 ? 2 * orr_log(s->most) + orr_log(s->sum) : orr_log(DBL_MIN);
}

/* ln of a mean squared residual, bounded below by the rounding of numbers of this size: a share
 * `exact` of their mean square. */
static double log_mean_square(const struct squares *residual, const struct squares *size,
                              double exact, double rows)
{
    const bool any = residual->most > 0 || size->most > 0;
    const double least = orr_log(exact) + log_of_sum(size), own = log_of_sum(residual);
    const double found = size->most > 0 ? residual->most > 0 ? fmax(own, least) : least : own;
    return any ? found - orr_log(rows) : orr_log(DBL_MIN);
}

/* Nats of a constant of this size, from the logarithm of its Fisher information, which may lie
 * beyond the range of numbers: that of 2e-208 in 2e-208 exp(0.24 year) is 1e416. Constants of 0
 * cost nothing, others at least their sign. */
static double nats_of(double constant, double log_information)
{
    return fabs(constant) > 0 ? fmax(orr_log(2), orr_log(fabs(constant)) + 0.5 * log_information -
                                                     0.5 * orr_log(3))
                              : 0;
}

/* The squares of residuals, targets and derivatives by the constants, block by block. */
struct lengths {
    struct squares residual, size, slope[SR_NODES];
    double steeper; /* of errors in x (struct sr_closest) */
};

/* value: (block), jacobian: (constants, block). False where a node is not finite. */
static bool add_lengths(const struct sr_expr *expr, const struct sr_data *data, double *value,
                        double *jacobian, struct lengths *l)
{
    const int count = sr_expr_constants(expr, NULL);
    for (size_t first = 0; first < data->rows; first += SR_BLOCK) {
        const size_t n = sr_block_at(data->rows, first, SR_BLOCK);
        const double *const y = data->y + first;
        const double *const weight = data->weight ? data->weight + first : NULL;
        if (!sr_eval_jacobian_rows(expr, data, first, n, value, jacobian))
            return false;
        add_squares(n, weight, value, y, &l->residual);
        add_squares(n, weight, y, NULL, &l->size);
        for (int c = 0; c < count; c++)
            add_squares(n, weight, jacobian + (size_t)c * n, NULL, &l->slope[c]);
    }
    return true;
}

/* add_lengths() at the closest points, where x has errors. */
static bool add_closest(const struct sr_expr *expr, const struct sr_data *data, double *value,
                        double *jacobian, struct lengths *l)
{
    struct sr_closest closest;
    if (!sr_closest_make(expr, data, 1, &closest))
        return false;
    const bool ok = add_lengths(expr, &closest.data, value, jacobian, l);
    l->steeper = closest.steeper;
    sr_closest_free(&closest);
    return ok;
}

/* Description length with the constants as they are, of a formula whose nodes cost `nodes`; *cost
 * is the part without the residuals. NaN where a node is not finite. vague[c]: constant c is
 * smaller than its precision. `far`: columns count from their middle. */
static double length_of(const struct sr_expr *expr, bool far, double nodes,
                        const struct sr_data *data, double *value, double *jacobian, bool *vague,
                        double *cost)
{
    double constants[SR_NODES], size[SR_NODES];
    struct lengths l = {0};
    if (!add_closest(expr, data, value, jacobian, &l))
        return NAN;
    const double log_mse =
        log_mean_square(&l.residual, &l.size, 256 * DBL_EPSILON * DBL_EPSILON, (double)data->rows);
    const int count = sr_expr_constants(expr, constants);
    sr_constant_sizes(expr, size);
    const double counted = sr_rows_counted(data),
                 log_share = orr_log(counted / (double)sr_rows_weighted(data));
    *cost = nodes;
    for (int c = 0; c < count; c++) {
        const double log_information = log_of_sum(&l.slope[c]) - log_mse + log_share;
        vague[c] = !(fabs(constants[c]) > 0) ||
                   orr_log(fabs(constants[c])) < 0.5 * (orr_log(12) - log_information);
        *cost += nats_of(far && constants[c] != 0 ? size[c] : constants[c], log_information);
    }
    return 0.5 * counted * (log_mse + orr_log(l.steeper)) + *cost;
}

double sr_formula_cost(const struct sr_expr *expr, const struct sr_data *data, double log_noise,
                       double share, double *value, double *jacobian)
{
    double constants[SR_NODES], size[SR_NODES];
    struct lengths l = {0};
    struct sr_expr centred;
    int added;
    const bool far = sr_from_middle(expr, data, &centred, &added);
    if (!add_lengths(&centred, data, value, jacobian, &l))
        return NAN;
    const int count = sr_expr_constants(&centred, constants);
    double cost = sr_expr_nats(expr, added);
    sr_constant_sizes(&centred, size);
    for (int c = 0; c < count; c++)
        cost += nats_of(far && constants[c] != 0 ? size[c] : constants[c],
                        log_of_sum(&l.slope[c]) - log_noise + orr_log(share));
    return cost;
}

/* The shorter of two lengths: with all constants as they are, or with the vague ones set to 0.
 * Columns far from 0 count from their middle, so that it does not matter where their 0 is; a number
 * that is added for it brings one operator more. */
static double shorter_of(const struct sr_expr *expr, const struct sr_data *data, double *value,
                         double *jacobian, double *cost)
{
    struct sr_expr centred;
    double constants[SR_NODES], zeroed_cost;
    bool vague[SR_NODES] = {false}, any = false, unused[SR_NODES];
    int added;
    const bool far = sr_from_middle(expr, data, &centred, &added);
    const double nodes = sr_expr_nats(expr, added);
    const double length = length_of(&centred, far, nodes, data, value, jacobian, vague, cost);
    const int count = sr_expr_constants(&centred, constants);
    struct sr_expr without = centred;
    for (int c = 0; c < count; c++) {
        any = any || (vague[c] && fabs(constants[c]) > 0);
        constants[c] = vague[c] ? 0 : constants[c];
    }
    if (isnan(length) || !any)
        return length;
    sr_expr_set_constants(&without, constants);
    const double zeroed =
        length_of(&without, far, nodes, data, value, jacobian, unused, &zeroed_cost);
    if (!(zeroed < length))
        return length;
    *cost += zeroed - length; /* the residuals are those of the original constants */
    return zeroed;
}

double sr_categories_length(const struct sr_categories *c, const struct sr_expr *expr,
                            const bool *shared, struct sr_work *work, const double *value,
                            double *information, double *cost)
{
    /* residuals below 1e-10 of the target are rounding */
    const double exact = 1e-20;
    const int n = sr_expr_constants(expr, NULL);
    struct sr_expr filled = *expr;
    struct squares residual = {0}, size = {0};
    double rows = 0, common[SR_NODES] = {0};
    for (int k = 0; k < c->count; k++) {
        const struct sr_data *data = &c->data[k];
        struct sr_equations equations;
        sr_expr_set_constants(&filled, value + (size_t)(k * n));
        if (!sr_constants_equations(&c->loss[k], &filled, 1, n, work, &equations))
            return NAN;
        add_squares(data->rows, data->weight, work->value, data->y, &residual);
        add_squares(data->rows, data->weight, data->y, NULL, &size);
        rows += (double)sr_rows_weighted(data);
        for (int i = 0; i < n; i++)
            information[k * n + i] =
                orr_log(fmax(equations.normal[i][i], DBL_MIN)) - 2 * orr_log(equations.scale[i]);
    }
    const double log_mse = log_mean_square(&residual, &size, exact, c->total);
    *cost = sr_expr_nats(expr, 0);
    for (int k = 0; k < c->count; k++)
        for (int i = 0; i < n; i++) {
            const double log_information = information[k * n + i] - log_mse;
            information[k * n + i] = orr_exp(fmin(fmax(log_information, -600), 600));
            common[i] += information[k * n + i];
            if (!shared[i])
                *cost += nats_of(value[k * n + i], log_information);
        }
    for (int i = 0; i < n; i++)
        if (shared[i])
            *cost += nats_of(value[i], orr_log(common[i]));
    return 0.5 * rows * log_mse + *cost;
}

int sr_front_describe(struct sr_front *front, const struct sr_data *data)
{
    const int most = sr_front_constants(front) + SR_NODES / 2; /* with numbers that are added */
    front->rows = sr_rows_weighted(data);
    front->independent = data->independent;
    const size_t block = sr_block_rows(data);
    double *value = orr_alloc_unset(block * ((size_t)most + 1), sizeof *value);
    if (!value)
        return ORR_ENOMEM;
    for (int i = 0; i < front->count; i++)
        front->mdl[i] = shorter_of(&front->expr[i], data, value, value + block, &front->cost[i]);
    free(value);
    return 0;
}

int sr_front_weigh_rows(struct sr_front *front, const struct sr_data *data)
{
    double *value = orr_alloc(data->rows, sizeof *value), total = 0, fourths = 0;
    if (!value)
        return ORR_ENOMEM;
    const double rows = (double)front->rows;
    const struct sr_expr *last = &front->expr[front->count ? front->count - 1 : 0];
    struct sr_closest closest = {0};
    if (front->count && sr_closest_make(last, data, 1, &closest) &&
        sr_eval(last, &closest.data, value)) {
        const double *y = closest.data.y;
        for (size_t i = 0; i < data->rows; i++) {
            value[i] = sr_row_weight(&closest.data, i) * (value[i] - y[i]) * (value[i] - y[i]);
            total += value[i];
        }
        for (size_t i = 0; i < data->rows; i++)
            fourths += (value[i] / total) * (value[i] / total);
    }
    sr_closest_free(&closest);
    const double worth = 3 / fourths; /* without residuals, or too large ones: all rows */
    front->worth = (worth < rows ? worth : rows) * (sr_rows_counted(data) / rows);
    free(value);
    return 0;
}
