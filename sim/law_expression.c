/* law_expression.c - a user-defined force law: a formula of r, m1, m2 and G (formula/expr.h), of
 * whose functions no bit depends on the CPU. Expressions that were written for muParser, which read
 * them before, keep their meaning, or are refused with the new spelling. */
#include "sim.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formula/expr.h"

/* One step of the evaluation, in postfix order. */
struct step {
    uint8_t op;     /* enum sr_op */
    uint8_t arity;  /* 0 for leaves */
    uint8_t column; /* SR_FEATURE: of columns[] */
    double value;   /* SR_CONSTANT */
};
struct sim_expression {
    struct sr_language *language;
    int steps;
    struct step step[SR_NODES];
};

enum { COLUMNS = 3 };
static const char *const columns[COLUMNS] = {"r", "m1", "m2"};

/* Functions beside those of the table. log1p(x) is log(1 + x) with the rounding of 1 + x taken
 * back. */
static const char functions[] = "rint(x)=round(x); log2(x)=log(x)/0.69314718055994530942;"
                                "log1p(x)=log(1+x)-(1+x-1-x)/(1+x);"
                                "asinh(x)=sign(x)*log1p(abs(x)+x*x/(1+sqrt(1+x*x)));"
                                "acosh(x)=log1p(x-1+sqrt((x-1)*(x+1)));"
                                "atanh(x)=sign(x)*log1p(2*abs(x)/(1-abs(x)))/2";

struct reader {
    const char *text; /* of the whole law */
};

/* What to write for words of other languages. */
static const struct {
    const char *word, *write;
} spellings[] = {{"sum", "sum(a, b) as a + b"}, {"avg", "avg(a, b) as (a + b) / 2"},
                 {"pow", "pow(a, b) as a^b"},   {"if", "if(a, b, c) as a ? b : c"},
                 {"pi", "pi as _pi"},           {"e", "e as _e"}};

/* Refuses a word that is not known. */
static int refuse_word(void *context, const char **at, size_t length, struct sr_node *leaf)
{
    const struct reader *reader = context;
    const char *const word = *at;
    const char *write = "";
    (void)leaf;
    for (size_t k = 0; k < sizeof spellings / sizeof *spellings; k++)
        if (strlen(spellings[k].word) == length && !strncmp(word, spellings[k].word, length))
            write = spellings[k].write;
    return ORR_FAIL(ORR_EUSAGE, "found \"%.*s\" at character %td of \"%s\"%s%s", (int)length, word,
                    word - reader->text + 1, reader->text, *write ? "; write " : "", write);
}

static int read_expression(struct sr_language *language, const char *text, struct sr_expr *expr)
{
    static const char key[] = "orbits.expression", prefix[] = "formula: ";
    struct reader reader = {text};
    const struct sr_unknown unknown = {refuse_word, &reader};
    char message[1024];
    TRY(sr_language_name(language, key, "G", SIM_G));
    TRY(sr_language_name(language, key, "_pi", 3.14159265358979323846));
    TRY(sr_language_name(language, key, "_e", 2.71828182845904523536));
    TRY(sr_custom_define(language, functions));
    if (!sr_expr_parse_with(language, text, columns, COLUMNS, &unknown, expr))
        return 0;
    snprintf(message, sizeof message, "%s", orr_error());
    const bool prefixed = !strncmp(message, prefix, strlen(prefix));
    return ORR_FAIL(ORR_EUSAGE,
                    "%s: %s; expected an expression of r, m1, m2 and G, such as G*m1*m2/r^2", key,
                    message + (prefixed ? strlen(prefix) : 0));
}

/* The value of an operator. NaN where an operand is, but for what cond() does not choose. */
static double apply(const struct sr_language *language, const struct step *step, double a, double b)
{
    switch (step->op) {
    case SR_ADD:
        return a + b;
    case SR_SUB:
        return a - b;
    case SR_MUL:
        return a * b;
    case SR_DIV:
        return a / b;
    case SR_COND:
        return isnan(a) ? a : a > 0 ? b : 0;
    /* (these have loops for each instruction set, and whole powers as products) */
    case SR_EXP:
        return orr_exp(a);
    case SR_LOG:
        return orr_log(a);
    case SR_POW:
        return orr_pow(a, b);
    default:
        return isnan(a) || isnan(b) ? (double)NAN
                                    : sr_op_value(language, (enum sr_op)step->op, a, b);
    }
}

/* Appends an operator, or its value where all operands are constants. */
static void append_operator(struct sim_expression *e, struct step step)
{
    struct step *const last = &e->step[e->steps - 1], *const first = last - (step.arity - 1);
    if (first->op != SR_CONSTANT || last->op != SR_CONSTANT) {
        e->step[e->steps++] = step;
        return;
    }
    first->value = apply(e->language, &step, first->value, last->value);
    e->steps -= step.arity - 1;
}

int sim_expression_create(struct sim_expression **expression, const char *text)
{
    struct sr_expr expr;
    struct sim_expression *e = orr_alloc(1, sizeof *e);
    *expression = NULL;
    if (!e)
        return ORR_ENOMEM;
    e->language = sr_language_create();
    const int rc = e->language ? read_expression(e->language, text, &expr) : ORR_ENOMEM;
    if (rc) {
        sim_expression_free(e);
        return rc;
    }
    for (int i = 0; i < expr.count; i++) {
        const struct sr_node *node = &expr.node[i];
        const struct step step = {.op = node->op,
                                  .arity = (uint8_t)sr_expr_arity(&expr, i),
                                  .column = node->op == SR_FEATURE ? node->feature : 0,
                                  .value = node->op == SR_CONSTANT ? node->value : 0};
        if (step.arity)
            append_operator(e, step);
        else
            e->step[e->steps++] = step;
    }
    *expression = e;
    return 0;
}

void sim_expression_free(struct sim_expression *e)
{
    if (!e)
        return;
    sr_language_free(e->language);
    free(e);
}

double sim_expression_force(const struct sim_expression *e, double m1, double m2, double r)
{
    const double column[COLUMNS] = {r, m1, m2};
    double stack[SR_NODES / 2 + 1];
    int depth = 0;
    stack[0] = NAN; /* which no expression leaves: it has a step at least */
    for (int i = 0; i < e->steps; i++) {
        const struct step *step = &e->step[i];
        if (step->arity == 0) {
            stack[depth++] = step->op == SR_CONSTANT ? step->value : column[step->column];
            continue;
        }
        depth -= step->arity;
        stack[depth] = apply(e->language, step, stack[depth], stack[depth + step->arity - 1]);
        depth++;
    }
    return stack[0];
}
