/* fuzz_simulation.c - any settings, orbit and states for a simulation: numbers, or an error; never
 * more.
 *
 * An input: numbers of an orbit, of states, of sequences; then lines of settings. */
#include <math.h>
#include <string.h>

#include "api/orrery.h"
#include "fuzz.h"

enum { MOST = 20 };

/* Settings that make an orbit of years, and sequences, out of minutes. */
static bool is_long(const char *settings)
{
    return strstr(settings, "positions") || strstr(settings, "planets.") || strlen(settings) > 4000;
}

static void make_sequences(struct orrery_simulation *s, struct fuzz_bytes *from)
{
    static const char *const names[] = {"train", "two_body_val", "planets_train", "planets_solar"};
    const char *name = names[fuzz_byte(from) % 4];
    struct orrery_set set = {.bytes = sizeof set};
    const uint64_t first = (uint64_t)fuzz_int(from);
    const size_t count = fuzz_byte(from) % 3;
    if (orrery_simulation_describe(s, name, &set) || set.positions > 4096)
        return;
    const size_t n = count * set.positions + 1;
    struct orrery_arrays a = {.bytes = sizeof a};
    a.tokens = set.tokens ? malloc(2 * n * sizeof *a.tokens) : NULL;
    a.coordinates = malloc(2 * n * sizeof *a.coordinates);
    a.force_magnitude = fuzz_byte(from) & 1 ? malloc(n * sizeof *a.force_magnitude) : NULL;
    FUZZ_CALL(s, orrery_simulation_sequences(s, name, first, count, 1, &a));
    free(a.tokens);
    free(a.coordinates);
    free(a.force_magnitude);
}

static void make_orbit(struct orrery_simulation *s, struct fuzz_bytes *from)
{
    const struct orrery_elements elements = {fuzz_number(from), fuzz_number(from),
                                             fuzz_number(from), fuzz_number(from),
                                             fuzz_byte(from) & 1};
    const double m1 = fuzz_number(from), m2 = fuzz_number(from), dt_yr = fuzz_number(from);
    const size_t n = fuzz_byte(from) % MOST;
    double *state = malloc((4 * n + 1) * sizeof *state), force[2 * MOST], magnitude[MOST];
    FUZZ_EXPECT(state);
    const int status = orrery_simulation_orbit(s, &elements, m1, m2, dt_yr, n, state);
    FUZZ_EXPECT(!status == !*orrery_message(s));
    for (size_t i = 0; !status && i < 4 * n; i++)
        FUZZ_EXPECT(isfinite(state[i]));
    for (size_t i = 0; i < 4 * n; i++)
        state[i] = fuzz_number(from);
    FUZZ_CALL(s, orrery_simulation_force(s, m1, m2, n, state, force, magnitude));
    free(state);
}

FUZZ_TARGET(simulation)
{
    struct fuzz_bytes from = {bytes, size};
    struct orrery_simulation *s = NULL;
    FUZZ_EXPECT(orrery_simulation_create(ORRERY_INTERFACE, &s) == 0);
    char *settings = fuzz_text(&from);
    FUZZ_CALL(s, orrery_simulation_set(s, settings));
    make_orbit(s, &from);
    if (!is_long(settings))
        make_sequences(s, &from);
    free(settings);
    orrery_simulation_free(s);
    return 0;
}
