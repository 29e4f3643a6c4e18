/* ops_table.h - one row per operator; included with OP defined, without include guard. A new
 * operator needs a row here and one in the tests.
 *
 * OP(id, name, arity, infix, cost, traits, undoes, units, power,
 *    value, d value / d a, d value / d b, inverse,
 *    LaTeX, C, SymPy, layout)
 *
 *   traits     enum sr_trait
 *   undoes     the operator f with op(f(a)) = a wherever that is defined, SR_CONSTANT for none
 *   units      enum sr_op_units
 *   power      p of a unary operator that is a^p, else 0
 *   value ...  formulas of the operands a and b and of the value v, with the functions of
 *              vecmath.h. sin, cos and tan of angles beyond VM_TRIG_MAX are repaired (ops.c)
 *   inverse    the operand that gives the value v; NAN where none is implemented
 *   LaTeX ...  the text around the operands $1 and $2, laid out as in print.c; NULL: that of a
 *              formula there (expansions)
 *
 * Functions from SR_EXP on cost 2. Checkpoints identify operators by their position in this table,
 * so that a new row comes last. */
/* clang-format off */
OP(SR_ADD,    "+",      2, true,  1, SR_COMMUTES,       SR_CONSTANT, SR_UNITS_ALIKE,    0,
   a + b,                 1.0,                    1.0,       NAN,
   "$1 + $2", "$1 + $2", "$1 + $2", SUMS)
OP(SR_SUB,    "-",      2, true,  1, 0,                 SR_CONSTANT, SR_UNITS_ALIKE,    0,
   a - b,                 1.0,                    -1.0,      NAN,
   "$1 - $2", "$1 - $2", "$1 - $2", SUMS)
OP(SR_MUL,    "*",      2, true,  1, SR_COMMUTES,       SR_CONSTANT, SR_UNITS_PRODUCT,  0,
   a * b,                 b,                      a,         NAN,
   "$1 \\, $2", "$1 * $2", "$1*$2", PRODUCTS)
OP(SR_DIV,    "/",      2, true,  1, 0,                 SR_CONSTANT, SR_UNITS_QUOTIENT, 0,
   a / b,                 1.0 / b,                -v / b,    NAN,
   "\\frac{$1}{$2}", "$1 / $2", "$1/$2", QUOTIENTS)
OP(SR_POW,    "^",      2, true,  1, 0,                 SR_CONSTANT, SR_UNITS_POWER,    0,
   vm_pow(a, b), b * vm_pow(a, b - 1.0), a > 0.0 ? v * vm_log(a) : 0.0, NAN,
   "$1^{$2}", "pow($1, $2)", "$1**$2", POWERS)
OP(SR_MIN,    "min",    2, false, 1, SR_COMMUTES,       SR_CONSTANT, SR_UNITS_ALIKE,    0,
   a < b ? a : b,         a < b ? 1.0 : 0.0,      a < b ? 0.0 : 1.0, NAN,
   "\\min\\left($1, $2\\right)", "fmin($1, $2)", "Min($1, $2)", CALLS)
OP(SR_MAX,    "max",    2, false, 1, SR_COMMUTES,       SR_CONSTANT, SR_UNITS_ALIKE,    0,
   a > b ? a : b,         a > b ? 1.0 : 0.0,      a > b ? 0.0 : 1.0, NAN,
   "\\max\\left($1, $2\\right)", "fmax($1, $2)", "Max($1, $2)", CALLS)
OP(SR_NEG,    "neg",    1, false, 1, SR_ODD | SR_CHEAP, SR_CONSTANT, SR_UNITS_KEPT,     0,
   -a,                    -1.0,                   0.0,       NAN,
   "-$1", "-$1", "-$1", SIGNS)
OP(SR_INV,    "inv",    1, false, 1, SR_ODD,            SR_CONSTANT, SR_UNITS_RAISED,  -1,
   1.0 / a,               -v * v,                 0.0,       1.0 / v,
   "\\frac{1}{$1}", "1 / $1", "1/$1", RECIPROCALS)
OP(SR_SQUARE, "square", 1, false, 1, SR_EVEN | SR_CHEAP, SR_CONSTANT, SR_UNITS_RAISED,  2,
   a * a,                 2.0 * a,                0.0,       sqrt(v),
   "$1^{2}", "pow($1, 2)", "$1**2", WHOLE_POWERS)
OP(SR_CUBE,   "cube",   1, false, 1, SR_ODD | SR_CHEAP, SR_CONSTANT, SR_UNITS_RAISED,   3,
   a * a * a,             3.0 * a * a,            0.0,       vm_cbrt(v),
   "$1^{3}", "pow($1, 3)", "$1**3", WHOLE_POWERS)
