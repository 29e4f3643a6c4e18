/* test_export.c - names of columns in C and SymPy: whatever a table's columns are called, exported
 * formulas compile and have the value that the table gives. */
#include <ctype.h>
#include <math.h>

#include "symreg/formulas.h"
#include "symreg/mathml.h"
#include "symreg/solve/solve.h"

/* Names of a kind that once became one, or are no names, or mean something else. (clang-format
 * counts characters, the check of line lengths bytes.) */
/* clang-format off */
static const char *const awkward[] = {
    "a b",  "a_b",  "a-b",   "a_b_2", "半径",     "质量",      "x5",   "größe",
    "lambda", "double", "exp",  "pow",  "y0",    "j1",    "E",
    "I",    "S",    "N",     "O",     "Q",
    "pi",   "beta", "gamma", "zeta",  "sin",      "sinf",      "fabs", "2nd",   "2",      "-",
    "_",    "__x",  "_Bool", "in",    "is",       "None",      "abs",  "max",   "test",   "M_PI",
    "E_",   "E__2", "class", "NULL",  "linux",    "mass (kg)", "r/r0", "x\"y",  "Max",    "re",
    "F(x)", "and",  "int",   "R²",    "T\\u00b0", "div",
};
/* clang-format on */
enum { AWKWARD = sizeof awkward / sizeof *awkward };

static void made(struct sr_export *names)
{
    sr_export_make(names, awkward, AWKWARD);
    assert_int_equal(names->features, AWKWARD);
}

TEST(names_are_words_and_differ)
{
    struct sr_export names;
    made(&names);
    for (int f = 0; f < AWKWARD; f++) {
        const char *name = names.name[f];
        assert_true(isalpha((unsigned char)*name) && strlen(name) < SR_EXPORT_NAME);
        assert_int_equal(strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                      "0123456789_"),
                         strlen(name));
        if (sr_export_reserved(name))
            fail_msg("\"%s\" became \"%s\", which is reserved", awkward[f], name);
        assert_int_equal(sr_export_renamed(&names, f), strcmp(name, awkward[f]) != 0);
        for (int g = 0; g < f; g++)
            if (!strcmp(name, names.name[g]))
                fail_msg("\"%s\" and \"%s\" both became \"%s\"", awkward[g], awkward[f], name);
    }
}

static const char *name_of(const struct sr_export *names, const char *column)
{
    for (int f = 0; f < names->features; f++)
        if (!strcmp(names->column[f], column))
            return names->name[f];
    fail();
    return NULL;
}

TEST(names_that_can_stay_stay)
{
    struct sr_export names;
    static const char *const plain[] = {"r", "m1", "a_b", "T0", "x_", "Radius", "q", "sinus", "fl"};
    sr_export_make(&names, plain, 9);
    for (int f = 0; f < 9; f++)
        assert_string_equal(names.name[f], plain[f]);
    made(&names);
    assert_string_equal(name_of(&names, "a_b"), "a_b"); /* wherever it stands */
    assert_string_equal(name_of(&names, "a b"), "a_b_3");
    assert_string_equal(name_of(&names, "x5"), "x5");
    assert_string_equal(name_of(&names, "半径"), "x5_2"); /* the fifth column */
    assert_string_equal(name_of(&names, "lambda"), "lambda_");
    assert_string_equal(name_of(&names, "E"), "E__3");
    assert_string_equal(name_of(&names, "2nd"), "x2nd");
    assert_string_equal(name_of(&names, "mass (kg)"), "mass_kg");
}

/* Names that differ only where they are cut. */
TEST(long_names)
{
    enum { LONG = 200, COLUMNS = 20 };
    static char text[COLUMNS][LONG + 4];
    const char *columns[COLUMNS];
    struct sr_export names;
    for (int f = 0; f < COLUMNS; f++) {
        memset(text[f], 'w', LONG);
        snprintf(text[f] + LONG, 4, "%u", (unsigned)f % 100);
        columns[f] = text[f];
    }
    sr_export_make(&names, columns, COLUMNS);
    for (int f = 0; f < COLUMNS; f++)
        for (int g = 0; g < f; g++)
            assert_string_not_equal(names.name[f], names.name[g]);
}

/* Every word of a sample from all over them is found. */
TEST(reserved_words)
{
    static const char *const words[] = {"DOMAIN", "xor_eq", "auto",     "yn",    "I",
                                        "sinl",   "powf",   "FP_NAN",   "M_E",   "reinterpret_cast",
                                        "abort",  "zoo",    "Abs",      "zoo",   "oo",
                                        "lambda", "True",   "nonlocal", "sum",   "len",
                                        "Symbol", "ZZ",     "Q",        "E",     "S",
                                        "cbrtf",  "j0",     "gamma",    "while", "symbols",
                                        "np",     "jnp",    "torch"};
    static const char *const free_words[] = {
        "r", "m1", "sinx", "f", "l", "xf", "lambda_", "", "A", "solve_linear", "BlockMatrix", "Mf"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!sr_export_reserved(words[i]))
            fail_msg("\"%s\" is not reserved", words[i]);
    for (size_t i = 0; i < sizeof free_words / sizeof *free_words; i++)
        if (sr_export_reserved(free_words[i]))
            fail_msg("\"%s\" is reserved", free_words[i]);
}

