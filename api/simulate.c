/* simulate.c - the part "simulate": sequences into the caller's arrays, orbits, forces. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/sim.h"
#include "simulation.h"

#include <omp.h>

int orrery_simulation_create(int interface_, struct orrery_simulation **simulation)
{
    struct api_call call;
    TRY(api_create(interface_, sizeof **simulation, simulation));
    TRY(api_enter(&(*simulation)->handle, &call)); /* settings use numbers of the locale "C" */
    orr_settings_defaults(&(*simulation)->settings);
    return api_leave(&call, 0);
}

void orrery_simulation_free(struct orrery_simulation *simulation)
{
    free(simulation);
}

/* ------------------------------------------------------------------------------ settings */

static int set_key(void *settings, const char *key, const char *value)
{
    TRY(orr_settings_set_by(settings, "settings", key, value)); /* reports the nearest key */
    return orr_settings_in_groups(key, "seed,orbits,planets")
               ? 0
               : ORR_FAIL(ORR_EUSAGE,
                          "settings: expected seed, orbits.* or planets.*, found \"%s\"", key);
}

static int set_all(struct orrery_simulation *s, const char *text, struct orr_settings *changed)
{
    struct sim_dynamics dynamics;
    if (!text)
        return ORR_FAIL(ORR_EINVAL, "settings: expected a text, found NULL");
    *changed = s->settings;
    TRY(api_read_lines("settings", text, set_key, changed));
    TRY(orr_settings_check(changed));
    TRY(orr_settings_check_laws(changed, "settings"));
    TRY(sim_dynamics_create(&dynamics, changed)); /* compiles a law that is an expression */
    sim_dynamics_free(&dynamics);
    s->settings = *changed;
    return 0;
}

int orrery_simulation_set(struct orrery_simulation *s, const char *settings)
{
    struct api_call call;
    TRY(api_enter(s ? &s->handle : NULL, &call));
    struct orr_settings *changed = orr_alloc(1, sizeof *changed);
    const int rc = changed ? set_all(s, settings, changed) : ORR_ENOMEM;
    free(changed);
    return api_leave(&call, rc);
}

/* ----------------------------------------------------------------------------- sequences */

static int find_set(const char *name, enum sim_split *split)
{
    struct orr_nearest nearest;
    char meant[128];
    if (sim_split_find(name ? name : "", split, &nearest))
        return 0;
    orr_nearest_text(&nearest, meant);
    return ORR_FAIL(ORR_EUSAGE,
                    "unknown data set \"%.100s\"%s; expected train, val, test, two_body_train, "
                    "..., planets_solar, ...",
                    name ? name : "", meant);
}

static int describe_set(const struct orrery_simulation *s, const char *name, struct orrery_set *set)
{
    enum sim_split split;
    TRY(api_filled("set", sizeof *set, set));
    TRY(find_set(name, &split));
    *set = (struct orrery_set){.bytes = sizeof *set,
                               .sequences = sim_split_count(&s->settings, split),
                               .positions = (size_t)sim_split_positions(&s->settings, split),
                               .tokens = s->settings.orbits.output == ORR_OUTPUT_TOKENS,
                               .labelled = sim_split_labelled(split)};
    return 0;
}

int orrery_simulation_describe(struct orrery_simulation *s, const char *name,
                               struct orrery_set *set)
{
    API_RETURN(s, describe_set(s, name, set));
}

/* Copies to row `of` of the caller's array, if both arrays exist. */
static void copy_row(void *to, const void *from, size_t of, size_t bytes)
{
    if (to && from)
        memcpy((char *)to + of * bytes, from, bytes);
}

static void put_sequence(const struct orrery_arrays *a, size_t i, const struct sim_sequence *q)
{
    const size_t P = (size_t)q->positions, axes = (size_t)q->dimensions;
    const size_t full = (size_t)sim_full_columns(q->dimensions);
    const size_t state = (size_t)sim_state_columns(q->dimensions);
    const uint8_t bodies = (uint8_t)q->num_bodies;
    copy_row(a->tokens, q->tokens, i, 2 * P * sizeof *q->tokens);
    copy_row(a->coordinates, q->coords, i, axes * P * sizeof *q->coords);
    copy_row(a->bodies, &bodies, i, sizeof bodies);
    copy_row(a->full_state, q->full_state, i, full * P * sizeof *q->full_state);
    copy_row(a->state, q->state, i, state * P * sizeof *q->state);
    copy_row(a->force_magnitude, q->force_magnitude, i, P * sizeof *q->force_magnitude);
    copy_row(a->force, q->force_vector, i, axes * P * sizeof *q->force_vector);
    copy_row(a->scale, &q->scale, i, sizeof q->scale);
}

