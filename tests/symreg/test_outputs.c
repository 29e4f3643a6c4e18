/* test_outputs.c - formulas in C, Python, LaTeX and MathML, description lengths, rounding, report
 * files.
 *
 * C and Python texts, and MathML read aloud, are read by a reader of its own, which follows those
 * languages' rules, and must have the value of the formula. */
#include <ctype.h>

#include "symreg/formulas.h"
#include "symreg/mathml.h"
#include "symreg/solve/solve.h"

/* ---- a reader of C and Python expressions */

struct reader {
    const char *at;
    const double *x; /* values of the features */
    bool arrays;     /* every function is one of NumPy, JAX or PyTorch */
};
static double read_sum(struct reader *r);

static bool take(struct reader *r, const char *text)
{
    while (*r->at == ' ')
        r->at++;
    if (strncmp(r->at, text, strlen(text)))
        return false;
    r->at += strlen(text);
    return true;
}

static double call(const char *name, double a, double b)
{
    static const struct {
        const char *name;
        double (*f)(double);
    } one[] = {{"sqrt", sqrt},   {"exp", exp},     {"log", log},   {"sin", sin},
               {"cos", cos},     {"tan", tan},     {"tanh", tanh}, {"fabs", fabs},
               {"Abs", fabs},    {"asin", asin},   {"acos", acos}, {"atan", atan},
               {"sinh", sinh},   {"cosh", cosh},   {"abs", fabs},  {"arcsin", asin},
               {"arccos", acos}, {"arctan", atan}, {"cbrt", cbrt}, {"log10", log10},
               {"floor", floor}, {"rint", rint},   {"round", rint}};
    if (!strcmp(name, "log") && isfinite(b)) /* SymPy's logarithm to a base */
        return log(a) / log(b);
    for (size_t i = 0; i < sizeof one / sizeof *one; i++)
        if (!strcmp(one[i].name, name))
            return one[i].f(a);
    if (!strcmp(name, "hypot"))
        return hypot(a, b);
    if (!strcmp(name, "atan2") || !strcmp(name, "arctan2"))
        return atan2(a, b);
    if (!strcmp(name, "pow"))
        return pow(a, b);
    if (!strcmp(name, "as_tensor"))
        return a;
    if (!strcmp(name, "min") || !strcmp(name, "fmin") || !strcmp(name, "Min") ||
        !strcmp(name, "minimum"))
        return fmin(a, b);
    if (!strcmp(name, "max") || !strcmp(name, "fmax") || !strcmp(name, "Max") ||
        !strcmp(name, "maximum"))
        return fmax(a, b);
    if (!strcmp(name, "sign"))
        return (a > 0) - (a < 0);
    enum sr_op op; /* MathML writes the others by their own names, all notations the anomalies */
    if (sr_op_find("", name, isnan(b) ? 1 : 2, &op))
        fail_msg("no function \"%s\"", name);
    return sr_op_value(NULL, op, a, b);
}

static double read_atom(struct reader *r)
{
    double value = 0, b = NAN;
    if (take(r, "(double)"))
        return read_atom(r);
    if (take(r, "(")) {
        value = read_sum(r);
        if (take(r, ">"))
            value = value > read_sum(r);
        else if (take(r, "<"))
            value = value < read_sum(r);
        if (take(r, "?")) {
            const double then = read_sum(r);
            assert_true(take(r, ":"));
            const double otherwise = read_sum(r);
            value = value != 0 ? then : otherwise;
        }
        assert_true(take(r, ")"));
        return value;
    }
    if (isdigit((unsigned char)*r->at) || *r->at == '.') {
        char *end;
        value = strtod(r->at, &end);
        r->at = end;
        return value;
    }
    char name[32];
    size_t n = 0;
    const bool in_module = take(r, "np.") || take(r, "jnp.") || take(r, "torch.");
    while (isalnum((unsigned char)*r->at) || *r->at == '_')
        name[n++] = *r->at++;
    name[n] = '\0';
    for (int f = 0; f < FEATURES; f++)
        if (!strcmp(name, feature_name[f]))
            return r->x[f];
    const bool of_orrery = !in_module && strstr(name, "_anomaly");
    if (!take(r, "(") || (!of_orrery && r->arrays != in_module))
        fail_msg("unexpected \"%s\" after \"%s\"", r->at, name);
    if (!strcmp(name, "Piecewise")) { /* Piecewise((b, a > 0), (0, True)) */
        assert_true(take(r, "("));
        b = read_sum(r);
        assert_true(take(r, ","));
        value = read_sum(r);
        assert_true(take(r, "> 0), (0, True))"));
        return value > 0 ? b : 0;
    }
    value = read_sum(r);
    if (!strcmp(name, "where")) { /* where(a > 0, b, 0.0) */
        assert_true(take(r, "> 0,"));
        b = read_sum(r);
        assert_true(take(r, ", 0.0)"));
        return value > 0 ? b : 0;
    }
    if (take(r, ", dtype=torch.float64"))
        assert_string_equal(name, "as_tensor");
    else if (take(r, ","))
        b = read_sum(r);
    assert_true(take(r, ")"));
    return call(name, value, b);
}

