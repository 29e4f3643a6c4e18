/* groups_vectors.h - inside symreg/: integer vectors near the span of the gradients of a table. */
#ifndef SR_GROUPS_VECTORS_H
#define SR_GROUPS_VECTORS_H

#include "groups.h"

enum { SR_VECTORS = 24 };
struct sr_vector {
    double score;                 /* the smaller the better */
    int entry[SR_SMOOTH_COLUMNS]; /* one per active column, the first that is not 0 above 0 */
};
struct sr_vectors {
    int count;
    struct sr_vector item[SR_VECTORS]; /* best first */
};

/* Eigenvectors of a symmetric matrix (k, k), that of the largest eigenvalue first; a is scratch
 * afterwards. */
void sr_vectors_axes(double a[SR_SMOOTH_COLUMNS][SR_SMOOTH_COLUMNS], int k,
                     double axis[SR_SMOOTH_COLUMNS][SR_SMOOTH_COLUMNS]);
/* Lists the integer vectors closest to the span of the first r axes; ties go to smaller entries. */
void sr_vectors_near(double axis[SR_SMOOTH_COLUMNS][SR_SMOOTH_COLUMNS], int k, int r,
                     struct sr_vectors *out);
/* Lists the shortest integer vectors of the span of a basis, combined with coefficients up to 2. */
void sr_vectors_shortest(const struct sr_vector *const *basis, int k, int r,
                         struct sr_vectors *out);
/* Chooses r independent vectors: number `first`, then the best of the others. False where there are
 * too few. */
bool sr_vectors_basis(const struct sr_vectors *all, int first, int k, int r,
                      const struct sr_vector *basis[SR_GROUPS]);

#endif
