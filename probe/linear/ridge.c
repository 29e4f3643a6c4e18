/* ridge.c - see ridge.h. Everything is computed from sums of products, which are shared by the
 * inner fit, its held-out rows and the final fit. */
#include "ridge.h"

#include <math.h>
#include <string.h>

#include <gsl/gsl_errno.h>
#include <gsl/gsl_linalg.h>

#include "probe/results.h"

enum { STRENGTHS = 11, INNER = 4 };

int probe_rows_create(struct probe_arena *arena, struct probe_rows *r, long most, int features,
                      int targets, int groups, const int *group)
{
    const size_t n = most > 0 ? (size_t)most : 1;
    *r = (struct probe_rows){.features = features,
                             .targets = targets,
                             .groups = groups,
                             .group = group,
                             .x = probe_take(arena, n * (size_t)features, sizeof *r->x),
                             .y = probe_take(arena, n * (size_t)targets, sizeof *r->y),
                             .sequence = probe_take(arena, n, sizeof *r->sequence)};
    return arena->failed;
}

/* ------------------------------------------------------------------------ sums of products */

/* D = features + 1: the last column is the intercept, all 1. */
struct sums {
    double n;
    double *gram;   /* (D, D) lower triangle */
    double *cross;  /* (targets, D); the last column is the sum of the target */
    double *square; /* (targets) */
};

struct fit {
    const struct probe_rows *rows;
    int D;
    double *mean, *scale; /* (features), over all rows */
    double *centre;       /* (targets) */
    struct sums inner, held;
    double *row;       /* (D) */
    double *weight;    /* (targets, D) for one strength */
    gsl_matrix_view A; /* (D, D) */
    gsl_vector_view b; /* (D) */
};

static struct sums create_sums(struct probe_arena *arena, size_t D, size_t targets)
{
    return (struct sums){.gram = probe_take(arena, D * D, sizeof(double)),
                         .cross = probe_take(arena, D * targets, sizeof(double)),
                         .square = probe_take(arena, targets, sizeof(double))};
}

/* Adds a row x (D) with targets y, from which `centre` is subtracted. */
static void sums_add(struct sums *s, int D, const double *x, int targets, const double *y,
                     const double *centre)
{
    s->n++;
    for (int i = 0; i < D; i++) {
        double *to = s->gram + (size_t)i * (size_t)D;
        for (int j = 0; j <= i; j++)
            to[j] += x[i] * x[j];
    }
    for (int k = 0; k < targets; k++) {
        const double value = y[k] - centre[k];
        double *to = s->cross + (size_t)k * (size_t)D;
        for (int j = 0; j < D; j++)
            to[j] += value * x[j];
        s->square[k] += value * value;
    }
}

static void merge_sums(struct sums *to, const struct sums *from, int D, int targets)
{
    to->n += from->n;
    for (size_t i = 0; i < (size_t)D * (size_t)D; i++)
        to->gram[i] += from->gram[i];
    for (size_t i = 0; i < (size_t)D * (size_t)targets; i++)
        to->cross[i] += from->cross[i];
    for (int k = 0; k < targets; k++)
        to->square[k] += from->square[k];
}

/* Computes means and deviations of the features, and means of the targets. */
static void find_scales(struct fit *f)
{
    const struct probe_rows *r = f->rows;
    const size_t F = (size_t)r->features, K = (size_t)r->targets;
    const double n = (double)r->rows;
    for (size_t i = 0; i < (size_t)r->rows; i++) {
        for (size_t j = 0; j < F; j++)
            f->mean[j] += r->x[i * F + j] / n;
        for (size_t k = 0; k < K; k++)
            f->centre[k] += r->y[i * K + k] / n;
    }
    for (size_t i = 0; i < (size_t)r->rows; i++)
        for (size_t j = 0; j < F; j++) {
            const double off = r->x[i * F + j] - f->mean[j];
            f->scale[j] += off * off / n;
        }
    for (size_t j = 0; j < F; j++) {
        /* a feature that varies only by rounding is constant */
        const double sd = sqrt(f->scale[j]);
        f->scale[j] = sd > 1e-12 * (1 + fabs(f->mean[j])) ? sd : INFINITY;
    }
}

