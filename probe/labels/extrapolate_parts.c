/* extrapolate_parts.c - parts of the extrapolation probe: bounds at quartiles, the power law of the
 * labels, exponents by least squares, intervals over draws, tables of forces. */
#include "extrapolate.h"

#include <math.h>
#include <string.h>

#include <gsl/gsl_fit.h>
#include <gsl/gsl_linalg.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics.h>

/* ---------------------------------------------------------------------------- experiments */

/* The square of a distance (d). */
static double square_of(const float place[], int axes)
{
    double sum = 0;
    for (int c = 0; c < axes; c++)
        sum += (double)place[c] * (double)place[c];
    return sum;
}

/* Quartiles of r or of m1 m2 over all labels of the settings. */
static int find_quartiles(struct probe_arena *arena, const struct ft_labels *labels, bool masses,
                          double *low, double *high)
{
    const size_t n = ft_labels_points(labels, NULL, NULL);
    const int axes = labels->set->dimensions;
    const size_t full = (size_t)sim_full_columns(axes);
    float *states = probe_take(arena, n ? n * full : 1, sizeof *states);
    double *x = probe_take(arena, n ? n : 1, sizeof *x);
    TRY(arena->failed);
    if (n < 8)
        return ORR_FAIL(ORR_EINVAL, "two_body_train: %zu labels, too few for quarters of them", n);
    ft_labels_points(labels, states, NULL);
    for (size_t i = 0; i < n; i++) {
        const float *s = states + full * i;
        x[i] = masses ? (double)s[full - 2] * (double)s[full - 1] : sqrt(square_of(s, axes));
    }
    gsl_sort(x, 1, n);
    *low = gsl_stats_quantile_from_sorted_data(x, 1, n, 0.25);
    *high = gsl_stats_quantile_from_sorted_data(x, 1, n, 0.75);
    return 0;
}

int probe_experiment_open(struct probe_arena *arena, struct probe_experiment *e, int number,
                          const struct probe_label_sets *forces,
                          const struct probe_held_out *held_out)
{
    const bool masses = number == 1;
    double low = 0, high = 0;
    *e = (struct probe_experiment){
        .name = masses ? "m1 m2" : "r", .tag = masses ? "m" : "r", .bounds = forces->labels.bounds};
    const size_t kept = arena->count;
    TRY(find_quartiles(arena, &forces->labels, masses, &low, &high));
    probe_rewind(arena, kept);
    *(masses ? &e->bounds.m_min : &e->bounds.r_min) = low;
    *(masses ? &e->bounds.m_max : &e->bounds.r_max) = high;
    TRY(ft_labels_find(&e->labels, &forces->train, &e->bounds));
    e->outside = probe_take(arena, held_out->rows, sizeof *e->outside);
    e->inside = probe_take(arena, held_out->rows, sizeof *e->inside);
    TRY(arena->failed);
    size_t inside = 0;
    for (size_t i = 0; i < held_out->rows; i++) {
        const double x = masses ? ft_mass_product(held_out->set, held_out->at[i])
                                : ft_separation(held_out->set, held_out->at[i]);
        e->inside[i] = x >= low && x <= high;
        e->outside[i] = !e->inside[i];
        inside += e->inside[i];
    }
    return inside > 1 && held_out->rows - inside > 1
               ? 0
               : ORR_FAIL(ORR_EINVAL,
                          "two_body_test: %zu of %zu rows lie inside the quarters of %s: too few "
                          "inside or outside to measure on",
                          inside, held_out->rows, e->name);
}

int probe_experiments_open(struct probe_label_study *t,
                           struct probe_experiment experiment[PROBE_EXPERIMENTS])
{
    size_t most = t->forces.labels.count;
    for (int i = 0; i < PROBE_EXPERIMENTS; i++) {
        TRY(probe_experiment_open(&t->s.arena, &experiment[i], i, &t->forces, &t->held_out));
        most = experiment[i].labels.count < most ? experiment[i].labels.count : most;
    }
    return probe_label_study_size(t, most);
}

void probe_experiments_close(struct probe_experiment experiment[PROBE_EXPERIMENTS])
{
    for (int i = 0; i < PROBE_EXPERIMENTS; i++)
        ft_labels_free(&experiment[i].labels);
}

/* -------------------------------------------------------------------------- least squares */

int probe_power_law(struct probe_arena *arena, const struct ft_labels *labels,
                    const struct probe_held_out *held_out, double *log_f)
{
    const size_t n = ft_labels_points(labels, NULL, NULL), kept = arena->count;
    const int axes = labels->set->dimensions;
    const size_t full = (size_t)sim_full_columns(axes);
    float *states = probe_take(arena, n * full, sizeof *states);
    float *forces = probe_take(arena, n, sizeof *forces);
    double *x = probe_take(arena, n, sizeof *x), *y = probe_take(arena, n, sizeof *y);
    double a, b, unused[4];
    TRY(arena->failed);
    ft_labels_points(labels, states, forces);
    for (size_t i = 0; i < n; i++) {
        x[i] = 0.5 * orr_log(square_of(states + full * i, axes));
        y[i] = orr_log((double)forces[i]);
    }
    if (gsl_fit_linear(x, 1, y, 1, n, &a, &b, &unused[0], &unused[1], &unused[2], &unused[3]))
        return ORR_FAIL(ORR_EINVAL, "a power law of %zu labels: no least squares", n);
    for (size_t i = 0; i < held_out->rows; i++)
        log_f[i] = a + b * orr_log(ft_separation(held_out->set, held_out->at[i]));
    probe_rewind(arena, kept);
    return 0;
}

