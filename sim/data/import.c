/* import.c - writes tracks of other programs as data sets: cuts them into sequences, divides the
 * systems into train, val and test, and writes arrays and manifest. */
#include "sim/data/dataset.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cjson.h"
#include "base/tempdir.h"
#include <gsl/gsl_randist.h>

enum { SETS = 3, MOST_BODIES = 255, SHUFFLE = 4 }; /* SHUFFLE: number of the random stream */
enum { PIECES_LEAST = 10 };                        /* of a track that is divided by time */
static const enum sim_split splits[SETS] = {SIM_SPLIT_TRAIN, SIM_SPLIT_VAL, SIM_SPLIT_TEST};

/* A sequence: the steps of a system from `from` on. */
struct piece {
    size_t system, from;
};
struct plan {
    const struct sim_import *import;
    size_t rows; /* of a sequence, without row 0 */
    bool mass, velocity;
    size_t count[SETS];
    struct piece *piece[SETS];
};

/* ------------------------------------------------------------------------------ the plan */

static size_t steps_of(const struct plan *plan, size_t system)
{
    const size_t bodies = (size_t)plan->import->system[system].bodies;
    return (plan->rows + bodies - 1) / bodies;
}

static size_t pieces_of(const struct plan *plan, size_t system)
{
    return plan->import->system[system].steps / steps_of(plan, system);
}

/* The time steps of a sequence in the system with the most bodies. */
static size_t choose_steps(const struct sim_import *import, int most)
{
    size_t least = SIZE_MAX;
    for (size_t s = 0; s < import->systems; s++) {
        const size_t steps =
            import->system[s].steps * (size_t)import->system[s].bodies / (size_t)most;
        least = steps < least ? steps : least;
    }
    const size_t rows = least * (size_t)most;
    size_t pieces = (rows + SIM_IMPORT_ROWS - 1) / SIM_IMPORT_ROWS;
    if (import->by_time && pieces < PIECES_LEAST)
        pieces = PIECES_LEAST;
    return least / pieces < SIM_IMPORT_LEAST && least >= SIM_IMPORT_LEAST ? SIM_IMPORT_LEAST
                                                                          : least / pieces;
}

/* Chooses the rows of a sequence, and checks that every system has them. */
static int plan_rows(struct plan *plan)
{
    const struct sim_import *import = plan->import;
    int most = 0;
    plan->mass = plan->velocity = true;
    for (size_t s = 0; s < import->systems; s++) {
        const struct sim_track_system *system = &import->system[s];
        if (system->bodies < 2 || system->bodies > MOST_BODIES)
            return ORR_FAIL(ORR_EINVAL, "%s: %s: expected 2 to %d bodies, found %d", import->file,
                            system->name, MOST_BODIES, system->bodies);
        most = system->bodies > most ? system->bodies : most;
        plan->mass &= system->mass != NULL;
        plan->velocity &= system->velocity != NULL;
    }
    const size_t steps = import->steps ? (size_t)import->steps : choose_steps(import, most);
    plan->rows = steps * (size_t)most;
    for (size_t s = 0; s < import->systems; s++)
        if (steps < SIM_IMPORT_LEAST || !pieces_of(plan, s))
            return ORR_FAIL(
                ORR_EINVAL, "%s: %s: expected at least %zu time steps for a sequence, found %zu",
                import->file, import->system[s].name,
                steps_of(plan, s) > SIM_IMPORT_LEAST ? steps_of(plan, s) : SIM_IMPORT_LEAST,
                import->system[s].steps);
    return 0;
}

/* How many of n belong to a share: at least one, unless the share is 0. */
static size_t share_of(double share, size_t n)
{
    const double some = round(share * (double)n);
    return share > 0 ? (some < 1 ? 1 : (size_t)some) : 0;
}

static int add_pieces(struct plan *plan, int set, size_t system, size_t first, size_t count)
{
    const size_t n = plan->count[set];
    struct piece *more = realloc(plan->piece[set], (n + count + 1) * sizeof *more);
    if (!more)
        return ORR_FAIL(ORR_ENOMEM, "%s: out of memory", plan->import->file);
    plan->piece[set] = more;
    for (size_t k = 0; k < count; k++)
        more[n + k] = (struct piece){system, (first + k) * steps_of(plan, system)};
    plan->count[set] += count;
    return 0;
}

