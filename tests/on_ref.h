/* on_ref.h - programs whose tests compute on the reference backend. */
#ifndef TESTS_ON_REF_H
#define TESTS_ON_REF_H

#include "kernels/kernels.h"
#include "testing.h"

#include <gsl/gsl_errno.h>

/* TESTS() with the backend open; as in the programs, GSL reports errors and does not abort. */
#define TESTS_ON_REF(setup, teardown)                                                              \
    int main(void)                                                                                 \
    {                                                                                              \
        gsl_set_error_handler_off();                                                               \
        if (k_ref.open(1, false))                                                                  \
            return 1;                                                                              \
        const int failed = tests_run(setup, teardown);                                             \
        k_ref.close();                                                                             \
        return failed;                                                                             \
    }

#endif
