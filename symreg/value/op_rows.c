/* op_rows.c - single operators over rows. */
#include "vec.h"

#include <math.h>

#include "base/vecmath.h"

bool sr_op_apply(const struct sr_language *language, enum sr_op op, int n, const double *a,
                 const double *b, double *out)
{
    if ((int)op >= SR_CUSTOM)
        return sr_custom_apply(language, op, n, a, b, out);
    return sr_vec_best()->apply((int)op, SR_VEC_ROWS, n, a, b, out);
}

void sr_op_chain(const struct sr_language *language, enum sr_op op, int operand, int n,
                 const double *a, const double *b, const double *v, const double *outer, double *d)
{
    if ((int)op >= SR_CUSTOM) {
        sr_custom_chain(language, op, operand, n, a, b, outer, d);
        return;
    }
    sr_vec_best()->chain((int)op, operand, n, a, b, v, outer, d);
    if (op == SR_SIN || op == SR_COS)
        for (int i = 0; i < n; i++)
            if (!(fabs(a[i]) < VM_TRIG_MAX))
                d[i] = outer[i] * sr_op_table[op].da(a[i], 0, v[i]);
}
