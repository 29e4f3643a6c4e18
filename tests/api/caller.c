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
    want(!status, orrery_regression_message(r));
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
    want(!status, orrery_simulation_message(s));
    *last = state[4 * 2000];
    orrery_simulation_free(s);
    return status;
}

struct job {
    double power, last;
    char text[2000];
};
static void *run(void *of)
{
    struct job *job = of;
    if (job->power > 0)
        (void)fit(job->power, job->text, sizeof job->text, NULL);
    else
        (void)simulate(&job->last);
    return NULL;
}

/* Two searches and a simulation give together what each gives alone. */
static void together(void)
{
    struct job alone[3] = {{.power = 1.5}, {.power = 3}, {.power = 0}}, now[3];
    memcpy(now, alone, sizeof now);
    pthread_t thread[3];
    for (int i = 0; i < 3; i++)
        (void)run(&alone[i]);
    for (int i = 0; i < 3; i++)
        if (pthread_create(&thread[i], NULL, run, &now[i]))
            exit(2);
    for (int i = 0; i < 3; i++)
        pthread_join(thread[i], NULL);
    for (int i = 0; i < 2; i++)
        want(!strcmp(alone[i].text, now[i].text), "a search beside others finds something else");
    want(!memcmp(&alone[2].last, &now[2].last, sizeof now[2].last),
         "a simulation beside others has other bits");
}

static struct orrery_regression *endless;
static void *stop_later(void *of)
{
    (void)of;
    nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
    orrery_regression_stop(endless);
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
    want(!status, orrery_regression_message(endless));
    if (pthread_create(&thread, NULL, stop_later, NULL))
        exit(2);
    want(orrery_regression_search(endless, 2, NULL, NULL) == ORRERY_STOPPED,
         "orrery_regression_stop() does not stop an enumeration");
    pthread_join(thread, NULL);
    orrery_regression_free(endless);
}

int main(int argc, char **argv)
{
    char text[2000], plain[2000], policy[64];
    double last;
    struct sigaction action, now;
    if (argc > 1 && !strcmp(argv[1], "threads")) {
        together();
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
