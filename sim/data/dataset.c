/* dataset.c - reads data sets: mapped .npy files, in one piece or in shards, checked against the
 * preset. */
#include "sim/data/dataset.h"

#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------------- one file */

/* Whether external data sets use this type for whole numbers. */
static bool is_convertible(enum orr_dtype from, enum orr_dtype to)
{
    return (to == ORR_U8 || to == ORR_U16) &&
           (from == ORR_U8 || from == ORR_U16 || from == ORR_U32 || from == ORR_I32 ||
            from == ORR_I64);
}

/* Maps <dir>/<kind>_<split>[-shard].npy and checks dtype (or a wider one), dimensions, and sizes
 * where shape is not 0; shape receives the sizes. shape[2] is 0 for arrays of numbers. */
static int map_file(const char *dir, enum sim_kind kind, enum sim_split split, uint64_t shard,
                    uint64_t shards, size_t shape[3], struct orr_npy *npy, char path[4096])
{
    char name[SIM_NAME];
    const struct sim_array *array = &sim_arrays[kind];
    sim_shard_name(name, kind, split, shard, shards);
    int rc = orr_path(path, "%s/%s", dir, name);
    if (!rc)
        rc = orr_npy_open(path, npy);
    if (rc)
        return rc;
    const enum orr_dtype found =
        is_convertible(npy->dtype, array->dtype) ? npy->dtype : array->dtype;
    orr_npy_close(npy);
    return orr_npy_expect(path, npy, found, shape[2] ? 3 : 1, shape);
}

/* Copies an array to its position in a gathered one, narrowing whole numbers. */
static int copy_values(const char *path, const struct orr_npy *npy, enum orr_dtype dtype,
                       size_t count, void *to)
{
    if (npy->dtype == dtype) {
        memcpy(to, npy->data, count * orr_dtype_size(dtype));
        return 0;
    }
    const int64_t most = dtype == ORR_U8 ? UINT8_MAX : UINT16_MAX;
    for (size_t i = 0; i < count; i++) {
        const int64_t value = orr_integer_at(npy->data, npy->dtype, i);
        if (value < 0 || value > most)
            return ORR_FAIL(ORR_EFORMAT, "%s: value %zu: expected 0 to %lld, found %lld", path, i,
                            (long long)most, (long long)value);
        if (dtype == ORR_U8)
            ((uint8_t *)to)[i] = (uint8_t)value;
        else
            ((uint16_t *)to)[i] = (uint16_t)value;
    }
    return 0;
}

/* ---------------------------------------------------------------------------- one array */

static size_t entry_values(const struct sim_dataset *set, enum sim_kind kind)
{
    const size_t cols = sim_kind_cols(kind, set->dimensions);
    return cols ? cols * (size_t)set->positions : 1;
}

enum { MOST_POSITIONS = 1000000 }; /* the maximum of orbits.positions */

/* Reads n and the sequences per shard from all shards of the first kind. */
static int measure_shards(struct sim_dataset *set, const char *dir, enum sim_kind kind,
                          enum sim_split split)
{
    int rc = sim_shards_find(dir, kind, split, &set->shards);
    for (size_t s = 0; s < set->shards && !rc; s++) {
        char path[4096];
        struct orr_npy npy;
        size_t shape[3] = {0, (size_t)set->positions, sim_kind_cols(kind, set->dimensions)};
        rc = map_file(dir, kind, split, s, set->shards, shape, &npy, path);
        if (rc)
            return rc;
        orr_npy_close(&npy);
        if (shape[1] < 1 || shape[1] > MOST_POSITIONS)
            return ORR_FAIL(ORR_EFORMAT, "%s: expected 1 to %d rows a sequence, found %zu", path,
                            MOST_POSITIONS, shape[1]);
        set->positions = (int)shape[1];
        if (s == 0)
            set->shard_sequences = shape[0];
        else if (s + 1 < set->shards ? shape[0] != set->shard_sequences
                                     : shape[0] > set->shard_sequences)
            rc =
                ORR_FAIL(ORR_EFORMAT, "%s: expected %zu sequences as in the first shard, found %zu",
                         path, set->shard_sequences, shape[0]);
        set->n += shape[0];
    }
    if (!rc && set->n == 0)
        rc = ORR_FAIL(ORR_EFORMAT, "%s: the data set \"%s\" is empty", dir, sim_split_name(split));
    return rc;
}