/* Divides each system by time: its last pieces are val, then test. */
static int divide_by_time(struct plan *plan)
{
    for (size_t s = 0; s < plan->import->systems; s++) {
        const size_t n = pieces_of(plan, s);
        const size_t val = share_of(plan->import->val, n), test = share_of(plan->import->test, n);
        if (val + test >= n)
            return ORR_FAIL(ORR_EINVAL,
                            "%s: %s: expected at least %zu sequences, to divide them by time, "
                            "found %zu; --steps N makes them shorter",
                            plan->import->file, plan->import->system[s].name, val + test + 1, n);
        TRY(add_pieces(plan, 0, s, 0, n - val - test));
        TRY(add_pieces(plan, 1, s, n - val - test, val));
        TRY(add_pieces(plan, 2, s, n - test, test));
    }
    return 0;
}

/* Divides the systems, in random order, so that no system is in two sets. */
static int divide_systems(struct plan *plan)
{
    const struct sim_import *import = plan->import;
    const size_t n = import->systems;
    const size_t val = share_of(import->val, n), test = share_of(import->test, n);
    if (val + test >= n)
        return ORR_FAIL(ORR_EINVAL,
                        "%s: expected at least %zu systems, because train, val and test share "
                        "none, found %zu; --split-by time takes the last part of each track "
                        "for val and test",
                        import->file, val + test + 1, n);
    size_t *order = orr_alloc(n, sizeof *order);
    gsl_rng *rng = orr_rng_create(import->seed, ORR_STAGE_SHUFFLE, SHUFFLE);
    int rc = order && rng ? 0 : ORR_ENOMEM;
    for (size_t s = 0; s < n && !rc; s++)
        order[s] = s;
    if (!rc && val + test > 0) /* a single set keeps the order of the file */
        gsl_ran_shuffle(rng, order, n, sizeof *order);
    for (size_t k = 0; k < n && !rc; k++)
        rc = add_pieces(plan,
                        k < test         ? 2
                        : k < test + val ? 1
                                         : 0,
                        order[k], 0, pieces_of(plan, order[k]));
    if (rng)
        gsl_rng_free(rng);
    free(order);
    return rc;
}

static void free_plan(struct plan *plan)
{
    for (int set = 0; set < SETS; set++)
        free(plan->piece[set]);
}

/* ------------------------------------------------------------------------------ arrays */

static float *rows_create(const struct plan *plan, int set, size_t cols)
{
    return orr_alloc(plan->count[set] * (plan->rows + 1) * cols, sizeof(float));
}

/* Number k of the rows of a piece, without row 0; cols numbers a row. */
static double value_of(const struct plan *plan, const struct piece *piece, enum sim_kind kind,
                       size_t cols, size_t k)
{
    const struct sim_track_system *system = &plan->import->system[piece->system];
    const size_t bodies = (size_t)system->bodies, first = piece->from * bodies * cols;
    return kind == SIM_KIND_COORDS     ? system->position[first + k]
           : kind == SIM_KIND_VELOCITY ? system->velocity[first + k]
                                       : system->mass[k % bodies];
}

static int check_values(const struct plan *plan, enum sim_kind kind)
{
    const size_t cols = sim_kind_cols(kind, plan->import->dimensions);
    for (int set = 0; set < SETS; set++)
        for (size_t i = 0; i < plan->count[set]; i++)
            for (size_t k = 0; k < plan->rows * cols; k++) {
                const struct piece *piece = &plan->piece[set][i];
                const double value = value_of(plan, piece, kind, cols, k);
                if (!isfinite((float)value))
                    return ORR_FAIL(
                        ORR_EINVAL, "%s: %s: expected numbers within those of float32, found %g",
                        plan->import->file, plan->import->system[piece->system].name, value);
            }
    return 0;
}

/* Checks that the bodies of a system are not all at one place all the time, and its size, also of
 * steps that no sequence has. */
static int check_size(const struct plan *plan, const struct sim_track_system *system)
{
    const size_t d = (size_t)plan->import->dimensions;
    const size_t n = system->steps * (size_t)system->bodies * d;
    double squares = 0;
    bool apart = false;
    for (size_t k = 0; k < n; k++) {
        const double x = system->position[k];
        apart |= x < system->position[k % d] || x > system->position[k % d];
        squares += x * x;
    }
    if (!isfinite(squares))
        return ORR_FAIL(ORR_EINVAL,
                        "%s: %s: expected tracks of a finite size, found numbers too large",
                        plan->import->file, system->name);
    return apart ? 0
                 : ORR_FAIL(ORR_EINVAL,
                            "%s: %s: expected bodies apart or in motion, found all of them at one "
                            "position at all times",
                            plan->import->file, system->name);
}

