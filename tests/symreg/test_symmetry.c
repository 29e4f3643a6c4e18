/* test_symmetry.c - accelerations as sums of vectors: fields are found from tracks, with equations
 * of their components, and symmetries of equations are measured. */
#include "symreg/dynamics/dynamics.h"

#include <math.h>

#include "testing.h"

enum { ROWS = 100, NAMES = 7 };
static const char *const plane[] = {"x", "y", "v_x", "v_y", "t"};
static const char *const space[] = {"x", "y", "z", "v_x", "v_y", "v_z", "t"};

/* A field, and what is found of it, with `digits` of the numbers; noise: of the positions. */
struct field {
    int dims, tracks, digits;
    double noise;
    double end, start[6];
    const char *equation[3], *text;
};
static const struct field fields[] = {
    {2,
     1,
     6,
     0,
     2.5,
     {1.3, 0, 0, 4.5},
     {"-39.478 * x * (x^2 + y^2)^(-1.5) - 0.15 * v_x",
      "-39.478 * y * (x^2 + y^2)^(-1.5) - 0.15 * v_y"},
     "a = -39.478 * r^-3 * (x, y) - 0.15 * (v_x, v_y)"},
    {2,
     1,
     6,
     0,
     4,
     {1, 0.2, -0.7, 0.4},
     {"0.64 * x + 1.6 * v_y", "0.64 * y - 1.6 * v_x"},
     "a = 0.64 * (x, y) - 1.6 * (-v_y, v_x)"},
    {3,
     1,
     6,
     0,
     8,
     {1, 0, 0, 0.3, 1.2, 0.4},
     {"0.4 - 1.7 * v_y", "1.7 * v_x", "0.1"},
     "a = 0.4 * (1, 0, 0) + 0.1 * (0, 0, 1) + 1.7 * (-v_y, v_x, 0)"},
    /* a power that is not whole, with drag */
    {2,
     1,
     2,
     1e-4,
     2.5,
     {1.3, 0, 0, 4.5},
     {"-39.478 * x * (x^2 + y^2)^(-1.35) - 0.15 * v_x",
      "-39.478 * y * (x^2 + y^2)^(-1.35) - 0.15 * v_y"},
     "a = -39 * r^-2.7 * (x, y) - 0.15 * (v_x, v_y)"},
    {2,
     1,
     2,
     1e-4,
     2.5,
     {1.3, 0, 0, 4.5},
     {"-39.478 * x * (x^2 + y^2)^(-1.55)", "-39.478 * y * (x^2 + y^2)^(-1.55)"},
     "a = -39 * r^-3.1 * (x, y)"},
    /* of v/c = 0.1: terms of a hundredth of the first */
    {2,
     2,
     2,
     1e-4,
     2.5,
     {1.3, 0, 0, 4.5},
     {"-39.478 * x * (x^2 + y^2)^(-1.5) + 0.0157912 * (x^2 + y^2)^(-1.5) * ((157.912 * (x^2 + "
      "y^2)^(-0.5) - v_x^2 - v_y^2) * x + 4 * (x * v_x + y * v_y) * v_x)",
      "-39.478 * y * (x^2 + y^2)^(-1.5) + 0.0157912 * (x^2 + y^2)^(-1.5) * ((157.912 * (x^2 + "
      "y^2)^(-0.5) - v_x^2 - v_y^2) * y + 4 * (x * v_x + y * v_y) * v_y)"},
     "a = 2.5 * r^-4 * (x, y) - 39 * r^-3 * (x, y) - 0.016 * r^-3 * v^2 * (x, y) + "
     "0.063 * r^-3 * (r.v) * (v_x, v_y)"},
};
/* Fields that change with the time. */
static const struct field timed[] = {
    {2,
     1,
     2,
     1e-4,
     2.5,
     {1.3, 0, 0, 4.5},
     {"-(39.478 - 4 * t) * x * (x^2 + y^2)^(-1.5)", "-(39.478 - 4 * t) * y * (x^2 + y^2)^(-1.5)"},
     "a = -39 * r^-3 * (x, y) + 4 * t * r^-3 * (x, y)"},
    {2,
     1,
     2,
     1e-4,
     8,
     {1, 0.2, -0.3, 0.9},
     {"0.7 * t - 2.3 * x", "-2.3 * y"},
     "a = -2.3 * (x, y) + 0.7 * t * (1, 0)"},
    {2,
     1,
     2,
     1e-4,
     2.5,
     {1.3, 0, 0, 4.5},
     {"-39.478 * exp(-0.3 * t) * x * (x^2 + y^2)^(-1.5) - 0.1 * v_x",
      "-39.478 * exp(-0.3 * t) * y * (x^2 + y^2)^(-1.5) - 0.1 * v_y"},
     "a = -39 * exp(-0.3 * t) * r^-3 * (x, y) - 0.1 * (v_x, v_y)"},
};

