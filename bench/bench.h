/* bench.h - what benchmarks share: medians with their spread, and the results file.
 *
 * bench/results/<name>.json holds date, cpu, threads, commit and version, and `rows` of
 *   name, value, unit   the median
 *   spread              (third - first quartile) / median of the runs, null for a single run
 *   peer, ratio         what it is compared with in the same run, and how many times better than
 *                       that it is; null for none
 * Every program prints its usage at --help. */
#ifndef BENCH_H
#define BENCH_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cjson/cJSON.h>

#include "base/base.h"

struct bench_value {
    double median, spread;
};

static inline int bench_by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Of n > 0 values, which are sorted. */
static inline struct bench_value bench_median(double *value, int n)
{
    qsort(value, (size_t)n, sizeof *value, bench_by_value);
    const double median = value[n / 2];
    return (struct bench_value){median, n > 3 ? (value[3 * n / 4] - value[n / 4]) / median : NAN};
}

/* Processor time of this process so far, all threads. */
static inline double bench_processor_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* n numbers, each the sum of four uniforms, variance 1: roughly normal. *state != 0 goes on. */
static inline void bench_normal(uint32_t *state, float *x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        float sum = 0;
        for (int k = 0; k < 4; k++) { /* xorshift32 (Marsaglia 2003) */
            *state ^= *state << 13;
            *state ^= *state >> 17;
            *state ^= *state << 5;
            sum += (float)(*state >> 8) * 0x1p-24f - 0.5f;
        }
        x[i] = sum * 1.7320508f;
    }
}

/* --help anywhere: prints the text, and that was all. */
static inline void bench_help(int argc, char **argv, const char *text)
{
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], "--help"))
            exit(fputs(text, stdout) < 0 || fflush(stdout) ? 1 : 0);
}

/* A whole number from `least` on, in place of the option or argument `name`; text may be NULL. */
static inline int bench_number(const char *name, const char *text, int least, int *number)
{
    char *end = NULL;
    const long value = text ? strtol(text, &end, 10) : 0;
    if (!text || end == text || *end || value < least || value > 1000000)
        return ORR_FAIL(ORR_EUSAGE, "%s: expected a number from %d, found \"%s\"; see --help", name,
                        least, text ? text : "");
    *number = (int)value;
    return 0;
}

/* "3" or "3-7", whole numbers that the caller compares with what there is. */
static inline void bench_range(const char *text, int *first, int *last)
{
    if (sscanf(text, "%d-%d", first, last) == 1)
        *last = *first;
}

/* Percents of noise with commas between them, at most `most`. */
static inline int bench_noises(const char *text, int most, double *noise, int *noises)
{
    *noises = 0;
    while (*text && *noises < most) {
        char *end;
        noise[(*noises)++] = strtod(text, &end);
        if (end == text || (*end && *end != ','))
            return ORR_FAIL(ORR_EUSAGE, "--noise: expected percents with commas, found \"%s\"",
                            text);
        text = *end ? end + 1 : end;
    }
    return 0;
}

/* The value of option `name`, NULL when it was not given, is a word of `choices`. */
static inline int bench_choice(const char *name, const char *value, const char *choices)
{
    const size_t length = value ? strlen(value) : 0;
    for (const char *word = choices; value && *word;) {
        const size_t end = strcspn(word, " ");
        if (end == length && !strncmp(word, value, end))
            return 0;
        word += end + (word[end] == ' ');
    }
    return value ? ORR_FAIL(ORR_EUSAGE, "%s: expected one of %s, found \"%s\"; see --help", name,
                            choices, value)
                 : 0;
}

struct bench_results {
    cJSON *json, *rows;
    char path[256];
};

/* The first line that a command prints, or `otherwise`. */
static inline void bench_ask(const char *command, const char *otherwise, char *text, size_t bytes)
{
    FILE *pipe = popen(command, "r");
    if (!pipe || !fgets(text, (int)bytes, pipe))
        snprintf(text, bytes, "%s", otherwise);
    if (pipe)
        pclose(pipe);
    text[strcspn(text, "\n")] = '\0';
}

/* Whether GPU 0 has the tensor cores of compute capability 9.0 and fused attention does not take
 * them: results of it have files of their own. */
static inline bool bench_without_hopper(void)
{
    const char *asked = getenv("ORRERY_CUDA_HOPPER");
    char capability[16];
    bench_ask("nvidia-smi -i 0 --query-gpu=compute_cap --format=csv,noheader 2>/dev/null", "",
              capability, sizeof capability);
    return asked && !strcmp(asked, "0") && !strcmp(capability, "9.0");
}

static inline int bench_open(struct bench_results *results, const char *name, int threads)
{
    char text[128];
    const time_t now = time(NULL);
    struct tm utc;
    snprintf(results->path, sizeof results->path, "bench/results/%s.json", name);
    results->json = cJSON_CreateObject();
    strftime(text, sizeof text, "%Y-%m-%d", gmtime_r(&now, &utc));
    cJSON_AddStringToObject(results->json, "date", text);
    bench_ask("sed -n 's/^model name[^:]*: //p' /proc/cpuinfo", "unknown", text, sizeof text);
    cJSON_AddStringToObject(results->json, "cpu", text);
    cJSON_AddNumberToObject(results->json, "threads", threads);
    bench_ask("git describe --always --dirty 2>/dev/null", "unknown", text, sizeof text);
    cJSON_AddStringToObject(results->json, "commit", text);
    cJSON_AddStringToObject(results->json, "version", ORR_VERSION);
    results->rows = cJSON_AddArrayToObject(results->json, "rows");
    return results->rows ? 0 : ORR_FAIL(ORR_ENOMEM, "out of memory");
}

/* peer NULL: none, ratio is ignored. */
static inline void bench_add(struct bench_results *results, const char *name,
                             struct bench_value value, const char *unit, const char *peer,
                             double ratio)
{
    cJSON *row = cJSON_CreateObject();
    cJSON_AddStringToObject(row, "name", name);
    cJSON_AddNumberToObject(row, "value", value.median);
    cJSON_AddStringToObject(row, "unit", unit);
    if (isfinite(value.spread))
        cJSON_AddNumberToObject(row, "spread", value.spread);
    else
        cJSON_AddNullToObject(row, "spread");
    if (peer) {
        cJSON_AddStringToObject(row, "peer", peer);
        cJSON_AddNumberToObject(row, "ratio", ratio);
    } else {
        cJSON_AddNullToObject(row, "peer");
        cJSON_AddNullToObject(row, "ratio");
    }
    cJSON_AddItemToArray(results->rows, row);
}

/* Writes the file, unless rc says that something went wrong; returns the first error. */
static inline int bench_close(struct bench_results *results, int rc)
{
    if (!rc)
        rc = orr_mkdir("bench/results");
    if (!rc)
        rc = orr_json_write(results->path, results->json);
    cJSON_Delete(results->json);
    return rc;
}

#endif
