/* test_language.c - searches with different operators, losses and prices of the user in one
 * process: alone, one after the other and at the same time they find the same. */
#include "symreg/formulas.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- searches that must not disturb each other */

enum { TEXT = 16384 };
/* Own operators have the same numbers and names in several rows, but other formulas and arities. */
static const struct problem {
    const char *define, *loss, *prices; /* NULL: none */
    const char *truth;
    size_t
        rows; /* from 64 on more stages propose formulas, from 512 on few rows are looked at first
                  * (struct sr_screen) */
    double noise;
    const struct sr_algorithm *algorithm;
    const char *sign; /* a front without this text has not used the language */
} problems[] = {
    {"g(x)=x*exp(-x)", NULL, NULL, "m1 * g(0.7 * r) + 0.3", 60, 0, &sr_algorithm_orrery, "g("},
    {"g(u,v)=u/(u+v)", NULL, NULL, "m1 * g(r, m2) + 0.3", 60, 0, &sr_algorithm_orrery, "g("},
    {"half(x)=x/2; g(x)=sin(half(x))", "(p-t)^2", NULL, "g(r * m1) + 0.2 * m2", 600, 0.05,
     &sr_algorithm_orrery, "g("},
    {"g(x)=sqrt(x)+2.5; k(u,v)=g(u)*v", "abs(p-t)^1.5", NULL, "k(r, m2) * m1", 60, 0.05,
     &sr_algorithm_pysr, "k("},
    {NULL, "log(1+(p-t)^2)", "*=3, constant=2", "m1 * m2 + exp(r / 40)", 60, 0.1,
     &sr_algorithm_orrery, "(m1 * m2)"},
    {NULL, NULL, "exp=5", "m1 * m2 + exp(r / 40)", 60, 0.1, &sr_algorithm_orrery, "(m1 * m2)"},
    {NULL, NULL, NULL, "m1 * m2 + exp(r / 40)", 60, 0.1, &sr_algorithm_orrery, "(m1 * m2)"},
};
enum { PROBLEMS = sizeof problems / sizeof *problems };

static struct sr_language *language_for(const struct problem *p)
{
    if (!p->define && !p->loss && !p->prices)
        return NULL;
    struct sr_language *language = sr_language_create();
    assert_non_null(language);
    assert_int_equal(p->define ? sr_custom_define(language, p->define) : 0, 0);
    assert_int_equal(p->loss ? sr_custom_loss_define(language, p->loss) : 0, 0);
    assert_int_equal(sr_complexity_set(language, p->prices, NULL, 0), 0);
    return language;
}

static struct sr_settings settings_for(const struct problem *p, const struct sr_language *language)
{
    struct sr_settings s = {.language = language,
                            .binary = {SR_ADD, SR_MUL},
                            .unary = {SR_EXP},
                            .binary_count = 2,
                            .unary_count = 1,
                            .loss = p->loss ? ORR_SR_CUSTOM : ORR_SR_L1,
                            .maxsize = 14,
                            .iterations = 6,
                            .populations = 4,
                            .population_size = 27,
                            .cycles = 60,
                            .restarts = 1,
                            .seed = 7,
                            .enumerate = 20000,
                            .algorithm = p->algorithm};
    for (int op = SR_CUSTOM; sr_op_known(language, op); op++)
        if (sr_op(language, op)->arity == 1)
            s.unary[s.unary_count++] = (enum sr_op)op;
        else
            s.binary[s.binary_count++] = (enum sr_op)op;
    return s;
}

/* Every digit of a front. */
static void write_front(const struct sr_language *language, const struct sr_front *front,
                        char text[TEXT])
{
    char equation[SR_TEXT];
    size_t used = 0;
    for (int i = 0; i < front->count; i++) {
        double constants[SR_NODES];
        sr_expr_print(language, &front->expr[i], feature_name, equation, sizeof equation);
        used += (size_t)snprintf(text + used, TEXT - used, "%d %.17g %.17g %s",
                                 front->complexity[i], front->loss[i], front->score[i], equation);
        for (int c = sr_expr_constants(&front->expr[i], constants); c > 0 && used < TEXT; c--)
            used += (size_t)snprintf(text + used, TEXT - used, " %.17g", constants[c - 1]);
        assert_true(used + 1 < TEXT);
        text[used++] = '\n';
    }
    text[used] = '\0';
}

/* One whole search. */
struct job {
    const struct problem *problem;
    struct sr_language *language;
    int threads;
    char text[TEXT]; /* result */
};

/* A failed assertion in a thread ends the whole program, which then has failed, too. */
static void run_job(struct job *job)
{
    const struct problem *p = job->problem;
    const struct sr_language *const language = job->language;
    struct table t;
    const struct sr_expr truth = formula_in(language, p->truth);
    const struct sr_settings settings = settings_for(p, language);
    struct sr_fit *fit = orr_alloc(1, sizeof *fit);
    gsl_rng *rng = random_stream(12);
    assert_non_null(fit);
    table_create(&t, p->rows, 4, false);
    t.data.language = language;
    assert_true(sr_eval(&truth, &t.data, t.y));
    for (size_t i = 0; i < p->rows; i++)
        t.y[i] *= 1 + p->noise * gsl_ran_gaussian(rng, 1);
    fit->data = t.data;
    assert_int_equal(sr_search(&settings, fit, 1, job->threads, NULL), 0);
    write_front(language, &fit->front, job->text);
    gsl_rng_free(rng);
    free(fit);
    table_free(&t);
}

