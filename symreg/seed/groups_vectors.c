/* groups_vectors.c - axes of gradients, and integer vectors near their span. */
#include "groups.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "shared.h"
#include "symreg/value/echelon.h"

/* By Jacobi rotations, whose bits do not depend on the CPU. */
void sr_vectors_axes(double a[SR_SMOOTH_COLUMNS][SR_SMOOTH_COLUMNS], int k,
                     double axis[SR_SMOOTH_COLUMNS][SR_SMOOTH_COLUMNS])
{
    double v[SR_SMOOTH_COLUMNS][SR_SMOOTH_COLUMNS] = {{0}};
    for (int i = 0; i < k; i++)
        v[i][i] = 1;
    for (int sweep = 0; sweep < 12; sweep++)
        for (int p = 0; p < k; p++)
            for (int q = p + 1; q < k; q++) {
                if (fabs(a[p][q]) < 1e-300)
                    continue;
                const double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
                const double t = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(theta * theta + 1));
                const double c = 1 / sqrt(t * t + 1), sine = t * c;
                for (int i = 0; i < k; i++) {
                    const double x = a[i][p], y = a[i][q];
                    a[i][p] = c * x - sine * y;
                    a[i][q] = sine * x + c * y;
                }
                for (int i = 0; i < k; i++) {
                    const double x = a[p][i], y = a[q][i], m = v[p][i], w = v[q][i];
                    a[p][i] = c * x - sine * y;
                    a[q][i] = sine * x + c * y;
                    v[p][i] = c * m - sine * w;
                    v[q][i] = sine * m + c * w;
                }
            }
    double score[SR_SMOOTH_COLUMNS];
    int order[SR_SMOOTH_COLUMNS], n = 0;
    for (int i = 0; i < k; i++) {
        score[i] = -a[i][i];
        sr_best_number(score, i, &n, k, order);
    }
    for (int i = 0; i < k; i++)
        memcpy(axis[i], v[order[i]], sizeof v[i]);
}

void sr_vectors_near(double axis[SR_SMOOTH_COLUMNS][SR_SMOOTH_COLUMNS], int k, int r,
                     struct sr_vectors *out)
{
    const int most = k <= 6 ? 2 : 1, base = 2 * most + 1;
    long all = 1;
    for (int i = 0; i < k; i++)
        all *= base;
    out->count = 0;
    /* half of all vectors, as w and -w are equivalent */
    for (long code = all / 2 + 1; code < all; code++) {
        struct sr_vector v = {0};
        long rest = code;
        double square = 0, inside = 0;
        int terms = 0, sum = 0;
        for (int i = k - 1; i >= 0; i--, rest /= base) {
            v.entry[i] = (int)(rest % base) - most;
            square += v.entry[i] * v.entry[i];
            terms += v.entry[i] != 0;
            sum += abs(v.entry[i]);
        }
        for (int a = 0; a < r; a++) {
            double dot = 0;
            for (int i = 0; i < k; i++)
                dot += axis[a][i] * v.entry[i];
            inside += dot * dot;
        }
        v.score = 1 - inside / square + 0.004 * terms + 0.006 * (sum - terms);
        if ((out->count < SR_VECTORS || v.score < out->item[SR_VECTORS - 1].score) &&
            sr_common_divisor(v.entry, k) == 1)
            sr_best_insert(out->item, sizeof v, &out->count, SR_VECTORS, &v);
    }
}

static bool are_independent(const struct sr_vector *const *v, int count, int k)
{
    double a[SR_GROUPS][SR_SMOOTH_COLUMNS];
    int pivot[SR_GROUPS];
    for (int i = 0; i < count; i++)
        for (int j = 0; j < k; j++)
            a[i][j] = v[i]->entry[j];
    return sr_echelon(a[0], count, k, SR_SMOOTH_COLUMNS, 1e-9, pivot) == count;
}

bool sr_vectors_basis(const struct sr_vectors *all, int first, int k, int r,
                      const struct sr_vector *basis[SR_GROUPS])
{
    int n = 0;
    if (first >= all->count)
        return false;
    basis[n++] = &all->item[first];
    for (int i = 0; i < all->count && n < r; i++) {
        basis[n] = &all->item[i];
        n += are_independent(basis, n + 1, k);
    }
    return n == r;
}

void sr_vectors_shortest(const struct sr_vector *const *basis, int k, int r, struct sr_vectors *out)
{
    enum { MOST = 2, BASE = 2 * MOST + 1 };
    int all = 1;
    for (int i = 0; i < r; i++)
        all *= BASE;
    out->count = 0;
    for (int code = 0; code < all; code++) {
        struct sr_vector v = {0};
        int first = 0;
        for (int i = 0, rest = code; i < r; i++, rest /= BASE)
            for (int j = 0; j < k; j++)
                v.entry[j] += (rest % BASE - MOST) * basis[i]->entry[j];
        const int divisor = sr_common_divisor(v.entry, k);
        for (int j = 0; j < k && divisor; j++) {
            v.entry[j] /= divisor;
            first = first ? first : v.entry[j];
            v.score += v.entry[j] ? 4 + 6 * (abs(v.entry[j]) - 1) : 0;
        }
        bool seen = first <= 0;
        for (int i = 0; i < out->count && !seen; i++)
            seen = !memcmp(out->item[i].entry, v.entry, sizeof v.entry);
        if (!seen)
            sr_best_insert(out->item, sizeof v, &out->count, SR_VECTORS, &v);
    }
}
