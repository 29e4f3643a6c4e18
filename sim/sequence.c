/* sequence.c - makes one sequence: from a drawn system to rows of tokens or coordinates, states and
 * forces. */
#include "stage/tracks.h"
#include "vec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_randist.h>

/* ------------------------------------------------------------------------------ binning */

uint16_t sim_bin(double x_au, int bins, double extent_au, long *clipped)
{
    const double bin = floor((x_au + extent_au) * bins / (2 * extent_au));
    *clipped += fabs(x_au) > extent_au;
    if (bin < 0)
        return 0;
    return bin < bins ? (uint16_t)bin : (uint16_t)(bins - 1);
}

double sim_token_dt_yr(uint16_t token, int bins)
{
    return (token == bins ? 7 : 180) * 0.0027;
}

/* ------------------------------------------------------------------------------- memory */

/* Doubles of working storage for a sequence of P rows: positions of all bodies, in whole groups of
 * steps; bins of one body; states of all planets. */
static size_t work_size(size_t P, size_t axes)
{
    const size_t padding = (SIM_PLANETS + 1) * (SIM_VEC_LANES + 1);
    return axes * (P + padding) + (P + padding) + 2 * axes * (P + padding);
}

int sim_sequence_create(struct sim_sequence *q, const struct orr_settings *settings,
                        enum sim_split split)
{
    memset(q, 0, sizeof *q);
    TRY(orr_tracks_refuse(settings, "making a sequence"));
    q->positions = sim_split_positions(settings, split);
    q->dimensions = settings->orbits.dimensions;
    const size_t P = (size_t)q->positions, axes = (size_t)q->dimensions;
    const size_t full = (size_t)sim_full_columns(q->dimensions);
    const size_t state = (size_t)sim_state_columns(q->dimensions);
    bool ok = true;
    if (settings->orbits.output == ORR_OUTPUT_TOKENS)
        ok &= (q->tokens = orr_alloc(P * 2, sizeof *q->tokens)) != NULL;
    else
        ok &= (q->coords = orr_alloc(P * axes, sizeof *q->coords)) != NULL;
    if (sim_split_labelled(split)) {
        ok &= (q->full_state = orr_alloc(P * full, sizeof *q->full_state)) != NULL;
        ok &= (q->state = orr_alloc(P * state, sizeof *q->state)) != NULL;
        ok &= (q->force_magnitude = orr_alloc(P, sizeof *q->force_magnitude)) != NULL;
        ok &= (q->force_vector = orr_alloc(P * axes, sizeof *q->force_vector)) != NULL;
    }
    ok &= (q->work = orr_alloc(work_size(P, axes), sizeof *q->work)) != NULL;
    ok &= (q->rng = gsl_rng_alloc(orr_rng_philox)) != NULL;
    const int rc = ok ? sim_dynamics_create(&q->dynamics, settings) : 0;
    if (ok && !rc)
        return 0;
    sim_sequence_free(q);
    return rc ? rc : ORR_FAIL(ORR_ENOMEM, "a sequence of %zu positions: out of memory", P);
}

void sim_sequence_free(struct sim_sequence *q)
{
    free(q->tokens);
    free(q->coords);
    free(q->full_state);
    free(q->state);
    free(q->force_magnitude);
    free(q->force_vector);
    free(q->work);
    sim_dynamics_free(&q->dynamics);
    if (q->rng)
        gsl_rng_free(q->rng);
    memset(q, 0, sizeof *q);
}

/* --------------------------------------------------------------------------------- rows */

struct making {
    struct sim_sequence *q;
    const struct orr_settings *settings;
    const struct sim_system *s;
    enum sim_split split;
    size_t rows, steps; /* rows after the first; time steps (the last may be cut) */
    double *place[SIM_PLANETS + 1][SIM_AXES]; /* (steps) of each body and axis, AU; only the moving
                                                 ones */
    int moving;
    int axes;       /* d */
    double *bins;   /* (steps) */
    double *states; /* (planets, steps, 2 d), labelled splits */
};

