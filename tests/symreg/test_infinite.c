/* test_infinite.c - formulas with an infinite step and a finite value, as exp(-1500 / T) at T = 0:
 * their values, derivatives and fits, and that exported texts agree. */
#include "symreg/formulas.h"

#include <string.h>

#include "symreg/solve/solve.h"

enum { ROWS = 40, COLUMNS = 2 };
static const char *const names[COLUMNS] = {"x", "z"};
/* rows whose steps overflow, or divide by 0 */
static const double edge[] = {0, -0.0, 1e300, -1e300, 5e-324, 1e-300, 709.9, 2.385};
enum { EDGES = sizeof edge / sizeof *edge };

static struct sr_expr parsed(const struct sr_language *language, const char *text)
{
    struct sr_expr expr;
    if (sr_expr_parse(language, text, names, COLUMNS, &expr))
        fail_msg("\"%s\": %s", text, orr_error());
    return expr;
}

/* Formulas of x, and what C makes of them. */
static double arrhenius(double x)
{
    return 3.5 * exp(-1500 / x);
}
static double power(double x)
{
    return 3 * exp(0.7 * log(x));
}
static double hill(double x)
{
    return 1 / (1 + pow(2.4 / x, 1.7));
}
static double fermi(double x)
{
    return 1 / (exp(x) + 1);
}
static double planck(double x)
{
    return pow(x, 3) / (exp(x) - 1);
}
static double root(double x)
{
    return 1 / cbrt(1 / x);
}
static double angle(double x)
{
    return atan(1 / x) + tanh(1 / x);
}
static double plane(double x)
{
    return atan2(1 / (x * x), 1 / fabs(x));
}
static double bounded(double x)
{
    return fmin(exp(x), 7.25);
}
static double length(double x)
{
    return 2 / hypot(1 / x, 3);
}

static const struct {
    const char *text;
    double (*value)(double);
} formulas[] = {
    {"3.5 * exp(-1500 / x)", arrhenius},   {"3 * exp(0.7 * log(x))", power},
    {"1 / (1 + (2.4 / x) ^ 1.7)", hill},   {"1 / (exp(x) + 1)", fermi},
    {"x ^ 3 / (exp(x) - 1)", planck},      {"inv(cbrt(inv(x)))", root},
    {"atan(1 / x) + tanh(inv(x))", angle}, {"atan2(inv(square(x)), inv(abs(x)))", plane},
    {"min(exp(x), 7.25)", bounded},        {"2 / hypot(inv(x), 3)", length},
};
enum { FORMULAS = sizeof formulas / sizeof *formulas };

static bool alike(double a, double b)
{
    return isfinite(b) ? near(a, b, 1e-12) || fabs(a - b) < 1e-307 : isnan(a);
}

/* One row at a time, and beside ordinary rows; NaN stands for "not finite". */
TEST(values_are_those_of_C)
{
    for (int f = 0; f < FORMULAS; f++)
        for (int i = 0; i < EDGES; i++) {
            const struct sr_expr expr = parsed(NULL, formulas[f].text);
            const double expected = formulas[f].value(edge[i]), x[4] = {2.385, edge[i], 0.7, 0.7};
            const struct sr_data one = {.rows = 1, .features = 1, .x = x + 1};
            const struct sr_data two = {.rows = 2, .features = 2, .x = x};
            double alone, pair[2], jacobian[2 * SR_NODES], also[2];
            if (!sr_eval(&expr, &one, &alone))
                alone = NAN;
            if (!alike(alone, expected))
                fail_msg("%s at %g: expected %.17g, found %.17g", formulas[f].text, edge[i],
                         expected, alone);
            assert_int_equal(sr_eval(&expr, &two, pair), isfinite(expected));
            assert_int_equal(sr_eval_jacobian(&expr, &two, also, jacobian), isfinite(expected));
            assert_true(!isfinite(expected) ||
                        (alike(pair[1], expected) && alike(pair[0], formulas[f].value(x[0])) &&
                         memcmp(pair, also, sizeof pair) == 0));
        }
}

