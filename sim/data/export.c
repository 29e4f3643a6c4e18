/* export.c - writes data sets as CSV: a row per sequence, step and body, with units in the
 * header. */
#include "sim/data/dataset.h"

#include <math.h>
#include <string.h>

#include <cjson/cJSON.h>

/* in the plane and in space; of imported tracks, which have any units */
static const char *const positions_header[2] = {"sequence,name,step,t_yr,body,x_au,y_au",
                                                "sequence,name,step,t_yr,body,x_au,y_au,z_au"};
static const char *const states_header[2] = {
    ",dx_au,dy_au,vx_au_per_yr,vy_au_per_yr,m1_msun,m2_msun,fx_msun_au_per_yr2,fy_msun_au_per_yr2,"
    "f_msun_au_per_yr2,m_msun",
    ",dx_au,dy_au,dz_au,vx_au_per_yr,vy_au_per_yr,vz_au_per_yr,m1_msun,m2_msun,fx_msun_au_per_yr2,"
    "fy_msun_au_per_yr2,fz_msun_au_per_yr2,f_msun_au_per_yr2,m_msun"};
static const char *const tracks_header[2] = {"sequence,name,step,t,body,x,y",
                                             "sequence,name,step,t,body,x,y,z"};
static const char *const velocities_header[2] = {",vx,vy", ",vx,vy,vz"};

struct export
{
    struct sim_dataset set;
    double extent_au; /* half the width of the bins */
    bool tracks;      /* imported */
    struct orr_file file;
};

/* The planet's name in sets of the solar system; else "". */
static const char *name_of(const struct sim_dataset *set, size_t i)
{
    const bool planet =
        set->split == SIM_SPLIT_PLANETS_SOLAR || set->split == SIM_SPLIT_SOLAR_SYSTEM_TWO_BODY;
    return planet && i < SIM_SUN_BODIES ? sim_sun_bodies[i].name : "";
}

/* A coordinate of row r in AU: the middle of a bin; in planet runs the scaled coordinate times the
 * scale. */
static double coordinate_au(const struct export *e, size_t i, int r, int axis)
{
    const struct sim_dataset *set = &e->set;
    const uint16_t *tokens = sim_dataset_tokens(set, i);
    if (tokens)
        return (tokens[2 * r + axis] + 0.5) / set->bins * 2 * e->extent_au - e->extent_au;
    const double x = (double)sim_dataset_coords(set, i)[set->dimensions * r + axis];
    return set->scale ? x * (double)set->scale[i] : x;
}

static double step_yr(const struct export *e, size_t i)
{
    const uint16_t *tokens = sim_dataset_tokens(&e->set, i);
    return tokens ? sim_token_dt_yr(tokens[0], e->set.bins)
                  : orr_exp((double)sim_dataset_coords(&e->set, i)[0]);
}

/* Writes a number, or an empty cell if there is none. */
static void write_cell(struct orr_file *file, double value, bool there)
{
    if (there && isfinite(value))
        orr_file_printf(file, ",%.9g", value);
    else
        orr_file_write(file, ",", 1);
}

/* Writes state and force of a planet relative to the last body. Token sets have them on the
 * planet's row; sets of coordinates, of two bodies, on the row of the step's last body. */
static void write_state(struct export *e, size_t i, int row_at, int bodies)
{
    const struct sim_dataset *set = &e->set;
    const int body = (row_at - 1) % bodies;
    const bool tokens = sim_dataset_tokens(set, i) != NULL;
    const int r = row_at + (tokens ? 0 : bodies - 1);
    const bool there = (tokens ? body < bodies - 1 : body == 0) && r < set->positions;
    const size_t row = i * (size_t)set->positions + (size_t)(there ? r : 0);
    const size_t axes = (size_t)set->dimensions, full = (size_t)sim_full_columns(set->dimensions);
    for (size_t c = 0; c < full; c++)
        write_cell(&e->file, (double)set->full_state[full * row + c], there);
    for (size_t c = 0; c < axes; c++)
        write_cell(&e->file, set->force_vector ? (double)set->force_vector[axes * row + c] : NAN,
                   there);
    write_cell(&e->file, set->force_magnitude ? (double)set->force_magnitude[row] : NAN, there);
}

/* The mass of a body, from the states of step 0: a planet's row holds its mass and the star's. */
static double mass_of(const struct export *e, size_t i, int body, int bodies)
{
    const bool star = body == bodies - 1;
    const int r = !sim_dataset_tokens(&e->set, i) ? bodies : star ? 1 : 1 + body;
    const size_t full = (size_t)sim_full_columns(e->set.dimensions);
    return (double)
        e->set.full_state[full * (i * (size_t)e->set.positions + (size_t)r) + full - 2 + star];
}

