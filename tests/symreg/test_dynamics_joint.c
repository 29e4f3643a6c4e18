/* test_dynamics_joint.c - terms of all equations exchanged together along the solution, and forms
 * that a mirror keeps. */
#include "symreg/dynamics/joint_terms.h"

#include "testing.h"

enum { ROWS = 120 };

static const char *const name[] = {"x", "y", "t"};
static const char *const truth[] = {"1.01 * y", "-1.5 * x - 0.3 * y * y * y"};

/* A number between -1 and 1 with variance 1/3. */
static double draw(unsigned *state)
{
    *state = *state * 1664525U + 1013904223U;
    return (double)(*state >> 8) / (1 << 23) - 1;
}

/* One track of x' = 1.01 y, y' = -1.5 x - 0.3 y^3 from (1.7, -0.4), with noise of 0.03. */
static void make(struct sr_states *s)
{
    const size_t rows[1] = {ROWS};
    struct sr_expr equation[2];
    const struct sr_flow flow = {.dims = 2, .order = 1, .equation = equation};
    const double start[2] = {1.7, -0.4};
    unsigned state = 11;
    *s = (struct sr_states){.file = "made", .order = 1, .dims = 2, .names = 3};
    assert_int_equal(sr_states_create(s, 1, rows), 0);
    struct sr_state_track *const track = s->track;
    for (int d = 0; d < 2; d++)
        assert_int_equal(sr_expr_parse(NULL, truth[d], name, 3, &equation[d]), 0);
    for (int i = 0; i < ROWS; i++)
        track->t[i] = 0.09 * i;
    assert_int_equal(sr_flow_solve(&flow, start, ROWS, track->t, NULL, 1e-9, track->smooth), 0);
    for (int i = 0; i < 2 * ROWS; i++) {
        track->x[i] = track->smooth[i] + 0.03 * 1.7 * draw(&state);
        track->sigma[i] = 0.03;
    }
}

static void put(const char *const text[2], struct sr_judged *system)
{
    for (int d = 0; d < 2; d++)
        assert_int_equal(sr_expr_parse(NULL, text[d], name, 3, &system->expr[d]), 0);
}

/* Terms that make up for each other in two equations are exchanged for the true ones. */
TEST(terms_of_both_equations_are_exchanged)
{
    static const char *const wrong[] = {"0.9 * y + 0.1 * x * y", "-1.4 * x - 0.4 * y"};
    static struct sr_judged of_truth, system;
    static bool allowed[SR_OPS];
    struct sr_language *const language = sr_language_create();
    struct sr_states s;
    struct sr_judge judge;
    make(&s);
    memset(allowed, true, sizeof allowed);
    assert_int_equal(sr_judge_create(&s, language, 0, &judge), 0);
    put(truth, &of_truth);
    put(wrong, &system);
    assert_int_equal(sr_judge_fit(&judge, &of_truth), 0);
    assert_int_equal(sr_judge_fit(&judge, &system), 0);
    print_message("%.2f nats of the truth, %.2f before\n", of_truth.nats, system.nats);
    assert_true(system.nats > of_truth.nats + 5);
    assert_int_equal(sr_judge_exchange(&judge, allowed, SR_NODES, &system), 0);
    if (!(system.nats < of_truth.nats + 0.01)) {
        char text[2][SR_TEXT];
        for (int d = 0; d < 2; d++)
            sr_expr_print(NULL, &system.expr[d], name, text[d], SR_TEXT);
        fail_msg("%.2f nats of x' = %s, y' = %s after the exchange: expected at most %.2f",
                 system.nats, text[0], text[1], of_truth.nats);
    }
    sr_judge_free(&judge);
    sr_states_free(&s);
    sr_language_free(language);
}

/* Signs of both states, set 3, may change in an oscillator without even terms; such a system costs
 * ln 2 less for each term. */
TEST(odd_equations_keep_their_form_in_a_mirror)
{
    static const struct {
        const char *text;
        int d;
        uint32_t sets;
    } of[] = {{"y", 0, 1U << 3},
              {"-1.5 * x - 0.3 * cube(y)", 1, 1U << 3},
              {"sin(x) - y", 1, 1U << 3},
              {"0.4 * x * x", 0, 1U << 2},
              {"0.4 * x * y * y + 0.1", 0, 1U << 2},
              {"0.4 * x * y + y + x + 1", 0, 0},
              {"0.4 * x * x", 1, 1U << 1},
              {"0.4 * x * x * y", 1, 1U << 1 | 1U << 2 | 1U << 3},
              {"sqrt(abs(x) + 0.1) - 1", 0, 1U << 2},
              {"log(x)", 0, 0}};
    struct sr_language *const language = sr_language_create();
    struct sr_states s;
    struct sr_judge judge;
    make(&s);
    assert_int_equal(sr_judge_create(&s, language, 0, &judge), 0);
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        struct sr_expr expr;
        assert_int_equal(sr_expr_parse(NULL, of[k].text, name, 3, &expr), 0);
        const uint32_t sets = sr_judge_mirrors(&judge, &expr, of[k].d);
        if (sets != of[k].sets)
            fail_msg("%s of equation %d keeps its form in the sets %x, expected %x", of[k].text,
                     of[k].d, (unsigned)sets, (unsigned)of[k].sets);
    }
    sr_judge_free(&judge);
    sr_states_free(&s);
    sr_language_free(language);
}

TESTS(NULL, NULL)
