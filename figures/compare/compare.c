/* compare.c - figures over seeds, and against each other. */
#include "verdict.h"

#include <math.h>

const double *verdict_values(const struct verdict *v, int question, int attention, int minus,
                             double (*number)(const struct orr_row *row))
{
    char of[ORR_NAME + 16], from[ORR_NAME + 16] = "";
    snprintf(of, sizeof of, "attention=%s", v->attention[attention]);
    if (minus >= 0)
        snprintf(from, sizeof from, "attention=%s", v->attention[minus]);
    orr_table_values(&v->figure[question], v->seed, v->seeds, of, from, number, v->value);
    return v->value;
}

struct orr_mean verdict_mean(const struct verdict *v, int question, int attention, int minus,
                             double (*number)(const struct orr_row *row))
{
    return orr_mean_of(verdict_values(v, question, attention, minus, number), v->seeds);
}

void verdict_each_comparison(const struct verdict *v,
                             void (*visit)(const struct verdict *v, int question, int attention,
                                           void *context),
                             void *context)
{
    for (int q = 0; verdict_table[q].id; q++)
        for (int a = 1; a < v->attentions; a++)
            if (verdict_mean(v, q, a, 0, orr_row_value).n)
                visit(v, q, a, context);
}

double verdict_half(double mean, double half, int n, bool is_difference)
{
    if (n < 1 || !(half <= 1e-12 * (1 + fabs(mean))))
        return half;
    const double reach = is_difference ? 1 + fabs(mean) : fmax(fabs(mean), fabs(1 - mean));
    return reach * (1 - pow(0.05, 1.0 / n));
}

bool verdict_beyond_chance(struct orr_mean mean)
{
    const double half = verdict_half(mean.mean, mean.half, mean.n, true);
    return mean.n >= 3 && isfinite(half) && fabs(mean.mean) > half;
}
