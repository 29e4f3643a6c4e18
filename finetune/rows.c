/* rows.c - which positions are predicted for regression, and which carry the vector labels. */
#include "ft.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_randist.h>

/* Rows < T of a sequence whose force is labelled, its magnitude or its vector -> rows (T); returns
 * how many. Sets made elsewhere may label one of the two. */
static int labelled_rows(const struct sim_dataset *set, bool vector, long sequence, int T,
                         int *rows)
{
    int count = 0;
    const size_t first = (size_t)sequence * (size_t)set->positions;
    for (int t = 0; t < T; t++)
        if (isfinite(vector ? set->force_vector[2 * (first + (size_t)t)]
                            : set->force_magnitude[first + (size_t)t]))
            rows[count++] = t;
    return count;
}

int ft_sample(const struct sim_dataset *set, int T, uint64_t seed, int samples, int size,
              struct ft_row *rows)
{
    const size_t most = (size_t)set->n * (size_t)T;
    struct ft_row *all = orr_alloc(most, sizeof *all);
    int *one = orr_alloc((size_t)T, sizeof *one);
    int rc = all && one ? 0 : ORR_ENOMEM;
    size_t count = 0;
    for (long s = 0; s < (long)set->n && !rc; s++) {
        const int found = labelled_rows(set, false, s, T, one);
        for (int i = 0; i < found; i++)
            all[count++] = (struct ft_row){.sequence = s, .row = one[i]};
    }
    if (!rc && count < (size_t)size)
        rc = ORR_FAIL(ORR_EINVAL,
                      "finetune.sample_size: %d positions asked for, the held-out set "
                      "has %zu labelled ones",
                      size, count);
    for (int sample = 0; sample < samples && !rc; sample++) {
        gsl_rng *rng = orr_rng_create(seed, ORR_STAGE_SAMPLE, (uint64_t)sample);
        if (!rng) {
            rc = ORR_FAIL(ORR_ENOMEM, "sampling: out of memory");
            break;
        }
        struct ft_row *out = rows + (size_t)sample * (size_t)size;
        gsl_ran_choose(rng, out, (size_t)size, all, count, sizeof *all);
        for (int i = 0; i < size; i++)
            out[i].sample = sample;
        gsl_rng_free(rng);
    }
    free(all);
    free(one);
    return rc;
}

int ft_choose_labels(const struct sim_dataset *set, long sequence, int T, uint64_t seed, int count,
                     int *rows)
{
    int *all = orr_alloc((size_t)T, sizeof *all);
    if (!all)
        return ORR_ENOMEM;
    int rc = 0;
    const int found = labelled_rows(set, true, sequence, T, all);
    gsl_rng *rng = orr_rng_create(seed, ORR_STAGE_LABELS, (uint64_t)sequence);
    if (!rng)
        rc = ORR_FAIL(ORR_ENOMEM, "choosing labels: out of memory");
    else if (found < count)
        rc = ORR_FAIL(ORR_EINVAL,
                      "planets.labels: %d asked for, sequence %ld has %d labelled "
                      "positions",
                      count, sequence, found);
    else
        gsl_ran_choose(rng, rows, (size_t)count, all, (size_t)found, sizeof *all);
    if (rng)
        gsl_rng_free(rng);
    free(all);
    return rc;
}
