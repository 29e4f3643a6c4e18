/* bench_library.c - what liborrery costs: a search through it beside the same search by the
 * program, and calls that do next to nothing.
 *
 * A search: 40 rows of two columns, the same settings and seed, one thread. The library's is in a
 * process of its own, which loads liborrery.so, gives it the table and searches; the program reads
 * the table from a CSV file and prints the front. The two of a pair follow one another, which of
 * them first changes from pair to pair; the figure is the median over pairs of their ratio, of
 * processor time, which other work on the machine changes little.
 *
 * A call: the processor time of the thread over many calls, divided by their number; medians of
 * 15 runs. Writes bench/results/library.json. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/orrery.h"
#include "bench.h"

static const char usage[] =
    "usage: bench_library [--pairs N] [--bin DIR] [--library FILE]\n"
    "Searches through the library beside the program's, N pairs (default 15), and calls that do\n"
    "next to nothing. DIR (bin) has symreg; FILE (beside bench/: liborrery.so.2) is the library.\n";

enum { ROWS = 40, COLUMNS = 2, RUNS = 15, CALLS = 20000, MOST_PAIRS = 1000 };
static const char *bin = "bin", *csv = "/table.csv";
static char library[4096], table_csv[4096];
static double x[ROWS * COLUMNS], y[ROWS];
static const struct orrery_table table = {
    .bytes = sizeof table, .rows = ROWS, .columns = COLUMNS, .x = x, .y = y};
static const char *const settings[][2] = {{"iterations", "20"}, {"enumerate", "20000"},
                                          {"maxsize", "15"},    {"patience", "1000"},
                                          {"seconds", "600"},   {"seed", "3"}};
enum { SETTINGS = sizeof settings / sizeof *settings };

/* ------------------------------------------------------------------------------ the library */