/* What `predict` computes row by row is what the exported C text computes. */
TEST(exported_C_agrees_at_the_edges)
{
    char path[4096], command[3 * 4096], text[SR_TEXT], *found;
    struct sr_export export;
    if (system("command -v cc >/dev/null"))
        skip();
    sr_export_make(&export, names, COLUMNS);
    scratch_path(path, scratch_dir, "edges.c");
    FILE *c = fopen(path, "w");
    assert_non_null(c);
    fprintf(c, "#include <math.h>\n#include <stdio.h>\nint main(void)\n{\n    double x;\n");
    for (int f = 0; f < FORMULAS; f++)
        for (int i = 0; i < EDGES; i++) {
            const struct sr_expr expr = parsed(NULL, formulas[f].text);
            sr_expr_write(NULL, &expr, SR_C, &export, text, sizeof text);
            fprintf(c, "    x = %a;\n    printf(\"%%.17g\\n\", %s);\n", edge[i], text);
        }
    fprintf(c, "}\n");
    assert_int_equal(fclose(c), 0);
    snprintf(command, sizeof command, "cc -w -o %s/edges %s -lm && %s/edges >%s/values",
             scratch_dir, path, scratch_dir, scratch_dir);
    assert_int_equal(system(command), 0);
    assert_int_equal(orr_file_read(scratch_at(scratch_dir, "values"), &found, NULL), 0);
    char *at = found;
    for (int f = 0; f < FORMULAS; f++)
        for (int i = 0; i < EDGES; i++) {
            const struct sr_expr expr = parsed(NULL, formulas[f].text);
            const struct sr_data one = {.rows = 1, .features = 1, .x = &edge[i]};
            const double text_value = strtod(at, &at);
            double own;
            if (!sr_eval(&expr, &one, &own))
                own = NAN;
            if (!alike(own, text_value))
                fail_msg("%s at %g: the C text gives %.17g, the engine %.17g", formulas[f].text,
                         edge[i], text_value, own);
        }
    free(found);
}

/* min and max would hide a NaN, which exported texts do not agree about. */
TEST(a_step_without_a_value_has_none)
{
    static const char *const text[] = {"max(log(x), 1)", "min(1, log(x))", "max(1, 0 * inv(z))",
                                       "1 + 0 * sign(sqrt(x))", "log(x) ^ 0"};
    const double x[2] = {-1, 0};
    const struct sr_data data = {.rows = 1, .features = COLUMNS, .x = x};
    for (size_t k = 0; k < sizeof text / sizeof *text; k++) {
        const struct sr_expr expr = parsed(NULL, text[k]);
        double value, jacobian[SR_NODES];
        if (sr_eval(&expr, &data, &value) || sr_eval_jacobian(&expr, &data, &value, jacobian))
            fail_msg("%s has a value: %g", text[k], value);
    }
}

/* A table of x = 0, ... whose first row makes the formula's inner step infinite. */
static struct sr_data table_of(const char *law, double *x, double *y)
{
    struct sr_data data = {.rows = ROWS, .features = COLUMNS, .x = x, .y = y};
    const struct sr_expr expr = parsed(NULL, law);
    for (int i = 0; i < ROWS; i++) {
        x[i] = 1.5 * i;
        x[ROWS + i] = 1 + i % 7;
    }
    assert_true(sr_eval(&expr, &data, y));
    return data;
}

static const struct {
    const char *law, *start;
} laws[] = {
    {"3.5 * exp(-15 / x)", "1.2 * exp(-9 / x)"},
    {"3 * exp(0.7 * log(x))", "1 * exp(1.1 * log(x))"},
    {"2.6 / (1 + (8 / x) ^ 2.4)", "1.5 / (1 + (5 / x) ^ 2)"},
    {"2.6 * tanh(1.3 / x)", "1.9 * tanh(0.9 / x)"},
    {"4 / (exp(15 / x) + 1.2)", "3 / (exp(12 / x) + 1)"},
};

