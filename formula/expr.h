/* expr.h - formulas: operators, nodes, text, normal form, and the language that defines them. */
#ifndef SR_EXPR_H
#define SR_EXPR_H

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/base.h"

enum {
    SR_NODES = 64,    /* nodes of a formula, at most */
    SR_FEATURES = 64, /* columns of x, at most */
    SR_TEXT = 8192,   /* enough bytes for any printed formula */
};

/* ------------------------------------------------------------------------------ operators */

/* Leaves first; the rest in the order of ops_table.h. */
enum sr_op {
    SR_CONSTANT,
    SR_FEATURE,
#define OP(id, ...) id,
#include "ops_table.h"
#undef OP
    SR_OPS,
    SR_UNARY = SR_NEG /* the first unary operator */
};
/* User-defined operators belong to a struct sr_language; their numbers follow those of the
 * table. */
enum { SR_CUSTOM = SR_OPS, SR_CUSTOMS = 8, SR_ALL_OPS = SR_OPS + SR_CUSTOMS };

enum sr_trait {
    SR_COMMUTES = 1, /* the operands may be exchanged */
    SR_ODD = 2,      /* op(-a) = -op(a) */
    SR_EVEN = 4,     /* op(-a) = op(a) */
    SR_CHEAP = 8     /* computing a vector of values takes no longer than loading it */
};
/* Which dimensions an operator accepts, and the dimension of its value. */
enum sr_op_units {
    SR_UNITS_NUMBERS,  /* accepts and returns dimensionless numbers */
    SR_UNITS_ALIKE,    /* both operands and the value have one dimension */
    SR_UNITS_RATIO,    /* both operands have one dimension, the value is a number */
    SR_UNITS_PRODUCT,  /* the product of the operands' dimensions */
    SR_UNITS_QUOTIENT, /* the dimension of a divided by the dimension of b */
    SR_UNITS_POWER,    /* the dimension of a to the power b, a number */
    SR_UNITS_RAISED,   /* the dimension of a to the power in the table row */
    SR_UNITS_KEPT,     /* the dimension of a */
    SR_UNITS_SECOND,   /* the dimension of b; a may have any */
    SR_UNITS_LOST      /* accepts any dimension, returns a number */
};

/* One row of the operator table. Unary operators ignore b. da and db are the partial derivatives at
 * (a, b) with value v. Outside the domain value() is NaN or infinite. The functions return the same
 * bits as the evaluation of whole formulas, on every CPU; vecmath.h states their accuracy.
 * User-defined operators cost 2, have no traits and no functions here, and take the dimensions of
 * their formula; sr_op_value() computes their values. */
struct sr_op_info {
    const char *name;
    int arity; /* 0 for leaves */
    bool infix;
    double (*value)(double a, double b);
    double (*da)(double a, double b, double v);
    double (*db)(double a, double b, double v);
    double (*inverse)(double v); /* NULL or NaN: none */
    int cost;                    /* cost in the enumeration of small formulas */
    unsigned traits;             /* enum sr_trait */
    enum sr_op undoes;           /* op(undoes(a)) = a; SR_CONSTANT: none */
    enum sr_op_units units;
    double power; /* exponent of a unary operator that is a power, else 0 */
};
extern const struct sr_op_info sr_op_table[SR_OPS];

/* The number of an operator in hashes, which decide the order of terms: rows that are added to the
 * table change the number of no other operator. */
static inline int sr_op_code(int op)
{
    return op <= SR_SIGN ? op : op < SR_CUSTOM ? op + SR_CUSTOMS : op - SR_CUSTOM + SR_SIGN + 1;
}
/* Finds an operator of the table by arity and name; "ln" is log. An unknown name is ORR_EUSAGE;
 * the message suggests the nearest valid name. `key` names the setting in the message
 * ("symreg.unary"). */
int sr_op_find(const char *key, const char *name, int arity, enum sr_op *op);
/* The z with op(z) = v; for SR_CONSTANT z is v. False where the operator has no inverse or the
 * inverse is not finite. User-defined operators have no inverse. */
bool sr_op_invert(enum sr_op op, double v, double *z);

/* --------------------------------------------------------------------------- expressions */