/* Keeps one file of observations mapped: large sets in several files stay mapped file by file. */
static int keep_shard(struct sim_dataset *set, enum sim_kind kind, size_t shard,
                      struct orr_npy *npy, const char *path)
{
    if (!set->shard)
        set->shard = calloc(set->shards, sizeof *set->shard);
    if (!set->shard)
        return ORR_FAIL(ORR_ENOMEM, "%s: out of memory", set->dir);
    set->shard[shard] = *npy;
    *npy = (struct orr_npy){0};
    const enum orr_dtype expected = sim_arrays[kind].dtype, found = set->shard[shard].dtype;
    return found == expected ? 0
                             : ORR_FAIL(ORR_EFORMAT, "%s: expected dtype %s, found %s", path,
                                        orr_dtype_descr(expected), orr_dtype_descr(found));
}

/* Copies one file of another array, or of another type, into the gathered array. */
static int gather_shard(struct sim_dataset *set, enum sim_kind kind, size_t shard,
                        const struct orr_npy *npy, size_t n, const char *path)
{
    const size_t values = entry_values(set, kind), bytes = orr_dtype_size(sim_arrays[kind].dtype);
    if (!set->gathered[kind])
        set->gathered[kind] = orr_alloc(set->n * values, bytes);
    if (!set->gathered[kind])
        return ORR_ENOMEM;
    return copy_values(path, npy, sim_arrays[kind].dtype, n * values,
                       (unsigned char *)set->gathered[kind] +
                           shard * set->shard_sequences * values * bytes);
}

static int open_array(struct sim_dataset *set, enum sim_kind kind)
{
    const bool mapped =
        set->shards > 1 && kind <= SIM_KIND_COORDS && !sim_split_labelled(set->split);
    int rc = 0;
    for (size_t s = 0; s < set->shards && !rc; s++) {
        char path[4096];
        struct orr_npy npy;
        const size_t left = set->n - s * set->shard_sequences;
        const size_t n = left < set->shard_sequences ? left : set->shard_sequences;
        size_t shape[3] = {n, (size_t)set->positions, sim_kind_cols(kind, set->dimensions)};
        TRY(map_file(set->dir, kind, set->split, s, set->shards, shape, &npy, path));
        if (set->shards == 1 && npy.dtype == sim_arrays[kind].dtype) {
            set->file[kind] = npy;
            return 0;
        }
        rc = mapped ? keep_shard(set, kind, s, &npy, path)
                    : gather_shard(set, kind, s, &npy, n, path);
        orr_npy_close(&npy);
    }
    return rc;
}

/* ------------------------------------------------------------------------------ one set */

static const void *array_of(const struct sim_dataset *set, enum sim_kind kind)
{
    return set->gathered[kind] ? set->gathered[kind] : set->file[kind].data;
}

/* Whether the set has an array that sets need not have. */
static bool has_extra(const struct sim_dataset *set, enum sim_kind kind)
{
    char name[SIM_NAME], path[4096];
    sim_shard_name(name, kind, set->split, 0, 1);
    return (kind == SIM_KIND_MASS || kind == SIM_KIND_VELOCITY) && set->shards == 1 &&
           !orr_path(path, "%s/%s", set->dir, name) && orr_exists(path);
}

