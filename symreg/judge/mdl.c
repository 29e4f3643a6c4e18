/* mdl.c - description lengths of the rows of a front. */
#include "judge.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

/* Different operators and features of a formula; constants count as one more. */
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

/* Mean squared residual, not below what rounding leaves. */
static double mean_square(const struct sr_data *data, const double *value)
{
    double residual = 0, size = 0;
    for (size_t i = 0; i < data->rows; i++) {
        const double d = value[i] - data->y[i];
        residual += (data->weight ? data->weight[i] : 1) * d * d / (double)data->rows;
        size += data->y[i] * data->y[i] / (double)data->rows;
    }
    const double least = 256 * DBL_EPSILON * DBL_EPSILON * size;
    return fmax(fmax(residual, least), DBL_MIN);
}

static double length_of(const struct sr_expr *expr, const struct sr_data *data, double *value,
                        double *jacobian)
{
    double constants[SR_NODES];
    if (!sr_eval_jacobian(expr, data, value, jacobian))
        return NAN;
    const double mse = mean_square(data, value);
    double length = 0.5 * (double)data->rows * orr_log(mse) + expr->count * orr_log(basis_of(expr));
    const int count = sr_expr_constants(expr, constants);
    for (int c = 0; c < count; c++) {
        double information = DBL_MIN; /* a constant without effect costs nothing */
        for (size_t i = 0; i < data->rows; i++) {
            const double d = jacobian[(size_t)c * data->rows + i];
            information += (data->weight ? data->weight[i] : 1) * d * d / mse;
        }
        const double cost =
            orr_log(fabs(constants[c]) + DBL_MIN) + 0.5 * orr_log(information) - 0.5 * orr_log(3);
        if (cost > 0) /* a constant that is not told from 0 costs nothing */
            length += cost;
    }
    return length;
}

int sr_front_describe(struct sr_front *front, const struct sr_data *data)
{
    int most = 0;
    for (int i = 0; i < front->count; i++) {
        double constants[SR_NODES];
        const int count = sr_expr_constants(&front->expr[i], constants);
        most = count > most ? count : most;
    }
    double *value = orr_alloc(data->rows * ((size_t)most + 1), sizeof *value);
    if (!value)
        return ORR_ENOMEM;
    for (int i = 0; i < front->count; i++)
        front->mdl[i] = length_of(&front->expr[i], data, value, value + data->rows);
    free(value);
    return 0;
}