/* Divides the sequence's working storage. */
static void making_init(struct making *m)
{
    const size_t bodies = (size_t)m->s->planets + 1, stride = sim_vec_whole(m->steps);
    double *at = m->q->work;
    m->moving = m->s->planets + m->s->star_moves;
    for (size_t i = 0; i < bodies; i++)
        for (int c = 0; c < m->axes; c++, at += stride)
            m->place[i][c] = at;
    m->bins = at;
    m->states = at + stride;
}

/* Relative state (2 d) of planet i at step k: position and velocity. */
static const double *relative_state(const struct making *m, int i, size_t k)
{
    return m->states + 2 * (size_t)m->axes * ((size_t)i * m->steps + k);
}

/* Computes positions and, if labels need them, states in closed form. */
static int closed_orbits(const struct making *m)
{
    const struct sim_system *s = m->s;
    for (int i = 0; i < s->planets; i++) {
        const double total = s->mass[i] + s->star_mass;
        const double share[2] = {s->star_moves ? s->star_mass / total : 1, -s->mass[i] / total};
        TRY(sim_orbit_places(&s->orbit[i], total, s->dt_yr, m->steps, s->star_moves ? 2 : 1, share,
                             s->com_au, &m->place[i]));
        if (m->q->full_state)
            TRY(sim_orbit_states(&s->orbit[i], total, s->dt_yr, m->steps,
                                 m->states + 2 * (size_t)m->axes * (size_t)i * m->steps));
    }
    return 0;
}

/* Computes the positions of all bodies at a step from the states of the planets, around their
 * common barycentre if the star moves. The lanes after the last step repeat it. */
static void place_step(const struct making *m, size_t k)
{
    const struct sim_system *s = m->s;
    const size_t from = k < m->steps ? k : m->steps - 1;
    for (int c = 0; c < m->axes; c++) {
        double moment = 0, total = s->star_mass;
        for (int i = 0; i < s->planets && s->star_moves; i++) {
            moment += s->mass[i] * relative_state(m, i, from)[c];
            total += s->mass[i];
        }
        const double star = s->com_au[c] - moment / total;
        for (int i = 0; i < m->moving; i++)
            m->place[i][c][k] = i < s->planets ? star + relative_state(m, i, from)[c] : star;
    }
}

/* Computes the positions of all moving bodies, and the states that labels need. */
static int compute_orbits(const struct making *m)
{
    if (sim_states_closed(&m->q->dynamics, m->s))
        return closed_orbits(m);
    TRY(sim_states(&m->q->dynamics, m->s, m->steps, m->states));
    for (size_t k = 0; k < sim_vec_whole(m->steps); k++)
        place_step(m, k);
    return 0;
}

/* The number of rows of body i, the first of which is row 1 + i. */
static size_t rows_of(const struct making *m, size_t i)
{
    const size_t bodies = (size_t)m->s->planets + 1;
    return m->rows > i ? (m->rows - i + bodies - 1) / bodies : 0;
}

/* Writes the tokens of all rows of one body. */
static void write_tokens(const struct making *m, int i)
{
    const struct orr_orbits_settings *o = &m->settings->orbits;
    const size_t n = rows_of(m, (size_t)i), stride = 2 * ((size_t)m->s->planets + 1);
    uint16_t *row = m->q->tokens + 2 * (1 + (size_t)i);
    if (i < m->moving) {
        m->q->clipped +=
            sim_vec_best()->bin(n, m->place[i][0], m->place[i][1], o->bins, o->extent_au, m->bins);
        for (size_t k = 0; k < n; k++, row += stride) {
            const uint32_t bins = (uint32_t)m->bins[k];
            row[0] = (uint16_t)(bins & 0xffff);
            row[1] = (uint16_t)(bins >> 16);
        }
        return;
    }
    long clipped = 0; /* for a star at rest */
    const uint16_t x = sim_bin(m->s->com_au[0], o->bins, o->extent_au, &clipped);
    const uint16_t y = sim_bin(m->s->com_au[1], o->bins, o->extent_au, &clipped);
    m->q->clipped += clipped * (long)n;
    for (size_t k = 0; k < n; k++, row += stride) {
        row[0] = x;
        row[1] = y;
    }
}

