/* labelled.c - sequences of two bodies with their states, and checks of the checkpoints that may
 * use them. */
#include "labelled.h"
#include "stage/tracks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Positions are float: the error of the last digit at 1 AU. */
static const double place_sd = 1e-7;

/* ---------------------------------------------------------------------------- sequences */

static int copy_sequence(struct probe_labelled *set, struct sim_sequence *q, int i)
{
    const size_t P = (size_t)set->P, S = (size_t)set->steps, axes = (size_t)set->axes;
    const size_t full_size = 2 * axes + 2;
    memcpy(set->coords + (size_t)i * P * axes, q->coords, P * axes * sizeof *q->coords);
    set->dt_yr[i] = exp((double)q->coords[0]);
    for (size_t k = 0; k < S; k++) {
        const float *full = q->full_state + full_size * (2 + 2 * k);
        double *state = set->state + ((size_t)i * S + k) * full_size;
        for (size_t c = 0; c < full_size; c++)
            state[c] = (double)full[c];
        sim_law_force(&q->dynamics, k, state[2 * axes], state[2 * axes + 1], state,
                      set->force + ((size_t)i * S + k) * axes);
    }
    return 0;
}

int probe_labelled_make(struct probe_arena *arena, struct probe_labelled *set,
                        const struct probe *probe, enum sim_split split, int n)
{
    const size_t N = (size_t)n, P = (size_t)probe->T + 1, S = (size_t)probe->T / 2;
    const size_t axes = (size_t)probe->settings.orbits.dimensions;
    struct orr_settings settings = probe->settings;
    struct sim_sequence q = {0};
    settings.orbits.positions = (int)P;
    settings.orbits.compat_velocity_sign = settings.orbits.compat_relative_state = false;
    *set = (struct probe_labelled){
        .n = n,
        .P = (int)P,
        .bodies = PROBE_BODIES,
        .steps = (int)S,
        .axes = (int)axes,
        .coords = probe_take(arena, N * P * axes, sizeof *set->coords),
        .state = probe_take(arena, N * S * (2 * axes + 2), sizeof *set->state),
        .force = probe_take(arena, N * S * axes, sizeof *set->force),
        .dt_yr = probe_take(arena, N, sizeof *set->dt_yr)};
    TRY(arena->failed);
    int rc = sim_sequence_create(&q, &settings, split);
    set->newton = !rc && settings.orbits.law == ORR_LAW_NEWTON && !settings.orbits.nbody &&
                  q.dynamics.jump_step == 0;
    for (int i = 0; i < n && !rc; i++) {
        rc = sim_sequence_make(&q, &settings, split, (uint64_t)i);
        rc = rc ? rc : copy_sequence(set, &q, i);
    }
    sim_sequence_free(&q);
    return rc;
}

int probe_tracks_read(struct probe_arena *arena, struct probe_labelled *set, struct probe *probe,
                      int n, bool quiet)
{
    const int there = (int)gpt_source_count(probe->data);
    const size_t P = (size_t)probe->T + 1, axes = (size_t)probe->settings.orbits.dimensions;
    const uint16_t *tokens;
    const float *coords;
    int bodies, count[256] = {0}, most = 0, seen = there < n ? there : n;
    *set = (struct probe_labelled){
        .P = (int)P,
        .axes = (int)axes,
        .coords = probe_take(arena, (size_t)seen * P * axes, sizeof *set->coords),
        .dt_yr = probe_take(arena, (size_t)seen, sizeof *set->dt_yr),
        .track = probe_take(arena, (size_t)there, sizeof *set->track)};
    TRY(arena->failed);
    TRY(orr_tracks_pieces(&probe->settings, sim_split_name(probe->split), there, set->track));
    for (int i = 0; i < seen; i++) {
        TRY(gpt_source_sequence(probe->data, (uint64_t)i, &tokens, &coords, &bodies));
        most = ++count[bodies] > count[most] ? bodies : most;
    }
    for (int i = 0; i < seen; i++) {
        TRY(gpt_source_sequence(probe->data, (uint64_t)i, &tokens, &coords, &bodies));
        if (bodies != most)
            continue;
        memcpy(set->coords + (size_t)set->n * P * axes, coords, P * axes * sizeof *coords);
        set->track[set->n] = set->track[i];
        set->dt_yr[set->n++] = exp((double)coords[0]);
    }
    set->bodies = most;
    set->steps = probe->T / most;
    if (set->n < seen)
        orr_note(quiet, "note: %d of %d sequences have %d bodies; the others are left out", set->n,
                 seen, most);
    return 0;
}

