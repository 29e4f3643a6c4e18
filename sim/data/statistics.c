/* statistics.c - statistics of data sets: bodies, coordinates, clipped ones, time steps, forces. */
#include "sim/data/dataset.h"

#include <math.h>
#include <string.h>

#include <cjson/cJSON.h>

struct range {
    double low, high;
};

struct statistics {
    uint64_t bodies[256], dt[2];   /* sequences by bodies; by dt token */
    uint64_t rows, labelled, edge; /* rows without row 0; coordinates in an outermost bin */
    struct range axis[SIM_AXES], force, ln_dt;
};

static void extend_range(struct range *range, double x)
{
    range->low = fmin(range->low, x);
    range->high = fmax(range->high, x);
}

static void add_sequence(struct statistics *s, const struct sim_dataset *set, size_t i,
                         double extent_au)
{
    const size_t P = (size_t)set->positions;
    const uint16_t *tokens = sim_dataset_tokens(set, i);
    const float *coords = sim_dataset_coords(set, i);
    const size_t axes = (size_t)set->dimensions;
    const int bins = set->bins;
    s->bodies[set->num_bodies[i]]++;
    s->rows += P - 1;
    if (tokens)
        s->dt[tokens[0] != bins]++;
    else
        extend_range(&s->ln_dt, (double)coords[0]);
    for (size_t k = axes; k < axes * P; k++) {
        if (coords) {
            extend_range(&s->axis[k % axes], (double)coords[k]);
            continue;
        }
        s->edge += tokens[k] == 0 || tokens[k] == bins - 1;
        extend_range(&s->axis[k % 2], (tokens[k] + 0.5) * 2 * extent_au / bins - extent_au);
    }
    for (size_t t = 0; set->force_magnitude && t < P; t++) {
        const double force = (double)set->force_magnitude[i * P + t];
        if (isfinite(force)) {
            extend_range(&s->force, force);
            s->labelled++;
        }
    }
}

static void print_set(const struct statistics *s, const struct sim_dataset *set, const char *name,
                      double clipped, double redrawn, bool own_units)
{
    printf("%s: %zu sequences of %d positions, %zu file%s per array\n", name, set->n,
           set->positions, set->shards, set->shards == 1 ? "" : "s");
    printf("  bodies     ");
    for (int b = 0; b < 256; b++)
        if (s->bodies[b])
            printf("  %d: %llu (%.1f%%)", b, (unsigned long long)s->bodies[b],
                   100 * (double)s->bodies[b] / (double)set->n);
    printf("\n");
    const char *unit = own_units    ? "in the unit of the file"
                       : set->scale ? "separations at step 0"
                                    : "AU";
    for (int c = 0; c < set->dimensions; c++)
        printf("  %c            %.3f to %.3f %s\n", 'x' + c, s->axis[c].low, s->axis[c].high, unit);
    const double values = 2 * (double)s->rows;
    if (sim_dataset_tokens(set, 0)) {
        if (clipped >= 0)
            printf("  clipped      %.0f of %.0f coordinates (%.4f%%)\n", clipped, values,
                   100 * clipped / values);
        printf("  outer bins   %llu coordinates (%.4f%%)\n", (unsigned long long)s->edge,
               100 * (double)s->edge / values);
        printf("  time step    7 days: %llu, 180 days: %llu\n", (unsigned long long)s->dt[0],
               (unsigned long long)s->dt[1]);
    } else {
        printf("  time step    %.6g to %.6g %s\n", exp(s->ln_dt.low), exp(s->ln_dt.high),
               own_units ? unit : "yr");
    }
    if (redrawn >= 0)
        printf("  drawn again  %.0f systems, whose planets met\n", redrawn);
    if (set->force_magnitude && s->labelled)
        printf("  |F|          %.4g to %.4g solar masses AU / yr^2 on %llu rows\n", s->force.low,
               s->force.high, (unsigned long long)s->labelled);
}