static void make(const struct field *field, struct sr_expr *expr, struct sr_states *s)
{
    const size_t rows[2] = {ROWS, ROWS};
    const int dims = field->dims;
    const char *const *name = dims == 2 ? plane : space;
    *s = (struct sr_states){.file = "made", .order = 2, .dims = dims, .names = 2 * dims + 1};
    for (int k = 0; k < s->names; k++)
        snprintf(s->name[k], SR_STATE_NAME, "%s", name[k]);
    for (int d = 0; d < dims; d++)
        assert_int_equal(sr_expr_parse(NULL, field->equation[d], name, s->names, &expr[d]), 0);
    assert_int_equal(sr_states_create(s, (size_t)field->tracks, rows), 0);
    gsl_rng *const rng = orr_rng_create(1, ORR_STAGE_TEST_SUITE, 0);
    assert_non_null(rng);
    const struct sr_flow flow = {.dims = dims, .order = 2, .equation = expr};
    for (int k = 0; k < field->tracks; k++) {
        struct sr_state_track *track = &s->track[k];
        double x[6 * ROWS], start[6];
        for (int d = 0; d < 2 * dims; d++) /* the second track begins slower */
            start[d] = field->start[d] * (k && d >= dims ? 0.8 : 1);
        for (size_t i = 0; i < ROWS; i++) {
            track->t[i] = field->end * (double)i / ROWS;
            track->line[i] = i + 2;
        }
        assert_int_equal(sr_flow_solve(&flow, start, ROWS, track->t, NULL, 1e-11, x), 0);
        for (size_t i = 0; i < (size_t)dims * ROWS; i++)
            track->x[i] = x[i] + field->noise * orr_draw_normal(rng);
    }
    gsl_rng_free(rng);
    assert_int_equal(sr_states_smooth(s, 1), 0);
}

/* Finds the field, compares its text, and the components away from its track. */
static void find(const struct field *field, struct sr_states *s, struct sr_system *system)
{
    static struct sr_expr truth[SR_STATES];
    char text[SR_TEXT];
    make(field, truth, s);
    assert_int_equal(sr_system_vectors(s, NULL, 0, system), 0);
    assert_true(system->symmetry.vectors && system->by_track);
    struct sr_form rounded = system->symmetry.form;
    for (int k = 0; k < rounded.count; k++) {
        rounded.value[k] = sr_round_digits(rounded.value[k], field->digits);
        rounded.term[k].power = sr_round_digits(rounded.term[k].power, field->digits);
        rounded.term[k].rate = sr_round_digits(rounded.term[k].rate, field->digits);
    }
    sr_form_text(s, &rounded, text, sizeof text);
    assert_string_equal(text, field->text);
    const double allowed = field->noise > 0 ? 0.01 : 1e-5;

    for (int p = 0; p < 20; p++) {
        double row[NAMES], found, right;
        for (int k = 0; k < NAMES; k++)
            row[k] = cos(1.7 * p + k * k) + 0.2;
        const struct sr_data one = {.rows = 1, .features = s->names, .x = row};
        for (int d = 0; d < s->dims; d++) {
            assert_true(sr_eval(&system->expr[d], &one, &found));
            assert_true(sr_eval(&truth[d], &one, &right));
            assert_true(fabs(found - right) < allowed * (1 + fabs(right)));
        }
    }
}

