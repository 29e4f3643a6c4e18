/* source.h - sequences for next-state training: orbits, or text. */
#ifndef GPT_SOURCE_H
#define GPT_SOURCE_H

#include "forward.h"
#include "sim/sim.h"

/* Sequences for next-state training, read from files or generated from (seed, split, index).
 * They are generated where the training sequences were not all written to files, and for any
 * split when orbits_dir is NULL. preset and config must live as long as the source.
 *
 * For a text preset (orbits_dir is not used), with P = text.positions and N tokens in the split:
 * sequence i is the P tokens from i (P - 1), so that every token but the first is a target once;
 * draw number d is the P tokens from one of N - P + 1 positions, a pure function of (seed, d).
 * The train split ends where the held-out part begins. */
struct gpt_source;
int gpt_source_open(struct gpt_source **source, const struct orr_settings *settings,
                    const char *orbits_dir, enum sim_split split, const struct gpt_config *config);
void gpt_source_close(struct gpt_source *source);
/* Whether sequences are those of imported tracks (stage/tracks.h). */
bool gpt_source_is_tracks(const struct gpt_source *source);
long gpt_source_count(const struct gpt_source *source);
/* Fills inputs with rows 0..T-1 of B sequences (Gaussian noise of noise_au added) and targets
 * with rows 1..T. Continuous: targets of time step 0 have weight 0, since they are draws of the
 * prior. first + b is the sequence index when in_order, else the draw number of a random choice. */
int gpt_source_fill(struct gpt_source *source, uint64_t first, bool in_order, double noise_au,
                    uint64_t seed, struct gpt_batch *batch);
/* *content = XXH64 of the whole text of a text preset, held-out part included. Unless quiet,
 * prints a line on stderr for each setting that says how its files are read. */
int gpt_text_content(const struct orr_settings *settings, bool quiet, uint64_t *content);
/* A record that hides a key: "\n", words, "{" key "}", words, "?" key, with the key at a random
 * place; record (length), length at least GPT_PASSKEY_LEAST. The text "passkey:N" consists of
 * such records; records of (seed, index > 0) are not among them. */
enum { GPT_PASSKEY_DIGITS = 4, GPT_PASSKEY_LEAST = 2 * GPT_PASSKEY_DIGITS + 5 };
int gpt_passkey(uint64_t seed, uint64_t index, int length, uint8_t *record);
/* The rows of sequence i: tokens (P, 2), for text (P), or coordinates (P, 2); *bodies = number
 * of bodies, 0 for text. */
int gpt_source_sequence(struct gpt_source *source, uint64_t i, const uint16_t **tokens,
                        const float **coords, int *bodies);

/* The split for final next-state metrics: the test split or, where the preset has no test
 * sequences, the validation split, on which checkpoints are selected; for text, the held-out
 * part. */
enum sim_split gpt_final_split(const struct orr_settings *settings, bool planets);

#endif