/* f exp(g) + pow(h, 2) - sin(k) max(f, g) + log(h) sqrt(k) + |g|, of columns beside each other. */
static struct sr_expr mixture(int f)
{
    static const struct {
        uint8_t op, step;
    } nodes[] = {{SR_FEATURE, 0}, {SR_FEATURE, 1}, {SR_EXP, 0},     {SR_MUL, 0}, {SR_FEATURE, 2},
                 {SR_SQUARE, 0},  {SR_ADD, 0},     {SR_FEATURE, 3}, {SR_SIN, 0}, {SR_FEATURE, 0},
                 {SR_FEATURE, 1}, {SR_MAX, 0},     {SR_MUL, 0},     {SR_SUB, 0}, {SR_FEATURE, 2},
                 {SR_LOG, 0},     {SR_FEATURE, 3}, {SR_SQRT, 0},    {SR_MUL, 0}, {SR_ADD, 0},
                 {SR_FEATURE, 1}, {SR_ABS, 0},     {SR_ADD, 0}};
    struct sr_expr expr = {.count = (int)(sizeof nodes / sizeof *nodes)};
    for (int i = 0; i < expr.count; i++) {
        expr.node[i].op = nodes[i].op;
        expr.node[i].feature = (uint8_t)((f + nodes[i].step) % AWKWARD);
    }
    assert_true(sr_expr_measure(NULL, &expr));
    return expr;
}

/* A table of one row, and the value of each mixture there. */
static void values(double x[AWKWARD], double value[AWKWARD])
{
    gsl_rng *rng = random_stream(31);
    for (int f = 0; f < AWKWARD; f++)
        x[f] = 0.5 + 1.885 * gsl_rng_uniform(rng);
    const struct sr_data data = {.rows = 1, .features = AWKWARD, .x = x};
    for (int f = 0; f < AWKWARD; f++) {
        const struct sr_expr expr = mixture(f);
        assert_true(sr_eval(&expr, &data, &value[f]));
    }
    gsl_rng_free(rng);
}

static void read_values(const char *path, const double *value)
{
    char *text, *at;
    assert_int_equal(orr_file_read(path, &text, NULL), 0);
    at = text;
    for (int f = 0; f < AWKWARD; f++) {
        const double found = strtod(at, &at);
        if (!near(found, value[f], 1e-12))
            fail_msg("mixture %d (from column \"%s\"): expected %.17g, found %.17g", f, awkward[f],
                     value[f], found);
    }
    free(text);
}

/* One function of all columns per mixture, as a user would paste it. */
TEST(c_compiles_and_has_the_value)
{
    double x[AWKWARD], value[AWKWARD];
    char path[4096], command[3 * 4096], text[SR_TEXT];
    struct sr_export names;
    if (system("command -v cc >/dev/null"))
        skip();
    made(&names);
    values(x, value);
    scratch_path(path, scratch_dir, "formulas.c");
    FILE *c = fopen(path, "w");
    assert_non_null(c);
    fprintf(c, "#include <complex.h>\n#include <errno.h>\n#include <math.h>\n#include <stdbool.h>\n"
               "#include <stdio.h>\n#include <stdlib.h>\n");
    for (int f = 0; f < AWKWARD; f++) {
        fprintf(c, "static double mixture_%d(", f);
        for (int g = 0; g < AWKWARD; g++)
            fprintf(c, "%sdouble %s", g ? ", " : "", names.name[g]);
        const struct sr_expr expr = mixture(f);
        sr_expr_write(NULL, &expr, SR_C, &names, text, sizeof text);
        fprintf(c, ")\n{\n    return %s;\n}\n", text);
    }
    fprintf(c, "int main(void)\n{\n");
    for (int f = 0; f < AWKWARD; f++) {
        fprintf(c, "    printf(\"%%.17g\\n\", mixture_%d(", f);
        for (int g = 0; g < AWKWARD; g++)
            fprintf(c, "%s%.17g", g ? ", " : "", x[g]);
        fprintf(c, "));\n");
    }
    fprintf(c, "    return 0;\n}\n");
    assert_int_equal(fclose(c), 0);
    snprintf(command, sizeof command, "cc -std=gnu17 -w -o %s/formulas %s -lm && %s/formulas >%s/c",
             scratch_dir, path, scratch_dir, scratch_dir);
    assert_int_equal(system(command), 0);
    read_values(scratch_at(scratch_dir, "c"), value);
}

