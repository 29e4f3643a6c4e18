/* ops_table.h - every operator in one line; included with OP defined, without include guard.
 *
 * OP(id, name, arity, infix, value, d value / d a, d value / d b), of a, b and the value v. EXP,
 * SIN and COS are libm's or the vector forms, as the including file says. */
/* clang-format off */
OP(SR_ADD,    "+",      2, true,  a + b,                 1.0,                    1.0)
OP(SR_SUB,    "-",      2, true,  a - b,                 1.0,                    -1.0)
OP(SR_MUL,    "*",      2, true,  a * b,                 b,                      a)
OP(SR_DIV,    "/",      2, true,  a / b,                 1.0 / b,                -v / b)
OP(SR_POW,    "^",      2, true,  pow(a, b),             b * pow(a, b - 1), a > 0 ? v * log(a) : 0)
OP(SR_MIN,    "min",    2, false, a < b ? a : b,         a < b ? 1.0 : 0.0,      a < b ? 0.0 : 1.0)
OP(SR_MAX,    "max",    2, false, a > b ? a : b,         a > b ? 1.0 : 0.0,      a > b ? 0.0 : 1.0)
OP(SR_NEG,    "neg",    1, false, -a,                    -1.0,                   0.0)
OP(SR_INV,    "inv",    1, false, 1.0 / a,               -v * v,                 0.0)
OP(SR_SQUARE, "square", 1, false, a * a,                 2.0 * a,                0.0)
OP(SR_CUBE,   "cube",   1, false, a * a * a,             3.0 * a * a,            0.0)
OP(SR_SQRT,   "sqrt",   1, false, sqrt(a),               0.5 / v,                0.0)
OP(SR_ABS,    "abs",    1, false, fabs(a),               a < 0.0 ? -1.0 : 1.0,   0.0)
OP(SR_EXP,    "exp",    1, false, EXP(a),                v,                      0.0)
OP(SR_LOG,    "log",    1, false, log(a),                1.0 / a,                0.0)
OP(SR_SIN,    "sin",    1, false, SIN(a),                COS(a),                 0.0)
OP(SR_COS,    "cos",    1, false, COS(a),                -SIN(a),                0.0)
OP(SR_TAN,    "tan",    1, false, tan(a),                1.0 + v * v,            0.0)
OP(SR_TANH,   "tanh",   1, false, tanh(a),               1.0 - v * v,            0.0)
OP(SR_SIGN,   "sign",   1, false, (a > 0.0) - (a < 0.0), 0.0,                    0.0)
/* clang-format on */
