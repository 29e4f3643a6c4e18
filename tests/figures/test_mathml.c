/* test_mathml.c - laws in MathML: what is written has the value of the text, and its shape. */
#include "formula.h"
#include "report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "testing.h"

/* ---- the text's own value, without the tree under test */

static const double *point; /* r, m1, m2, x */

static double variable(const char *name, size_t length)
{
    static const char *const names[] = {"r", "m1", "m2", "x"};
    for (int i = 0; i < 4; i++)
        if (strlen(names[i]) == length && !strncmp(names[i], name, length))
            return point[i];
    fail_msg("no variable %.*s", (int)length, name);
    return NAN;
}

static double function(const char *name, size_t length, double a, double b)
{
    static const struct {
        const char *name;
        double (*value)(double);
    } plain[] = {{"sin", sin},   {"cos", cos},   {"exp", exp},   {"log", log},
                 {"ln", log},    {"tan", tan},   {"sqrt", sqrt}, {"abs", fabs},
                 {"atan", atan}, {"tanh", tanh}, {"cbrt", cbrt}, {"log10", log10}};
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (strlen(plain[i].name) == length && !strncmp(plain[i].name, name, length))
            return plain[i].value(a);
    return !strncmp(name, "inv", length)      ? 1 / a
           : !strncmp(name, "square", length) ? a * a
           : !strncmp(name, "cube", length)   ? a * a * a
           : !strncmp(name, "neg", length)    ? -a
           : !strncmp(name, "min", length)    ? fmin(a, b)
           : !strncmp(name, "hypot", length)  ? hypot(a, b)
           : !strncmp(name, "atan2", length)  ? atan2(a, b)
                                              : NAN;
}

static double sum_of_text(const char **at);

static void skip_spaces(const char **at)
{
    *at += strspn(*at, " ");
}

static double atom_of_text(const char **at)
{
    skip_spaces(at);
    if (**at == '-') {
        ++*at;
        const char *before = *at;
        const double value = -atom_of_text(at);
        assert_true(*at > before);
        return value;
    }
    double value, other = NAN;
    const size_t letters = strspn(*at, "abcdefghijklmnopqrstuvwxyz");
    const size_t length = letters ? letters + strspn(*at + letters, "0123456789") : 0;
    const char *name = *at;
    *at += length;
    if (**at == '(') {
        ++*at;
        value = sum_of_text(at);
        if (**at == ',') {
            ++*at;
            other = sum_of_text(at);
        }
        assert_int_equal(**at, ')');
        ++*at;
        if (length)
            value = function(name, length, value, other);
    } else if (length) {
        value = variable(name, length);
    } else {
        char *end;
        value = strtod(*at, &end);
        assert_true(end > *at);
        *at = end;
    }
    skip_spaces(at);
    if (**at != '^')
        return value;
    ++*at;
    return pow(value, atom_of_text(at));
}

static double product_of_text(const char **at)
{
    double value = atom_of_text(at);
    while (**at == '*' || **at == '/') {
        const bool times = *(*at)++ == '*';
        const double next = atom_of_text(at);
        value = times ? value * next : value / next;
    }
    return value;
}

static double sum_of_text(const char **at)
{
    double value = product_of_text(at);
    while (**at == '+' || **at == '-') {
        const bool plus = *(*at)++ == '+';
        const double next = product_of_text(at);
        value = plus ? value + next : value - next;
    }
    return value;
}

static double value_of_text(const char *text)
{
    const double value = sum_of_text(&text);
    assert_int_equal(*text, '\0');
    return value;
}

/* ---- the value of MathML: an infix text as a reader of the page would say it aloud */