static void write_coords(const struct making *m, int i)
{
    const size_t axes = (size_t)m->axes, stride = axes * ((size_t)m->s->planets + 1);
    const size_t n = rows_of(m, (size_t)i);
    const double scale = (double)m->q->scale;
    float *row = m->q->coords + axes * (1 + (size_t)i);
    for (size_t k = 0; k < n; k++, row += stride)
        for (size_t c = 0; c < axes; c++)
            row[c] = (float)((i < m->moving ? m->place[i][c][k] : m->s->com_au[c]) / scale);
}

/* Writes state and force of planet i at step k into `row`. */
static void write_state(const struct making *m, size_t row, int i, size_t k)
{
    struct sim_sequence *q = m->q;
    const struct orr_orbits_settings *o = &m->settings->orbits;
    const double m1 = m->s->mass[i], m2 = m->s->star_mass;
    const int axes = m->axes;
    double x[SIM_STATE], *const v = x + axes;
    memcpy(x, relative_state(m, i, k), 2 * (size_t)axes * sizeof *x);
    const double distance = sim_length(x, axes);
    if (o->compat_velocity_sign) { /* reverses the radial part */
        const double radial = sim_dot(x, v, axes) / (distance * distance);
        for (int c = 0; c < axes; c++)
            v[c] -= 2 * radial * x[c];
    }
    for (int c = 0; c < axes && o->compat_relative_state && m->s->star_moves; c++)
        x[c] = m->place[i][c][k] - m->place[m->s->planets][c][0]; /* to the star's first position */
    float *full = q->full_state + (size_t)sim_full_columns(axes) * row;
    float *state = q->state + (size_t)sim_state_columns(axes) * row;
    for (int c = 0; c < 2 * axes; c++)
        full[c] = state[c] = (float)x[c];
    full[2 * axes] = (float)m1;
    full[2 * axes + 1] = (float)m2;
    state[2 * axes] = (float)(m1 / m2);
}

static void write_force(const struct making *m, size_t row, int i, size_t k)
{
    double force[SIM_AXES];
    const double F = sim_law_force(&m->q->dynamics, k, m->s->mass[i], m->s->star_mass,
                                   relative_state(m, i, k), force);
    m->q->force_magnitude[row] = (float)F;
    for (int c = 0; c < m->axes; c++) /* force on the planet */
        m->q->force_vector[(size_t)m->axes * row + (size_t)c] = (float)force[c];
}

/* Writes the labels of a row. With tokens: states and forces on planet rows, only m2 on sun rows.
 * With coordinates: on the last body's row, where both bodies of the step have been shown. */
static void write_labels(const struct making *m, size_t row, int body, size_t k)
{
    struct sim_sequence *q = m->q;
    if (q->tokens) {
        if (body == m->s->planets) {
            q->full_state[6 * row + 5] = (float)m->s->star_mass; /* tokens lie in the plane */
            return;
        }
        write_state(m, row, body, k);
        write_force(m, row, body, k);
        return;
    }
    if (body != m->s->planets)
        return;
    write_state(m, row, 0, k);
    if (k >= (size_t)m->settings->orbits.label_from_step)
        write_force(m, row, 0, k);
}

/* Keeps two labels per sequence in the last tenth of the force training set, as in the study. */
static void keep_two_labels(const struct making *m, uint64_t index)
{
    struct sim_sequence *q = m->q;
    const uint64_t n = sim_split_count(m->settings, m->split);
    if (!q->tokens || m->split != SIM_SPLIT_TWO_BODY_TRAIN || index < n - n / 10)
        return;
    size_t *rows = (size_t *)(void *)q->work, count = 0, keep[2]; /* the solver is done */
    for (size_t t = 0; t < (size_t)q->positions; t++)
        if (isfinite(q->force_magnitude[t]))
            rows[count++] = t;
    orr_rng_seek(q->rng, m->settings->seed, ORR_STAGE_LABELS, (1ull << 40) + index);
    gsl_ran_choose(q->rng, keep, count < 2 ? count : 2, rows, count, sizeof *rows);
    for (size_t t = 0; t < (size_t)q->positions; t++) {
        if (count >= 2 && t != keep[0] && t != keep[1]) {
            q->force_magnitude[t] = INFINITY;
            q->force_vector[2 * t] = q->force_vector[2 * t + 1] = INFINITY;
        }
    }
}

