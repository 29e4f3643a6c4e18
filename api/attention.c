/* attention.c - the part "attention": forward and backward pass of any variant on the caller's
 * arrays. */
#include "compute.h"
#include "model/config.h"
#include "reference64.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct orrery_attention {
    struct api_handle handle;
};

int orrery_attention_create(int interface_, struct orrery_attention **attention)
{
    const int rc = api_create(interface_, sizeof **attention, attention);
    if (!rc)
        api_compute_keep();
    return rc;
}

void orrery_attention_free(struct orrery_attention *attention)
{
    if (!attention)
        return;
    api_compute_drop();
    free(attention);
}

const char *orrery_attention_variant(int i)
{
    const struct k_attention *a = k_attention_table;
    while (i > 0 && a->name) {
        a++;
        i--;
    }
    return i < 0 ? NULL : a->name;
}

/* ------------------------------------------------------------------------------------ variants
 *
 * Tests check that every variant of the table has these names. */

static const char *const score_name[] = {[K_SCORE_DOT] = "dot", [K_SCORE_COS_LOGN] = "cosine"};
static const char *const bias_name[] = {
    [K_BIAS_NONE] = "none", [K_BIAS_LOG_LENGTH] = "length", [K_BIAS_LOG_ROW] = "row"};
static const char *const phi_name[] = {
    [K_PHI_EXP] = "exp",   [K_PHI_SOFTPLUS] = "softplus", [K_PHI_IDENTITY] = "identity",
    [K_PHI_RELU] = "relu", [K_PHI_RELU2] = "relu2",       [K_PHI_RELU6] = "relu6",
    [K_PHI_GELU] = "gelu", [K_PHI_SIGMOID] = "sigmoid",   [K_PHI_MISH] = "mish"};
static const char *const norm_name[] = {[K_NORM_NONE] = "none",
                                        [K_NORM_L1] = "l1",
                                        [K_NORM_LENGTH] = "length",
                                        [K_NORM_ROOT_ROW] = "root"};
static const char *const transform_name[] = {[K_TRANSFORM_NONE] = "none",
                                             [K_TRANSFORM_INVERSE] = "inverse",
                                             [K_TRANSFORM_RECENTRED] = "recentred",
                                             [K_TRANSFORM_RECENTRED_L1] = "recentred_l1"};

/* The word of a value; NULL where an enum has a value without one. */
#define WORD(words, value)                                                                         \
    ((size_t)(value) < sizeof(words) / sizeof *(words) ? (words)[value] : NULL)

static int describe_line(const char *name, struct orrery_attention_line *line)
{
    TRY(api_filled("line", sizeof *line, line));
    if (!name)
        return ORR_FAIL(ORR_EINVAL, "variant: expected a text, found NULL");
    const struct k_attention *variant = k_attention_find(name);
    if (!variant)
        return gpt_config_unknown_attention(name);
    *line = (struct orrery_attention_line){.bytes = sizeof *line,
                                           .name = variant->name,
                                           .score = WORD(score_name, variant->score),
                                           .bias = WORD(bias_name, variant->bias),
                                           .phi = WORD(phi_name, variant->phi),
                                           .norm = WORD(norm_name, variant->norm),
                                           .transform = WORD(transform_name, variant->transform),
                                           .reweight = variant->reweight,
                                           .reweightable = k_attention_reweightable(variant),
                                           .unshifted_rows = variant->unshifted_rows,
                                           .source = variant->source};
    return 0;
}

int orrery_attention_describe(struct orrery_attention *attention, const char *variant,
                              struct orrery_attention_line *line)
{
    API_RETURN(attention, describe_line(variant, line));
}

/* --------------------------------------------------------------------------------- arguments */

enum { LARGEST = 1 << 20 }; /* the largest dimension of a shape */

/* A shape, and the backend that computes it. */
struct pass {
    struct k_attention_shape shape;
    const struct k_ops *ops;
    bool wide; /* arrays are double */
    int threads;
    size_t tokens; /* numbers in out; qkv has three times as many */
};

static int check_sizes(const struct orrery_attention_shape *s)
{
    const struct {
        const char *name;
        int found;
    } sizes[] = {
        {"sequences", s->sequences}, {"rows", s->rows}, {"heads", s->heads}, {"size", s->size}};
    double all = 1;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        all *= sizes[i].found;
        if (sizes[i].found < 1 || sizes[i].found > LARGEST)
            return ORR_FAIL(ORR_EINVAL, "shape: %s: expected 1 to %d, found %d", sizes[i].name,
                            LARGEST, sizes[i].found);
    }
    return all < 1u << 30
               ? 0
               : ORR_FAIL(ORR_EINVAL, "shape: expected arrays of fewer than %u numbers, found %g",
                          1u << 30, all);
}

