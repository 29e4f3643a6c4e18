/* predict.c - applies a model to sequences: outputs, next states, forces, attention, rollouts. */
#include "model.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------- sequences */

static int check_numbers(const struct gpt_config *c, const struct orrery_sequences *s, size_t rows)
{
    const size_t channels = (size_t)gpt_config_channels(c);
    for (size_t i = 0; i < s->sequences; i++)
        for (size_t k = 0; k < rows * channels; k++) {
            const size_t at = i * s->stride * channels + k;
            if (s->tokens && s->tokens[at] >= c->vocab)
                return ORR_FAIL(ORR_EINVAL,
                                "tokens: sequence %zu, row %zu: expected a number below %d, found "
                                "%d",
                                i, k / channels, c->vocab, s->tokens[at]);
            if (s->coordinates && !isfinite(s->coordinates[at]))
                return ORR_FAIL(ORR_EINVAL,
                                "coordinates: sequence %zu, row %zu: expected finite numbers, "
                                "found %g",
                                i, k / channels, (double)s->coordinates[at]);
        }
    return 0;
}

/* Checks and copies the caller's struct; only the first `known` rows of its sequences are read (0:
 * all). */
static int take_sequences(const struct orrery_model *m, const struct orrery_sequences *given,
                          size_t known, struct orrery_sequences *s)
{
    const struct gpt_config *c = &m->model.config;
    const bool numbers = gpt_is_continuous(c);
    TRY(api_take("sequences", s, sizeof *s, sizeof *s, given));
    if (s->rows < 1 || s->rows > (size_t)c->context)
        return ORR_FAIL(ORR_EINVAL, "sequences: expected 1 to %d rows, found %zu", c->context,
                        s->rows);
    if (s->sequences < 1 || s->sequences > (size_t)INT_MAX / s->rows)
        return ORR_FAIL(ORR_EINVAL, "sequences: expected 1 to %zu, found %zu",
                        (size_t)INT_MAX / s->rows, s->sequences);
    s->stride = s->stride ? s->stride : s->rows;
    if (s->stride < s->rows || s->stride > SIZE_MAX / 16 / s->sequences)
        return ORR_FAIL(ORR_EINVAL, "sequences: stride: expected at least %zu rows, found %zu",
                        s->rows, s->stride);
    if (numbers ? !s->coordinates || s->tokens : !s->tokens || s->coordinates)
        return ORR_FAIL(ORR_EINVAL, "sequences: expected %s, and of the other array NULL",
                        numbers ? "coordinates" : "tokens");
    return check_numbers(c, s, known ? known : s->rows);
}

/* Fills a batch with sequences first .. first + B - 1. In a rollout, rows from `known` on are
 * overwritten before they are used. */
static void fill_batch(const struct gpt_config *c, const struct orrery_sequences *s, size_t first,
                       size_t known, struct gpt_batch *batch)
{
    const size_t T = (size_t)batch->T, channels = (size_t)gpt_config_channels(c);
    const size_t F = (size_t)gpt_config_features(c);
    static const float unknown[GPT_AXES];
    for (size_t b = 0; b < (size_t)batch->B; b++) {
        const size_t from = (first + b) * s->stride * channels;
        if (s->tokens) {
            memset(batch->tokens + b * T * channels, 0, T * channels * sizeof *batch->tokens);
            memcpy(batch->tokens + b * T * channels, s->tokens + from,
                   known * channels * sizeof *batch->tokens);
            continue;
        }
        for (size_t t = 0; t < T; t++)
            gpt_row_features(c, t < known ? s->coordinates + from + channels * t : unknown, t == 0,
                             batch->features + (b * T + t) * F);
    }
}

/* What a call does with each batch; `first` is the batch's first sequence. */
struct work {
    struct orrery_model *m;
    struct orrery_sequences s;
    size_t known, first;
    int (*batch)(struct work *work, struct gpt_batch *batch);
    void (*row)(const struct work *work, size_t row, const real *out); /* for each of (n T) rows */
    double extent_au;
    struct ft_transform transform;
    int layer;
    void *to;
};

static int work_batch(struct work *w, struct gpt_batch *batch, int most)
{
    for (w->first = 0; w->first < w->s.sequences; w->first += (size_t)most) {
        const size_t left = w->s.sequences - w->first;
        if (orr_signal_seen())
            return ORR_FAIL(ORR_EINTR, "stopped");
        batch->B = left < (size_t)most ? (int)left : most;
        fill_batch(&w->m->model.config, &w->s, w->first, w->known, batch);
        TRY(w->batch(w, batch));
    }
    return 0;
}