/* The features 1, ln r, ln m1, ln m2 of a held-out row. */
static void read_features(const struct probe_held_out *j, size_t i, double x[4])
{
    const float *mass = ft_masses(j->set, j->at[i]);
    x[0] = 1;
    x[1] = orr_log(ft_separation(j->set, j->at[i]));
    x[2] = orr_log((double)mass[0]);
    x[3] = orr_log((double)mass[1]);
}

void probe_exponents(const struct probe_held_out *j, const bool *keep, const double *log_f,
                     const double *weight, double exponent[3])
{
    double a[16] = {0}, b[4] = {0}, x[4];
    for (size_t i = 0; i < j->rows; i++) {
        const double w = keep && !keep[i] ? 0 : weight ? weight[j->of[i]] : 1;
        if (w <= 0)
            continue;
        read_features(j, i, x);
        for (int p = 0; p < 4; p++) {
            b[p] += w * x[p] * log_f[i];
            for (int q = 0; q < 4; q++)
                a[4 * p + q] += w * x[p] * x[q];
        }
    }
    /* normal equations suffice: the condition number of the four columns is below 100 (bin/orbits
     * prior) */
    gsl_matrix_view A = gsl_matrix_view_array(a, 4, 4);
    gsl_vector_view B = gsl_vector_view_array(b, 4);
    const bool bad = !(a[0] > 4) || gsl_linalg_cholesky_decomp1(&A.matrix) ||
                     gsl_linalg_cholesky_svx(&A.matrix, &B.vector);
    for (int p = 0; p < 3; p++)
        exponent[p] = bad ? (double)NAN : b[p + 1];
}

/* ---------------------------------------------------------------------------------- draws */

double probe_over_draws(int draws, double (*statistic)(const void *, int, const double *),
                        const void *of, const double *weight, const double *times)
{
    double sum = 0, count = 0;
    for (int d = 0; d < draws; d++) {
        const double w = times ? times[d] : 1;
        if (w > 0)
            sum += w * statistic(of, d, weight);
        count += w;
    }
    return sum / count;
}

int probe_draws_interval(struct probe_arena *arena, uint64_t seed, size_t sequences, int draws,
                         double (*statistic)(const void *, int, const double *), const void *of,
                         struct orr_row *row)
{
    enum { RESAMPLES = 200 };
    const uint64_t own = 6ull << 40;
    const size_t kept = arena->count;
    double again[RESAMPLES];
    double *weight = probe_take(arena, sequences, sizeof *weight);
    double *times = probe_take(arena, (size_t)draws, sizeof *times);
    TRY(arena->failed);
    gsl_rng *rng = orr_rng_create(seed, ORR_STAGE_BOOTSTRAP, own);
    if (!rng)
        return ORR_ENOMEM;
    for (uint64_t r = 0; r < RESAMPLES; r++) {
        probe_resample(rng, seed, own + 2 * r, sequences, weight);
        probe_resample(rng, seed, own + 2 * r + 1, (size_t)draws, times);
        again[r] = probe_over_draws(draws, statistic, of, weight, times);
    }
    probe_interval(again, RESAMPLES, &row->low, &row->high);
    gsl_rng_free(rng);
    probe_rewind(arena, kept);
    return 0;
}

/* --------------------------------------------------------------------------------- tables */

int probe_write_forces(const char *path, const struct probe_held_out *j, const bool *keep,
                       int draws, double *const *log_f)
{
    const struct sim_dataset *set = j->set;
    const size_t P = (size_t)set->positions;
    struct orr_file file = {0};
    TRY(orr_file_create(&file, path));
    orr_file_printf(&file, "sample,sequence,step,r,m1,m2,dt,F_true,F\n");
    for (int d = 0; d < draws; d++)
        for (size_t i = 0; i < j->rows; i++) {
            const size_t at = j->at[i], sequence = j->sequence[j->of[i]];
            const float *mass = ft_masses(set, at);
            if (keep[i])
                orr_file_printf(&file, "%d,%zu,%d,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g\n", d, sequence,
                                ((int)(at % P) - 1) / set->num_bodies[sequence],
                                ft_separation(set, at), (double)mass[0], (double)mass[1],
                                orr_exp((double)sim_dataset_coords(set, sequence)[0]),
                                (double)set->force_magnitude[at], orr_exp(log_f[d][i]));
        }
    const int rc = orr_file_commit(&file);
    orr_file_close(&file);
    return rc;
}
