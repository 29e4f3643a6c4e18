/* evaluate.h - next-state errors, rollouts, and held-out loss of text. */
#ifndef GPT_EVALUATE_H
#define GPT_EVALUATE_H

#include "model/source.h"

/* Next-state evaluation against persistence and means (docs/probes/evaluate.md), and a rollout
 * from `prefix` rows. Errors are distances in AU (planet runs: in separations at step 0),
 * planets only, averaged over sequences; not a number where no sequence has such a row. */
struct gpt_next_state {
    int sequences;
    double loss, teacher_forced, persistence, sequence_mean;
    int prefix, horizons;
    int horizon[3]; /* in positions */
    double rollout[3], rollout_persistence[3];
    /* of gpt_orbit_upper_bound; not a number where it was not asked or has none */
    double orbit_fit, orbit_fit_half, orbit_fit_late; /* half: of its 95% interval */
    int orbit_fit_sequences;
};
int gpt_evaluate_next_state(struct gpt_model *model, struct gpt_source *source, int sequences,
                            double extent_au, struct gpt_next_state *result);
/* The upper bound of teacher_forced: the same error, over the same result->sequences, of an
 * observer who knows Newton's law, and fits the orbit of the positions so far, at most the first 64
 * (model/evaluate/orbit_fit.h). While these are too few the observer expects what the first 256
 * training sequences are like. Of two bodies under Newton's law, in coordinates. ORR_EINTR: a
 * signal. */
int gpt_orbit_upper_bound(struct gpt_source *source, const struct orr_settings *preset,
                          bool planets, int positions, int late_from,
                          struct gpt_next_state *result);
/* Adds these numbers to a JSON object (docs/formats.md, evaluation.json); null for what is none. */
void gpt_next_state_add(struct cJSON *json, const struct gpt_next_state *result);
/* Held-out loss of a text model: mean cross entropy in nats over the sequences from the first one,
 * context = the model's. `late`: over positions from `late_from` on alone (not a number where there
 * are none). ORR_EINVAL without held-out text. */
struct gpt_text_result {
    int sequences, positions; /* of one sequence: targets */
    double loss, perplexity, bits_per_token;
    int late_from;
    double late_loss;
};
int gpt_evaluate_text(struct gpt_model *model, struct gpt_source *source, int sequences,
                      int late_from, struct gpt_text_result *result);

/* What the head outputs (OC) of a row say of the next one: xy in AU or scaled units; of tokens the
 * most probable bins, in token[2] as well. */
void gpt_next_position(const struct gpt_config *config, double extent_au, const real *out,
                       double xy[2], uint16_t token[2]);
/* Continues each sequence of the batch from `prefix` rows to T rows by its own predictions
 * (tokens: the most probable bin; continuous: the predicted coordinates). rows >= prefix of
 * path (B, T, 2) are written, in AU or scaled units. */
int gpt_rollout(struct gpt_model *model, struct gpt_batch *batch, int prefix, double extent_au,
                real *path);

#endif
