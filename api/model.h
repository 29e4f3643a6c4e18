/* model.h - inside api/: a model from a checkpoint. */
#ifndef API_MODEL_H
#define API_MODEL_H

#include "compute.h"
#include "finetune/ft.h"

struct orrery_model {
    struct api_handle handle;
    bool open;
    struct gpt_model model;
    struct orr_safetensors *file; /* for its metadata */
    int threads;
    long step;
};

/* Begins computing with the model; ORR_EMISSING if none is open. */
int api_model_begin(struct orrery_model *m, struct api_compute *compute);
/* A text in the checkpoint's metadata; "" if there is none. */
const char *api_model_says(const struct orrery_model *m, const char *key);

#endif
