/* formulas.h - what the tests of symbolic regression share: tables of awkward numbers, random
 * formulas, and the value of a formula by the scalar operators alone. */
#ifndef TESTS_SYMREG_FORMULAS_H
#define TESTS_SYMREG_FORMULAS_H

#include <math.h>

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>

#include "base/scratch.h"
#include "symreg/symreg.h"

enum { FEATURES = 3 };
static const char *const feature_name[FEATURES] = {"r", "m1", "m2"};

/* Columns r (log-uniform over 0.3 .. 40), m1 (0.1 .. 2), m2 (-3 .. 3 when signed_m2, else as m1);
 * y is left 0. */
struct table {
    struct sr_data data;
    double *x, *y;
};

static inline gsl_rng *random_stream(uint64_t seed)
{
    gsl_rng *rng = orr_rng_create(seed, ORR_STAGE_TEST_SUITE, 77);
    assert_non_null(rng);
    return rng;
}

static inline void table_create(struct table *t, size_t rows, uint64_t seed, bool signed_m2)
{
    gsl_rng *rng = random_stream(seed);
    t->x = orr_alloc((FEATURES + 1) * rows, sizeof *t->x);
    assert_non_null(t->x);
    t->y = t->x + FEATURES * rows;
    for (size_t i = 0; i < rows; i++) {
        t->x[i] = 0.3 * exp(gsl_rng_uniform(rng) * log(40 / 0.3));
        t->x[rows + i] = 0.1 + 1.9 * gsl_rng_uniform(rng);
        t->x[2 * rows + i] =
            signed_m2 ? 6 * gsl_rng_uniform(rng) - 3 : 0.1 + 1.9 * gsl_rng_uniform(rng);
    }
    gsl_rng_free(rng);
    t->data = (struct sr_data){.rows = rows, .features = FEATURES, .x = t->x, .y = t->y};
}

static inline void table_free(struct table *t)
{
    free(t->x);
    t->x = t->y = NULL;
}

/* A formula from text that must be good. */
static inline struct sr_expr formula_in(const struct sr_language *language, const char *text)
{
    struct sr_expr expr;
    if (sr_expr_parse(language, text, feature_name, FEATURES, &expr))
        fail_msg("\"%s\": %s", text, orr_error());
    return expr;
}

static inline struct sr_expr formula(const char *text)
{
    return formula_in(NULL, text);
}

/* A language with these operators; the caller frees it. */
static inline struct sr_language *language_of(const char *operators)
{
    struct sr_language *language = sr_language_create();
    assert_non_null(language);
    if (sr_custom_define(language, operators))
        fail_msg("\"%s\": %s", operators, orr_error());
    return language;
}

/* The text of a formula. */
static inline const char *text_of(const struct sr_expr *expr)
{
    static char text[SR_TEXT];
    sr_expr_print(NULL, expr, feature_name, text, sizeof text);
    return text;
}

/* A table of features over 0.5 .. 5 and y of a formula. */
static inline void table_uniform(struct table *t, size_t rows, gsl_rng *rng, const char *text)
{
    const struct sr_expr truth = formula(text);
    table_create(t, rows, 4, false);
    for (size_t i = 0; i < FEATURES * rows; i++)
        t->x[i] = 0.5 + 4.5 * gsl_rng_uniform(rng);
    assert_true(sr_eval(&truth, &t->data, t->y));
}

/* Settings of a search for seeds: few formulas, the usual operators. */
static inline struct sr_settings seed_settings(void)
{
    return (struct sr_settings){
        .binary = {SR_ADD, SR_SUB, SR_MUL, SR_DIV},
        .unary = {SR_INV, SR_SQUARE, SR_SQRT, SR_EXP, SR_LOG},
        .binary_count = 4,
        .unary_count = 5,
        .loss = ORR_SR_L2,
        .maxsize = 20,
        .populations = 2,
        .population_size = 10,
        .restarts = 1,
        .enumerate = 6e4,
    };
}

/* The value of row i, one node after the other, by the table of scalar operators; NaN as soon as
 * a node is NaN. */
static inline double value_by_hand(const struct sr_expr *expr, const struct sr_data *data, size_t i)
{
    double stack[SR_NODES];
    int depth = 0;
    for (int n = 0; n < expr->count; n++) {
        const struct sr_node *node = &expr->node[n];
        const int arity = sr_op(data->language, node->op)->arity;
        double value;
        if (node->op == SR_CONSTANT) {
            value = node->value;
        } else if (node->op == SR_FEATURE) {
            value = data->x[(size_t)node->feature * data->rows + i];
        } else {
            depth -= arity;
            value = sr_op_value(data->language, (enum sr_op)node->op, stack[depth],
                                arity == 2 ? stack[depth + 1] : 0);
        }
        if (isnan(value))
            return NAN;
        stack[depth++] = value;
    }
    assert_int_equal(depth, 1);
    return stack[0];
}

/* Appends a random subtree of at most `room` nodes, of every operator there is. */
static inline void grow(struct sr_expr *expr, gsl_rng *rng, int room)
{
    const int kind = room < 2 ? 0 : (int)gsl_rng_uniform_int(rng, room < 3 ? 2 : 4);
    struct sr_node *node = NULL;
    if (kind == 0) {
        node = &expr->node[expr->count++];
        *node = gsl_rng_uniform(rng) < 0.5
                    ? (struct sr_node){.op = SR_CONSTANT, .value = gsl_ran_gaussian(rng, 2)}
                    : (struct sr_node){.op = SR_FEATURE,
                                       .feature = (uint8_t)gsl_rng_uniform_int(rng, FEATURES)};
        return;
    }
    const int arity = kind == 1 ? 1 : 2;
    int op;
    do
        op = SR_FEATURE + 1 + (int)gsl_rng_uniform_int(rng, SR_OPS - SR_FEATURE - 1);
    while (sr_op_table[op].arity != arity);
    const int before = expr->count;
    grow(expr, rng, arity == 1 ? room - 1 : room / 2);
    if (arity == 2)
        grow(expr, rng, room - 1 - (expr->count - before));
    expr->node[expr->count++] = (struct sr_node){.op = (uint8_t)op};
}

static inline struct sr_expr random_formula(gsl_rng *rng, int most)
{
    struct sr_expr expr = {0};
    grow(&expr, rng, most);
    assert_true(expr.count <= most);
    assert_true(sr_expr_measure(NULL, &expr));
    return expr;
}

/* |a - b| <= tolerance (|a| + |b|) / 2, or both tiny. */
static inline bool near(double a, double b, double tolerance)
{
    return fabs(a - b) <= tolerance * (fabs(a) + fabs(b)) / 2 + 1e-300;
}

#endif
