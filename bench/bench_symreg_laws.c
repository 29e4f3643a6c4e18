/* bench_symreg_laws.c - how often bin/symreg finds laws that a random grammar makes. */
#include <sys/resource.h>
#include <unistd.h>

#include "symreg_front.h"
#include "symreg_grammar.h"

static const char usage[] =
    "usage: bench_symreg_laws [--held-out | --set N | --angles] [--laws 1-60] [--every N]\n"
    "                         [--noise 0,0.1,1,10] [--samples 3] [--seconds 10] [--threads 1]\n"
    "                         [--cpu-time] [--units] [--told] [--misses] [--rows 1000]\n"
    "                         [--options \"MORE OPTIONS OF bin/symreg\"] [--program bin/symreg]\n"
    "                         [--list] [--export DIR] [--keep DIR]\n"
    "Laws of 2 to 9 columns (symreg_grammar.h), tables of 1,000 rows, noise in percent of the\n"
    "target's rms. Each table is given to bin/symreg; the formula that its default rule chooses "
    "is\n"
    "compared with the law: it must be the law in form (constants fitted to the law without "
    "noise)\n"
    "and agree with it, over the ranges and over ten times wider ones (symreg_judge.h).\n"
    "Default: the laws for development; --held-out: the others, whose results are written to\n"
    "bench/results/symreg_laws.json (symreg_laws_units.json with --units, symreg_angles.json with\n"
    "--angles) when all are searched by bin/symreg.\n"
    "--set N: 60 other laws, for development. --told: the law is given as --guess, for the share "
    "that\n"
    "a perfect search could reach.\n"
    "--angles: 16 laws with angles in degrees (symreg_problems.h), tables of 300 rows.\n"
    "--cpu-time: --seconds are of processor time (cpu_clock.so), with one thread: for a loaded\n"
    "machine. Of a --program built with -DSR_LOG_SEEDS the stages that found the law stand before\n"
    "the formula (symreg_finders.sh). --every N takes each N-th law. --list prints laws, ranges\n"
    "and units. --export writes tables. --keep writes tables and what bin/symreg printed for "
    "each;\n"
    "what is there already is not searched again. bench_symreg_rules compares rules of choice on\n"
    "such fronts.\n";

enum { MOST_NOISES = 8, MOST_ROWS = 1000000, COLUMNS = PROBLEM_FEATURES + 1, ANGLE_ROWS = 300 };

struct options {
    int set, laws, first, last, every, samples, threads, noises, rows;
    double noise[MOST_NOISES], seconds; /* percent */
    bool units, told, list, misses, cpu_time;
    const char *operators, *more, *export, *keep, *program;
};

struct tally {
    int runs, solved, rule[SR_RULES], on_front; /* solved: by the default rule */
    double seconds, cpu_s;
};
static const char cpu_clock[] = "build/bench/cpu_clock.so";

