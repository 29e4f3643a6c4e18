/* model.h - inside api/: a model from a checkpoint. */
#ifndef API_MODEL_H
#define API_MODEL_H

#include "compute.h"
#include "finetune/ft.h"

struct orrery_model {
    struct api_handle handle;
    bool open;
    struct gpt_model model;
    struct orr_safetensors *file; /* of which the metadata are read */
    int threads;
    long step;
};

/* Around what a call computes with a model: ORR_EMISSING where none is open. */
int api_model_begin(struct orrery_model *m, struct api_compute *compute);
/* The checkpoint's text of a key, "" where it has none. */
const char *api_model_says(const struct orrery_model *m, const char *key);

#endif
