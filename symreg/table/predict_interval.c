/* predict_interval.c - intervals of new observations, from the covariance of a formula's constants
 * and the noise that a front.json tells of. */
#include <math.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "program.h"

static int fail_lacking(const char *path, int row, const char *what)
{
    return ORR_FAIL(ORR_EMISSING, "--interval: %s: row %d of the front: %s", path, row + 1, what);
}

/* What rows differ by, if anything. */
static void read_noise(const cJSON *json, struct sr_noise *noise)
{
    const char *sigma = orr_json_text(json, "sigma"), *weights = orr_json_text(json, "weights");
    *noise = (struct sr_noise){
        .kind = SR_NOISE_ALIKE,
        .logarithm = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(json, "log_target")),
        .mean = orr_json_number(json, "weight_mean"),
        .largest = orr_json_number(json, "weight_largest")};
    if (*sigma) {
        noise->kind = SR_NOISE_SIGMA;
        noise->column = sigma;
    } else if (!strncmp(weights, "column ", strlen("column "))) {
        noise->kind = SR_NOISE_WEIGHT;
        noise->column = weights + strlen("column ");
    } else if (noise->largest > 0) {
        noise->kind = SR_NOISE_RELATIVE;
    }
}

int sr_uncertainty_read(const char *path, const cJSON *json, int row, const struct sr_expr *expr,
                        struct sr_uncertainty *u, struct sr_noise *noise)
{
    const cJSON *item = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(json, "front"), row);
    double own[SR_NODES], constant[SR_NODES], triangle[SR_NODES * (SR_NODES + 1) / 2];
    const int n = sr_expr_constants(expr, own);
    const double *next = triangle;
    read_noise(json, noise);
    *u = (struct sr_uncertainty){.constants = n,
                                 .noise = orr_json_number(item, "noise_variance"),
                                 .scatter = orr_json_number(item, "residual_variance"),
                                 .spare = orr_json_number(item, "degrees_of_freedom")};
    u->freedom = noise->kind == SR_NOISE_SIGMA ? (double)INFINITY : u->spare;
    if (!cJSON_HasObjectItem(item, "covariance"))
        return fail_lacking(path, row,
                            "expected the \"covariance\" of its constants, which a search "
                            "with the loss l2 writes, found none");
    if (!orr_json_list(item, "constants", constant, n) ||
        !orr_json_list(item, "covariance", triangle, n * (n + 1) / 2))
        return fail_lacking(path, row,
                            "its covariance has another number of constants than its "
                            "equation");
    for (int a = 0; a < n; a++) {
        if (fabs(own[a] - constant[a]) > 0)
            return fail_lacking(path, row, "its constants are not those of its equation");
        for (int b = 0; b <= a; b++)
            u->covariance[a][b] = u->covariance[b][a] = *next++;
    }
    if (!(u->noise >= 0))
        return fail_lacking(path, row,
                            "the table has no more rows than the formula constants, so its "
                            "noise is unknown");
    for (int a = 0; a < n; a++)
        if (!isfinite(u->covariance[a][a]))
            return fail_lacking(path, row, "the table does not determine its constants");
    return 0;
}

double sr_noise_factor(const struct sr_uncertainty *u, const struct sr_noise *noise, double level)
{
    return sr_interval_factor(level, noise->kind == SR_NOISE_ALIKE ? u->spare : u->freedom);
}

double sr_noise_variance(const struct sr_uncertainty *u, const struct sr_noise *noise, double cell,
                         double value)
{
    double size = cell; /* sigma, or what takes its place */
    switch (noise->kind) {
    case SR_NOISE_ALIKE:
        return u->scatter;
    case SR_NOISE_WEIGHT:
        return u->noise * noise->mean / cell;
    case SR_NOISE_RELATIVE:
        size = fmax(fabs(value), sqrt(1 / noise->largest));
        break;
    case SR_NOISE_SIGMA:
        size = noise->logarithm ? cell / orr_exp(value) : cell;
        break;
    }
    return u->noise * noise->mean * size * size;
}
