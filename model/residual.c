/* residual.c - the residual stream between the blocks of a model: probes read it and add to it. */
#include "decode.h"
#include "layers.h"

/* The stream of a layer, in memory of the backend. */
static real *stream_of(const struct gpt_model *model, int layer)
{
    return layer < model->config.layers ? model->act->layer[layer].x : model->act->last;
}

int gpt_residual(struct gpt_model *model, int layer, const real **stream)
{
    struct gpt_activations *act = model->act;
    if (!act || act->sequences < 1)
        return ORR_FAIL(ORR_EINVAL, "residual stream: there was no forward pass");
    if (layer < 0 || layer > model->config.layers)
        return ORR_FAIL(ORR_EINVAL, "residual stream: expected a layer from 0 to %d, found %d",
                        model->config.layers, layer);
    const size_t N = (size_t)act->sequences * (size_t)act->T;
    return gpt_copy_to_host(model->ops, &act->host_residual, stream_of(model, layer),
                            N * (size_t)model->config.width, stream);
}

int gpt_patch_residual(struct gpt_model *model, int layer, int B, int T)
{
    const struct gpt_activation_patch *add = model->patch;
    const size_t C = (size_t)model->config.width;
    if (!add || add->layer != layer)
        return 0;
    if (!model->ops->host)
        return ORR_FAIL(ORR_EUSAGE,
                        "additions to the residual stream are made by the host: %s keeps the "
                        "stream in memory of its own; use --device cpu",
                        model->ops->name);
    const int first = gpt_first_row(model), at = add->row - first;
    if (first > 0 && at != 0) /* decoding row by row: the patch is for another row */
        return 0;
    if (at < 0 || at >= T)
        return ORR_FAIL(ORR_EINVAL,
                        "addition to the residual stream: expected a row from 0 to %d, "
                        "found %d",
                        T - 1, add->row);
    for (size_t b = 0; b < (size_t)B; b++) {
        real *row = stream_of(model, layer) + (b * (size_t)T + (size_t)at) * C;
        for (size_t c = 0; c < C; c++)
            row[c] += add->vector[b * C + c];
    }
    return 0;
}
