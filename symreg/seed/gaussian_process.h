/* gaussian_process.h - inside symreg/: a smooth model of a table: a Gaussian process with a linear
 * part.
 *
 * z = constant + a . line + f(coordinate) + noise, where f has the kernel s^2 exp(-1/2 sum (d_k /
 * l_k)^2) (Rasmussen & Williams, Gaussian Processes for Machine Learning, 2006, Eq. 5.1). Length
 * scales, s^2 and the noise maximise the evidence (Eq. 5.8), by Rprop. A column whose length scale
 * grows large acts only through the linear part. Sums are in a fixed order: a model is equal on
 * every machine and for any number of threads. */
#ifndef SR_GAUSSIAN_PROCESS_H
#define SR_GAUSSIAN_PROCESS_H

#include "symreg/value/value.h"

enum { SR_SMOOTH_COLUMNS = 12 };

/* Arrays are the caller's; columns are column-major. */
struct sr_smooth_data {
    int rows;                 /* a multiple of 8 */
    int columns;              /* columns of coordinate, at most SR_SMOOTH_COLUMNS */
    int lines;                /* columns of line, likewise */
    const double *coordinate; /* (columns, rows), of mean 0 and variance about 1 */
    const double *line;       /* (lines, rows), of mean 0 */
    const double *z;          /* (rows) */
    const double *noise;      /* (rows) variance of the noise, up to a factor */
};
struct sr_smooth {
    double length[SR_SMOOTH_COLUMNS], square, noise; /* l, s^2, the factor of the noise */
    double evidence;                                 /* ln p(z) */
    double slope[SR_SMOOTH_COLUMNS];                 /* a */
};
/* Fits the model, starting from *model; lengths of 0 start from the default. ORR_ENOMEM. With 0
 * steps it only computes the evidence and slopes of the given model. */
int sr_smooth_fit(const struct sr_smooth_data *data, int steps, struct sr_smooth *model);
/* gradient (columns, rows): derivatives of f by the coordinates at the data's rows, without the
 * linear part. */
int sr_smooth_gradient(const struct sr_smooth_data *data, const struct sr_smooth *model,
                       double *gradient);
/* value, deviation (rows): z of each row as the other rows predict it, and the standard deviation
 * of this prediction, without the row's own noise (Rasmussen & Williams, Eq. 5.12). NaN where the
 * model is singular. ORR_ENOMEM. */
int sr_smooth_predict(const struct sr_smooth_data *data, const struct sr_smooth *model,
                      double *value, double *deviation);

#endif
