/* variance.c - the analysis of variance of a value over a grid. See grid.h. */
#include "grid.h"

#include <math.h>

#include <gsl/gsl_cdf.h>

static double value_at(const struct compare_grid *grid, const struct orr_table *rows, int place,
                       int seed)
{
    return rows->row[(size_t)place * (size_t)grid->seeds + (size_t)seed].value;
}

/* Mean over all places that have the levels of the two factors in common with `place` (-1: any
 * level), for one seed, or over all seeds (-1). */
static double mean_at(const struct compare_grid *grid, const struct orr_table *rows, int place,
                      const int factor[2], int seed)
{
    double sum = 0;
    int count = 0;
    for (int other = 0; other < grid->places; other++) {
        bool shares = true;
        for (int k = 0; k < 2; k++)
            shares &= factor[k] < 0 || compare_grid_level(grid, other, factor[k]) ==
                                           compare_grid_level(grid, place, factor[k]);
        for (int s = 0; s < grid->seeds && shares; s++)
            if (seed < 0 || s == seed) {
                sum += value_at(grid, rows, other, s);
                count++;
            }
    }
    return sum / count;
}

/* The effect of a factor, or the interaction of two, at a place; without a factor, the seed's
 * deviation from the overall mean. */
static double part_at(const struct compare_grid *grid, const struct orr_table *rows, int place,
                      const int factor[2], int seed)
{
    static const int none[2] = {-1, -1};
    const int one[2] = {factor[0], -1}, two[2] = {factor[1], -1};
    const double all = mean_at(grid, rows, 0, none, factor[0] < 0 ? -1 : seed);
    const double part = mean_at(grid, rows, place, factor, seed) - all;
    if (factor[1] < 0)
        return part;
    return part - (mean_at(grid, rows, place, one, seed) - all) -
           (mean_at(grid, rows, place, two, seed) - all);
}

/* Sums of squares of an effect: of its mean over seeds, and of its deviations between seeds. */
static void sum_squares(const struct compare_grid *grid, const struct orr_table *rows,
                        const int factor[2], double *of_mean, double *of_seeds)
{
    *of_mean = *of_seeds = 0;
    for (int place = 0; place < grid->places; place++) {
        const double mean = factor[0] < 0 ? 0 : part_at(grid, rows, place, factor, -1);
        *of_mean += grid->seeds * mean * mean;
        for (int s = 0; s < grid->seeds; s++)
            *of_seeds += pow(part_at(grid, rows, place, factor, s) - mean, 2);
    }
}

static double total_squares(const struct compare_grid *grid, const struct orr_table *rows)
{
    static const int none[2] = {-1, -1};
    const double all = mean_at(grid, rows, 0, none, -1);
    double sum = 0;
    for (int place = 0; place < grid->places; place++)
        for (int s = 0; s < grid->seeds; s++)
            sum += pow(value_at(grid, rows, place, s) - all, 2);
    return sum;
}

bool compare_variances(const struct compare_grid *grid, const struct orr_table *rows,
                       struct compare_variance *line)
{
    static const int none[2] = {-1, -1};
    int lines = 0;
    double of_mean, of_seeds, rest = 1;
    const double total = total_squares(grid, rows);
    if (grid->seeds < 2 || !(total > 0) || !isfinite(total))
        return false;
    for (int a = 0; a < grid->factors; a++)
        for (int b = -1; b < grid->factors; b++) {
            if (b >= 0 && b <= a)
                continue;
            const int factor[2] = {a, b};
            const int own = (grid->factor[a].count - 1) * (b < 0 ? 1 : grid->factor[b].count - 1);
            const int freedom = own * (grid->seeds - 1);
            sum_squares(grid, rows, factor, &of_mean, &of_seeds);
            /* equal effects in all seeds give no estimate of the error, so F is undefined */
            const double F =
                of_seeds > 1e-20 * total ? of_mean / own / (of_seeds / freedom) : (double)NAN;
            rest -= of_mean / total;
            line[lines++] = (struct compare_variance){
                .factor = {a, b},
                .share = of_mean / total,
                .F = F,
                .p = isfinite(F) ? gsl_cdf_fdist_Q(F, own, freedom) : (double)NAN,
                .freedom = {own, freedom}};
        }
    sum_squares(grid, rows, none, &of_mean, &of_seeds);
    line[lines++] = (struct compare_variance){
        .factor = {-1, -1}, .share = of_seeds / total, .F = NAN, .p = NAN};
    line[lines] = (struct compare_variance){
        .factor = {-1, -1}, .share = fmax(0, rest - of_seeds / total), .F = NAN, .p = NAN};
    return true;
}
