/* expr.h - formulas: their operators, nodes, text and normal form, and the language they are
 * written in. */
#ifndef SR_EXPR_H
#define SR_EXPR_H

#include <assert.h>

#include "base/base.h"

enum {
    SR_NODES = 64,    /* of one formula, at most */
    SR_FEATURES = 64, /* columns of x, at most */
    SR_TEXT = 8192,   /* bytes that hold any printed formula */
};

/* ------------------------------------------------------------------------------ operators */

/* Leaves first; the rest in the order of ops_table.h, binary before unary ones. */
enum sr_op {
    SR_CONSTANT,
    SR_FEATURE,
#define OP(id, ...) id,
#include "ops_table.h"
#undef OP
    SR_OPS,
#define OP(id, name, arity, ...) +((arity) == 2)
    SR_UNARY = SR_FEATURE + 1 /* the first unary operator */
#include "ops_table.h"
#undef OP
};
/* Operators of the user, which belong to a struct sr_language, stand behind those of the table. */
enum { SR_CUSTOM = SR_OPS, SR_CUSTOMS = 8, SR_ALL_OPS = SR_OPS + SR_CUSTOMS };

enum sr_trait {
    SR_COMMUTES = 1, /* the operands may change places */
    SR_ODD = 2,      /* op(-a) = -op(a) */
    SR_EVEN = 4,     /* op(-a) = op(a) */
    SR_CHEAP = 8     /* a vector of values takes no longer to compute than to load */
};
/* What an operator asks of its operands' dimensions, and gives. */
enum sr_op_units {
    SR_UNITS_NUMBERS,  /* takes and gives numbers without dimension */
    SR_UNITS_ALIKE,    /* both operands and the value have one dimension */
    SR_UNITS_PRODUCT,  /* those of a and b multiplied */
    SR_UNITS_QUOTIENT, /* that of a divided by that of b */
    SR_UNITS_POWER,    /* that of a to the power b, a number */
    SR_UNITS_RAISED,   /* that of a to the row's own power */
    SR_UNITS_KEPT,     /* that of a */
    SR_UNITS_LOST      /* takes any, gives a number */
};

/* One row of the table. Unary operators ignore b. da and db are the partial derivatives at (a, b)
 * with value v. Outside the domain value() is NaN or infinite. The same bits as the evaluation of
 * whole formulas, on every CPU; accuracy in vecmath.h. Operators of the user cost 2 and have no
 * traits, the dimensions of their formula, and no functions here: sr_op_value() knows their values.
 */
struct sr_op_info {
    const char *name;
    int arity; /* 0 for leaves */
    bool infix;
    double (*value)(double a, double b);
    double (*da)(double a, double b, double v);
    double (*db)(double a, double b, double v);
    double (*inverse)(double v); /* NULL or NaN: none */
    int cost;                    /* what the enumeration of small formulas adds for it */
    unsigned traits;             /* enum sr_trait */
    enum sr_op undoes;           /* op(undoes(a)) = a; SR_CONSTANT: nothing does */
    enum sr_op_units units;
    double power; /* of a unary operator that is a power, else 0 */
};
extern const struct sr_op_info sr_op_table[SR_OPS];

/* Finds an operator of the table by arity and name. An unknown name is ORR_EUSAGE with the nearest
 * valid one; `key` names the setting in the message ("symreg.unary"). */
int sr_op_find(const char *key, const char *name, int arity, enum sr_op *op);
/* The z with op(z) = v; of SR_CONSTANT that is v itself. False where the operator has no inverse,
 * which those of the user never have, or none is finite. */
bool sr_op_invert(enum sr_op op, double v, double *z);

/* --------------------------------------------------------------------------- expressions */

struct sr_node {
    uint8_t op;      /* enum sr_op */
    uint8_t size;    /* nodes of the subtree that ends here, itself included */
    uint8_t feature; /* of SR_FEATURE */
    double value;    /* of SR_CONSTANT */
};
/* Postfix order: operands before operators, the root last. */
struct sr_expr {
    int count;
    struct sr_node node[SR_NODES];
};

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
/* The constant 1 for -1. */
static inline struct sr_node sr_leaf_node(int feature)
{
    return feature < 0 ? sr_constant_node(1) : sr_feature_node(feature);
}