/* Checks every number that is to be written, before anything is made or replaced. */
static int check_plan(const struct plan *plan)
{
    for (size_t s = 0; s < plan->import->systems; s++)
        TRY(check_size(plan, &plan->import->system[s]));
    TRY(check_values(plan, SIM_KIND_COORDS));
    TRY(plan->mass ? check_values(plan, SIM_KIND_MASS) : 0);
    return plan->velocity ? check_values(plan, SIM_KIND_VELOCITY) : 0;
}

/* The rows of a set for a kind; free() them. cols numbers a row. */
static int fill_rows(const struct plan *plan, int set, enum sim_kind kind, float **rows)
{
    const size_t cols = sim_kind_cols(kind, plan->import->dimensions), P = plan->rows + 1;
    float *at = *rows = rows_create(plan, set, cols);
    if (!at)
        return ORR_ENOMEM;
    for (size_t i = 0; i < plan->count[set]; i++, at += P * cols) {
        const struct piece *piece = &plan->piece[set][i];
        if (kind == SIM_KIND_COORDS)
            at[0] = (float)orr_log(plan->import->system[piece->system].dt);
        for (size_t k = 0; k < plan->rows * cols; k++)
            at[cols + k] = (float)value_of(plan, piece, kind, cols, k);
    }
    return 0;
}

static int write_array(const struct plan *plan, const char *dir, int set, enum sim_kind kind,
                       cJSON *listed)
{
    char name[SIM_NAME], path[4096];
    const size_t cols = sim_kind_cols(kind, plan->import->dimensions);
    const size_t n = plan->count[set], shape[3] = {n, plan->rows + 1, cols};
    struct orr_file file = {0};
    float *rows = NULL;
    sim_shard_name(name, kind, splits[set], 0, 1);
    TRY(orr_path(path, "%s/%s", dir, name));
    int rc = cols ? fill_rows(plan, set, kind, &rows) : 0;
    if (!rc)
        rc = orr_file_create(&file, path);
    if (!rc)
        rc = orr_npy_write_header(&file, sim_arrays[kind].dtype, cols ? 3 : 1, shape);
    if (!rc && rows)
        rc = orr_file_write(&file, rows, n * shape[1] * cols * sizeof *rows);
    for (size_t i = 0; i < n && !rows && !rc; i++) {
        const uint8_t bodies = (uint8_t)plan->import->system[plan->piece[set][i].system].bodies;
        rc = orr_file_write(&file, &bodies, 1);
    }
    if (!rc)
        rc = orr_file_commit(&file);
    if (!rc)
        sim_manifest_add(listed, name, file.bytes, file.checksum);
    orr_file_close(&file);
    free(rows);
    return rc;
}

/* ------------------------------------------------------------------------------ the manifest */

/* What a set is made from: the file, how it was read and divided. */
static int made_of(const struct plan *plan, int set, cJSON **made)
{
    const struct sim_import *import = plan->import;
    const char *slash = strrchr(import->file, '/');
    char count[32], digest[ORR_DIGEST];
    struct orr_records records;
    const cJSON *how;
    TRY(orr_records_create(&records));
    cJSON *record =
        orr_record_external("tracks", import->content, slash ? slash + 1 : import->file);
    cJSON_ArrayForEach (how, import->how)
        orr_record_fact(record, how->string, how->valuestring);
    orr_record_fact(record, "set", sim_split_name(splits[set]));
    snprintf(count, sizeof count, "%zu", plan->count[set]);
    orr_record_fact(record, "sequences", count);
    snprintf(count, sizeof count, "%zu", plan->rows + 1);
    orr_record_fact(record, "positions", count);
    const int rc = orr_records_add(&records, record, digest);
    *made = rc ? NULL : orr_records_made(&records, digest);
    orr_records_free(&records);
    return rc;
}

/* How many sequences of a set each of its tracks is cut into, where one is cut. Sequences of a
 * track follow each other. */
static void add_pieces_of(const struct plan *plan, int set, cJSON *one)
{
    const struct piece *piece = plan->piece[set];
    cJSON *list = cJSON_AddArrayToObject(one, "pieces");
    bool cut = false;
    size_t count = 0;
    for (size_t i = 0; i < plan->count[set]; i++) {
        count++;
        if (i + 1 < plan->count[set] && piece[i + 1].system == piece[i].system)
            continue;
        cut |= count > 1;
        cJSON_AddItemToArray(list, cJSON_CreateNumber((double)count));
        count = 0;
    }
    if (!cut)
        cJSON_DeleteItemFromObjectCaseSensitive(one, "pieces");
}

