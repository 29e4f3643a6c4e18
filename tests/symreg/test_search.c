/* test_search.c - the search as a whole: the same fronts for any number of threads, known laws
 * found on clean data, settings checked. */
#include "symreg/formulas.h"
#include "evolve/search.h"

#include <gsl/gsl_sf_gamma.h>

/* A small budget over + * and the given unary operators. */
static struct sr_settings small_settings(enum sr_op unary, enum sr_op second, int maxsize)
{
    struct sr_settings s = {
        .binary = {SR_ADD, SR_MUL},
        .unary = {unary, second},
        .binary_count = 2,
        .unary_count = second == SR_CONSTANT ? 1 : 2,
        .loss = ORR_SR_L1,
        .maxsize = maxsize,
        .iterations = 20,
        .populations = 6,
        .population_size = 27,
        .cycles = 100,
        .restarts = 1,
        .algorithm = &sr_algorithm_orrery,
        .seed = 7,
    };
    return s;
}

/* y = text times (1 + noise * Gaussian). */
static void table_of(struct table *t, const char *text, size_t rows, uint64_t seed, double noise)
{
    const struct sr_expr truth = formula(text);
    gsl_rng *rng = random_stream(seed + 1000);
    table_create(t, rows, seed, false);
    assert_true(sr_eval(&truth, &t->data, t->y));
    for (size_t i = 0; i < rows; i++)
        t->y[i] *= 1 + noise * gsl_ran_gaussian(rng, 1);
    gsl_rng_free(rng);
}

static void same_front(const struct sr_front *a, const struct sr_front *b)
{
    assert_int_equal(a->count, b->count);
    for (int i = 0; i < a->count; i++) {
        assert_true(sr_expr_hash(&a->expr[i]) == sr_expr_hash(&b->expr[i]));
        assert_memory_equal(&a->loss[i], &b->loss[i], sizeof a->loss[i]);
        assert_memory_equal(&a->score[i], &b->score[i], sizeof a->score[i]);
    }
}

/* What every front must be: sizes within the limit, losses falling, and true of the formulas. */
static void sound_front(const struct sr_front *front, const struct sr_data *data,
                        const struct sr_settings *s)
{
    struct sr_loss loss;
    double *value = orr_alloc(data->rows, sizeof *value);
    assert_non_null(value);
    assert_int_equal(sr_loss_init(&loss, s->loss, data), 0);
    assert_true(front->count > 0);
    for (int i = 0; i < front->count; i++) {
        assert_true(front->expr[i].count <= s->maxsize);
        assert_true(i == 0 || (front->loss[i] < front->loss[i - 1] &&
                               front->expr[i].count > front->expr[i - 1].count));
        struct sr_expr expr = front->expr[i];
        assert_true(sr_expr_measure(NULL, &expr));
        assert_true(sr_eval(&expr, data, value));
        const double found = sr_loss_value(&loss, value, 1);
        if (!(fabs(found - front->loss[i]) <= 1e-6 * found + loss.noise))
            fail_msg("row %d, %s: loss %.9g, in truth %.9g", i, text_of(&expr), front->loss[i],
                     found);
    }
    sr_loss_free(&loss);
    free(value);
}

