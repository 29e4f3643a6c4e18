/* checkpoint.c - models as safetensors: weights by the names of the parameter table, moments as
 * "adam.m.<name>", "adam.v.<name>", the moving average as "average.<name>". */
#include "model.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define FORMAT "orrery-gpt-1"
#ifdef K_DOUBLE
#define DTYPE ORR_F64
#else
#define DTYPE ORR_F32
#endif

enum kind { KIND_INT, KIND_DOUBLE, KIND_TEXT };
/* The configuration as metadata: one line per member. */
static const struct field {
    const char *key;
    enum kind kind;
    size_t offset;
    bool of_head;
    bool newer; /* absent in older files: zero */
} fields[] = {
    {"layers", KIND_INT, offsetof(struct gpt_config, layers), false, false},
    {"heads", KIND_INT, offsetof(struct gpt_config, heads), false, false},
    {"width", KIND_INT, offsetof(struct gpt_config, width), false, false},
    {"ffn", KIND_INT, offsetof(struct gpt_config, ffn), false, false},
    {"context", KIND_INT, offsetof(struct gpt_config, context), false, false},
    {"input", KIND_INT, offsetof(struct gpt_config, input), false, false},
    {"vocab", KIND_INT, offsetof(struct gpt_config, vocab), false, false},
    {"fourier", KIND_INT, offsetof(struct gpt_config, fourier), false, false},
    {"fourier_min_au", KIND_DOUBLE, offsetof(struct gpt_config, fourier_min_au), false, false},
    {"head", KIND_INT, offsetof(struct gpt_config, head), true, false},
    {"outputs", KIND_INT, offsetof(struct gpt_config, outputs), true, false},
    {"positions", KIND_INT, offsetof(struct gpt_config, positions), false, false},
    {"rope_base", KIND_DOUBLE, offsetof(struct gpt_config, rope_base), false, false},
    {"attention", KIND_TEXT, offsetof(struct gpt_config, attention), false, false},
    {"attention_p", KIND_DOUBLE, offsetof(struct gpt_config, attention_p), false, false},
    {"attention_window", KIND_INT, offsetof(struct gpt_config, attention_window), false, false},
    {"gate", KIND_INT, offsetof(struct gpt_config, gate), false, true},
    {"tied", KIND_INT, offsetof(struct gpt_config, tied), true, true},
    {"head_bias", KIND_INT, offsetof(struct gpt_config, head_bias), true, true},
};
enum { FIELDS = sizeof fields / sizeof *fields, TEXT = 64 };

static void field_print(const struct gpt_config *config, const struct field *f, char text[TEXT])
{
    const char *at = (const char *)config + f->offset;
    if (f->kind == KIND_INT)
        snprintf(text, TEXT, "%d", *(const int *)(const void *)at);
    else if (f->kind == KIND_DOUBLE)
        snprintf(text, TEXT, "%.17g", *(const double *)(const void *)at);
    else
        snprintf(text, TEXT, "%s", at);
}

/* False when the text is no value of this kind. */
static bool field_parse(struct gpt_config *config, const struct field *f, const char *text)
{
    char *at = (char *)config + f->offset, *end = NULL;
    if (f->kind == KIND_TEXT)
        return (size_t)snprintf(at, ORR_NAME, "%s", text) < ORR_NAME;
    if (f->kind == KIND_DOUBLE) {
        *(double *)(void *)at = strtod(text, &end);
    } else {
        const long value = strtol(text, &end, 10);
        if (value < INT_MIN || value > INT_MAX)
            return false;
        *(int *)(void *)at = (int)value;
    }
    return end != text && !*end;
}

/* ------------------------------------------------------------------------------- save */

enum { ARENAS = 4 };

struct listing {
    struct orr_tensor *tensor;
    char (*name)[GPT_NAME + 16];
    size_t count;
    struct gpt_view view[ARENAS]; /* of the arenas */
    int arenas;
};