static int write_sequence(struct export *e, size_t i)
{
    const struct sim_dataset *set = &e->set;
    const int bodies = set->num_bodies[i];
    const double dt_yr = step_yr(e, i);
    TRY(sim_dataset_check_rows(set, i));
    for (int r = 1; r < set->positions; r++) {
        const int step = (r - 1) / bodies, body = (r - 1) % bodies;
        orr_file_printf(&e->file, "%zu,%s,%d,%.7g,%d", i, name_of(set, i), step, step * dt_yr,
                        body + 1);
        for (int axis = 0; axis < set->dimensions; axis++)
            orr_file_printf(&e->file, ",%.9g", coordinate_au(e, i, r, axis));
        if (set->full_state) {
            write_state(e, i, r, bodies);
            write_cell(&e->file, mass_of(e, i, body, bodies), true);
        }
        const size_t row = i * (size_t)set->positions + (size_t)r;
        const size_t axes = (size_t)set->dimensions;
        for (size_t c = 0; c < axes && set->velocity; c++)
            write_cell(&e->file, (double)set->velocity[axes * row + c], true);
        if (set->mass)
            write_cell(&e->file, (double)set->mass[row], true);
        orr_file_write(&e->file, "\n", 1);
    }
    return e->file.failed;
}

/* Bins and extent of tokens: from the manifest, else the defaults of the study. */
static int find_bins(struct export *e, const char *dir, const cJSON *manifest, bool quiet)
{
    e->extent_au = 50;
    e->set.bins = 7000;
    if (!sim_dataset_tokens(&e->set, 0))
        return 0;
    if (manifest)
        return sim_manifest_bins(dir, manifest, &e->set.bins, &e->extent_au);
    orr_note(quiet, "%s: note: no manifest.json: bins are taken for 7000 of 100 AU", dir);
    return 0;
}

static int write_set(struct export *e, const char *dir, const char *path, const cJSON *manifest,
                     bool quiet)
{
    TRY(find_bins(e, dir, manifest, quiet));
    if (sim_split_labelled(e->set.split))
        TRY(sim_labels_check(&e->set));
    TRY(orr_file_create(&e->file, path));
    const bool space = e->set.dimensions == 3;
    orr_file_printf(&e->file, "%s%s%s%s\n", (e->tracks ? tracks_header : positions_header)[space],
                    e->set.full_state ? states_header[space] : "",
                    e->set.velocity ? velocities_header[space] : "", e->set.mass ? ",m" : "");
    for (size_t i = 0; i < e->set.n; i++) {
        TRY(write_sequence(e, i));
        if (orr_signal_seen())
            return ORR_FAIL(ORR_EINTR, "stopped while writing %s", path);
    }
    return orr_file_commit(&e->file);
}

/* Whether the folder has files of a set. */
static int has_set(const char *dir, enum sim_split split, bool *has)
{
    *has = false;
    for (enum sim_kind kind = SIM_KIND_OBS; kind <= SIM_KIND_COORDS && !*has; kind++) {
        char name[SIM_NAME], path[4096];
        uint64_t shards;
        TRY(sim_shards_find(dir, kind, split, &shards));
        sim_shard_name(name, kind, split, 0, shards);
        TRY(orr_path(path, "%s/%s", dir, name));
        *has = orr_exists(path);
    }
    return 0;
}

static int export_set(const char *dir, const char *out, enum sim_split split, const cJSON *manifest,
                      bool quiet)
{
    char path[4096];
    struct export e = {.tracks = orr_json_get(manifest, "tracks") != NULL};
    TRY(orr_path(path, "%s/%s.csv", out, sim_split_name(split)));
    int rc = sim_dataset_open_any(&e.set, dir, split);
    if (!rc)
        rc = write_set(&e, dir, path, manifest, quiet);
    if (!rc)
        orr_note(quiet, "orbits: %s: %zu sequences", path, e.set.n);
    orr_file_close(&e.file);
    sim_dataset_close(&e.set);
    return rc;
}

int sim_folder_export(const char *dir, const char *out, const enum sim_split *only, bool quiet)
{
    cJSON *manifest = NULL;
    int count = 0, rc = sim_manifest_read(dir, &manifest);
    for (int i = 0; i < SIM_SPLITS && !rc; i++) {
        bool has = false;
        if (!only || (int)*only == i)
            rc = has_set(dir, (enum sim_split)i, &has);
        if (!rc && has && !count++)
            rc = orr_mkdir(out);
        if (!rc && has)
            rc = export_set(dir, out, (enum sim_split)i, manifest, quiet);
    }
    cJSON_Delete(manifest);
    if (rc || count)
        return rc;
    return only ? ORR_FAIL(ORR_EMISSING, "%s: no data set %s there", dir, sim_split_name(*only))
                : ORR_FAIL(ORR_EMISSING, "%s: no data sets there", dir);
}
