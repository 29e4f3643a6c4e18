/* grid_effects.c - what the factors of a grid do to a figure. See grid.h. */
#include "grid.h"

#include <math.h>

#include <gsl/gsl_cdf.h>

static double at(const struct probe_grid *grid, const double *value, int place, int seed)
{
    return value[(size_t)place * (size_t)grid->seeds + (size_t)seed];
}

struct orr_mean probe_effect(const struct probe_grid *grid, const double *value, int factor,
                             int level)
{
    double each[PROBE_FILES];
    for (int s = 0; s < grid->seeds; s++) {
        double sum = 0; /* NaN where a place is missing */
        int count = 0;
        for (int place = 0; place < grid->places; place++) {
            if (probe_grid_level(grid, place, factor) != level)
                continue;
            sum += at(grid, value, place, s) -
                   at(grid, value, probe_grid_place(grid, place, factor, 0), s);
            count++;
        }
        each[s] = sum / count;
    }
    return orr_mean_of(each, grid->seeds);
}

struct orr_mean probe_interaction(const struct probe_grid *grid, const double *value,
                                  const int factor[2], const int level[2])
{
    double each[PROBE_FILES];
    for (int s = 0; s < grid->seeds; s++) {
        double sum = 0;
        int count = 0;
        for (int place = 0; place < grid->places; place++) {
            if (probe_grid_level(grid, place, factor[0]) != level[0] ||
                probe_grid_level(grid, place, factor[1]) != level[1])
                continue;
            const int first = probe_grid_place(grid, place, factor[0], 0);
            const int second = probe_grid_place(grid, place, factor[1], 0);
            const int neither = probe_grid_place(grid, first, factor[1], 0);
            sum += at(grid, value, place, s) - at(grid, value, first, s) -
                   at(grid, value, second, s) + at(grid, value, neither, s);
            count++;
        }
        each[s] = sum / count;
    }
    return orr_mean_of(each, grid->seeds);
}

/* Mean over seeds and all places that share the levels of the two factors with `place` (-1: any
 * level of that factor). */
static double mean_at(const struct probe_grid *grid, const double *value, int place,
                      const int factor[2])
{
    double sum = 0;
    int count = 0;
    for (int other = 0; other < grid->places; other++) {
        bool shares = true;
        for (int k = 0; k < 2; k++)
            shares &= factor[k] < 0 || probe_grid_level(grid, other, factor[k]) ==
                                           probe_grid_level(grid, place, factor[k]);
        for (int s = 0; s < grid->seeds && shares; s++, count++)
            sum += at(grid, value, other, s);
    }
    return sum / count;
}

/* Sum of squares of a factor, or of what two do together. */
static double squares(const struct probe_grid *grid, const double *value, const int factor[2])
{
    static const int none[2] = {-1, -1};
    const double all = mean_at(grid, value, 0, none);
    double sum = 0;
    for (int place = 0; place < grid->places; place++) {
        const int one[2] = {factor[0], -1}, two[2] = {factor[1], -1};
        double d = mean_at(grid, value, place, factor) - all;
        if (factor[1] >= 0)
            d -= mean_at(grid, value, place, one) - all + mean_at(grid, value, place, two) - all;
        sum += grid->seeds * d * d;
    }
    return sum;
}

/* Within the places, from seed to seed; *total: from the mean of all. */
static double squares_of_seeds(const struct probe_grid *grid, const double *value, double *total)
{
    static const int none[2] = {-1, -1};
    const double all = mean_at(grid, value, 0, none);
    double sum = 0;
    *total = 0;
    for (int place = 0; place < grid->places; place++) {
        double mean = 0;
        for (int s = 0; s < grid->seeds; s++)
            mean += at(grid, value, place, s) / grid->seeds;
        for (int s = 0; s < grid->seeds; s++) {
            const double x = at(grid, value, place, s);
            sum += (x - mean) * (x - mean);
            *total += (x - all) * (x - all);
        }
    }
    return sum;
}

bool probe_variances(const struct probe_grid *grid, const double *value,
                     struct probe_variance *line)
{
    int lines = 0;
    double total;
    const int freedom = grid->places * (grid->seeds - 1);
    const double error = squares_of_seeds(grid, value, &total);
    if (grid->seeds < 2 || !isfinite(error) || !(total > 0))
        return false;
    for (int a = 0; a < grid->factors; a++)
        for (int b = -1; b < grid->factors; b++) {
            if (b >= 0 && b <= a)
                continue;
            const int factor[2] = {a, b};
            const int own = (grid->factor[a].count - 1) * (b < 0 ? 1 : grid->factor[b].count - 1);
            const double sum = squares(grid, value, factor), F = sum / own / (error / freedom);
            line[lines++] = (struct probe_variance){.factor = {a, b},
                                                    .share = sum / total,
                                                    .F = F,
                                                    .p = gsl_cdf_fdist_Q(F, own, freedom),
                                                    .freedom = own};
        }
    line[lines] = (struct probe_variance){
        .factor = {-1, -1}, .share = error / total, .F = NAN, .p = NAN, .freedom = freedom};
    return true;
}