struct sr_node {
    uint8_t op;      /* enum sr_op */
    uint8_t size;    /* nodes of the subtree that ends here, this node included */
    uint8_t feature; /* SR_FEATURE: column; SR_CONSTANT: 1 + a named one's number, SR_FIXED, or 0 */
    double value;    /* number, for SR_CONSTANT */
};
/* Postfix order: operands before operators, the root last. */
struct sr_expr {
    int count;
    struct sr_node node[SR_NODES];
};

/* Copies the nodes that `from` has; the others of `to`, which no formula has, stay. */
static inline void sr_expr_copy(struct sr_expr *to, const struct sr_expr *from)
{
    memcpy(to, from, offsetof(struct sr_expr, node) + (size_t)from->count * sizeof *from->node);
}

static inline struct sr_node sr_op_node(int op)
{
    return (struct sr_node){.op = (uint8_t)op};
}
static inline struct sr_node sr_constant_node(double value)
{
    return (struct sr_node){.op = SR_CONSTANT, .size = 1, .value = value};
}
static inline struct sr_node sr_feature_node(int feature)
{
    return (struct sr_node){.op = SR_FEATURE, .size = 1, .feature = (uint8_t)feature};
}
/* Whether a node is a number, which fits and rounding may change. Named constants and fixed numbers
 * are not. */
static inline bool sr_is_number(const struct sr_node *node)
{
    return node->op == SR_CONSTANT && node->feature == 0;
}
/* Whether a number is whole, as an exponent. */
bool sr_is_whole(double x);
/* The constant 1 for feature -1. */
static inline struct sr_node sr_leaf_node(int feature)
{
    return feature < 0 ? sr_constant_node(1) : sr_feature_node(feature);
}

/* ------------------------------------------------------------------------------- language */

/* What a user adds to the operators of the table: operators, named constants, a loss, prices of
 * nodes. Every search and every table of numbers may have its own language (sr_settings, sr_data).
 * Functions take the language where an operator's number is not enough; NULL is the language of the
 * table alone. sr_custom_define(), sr_language_name(), sr_custom_loss_define() and
 * sr_complexity_set() (select.h) fill a language before the first formula is made in it. After that
 * it is read-only and may be read by any number of threads. A language must not be copied, as its
 * rows point into it. */
enum { SR_OP_NAME = 32, SR_NAMED = 12 }; /* bytes of a name; named constants, at most */
/* Marks a number that no fit changes, as those of a template. */
enum { SR_FIXED = SR_NAMED + 1 };
struct sr_language {
    int count;                                /* user-defined operators */
    struct sr_op_info op[SR_CUSTOMS];         /* (count) row of operator SR_CUSTOM + k */
    char name[SR_CUSTOMS][SR_OP_NAME];        /* (count) */
    struct sr_expr formula[SR_CUSTOMS];       /* (count); features 0 and 1 are the arguments */
    int named;                                /* named constants */
    char constant_name[SR_NAMED][SR_OP_NAME]; /* (named) */
    double constant[SR_NAMED];                /* (named) their values */
    struct sr_expr loss;                      /* ORR_SR_CUSTOM, of p and t; count 0: none */
    bool priced;                              /* some node costs more than 1 */
    unsigned char surcharge[SR_ALL_OPS];      /* price of a node, minus 1 */
    signed char dearer[SR_FEATURES];          /* price of a feature beyond that of all features */
    bool bounded;                             /* numbers of a formula have bounds: */
    double low, high;                         /* those of all numbers, or, unless NULL, */
    void (*bounds)(const void *context, const struct sr_expr *expr, double *low, double *high);
    const void *bounds_context; /* what that fills, as sr_expr_bounds() */
};
/* Returns NULL when out of memory, with a message. */
struct sr_language *sr_language_create(void);
void sr_language_free(struct sr_language *language);

/* Adds a named constant. Formulas that are parsed may then contain its name, and its value is never
 * fitted. ORR_EUSAGE, with `option` in the message, where the name is no plain word or is in use,
 * or the value is not finite. */
int sr_language_name(struct sr_language *language, const char *option, const char *name,
                     double value);