TEST(fronts_depend_on_the_seed_alone)
{
    static struct sr_fit one[2], two[2];
    struct table t[2];
    struct sr_settings s = small_settings(SR_INV, SR_SIN, 14);
    s.iterations = 7; /* more than 1,000 evaluations of either table */
    s.restarts = 2;
    table_of(&t[0], "5 * m1 * sin(r) + m2", 200, 1, 0.05);
    /* the second is large enough for a look at few rows */
    table_of(&t[1], "m1 * m2 * inv(r * r + 0.5)", 4 * SR_SCREEN_ROWS + 1, 2, 0.02);
    for (uint64_t f = 0; f < 2; f++) {
        one[f] = (struct sr_fit){.data = t[f].data, .stream = f};
        two[f] = one[f];
    }
    assert_int_equal(sr_search(&s, one, 2, 1, NULL), 0);
    assert_int_equal(sr_search(&s, two, 2, 2, NULL), 0);
    for (int f = 0; f < 2; f++) {
        sound_front(&one[f].front, &t[f].data, &s);
        same_front(&one[f].front, &two[f].front);
        assert_true(one[f].evaluations == two[f].evaluations && one[f].evaluations > 1000);
        assert_true(one[f].screened == two[f].screened && (one[f].screened > 1000) == (f == 1));
    }
    assert_int_equal(sr_search(&s, two, 2, 3, NULL), 0); /* again, and three threads */
    for (int f = 0; f < 2; f++)
        same_front(&one[f].front, &two[f].front);
    /* a fit alone, and in company */
    two[1].front.count = 0;
    assert_int_equal(sr_search(&s, &two[1], 1, 2, NULL), 0);
    same_front(&one[1].front, &two[1].front);
    /* other seeds and streams search elsewhere */
    s.seed++;
    assert_int_equal(sr_search(&s, &two[1], 1, 2, NULL), 0);
    assert_true(two[1].evaluations != one[1].evaluations);
    s.seed--;
    two[1].stream = 9;
    assert_int_equal(sr_search(&s, &two[1], 1, 2, NULL), 0);
    assert_true(two[1].evaluations != one[1].evaluations);
    table_free(&t[0]);
    table_free(&t[1]);
}

/* Restart k of stream 0 is the search of stream k alone; the one with the highest score is kept. */
/* With noise nothing is ever exact: patience ends the search, here one of years. */
TEST(patience_ends_what_gains_nothing)
{
    static struct sr_fit fit;
    struct table t;
    struct sr_settings s = small_settings(SR_INV, SR_SIN, 7);
    s.iterations = 1000000000;
    s.populations = 2;
    s.cycles = 50;
    s.patience = 3;
    table_of(&t, "m1 * m2 * inv(r)", 100, 3, 0.05);
    fit.data = t.data;
    assert_int_equal(sr_search(&s, &fit, 1, 1, NULL), 0);
    sound_front(&fit.front, &t.data, &s);
    table_free(&t);
}

/* An exact formula among the first few thousand ends the enumeration; and so does a table of few
 * rows. What is met is counted. */
TEST(enumeration_ends_where_it_is_exact)
{
    double met[3];
    for (int k = 0; k < 3; k++) {
        static struct sr_fit fit;
        struct table t;
        struct sr_settings s = small_settings(SR_INV, SR_SIN, 14);
        s.iterations = 0;
        s.enumerate = 1e5;
        table_of(&t, "3.7 * m1 * m2", k == 2 ? 20 : 200, 4, k == 0 ? 0 : 0.05);
        fit = (struct sr_fit){.data = t.data};
        assert_int_equal(sr_search(&s, &fit, 1, 2, NULL), 0);
        sound_front(&fit.front, &t.data, &s);
        assert_true(k > 0 || fit.front.loss[fit.front.count - 1] == 0);
        met[k] = fit.evaluations;
        table_free(&t);
    }
    if (!(met[0] * 2 < met[1] && met[2] * 2 < met[1]))
        fail_msg("exact %g, noisy %g, few rows %g", met[0], met[1], met[2]);
}

/* Limits hold where formulas are proposed: enumerated, fitted, composed. */
TEST(limits_hold_from_the_first_formula_on)
{
    static struct sr_fit fit[3];
    struct table t;
    struct sr_settings s = small_settings(SR_INV, SR_SIN, 14);
    table_of(&t, "m1 * sin(m2) * inv(r) + sin(m1 * r)", 200, 3, 0.1);
    s.enumerate = 500000;
    s.max_evaluations = 1000;
    for (int k = 0; k < 3; k++) {
        fit[k] = (struct sr_fit){.data = t.data};
        if (k == 2) { /* time that has passed: no more than the first stage */
            s.max_evaluations = 0;
            s.max_seconds = 1e-9;
        }
        assert_int_equal(sr_search(&s, &fit[k], 1, k ? 3 : 1, NULL), 0);
        sound_front(&fit[k].front, &t.data, &s);
        assert_true(fit[k].front.count > 3);
        assert_int_equal(fit[k].end, k == 2 ? SR_END_SECONDS : SR_END_EVALUATIONS);
    }
    same_front(&fit[0].front, &fit[1].front);
    assert_true(fit[0].evaluations >= 1000 && fit[0].evaluations < 1100);
    assert_true(fit[2].evaluations < 3000);
    table_free(&t);
}

