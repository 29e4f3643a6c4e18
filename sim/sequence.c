/* sequence.c - one sequence: from a drawn system to rows of tokens or coordinates, states and
 * forces. */
#include "sim.h"

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

int sim_sequence_create(struct sim_sequence *q, const struct orr_preset *preset,
                        enum sim_split split)
{
    memset(q, 0, sizeof *q);
    q->positions = sim_split_positions(preset, split);
    const size_t P = (size_t)q->positions;
    bool ok = true;
    if (preset->orbits.output == ORR_OUTPUT_TOKENS)
        ok &= (q->tokens = orr_alloc(P * 2, sizeof *q->tokens)) != NULL;
    else
        ok &= (q->coords = orr_alloc(P * 2, sizeof *q->coords)) != NULL;
    if (sim_split_labelled(split)) {
        ok &= (q->full_state = orr_alloc(P * 6, sizeof *q->full_state)) != NULL;
        ok &= (q->state = orr_alloc(P * 5, sizeof *q->state)) != NULL;
        ok &= (q->force_magnitude = orr_alloc(P, sizeof *q->force_magnitude)) != NULL;
        ok &= (q->force_vector = orr_alloc(P * 2, sizeof *q->force_vector)) != NULL;
    }
    /* states of all planets at every step, and the solver's room */
    ok &= (q->work = orr_alloc(P * (4 * SIM_PLANETS + 1), sizeof *q->work)) != NULL;
    ok &= (q->rng = gsl_rng_alloc(orr_rng_philox)) != NULL;
    const int rc = ok ? sim_dynamics_create(&q->dynamics, preset) : 0;
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
    const struct orr_preset *preset;
    const struct sim_system *s;
    enum sim_split split;
    size_t steps;
};

/* Relative state of planet i at step k: (x, y, vx, vy). */
static const double *relative(const struct making *m, int i, size_t k)
{
    return m->q->work + 4 * ((size_t)i * m->steps + k);
}

/* Place of a body (i == planets: the star) at step k. */
static void place(const struct making *m, int i, size_t k, double xy[2])
{
    const struct sim_system *s = m->s;
    const bool star = i == s->planets;
    for (int c = 0; c < 2; c++) {
        xy[c] = s->com_au[c];
        if (!s->star_moves) {
            xy[c] += star ? 0 : relative(m, i, k)[c];
            continue;
        }
        if (s->planets > 1) { /* nbody: around the barycentre of all */
            double moment = 0, total = s->star_mass;
            for (int j = 0; j < s->planets; j++) {
                moment += s->mass[j] * relative(m, j, k)[c];
                total += s->mass[j];
            }
            xy[c] += (star ? 0 : relative(m, i, k)[c]) - moment / total;
            continue;
        }
        const double total = s->mass[0] + s->star_mass, r = relative(m, 0, k)[c];
        xy[c] += star ? -r * s->mass[0] / total : r * s->star_mass / total;
    }
}

static void write_position(const struct making *m, size_t row, const double xy[2])
{
    struct sim_sequence *q = m->q;
    const struct orr_orbits_preset *o = &m->preset->orbits;
    for (size_t c = 0; c < 2; c++) {
        if (q->tokens)
            q->tokens[2 * row + c] = sim_bin(xy[c], o->bins, o->extent_au, &q->clipped);
        else
            q->coords[2 * row + c] = (float)(xy[c] / (double)q->scale);
    }
}

/* State and force of planet i at step k, on `row`. */
static void write_state(const struct making *m, size_t row, int i, size_t k)
{
    struct sim_sequence *q = m->q;
    const struct orr_orbits_preset *o = &m->preset->orbits;
    const double *r = relative(m, i, k), m1 = m->s->mass[i], m2 = m->s->star_mass;
    double x = r[0], y = r[1], vx = r[2], vy = r[3];
    const double distance = hypot(x, y);
    if (o->compat_velocity_sign) { /* radial part reversed */
        const double radial = (x * vx + y * vy) / (distance * distance);
        vx -= 2 * radial * x;
        vy -= 2 * radial * y;
    }
    if (o->compat_relative_state && m->s->star_moves) { /* from the star's first place */
        double planet[2], star[2];
        place(m, i, k, planet);
        place(m, m->s->planets, 0, star);
        x = planet[0] - star[0];
        y = planet[1] - star[1];
    }
    const float full[6] = {(float)x, (float)y, (float)vx, (float)vy, (float)m1, (float)m2};
    const float state[5] = {(float)x, (float)y, (float)vx, (float)vy, (float)(m1 / m2)};
    memcpy(q->full_state + 6 * row, full, sizeof full);
    memcpy(q->state + 5 * row, state, sizeof state);
}