/* Python: -a**b is -(a**b), a**-b is a**(-b); powers from the right. */
static double read_factor(struct reader *r)
{
    if (take(r, "-"))
        return -read_factor(r);
    const double base = read_atom(r);
    return take(r, "**") ? pow(base, read_factor(r)) : base;
}

static double read_product(struct reader *r)
{
    double value = read_factor(r);
    for (;;) {
        while (*r->at == ' ')
            r->at++;
        if (take(r, "*"))
            value *= read_factor(r);
        else if (take(r, "/"))
            value /= read_factor(r);
        else
            return value;
    }
}

static double read_sum(struct reader *r)
{
    double value = read_product(r);
    for (;;) {
        if (take(r, "+"))
            value += read_product(r);
        else if (take(r, "-"))
            value -= read_product(r);
        else
            return value;
    }
}

static double value_of_text(const char *text, const double *x, bool arrays)
{
    struct reader r = {text, x, arrays};
    const double value = read_sum(&r);
    if (*r.at)
        fail_msg("\"%s\": left over: \"%s\"", text, r.at);
    return value;
}

/* ---- notations */

static const struct sr_export *names_of(const char *const *columns)
{
    static struct sr_export names;
    sr_export_make(&names, columns, FEATURES);
    return &names;
}

/* Whether rounding decides nothing: the value changes little with the point. */
static bool is_tame(const struct sr_expr *expr, const struct sr_data *data)
{
    double x[FEATURES], value, moved;
    struct sr_data near_by = *data;
    for (int f = 0; f < FEATURES; f++)
        x[f] = data->x[f] * (1 + 1e-12);
    near_by.x = x;
    return sr_eval(expr, data, &value) && sr_eval(expr, &near_by, &moved) && fabs(value) < 1e6 &&
           fabs(moved - value) <= 1e-9 * (1 + fabs(value));
}

/* The value of a text that symreg reads, as --guess does. */
static double value_read_back(const char *text, const struct sr_data *data)
{
    struct sr_expr again;
    double value = NAN;
    if (sr_expr_parse(NULL, text, feature_name, FEATURES, &again))
        fail_msg("\"%s\" is not read back: %s", text, orr_error());
    sr_eval(&again, data, &value);
    return value;
}