/* Stops, as a signal would, once so many candidates were judged. */
static bool stops_after(const struct sr_expr *expr, const void *context)
{
    int *left = *(int *const *)context;
    (void)expr;
    if (--*left == 0)
        assert_int_equal(orr_time_limit("1e-9"), 0);
    return true;
}

/* Whatever ends a search, the front has the best of what it saw: here a law among the formulas that
 * are enumerated. */
TEST(a_stop_keeps_what_was_seen)
{
    static struct sr_fit fit;
    struct table t;
    struct sr_settings s = small_settings(SR_INV, SR_SIN, 14);
    int left = 1200, *counter = &left;
    table_of(&t, "m1 * m2 * inv(r)", 200, 3, 0);
    s.enumerate = 500000;
    s.admissible = stops_after;
    s.context = &counter;
    fit = (struct sr_fit){.data = t.data};
    assert_int_equal(sr_search(&s, &fit, 1, 1, NULL), ORR_EINTR);
    assert_true(left <= 0 && left > -200);
    assert_int_equal(orr_time_limit("1e9"), 0);
    sound_front(&fit.front, &t.data, &s);
    assert_true(fit.front.loss[fit.front.count - 1] <= 0);
    table_free(&t);
}

/* Where the time given is to be used, patience draws new populations in place of an end. */
TEST(time_given_is_used)
{
    static struct sr_fit fit;
    struct table t;
    struct sr_settings s = small_settings(SR_INV, SR_SIN, 9);
    table_of(&t, "m1 * sin(m2) * inv(r) + sin(m1 * r)", 60, 3, 0.1);
    s.patience = 1;
    s.iterations = 3;
    s.max_evaluations = 60000;
    for (int uses = 0; uses < 2; uses++) {
        fit = (struct sr_fit){.data = t.data};
        s.restarts_fresh = uses;
        assert_int_equal(sr_search(&s, &fit, 1, 2, NULL), 0);
        if (uses)
            assert_int_equal(fit.end, SR_END_EVALUATIONS);
        else
            assert_true(fit.end == SR_END_PATIENCE || fit.end == SR_END_ITERATIONS);
    }
    table_free(&t);
}

TEST(the_best_restart_is_kept)
{
    static struct sr_fit one[4], all;
    struct table t;
    struct sr_settings s = small_settings(SR_INV, SR_SIN, 14);
    s.iterations = 4;
    s.populations = 2;
    int moved = 0;
    for (uint64_t seed = 1; seed <= 8; seed++) {
        int best = 0;
        double score[4], last[4];
        table_of(&t, "5 * m1 * sin(r) + m2", 100, seed, 0.05);
        s.restarts = 1;
        for (uint64_t k = 0; k < 4; k++)
            one[k] = (struct sr_fit){.data = t.data, .stream = k};
        assert_int_equal(sr_search(&s, one, 4, 2, NULL), 0);
        for (int k = 0; k < 4; k++) { /* of equal scores the smaller loss */
            const struct sr_front *front = &one[k].front;
            score[k] = front->score[sr_front_select(front, SR_SCORE)];
            last[k] = front->loss[front->count - 1];
            if (score[k] > score[best] || (score[k] >= score[best] && last[k] < last[best]))
                best = k;
        }
        moved += best > 0;
        s.restarts = 4;
        all = (struct sr_fit){.data = t.data};
        assert_int_equal(sr_search(&s, &all, 1, 2, NULL), 0);
        same_front(&all.front, &one[best].front);
        assert_true(all.evaluations == one[0].evaluations + one[1].evaluations +
                                           one[2].evaluations + one[3].evaluations);
        table_free(&t);
    }
    assert_true(moved > 0);
}