/* Defines operators by formulas: "g(x)=x*exp(-x); h(u,v)=u/(u+v)", with one or two arguments, from
 * operators defined before. Each counts as one node. ORR_EUSAGE names the error and the
 * operator. */
int sr_custom_define(struct sr_language *language, const char *text);
/* Defines the user's loss: the mean of a formula of p (prediction) and t (target), less its
 * value at p = t. It should be smallest there and increase away from it. */
int sr_custom_loss_define(struct sr_language *language, const char *text);
static inline struct sr_node sr_named_node(const struct sr_language *language, int number)
{
    struct sr_node node = sr_constant_node(language->constant[number]);
    node.feature = (uint8_t)(number + 1);
    return node;
}
/* Whether the subtree that ends at i consists of named constants, numbers and operators, and
 * contains a named constant. Such a subtree counts as one constant. */
bool sr_expr_is_named(const struct sr_expr *expr, int i);
/* Replaces all such subtrees by numbers. */
void sr_expr_fold_named(const struct sr_language *language, struct sr_expr *expr);

/* Whether `op` is the number of an operator or a leaf of the language. */
static inline bool sr_op_known(const struct sr_language *language, int op)
{
    return op < SR_CUSTOM || (language && op - SR_CUSTOM < language->count);
}
/* The table row of an operator. */
static inline const struct sr_op_info *sr_op(const struct sr_language *language, int op)
{
    if (op < SR_CUSTOM)
        return &sr_op_table[op];
    assert(sr_op_known(language, op));
    return &language->op[op - SR_CUSTOM];
}
/* The formula of a user-defined operator. */
static inline const struct sr_expr *sr_op_formula(const struct sr_language *language, int op)
{
    assert(op >= SR_CUSTOM && sr_op_known(language, op));
    return &language->formula[op - SR_CUSTOM];
}
/* The value of one operator, user-defined ones included. A user-defined operator is NaN where any
 * node of its formula is. */
double sr_op_value(const struct sr_language *language, enum sr_op op, double a, double b);
/* The value of nodes `first` to `last`, with feature 0 equal to a and all other features equal to
 * b; NaN where any node is. */
double sr_expr_value(const struct sr_language *language, const struct sr_expr *expr, int first,
                     int last, double a, double b);

/* ------------------------------------------------------------------------------- formulas */

/* Index of the first node of the subtree that ends at i. */
int sr_expr_start(const struct sr_expr *expr, int i);
/* Recomputes the subtree sizes. False when the array is not a single formula of the language. */
bool sr_expr_measure(const struct sr_language *language, struct sr_expr *expr);
/* Zeroes the bytes of a formula that are not used: nodes after the last, members that do not apply
 * to a node, padding. Equal formulas then have equal bytes. */
void sr_expr_clean(struct sr_expr *expr);
/* Number of operands of node i of a measured formula, in any language. */
static inline int sr_expr_arity(const struct sr_expr *expr, int i)
{
    const int size = expr->node[i].size;
    return size == 1 ? 0 : expr->node[i - 1].size == size - 1 ? 1 : 2;
}
/* Index of the last node of the first operand of node i of a measured formula; the last operand
 * ends at i - 1. */
static inline int sr_expr_left(const struct sr_expr *expr, int i)
{
    return sr_expr_arity(expr, i) == 2 ? i - 1 - expr->node[i - 1].size : i - 1;
}

/* Smaller constants have fewer than ten digits: the smallest number is 4.9e-324. */
#define SR_SMALLEST 5e-314
/* Whether a constant that was computed from others is finite, and has its digits. */
static inline bool sr_is_sound(double value)
{
    return fabs(value) >= SR_SMALLEST && isfinite(value);
}
/* a b, a / b and base^power of constants of a formula that become one; NaN where the result has no
 * digits (1 / 3e-309 is infinite, 1e-200 * 1e-200 is 0), but for factors 1 and -1, which do not
 * round. A formula with a NaN is refused. */