TEST(every_notation_has_the_value)
{
    enum { FORMULAS = 3000, COLLECTED = 2 };
    static const enum sr_notation collected[COLLECTED] = {SR_MATHML, SR_INFIX};
    gsl_rng *rng = random_stream(14);
    static char text[SR_TEXT];
    int compared = 0;
    for (int k = 0; k < FORMULAS; k++) {
        const struct sr_expr expr = random_formula(rng, 1 + k % 30);
        const double x[FEATURES] = {0.3 + gsl_rng_uniform(rng), gsl_ran_gaussian(rng, 1),
                                    2.385 * gsl_rng_uniform(rng)};
        const struct sr_data data = {.rows = 1, .features = FEATURES, .x = x};
        double value;
        if (!sr_eval(&expr, &data, &value))
            continue;
        /* all notations, then those that people read of the collected formula */
        for (int n = SR_C; n < SR_NOTATIONS + COLLECTED; n++) {
            const enum sr_notation notation =
                n < SR_NOTATIONS ? (enum sr_notation)n : collected[n - SR_NOTATIONS];
            struct sr_expr written = expr;
            if (n >= SR_NOTATIONS && is_tame(&expr, &data))
                sr_expr_collect(NULL, &written);
            sr_expr_write(NULL, &written, notation, names_of(feature_name), text, SR_TEXT);
            if (notation == SR_MATHML)
                say_mathml(text);
            const bool arrays = notation == SR_NUMPY || notation == SR_JAX || notation == SR_TORCH;
            const double again = notation == SR_INFIX ? value_read_back(text, &data)
                                                      : value_of_text(text, x, arrays);
            if (!near(again, value, 1e-6) && fabs(again - value) > 1e-9)
                fail_msg("%s\nas %s\nis %.17g, expected %.17g", text_of(&expr), text, again, value);
        }
        compared++;
    }
    assert_true(compared > FORMULAS / 3);
    gsl_rng_free(rng);
}

static void writes_collected(const char *text, const char *printed, const char *mathml)
{
    static const char *const names[] = {"m1", "m2", "r"}; /* the order in a product */
    struct sr_expr expr;
    char out[SR_TEXT];
    assert_int_equal(sr_expr_parse(NULL, text, names, 3, &expr), 0);
    sr_expr_collect(NULL, &expr);
    sr_expr_print(NULL, &expr, names, out, sizeof out);
    assert_string_equal(out, printed);
    sr_expr_text(NULL, &expr, SR_MATHML, names, out, sizeof out);
    if (mathml)
        assert_string_equal(out, mathml);
}

#define M1M2 "<msub><mi>m</mi><mn>1</mn></msub><mo>&#x2062;</mo><msub><mi>m</mi><mn>2</mn></msub>"
#define T    "<mo rspace=\"0.15em\">&#x2062;</mo>"
#define R2   "<msup><mi>r</mi><mn>2</mn></msup>"

TEST(products_are_collected)
{
    writes_collected("((m1*(m2*39.4))/(r*r))", "(((39.4 * m1) * m2) / square(r))",
                     "<mfrac><mrow><mn>39.4</mn>" T M1M2 "</mrow><mrow>" R2 "</mrow></mfrac>");
    writes_collected("((inv((r * (0.026416 * r))) * m2) * m1)",
                     "((m1 * m2) / (0.026416 * square(r)))",
                     "<mfrac><mrow>" M1M2 "</mrow><mrow><mn>0.026416</mn>" T R2 "</mrow></mfrac>");
    writes_collected("-2.287183e+10 * r", "neg((2.287183e+10 * r))",
                     "<mrow><mo>&#x2212;</mo><mrow><mn>2.287183</mn><mo>&#xd7;</mo><msup>"
                     "<mn>10</mn><mrow><mn>10</mn></mrow></msup></mrow>" T "<mi>r</mi></mrow>");
    writes_collected("r + -0.23685", "(r - 0.23685)",
                     "<mi>r</mi><mo>&#x2212;</mo><mn>0.23685</mn>");
    writes_collected("(r - m1) - (m2 - (1 - 3))", "(((r - m1) - m2) - 2)", NULL);
    writes_collected("0.31 - r * 0.1 * 39.4", "(0.31 - (3.94 * r))", NULL);
    writes_collected("-r + 2.5", "(2.5 - r)", NULL);
    writes_collected("(-m1) ^ 2 * cube(m1 * -r)", "neg(((m1 ^ 5) * cube(r)))", NULL);
    writes_collected("r ^ 0.5 * r ^ 0.5 * (r ^ 2) ^ 0.5", "((sqrt(r) * sqrt(r)) * sqrt(square(r)))",
                     NULL);
    writes_collected("(m1 + r) ^ 2 / (m1 + r) ^ 3 * cbrt(r) ^ -1", "(1 / ((m1 + r) * cbrt(r)))",
                     NULL);
    writes_collected("r * inv(r)", "1", NULL);
    writes_collected("2 * r / 3 - 1 / 7", "(((2 * r) / 3) - (1 / 7))", NULL);
    writes_collected("r / 0 + 1 / 0", "((r / 0) + (1 / 0))", NULL); /* as it stands */
}

