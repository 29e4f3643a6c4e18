/* adaptation.h - inside probe/: linear readouts of the force before and after fine-tuning, outside
 * the range of the labels. Used by adaptation.c; readouts are in adaptation_read.c. */
#ifndef PROBE_ADAPTATION_H
#define PROBE_ADAPTATION_H

#include "extrapolate.h"

/* Quantities read at a labelled row: ln F (F in solar masses AU / yr^2), and 1/r^2 in AU^-2. */
enum { PROBE_LOG_F, PROBE_INVERSE_SQUARE, PROBE_READ };
struct probe_read {
    /* (rows) predictions for the held-out rows; NULL where there is no readout */
    double *of[PROBE_READ];
    int layer[PROBE_READ]; /* layer of the residual stream; -1: none */
};
int probe_read_create(struct probe_arena *arena, struct probe_read *read, size_t rows);

/* Fits ridge readouts of the model's residual stream to the rows `fit`, and predicts the held-out
 * rows. Each quantity uses the layer that reads it best on the inner held-out sequences of the fit
 * (probe_ridge_fit()). told, unless NULL: the same readouts with the truth among the features, as
 * an upper bound. */
int probe_read_model(struct probe_arena *arena, struct gpt_model *model,
                     const struct probe_held_out *fit, const struct probe_held_out *held_out,
                     struct probe_read *read, struct probe_read *told);
/* Fits readouts of the model's inputs: ln dt and the last positions, as many as precede every
 * row. */
int probe_read_places(struct probe_arena *arena, const struct probe_held_out *fit,
                      const struct probe_held_out *held_out, struct probe_read *read);

/* Agreement of predictions found (rows) with the truth of a quantity over the rows with keep true;
 * sequences count weight[s] times, NULL: once. R^2 about the truth's mean; Pearson's correlation.
 * NaN where nothing varies. */
struct probe_agreement {
    double r2, rho;
};
struct probe_agreement probe_agree(const struct probe_held_out *held_out, const bool *keep,
                                   int quantity, const double *found, const double *weight);

#endif
