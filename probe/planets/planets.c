/* planets.c - bin/probe planets: predictions of the next positions of the real planets, on which no
 * model was trained. */
#include "planets.h"

#include "ephemeris.h"
#include "probe/core/figure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

const char *probe_planets_name(int planet)
{
    static const char *const names[PROBE_PLANETS] = {"Mercury", "Venus",  "Earth",  "Mars",
                                                     "Jupiter", "Saturn", "Uranus", "Neptune"};
    return names[planet];
}

/* ----------------------------------------------------------------------------------- positions */

/* A planet's time step is that of its simulated sequence in planets_solar. */
int probe_planets_tracks(struct probe_planets *p)
{
    const double samples = p->s.probe.settings.planets.samples_per_orbit;
    const int steps = (p->T - 1) / 2 + 1, orbit = (int)floor(samples);
    p->held_out = orbit < steps - 1 ? orbit : steps - 1;
    for (int i = 0; i < PROBE_PLANETS; i++) {
        const struct sim_body *body = &sim_sun_bodies[i];
        const double dt_yr = sim_period_yr(body->a_au, 1 + body->mass) / samples;
        TRY(probe_track_make(&p->s.arena, &p->real[i], p->axes, i, body->mass, steps, orbit, dt_yr,
                             probe_ephemeris_place));
        TRY(probe_track_osculate(&p->s.arena, &p->kepler[i], &p->real[i]));
    }
    return 0;
}

static void fill_track(const struct probe_track *track, const struct gpt_config *config,
                       float *rows, int b, struct gpt_batch *batch)
{
    const size_t T = (size_t)batch->T, F = (size_t)gpt_config_features(config);
    probe_track_rows(track, rows);
    for (size_t t = 0; t < T; t++)
        gpt_row_features(config, rows + (size_t)track->axes * t, t == 0,
                         batch->features + ((size_t)b * T + t) * F);
}

int probe_planets_predict(struct gpt_model *model, const struct probe_track track[], int T,
                          double *out)
{
    struct gpt_batch batch = {0};
    const real *found;
    const size_t axes = (size_t)track->axes, numbers = PROBE_PLANETS * (size_t)T * axes;
    float *rows = orr_alloc((size_t)(1 + 2 * track->steps) * axes, sizeof *rows);
    int rc = rows ? gpt_batch_create(&batch, &model->config, PROBE_PLANETS, T) : ORR_ENOMEM;
    for (int b = 0; b < PROBE_PLANETS && !rc; b++)
        fill_track(&track[b], &model->config, rows, b, &batch);
    rc = rc ? rc : gpt_forward(model, &batch, &found);
    for (size_t k = 0; k < numbers && !rc; k++) {
        out[k] = (double)found[k];
        if (!isfinite(out[k]))
            rc = ORR_FAIL(ORR_EDIVERGED, "probe planets: a prediction is not a number");
    }
    gpt_batch_free(&batch);
    free(rows);
    return rc;
}

/* -------------------------------------------------------------------------------- results */

int probe_planets_add(struct probe_planets *p, const char *what, const char *measure,
                      double values[4][PROBE_PLANETS], long n)
{
    struct probe_estimate mean[4];
    for (int w = 0; w < 4; w++)
        mean[w] = probe_bootstrap(&p->s.resamples, probe_mean_of, values[w]);
    for (int i = 0; i <= PROBE_PLANETS; i++) { /* one orbit per planet: nothing to resample */
        const bool all = i == PROBE_PLANETS;
        struct orr_row row =
            probe_row_of(&p->s.results, all ? mean[0] : probe_exactly(values[0][i]), measure,
                         "%s, %s", what, all ? "mean" : probe_planets_name(i));
        row.upper_bound = all ? mean[1].value : values[1][i];
        row.baseline = all ? mean[2].value : values[2][i];
        row.raw = all ? mean[3].value : values[3][i];
        row.n = all ? PROBE_PLANETS : n;
        TRY(orr_table_add(&p->s.results.table, &row));
    }
    return 0;
}

/* The star's row of step k - 1 predicts step k of the planet. */
static void errors_of(const double *out, const struct probe_track track[], int T, int held_out,
                      double error[PROBE_PLANETS])
{
    const int axes = track->axes;
    double place[SIM_AXES];
    for (int i = 0; i < PROBE_PLANETS; i++) {
        error[i] = 0;
        for (int k = 1; k <= held_out; k++) {
            const double *found = out + (size_t)axes * ((size_t)i * (size_t)T + 2 * (size_t)k);
            probe_track_place(&track[i], k, place);
            for (int c = 0; c < axes; c++)
                place[c] = found[c] - place[c];
            error[i] += sim_hypot(place, axes) / held_out;
        }
    }
}