/* The simplest row of a front that is k m1 m2 / r^2 at all rows of the table, -1 where none is. */
static int newton_row(const struct sr_front *front, const struct sr_data *data, double *k)
{
    const struct sr_expr newton = formula("m1 * m2 * inv(r * r)");
    double *law = orr_alloc(2 * data->rows, sizeof *law), *value = law + data->rows;
    int found = -1;
    assert_non_null(law);
    assert_true(sr_eval(&newton, data, law));
    for (int row = 0; row < front->count && found < 0; row++) {
        bool is = sr_eval(&front->expr[row], data, value);
        for (size_t i = 0; i < data->rows && is; i++)
            is = near(value[i] / law[i], value[0] / law[0], 1e-3);
        if (is)
            found = row, *k = value[0] / law[0];
    }
    free(law);
    return found;
}

TEST(newton_is_found_on_clean_data)
{
    static struct sr_fit fit;
    static const enum orr_symreg_loss kinds[] = {ORR_SR_L1, ORR_SR_STUDY, ORR_SR_RELATIVE,
                                                 ORR_SR_L2};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        struct table t;
        struct sr_settings s = small_settings(SR_INV, SR_CONSTANT, 20);
        double constant = 0;
        s.loss = kinds[k];
        table_of(&t, "39.4784176 * m1 * m2 * inv(r * r)", 300, 3, 0);
        fit = (struct sr_fit){.data = t.data};
        assert_int_equal(sr_search(&s, &fit, 1, 2, NULL), 0);
        sound_front(&fit.front, &t.data, &s);
        const int row = newton_row(&fit.front, &t.data, &constant);
        if (row < 0)
            fail_msg("loss %d: the best of %d rows is %s, loss %g", (int)kinds[k], fit.front.count,
                     text_of(&fit.front.expr[fit.front.count - 1]),
                     fit.front.loss[fit.front.count - 1]);
        assert_true(near(constant, 39.4784176, 1e-3));
        for (int rule = 0; rule < SR_MDL; rule++)
            assert_int_equal(sr_front_select(&fit.front, (enum sr_rule)rule), row);
        table_free(&t);
    }
}

/* The size of y must not matter: 1e-7 of it is found like 1. */
TEST(newton_is_found_in_any_unit)
{
    static struct sr_fit fit;
    struct table t;
    struct sr_settings s = small_settings(SR_INV, SR_CONSTANT, 20);
    double constant = 0;
    table_of(&t, "3e-7 * m1 * m2 * inv(r * r)", 300, 3, 0);
    fit = (struct sr_fit){.data = t.data};
    assert_int_equal(sr_search(&s, &fit, 1, 2, NULL), 0);
    assert_true(newton_row(&fit.front, &t.data, &constant) >= 0);
    assert_true(near(constant, 3e-7, 1e-3));
    table_free(&t);
}

TEST(other_laws_are_found)
{
    static struct sr_fit fit;
    static const struct {
        const char *text;
        enum sr_op unary, second;
    } law[] = {
        {"r * m1 + cos(m2)", SR_COS, SR_EXP},
        {"2.5 * r * sin(3 * m1) + 0.7", SR_SIN, SR_CONSTANT},
        {"m1 * sqrt(r + m2)", SR_SQRT, SR_SIN},
    };
    for (size_t k = 0; k < sizeof law / sizeof *law; k++) {
        struct table t;
        struct sr_settings s = small_settings(law[k].unary, law[k].second, 12);
        s.iterations = 30;
        s.restarts = 2;
        table_of(&t, law[k].text, 200, 5, 0);
        fit = (struct sr_fit){.data = t.data, .stream = k};
        assert_int_equal(sr_search(&s, &fit, 1, 2, NULL), 0);
        sound_front(&fit.front, &t.data, &s);
        const int best = fit.front.count - 1;
        if (!(fit.front.loss[best] < 1e-6))
            fail_msg("%s: the best is %s, loss %g", law[k].text, text_of(&fit.front.expr[best]),
                     fit.front.loss[best]);
        table_free(&t);
    }
}

