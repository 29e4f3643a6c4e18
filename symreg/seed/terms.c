/* terms.c - terms of y that its gradients show. */
#include "groups.h"

#include <math.h>
#include <string.h>

#include "base/elementary.h"
#include "shared.h"
#include "symreg/value/cholesky.h"

enum { COLUMNS = SR_SMOOTH_COLUMNS, MOST_POWER = 4 };
/* Shares of squares: that the derivatives may differ from p c m; that the rest must have of y. */
static const double most_off = 0.05, least_rest = 1e-3;
/* Rows whose derivative of ln |y| is smaller take no part in the fit of exponents. */
static const double least_slope = 0.02;

/* ln |dy/dL| of column `f` as a linear function of the logarithms: the exponents of m. False where
 * the derivatives are 0 or change sign. */
static bool fit_exponents(const struct sr_gradients *g, int f, double exponent[COLUMNS])
{
    double a[COLUMNS + 1][COLUMNS + 1] = {{0}}, b[COLUMNS + 1] = {0}, sign = 0, all = 0;
    const double *slope = g->slope + (size_t)f * (size_t)g->rows;
    int column[COLUMNS], n = 0;
    for (int c = 0; c < g->columns; c++) {
        const double *line = g->line + c * g->rows;
        if (g->logarithm[c] && sr_dot(line, line, g->rows) > 1e-12 * g->rows)
            column[n++] = c;
    }
    for (int i = 0; i < g->rows; i++) {
        const double s = slope[i], weight = g->weight[i] * s * s;
        double v[COLUMNS + 1];
        if (!(fabs(s) > least_slope))
            continue;
        sign += s * g->y[i] > 0 ? weight : -weight;
        all += weight;
        for (int c = 0; c < n; c++)
            v[c] = g->line[column[c] * g->rows + i];
        v[n] = 1;
        sr_normal_add(a[0], COLUMNS + 1, b, (size_t)n + 1, v, weight, orr_log(fabs(s * g->y[i])));
    }
    if (!(fabs(sign) > 0.9 * all) || !(all > 0) ||
        !sr_normal_solve(a[0], COLUMNS + 1, b, (size_t)n + 1, 1e-9))
        return false;
    memset(exponent, 0, COLUMNS * sizeof *exponent);
    for (int c = 0; c < n; c++)
        exponent[column[c]] = b[c];
    return true;
}

/* The product of powers in a row, its columns centred. */
static double product_at(const struct sr_gradients *g, const struct sr_powers *m, int i)
{
    double sum = 0;
    for (int c = 0; c < g->columns; c++)
        sum += 0.5 * m->half[c] * g->line[c * g->rows + i];
    return orr_exp(sum);
}

/* Compares the derivatives with p c m, c fitted. False where they differ, or where the term is all
 * of y. */
static bool judge_term(const struct sr_gradients *g, struct sr_term *term)
{
    const double *slope = g->slope + (size_t)term->column * (size_t)g->rows;
    double product = 0, square = 0, slopes = 0, all = 0, rest = 0;
    for (int i = 0; i < g->rows; i++) {
        const double share = product_at(g, &term->powers, i) / g->y[i], w = g->weight[i];
        product += w * share * slope[i];
        square += w * share * share;
        slopes += w * slope[i] * slope[i];
    }
    const double factor = product / square;
    for (int i = 0; i < g->rows; i++) {
        const double share = factor * product_at(g, &term->powers, i) / g->y[i];
        const double off = 1 - 2 * share / term->powers.half[term->column];
        rest += g->weight[i] * off * off;
        all += g->weight[i];
    }
    term->off = 1 - product * factor / slopes;
    return term->off < most_off && rest > (least_rest + 3 * g->noise) * all;
}

void sr_terms_add(const struct sr_term *term, struct sr_term list[SR_GROUP_TERMS], int *count)
{
    for (int k = 0; k < *count; k++)
        if (!memcmp(&list[k].powers, &term->powers, sizeof term->powers)) {
            if (list[k].off <= term->off)
                return;
            memmove(&list[k], &list[k + 1], (size_t)(--*count - k) * sizeof *list);
        }
    sr_best_insert(list, sizeof *term, count, SR_GROUP_TERMS, term);
}

void sr_terms_find(const struct sr_gradients *g, struct sr_term list[SR_GROUP_TERMS], int *count)
{
    *count = 0;
    for (int f = 0; f < g->columns; f++) {
        struct sr_term term = {.column = f};
        double exponent[COLUMNS];
        bool fits = g->logarithm[f] && fit_exponents(g, f, exponent);
        for (int c = 0; c < g->columns && fits; c++) {
            const double halves = floor(2 * exponent[c] + 0.5);
            fits = fabs(halves) <= 2 * MOST_POWER;
            term.powers.half[c] = fits ? (int)halves : 0;
        }
        if (!fits || !term.powers.half[f] || !judge_term(g, &term))
            continue;
        sr_terms_add(&term, list, count);
    }
}