static int check_arrays(const struct orrery_simulation *s, const char *name, enum sim_split split,
                        uint64_t first, size_t count, const struct orrery_arrays *a)
{
    const bool tokens = s->settings.orbits.output == ORR_OUTPUT_TOKENS;
    const bool labelled = sim_split_labelled(split);
    const uint64_t all = sim_split_count(&s->settings, split);
    if (first > all || count > all - first)
        return ORR_FAIL(ORR_EINVAL, "%s: has %llu sequences, asked for %zu from number %llu on",
                        name, (unsigned long long)all, count, (unsigned long long)first);
    const char *foreign = tokens && a->coordinates ? "coordinates"
                          : !tokens && a->tokens   ? "tokens"
                          : labelled               ? NULL
                          : a->full_state          ? "full_state"
                          : a->state               ? "state"
                          : a->force_magnitude     ? "force_magnitude"
                          : a->force               ? "force"
                                                   : NULL;
    return foreign ? ORR_FAIL(ORR_EINVAL, "%s: the set has no %s; expected NULL", name, foreign)
                   : 0;
}

/* Makes all sequences, divided among threads that each have their own memory. Returns the first
 * error. */
static int fill_arrays(const struct orr_settings *settings, enum sim_split split, uint64_t first,
                       size_t count, int threads, const struct orrery_arrays *arrays)
{
    pthread_mutex_t first_error = PTHREAD_MUTEX_INITIALIZER;
    char message[4096] = "";
    int failed = 0;
#pragma omp parallel num_threads(threads) copyin(orr_stop_of_call)
    {
        struct sim_sequence q;
        int rc = sim_sequence_create(&q, settings, split);
        const bool made = !rc;
#pragma omp for schedule(dynamic, 16)
        for (size_t i = 0; i < count; i++) {
            if (!rc)
                rc = sim_sequence_make(&q, settings, split, first + i);
            if (!rc)
                put_sequence(arrays, i, &q);
        }
        if (made)
            sim_sequence_free(&q);
        pthread_mutex_lock(&first_error);
        if (rc && !failed) {
            failed = rc;
            snprintf(message, sizeof message, "%s", orr_error());
        }
        pthread_mutex_unlock(&first_error);
    }
    return failed ? ORR_FAIL(failed, "%s", message) : 0;
}

static int make_sequences(const struct orrery_simulation *s, const char *name, uint64_t first,
                          size_t count, int threads, const struct orrery_arrays *given)
{
    struct orrery_arrays arrays;
    enum sim_split split;
    int team;
    TRY(api_take("arrays", &arrays, sizeof arrays, sizeof arrays, given));
    TRY(find_set(name, &split));
    TRY(api_threads(threads, &team));
    TRY(check_arrays(s, name, split, first, count, &arrays));
    return fill_arrays(&s->settings, split, first, count, team, &arrays);
}

int orrery_simulation_sequences(struct orrery_simulation *s, const char *name, uint64_t first,
                                size_t count, int threads, const struct orrery_arrays *arrays)
{
    API_RETURN(s, make_sequences(s, name, first, count, threads, arrays));
}

/* ------------------------------------------------------------------------------ one orbit */

static int check_masses(double m1, double m2)
{
    return m1 > 0 && m2 > 0 && isfinite(m1) && isfinite(m2)
               ? 0
               : ORR_FAIL(ORR_EINVAL, "masses: expected numbers above 0, found %g and %g", m1, m2);
}

/* plane: inclination and node; NULL: the settings say how many dimensions there are. */
static int follow_orbit(const struct orrery_simulation *s, const struct orrery_elements *el,
                        const double plane[2], double m1, double m2, double dt_yr, size_t n,
                        double *state)
{
    struct sim_dynamics dynamics;
    if (!el || (n && !state))
        return ORR_FAIL(ORR_EINVAL, "%s: expected a pointer, found NULL",
                        el ? "state" : "elements");
    TRY(check_masses(m1, m2));
    if (!(dt_yr > 0) || !isfinite(dt_yr))
        return ORR_FAIL(ORR_EINVAL, "dt_yr: expected a number above 0, found %g", dt_yr);
    if (!(el->a_au > 0) || !isfinite(el->a_au) || !(el->e >= 0 && el->e < 1) ||
        !isfinite(el->omega_rad) || !isfinite(el->phase_rad))
        return ORR_FAIL(ORR_EINVAL,
                        "elements: expected a_au above 0, e from 0 and below 1, finite angles, "
                        "found a_au %g, e %g, omega_rad %g, phase_rad %g",
                        el->a_au, el->e, el->omega_rad, el->phase_rad);
    if (plane && (!isfinite(plane[0]) || !isfinite(plane[1])))
        return ORR_FAIL(ORR_EINVAL,
                        "plane: expected finite angles, found inclination_rad %g, node_rad %g",
                        plane[0], plane[1]);
    const struct sim_system system = {.planets = 1,
                                      .star_mass = m2,
                                      .mass = {m1},
                                      .orbit = {{.a_au = el->a_au,
                                                 .e = el->e,
                                                 .omega_rad = el->omega_rad,
                                                 .phase_rad = el->phase_rad,
                                                 .clockwise = el->clockwise != 0,
                                                 .in_space = plane != NULL,
                                                 .inclination_rad = plane ? plane[0] : 0,
                                                 .node_rad = plane ? plane[1] : 0}},
                                      .dt_yr = dt_yr};
    if (!n)
        return 0;
    TRY(sim_dynamics_create(&dynamics, &s->settings));
    dynamics.in_space |= plane != NULL;
    const int rc = sim_states(&dynamics, &system, n, state);
    sim_dynamics_free(&dynamics);
    return rc;
}

