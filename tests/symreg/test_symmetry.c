/* test_symmetry.c - accelerations as sums of vectors: fields are found from tracks, with equations
 * of their components, and symmetries of equations are measured. */
#include "symreg/dynamics/dynamics.h"

#include <math.h>

#include "testing.h"

enum { ROWS = 100, NAMES = 7 };
static const char *const plane[] = {"x", "y", "v_x", "v_y", "t"};
static const char *const space[] = {"x", "y", "z", "v_x", "v_y", "v_z", "t"};

/* A field, and what is found of it. */
struct field {
    int dims, tracks;
    double end, start[6];
    const char *equation[3], *text;
};
static const struct field fields[] = {
    {2,
     1,
     2.5,
     {1.3, 0, 0, 4.5},
     {"-39.478 * x * (x^2 + y^2)^(-1.5) - 0.15 * v_x",
      "-39.478 * y * (x^2 + y^2)^(-1.5) - 0.15 * v_y"},
     "a = -39.478 * r^-3 * (x, y) - 0.15 * (v_x, v_y)"},
    {2,
     1,
     4,
     {1, 0.2, -0.7, 0.4},
     {"0.64 * x + 1.6 * v_y", "0.64 * y - 1.6 * v_x"},
     "a = 0.64 * (x, y) - 1.6 * (-v_y, v_x)"},
    {3,
     1,
     8,
     {1, 0, 0, 0.3, 1.2, 0.4},
     {"0.4 - 1.7 * v_y", "1.7 * v_x", "0.1"},
     "a = 0.4 * (1, 0, 0) + 0.1 * (0, 0, 1) + 1.7 * (-v_y, v_x, 0)"},
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
    const struct sr_flow flow = {.dims = dims, .order = 2, .equation = expr};
    for (int k = 0; k < field->tracks; k++) {
        struct sr_state_track *track = &s->track[k];
        double x[6 * ROWS];
        for (size_t i = 0; i < ROWS; i++) {
            track->t[i] = field->end * (double)i / ROWS;
            track->line[i] = i + 2;
        }
        assert_int_equal(sr_flow_solve(&flow, field->start, ROWS, track->t, NULL, 1e-11, x), 0);
        memcpy(track->x, x, (size_t)dims * ROWS * sizeof *x);
    }
    assert_int_equal(sr_states_smooth(s, 1), 0);
}

TEST(fields_are_found_as_vectors)
{
    static struct sr_system system;
    static struct sr_expr truth[SR_STATES];
    for (size_t f = 0; f < sizeof fields / sizeof *fields; f++) {
        struct sr_states s;
        char text[SR_TEXT];
        make(&fields[f], truth, &s);
        assert_int_equal(sr_system_vectors(&s, NULL, 0, &system), 0);
        assert_true(system.symmetry.vectors && system.by_track);
        for (int k = 0; k < system.symmetry.form.count; k++)
            system.symmetry.form.value[k] = sr_round_digits(system.symmetry.form.value[k], 6);
        sr_form_text(&s, &system.symmetry.form, text, sizeof text);
        assert_string_equal(text, fields[f].text);
        /* the components are those of the field, also away from its track */
        for (int p = 0; p < 20; p++) {
            double row[NAMES], found, right;
            for (int k = 0; k < NAMES; k++)
                row[k] = cos(1.7 * p + k * k) + 0.2;
            const struct sr_data one = {.rows = 1, .features = s.names, .x = row};
            for (int d = 0; d < s.dims; d++) {
                assert_true(sr_eval(&system.expr[d], &one, &found));
                assert_true(sr_eval(&truth[d], &one, &right));
                assert_true(fabs(found - right) < 1e-5 * (1 + fabs(right)));
            }
        }
        /* what would break the symmetry has a coefficient of 0 */
        assert_true(system.symmetry.probes > 0);
        for (int k = 0; k < system.symmetry.probes; k++)
            assert_true(fabs(system.symmetry.probe[k].value) < 1e-4);
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

static void measure(const char *first, const char *second, struct sr_symmetry *symmetry)
{
    static struct sr_expr expr[SR_STATES];
    struct sr_states s;
    make(&fields[1], expr, &s);
    assert_int_equal(sr_expr_parse(NULL, first, plane, 5, &expr[0]), 0);
    assert_int_equal(sr_expr_parse(NULL, second, plane, 5, &expr[1]), 0);
    assert_int_equal(sr_symmetry_measure(&s, NULL, expr, symmetry), 0);
    assert_true(symmetry->measured);
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

TESTS(NULL, NULL)
