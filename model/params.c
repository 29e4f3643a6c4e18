/* params.c - the parameter table: names, shapes, memory, initialisation.
 * Initialisation is nanoGPT's: N(0, 0.02) (in blocks init_std), residual projections over
 * sqrt(2 layers), biases 0, norms 1; the input map of coordinates and regression heads use
 * 1/sqrt(fan-in). */
#include "activations.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_randist.h>

enum { ALIGN_REALS = 16 };

static int add_parameter(struct gpt_model *model, const char *name, size_t rows, size_t cols,
                         double std, bool decay)
{
    struct gpt_parameter *p = &model->table[model->parameters];
    snprintf(p->name, sizeof p->name, "%s", name);
    p->ndim = cols ? 2 : 1;
    p->shape[0] = rows;
    p->shape[1] = cols ? cols : 1;
    p->count = p->shape[0] * p->shape[1];
    p->offset = model->total;
    p->init_std = std;
    p->decay = decay;
    p->stream = model->parameters ? p[-1].stream + 1 : 0;
    p->second = p->offset;
    model->total += (p->count + ALIGN_REALS - 1) / ALIGN_REALS * ALIGN_REALS;
    model->count += p->count;
    model->seconds = model->total;
    return model->parameters++;
}

static int add_in_block(struct gpt_model *model, int layer, const char *name, size_t rows,
                        size_t cols, double std)
{
    char full[GPT_NAME];
    snprintf(full, sizeof full, "block.%d.%s", layer, name);
    const int index = add_parameter(model, full, rows, cols, std, cols > 0);
    model->table[index].matrices = cols > 0;
    return index;
}

/* Adds a gate, which is zero at the start: it draws no random numbers, and every other weight
 * equals that of a model without a gate. */
static int add_gate(struct gpt_model *model, int layer)
{
    const size_t C = (size_t)model->config.width;
    if (model->config.gate == K_GATE_NONE)
        return -1;
    const int index = add_in_block(model, layer, "attention.gate.weight", C, C, 0);
    model->table[index].stream--;
    model->table[index].matrices = 0;
    return index;
}

static void add_block(struct gpt_model *model, int layer)
{
    const size_t C = (size_t)model->config.width, F = (size_t)model->config.ffn;
    const double std = model->config.init_std > 0 ? model->config.init_std : 0.02;
    const double residual = std / sqrt(2.0 * model->config.layers);
    model->block[layer] = (struct gpt_block){
        .ln1_w = add_in_block(model, layer, "ln1.weight", C, 0, -1),
        .ln1_b = add_in_block(model, layer, "ln1.bias", C, 0, 0),
        .qkv_w = add_in_block(model, layer, "attention.qkv.weight", 3 * C, C, std),
        .qkv_b = add_in_block(model, layer, "attention.qkv.bias", 3 * C, 0, 0),
        .gate_w = add_gate(model, layer),
        .proj_w = add_in_block(model, layer, "attention.proj.weight", C, C, residual),
        .proj_b = add_in_block(model, layer, "attention.proj.bias", C, 0, 0),
        .ln2_w = add_in_block(model, layer, "ln2.weight", C, 0, -1),
        .ln2_b = add_in_block(model, layer, "ln2.bias", C, 0, 0),
        .up_w = add_in_block(model, layer, "ffn.up.weight", F, C, std),
        .up_b = add_in_block(model, layer, "ffn.up.bias", F, 0, 0),
        .down_w = add_in_block(model, layer, "ffn.down.weight", C, F, residual),
        .down_b = add_in_block(model, layer, "ffn.down.bias", C, 0, 0),
    };
    model->table[model->block[layer].qkv_w].matrices = 3; /* queries, keys and values */
}

static void add_input(struct gpt_model *model)
{
    const struct gpt_config *c = &model->config;
    const size_t C = (size_t)c->width, V = (size_t)c->vocab;
    if (c->input == GPT_INPUT_TEXT) {
        model->embed_w = add_parameter(model, "embed.weight", V, C, 0.02, true);
    } else if (c->input == GPT_INPUT_TOKENS) {
        model->embed_x = add_parameter(model, "embed.x.weight", V, C, 0.02, true);
        model->embed_y = add_parameter(model, "embed.y.weight", V, C, 0.02, true);
        model->combine_w = add_parameter(model, "embed.combine.weight", C, 2 * C, 0.02, true);
        model->combine_b = add_parameter(model, "embed.combine.bias", C, 0, 0, false);
    } else {
        const size_t F = (size_t)gpt_config_features(c);
        model->embed_w = add_parameter(model, "embed.weight", C, F, 1 / sqrt((double)F), true);
        model->embed_b = add_parameter(model, "embed.bias", C, 0, 0, false);
    }
}

/* Adds the head. A tied head is another name for the embedding, where the gradients of both are
 * added. */
static void add_head(struct gpt_model *model)
{
    const struct gpt_config *c = &model->config;
    const size_t C = (size_t)c->width, OC = (size_t)c->outputs;
    const bool regression = c->head == GPT_HEAD_REGRESSION;
    const double std = regression ? 1 / sqrt((double)C) : 0.02;
    model->head_w =
        c->tied ? model->embed_w : add_parameter(model, "head.weight", OC, C, std, true);
    if (regression || c->head_bias)
        model->head_b = add_parameter(model, "head.bias", OC, 0, 0, false);
}