int probe_planets_errors(struct gpt_model *model, const struct probe_track track[], int T,
                         int held_out, double error[PROBE_PLANETS])
{
    double *out = orr_alloc(PROBE_PLANETS * (size_t)(T * track->axes), sizeof *out);
    const int rc = out ? probe_planets_predict(model, track, T, out) : ORR_ENOMEM;
    if (!rc)
        errors_of(out, track, T, held_out, error);
    free(out);
    return rc;
}

/* The errors of a model of another program, from the answers to the tracks from number `first` on;
 * NaN without answers. */
static int answered_errors(const struct probe_planets *p, const struct probe_answers *answers,
                           const struct probe_track track[], int first, double error[PROBE_PLANETS])
{
    for (int i = 0; i < PROBE_PLANETS; i++)
        error[i] = NAN;
    if (!answers)
        return 0;
    double *out = orr_alloc(PROBE_PLANETS * (size_t)(p->T * p->axes), sizeof *out);
    const int rc = out ? probe_planets_answered(p, answers, first, out) : ORR_ENOMEM;
    if (!rc)
        errors_of(out, track, p->T, p->held_out, error);
    free(out);
    return rc;
}

static double mean_over_steps(const struct probe_planets *p, const struct probe_track *track,
                              double (*error)(const struct probe_track *track, int k))
{
    double sum = 0;
    for (int k = 1; k <= p->held_out; k++)
        sum += error(track, k);
    return sum / p->held_out;
}

static int measure_places(struct probe_planets *p, const char *what,
                          const struct probe_track track[])
{
    const struct probe_options *o = p->s.options;
    const int first = track == p->real ? 0 : PROBE_PLANETS;
    double values[4][PROBE_PLANETS];
    if (o->answers) {
        TRY(answered_errors(p, o->answers, track, first, values[0]));
        TRY(answered_errors(p, o->twin, track, first, values[2]));
    } else {
        TRY(probe_planets_errors(&p->s.probe.model, track, p->T, p->held_out, values[0]));
        TRY(probe_planets_errors(&p->s.baseline, track, p->T, p->held_out, values[2]));
    }
    for (int i = 0; i < PROBE_PLANETS; i++) {
        values[1][i] = mean_over_steps(p, &track[i], probe_track_osculates);
        values[3][i] = mean_over_steps(p, &track[i], probe_track_stays);
    }
    return probe_planets_add(p, what, "separations", values, p->held_out);
}

/* How far the planets themselves deviate from the osculating orbit of step 0. */
static int measure_departure(struct probe_planets *p)
{
    double values[4][PROBE_PLANETS];
    for (int i = 0; i < PROBE_PLANETS; i++) {
        double sum = 0, a[SIM_AXES], b[SIM_AXES];
        for (int k = 1; k <= p->held_out; k++) {
            probe_track_place(&p->real[i], k, a);
            probe_track_place(&p->kepler[i], k, b);
            for (int c = 0; c < p->axes; c++)
                a[c] -= b[c];
            sum += sim_hypot(a, p->axes);
        }
        values[0][i] = sum / p->held_out;
        values[1][i] = values[2][i] = values[3][i] = NAN;
    }
    return probe_planets_add(p, "Kepler orbit of step 0", "separations", values, p->held_out);
}

/* ----------------------------------------------------------------------------------- files */

/* Keys in "about" for the checksums of the heads' checkpoints: model, baseline; "": none. */
static const char *const head_keys[] = {"checkpoint_xxh64", "baseline_xxh64"};

static void content_text(const struct probe_planets *p, int which, char text[17])
{
    text[0] = '\0';
    if (p->arrows.path[which][0])
        snprintf(text, 17, "%016llx", (unsigned long long)p->arrows.content[which]);
}

static int add_about(struct probe_planets *p)
{
    char sum[17];
    cJSON *about = p->s.results.about = cJSON_CreateObject();
    cJSON_AddStringToObject(about, "ephemeris", probe_ephemeris_name());
    cJSON_AddNumberToObject(about, "epoch_jde", PROBE_J2000_JDE);
    cJSON_AddNumberToObject(about, "year_days", PROBE_YEAR_DAYS);
    cJSON_AddNumberToObject(about, "next_places", p->held_out);
    cJSON_AddNumberToObject(about, "orbits",
                            p->held_out / p->s.probe.settings.planets.samples_per_orbit);
    cJSON *planets = cJSON_AddArrayToObject(about, "planets");
    for (int i = 0; i < PROBE_PLANETS; i++) {
        cJSON *planet = cJSON_CreateObject();
        cJSON_AddStringToObject(planet, "name", probe_planets_name(i));
        cJSON_AddNumberToObject(planet, "dt_days", p->real[i].dt_yr * PROBE_YEAR_DAYS);
        cJSON_AddNumberToObject(planet, "separation_au", p->real[i].scale_au);
        if (p->axes == 2)
            cJSON_AddNumberToObject(planet, "out_of_plane", p->real[i].out_of_plane);
        cJSON_AddItemToArray(planets, planet);
    }
    if (p->arrows.there) {
        cJSON *forces = cJSON_AddObjectToObject(about, "forces");
        cJSON_AddStringToObject(forces, "checkpoint", p->arrows.path[0]);
        cJSON_AddStringToObject(forces, "baseline", p->arrows.path[1]);
        for (int k = 0; k < 2; k++) {
            content_text(p, k, sum);
            cJSON_AddStringToObject(forces, head_keys[k], sum);
        }
        cJSON_AddNumberToObject(forces, "first_step", p->arrows.first);
        cJSON_AddNumberToObject(forces, "steps", p->arrows.count);
    }
    p->s.results.over = "planets";
    return about ? 0 : ORR_FAIL(ORR_ENOMEM, "probe planets: out of memory");
}