/* Derivatives at such rows are the limit 0, elsewhere those of finite differences; fits find the
 * constants, by both algorithms. */
TEST(constants_are_fitted)
{
    gsl_rng *rng = random_stream(171);
    for (size_t k = 0; k < sizeof laws / sizeof *laws; k++) {
        double x[COLUMNS * ROWS], y[ROWS], value[ROWS], jacobian[SR_NODES * ROWS], c[SR_NODES];
        struct sr_data data = table_of(laws[k].law, x, y);
        struct sr_expr expr = parsed(NULL, laws[k].start), moved = expr;
        struct sr_loss loss;
        struct sr_thread thread = {.rng = rng};
        const int n = sr_expr_constants(&expr, c);
        assert_true(sr_eval_jacobian(&expr, &data, value, jacobian));
        for (int i = 0; i < n; i++) {
            double up[ROWS], constant[SR_NODES];
            const double step = 1e-6 * fabs(c[i]);
            memcpy(constant, c, sizeof c);
            constant[i] += step;
            sr_expr_set_constants(&moved, constant);
            assert_true(sr_eval(&moved, &data, up));
            for (int row = 0; row < ROWS; row++) {
                const double slope = (up[row] - value[row]) / step;
                if (!(fabs(jacobian[i * ROWS + row] - slope) < 1e-4 * (1 + fabs(slope))))
                    fail_msg("%s, constant %d, row %d: derivative %g, expected %g", laws[k].start,
                             i, row, jacobian[i * ROWS + row], slope);
            }
        }
        assert_int_equal(sr_loss_init(&loss, ORR_SR_L2, &data), 0);
        assert_int_equal(sr_work_init(&thread.work, ROWS, SR_NODES), 0);
        const double reached = sr_constants_fit(&loss, &expr, true, 60, 0, rng, &thread.work);
        if (!(reached < 1e-18))
            fail_msg("%s: the fit ends at %g", laws[k].law, reached);
        expr = parsed(NULL, laws[k].start);
        double gradient[SR_NODES];
        assert_true(sr_eval_gradient(&expr, &loss, gradient));
        for (int i = 0; i < n; i++)
            assert_true(isfinite(gradient[i]));
        sr_work_free(&thread.work);
        sr_loss_free(&loss);
    }
    gsl_rng_free(rng);
}

/* A column that is stored, as inv(x) with x = 0, and user-defined operators. */
TEST(columns_and_own_operators_know_infinite_steps)
{
    struct sr_language *language = language_of("decay(u)=exp(-u); over(u)=1/u; "
                                               "both(u)=exp(-1/u)+u");
    static const char *const text[][2] = {
        {"exp(-(inv(x)))", "exp(-1 / x)"},
        {"exp(neg(inv(x)))", "exp(-1 / x)"},
        {"decay(over(x))", "exp(-1 / x)"},
        {"exp(neg(over(x)))", "exp(-1 / x)"},
        {"both(1.5 * x)", "exp(-1 / (1.5 * x)) + 1.5 * x"},
    };
    double x[COLUMNS * ROWS], y[ROWS], expected[ROWS], ours[SR_NODES * ROWS];
    double theirs[SR_NODES * ROWS];
    struct sr_data data = table_of("exp(-1 / x)", x, y);
    data.language = language;
    struct sr_loss loss;
    struct sr_work work;
    assert_int_equal(sr_loss_init(&loss, ORR_SR_L2, &data), 0);
    assert_int_equal(sr_work_init(&work, ROWS, SR_NODES), 0);
    for (size_t k = 0; k < sizeof text / sizeof *text; k++) {
        const struct sr_expr expr = parsed(language, text[k][0]);
        const struct sr_expr same = parsed(language, text[k][1]);
        assert_true(sr_eval(&same, &data, expected));
        for (int round = 0; round < 2; round++) { /* a column is there, or not yet */
            const double reached = sr_eval_plain(&expr, &loss, &work);
            if (!isfinite(reached))
                fail_msg("%s has no loss", text[k][0]);
            for (int i = 0; i < ROWS; i++)
                assert_true(near(work.value[i], expected[i], 1e-14));
        }
    }
    /* d both / d factor at x = 0: the limit of the first term is 0, the second has x = 0 */
    const struct sr_expr one = parsed(language, "both(x + 0.25 * z - 0.25)");
    assert_true(sr_eval_jacobian(&one, &data, expected, ours));
    const struct sr_expr line = parsed(language, "x + 0.25 * z - 0.25");
    assert_true(sr_eval_jacobian(&line, &data, expected, theirs));
    /* row 0: x + z / 4 - 1 / 4 = 0, where both() has the slope 1 */
    assert_true(near(ours[0], theirs[0], 1e-14) && near(ours[ROWS], theirs[ROWS], 1e-14));
    sr_work_free(&work);
    sr_loss_free(&loss);
    sr_language_free(language);
}

