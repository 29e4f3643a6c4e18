/* labelled.h - sequences of two bodies with known states, masses and forces, for probes that read
 * physics from a model, which is given only positions and the time step. Also Newtonian orbits in
 * closed form, through a state or fitted to positions by an observer who knows the law. */
#ifndef PROBE_LABELLED_H
#define PROBE_LABELLED_H

#include "probe/core/arena.h"
#include "probe/results.h"

#include "model/evaluate/orbit_fit.h"
#include "model/evaluate/orbit_plane.h"

/* Step k (from 0) of a sequence is row 1 + 2 k, the position of body 1, and row 2 + 2 k, the
 * position of body 2. The second row completes the step: it carries the labels of data sets, and
 * predicts the next position of body 1. */
enum { PROBE_BODIES = 2 };

/* n sequences of P rows, equal to those of the preset's files, generated from the seed. */
struct probe_labelled {
    int n, P, steps; /* steps: complete steps, (P - 1) / 2 */
    int axes;        /* coordinates d, 2 or 3 */
    float *coords;   /* (n, P, d) */
    double *state;   /* (n, steps, 2 d + 2) position and velocity of body 1 relative to body 2, m1,
                        m2 */
    double *force;   /* (n, steps, d) on body 1 */
    double *dt_yr;   /* (n) */
    bool newton;     /* orbits are Newtonian, so a fit by Newton's law applies */
    int bodies;      /* PROBE_BODIES; in tracks any number, with step k from row 1 + k bodies on */
    int *track;      /* (n) of tracks: the number of the track that a sequence is a piece of */
};
/* Reads the probe's held-out sequences of imported tracks, at most n of them, those with the most
 * common number of bodies; states and forces are NULL. Notes how many are left out. */
int probe_tracks_read(struct probe_arena *arena, struct probe_labelled *set, struct probe *probe,
                      int n, bool quiet);
/* Generates sequences 0 .. n - 1 of two_body_train or two_body_test, with probe->T + 1 rows
 * each. */
int probe_labelled_make(struct probe_arena *arena, struct probe_labelled *set,
                        const struct probe *probe, enum sim_split split, int n);
const float *probe_labelled_rows(const struct probe_labelled *set, int i);
const double *probe_labelled_state(const struct probe_labelled *set, int i, int step);
const double *probe_labelled_force(const struct probe_labelled *set, int i, int step);

/* Opens the checkpoint for a probe of labelled two-body sequences in coordinates; next: the probe
 * needs predictions of the next position. ORR_EINVAL or ORR_EUSAGE, naming probe, checkpoint and
 * reason, where the checkpoint does not qualify. Call probe_close() after an error, too. */
int probe_open_labelled(struct probe *probe, const struct probe_options *options, const char *name,
                        bool next);
/* Fills the batch with rows 0 .. batch->T - 1 of sequences first .. first + batch->B - 1. */
void probe_labelled_fill(const struct probe_labelled *set, const struct gpt_config *config,
                         int first, struct gpt_batch *batch);

/* --------------------------------------------------------------------------------- orbits */

/* A Newtonian two-body orbit at a given time. */
struct probe_orbit {
    double mu,
        state[SIM_STATE]; /* G (m1 + m2); position and velocity of body 1 relative to body 2 */
    double share;         /* m2 / (m1 + m2) */
    double barycentre[SIM_AXES], dt_yr; /* the barycentre is at rest; time step */
    int axes;                           /* coordinates d, 2 or 3 */
};
/* The orbit of sequence i at `step`. */
struct probe_orbit probe_orbit_true(const struct probe_labelled *set, int i, int step);
/* Advances the orbit by `steps` >= 0; false where that fails. */
bool probe_orbit_advance(struct probe_orbit *orbit, int steps);
/* place (2, d): positions of body 1 and body 2. */
void probe_orbit_places(const struct probe_orbit *orbit, double place[]);
/* Prior knowledge for gpt_orbit_fit(), in the plane of each orbit: means and deviations over the
 * systems of a set. ORR_ENOMEM. */
int probe_orbit_prior(const struct probe_labelled *set, struct gpt_orbit_prior *prior);
/* Fits an orbit to steps 0 .. context - 1 of sequence i, and returns the orbit at step context - 1.
 * In space the fit is made in the plane that the separations span.
 * parameter: the fit; with `start` also a second initial guess. Of the fits from the positions and
 * from that guess, the one closer to the positions is kept, because least squares can end in a
 * local minimum. *there: the fit is an orbit. ORR_ENOMEM. */
int probe_orbit_fit(const struct probe_labelled *set, int i, int context,
                    const struct gpt_orbit_prior *prior, double parameter[GPT_ORBIT_PARAMETERS],
                    bool start, struct probe_orbit *orbit, bool *there);
/* Fills state (2 d + 2), laid out as in full_state, and Newton's force (d) on body 1. */
void probe_orbit_state(const struct probe_orbit *orbit, double state[], double force[]);

#endif