/* ------------------------------------------------------------------------------- language */

/* What a user adds to the operators of the table: own operators, an own loss, prices. Every search
 * and every table of numbers may have a language of its own (sr_settings, sr_data); functions that
 * need to know more of an operator than its number take the language, and NULL is that of the table
 * of operators alone. sr_custom_define(), sr_custom_loss_define() (value.h) and sr_complexity_set()
 * (select.h) fill a language before the first formula is made in it; from then on any number of
 * threads may read it, and nobody changes it. A language must not be copied: its rows point into
 * it. */
enum { SR_OP_NAME = 32 }; /* bytes of an operator's name */
struct sr_language {
    int count;                           /* operators of the user */
    struct sr_op_info op[SR_CUSTOMS];    /* (count) row of the operator SR_CUSTOM + k */
    char name[SR_CUSTOMS][SR_OP_NAME];   /* (count) */
    struct sr_expr formula[SR_CUSTOMS];  /* (count); features 0 and 1 are the arguments */
    struct sr_expr loss;                 /* ORR_SR_CUSTOM, of p and t; count 0: none */
    bool priced;                         /* some node costs more than 1 */
    unsigned char surcharge[SR_ALL_OPS]; /* price of a node, less 1 */
};
/* NULL: out of memory, with a message. */
struct sr_language *sr_language_create(void);
void sr_language_free(struct sr_language *language);

/* Whether the number is that of an operator or a leaf of the language. */
static inline bool sr_op_known(const struct sr_language *language, int op)
{
    return op < SR_CUSTOM || (language && op - SR_CUSTOM < language->count);
}
/* The row of an operator. */
static inline const struct sr_op_info *sr_op(const struct sr_language *language, int op)
{
    if (op < SR_CUSTOM)
        return &sr_op_table[op];
    assert(sr_op_known(language, op));
    return &language->op[op - SR_CUSTOM];
}
/* The formula of an operator of the user. */
static inline const struct sr_expr *sr_op_formula(const struct sr_language *language, int op)
{
    assert(op >= SR_CUSTOM && sr_op_known(language, op));
    return &language->formula[op - SR_CUSTOM];
}
/* The value of one operator, the user's included; these are NaN where any node is not finite. */
double sr_op_value(const struct sr_language *language, enum sr_op op, double a, double b);
/* The value of the subtree of nodes `first` to `last` where feature 0 is a and all others are b. */
double sr_expr_value(const struct sr_language *language, const struct sr_expr *expr, int first,
                     int last, double a, double b);

/* ------------------------------------------------------------------------------- formulas */

/* Index of the first node of the subtree that ends at i. */
int sr_expr_start(const struct sr_expr *expr, int i);
/* Recomputes the subtree sizes; false when the array is no single formula of the language. */
bool sr_expr_measure(const struct sr_language *language, struct sr_expr *expr);
/* Zeroes what nobody reads of a formula: nodes behind the last, what nodes have for other kinds of
 * nodes, bytes between members. The same formula then is the same bytes. */
void sr_expr_clean(struct sr_expr *expr);
/* Operands of the node number i of a measured formula, in any language. */
static inline int sr_expr_arity(const struct sr_expr *expr, int i)
{
    const int size = expr->node[i].size;
    return size == 1 ? 0 : expr->node[i - 1].size == size - 1 ? 1 : 2;
}
/* Where the first operand of the node number i of a measured formula ends; the last one ends at
 * i - 1. */
static inline int sr_expr_left(const struct sr_expr *expr, int i)
{
    return sr_expr_arity(expr, i) == 2 ? i - 1 - expr->node[i - 1].size : i - 1;
}

/* Formulas under way: nodes beyond SR_NODES are counted, not kept. */
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
/* Measures what was put; false when it has more than `limit` nodes or is no formula. */
static inline bool sr_put_end(const struct sr_language *language, struct sr_expr *out, int limit)
{
    return out->count <= limit && out->count <= SR_NODES && sr_expr_measure(language, out);
}

/* Replaces `length` nodes from `start` by other nodes (not part of expr) and measures. False, with
 * expr unchanged, when the result has more than `limit` nodes. */
bool sr_expr_splice(const struct sr_language *language, struct sr_expr *expr, int start, int length,
                    const struct sr_node *nodes, int count, int limit);
