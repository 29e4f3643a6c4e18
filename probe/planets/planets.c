/* planets.c - bin/probe planets: next places of the real planets, which no model was trained on. */
#include "planets.h"

#include "ephemeris.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

enum { REVISION = 2 };

const char *probe_planets_name(int planet)
{
    static const char *const names[PROBE_PLANETS] = {"Mercury", "Venus",  "Earth",  "Mars",
                                                     "Jupiter", "Saturn", "Uranus", "Neptune"};
    return names[planet];
}

/* ----------------------------------------------------------------------------------- places */

/* The time step of a planet is that of its own simulated sequence, planets_solar. */
static int make_tracks(struct probe_planets *p)
{
    const double samples = p->probe.preset.planets.samples_per_orbit;
    const int steps = (p->T - 1) / 2 + 1, orbit = (int)floor(samples);
    p->judged = orbit < steps - 1 ? orbit : steps - 1;
    for (int i = 0; i < PROBE_PLANETS; i++) {
        const struct sim_body *body = &sim_sun_bodies[i];
        const double dt_yr = sim_period_yr(body->a_au, 1 + body->mass) / samples;
        TRY(probe_track_make(&p->real[i], i, body->mass, steps, orbit, dt_yr,
                             probe_ephemeris_place));
        TRY(probe_track_osculate(&p->kepler[i], &p->real[i]));
    }
    return 0;
}

static void fill(const struct probe_track *track, const struct gpt_config *config, float *rows,
                 int b, struct gpt_batch *batch)
{
    const size_t T = (size_t)batch->T, F = (size_t)gpt_config_features(config);
    probe_track_rows(track, rows);
    for (size_t t = 0; t < T; t++)
        gpt_features(config, (double)rows[2 * t], (double)rows[2 * t + 1], t == 0,
                     batch->features + ((size_t)b * T + t) * F);
}

int probe_planets_predict(struct gpt_model *model, const struct probe_track track[], int T,
                          double *out)
{
    struct gpt_batch batch = {0};
    const real *found;
    float *rows = orr_alloc((size_t)(1 + 2 * track->steps) * 2, sizeof *rows);
    int rc = rows ? gpt_batch_create(&batch, &model->config, PROBE_PLANETS, T) : ORR_ENOMEM;
    for (int b = 0; b < PROBE_PLANETS && !rc; b++)
        fill(&track[b], &model->config, rows, b, &batch);
    if (!rc)
        rc = gpt_forward(model, &batch, &found);
    for (size_t k = 0; k < (size_t)PROBE_PLANETS * (size_t)T * 2 && !rc; k++) {
        out[k] = (double)found[k];
        if (!isfinite(out[k]))
            rc = ORR_FAIL(ORR_EDIVERGED, "probe planets: a prediction is not a number");
    }
    gpt_batch_free(&batch);
    free(rows);
    return rc;
}

/* --------------------------------------------------------------------------------- figures */

int probe_planets_add(struct probe_planets *p, const char *what, const char *measure,
                      double values[4][PROBE_PLANETS], long n)
{
    struct probe_row row = {.layer = -1, .n = n};
    double mean[4];
    snprintf(row.measure, sizeof row.measure, "%s", measure);
    for (int i = 0; i < PROBE_PLANETS; i++) {
        snprintf(row.quantity, sizeof row.quantity, "%s, %s", what, probe_planets_name(i));
        row.value = values[0][i];
        row.ceiling = values[1][i];
        row.floor = values[2][i];
        row.raw = values[3][i];
        row.low = row.high = NAN; /* one orbit: nothing to resample */
        TRY(probe_results_add(&p->results, &row));
    }
    for (int w = 0; w < 4; w++)
        mean[w] = probe_bootstrap(&p->resamples, probe_mean_of, values[w]).value;
    const struct probe_estimate e = probe_bootstrap(&p->resamples, probe_mean_of, values[0]);
    snprintf(row.quantity, sizeof row.quantity, "%s, mean", what);
    row.value = e.value;
    row.low = e.low;
    row.high = e.high;
    row.ceiling = mean[1];
    row.floor = mean[2];
    row.raw = mean[3];
    row.n = PROBE_PLANETS;
    return probe_results_add(&p->results, &row);
}

