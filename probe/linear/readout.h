/* readout.h - how well quantities can be read, linearly, out of numbers that belong to the steps of
 * labelled sequences: fitted on some sequences, judged on others. */
#ifndef PROBE_READOUT_H
#define PROBE_READOUT_H

#include "probe/core/bootstrap.h"
#include "probe/orbits/labelled.h"
#include "probe/orbits/quantities.h"
#include "ridge.h"

/* Steps that are read together: of a sequence the one after which `context` complete steps have
 * been seen, or, pooled, some that are spread over it. */
enum { PROBE_POOLED = 8, PROBE_CONTEXTS = 7 };
struct probe_context {
    int context;                   /* 0 = pooled */
    int count, step[PROBE_POOLED]; /* from 0, ascending */
};
/* Contexts of 1, 2, 3, 5, 10 and all of `steps` steps, and at most PROBE_POOLED steps from step
 * `from` on, the last one included, pooled; returns how many there are. */
int probe_contexts(int steps, int from, struct probe_context list[PROBE_CONTEXTS]);

/* The residual stream of a model on the last rows of steps. */
struct probe_stream {
    int n, layers, width; /* layers: L + 1, as gpt_residual numbers them */
    int steps, *place;    /* (steps): where a step is kept, -1 = it is not; `kept` of them are */
    int kept;
    float *x; /* (n, kept, layers, width) */
};
/* Feeds the first T rows of every sequence; steps that any of the contexts has are kept. */
int probe_stream_capture(struct probe_arena *arena, struct probe_stream *stream,
                         struct gpt_model *model, const struct probe_labelled *set, int T,
                         const struct probe_context *contexts, int count);

/* Where features come from: x (features) of a step of a sequence, of the fitted or held-out set. */
struct probe_reader {
    struct probe_arena *arena;
    int features;
    void (*read)(const struct probe_reader *reader, bool held_out, int sequence, int step,
                 double *x);
    const struct probe_labelled *fit, *held_out;
    /* by probe_read_stream */
    const struct probe_stream *stream[2]; /* of the fitted, of the held-out set */
    int layer;
    bool told;  /* and the quantities themselves: the plumbing's own upper bound */
    int window; /* by probe_read_inputs: steps */
};
/* The residual stream at reader->layer (width features; with `told` PROBE_NUMBERS more). */
void probe_read_stream(const struct probe_reader *reader, bool held_out, int sequence, int step,
                       double *x);
/* The model's inputs: ln dt and the positions of the last reader->window steps (1 + 4 window). */
void probe_read_inputs(const struct probe_reader *reader, bool held_out, int sequence, int step,
                       double *x);

struct probe_reading {
    struct probe_estimate r2; /* on the held-out sequences */
    double inner;             /* R^2 on the inner held-out sequences of the fit: to choose by */
    long n;                   /* held-out rows */
};
/* R^2 of every quantity; without resamples no intervals. Elements of orbits are read from rows with
 * bound orbits alone. */
int probe_readout(const struct probe_reader *reader, const struct probe_context *context,
                  const struct probe_resamples *resamples,
                  struct probe_reading reading[PROBE_QUANTITIES]);
/* R^2, at every context, of what an observer makes of the same steps who knows Newton's law: the
 * orbit is fitted to the positions seen (probe_orbit_fit) of the first n held-out sequences. What a
 * fit does not give is guessed to be the mean over the fitted sequences. */
int probe_observer(struct probe_arena *arena, const struct probe_labelled *fit,
                   const struct probe_labelled *held_out, int n,
                   const struct probe_context *contexts, int count, double r2[][PROBE_QUANTITIES]);

#endif
