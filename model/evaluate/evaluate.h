/* evaluate.h - next-state errors, rollouts, and held-out loss of text. */
#ifndef GPT_EVALUATE_H
#define GPT_EVALUATE_H

#include "model/source.h"

/* Next-state evaluation against persistence and means (docs/probes/evaluate.md), and a rollout
 * from `prefix` rows. Errors are distances in AU (planet runs: in separations at step 0),
 * planets only, averaged over sequences; NaN where no sequence has such a row. Of imported tracks:
 * of all bodies, in the unit of the data. */
#define GPT_TRACKS_UNIT "unit of the data"
struct gpt_next_state {
    int sequences;
    double loss, teacher_forced, persistence, sequence_mean;
    int prefix, horizons;
    int horizon[3]; /* in positions */
    double rollout[3], rollout_persistence[3];
    /* of gpt_orbit_upper_bound; NaN where it was not computed */
    double orbit_fit, orbit_fit_half, orbit_fit_late; /* orbit_fit_half: half of its 95% interval */
    int orbit_fit_sequences;
};
int gpt_evaluate_next_state(struct gpt_model *model, struct gpt_source *source, int sequences,
                            double extent_au, struct gpt_next_state *result);
/* Fills in prefix and horizons of rollouts of sequences of T rows. */
void gpt_next_state_plan(struct gpt_next_state *result, int T, bool two_bodies);
/* The same of predictions that were made elsewhere, in coordinates, except for the loss, which is
 * NaN. config: that of the data, with T as its context. next (sequences, T, d): at row t the
 * position predicted for row t + 1; path (sequences, T, d): the rollout in rows from result->prefix
 * on. */
int gpt_evaluate_predictions(const struct gpt_config *config, struct gpt_source *source,
                             int sequences, const double *next, const real *path,
                             struct gpt_next_state *result);
/* The upper bound for teacher_forced: the error, over result->sequences sequences, of an
 * observer who knows Newton's law and fits an orbit to the positions so far, at most the first
 * 64 (model/evaluate/orbit_fit.h). The prior of the fit, which matters while positions are few,
 * comes from the first 256 training sequences. Only for two bodies under Newton's law, in
 * coordinates of the plane. ORR_EINTR after a signal. */
int gpt_orbit_upper_bound(struct gpt_source *source, const struct orr_settings *settings,
                          bool planets, int positions, int late_from,
                          struct gpt_next_state *result);
/* Adds these numbers to a JSON object (docs/formats.md, evaluation.json); NaN becomes null. */
void gpt_next_state_add(struct cJSON *json, const struct gpt_next_state *result);
/* Held-out loss of a text model: mean cross entropy in nats over the first `sequences`
 * sequences, with the model's context. late_loss is the mean over positions from `late_from` on
 * (NaN where there are none). ORR_EINVAL without held-out text. */
struct gpt_text_result {
    int sequences, positions; /* targets in one sequence */
    double loss, perplexity, bits_per_token;
    int late_from;
    double late_loss;
};
int gpt_evaluate_text(struct gpt_model *model, struct gpt_source *source, int sequences,
                      int late_from, struct gpt_text_result *result);

/* The next position that the head outputs (OC) of a row predict: xy (d) in AU or scaled units. For
 * tokens these are the most probable bins, also returned in token[2]. */
void gpt_next_position(const struct gpt_config *config, double extent_au, const real *out,
                       double xy[], uint16_t token[2]);
/* Continues each sequence of the batch from `prefix` rows to T rows by autoregressive rollout
 * (tokens: the most probable bin; continuous: the predicted coordinates). rows >= prefix of path
 * (B, T, d) are written, in AU or scaled units. */
int gpt_rollout(struct gpt_model *model, struct gpt_batch *batch, int prefix, double extent_au,
                real *path);

#endif
