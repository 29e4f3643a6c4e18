/* oracle.h - a formula of four constants as GSL's least squares see it. */
#ifndef TESTS_SYMREG_ORACLE_H
#define TESTS_SYMREG_ORACLE_H

#include <math.h>

#include <gsl/gsl_multifit_nlinear.h>

#include "symreg/symreg.h"

/* Residuals of c0 exp(-c1 r) + c2 m1 + c3; context: the table (struct sr_data). */
static inline int oracle_residuals(const gsl_vector *c, void *context, gsl_vector *residual)
{
    const struct sr_data *data = context;
    for (size_t i = 0; i < data->rows; i++)
        gsl_vector_set(residual, i,
                       gsl_vector_get(c, 0) * exp(-gsl_vector_get(c, 1) * data->x[i]) +
                           gsl_vector_get(c, 2) * data->x[data->rows + i] + gsl_vector_get(c, 3) -
                           data->y[i]);
    return 0;
}

#endif
