/* test_conserved.c - conserved quantities of systems: those of mechanics and of populations are
 * found, keep their values along solutions, and systems with friction have none. */
#include "symreg/dynamics/conserved.h"
#include "symreg/formulas.h"

enum { ROWS = 120, STATES = 4 };

struct system {
    const char *name;
    int dims, order;
    const char *names[STATES + 1], *equation[3];
    double start[STATES], end;
    int count;           /* of conserved quantities */
    const char *text[3]; /* the first ones */
};
static const struct system systems[] = {
    {"oscillator",
     2,
     1,
     {"x", "y", "t"},
     {"1.3 * y", "-0.9 * x"},
     {1, 0.2},
     20,
     1,
     {"x^2 + 1.444444444 * y^2"}},
    {"hunters and prey",
     2,
     1,
     {"x", "y", "t"},
     {"1.1 * x - 0.4 * x * y", "0.1 * x * y - 0.4 * y"},
     {10, 5},
     30,
     1,
     {"x + 4 * y - 4 * log(x) - 11 * log(y)"}},
    {"Kepler's orbit",
     2,
     2,
     {"x", "y", "u", "v", "t"},
     {"-39.478 * x / (x * x + y * y)^1.5", "-39.478 * y / (x * x + y * y)^1.5"},
     {1.6, 0, 0, 3.14},
     4,
     3,
     {"x * v - y * u", "0.5 * u^2 + 0.5 * v^2 - 39.478 / sqrt(x^2 + y^2)"}},
    {"pendulum",
     1,
     2,
     {"x", "u", "t"},
     {"-2.1 * sin(x)"},
     {2, 0.1},
     20,
     1,
     {"-2.1 * cos(x) + 0.5 * u^2"}},
    {"magnetic field and spring",
     2,
     2,
     {"x", "y", "u", "v", "t"},
     {"1.7 * v - x", "-1.7 * u - y"},
     {1.6, 0, 0, 3.14},
     4,
     2,
     {NULL}},
    {"Henon and Heiles",
     2,
     2,
     {"x", "y", "u", "v", "t"},
     {"-x - 2 * x * y", "-y - x * x + y * y"},
     {0.1, 0.1, 0.2, 0.1},
     40,
     1,
     {NULL}},
    {"free rotation",
     3,
     1,
     {"x", "y", "z", "t"},
     {"0.7 * y * z", "-1.1 * x * z", "0.4 * x * y"},
     {1, 0.3, 0.5},
     20,
     2,
     {NULL}},
    {"epidemic",
     3,
     1,
     {"s", "i", "r", "t"},
     {"-0.5 * s * i", "0.5 * s * i - 0.1 * i", "0.1 * i"},
     {0.99, 0.01, 0.001},
     60,
     2,
     {"s + i + r"}},
    {"friction", 1, 2, {"x", "u", "t"}, {"-2.1 * sin(x) - 0.15 * u"}, {2, 0.1}, 20, 0, {NULL}},
    {"Lorenz's system",
     3,
     1,
     {"x", "y", "z", "t"},
     {"10 * (y - x)", "x * (28 - z) - y", "x * y - 2.667 * z"},
     {1, 2, 20},
     10,
     0,
     {NULL}},
    /* the square of x - 100 is small beside its terms */
    {"a narrow range",
     2,
     1,
     {"x", "y", "t"},
     {"0.5 * (y - 10)", "100 - x - 0.2 * (y - 10)"},
     {101, 10},
     20,
     0,
     {NULL}},
    {"driven", 1, 2, {"x", "u", "t"}, {"sin(t) - x"}, {1, 0.1}, 20, 0, {NULL}},
};
enum { SYSTEMS = sizeof systems / sizeof *systems };

static struct sr_expr equation[3];
static double times[ROWS], x[STATES * ROWS];

static void find(const struct system *s, struct sr_conserved *found)
{
    struct sr_flow flow = {.dims = s->dims, .order = s->order, .equation = equation};
    const int states = sr_flow_states(&flow);
    for (int d = 0; d < s->dims; d++)
        if (sr_expr_parse(NULL, s->equation[d], s->names, states + 1, &equation[d]))
            fail_msg("%s: %s", s->name, orr_error());
    for (int i = 0; i < ROWS; i++)
        times[i] = s->end * i / (ROWS - 1);
    if (sr_flow_solve(&flow, s->start, ROWS, times, NULL, 1e-12, x))
        fail_msg("%s: %s", s->name, orr_error());
    const struct sr_flow_track track = {.n = ROWS, .t = times, .x = x, .guess = x};
    assert_int_equal(sr_conserved_find(&flow, 1, &track, found), 0);
}

