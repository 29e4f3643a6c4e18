/* adaptation.h - inside probe/: what a line reads about the force in a model before and after it
 * is fine-tuned to forces, where no label was. Used by adaptation.c; readouts in
 * adaptation_read.c. */
#ifndef PROBE_ADAPTATION_H
#define PROBE_ADAPTATION_H

#include "extrapolate.h"

/* What is read of a labelled row: ln F, F in solar masses AU / yr^2, and 1/r^2, AU^-2. */
enum { PROBE_LOG_F, PROBE_INVERSE_SQUARE, PROBE_READ };
struct probe_read {
    double *of[PROBE_READ]; /* (rows) of the held-out rows; NULL where nothing reads it */
    int layer[PROBE_READ];  /* of the residual stream, -1 = of none */
};
int probe_read_create(struct probe_arena *arena, struct probe_read *read, size_t rows);

/* Ridge readouts of the model's residual stream, fitted to the rows `fit`, at the held-out rows;
 * each quantity of the layer that reads it best on the inner held-out sequences of the fit
 * (probe_ridge_fit). told, unless NULL: the same with the truth among the features, for the upper
 * bound. */
int probe_read_model(struct probe_arena *arena, struct gpt_model *model,
                     const struct probe_held_out *fit, const struct probe_held_out *held_out,
                     struct probe_read *read, struct probe_read *told);
/* The same of the model's inputs: ln dt and the last positions, as many as every row has before it.
 * */
int probe_read_places(struct probe_arena *arena, const struct probe_held_out *fit,
                      const struct probe_held_out *held_out, struct probe_read *read);

/* Agreement of found (rows) with the truth of a quantity over the rows that are kept; sequences
 * count weight[s] times, NULL = once. R^2 about the truth's mean; Pearson's correlation. NaN
 * without any spread. */
struct probe_agreement {
    double r2, rho;
};
struct probe_agreement probe_agree(const struct probe_held_out *held_out, const bool *keep,
                                   int quantity, const double *found, const double *weight);

#endif
