/* snap.c - round numbers: into a formula where that costs nothing, else as a remark. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "output.h"

static const double near_enough = 1e-3, costs_nothing = 1e-9;

/* The number with `digits` significant digits. */
static double rounded(double value, int digits)
{
    char text[40];
    snprintf(text, sizeof text, "%.*e", digits - 1, value);
    return strtod(text, NULL);
}

/* Tries 1, 2 and 3 digits for one constant; the loss reached. */
static double snap_constant(const struct sr_loss *loss, double limit, struct sr_node *node,
                            const struct sr_expr *expr, double now, double *value)
{
    const double kept = node->value;
    for (int digits = 1; digits <= 3; digits++) {
        const double candidate = rounded(kept, digits);
        if (fabs(candidate - kept) > near_enough * fabs(kept))
            continue;
        node->value = candidate;
        const double reached =
            sr_eval(expr, loss->data, value) ? sr_loss_value(loss, value, 1) : HUGE_VAL;
        if (reached <= limit)
            return reached;
    }
    node->value = kept;
    return now;
}

int sr_front_snap(const struct sr_settings *settings, const struct sr_data *data,
                  struct sr_front *front)
{
    struct sr_loss loss;
    struct sr_hall *hall = orr_alloc(1, sizeof *hall);
    double *value = orr_alloc(data->rows, sizeof *value);
    int rc = hall && value
                 ? sr_loss_init_with(&loss, settings->loss, settings->loss_parameter, data)
                 : ORR_ENOMEM;
    if (rc)
        goto out;
    sr_hall_clear(hall);
    double smallest = HUGE_VAL;
    for (int i = 0; i < front->count; i++) {
        struct sr_expr *expr = &front->expr[i];
        const double start = sr_eval(expr, data, value) ? sr_loss_value(&loss, value, 1) : HUGE_VAL;
        const double limit = fmax(start * (1 + costs_nothing), loss.noise);
        double now = start;
        for (int n = 0; n < expr->count; n++)
            if (expr->node[n].op == SR_CONSTANT)
                now = snap_constant(&loss, limit, &expr->node[n], expr, now, value);
        const double penalty =
            settings->penalty ? settings->penalty(expr, settings->context) * loss.base : 0;
        const double final = (now <= loss.noise ? 0 : now) + penalty;
        if (i && final >= smallest * (1 - costs_nothing)) /* the same formula, written longer */
            continue;
        smallest = final;
        sr_hall_offer(hall, expr, final);
    }
    sr_loss_free(&loss);
    sr_front_make(hall, front);
out:
    free(value);
    free(hall);
    return rc;
}

static int common_divisor(int a, int b)
{
    return b ? common_divisor(b, a % b) : a;
}

void sr_remark(double constant, char *text, size_t bytes)
{
    const double pi = 3.14159265358979323846, tolerance = 1e-4;
    double best = tolerance;
    *text = '\0';
    for (int power = -2; power <= 2; power++)
        for (int a = 1; a <= 8; a++)
            for (int b = 1; b <= 8 && power; b++) {
                if (common_divisor(a, b) != 1)
                    continue;
                const double value = a * pow(pi, power) / b;
                const double off = fabs(fabs(constant) - value) / value;
                if (!(off < best))
                    continue;
                char factor[16] = "", divisor[16] = "", exponent[16] = "";
                best = off;
                if (a > 1)
                    snprintf(factor, sizeof factor, "%d ", a);
                if (b > 1)
                    snprintf(divisor, sizeof divisor, " / %d", b);
                if (power != 1)
                    snprintf(exponent, sizeof exponent, "^%d", power);
                snprintf(text, bytes, "%s%spi%s%s (%.1g%% off)", constant < 0 ? "-" : "", factor,
                         exponent, divisor, 100 * off);
            }
}