const float *probe_labelled_rows(const struct probe_labelled *set, int i)
{
    return set->coords + (size_t)i * (size_t)set->P * (size_t)set->axes;
}

const double *probe_labelled_state(const struct probe_labelled *set, int i, int step)
{
    return set->state +
           ((size_t)i * (size_t)set->steps + (size_t)step) * (size_t)sim_full_columns(set->axes);
}

const double *probe_labelled_force(const struct probe_labelled *set, int i, int step)
{
    return set->force + ((size_t)i * (size_t)set->steps + (size_t)step) * (size_t)set->axes;
}

void probe_labelled_fill(const struct probe_labelled *set, const struct gpt_config *config,
                         int first, struct gpt_batch *batch)
{
    const size_t T = (size_t)batch->T, F = (size_t)gpt_config_features(config);
    for (int b = 0; b < batch->B; b++) {
        const float *rows = probe_labelled_rows(set, first + b);
        for (size_t t = 0; t < T; t++)
            gpt_row_features(config, rows + (size_t)set->axes * t, t == 0,
                             batch->features + ((size_t)b * T + t) * F);
    }
}

/* ------------------------------------------------------------------------ checks */

/* Checks settings and options before anything is opened. */
static int check_options(const struct probe_options *o, const char *name)
{
    if (orr_settings_is_text(o->settings))
        return ORR_FAIL(ORR_EINVAL, "probe %s: %s: a model of text: there are no orbits to ask for",
                        name, o->checkpoint);
    if (o->settings->orbits.output != ORR_OUTPUT_CONTINUOUS)
        return ORR_FAIL(ORR_EINVAL,
                        "probe %s: %s: expected a model of coordinates, preset %s makes tokens",
                        name, o->checkpoint, o->settings->name);
    if (*o->orbits && !*o->settings->tracks)
        return ORR_FAIL(ORR_EUSAGE, "--orbits: probe %s makes its labelled sequences from the seed",
                        name);
    return 0;
}

static int check_model(const struct probe *probe, const struct probe_options *o, const char *name,
                       bool next)
{
    const bool first = !strcmp(probe->stage, "pretrain");
    if (next && (!first || probe->model.config.outputs != gpt_config_axes(&probe->model.config)))
        return ORR_FAIL(ORR_EINVAL,
                        "probe %s: %s: expected a model that predicts the next position (stage "
                        "pretrain), found stage %s",
                        name, o->checkpoint, probe->stage);
    if (!first && strcmp(probe->stage, "magnitude") != 0)
        return ORR_FAIL(ORR_EINVAL,
                        "probe %s: %s: stage %s was trained on planet runs, in units of their own; "
                        "expected pretrain or magnitude",
                        name, o->checkpoint, probe->stage);
    return 0;
}

int probe_open_labelled(struct probe *probe, const struct probe_options *options, const char *name,
                        bool next)
{
    memset(probe, 0, sizeof *probe);
    struct probe_options final = *options; /* of tracks: the sequences of final results */
    final.final |= *options->settings->tracks != '\0';
    TRY(check_options(options, name));
    TRY(probe_open(probe, &final, true, 1));
    TRY(check_model(probe, options, name, next));
    if (probe->T < 3)
        return ORR_FAIL(
            ORR_EUSAGE,
            "probe %s: %s: %d positions hold no step of two bodies after the time step; "
            "give a --length of 3 or more",
            name, options->checkpoint, probe->T);
    return 0;
}

/* --------------------------------------------------------------------------------- orbits */