/* A function of the shared library, not that of this program, which has the same source in it. */
static void *find(void *so, const char *name)
{
    void *function = dlsym(so, name);
    if (!function) {
        fprintf(stderr, "bench_library: error: %s: no %s\n", library, name);
        exit(1);
    }
    return function;
}
#define FUNCTION(so, name)                                                                         \
    __typeof__(&name) name##_;                                                                     \
    do {                                                                                           \
        void *function = find(so, #name);                                                          \
        memcpy(&name##_, &function, sizeof function);                                              \
    } while (0)

static void *load(void)
{
    void *so = dlopen(library, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
    if (!so) {
        fprintf(stderr, "bench_library: error: %s\n", dlerror());
        exit(1);
    }
    return so;
}

/* In a process of its own, which ends with it. */
static void search_by_library(void)
{
    void *so = load();
    FUNCTION(so, orrery_regression_create);
    FUNCTION(so, orrery_regression_set);
    FUNCTION(so, orrery_regression_data);
    FUNCTION(so, orrery_regression_search);
    FUNCTION(so, orrery_regression_free);
    struct orrery_regression *r = NULL;
    int status = orrery_regression_create_(ORRERY_INTERFACE, &r);
    for (int i = 0; i < SETTINGS && !status; i++)
        status = orrery_regression_set_(r, settings[i][0], settings[i][1]);
    status = status ? status : orrery_regression_data_(r, &table);
    status = status ? status : orrery_regression_search_(r, 1, NULL, NULL);
    orrery_regression_free_(r);
    _exit(status);
}

/* ------------------------------------------------------------------------------ the program */

static void search_by_program(void)
{
    char program[4096], set[SETTINGS][128];
    const char *argv[2 * SETTINGS + 8] = {program,     table_csv, "--target", "y",
                                          "--threads", "1",       "--quiet"};
    int argc = 7;
    if (orr_path(program, "%s/symreg", bin))
        _exit(1);
    for (int i = 0; i < SETTINGS; i++) {
        const bool group = strcmp(settings[i][0], "seed") != 0;
        snprintf(set[i], sizeof set[i], "%s%s=%s", group ? "symreg." : "", settings[i][0],
                 settings[i][1]);
        argv[argc++] = "--set";
        argv[argc++] = set[i];
    }
    const int nowhere = open("/dev/null", O_WRONLY);
    if (nowhere < 0 || dup2(nowhere, STDOUT_FILENO) < 0)
        _exit(1);
    execv(program, (char *const *)(const void *)argv);
    _exit(127);
}

/* Seconds of the processor that a process takes. */
static int measure(void (*work)(void), const char *what, double *seconds)
{
    struct rusage used;
    int status = 0;
    fflush(NULL);
    const pid_t process = fork();
    if (process == 0)
        work();
    if (process < 0 || wait4(process, &status, 0, &used) != process || status != 0)
        return ORR_FAIL(ORR_EIO, "%s: expected a search that ends well, found status %d", what,
                        WIFEXITED(status) ? WEXITSTATUS(status) : -1);
    *seconds = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
               1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
    return 0;
}

/* The table as the program reads it. */
static int make_table(const char *folder)
{
    struct orr_file file = {0};
    TRY(orr_path(table_csv, "%s%s", folder, csv));
    TRY(orr_file_create(&file, table_csv));
    orr_file_printf(&file, "x1,x2,y\n");
    for (int i = 0; i < ROWS; i++) {
        x[2 * i] = (i + 1) / 8.0;
        x[2 * i + 1] = (i * 7 % 11 + 1) / 4.0;
        y[i] = x[2 * i] * x[2 * i] / x[2 * i + 1] + (i * 13 % 17) / 64.0;
        orr_file_printf(&file, "%.17g,%.17g,%.17g\n", x[2 * i], x[2 * i + 1], y[i]);
    }
    const int rc = orr_file_commit(&file);
    orr_file_close(&file);
    return rc;
}

static int bench_searches(int pairs, struct bench_results *results)
{
    double by_library[MOST_PAIRS], by_program[MOST_PAIRS], ratio[MOST_PAIRS];
    for (int i = 0; i < pairs; i++) {
        const bool library_first = i % 2;
        if (library_first)
            TRY(measure(search_by_library, "library", &by_library[i]));
        TRY(measure(search_by_program, "program", &by_program[i]));
        if (!library_first)
            TRY(measure(search_by_library, "library", &by_library[i]));
        ratio[i] = by_program[i] / by_library[i];
    }
    const struct bench_value of_ratio = bench_median(ratio, pairs),
                             of_library = bench_median(by_library, pairs),
                             of_program = bench_median(by_program, pairs);
    printf("a search, one thread, %d pairs, seconds of the processor\n", pairs);
    printf("  library %.3f (spread %.3f), program %.3f (%.3f)\n", of_library.median,
           of_library.spread, of_program.median, of_program.spread);
    printf("  program / library, median of pairs %.4f (quartiles %.4f and %.4f)\n", of_ratio.median,
           ratio[pairs / 4], ratio[3 * pairs / 4]);
    bench_add(results, "search", of_library, "s", "program", of_ratio.median);
    bench_add(results, "search, ratio of pairs", of_ratio, "1", NULL, 0);
    return 0;
}

/* ------------------------------------------------------------------------------------ calls */

static double now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return 1e6 * (double)now.tv_sec + 1e-3 * (double)now.tv_nsec;
}

/* The median microseconds of `call`, a statement that yields a status. */
#define BENCH_CALL(name, call)                                                                     \
    do {                                                                                           \
        double us[RUNS];                                                                           \
        int failed = 0;                                                                            \
        for (int run = -1; run < RUNS; run++) { /* one to warm up */                               \
            const double begin = now_us();                                                         \
            for (int i = 0; i < CALLS; i++)                                                        \
                failed |= (call);                                                                  \
            us[run < 0 ? 0 : run] = (now_us() - begin) / CALLS;                                    \
        }                                                                                          \
        const struct bench_value value = bench_median(us, RUNS);                                   \
        if (failed)                                                                                \
            return ORR_FAIL(ORR_EINVAL, "%s: expected status 0, found another", name);             \
        printf("  %-32s %7.3f (spread %.3f)\n", name, value.median, value.spread);                 \
        bench_add(results, "call, " name, value, "us", NULL, 0);                                   \
    } while (0)

static int bench_calls(struct bench_results *results)
{
    void *so = load();
    FUNCTION(so, orrery_regression_create);
    FUNCTION(so, orrery_regression_counts);
    FUNCTION(so, orrery_regression_free);
    FUNCTION(so, orrery_simulation_create);
    FUNCTION(so, orrery_simulation_describe);
    FUNCTION(so, orrery_simulation_force);
    FUNCTION(so, orrery_simulation_free);
    FUNCTION(so, orrery_results_create);
    FUNCTION(so, orrery_results_size);
    FUNCTION(so, orrery_results_free);
    FUNCTION(so, orrery_attention_create);
    FUNCTION(so, orrery_attention_saved);
    FUNCTION(so, orrery_attention_free);
    struct orrery_regression *r = NULL;
    struct orrery_simulation *s = NULL;
    struct orrery_results *t = NULL;
    struct orrery_attention *a = NULL;
    struct orrery_set set = {.bytes = sizeof set};
    const struct orrery_attention_shape shape = {.bytes = sizeof shape,
                                                 .variant = "lssar",
                                                 .power = 3,
                                                 .sequences = 1,
                                                 .rows = 8,
                                                 .heads = 2,
                                                 .size = 4,
                                                 .threads = 1};
    const double state[4] = {1, 0, 0, 6};
    double force[2];
    size_t count;
    struct orrery_counts counts = {.bytes = sizeof counts};
    if (orrery_regression_create_(ORRERY_INTERFACE, &r) ||
        orrery_simulation_create_(ORRERY_INTERFACE, &s) ||
        orrery_results_create_(ORRERY_INTERFACE, &t) ||
        orrery_attention_create_(ORRERY_INTERFACE, &a))
        return ORR_FAIL(ORR_ENOMEM, "%s: cannot create handles", library);
    printf("calls, microseconds of the processor, medians of %d runs of %d\n", RUNS, CALLS);
    BENCH_CALL("orrery_regression_counts", orrery_regression_counts_(r, &counts));
    BENCH_CALL("orrery_results_size", orrery_results_size_(t, &count, NULL));
    BENCH_CALL("orrery_simulation_describe", orrery_simulation_describe_(s, "train", &set));
    BENCH_CALL("orrery_simulation_force, 1 state",
               orrery_simulation_force_(s, 1, 0.5, 1, state, force, NULL));
    BENCH_CALL("orrery_attention_saved", orrery_attention_saved_(a, &shape, &count));
    orrery_attention_free_(a);
    orrery_results_free_(t);
    orrery_simulation_free_(s);
    orrery_regression_free_(r);
    return 0;
}

/* ------------------------------------------------------------------------------------- main */

static int read_options(int argc, char **argv, int *pairs)
{
    for (int i = 1; i < argc; i += 2) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (!strcmp(argv[i], "--pairs"))
            TRY(bench_number("--pairs", value, 1, pairs));
        else if (!strcmp(argv[i], "--bin") && value)
            bin = value;
        else if (!strcmp(argv[i], "--library") && value)
            TRY(orr_path(library, "%s", value));
        else
            return ORR_FAIL(ORR_EUSAGE, "%s: unknown option; see --help", argv[i]);
    }
    return *pairs <= MOST_PAIRS ? 0
                                : ORR_FAIL(ORR_EUSAGE, "--pairs: expected at most %d", MOST_PAIRS);
}

int main(int argc, char **argv)
{
    char folder[] = "/tmp/orrery_bench_XXXXXX", here[4096];
    struct bench_results results;
    int pairs = 15;
    bench_help(argc, argv, usage);
    int rc = orr_program_folder(here);
    rc = rc ? rc : orr_path(library, "%s/../liborrery.so.2", here);
    rc = rc ? rc : read_options(argc, argv, &pairs);
    rc = rc ? rc : bench_open(&results, "library", 1);
    if (rc)
        return orr_error_exit("bench_library", rc);
    if (!mkdtemp(folder))
        rc = ORR_FAIL(ORR_EIO, "%s: cannot be made", folder);
    rc = rc ? rc : make_table(folder);
    rc = rc ? rc : bench_searches(pairs, &results);
    rc = rc ? rc : bench_calls(&results);
    (void)unlink(table_csv);
    (void)rmdir(folder);
    rc = bench_close(&results, rc);
    return orr_error_exit("bench_library", rc);
}