OP(SR_SQRT,   "sqrt",   1, false, 1, 0,                 SR_CONSTANT, SR_UNITS_RAISED,   0.5,
   sqrt(a),               0.5 / v,                0.0,       v >= 0.0 ? v * v : NAN,
   "\\sqrt{$1}", "sqrt($1)", "sqrt($1)", CALLS)
OP(SR_ABS,    "abs",    1, false, 1, SR_EVEN | SR_CHEAP, SR_CONSTANT, SR_UNITS_KEPT,    0,
   fabs(a),               a < 0.0 ? -1.0 : 1.0,   0.0,       NAN,
   "\\left|$1\\right|", "fabs($1)", "Abs($1)", CALLS)
OP(SR_EXP,    "exp",    1, false, 2, 0,                 SR_LOG,      SR_UNITS_NUMBERS,  0,
   vm_exp(a),             v,                      0.0,       orr_log(v),
   "e^{$1}", "exp($1)", "exp($1)", EXPONENTIALS)
OP(SR_LOG,    "log",    1, false, 2, 0,                 SR_EXP,      SR_UNITS_NUMBERS,  0,
   vm_log(a),             1.0 / a,                0.0,       orr_exp(v),
   "\\ln\\left($1\\right)", "log($1)", "log($1)", CALLS)
OP(SR_SIN,    "sin",    1, false, 2, SR_ODD,            SR_ASIN,     SR_UNITS_NUMBERS,  0,
   vm_sin(a),             vm_cos(a),              0.0,       NAN,
   "\\sin\\left($1\\right)", "sin($1)", "sin($1)", CALLS)
OP(SR_COS,    "cos",    1, false, 2, SR_EVEN,           SR_ACOS,     SR_UNITS_NUMBERS,  0,
   vm_cos(a),             -vm_sin(a),             0.0,       NAN,
   "\\cos\\left($1\\right)", "cos($1)", "cos($1)", CALLS)
OP(SR_TAN,    "tan",    1, false, 2, SR_ODD,            SR_ATAN,     SR_UNITS_NUMBERS,  0,
   vm_tan(a),             1.0 + v * v,            0.0,       NAN,
   "\\tan\\left($1\\right)", "tan($1)", "tan($1)", CALLS)
OP(SR_ASIN,   "asin",   1, false, 2, SR_ODD,            SR_CONSTANT, SR_UNITS_NUMBERS,  0,
   vm_asin(a),            1.0 / sqrt((1.0 - a) * (1.0 + a)), 0.0, NAN,
   "\\arcsin\\left($1\\right)", "asin($1)", "asin($1)", CALLS)
OP(SR_ACOS,   "acos",   1, false, 2, 0,                 SR_CONSTANT, SR_UNITS_NUMBERS,  0,
   vm_acos(a),            -1.0 / sqrt((1.0 - a) * (1.0 + a)), 0.0, NAN,
   "\\arccos\\left($1\\right)", "acos($1)", "acos($1)", CALLS)
OP(SR_ATAN,   "atan",   1, false, 2, SR_ODD,            SR_CONSTANT, SR_UNITS_NUMBERS,  0,
   vm_atan(a),            1.0 / (1.0 + a * a),    0.0,       NAN,
   "\\arctan\\left($1\\right)", "atan($1)", "atan($1)", CALLS)
OP(SR_SINH,   "sinh",   1, false, 2, SR_ODD,            SR_CONSTANT, SR_UNITS_NUMBERS,  0,
   vm_sinh(a),            vm_cosh(a),             0.0,       NAN,
   "\\sinh\\left($1\\right)", "sinh($1)", "sinh($1)", CALLS)
OP(SR_COSH,   "cosh",   1, false, 2, SR_EVEN,           SR_CONSTANT, SR_UNITS_NUMBERS,  0,
   vm_cosh(a),            vm_sinh(a),             0.0,       NAN,
   "\\cosh\\left($1\\right)", "cosh($1)", "cosh($1)", CALLS)
OP(SR_TANH,   "tanh",   1, false, 2, SR_ODD,            SR_CONSTANT, SR_UNITS_NUMBERS,  0,
   vm_tanh(a),            1.0 - v * v,            0.0,       orr_log((1.0 + v) / (1.0 - v)) / 2.0,
   "\\tanh\\left($1\\right)", "tanh($1)", "tanh($1)", CALLS)
