/* smooth.h - inside symreg/: a smooth model of a table: a Gaussian process with a linear part.
 *
 * z = constant + a . line + f(coordinate) + noise, f with the kernel
 * s^2 exp(-1/2 sum (d_k / l_k)^2) (Rasmussen & Williams, Gaussian Processes for Machine Learning,
 * 2006, Eq. 5.1). Lengths, s^2 and the noise are those of the largest evidence (Eq. 5.8), which
 * Rprop climbs. A column whose length grows large is in the linear part alone. Sums are in a fixed
 * order: a model is the same on every machine and for any number of threads. */
#ifndef SR_SMOOTH_H
#define SR_SMOOTH_H

#include "symreg/value/value.h"

enum { SR_SMOOTH_COLUMNS = 12 };

/* Arrays are the caller's; columns are column-major. */
struct sr_smooth_data {
    int rows;                 /* a multiple of 8 */
    int columns;              /* of coordinate, at most SR_SMOOTH_COLUMNS */
    int lines;                /* of line, likewise */
    const double *coordinate; /* (columns, rows), of mean 0 and variance 1 or so */
    const double *line;       /* (lines, rows), of mean 0 */
    const double *z;          /* (rows) */
    const double *noise;      /* (rows): the noise's variance, up to a factor */
};
struct sr_smooth {
    double length[SR_SMOOTH_COLUMNS], square, noise; /* l, s^2, the factor of the noise */
    double evidence;                                 /* ln p(z) */
    double slope[SR_SMOOTH_COLUMNS];                 /* a */
};
/* Starts where *model stands, lengths 0: at the default. ORR_ENOMEM. Without `steps` the evidence
 * and the slopes of the model as it stands. */
int sr_smooth_fit(const struct sr_smooth_data *data, int steps, struct sr_smooth *model);
/* gradient (columns, rows): of f by the coordinates at the data's rows, without the linear part. */
int sr_smooth_gradient(const struct sr_smooth_data *data, const struct sr_smooth *model,
                       double *gradient);

#endif