/* The manifest without files. */
static int begin_manifest(const struct plan *plan, cJSON **manifest)
{
    const struct sim_import *import = plan->import;
    const char *slash = strrchr(import->file, '/');
    char content[32];
    cJSON *json = *manifest = orr_json_create("orrery-orbits-1");
    cJSON *tracks = cJSON_AddObjectToObject(json, "tracks");
    snprintf(content, sizeof content, "%016llx", (unsigned long long)import->content);
    cJSON_AddStringToObject(tracks, "file", slash ? slash + 1 : import->file);
    cJSON_AddStringToObject(tracks, "content", content);
    cJSON_AddNumberToObject(tracks, "positions", (double)plan->rows + 1);
    cJSON_AddNumberToObject(tracks, "systems", (double)import->systems);
    if (import->dimensions == 3)
        cJSON_AddNumberToObject(tracks, "dimensions", import->dimensions);
    cJSON_AddItemToObject(tracks, "how", cJSON_Duplicate(import->how, true));
    orr_json_add_u64(json, "seed", import->seed);
    cJSON *sets = cJSON_AddObjectToObject(json, "sets");
    for (int set = 0; set < SETS; set++) {
        cJSON *made;
        if (!plan->count[set])
            continue;
        TRY(made_of(plan, set, &made));
        cJSON *one = cJSON_AddObjectToObject(sets, sim_split_name(splits[set]));
        cJSON_AddItemToObject(one, "made", made);
        cJSON_AddObjectToObject(one, "files");
        cJSON_AddNumberToObject(one, "sequences", (double)plan->count[set]);
        add_pieces_of(plan, set, one);
        cJSON_AddNumberToObject(one, "clipped_coordinates", 0);
    }
    return 0;
}

/* Whether the folder's manifest has the sets of the new one, with all of their files. */
static bool same_sets(const char *dir, const cJSON *before, const cJSON *manifest)
{
    const cJSON *set, *file;
    cJSON_ArrayForEach (set, orr_json_get(manifest, "sets")) {
        const cJSON *there = orr_json_get(orr_json_get(before, "sets"), set->string);
        if (!cJSON_Compare(orr_json_get(there, "made"), orr_json_get(set, "made"), true))
            return false;
        cJSON_ArrayForEach (file, orr_json_get(there, "files"))
            if (!sim_file_matches(dir, file, true))
                return false;
    }
    return before != NULL;
}

static bool is_data(const char *name, const void *unused)
{
    enum sim_kind kind;
    struct sim_shard shard;
    (void)unused;
    return sim_name_parse(name, false, &kind, &shard);
}

/* Removes the files that the sets of a manifest list; names were checked when it was read. Without
 * a manifest, those of an import that was stopped. */
static int remove_files(const char *dir, const cJSON *manifest)
{
    const cJSON *set, *file;
    char path[4096];
    if (!manifest)
        return orr_remove_where(dir, is_data, NULL);
    cJSON_ArrayForEach (set, orr_json_get(manifest, "sets"))
        cJSON_ArrayForEach (file, orr_json_get(set, "files")) {
            TRY(orr_path(path, "%s/%s", dir, file->string));
            TRY(orr_remove(path));
        }
    return 0;
}

/* Whether progress.json is that of an import which was stopped. */
static bool is_begun(const char *progress)
{
    cJSON *json = NULL;
    const bool begun = orr_exists(progress) && !orr_json_read(progress, &json) &&
                       cJSON_IsObject(orr_json_get(json, "tracks"));
    cJSON_Delete(json);
    orr_error_clear();
    return begun;
}

/* Whether the folder may be written to. */
static int may_write(const char *dir, const cJSON *before, bool force)
{
    const cJSON *tracks = orr_json_get(before, "tracks");
    char path[4096];
    TRY(orr_path(path, "%s/progress.json", dir));
    const bool begun = is_begun(path);
    if ((before && !tracks) || (!begun && orr_exists(path)) ||
        (!before && !begun && sim_folder_has_data(dir)))
        return ORR_FAIL(ORR_EINVAL,
                        "%s: holds other data sets, which are not replaced by tracks; "
                        "choose another --out",
                        dir);
    return !before || force
               ? 0
               : ORR_FAIL(ORR_EINVAL,
                          "%s: holds tracks of %s, read in another way or of other content; "
                          "--force replaces them",
                          dir, orr_json_text(tracks, "file"));
}

