/* agreement.c - how far predicted force vectors agree with the truth. */
#include "report.h"

#include <math.h>
#include <stdlib.h>

/* Mean |F| of labelled positions: what a predictor without any insight can know. */
static double mean_labelled(const struct report_orbit *orbit)
{
    double sum[2] = {0, 0};
    size_t count[2] = {0, 0};
    for (size_t i = 0; i < orbit->count; i++) {
        const struct report_position *at = &orbit->at[i];
        sum[at->labelled] += hypot(at->fx_true, at->fy_true);
        count[at->labelled]++;
    }
    const int which = count[1] > 0;
    return count[which] ? sum[which] / (double)count[which] : 0;
}

static int agree(const struct report_orbit *orbit, size_t n, bool towards_sun,
                 struct report_agreement *result)
{
    size_t total = 0, m = 0;
    for (size_t o = 0; o < n; o++)
        total += orbit[o].count;
    double *error = orr_alloc(total ? total : 1, sizeof *error);
    if (!error)
        return ORR_ENOMEM;
    double cosine = 0;
    for (size_t o = 0; o < n; o++) {
        const double size = towards_sun ? mean_labelled(&orbit[o]) : 0;
        for (size_t i = 0; i < orbit[o].count; i++) {
            const struct report_position *at = &orbit[o].at[i];
            if (at->labelled)
                continue;
            const double r_au = hypot(at->x_au, at->y_au);
            const double fx = towards_sun ? -size * at->x_au / r_au : at->fx;
            const double fy = towards_sun ? -size * at->y_au / r_au : at->fy;
            const double f = hypot(fx, fy), f_true = hypot(at->fx_true, at->fy_true);
            /* a vanishing prediction has no direction: it counts as cosine 0 */
            if (f > 0)
                cosine += (fx * at->fx_true + fy * at->fy_true) / (f * f_true);
            error[m++] = hypot(fx - at->fx_true, fy - at->fy_true) / f_true;
        }
    }
    result->count = m;
    result->cosine = m ? cosine / (double)m : NAN;
    result->relative_error = orr_median(error, m);
    free(error);
    return 0;
}

int report_agree(const struct report_orbit *orbit, size_t n, struct report_agreement *result)
{
    return agree(orbit, n, false, result);
}

int report_agree_floor(const struct report_orbit *orbit, size_t n, struct report_agreement *result)
{
    return agree(orbit, n, true, result);
}