static inline double sr_product(double a, double b)
{
    const double product = a * b;
    const bool exact = a == 0 || b == 0 || fabs(a) == 1 || fabs(b) == 1;
    return sr_is_sound(product) || (exact && isfinite(product)) ? product : (double)NAN;
}
static inline double sr_quotient(double a, double b)
{
    const double quotient = a / b;
    const bool exact = a == 0 || fabs(b) == 1;
    return sr_is_sound(quotient) || (exact && isfinite(quotient)) ? quotient : (double)NAN;
}
static inline double sr_raised(double base, double power)
{
    const double value = orr_pow(base, power);
    return base == 0 || power == 1 || sr_is_sound(value) ? value : (double)NAN;
}
/* Whether all constants from node `first` on are finite. */
bool sr_expr_finite(const struct sr_expr *expr, int first);

/* Appends a node to a formula under construction. Nodes beyond SR_NODES are counted, not stored. */
static inline void sr_put_node(struct sr_expr *out, struct sr_node node)
{
    if (out->count < SR_NODES)
        out->node[out->count] = node;
    out->count++;
}
static inline void sr_put_op(struct sr_expr *out, enum sr_op op)
{
    sr_put_node(out, sr_op_node((int)op));
}
static inline void sr_put_constant(struct sr_expr *out, double value)
{
    sr_put_node(out, sr_constant_node(value));
}
static inline void sr_put_expr(struct sr_expr *out, const struct sr_expr *in)
{
    for (int i = 0; i < in->count; i++)
        sr_put_node(out, in->node[i]);
}
/* Measures a formula under construction. False when it has more than `limit` nodes, is not a
 * formula, or has a constant that is not finite. */
static inline bool sr_put_end(const struct sr_language *language, struct sr_expr *out, int limit)
{
    return out->count <= limit && out->count <= SR_NODES && sr_expr_finite(out, 0) &&
           sr_expr_measure(language, out);
}

/* Replaces `length` nodes from `start` on by other nodes (not part of expr), then measures. False,
 * with expr unchanged, when the result has more than `limit` nodes. */
bool sr_expr_splice(const struct sr_language *language, struct sr_expr *expr, int start, int length,
                    const struct sr_node *nodes, int count, int limit);
/* Multiplies the formula by `scale` through its own constants, without adding a node, as in c * x,
 * inv(c * x) or c + c * x. False, with expr unchanged, when no constant can absorb the factor, or
 * one would leave the range of numbers. */
bool sr_expr_absorb(struct sr_expr *expr, double scale);
/* Multiplies by `scale`, absorbed or with two more nodes. False when the formula would be too
 * large. */
bool sr_expr_scale(struct sr_expr *expr, double scale);
/* Rewrites the formula where that makes it shorter, using only the operators that it contains:
 * folds constants, joins equal terms and factors, removes x inv(x), x - x, neg(neg(x)) and
 * exp(log(x)). Values change only by rounding wherever the formula is defined. */
void sr_expr_simplify(const struct sr_language *language, struct sr_expr *expr);
/* sr_expr_simplify() with the operators whose bits are set; true when the formula changed. */
bool sr_expr_rewrite(const struct sr_language *language, struct sr_expr *expr, uint64_t operators);
/* Rewrites the formula as sr_expr_rewrite() does, and then moves columns of its outermost product
 * into a sum that they multiply, as far as they divide terms of it and where that is shorter:
 * square(x) (1 + y / x) becomes x (x + y), x sqrt(1 + square(y / x)) becomes sqrt(square(x) +
 * square(y)), which is equal only where x > 0. True when something was moved. */
bool sr_expr_into_sum(const struct sr_language *language, struct sr_expr *expr, uint64_t operators);
/* Moves phases, the numbers in sin(x + c), cos(c - x) and the like, by whole periods to the one
 * around 0, or around those of a formula of the same shape; with `in_products` also those in
 * cos(a (x + c)), whose periods differ with a. Values change only by rounding. The formula is
 * measured. */
void sr_expr_reduce_phases(struct sr_expr *expr, const struct sr_expr *around, bool in_products);
/* Writes cos(x + c - pi/2) for the sin(x + c) that ends at node i, and the reverse; the same with
 * opposite sign; or sin(x + c + pi), also of opposite sign. False where there is none with a
 * phase. */