static void collect_sums(struct fit *f)
{
    const struct probe_rows *r = f->rows;
    const size_t F = (size_t)r->features, K = (size_t)r->targets;
    f->row[F] = 1;
    for (size_t i = 0; i < (size_t)r->rows; i++) {
        for (size_t j = 0; j < F; j++)
            f->row[j] = (r->x[i * F + j] - f->mean[j]) / f->scale[j];
        struct sums *to = r->sequence[i] % INNER == INNER - 1 ? &f->held : &f->inner;
        sums_add(to, f->D, f->row, r->targets, r->y + i * K, f->centre);
    }
}

/* ------------------------------------------------------------------------------- solution */

static double strength_of(int index)
{
    return pow(10, index - 9);
}

/* Solves f->weight = (gram + n strength I) \ cross by Cholesky; false where the matrix is not
 * positive definite. */
static bool solve_weights(struct fit *f, const struct sums *s, double strength)
{
    const size_t D = (size_t)f->D;
    gsl_matrix *A = &f->A.matrix;
    gsl_vector *b = &f->b.vector;
    for (size_t i = 0; i < D; i++)
        for (size_t j = 0; j <= i; j++) {
            const double g = s->gram[i * D + j] + (i == j && i + 1 < D ? s->n * strength : 0);
            gsl_matrix_set(A, i, j, g);
            gsl_matrix_set(A, j, i, g);
        }
    /* a constant feature gets no weight */
    for (size_t i = 0; i < D; i++)
        if (!(gsl_matrix_get(A, i, i) > 0))
            return false;
    if (gsl_linalg_cholesky_decomp1(A) != GSL_SUCCESS)
        return false;
    for (int k = 0; k < f->rows->targets; k++) {
        double *w = f->weight + (size_t)k * D;
        for (size_t j = 0; j < D; j++)
            gsl_vector_set(b, j, s->cross[(size_t)k * D + j]);
        if (gsl_linalg_cholesky_svx(A, b) != GSL_SUCCESS)
            return false;
        for (size_t j = 0; j < D; j++)
            w[j] = gsl_vector_get(b, j);
    }
    return true;
}

/* Sum of squared errors of target k on the rows of the sums: y'y - 2 w'c + w'Gw. */
static double squared_error(const struct fit *f, const struct sums *s, int k)
{
    const size_t D = (size_t)f->D;
    const double *w = f->weight + (size_t)k * D, *c = s->cross + (size_t)k * D;
    double sum = s->square[k];
    for (size_t i = 0; i < D; i++) {
        double product = s->gram[i * D + i] * w[i];
        for (size_t j = 0; j < i; j++)
            product += 2 * s->gram[i * D + j] * w[j];
        sum += w[i] * (product - 2 * c[i]);
    }
    return fmax(sum, 0);
}

/* R^2 of a group on the rows of the sums. */
static double score_group(const struct fit *f, const struct sums *s, int group)
{
    double error = 0, total = 0;
    for (int k = 0; k < f->rows->targets; k++) {
        if (f->rows->group[k] != group)
            continue;
        const double sum = s->cross[(size_t)k * (size_t)f->D + (size_t)f->D - 1];
        error += squared_error(f, s, k);
        total += s->square[k] - sum * sum / s->n;
    }
    return total > 0 ? 1 - error / total : NAN;
}

/* Writes the weights of the group's targets for unscaled features. */
static void copy_weights(const struct fit *f, int group, struct probe_ridge *ridge)
{
    const size_t D = (size_t)f->D, K = (size_t)ridge->targets;
    for (size_t k = 0; k < K; k++) {
        if (f->rows->group[k] != group)
            continue;
        const double *w = f->weight + k * D;
        ridge->bias[k] = f->centre[k] + w[D - 1];
        for (size_t j = 0; j + 1 < D; j++) {
            ridge->weight[j * K + k] = w[j] / f->scale[j];
            ridge->bias[k] -= w[j] / f->scale[j] * f->mean[j];
        }
    }
}

