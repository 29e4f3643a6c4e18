/* block.c - blocks of sequences, made in place, so that nothing is copied between making and
 * writing. */
#include "sim/data/dataset.h"

#include <stdlib.h>
#include <string.h>

int sim_block_create(struct sim_block *block, const struct orr_settings *settings,
                     enum sim_split split, int capacity)
{
    const bool tokens = settings->orbits.output == ORR_OUTPUT_TOKENS;
    memset(block, 0, sizeof *block);
    block->tally = orr_alloc((size_t)capacity, sizeof *block->tally);
    if (!block->tally)
        return ORR_ENOMEM;
    for (int kind = 0; kind < SIM_KINDS; kind++) {
        if (!sim_kind_used((enum sim_kind)kind, split, tokens))
            continue;
        block->row[kind] = sim_kind_bytes((enum sim_kind)kind, sim_split_positions(settings, split),
                                          settings->orbits.dimensions);
        block->rows[kind] = orr_alloc((size_t)capacity, block->row[kind]);
        if (!block->rows[kind]) {
            sim_block_free(block);
            return ORR_ENOMEM;
        }
    }
    return 0;
}

void sim_block_free(struct sim_block *block)
{
    for (int kind = 0; kind < SIM_KINDS; kind++)
        free(block->rows[kind]);
    free(block->tally);
    memset(block, 0, sizeof *block);
}

static void *entry_rows(const struct sim_block *block, enum sim_kind kind, int k)
{
    return block->rows[kind] ? block->rows[kind] + (size_t)k * block->row[kind] : NULL;
}

/* Points a sequence's arrays at other arrays, its own or those of a block. */
static void point_arrays(struct sim_sequence *q, uint16_t *tokens, float *coords,
                         float *const labels[4])
{
    q->tokens = tokens;
    q->coords = coords;
    q->full_state = labels[0];
    q->state = labels[1];
    q->force_magnitude = labels[2];
    q->force_vector = labels[3];
}

int sim_block_make(struct sim_block *block, int k, struct sim_sequence *q,
                   const struct orr_settings *settings, enum sim_split split, uint64_t index)
{
    const struct sim_sequence own = *q;
    float *const kept[4] = {own.full_state, own.state, own.force_magnitude, own.force_vector};
    float *const labels[4] = {entry_rows(block, SIM_KIND_FULL_STATE, k),
                              entry_rows(block, SIM_KIND_STATE, k),
                              entry_rows(block, SIM_KIND_FORCE_MAGNITUDE, k),
                              entry_rows(block, SIM_KIND_FORCE_VECTOR, k)};
    point_arrays(q, entry_rows(block, SIM_KIND_OBS, k), entry_rows(block, SIM_KIND_COORDS, k),
                 labels);
    const int rc = sim_sequence_make(q, settings, split, index);
    point_arrays(q, own.tokens, own.coords, kept);
    if (rc)
        return rc;
    block->tally[k] = (struct sim_tally){q->clipped, q->redrawn};
    block->rows[SIM_KIND_NUM_BODIES][k] = (unsigned char)q->num_bodies;
    if (block->rows[SIM_KIND_SCALE])
        memcpy(entry_rows(block, SIM_KIND_SCALE, k), &q->scale, sizeof q->scale);
    return 0;
}

void sim_failure_keep(struct sim_failure *failure, int rc)
{
    failure->rc = rc;
    snprintf(failure->message, sizeof failure->message, "%s", orr_error());
}

int sim_failure_raise(const struct sim_failure *failure)
{
    return failure->rc ? ORR_FAIL(failure->rc, "%s", failure->message) : 0;
}
