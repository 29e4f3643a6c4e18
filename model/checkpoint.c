/* checkpoint.c - models as safetensors: weights by the names of the parameter table, moments as
 * "adam.m.<name>", "adam.v.<name>", or "muon.m.<name>" for matrices that Muon takes, the moving
 * average as "average.<name>". */
#include "checkpoint.h"
#include "activations.h"
#include "base/text.h"
#include "optimizer.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

/* PyTorch's loaders expect "format" to be "pt", so the format of this project has a key of its
 * own. Files of version 0.1.0 have it under "format". */
#define FORMAT     "orrery-gpt-1"
#define FORMAT_KEY "orrery_format"
#define LOADER     "pt"
#ifdef K_DOUBLE
#define DTYPE ORR_F64
#else
#define DTYPE ORR_F32
#endif

enum kind { KIND_INT, KIND_DOUBLE, KIND_TEXT };
#define FIELD(member, kind) #member, kind, offsetof(struct gpt_config, member)
/* The configuration as metadata: one line per member. */
static const struct field {
    const char *key;
    enum kind kind;
    size_t offset;
    enum { BODY, HEAD, OWN } part; /* OWN: no setting decides it, only the file */
    bool newer;                    /* absent in older files, where it is zero */
    /* the setting of presets; if it ends in =, value + more is appended */
    const char *setting;
    int more;
} fields[] = {
    {FIELD(layers, KIND_INT), BODY, false, "model.layers=", 0},
    {FIELD(heads, KIND_INT), BODY, false, "model.heads=", 0},
    {FIELD(width, KIND_INT), BODY, false, "model.width=", 0},
    {FIELD(ffn, KIND_INT), BODY, false, "model.ffn_mult", 0},
    {FIELD(context, KIND_INT), BODY, false, "orbits.positions=", 1},
    {FIELD(input, KIND_INT), BODY, false, "orbits.output", 0},
    {FIELD(vocab, KIND_INT), BODY, false, "orbits.bins=", -3},
    {FIELD(fourier, KIND_INT), BODY, false, "model.fourier=", 0},
    {FIELD(fourier_min_au, KIND_DOUBLE), BODY, false, "model.fourier_min_au=", 0},
    {FIELD(head, KIND_INT), HEAD, false, NULL, 0},
    {FIELD(outputs, KIND_INT), HEAD, false, NULL, 0},
    {FIELD(positions, KIND_INT), BODY, false, "model.positions", 0},
    {FIELD(rope_base, KIND_DOUBLE), BODY, false, "model.rope_base=", 0},
    {FIELD(attention, KIND_TEXT), BODY, false, "attention=", 0},
    {"attention_p", KIND_DOUBLE, offsetof(struct gpt_config, power), BODY, false,
     "model.attention_p=", 0},
    {FIELD(attention_window, KIND_INT), BODY, false, "model.attention_window=", 0},
    {FIELD(gate, KIND_INT), BODY, true, "model.gate", 0},
    {FIELD(tied, KIND_INT), HEAD, true, "model.tie", 0},
    {FIELD(init_std, KIND_DOUBLE), OWN, true, NULL, 0},
    {FIELD(huber, KIND_DOUBLE), OWN, true, NULL, 0},
    {FIELD(head_bias, KIND_INT), OWN, true, NULL, 0},
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

/* False when the text is not a value of this kind. */
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
    struct gpt_host_copy copy[ARENAS]; /* host copies of the arenas */
    int arenas;
};

enum arena { ARENA_PARAM, ARENA_AVERAGE, ARENA_M, ARENA_V };

/* The prefix of a parameter's name in an arena; NULL where the arena does not have it. *at = its
 * offset there. */
static const char *prefix_of(const struct gpt_model *model, enum arena arena, int parameter,
                             size_t *at)
{
    const bool whole = gpt_takes_matrices(model, parameter);
    const struct gpt_parameter *p = &model->table[parameter];
    *at = arena == ARENA_V ? p->second : p->offset;
    switch (arena) {
    case ARENA_PARAM:
        return "";
    case ARENA_AVERAGE:
        return "average.";
    case ARENA_M:
        return gpt_optimizers[whole ? model->optimizer : ORR_OPTIMIZER_ADAMW].moment;
    case ARENA_V:
        return whole ? NULL : "adam.v.";
    }
    return NULL;
}

