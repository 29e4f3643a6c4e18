/* model.h - shared inside model/ only. */
#ifndef GPT_MODEL_H
#define GPT_MODEL_H

#include "gpt.h"

/* Passes an error on to the caller. */
#define TRY(call)                                                                                  \
    do {                                                                                           \
        int try_rc = (call);                                                                       \
        if (try_rc)                                                                                \
            return try_rc;                                                                         \
    } while (0)

/* Everything a backward pass needs from one layer. N = B T rows. */
struct gpt_layer_activations {
    real *x;                   /* (N, C) input of the block */
    real *ln1, *mean1, *rstd1; /* (N, C), (N), (N) */
    real *qkv;                 /* (N, 3C), rotated when positions are rope */
    real *saved;               /* attention statistics */
    real *y;                   /* (N, C) attention output */
    real *gate, *gated;        /* (N, C) ln1 W_g^T, y * act(gate); with a gate only */
    real *mid;                 /* (N, C) x after attention */
    real *ln2, *mean2, *rstd2;
    real *pre, *up; /* (N, F) before and after GELU */
};

struct gpt_activations {
    int B, T;      /* capacity is for B T rows of T positions */
    int sequences; /* B of the last forward pass */
    struct orr_arena *arena;
    struct gpt_layer_activations *layer; /* (layers) */
    real *embed;                         /* (N, 2C), tokens only */
    real *last;                          /* (N, C) after the last block */
    real *ln, *mean, *rstd;              /* final norm */
    real *out;                           /* (N, OC), only where outputs are asked for */
    real *dout;                          /* (N, OC), regression only */
    real *dx, *dy, *dwide;               /* (N, C), (N, C), (N, max(3C, F, 2C)) */
    real *dgate;                         /* (N, C), with a gate only */
};

/* Settings that cannot be a model: ORR_EUSAGE naming the setting and what was found. */
int gpt_config_check(const struct gpt_config *config);
/* Fails with ORR_EUSAGE and the names of all variants. */
int gpt_config_unknown_attention(const char *attention);
/* Makes room for B x T; keeps what fits. */
int gpt_activations_reserve(struct gpt_model *model, int B, int T);
/* Makes act->out, after gpt_activations_reserve. */
int gpt_activations_reserve_out(struct gpt_model *model);
void gpt_activations_free(struct gpt_activations *act);
struct k_attention_shape gpt_attention_shape(const struct gpt_model *model, int B, int T);

#endif
