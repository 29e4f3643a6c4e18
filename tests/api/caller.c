/* caller.c - a program that uses the installed library as any other does, and looks at what it
 * leaves: run by tests/cli/test_library.sh. Prints a line per thing that is not as it was. */
#define _GNU_SOURCE
#include <fenv.h>
#include <gsl/gsl_errno.h>
#include <locale.h>
#include <math.h>
#include <omp.h>
#include <orrery.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 40 };
static int complaints;

static void want(int holds, const char *what)
{
    if (!holds) {
        printf("%s\n", what);
        complaints++;
    }
}

static void my_handler(const char *reason, const char *file, int line, int number)
{
    (void)reason, (void)file, (void)line, (void)number;
}

static void on_signal(int number)
{
    (void)number;
}

static gsl_error_handler_t *gsl_handler(void)
{
    gsl_error_handler_t *now = gsl_set_error_handler(NULL);
    gsl_set_error_handler(now);
    return now;
}

static const char *decimal; /* as the caller's locale writes it */
static int seen_in_locale;
static int progress(const struct orrery_progress *now, void *context)
{
    char text[40];
    (void)context;
    snprintf(text, sizeof text, "%.1f", 0.5);
    seen_in_locale = strcmp(text, decimal) == 0;
    return now->epoch > 1000;
}

static int fit(double power, char *text, size_t bytes, orrery_progress_call *call)
{
    double x[ROWS], y[ROWS];
    struct orrery_regression *r = NULL;
    int row = 0, status = orrery_regression_create(ORRERY_INTERFACE, &r);
    for (int i = 0; i < ROWS; i++) {
        x[i] = 0.5 + 0.25 * i;
        y[i] = 2.5 * pow(x[i], power) + 0.1 * sin(12.9898 * i);
    }
    const struct orrery_table table = {
        .bytes = sizeof table, .rows = ROWS, .columns = 1, .x = x, .y = y};
    feclearexcept(FE_ALL_EXCEPT);
    if (!status)
        status = orrery_regression_set(r, "enumerate", "5000");
    if (!status)
        status = orrery_regression_set(r, "iterations", "4");
    if (!status)
        status = orrery_regression_data(r, &table);
    if (!status)
        status = orrery_regression_search(r, 2, call, NULL);
    want(fetestexcept(FE_ALL_EXCEPT) == 0, "floating-point flags are raised");
    if (!status || status == ORRERY_STOPPED)
        status = orrery_regression_select(r, "accuracy", &row);
    if (!status)
        status = orrery_regression_print(r, row, ORRERY_TEXT, text, bytes, NULL);
    want(!status, orrery_message(r));
    orrery_regression_free(r);
    return status;
}

static int simulate(double *last)
{
    struct orrery_simulation *s = NULL;
    const struct orrery_elements elements = {.a_au = 1.5, .e = 0.4};
    static _Thread_local double state[4 * 2001];
    int status = orrery_simulation_create(ORRERY_INTERFACE, &s);
    if (!status)
        status = orrery_simulation_set(s, "orbits.law=mond\norbits.law_a0=1.5\n");
    if (!status)
        status = orrery_simulation_orbit(s, &elements, 0.1, 1, 0.01, 2001, state);
    want(!status, orrery_message(s));
    *last = state[4 * 2000];
    orrery_simulation_free(s);
    return status;
}

enum { NUMBERS = 2 * 40 * 2 * 16 }; /* of the output of attention */
/* The sum of the squares of a gradient. */
static int attend(const char *variant, double *sum)
{
    static _Thread_local float qkv[3 * NUMBERS], out[NUMBERS], saved[NUMBERS], dqkv[3 * NUMBERS];
    const struct orrery_attention_shape shape = {.bytes = sizeof shape,
                                                 .variant = variant,
                                                 .power = 3,
                                                 .type = ORRERY_FLOAT32,
                                                 .sequences = 2,
                                                 .rows = 40,
                                                 .heads = 2,
                                                 .size = 16,
                                                 .threads = 2};
    struct orrery_attention *a = NULL;
    size_t count = 0;
    int status = orrery_attention_create(ORRERY_INTERFACE, &a);
    for (int i = 0; i < 3 * NUMBERS; i++)
        qkv[i] = (float)sin(78.233 * i);
    feclearexcept(FE_ALL_EXCEPT);
    if (!status)
        status = orrery_attention_saved(a, &shape, &count);
    want(count > 0 && count <= NUMBERS, "attention keeps more numbers than this test provides for");
    if (!status)
        status = orrery_attention_forward(a, &shape, qkv, out, saved);
    if (!status)
        status = orrery_attention_backward(a, &shape, qkv, out, saved, out, dqkv);
    want(fetestexcept(FE_ALL_EXCEPT) == 0, "attention raises floating-point flags");
    want(!status, orrery_message(a));
    for (int i = 0; i < 3 * NUMBERS; i++)
        *sum += (double)dqkv[i] * (double)dqkv[i];
    orrery_attention_free(a);
    return status;
}

/* The sum of the numbers of a table of results, and of the bytes of its words. */
static int read_results(const char *path, double *sum)
{
    struct orrery_results *r = NULL;
    struct orrery_column column = {.bytes = sizeof column};
    size_t rows = 0, columns = 0;
    int status = orrery_results_create(ORRERY_INTERFACE, &r);
    status = status ? status : orrery_results_open(r, path);
    status = status ? status : orrery_results_size(r, &rows, &columns);
    for (size_t c = 0; c < columns && !status; c++) {
        status = orrery_results_column(r, c, &column);
        for (size_t i = 0; i < rows && !status; i++)
            *sum += column.kind == ORRERY_WORDS   ? (double)strlen(column.words[i])
                    : isfinite(column.numbers[i]) ? column.numbers[i]
                                                  : 1;
    }
    want(!status, orrery_message(r));
    orrery_results_free(r);
    return status;
}

