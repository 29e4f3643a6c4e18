/* separable.c - the columns that only multiply y, by powers: y = h(these) phi(the others).
 *
 * The power law c x1^a1 ... xn^an is fitted to y itself, not to ln |y|, so that small values of
 * which little but noise is left count little. Where columns are independent of each other, the
 * exponents of those in h come out right whatever phi is, as h and phi then have fits of their own.
 * Two tests find the columns of phi: an exponent that is no multiple of 1/2 within its standard
 * error, and a residual that goes with a product of two logarithms, one of the column (the score
 * test: Rao, Proc. Camb. Phil. Soc. 44 (1948) 50). Both use variances that hold for a wrong model,
 * too (White, Econometrica 48 (1980) 817). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_sort.h>

#include "base/elementary.h"
#include "groups.h"
#include "shared.h"
#include "symreg/value/cholesky.h"
#include "symreg/value/vec.h"

enum {
    COLUMNS = SR_SMOOTH_COLUMNS,
    FREE = COLUMNS + 1, /* ln c and exponents */
    LEAST_ROWS = 64,
    MOST_ROWS = 1024,
    STEPS = 40,
    TRIES = 8,
    MOST_POWER = 4,
};

/* Standard deviations from a multiple of 1/2 at which a column belongs to phi, and of a score; the
 * largest standard error of an exponent that is one of h. */
static const double far = 2, score_far = 3, most_error = 0.12;

/* The table and the fit. */
struct fit {
    int rows, columns;
    int free, of[FREE]; /* lines of the parameters: one that is 1, then columns of the power law */
    bool varies[COLUMNS];
    double line[FREE][MOST_ROWS]; /* centred logarithms, or values where some are <= 0; and 1 */
    double root[MOST_ROWS], y[MOST_ROWS]; /* of the weight; y times it, of the sign of most of y */
    double value[MOST_ROWS], trial[MOST_ROWS]; /* of the power law, times the root */
    double basis[FREE][MOST_ROWS];             /* orthonormal basis of its derivatives */
    double normal[MOST_ROWS];                  /* another direction */
    double upper[FREE][FREE], a[FREE], rest;
};

/* ---- the table */

static int take_rows(const struct sr_data *data, struct fit *f)
{
    size_t *row = orr_alloc(data->rows, sizeof *row);
    if (!row)
        return ORR_ENOMEM;
    const size_t usable = sr_rows_usable(data, row), most = usable < MOST_ROWS ? usable : MOST_ROWS;
    f->rows = (int)sr_rows_spread(row, usable, most & ~(size_t)7);
    for (int i = 0; i < f->rows; i++) {
        f->root[i] = sqrt(sr_row_weight(data, row[i]));
        f->y[i] = f->root[i] * data->y[row[i]];
        for (int c = 0; c < f->columns; c++)
            f->line[c][i] = data->x[(size_t)c * data->rows + row[i]];
    }
    free(row);
    return 0;
}

/* Takes logarithms of columns that are positive in every row, and centres all. */
static void make_lines(const struct sr_data *data, struct fit *f)
{
    double mean, signs = 0;
    sr_fill(f->line[COLUMNS], MOST_ROWS, 1);
    f->of[f->free++] = COLUMNS;
    for (int c = 0; c < f->columns; c++) {
        const bool positive = sr_all_positive(data->x + (size_t)c * data->rows, data->rows);
        for (int i = 0; i < f->rows && positive; i++)
            f->line[c][i] = orr_log(f->line[c][i]);
        f->varies[c] = sr_centre(f->line[c], f->rows, 1e-24, f->line[c], &mean);
        if (positive && f->varies[c])
            f->of[f->free++] = c;
    }
    for (int i = 0; i < f->rows; i++)
        signs += f->y[i] * fabs(f->y[i]);
    for (int i = 0; i < f->rows && signs < 0; i++)
        f->y[i] = -f->y[i];
}

/* ---- the power law */

static double evaluate(const struct fit *f, const double *a, double *value)
{
    double rest = 0;
    for (int i = 0; i < f->rows; i++) {
        double sum = 0;
        for (int k = 0; k < f->free; k++)
            sum += a[k] * f->line[f->of[k]][i];
        value[i] = f->root[i] * orr_exp(sum);
        rest += (f->y[i] - value[i]) * (f->y[i] - value[i]);
    }
    return isfinite(rest) ? rest : HUGE_VAL;
}

