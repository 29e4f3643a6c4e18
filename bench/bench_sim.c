/* bench_sim.c - the simulator: Kepler's equation, sequences, and writing data sets.
 *
 *   solves     ns per solve of blocks of 128 mean anomalies that share e, sines and cosines
 *              included, by range of e and by instruction set; peer: steps of Newton from Danby's
 *              start with libm, one anomaly after the other, until |f| <= 1e-13
 *   sequences  from the seed to tokens (vafa2025) or coordinates (identifiable: that of the preset
 *              quick), one thread and two: per second of the threads' own time, which other work on
 *              the machine does not change much, and per second of the clock
 *   writing    a data set as `bin/orbits` writes it, against write and fsync of as many bytes to
 *              one plain file in the same run
 * Every figure is the median of several runs after one to warm up. Usage: --help. */
#include <fcntl.h>
#include <unistd.h>

#include <gsl/gsl_math.h>

#include "bench.h"
#include "sim/vec.h"

enum { RUNS = 9, BLOCKS = 16, ANOMALIES = BLOCKS * SIM_VEC_BLOCK };

static const char usage[] =
    "bench_sim - the simulator: Kepler's equation, sequences, and writing data sets\n\n"
    "usage: bench_sim [folder]\n\n"
    "  folder        for the files that are written, 2 GB; default build/bench-sim\n\n"
    "Prints its figures and writes bench/results/sim.json. make bench-sim.\n";

/* ---- solves */

static const double eccentricities[] = {0.017, 0.3, 0.6, 0.9, 0.99, 0.999};
enum { ECCENTRICITIES = sizeof eccentricities / sizeof *eccentricities };

static double newton(double M, double e, double *sine, double *cosine)
{
    double E = M + copysign(0.85 * e, M);
    for (int i = 0; i < 64; i++) {
        const double s = sin(E), c = cos(E), f = E - e * s - M;
        *sine = s;
        *cosine = c;
        if (fabs(f) <= 1e-13)
            break;
        E -= f / (1 - e * c);
    }
    return E;
}

static double solve_newton(const double M[], double e)
{
    double sum = 0, s, c;
    for (int i = 0; i < ANOMALIES; i++)
        sum += newton(M[i], e, &s, &c) + s + c;
    return sum;
}

/* From whole turns on, as an orbit does it. */
static double solve_blocks(const struct sim_vec *vec, const double M[], double e,
                           struct sim_vec_block *block)
{
    double sum = 0;
    for (int b = 0; b < BLOCKS; b++) {
        memcpy(block->M, M + (size_t)b * SIM_VEC_BLOCK, sizeof block->M);
        vec->reduce(block, SIM_VEC_BLOCK);
        sum += (double)vec->kepler(block, SIM_VEC_BLOCK, e);
    }
    return sum;
}

/* vec NULL: Newton. */
static struct bench_value solve_ns(const struct sim_vec *vec, const double M[], double e)
{
    enum { REPEATS = 40 };
    static struct sim_vec_block block;
    double ns[RUNS];
    volatile double sink = 0;
    for (int run = -1; run < RUNS; run++) {
        const double start = orr_time_s();
        for (int i = 0; i < REPEATS; i++)
            sink = sink + (vec ? solve_blocks(vec, M, e, &block) : solve_newton(M, e));
        if (run >= 0)
            ns[run] = 1e9 * (orr_time_s() - start) / REPEATS / ANOMALIES;
    }
    return bench_median(ns, RUNS);
}

static int bench_solves(struct bench_results *results)
{
    static double M[ANOMALIES];
    gsl_rng *rng = orr_rng_create(1, ORR_STAGE_TEST_SUITE, 1);
    if (!rng)
        return ORR_FAIL(ORR_ENOMEM, "out of memory");
    for (int i = 0; i < ANOMALIES; i++)
        M[i] = M_PI * (2 * gsl_rng_uniform(rng) - 1);
    gsl_rng_free(rng);
    printf("ns per solve, sine and cosine included\n       e");
    for (int v = 0; v < ORR_ISA_COUNT; v++)
        if (sim_vec_here(v))
            printf("%8s", orr_isa_name((enum orr_isa)v));
    printf("  newton   ratio of the best\n");
    for (int k = 0; k < ECCENTRICITIES; k++) {
        const double e = eccentricities[k];
        const struct bench_value peer = solve_ns(NULL, M, e);
        double best = 0;
        printf("%8g", e);
        for (int v = 0; v < ORR_ISA_COUNT; v++) {
            const struct sim_vec *vec = sim_vec_here(v);
            char name[64];
            if (!vec)
                continue;
            const struct bench_value ns = solve_ns(vec, M, e);
            best = peer.median / ns.median;
            snprintf(name, sizeof name, "solve, e = %g, %s", e, orr_isa_name((enum orr_isa)v));
            bench_add(results, name, ns, "ns", "newton", best);
            printf("%8.2f", ns.median);
        }
        printf("%8.1f%12.1f\n", peer.median, best);
    }
    return 0;
}

/* ---- sequences */

static double thread_time_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Makes `count` sequences of the training set on each thread: busy_s of all threads together, and
 * seconds of the clock. */
