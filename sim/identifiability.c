/* identifiability.c - what a preset's prior decides before any model is trained: the spread of
 * masses, how well the exponents of a law can be distinguished, and how much the time step reveals
 * of the period. */
#include "stage/tracks.h"
#include "sim.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_eigen.h>
#include <gsl/gsl_multifit.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics.h>

enum { TERMS = 3 }; /* ln r, ln m1, ln m2 */

static int draw_all(const struct orr_settings *settings, enum sim_split split,
                    struct sim_system system[SIM_PRIOR_SYSTEMS])
{
    gsl_rng *rng = gsl_rng_alloc(orr_rng_philox);
    int rc = rng ? 0 : ORR_FAIL(ORR_ENOMEM, "drawing systems: out of memory");
    for (uint64_t i = 0; i < SIM_PRIOR_SYSTEMS && !rc; i++)
        rc = sim_system_draw(settings, split, i, rng, &system[i]);
    if (rng)
        gsl_rng_free(rng);
    return rc;
}

static double period_yr(const struct sim_system *s)
{
    return sim_period_yr(s->orbit[0].a_au, s->mass[0] + s->star_mass);
}

int sim_prior_period_r2(const struct orr_settings *settings, enum sim_split split, double *r2)
{
    struct sim_system *system = orr_alloc(SIM_PRIOR_SYSTEMS, sizeof *system);
    double *x = orr_alloc((size_t)2 * SIM_PRIOR_SYSTEMS, sizeof *x);
    int rc = system && x ? draw_all(settings, split, system) : ORR_ENOMEM;
    if (!rc) {
        double *y = x + SIM_PRIOR_SYSTEMS;
        for (size_t i = 0; i < SIM_PRIOR_SYSTEMS; i++) {
            x[i] = log(system[i].dt_yr);
            y[i] = log(period_yr(&system[i]));
        }
        double low, high;
        gsl_stats_minmax(&low, &high, x, 1, SIM_PRIOR_SYSTEMS);
        const double r = low < high ? gsl_stats_correlation(x, 1, y, 1, SIM_PRIOR_SYSTEMS) : 0;
        *r2 = r * r;
    }
    free(system);
    free(x);
    return rc;
}

/* --------------------------------------------------------------- two bodies of similar mass */

/* The labelled rows of all sequences, in logarithms. */
struct rows {
    size_t count;
    double *x;          /* (count, TERMS): r, m1, m2 */
    double *F, *mean_r; /* (count); mean_r: mean of r in the row's sequence */
    double *motion;     /* (SIM_PRIOR_SYSTEMS) AU, not a logarithm: largest distance from its start
                           of the body that moves less */
};

static void rows_free(struct rows *rows)
{
    free(rows->x);
    free(rows->F);
    free(rows->mean_r);
    free(rows->motion);
}

static double lesser_motion(const struct sim_sequence *q)
{
    double most[2] = {0, 0};
    for (int t = 3; t < q->positions; t++) {
        const int d = q->dimensions;
        const float *now = q->coords + d * t, *first = q->coords + d * (1 + (t - 1) % 2);
        const double way = sim_row_distance(now, first, d);
        most[(t - 1) % 2] = fmax(most[(t - 1) % 2], way);
    }
    return fmin(most[0], most[1]);
}

static void add_sequence(const struct sim_sequence *q, struct rows *rows)
{
    const size_t from = rows->count;
    double mean_r = 0;
    for (size_t t = 0; t < (size_t)q->positions; t++) {
        if (!isfinite(q->force_magnitude[t]))
            continue;
        const int d = q->dimensions;
        const float *state = q->full_state + (size_t)sim_full_columns(d) * t;
        const double r = sim_row_length(state, d);
        double *x = rows->x + TERMS * rows->count;
        x[0] = log(r);
        x[1] = log((double)state[2 * d]);
        x[2] = log((double)state[2 * d + 1]);
        rows->F[rows->count++] = log((double)q->force_magnitude[t]);
        mean_r += r;
    }
    for (size_t k = from; k < rows->count; k++)
        rows->mean_r[k] = log(mean_r / (double)(rows->count - from));
}