/* Whether a manifest is of imported tracks whose numbers are in units of their file. */
static bool has_own_units(const cJSON *manifest)
{
    const cJSON *how = orr_json_get(orr_json_get(manifest, "tracks"), "how");
    return how && orr_json_says(how, "units", SIM_OWN_UNITS);
}

int sim_manifest_bins(const char *dir, const cJSON *json, int *bins, double *extent_au)
{
    const double count = orr_json_number(json, "bins");
    *extent_au = orr_json_number(json, "extent_au");
    if (!(count >= 1 && count <= 65532 && floor(count) == count))
        return ORR_FAIL(
            ORR_EFORMAT,
            "%s/manifest.json: \"bins\": expected a whole number from 1 to 65532, found "
            "%.17g",
            dir, count);
    if (!(*extent_au >= 1e-9 && *extent_au <= 1e9))
        return ORR_FAIL(ORR_EFORMAT,
                        "%s/manifest.json: \"extent_au\": expected a number from 1e-09 to 1e+09, "
                        "found %.17g",
                        dir, *extent_au);
    *bins = (int)count;
    return 0;
}

static int print_split(const char *dir, enum sim_split split, const cJSON *json)
{
    struct sim_dataset set;
    const struct range none = {INFINITY, -INFINITY};
    struct statistics s = {.axis = {none, none, none}, .force = none, .ln_dt = none};
    const cJSON *entry = orr_json_get(orr_json_get(json, "sets"), sim_split_name(split));
    const cJSON *clipped = orr_json_get(entry, "clipped_coordinates");
    const double redrawn = orr_json_number(entry, "redrawn_systems");
    double extent_au = 50;
    int rc = sim_dataset_open_any(&set, dir, split);
    if (rc)
        return rc;
    /* External tokens are taken to have the study's 7000 bins over 100 AU, and are not checked:
     * only a manifest states the bins. */
    const bool tokens = sim_dataset_tokens(&set, 0) != NULL, known = !tokens || json;
    set.bins = 7000;
    if (tokens && json)
        rc = sim_manifest_bins(dir, json, &set.bins, &extent_au);
    if (!rc && known && sim_split_labelled(split))
        rc = sim_labels_check(&set);
    for (size_t i = 0; i < set.n && !rc; i++) {
        if (known)
            rc = sim_dataset_check_rows(&set, i);
        if (rc)
            break;
        add_sequence(&s, &set, i, extent_au);
        if (orr_signal_seen())
            rc = ORR_FAIL(ORR_EINTR, "stopped while reading %s", dir);
    }
    if (!rc)
        print_set(&s, &set, sim_split_name(split),
                  cJSON_IsNumber(clipped) ? clipped->valuedouble : -1, redrawn,
                  has_own_units(json));
    sim_dataset_close(&set);
    return rc;
}

static bool is_there(const char *dir, enum sim_split split)
{
    char name[SIM_NAME], path[4096];
    uint64_t shards;
    bool there = false;
    for (int kind = SIM_KIND_OBS; kind <= SIM_KIND_COORDS && !there; kind++) {
        if (sim_shards_find(dir, (enum sim_kind)kind, split, &shards))
            return true; /* opening reports the error */
        sim_shard_name(name, (enum sim_kind)kind, split, 0, shards);
        there = !orr_path(path, "%s/%s", dir, name) && orr_exists(path);
    }
    return there;
}

int sim_dataset_statistics(const char *dir)
{
    cJSON *json = NULL;
    bool any = false;
    int rc = sim_manifest_read(dir, &json);
    for (int i = 0; i < SIM_SPLITS && !rc; i++) {
        const enum sim_split split = (enum sim_split)i;
        if (!is_there(dir, split))
            continue;
        any = true;
        rc = print_split(dir, split, json);
    }
    if (!rc && !any)
        rc = ORR_FAIL(ORR_EMISSING, "%s: no data sets there", dir);
    cJSON_Delete(json);
    return rc;
}