enum sr_wave { SR_OTHER, SR_OTHER_OPPOSITE, SR_OPPOSITE, SR_WAVES };
bool sr_expr_exchange_wave(struct sr_expr *expr, int i, enum sr_wave to);
/* Writes the subtree that ends at node i with fewer minus signs, using the operators whose bits are
 * set: a - -2 b as a + 2 b, -2 a + b as b - 2 a, -2 (a - b) as 2 (b - a), (a - b) / -1 as b - a,
 * cos(-2 a) as cos(2 a). Its values are the same numbers. False, with nothing written, where no
 * sign can be spared. The formula is measured, the piece is not. */
bool sr_expr_carry_sign(const struct sr_language *language, uint64_t operators,
                        const struct sr_expr *expr, int i, struct sr_expr *piece);
/* Whether functions stand directly inside themselves, which fits anything and is hardly ever a law:
 * sin, cos or tan inside one of them, as sin(sin(x)) or cos(sqrt(sin(x) + 1)), or three exp or log.
 * A factor or a term with a column between two sines makes a phase of the inner one: cos(2 cos(x))
 * and sin(x + 0.1 sin(x)) are none. The formula is measured. */
bool sr_expr_nests(const struct sr_expr *expr);
/* The operators of the formula, one bit each. */
uint64_t sr_expr_operators(const struct sr_expr *expr);
static inline bool sr_has(uint64_t operators, enum sr_op op)
{
    return (operators >> op & 1) != 0;
}
/* Rewrites the formula for readers: the factors of a product are joined to powers behind their
 * number, divisors stand below one fraction line, columns come in their order, exp(c log(x)) is a
 * power, and nested sums are one sum: ((m1 * (m2 * 39.4)) / (r * r)) becomes (39.4 * m1 * m2) /
 * square(r), and (a * sqrt(a)) becomes a ^ 1.5. Numbers that the rewriting brings in, as this 1.5,
 * are SR_FIXED; a factor 1 of the formula stays. The value is kept up to rounding; where a factor
 * cancels, the result may be defined where the formula is not. The formula is unchanged where the
 * result is too large or would have a number that is not finite. */
void sr_expr_collect(const struct sr_language *language, struct sr_expr *expr);
/* Hash of the algebraic normal form, equal for m1 * m2 / r and inv(r) * (m2 * m1). */
uint64_t sr_expr_canonical_hash(const struct sr_language *language, const struct sr_expr *expr);
/* Removes a constant factor at the root, if there is one. */
void sr_expr_strip(struct sr_expr *expr);
/* Whether two formulas differ in numbers at most. */
bool sr_expr_same_shape(const struct sr_expr *a, const struct sr_expr *b);
/* 64-bit hash of operators, features and constants. */
uint64_t sr_expr_hash(const struct sr_expr *expr);
/* The numbers in order of appearance, without named constants. The first function counts and reads
 * them (NULL: only counts); the second writes them. */
int sr_expr_constants(const struct sr_expr *expr, double *constants);
/* Which of these a fit to tracks changes: of[k] counts them from *fitted on, which becomes their
 * end; -1: number k stays, as exponents that are whole do unless `exponents`. Returns how many
 * numbers there are. */
int sr_expr_fitted(const struct sr_expr *expr, bool exponents, int *fitted, int of[SR_NODES]);
void sr_expr_set_constants(struct sr_expr *expr, const double *constants);
/* The bounds of these numbers, infinite where the language has none. */
void sr_expr_bounds(const struct sr_language *language, const struct sr_expr *expr, double *low,
                    double *high);

/* Prints a number with the fewest significant digits that read back exactly, and a power of ten
 * only below 1e-4 and from 1e7 on: 5200, 5.2e+07. Returns the count of the digits. */
enum { SR_NUMBER = 40 };
int sr_number_print(double value, char text[SR_NUMBER]);
/* The number rounded to so many significant digits. */
double sr_round_digits(double value, int digits);
/* The number with the fewest digits within a relative distance `share` of the value; the value
 * itself where that takes more than `most`. */
double sr_fewest_digits(double value, double share, int most);

/* Names of columns in formulas and option lists. A word of letters, digits and "_" that does not
 * begin with a digit is written as it is, also with an index: c1[star]. Any other name is written
 * in double quotes, and quotes inside it are doubled as in a CSV file: "mass, kg" and "5"" pipe".
 */