static int write_files(void *of)
{
    struct probe_planets *p = of;
    TRY(probe_arrows_remove(p));
    TRY(probe_session_draw(&p->s, "planets.gp", NULL, NULL));
    if (!p->arrows.there)
        return 0;
    TRY(probe_arrows_draw(p));
    return probe_arrows_write(p);
}

/* ----------------------------------------------------------------------------------- probe */

static int check_model(const struct probe_planets *p)
{
    const struct probe_options *o = p->s.options;
    if (strcmp(p->s.probe.stage, "pretrain_planets") != 0)
        return ORR_FAIL(ORR_EINVAL,
                        "probe planets: %s: expected a model of planet runs (stage "
                        "pretrain_planets), found stage %s",
                        o->checkpoint, p->s.probe.stage);
    if (p->T < 4)
        return ORR_FAIL(
            ORR_EUSAGE,
            "probe planets: %s: %d positions have no next position; give a --length of 4 "
            "or more",
            o->checkpoint, p->T);
    return 0;
}

int probe_planets_open(void *of)
{
    struct probe_planets *p = of;
    const struct probe_options *o = p->s.options;
    if ((o->sequences && !o->no_model) || *o->orbits)
        return ORR_FAIL(ORR_EUSAGE, "%s: probe planets feeds the eight planets of an ephemeris",
                        o->sequences ? "--sequences" : "--orbits");
    TRY(probe_ephemeris_check());
    TRY(probe_open(&p->s.probe, o, true, 1));
    p->T = p->s.probe.T;
    p->axes = gpt_config_axes(&p->s.probe.trained);
    TRY(check_model(p));
    return o->no_model && !o->answers ? 0 : probe_arrows_find(p);
}

/* Whether existing results used the same heads. The heads are not in the key, which must be equal
 * for results of several seeds. */
static bool has_same_heads(const void *of)
{
    const struct probe_planets *p = of;
    char path[4096], sum[2][17];
    cJSON *json = NULL;
    if (!p->s.options->resume || orr_path(path, "%s/planets.json", p->s.folder) ||
        !orr_exists(path) || orr_json_read(path, &json))
        return false;
    const cJSON *about = orr_json_get(json, "about");
    const cJSON *forces = orr_json_get(about, "forces");
    bool same = p->arrows.there == (forces != NULL);
    for (int k = 0; k < 2 && forces; k++) {
        const cJSON *was = orr_json_get(forces, head_keys[k]);
        content_text(p, k, sum[k]);
        same = same && cJSON_IsString(was) && !strcmp(was->valuestring, sum[k]);
    }
    cJSON_Delete(json);
    return same;
}

static int measure_model(void *of)
{
    struct probe_planets *p = of;
    TRY(probe_planets_tracks(p));
    TRY(p->s.options->answers ? 0 : probe_baseline(&p->s.probe, p->s.options, &p->s.baseline));
    TRY(probe_resamples_create(&p->s.arena, &p->s.resamples, p->s.probe.settings.seed,
                               PROBE_PLANETS));
    TRY(measure_places(p, "next position", p->real));
    TRY(measure_places(p, "next position, two bodies", p->kepler));
    TRY(measure_departure(p));
    if (p->arrows.there)
        TRY(probe_arrows_measure(p));
    return add_about(p);
}

int probe_planets(const struct probe_options *options)
{
    static const struct probe_steps steps = {.name = "planets",
                                             .revision = 2,
                                             .script = "planets.gp",
                                             .open = probe_planets_open,
                                             .is_same = has_same_heads,
                                             .measure = measure_model,
                                             .write = write_files};
    struct probe_planets p = {.T = 0};
    struct probe_options o = *options;
    o.planet_runs = true;
    return probe_session_run(&p.s, &o, &steps, &p);
}
