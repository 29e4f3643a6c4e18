/* describe.c - kernels of a description: machine code with trips, products, or bytes alone. */
#include "describe.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

/* ---- the files */

int predict_description_path(const struct predict_description *d, const char *name, char path[4096])
{
    const char *slash = strrchr(d->path, '/');
    const int folder = slash && *name != '/' ? (int)(slash - d->path + 1) : 0;
    return orr_path(path, "%.*s%s", folder, d->path, name);
}

int predict_description_open(struct predict_description *d, const char *path)
{
    *d = (struct predict_description){0};
    TRY(orr_path(d->path, "%s", path));
    TRY(orr_json_read(path, &d->json));
    int rc = 0;
    const char *counts = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(d->json, "counts"));
    const char *gemms = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(d->json, "gemms"));
    char file[4096];
    if (counts)
        rc = predict_description_path(d, counts, d->counts);
    if (!rc && gemms) {
        rc = predict_description_path(d, gemms, file);
        if (!rc)
            rc = orr_json_read(file, &d->gemms);
    }
    if (rc)
        predict_description_close(d);
    return rc;
}

void predict_description_close(struct predict_description *d)
{
    cJSON_Delete(d->json);
    cJSON_Delete(d->gemms);
    *d = (struct predict_description){0};
}

int predict_value(const cJSON *object, const char *key, const struct predict_names *names,
                  const char *where, double *value)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    char place[512];
    snprintf(place, sizeof place, "%s: \"%s\"", where, key);
    if (!item)
        return ORR_FAIL(ORR_EMISSING, "%s is missing: expected a number or an expression", place);
    if (cJSON_IsString(item))
        return predict_evaluate(names, item->valuestring, place, value);
    if (!cJSON_IsNumber(item) || !(item->valuedouble >= 0))
        return ORR_FAIL(ORR_EFORMAT, "%s must be a number from 0 on, or an expression", place);
    *value = item->valuedouble;
    return 0;
}

/* The same, or `otherwise` when there is no such key. */
static int value_or(const cJSON *object, const char *key, const struct predict_names *names,
                    const char *where, double otherwise, double *value)
{
    *value = otherwise;
    return cJSON_GetObjectItemCaseSensitive(object, key)
               ? predict_value(object, key, names, where, value)
               : 0;
}

/* ---- machine code */

/* Every part has trips, and all trips are of parts: no loop is forgotten. */
static int check_trips(const cJSON *trips, const struct predict_part part[], int parts,
                       const char *where)
{
    for (const cJSON *t = trips->child; t; t = t->next) {
        int p = 0;
        while (p < parts && strcmp(part[p].name, t->string))
            p++;
        if (p == parts)
            return ORR_FAIL(ORR_EFORMAT, "%s: trips of \"%s\", which the counts do not have", where,
                            t->string);
    }
    for (int p = 0; p < parts; p++)
        if (!cJSON_GetObjectItemCaseSensitive(trips, part[p].name) && strcmp(part[p].name, "cold"))
            return ORR_FAIL(ORR_EMISSING, "%s: no trips of the part \"%s\"", where, part[p].name);
    return 0;
}

static int sum_parts(struct predict_tally *sum, const cJSON *kernel,
                     const struct predict_part part[], int parts, const struct predict_names *names,
                     const char *where)
{
    const cJSON *trips = cJSON_GetObjectItemCaseSensitive(kernel, "trips");
    double warps;
    if (!cJSON_IsObject(trips))
        return ORR_FAIL(ORR_EMISSING, "%s: expected \"trips\", an expression for each part", where);
    TRY(check_trips(trips, part, parts, where));
    TRY(predict_value(kernel, "warps", names, where, &warps));
    for (int p = 0; p < parts; p++) {
        double times;
        TRY(value_or(trips, part[p].name, names, where, 0, &times));
        predict_tally_add(sum, &part[p].tally, times * warps);
    }
    return 0;
}

