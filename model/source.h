/* source.h - sequences for next-state training: orbits, or text. */
#ifndef GPT_SOURCE_H
#define GPT_SOURCE_H

#include "forward.h"
#include "sim/sim.h"

/* Sequences for next-state training: from files, or streamed from (seed, split, index): training
 * sequences that were not all written, and any split when orbits_dir is NULL. preset and config
 * must live as long as the source.
 *
 * Of a text preset (orbits_dir is not used), P = text.positions, N the tokens of the split:
 * sequence i is the P tokens from i (P - 1), so that every token but the first is a target once;
 * draw number d is the P tokens from a place that is a pure function of (seed, d), any of
 * N - P + 1. The train split ends where the held-out part begins. */
struct gpt_source;
int gpt_source_open(struct gpt_source **source, const struct orr_settings *preset,
                    const char *orbits_dir, enum sim_split split, const struct gpt_config *config);
void gpt_source_close(struct gpt_source *source);
long gpt_source_count(const struct gpt_source *source);
/* Rows 0..T-1 of B sequences as inputs (noise added: Gaussian, noise_au), rows 1..T as
 * targets. Continuous: targets of time step 0 carry weight 0 (they are draws of the prior).
 * first + b is the sequence index when in_order, else the draw number of a random pick. */
int gpt_source_fill(struct gpt_source *source, uint64_t first, bool in_order, double noise_au,
                    uint64_t seed, struct gpt_batch *batch);
/* XXH64 of the whole text of a text preset, what is held out included. Unless quiet, a line on
 * stderr per setting says what its files are read as. */
int gpt_text_content(const struct orr_settings *preset, bool quiet, uint64_t *content);
/* A record that hides a key: "\n", words, "{" key "}", words, "?" key, with the key at a random
 * place; record (length), length at least GPT_PASSKEY_LEAST. The text "passkey:N" consists of such
 * ones; (seed, index > 0) are none of them. */
enum { GPT_PASSKEY_DIGITS = 4, GPT_PASSKEY_LEAST = 2 * GPT_PASSKEY_DIGITS + 5 };
int gpt_passkey(uint64_t seed, uint64_t index, int length, uint8_t *record);
/* Sequence i's rows: tokens (P, 2), of text (P), or coordinates (P, 2); bodies = number of bodies,
 * of text 0. */
int gpt_source_sequence(struct gpt_source *source, uint64_t i, const uint16_t **tokens,
                        const float **coords, int *bodies);

/* The split that final next-state metrics are measured on: the test split, or, where the preset has
 * no test sequences, the validation split, which checkpoints are selected on; of text the held-out
 * part. */
enum sim_split gpt_final_split(const struct orr_settings *preset, bool planets);

#endif