static void reads_well(const char *text, const char *infix)
{
    static const char *const names[] = {"a", "mass, kg", "t"};
    struct sr_expr expr, again;
    char out[SR_TEXT];
    assert_int_equal(sr_expr_parse(NULL, text, names, 3, &expr), 0);
    sr_expr_collect(NULL, &expr);
    sr_expr_text(NULL, &expr, SR_INFIX, names, out, sizeof out);
    assert_string_equal(out, infix);
    assert_int_equal(sr_expr_parse(NULL, out, names, 3, &again), 0);
}

/* Powers as powers, and parentheses only where they are needed. */
TEST(formulas_are_written_as_people_write_them)
{
    reads_well("(a * sqrt(a))", "a^1.5");
    reads_well("(sqrt(a) * (1 * a))", "1 * a^1.5");
    reads_well("((a / 1) * sqrt(a))", "1 * a^1.5");
    reads_well("exp((1.499824 * log(a)))", "a^1.499824");
    reads_well("exp((log(a) / 0.6667402))", "a^(1 / 0.6667402)");
    reads_well("exp((log(a) / -0.3717))", "a^(-1 / 0.3717)");
    reads_well("(exp((log(a) * -1.5)) / 0.999604)", "1 / (0.999604 * a^1.5)");
    reads_well("(cos((1.485166261 * t)) / -0.0179) - 33.2",
               "-cos(1.485166261 * t) / 0.0179 - 33.2");
    reads_well("((a - 3) - (2.5 - t)) * (2 * neg(a))", "-2 * a * (a + t - 5.5)");
    reads_well("inv(((\"mass, kg\" + 0.5) * t))", "1 / (t * (\"mass, kg\" + 0.5))");
    reads_well("square((a / (t - 2))) ^ 0.3", "(a^2 / (t - 2)^2)^0.3");
    reads_well("(a ^ t) ^ 2 - max(a, -t) * 2e-7", "(a^t)^2 - 2e-07 * max(a, -t)");
    reads_well("abs(square(cos(t))) - (3 - a)", "abs(cos(t)^2) + a - 3");
}

/* sqrt(a) sqrt(a) is not a, where a is negative; a sqrt(a) is a^1.5 wherever either is a number. */
TEST(powers_are_joined_where_they_are_equal)
{
    reads_well("sqrt(a) * sqrt(a)", "sqrt(a) * sqrt(a)");
    reads_well("sqrt(a) / cube(a)", "1 / a^2.5");
    reads_well("a ^ 0.3 * a ^ 0.4", "a^0.7");
}

/* Zeros behind a number are those of its error; they change no value. */
TEST(numbers_are_padded_to_their_error)
{
    static const int decimals[] = {4, 1, 3};
    char out[SR_TEXT];
    const struct sr_expr expr = formula("1 * r ^ 1.25 + 2e-7");
    sr_expr_infix(NULL, &expr, decimals, feature_name, out, sizeof out);
    assert_string_equal(out, "1.0000 * r^1.25 + 2e-07");
}

static void writes(const char *text, enum sr_notation notation, const char *expected)
{
    char out[SR_TEXT];
    const struct sr_expr expr = formula(text);
    sr_expr_write(NULL, &expr, notation, names_of(feature_name), out, sizeof out);
    assert_string_equal(out, expected);
}