static void write_force(const struct making *m, size_t row, int i, size_t k)
{
    double force[2];
    const double F =
        sim_law_force(&m->q->dynamics, k, m->s->mass[i], m->s->star_mass, relative(m, i, k), force);
    m->q->force_magnitude[row] = (float)F;
    m->q->force_vector[2 * row] = (float)force[0]; /* on the planet */
    m->q->force_vector[2 * row + 1] = (float)force[1];
}

/* Tokens: states and labels on planet rows, sun rows keep m2. Coordinates: on the last body's
 * row, where both bodies of the step have been seen. */
static void write_labels(const struct making *m, size_t row, int body, size_t k)
{
    struct sim_sequence *q = m->q;
    if (q->tokens) {
        if (body == m->s->planets) {
            q->full_state[6 * row + 5] = (float)m->s->star_mass;
            return;
        }
        write_state(m, row, body, k);
        write_force(m, row, body, k);
        return;
    }
    if (body != m->s->planets)
        return;
    write_state(m, row, 0, k);
    if (k >= (size_t)m->preset->orbits.label_from_step)
        write_force(m, row, 0, k);
}

/* The study's last tenth of the force training set keeps two labels per sequence. */
static void keep_two_labels(const struct making *m, uint64_t index)
{
    struct sim_sequence *q = m->q;
    const uint64_t n = sim_split_count(m->preset, m->split);
    if (!q->tokens || m->split != SIM_SPLIT_TWO_BODY_TRAIN || index < n - n / 10)
        return;
    size_t *rows = (size_t *)(void *)q->work, count = 0, keep[2]; /* the solver is done with it */
    for (size_t t = 0; t < (size_t)q->positions; t++)
        if (isfinite(q->force_magnitude[t]))
            rows[count++] = t;
    orr_rng_seek(q->rng, m->preset->seed, ORR_STAGE_LABELS, (1ull << 40) + index);
    gsl_ran_choose(q->rng, keep, count < 2 ? count : 2, rows, count, sizeof *rows);
    for (size_t t = 0; t < (size_t)q->positions; t++) {
        if (count >= 2 && t != keep[0] && t != keep[1]) {
            q->force_magnitude[t] = INFINITY;
            q->force_vector[2 * t] = q->force_vector[2 * t + 1] = INFINITY;
        }
    }
}

static void clear(struct sim_sequence *q)
{
    const size_t P = (size_t)q->positions;
    q->clipped = 0;
    q->scale = 1;
    if (!q->full_state)
        return;
    memset(q->full_state, 0, P * 6 * sizeof *q->full_state);
    memset(q->state, 0, P * 5 * sizeof *q->state);
    for (size_t t = 0; t < P; t++)
        q->force_magnitude[t] = q->force_vector[2 * t] = q->force_vector[2 * t + 1] = INFINITY;
}

int sim_sequence_make(struct sim_sequence *q, const struct orr_preset *preset, enum sim_split split,
                      uint64_t index)
{
    struct sim_system system;
    int rc = sim_system_draw(preset, split, index, q->rng, &system);
    if (rc)
        return rc;
    const size_t rows = (size_t)q->positions - 1, bodies = (size_t)system.planets + 1;
    struct making m = {q, preset, &system, split, (rows + bodies - 1) / bodies};
    clear(q);
    q->num_bodies = (int)bodies;
    double *room = q->work + 4 * (size_t)q->positions * SIM_PLANETS;
    system.star_moves |= q->dynamics.nbody;
    rc = sim_states(&q->dynamics, &system, m.steps, q->work, room);
    if (rc) {
        char why[512];
        snprintf(why, sizeof why, "%.500s", orr_error());
        return ORR_FAIL(rc, "sequence %llu of %s: %s", (unsigned long long)index,
                        sim_split_name(split), why);
    }
    if (split >= SIM_SPLIT_PLANETS_TRAIN)
        q->scale = (float)hypot(q->work[0], q->work[1]); /* the separation at step 0 */
    for (size_t c = 0; c < 2; c++) {
        if (q->tokens)
            q->tokens[c] = (uint16_t)(preset->orbits.bins + system.dt_token);
        else
            q->coords[c] = c == 0 ? (float)log(system.dt_yr) : 0;
    }
    for (size_t row = 1; row <= rows; row++) {
        const size_t k = (row - 1) / bodies;
        const int body = (int)((row - 1) % bodies);
        double xy[2];
        place(&m, body, k, xy);
        write_position(&m, row, xy);
        if (q->full_state)
            write_labels(&m, row, body, k);
    }
    if (q->full_state)
        keep_two_labels(&m, index);
    return 0;
}