static int read_options(int argc, char **argv, struct options *o)
{
    *o = (struct options){.set = DEVELOPMENT_SET,
                          .laws = LAWS,
                          .rows = ROWS,
                          .first = 1,
                          .last = LAWS,
                          .every = 1,
                          .samples = 3,
                          .threads = 1,
                          .noises = 4,
                          .noise = {0, 0.1, 1, 10},
                          .seconds = 10,
                          .operators = "",
                          .more = "",
                          .program = "bin/symreg"};
    for (int i = 1; i < argc; i++) {
        const char *name = argv[i];
        if (!strcmp(name, "--held-out"))
            o->set = HELD_OUT_SET;
        else if (!strcmp(name, "--angles")) {
            o->laws = o->last = ANGLE_LAWS;
            o->rows = ANGLE_ROWS;
            o->operators = " --unary inv,square,sqrt,exp,log,sin,cos,tan,asin,acos,atan";
        } else if (!strcmp(name, "--units"))
            o->units = true;
        else if (!strcmp(name, "--told"))
            o->told = true;
        else if (!strcmp(name, "--list"))
            o->list = true;
        else if (!strcmp(name, "--misses"))
            o->misses = true;
        else if (!strcmp(name, "--cpu-time"))
            o->cpu_time = true;
        else {
            const char *value = i + 1 < argc ? argv[++i] : "";
            if (!strcmp(name, "--laws"))
                bench_range(value, &o->first, &o->last);
            else if (!strcmp(name, "--set")) {
                o->set = atoi(value);
                if (o->set < 1 || o->set == HELD_OUT_SET)
                    return ORR_FAIL(ORR_EUSAGE,
                                    "--set: expected a number from 1 on, not %d, found "
                                    "\"%s\"",
                                    HELD_OUT_SET, value);
            } else if (!strcmp(name, "--every"))
                o->every = atoi(value);
            else if (!strcmp(name, "--rows"))
                o->rows = atoi(value);
            else if (!strcmp(name, "--samples"))
                o->samples = atoi(value);
            else if (!strcmp(name, "--threads"))
                o->threads = atoi(value);
            else if (!strcmp(name, "--seconds"))
                o->seconds = strtod(value, NULL);
            else if (!strcmp(name, "--program"))
                o->program = value;
            else if (!strcmp(name, "--options"))
                o->more = value;
            else if (!strcmp(name, "--export"))
                o->export = value;
            else if (!strcmp(name, "--keep"))
                o->keep = value;
            else if (!strcmp(name, "--noise"))
                TRY(bench_noises(value, MOST_NOISES, o->noise, &o->noises));
            else
                return ORR_FAIL(ORR_EUSAGE, "no option \"%s\"; see --help", name);
        }
    }
    if (o->units && o->laws == ANGLE_LAWS)
        return ORR_FAIL(ORR_EUSAGE, "--units: not with --angles, whose laws have none");
    if (o->cpu_time && o->threads != 1)
        return ORR_FAIL(ORR_EUSAGE, "--cpu-time: expected --threads 1, found %d", o->threads);
    if (o->cpu_time && access(cpu_clock, R_OK))
        return ORR_FAIL(ORR_EIO, "%s: missing; make %s", cpu_clock, cpu_clock);
    return o->first >= 1 && o->last <= o->laws && o->first <= o->last && o->every > 0 &&
                   o->rows > 1 && o->rows <= MOST_ROWS && o->samples > 0 && o->threads > 0 &&
                   o->seconds > 0 && o->noises > 0
               ? 0
               : ORR_FAIL(ORR_EUSAGE, "options out of range; see --help");
}

/* ---- tables */

static int write_table(const struct options *o, const struct truth *t, int number, double noise,
                       int sample, const char *path)
{
    const int n = t->problem->features, rows = o->rows;
    double *x = orr_alloc((size_t)COLUMNS * (size_t)rows, sizeof *x), square = 0;
    gsl_rng *rng = orr_rng_create((uint64_t)o->set + (uint64_t)sample, ORR_STAGE_TEST_SUITE,
                                  (uint64_t)number + 6000);
    struct orr_file file = {0};
    int rc = x && rng ? orr_file_create(&file, path) : ORR_FAIL(ORR_ENOMEM, "out of memory");
    if (!rc) {
        for (int f = 0; f < n; f++)
            for (int i = 0; i < rows; i++)
                x[f * rows + i] = t->low[f] + (t->high[f] - t->low[f]) * gsl_rng_uniform(rng);
        truth_values(t, (size_t)rows, x, x + n * rows);
        for (int i = 0; i < rows; i++)
            square += x[n * rows + i] * x[n * rows + i] / rows;
        for (int i = 0; i < rows; i++)
            x[n * rows + i] += noise * sqrt(square) * gsl_ran_ugaussian(rng);
        for (int f = 0; f < n; f++)
            rc = rc ? rc : orr_file_printf(&file, "%s,", t->problem->feature[f]);
        rc = rc ? rc : orr_file_printf(&file, "y\n");
        for (int i = 0; i < rows && !rc; i++)
            for (int f = 0; f <= n && !rc; f++)
                rc = orr_file_printf(&file, "%.17g%c", x[f * rows + i], f < n ? ',' : '\n');
    }
    if (!rc)
        rc = orr_file_commit(&file);
    orr_file_close(&file);
    gsl_rng_free(rng);
    free(x);
    return rc;
}