static int make_rows(const struct orr_settings *settings, struct rows *rows)
{
    const size_t most = SIM_PRIOR_SYSTEMS * (size_t)settings->orbits.positions;
    struct sim_sequence q;
    *rows = (struct rows){.x = orr_alloc(most * TERMS, sizeof *rows->x),
                          .F = orr_alloc(most, sizeof *rows->F),
                          .mean_r = orr_alloc(most, sizeof *rows->mean_r),
                          .motion = orr_alloc(SIM_PRIOR_SYSTEMS, sizeof *rows->motion)};
    if (!rows->x || !rows->F || !rows->mean_r || !rows->motion)
        return ORR_ENOMEM;
    int rc = sim_sequence_create(&q, settings, SIM_SPLIT_TWO_BODY_TRAIN);
    if (rc)
        return rc;
    for (uint64_t i = 0; i < SIM_PRIOR_SYSTEMS && !rc; i++) {
        rc = sim_sequence_make(&q, settings, SIM_SPLIT_TWO_BODY_TRAIN, i);
        if (!rc) {
            add_sequence(&q, rows);
            rows->motion[i] = lesser_motion(&q);
        }
    }
    sim_sequence_free(&q);
    if (!rc && rows->count <= TERMS + 1)
        rc = ORR_FAIL(ORR_EUSAGE,
                      "orbits.label_from_step: %d leaves no labelled row in sequences "
                      "of %d positions",
                      settings->orbits.label_from_step, settings->orbits.positions);
    return rc;
}

/* R^2 of the regression of y on a constant and the given columns (with their strides). */
static int r2_of(size_t n, const double *y, size_t y_stride, const double *const column[],
                 const size_t stride[], size_t terms, double *r2)
{
    double coefficient[TERMS + 1], covariance[(TERMS + 1) * (TERMS + 1)], chi2 = 0;
    double *x = orr_alloc(n * (terms + 1), sizeof *x);
    gsl_multifit_linear_workspace *work = gsl_multifit_linear_alloc(n, terms + 1);
    if (!x || !work) {
        free(x);
        gsl_multifit_linear_free(work);
        return ORR_FAIL(ORR_ENOMEM, "regression: out of memory");
    }
    for (size_t i = 0; i < n; i++) {
        x[i * (terms + 1)] = 1;
        for (size_t k = 0; k < terms; k++)
            x[i * (terms + 1) + 1 + k] = column[k][i * stride[k]];
    }
    const gsl_matrix_const_view mx = gsl_matrix_const_view_array(x, n, terms + 1);
    const gsl_vector_const_view vy = gsl_vector_const_view_array_with_stride(y, y_stride, n);
    gsl_vector_view c = gsl_vector_view_array(coefficient, terms + 1);
    gsl_matrix_view cov = gsl_matrix_view_array(covariance, terms + 1, terms + 1);
    const int status =
        gsl_multifit_linear(&mx.matrix, &vy.vector, &c.vector, &cov.matrix, &chi2, work);
    *r2 = 1 - chi2 / gsl_stats_tss(y, y_stride, n);
    gsl_multifit_linear_free(work);
    free(x);
    return status ? ORR_FAIL(ORR_EINVAL, "regression: GSL: %s", gsl_strerror(status)) : 0;
}

/* Square root of the ratio of the largest to the smallest eigenvalue of the columns' covariance. */
static int condition_of(const struct rows *rows, double *condition)
{
    double covariance[TERMS * TERMS];
    for (size_t a = 0; a < TERMS; a++)
        for (size_t b = 0; b < TERMS; b++)
            covariance[TERMS * a + b] =
                gsl_stats_covariance(rows->x + a, TERMS, rows->x + b, TERMS, rows->count);
    gsl_matrix_view matrix = gsl_matrix_view_array(covariance, TERMS, TERMS);
    double value[TERMS];
    gsl_vector_view values = gsl_vector_view_array(value, TERMS);
    gsl_eigen_symm_workspace *work = gsl_eigen_symm_alloc(TERMS);
    if (!work || gsl_eigen_symm(&matrix.matrix, &values.vector, work)) {
        gsl_eigen_symm_free(work);
        return ORR_FAIL(ORR_ENOMEM, "condition number: out of memory");
    }
    gsl_eigen_symm_free(work);
    *condition = sqrt(gsl_vector_max(&values.vector) / gsl_vector_min(&values.vector));
    return 0;
}

/* Standard deviation of a column's residual after regression on the two others. */
static int deviation_left(const struct rows *rows, size_t which, double *left)
{
    const size_t stride[2] = {TERMS, TERMS};
    const double *other[2];
    double r2;
    for (size_t k = 0, n = 0; k < TERMS; k++)
        if (k != which)
            other[n++] = rows->x + k;
    const int rc = r2_of(rows->count, rows->x + which, TERMS, other, stride, 2, &r2);
    *left = gsl_stats_sd(rows->x + which, TERMS, rows->count) * sqrt(1 - r2);
    return rc;
}

static int facts_of_rows(const struct orr_settings *settings, struct sim_prior_facts *facts)
{
    struct rows rows;
    int rc = make_rows(settings, &rows);
    const double *column[2] = {rows.x, rows.mean_r};
    const size_t stride[2] = {TERMS, 1};
    facts->rows = rows.count;
    if (!rc)
        rc = condition_of(&rows, &facts->condition);
    for (size_t k = 0; k < TERMS && !rc; k++)
        rc = deviation_left(&rows, k, &facts->left[k]);
    if (!rc)
        rc = r2_of(rows.count, rows.F, 1, column, stride, 1, &facts->baseline_r);
    if (!rc)
        rc = r2_of(rows.count, rows.F, 1, column, stride, 2, &facts->baseline_scale);
    if (!rc) {
        gsl_sort(rows.motion, 1, SIM_PRIOR_SYSTEMS);
        facts->motion_au[0] =
            gsl_stats_quantile_from_sorted_data(rows.motion, 1, SIM_PRIOR_SYSTEMS, 0.01);
        facts->motion_au[1] = gsl_stats_median_from_sorted_data(rows.motion, 1, SIM_PRIOR_SYSTEMS);
    }
    rows_free(&rows);
    return rc;
}