/* Tables that offer little: constant and zero targets, one feature, two rows. */
TEST(poor_tables_give_fronts)
{
    static struct sr_fit fit;
    struct table t;
    struct sr_settings s = small_settings(SR_INV, SR_EXP, 9);
    s.iterations = 3;
    table_create(&t, 50, 6, true);
    for (int k = 0; k < 4; k++) {
        for (size_t i = 0; i < 50; i++)
            t.y[i] = k == 0 ? 0 : k == 1 ? -4.25 : k == 2 ? 1e-12 * (double)i : t.x[i];
        fit = (struct sr_fit){.data = t.data};
        fit.data.features = 1;
        s.loss = k % 2 ? ORR_SR_L2 : ORR_SR_RELATIVE;
        assert_int_equal(sr_search(&s, &fit, 1, 2, NULL), 0);
        sound_front(&fit.front, &fit.data, &s);
        if (k != 2 && !(fit.front.loss[fit.front.count - 1] <= 0 && fit.front.count <= 2))
            fail_msg("table %d: %d rows, the last %s, loss %g", k, fit.front.count,
                     text_of(&fit.front.expr[fit.front.count - 1]),
                     fit.front.loss[fit.front.count - 1]);
    }
    fit.data.rows = 2;
    assert_int_equal(sr_search(&s, &fit, 1, 1, NULL), 0);
    sound_front(&fit.front, &fit.data, &s);
    s.maxsize = 1;
    assert_int_equal(sr_search(&s, &fit, 1, 1, NULL), 0);
    sound_front(&fit.front, &fit.data, &s);
    table_free(&t);
}

/* Only binary or only unary operators, and the largest size. */
TEST(settings_at_their_edges)
{
    static struct sr_fit fit;
    struct table t;
    table_of(&t, "r + m1 * m2", 60, 8, 0.01);
    fit = (struct sr_fit){.data = t.data};
    struct sr_settings s = small_settings(SR_INV, SR_SIN, SR_NODES);
    s.iterations = 3;
    assert_int_equal(sr_search(&s, &fit, 1, 2, NULL), 0);
    sound_front(&fit.front, &t.data, &s);
    s.unary_count = 0;
    assert_int_equal(sr_search(&s, &fit, 1, 2, NULL), 0);
    sound_front(&fit.front, &t.data, &s);
    s.unary_count = 2;
    s.binary_count = 0;
    assert_int_equal(sr_search(&s, &fit, 1, 2, NULL), 0);
    sound_front(&fit.front, &t.data, &s);
    s.population_size = 2;
    s.populations = 1;
    s.iterations = 0;
    assert_int_equal(sr_search(&s, &fit, 1, 2, NULL), 0);
    sound_front(&fit.front, &t.data, &s);
    table_free(&t);
}

/* Long chains of random changes leave sound formulas within the limit, of the allowed operators. */
TEST(changes_leave_formulas)
{
    gsl_rng *rng = random_stream(61);
    const struct sr_settings s = small_settings(SR_INV, SR_SIN, 15);
    struct sr_expr a, b;
    int largest = 0, changed = 0;
    sr_random_expr(&s, 3, rng, 8, &a);
    sr_random_expr(&s, 3, rng, 8, &b);
    for (int k = 0; k < 40000; k++) {
        struct sr_expr mutant = a, other = b;
        if (k % 5 == 0 && sr_crossover(&s, rng, &mutant, &other)) {
            a = mutant;
            b = other;
        } else if (k % 5 && sr_mutate(&s, 3, rng, &mutant)) {
            a = mutant;
            changed++;
        }
        mutant = a;
        assert_true(sr_expr_measure(NULL, &mutant));
        assert_true(a.count >= 1 && a.count <= s.maxsize && b.count <= s.maxsize);
        for (int i = 0; i < a.count; i++) {
            const int op = a.node[i].op;
            assert_true(op == SR_CONSTANT || op == SR_FEATURE || op == SR_ADD || op == SR_MUL ||
                        op == SR_INV || op == SR_SIN);
            assert_true(op != SR_FEATURE || a.node[i].feature < 3);
            assert_int_equal(a.node[i].size, mutant.node[i].size);
        }
        largest = a.count > largest ? a.count : largest;
        if (k % 7 == 0) { /* now and then from elsewhere */
            b = a;
            sr_random_expr(&s, 3, rng, 1 + k % 15, &a);
        }
    }
    assert_true(largest > 10 && changed > 10000);
    gsl_rng_free(rng);
}

/* Where the settings have no operator of an arity, one of a guess, or the product of a free outer
 * factor, is not exchanged for another. */