static int take_shape(const struct orrery_attention_shape *given, struct pass *p)
{
    struct orrery_attention_shape s;
    TRY(api_take("shape", &s, sizeof s, sizeof s, given));
    TRY(check_sizes(&s));
    if (!s.variant)
        return ORR_FAIL(ORR_EINVAL, "shape: variant: expected a text, found NULL");
    const struct k_attention *variant = k_attention_find(s.variant);
    if (!variant)
        return gpt_config_unknown_attention(s.variant);
    if (s.type != ORRERY_FLOAT64 && s.type != ORRERY_FLOAT32)
        return ORR_FAIL(ORR_EINVAL,
                        "shape: expected a type ORRERY_FLOAT64 or ORRERY_FLOAT32, found %d",
                        s.type);
    if (!(s.power >= 1) || !isfinite(s.power))
        return ORR_FAIL(ORR_EINVAL, "shape: power: expected at least 1, found %g", s.power);
    if (s.window < 0 || s.reference < 0 || s.reference > 1)
        return ORR_FAIL(ORR_EINVAL,
                        "shape: expected a window from 0 on and a reference of 0 or 1, found %d "
                        "and %d",
                        s.window, s.reference);
    *p = (struct pass){.shape = {.B = s.sequences,
                                 .T = s.rows,
                                 .H = s.heads,
                                 .D = s.size,
                                 .variant = variant,
                                 .power = s.power,
                                 .window = s.window},
                       .ops = api_backend(s.reference || s.type == ORRERY_FLOAT64),
                       .wide = s.type == ORRERY_FLOAT64,
                       .threads = s.threads,
                       .tokens =
                           (size_t)s.sequences * (size_t)s.rows * (size_t)s.heads * (size_t)s.size};
    return 0;
}

static int check_array(const struct pass *p, const char *name, const void *array, size_t count)
{
    if (!array)
        return ORR_FAIL(ORR_EINVAL, "%s: expected an array, found NULL", name);
    for (size_t i = 0; i < count; i++) {
        const double x = p->wide ? ((const double *)array)[i] : (double)((const float *)array)[i];
        if (!isfinite(x))
            return ORR_FAIL(ORR_EINVAL, "%s: number %zu: expected a finite number, found %g", name,
                            i, x);
    }
    return 0;
}

/* ------------------------------------------------------------------------------------- passes */

static int count_saved(const struct orrery_attention_shape *given, size_t *count)
{
    struct pass p;
    if (!count)
        return ORR_FAIL(ORR_EINVAL, "count: expected a pointer, found NULL");
    TRY(take_shape(given, &p));
    *count = k_attention_row_stats(p.ops, &p.shape);
    return 0;
}

int orrery_attention_saved(struct orrery_attention *attention,
                           const struct orrery_attention_shape *shape, size_t *count)
{
    API_RETURN(attention, count_saved(shape, count));
}

static int compute_forward(const struct pass *p, const void *qkv, void *out, void *saved)
{
    struct api_compute compute;
    TRY(api_compute_begin(p->ops, p->threads, &compute));
    const int rc = p->wide ? api_attention64_forward(out, saved, qkv, &p->shape)
                           : p->ops->attention_forward(out, saved, qkv, &p->shape);
    api_compute_end(&compute);
    return rc;
}

static int run_forward(const struct orrery_attention_shape *given, const void *qkv, void *out,
                       void *saved)
{
    struct pass p;
    void *own = NULL;
    TRY(take_shape(given, &p));
    TRY(check_array(&p, "qkv", qkv, 3 * p.tokens));
    TRY(check_array(&p, "out", out, 0));
    p.shape.forward_only = !saved;
    if (!saved)
        saved = own = orr_alloc(k_attention_row_stats(p.ops, &p.shape), sizeof(double));
    const int rc = saved ? compute_forward(&p, qkv, out, saved) : ORR_ENOMEM;
    free(own);
    return rc;
}

int orrery_attention_forward(struct orrery_attention *attention,
                             const struct orrery_attention_shape *shape, const void *qkv, void *out,
                             void *saved)
{
    API_RETURN(attention, run_forward(shape, qkv, out, saved));
}

static int run_backward(const struct orrery_attention_shape *given, const void *qkv,
                        const void *out, const void *saved, const void *dout, void *dqkv)
{
    struct pass p;
    struct api_compute compute;
    TRY(take_shape(given, &p));
    TRY(check_array(&p, "qkv", qkv, 3 * p.tokens));
    TRY(check_array(&p, "dout", dout, p.tokens));
    TRY(check_array(&p, "out", out, 0));
    TRY(check_array(&p, "saved", saved, 0));
    TRY(check_array(&p, "dqkv", dqkv, 0));
    TRY(api_compute_begin(p.ops, p.threads, &compute));
    const int rc = p.wide ? api_attention64_backward(dqkv, dout, out, saved, qkv, &p.shape)
                          : p.ops->attention_backward(dqkv, dout, out, saved, qkv, &p.shape);
    api_compute_end(&compute);
    return rc;
}

int orrery_attention_backward(struct orrery_attention *attention,
                              const struct orrery_attention_shape *shape, const void *qkv,
                              const void *out, const void *saved, const void *dout, void *dqkv)
{
    API_RETURN(attention, run_backward(shape, qkv, out, saved, dout, dqkv));
}

static int copy_weights(const struct orrery_attention_shape *given, const void *qkv, double *to)
{
    struct pass p;
    TRY(take_shape(given, &p));
    TRY(check_array(&p, "qkv", qkv, 3 * p.tokens));
    TRY(check_array(&p, "weights", to, 0));
    const size_t square = (size_t)p.shape.T * (size_t)p.shape.T;
    for (int i = 0; i < p.shape.B * p.shape.H; i++, to += square) {
        const int b = i / p.shape.H, h = i % p.shape.H, T = p.shape.T;
        TRY(p.wide ? api_attention64_weights(to, qkv, &p.shape, b, h, 0, T)
                   : k_attention_weights(to, qkv, &p.shape, b, h, 0, T));
    }
    return 0;
}

int orrery_attention_weights(struct orrery_attention *attention,
                             const struct orrery_attention_shape *shape, const void *qkv,
                             double *weights_)
{
    API_RETURN(attention, copy_weights(shape, qkv, weights_));
}