/* Step k is predicted on the row of the star at step k - 1. */
int probe_planets_errors(struct gpt_model *model, const struct probe_track track[], int T,
                         int judged, double error[PROBE_PLANETS])
{
    double place[2], *out = orr_alloc(PROBE_PLANETS * (size_t)T * 2, sizeof *out);
    const int rc = out ? probe_planets_predict(model, track, T, out) : ORR_ENOMEM;
    for (int i = 0; i < PROBE_PLANETS && !rc; i++) {
        error[i] = 0;
        for (int k = 1; k <= judged; k++) {
            const double *found = out + 2 * ((size_t)i * (size_t)T + 2 * (size_t)k);
            probe_track_place(&track[i], k, place);
            error[i] += hypot(found[0] - place[0], found[1] - place[1]) / judged;
        }
    }
    free(out);
    return rc;
}

static double mean_over_steps(const struct probe_planets *p, const struct probe_track *track,
                              double (*error)(const struct probe_track *track, int k))
{
    double sum = 0;
    for (int k = 1; k <= p->judged; k++)
        sum += error(track, k);
    return sum / p->judged;
}

static int measure_places(struct probe_planets *p, const char *what,
                          const struct probe_track track[])
{
    double values[4][PROBE_PLANETS];
    TRY(probe_planets_errors(&p->probe.model, track, p->T, p->judged, values[0]));
    TRY(probe_planets_errors(&p->floor, track, p->T, p->judged, values[2]));
    for (int i = 0; i < PROBE_PLANETS; i++) {
        values[1][i] = mean_over_steps(p, &track[i], probe_track_osculates);
        values[3][i] = mean_over_steps(p, &track[i], probe_track_stays);
    }
    return probe_planets_add(p, what, "separations", values, p->judged);
}

/* How far the planets themselves leave the orbit of their first step. */
static int measure_departure(struct probe_planets *p)
{
    double values[4][PROBE_PLANETS];
    for (int i = 0; i < PROBE_PLANETS; i++) {
        double sum = 0, a[2], b[2];
        for (int k = 1; k <= p->judged; k++) {
            probe_track_place(&p->real[i], k, a);
            probe_track_place(&p->kepler[i], k, b);
            sum += hypot(a[0] - b[0], a[1] - b[1]);
        }
        values[0][i] = sum / p->judged;
        values[1][i] = values[2][i] = values[3][i] = NAN;
    }
    return probe_planets_add(p, "Kepler orbit of step 0", "separations", values, p->judged);
}

/* ----------------------------------------------------------------------------------- files */

/* Checksums of the checkpoints of heads in "about": model, floor; "" = none. */
static const char *const head_keys[] = {"checkpoint_xxh64", "floor_xxh64"};

static void content_text(const struct probe_planets *p, int which, char text[17])
{
    text[0] = '\0';
    if (p->arrows.path[which][0])
        snprintf(text, 17, "%016llx", (unsigned long long)p->arrows.content[which]);
}

static int describe(struct probe_planets *p)
{
    char sum[17];
    cJSON *about = p->results.about = cJSON_CreateObject();
    cJSON_AddStringToObject(about, "ephemeris", probe_ephemeris_name());
    cJSON_AddNumberToObject(about, "epoch_jde", PROBE_J2000_JDE);
    cJSON_AddNumberToObject(about, "year_days", PROBE_YEAR_DAYS);
    cJSON_AddNumberToObject(about, "next_places", p->judged);
    cJSON_AddNumberToObject(about, "orbits", p->judged / p->probe.preset.planets.samples_per_orbit);
    cJSON *planets = cJSON_AddArrayToObject(about, "planets");
    for (int i = 0; i < PROBE_PLANETS; i++) {
        cJSON *planet = cJSON_CreateObject();
        cJSON_AddStringToObject(planet, "name", probe_planets_name(i));
        cJSON_AddNumberToObject(planet, "dt_days", p->real[i].dt_yr * PROBE_YEAR_DAYS);
        cJSON_AddNumberToObject(planet, "separation_au", p->real[i].scale_au);
        cJSON_AddNumberToObject(planet, "out_of_plane", p->real[i].out_of_plane);
        cJSON_AddItemToArray(planets, planet);
    }
    if (p->arrows.there) {
        cJSON *forces = cJSON_AddObjectToObject(about, "forces");
        cJSON_AddStringToObject(forces, "checkpoint", p->arrows.path[0]);
        cJSON_AddStringToObject(forces, "floor", p->arrows.path[1]);
        for (int k = 0; k < 2; k++) {
            content_text(p, k, sum);
            cJSON_AddStringToObject(forces, head_keys[k], sum);
        }
        cJSON_AddNumberToObject(forces, "first_step", p->arrows.first);
        cJSON_AddNumberToObject(forces, "steps", p->arrows.count);
    }
    p->results.over = "planets";
    return about ? 0 : ORR_FAIL(ORR_ENOMEM, "probe planets: out of memory");
}