OP(SR_SIGN,   "sign",   1, false, 2, SR_ODD | SR_CHEAP, SR_CONSTANT, SR_UNITS_LOST,     0,
   (a > 0.0 ? 1.0 : 0.0) - (a < 0.0 ? 1.0 : 0.0), 0.0, 0.0, NAN,
   "\\operatorname{sign}\\left($1\\right)", "(double)(($1 > 0) - ($1 < 0))", "sign($1)", CALLS)
OP(SR_HYPOT, "hypot",   2, false, 2, SR_COMMUTES,       SR_CONSTANT, SR_UNITS_ALIKE,    0,
   vm_hypot(a, b),        v > 0.0 ? a / v : 0.0,  v > 0.0 ? b / v : 0.0, NAN,
   "\\operatorname{hypot}\\left($1, $2\\right)", "hypot($1, $2)", "sqrt(($1)**2 + ($2)**2)", CALLS)
OP(SR_ATAN2, "atan2",   2, false, 2, 0,                 SR_CONSTANT, SR_UNITS_RATIO,    0,
   vm_atan2(a, b),        b / (a * a + b * b),    -a / (a * a + b * b), NAN,
   "\\operatorname{atan2}\\left($1, $2\\right)", "atan2($1, $2)", "atan2($1, $2)", CALLS)
OP(SR_CBRT,   "cbrt",   1, false, 2, SR_ODD,            SR_CONSTANT, SR_UNITS_RAISED,   1.0 / 3,
   vm_cbrt(a),            1.0 / (3.0 * v * v),    0.0,       v * v * v,
   "\\sqrt[3]{$1}", "cbrt($1)", "(sign($1)*Abs($1)**(1/3))", CALLS)
OP(SR_LOG10,  "log10",  1, false, 2, 0,                 SR_CONSTANT, SR_UNITS_NUMBERS,  0,
   vm_log10(a),           VM_LOG10E / a,          0.0,       orr_pow(10.0, v),
   "\\log_{10}\\left($1\\right)", "log10($1)", "log($1, 10)", CALLS)
OP(SR_FLOOR, "floor",   1, false, 2, 0,                 SR_CONSTANT, SR_UNITS_NUMBERS,  0,
   floor(a),              0.0,                    0.0,       NAN,
   "\\left\\lfloor $1 \\right\\rfloor", "floor($1)", "floor($1)", CALLS)
OP(SR_ROUND, "round",   1, false, 2, SR_ODD,            SR_CONSTANT, SR_UNITS_NUMBERS,  0,
   rint(a),               0.0,                    0.0,       NAN,
   "\\operatorname{round}\\left($1\\right)", "rint($1)", "floor($1 + 1/2)", CALLS)
OP(SR_MOD,   "mod",     2, false, 2, 0,                 SR_CONSTANT, SR_UNITS_ALIKE,    0,
   a - b * floor(a / b),  1.0,                    -floor(a / b), NAN,
   "\\operatorname{mod}\\left($1, $2\\right)", NULL, NULL, CALLS)
OP(SR_GREATER, "greater", 2, false, 2, 0,               SR_CONSTANT, SR_UNITS_RATIO,    0,
   a > b ? 1.0 : 0.0,     0.0,                    0.0,       NAN,
   "\\operatorname{greater}\\left($1, $2\\right)", "(double)($1 > $2)", NULL, CALLS)
OP(SR_COND,  "cond",    2, false, 2, 0,                 SR_CONSTANT, SR_UNITS_SECOND,   0,
   a > 0.0 ? b : 0.0,     0.0,                    a > 0.0 ? 1.0 : 0.0, NAN,
   "\\operatorname{cond}\\left($1, $2\\right)", "($1 > 0 ? $2 : 0)",
   "Piecewise(($2, $1 > 0), (0, True))", CALLS)
OP(SR_TRUE_ANOMALY, "true_anomaly", 2, false, 2, 0,     SR_CONSTANT, SR_UNITS_NUMBERS,  0,
   vm_true(a, b),         vm_true_by_M(v, b),     vm_true_by_e(v, b), NAN,
   "\\operatorname{true\\ anomaly}\\left($1, $2\\right)", "true_anomaly($1, $2)",
   "true_anomaly($1, $2)", CALLS)
OP(SR_ECCENTRIC_ANOMALY, "eccentric_anomaly", 2, false, 2, 0, SR_CONSTANT, SR_UNITS_NUMBERS, 0,
   vm_eccentric(a, b),    vm_eccentric_by_M(v, b), vm_eccentric_by_e(v, b), NAN,
   "\\operatorname{eccentric\\ anomaly}\\left($1, $2\\right)", "eccentric_anomaly($1, $2)",
   "eccentric_anomaly($1, $2)", CALLS)
/* clang-format on */