struct probe_orbit probe_orbit_true(const struct probe_labelled *set, int i, int step)
{
    const int axes = set->axes;
    const double *s = probe_labelled_state(set, i, step), *mass = s + 2 * axes;
    const float *place = probe_labelled_rows(set, i) + (size_t)axes * (size_t)(1 + 2 * step);
    struct probe_orbit o = {.mu = SIM_G * (mass[0] + mass[1]),
                            .share = mass[1] / (mass[0] + mass[1]),
                            .dt_yr = set->dt_yr[i],
                            .axes = axes};
    memcpy(o.state, s, 2 * (size_t)axes * sizeof *s);
    for (int c = 0; c < axes; c++)
        o.barycentre[c] = (double)place[c] - o.share * s[c];
    return o;
}

bool probe_orbit_advance(struct probe_orbit *o, int steps)
{
    bool there = o->mu > 0 && isfinite(o->mu);
    for (int k = 0; k < steps && there; k++)
        there = gpt_orbit_advance(o->mu, o->dt_yr, o->axes, o->state);
    return there;
}

void probe_orbit_places(const struct probe_orbit *o, double place[])
{
    for (int body = 0; body < PROBE_BODIES; body++)
        for (int c = 0; c < o->axes; c++)
            place[o->axes * body + c] = o->barycentre[c] + (o->share - body) * o->state[c];
}

void probe_orbit_state(const struct probe_orbit *o, double state[], double force[])
{
    const double total = o->mu / SIM_G, r = sim_hypot(o->state, o->axes);
    double *const mass = state + 2 * o->axes;
    memcpy(state, o->state, 2 * (size_t)o->axes * sizeof *state);
    mass[1] = o->share * total;
    mass[0] = total - mass[1];
    for (int c = 0; c < o->axes; c++)
        force[c] = -sim_force(mass[0], mass[1], r) * o->state[c] / r;
}

int probe_orbit_prior(const struct probe_labelled *set, struct gpt_orbit_prior *prior)
{
    double(*p)[GPT_ORBIT_PARAMETERS] = orr_alloc((size_t)set->n, sizeof *p);
    if (!p)
        return ORR_ENOMEM;
    for (int i = 0; i < set->n; i++) {
        const struct probe_orbit o = probe_orbit_true(set, i, 0);
        const double *s = o.state, *v = s + o.axes, r = sim_hypot(s, o.axes),
                     speed = sqrt(o.mu / r);
        const struct gpt_orbit_plane plane = gpt_orbit_plane_of(o.axes, s, v);
        const double own[GPT_ORBIT_PARAMETERS] = {
            [GPT_ORBIT_X] = 1,
            [GPT_ORBIT_VX] = sim_dot(v, plane.e[0], o.axes) / speed,
            [GPT_ORBIT_VY] = sim_dot(v, plane.e[1], o.axes) / speed,
            [GPT_ORBIT_RATE] = log(o.mu * o.dt_yr * o.dt_yr / (r * r * r)),
            [GPT_ORBIT_SHARE] = o.share,
            [GPT_ORBIT_CX] = sim_dot(o.barycentre, plane.e[0], o.axes) / r,
            [GPT_ORBIT_CY] = sim_dot(o.barycentre, plane.e[1], o.axes) / r};
        memcpy(p[i], own, sizeof own);
    }
    gpt_orbit_prior_turn(set->n, p, prior);
    for (int k = 0; k < GPT_ORBIT_PARAMETERS; k++) {
        double sum = 0, square = 0;
        for (int i = 0; i < set->n; i++) {
            sum += p[i][k];
            square += p[i][k] * p[i][k];
        }
        prior->mean[k] = sum / set->n;
        const double variance = square / set->n - prior->mean[k] * prior->mean[k];
        prior->sd[k] = fmax(sqrt(fmax(variance, 0)), 1e-6);
    }
    free(p);
    return 0;
}

/* The orbit of fitted parameters at the first step, where the separation is (dx, dy). */
static struct probe_orbit from_parameters(const double p[GPT_ORBIT_PARAMETERS], double dx,
                                          double dy, double dt_yr)
{
    const double r = hypot(dx, dy), cosine = dx / r, sine = dy / r, rate = exp(p[GPT_ORBIT_RATE]);
    const double speed = sqrt(rate) * r / dt_yr;
    struct probe_orbit o = {.mu = rate * r * r * r / (dt_yr * dt_yr),
                            .share = p[GPT_ORBIT_SHARE],
                            .dt_yr = dt_yr,
                            .axes = 2};
    const double turned[6] = {p[GPT_ORBIT_X] * r,      p[GPT_ORBIT_Y] * r,  p[GPT_ORBIT_VX] * speed,
                              p[GPT_ORBIT_VY] * speed, p[GPT_ORBIT_CX] * r, p[GPT_ORBIT_CY] * r};
    double *const to[3] = {o.state, o.state + 2, o.barycentre};
    for (int k = 0; k < 3; k++) {
        to[k][0] = cosine * turned[2 * k] - sine * turned[2 * k + 1];
        to[k][1] = sine * turned[2 * k] + cosine * turned[2 * k + 1];
    }
    return o;
}

