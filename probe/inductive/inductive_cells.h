/* inductive_cells.h - inside probe/: what fine-tuned models predicted so far, a cell for each arm
 * and white-noise data set; kept in a file that grows, so that an interrupted probe goes on. */
#ifndef PROBE_INDUCTIVE_CELLS_H
#define PROBE_INDUCTIVE_CELLS_H

#include "probe/results.h"

enum { PROBE_MODELS = 2 }; /* the probed one, the floor */
extern const char *const probe_inductive_arm[PROBE_MODELS];

/* A cell's numbers are all NaN where its fine-tuning diverged. */
struct probe_guess {
    int arm, set;
    float *value; /* (numbers) */
};
struct probe_guesses {
    char path[4096], key[PROBE_KEY];
    size_t numbers; /* of a cell */
    struct probe_guess *cell;
    int count, room;
};
/* Cells of <folder>/inductive_cells.safetensors where resume is set and the file is of this key,
 * else none. */
int probe_guesses_open(struct probe_guesses *guesses, const char *folder, const char key[PROBE_KEY],
                       size_t numbers, bool resume);
void probe_guesses_free(struct probe_guesses *guesses);
/* value (numbers) of a cell, NULL where it was not measured yet. */
const float *probe_guesses_find(const struct probe_guesses *guesses, int arm, int set);
/* Copies a cell's value (numbers) and writes the file, whole or not at all. */
int probe_guesses_add(struct probe_guesses *guesses, int arm, int set, const float *value);

#endif