static size_t arena_count(const struct gpt_model *model, enum arena arena)
{
    return arena == ARENA_V ? model->seconds : model->total;
}

/* Lists the parameters of an arena, which is NULL where the model has none. */
static int list_arena(struct listing *list, const struct gpt_model *model, enum arena kind,
                      real *arena)
{
    struct gpt_host_copy *copy = &list->copy[list->arenas++];
    const real *seen;
    size_t at;
    TRY(gpt_copy_to_host(model->ops, copy, arena, arena_count(model, kind), &seen));
    real *from = copy->data ? copy->data : arena;
    for (int i = 0; from && i < model->parameters; i++) {
        const struct gpt_parameter *p = &model->table[i];
        const char *prefix = prefix_of(model, kind, i, &at);
        if (!prefix)
            continue;
        char *name = list->name[list->count];
        snprintf(name, sizeof list->name[0], "%s%s", prefix, p->name);
        list->tensor[list->count++] = (struct orr_tensor){.name = name,
                                                          .dtype = DTYPE,
                                                          .ndim = p->ndim,
                                                          .shape = {p->shape[0], p->shape[1]},
                                                          .data = from + at};
    }
    return 0;
}

static void listing_free(struct listing *list)
{
    for (int i = 0; i < ARENAS; i++)
        gpt_host_copy_free(&list->copy[i]);
    free(list->tensor);
    free(list->name);
}

static int write_arenas(struct listing *list, const struct gpt_model *model, const char *path,
                        bool optimiser, const char *const *meta)
{
    if (!list->tensor || !list->name)
        return ORR_FAIL(ORR_ENOMEM, "%s: out of memory", path);
    TRY(list_arena(list, model, ARENA_PARAM, model->param));
    TRY(list_arena(list, model, ARENA_AVERAGE, model->average));
    TRY(list_arena(list, model, ARENA_M, optimiser ? model->m : NULL));
    TRY(list_arena(list, model, ARENA_V, optimiser ? model->v : NULL));
    return orr_safetensors_write(path, list->tensor, list->count, meta);
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
    const char *meta[2 * (FIELDS + 4) + 64] = {"format", LOADER,    FORMAT_KEY,
                                               FORMAT,   "version", ORR_VERSION};
    size_t n = 6;
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
    const int rc = write_arenas(&list, model, path, optimiser, meta);
    listing_free(&list);
    return rc;
}

/* ------------------------------------------------------------------------------- load */

