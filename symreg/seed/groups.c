/* groups.c - finds groups: gradients of a smooth model, and hypotheses with their factor. */
#include "groups.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_sort.h>

#include "shared.h"
#include "symreg/value/echelon.h"
#include "symreg/value/vec.h"

enum {
    COLUMNS = SR_SMOOTH_COLUMNS,
    LEAST_ROWS = 64,
    FIT_ROWS = 256, /* rows to which length scales are fitted; of noisy tables: */
    NOISY_ROWS = 384,
    GRADIENT_ROWS = 1024, /* rows whose gradients are used */
    FIT_STEPS = 40,       /* steps of the first model */
    TEST_STEPS = 14,      /* steps of a hypothesis' model */
    MOST_POWER = 4,
};

/* Penalty for each group's fitted length scale, which the evidence does not contain. */
static const double nats_of_group = 8;

/* Logarithms of the columns that are positive everywhere, all columns centred. unit: the divisor
 * that gives a column variance 1. */
struct table {
    int rows, columns;
    /* (columns, rows), (columns, rows) not scaled, (rows), (rows) */
    double *coordinate, *line, *z, *noise;
    double *raw;                   /* (columns, rows) values of the table */
    double *y, *weight;            /* (rows) over `typical`; smaller where the noise is larger */
    double unit[COLUMNS], typical; /* median |y| */
    bool logarithm[COLUMNS];
    size_t *row; /* (rows) in the data */
};

/* ---- the table */

/* Subtracts the mean; returns the standard deviation, 1 where it is 0. */
static double centre_values(double *v, int n)
{
    double mean;
    return sr_centre(v, n, 0, v, &mean) ? sqrt(sr_dot(v, v, n) / n) : 1;
}

/* Variances of ln |y| under equal ones of y, of 1 where |y| is typical, its median. */
static double set_noise(const double *size, int n, double *noise)
{
    memcpy(noise, size, (size_t)n * sizeof *noise);
    gsl_sort(noise, 1, (size_t)n);
    const double typical = noise[n / 2];
    for (int i = 0; i < n; i++) {
        const double ratio = typical / size[i];
        noise[i] = fmin(fmax(ratio * ratio, 0.01), 1e4);
    }
    return typical;
}

/* |y| against the noise of the row. */
static double size_of(const struct sr_data *data, const double *size, size_t row)
{
    return (size ? size[row] : fabs(data->y[row])) * sqrt(sr_row_weight(data, row));
}

/* Where y crosses 0, ln |y| has a pole, and where |y| is small, noise dominates. Drops rows whose
 * |y| is below both the median and a third of the 95% quantile. Returns how many remain. */
static size_t keep_large(const struct sr_data *data, const double *size, size_t *row, size_t count)
{
    double *sorted = count >= 2 * LEAST_ROWS ? orr_alloc(count, sizeof *sorted) : NULL;
    size_t kept = 0;
    if (!sorted) /* small tables keep all rows */
        return count;
    for (size_t i = 0; i < count; i++)
        sorted[i] = size_of(data, size, row[i]);
    gsl_sort(sorted, 1, count);
    const double least = fmin(sorted[count / 2], sorted[count * 19 / 20] / 3);
    for (size_t i = 0; i < count; i++)
        if (size_of(data, size, row[i]) >= least)
            row[kept++] = row[i];
    free(sorted);
    return kept;
}

/* Lists rows with |y| and size above 0, without small ones where `large`; takes at most `most` of
 * them, evenly, a multiple of 8; none where |y| is 0 in most rows. */
static size_t choose_rows(const struct sr_data *data, const double *size, bool large, int most,
                          size_t *row)
{
    size_t usable = 0, zeros = 0;
    for (size_t i = 0; i < data->rows; i++) {
        if (!(sr_row_weight(data, i) > 0))
            continue;
        zeros += fabs(data->y[i]) > 0 ? 0 : 1;
        if (fabs(data->y[i]) > 0 && size_of(data, size, i) > 0)
            row[usable++] = i;
    }
    if (zeros > usable)
        return 0;
    usable = large ? keep_large(data, size, row, usable) : usable;
    return sr_rows_spread(row, usable,
                          (usable < (size_t)most ? usable : (size_t)most) & ~(size_t)7);
}

