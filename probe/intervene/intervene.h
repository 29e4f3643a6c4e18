/* intervene.h - inside probe/: what the measurement of a model by probe intervene and that of
 * answers of another program's model share. */
#ifndef PROBE_INTERVENE_H
#define PROBE_INTERVENE_H

#include "probe/core/session.h"
#include "probe/linear/readout.h"
#include "steer.h"

enum { PROBE_HORIZONS = 2, PROBE_SUBJECTS = 3 };
extern const int probe_horizons[PROBE_HORIZONS]; /* steps */

/* Whose continuation: the model, the baseline, the model changed in random directions. */
enum probe_subject_of { PROBE_OF_MODEL, PROBE_OF_BASELINE, PROBE_OF_RANDOM };
/* Two changes that move the readout: the shortest, and the most likely one that keeps other
 * readouts. */
enum probe_way { PROBE_SHORTEST, PROBE_LIKELIEST, PROBE_WAYS };

struct probe_intervene {
    struct probe_session s;
    struct probe_labelled fit, held_out;
    int prefix, known, T, layers, horizons; /* T: rows of the longest continuation */
    int *width, widest;                     /* (layers) of the stream of each layer */
    struct probe_orbit *orbit;              /* (n) orbits at the last known step */
    double *base;                           /* (n, horizons, d) unchanged continuation */
    int axes, changes; /* coordinates d; changes of such orbits (probe_change_at()) */
    double sd[PROBE_CHANGES];
    /* (PROBE_WAYS, layers, changes, widest) for the current model */
    double *direction;
    double *inner; /* (2, layers, changes) R^2 of the readouts of model and baseline */
    /* (PROBE_SUBJECTS, PROBE_WAYS, layers, changes, horizons, n) */
    struct probe_moved *moved;
    int trial; /* number of the change that comes next, see probe_trials() */
};

/* Opens the probe of v->s.options; prepares sequences and arrays. */
int probe_intervene_open(void *of);
int probe_intervene_prepare(struct probe_intervene *v);
/* Finds the directions of a model; answers: of another program's model. baseline: where R^2 of the
 * readouts goes. */
int probe_intervene_directions(struct probe_intervene *v, struct gpt_model *model,
                               const struct probe_answers *answers, bool baseline);
/* Makes all changes at one layer of a subject; v->base is known. */
int probe_intervene_layer(struct probe_intervene *v, enum probe_subject_of who,
                          const struct probe_subject *subject, int layer);
/* Continues all held-out sequences by a model: struct probe_subject, follow(). */
struct probe_continued {
    struct probe_intervene *v;
    struct gpt_model *model;
};
int probe_intervene_continue(void *of, int layer, const real *vector, double *place);

/* ---- models of other programs (intervene_answers.c, docs/exchange.md)
 *
 * A trial is one vector added to each sequence: none, then t = -3 .. 3 without 0 standard
 * deviations of every change, in every way, along directions and in random ones; and some of them
 * again, by which the order of the answers is checked. */
#define PROBE_INTERVENE_ACTIVATIONS   "activations_intervene_layer%d.npy"
#define PROBE_INTERVENE_ADDITIONS     "additions_layer%d.npy"     /* (trials, n, width) */
#define PROBE_INTERVENE_CONTINUATIONS "continuations_layer%d.npy" /* (trials, n, d horizons) */
size_t probe_trials(const struct probe_intervene *v);
/* How many layers have a file <kind>_layer<l>.npy; ORR_EMISSING: none. */
int probe_intervene_layers(const struct probe_answers *answers, const char *kind, int *layers);
/* Measures answers, or their untrained twin. */
int probe_intervene_answered(struct probe_intervene *v, const struct probe_answers *answers,
                             bool twin);
/* Writes the vectors that are to be added to the activations of answers into their folder. */
int probe_intervene_additions(const struct probe_options *options);

#endif