static int list_arena(struct listing *list, const struct gpt_model *model, const char *prefix,
                      real *arena)
{
    struct gpt_view *view = &list->view[list->arenas++];
    const real *seen;
    TRY(gpt_see(model->ops, view, arena, model->total, &seen));
    real *from = view->copy ? view->copy : arena;
    for (int i = 0; from && i < model->parameters; i++) {
        const struct gpt_parameter *p = &model->table[i];
        char *name = list->name[list->count];
        snprintf(name, sizeof list->name[0], "%s%s", prefix, p->name);
        list->tensor[list->count++] = (struct orr_tensor){.name = name,
                                                          .dtype = DTYPE,
                                                          .ndim = p->ndim,
                                                          .shape = {p->shape[0], p->shape[1]},
                                                          .data = from + p->offset};
    }
    return 0;
}

static void listing_free(struct listing *list)
{
    for (int i = 0; i < ARENAS; i++)
        gpt_view_free(&list->view[i]);
    free(list->tensor);
    free(list->name);
}

int gpt_save(const struct gpt_model *model, const char *path, long step, bool optimiser,
             const char *const *extra)
{
    if (model->overridden)
        return ORR_FAIL(ORR_EINVAL,
                        "%s: the model attends otherwise than it was trained (%s): "
                        "it is not saved",
                        path, model->variant.name);
    char text[FIELDS][TEXT], steps[TEXT];
    const char *meta[2 * (FIELDS + 4) + 64] = {"format", FORMAT, "version", ORR_VERSION};
    size_t n = 4;
    for (size_t i = 0; i < FIELDS; i++) {
        field_print(&model->config, &fields[i], text[i]);
        meta[n++] = fields[i].key;
        meta[n++] = text[i];
    }
    snprintf(steps, sizeof steps, "%ld", step);
    meta[n++] = "step";
    meta[n++] = steps;
    for (size_t i = 0; extra && extra[i] && i < 48; i++)
        meta[n++] = extra[i];
    meta[n] = NULL;

    const size_t most = ARENAS * (size_t)model->parameters;
    struct listing list = {.tensor = calloc(most, sizeof *list.tensor),
                           .name = calloc(most, sizeof *list.name)};
    int rc = list.tensor && list.name ? 0 : ORR_FAIL(ORR_ENOMEM, "%s: out of memory", path);
    if (!rc)
        rc = list_arena(&list, model, "", model->param);
    if (!rc)
        rc = list_arena(&list, model, "average.", model->average);
    if (!rc)
        rc = list_arena(&list, model, "adam.m.", optimiser ? model->m : NULL);
    if (!rc)
        rc = list_arena(&list, model, "adam.v.", optimiser ? model->v : NULL);
    if (!rc)
        rc = orr_safetensors_write(path, list.tensor, list.count, meta);
    listing_free(&list);
    return rc;
}

/* ------------------------------------------------------------------------------- load */

static int read_config(const struct orr_safetensors *file, const char *path,
                       struct gpt_config *config)
{
    const char *format = orr_safetensors_metadata(file, "format");
    if (!format || strcmp(format, FORMAT))
        return ORR_FAIL(ORR_EFORMAT,
                        "%s: not an Orrery model: metadata \"format\" is \"%s\", "
                        "expected \"%s\"",
                        path, format ? format : "", FORMAT);
    memset(config, 0, sizeof *config);
    for (size_t i = 0; i < FIELDS; i++) {
        const char *text = orr_safetensors_metadata(file, fields[i].key);
        if (!text && fields[i].newer)
            continue;
        if (!text)
            return ORR_FAIL(ORR_EFORMAT, "%s: metadata lacks \"%s\"", path, fields[i].key);
        if (!field_parse(config, &fields[i], text))
            return ORR_FAIL(ORR_EFORMAT, "%s: metadata \"%s\": expected %s, found \"%s\"", path,
                            fields[i].key,
                            fields[i].kind == KIND_TEXT ? "a short name" : "a number", text);
    }
    if (gpt_config_check(config)) {
        char why[1024];
        snprintf(why, sizeof why, "%s", orr_error());
        return ORR_FAIL(ORR_EFORMAT, "%s: %s", path, why);
    }
    return 0;
}