/* Whole numbers below 1e7 are written out, in every notation. */
TEST(powers_of_ten_only_where_they_are_shorter)
{
    writes("r / 3e1", SR_PRINTED, "(r / 30)");
    writes("5.2e3 * r", SR_PRINTED, "(5200 * r)");
    writes("-4e2 * r", SR_LATEX, "-400 \\, r");
    writes("4e2 * r", SR_MATHML, "<mn>400</mn><mo rspace=\"0.15em\">&#x2062;</mo><mi>r</mi>");
    writes("3e1 * r", SR_C, "30.0 * r");
    writes("3e1 * r", SR_SYMPY, "30*r");
    writes("3e1 * r", SR_NUMPY, "30.0*r");
    writes("3e1 * r", SR_JAX, "30.0*r");
    writes("3e1 * r", SR_TORCH, "30.0*r");
    writes("9990000 * r", SR_PRINTED, "(9990000 * r)");
    writes("9999999 * r", SR_PRINTED, "(9999999 * r)");
    writes("1e7 * r", SR_PRINTED, "(1e+07 * r)");
    writes("12345678 * r", SR_PRINTED, "(12345678 * r)"); /* no shorter with a power of ten */
    writes("0.0001 * r", SR_PRINTED, "(0.0001 * r)");
    writes("0.00001 * r", SR_PRINTED, "(1e-05 * r)");
    for (double x = 1; x < 1e9; x *= 7.3) {
        char text[SR_NUMBER];
        const double value = sr_round_digits(x, 1 + (int)x % 4);
        sr_number_print(-value, text);
        assert_true(strtod(text, NULL) == -value);
        assert_true(value >= 1e7 || !strchr(text, 'e'));
    }
}

/* LaTeX has a command for each of these, and sets it with its spaces. */
TEST(latex_names_functions)
{
    writes("sinh(r)", SR_LATEX, "\\sinh\\left(r\\right)");
    writes("cosh(r)", SR_LATEX, "\\cosh\\left(r\\right)");
    writes("tanh(r)", SR_LATEX, "\\tanh\\left(r\\right)");
    writes("asin(r)", SR_LATEX, "\\arcsin\\left(r\\right)");
    writes("acos(r)", SR_LATEX, "\\arccos\\left(r\\right)");
    writes("atan(r)", SR_LATEX, "\\arctan\\left(r\\right)");
}