TEST(fields_are_found_as_vectors)
{
    static struct sr_system system;
    for (size_t f = 0; f < sizeof fields / sizeof *fields; f++) {
        struct sr_states s;
        find(&fields[f], &s, &system);
        /* what would break the symmetry has a coefficient of 0 */
        assert_true(system.symmetry.probes > 0);
        for (int k = 0; k < system.symmetry.probes && !(fields[f].noise > 0); k++)
            assert_true(fabs(system.symmetry.probe[k].value) < 1e-4);
        sr_states_free(&s);
    }
}

/* A line that begins so, of the symmetries and their evidence. */
static bool says(const struct sr_states *s, const struct sr_symmetry *symmetry, const char *begin)
{
    char text[SR_TEXT];
    bool any = false;
    for (int k = 0; sr_symmetry_text(s, symmetry, k, text, sizeof text); k++)
        any = any || !strncmp(text, begin, strlen(begin));
    return any;
}

TEST(fields_of_the_time_are_found_with_their_evidence)
{
    static struct sr_system system;
    static struct sr_expr truth[SR_STATES];
    static const char *const evidence[] = {
        "explicit in the time: the coefficient of t * r^-3 * (x, y) is ",
        "explicit in the time: the coefficient of t * (1, 0) is 0.",
        "explicit in the time: the rate of exp(-0."};
    for (size_t f = 0; f < 3; f++) {
        struct sr_states s;
        find(&timed[f], &s, &system);
        assert_true(system.time_gain > 100);
        assert_int_equal(sr_symmetry_measure(&s, NULL, &system), 0);
        assert_true(says(&s, &system.symmetry, evidence[f]));
        assert_true(says(&s, &system.symmetry,
                         f < 2 ? "not conservative: free of curl, but it changes"
                               : "not of a potential of the position, as it depends"));
        assert_false(says(&s, &system.symmetry, "conservative"));
        sr_states_free(&s);
    }
    /* a field without the time has evidence that it needs none */
    struct sr_states s;
    make(&fields[1], truth, &s);
    assert_int_equal(sr_system_vectors(&s, NULL, 0, &system), 0);
    const struct sr_probe *drift = &system.symmetry.probe[system.symmetry.probes - 1];
    assert_true(drift->term.time == 1 && drift->error < 1e-4 && system.time_gain == 0);
    sr_states_free(&s);
}

/* Least squares say at once whether sums need the time, of exact tracks and of noisy ones: of a
 * decaying GM all forms without it take long to follow exact tracks, and none does. */
TEST(least_squares_tell_whether_the_time_acts)
{
    static struct sr_expr truth[SR_STATES];
    for (size_t k = 0; k < 5; k++) {
        struct field field = k < 4 ? timed[k / 2] : fields[1];
        struct sr_states s;
        struct sr_sums *sums;
        field.noise = k % 2 ? field.noise : 0;
        make(&field, truth, &s);
        assert_int_equal(sr_sums_create(&s, false, &sums), 0);
        const double gain = sr_sums_time(sums);
        print_message("sums with the time are shorter by %.4g nats\n", gain);
        assert_true(k < 4 ? gain > 50 : gain < 0);
        sr_sums_free(sums);
        sr_states_free(&s);
    }
}

