/* bench_symreg_table.c - the study's table of laws, whole: how long bin/symreg takes for it.
 *
 * A run directory below build/bench gets forces of the truth, an oracle and two models: 5 samples
 * of 1,000 rows each, 20 sequences of 50 positions, over the ranges of two-body orbits. The
 * oracle is off by 5%; the first model by 20%, with an exponent of -1.9 and errors that the rows of
 * a sequence share; the second (untrained) knows little but the mean. Then what
 *     bin/symreg --preset vafa2025 --attention softmax --threads 2 [--compat pysr] --run DIR
 * does is done: the published operators, loss and size, 3 restarts of 100 epochs, both algorithms.
 * Options (make bench-symreg_table BENCH_ARGS=...): --threads N, --mode own|pysr for one of them.
 * Prints the tables of laws; writes bench/results/symreg_table.json. */
#include <gsl/gsl_randist.h>

#include "bench.h"
#include "laws/laws.h"

enum { SAMPLES = 5, ROWS = 1000, PER_SEQUENCE = 50, SOURCES = 4 };
static const char *const source_name[SOURCES] = {"truth", "oracle", "softmax", "untrained"};
static const char *const folder = "build/bench/symreg_table";

/* ---- the forces */

/* What a source makes of the true force at r; `shared` is the sequence's own deviate. */
static double told(int source, double truth, double r, double shared, gsl_rng *rng)
{
    const double e = gsl_ran_ugaussian(rng);
    switch (source) {
    case 0:
        return truth;
    case 1:
        return truth * exp(0.05 * e);
    case 2:
        return truth * pow(r, 0.1) * exp(0.15 * e + 0.15 * shared);
    default:
        return 20 * exp(0.5 * e + 0.3 * shared);
    }
}

static int write_forces(int source)
{
    char path[4096];
    struct orr_file file = {0};
    gsl_rng *rng = orr_rng_create(1, ORR_STAGE_TEST_SUITE, 20);
    gsl_rng *noise = orr_rng_create(1, ORR_STAGE_TEST_SUITE, 21 + (uint64_t)source);
    int rc = rng && noise ? orr_path(path, "%s/%s/finetune", folder, source_name[source])
                          : ORR_FAIL(ORR_ENOMEM, "out of memory");
    if (!rc)
        rc = orr_mkdir(path);
    if (!rc)
        rc = orr_path(path, "%s/%s/finetune/forces_magnitude.csv", folder, source_name[source]);
    if (!rc)
        rc = orr_file_create(&file, path);
    if (!rc)
        rc = orr_file_printf(&file, "sample,sequence,step,r,m1,m2,dt,F_true,F\n");
    double m1 = 0, m2 = 0, a = 0, e = 0, shared = 0;
    for (int i = 0; i < SAMPLES * ROWS && !rc; i++) {
        if (i % PER_SEQUENCE == 0) { /* masses and orbit are those of the sequence */
            m1 = 0.1 + 1.9 * gsl_rng_uniform(rng);
            m2 = 0.1 + 1.9 * gsl_rng_uniform(rng);
            a = 0.5 + 1.5 * gsl_rng_uniform(rng);
            e = 0.7 * gsl_rng_uniform(rng);
            shared = gsl_ran_ugaussian(noise);
        }
        const double r = a * (1 - e * cos(6.283185307179586 * gsl_rng_uniform(rng)));
        const double truth = 39.478417604357434 * m1 * m2 / (r * r);
        rc = orr_file_printf(&file, "%d,%d,%d,%.9g,%.9g,%.9g,0.04,%.9g,%.9g\n",
                             i / PER_SEQUENCE % SAMPLES, i / PER_SEQUENCE, i % PER_SEQUENCE, r, m1,
                             m2, truth, told(source, truth, r, shared, noise));
    }
    if (!rc)
        rc = orr_file_commit(&file);
    orr_file_close(&file);
    gsl_rng_free(rng);
    gsl_rng_free(noise);
    return rc;
}

/* ---- the table */

static int bench_mode(const char *mode, int threads, struct bench_results *results)
{
    const char *const compat = strcmp(mode, "pysr") ? NULL : mode;
    const double goal_s = compat ? 300 : 60;
    struct orr_cli *cli = orr_alloc(1, sizeof *cli);
    char name[160];
    int rc = cli ? orr_settings_load(&cli->settings, "vafa2025") : ORR_ENOMEM;
    if (!rc)
        rc = orr_settings_set(&cli->settings, "attention=softmax");
    if (!rc && compat)
        rc = orr_settings_set(&cli->settings, "symreg.algorithm=pysr");
    if (!rc)
        rc = orr_path(cli->run, "%s", folder);
    if (!rc)
        rc = orr_path(cli->out, "%s/laws-%s", folder, mode);
    if (!rc) {
        cli->threads = threads;
        const double wall = orr_time_s(), cpu = bench_processor_s();
        rc = laws_run(cli, "", "", "bench");
        const double wall_s = orr_time_s() - wall, cpu_s = bench_processor_s() - cpu;
        snprintf(name, sizeof name, "%s: the table, %d threads", mode, threads);
        if (!rc) {
            bench_add(results, name, (struct bench_value){wall_s, NAN}, "s", "goal",
                      goal_s / wall_s);
            snprintf(name, sizeof name, "%s: the table, processor time", mode);
            bench_add(results, name, (struct bench_value){cpu_s, NAN}, "s", NULL, 0);
            printf(
                "\n%s: %.1f s with %d threads, %.1f s of processor time; wanted: %.0f s with 2\n",
                mode, wall_s, threads, cpu_s, goal_s);
            fflush(stdout);
        }
    }
    free(cli);
    return rc;
}

int main(int argc, char **argv)
{
    const char *only = NULL;
    int threads = 2, rc = 0;
    struct bench_results results;
    for (int i = 1; i < argc && !rc; i++) {
        const char *const value = i + 1 < argc ? argv[i + 1] : "";
        if (!strcmp(argv[i], "--threads"))
            threads = atoi(value);
        else if (!strcmp(argv[i], "--mode"))
            only = value;
        if (strncmp(argv[i++], "--", 2) || threads < 1 ||
            (only && strcmp(only, "own") && strcmp(only, "pysr")))
            rc = ORR_FAIL(ORR_EUSAGE, "bench_symreg_table [--threads N] [--mode own|pysr]");
    }
    if (rc)
        return orr_error_exit("bench_symreg_table", rc);
    rc = bench_open(&results, "symreg_table", threads);
    for (int source = 0; source < SOURCES && !rc; source++)
        rc = write_forces(source);
    if (!rc && (!only || !strcmp(only, "own")))
        rc = bench_mode("own", threads, &results);
    if (!rc && (!only || !strcmp(only, "pysr")))
        rc = bench_mode("pysr", threads, &results);
    rc = bench_close(&results, rc);
    return orr_error_exit("bench_symreg_table", rc);
}
