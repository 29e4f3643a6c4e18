/* readout.h - how well quantities can be read linearly from features of the steps of labelled
 * sequences; readouts are fitted on some sequences and evaluated on others. */
#ifndef PROBE_READOUT_H
#define PROBE_READOUT_H

#include "probe/core/answers.h"
#include "probe/core/bootstrap.h"
#include "probe/orbits/labelled.h"
#include "probe/orbits/quantities.h"
#include "ridge.h"

/* Steps that are read together: the step of each sequence after which `context` complete steps have
 * been seen, or several steps spread over the sequence (pooled). */
enum { PROBE_POOLED = 8, PROBE_CONTEXTS = 7 };
struct probe_context {
    int context;                   /* 0: pooled */
    int count, step[PROBE_POOLED]; /* from 0, ascending */
};
/* Lists the contexts: 1, 2, 3, 5, 10 and all of `steps` steps, and a pooled context of at most
 * PROBE_POOLED steps from step `from` to the last. Returns how many there are. */
int probe_contexts(int steps, int from, struct probe_context list[PROBE_CONTEXTS]);
/* Sequences that readouts are fitted on, --sequences or 4000, and a quarter as many that they are
 * tested on. */
int probe_readout_sequences(const struct probe_options *options, int *held_out);

/* The residual stream of a model at the last row of each stored step. */
struct probe_stream {
    int n, layers, width; /* layers: L + 1, as gpt_residual numbers them */
    int steps, *place; /* (steps) index of a stored step, -1: not stored; `kept` steps are stored */
    int kept;
    float *x; /* (n, kept, layers, width) */
};
/* Feeds the first T rows of every sequence, and stores the steps that occur in a context. */
int probe_stream_capture(struct probe_arena *arena, struct probe_stream *stream,
                         struct gpt_model *model, const struct probe_labelled *set, int T,
                         const struct probe_context *contexts, int count);

/* The steps that occur in a context: place (steps) = index among them, -1: none. Returns how many
 * there are. */
int probe_stream_places(int steps, const struct probe_context *contexts, int count, int *place);
/* The stream of one layer, 0, from answers: activations_<split>_layer<l>.npy, whose width it has.
 * prefix: rows of a repeated sequence that are those of the sequence that it repeats. */
int probe_stream_answered(struct probe_arena *arena, struct probe_stream *stream,
                          const struct probe_answers *answers, const char *split, int layer,
                          const struct probe_labelled *set, int T, int prefix,
                          const struct probe_context *contexts, int count);

/* Where features come from: a function that fills x (features) for a step of a sequence of the
 * fitting or the held-out set. */
struct probe_reader {
    struct probe_arena *arena;
    int features;
    void (*read)(const struct probe_reader *reader, bool held_out, int sequence, int step,
                 double *x);
    const struct probe_labelled *fit, *held_out;
    /* used by probe_read_stream() */
    const struct probe_stream *stream[2]; /* of the fitting set and of the held-out set */
    int layer;
    bool told;  /* appends the quantities themselves, to check the implementation */
    int window; /* steps read by probe_read_inputs() */
};
/* The residual stream at reader->layer (width features; with `told` probe_numbers() more). */
void probe_read_stream(const struct probe_reader *reader, bool held_out, int sequence, int step,
                       double *x);
/* The model's inputs: ln dt and the positions of the last reader->window steps (1 + 2 d window
 * features). */
void probe_read_inputs(const struct probe_reader *reader, bool held_out, int sequence, int step,
                       double *x);

struct probe_reading {
    struct probe_estimate r2; /* on the held-out sequences */
    double inner; /* R^2 on the inner held-out sequences of the fit, used for choosing layers */
    long n;       /* held-out rows */
};
/* R^2 of every quantity; without resamples there are no intervals. Orbital elements use only rows
 * with bound orbits. */
int probe_readout(const struct probe_reader *reader, const struct probe_context *context,
                  const struct probe_resamples *resamples,
                  struct probe_reading reading[PROBE_QUANTITIES]);
/* R^2, at every context, of an observer who knows Newton's law: it fits an orbit to the observed
 * positions (probe_orbit_fit()) of the first n held-out sequences. Where the fit gives no value,
 * the mean over the fitting sequences is used. */
int probe_observer(struct probe_arena *arena, const struct probe_labelled *fit,
                   const struct probe_labelled *held_out, int n,
                   const struct probe_context *contexts, int count, double r2[][PROBE_QUANTITIES]);

#endif