TEST(known_quantities_are_found)
{
    struct sr_conserved found;
    for (int k = 0; k < SYSTEMS; k++) {
        const struct system *s = &systems[k];
        find(s, &found);
        if (found.count != s->count)
            fail_msg("%s: %d conserved quantities, not %d", s->name, found.count, s->count);
        for (int q = 0; q < found.count && s->text[q]; q++) {
            char text[SR_TEXT];
            sr_expr_collect(NULL, &found.expr[q]);
            sr_expr_text(NULL, &found.expr[q], SR_INFIX, s->names, text, sizeof text);
            if (strcmp(text, s->text[q]))
                fail_msg("%s: \"%s\" is conserved, expected \"%s\"", s->name, text, s->text[q]);
        }
    }
}

TEST(they_keep_their_values)
{
    struct sr_conserved found;
    double value[ROWS];
    for (int k = 0; k < SYSTEMS; k++) {
        find(&systems[k], &found);
        const struct sr_data data = {
            .rows = ROWS, .features = systems[k].dims * systems[k].order, .x = x};
        for (int q = 0; q < found.count; q++) {
            assert_true(sr_eval(&found.expr[q], &data, value));
            for (int i = 0; i < ROWS; i++)
                if (!(fabs(value[i] - value[0]) < 1e-7 * (1 + fabs(value[0]))))
                    fail_msg("%s: quantity %d is %.12g at first and %.12g in row %d",
                             systems[k].name, q, value[0], value[i], i);
        }
    }
}

/* Constants that a fit found have errors: the momentum is conserved nearly, and said to be. */
TEST(what_is_nearly_conserved_says_so)
{
    struct system orbit = systems[2];
    struct sr_conserved found;
    orbit.equation[0] = "-39.41 * x / (x * x + y * y)^1.5";
    find(&orbit, &found);
    assert_int_equal(found.count, 2);
    assert_true(found.change[0] < 1e-9);
    if (!(found.change[1] > 1e-4 && found.change[1] < 1e-2))
        fail_msg("the momentum changes by %g of its terms", found.change[1]);
}

/* Constants of each category stand in quantities as they do in equations: the value of one category
 * is a number, with which the sum is conserved along its track. */
TEST(constants_of_each_category_stand_in_quantities)
{
    enum { NAMES = SR_EACH_FIRST + 2 };
    static const struct {
        int dims, order, count;
        const char *equation[2], *text;
    } list[] = {{1, 2, 1, {"-c1 * sin(x)", NULL}, "0.5 * y^2 - c1 * cos(x)"},
                {2, 1, 1, {"c1 * y", "-0.9 * x"}, "x^2 + 1.111111111 * y^2 * c1"},
                {2,
                 1,
                 1,
                 {"c1 * x - 0.4 * x * y", "0.1 * x * y - c2 * y"},
                 "x + 4 * y - 10 * c1 * log(y) - 10 * c2 * log(x)"},
                {1, 2, 0, {"-2.3 * sin(x) - c1 * y", NULL}, NULL}};
    static struct sr_each each = {{{1.3, 0.8, 2.1}, {0.4, 0.7, 0.5}}};
    const char *name[NAMES];
    for (int k = 0; k < NAMES; k++)
        name[k] = k == 0 ? "x" : k == 1 ? "y" : k < SR_EACH_FIRST ? "" : k % 2 ? "c2" : "c1";
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        struct sr_flow flow = {.dims = list[k].dims,
                               .order = list[k].order,
                               .equation = equation,
                               .each = &each,
                               .categories = 3};
        struct sr_conserved found;
        char text[SR_TEXT];
        for (int d = 0; d < flow.dims; d++)
            assert_int_equal(sr_expr_parse(NULL, list[k].equation[d], name, NAMES, &equation[d]),
                             0);
        for (int i = 0; i < ROWS; i++) {
            x[i] = 1 + 0.8 * sin(0.1 * i);
            x[ROWS + i] = 1 + 0.5 * cos(0.1 * i);
        }
        const struct sr_flow_track track = {.n = ROWS, .guess = x};
        assert_int_equal(sr_conserved_find(&flow, 1, &track, &found), 0);
        assert_int_equal(found.count, list[k].count);
        for (int q = 0; q < found.count; q++) {
            assert_true(found.change[q] < 1e-8);
            sr_expr_collect(NULL, &found.expr[q]);
            sr_expr_text(NULL, &found.expr[q], SR_INFIX, name, text, sizeof text);
            assert_string_equal(text, list[k].text);
        }
    }
}

TESTS(NULL, NULL)