/* Solves least squares of target[i] by scale[i] times the lines; lambda enlarges the diagonal. */
static bool solve(const struct fit *f, const double *scale, const double *target, double lambda,
                  double out[FREE])
{
    double normal[FREE * FREE] = {0}, row[FREE];
    memset(out, 0, FREE * sizeof *out);
    for (int i = 0; i < f->rows; i++) {
        for (int k = 0; k < f->free; k++)
            row[k] = scale[i] * f->line[f->of[k]][i];
        sr_normal_add(normal, FREE, out, (size_t)f->free, row, 1, target[i]);
    }
    return sr_normal_solve(normal, FREE, out, (size_t)f->free, lambda);
}

/* Begins with the logarithms of the rows above 0, weighted by their squares. */
static bool begin(struct fit *f)
{
    for (int i = 0; i < f->rows; i++) {
        f->value[i] = fmax(f->y[i], 0);
        f->trial[i] = f->y[i] > 0 ? f->y[i] * orr_log(f->y[i] / f->root[i]) : 0;
    }
    if (!solve(f, f->value, f->trial, 0, f->a))
        return false;
    f->rest = evaluate(f, f->a, f->value);
    return isfinite(f->rest);
}

/* Levenberg-Marquardt. */
static bool fit_powers(struct fit *f)
{
    static const double enough = 1e-8;
    double lambda = 1e-3;
    if (!begin(f))
        return false;
    for (int step = 0; step < STEPS; step++) {
        double a[FREE], move[FREE], rest = HUGE_VAL;
        for (int k = 0; k < TRIES && !(rest < f->rest); k++) {
            for (int i = 0; i < f->rows; i++)
                f->normal[i] = f->y[i] - f->value[i];
            if (!solve(f, f->value, f->normal, lambda, move))
                return false;
            for (int j = 0; j < f->free; j++)
                a[j] = f->a[j] + fmin(fmax(move[j], -1), 1);
            rest = evaluate(f, a, f->trial);
            lambda = rest < f->rest ? fmax(lambda / 8, 1e-12) : lambda * 8;
        }
        if (!(rest < f->rest))
            break;
        const double gain = 1 - rest / f->rest;
        memcpy(f->a, a, sizeof a);
        f->rest = rest;
        memcpy(f->value, f->trial, (size_t)f->rows * sizeof *f->value);
        if (gain < enough)
            break;
    }
    return true;
}

/* Gives rows the weights 1 / (noise + lack value^2): what phi leaves of the power law grows with
 * its value, so that few large rows would decide. The noise is that of the quarter with the
 * smallest values. Nothing without noise. */
static void reweigh(struct fit *f)
{
    enum { ROUNDS = 5 };
    double noise = 0, lack = 0, mean = 0;
    const int quarter = f->rows / 4;
    memcpy(f->normal, f->value, (size_t)f->rows * sizeof *f->normal);
    gsl_sort(f->normal, 1, (size_t)f->rows);
    const double small = f->normal[quarter];
    for (int i = 0; i < f->rows; i++) {
        const double off = f->y[i] - f->value[i];
        noise += f->value[i] < small ? off * off / quarter : 0;
    }
    if (!(noise > 0))
        return;
    for (int round = 0; round < ROUNDS; round++) {
        double with = 0, own = 0;
        for (int i = 0; i < f->rows; i++) {
            const double square = f->value[i] * f->value[i], off = f->y[i] - f->value[i];
            const double share = square / (noise + lack * square);
            with += (off * off - noise) * share / (noise + lack * square);
            own += share * share;
        }
        lack = fmax(with / own, 0);
    }
    for (int i = 0; i < f->rows; i++) {
        f->normal[i] = 1 / sqrt(1 + lack / noise * f->value[i] * f->value[i]);
        mean += f->normal[i] / f->rows;
    }
    for (int i = 0; i < f->rows; i++) {
        f->root[i] *= f->normal[i] / mean;
        f->y[i] *= f->normal[i] / mean;
    }
}

/* ---- the tests */