struct job {
    double power, last;
    const char *attention, *results;
    char text[2000];
};
static void *run(void *of)
{
    struct job *job = of;
    if (job->attention)
        (void)attend(job->attention, &job->last);
    else if (job->results)
        (void)read_results(job->results, &job->last);
    else if (job->power > 0)
        (void)fit(job->power, job->text, sizeof job->text, NULL);
    else
        (void)simulate(&job->last);
    return NULL;
}

/* Two searches, a simulation, two attentions and two readers of results, where these are named,
 * give together what each gives alone. */
enum { JOBS = 7 };
static void together(const char *results)
{
    struct job alone[JOBS] = {{.power = 1.5},
                              {.power = 3},
                              {.power = 0},
                              {.attention = "lssar"},
                              {.attention = "sigmoid_logL"},
                              {.attention = results ? NULL : "lssar", .results = results},
                              {.attention = results ? NULL : "lssar", .results = results}};
    struct job now[JOBS];
    memcpy(now, alone, sizeof now);
    pthread_t thread[JOBS];
    for (int i = 0; i < JOBS; i++)
        (void)run(&alone[i]);
    for (int i = 0; i < JOBS; i++)
        if (pthread_create(&thread[i], NULL, run, &now[i]))
            exit(2);
    for (int i = 0; i < JOBS; i++)
        pthread_join(thread[i], NULL);
    for (int i = 0; i < 2; i++)
        want(!strcmp(alone[i].text, now[i].text), "a search beside others finds something else");
    for (int i = 2; i < JOBS; i++)
        want(!memcmp(&alone[i].last, &now[i].last, sizeof now[i].last),
             "a simulation, an attention or results beside others have other bits");
}

static struct orrery_regression *endless;
static void *stop_later(void *of)
{
    (void)of;
    nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
    orrery_stop(endless);
    return NULL;
}

/* Another thread ends a search that would enumerate for hours. */
static void stopped(void)
{
    double x[4 * ROWS], y[ROWS];
    pthread_t thread;
    for (int i = 0; i < 4 * ROWS; i++)
        x[i] = sin(i * 78.233 + 1);
    for (int i = 0; i < ROWS; i++)
        y[i] = sin(i * 12.9898);
    const struct orrery_table table = {
        .bytes = sizeof table, .rows = ROWS, .columns = 4, .x = x, .y = y};
    int status = orrery_regression_create(ORRERY_INTERFACE, &endless);
    status = status ? status : orrery_regression_set(endless, "enumerate", "1e9");
    status = status ? status : orrery_regression_set(endless, "seconds", "0");
    status = status ? status : orrery_regression_data(endless, &table);
    want(!status, orrery_message(endless));
    if (pthread_create(&thread, NULL, stop_later, NULL))
        exit(2);
    want(orrery_regression_search(endless, 2, NULL, NULL) == ORRERY_STOPPED,
         "orrery_stop() does not stop an enumeration");
    pthread_join(thread, NULL);
    orrery_regression_free(endless);
}

int main(int argc, char **argv)
{
    char text[2000], plain[2000], policy[64];
    double last;
    struct sigaction action, now;
    if (argc > 1 && !strcmp(argv[1], "threads")) {
        together(argc > 2 ? argv[2] : NULL);
        stopped();
        return complaints != 0;
    }
    gsl_set_error_handler(my_handler);
    const char *before = getenv("OMP_WAIT_POLICY");
    snprintf(policy, sizeof policy, "%s", before ? before : "");
    (void)fit(1.5, plain, sizeof plain, NULL);
    const char *locale = setlocale(LC_ALL, "");
    decimal = localeconv()->decimal_point[0] == ',' ? "0,5" : "0.5";
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGPIPE, &action, NULL);
    omp_set_num_threads(3);
    omp_set_dynamic(0);
    const int levels = omp_get_max_active_levels();
    (void)fit(1.5, text, sizeof text, progress);
    (void)simulate(&last);
    (void)attend("lssar", &last);
    want(locale != NULL, "this test needs its locale");
    want(!strcmp(text, plain), "the locale changes what is found");
    want(seen_in_locale, "the callback is not in the caller's locale");
    want(!strcmp(setlocale(LC_ALL, NULL), locale ? locale : ""), "the locale is another");
    snprintf(text, sizeof text, "%.1f", 0.5);
    want(!strcmp(text, decimal), "the thread's locale is another");
    want(gsl_handler() == my_handler, "GSL's error handler is another");
    want(omp_get_max_threads() == 3 && !omp_get_dynamic() && omp_get_max_active_levels() == levels,
         "OpenMP's settings are others");
    sigaction(SIGINT, NULL, &now);
    want(now.sa_handler == on_signal, "SIGINT has another handler");
    sigaction(SIGPIPE, NULL, &now);
    want(now.sa_handler == on_signal, "SIGPIPE has another handler");
    sigaction(SIGTERM, NULL, &now);
    want(now.sa_handler == SIG_DFL, "SIGTERM has a handler");
    const char *after = getenv("OMP_WAIT_POLICY");
    want(!strcmp(policy, after ? after : ""), "the environment is another");
    return complaints != 0;
}