enum { BATCH = 64 };
static int run_batches(struct work *w)
{
    struct gpt_batch batch;
    struct api_compute compute;
    const int T = (int)w->s.rows;
    const int n = w->s.sequences < BATCH ? (int)w->s.sequences : BATCH;
    TRY(api_model_begin(w->m, &compute));
    const int most = gpt_evaluation_batch(&w->m->model, T, n);
    int rc = gpt_batch_create(&batch, &w->m->model.config, most, T);
    if (!rc) {
        rc = work_batch(w, &batch, most);
        gpt_batch_free(&batch);
    }
    api_compute_end(&compute);
    return rc;
}

static int visit_rows(void *context, size_t first, size_t rows, const real *out)
{
    struct work *w = context;
    for (size_t i = 0; i < rows; i++)
        w->row(w, w->first * w->s.rows + first + i, out + i * (size_t)w->m->model.config.outputs);
    return 0;
}

static int run_forward(struct work *w, struct gpt_batch *batch)
{
    return gpt_forward_pieces(&w->m->model, batch, visit_rows, w, NULL);
}

static int check_pointer(const char *what, const void *pointer)
{
    return pointer ? 0 : ORR_FAIL(ORR_EINVAL, "%s: expected a pointer, found NULL", what);
}

/* Work on all rows, or the first `known`; the result, an argument named `what`, goes into `to`.
 * w->row gets the outputs of each row, unless the caller sets another w->batch. */
static int start_work(struct orrery_model *m, const struct orrery_sequences *given, size_t known,
                      const char *what, void *to, struct work *w)
{
    *w = (struct work){.m = m, .batch = run_forward, .to = to};
    TRY(check_pointer(what, to));
    if (!m->open)
        return ORR_FAIL(ORR_EMISSING, "there is no model yet; orrery_model_open()");
    TRY(take_sequences(m, given, known, &w->s));
    w->known = known ? known : w->s.rows;
    return 0;
}

/* ---------------------------------------------------------------------------------- a row each */

static void put_outputs(const struct work *w, size_t row, const real *out)
{
    const size_t outputs = (size_t)w->m->model.config.outputs;
    memcpy((float *)w->to + row * outputs, out, outputs * sizeof *out);
}

static int predict_outputs(struct orrery_model *m, const struct orrery_sequences *given, float *to)
{
    struct work w;
    TRY(start_work(m, given, 0, "outputs", to, &w));
    w.row = put_outputs;
    return run_batches(&w);
}

int orrery_model_outputs(struct orrery_model *m, const struct orrery_sequences *given,
                         float *outputs_)
{
    API_RETURN(m, predict_outputs(m, given, outputs_));
}

static void put_next(const struct work *w, size_t row, const real *out)
{
    const struct gpt_config *c = &w->m->model.config;
    uint16_t token[2];
    gpt_next_position(c, w->extent_au, out, (double *)w->to + (size_t)gpt_config_axes(c) * row,
                      token);
}

static bool is_stage(const struct orrery_model *m, const char *stage)
{
    return !strcmp(api_model_says(m, "stage"), stage);
}

/* ORR_EINVAL unless outputs are next positions; extent_au is checked for bins only. */
static int check_next(const struct orrery_model *m, double extent_au)
{
    const struct gpt_config *c = &m->model.config;
    if (c->input == GPT_INPUT_TEXT || c->outputs < 2 || is_stage(m, "magnitude") ||
        is_stage(m, "vector"))
        return ORR_FAIL(ORR_EINVAL,
                        "next positions: expected a model of orbits that predicts the next state, "
                        "found one of %s",
                        c->input == GPT_INPUT_TEXT ? "text" : "forces");
    if (c->head == GPT_HEAD_TOKENS && (!(extent_au > 0) || !isfinite(extent_au)))
        return ORR_FAIL(ORR_EINVAL, "extent_au: expected a number above 0, found %g", extent_au);
    return 0;
}

static int predict_next(struct orrery_model *m, const struct orrery_sequences *given,
                        double extent_au, double *to)
{
    struct work w;
    TRY(start_work(m, given, 0, "next", to, &w));
    TRY(check_next(m, extent_au));
    w.row = put_next;
    w.extent_au = extent_au;
    return run_batches(&w);
}

int orrery_model_next(struct orrery_model *m, const struct orrery_sequences *given,
                      double extent_au, double *next_)
{
    API_RETURN(m, predict_next(m, given, extent_au, next_));
}

static void put_magnitude(const struct work *w, size_t row, const real *out)
{
    ((double *)w->to)[row] = ft_transform_invert(&w->transform, (double)*out);
}

static void put_vector(const struct work *w, size_t row, const real *out)
{
    const size_t axes = (size_t)w->m->model.config.outputs;
    for (size_t c = 0; c < axes; c++)
        ((double *)w->to)[axes * row + c] = (double)out[c];
}