/* Appends an element and moves behind it. Rows get no brackets, as nobody sees any. */
static void say(const char **at, char *out)
{
    static const struct {
        const char *tag, *open, *between, *close;
    } layouts[] = {{"mfrac", "((", ")/(", "))"},
                   {"msup", "", "^(", ")"},
                   {"msub", "", "", ""},
                   {"msqrt", "sqrt(", "", ")"},
                   {"mrow", "", "", ""}};
    static const struct {
        const char *entity, *text;
    } operators[] = {{"&#x2062;", "*"}, {"&#x2212;", "-"}, {"&#xd7;", "*"}, {"&#x2061;", ""},
                     {"+", "+"},        {"(", "("},        {")", ")"},      {",", ","}};
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        const size_t length = strlen(layouts[i].tag);
        if (strncmp(*at + 1, layouts[i].tag, length) != 0 || (*at)[length + 1] != '>')
            continue;
        *at += length + 2;
        strcat(out, layouts[i].open);
        for (int child = 0; strncmp(*at, "</", 2) != 0; child++) {
            assert_true(child < 2 || i > 2);
            strcat(out, child ? layouts[i].between : "");
            say(at, out);
        }
        strcat(out, layouts[i].close);
        *at += length + 3;
        return;
    }
    assert_true(!strncmp(*at, "<mi", 3) || !strncmp(*at, "<mn", 3) || !strncmp(*at, "<mo", 3));
    const char *content = *at + strcspn(*at, ">") + 1;
    const size_t length = strcspn(content, "<");
    if ((*at)[2] != 'o') {
        strncat(out, content, length);
    } else {
        size_t i = 0;
        while (strlen(operators[i].entity) != length ||
               strncmp(operators[i].entity, content, length) != 0)
            assert_true(++i < sizeof operators / sizeof *operators);
        strcat(out, operators[i].text);
    }
    *at = content + length + 5;
}

/* MathML of a law; "" when it is no formula. */
static void write_law(const char *text, char out[1 << 14])
{
    static struct report_formula formula;
    struct orr_file file = {0};
    const char *parent = getenv("TMPDIR");
    char path[4096], *written;
    size_t bytes;
    out[0] = '\0';
    if (!report_formula_read(text, &formula))
        return;
    assert_int_equal(orr_path(path, "%s/mathml-test", parent ? parent : "/tmp"), 0);
    assert_int_equal(orr_file_create(&file, path), 0);
    report_mathml_write(&file, &formula);
    assert_int_equal(orr_file_flush(&file), 0);
    assert_int_equal(orr_file_read(file.temporary, &written, &bytes), 0);
    orr_file_close(&file); /* never committed: thousands of files that the disk need not have */
    assert_true(bytes < 1 << 14);
    memcpy(out, written, bytes + 1);
    free(written);
}

/* ---- the tests */

static double uniform(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) / 9007199254740992.0;
}

static void assert_value_kept(const char *text)
{
    static char mathml[1 << 14], said[1 << 14];
    uint64_t state = 17;
    write_law(text, mathml);
    if (!*mathml)
        fail_msg("not read: %s", text);
    const char *at = mathml;
    said[0] = '\0';
    say(&at, said);
    assert_int_equal(*at, '\0');
    for (int trial = 0; trial < 50; trial++) {
        const double values[4] = {0.3 + 2.7 * uniform(&state), 0.1 + 3 * uniform(&state),
                                  0.1 + 3 * uniform(&state), 4 * uniform(&state) - 2};
        point = values;
        const double expected = value_of_text(text), found = value_of_text(said);
        if (isnan(expected) ? !isnan(found)
                            : !(fabs(found - expected) <= 1e-9 * (1 + fabs(expected))))
            fail_msg("%s is %.17g, but %s is %.17g", text, expected, said, found);
    }
}

/* Formulas that searches found, and the awkward ones: signs before powers and sums, powers that are
 * no whole numbers and so do not add up for negative x, sums in every place. */