static void free_table(struct table *t)
{
    free(t->coordinate);
    free(t->row);
}

/* `size` (of all rows): see sr_groups_sizes(); NULL: |y|. After errors free_table(), too. */
static int make_table(const struct sr_data *data, const double *size, bool large, int most,
                      struct table *t)
{
    *t = (struct table){.columns = data->features};
    t->row = orr_alloc(data->rows, sizeof *t->row);
    if (!t->row)
        return ORR_ENOMEM;
    const size_t n = choose_rows(data, size, large, most, t->row), columns = (size_t)t->columns;
    t->rows = (int)n;
    t->coordinate = orr_alloc((3 * columns + 4) * (n ? n : 1), sizeof *t->coordinate);
    if (!t->coordinate)
        return ORR_ENOMEM;
    t->line = t->coordinate + columns * n;
    t->z = t->line + columns * n;
    t->noise = t->z + n;
    t->y = t->noise + n; /* at first |y| */
    t->weight = t->y + n;
    t->raw = t->weight + n;
    for (size_t f = 0; f < columns; f++) {
        t->logarithm[f] = sr_all_positive(data->x + f * data->rows, data->rows);
        for (size_t i = 0; i < n; i++) {
            const double x = data->x[f * data->rows + t->row[i]];
            t->raw[f * n + i] = x;
            t->line[f * n + i] = t->logarithm[f] ? orr_log(x) : x;
        }
        t->unit[f] = centre_values(t->line + f * n, t->rows);
        for (size_t i = 0; i < n; i++)
            t->coordinate[f * n + i] = t->line[f * n + i] / t->unit[f];
    }
    for (size_t i = 0; i < n; i++) {
        t->y[i] = size_of(data, size, t->row[i]);
        t->z[i] = orr_log(fabs(data->y[t->row[i]]));
    }
    if (n) {
        t->typical = set_noise(t->y, t->rows, t->noise);
        centre_values(t->z, t->rows);
    }
    for (size_t i = 0; i < n; i++) {
        t->y[i] = data->y[t->row[i]] / t->typical;
        t->weight[i] = 1 / (1 + t->noise[i]);
    }
    return 0;
}

/* ---- the first model's gradients */

struct slopes {
    /* of gradients by logarithms (or columns) */
    double mean[COLUMNS], covariance[COLUMNS][COLUMNS];
};

/* Derivative of ln |y| by a column of a pair in row i, without the pair's factor; g (columns,
 * rows): the derivatives by the logarithms or columns. */
static double derivative_at(const struct table *t, const double *g,
                            const struct sr_group_pair *pair, bool second, int i)
{
    const int f = second ? pair->b : pair->a;
    const double slope = g[f * t->rows + i] - 0.5 * pair->half;
    return t->logarithm[f] ? slope / t->raw[f * t->rows + i] : slope;
}

/* Derivative by a column of what the pair joins: the column or its square. */
static double inner_derivative(const struct table *t, const struct sr_group_pair *pair, bool second,
                               int i)
{
    const int f = second ? pair->b : pair->a;
    return pair->power[second] == 2 ? 2 * t->raw[f * t->rows + i] : 1;
}

/* Compares the derivatives of two columns, or by their squares, where they are not small. The
 * derivative by a square has a pole where the column changes its sign: unless both columns are
 * positive, both derivatives are multiplied by the two inner derivatives, which removes the pole.
 */
static void rate_powers(const struct table *t, const double *g, struct sr_group_pair *pair)
{
    const bool positive = t->logarithm[pair->a] && t->logarithm[pair->b];
    double sum = 0, difference = 0, all = 0;
    for (int i = 0; i < t->rows; i++) {
        const double by_a = derivative_at(t, g, pair, false, i);
        const double by_b = derivative_at(t, g, pair, true, i);
        const double inner_a = inner_derivative(t, pair, false, i);
        const double inner_b = inner_derivative(t, pair, true, i);
        const double p = positive ? by_a / inner_a : by_a * inner_b;
        const double q = positive ? by_b / inner_b : by_b * inner_a;
        const double weight = t->weight[i];
        sum += weight * (p + q) * (p + q);
        difference += weight * (p - q) * (p - q);
        all += weight * (p * p + q * q);
    }
    pair->off = fmin(sum, difference) / all;
    pair->sign = sum < difference ? -1 : 1;
}