/* The derivatives' basis; false where they depend on each other. trial becomes the residual. */
static bool make_basis(struct fit *f)
{
    for (int k = 0; k < f->free; k++) {
        for (int i = 0; i < f->rows; i++)
            f->basis[k][i] = f->value[i] * f->line[f->of[k]][i];
        if (!sr_orthogonalise(f->basis[k], f->basis[0], k, MOST_ROWS, f->rows, 1e-16, f->upper[k]))
            return false;
    }
    for (int i = 0; i < f->rows; i++)
        f->trial[i] = f->y[i] - f->value[i];
    return true;
}

/* The standard errors of ln c and the exponents. */
static void find_errors(const struct fit *f, double error[FREE])
{
    memset(error, 0, FREE * sizeof *error);
    for (int i = 0; i < f->rows; i++) {
        double move[FREE]; /* of the parameters by this row */
        for (int k = 0; k < f->free; k++)
            move[k] = f->basis[k][i];
        sr_cholesky_upper(f->upper[0], (size_t)f->free, FREE, move);
        for (int k = 0; k < f->free; k++)
            error[k] += move[k] * f->trial[i] * move[k] * f->trial[i];
    }
    for (int k = 0; k < f->free; k++)
        error[k] = sqrt(error[k]);
}

/* The residual's part along the product of two lines, in standard deviations. */
static double score_of(struct fit *f, int a, int b)
{
    double sum = 0, square = 0;
    for (int i = 0; i < f->rows; i++)
        f->normal[i] = f->value[i] * f->line[a][i] * f->line[b][i];
    for (int k = 0; k < f->free; k++)
        sr_remove(f->normal, f->basis[k], f->rows);
    for (int i = 0; i < f->rows; i++) {
        const double part = f->normal[i] * f->trial[i];
        sum += part;
        square += part * part;
    }
    return square > 0 ? fabs(sum) / sqrt(square) : 0;
}

/* in_phi[c]: column c belongs to phi. half: twice the exponents of h. */
static void divide_columns(struct fit *f, bool in_phi[COLUMNS], struct sr_powers *h)
{
    double error[FREE];
    find_errors(f, error);
    for (int c = 0; c < f->columns; c++)
        in_phi[c] = f->varies[c];
    for (int k = 1; k < f->free; k++) {
        const double halves = floor(2 * f->a[k] + 0.5), off = fabs(f->a[k] - 0.5 * halves);
        const int c = f->of[k];
        in_phi[c] =
            !(off <= far * error[k]) || !(error[k] <= most_error) || fabs(halves) > 2 * MOST_POWER;
        h->half[c] = in_phi[c] ? 0 : (int)halves;
    }
    for (int a = 0; a < f->columns; a++)
        for (int b = 0; b <= a; b++)
            if (f->varies[a] && f->varies[b] && score_of(f, a, b) > score_far)
                in_phi[a] = in_phi[b] = true;
    for (int c = 0; c < f->columns; c++)
        h->half[c] = in_phi[c] ? 0 : h->half[c];
}

/* False where the table has no such h. */
static bool find_factor(const struct sr_data *data, struct fit *f, struct sr_grouping *g)
{
    bool in_phi[COLUMNS];
    int factors = 0;
    if (f->rows < LEAST_ROWS)
        return false;
    make_lines(data, f);
    if (f->free < 2 || !fit_powers(f))
        return false;
    reweigh(f);
    if (!fit_powers(f) || !make_basis(f))
        return false;
    divide_columns(f, in_phi, &g->factor);
    for (int c = 0; c < f->columns; c++) {
        factors += g->factor.half[c] != 0;
        if (in_phi[c] && g->groups++ < SR_GROUPS_MOST)
            g->group[g->groups - 1].half[c] = 2;
    }
    return factors && g->groups <= SR_GROUPS_MOST;
}

int sr_separable_find(const struct sr_data *data, struct sr_grouping *g)
{
    *g = (struct sr_grouping){0};
    if (data->features > COLUMNS || data->rows < LEAST_ROWS)
        return 0;
    struct fit *f = orr_alloc(1, sizeof *f);
    if (f)
        f->columns = data->features;
    const int rc = f ? take_rows(data, f) : ORR_ENOMEM;
    if (rc || !find_factor(data, f, g))
        g->groups = 0;
    free(f);
    return rc;
}