TEST(value_is_kept)
{
    static const char *const texts[] = {
        "((m1 * (m2 * 39.4)) / (r * r))",
        "(m1 * (39.47842 * (m2 * inv((r * r)))))",
        "((inv((r * (0.026416 * r))) * m1) * m2)",
        "((39.47842 * (exp((inv(cos((m2 + 0.3082))) * -4e-10)) * (m1 * inv((r * r))))) * m2)",
        "((m1 * (m2 + (r * (m2 + 0.0294)))) * ((40.635 * exp(inv((r * exp(r))))) + -40.234))",
        "((-252.59 * sin((((m2 + m2) * inv((r * r))) * (exp((m1 * -0.0851)) + -0.99776)))) + 0.1)",
        "(144.43 * sin(((m1 * exp(((-2.3243 * inv((m2 + 0.4998))) + 0.3501))) * inv((r * r)))))",
        "((1.44 + r) * (((48.936 + (-66.51 * sin(sin(cos(inv(r)))))) * (m2 * m1)) + 0.059))",
        "((x - 2.385) - (m1 - (r - 1.7)))",
        "-(m1 + x)",
        "(r - -(m1 + x))",
        "(3 - (m1 + x)) * -(r - x)",
        "-x^2",
        "(-x)^2",
        "(-x)^3 / -(r + x)",
        "(-2 * x)^-3",
        "x^0.5 * x^0.5",
        "(x^2)^0.5",
        "(x^0.5)^2",
        "r^0.5 * r / r^1.5 * r^x",
        "(r + x)^(m1 - x)",
        "(2 * r)^-1.5 * (m1 + r)^-1",
        "(m1 + r)^2 / (m1 + r)^3",
        "1 / ((r + 1) * (r + 1) * (m1 - 4))",
        "r * inv(r)",
        "r - r",
        "0 - x * 0.31",
        "5.5e-12 * x * 3e20",
        "sqrt(r * m1) / sqrt(r * m1) ^ 3",
        "min(r, -x) * neg(cube(x)) - square(x - 1) * abs(x)",
        "tanh(-x) * log(r) ^ 2 - atan((x))",
        "55.03215018240393 * sin(1.485063016685233 * x - 54876.7128) + 12.533829665763374",
        "55.032 * sin(1.485063 * (x - 2459000.458756)) - 12.5 / 2.7",
        "hypot(r, -x) * atan2(x, m1) - cbrt(x - 1) ^ 2 / log10(r + 1)",
        "r / 0.3 - x / 0.7 / 3 + 1 / 7",
        "2.385",
        "-0.5",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_value_kept(texts[i]);
}

static void append_random(char *text, uint64_t *state, int depth)
{
    static const char *const leaves[] = {"r", "m1", "m2", "x", "2", "-0.5", "1", "1.25e-3"};
    static const char *const binary[] = {"+", "-", "*", "/", "*"};
    static const char *const unary[] = {"inv", "square", "cube", "neg", "sin", "sqrt"};
    const double draw = uniform(state);
    if (depth == 0 || draw < 0.15) {
        strcat(text, leaves[(int)(8 * uniform(state))]);
    } else if (draw < 0.7) {
        strcat(text, "(");
        append_random(text, state, depth - 1);
        strcat(text, binary[(int)(5 * uniform(state))]);
        append_random(text, state, depth - 1);
        strcat(text, ")");
    } else {
        strcat(text, unary[(int)(6 * uniform(state))]);
        strcat(text, "(");
        append_random(text, state, depth - 1);
        strcat(text, ")");
    }
}

/* Whether rounding decides nothing at the point: both values are small, and change little when the
 * point is moved a little. */
static bool is_tame(const char *text, const char *said)
{
    double value[2][2];
    double moved[4];
    for (int k = 0; k < 2; k++) {
        const double *before = point;
        for (int i = 0; i < 4; i++)
            moved[i] = before[i] * (1 + (k ? 1e-13 : 0));
        point = moved;
        value[k][0] = value_of_text(text);
        value[k][1] = value_of_text(said);
        point = before;
    }
    for (int w = 0; w < 2; w++)
        if (!(fabs(value[0][w]) < 1e6) ||
            !(fabs(value[0][w] - value[1][w]) < 1e-10 * (1 + fabs(value[0][w]))))
            return false;
    return true;
}

TEST(value_of_random_formulas_is_kept)
{
    static char text[1 << 14], mathml[1 << 14], said[1 << 14];
    uint64_t seed = 5;
    int compared = 0;
    for (int n = 0; n < 3000; n++) {
        text[0] = said[0] = '\0';
        append_random(text, &seed, 5);
        write_law(text, mathml);
        if (!*mathml)
            continue; /* a division by 0 */
        const char *at = mathml;
        say(&at, said);
        for (int trial = 0; trial < 3; trial++) {
            const double values[4] = {0.3 + 2.7 * uniform(&seed), 0.1 + 3 * uniform(&seed),
                                      0.1 + 3 * uniform(&seed), 4 * uniform(&seed) - 2};
            point = values;
            if (!is_tame(text, said))
                continue;
            const double expected = value_of_text(text), found = value_of_text(said);
            compared++;
            if (!(fabs(found - expected) <= 1e-6 * (1 + fabs(expected))))
                fail_msg("%s is %.17g, but %s is %.17g", text, expected, said, found);
        }
    }
    assert_true(compared > 4000);
}

#define M1M2 "<msub><mi>m</mi><mn>1</mn></msub><mo>&#x2062;</mo><msub><mi>m</mi><mn>2</mn></msub>"
#define T    "<mo rspace=\"0.15em\">&#x2062;</mo>"

TEST(products_are_collected)
{
    static const struct {
        const char *text, *mathml;
    } known[] = {
        {"((m1*(m2*39.4))/(r*r))", "<mfrac><mrow><mn>39.4</mn>" T M1M2
                                   "</mrow><mrow><msup><mi>r</mi><mn>2</mn></msup></mrow></mfrac>"},
        {"((inv((r * (0.026416 * r))) * m2) * m1)",
         "<mfrac><mrow>" M1M2 "</mrow><mrow><mn>0.026416</mn>" T
         "<msup><mi>r</mi><mn>2</mn></msup></mrow></mfrac>"},
        {"m1 * m2 * inv(r)", "<mfrac><mrow>" M1M2 "</mrow><mrow><mi>r</mi></mrow></mfrac>"},
        {"-2.287183e+10 * r", "<mrow><mo>&#x2212;</mo><mrow><mrow><mn>2.287183</mn><mo>&#xd7;</"
                              "mo><msup><mn>10</mn><mrow>"
                              "<mn>10</mn></mrow></msup></mrow>" T "<mi>r</mi></mrow></mrow>"},
        {"r + -0.23685", "<mrow><mi>r</mi><mo>&#x2212;</mo><mn>0.23685</mn></mrow>"},
        {"sqrt(r)", "<msqrt><mi>r</mi></msqrt>"},
        {"log(r)", "<mrow><mi>ln</mi><mo>&#x2061;</mo><mrow><mo>(</mo><mi>r</mi><mo>)</mo></mrow>"
                   "</mrow>"},
    };
    static char found[1 << 14];
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        write_law(known[i].text, found);
        assert_string_equal(found, known[i].mathml);
    }
}

/* What is no formula, too deep or too long is shown as it stands. */
TEST(other_texts_stay_texts)
{
    static const char *const texts[] = {"",
                                        "m1 * m2 < r & 39.4",
                                        "k m1 m2 / r^2",
                                        "(r",
                                        "r)",
                                        "r +",
                                        "sin(",
                                        "sin()",
                                        "1 / 0",
                                        "inf",
                                        "0x1p3 * r",
                                        "r ** 2",
                                        "1e999",
                                        "<script>",
                                        "f(r,)",
                                        "(-8)^0.5"};
    static struct report_formula formula;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (report_formula_read(texts[i], &formula) && strcmp(texts[i], "inf") != 0)
            fail_msg("read as a formula: %s", texts[i]);
    static char long_text[1000001]; /* without a limit too deep for the stack */
    memset(long_text, '(', 1000000);
    assert_false(report_formula_read(long_text, &formula));
    memset(long_text, '-', 1000000);
    assert_false(report_formula_read(long_text, &formula));
    for (int i = 0; i < 20000; i++)
        long_text[i] = i % 2 ? '+' : 'r';
    long_text[19999] = '\0';
    assert_false(report_formula_read(long_text, &formula));
}

TESTS(NULL, NULL)