static int write(struct probe_planets *p)
{
    TRY(describe(p));
    TRY(probe_results_begin(&p->results, p->folder, "planets"));
    TRY(probe_arrows_remove(p));
    TRY(probe_planets_draw(p)); /* first, because --resume looks for the tables */
    if (p->arrows.there) {
        TRY(probe_arrows_draw(p));
        TRY(probe_arrows_write(p));
    }
    TRY(probe_results_write(&p->results, &p->probe, p->options, p->folder, "planets", p->key));
    probe_results_print(&p->results, &p->probe, "planets");
    return 0;
}

/* ----------------------------------------------------------------------------------- probe */

static int check(const struct probe_planets *p)
{
    const struct probe_options *o = p->options;
    if (strcmp(p->probe.stage, "pretrain_planets") != 0)
        return ORR_FAIL(ORR_EINVAL,
                        "probe planets: %s: expected a model of planet runs (stage "
                        "pretrain_planets), found stage %s",
                        o->checkpoint, p->probe.stage);
    if (p->T < 4)
        return ORR_FAIL(ORR_EUSAGE,
                        "probe planets: %s: %d positions have no next place; give a --length of 4 "
                        "or more",
                        o->checkpoint, p->T);
    return 0;
}

static int open_all(struct probe_planets *p)
{
    const struct probe_options *o = p->options;
    if (o->sequences || *o->orbits)
        return ORR_FAIL(ORR_EUSAGE, "%s: probe planets feeds the eight planets of an ephemeris",
                        o->sequences ? "--sequences" : "--orbits");
    TRY(probe_ephemeris_check());
    TRY(orr_gnuplot_check("planets.gp"));
    TRY(probe_open(&p->probe, o, true, 1));
    p->T = p->probe.T;
    TRY(check(p));
    TRY(probe_folder(&p->probe, o, p->folder));
    TRY(probe_arrows_find(p));
    return probe_key(o, "planets", REVISION, "", p->key);
}

/* Whether results that are there have forces of the same heads. They stand apart
 * from the key, which says what results of several seeds have in common. */
static bool has_heads(const struct probe_planets *p)
{
    char path[4096], sum[2][17];
    cJSON *json = NULL;
    if (orr_path(path, "%s/planets.json", p->folder) || !orr_exists(path) ||
        orr_json_read(path, &json))
        return false;
    const cJSON *about = cJSON_GetObjectItemCaseSensitive(json, "about");
    const cJSON *forces = cJSON_GetObjectItemCaseSensitive(about, "forces");
    bool same = p->arrows.there == (forces != NULL);
    for (int k = 0; k < 2 && forces; k++) {
        const cJSON *was = cJSON_GetObjectItemCaseSensitive(forces, head_keys[k]);
        content_text(p, k, sum[k]);
        same = same && cJSON_IsString(was) && !strcmp(was->valuestring, sum[k]);
    }
    cJSON_Delete(json);
    return same;
}

static bool is_there(const struct probe_planets *p)
{
    return p->options->resume && has_heads(p) &&
           probe_results_there(p->options, p->folder, "planets", p->key);
}

static int measure(struct probe_planets *p)
{
    TRY(make_tracks(p));
    TRY(probe_floor(&p->probe, p->options, &p->floor));
    TRY(probe_resamples_create(&p->resamples, p->probe.preset.seed, PROBE_PLANETS));
    TRY(measure_places(p, "next place", p->real));
    TRY(measure_places(p, "next place, two bodies", p->kepler));
    TRY(measure_departure(p));
    return p->arrows.there ? probe_arrows_measure(p) : 0;
}

int probe_planets(const struct probe_options *options)
{
    struct probe_planets *p = orr_alloc(1, sizeof *p);
    if (!p)
        return ORR_ENOMEM;
    p->options = options;
    int rc = open_all(p);
    if (!rc && !is_there(p)) {
        rc = measure(p);
        if (!rc)
            rc = write(p);
    }
    for (int i = 0; i < PROBE_PLANETS; i++) {
        probe_track_free(&p->real[i]);
        probe_track_free(&p->kepler[i]);
    }
    probe_arrows_free(&p->arrows);
    probe_results_free(&p->results);
    probe_resamples_free(&p->resamples);
    gpt_free(&p->floor);
    probe_close(&p->probe);
    free(p);
    return rc;
}