TEST(known_texts)
{
    writes("39.5 * m1 * m2 / r ^ 2", SR_C, "39.5 * m1 * m2 / pow(r, 2.0)");
    writes("39.5 * m1 * m2 / r ^ 2", SR_SYMPY, "39.5*m1*m2/r**2");
    writes("39.5 * m1 * m2 / r ^ 2", SR_LATEX, "\\frac{39.5 \\, m_{1} \\, m_{2}}{r^{2}}");
    writes("r - (m1 - m2)", SR_C, "r - (m1 - m2)");
    writes("r / (m1 * m2)", SR_C, "r / (m1 * m2)");
    writes("r * (m1 / m2)", SR_SYMPY, "r*(m1/m2)");
    writes("(-2) ^ r", SR_SYMPY, "(-2)**r");
    writes("-(r ^ 2)", SR_SYMPY, "-r**2");
    writes("r + -2", SR_C, "r + (-2.0)");
    writes("-2 * r", SR_SYMPY, "-2*r");
    writes("m1 - -2 * r", SR_SYMPY, "m1 - (-2*r)");
    writes("1 / 3", SR_C, "1.0 / 3.0");
    writes("inv(r + 1)", SR_C, "1 / (r + 1.0)");
    writes("square(r + m1)", SR_LATEX, "\\left(r + m_{1}\\right)^{2}");
    writes("square(exp(r))", SR_LATEX, "\\left(e^{r}\\right)^{2}");
    writes("2 * 3", SR_LATEX, "2 \\cdot 3");
    writes("r * 2.5e-7", SR_LATEX, "r \\, \\left(2.5 \\cdot 10^{-7}\\right)");
    writes("r ^ -2 * asin(m1)", SR_NUMPY, "r**(-2.0)*np.arcsin(m1)");
    writes("max(sqrt(r), abs(m1 - 1))", SR_JAX, "jnp.maximum(jnp.sqrt(r), jnp.abs(m1 - 1.0))");
    writes("min(r, 2) * asin(m1)", SR_TORCH,
           "torch.minimum(r, torch.as_tensor(2.0, dtype=torch.float64))*torch.asin(m1)");
    writes("hypot(r, 3) + cbrt(m1)", SR_C, "hypot(r, 3.0) + cbrt(m1)");
    writes("hypot(r, m1 + 1)", SR_SYMPY, "sqrt((r)**2 + (m1 + 1)**2)");
    writes("cbrt(r) ^ 2 * log10(m1)", SR_SYMPY, "(sign(r)*Abs(r)**(1/3))**2*log(m1, 10)");
    writes("atan2(r, m1) + cbrt(r + 1)", SR_NUMPY, "np.arctan2(r, m1) + np.cbrt(r + 1.0)");
    writes("hypot(r, m1) * log10(r)", SR_JAX, "jnp.hypot(r, m1)*jnp.log10(r)");
    writes("atan2(r, 2)", SR_TORCH, "torch.atan2(r, torch.as_tensor(2.0, dtype=torch.float64))");
    writes("2 * cbrt(r + 1)", SR_TORCH,
           "2.0*(torch.sign(r + 1.0)*torch.abs(r + 1.0)**0.3333333333333333)");
    writes("cbrt(r + 1) * log10(m1)", SR_LATEX,
           "\\sqrt[3]{r + 1} \\, \\log_{10}\\left(m_{1}\\right)");
    writes("ln(r) * 2", SR_MATHML,
           "<mrow><mi>ln</mi><mo>&#x2061;</mo><mrow><mo>(</mo><mi>r</mi><mo>)</mo></mrow></mrow>"
           "<mo>&#x22c5;</mo><mn>2</mn>");
    writes("-(r + 1) ^ 2", SR_MATHML,
           "<mrow><mo>&#x2212;</mo><msup><mrow><mo>(</mo><mi>r</mi><mo>+</mo><mn>1</mn><mo>)</mo>"
           "</mrow><mrow><mn>2</mn></mrow></msup></mrow>");
    writes("ln(r)", SR_PRINTED, "log(r)");
    writes("hypot(r, -m1) - atan2(r, log10(m1))", SR_PRINTED,
           "(hypot(r, neg(m1)) - atan2(r, log10(m1)))");
    writes("0.1 + r", SR_SYMPY, "0.1 + r"); /* the shortest that reads back the same */
}

TEST(names_fit_the_language)
{
    static const char *const names[3] = {"mass (kg)", "2nd", "x_1"};
    const struct sr_expr expr = formula("r + m1 + m2");
    char out[SR_TEXT];
    sr_expr_write(NULL, &expr, SR_C, names_of(names), out, sizeof out);
    assert_string_equal(out, "mass_kg + x2nd + x_1");
    sr_expr_write(NULL, &expr, SR_LATEX, names_of(names), out, sizeof out);
    assert_string_equal(out, "\\mathrm{mass\\ (kg)} + \\mathrm{2nd} + \\mathrm{x\\_1}");
    static const char *const marked[3] = {"a<b", "c1[star]", "T0&"};
    sr_expr_write(NULL, &expr, SR_MATHML, names_of(marked), out, sizeof out);
    assert_string_equal(out, "<mi>a&lt;b</mi><mo>+</mo><mrow><msub><mi>c</mi><mn>1</mn></msub>"
                             "<mtext>[star]</mtext></mrow><mo>+</mo><mi>T0&amp;</mi>");
    static const char *const alike[3] = {"a b", "a^b", "~ab\\"};
    sr_expr_write(NULL, &expr, SR_LATEX, names_of(alike), out, sizeof out);
    assert_string_equal(out, "\\mathrm{a\\ b} + \\mathrm{a{\\wedge}b} + "
                             "\\mathrm{{\\sim}ab{\\backslash}}");
}

