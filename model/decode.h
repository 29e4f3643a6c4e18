/* decode.h - outputs row after row, keeping keys and values of earlier rows; inside model/ only. */
#ifndef GPT_DECODE_H
#define GPT_DECODE_H

#include "forward.h"

/* q, k and v of the rows so far, for passes over one more row of every sequence. */
struct gpt_cache {
    int B, T;   /* sequences, rows that there is room for */
    int row;    /* that is being made; 0: all of them are */
    real **qkv; /* (layers) of (B, T, 3C), bf16 where the model is */
    real *y,
        *row_stats; /* attention of all rows, of which one is asked for; NULL while all are made */
};
/* Outputs of a batch row after row; whoever decodes fills in the next row between two calls. */
struct gpt_decoder {
    struct gpt_model *model;
    const struct gpt_batch *batch;
    struct gpt_cache cache;
    struct gpt_activations *whole; /* of the pass over all rows; model->act is of one row */
    struct gpt_batch row;
    bool owns; /* the caches' memory, because layers share theirs (recompute) */
};
/* A pass over the batch, whose last rows may not be known yet. Until gpt_decoder_close(), which
 * also follows an error of the other calls, the model does nothing else. */
int gpt_decoder_open(struct gpt_decoder *decoder, struct gpt_model *model,
                     const struct gpt_batch *batch);
/* *out = outputs (B, OC) of row t of that pass, for the host, until the next call. */
int gpt_decoder_first(struct gpt_decoder *decoder, int t, const real **out);
/* The same of a row t > 0 that was filled in since: of every row in turn. */
int gpt_decoder_next(struct gpt_decoder *decoder, int t, const real **out);
void gpt_decoder_close(struct gpt_decoder *decoder);
/* Attention of a layer in a pass with a cache, which takes its rows. */
int gpt_cache_attend(struct gpt_model *model, int layer);
/* Which row of the sequences the first one of the pass is. */
int gpt_first_row(const struct gpt_model *model);

#endif