struct orr_nearest;
/* Seeks an operator of any arity, also of the user, by name, which is offered the names that it is
 * not (NULL: no matter). */
bool sr_op_seek(const struct sr_language *language, const char *name, enum sr_op *op,
                struct orr_nearest *nearest);
/* The number of the column of this name; -1: there is none. nearest: as of sr_op_seek(). */
int sr_feature_find(const char *name, const char *const *names, int features,
                    struct orr_nearest *nearest);
/* Length in bytes of the plain word at the start of the text, with an index: c1[star]; 0: none. */
size_t sr_name_length(const char *text);
/* Whether a formula writes the name without quotes: a plain word that is not an operator's name. */
bool sr_name_is_plain(const struct sr_language *language, const char *name);
/* Length in bytes of the quoted name at the start of the text, quotes included; 0 if there is
 * none. */
size_t sr_name_quoted(const char *text);
/* Reads the name in `length` bytes of text, without surrounding blanks and quotes. False where the
 * name is empty, its quotes are not closed, text follows them, or `name` is too small. */
bool sr_name_read(const char *text, size_t length, char *name, size_t bytes);
/* Reads the first name of a comma-separated list as sr_name_read() does. *list moves behind the
 * name and its comma, and is NULL after the last name. */
bool sr_name_next(const char **list, char *name, size_t bytes);

/* Prints a formula in a notation, with as few parentheses as it allows. names[i] names feature i;
 * LaTeX writes "m1" as m_{1}. User-defined operators are expanded in every notation but LaTeX and
 * MathML. NumPy, JAX and PyTorch call the functions of np, jnp and torch on arrays. MathML is the
 * content of a <math> element, in MathML Core, which browsers render natively. */
enum sr_notation {
    SR_LATEX,
    SR_C,
    SR_SYMPY,
    SR_NUMPY,
    SR_JAX,
    SR_TORCH,
    SR_MATHML,
    SR_NOTATIONS,
    SR_PRINTED = SR_NOTATIONS,
    SR_INFIX /* as people write: "2 * a^1.5 - 3", which sr_expr_parse() reads, too */
};
extern const char *const sr_notation_name[SR_NOTATIONS]; /* "LaTeX", "C", "SymPy", "NumPy" ... */
void sr_expr_text(const struct sr_language *language, const struct sr_expr *expr,
                  enum sr_notation notation, const char *const *names, char *text, size_t bytes);
/* SR_INFIX, with zeros behind number k, in the order of sr_expr_constants(), up to decimals[k]
 * places behind the point: 1.0000. */
void sr_expr_infix(const struct sr_language *language, const struct sr_expr *expr,
                   const int *decimals, const char *const *names, char *text, size_t bytes);
/* Prints SR_PRINTED, PySR's notation: "(39.48 * inv((r * r)))", constants by sr_number_print().
 * names[i] names feature i; a name that equals an operator's is quoted. The text always ends with
 * NUL and is cut where it does not fit. */
void sr_expr_print(const struct sr_language *language, const struct sr_expr *expr,
                   const char *const *names, char *text, size_t bytes);
/* Parses PySR's notation with the usual precedence: ^ (right associative), signs, * /, + -, the
 * comparisons < <= > >= == !=, &&, ||, c ? a : b. A minus before a number belongs to the number;
 * elsewhere it is neg(). Comparisons and choices become greater() and cond(); min() and max() of
 * more than two operands become nested ones. */
int sr_expr_parse(const struct sr_language *language, const char *text, const char *const *names,
                  int features, struct sr_expr *expr);
/* The same, where unknown words are leaves, too. read() gets a word of `length` bytes at *at, moves
 * *at behind what it has read, such as a list in brackets, and fills the leaf. */
struct sr_unknown {
    int (*read)(void *context, const char **at, size_t length, struct sr_node *leaf);
    void *context;
};
int sr_expr_parse_with(const struct sr_language *language, const char *text,
                       const char *const *names, int features, const struct sr_unknown *unknown,
                       struct sr_expr *expr);

#endif