/* Squares and factors count only where they agree clearly better than the columns do: in a narrow
 * range all agree alike. Factors are powers, which only positive columns have. */
static void rate_pair(const struct table *t, const double *g, int a, int b,
                      struct sr_group_pair *pair)
{
    enum { SQUARES = 3, ALL = 7 };
    static const double better = 0.7, much_better = 0.1;
    static const struct sr_group_pair ways[ALL] = {{.power = {2, 1}},
                                                   {.power = {1, 2}},
                                                   {.power = {2, 2}},
                                                   {.power = {1, 1}, .half = 2},
                                                   {.power = {1, 1}, .half = -2},
                                                   {.power = {1, 1}, .half = 1},
                                                   {.power = {1, 1}, .half = -1}};
    *pair = (struct sr_group_pair){.a = a, .b = b, .power = {1, 1}};
    rate_powers(t, g, pair);
    const double most = better * pair->off;
    const int tried = t->logarithm[a] && t->logarithm[b] ? ALL : SQUARES;
    for (int k = 0; k < tried; k++) {
        struct sr_group_pair other = ways[k];
        other.a = a;
        other.b = b;
        rate_powers(t, g, &other);
        if (other.off < (k < SQUARES ? fmin(most, pair->off) : much_better * pair->off))
            *pair = other;
    }
}

/* Lists the pairs with the smallest contradiction, no column twice. */
static void find_pairs(const struct table *t, const double *g, struct sr_group_pairs *pairs)
{
    enum { ALL = COLUMNS * COLUMNS / 2 };
    static const double most_off = 0.05;
    struct sr_group_pair list[ALL] = {{0}};
    int n = 0;
    bool taken[COLUMNS] = {false};
    for (int a = 0; a < t->columns; a++)
        for (int b = a + 1; b < t->columns; b++) {
            struct sr_group_pair pair;
            rate_pair(t, g, a, b, &pair);
            if (pair.off < most_off)
                sr_best_insert(list, sizeof pair, &n, ALL, &pair);
        }
    for (int i = 0; i < n && pairs->count < SR_GROUP_PAIRS; i++)
        if (!taken[list[i].a] && !taken[list[i].b]) {
            taken[list[i].a] = taken[list[i].b] = true;
            pairs->pair[pairs->count++] = list[i];
        }
}

static struct sr_smooth_data all_columns(const struct table *t)
{
    return (struct sr_smooth_data){t->rows, t->columns, t->columns, t->coordinate,
                                   t->line, t->z,       t->noise};
}

/* The model of all columns. */
static int fit_all(const struct table *t, struct sr_smooth *model)
{
    const struct sr_smooth_data data = all_columns(t);
    return sr_smooth_fit(&data, FIT_STEPS, model);
}

static int find_slopes(const struct table *few, const struct table *many, struct slopes *s,
                       struct sr_group_pairs *pairs)
{
    const int d = few->columns, n = many->rows;
    struct sr_smooth model = {0};
    const struct sr_smooth_data seen = all_columns(many);
    double *g = orr_alloc((size_t)d * (size_t)n, sizeof *g), total = 0;
    int rc = g ? fit_all(few, &model) : ORR_ENOMEM;
    if (!rc)
        rc = sr_smooth_gradient(&seen, &model, g);
    memset(s, 0, sizeof *s);
    for (int i = 0; i < n; i++)
        total += many->weight[i];
    for (int k = 0; k < d * n && !rc; k++) {
        g[k] /= many->unit[k / n];
        s->mean[k / n] += many->weight[k % n] / total * g[k];
    }
    for (int a = 0; a < d && !rc; a++)
        for (int b = 0; b < d; b++)
            for (int i = 0; i < n; i++)
                s->covariance[a][b] += many->weight[i] / total * (g[a * n + i] - s->mean[a]) *
                                       (g[b * n + i] - s->mean[b]);
    for (int i = 0; i < d * n && !rc; i++) /* with the linear part */
        g[i] += model.slope[i / n];
    if (!rc) {
        const struct sr_gradients all = {
            n, d, many->line, g, many->y, many->weight, many->logarithm, model.noise};
        find_pairs(many, g, pairs);
        sr_terms_find(&all, pairs->term, &pairs->terms);
    }
    free(g);
    return rc;
}

