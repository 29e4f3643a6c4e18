/* sample_rows.c - chooses the positions that are predicted for regression, and the positions
 * with vector labels. Samples share no sequence, so that their results are independent. */
#include "ft.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_randist.h>

/* rows (T) = the rows < T of a sequence with a labelled force, magnitude or vector; returns
 * their number. Sets made elsewhere may label only one of the two. */
static int labelled_rows(const struct sim_dataset *set, bool vector, long sequence, int T,
                         int *rows)
{
    int count = 0;
    const size_t axes = (size_t)set->dimensions;
    const size_t first = (size_t)sequence * (size_t)set->positions;
    for (int t = 0; t < T; t++)
        if (isfinite(vector ? set->force_vector[axes * (first + (size_t)t)]
                            : set->force_magnitude[first + (size_t)t]))
            rows[count++] = t;
    return count;
}

struct pool {
    const struct sim_dataset *set;
    int T;
    long *order;         /* (set->n) all sequences, shuffled */
    struct ft_row *rows; /* (set->n * T) buffer for the labelled rows of one sample's sequences */
    int *of_one;         /* (T) */
};

static int compare_longs(const void *a, const void *b)
{
    const long x = *(const long *)a, y = *(const long *)b;
    return (x > y) - (x < y);
}

/* Sample k owns sequences order[from] .. order[from + count - 1]. Every sequence belongs to one
 * sample; the first n % samples samples get one more than the others. */
static void share_of(size_t n, size_t samples, size_t k, size_t *from, size_t *count)
{
    const size_t more = n % samples;
    *count = n / samples + (k < more);
    *from = k * (n / samples) + (k < more ? k : more);
}

static int draw_sample(struct pool *pool, gsl_rng *rng, size_t samples, int sample, size_t size,
                       struct ft_row *out)
{
    size_t from, sequences, found = 0;
    share_of(pool->set->n, samples, (size_t)sample, &from, &sequences);
    qsort(pool->order + from, sequences, sizeof *pool->order, compare_longs);
    for (size_t i = from; i < from + sequences; i++) {
        const int count = labelled_rows(pool->set, false, pool->order[i], pool->T, pool->of_one);
        for (int r = 0; r < count; r++)
            pool->rows[found++] = (struct ft_row){sample, pool->order[i], pool->of_one[r]};
    }
    if (found < size)
        return ORR_FAIL(
            ORR_EINVAL,
            "finetune.sample_size: expected at most %zu, found %zu: each of "
            "finetune.samples = %zu samples has sequences of its own, sample %d has %zu "
            "of orbits.two_body_test = %zu with %zu labelled positions",
            found, size, samples, sample, sequences, pool->set->n, found);
    gsl_ran_choose(rng, out, size, pool->rows, found, sizeof *pool->rows);
    return 0;
}

int ft_sample(const struct sim_dataset *set, int T, uint64_t seed, int samples, int size,
              struct ft_row *rows)
{
    const uint64_t shuffle = 1ull << 40; /* a stream apart from those of the samples */
    struct pool pool = {.set = set,
                        .T = T,
                        .order = orr_alloc(set->n, sizeof *pool.order),
                        .rows = orr_alloc(set->n * (size_t)T, sizeof *pool.rows),
                        .of_one = orr_alloc((size_t)T, sizeof *pool.of_one)};
    gsl_rng *rng = orr_rng_create(seed, ORR_STAGE_SAMPLE, shuffle);
    int rc = pool.order && pool.rows && pool.of_one && rng
                 ? 0
                 : ORR_FAIL(ORR_ENOMEM, "sampling: out of memory");
    for (size_t s = 0; s < set->n && !rc; s++)
        pool.order[s] = (long)s;
    if (!rc)
        gsl_ran_shuffle(rng, pool.order, set->n, sizeof *pool.order);
    for (int sample = 0; sample < samples && !rc; sample++) {
        orr_rng_seek(rng, seed, ORR_STAGE_SAMPLE, (uint64_t)sample);
        rc = draw_sample(&pool, rng, (size_t)samples, sample, (size_t)size,
                         rows + (size_t)sample * (size_t)size);
    }
    if (rng)
        gsl_rng_free(rng);
    free(pool.order);
    free(pool.rows);
    free(pool.of_one);
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