static int open_set(struct sim_dataset *set, const char *dir, enum sim_split split, bool tokens)
{
    set->split = split;
    int rc = orr_path(set->dir, "%s", dir);
    if (!rc)
        rc = measure_shards(set, dir, tokens ? SIM_KIND_OBS : SIM_KIND_COORDS, split);
    for (int kind = 0; kind < SIM_KINDS && !rc; kind++)
        if (sim_kind_used((enum sim_kind)kind, split, tokens) ||
            has_extra(set, (enum sim_kind)kind))
            rc = open_array(set, (enum sim_kind)kind);
    set->tokens = array_of(set, SIM_KIND_OBS);
    set->coords = array_of(set, SIM_KIND_COORDS);
    set->num_bodies = array_of(set, SIM_KIND_NUM_BODIES);
    set->full_state = array_of(set, SIM_KIND_FULL_STATE);
    set->state = array_of(set, SIM_KIND_STATE);
    set->force_magnitude = array_of(set, SIM_KIND_FORCE_MAGNITUDE);
    set->force_vector = array_of(set, SIM_KIND_FORCE_VECTOR);
    set->scale = array_of(set, SIM_KIND_SCALE);
    set->mass = array_of(set, SIM_KIND_MASS);
    set->velocity = array_of(set, SIM_KIND_VELOCITY);
    if (!rc)
        rc = sim_bodies_check(set);
    if (rc)
        sim_dataset_close(set);
    return rc;
}

int sim_dataset_open(struct sim_dataset *set, const struct orr_settings *settings, const char *dir,
                     enum sim_split split)
{
    memset(set, 0, sizeof *set);
    set->positions = sim_split_positions(settings, split);
    set->bins = settings->orbits.bins;
    set->dimensions = settings->orbits.dimensions;
    int rc = open_set(set, dir, split, settings->orbits.output == ORR_OUTPUT_TOKENS);
    if (!rc && sim_split_labelled(split)) {
        rc = sim_labels_check(set);
        if (rc)
            sim_dataset_close(set);
    }
    return rc;
}

/* The dimensions of a file of coordinates: its columns, where there are two or three. */
static int find_dimensions(const char *path, int *dimensions)
{
    struct orr_npy npy;
    TRY(orr_npy_open(path, &npy));
    if (npy.ndim == 3 && npy.shape[2] == 3)
        *dimensions = 3;
    orr_npy_close(&npy);
    return 0;
}

int sim_dataset_open_any(struct sim_dataset *set, const char *dir, enum sim_split split)
{
    char name[SIM_NAME], path[4096];
    uint64_t shards;
    memset(set, 0, sizeof *set);
    int rc = sim_shards_find(dir, SIM_KIND_COORDS, split, &shards);
    sim_shard_name(name, SIM_KIND_COORDS, split, 0, shards);
    if (!rc)
        rc = orr_path(path, "%s/%s", dir, name);
    const bool tokens = !rc && !orr_exists(path);
    set->dimensions = 2;
    if (!rc && !tokens)
        rc = find_dimensions(path, &set->dimensions);
    return rc ? rc : open_set(set, dir, split, tokens);
}

void sim_dataset_close(struct sim_dataset *set)
{
    for (int kind = 0; kind < SIM_KINDS; kind++) {
        orr_npy_close(&set->file[kind]);
        free(set->gathered[kind]);
    }
    for (size_t s = 0; set->shard && s < set->shards; s++)
        orr_npy_close(&set->shard[s]);
    free(set->shard);
    memset(set, 0, sizeof *set);
}

static const void *find_rows(const struct sim_dataset *set, const void *whole, enum orr_dtype dtype,
                             size_t i)
{
    if (!whole && set->shard && set->shard[0].dtype == dtype) {
        whole = set->shard[i / set->shard_sequences].data;
        i %= set->shard_sequences;
    }
    if (!whole)
        return NULL;
    const size_t cols = dtype == ORR_F32 ? (size_t)set->dimensions : 2;
    return (const unsigned char *)whole + i * (size_t)set->positions * cols * orr_dtype_size(dtype);
}

const uint16_t *sim_dataset_tokens(const struct sim_dataset *set, size_t i)
{
    return find_rows(set, set->tokens, ORR_U16, i);
}

const float *sim_dataset_coords(const struct sim_dataset *set, size_t i)
{
    return find_rows(set, set->coords, ORR_F32, i);
}