static int code_time(struct predict_time *time, const struct predict_description *d,
                     const cJSON *kernel, const char *code, const struct predict_machine *machine,
                     const struct predict_names *names, const char *where)
{
    char name[PREDICT_NAME];
    struct predict_part *part;
    int parts;
    double dram;
    if (!*d->counts)
        return ORR_FAIL(ORR_EMISSING, "%s: \"code\" needs \"counts\", a file of the description",
                        where);
    snprintf(name, sizeof name, "%s.%s", code, machine->target);
    TRY(predict_counts_read(d->counts, name, &part, &parts));
    struct predict_tally sum = {0};
    int rc = sum_parts(&sum, kernel, part, parts, names, where);
    free(part);
    if (!rc)
        rc = predict_value(kernel, "dram", names, where, &dram);
    if (!rc)
        predict_time_of(time, machine, &sum, dram);
    return rc;
}

/* ---- products */

/* Seconds that the estimates have for it, 0 when they have none. */
static double estimate_of(const struct predict_description *d,
                          const struct predict_machine *machine, const struct predict_gemm *g)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(
        cJSON_GetObjectItemCaseSensitive(d->gemms, "microseconds"), machine->name);
    const cJSON *row;
    cJSON_ArrayForEach (row, list) {
        const cJSON *n[4];
        for (int i = 0; i < 4; i++)
            n[i] = cJSON_GetArrayItem(row, i);
        if (cJSON_IsNumber(n[3]) && n[0]->valuedouble == g->M && n[1]->valuedouble == g->N &&
            n[2]->valuedouble == g->K)
            return 1e-6 * n[3]->valuedouble;
    }
    return 0;
}

static int product_time(struct predict_time *time, const struct predict_description *d,
                        const cJSON *kernel, const cJSON *gemm,
                        const struct predict_machine *machine, const struct predict_names *names,
                        const char *where)
{
    struct predict_gemm g = {0};
    double *const size[3] = {&g.M, &g.N, &g.K};
    if (cJSON_GetArraySize(gemm) != 3)
        return ORR_FAIL(ORR_EFORMAT, "%s: \"gemm\" must be a list of M, N and K", where);
    for (int i = 0; i < 3; i++) {
        const cJSON *item = cJSON_GetArrayItem(gemm, i);
        if (cJSON_IsNumber(item))
            *size[i] = item->valuedouble;
        else if (cJSON_IsString(item))
            TRY(predict_evaluate(names, item->valuestring, where, size[i]));
        else
            return ORR_FAIL(ORR_EFORMAT, "%s: M, N and K must be numbers or expressions", where);
    }
    TRY(value_or(kernel, "out_bytes", names, where, 2, &g.out_bytes));
    predict_gemm_time(time, machine, &g);
    const double estimate = estimate_of(d, machine, &g);
    if (estimate > 0)
        time->low_s = time->high_s = estimate; /* of its own pipes nothing is said */
    return 0;
}

int predict_kernel_time(struct predict_time *time, const struct predict_description *d,
                        const cJSON *kernel, const struct predict_machine *machine,
                        const struct predict_names *names, const char *where)
{
    static const char *const keys = " name code warps trips dram gemm out_bytes times note ";
    for (const cJSON *item = kernel->child; item; item = item->next) {
        char word[PREDICT_NAME];
        snprintf(word, sizeof word, " %s ", item->string);
        if (!strstr(keys, word))
            return ORR_FAIL(ORR_EFORMAT, "%s: unknown key \"%s\"; expected one of%s", where,
                            item->string, keys);
    }
    const char *code = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(kernel, "code"));
    const cJSON *gemm = cJSON_GetObjectItemCaseSensitive(kernel, "gemm");
    struct predict_time one = {0};
    double times, dram;
    if (code) {
        TRY(code_time(&one, d, kernel, code, machine, names, where));
    } else if (gemm) {
        TRY(product_time(&one, d, kernel, gemm, machine, names, where));
    } else {
        const struct predict_tally nothing = {0};
        TRY(predict_value(kernel, "dram", names, where, &dram));
        predict_time_of(&one, machine, &nothing, dram);
    }
    TRY(value_or(kernel, "times", names, where, 1, &times));
    *time = (struct predict_time){0};
    predict_time_add(time, &one, times);
    return 0;
}
