/* config.h - the shape of a model, from a preset or a checkpoint. */
#ifndef GPT_CONFIG_H
#define GPT_CONFIG_H

#include "base/base.h"
#include "kernels/kernels.h"
#include "stage/settings.h"

/* numbers are part of the checkpoint format */
enum gpt_input {
    GPT_INPUT_TOKENS,
    GPT_INPUT_CONTINUOUS, /* coordinates in the plane */
    GPT_INPUT_TEXT,
    GPT_INPUT_SPACE, /* coordinates in three dimensions */
};
enum gpt_head { GPT_HEAD_TOKENS, GPT_HEAD_REGRESSION, GPT_HEAD_TEXT };

struct gpt_config {
    int layers, heads, width, ffn;
    int context; /* largest T */
    enum gpt_input input;
    int vocab;   /* tokens: V per channel; text: V */
    int fourier; /* continuous: bands */
    double fourier_min_au;
    enum gpt_head head;
    int outputs;   /* OC: 2 V for tokens, V for text */
    int tied;      /* text head: 1 = the weights of the embedding */
    int head_bias; /* 1: a token head with bias, as in the study's own models; or 0 */
    /* standard deviation of random weights in blocks, 0 = 0.02; used only at initialisation, and
     * stored so that the untrained baseline is initialised alike */
    double init_std;
    double huber; /* regression head: delta of its pseudo-Huber loss, 0 = squared error */
    double rope_base;
    char attention[ORR_NAME];
    double power;
    int attention_window;
    enum k_gate gate;
    enum orr_positions positions;
    /* 0, or 1: the backward pass recomputes each block from its input, which alone is kept. It
     * does not change results and is not part of checkpoints */
    int recompute;
};
/* Configurations are compared as bytes, so there must be no padding between members. */
_Static_assert(sizeof(struct gpt_config) == 16 * sizeof(int) + 5 * sizeof(double) + ORR_NAME,
               "padding in struct gpt_config");

/* The model of a preset for sequences of `positions` rows (context = positions - 1), with the
 * next-state head that belongs to its input. ffn = ffn_mult width, minus width / 2 with an
 * output gate (the published 3.5 instead of 4), which keeps the number of weights. Unknown
 * attention: ORR_EUSAGE. Text: opens the first file to find its kind, bytes or tokens. */
int gpt_config_from_preset(struct gpt_config *config, const struct orr_settings *settings,
                           const char *attention, int positions);
/* Whether the input is coordinates. */
static inline bool gpt_is_continuous(const struct gpt_config *config)
{
    return config->input == GPT_INPUT_CONTINUOUS || config->input == GPT_INPUT_SPACE;
}
/* Coordinates d of a position: 3 in space, else 2. */
enum { GPT_AXES = 3 }; /* at most */
static inline int gpt_config_axes(const struct gpt_config *config)
{
    return config->input == GPT_INPUT_SPACE ? 3 : 2;
}
/* Features per row of a continuous input: d + 1 + 2 d fourier. */
int gpt_config_features(const struct gpt_config *config);
/* Numbers per row of an input: d coordinates, 2 tokens of bins, 1 token of text. */
int gpt_config_channels(const struct gpt_config *config);

/* Checks settings of a model: ORR_EUSAGE naming the invalid setting and its value. */
int gpt_config_check(const struct gpt_config *config);
/* Fails with ORR_EUSAGE and the names of all variants. */
int gpt_config_unknown_attention(const char *attention);

#endif
