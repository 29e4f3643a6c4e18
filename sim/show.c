/* show.c - one sequence for the eye: elements and sampling. */
#include "show.h"

#include <math.h>

/* Samples per orbit: below the first, motion is not determined by the samples (Nyquist); below
 * the second, accelerations from differences are rough. */
enum { SAMPLES_LEAST = 2, SAMPLES_GOOD = 40 };

double sim_shown_period_yr(const struct sim_shown *w, int i)
{
    const struct sim_system *s = &w->system;
    return sim_period_yr(s->orbit[i].a_au, s->mass[i] + s->star_mass);
}

bool sim_shown_kepler(const struct sim_shown *w)
{
    return sim_states_closed(&w->sequence.dynamics, &w->system);
}

static void print_table(const struct sim_shown *w)
{
    const struct sim_system *s = &w->system;
    printf("%s %llu of preset %s, seed %llu: %d bodies, %d positions, dt %.6g yr\n",
           sim_split_name(w->split), (unsigned long long)w->index, w->preset->name,
           (unsigned long long)w->preset->seed, s->planets + 1, w->sequence.positions, s->dt_yr);
    printf("%-5s %12s %9s %7s %9s %9s %11s %9s\n", "body", "mass", "a", "e", "omega", "phase",
           "period", "samples");
    printf("%-5s %12s %9s %7s %9s %9s %11s %9s\n", "", "solar", "AU", "", "degrees", "degrees",
           "yr", "per orbit");
    const double degrees = 180 / acos(-1);
    for (int i = 0; i < s->planets; i++) {
        const struct sim_elements *el = &s->orbit[i];
        const double period = sim_shown_period_yr(w, i);
        printf("%-5d %12.4g %9.4f %7.4f %9.2f %9.2f %11.4f %9.1f\n", i + 1, s->mass[i], el->a_au,
               el->e, el->omega_rad * degrees, el->phase_rad * degrees, period, period / s->dt_yr);
    }
    printf("%-5s %12.4g\n", "star", s->star_mass);
    printf("centre of mass %.4f, %.4f AU; the star %s; %ld coordinates clipped\n", s->com_au[0],
           s->com_au[1], s->star_moves ? "moves around it" : "stays there", w->sequence.clipped);
    if (!sim_shown_kepler(w))
        printf("law %s%s%s: elements and periods are those of Newton's law, which sets the start\n",
               w->sequence.dynamics.law->name, w->sequence.dynamics.nbody ? ", nbody" : "",
               w->sequence.dynamics.jump_step ? ", with a jump" : "");
    for (int i = 0; i < s->planets; i++) {
        const double samples = sim_shown_period_yr(w, i) / s->dt_yr;
        if (samples < SAMPLES_LEAST)
            printf("warning: body %d is sampled %.1f times per orbit, below %d (Nyquist): its "
                   "motion can not be told from these samples\n",
                   i + 1, samples, SAMPLES_LEAST);
        else if (samples < SAMPLES_GOOD)
            printf("note: body %d is sampled %.1f times per orbit, below %d: forces by "
                   "differences are rough\n",
                   i + 1, samples, SAMPLES_GOOD);
    }
}

int sim_sequence_show(const struct orr_preset *preset, enum sim_split split, uint64_t index,
                      const char *picture)
{
    struct sim_shown w = {.preset = preset, .split = split, .index = index};
    int rc = picture ? sim_picture_check(picture) : 0;
    if (!rc)
        rc = sim_sequence_create(&w.sequence, preset, split);
    if (rc)
        return rc;
    rc = sim_system_draw(preset, split, index, w.sequence.rng, &w.system);
    w.system.star_moves |= w.sequence.dynamics.nbody;
    if (!rc)
        rc = sim_sequence_make(&w.sequence, preset, split, index);
    if (!rc)
        print_table(&w);
    if (!rc && picture)
        rc = sim_picture_draw(&w, picture);
    sim_sequence_free(&w.sequence);
    return rc;
}
