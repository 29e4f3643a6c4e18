/* recall.h - results of costly steps, which the short search before the main one (solve/noise.c)
 * leaves to it: both begin with the same steps on the same table. A step is a function of its key
 * alone, so that a result recalled is the result computed. */
#ifndef SR_RECALL_H
#define SR_RECALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symreg/value/value.h"

struct sr_recall;
/* Two checksums (XXH64) of all that a step depends on, of which two steps have the same by chance
 * once in 10^38. Begin with {0}. */
struct sr_recall_key {
    uint64_t sum[2];
    bool closed; /* the step is neither recalled nor kept */
};
void sr_recall_key_add(struct sr_recall_key *key, const void *data, size_t bytes);
/* Begins a key with a step's name and the rows of a table; `closed` without an open store. */
struct sr_recall_key sr_recall_key_table(const struct sr_recall *recall, const char *step,
                                         const struct sr_data *data);

/* NULL: out of memory; steps are then computed. */
struct sr_recall *sr_recall_create(void);
void sr_recall_free(struct sr_recall *recall);
/* Nothing more is kept. */
void sr_recall_close(struct sr_recall *recall);
/* Whether steps may be recalled or kept; false for NULL. */
bool sr_recall_is_open(const struct sr_recall *recall);

/* Copies the result of a step, of at most `most` bytes; returns how many, 0 where the step is not
 * known. Any thread may call this and sr_recall_keep(). */
size_t sr_recall_find(struct sr_recall *recall, const struct sr_recall_key *key, void *result,
                      size_t most);
/* Keeps a result of more than 0 bytes, unless the store is closed or memory is short. */
void sr_recall_keep(struct sr_recall *recall, const struct sr_recall_key *key, const void *result,
                    size_t bytes);

#endif