/* ---- a hypothesis */

/* The factor's exponents are determined only up to multiples of the groups' exponents. Of the
 * choices with exponent 0 at r columns, takes the one closest to half-integers, with a penalty for
 * large exponents. False where no choice is within MOST_POWER. */
static bool choose_factor(const struct table *t, const double *slope, struct sr_grouping *g)
{
    const int d = t->columns, r = g->groups;
    double best = HUGE_VAL;
    for (unsigned set = 0; set < 1U << d; set++) {
        double b[SR_GROUPS][SR_GROUPS + 1] = {{0}}, off = 0, price = 0;
        struct sr_powers factor = {{0}};
        int n = 0, pivot[SR_GROUPS];
        if (__builtin_popcount(set) != r)
            continue;
        for (int f = 0; f < d; f++)
            if (set >> f & 1) {
                for (int j = 0; j < r; j++)
                    b[n][j] = 0.5 * g->group[j].half[f];
                b[n++][SR_GROUPS] = slope[f];
            }
        if (sr_echelon(b[0], r, r, SR_GROUPS + 1, 1e-9, pivot) < r)
            continue;
        bool fits = true;
        for (int f = 0; f < d && fits; f++) {
            double a = t->logarithm[f] ? slope[f] : 0;
            for (int j = 0; j < r; j++)
                a -= 0.5 * g->group[j].half[f] * b[j][SR_GROUPS];
            const double halves = floor(2 * a + 0.5);
            fits = fabs(halves) <= 2 * MOST_POWER;
            factor.half[f] = fits ? (int)halves : 0;
            off += (2 * a - halves) * (2 * a - halves) * t->unit[f] * t->unit[f];
            price += halves != 0 ? 1 + 0.2 * fabs(halves) + 0.5 * (factor.half[f] & 1) : 0;
        }
        const double score = 20 * off + 0.1 * price;
        if (fits && score < best) {
            best = score;
            g->factor = factor;
        }
    }
    return best < HUGE_VAL;
}

/* Coordinates of the groups, scaled to variance 1, and z minus the factor. */
static void make_reduced(const struct table *t, const struct sr_grouping *g, double *coordinate,
                         double *z)
{
    const int n = t->rows;
    for (int k = 0; k < g->groups; k++) {
        double *out = coordinate + (size_t)k * (size_t)n;
        for (int i = 0; i < n; i++) {
            out[i] = 0;
            for (int f = 0; f < t->columns; f++)
                out[i] += 0.5 * g->group[k].half[f] * t->line[f * n + i];
        }
        const double unit = centre_values(out, n);
        for (int i = 0; i < n; i++)
            out[i] /= unit;
    }
    for (int i = 0; i < n; i++) {
        z[i] = t->z[i];
        for (int f = 0; f < t->columns; f++)
            z[i] -= 0.5 * g->factor.half[f] * t->line[f * n + i];
    }
}

/* Tests a hypothesis, and lists it: a model with a free factor gives the factor's exponents; a
 * model with the rounded exponents gives the evidence. */