/* Copies prefix + every name of the table into arena; all must be there. */
static int read_arena(const struct orr_safetensors *file, const char *path,
                      const struct gpt_model *model, const char *prefix, real *arena)
{
    for (int i = 0; i < model->parameters; i++) {
        const struct gpt_parameter *p = &model->table[i];
        char name[GPT_NAME + 16];
        snprintf(name, sizeof name, "%s%s", prefix, p->name);
        const struct orr_tensor *t = orr_safetensors_find(file, name);
        if (!t)
            return ORR_FAIL(ORR_EMISSING, "%s: tensor \"%s\" is missing", path, name);
        if (t->dtype != DTYPE || t->ndim != p->ndim || t->shape[0] != p->shape[0] ||
            (p->ndim == 2 && t->shape[1] != p->shape[1]))
            return ORR_FAIL(ORR_EFORMAT,
                            "%s: tensor \"%s\": expected %s [%zu, %zu], found %s "
                            "[%zu, %zu]",
                            path, name, orr_dtype_descr(DTYPE), p->shape[0], p->shape[1],
                            orr_dtype_descr(t->dtype), t->shape[0], t->ndim == 2 ? t->shape[1] : 1);
        TRY(model->ops->upload(arena + p->offset, t->data, p->count * sizeof(real)));
    }
    return 0;
}

/* Optional arenas: allocated only when the file has them. */
static int read_optional(const struct orr_safetensors *file, const char *path,
                         const struct gpt_model *model, const char *prefix, real **arena)
{
    char first[GPT_NAME + 16];
    snprintf(first, sizeof first, "%s%s", prefix, model->table[0].name);
    if (!orr_safetensors_find(file, first))
        return 0;
    TRY(gpt_tensor_alloc(model->ops, arena, model->total));
    return read_arena(file, path, model, prefix, *arena);
}

static int read_step(const struct orr_safetensors *file, const char *path, long *step)
{
    const char *text = orr_safetensors_metadata(file, "step");
    char *end = NULL;
    *step = text ? strtol(text, &end, 10) : -1;
    if (*step < 0 || end == text || *end)
        return ORR_FAIL(ORR_EFORMAT, "%s: metadata \"step\": expected a count, found \"%s\"", path,
                        text ? text : "");
    return 0;
}

static int load(struct gpt_model *model, const char *path, const struct gpt_config *expected,
                bool any_head, const struct k_ops *ops, long *step)
{
    struct orr_safetensors *file = NULL;
    struct gpt_config config;
    memset(model, 0, sizeof *model);
    TRY(orr_safetensors_open(path, &file));
    int rc = read_config(file, path, &config);
    for (size_t i = 0; expected && i < FIELDS && !rc; i++) {
        char want[TEXT], have[TEXT];
        field_print(expected, &fields[i], want);
        field_print(&config, &fields[i], have);
        if (strcmp(want, have) && !(any_head && fields[i].of_head))
            rc = ORR_FAIL(ORR_EINVAL, "%s: a checkpoint of another shape: %s is %s, expected %s",
                          path, fields[i].key, have, want);
    }
    config.recompute = expected && expected->recompute;
    if (!rc)
        rc = gpt_create(model, &config, ops, 0);
    if (!rc)
        rc = read_arena(file, path, model, "", model->param);
    if (!rc)
        rc = read_optional(file, path, model, "average.", &model->average);
    if (!rc)
        rc = read_optional(file, path, model, "adam.m.", &model->m);
    if (!rc)
        rc = read_optional(file, path, model, "adam.v.", &model->v);
    if (!rc && !model->m != !model->v)
        rc = ORR_FAIL(ORR_EMISSING, "%s: tensors \"adam.%s...\" are missing", path,
                      model->m ? "v." : "m.");
    if (!rc && step)
        rc = read_step(file, path, step);
    orr_safetensors_close(file);
    if (rc)
        gpt_free(model);
    return rc;
}

int gpt_load(struct gpt_model *model, const char *path, const struct k_ops *ops, long *step)
{
    return load(model, path, NULL, true, ops, step);
}

int gpt_load_as(struct gpt_model *model, const char *path, const struct gpt_config *config,
                bool any_head, const struct k_ops *ops, long *step)
{
    return load(model, path, config, any_head, ops, step);
}

int gpt_checkpoint_metadata(const char *path, const char *key, char *buffer, size_t bytes)
{
    struct orr_safetensors *file = NULL;
    TRY(orr_safetensors_open(path, &file));
    const char *text = orr_safetensors_metadata(file, key);
    snprintf(buffer, bytes, "%s", text ? text : "");
    orr_safetensors_close(file);
    return 0;
}