static int check_forces(const struct orrery_model *m, struct work *w)
{
    const int outputs_ = m->model.config.outputs;
    w->row = put_vector;
    if (is_stage(m, "vector") && outputs_ == gpt_config_axes(&m->model.config))
        return 0;
    w->row = put_magnitude;
    if (!is_stage(m, "magnitude") || outputs_ != 1)
        return ORR_FAIL(ORR_EINVAL,
                        "forces: expected a model that was fine-tuned to forces, found stage "
                        "\"%s\" with %d outputs",
                        api_model_says(m, "stage"), outputs_);
    const char *text = api_model_says(m, "force");
    if (!*text)
        return ORR_FAIL(ORR_EMISSING,
                        "forces: the checkpoint does not say how outputs become magnitudes "
                        "(\"force\"), as those of earlier versions; fine-tune it again");
    return ft_transform_parse(text, &w->transform)
               ? 0
               : ORR_FAIL(ORR_EFORMAT,
                          "forces: metadata \"force\": expected raw, log or scaled, a mean and a "
                          "scale, found \"%s\"",
                          text);
}

static int predict_forces(struct orrery_model *m, const struct orrery_sequences *given, double *to)
{
    struct work w;
    TRY(start_work(m, given, 0, "force", to, &w));
    TRY(check_forces(m, &w));
    return run_batches(&w);
}

int orrery_model_forces(struct orrery_model *m, const struct orrery_sequences *given, double *force)
{
    API_RETURN(m, predict_forces(m, given, force));
}

/* ---------------------------------------------------------------------------------- attention */

static int put_weights(struct work *w, struct gpt_batch *batch)
{
    struct gpt_model *model = &w->m->model;
    const struct k_attention_shape shape = gpt_attention_shape(model, batch->B, batch->T);
    const size_t square = w->s.rows * w->s.rows;
    double *to = (double *)w->to + w->first * (size_t)shape.H * square;
    const real *qkv;
    TRY(gpt_forward_body(model, batch));
    TRY(gpt_layer_qkv(model, w->layer, &qkv));
    for (int b = 0; b < batch->B; b++)
        for (int h = 0; h < shape.H; h++, to += square)
            TRY(k_attention_weights(to, qkv, &shape, b, h, 0, batch->T));
    return 0;
}

static int copy_attention(struct orrery_model *m, const struct orrery_sequences *given, int layer,
                          double *to)
{
    struct work w;
    TRY(start_work(m, given, 0, "weights", to, &w));
    if (layer < 0 || layer >= m->model.config.layers)
        return ORR_FAIL(ORR_EINVAL, "layer: expected 0 to %d, found %d", m->model.config.layers - 1,
                        layer);
    w.batch = put_weights;
    w.layer = layer;
    return run_batches(&w);
}

int orrery_model_attention(struct orrery_model *m, const struct orrery_sequences *given, int layer,
                           double *weights)
{
    API_RETURN(m, copy_attention(m, given, layer, weights));
}

/* ----------------------------------------------------------------------------------- rollout */

static int continue_batch(struct work *w, struct gpt_batch *batch)
{
    const size_t T = w->s.rows, n = (size_t)batch->B;
    const size_t axes = (size_t)gpt_config_axes(&w->m->model.config);
    float *to = w->to, *path = orr_alloc(n * T * axes, sizeof *path);
    int rc =
        path ? gpt_rollout(&w->m->model, batch, (int)w->known, w->extent_au, path) : ORR_ENOMEM;
    for (size_t b = 0; b < n && !rc; b++)
        memcpy(to + axes * ((w->first + b) * T + w->known), path + axes * (b * T + w->known),
               axes * (T - w->known) * sizeof *path);
    free(path);
    return rc;
}

static int roll_out(struct orrery_model *m, const struct orrery_sequences *given, size_t prefix,
                    double extent_au, float *path)
{
    struct work w;
    TRY(check_pointer("path", path));
    TRY(check_pointer("sequences", given));
    if (prefix < 1 || prefix > given->rows)
        return ORR_FAIL(ORR_EINVAL, "prefix: expected 1 to %zu rows, found %zu", given->rows,
                        prefix);
    TRY(start_work(m, given, prefix, "path", path, &w));
    TRY(check_next(m, extent_au));
    w.batch = continue_batch;
    w.extent_au = extent_au;
    return run_batches(&w);
}

int orrery_model_rollout(struct orrery_model *m, const struct orrery_sequences *given,
                         size_t prefix, double extent_au, float *path)
{
    API_RETURN(m, roll_out(m, given, prefix, extent_au, path));
}
