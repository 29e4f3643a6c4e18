/* adaptation_read.c - see adaptation.h. */
#include "adaptation.h"

#include <math.h>
#include <string.h>

#include "probe/linear/ridge.h"

int probe_read_create(struct probe_arena *arena, struct probe_read *read, size_t rows)
{
    *read = (struct probe_read){.layer = {-1, -1}};
    for (int q = 0; q < PROBE_READ; q++)
        read->of[q] = probe_take(arena, rows, sizeof *read->of[q]);
    return arena->failed;
}

static void read_truth(const struct probe_held_out *j, size_t row, double truth[PROBE_READ])
{
    const double r = ft_separation(j->set, j->at[row]);
    truth[PROBE_LOG_F] = j->y[row];
    truth[PROBE_INVERSE_SQUARE] = 1 / (r * r);
}

/* --------------------------------------------------------------------------------- stream */

/* The residual stream at the rows of a set: x (layers, rows, width). */
struct stream {
    int layers, width;
    float *x;
};

/* Stores the rows of the sequences first .. first + batch->B - 1, which begin at index *row. */
static int keep_rows(struct stream *s, struct gpt_model *model, const struct probe_held_out *j,
                     size_t first, const struct gpt_batch *batch, size_t *row)
{
    const size_t C = (size_t)s->width, T = (size_t)batch->T, P = (size_t)j->set->positions;
    size_t end = *row;
    while (end < j->rows && j->of[end] < first + (size_t)batch->B)
        end++;
    for (int l = 0; l < s->layers; l++) {
        const real *x;
        TRY(gpt_residual(model, l, &x));
        for (size_t i = *row; i < end; i++)
            for (size_t c = 0; c < C; c++)
                s->x[((size_t)l * j->rows + i) * C + c] =
                    (float)x[((j->of[i] - first) * T + j->at[i] % P) * C + c];
    }
    *row = end;
    return 0;
}

static int capture_stream(struct probe_arena *arena, struct stream *s, struct gpt_model *model,
                          const struct probe_held_out *j)
{
    enum { BATCH = 32 };
    const int T = j->set->positions - 1, most = gpt_evaluation_batch(model, T, BATCH);
    const struct ft_inputs inputs = {.config = &model->config};
    struct gpt_batch batch = {0};
    size_t row = 0;
    *s = (struct stream){.layers = model->config.layers + 1, .width = model->config.width};
    s->x = probe_take(arena, (size_t)s->layers * j->rows * (size_t)s->width, sizeof *s->x);
    TRY(arena->failed);
    int rc = gpt_batch_create(&batch, &model->config, most, T);
    for (size_t first = 0; first < j->sequences && !rc; first += (size_t)most) {
        const size_t left = j->sequences - first;
        batch.B = left < (size_t)most ? (int)left : most;
        for (int b = 0; b < batch.B; b++)
            ft_fill_inputs(&inputs, j->set, j->sequence[first + (size_t)b], 0, NULL, b, &batch);
        rc = orr_signal_seen() ? ORR_FAIL(ORR_EINTR, "stopped by a signal; nothing was written")
                               : gpt_forward_body(model, &batch);
        rc = rc ? rc : keep_rows(s, model, j, first, &batch, &row);
    }
    gpt_batch_free(&batch);
    return rc;
}

/* ------------------------------------------------------------------------------- features */

/* Source of a row's features: a layer of a stream, or positions. */
struct features {
    const struct stream *stream; /* NULL: positions */
    int layer, places, axes;     /* axes: coordinates d of a position */
    bool told;
};

static int features_of(const struct features *f)
{
    return (f->stream ? f->stream->width : 1 + f->axes * f->places) + (f->told ? PROBE_READ : 0);
}

static void read_features(const struct features *f, const struct probe_held_out *j, size_t row,
                          double *x)
{
    if (f->stream) {
        const size_t C = (size_t)f->stream->width;
        const float *from = f->stream->x + ((size_t)f->layer * j->rows + row) * C;
        for (size_t c = 0; c < C; c++)
            *x++ = (double)from[c];
    } else {
        const size_t P = (size_t)j->set->positions, numbers = (size_t)f->axes * (size_t)f->places;
        const float *rows = sim_dataset_coords(j->set, j->at[row] / P);
        const float *end = rows + (size_t)f->axes * (j->at[row] % P + 1);
        *x++ = (double)rows[0];
        for (size_t k = 0; k < numbers; k++)
            *x++ = (double)(end - numbers)[k];
    }
    if (f->told)
        read_truth(j, row, x);
}

static int gather_rows(struct probe_arena *arena, const struct features *f,
                       const struct probe_held_out *j, struct probe_rows *rows)
{
    static const int group[PROBE_READ] = {0, 1}; /* separate ridge strengths */
    const int count = features_of(f);
    TRY(probe_rows_create(arena, rows, (long)j->rows, count, PROBE_READ, PROBE_READ, group));
    for (size_t i = 0; i < j->rows; i++) {
        read_features(f, j, i, rows->x + i * (size_t)count);
        read_truth(j, i, rows->y + i * PROBE_READ);
        rows->sequence[i] = (int)j->of[i];
    }
    rows->rows = (long)j->rows;
    return 0;
}

