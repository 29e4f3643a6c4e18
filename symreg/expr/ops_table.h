/* ops_table.h - every operator in one line; included with OP defined, without include guard.
 *
 * OP(id, name, arity, infix, value, d value / d a, d value / d b), of a, b and the value v, with
 * the functions of vecmath.h. sin, cos and tan of angles beyond VM_TRIG_MAX are repaired by
 * sr_op_large(). */
/* clang-format off */
OP(SR_ADD,    "+",      2, true,  a + b,                 1.0,                    1.0)
OP(SR_SUB,    "-",      2, true,  a - b,                 1.0,                    -1.0)
OP(SR_MUL,    "*",      2, true,  a * b,                 b,                      a)
OP(SR_DIV,    "/",      2, true,  a / b,                 1.0 / b,                -v / b)
OP(SR_POW,    "^",      2, true,  vm_pow(a, b),       b * vm_pow(a, b - 1.0), a > 0.0 ? v * vm_log(a) : 0.0)
OP(SR_MIN,    "min",    2, false, a < b ? a : b,         a < b ? 1.0 : 0.0,      a < b ? 0.0 : 1.0)
OP(SR_MAX,    "max",    2, false, a > b ? a : b,         a > b ? 1.0 : 0.0,      a > b ? 0.0 : 1.0)
OP(SR_NEG,    "neg",    1, false, -a,                    -1.0,                   0.0)
OP(SR_INV,    "inv",    1, false, 1.0 / a,               -v * v,                 0.0)
OP(SR_SQUARE, "square", 1, false, a * a,                 2.0 * a,                0.0)
OP(SR_CUBE,   "cube",   1, false, a * a * a,             3.0 * a * a,            0.0)
OP(SR_SQRT,   "sqrt",   1, false, sqrt(a),               0.5 / v,                0.0)
OP(SR_ABS,    "abs",    1, false, fabs(a),               a < 0.0 ? -1.0 : 1.0,   0.0)
OP(SR_EXP,    "exp",    1, false, vm_exp(a),             v,                      0.0)
OP(SR_LOG,    "log",    1, false, vm_log(a),             1.0 / a,                0.0)
OP(SR_SIN,    "sin",    1, false, vm_sin(a),             vm_cos(a),              0.0)
OP(SR_COS,    "cos",    1, false, vm_cos(a),             -vm_sin(a),             0.0)
OP(SR_TAN,    "tan",    1, false, vm_tan(a),             1.0 + v * v,            0.0)
OP(SR_ASIN,   "asin",   1, false, vm_asin(a),            1.0 / sqrt((1.0 - a) * (1.0 + a)), 0.0)
OP(SR_ACOS,   "acos",   1, false, vm_acos(a),            -1.0 / sqrt((1.0 - a) * (1.0 + a)), 0.0)
OP(SR_ATAN,   "atan",   1, false, vm_atan(a),            1.0 / (1.0 + a * a),    0.0)
OP(SR_SINH,   "sinh",   1, false, vm_sinh(a),            vm_cosh(a),             0.0)
OP(SR_COSH,   "cosh",   1, false, vm_cosh(a),            vm_sinh(a),             0.0)
OP(SR_TANH,   "tanh",   1, false, vm_tanh(a),            1.0 - v * v,            0.0)
OP(SR_SIGN,   "sign",   1, false, (a > 0.0 ? 1.0 : 0.0) - (a < 0.0 ? 1.0 : 0.0), 0.0, 0.0)
/* clang-format on */