/* Jobs for all problems: every language is there before the first search. */
static void make_jobs(struct job job[PROBLEMS], int threads)
{
    for (int i = 0; i < PROBLEMS; i++)
        job[i] = (struct job){
            .problem = &problems[i], .language = language_for(&problems[i]), .threads = threads};
}

static void free_jobs(struct job job[PROBLEMS])
{
    for (int i = 0; i < PROBLEMS; i++)
        sr_language_free(job[i].language);
}

static char alone[PROBLEMS][TEXT];

/* Each search in a process that never sees another one. */
FIXTURE(run_alone)
{
    for (int i = 0; i < PROBLEMS; i++) {
        int end[2], status;
        assert_int_equal(pipe(end), 0);
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            static struct job job;
            job = (struct job){
                .problem = &problems[i], .language = language_for(&problems[i]), .threads = 1};
            close(end[0]);
            run_job(&job);
            const size_t bytes = strlen(job.text);
            _exit(write(end[1], job.text, bytes) == (ssize_t)bytes ? 0 : 1);
        }
        close(end[1]);
        ssize_t got;
        for (size_t n = 0; (got = read(end[0], alone[i] + n, TEXT - 1 - n)) > 0;)
            n += (size_t)got;
        close(end[0]);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
    return 0;
}

static void same_as_alone(const struct job *job)
{
    const ptrdiff_t number = job->problem - problems;
    if (strcmp(job->text, alone[number]) != 0)
        fail_msg("search %td by %d threads found\n%s\nalone it finds\n%s", number, job->threads,
                 job->text, alone[number]);
}

/* Without this the other tests would show nothing. */
TEST(languages_matter)
{
    for (int i = 0; i < PROBLEMS; i++) {
        if (!strstr(alone[i], problems[i].sign))
            fail_msg("search %d does not use its language:\n%s", i, alone[i]);
        for (int k = 0; k < i; k++)
            assert_string_not_equal(alone[i], alone[k]);
    }
}

TEST(one_after_the_other)
{
    static struct job job[PROBLEMS];
    make_jobs(job, 1);
    for (int i = 0; i < 2 * PROBLEMS; i++) { /* forwards and backwards */
        struct job *const next = &job[i < PROBLEMS ? i : 2 * PROBLEMS - 1 - i];
        run_job(next);
        same_as_alone(next);
    }
    free_jobs(job);
}

static void *run_in_thread(void *job)
{
    run_job(job);
    return NULL;
}

/* All of them, each in a thread with a team of its own. */
static void run_at_once(int threads)
{
    static struct job job[PROBLEMS];
    pthread_t thread[PROBLEMS];
    make_jobs(job, threads);
    for (int i = 0; i < PROBLEMS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, run_in_thread, &job[i]), 0);
    for (int i = 0; i < PROBLEMS; i++)
        assert_int_equal(pthread_join(thread[i], NULL), 0);
    for (int i = 0; i < PROBLEMS; i++)
        same_as_alone(&job[i]);
    free_jobs(job);
}

TEST(at_the_same_time)
{
    run_at_once(1);
}

TEST(at_the_same_time_with_teams)
{
    run_at_once(3);
}

/* ---- what one language knows, another does not */

TEST(names_do_not_leak)
{
    struct sr_language *has = language_of("g(x)=x*x; pair(u,v)=u-g(v)");
    struct sr_language *other = language_of("h(x)=x+1");
    struct sr_constraints c;
    struct sr_expr expr = formula_in(has, "pair(r, m1)"), moved;
    const struct sr_language *const without[] = {other, NULL};
    for (int i = 0; i < 2; i++) {
        moved = expr;
        assert_false(sr_expr_measure(without[i], &moved));
        assert_int_equal(
            sr_expr_parse(without[i], "1 + pair(r, m1)", feature_name, FEATURES, &moved),
            ORR_EINVAL);
        error_names("operator", "character 5", "pair(r, m1)", NULL);
        sr_constraints_init(&c, without[i]);
        assert_int_equal(sr_constraints_nesting(&c, "pair:exp=0"), ORR_EUSAGE);
        error_names("--nest", "\"pair\"", NULL);
        assert_int_equal(sr_constraints_arguments(&c, "pair:1,2"), ORR_EUSAGE);
        error_names("--constrain", "\"pair\"", NULL);
    }
    assert_int_equal(sr_complexity_set(other, "pair=2", NULL, 0), ORR_EUSAGE);
    error_names("--complexity", "\"pair\"", NULL);
    assert_int_equal(sr_custom_define(other, "twice(x)=2*g(x)"), ORR_EUSAGE);
    error_names("--define", "operator", "g(x)", NULL);
    sr_constraints_init(&c, has);
    assert_int_equal(sr_constraints_nesting(&c, "pair:exp=0"), 0);
    assert_int_equal(sr_custom_define(other, "g(u,v)=u+v"), 0); /* the name is free there */
    sr_language_free(has);
    sr_language_free(other);
}

