/* labelled.h - sequences of two bodies whose states, masses and forces are known, for probes that
 * read physics out of a model: the model sees positions and the time step only. And the closed-form
 * orbit through such a state, or fitted to positions as an observer who knows Newton's law does. */
#ifndef PROBE_LABELLED_H
#define PROBE_LABELLED_H

#include "probe/core/arena.h"
#include "probe/results.h"

#include "model/evaluate/orbit_fit.h"

/* Step k (from 0) of a sequence is row 1 + 2 k, where body 1 is, and row 2 + 2 k, where body 2 is:
 * the row on which the step is complete, labels of data sets stand, and the next position of body 1
 * is predicted. */
enum { PROBE_BODIES = 2 };

/* n sequences of P rows. They are those of the preset's files, made on the fly. */
struct probe_labelled {
    int n, P, steps; /* steps = (P - 1) / 2, complete ones */
    float *coords;   /* (n, P, 2) */
    double *state;   /* (n, steps, 6): x, y, vx, vy of body 1 from body 2, m1, m2 */
    double *force;   /* (n, steps, 2) on body 1 */
    double *dt_yr;   /* (n) */
    bool newton;     /* orbits are closed-form Newtonian ones: a fit by Newton's law applies */
};
/* Sequences 0 .. n - 1 of two_body_train or two_body_test, as long as probe->T + 1 rows. */
int probe_labelled_make(struct probe_arena *arena, struct probe_labelled *set,
                        const struct probe *probe, enum sim_split split, int n);
const float *probe_labelled_rows(const struct probe_labelled *set, int i);
const double *probe_labelled_state(const struct probe_labelled *set, int i, int step);
const double *probe_labelled_force(const struct probe_labelled *set, int i, int step);

/* Opens the checkpoint for a probe that feeds labelled sequences of two bodies in coordinates;
 * next: which needs predictions of the next position. ORR_EINVAL or ORR_EUSAGE, naming probe,
 * checkpoint and reason, where this one cannot be asked. probe_close() it also after an error. */
int probe_open_labelled(struct probe *probe, const struct probe_options *options, const char *name,
                        bool next);
/* Rows 0 .. batch->T - 1 of sequences first .. first + batch->B - 1. */
void probe_labelled_fill(const struct probe_labelled *set, const struct gpt_config *config,
                         int first, struct gpt_batch *batch);

/* --------------------------------------------------------------------------------- orbits */

/* A Newtonian orbit of two bodies from a moment on. */
struct probe_orbit {
    double mu, state[4];         /* G (m1 + m2); x, y, vx, vy of body 1 from body 2 */
    double share;                /* m2 / (m1 + m2) */
    double barycentre[2], dt_yr; /* at rest; the time of a step */
};
/* The orbit of sequence i from `step` on. */
struct probe_orbit probe_orbit_true(const struct probe_labelled *set, int i, int step);
/* The orbit `steps` >= 0 later; false where it cannot be followed. */
bool probe_orbit_advance(struct probe_orbit *orbit, int steps);
/* place (2, 2): of body 1 and body 2. */
void probe_orbit_places(const struct probe_orbit *orbit, double place[4]);
/* What gpt_orbit_fit may know before: means and deviations over the systems of a set.
 * ORR_ENOMEM. */
int probe_orbit_prior(const struct probe_labelled *set, struct gpt_orbit_prior *prior);
/* Fits steps 0 .. context - 1 of sequence i and gives the orbit at step context - 1. parameter: the
 * fit; with `start` also where another one may begin, beside what the positions suggest: the one
 * that is nearer to the positions counts, because least squares can end in a wrong valley. *there:
 * the fit is an orbit. ORR_ENOMEM. */
int probe_orbit_fit(const struct probe_labelled *set, int i, int context,
                    const struct gpt_orbit_prior *prior, double parameter[GPT_ORBIT_PARAMETERS],
                    bool start, struct probe_orbit *orbit, bool *there);
/* Masses of an orbit -> state (6) as in full_state, and Newton's force on body 1. */
void probe_orbit_state(const struct probe_orbit *orbit, double state[6], double force[2]);

#endif