TEST(an_operator_is_exchanged_for_those_of_the_settings)
{
    gsl_rng *rng = random_stream(63);
    for (int arity = 1; arity <= 2; arity++) {
        struct sr_settings s = small_settings(SR_INV, SR_SIN, 15);
        enum sr_op *const op = arity == 2 ? s.binary : s.unary;
        *(arity == 2 ? &s.binary_count : &s.unary_count) = 0;
        op[0] = op[1] = SR_CONSTANT; /* what an empty list begins with */
        for (int k = 0; k < 4000; k++) {
            struct sr_expr expr = formula("2 * tanh(r)"), measured;
            sr_mutate(&s, 3, rng, &expr);
            measured = expr;
            assert_true(sr_expr_measure(NULL, &measured));
            for (int i = 0; i < expr.count; i++)
                assert_true(sr_expr_arity(&expr, i) == 0 || expr.node[i].op != SR_CONSTANT);
            assert_int_equal(measured.node[expr.count - 1].size, expr.count);
        }
    }
    gsl_rng_free(rng);
}

/* Every kind of change does what its name says, seen by the neighbours it must reach. */
TEST(changes_reach_every_neighbour)
{
    static const struct {
        const char *from, *to;
    } step[] = {
        {"(r + m1) * m2", "(r + (m1 * m2))"},        /* rotation */
        {"r + m1 * m2", "((r + m1) * m2)"},          /* and back */
        {"(r + m1) * m2", "(m2 * (r + m1))"},        /* swap */
        {"(r + m1) * m2", "(r + m1)"},               /* delete */
        {"(r + m1) * m2", "m2"},                     /* delete */
        {"(r + m1) * m2", "(r * m2)"},               /* delete, below */
        {"(r + m1) * m2", "((r * m1) * m2)"},        /* operator */
        {"inv(r)", "sin(r)"},                        /* operator */
        {"(r + m1) * m2", "((m2 + m1) * m2)"},       /* feature */
        {"(r + m1) * m2", "inv(((r + m1) * m2))"},   /* a new root */
        {"(r + m1) * m2", "(m1 * ((r + m1) * m2))"}, /* a new root */
        {"(r + m1) * m2", "((r + m1) * inv(m2))"},   /* insert, or a leaf */
        {"(r + m1) * m2", "((r + m1) * (r + m1))"},  /* a leaf grows */
    };
    gsl_rng *rng = random_stream(62);
    const struct sr_settings s = small_settings(SR_INV, SR_SIN, 15);
    for (size_t k = 0; k < sizeof step / sizeof *step; k++) {
        const struct sr_expr from = formula(step[k].from);
        bool reached = false;
        for (int i = 0; i < 40000 && !reached; i++) {
            struct sr_expr expr = from;
            reached = sr_mutate(&s, 3, rng, &expr) && !strcmp(text_of(&expr), step[k].to);
        }
        if (!reached)
            fail_msg("no change leads from %s to %s", step[k].from, step[k].to);
    }
    gsl_rng_free(rng);
}

TEST(settings_come_from_the_preset)
{
    struct orr_settings settings;
    struct sr_settings s;
    orr_settings_defaults(&settings);
    assert_int_equal(orr_settings_set(&settings, "symreg.binary=+,*,^,*"), 0);
    assert_int_equal(orr_settings_set(&settings, "symreg.unary=inv,tanh"), 0);
    assert_int_equal(orr_settings_set(&settings, "symreg.maxsize=17"), 0);
    assert_int_equal(orr_settings_set(&settings, "symreg.loss=relative"), 0);
    assert_int_equal(orr_settings_set(&settings, "seed=99"), 0);
    assert_int_equal(sr_settings_init(&s, &settings), 0);
    assert_true(s.binary_count == 3 && s.binary[0] == SR_ADD && s.binary[1] == SR_MUL &&
                s.binary[2] == SR_POW); /* the second * counts once */
    assert_true(s.unary_count == 2 && s.unary[0] == SR_INV && s.unary[1] == SR_TANH);
    assert_true(s.maxsize == 17 && s.loss == ORR_SR_RELATIVE && s.seed == 99);
    assert_int_equal(orr_settings_set(&settings, "symreg.unary=inv,cosine"), 0);
    assert_int_equal(sr_settings_init(&s, &settings), ORR_EUSAGE);
    error_names("symreg.unary", "cosine", NULL);
    assert_int_equal(orr_settings_set(&settings, "symreg.unary=inv"), 0);
    assert_int_equal(orr_settings_set(&settings, "symreg.rules=best,scor"), 0);
    assert_int_equal(sr_settings_init(&s, &settings), ORR_EUSAGE);
    error_names("symreg.rules", "scor", "score", NULL);
}