/* Directions, powers and scalars of the list in formulas of components, against closed forms. */
TEST(components_are_those_of_the_form)
{
    const struct sr_form form = {.count = 6,
                                 .term = {{.direction = SR_RADIAL, .power = -3},
                                          {.direction = SR_RADIAL, .power = -4},
                                          {.direction = SR_VELOCITY, .power = -3, .along = 1},
                                          {.direction = SR_TURNED, .axis = 2, .power = -3},
                                          {.direction = SR_RADIAL, .power = -3, .speed = 1},
                                          {.direction = SR_UNIT, .axis = 1, .height = 2}},
                                 .value = {2, -3, 0.5, 0.7, 1.3, 4}};
    struct sr_form part = form;
    part.count = 5;
    const struct sr_states s = {.order = 2, .dims = 2, .names = 5};
    static struct sr_expr expr[SR_STATES];
    static int group[SR_STATES][SR_NODES];
    for (int p = 0; p < 18; p++) {
        double row[5], found[2];
        for (int k = 0; k < 5; k++)
            row[k] = sin(2.1 * p + 1.3 * k) + 0.1;
        const double x = row[0], y = row[1], u = row[2], v = row[3], r = hypot(x, y);
        const bool last = p % 2; /* with and without a power that all terms have */
        const double radial = 2 - 3 / r + 1.3 * hypot(u, v), along = 0.5 * (x * u + y * v);
        const double right[] = {(radial * x + along * u - 0.7 * v) / (r * r * r),
                                (radial * y + along * v + 0.7 * u) / (r * r * r)};
        part.term[1] = last ? form.term[5] : form.term[1];
        part.value[1] = last ? 4 : -3;
        assert_true(sr_form_components(&s, &part, expr, group));
        const struct sr_data one = {.rows = 1, .features = 5, .x = row};
        for (int d = 0; d < 2; d++) {
            const double other = last ? 3 / pow(r, 4) * row[d] + (d ? 4 * y * y : 0) : 0;
            assert_true(sr_eval(&expr[d], &one, &found[d]));
            assert_true(fabs(found[d] - right[d] - other) < 1e-11 * (1 + fabs(right[d])));
        }
        assert_int_equal(group[0][0], 0);
    }
}

TEST(better_equations_of_components_stay)
{
    static struct sr_system vectors, system;
    vectors.by_track = true;
    vectors.nats = -50;
    system.nats = -61; /* a sum of vectors is likelier by 10 nats before the tracks are seen */
    assert_false(sr_vectors_win(&vectors, &system));
    system.nats = -59;
    assert_true(sr_vectors_win(&vectors, &system));
    vectors.by_track = false;
    assert_false(sr_vectors_win(&vectors, &system));
}

/* What a form costs: each vector, factor and name more costs more. */
TEST(longer_forms_cost_more)
{
    const struct sr_vector term[] = {
        {.direction = SR_RADIAL},
        {.direction = SR_RADIAL, .power = -3},
        {.direction = SR_RADIAL, .power = -3, .speed = 1},
        {.direction = SR_RADIAL, .power = -3, .speed = 2},
        {.direction = SR_RADIAL, .power = -3, .speed = 2, .time = 1},
    };
    struct sr_form form = {.count = 1};
    double before = 0;
    for (int k = 0; k < 5; k++) {
        form.term[0] = term[k];
        assert_true(sr_vectors_nats(&form) > before + 0.5);
        before = sr_vectors_nats(&form);
    }
    for (int count = 2; count <= 5; count++) {
        form.count = count;
        form.term[count - 1] = term[5 - count];
        assert_true(sr_vectors_nats(&form) > before + 2);
        assert_true(sr_vectors_nats(&form) < before + 20);
        before = sr_vectors_nats(&form);
    }
}

/* The standard error of every number of the equations that are measured. */
static double constant_error;