/* Multiplies the formula by `scale` inside its own constants, where that adds no node (c * x,
 * inv(c * x), c + c * x, ...). False, with expr unchanged, when no constant can take it. */
bool sr_expr_absorb(struct sr_expr *expr, double scale);
/* Multiplies by `scale`: absorbed, or as two more nodes. False when there is no room. */
bool sr_expr_scale(struct sr_expr *expr, double scale);
/* Rewrites the formula where that makes it shorter, with the operators it has: constants folded,
 * equal terms and factors joined, x inv(x), x - x, neg(neg(x)), exp(log(x)) gone. Values stay
 * within rounding wherever the formula is defined. */
void sr_expr_simplify(const struct sr_language *language, struct sr_expr *expr);
/* The same with the operators whose bits are set; true when the formula changed. */
bool sr_expr_rewrite(const struct sr_language *language, struct sr_expr *expr, uint64_t operators);
/* Bit per operator that occurs. */
uint64_t sr_expr_operators(const struct sr_expr *expr);
static inline bool sr_has(uint64_t operators, enum sr_op op)
{
    return (operators >> op & 1) != 0;
}
/* Hash of the algebraic normal form: equal for m1 * m2 / r and inv(r) * (m2 * m1). */
uint64_t sr_expr_canonical_hash(const struct sr_language *language, const struct sr_expr *expr);
/* Takes off a constant factor at the root, if any. */
void sr_expr_strip(struct sr_expr *expr);
/* 64-bit hash of operators, features and constants. */
uint64_t sr_expr_hash(const struct sr_expr *expr);
/* Constants in order of appearance: count and read (NULL: count alone), write. */
int sr_expr_constants(const struct sr_expr *expr, double *constants);
void sr_expr_set_constants(struct sr_expr *expr, const double *constants);

/* Prints the fewest significant digits that read back as the number, and returns how many. */
enum { SR_NUMBER = 40 };
int sr_number_print(double value, char text[SR_NUMBER]);

/* Names of columns in formulas and in lists of options: a word of letters, digits and "_" that does
 * not begin with a digit stands as it is, any other in double quotes, those inside doubled as in a
 * CSV file: "mass, kg" and "5"" pipe". */

/* Whether a formula has the name as it is: it is such a word and not the name of an operator. */
bool sr_name_is_plain(const struct sr_language *language, const char *name);
/* Bytes of the quoted name that text begins with, its quotes included; 0 where there is none. */
size_t sr_name_quoted(const char *text);
/* The name in `length` bytes of a text, without blanks around it and without quotes. False where
 * there is none, its quotes are not closed, text follows them, or it has no room. */
bool sr_name_read(const char *text, size_t length, char *name, size_t bytes);

/* Prints in a notation, with as few parentheses as it allows. names[i] is feature i as it is, but
 * for LaTeX, which has "m1" as m_{1}; operators of the user are written out in all but LaTeX.
 * NumPy, JAX and PyTorch call the functions of np, jnp and torch on arrays. */
enum sr_notation {
    SR_LATEX,
    SR_C,
    SR_SYMPY,
    SR_NUMPY,
    SR_JAX,
    SR_TORCH,
    SR_NOTATIONS,
    SR_PRINTED = SR_NOTATIONS
};
extern const char *const sr_notation_name[SR_NOTATIONS]; /* "LaTeX", "C", "SymPy", "NumPy" ... */
void sr_expr_text(const struct sr_language *language, const struct sr_expr *expr,
                  enum sr_notation notation, const char *const *names, char *text, size_t bytes);
/* Prints SR_PRINTED, as PySR does: "(39.48 * inv((r * r)))", constants as sr_number_print() does.
 * names[i] is feature i; one that is also the name of an operator stands in quotes, too. Always
 * NUL-terminated; text that does not fit is cut. */
void sr_expr_print(const struct sr_language *language, const struct sr_expr *expr,
                   const char *const *names, char *text, size_t bytes);
/* Reads that notation back, with the usual precedence: ^ (from the right), signs, * /, + -. A
 * minus before a number is the number's own, before anything else it is neg(). */
int sr_expr_parse(const struct sr_language *language, const char *text, const char *const *names,
                  int features, struct sr_expr *expr);

#endif
