/* curves.c - steps to equal loss: how many steps one setting needs for what another one has at its
 * end, from the held-out losses that trainings of the same seeds wrote down on their way. */
#include "claims.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "verdict.h"

enum { SEEDS = 64 };

struct curves {
    struct orr_csv csv;
    int setting, seed, step, loss; /* columns */
};

static double number(const struct curves *c, size_t row, int column)
{
    return c->csv.values[row * c->csv.cols + (size_t)column];
}

static bool is_of(const struct curves *c, size_t row, const char *setting, double seed)
{
    return !strcmp(c->csv.cells[row * c->csv.cols + (size_t)c->setting], setting) &&
           !(fabs(number(c, row, c->seed) - seed) > 0);
}

/* The last loss of a training; NaN: there is none. Rows are in the order of steps. */
static double last_loss(const struct curves *c, const char *setting, double seed, double *step)
{
    double loss = NAN;
    for (size_t r = 0; r < c->csv.rows; r++)
        if (is_of(c, r, setting, seed)) {
            loss = number(c, r, c->loss);
            *step = number(c, r, c->step);
        }
    return loss;
}

/* Where the loss first is `goal` or below, between two evaluations on a straight line; NaN:
 * never. */
static double step_of(const struct curves *c, const char *setting, double seed, double goal)
{
    double step = NAN, loss = NAN;
    for (size_t r = 0; r < c->csv.rows; r++) {
        if (!is_of(c, r, setting, seed))
            continue;
        const double next = number(c, r, c->loss), at = number(c, r, c->step);
        if (next <= goal)
            return loss > next ? step + (at - step) * (loss - goal) / (loss - next) : at;
        loss = next;
        step = at;
    }
    return NAN;
}

/* ln of the steps that a needs for the last loss of b over those of b; where a never has it, the
 * other way about: of the steps of a over those that b needs for a's last loss. */
static double log_ratio(const struct curves *c, const char *a, const char *b, double seed)
{
    double end_a = NAN, end_b = NAN;
    const double loss_a = last_loss(c, a, seed, &end_a), loss_b = last_loss(c, b, seed, &end_b);
    const double needed = step_of(c, a, seed, loss_b);
    return isfinite(needed) ? orr_log(needed / end_b)
                            : orr_log(end_a / step_of(c, b, seed, loss_a));
}

int verdict_curves(const char *path, const struct verdict_claim *claim, struct verdict_fact *fact)
{
    struct curves c = {0};
    double ratio[SEEDS], seen[SEEDS];
    int n = 0;
    TRY(orr_csv_read(path, ORR_CSV_KEEP_TEXT, &c.csv));
    c.setting = orr_csv_column(&c.csv, "setting");
    c.seed = orr_csv_column(&c.csv, "seed");
    c.step = orr_csv_column(&c.csv, "step");
    c.loss = orr_csv_column(&c.csv, "val_loss");
    int rc = 0;
    if (c.setting < 0 || c.seed < 0 || c.step < 0 || c.loss < 0)
        rc = ORR_FAIL(ORR_EFORMAT, "%s: expected columns setting, seed, step and val_loss", path);
    for (size_t r = 0; r < c.csv.rows && !rc; r++) {
        const double seed = number(&c, r, c.seed);
        bool known = n == SEEDS;
        for (int k = 0; k < n && !known; k++)
            known = !(fabs(seen[k] - seed) > 0);
        if (known)
            continue;
        seen[n] = seed;
        ratio[n++] = log_ratio(&c, claim->a, claim->b, seed);
    }
    if (!rc) {
        const struct orr_mean mean = orr_mean_of(ratio, n);
        fact->mean = mean.mean;
        fact->half = mean.half;
        fact->n = mean.n;
        fact->there = mean.n > 0;
    }
    orr_csv_free(&c.csv);
    return rc;
}