static int build_table(struct gpt_model *model)
{
    const struct gpt_config *c = &model->config;
    const size_t C = (size_t)c->width;
    model->table = calloc((size_t)c->layers * 13 + 16, sizeof *model->table);
    model->block = calloc((size_t)c->layers, sizeof *model->block);
    if (!model->table || !model->block)
        return ORR_FAIL(ORR_ENOMEM, "parameter table of %d layers: out of memory", c->layers);
    model->embed_x = model->embed_y = model->combine_w = model->combine_b = -1;
    model->embed_w = model->embed_b = model->position = model->head_b = -1;
    add_input(model);
    if (c->positions == ORR_POSITIONS_LEARNED)
        model->position =
            add_parameter(model, "position.weight", (size_t)c->context, C, 0.02, true);
    for (int l = 0; l < c->layers; l++)
        add_block(model, l);
    model->final_w = add_parameter(model, "final.weight", C, 0, -1, false);
    model->final_b = add_parameter(model, "final.bias", C, 0, 0, false);
    add_head(model);
    return 0;
}

/* Draws initial values w (count), on the host. Each parameter has its own random stream, so that
 * models that differ in one shape share the values of all other parameters. */
static int draw_values(const struct gpt_parameter *p, real *w, uint64_t seed, uint64_t salt)
{
    if (p->init_std <= 0) {
        for (size_t i = 0; i < p->count; i++)
            w[i] = p->init_std < 0 ? 1 : 0;
        return 0;
    }
    gsl_rng *rng = orr_rng_create(seed, ORR_STAGE_INIT, salt * 4096 + (uint64_t)p->stream);
    if (!rng)
        return ORR_FAIL(ORR_ENOMEM, "initialisation: out of memory");
    for (size_t i = 0; i < p->count; i++)
        w[i] = (real)gsl_ran_gaussian_ziggurat(rng, p->init_std);
    gsl_rng_free(rng);
    return 0;
}

static int initialise_parameter(struct gpt_model *model, int index, uint64_t seed, uint64_t salt)
{
    const struct gpt_parameter *p = &model->table[index];
    real *w = gpt_param(model, index);
    if (model->ops->host)
        return draw_values(p, w, seed, salt);
    real *drawn = orr_alloc(p->count, sizeof *drawn);
    int rc = drawn ? draw_values(p, drawn, seed, salt) : ORR_ENOMEM;
    if (!rc)
        rc = model->ops->upload(w, drawn, p->count * sizeof *drawn);
    free(drawn);
    return rc;
}

int gpt_plan(struct gpt_model *model, const struct gpt_config *config, const struct k_ops *ops)
{
    memset(model, 0, sizeof *model);
    TRY(gpt_config_check(config));
    model->config = *config;
    model->ops = ops;
    model->variant = *k_attention_find(config->attention);
    return build_table(model);
}

int gpt_create(struct gpt_model *model, const struct gpt_config *config, const struct k_ops *ops,
               uint64_t seed)
{
    int rc = gpt_plan(model, config, ops);
    if (!rc)
        rc = gpt_tensor_alloc(ops, &model->param, model->total);
    if (!rc)
        rc = gpt_tensor_alloc(ops, &model->grad, model->total);
    for (int i = 0; i < model->parameters && !rc; i++)
        rc = initialise_parameter(model, i, seed, 0);
    if (rc)
        gpt_free(model);
    return rc;
}

void gpt_free(struct gpt_model *model)
{
    gpt_activations_free(model->act);
    free(model->table);
    free(model->block);
    real *const tensors[] = {model->param, model->grad, model->m, model->v, model->average};
    for (size_t i = 0; model->ops && i < sizeof tensors / sizeof *tensors; i++)
        model->ops->release(tensors[i]);
    memset(model, 0, sizeof *model);
}

real *gpt_param(struct gpt_model *model, int index)
{
    return index < 0 ? NULL : model->param + model->table[index].offset;
}

real *gpt_grad(struct gpt_model *model, int index)
{
    return index < 0 ? NULL : model->grad + model->table[index].offset;
}

static struct gpt_config config_with_head(const struct gpt_config *config, enum gpt_head head,
                                          int outputs)
{
    struct gpt_config c = *config;
    c.head = head;
    c.outputs = outputs;
    c.tied = c.head_bias = 0;
    c.huber = 0;
    return c;
}

int gpt_replace_head(struct gpt_model *model, enum gpt_head head, int outputs, uint64_t seed)
{
    const struct gpt_config trained = model->overridden ? model->trained : model->config;
    const struct gpt_config config = config_with_head(&trained, head, outputs);
    struct gpt_model fresh;
    int rc = 0;
    TRY(gpt_create(&fresh, &config, model->ops, seed));
    /* the head is at the end of the table: all other parameters keep their offsets */
    for (int i = 0; i < fresh.head_w && !rc; i++)
        rc = fresh.ops->copy(gpt_param(&fresh, i), gpt_param(model, i),
                             fresh.table[i].count * sizeof(real));
    if (!rc)
        rc = initialise_parameter(&fresh, fresh.head_w, seed, 1);
    if (model->overridden) { /* the new head leaves the overridden attention as it is */
        fresh.variant = model->variant;
        fresh.trained = config;
        fresh.config = config_with_head(&model->config, head, outputs);
        fresh.overridden = true;
    }
    gpt_free(model);
    *model = fresh;
    return rc;
}

/* The table ends with the last block, the final norm and the head, in this order. */
void gpt_freeze(struct gpt_model *model, enum orr_trained trained)
{
    const struct gpt_block *last = &model->block[model->config.layers - 1];
    model->frozen = trained == ORR_TRAINED_HEAD         ? model->head_w
                    : trained == ORR_TRAINED_LAST_BLOCK ? last->ln1_w
                                                        : 0;
}

int gpt_zero_grad(struct gpt_model *model)
{
    return model->ops->zero(model->grad, model->total * sizeof(real));
}