static int test_grouping(const struct table *t, struct sr_grouping *g,
                         struct sr_grouping list[SR_GROUPINGS], int *count)
{
    const size_t n = (size_t)t->rows;
    double slope[COLUMNS] = {0};
    double *const storage = orr_alloc((size_t)(g->groups + 1 + t->columns) * n, sizeof *storage);
    double *const z = storage + (size_t)g->groups * n, *const lines = z + n;
    struct sr_smooth model = {0};
    struct sr_smooth_data data = {t->rows, g->groups, 0, storage, lines, z, t->noise};
    if (!storage)
        return ORR_ENOMEM;
    memset(&g->factor, 0, sizeof g->factor);
    make_reduced(t, g, storage, z);
    for (int f = 0; f < t->columns; f++)
        if (t->logarithm[f])
            memcpy(lines + (size_t)data.lines++ * n, t->line + (size_t)f * n, n * sizeof *lines);
    int rc = sr_smooth_fit(&data, TEST_STEPS, &model);
    for (int f = 0, k = 0; f < t->columns; f++)
        slope[f] = t->logarithm[f] ? model.slope[k++] : 0;
    if (!rc && isfinite(model.evidence) && choose_factor(t, slope, g)) {
        make_reduced(t, g, storage, z);
        data.lines = 0;
        rc = sr_smooth_fit(&data, 4, &model);
        g->loss = nats_of_group * g->groups - model.evidence;
        g->noise = model.noise;
        g->typical = t->typical;
        if (!rc && isfinite(g->loss))
            sr_best_insert(list, sizeof *g, count, SR_GROUPINGS, g);
    }
    free(storage);
    return rc;
}

/* ---- all hypotheses */

/* Whether two groupings span the same space: their evidence is then equal up to the optimiser's
 * error. */
static bool same_groups(const struct sr_grouping *a, const struct sr_grouping *b)
{
    int found = 0;
    for (int i = 0; i < a->groups; i++)
        for (int k = 0; k < b->groups; k++)
            found += !memcmp(&a->group[i], &b->group[k], sizeof a->group[i]);
    return a->groups == b->groups && found == a->groups;
}

/* Tries groups of r independent vectors of the active columns, together with the columns that have
 * no logarithm. */
static int try_rank(const struct table *t, const int *active, int k, int r,
                    double axis[COLUMNS][COLUMNS], const int *plain, int plains,
                    struct sr_grouping list[SR_GROUPINGS], int *count)
{
    const int starts = r == 0 || r > 2 ? 1 : 3;
    struct sr_vectors all = {0}, shortest = {0};
    const struct sr_vector *basis[SR_GROUPS];
    if (r)
        sr_vectors_near(axis, k, r, &all);
    /* the shortest basis of the span of the first: so angles and other columns that enter alone are
     * groups of their own */
    if (r > 1 && sr_vectors_basis(&all, 0, k, r, basis))
        sr_vectors_shortest(basis, k, r, &shortest);
    const bool is_short = r > 1 && sr_vectors_basis(&shortest, 0, k, r, basis);
    for (int first = 0; first < starts; first++) {
        struct sr_grouping g = {.groups = r + plains};
        const struct sr_vectors *from = is_short && first == 0 ? &shortest : &all;
        if (r > 1 && first == 1) /* the basis of the two best, once more */
            continue;
        if (orr_signal_seen() || (r && !sr_vectors_basis(from, first, k, r, basis)))
            break;
        for (int j = 0; j < r; j++)
            for (int i = 0; i < k; i++)
                g.group[j].half[active[i]] = 2 * basis[j]->entry[i];
        for (int j = 0; j < plains; j++)
            g.group[r + j].half[plain[j]] = 2;
        bool seen = false;
        for (int i = 0; i < *count && !seen; i++)
            seen = same_groups(&list[i], &g);
        if (!seen)
            TRY(test_grouping(t, &g, list, count));
    }
    return 0;
}

static int list_groupings(const struct table *t, const struct slopes *s,
                          struct sr_grouping list[SR_GROUPINGS], int *count)
{
    double largest = 0, axis[COLUMNS][COLUMNS], covariance[COLUMNS][COLUMNS] = {{0}};
    int active[COLUMNS] = {0}, plain[COLUMNS], k = 0, plains = 0;
    for (int f = 0; f < t->columns; f++)
        largest = fmax(largest, s->covariance[f][f] * t->unit[f] * t->unit[f]);
    for (int f = 0; f < t->columns; f++) {
        const double level = t->logarithm[f] ? 0 : s->mean[f] * s->mean[f];
        if ((s->covariance[f][f] + level) * t->unit[f] * t->unit[f] > 2e-3 * largest)
            *(t->logarithm[f] ? &active[k++] : &plain[plains++]) = f;
    }
    for (int i = 0; i < k; i++)
        for (int j = 0; j < k; j++)
            covariance[i][j] = s->covariance[active[i]][active[j]];
    sr_vectors_axes(covariance, k, axis);
    double best = HUGE_VAL; /* stop when one more group lowers the evidence */
    for (int r = 0; r <= k && r + plains <= SR_GROUPS; r++) {
        TRY(try_rank(t, active, k, r, axis, plain, plains, list, count));
        const double now = *count ? list[0].loss : HUGE_VAL;
        if (r && !(now < best - 1) && isfinite(best))
            break;
        best = now;
    }
    return 0;
}

