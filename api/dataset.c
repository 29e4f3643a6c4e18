/* dataset.c - the part "simulation": tracks of the caller as a folder of data sets. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/sim.h"
#include "simulation.h"

#include "base/cjson.h"
#include <xxhash.h>

/* Takes a system, checks its numbers, and continues the XXH64 of them all. */
static int take_tracks(const struct orrery_tracks *given, char name[32],
                       struct sim_track_system *system, int *dimensions, uint64_t *content)
{
    struct orrery_tracks t;
    const size_t least = offsetof(struct orrery_tracks, dimensions); /* of earlier headers */
    TRY(api_take("tracks", &t, sizeof t, least, given));
    t.dimensions = t.dimensions ? t.dimensions : 2;
    if (t.dimensions != *dimensions && *dimensions)
        return ORR_FAIL(ORR_EINVAL,
                        "%s: expected %d coordinates, as of the systems before it, found "
                        "%d",
                        name, *dimensions, t.dimensions);
    if (t.dimensions != 2 && t.dimensions != 3)
        return ORR_FAIL(ORR_EINVAL, "%s: dimensions: expected 2 or 3, found %d", name,
                        t.dimensions);
    *dimensions = t.dimensions;
    if (!t.position || t.bodies < 2 || t.bodies > 255 || t.steps < 2 ||
        t.steps > SIZE_MAX / 16384 || !(t.dt > 0) || !isfinite(t.dt))
        return ORR_FAIL(ORR_EINVAL,
                        "%s: expected positions of 2 to 255 bodies at 2 times or more, with a step "
                        "above 0, found %d bodies, %zu times, a step of %g",
                        name, t.bodies, t.steps, t.dt);
    const size_t bodies = (size_t)t.bodies, n = t.steps * bodies * (size_t)t.dimensions;
    const struct {
        const char *what;
        const double *of;
        size_t count;
        double above;
    } part[] = {{"position", t.position, n, -INFINITY},
                {"velocity", t.velocity, t.velocity ? n : 0, -INFINITY},
                {"mass", t.mass, t.mass ? bodies : 0, 0},
                {"dt", &t.dt, 1, 0}};
    for (size_t p = 0; p < sizeof part / sizeof *part; p++) {
        for (size_t i = 0; i < part[p].count; i++)
            if (!isfinite(part[p].of[i]) || !(part[p].of[i] > part[p].above))
                return ORR_FAIL(
                    ORR_EINVAL, "%s: %s: number %zu: expected a finite number%s, found %g", name,
                    part[p].what, i, part[p].above < 0 ? "" : " above 0", part[p].of[i]);
        *content = XXH64(part[p].of, part[p].count * sizeof(double),
                         *content ^ p ^ (bodies << 8) ^ ((size_t)(t.dimensions == 3) << 16));
    }
    *system = (struct sim_track_system){.name = name,
                                        .steps = t.steps,
                                        .bodies = t.bodies,
                                        .dt = t.dt,
                                        .position = (double *)(uintptr_t)t.position,
                                        .velocity = (double *)(uintptr_t)t.velocity,
                                        .mass = (double *)(uintptr_t)t.mass};
    return 0;
}

static int write_import(const char *folder, struct sim_import *import, bool force,
                        const char *units)
{
    char split[128];
    cJSON *how = cJSON_CreateObject();
    cJSON_AddStringToObject(how, "units", units ? units : SIM_OWN_UNITS);
    snprintf(split, sizeof split, "val %g, test %g, by %s, seed %llu", import->val, import->test,
             import->by_time ? "time" : "system", (unsigned long long)import->seed);
    cJSON_AddStringToObject(how, "split", split);
    import->how = how;
    const int rc = orr_memory_short() ? ORR_FAIL(ORR_ENOMEM, "%s: out of memory", folder)
                                      : sim_dataset_import(folder, import, force, true);
    cJSON_Delete(how);
    return rc;
}

static int check_division(const char *folder, size_t systems, const struct orrery_division *d)
{
    if (!folder || !*folder || !d->name)
        return ORR_FAIL(ORR_EINVAL, "%s: expected a text, found none",
                        folder && *folder ? "name" : "folder");
    if (!systems || systems > 1000000000)
        return ORR_FAIL(ORR_EINVAL, "tracks: expected at least one system, found %zu", systems);
    if (!(d->val >= 0 && d->val <= 0.9) || !(d->test >= 0 && d->test <= 0.9))
        return ORR_FAIL(ORR_EINVAL, "val, test: expected shares from 0 to 0.9, found %g and %g",
                        d->val, d->test);
    if (d->val + d->test > 1 - 1e-9)
        return ORR_FAIL(ORR_EINVAL,
                        "val, test: expected shares that leave some for train, a sum below 1, "
                        "found %g and %g",
                        d->val, d->test);
    return d->steps == 0 || (d->steps >= SIM_IMPORT_LEAST && d->steps <= 100000)
               ? 0
               : ORR_FAIL(ORR_EINVAL, "steps: expected 0, or %d to 100000, found %d",
                          SIM_IMPORT_LEAST, d->steps);
}

static int write_dataset(const char *folder, size_t systems,
                         const struct orrery_tracks *const *tracks,
                         const struct orrery_division *given)
{
    struct orrery_division d;
    uint64_t content = 0;
    int rc = 0, dimensions = 0;
    TRY(api_take("division", &d, sizeof d, sizeof d, given));
    TRY(check_division(folder, systems, &d));
    TRY(orr_cjson_open("a manifest"));
    if (!tracks)
        return ORR_FAIL(ORR_EINVAL, "tracks: expected a pointer, found NULL");
    struct sim_track_system *system = orr_alloc(systems, sizeof *system);
    char(*name)[32] = orr_alloc(systems, sizeof *name);
    rc = system && name ? 0 : ORR_ENOMEM;
    for (size_t s = 0; s < systems && !rc; s++) {
        snprintf(name[s], sizeof name[s], "system %zu", s);
        rc = take_tracks(tracks[s], name[s], &system[s], &dimensions, &content);
    }
    struct sim_import import = {.dimensions = dimensions,
                                .systems = systems,
                                .system = system,
                                .steps = d.steps,
                                .val = d.val,
                                .test = d.test,
                                .by_time = d.by_time != 0,
                                .seed = d.seed,
                                .file = d.name,
                                .content = content};
    if (!rc)
        rc = write_import(folder, &import, d.force != 0, d.units);
    free(system);
    free(name);
    return rc;
}

int orrery_simulation_import(struct orrery_simulation *s, const char *folder, size_t systems,
                             const struct orrery_tracks *const *tracks,
                             const struct orrery_division *division)
{
    API_RETURN(s, write_dataset(folder, systems, tracks, division));
}
