/* curves.c - steps to equal loss: how many steps one setting needs for a loss, and another for the
 * same, from held-out losses logged during trainings with the same seeds. */
#include "claims.h"

#include <math.h>

static bool is_of(const struct orr_row *row, const char *setting, uint64_t seed)
{
    return row->seed == seed && orr_row_has(row, setting);
}

/* The last loss of a training; NaN: none. Rows are sorted by step. */
static double last_loss(const struct orr_table *t, const char *setting, uint64_t seed)
{
    double loss = NAN;
    for (size_t r = 0; r < t->count; r++)
        if (is_of(&t->row[r], setting, seed))
            loss = t->row[r].value;
    return loss;
}

/* The step at which the loss first reaches `goal`, interpolated linearly between evaluations; NaN:
 * never. */
static double step_of(const struct orr_table *t, const char *setting, uint64_t seed, double goal)
{
    double step = NAN, loss = NAN;
    for (size_t r = 0; r < t->count; r++) {
        if (!is_of(&t->row[r], setting, seed))
            continue;
        const double next = t->row[r].value, at = t->row[r].context;
        if (next <= goal)
            return loss > next ? step + (at - step) * (loss - goal) / (loss - next) : at;
        loss = next;
        step = at;
    }
    return NAN;
}

/* ln of (steps that a needs) / (steps that b needs) for the larger of their last losses. Both are
 * counted to the first evaluation that reaches it: losses scatter between evaluations, so that the
 * first is earlier than the last by chance alone, for one setting as for the other. */
static double log_ratio(const struct orr_table *t, const char *a, const char *b, uint64_t seed)
{
    const double loss_a = last_loss(t, a, seed), loss_b = last_loss(t, b, seed);
    const double goal = loss_a > loss_b ? loss_a : loss_b;
    return orr_log(step_of(t, a, seed, goal) / step_of(t, b, seed, goal));
}

struct orr_mean verdict_curves(const struct orr_table *table, const char *of, const char *from)
{
    uint64_t seed[ORR_SEEDS];
    double ratio[ORR_SEEDS];
    const int seeds = orr_table_seeds(table, seed);
    for (int s = 0; s < seeds; s++)
        ratio[s] = log_ratio(table, of, from, seed[s]);
    return orr_mean_of(ratio, seeds);
}