/* sympify() knows every name as a symbol, and no other. */
TEST(sympy_has_the_value)
{
    double x[AWKWARD], value[AWKWARD];
    char path[4096], command[3 * 4096], text[SR_TEXT];
    struct sr_export names;
    if (system("python3 -c 'import sympy' >/dev/null 2>&1"))
        skip(); /* the list of its names is what remains: names_are_words_and_differ */
    made(&names);
    values(x, value);
    scratch_path(path, scratch_dir, "formulas.py");
    FILE *py = fopen(path, "w");
    assert_non_null(py);
    fprintf(py, "from sympy import Symbol, sympify\nx = {}\n");
    for (int g = 0; g < AWKWARD; g++)
        fprintf(py, "x[Symbol('%s')] = %.17g\n", names.name[g], x[g]);
    fprintf(py, "def show(text):\n    formula = sympify(text)\n"
                "    assert formula.free_symbols <= set(x), text\n"
                "    print('%%.17g' %% formula.evalf(25, subs=x))\n");
    for (int f = 0; f < AWKWARD; f++) {
        const struct sr_expr expr = mixture(f);
        sr_expr_write(NULL, &expr, SR_SYMPY, &names, text, sizeof text);
        fprintf(py, "show('%s')\n", text);
    }
    assert_int_equal(fclose(py), 0);
    snprintf(command, sizeof command, "python3 %s >%s/sympy", path, scratch_dir);
    assert_int_equal(system(command), 0);
    read_values(scratch_at(scratch_dir, "sympy"), value);
}

/* Texts of NumPy, JAX and PyTorch on arrays of two equal rows, in double precision. */
static void arrays_have_the_value(enum sr_notation notation, const char *import, const char *array)
{
    double x[AWKWARD], value[AWKWARD];
    char path[4096], command[3 * 4096], text[SR_TEXT];
    struct sr_export names;
    snprintf(command, sizeof command, "python3 -c '%s' >/dev/null 2>&1", import);
    if (system(command))
        skip(); /* the reader of test_outputs.c is what remains */
    made(&names);
    values(x, value);
    scratch_path(path, scratch_dir, "arrays.py");
    FILE *py = fopen(path, "w");
    assert_non_null(py);
    fprintf(py, "%s\nx = {}\n", import);
    for (int g = 0; g < AWKWARD; g++)
        fprintf(py, "x['%s'] = %s([%.17g, %.17g])\n", names.name[g], array, x[g], x[g]);
    for (int f = 0; f < AWKWARD; f++) {
        const struct sr_expr expr = mixture(f);
        sr_expr_write(NULL, &expr, notation, &names, text, sizeof text);
        fprintf(py,
                "v = eval('%s', globals(), x)\nassert v.shape == (2,)\n"
                "print('%%.17g' %% float(v[1]))\n",
                text);
    }
    assert_int_equal(fclose(py), 0);
    snprintf(command, sizeof command, "python3 %s >%s/arrays", path, scratch_dir);
    assert_int_equal(system(command), 0);
    read_values(scratch_at(scratch_dir, "arrays"), value);
}

TEST(numpy_has_the_value)
{
    arrays_have_the_value(SR_NUMPY, "import numpy as np", "np.array");
}

TEST(jax_has_the_value)
{
    arrays_have_the_value(SR_JAX,
                          "import jax; jax.config.update(\"jax_enable_x64\", True); "
                          "import jax.numpy as jnp",
                          "jnp.array");
}

TEST(torch_has_the_value)
{
    arrays_have_the_value(SR_TORCH, "import torch; torch.set_default_dtype(torch.float64)",
                          "torch.tensor");
}

/* Replaces every `from` of a text; grows to no more than SR_TEXT bytes. */
static void replace_all(char *text, const char *from, const char *to)
{
    char out[SR_TEXT * 2];
    size_t n = 0;
    for (const char *c = text; *c;) {
        const bool is = !strncmp(c, from, strlen(from));
        n += (size_t)snprintf(out + n, sizeof out - n, "%.*s", is ? (int)strlen(to) : 1,
                              is ? to : c);
        c += is ? strlen(from) : 1;
    }
    assert_true(n < SR_TEXT);
    memcpy(text, out, n + 1);
}