/* Fits readouts of these features. For each quantity read better than `inner` on the inner held-out
 * sequences, the new readout replaces the old one. */
static int read_from(struct probe_arena *arena, const struct features *fitted,
                     const struct features *held_out_from, const struct probe_held_out *fit,
                     const struct probe_held_out *held_out, double inner[PROBE_READ],
                     struct probe_read *read)
{
    struct probe_rows rows;
    struct probe_ridge ridge;
    const size_t kept = arena->count;
    double *x = probe_take(arena, (size_t)features_of(fitted), sizeof *x), found[PROBE_READ];
    bool better[PROBE_READ];
    TRY(gather_rows(arena, fitted, fit, &rows));
    TRY(probe_ridge_fit(arena, &rows, &ridge));
    for (int q = 0; q < PROBE_READ; q++) {
        better[q] = ridge.inner[q] > inner[q];
        if (better[q]) {
            inner[q] = ridge.inner[q];
            read->layer[q] = fitted->stream ? fitted->layer : -1;
        }
    }
    for (size_t i = 0; i < held_out->rows; i++) {
        read_features(held_out_from, held_out, i, x);
        probe_ridge_predict(&ridge, x, found);
        for (int q = 0; q < PROBE_READ; q++)
            if (better[q])
                read->of[q][i] = found[q];
    }
    probe_rewind(arena, kept);
    return 0;
}

static int read_layers(struct probe_arena *arena, const struct stream *of_fit,
                       const struct stream *of_held_out, bool told,
                       const struct probe_held_out *fit, const struct probe_held_out *held_out,
                       struct probe_read *read)
{
    double inner[PROBE_READ] = {-INFINITY, -INFINITY};
    for (int l = 0; l < of_fit->layers; l++) {
        const struct features a = {.stream = of_fit, .layer = l, .told = told},
                              b = {.stream = of_held_out, .layer = l, .told = told};
        TRY(read_from(arena, &a, &b, fit, held_out, inner, read));
    }
    return 0;
}

int probe_read_model(struct probe_arena *arena, struct gpt_model *model,
                     const struct probe_held_out *fit, const struct probe_held_out *held_out,
                     struct probe_read *read, struct probe_read *told)
{
    struct stream of_fit, of_held_out;
    const size_t kept = arena->count;
    TRY(capture_stream(arena, &of_fit, model, fit));
    TRY(capture_stream(arena, &of_held_out, model, held_out));
    TRY(read_layers(arena, &of_fit, &of_held_out, false, fit, held_out, read));
    if (told)
        TRY(read_layers(arena, &of_fit, &of_held_out, true, fit, held_out, told));
    probe_rewind(arena, kept);
    return 0;
}

/* The number of positions that every row has, from row 1 of its sequence (after the time step) to
 * itself. */
static int fewest_places(const struct probe_held_out *j, int most)
{
    for (size_t i = 0; i < j->rows; i++) {
        const int there = (int)(j->at[i] % (size_t)j->set->positions);
        most = there < most ? there : most;
    }
    return most;
}

int probe_read_places(struct probe_arena *arena, const struct probe_held_out *fit,
                      const struct probe_held_out *held_out, struct probe_read *read)
{
    enum { MOST = 64 };
    double inner[PROBE_READ] = {-INFINITY, -INFINITY};
    const struct features f = {.places = fewest_places(held_out, fewest_places(fit, MOST)),
                               .axes = fit->set->dimensions};
    return read_from(arena, &f, &f, fit, held_out, inner, read);
}

/* ------------------------------------------------------------------------------ agreement */

struct probe_agreement probe_agree(const struct probe_held_out *j, const bool *kept, int quantity,
                                   const double *found, const double *weight)
{
    double n = 0, y = 0, z = 0, yy = 0, zz = 0, yz = 0, error = 0, truth[PROBE_READ];
    for (int pass = 0; pass < 2; pass++) /* first the means, then the central moments */
        for (size_t i = 0; i < j->rows; i++) {
            const double w = kept && !kept[i] ? 0 : weight ? weight[j->of[i]] : 1;
            if (w <= 0)
                continue;
            read_truth(j, i, truth);
            const double t = truth[quantity], f = found[i];
            if (pass == 0) {
                n += w;
                y += w * t;
                z += w * f;
                continue;
            }
            yy += w * (t - y / n) * (t - y / n);
            zz += w * (f - z / n) * (f - z / n);
            yz += w * (t - y / n) * (f - z / n);
            error += w * (f - t) * (f - t);
        }
    return (struct probe_agreement){.r2 = yy > 0 ? 1 - error / yy : (double)NAN,
                                    .rho = yy > 0 && zz > 0 ? yz / sqrt(yy * zz) : (double)NAN};
}
