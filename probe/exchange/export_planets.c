/* export_planets.c - what probe planets asks: next positions along the real planets' tracks and
 * along their osculating orbits, and forces at the real positions. */
#include "exporter.h"
#include "probe/orbits/motion.h"
#include "probe/planets/ephemeris.h"
#include "probe/planets/planets.h"

#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

static int write_tracks(struct exporter *e, const struct probe_planets *p)
{
    const size_t T = (size_t)p->T * (size_t)p->axes, all = PROBE_PLANET_TRACKS + PROBE_REPEATS;
    const size_t rows = 1 + 2 * (size_t)p->real[0].steps;
    float *x = probe_take(&e->arena, all * T, sizeof *x);
    float *track = probe_take(&e->arena, rows * (size_t)p->axes, sizeof *track);
    TRY(e->arena.failed);
    for (size_t i = 0; i < PROBE_PLANET_TRACKS; i++) {
        probe_track_rows(i < PROBE_PLANETS ? &p->real[i] : &p->kepler[i - PROBE_PLANETS], track);
        memcpy(x + T * i, track, T * sizeof *x);
    }
    return probe_export_repeated(e, "inputs_planets.npy", PROBE_PLANET_TRACKS, p->T,
                                 probe_prefix(p->T), x);
}

static int ask_forces(struct exporter *e, struct probe_planets *p)
{
    static const char rows[] = "rows_planets.csv";
    struct orr_file file = {0};
    const char *why;
    probe_arrows_steps(p, &why);
    if (why)
        return 0;
    TRY(probe_arrows_units(p));
    TRY(probe_export_open(e, &file, rows, NULL));
    TRY(probe_arrows_table(p, -1, &file));
    cJSON_AddStringToObject(probe_export_ask(e, rows, PROBE_PLANETS_FORCES), "inputs",
                            "inputs_planets.npy");
    return probe_export_commit(e, &file, rows);
}

static int ask(struct exporter *e, struct probe_planets *p)
{
    const int shape[] = {PROBE_PLANET_TRACKS + PROBE_REPEATS, p->T, p->axes};
    cJSON *one = cJSON_AddObjectToObject(e->asked, PROBE_PLANETS_PREDICTIONS);
    cJSON_AddStringToObject(one, "inputs", "inputs_planets.npy");
    cJSON_AddItemToObject(one, "shape", cJSON_CreateIntArray(shape, 3));
    cJSON_AddNumberToObject(one, "sequences", PROBE_PLANET_TRACKS);
    TRY(probe_planets_tracks(p));
    TRY(write_tracks(e, p));
    return ask_forces(e, p);
}

int probe_export_planets(struct exporter *e)
{
    struct probe_options o = *e->options;
    o.planet_runs = true;
    if (!orr_has_pretrain(o.settings, true))
        return 0;
    if (probe_ephemeris_check()) {
        orr_note(o.quiet, "export: no real planets: %s", orr_error());
        orr_error_clear();
        return 0;
    }
    struct probe_planets *p = orr_alloc(1, sizeof *p);
    if (!p)
        return ORR_ENOMEM;
    p->s.options = &o;
    int rc = probe_planets_open(p);
    rc = rc ? rc : ask(e, p);
    probe_rewind(&p->s.arena, 0);
    probe_close(&p->s.probe);
    free(p);
    return rc;
}