/* ---- what is offered to the hall */

static int offered; /* formulas that got as far as the user's rules */

static bool count_offers(const struct sr_expr *expr, const void *context)
{
    (void)expr;
    (void)context;
    offered++;
    return true;
}

/* The hall is keyed by complexity. exp(r) has 2 nodes; at prices of 3 for exp, 2 for a constant it
 * has a complexity of 4, and 8 with a scale in front. */
TEST(scaled_formulas_are_judged_at_their_complexity)
{
    static struct sr_hall_of_fame hall, best;
    struct table t;
    struct sr_loss loss;
    struct sr_settings s = small_settings(SR_EXP, SR_CONSTANT, 14);
    s.whole = count_offers;
    table_of(&t, "3 * exp(m1) + m2", 40, 5, 0);
    assert_int_equal(sr_loss_init(&loss, s.loss, &t.data), 0);
    struct sr_epoch_view view = {.settings = &s, .loss = &loss, .best = &best};
    struct sr_thread thread = {.rng = random_stream(6)};
    struct sr_worker worker = {.settings = &s, .thread = &thread, .view = &view};
    assert_int_equal(sr_work_init(&thread.work, t.data.rows, s.maxsize), 0);
    struct sr_island island = {.hall = &hall};
    worker.island = &island;
    const struct sr_expr exponential = formula("exp(m1)");
    struct sr_language *language = sr_language_create();
    assert_non_null(language);
    assert_int_equal(sr_complexity_set(language, "exp=3; constant=2; *=2", NULL, 0), 0);
    s.language = language;
    assert_int_equal(sr_expr_complexity(language, &exponential), 4);
    assert_int_equal(sr_scale_complexity(language), 4);
    for (int known = 0; known < 3; known++) {
        struct sr_member member = {.expr = exponential};
        memset(&worker.seen, 0, sizeof worker.seen);
        sr_hall_of_fame_clear(&hall);
        offered = 0;
        if (known == 0)
            hall.loss[4] = hall.loss[8] = 0; /* as good as can be, where it could stand */
        else if (known == 1)
            hall.loss[2] = hall.loss[4] = hall.loss[6] = 0; /* by others than with a scale */
        sr_member_evaluate(&worker, &member);
        assert_true(isfinite(member.loss) && member.loss > 0);
        assert_int_equal(offered, known == 0 ? 0 : known == 1 ? 1 : 2);
        assert_true(known == 0 || hall.loss[8] == member.loss);
        assert_int_equal(hall.expr[8].count, known == 0 ? 0 : 4);
    }
    assert_int_equal(sr_complexity_set(language, NULL, NULL, 0), 0);
    assert_int_equal(sr_scale_complexity(language), 2);
    assert_int_equal(sr_scale_complexity(NULL), 2);
    sr_language_free(language);
    sr_work_free(&thread.work);
    gsl_rng_free(thread.rng);
    sr_loss_free(&loss);
    table_free(&t);
}

/* The hall's formula and a member of the population without its outer factor are equal in size and
 * loss: the front shows the one with fewer digits; and never one that is not allowed, or larger. */
static bool never_allowed(const struct sr_expr *expr, const void *context)
{
    (void)context;
    return expr->node[expr->count - 1].op == SR_EXP;
}