static int read_config(const struct orr_safetensors *file, const char *path,
                       struct gpt_config *config)
{
    const char *own = orr_safetensors_metadata(file, FORMAT_KEY);
    const char *format = own ? own : orr_safetensors_metadata(file, "format");
    if (!format || strcmp(format, FORMAT))
        return ORR_FAIL(ORR_EFORMAT,
                        "%s: not an Orrery model: metadata \"%s\" is \"%s\", expected "
                        "\"" FORMAT_KEY "\" to be \"" FORMAT "\"",
                        path, own ? FORMAT_KEY : "format", format ? format : "");
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

/* Weights written by other programs may have fewer bits. */
static bool is_read(enum orr_dtype dtype)
{
    return dtype == DTYPE || dtype == ORR_F16 || dtype == ORR_BF16;
}

/* Finds the tensor prefix + name of parameter p and checks its shape. */
static int find_tensor(const struct orr_safetensors *file, const char *path, const char *prefix,
                       const struct gpt_parameter *p, const struct orr_tensor **found)
{
    char name[GPT_NAME + 16];
    snprintf(name, sizeof name, "%s%s", prefix, p->name);
    const struct orr_tensor *t = *found = orr_safetensors_find(file, name);
    if (!t)
        return ORR_FAIL(ORR_EMISSING, "%s: tensor \"%s\" is missing", path, name);
    if (!is_read(t->dtype) || t->ndim != p->ndim || t->shape[0] != p->shape[0] ||
        (p->ndim == 2 && t->shape[1] != p->shape[1]))
        return ORR_FAIL(ORR_EFORMAT,
                        "%s: tensor \"%s\": expected %s, <f2 or bf16 [%zu, %zu], found %s "
                        "[%zu, %zu]",
                        path, name, orr_dtype_descr(DTYPE), p->shape[0], p->shape[1],
                        orr_dtype_descr(t->dtype), t->ndim ? t->shape[0] : 1,
                        t->ndim == 2 ? t->shape[1] : 1);
    return 0;
}

/* Checks that the file has all weights before memory is allocated: a header may claim a model of
 * any size. */
static int check_weights(const struct orr_safetensors *file, const char *path,
                         const struct gpt_config *config, const struct k_ops *ops)
{
    struct gpt_model plan;
    const struct orr_tensor *t;
    int rc = gpt_plan(&plan, config, ops);
    for (int i = 0; i < plan.parameters && !rc; i++)
        rc = find_tensor(file, path, "", &plan.table[i], &t);
    gpt_free(&plan);
    return rc;
}

/* IEEE 754 binary16. */
static real from_half(unsigned bits)
{
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    const double size = exponent == 31  ? (fraction ? NAN : INFINITY)
                        : exponent == 0 ? ldexp(fraction, -24)
                                        : ldexp(1024 + fraction, exponent - 25);
    return (real)(bits >> 15 ? -size : size);
}

/* Element i of a tensor of floats, which may lie at any address. */
static real number_at(const struct orr_tensor *t, size_t i)
{
    const unsigned char *at = (const unsigned char *)t->data + i * orr_dtype_size(t->dtype);
    real whole;
    float upper;
    uint16_t half;
    if (t->dtype == DTYPE) {
        memcpy(&whole, at, sizeof whole);
        return whole;
    }
    memcpy(&half, at, sizeof half);
    if (t->dtype == ORR_F16)
        return from_half(half);
    const uint32_t bits = (uint32_t)half << 16; /* bf16: the upper half of an fp32 */
    memcpy(&upper, &bits, sizeof upper);
    return (real)upper;
}

/* Copies the numbers of a tensor to the model. All must be finite: trainings never save other
 * weights, and no metric of such a model would be a number. */
static int read_tensor(const struct orr_tensor *t, const char *path, const struct gpt_model *model,
                       size_t count, real *to)
{
    real *converted = t->dtype == DTYPE ? NULL : orr_alloc(count, sizeof *converted);
    int rc = converted || t->dtype == DTYPE ? 0 : ORR_FAIL(ORR_ENOMEM, "%s: out of memory", path);
    for (size_t i = 0; i < count && !rc; i++) {
        const real x = number_at(t, i);
        if (!isfinite(x))
            rc = ORR_FAIL(ORR_EFORMAT, "%s: tensor \"%s\": number %zu is not finite", path, t->name,
                          i);
        if (converted)
            converted[i] = x;
    }
    if (!rc)
        rc = model->ops->upload(to, converted ? converted : t->data, count * sizeof(real));
    free(converted);
    return rc;
}

/* Copies prefix + every name of the table into arena; all that it has must be there. */
static int read_arena(const struct orr_safetensors *file, const char *path,
                      const struct gpt_model *model, enum arena kind, real *arena)
{
    for (int i = 0; i < model->parameters; i++) {
        const struct gpt_parameter *p = &model->table[i];
        const struct orr_tensor *t;
        size_t at;
        const char *prefix = prefix_of(model, kind, i, &at);
        if (!prefix)
            continue;
        TRY(find_tensor(file, path, prefix, p, &t));
        TRY(read_tensor(t, path, model, p->count, arena + at));
    }
    return 0;
}

static const struct orr_tensor *find_named(const struct orr_safetensors *file, const char *prefix,
                                           const char *parameter)
{
    char name[GPT_NAME + 16];
    snprintf(name, sizeof name, "%s%s", prefix, parameter);
    return orr_safetensors_find(file, name);
}

/* Chooses the optimiser whose moments the file has. */
static int read_optimizer(const struct orr_safetensors *file, struct gpt_model *model)
{
    const char *matrix = model->table[model->block[0].qkv_w].name;
    for (int i = ORR_OPTIMIZER_ADAMW + 1; i < ORR_OPTIMIZERS; i++)
        if (find_named(file, gpt_optimizers[i].moment, matrix))
            return gpt_choose_optimizer(model, (enum orr_optimizer)i);
    return 0;
}

/* Optional arenas: allocated only when the file has them. */
static int read_optional(const struct orr_safetensors *file, const char *path,
                         const struct gpt_model *model, enum arena kind, real **arena)
{
    size_t at;
    if (!find_named(file, prefix_of(model, kind, 0, &at), model->table[0].name))
        return 0;
    TRY(gpt_tensor_alloc(model->ops, arena, arena_count(model, kind)));
    return read_arena(file, path, model, kind, *arena);
}

int gpt_step_parse(const char *path, const char *text, long *step)
{
    if (!orr_whole(text, 0, LONG_MAX, step))
        return ORR_FAIL(ORR_EFORMAT, "%s: metadata \"step\": expected a count, found \"%s\"", path,
                        text);
    return 0;
}

static int read_step(const struct orr_safetensors *file, const char *path, long *step)
{
    const char *text = orr_safetensors_metadata(file, "step");
    return gpt_step_parse(path, text ? text : "", step);
}

/* Prints " (--set KEY=VALUE)" for the setting that causes a difference. */
static void print_setting(const struct gpt_config *have, const struct gpt_config *want,
                          const struct field *f, char text[96])
{
    const bool words = have->input == GPT_INPUT_TEXT;
    const char *setting = f->setting;
    char value[TEXT];
    text[0] = '\0';
    /* text models: the files decide, not settings of orbits */
    if (setting && words && !strncmp(setting, "orbits.", 7))
        setting = strcmp(f->key, "context") ? NULL : "text.positions=";
    if (!setting)
        return;
    if (!strcmp(f->key, "input") && gpt_is_continuous(have) && gpt_is_continuous(want)) {
        snprintf(text, 96, " (--set orbits.dimensions=%d)", gpt_config_axes(have));
        return;
    }
    field_print(have, f, value);
    if (f->more) {
        const int n = *(const int *)(const void *)((const char *)have + f->offset) + f->more;
        if (n < 1) /* no setting gives such a value */
            return;
        snprintf(value, sizeof value, "%d", n);
    }
    if (setting[strlen(setting) - 1] == '=')
        snprintf(text, 96, " (--set %s%s)", setting, value);
    else
        snprintf(text, 96, " (%s)", setting);
}

/* Whether ffn differs only because width does: settings give ffn as a multiple of width. */
static bool is_scaled(const struct gpt_config *have, const struct gpt_config *want,
                      const struct field *f)
{
    return f->offset == offsetof(struct gpt_config, ffn) &&
           (int64_t)have->ffn * want->width == (int64_t)want->ffn * have->width;
}

/* Names every difference, with the settings that remove it. */
static int compare_configs(const char *path, const struct gpt_config *have,
                           const struct gpt_config *want, bool any_head)
{
    char list[2048] = "", found[TEXT], expected[TEXT], setting[96];
    for (size_t i = 0; i < FIELDS; i++) {
        field_print(have, &fields[i], found);
        field_print(want, &fields[i], expected);
        if (!strcmp(found, expected) || fields[i].part == OWN ||
            (fields[i].part == HEAD && any_head) || is_scaled(have, want, &fields[i]) ||
            strlen(list) > sizeof list - 300)
            continue;
        print_setting(have, want, &fields[i], setting);
        orr_append(list, sizeof list, "%s%s is %s, expected %s%s", *list ? ", " : "", fields[i].key,
                   found, expected, setting);
    }
    if (!*list)
        return 0;
    return ORR_FAIL(ORR_EINVAL, "%s: a checkpoint of another shape: %s%s", path, list,
                    !any_head && have->head != want->head && have->head == GPT_HEAD_REGRESSION
                        ? "; a fine-tuned model does not predict the next state"
                        : "");
}

static int read_model(struct gpt_model *model, const struct orr_safetensors *file, const char *path,
                      const struct gpt_config *expected, bool any_head, const struct k_ops *ops)
{
    struct gpt_config config;
    TRY(read_config(file, path, &config));
    if (expected)
        TRY(compare_configs(path, &config, expected, any_head));
    config.recompute = expected && expected->recompute;
    TRY(check_weights(file, path, &config, ops));
    TRY(gpt_create(model, &config, ops, 0));
    TRY(read_arena(file, path, model, ARENA_PARAM, model->param));
    TRY(read_optional(file, path, model, ARENA_AVERAGE, &model->average));
    TRY(read_optimizer(file, model));
    TRY(read_optional(file, path, model, ARENA_M, &model->m));
    TRY(read_optional(file, path, model, ARENA_V, &model->v));
    return !model->m == !model->v ? 0
                                  : ORR_FAIL(ORR_EMISSING, "%s: tensors \"adam.%s...\" are missing",
                                             path, model->m ? "v." : "m.");
}

static int load_tensors(struct gpt_model *model, const char *path,
                        const struct gpt_config *expected, bool any_head, const struct k_ops *ops,
                        long *step)
{
    struct orr_safetensors *file = NULL;
    memset(model, 0, sizeof *model);
    TRY(orr_safetensors_open(path, &file));
    int rc = read_model(model, file, path, expected, any_head, ops);
    if (!rc && step)
        rc = read_step(file, path, step);
    orr_safetensors_close(file);
    if (rc)
        gpt_free(model);
    return rc;
}

int gpt_load(struct gpt_model *model, const char *path, const struct k_ops *ops, long *step)
{
    return load_tensors(model, path, NULL, true, ops, step);
}

int gpt_load_as(struct gpt_model *model, const char *path, const struct gpt_config *config,
                bool any_head, const struct k_ops *ops, long *step)
{
    return load_tensors(model, path, config, any_head, ops, step);
}

int gpt_reload(struct gpt_model *model, const char *folder, const char *name, long *step)
{
    char path[4096];
    struct gpt_model saved;
    TRY(orr_path(path, "%s/%s", folder, name));
    TRY(gpt_load_as(&saved, path, &model->config, false, model->ops, step));
    gpt_free(model);
    *model = saved;
    return 0;
}

int gpt_checkpoint_made(const char *path, cJSON **made)
{
    struct orr_safetensors *file = NULL;
    *made = NULL;
    if (!orr_exists(path))
        return 0;
    TRY(orr_safetensors_open(path, &file));
    const char *text = orr_safetensors_metadata(file, "made");
    if (text)
        *made = cJSON_Parse(text);
    orr_safetensors_close(file);
    return 0;
}

static int checkpoint_same(const char *path, const struct orr_records *records,
                           const char digest[ORR_DIGEST], bool *same, char why[ORR_WHY])
{
    cJSON *made = NULL;
    const int rc = gpt_checkpoint_made(path, &made);
    if (rc == ORR_EFORMAT) {
        snprintf(why, ORR_WHY, "it cannot be read");
        orr_error_clear();
    }
    *same = !rc && orr_made_same(records, digest, made, why);
    cJSON_Delete(made);
    return rc == ORR_EFORMAT ? 0 : rc;
}

int gpt_best_same(const char *path, const struct orr_records *records,
                  const char digest[ORR_DIGEST], bool whole, bool *same, char why[ORR_WHY])
{
    const char *slash = strrchr(path, '/');
    char part[ORR_WHY] = "";
    *same = !orr_exists(path) && !whole; /* the next evaluation writes it */
    if (*same)
        return 0;
    if (!orr_exists(path)) {
        snprintf(why, ORR_WHY, "%.100s is not there", slash ? slash + 1 : path);
        return 0;
    }
    TRY(checkpoint_same(path, records, digest, same, part));
    if (!*same)
        snprintf(why, ORR_WHY, "%.100s: %.400s", slash ? slash + 1 : path, part);
    return 0;
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