static int make_sequences(const struct orr_settings *settings, int threads, int count,
                          double *busy_s, double *seconds)
{
    int rc = 0;
    double busy = 0;
    const double start = orr_time_s();
#pragma omp parallel for num_threads(threads) schedule(static, 1) reduction(| : rc) \
    reduction(+ : busy)
    for (int thread = 0; thread < threads; thread++) {
        struct sim_sequence q;
        rc = sim_sequence_create(&q, settings, SIM_SPLIT_TRAIN);
        const double from = thread_time_s();
        for (int i = 0; i < count && !rc; i++)
            rc = sim_sequence_make(&q, settings, SIM_SPLIT_TRAIN, (uint64_t)(i * threads + thread));
        busy += thread_time_s() - from;
        sim_sequence_free(&q);
    }
    *seconds = orr_time_s() - start;
    *busy_s = busy;
    return rc;
}

static int bench_sequences(const char *preset_name, const char *what, int count,
                           struct bench_results *results)
{
    struct orr_settings settings;
    int rc = orr_settings_load(&settings, preset_name);
    for (int threads = 1; threads <= 2 && !rc; threads++) {
        double core[RUNS], clock[RUNS];
        char name[64];
        for (int run = -1; run < RUNS && !rc; run++) {
            double busy, seconds;
            rc = make_sequences(&settings, threads, count, &busy, &seconds);
            if (run >= 0) {
                core[run] = threads * count / busy;
                clock[run] = threads * count / seconds;
            }
        }
        if (rc)
            break;
        const struct bench_value per_core = bench_median(core, RUNS);
        const struct bench_value per_second = bench_median(clock, RUNS);
        snprintf(name, sizeof name, "sequences, %s, threads %d", what, threads);
        bench_add(results, name, per_core, "1/s/core", NULL, 0);
        snprintf(name, sizeof name, "sequences, %s, threads %d, by the clock", what, threads);
        bench_add(results, name, per_second, "1/s", NULL, 0);
        printf("%-14s %d positions, %d thread%s: %.0f sequences/s/core, %.0f/s by the clock\n",
               what, settings.orbits.positions, threads, threads > 1 ? "s" : " ", per_core.median,
               per_second.median);
    }
    return rc;
}

/* ---- writing */

/* write and fsync of as many bytes to one file, seconds. */
static int write_plain(const char *path, double bytes, double *seconds)
{
    enum { CHUNK = 1 << 20 };
    unsigned char *chunk = orr_alloc(CHUNK, 1);
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    bool ok = chunk && fd >= 0;
    for (size_t i = 0; ok && i < CHUNK; i++)
        chunk[i] = (unsigned char)(i * 2654435761u >> 13);
    const double start = orr_time_s();
    for (double left = bytes; ok && left > 0; left -= CHUNK) {
        const size_t size = left < CHUNK ? (size_t)left : CHUNK;
        ok = write(fd, chunk, size) == (ssize_t)size;
    }
    ok = ok && fsync(fd) == 0;
    *seconds = orr_time_s() - start;
    ok = fd >= 0 && close(fd) == 0 && ok;
    free(chunk);
    remove(path);
    return ok ? 0 : ORR_FAIL(ORR_EIO, "%s: cannot write %.0f bytes", path, bytes);
}

static int bench_writing(const char *dir, struct bench_results *results)
{
    enum { WRITES = 5 };
    struct orr_settings settings;
    char path[4096], sink[4096];
    double rate[WRITES], plain[WRITES];
    int rc = orr_settings_load(&settings, "vafa2025");
    settings.orbits.train = settings.orbits.train_files = 100000;
    if (!rc)
        rc = orr_mkdir(dir);
    if (!rc)
        rc = orr_path(sink, "%s/plain", dir);
    if (!rc)
        rc = orr_path(path, "%s/orbits", dir);
    const double bytes = rc ? 0 : sim_dataset_bytes(&settings, 0, 1);
    for (int run = 0; run < WRITES && !rc; run++) {
        double seconds = 1;
        const double start = orr_time_s();
        rc = sim_dataset_write(&settings, path, 2, false, true);
        rate[run] = bytes / 1e6 / (orr_time_s() - start);
        if (!rc)
            rc = write_plain(sink, bytes, &seconds);
        plain[run] = bytes / 1e6 / seconds;
    }
    if (rc)
        return rc;
    const struct bench_value value = bench_median(rate, WRITES), disk = bench_median(plain, WRITES);
    bench_add(results, "writing, vafa2025, threads 2", value, "MB/s", "plain write and fsync",
              value.median / disk.median);
    bench_add(results, "plain write and fsync", disk, "MB/s", NULL, 0);
    printf("writing %.0f MB, 2 threads: %.0f MB/s; plain write and fsync %.0f MB/s\n", bytes / 1e6,
           value.median, disk.median);
    return 0;
}

int main(int argc, char **argv)
{
    struct bench_results results;
    bench_help(argc, argv, usage);
    if (argc > 2 || (argc > 1 && argv[1][0] == '-'))
        return orr_error_exit("bench_sim",
                              ORR_FAIL(ORR_EUSAGE, "%s: unknown; see --help", argv[argc - 1]));
    int rc = bench_open(&results, "sim", 2);
    if (!rc)
        rc = bench_solves(&results);
    if (!rc)
        rc = bench_sequences("vafa2025", "vafa2025", 20000, &results);
    if (!rc)
        rc = bench_sequences("quick", "identifiable", 60000, &results);
    if (!rc)
        rc = bench_writing(argc > 1 ? argv[1] : "build/bench-sim", &results);
    rc = bench_close(&results, rc);
    return orr_error_exit("bench_sim", rc);
}