/* Writes the arrays and lists them in the manifest. */
static int write_arrays(const struct plan *plan, const char *dir, const cJSON *manifest)
{
    const cJSON *sets = orr_json_get(manifest, "sets");
    for (int set = 0; set < SETS; set++) {
        cJSON *listed = orr_json_get(sets, sim_split_name(splits[set]));
        if (!listed)
            continue;
        TRY(write_array(plan, dir, set, SIM_KIND_COORDS, listed));
        TRY(write_array(plan, dir, set, SIM_KIND_NUM_BODIES, listed));
        TRY(plan->mass ? write_array(plan, dir, set, SIM_KIND_MASS, listed) : 0);
        TRY(plan->velocity ? write_array(plan, dir, set, SIM_KIND_VELOCITY, listed) : 0);
        if (orr_signal_seen())
            return ORR_FAIL(ORR_EINTR, "stopped while writing tracks; run the same command again");
    }
    return 0;
}

/* Moves the listed files from one folder to another. */
static int move_files(const char *from, const char *to, const cJSON *manifest)
{
    const cJSON *set, *file;
    char old[4096], path[4096];
    cJSON_ArrayForEach (set, orr_json_get(manifest, "sets"))
        cJSON_ArrayForEach (file, orr_json_get(set, "files")) {
            TRY(orr_path(old, "%s/%s", from, file->string));
            TRY(orr_path(path, "%s/%s", to, file->string));
            TRY(orr_rename(old, path));
        }
    return 0;
}

/* Puts the written arrays in the place of the old ones. Meanwhile progress.json says whose they
 * are, so that an import which is stopped here can be repeated. */
static int replace_files(const char *dir, const char *from, const cJSON *before, cJSON *manifest)
{
    char path[4096], progress[4096];
    TRY(orr_path(path, "%s/manifest.json", dir));
    TRY(orr_path(progress, "%s/progress.json", dir));
    TRY(orr_json_write(progress, manifest));
    TRY(orr_remove(path));
    TRY(remove_files(dir, before));
    TRY(move_files(from, dir, manifest));
    TRY(orr_json_write(path, manifest));
    return orr_remove(progress);
}

/* Arrays are written beside the old ones, which stay until all of them are there: a disk that runs
 * full, or a stop, takes nothing away. */
static int write_folder(const struct plan *plan, const char *dir, const cJSON *before,
                        cJSON *manifest)
{
    struct orr_tempdir work;
    int rc = orr_tempdir_create(&work, dir, "import");
    if (!rc)
        rc = write_arrays(plan, work.folder, manifest);
    if (!rc)
        rc = replace_files(dir, work.folder, before, manifest);
    orr_tempdir_remove(&work);
    return rc;
}

/* Writes the plan into a locked folder. */
static int write_plan(const struct plan *plan, const char *dir, bool force, bool quiet)
{
    cJSON *before = NULL, *manifest = NULL;
    int rc = sim_manifest_read(dir, &before);
    if (!rc)
        rc = begin_manifest(plan, &manifest);
    if (!rc && same_sets(dir, before, manifest)) {
        orr_note(quiet, "orbits: %s is up to date", dir);
    } else {
        if (!rc)
            rc = may_write(dir, before, force);
        if (!rc)
            rc = write_folder(plan, dir, before, manifest);
        if (!rc)
            orr_note(quiet,
                     "orbits: %s: %zu system%s, sequences of %zu positions: train %zu, val %zu, "
                     "test %zu; %s",
                     dir, plan->import->systems, plan->import->systems == 1 ? "" : "s",
                     plan->rows + 1, plan->count[0], plan->count[1], plan->count[2],
                     plan->import->by_time ? "divided by time, so that sets share systems"
                                           : "no system in two of them");
    }
    cJSON_Delete(before);
    cJSON_Delete(manifest);
    return rc;
}

/* A run keeps its tracks in a folder of their own. */
static int refuse_run(const char *dir)
{
    char path[4096];
    TRY(orr_path(path, "%s/preset.json", dir));
    return orr_exists(path)
               ? ORR_FAIL(ORR_EINVAL,
                          "%s: holds a run (preset.json), where no tracks are put; choose another "
                          "--out",
                          dir)
               : 0;
}

int sim_dataset_import(const char *dir, const struct sim_import *import, bool force, bool quiet)
{
    struct plan plan = {.import = import};
    int fd;
    TRY(plan_rows(&plan));
    int rc = import->by_time ? divide_by_time(&plan) : divide_systems(&plan);
    if (!rc)
        rc = check_plan(&plan);
    if (!rc)
        rc = refuse_run(dir);
    if (!rc)
        rc = orr_mkdir(dir);
    if (!rc)
        rc = orr_lock(dir, "writing data sets", ORR_LOCK_WAIT_S, &fd);
    if (!rc) {
        rc = write_plan(&plan, dir, force, quiet);
        orr_unlock(fd);
    }
    free_plan(&plan);
    return rc;
}