/* Numbers of operators are told apart by the language alone: a search refuses what is not of its
 * own. */
TEST(searches_refuse_other_languages)
{
    static struct sr_fit fit;
    struct table t;
    struct sr_language *one = language_of("g(x)=x*x"), *two = language_of("g(u,v)=u-v");
    struct sr_settings s = settings_for(&problems[0], one);
    const struct sr_expr guess = formula_in(one, "g(r)");
    table_create(&t, 20, 3, false);
    fit.data = t.data;
    s.language = two;
    assert_int_equal(sr_search(&s, &fit, 1, 1, NULL), ORR_EINVAL);
    error_names("unary", "language", NULL);
    s.language = NULL;
    assert_int_equal(sr_search(&s, &fit, 1, 1, NULL), ORR_EINVAL);
    s = settings_for(&problems[0], two);
    s.guess = &guess;
    s.guesses = 1;
    assert_int_equal(sr_search(&s, &fit, 1, 1, NULL), ORR_EINVAL);
    error_names("guess 1", "language", NULL);
    s.guesses = 0;
    s.loss = ORR_SR_CUSTOM;
    assert_int_equal(sr_search(&s, &fit, 1, 1, NULL), ORR_EINVAL);
    error_names("loss", "language", NULL);
    table_free(&t);
    sr_language_free(one);
    sr_language_free(two);
}

TEST(prices_belong_to_a_language)
{
    struct sr_language *cheap = sr_language_create(), *dear = sr_language_create();
    const struct sr_expr expr = formula("2.5 * exp(r)");
    assert_true(cheap && dear);
    assert_int_equal(sr_complexity_set(dear, "exp=7, constant=3, *=2", NULL, 0), 0);
    assert_int_equal(sr_expr_complexity(dear, &expr), 13);
    assert_int_equal(sr_expr_complexity(cheap, &expr), 4);
    assert_int_equal(sr_expr_complexity(NULL, &expr), 4);
    assert_int_equal(sr_scale_complexity(dear), 5);
    assert_int_equal(sr_scale_complexity(cheap), 2);
    assert_int_equal(sr_complexity_set(dear, NULL, NULL, 0), 0);
    assert_int_equal(sr_expr_complexity(dear, &expr), 4);
    sr_language_free(cheap);
    sr_language_free(dear);
}

/* ---- one operator at a time */

/* One number at a time, operators of the user have the bits that rows have; nested ones, too. */
TEST(single_values_are_those_of_rows)
{
    enum { ROWS = 700 };
    struct sr_language *language = language_of("a(x)=x*exp(-x)/3; b(u,v)=sin(u)^2.5+a(v); "
                                               "c(u,v)=min(b(u,v),a(u)); d(x)=x; e(u,v)=0.25");
    struct table t;
    double out[ROWS];
    int finite = 0, undefined = 0;
    table_create(&t, ROWS, 9, true);
    for (int op = SR_CUSTOM; sr_op_known(language, op); op++)
        for (size_t i = 0; i < ROWS; i++) {
            const double *a = t.x + i, *b = t.x + (size_t)2 * ROWS + i;
            const double single = sr_op_value(language, (enum sr_op)op, *a, *b);
            if (!sr_op_apply(language, (enum sr_op)op, 1, a, b, out)) {
                assert_true(isnan(single)); /* sin(u) may be negative */
                undefined++;
                continue;
            }
            assert_memory_equal(&single, out, sizeof *out);
            finite++;
        }
    assert_true(finite > 3 * ROWS && undefined > ROWS / 2);
    table_free(&t);
    sr_language_free(language);
}

/* Constants are folded by the language's own formula, in values, in the normal form and in
 * simplified formulas. */
TEST(constants_are_folded)
{
    static const struct {
        const char *define;
        double value;
    } row[] = {{"g(x)=x*x+0.5", 6.25 + 0.5}, {"g(x)=1/x", 0.4}};
    for (int i = 0; i < 2; i++) {
        struct sr_language *language = language_of(row[i].define);
        struct sr_expr expr = formula_in(language, "r + g(2.5)");
        struct sr_expr expected = formula("r + 1");
        expected.node[1].value = row[i].value;
        const double x = 1.75;
        const struct sr_data data = {.rows = 1, .features = 1, .x = &x, .language = language};
        double value;
        assert_true(sr_eval(&expr, &data, &value));
        assert_true(value == x + row[i].value);
        assert_true(sr_expr_canonical_hash(language, &expr) ==
                    sr_expr_canonical_hash(NULL, &expected));
        sr_expr_simplify(language, &expr);
        assert_int_equal(expr.count, 3);
        assert_true(sr_expr_hash(&expr) == sr_expr_hash(&expected));
        sr_language_free(language);
    }
}

TESTS(run_alone, NULL)
