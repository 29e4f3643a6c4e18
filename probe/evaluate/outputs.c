/* outputs.c - writes a model's inputs and outputs, for comparison with external implementations. */
#include "probe/core/arena.h"
#include "probe/probe.h"

#include <string.h>

enum { SEQUENCES = 8 };

struct rows {
    real *to;
    size_t outputs;
};

static int keep_rows(void *context, size_t first, size_t rows, const real *out)
{
    const struct rows *r = context;
    memcpy(r->to + first * r->outputs, out, rows * r->outputs * sizeof *out);
    return 0;
}

/* Runs sequence i and stores its inputs and outputs as row b of both arrays. */
static int run_sequence(struct probe *probe, struct gpt_batch *batch, int b, unsigned char *inputs,
                        size_t row_bytes, real *outputs)
{
    const size_t T = (size_t)probe->T, OC = (size_t)probe->model.config.outputs;
    const uint16_t *tokens;
    const float *coords;
    int bodies, rc = gpt_source_sequence(probe->data, (uint64_t)b, &tokens, &coords, &bodies);
    if (rc)
        return rc;
    memcpy(inputs + (size_t)b * T * row_bytes, tokens ? (const void *)tokens : (const void *)coords,
           T * row_bytes);
    rc = probe_fill(probe, (uint64_t)b, batch);
    struct rows rows = {.to = outputs + (size_t)b * T * OC, .outputs = OC};
    return rc ? rc : gpt_forward_pieces(&probe->model, batch, keep_rows, &rows, NULL);
}

static int write_arrays(const struct probe *probe, const struct probe_options *options,
                        const unsigned char *inputs, const real *outputs)
{
    const bool tokens = probe->model.config.input == GPT_INPUT_TOKENS;
    const bool text = probe->model.config.input == GPT_INPUT_TEXT;
    const size_t n = (size_t)probe->sequences, T = (size_t)probe->T;
    const size_t in_shape[] = {n, T, 2}, out_shape[] = {n, T, (size_t)probe->model.config.outputs};
    char folder[4096], path[4096];
    int lock;
    TRY(probe_folder(probe, options, folder));
    TRY(orr_mkdir(folder));
    TRY(probe_lock(folder, &lock));
    int rc = orr_path(path, "%s/inputs.npy", folder);
    if (!rc)
        rc = orr_npy_write(path, tokens || text ? ORR_U16 : ORR_F32, text ? 2 : 3, in_shape, inputs,
                           NULL);
    rc = rc ? rc : orr_path(path, "%s/outputs.npy", folder);
    if (!rc)
        rc =
            orr_npy_write(path, sizeof(real) == 8 ? ORR_F64 : ORR_F32, 3, out_shape, outputs, NULL);
    orr_unlock(lock);
    if (!rc)
        orr_note(options->quiet, "outputs: %s/inputs.npy, %s/outputs.npy (%zu sequences, %zu rows)",
                 folder, folder, n, T);
    return rc;
}

static int run_all(struct probe *probe, const struct probe_options *options,
                   struct probe_arena *arena, struct gpt_batch *batch)
{
    const struct gpt_config *c = &probe->model.config;
    const size_t rows = (size_t)probe->sequences * (size_t)probe->T;
    const size_t row_bytes =
        (size_t)gpt_config_channels(c) * (gpt_is_continuous(c) ? sizeof(float) : sizeof(uint16_t));
    unsigned char *inputs = probe_take(arena, rows, row_bytes);
    real *outputs = probe_take(arena, rows * (size_t)c->outputs, sizeof *outputs);
    TRY(arena->failed);
    TRY(gpt_batch_create(batch, c, 1, probe->T));
    for (int b = 0; b < probe->sequences; b++)
        TRY(run_sequence(probe, batch, b, inputs, row_bytes, outputs));
    return write_arrays(probe, options, inputs, outputs);
}

int probe_outputs(const struct probe_options *options)
{
    struct probe probe;
    struct probe_arena arena = {0};
    struct gpt_batch batch = {0};
    int rc = probe_open(&probe, options, true, options->sequences ? options->sequences : SEQUENCES);
    rc = rc ? rc : run_all(&probe, options, &arena, &batch);
    probe_rewind(&arena, 0);
    gpt_batch_free(&batch);
    probe_close(&probe);
    return rc;
}
