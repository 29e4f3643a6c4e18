/* whole_numbers.c - finds y = floor(f) and round(f) where all values of y are whole numbers.
 *
 * Rounding is an error of at most 1/2, so that the stages before find f as a law of y + 1/2 or of
 * y with noise. What is missing is the operator, and constants that put every row on the right side
 * of its jump, which sr_constants_fit() searches for. */
#include "shared.h"
#include "stages.h"

#include <math.h>

enum { PER_SIZE = 2, FIT_STEPS = 40 };

static bool is_whole(const struct sr_data *data)
{
    for (size_t i = 0; i < data->rows; i++)
        if (data->y[i] != nearbyint(data->y[i]) && sr_row_weight(data, i) > 0)
            return false;
    return true;
}

/* Writes the seed with its factor in round(), or with a summand of 1/2 in floor(). */
static bool write_rounded(const struct sr_proposal *p, const struct sr_expr *seed,
                          struct sr_expr *out)
{
    const bool rounds = !sr_has(p->operators, SR_FLOOR);
    struct sr_expr u = *seed;
    double scale;
    if (!isfinite(sr_eval_loss(seed, p->loss, &p->thread[0].work, &scale)) || sr_has_steps(seed) ||
        !sr_expr_scale(&u, scale))
        return false;
    out->count = 0;
    sr_put_text(rounds ? "round(u)" : "floor(u + 0.5)", &u, "", NULL, out);
    return sr_put_end(p->settings->language, out, SR_NODES) && sr_proposal_shorten(p, out);
}

int sr_whole_find(struct sr_proposal *p)
{
    struct sr_seeds *seeds = p->seeds;
    const int before = seeds->count;
    if (p->derived || !is_whole(p->loss->data))
        return 0;
    for (int size = 1; size <= p->settings->maxsize; size++) {
        int chosen[PER_SIZE];
        const int n = sr_best_of_size(seeds->expr, seeds->loss, before, size, PER_SIZE, chosen);
        for (int k = 0; k < n && seeds->count < SR_SEEDS; k++) {
            struct sr_expr *expr = &seeds->expr[seeds->count];
            if (!write_rounded(p, &seeds->expr[chosen[k]], expr) ||
                !sr_settings_allow(p->settings, expr) || sr_proposal_take(p, 1) < 1)
                continue;
            seeds->loss[seeds->count] = HUGE_VAL;
            seeds->finder[seeds->count++] = 0;
        }
    }
    sr_proposal_fit(p, before, FIT_STEPS);
    return 0;
}