/* The symmetries of two equations, in which c is 3 of the tracks' category. */
static void measure(const char *first, const char *second, struct sr_symmetry *symmetry)
{
    static struct sr_system system;
    static const char *name[SR_EACH_FIRST + 1];
    struct sr_states s;
    for (int k = 0; k <= SR_EACH_FIRST; k++)
        name[k] = k < 5 ? plane[k] : k == SR_EACH_FIRST ? "c" : "";
    make(&fields[1], system.expr, &s);
    assert_int_equal(sr_expr_parse(NULL, first, name, SR_EACH_FIRST + 1, &system.expr[0]), 0);
    assert_int_equal(sr_expr_parse(NULL, second, name, SR_EACH_FIRST + 1, &system.expr[1]), 0);
    system.constants = sr_each_used(&system.expr[0]) != 0;
    for (size_t k = 0; k < s.count; k++)
        s.track[k].category = 1;
    system.each.value[0][0] = 2;
    system.each.value[0][1] = 3;
    for (int d = 0; d < 2; d++)
        for (int k = 0; k < SR_NODES; k++)
            system.error[d][k] = constant_error;
    assert_int_equal(sr_symmetry_measure(&s, NULL, &system), 0);
    assert_true(system.symmetry.measured);
    *symmetry = system.symmetry;
    sr_states_free(&s);
}

TEST(symmetries_of_equations_are_measured)
{
    static struct sr_symmetry symmetry;
    const double *share = symmetry.share;
    measure("-x * (x^2 + y^2)^(-1.5)", "-y * (x^2 + y^2)^(-1.5)", &symmetry);
    assert_true(share[SR_CENTRAL] < 1e-12 && share[SR_STILL] == 0 && share[SR_CURL_FREE] < 1e-12);
    measure("-y", "x", &symmetry); /* a whirl */
    assert_true(fabs(share[SR_CENTRAL] - 1) < 1e-12 && fabs(share[SR_CURL_FREE] - 1) < 1e-12);
    measure("2 * x", "y", &symmetry); /* of a potential, not central */
    assert_true(share[SR_CENTRAL] > 0.05 && share[SR_CURL_FREE] == 0 && share[SR_STILL] == 0);
    measure("-x - 0.3 * v_x", "-y - 0.3 * v_y", &symmetry);
    assert_true(share[SR_STILL] > 0.05);
    /* with a constant of each category */
    measure("-c * x", "-c * y", &symmetry);
    assert_true(share[SR_CENTRAL] < 1e-12 && share[SR_STILL] == 0 && share[SR_CURL_FREE] == 0);
    measure("-c * x", "-2 * y", &symmetry); /* not central, as c is not 2 */
    const double across = share[SR_CENTRAL];
    measure("-3 * x", "-2 * y", &symmetry);
    assert_true(across > 0.01 && fabs(across - share[SR_CENTRAL]) < 1e-12);
}

/* The line about a potential, of equations. */
static const char *potential(const char *first, const char *second)
{
    static struct sr_symmetry symmetry;
    static char text[SR_TEXT];
    static const struct sr_states none;
    measure(first, second, &symmetry);
    assert_true(sr_symmetry_text(&none, &symmetry, SR_CURL_FREE, text, sizeof text));
    return text;
}

TEST(a_potential_that_changes_with_the_time_conserves_nothing)
{
    assert_string_equal(potential("-2 * x", "-y"), "conservative: free of curl");
    assert_string_equal(potential("cos(t) - 2 * x", "-y"),
                        "not conservative: free of curl, but it changes with the time");
}

/* The line about a potential of two pendulums whose spring has two constants with errors. */
static const char *spring(double error)
{
    constant_error = error;
    const char *text = potential("0.3 * (y - x) - x", "0.3002 * (x - y) - y");
    constant_error = 0;
    return text;
}

TEST(what_errors_of_constants_explain_breaks_no_symmetry)
{
    assert_non_null(strstr(spring(1e-4), "conservative within its errors: 0.0075% +- 0.005% of "));
    assert_non_null(strstr(spring(1e-5), "not conservative: 0.0075% +- 0.0005% of "));
    assert_non_null(strstr(spring(0), "not conservative: 0.0075% of "));
}

TESTS(NULL, NULL)