TEST(of_equals_the_fewest_digits_are_shown)
{
    static const struct {
        const char *truth, *hall, *member, *shown;
        bool forbidden;
    } trial[] = {
        {"2 * exp(m1)", "exp(m1 + 0.6931471805599453)", "exp(m1)", "2 * exp(m1)", false},
        {"2 * exp(m1)", "exp(m1 + 0.6931471805599453)", "exp(m1)", NULL, true},
        {"2 * exp(m1)", "exp(m1 + 0.6931471805599453)", "exp(m2)", NULL, false},
        {"exp(m1 + 3)", "exp(m1 + 3)", "exp(m1)", NULL, false},
        {"2 * exp(m1)", "2 * exp(m1)", "exp(m1 + 0.6931471805599453)", "2 * exp(m1)", false},
        {"exp(m1 + m2)", "exp(m1 + m2)", "exp(m1) * exp(m2)", NULL, false},
    };
    static struct sr_hall_of_fame hall;
    for (size_t k = 0; k < sizeof trial / sizeof *trial; k++) {
        struct table t;
        struct sr_loss loss;
        struct sr_work work = {0};
        struct sr_settings s = small_settings(SR_EXP, SR_CONSTANT, 14);
        s.populations = s.population_size = 1;
        s.whole = trial[k].forbidden ? never_allowed : NULL;
        table_of(&t, trial[k].truth, 60, 5, 0);
        assert_int_equal(sr_loss_init(&loss, s.loss, &t.data), 0);
        assert_int_equal(sr_work_init(&work, t.data.rows, s.maxsize), 0);
        struct sr_member member = {.expr = formula(trial[k].member)}; /* 0 on few rows */
        struct sr_island island = {.member = &member, .hall = &hall};
        struct sr_run run = {.view = {.settings = &s, .loss = &loss, .best = &hall},
                             .loss = &loss,
                             .best = &hall,
                             .island = &island};
        const struct sr_expr first = formula(trial[k].hall);
        sr_hall_of_fame_clear(&hall);
        sr_hall_of_fame_offer(&hall, NULL, &first, sr_eval_plain(&first, &loss, &work));
        sr_polish_front(&run, &work);
        struct sr_expr shown = formula(trial[k].shown ? trial[k].shown : trial[k].hall);
        char found[SR_TEXT], expected[SR_TEXT];
        sr_expr_rewrite(NULL, &shown, sr_settings_operators(&s));
        const int size = sr_expr_complexity(NULL, &first);
        sr_expr_print(NULL, &hall.expr[size], feature_name, found, sizeof found);
        sr_expr_print(NULL, &shown, feature_name, expected, sizeof expected);
        if (trial[k].shown)
            assert_string_equal(found, expected);
        else
            assert_true(!strncmp(found, "exp((m1 +", 9));
        sr_work_free(&work);
        sr_loss_free(&loss);
        table_free(&t);
    }
}

/* Of 15 entrants, all sets of which are equally likely, number k from the best wins with the
 * probability p (1 - p)^k: place j of n is that of entrant k in C(j, k) C(n - 1 - j, 14 - k) of
 * C(n, 15) sets. */
TEST(tournaments_draw_each_place_as_often_as_its_probability)
{
    enum { DRAWS = 200000, ENTRANTS = 15, MOST = 40 };
    static const double p = 0.982;
    static const int members[] = {1, 2, 15, 16, 27, MOST};
    gsl_rng *rng = random_stream(11);
    for (size_t c = 0; c < sizeof members / sizeof *members; c++) {
        const int n = members[c], size = n < ENTRANTS ? n : ENTRANTS;
        int count[MOST] = {0};
        for (int i = 0; i < DRAWS; i++)
            count[sr_tournament_winner(rng, n)]++;
        for (int j = 0; j < n; j++) {
            double expected = 0;
            for (int k = 0; k < size && k <= j; k++)
                if (n - 1 - j >= size - 1 - k)
                    expected += (k < size - 1 ? p : 1) * pow(1 - p, k) *
                                gsl_sf_choose((unsigned)j, (unsigned)k) *
                                gsl_sf_choose((unsigned)(n - 1 - j), (unsigned)(size - 1 - k)) /
                                gsl_sf_choose((unsigned)n, (unsigned)size);
            const double deviation = sqrt(DRAWS * expected * (1 - expected));
            if (fabs(count[j] - DRAWS * expected) > 4.5 * deviation + 1)
                fail_msg("place %d of %d was drawn %d times, expected %.1f +- %.1f", j, n, count[j],
                         DRAWS * expected, deviation);
        }
    }
    gsl_rng_free(rng);
}

TESTS(NULL, NULL)
