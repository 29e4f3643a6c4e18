/* model.c - the part "model": opens a checkpoint, describes it, changes its attention. */
#include "model.h"

#include <stdlib.h>
#include <string.h>

_Static_assert((int)ORRERY_BINS == (int)GPT_INPUT_TOKENS &&
                   (int)ORRERY_COORDINATES == (int)GPT_INPUT_CONTINUOUS &&
                   (int)ORRERY_CHARACTERS == (int)GPT_INPUT_TEXT &&
                   (int)ORRERY_SPACE == (int)GPT_INPUT_SPACE &&
                   (int)ORRERY_HEAD_BINS == (int)GPT_HEAD_TOKENS &&
                   (int)ORRERY_HEAD_NUMBERS == (int)GPT_HEAD_REGRESSION &&
                   (int)ORRERY_HEAD_CHARACTERS == (int)GPT_HEAD_TEXT &&
                   (int)ORRERY_GATE_SIGMOID == (int)K_GATE_SIGMOID &&
                   (int)ORRERY_GATE_SOFTPLUS == (int)K_GATE_SOFTPLUS &&
                   (int)ORRERY_LEARNED == (int)ORR_POSITIONS_LEARNED &&
                   (int)ORRERY_ROPE == (int)ORR_POSITIONS_ROPE &&
                   (int)ORRERY_NO_POSITIONS == (int)ORR_POSITIONS_NONE,
               "the numbers of orrery.h are those of checkpoints");

int orrery_model_create(int interface_, struct orrery_model **model)
{
    const int rc = api_create(interface_, sizeof **model, model);
    if (!rc)
        api_compute_keep();
    return rc;
}

static void free_model(struct orrery_model *m)
{
    if (!m->open)
        return;
    gpt_free(&m->model);
    orr_safetensors_close(m->file);
    m->open = false;
}

void orrery_model_free(struct orrery_model *m)
{
    if (!m)
        return;
    free_model(m);
    api_compute_drop();
    free(m);
}

const char *api_model_says(const struct orrery_model *m, const char *key)
{
    const char *text = orr_safetensors_metadata(m->file, key);
    return text ? text : "";
}

static int check_open(const struct orrery_model *m)
{
    return m->open ? 0 : ORR_FAIL(ORR_EMISSING, "there is no model yet; orrery_model_open()");
}

int api_model_begin(struct orrery_model *m, struct api_compute *compute)
{
    TRY(check_open(m));
    return api_compute_begin(m->model.ops, m->threads, compute);
}

/* ------------------------------------------------------------------------------ checkpoint */

static int load_model(const char *path, const struct k_ops *ops, struct orrery_model *read)
{
    TRY(gpt_load(&read->model, path, ops, &read->step));
    gpt_swap_average(&read->model); /* the averaged weights predict */
    const int rc = orr_safetensors_open(path, &read->file);
    if (rc)
        gpt_free(&read->model);
    return rc;
}

static int open_checkpoint(struct orrery_model *m, const char *path, int threads, int reference)
{
    struct api_compute compute;
    struct orrery_model *read;
    if (!path)
        return ORR_FAIL(ORR_EINVAL, "path: expected a text, found NULL");
    if (reference < 0 || reference > 1)
        return ORR_FAIL(ORR_EINVAL, "reference: expected 0 or 1, found %d", reference);
    if (!orr_exists(path))
        return ORR_FAIL(ORR_EMISSING, "%s: no such checkpoint", path);
    const struct k_ops *ops = api_backend(reference);
    TRY(api_compute_begin(ops, threads, &compute));
    read = orr_alloc(1, sizeof *read);
    const int rc = read ? load_model(path, ops, read) : ORR_ENOMEM;
    api_compute_end(&compute);
    if (!rc) {
        free_model(m);
        m->model = read->model;
        m->file = read->file;
        m->step = read->step;
        m->threads = threads;
        m->open = true;
    }
    free(read);
    return rc;
}

int orrery_model_open(struct orrery_model *m, const char *path, int threads, int reference)
{
    API_RETURN(m, open_checkpoint(m, path, threads, reference));
}

static int describe_shape(const struct orrery_model *m, struct orrery_shape *shape)
{
    TRY(api_filled("shape", sizeof *shape, shape));
    TRY(check_open(m));
    const struct gpt_config *c = &m->model.config;
    *shape = (struct orrery_shape){.bytes = sizeof *shape,
                                   .layers = c->layers,
                                   .heads = c->heads,
                                   .width = c->width,
                                   .feedforward = c->ffn,
                                   .context = c->context,
                                   .input = (int)c->input,
                                   .head = (int)c->head,
                                   .outputs = c->outputs,
                                   .vocabulary = c->vocab,
                                   .positions = (int)c->positions,
                                   .gate = (int)c->gate,
                                   .attention = m->model.config.attention,
                                   .power = c->power,
                                   .window = c->attention_window,
                                   .parameters = m->model.count,
                                   .step = m->step,
                                   .reference = m->model.ops == &k_ref,
                                   .reweight = m->model.variant.reweight,
                                   .unshifted_rows = m->model.variant.unshifted_rows,
                                   .rope_base = c->rope_base};
    return 0;
}

int orrery_model_describe(struct orrery_model *m, struct orrery_shape *shape)
{
    API_RETURN(m, describe_shape(m, shape));
}

static int copy_metadata(const struct orrery_model *m, const char *key, char *text, size_t bytes,
                         size_t *needed)
{
    TRY(check_open(m));
    if (!key)
        return ORR_FAIL(ORR_EINVAL, "key: expected a text, found NULL");
    const char *whole = orr_safetensors_metadata(m->file, key);
    if (!whole)
        return ORR_FAIL(ORR_EMISSING, "metadata: the checkpoint has no \"%s\"", key);
    return api_write_text(whole, text, bytes, needed);
}

int orrery_model_metadata(struct orrery_model *m, const char *key, char *text, size_t bytes,
                          size_t *needed)
{
    API_RETURN(m, copy_metadata(m, key, text, bytes, needed));
}

/* ------------------------------------------------------------------------------- attention */

static int take_change(const struct orrery_attend *given, struct gpt_attention_override *change)
{
    struct orrery_attend a;
    TRY(api_take("attend", &a, sizeof a, sizeof a, given));
    if (a.reweight < 0 || a.reweight > 2)
        return ORR_FAIL(ORR_EINVAL, "reweight: expected 0, 1 (on) or 2 (off), found %d",
                        a.reweight);
    if (a.set_window < 0 || a.set_window > 1 || a.ntk < 0 || a.ntk > 1)
        return ORR_FAIL(ORR_EINVAL, "attend: set_window, ntk: expected 0 or 1, found %d and %d",
                        a.set_window, a.ntk);
    *change = (struct gpt_attention_override){.attention = a.attention,
                                              .reweight = a.reweight == 1   ? GPT_REWEIGHT_ON
                                                          : a.reweight == 2 ? GPT_REWEIGHT_OFF
                                                                            : 0,
                                              .power = a.power,
                                              .set_window = a.set_window != 0,
                                              .window = a.window,
                                              .context = a.context,
                                              .ntk = a.ntk != 0};
    return 0;
}

static int override_attention(struct orrery_model *m, const struct orrery_attend *given)
{
    struct gpt_attention_override change = {0};
    TRY(check_open(m));
    TRY(given ? take_change(given, &change) : 0);
    return gpt_override_attention(&m->model, &change);
}

int orrery_model_attend(struct orrery_model *m, const struct orrery_attend *given)
{
    API_RETURN(m, override_attention(m, given));
}