/* Stands for a proposal: keeps the size of the table, and gives two seeds. */
static size_t rows_given;
static bool zeros_given;
static int two_seeds(const struct sr_settings *settings, const struct sr_loss *loss,
                     struct sr_limit limit, struct sr_thread *thread, int threads,
                     struct sr_seeds *seeds)
{
    (void)settings, (void)limit, (void)thread, (void)threads;
    rows_given = loss->data->rows;
    zeros_given = false;
    for (size_t i = 0; i < rows_given; i++)
        zeros_given = zeros_given || loss->data->x[i] == 0 || loss->data->y[i] == 0;
    seeds->count = 2;
    seeds->expr[0] = parsed(NULL, "3.5 * exp(-15 / x)");
    seeds->expr[1] = parsed(NULL, "log(x)");
    seeds->loss[0] = seeds->loss[1] = 0.5;
    return 0;
}

/* The row x = 0 hides a law from stages that take logarithms and reciprocals: seeds are sought
 * without it, and judged with it. Many zeros are no edge, and few rows are all needed. */
TEST(seeds_are_sought_inside_the_domain)
{
    static struct sr_seeds seeds;
    static const struct {
        size_t rows, zeros, given;
    } list[] = {{ROWS, 1, ROWS - 1}, {ROWS, 2, ROWS - 2}, {ROWS, 3, ROWS}, {15, 1, 15}};
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        double x[ROWS], y[ROWS];
        const struct sr_expr law = parsed(NULL, "3.5 * exp(-15 / x)");
        struct sr_data data = {.rows = list[k].rows, .features = 1, .x = x, .y = y};
        struct sr_loss loss;
        struct sr_thread thread = {0};
        for (size_t i = 0; i < list[k].rows; i++)
            x[i] = i < list[k].zeros ? 0 : 1.5 * (double)i;
        assert_true(sr_eval(&law, &data, y));
        assert_int_equal(sr_loss_init(&loss, ORR_SR_L2, &data), 0);
        assert_int_equal(sr_work_init(&thread.work, ROWS, SR_NODES), 0);
        assert_int_equal(
            sr_seeds_inside(two_seeds, NULL, &loss, (struct sr_limit){0}, &thread, 1, &seeds), 0);
        assert_int_equal(rows_given, list[k].given);
        assert_int_equal(zeros_given, list[k].given == list[k].rows);
        if (!zeros_given)
            assert_true(seeds.loss[0] < 1e-25 && isinf(seeds.loss[1]));
        sr_work_free(&thread.work);
        sr_loss_free(&loss);
    }
}

TESTS(scratch_setup, scratch_teardown)
