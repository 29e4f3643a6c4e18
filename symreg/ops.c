/* ops.c - the operators one by one: the table, the search for names, and single operators over
 * rows. */
#include "vec.h"

#include <math.h>
#include <string.h>

#include "text.h"
#include "vecmath.h"

/* ---- angles beyond the reach of the vector forms: long double, which glibc does in software, so
 * that all CPUs agree */

static double large_angle(int op, double a)
{
    switch (op) {
    case SR_SIN:
        return (double)sinl((long double)a);
    case SR_COS:
        return (double)cosl((long double)a);
    default:
        return (double)tanl((long double)a);
    }
}

static bool is_trigonometric(int op)
{
    return op == SR_SIN || op == SR_COS || op == SR_TAN;
}

/* ---- the table, one number at a time */

static double value_of(int op, double a, double usual)
{
    return is_trigonometric(op) && !(fabs(a) < VM_TRIG_MAX) ? large_angle(op, a) : usual;
}

/* sin' = cos, cos' = -sin */
static double slope_of(int op, double a, double usual)
{
    if (fabs(a) < VM_TRIG_MAX || (op != SR_SIN && op != SR_COS))
        return usual;
    return op == SR_SIN ? large_angle(SR_COS, a) : -large_angle(SR_SIN, a);
}

#define OP(id, name, arity, infix, value, da, db)                                                  \
    static double id##_value(double a, double b)                                                   \
    {                                                                                              \
        (void)b;                                                                                   \
        return value_of(id, a, value);                                                             \
    }                                                                                              \
    static double id##_da(double a, double b, double v)                                            \
    {                                                                                              \
        (void)a, (void)b, (void)v;                                                                 \
        return slope_of(id, a, da);                                                                \
    }                                                                                              \
    static double id##_db(double a, double b, double v)                                            \
    {                                                                                              \
        (void)a, (void)b, (void)v;                                                                 \
        return db;                                                                                 \
    }
#include "ops_table.h"
#undef OP

#define OP(id, name, arity, infix, value, da, db)                                                  \
    [id] = {name, arity, infix, id##_value, id##_da, id##_db},
struct sr_op_info sr_op_table[SR_ALL_OPS] = {
    [SR_CONSTANT] = {.name = "constant"},
    [SR_FEATURE] = {.name = "feature"},
#include "ops_table.h"
};
#undef OP

int sr_op_find(const char *key, const char *name, int arity, enum sr_op *op)
{
    struct orr_nearest nearest = {0};
    for (int i = SR_FEATURE + 1; i < SR_OPS; i++) {
        if (sr_op_table[i].arity != arity)
            continue;
        if (!strcmp(sr_op_table[i].name, name)) {
            *op = (enum sr_op)i;
            return 0;
        }
        orr_nearest_offer(&nearest, name, sr_op_table[i].name);
    }
    const char *const kind = arity == 2 ? "binary" : "unary";
    if (nearest.name)
        return ORR_FAIL(ORR_EUSAGE, "%s: no %s operator \"%s\"; did you mean \"%s\"?", key, kind,
                        name, nearest.name);
    return ORR_FAIL(ORR_EUSAGE, "%s: no %s operator \"%s\"; expected %s", key, kind, name,
                    arity == 2 ? "+ - * / ^ min max"
                               : "neg inv square cube sqrt abs exp log sin cos tan asin acos atan "
                                 "sinh cosh tanh sign");
}

/* ---- over rows */

bool sr_op_apply(enum sr_op op, int n, const double *a, const double *b, double *out)
{
    if ((int)op >= SR_CUSTOM)
        return sr_custom_apply(op, n, a, b, out);
    return sr_vec_best()->apply((int)op, SR_VEC_ROWS, n, a, b, out);
}

void sr_op_chain(enum sr_op op, int operand, int n, const double *a, const double *b,
                 const double *v, const double *outer, double *d)
{
    if ((int)op >= SR_CUSTOM) {
        sr_custom_chain(op, operand, n, a, b, outer, d);
        return;
    }
    sr_vec_best()->chain((int)op, operand, n, a, b, v, outer, d);
    if (op == SR_SIN || op == SR_COS)
        for (int i = 0; i < n; i++)
            if (!(fabs(a[i]) < VM_TRIG_MAX))
                d[i] = outer[i] * slope_of((int)op, a[i], 0);
}