/* \frac{p}{q} as ((p)/(q)), other braces as parentheses. */
static void unbrace(char *text)
{
    for (char *at; (at = strstr(text, "\\frac{"));) {
        char *end = at + 5, rest[SR_TEXT];
        int depth = 0;
        do /* to the brace that closes the numerator */
            depth += *end == '{' ? 1 : *end == '}' ? -1 : 0;
        while (depth && *++end);
        assert_true(end[0] == '}' && end[1] == '{');
        char *close = end + 1;
        depth = 0;
        do
            depth += *close == '{' ? 1 : *close == '}' ? -1 : 0;
        while (depth && *++close);
        snprintf(rest, sizeof rest, "((%.*s)/(%.*s))%s", (int)(end - at - 6), at + 6,
                 (int)(close - end - 2), end + 2, close + 1);
        memcpy(at, rest, strlen(rest) + 1);
    }
    replace_all(text, "{", "(");
    replace_all(text, "}", ")");
}

/* A text of some notation in the engine's own. */
static void translate(int notation, char *text)
{
    if (notation == SR_MATHML)
        say_mathml(text);
    replace_all(text, "**", "^");
    if (notation >= SR_NUMPY) {
        replace_all(text, "jnp.", "");
        replace_all(text, "np.", "");
        replace_all(text, "torch.", "");
    }
    replace_all(text, "pow(", "((");
    replace_all(text, ", 2)", ")^2)");
    if (notation != SR_LATEX)
        return;
    replace_all(text, "e^{", "\\exp{");
    static const char *const words[][2] = {{"\\left(", "("}, {"\\right)", ")"},  {"\\,", "*"},
                                           {"\\cdot", "*"},  {"\\sqrt", "sqrt"}, {"\\exp", "exp"},
                                           {"\\log", "log"}, {"\\sin", "sin"},   {"\\cos", "cos"}};
    unbrace(text);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        replace_all(text, words[i][0], words[i][1]);
}

/* Every printed text of a front evaluates to the loss that stands beside it, in each notation. The
 * columns are such that seven digits do not do: dates, an exact law, small and large numbers. */
TEST(texts_have_the_loss_that_is_stated)
{
    enum { ROWS = 60, TABLES = 4 };
    static const char *const names[] = {"a", "b"};
    static double x[2 * ROWS], y[ROWS], value[ROWS];
    static struct sr_fit fit;
    struct sr_export exported;
    struct sr_loss loss;
    char text[SR_TEXT];
    int compared = 0;
    sr_export_make(&exported, names, 2);
    for (int table = 0; table < TABLES; table++) {
        for (int i = 0; i < ROWS; i++) {
            const double u = (i * 37 % 61) / 61.0, v = (i * 23 % 59) / 59.0;
            x[i] = table == 0 ? 2459000.5 + 40 * u : 1 + 3 * u;
            x[ROWS + i] = table == 2 ? 1e-9 * (1 + v) : 1 + v;
            y[i] = table == 0   ? 55.034 * sin(0.3127 * x[i] + 1.1) + 12.5
                   : table == 1 ? 2.718281828459045 * exp(-x[i]) / (x[ROWS + i] + 0.1)
                   : table == 2 ? 6.67430e-11 * x[i] / (x[ROWS + i] * x[ROWS + i])
                                : 3 * x[i] + 2 + 0.01 * sin(50.0 * i);
        }
        fit = (struct sr_fit){.data = {.rows = ROWS, .features = 2, .x = x, .y = y}};
        const struct sr_settings s = {.binary = {SR_ADD, SR_SUB, SR_MUL, SR_DIV},
                                      .unary = {SR_SIN, SR_EXP, SR_SQUARE, SR_SQRT},
                                      .binary_count = 4,
                                      .unary_count = 4,
                                      .loss = ORR_SR_L2,
                                      .maxsize = 14,
                                      .iterations = 2,
                                      .populations = 4,
                                      .population_size = 27,
                                      .cycles = 50,
                                      .restarts = 1,
                                      .enumerate = 50000};
        assert_int_equal(sr_search(&s, &fit, 1, 1, NULL), 0);
        assert_int_equal(sr_loss_init(&loss, ORR_SR_L2, &fit.data), 0);
        for (int i = 0; i < fit.front.count; i++)
            for (int notation = -1; notation < SR_NOTATIONS; notation++) {
                struct sr_expr back;
                if (notation < 0)
                    sr_expr_print(NULL, &fit.front.expr[i], names, text, sizeof text);
                else
                    sr_expr_write(NULL, &fit.front.expr[i], (enum sr_notation)notation, &exported,
                                  text, sizeof text);
                translate(notation, text);
                if (sr_expr_parse(NULL, text, names, 2, &back) || !sr_eval(&back, &fit.data, value))
                    fail_msg("%s: %s", text, orr_error());
                const double found = sr_loss_value(&loss, value, 1), stated = fit.front.loss[i];
                if (!(fabs(found - stated) <= 1e-6 * stated + 4 * loss.noise))
                    fail_msg("notation %d, %s: stated %.9g, evaluated %.9g", notation, text, stated,
                             found);
                compared++;
            }
        sr_loss_free(&loss);
    }
    assert_true(compared > 60);
}

TESTS(scratch_setup, scratch_teardown)