/* Whether the table may have groups. */
static bool is_usable(const struct sr_data *data)
{
    return data->features >= 2 && data->features <= COLUMNS && data->rows >= LEAST_ROWS;
}

/* Sizes of the rows of a table; value, deviation (rows) of its z as predicted. */
static void set_sizes(const struct table *t, const struct sr_data *data, double noise,
                      const double *value, const double *deviation, double *size)
{
    static const double far = 4; /* standard deviations */
    for (int i = 0; i < t->rows; i++) {
        const double own = fabs(data->y[t->row[i]]), off = t->z[i] - value[i];
        const double predicted = own * orr_exp(-off);
        const double ratio = t->typical / predicted / sqrt(sr_row_weight(data, t->row[i]));
        const double variance = deviation[i] * deviation[i] + noise * ratio * ratio;
        if (off * off <= far * far * variance)
            size[t->row[i]] = predicted;
    }
}

int sr_groups_sizes(const struct sr_data *data, double *size)
{
    struct table few = {0}, all = {0};
    struct sr_smooth model = {0};
    double value[2 * GRADIENT_ROWS];
    int rc = make_table(data, NULL, true, FIT_ROWS, &few);
    if (!rc)
        rc = make_table(data, NULL, false, GRADIENT_ROWS, &all);
    if (!rc)
        rc = fit_all(&few, &model);
    sr_fill(size, data->rows, 0);
    if (!rc) {
        const struct sr_smooth_data seen = all_columns(&all);
        const double ratio = few.typical / all.typical; /* units and typical |y| are others */
        model.noise *= ratio * ratio;
        for (int f = 0; f < all.columns; f++)
            model.length[f] *= few.unit[f] / all.unit[f];
        rc = sr_smooth_predict(&seen, &model, value, value + all.rows);
    }
    if (!rc)
        set_sizes(&all, data, model.noise, value, value + all.rows, size);
    free_table(&few);
    free_table(&all);
    return rc;
}

int sr_noise_evidence(const struct sr_data *data, double *ln_ratio)
{
    struct table t = {0};
    struct sr_smooth equal = {0}, proportional = {0};
    size_t above = 0, below = 0;
    *ln_ratio = 0;
    for (size_t i = 0; i < data->rows; i++) {
        above += data->y[i] > 0;
        below += data->y[i] < 0;
    }
    if ((above < below ? above : below) > data->rows / 20 || !is_usable(data))
        return 0;
    int rc = make_table(data, NULL, false, FIT_ROWS, &t);
    if (!rc && t.rows >= LEAST_ROWS) {
        rc = fit_all(&t, &equal);
        sr_fill(t.noise, (size_t)t.rows, 1);
        rc = rc ? rc : fit_all(&t, &proportional);
        const double difference = proportional.evidence - equal.evidence;
        *ln_ratio = !rc && isfinite(difference) ? difference : 0;
    }
    free_table(&t);
    return rc;
}

int sr_groups_find(const struct sr_data *data, const double *size,
                   struct sr_grouping list[SR_GROUPINGS], int *count, struct sr_group_pairs *pairs)
{
    struct table few = {0}, many = {0};
    struct slopes slopes;
    *count = pairs->count = pairs->terms = 0;
    if (!is_usable(data))
        return 0;
    int rc = make_table(data, size, true, size ? NOISY_ROWS : FIT_ROWS, &few);
    if (!rc)
        rc = make_table(data, size, true, GRADIENT_ROWS, &many);
    if (!rc && few.rows >= LEAST_ROWS) {
        rc = find_slopes(&few, &many, &slopes, pairs);
        if (!rc)
            rc = list_groupings(&few, &slopes, list, count);
    }
    free_table(&few);
    free_table(&many);
    return rc;
}