TEST(own_operators_are_written_out)
{
    char out[SR_TEXT];
    struct sr_language *language = language_of("g(x)=x*exp(-x); h(u,v)=u/(g(u)+v)");
    const struct sr_expr expr = formula_in(language, "2 * h(r + 1, m1)");
    sr_expr_write(language, &expr, SR_SYMPY, names_of(feature_name), out, sizeof out);
    assert_string_equal(out, "2*((r + 1)/((r + 1)*exp(-(r + 1)) + m1))");
    sr_expr_write(language, &expr, SR_TORCH, names_of(feature_name), out, sizeof out);
    assert_string_equal(out, "2.0*((r + 1.0)/((r + 1.0)*torch.exp(-(r + 1.0)) + m1))");
    sr_expr_write(language, &expr, SR_LATEX, names_of(feature_name), out, sizeof out);
    assert_string_equal(out, "2 \\, \\operatorname{h}\\left(r + 1, m_{1}\\right)");
    sr_expr_write(language, &expr, SR_MATHML, names_of(feature_name), out, sizeof out);
    assert_non_null(strstr(out, "<mi>h</mi><mo>&#x2061;</mo><mrow><mo>(</mo><mi>r</mi><mo>+</mo>"));
    sr_expr_print(language, &expr, feature_name, out, sizeof out);
    assert_string_equal(out, "(2 * h((r + 1), m1))");
    const double x[3] = {0.7, 1.3, 0};
    const struct sr_data data = {.rows = 1, .features = 3, .x = x, .language = language};
    double value;
    assert_true(sr_eval(&expr, &data, &value));
    assert_true(near(value, 2 * 1.7 / (1.7 * exp(-1.7) + 1.3), 1e-14));
    sr_language_free(language);
}

/* ---- description lengths */

TEST(description_lengths)
{
    enum { N = 50 };
    static struct sr_hall_of_fame hall;
    static struct sr_front front;
    double x[3 * N], y[N];
    gsl_rng *rng = random_stream(5);
    double square = 0, slope = 0;
    for (int i = 0; i < N; i++) {
        x[i] = x[N + i] = x[2 * N + i] = 1 + gsl_rng_uniform(rng);
        const double e = 0.1 * gsl_ran_gaussian(rng, 1);
        y[i] = 3 * x[i] + e;
        square += e * e / N;
        slope += x[i] * x[i];
    }
    const struct sr_data data = {.rows = N, .features = 3, .x = x, .y = y};
    const struct sr_expr line = formula("3 * r"), tiny = formula("3 * r + 1e-9");
    sr_hall_of_fame_clear(&hall);
    sr_hall_of_fame_offer(&hall, NULL, &line, 2);
    sr_hall_of_fame_offer(&hall, NULL, &tiny, 1);
    sr_front_make(&hall, &front);
    assert_int_equal(sr_front_select(&front, SR_MDL), -1);
    assert_int_equal(sr_front_describe(&front, &data), 0);
    const double constant = log(3) + 0.5 * log(slope / square) - 0.5 * log(3);
    assert_true(near(front.mdl[0], N / 2.0 * log(square) + 3 * log(3) + constant, 1e-9));
    /* + c: two more nodes, one more operator; the constant is not told from 0 */
    assert_true(near(front.mdl[1], N / 2.0 * log(square) + 5 * log(4) + constant, 1e-6));
    assert_int_equal(sr_front_select(&front, SR_MDL), 0);
    assert_int_equal(sr_front_select(&front, SR_ACCURACY), 1);
    gsl_rng_free(rng);

    /* a constant of a tenth of its precision is 0, in the residuals too, not free */
    const double precision = sqrt(12 * square / N);
    double constants[SR_NODES];
    assert_int_equal(sr_expr_constants(&front.expr[1], constants), 2);
    constants[1] = 0.1 * precision;
    sr_expr_set_constants(&front.expr[1], constants);
    assert_int_equal(sr_front_describe(&front, &data), 0);
    assert_true(near(front.mdl[1], front.mdl[0] + 5 * log(4) - 3 * log(3), 1e-9));
    /* where 0 is far worse it stays, for its sign */
    constants[1] = 0.4 * precision;
    sr_expr_set_constants(&front.expr[1], constants);
    for (int i = 0; i < N; i++)
        y[i] += 1.2 * precision;
    assert_int_equal(sr_front_describe(&front, &data), 0);
    assert_true(front.cost[1] > front.cost[0] + 5 * log(4) - 3 * log(3));
}

TESTS(NULL, NULL)
