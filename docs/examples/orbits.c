/* orbits.c - 1,000 orbits under a Yukawa law: sequences of the data set, and one orbit by elements.
 *
 *     cc orbits.c -o orbits $(pkg-config --cflags --libs orrery) -lm
 *     ./orbits */
#include <math.h>
#include <orrery.h>
#include <stdio.h>
#include <stdlib.h>

static int fail(const struct orrery_simulation *simulation, int status)
{
    fprintf(stderr, "orbits: %s: %s\n", orrery_status_text(status),
            simulation ? orrery_message(simulation) : "");
    return 1;
}

int main(void)
{
    static const char settings[] = "seed=7\n"
                                   "orbits.protocol=identifiable\n"
                                   "orbits.output=continuous\n"
                                   "orbits.mass_prior=uniform\n"
                                   "orbits.positions=65\n"
                                   "orbits.two_body_train=1000\n"
                                   "orbits.law=yukawa\n"
                                   "orbits.law_lambda_au=20\n";
    struct orrery_simulation *simulation = NULL;
    struct orrery_set set = {.bytes = sizeof set};
    int status = orrery_simulation_create(ORRERY_INTERFACE, &simulation);
    if (!status)
        status = orrery_simulation_set(simulation, settings);
    if (!status)
        status = orrery_simulation_describe(simulation, "two_body_train", &set);
    if (status)
        return fail(simulation, status);

    const size_t n = (size_t)set.sequences, P = set.positions;
    float *force = malloc(n * P * sizeof *force), *xy = malloc(2 * n * P * sizeof *xy);
    const struct orrery_arrays arrays = {
        .bytes = sizeof arrays, .coordinates = xy, .force_magnitude = force};
    if (!force || !xy)
        return 1;
    status = orrery_simulation_sequences(simulation, "two_body_train", 0, n, 2, &arrays);
    if (status)
        return fail(simulation, status);
    size_t labels = 0;
    for (size_t i = 0; i < n * P; i++)
        labels += isfinite(force[i]) != 0;
    printf("%zu sequences of %zu rows, %zu rows with a force\n", n, P, labels);

    /* the Earth, whose orbit no longer closes */
    const struct orrery_elements earth = {.a_au = 1, .e = 0.0167};
    double state[4 * 101], size = 0;
    status = orrery_simulation_orbit(simulation, &earth, 3e-6, 1, 0.05, 101, state);
    if (!status)
        status = orrery_simulation_force(simulation, 3e-6, 1, 1, state + 400, NULL, &size);
    if (status)
        return fail(simulation, status);
    printf("after 5 years at %.4f, %.4f AU; force %.4g solar masses AU / yr^2\n", state[400],
           state[401], size);
    free(force);
    free(xy);
    orrery_simulation_free(simulation);
    return 0;
}