/* Chooses the strengths on the inner held-out rows, then fits all rows. */
static int choose_and_fit(struct fit *f, struct probe_ridge *ridge)
{
    bool solved = false;
    for (int g = 0; g < ridge->groups; g++)
        ridge->inner[g] = ridge->strength[g] = NAN;
    for (int i = 0; i < STRENGTHS; i++) {
        if (!solve_weights(f, &f->inner, strength_of(i)))
            continue;
        for (int g = 0; g < ridge->groups; g++) {
            const double r2 = score_group(f, &f->held, g);
            if (isnan(ridge->strength[g]) || r2 > ridge->inner[g]) {
                ridge->inner[g] = r2;
                ridge->strength[g] = strength_of(i);
            }
        }
    }
    merge_sums(&f->inner, &f->held, f->D, ridge->targets);
    for (int i = 0; i < STRENGTHS; i++) {
        bool wanted = false;
        for (int g = 0; g < ridge->groups; g++)
            wanted |= ridge->strength[g] == strength_of(i);
        if (!wanted || !solve_weights(f, &f->inner, strength_of(i)))
            continue;
        solved = true;
        for (int g = 0; g < ridge->groups; g++)
            if (ridge->strength[g] == strength_of(i))
                copy_weights(f, g, ridge);
    }
    return solved ? 0
                  : ORR_FAIL(ORR_EDOM,
                             "ridge regression: no strength makes the sums of products of "
                             "%d features positive definite",
                             ridge->features);
}

static int create_fit(struct probe_arena *arena, struct fit *f, const struct probe_rows *rows)
{
    const size_t F = (size_t)rows->features, K = (size_t)rows->targets, D = F + 1;
    double *matrix = probe_take(arena, D * D, sizeof *matrix);
    double *vector = probe_take(arena, D, sizeof *vector);
    *f = (struct fit){.rows = rows,
                      .D = (int)D,
                      .mean = probe_take(arena, F, sizeof *f->mean),
                      .scale = probe_take(arena, F, sizeof *f->scale),
                      .centre = probe_take(arena, K, sizeof *f->centre),
                      .inner = create_sums(arena, D, K),
                      .held = create_sums(arena, D, K),
                      .row = probe_take(arena, D, sizeof *f->row),
                      .weight = probe_take(arena, D * K, sizeof *f->weight)};
    TRY(arena->failed);
    f->A = gsl_matrix_view_array(matrix, D, D);
    f->b = gsl_vector_view_array(vector, D);
    return 0;
}

int probe_ridge_fit(struct probe_arena *arena, const struct probe_rows *rows,
                    struct probe_ridge *ridge)
{
    const size_t F = (size_t)rows->features, K = (size_t)rows->targets, G = (size_t)rows->groups;
    struct fit f;
    *ridge = (struct probe_ridge){.features = rows->features,
                                  .targets = rows->targets,
                                  .groups = rows->groups,
                                  .weight = probe_take(arena, F * K, sizeof *ridge->weight),
                                  .bias = probe_take(arena, K, sizeof *ridge->bias),
                                  .strength = probe_take(arena, G, sizeof *ridge->strength),
                                  .inner = probe_take(arena, G, sizeof *ridge->inner)};
    const size_t kept = arena->count;
    TRY(create_fit(arena, &f, rows));
    find_scales(&f);
    collect_sums(&f);
    const int rc = f.inner.n > 0 && f.held.n > 0
                       ? choose_and_fit(&f, ridge)
                       : ORR_FAIL(ORR_EINVAL,
                                  "ridge regression: %ld rows are too few: every fourth sequence "
                                  "chooses the strength",
                                  rows->rows);
    probe_rewind(arena, kept);
    return rc;
}

void probe_ridge_predict(const struct probe_ridge *ridge, const double *x, double *y)
{
    const size_t K = (size_t)ridge->targets;
    for (size_t k = 0; k < K; k++)
        y[k] = ridge->bias[k];
    for (size_t j = 0; j < (size_t)ridge->features; j++)
        for (size_t k = 0; k < K; k++)
            y[k] += x[j] * ridge->weight[j * K + k];
}