/* Follows an orbit along the positions. Returns the sum of squared distances, infinite where the
 * orbit cannot be followed. The orbit is then at the last step. */
static double follow_orbit(struct probe_orbit *o, int context, const double *place)
{
    double sum = 0, model[4];
    bool there = hypot(o->state[0], o->state[1]) > 0;
    for (int k = 0; k < context && there; k++) {
        there = k == 0 || probe_orbit_advance(o, 1);
        probe_orbit_places(o, model);
        for (int c = 0; c < 4; c++)
            sum += (place[4 * k + c] - model[c]) * (place[4 * k + c] - model[c]);
    }
    return there && isfinite(sum) ? sum : INFINITY;
}

/* Runs one fit, and measures its distance from the positions. */
static int fit_once(int context, const double *place, double dt_yr,
                    const struct gpt_orbit_prior *prior, double p[GPT_ORBIT_PARAMETERS], bool start,
                    struct probe_orbit *orbit, double *distance)
{
    double next[2];
    TRY(gpt_orbit_fit(context, place, place_sd, prior, p, start, next));
    *orbit = from_parameters(p, place[0] - place[2], place[1] - place[3], dt_yr);
    *distance = follow_orbit(orbit, context, place);
    return 0;
}

/* Positions of sequence i in the plane of its orbit, place (context, 2, 2). */
static int take_places(const struct probe_labelled *set, int i, int context, double *place,
                       struct gpt_orbit_plane *plane)
{
    const size_t numbers = 2 * (size_t)set->axes * (size_t)context;
    const float *rows = probe_labelled_rows(set, i) + set->axes;
    double *at = orr_alloc(numbers, sizeof *at);
    if (!at)
        return ORR_ENOMEM;
    for (size_t k = 0; k < numbers; k++)
        at[k] = (double)rows[k];
    *plane = gpt_orbit_flatten(set->axes, context, at, place);
    free(at);
    return 0;
}

/* An orbit of the plane's two coordinates in space. */
static void lift_orbit(const struct gpt_orbit_plane *plane, struct probe_orbit *o)
{
    const struct probe_orbit flat = *o;
    o->axes = plane->axes;
    gpt_orbit_lift(plane, flat.state, 0, o->state);
    gpt_orbit_lift(plane, flat.state + 2, 0, o->state + o->axes);
    gpt_orbit_lift(plane, flat.barycentre, plane->height, o->barycentre);
}

int probe_orbit_fit(const struct probe_labelled *set, int i, int context,
                    const struct gpt_orbit_prior *prior, double p[GPT_ORBIT_PARAMETERS], bool start,
                    struct probe_orbit *orbit, bool *there)
{
    const double enough = 16 * context * place_sd * place_sd;
    struct gpt_orbit_plane plane = {.axes = 2};
    double distance = INFINITY, again = INFINITY, q[GPT_ORBIT_PARAMETERS];
    struct probe_orbit other = {0};
    double *place = orr_alloc(4 * (size_t)context, sizeof *place);
    if (!place)
        return ORR_ENOMEM;
    int rc = take_places(set, i, context, place, &plane);
    rc = rc ? rc : fit_once(context, place, set->dt_yr[i], prior, p, start, orbit, &distance);
    if (!rc && start && !(distance <= enough))
        rc = fit_once(context, place, set->dt_yr[i], prior, q, false, &other, &again);
    if (!rc && again < distance) {
        memcpy(p, q, sizeof q);
        *orbit = other;
        distance = again;
    }
    *there = isfinite(distance);
    if (!rc)
        lift_orbit(&plane, orbit);
    free(place);
    return rc;
}