static void clear_sequence(struct sim_sequence *q)
{
    const size_t P = (size_t)q->positions, axes = (size_t)q->dimensions;
    q->clipped = 0;
    q->scale = 1;
    if (!q->full_state)
        return;
    memset(q->full_state, 0, P * (size_t)sim_full_columns(q->dimensions) * sizeof *q->full_state);
    memset(q->state, 0, P * (size_t)sim_state_columns(q->dimensions) * sizeof *q->state);
    for (size_t t = 0; t < P; t++)
        q->force_magnitude[t] = INFINITY;
    for (size_t k = 0; k < axes * P; k++)
        q->force_vector[k] = INFINITY;
}

/* Sets the scale to the separation at step 0. */
static int set_scale(const struct making *m)
{
    double first[SIM_STATE];
    const int rc =
        sim_orbit_states(&m->s->orbit[0], m->s->mass[0] + m->s->star_mass, m->s->dt_yr, 1, first);
    if (!rc)
        m->q->scale = (float)sim_length(first, m->axes);
    return rc;
}

static void write_first_row(const struct making *m)
{
    for (size_t c = 0; c < (size_t)m->axes; c++) {
        if (m->q->tokens)
            m->q->tokens[c] = (uint16_t)(m->settings->orbits.bins + m->s->dt_token);
        else
            m->q->coords[c] = c == 0 ? (float)orr_log(m->s->dt_yr) : 0;
    }
}

/* Draws the system and computes its orbits. */
static int make_orbits(struct making *m, uint64_t index)
{
    struct sim_sequence *q = m->q;
    TRY(sim_system_draw(m->settings, m->split, index, q->rng, &q->system));
    const size_t bodies = (size_t)q->system.planets + 1;
    m->steps = (m->rows + bodies - 1) / bodies;
    q->num_bodies = (int)bodies;
    q->system.star_moves |= q->dynamics.nbody;
    q->dynamics.met = false;
    making_init(m);
    return compute_orbits(m);
}

/* Draws systems until one has no close encounter, if the settings say so. */
static int make_system(struct making *m, uint64_t index)
{
    enum { DRAWS = 100 };
    const bool redraw = m->settings->orbits.encounters == ORR_ENCOUNTERS_REDRAW;
    struct sim_sequence *q = m->q;
    int rc = make_orbits(m, index);
    for (q->redrawn = 0; rc && q->dynamics.met && redraw && q->redrawn + 1 < DRAWS;) {
        orr_error_clear();
        if (orr_signal_seen())
            return ORR_FAIL(ORR_EINTR, "stopped while making sequences");
        rc = make_orbits(m, index + ((uint64_t)++q->redrawn << 48));
    }
    if (!rc || sim_states_closed(&q->dynamics, &q->system))
        return rc;
    char why[512], hint[96] = "";
    snprintf(why, sizeof why, "%.500s", orr_error());
    if (q->dynamics.met && redraw)
        snprintf(hint, sizeof hint, "; each of %d systems drawn for it has one", DRAWS);
    else if (q->dynamics.met)
        snprintf(hint, sizeof hint, "; orbits.encounters=redraw draws such a system again");
    return ORR_FAIL(rc, "sequence %llu of %s: %s%s", (unsigned long long)index,
                    sim_split_name(m->split), why, hint);
}

int sim_sequence_make(struct sim_sequence *q, const struct orr_settings *settings,
                      enum sim_split split, uint64_t index)
{
    const size_t rows = (size_t)q->positions - 1;
    struct making m = {.q = q,
                       .settings = settings,
                       .s = &q->system,
                       .split = split,
                       .rows = rows,
                       .axes = q->dimensions};
    clear_sequence(q);
    int rc = make_system(&m, index);
    const size_t bodies = (size_t)q->num_bodies;
    if (!rc && split >= SIM_SPLIT_PLANETS_TRAIN)
        rc = set_scale(&m);
    if (rc)
        return rc;
    write_first_row(&m);
    for (int i = 0; i < (int)bodies; i++) {
        if (q->tokens)
            write_tokens(&m, i);
        else
            write_coords(&m, i);
    }
    for (size_t row = 1; row <= rows && q->full_state; row++)
        write_labels(&m, row, (int)((row - 1) % bodies), (row - 1) / bodies);
    if (q->full_state)
        keep_two_labels(&m, index);
    return 0;
}