/* The fraction of draws without the sampling window that fall inside it. */
static int share_kept(const struct orr_settings *settings, struct sim_system *system, double *share)
{
    const struct orr_orbits_settings *o = &settings->orbits;
    struct orr_settings open = *settings;
    open.orbits.samples_min = 0;
    open.orbits.samples_max = HUGE_VAL;
    int kept = 0, rc = draw_all(&open, SIM_SPLIT_TWO_BODY_TRAIN, system);
    for (size_t i = 0; i < SIM_PRIOR_SYSTEMS && !rc; i++) {
        const double samples = period_yr(&system[i]) / system[i].dt_yr;
        kept += samples >= o->samples_min && samples <= o->samples_max;
    }
    *share = (double)kept / SIM_PRIOR_SYSTEMS;
    return rc;
}

int sim_prior_facts(const struct orr_settings *settings, struct sim_prior_facts *facts)
{
    enum { N = SIM_PRIOR_SYSTEMS };
    struct sim_system *system = orr_alloc(N, sizeof *system);
    double *m = orr_alloc((size_t)2 * N, sizeof *m);
    *facts = (struct sim_prior_facts){0};
    int rc = system && m ? share_kept(settings, system, &facts->kept) : ORR_ENOMEM;
    if (!rc)
        rc = draw_all(settings, SIM_SPLIT_TWO_BODY_TRAIN, system);
    if (!rc) {
        for (size_t i = 0; i < N; i++) {
            m[i] = log(system[i].mass[0]);
            m[N + i] = log(system[i].star_mass);
        }
        facts->mass_sd[0] = gsl_stats_sd(m, 1, N);
        facts->mass_sd[1] = gsl_stats_sd(m + N, 1, N);
        facts->mass_r = gsl_stats_correlation(m, 1, m + N, 1, N);
        rc = facts_of_rows(settings, facts);
    }
    free(system);
    free(m);
    return rc;
}

static int print_identifiable(const struct orr_settings *settings)
{
    struct sim_prior_facts f;
    const int rc = sim_prior_facts(settings, &f);
    if (rc)
        return rc;
    printf("two comparable bodies: %d systems of two_body_train\n", SIM_PRIOR_SYSTEMS);
    printf("  kept                 %.1f%% of draws have %g to %g samples per orbit\n", 100 * f.kept,
           settings->orbits.samples_min, settings->orbits.samples_max);
    printf("  ln m1, ln m2         standard deviations %.3f, %.3f, correlation %+.3f\n",
           f.mass_sd[0], f.mass_sd[1], f.mass_r);
    printf("  ln r, ln m1, ln m2   on %zu labelled rows: condition number %.2f, standard\n"
           "                       deviations that the two others leave %.3f, %.3f, %.3f\n",
           f.rows, f.condition, f.left[0], f.left[1], f.left[2]);
    printf("  baselines, R^2 of ln F  on ln r %.3f, on ln r and the sequence's ln mean r %.3f\n",
           f.baseline_r, f.baseline_scale);
    printf("  body that moves less by at least %.3f AU in 99%% of sequences, median %.3f AU\n",
           f.motion_au[0], f.motion_au[1]);
    return 0;
}

int sim_prior_print(const struct orr_settings *settings)
{
    double r2;
    TRY(orr_tracks_refuse(settings, "a prior"));
    int rc = orr_settings_needs_orbits(settings, "a prior");
    if (!rc && settings->orbits.protocol == ORR_PROTOCOL_IDENTIFIABLE)
        rc = print_identifiable(settings);
    else if (!rc) {
        rc = sim_prior_period_r2(settings, SIM_SPLIT_TRAIN, &r2);
        if (!rc)
            printf("protocol vafa2025: %d systems of train\n"
                   "  period, time step    R^2 of ln T on ln dt %.3f\n",
                   SIM_PRIOR_SYSTEMS, r2);
    }
    if (rc || !settings->planets.enabled)
        return rc;
    rc = sim_prior_period_r2(settings, SIM_SPLIT_PLANETS_TRAIN, &r2);
    if (!rc)
        printf("planet runs: %d systems of planets_train\n"
               "  period, time step    R^2 of ln T on ln dt %.3f\n",
               SIM_PRIOR_SYSTEMS, r2);
    return rc;
}