/* ---- one search */

static int ask_engine(const struct options *o, const struct law *law, struct truth *t, double noise,
                      int sample, const char *path, struct outcome *out)
{
    static char command[8192 + 6 * 4096], search[8192];
    snprintf(
        search, sizeof search,
        "%s%s %s '%s' --target y --seconds %g --threads %d --seed %d --quiet%s %s%s%s %s%s%s %s",
        o->cpu_time ? "LD_PRELOAD=" : "", o->cpu_time ? cpu_clock : "", o->program, path,
        o->seconds, o->threads, sample, o->operators, o->units ? "--units '" : "",
        o->units ? law->units : "", o->units ? "'" : "", o->told ? "--guess '" : "",
        o->told ? law->problem.formula : "", o->told ? "'" : "", o->more);
    if (o->keep)
        snprintf(command, sizeof command,
                 "[ -s '%s.front' ] || { %s >'%s.new' && mv '%s.new' '%s.front'; } && "
                 "cat '%s.front'",
                 path, search, path, path, path, path);
    else
        snprintf(command, sizeof command, "%s", search);
    return ask_front(command, o->program, t, noise, out);
}

/* Of all programs that were run. */
static double processor_time_s(void)
{
    struct rusage spent;
    getrusage(RUSAGE_CHILDREN, &spent);
    return (double)spent.ru_utime.tv_sec + 1e-6 * (double)spent.ru_utime.tv_usec;
}

static int search_table(const struct options *o, struct law *law, struct truth *t, int number,
                        int noise, int sample, struct tally *tally)
{
    static struct outcome out;
    char path[4096];
    const double share = o->noise[noise] / 100;
    const char *const folder = o->export ? o->export : o->keep;
    if (folder)
        TRY(orr_path(path, "%s/%d_%g_%d.csv", folder, number, o->noise[noise], sample));
    else
        TRY(orr_path(path, "build/bench/symreg_laws/%d.csv", (int)getpid()));
    TRY(write_table(o, t, number, share, sample, path));
    if (o->export)
        return 0;
    out = (struct outcome){0};
    const double start = orr_time_s(), cpu_s = processor_time_s();
    TRY(ask_engine(o, law, t, share, sample, path, &out));
    const double seconds = orr_time_s() - start;
    tally->runs++;
    tally->solved += out.solved;
    tally->on_front += out.on_front;
    for (int rule = 0; rule < SR_RULES; rule++)
        tally->rule[rule] += out.rule[rule];
    tally->seconds += seconds;
    tally->cpu_s += processor_time_s() - cpu_s;
    if (!o->misses || !out.solved)
        printf("%3d  %d columns  %5g%%  sample %d  %-6s %5.1f s  %s%s%s\n", number,
               law->problem.features, o->noise[noise], sample,
               out.solved     ? "found"
               : out.on_front ? "front"
                              : "missed",
               seconds, out.finders, *out.finders ? "  " : "", out.equation);
    fflush(stdout);
    if (!o->keep)
        remove(path);
    return 0;
}

/* ---- all */

static void list_law(const struct law *law, int number)
{
    printf("%3d  %s\n    ", number, law->problem.formula);
    for (int f = 0; f < law->problem.features; f++)
        printf(" %s %g..%g", law->problem.feature[f], law->problem.low[f], law->problem.high[f]);
    printf("\n     %s\n", law->units);
}

