/* decode.h - computes outputs row by row and keeps keys and values of earlier rows; inside
 * model/ only. */
#ifndef GPT_DECODE_H
#define GPT_DECODE_H

#include "forward.h"

/* q, k and v of earlier rows, for passes over one more row of every sequence. */
struct gpt_cache {
    int B, T;            /* sequences, capacity in rows */
    int row;             /* the row that is being computed; 0: all rows are */
    real **qkv;          /* (layers) of (B, T, 3C), bf16 where the model is */
    real *y, *row_stats; /* attention of all rows, of which one is used; NULL for passes over all */
};
/* Outputs of a batch row by row; the caller fills in the next row between two calls. */
struct gpt_decoder {
    struct gpt_model *model;
    const struct gpt_batch *batch;
    struct gpt_cache cache;
    /* activations of the pass over all rows; model->act is for one row */
    struct gpt_activations *whole;
    struct gpt_batch row;
    bool owns; /* the caches own their memory, because layers share theirs (recompute) */
};
/* Runs a pass over the batch, whose last rows may not be known yet. Until gpt_decoder_close(),
 * which must also follow an error of the other calls, the model must not be used otherwise. */
int gpt_decoder_open(struct gpt_decoder *decoder, struct gpt_model *model,
                     const struct gpt_batch *batch);
/* *out = outputs (B, OC) of row t of that pass, on the host, valid until the next call. */
int gpt_decoder_first(struct gpt_decoder *decoder, int t, const real **out);
/* *out = outputs of row t > 0, which was filled in since; call it for every row in turn. */
int gpt_decoder_next(struct gpt_decoder *decoder, int t, const real **out);
void gpt_decoder_close(struct gpt_decoder *decoder);
/* Computes the attention of a layer in a pass with a cache, and adds the pass's rows to the
 * cache. */
int gpt_cache_attend(struct gpt_model *model, int layer);
/* The row of the sequences at which the pass begins. */
int gpt_first_row(const struct gpt_model *model);

#endif
