/* path_noise.c - each path has noise of its own. What is known of it comes from smoothing a track,
 * which may take the noise of a few rows for motion and then expects a thousandth of it. Squared
 * residuals over that variance are a million times too large, so that one such path alone decides
 * between laws and determines their constants. */
#include "arcs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The least that counts of a mean squared residual, in variances of the noise. */
static const double least_variance = 1e-3;

/* Numbers of single precision keep a ten-millionth of a path's size. Masses and positions that were
 * rounded to it leave as much, evenly along a path, which no formula should describe. */
static const double single = 1e-7;

/* What short arcs leave, over what they do of most paths, above which noise is corrected. */
static const double far = 25;

/* Numbers of a path that are compared. */
static double numbers_of(const struct sr_paths *paths, size_t k)
{
    return (double)(paths->path[k].n * paths->path[k].bodies * (size_t)paths->dims);
}

/* Mean squared residual in variances of the noise below which a path is followed exactly. */
static double exact_of(const struct sr_path *path)
{
    double exact = least_variance;
    for (size_t b = 0; b < path->bodies; b++) {
        const double rounded = single * path->extent[b] / path->sigma[b];
        exact = fmax(exact, rounded * rounded);
    }
    return exact;
}

double sr_paths_exact(const struct sr_paths *paths)
{
    double exact = 0, all = 0;
    for (size_t k = 0; k < paths->count; k++) {
        const double n = numbers_of(paths, k);
        exact += n * exact_of(&paths->path[k]);
        all += n;
    }
    return exact / all;
}

/* What a path leaves of a number, in variances of the noise. */
static double misfit_of(const struct sr_paths *paths, size_t k, const struct sr_arcs_fit *fit)
{
    const double spare = 1 - (double)fit->starts / (double)fit->numbers;
    return paths->chi2[k] / fmax(numbers_of(paths, k) * spare, 1);
}

/* What most paths leave. */
static double typical_misfit(const struct sr_paths *paths, const struct sr_arcs_fit *fit)
{
    for (size_t k = 0; k < paths->count; k++)
        paths->sorted[k] = misfit_of(paths, k, fit);
    return orr_median(paths->sorted, paths->count);
}

double sr_paths_nats(const struct sr_paths *paths, const struct sr_arcs_fit *fit)
{
    /* The variance of each path is its own: Student's distribution, with what most paths leave as
     * its scale, which counts as so many numbers. */
    const double known = 4, typical = typical_misfit(paths, fit);
    double nats = 0;
    for (size_t k = 0; k < paths->count; k++) {
        const double n = numbers_of(paths, k),
                     variance = (paths->chi2[k] + known * typical) / (n + known);
        nats += 0.5 * n * orr_log(fmax(variance, exact_of(&paths->path[k])));
    }
    return nats;
}

/* Notes by how much each path leaves more of short arcs than most do, where that is less than by
 * another law. *any: a path leaves far more. */
static int compare_short_arcs(const struct sr_paths *paths, const struct sr_form *form,
                              double until_s, double *state, double *least, bool *any)
{
    enum { ROWS = 5, STEPS = 5 };
    struct sr_form fitted = *form;
    struct sr_arcs_fit fit;
    memcpy(state, paths->state, paths->states * sizeof *state);
    TRY(sr_arcs_fit(paths, ROWS, STEPS, until_s, &fitted, state, &fit));
    const double typical = fmax(typical_misfit(paths, &fit), sr_paths_exact(paths));
    *any = false;
    for (size_t k = 0; k < paths->count; k++) {
        const double misfit = misfit_of(paths, k, &fit) / typical;
        least[k] = misfit < least[k] ? misfit : least[k];
        *any = *any || (least[k] > far && least[k] < HUGE_VAL);
    }
    return 0;
}

int sr_paths_correct_noise(struct sr_paths *paths, const struct sr_form *const *form, int forms,
                           double until_s)
{
    double *const state = orr_alloc(paths->states + paths->count + 1, sizeof *state);
    if (!state)
        return ORR_ENOMEM;
    double *const least = state + paths->states;
    for (size_t k = 0; k < paths->count; k++)
        least[k] = HUGE_VAL;
    int rc = 0;
    bool any = paths->count > 2; /* a median of fewer tells nothing of one of them */
    for (int f = 0; f < forms && any && !rc && !sr_arcs_over(until_s); f++)
        rc = compare_short_arcs(paths, form[f], until_s, state, least, &any);
    for (size_t k = 0; k < paths->count && !rc; k++)
        for (size_t b = 0; b < paths->path[k].bodies; b++)
            if (least[k] > far && least[k] < HUGE_VAL)
                paths->path[k].sigma[b] *= sqrt(least[k]);
    free(state);
    return rc;
}