static void print_totals(const struct options *o,
                         const struct tally tally[MOST_NOISES][PROBLEM_FEATURES + 1],
                         struct bench_results *results)
{
    printf("\n%9s", "noise");
    for (int n = 2; n <= PROBLEM_FEATURES; n++)
        printf("  %d col.", n);
    printf("   %s   mean s    cpu s    front", default_rule);
    for (int rule = 0; rule < SR_RULES; rule++)
        printf("  %8s", sr_rule_name[rule]);
    printf("\n");
    for (int k = 0; k < o->noises; k++) {
        struct tally all = {0};
        char name[96];
        printf("%8g%%", o->noise[k]);
        for (int n = 2; n <= PROBLEM_FEATURES; n++) {
            const struct tally *t = &tally[k][n];
            printf("  %2d/%-3d", t->solved, t->runs);
            all.runs += t->runs;
            all.solved += t->solved;
            all.on_front += t->on_front;
            for (int rule = 0; rule < SR_RULES; rule++)
                all.rule[rule] += t->rule[rule];
            all.seconds += t->seconds;
            all.cpu_s += t->cpu_s;
            snprintf(name, sizeof name, "%d columns, %g%% noise: %d searches", n, o->noise[k],
                     t->runs);
            bench_add(results, name, (struct bench_value){100.0 * t->solved / t->runs, NAN},
                      "% found", NULL, 0);
        }
        const double runs = all.runs ? all.runs : 1;
        printf("  %5.1f%%  %6.2f  %7.2f  %6.1f%%", 100 * all.solved / runs, all.seconds / runs,
               all.cpu_s / runs, 100 * all.on_front / runs);
        for (int rule = 0; rule < SR_RULES; rule++)
            printf("  %7.1f%%", 100 * all.rule[rule] / runs);
        printf("\n");
        snprintf(name, sizeof name, "all, %g%% noise: %d searches", o->noise[k], all.runs);
        bench_add(results, name, (struct bench_value){100 * all.solved / runs, NAN}, "% found",
                  NULL, 0);
        bench_add(results, name, (struct bench_value){all.seconds / runs, NAN}, "s", NULL, 0);
        bench_add(results, name, (struct bench_value){all.cpu_s / runs, NAN}, "s of processor time",
                  NULL, 0);
    }
}

static int search_laws(const struct options *o, struct bench_results *results)
{
    static struct tally tally[MOST_NOISES][PROBLEM_FEATURES + 1];
    struct law *law = orr_alloc(1, sizeof *law);
    int rc = law ? orr_mkdir(o->export ? o->export
                             : o->keep ? o->keep
                                       : "build/bench/symreg_laws")
                 : ORR_ENOMEM;
    for (int number = o->first; number <= o->last && !rc; number += o->every) {
        struct truth truth = {0};
        if (o->laws == ANGLE_LAWS)
            *law = (struct law){.problem = angle_laws[number - 1]};
        else
            rc = law_make(o->set, number - 1, law);
        if (!rc && o->list)
            list_law(law, number);
        if (!rc)
            rc = truth_init(&truth, &law->problem);
        for (int k = 0; k < o->noises && !rc && !o->list; k++)
            for (int sample = 0; sample < o->samples && !rc; sample++)
                rc = search_table(o, law, &truth, number, k, sample,
                                  &tally[k][law->problem.features]);
        truth_free(&truth);
    }
    if (!rc && !o->list && !o->export)
        print_totals(o, (const struct tally(*)[PROBLEM_FEATURES + 1]) tally, results);
    free(law);
    return rc;
}

int main(int argc, char **argv)
{
    struct options o;
    struct bench_results results = {0};
    bench_help(argc, argv, usage);
    int rc = read_options(argc, argv, &o);
    const bool angles = o.laws == ANGLE_LAWS;
    const bool whole = !rc && (angles || o.set == HELD_OUT_SET) && o.first == 1 &&
                       o.last == o.laws && o.every == 1 && !o.list && !o.export && !o.told &&
                       !*o.more && !strcmp(o.program, "bin/symreg");
    if (!rc)
        rc = bench_open(&results,
                        angles    ? "symreg_angles"
                        : o.units ? "symreg_laws_units"
                                  : "symreg_laws",
                        o.threads);
    if (!rc && o.cpu_time)
        cJSON_AddStringToObject(results.json, "seconds", "of processor time");
    if (!rc)
        rc = search_laws(&o, &results);
    if (whole)
        return orr_error_exit("bench_symreg_laws", bench_close(&results, rc));
    cJSON_Delete(results.json);
    return orr_error_exit("bench_symreg_laws", rc);
}