int orrery_simulation_orbit(struct orrery_simulation *s, const struct orrery_elements *elements,
                            double m1, double m2, double dt_yr, size_t n, double *state)
{
    API_RETURN(s, follow_orbit(s, elements, NULL, m1, m2, dt_yr, n, state));
}

int orrery_simulation_orbit_in_space(struct orrery_simulation *s,
                                     const struct orrery_elements *elements, double inclination_rad,
                                     double node_rad, double m1, double m2, double dt_yr, size_t n,
                                     double *state)
{
    const double plane[2] = {inclination_rad, node_rad};
    API_RETURN(s, follow_orbit(s, elements, plane, m1, m2, dt_yr, n, state));
}

static int follow_bodies(const struct orrery_simulation *s, int bodies, const double *mass,
                         const double *start, double dt_yr, size_t n, double *states)
{
    struct sim_dynamics dynamics;
    const int width = 2 * s->settings.orbits.dimensions;
    if (!mass || !start || (n && !states))
        return ORR_FAIL(ORR_EINVAL, "%s: expected a pointer, found NULL",
                        !mass    ? "mass"
                        : !start ? "start"
                                 : "states");
    if (bodies < 2 || bodies > SIM_PLANETS + 1)
        return ORR_FAIL(ORR_EINVAL, "bodies: expected 2 to %d, found %d", SIM_PLANETS + 1, bodies);
    if (!(dt_yr > 0) || !isfinite(dt_yr))
        return ORR_FAIL(ORR_EINVAL, "dt_yr: expected a number above 0, found %g", dt_yr);
    for (int i = 0; i < bodies; i++) {
        if (!(mass[i] > 0) || !isfinite(mass[i]))
            return ORR_FAIL(ORR_EINVAL, "mass: number %d: expected a number above 0, found %g", i,
                            mass[i]);
        for (int c = 0; c < width; c++)
            if (!isfinite(start[width * i + c]))
                return ORR_FAIL(ORR_EINVAL, "start: number %d of row %d: expected a finite number",
                                c, i);
    }
    if (!n)
        return 0;
    TRY(sim_dynamics_create(&dynamics, &s->settings));
    const int rc = sim_integrate_given(&dynamics, bodies, mass, start, dt_yr, n, states);
    sim_dynamics_free(&dynamics);
    return rc;
}

int orrery_simulation_bodies(struct orrery_simulation *s, int bodies, const double *mass,
                             const double *start, double dt_yr, size_t n, double *states)
{
    API_RETURN(s, follow_bodies(s, bodies, mass, start, dt_yr, n, states));
}

static int compute_forces(const struct orrery_simulation *s, double m1, double m2, size_t n,
                          const double *state, double *force, double *magnitude)
{
    struct sim_dynamics dynamics;
    TRY(check_masses(m1, m2));
    if (n && !state)
        return ORR_FAIL(ORR_EINVAL, "state: expected a pointer, found NULL");
    const size_t axes = (size_t)s->settings.orbits.dimensions, width = 2 * axes;
    for (size_t i = 0; i < width * n; i++)
        if (!isfinite(state[i]))
            return ORR_FAIL(ORR_EINVAL, "state: number %zu of row %zu: expected a finite number",
                            i % width, i / width);
    TRY(sim_dynamics_create(&dynamics, &s->settings));
    for (size_t i = 0; i < n; i++) {
        double all[SIM_AXES];
        const double size = sim_law_force(&dynamics, 0, m1, m2, state + width * i, all);
        if (magnitude)
            magnitude[i] = size;
        if (force)
            memcpy(force + axes * i, all, axes * sizeof *all);
    }
    sim_dynamics_free(&dynamics);
    return 0;
}

int orrery_simulation_force(struct orrery_simulation *s, double m1, double m2, size_t n,
                            const double *state, double *force, double *magnitude)
{
    API_RETURN(s, compute_forces(s, m1, m2, n, state, force, magnitude));
}
