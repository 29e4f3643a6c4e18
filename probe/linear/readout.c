/* readout.c - see readout.h. */
#include "readout.h"

#include <math.h>
#include <string.h>

int probe_contexts(int steps, int from, struct probe_context list[PROBE_CONTEXTS])
{
    static const int wanted[] = {1, 2, 3, 5, 10};
    int count = 0;
    for (size_t k = 0; k < sizeof wanted / sizeof *wanted; k++)
        if (wanted[k] < steps) {
            list[count] = (struct probe_context){.context = wanted[k], .count = 1};
            list[count++].step[0] = wanted[k] - 1;
        }
    list[count] = (struct probe_context){.context = steps, .count = 1};
    list[count++].step[0] = steps - 1;
    const int there = steps - from;
    if (there < 1)
        return count;
    struct probe_context *pooled = &list[count++];
    *pooled = (struct probe_context){.count = there < PROBE_POOLED ? there : PROBE_POOLED};
    for (int k = 0; k < pooled->count; k++)
        pooled->step[k] = steps - 1 - (int)((long)(pooled->count - 1 - k) * there / pooled->count);
    return count;
}

int probe_readout_sequences(const struct probe_options *options, int *held_out)
{
    enum { FIT = 4000 };
    const int fit = options->sequences ? options->sequences : FIT;
    *held_out = (fit + 3) / 4;
    return fit;
}

/* --------------------------------------------------------------------------------- stream */

int probe_stream_places(int steps, const struct probe_context *contexts, int count, int *place)
{
    int kept = 0;
    memset(place, 0, (size_t)steps * sizeof *place);
    for (int c = 0; c < count; c++)
        for (int k = 0; k < contexts[c].count; k++)
            place[contexts[c].step[k]] = 1;
    for (int k = 0; k < steps; k++)
        place[k] = place[k] ? kept++ : -1;
    return kept;
}

static int plan_places(struct probe_arena *arena, struct probe_stream *s, int T,
                       const struct probe_context *contexts, int count)
{
    s->steps = (T - 1) / 2;
    s->place = probe_take(arena, (size_t)s->steps, sizeof *s->place);
    TRY(arena->failed);
    s->kept = probe_stream_places(s->steps, contexts, count, s->place);
    return 0;
}

/* The stream of sequence i at a stored step. */
static float *stream_at(const struct probe_stream *s, int i, int place)
{
    return s->x +
           ((size_t)i * (size_t)s->kept + (size_t)place) * (size_t)s->layers * (size_t)s->width;
}

static int keep_steps(struct probe_stream *s, struct gpt_model *model, int first, int B, int T)
{
    const size_t C = (size_t)s->width;
    for (int l = 0; l < s->layers; l++) {
        const real *x;
        TRY(gpt_residual(model, l, &x));
        for (int b = 0; b < B; b++)
            for (int k = 0; k < s->steps; k++)
                for (size_t c = 0; c < C && s->place[k] >= 0; c++)
                    stream_at(s, first + b, s->place[k])[(size_t)l * C + c] =
                        (float)x[((size_t)b * (size_t)T + 2 + 2 * (size_t)k) * C + c];
    }
    return 0;
}

int probe_stream_capture(struct probe_arena *arena, struct probe_stream *s, struct gpt_model *model,
                         const struct probe_labelled *set, int T,
                         const struct probe_context *contexts, int count)
{
    enum { BATCH = 32 };
    const int most = gpt_evaluation_batch(model, T, BATCH);
    struct gpt_batch batch = {0};
    *s = (struct probe_stream){
        .n = set->n, .layers = model->config.layers + 1, .width = model->config.width};
    TRY(plan_places(arena, s, T, contexts, count));
    s->x = probe_take(arena, (size_t)s->n * (size_t)s->kept * (size_t)s->layers * (size_t)s->width,
                      sizeof *s->x);
    TRY(arena->failed);
    int rc = gpt_batch_create(&batch, &model->config, most, T);
    for (int first = 0; first < s->n && !rc; first += most) {
        batch.B = s->n - first < most ? s->n - first : most;
        probe_labelled_fill(set, &model->config, first, &batch);
        rc = gpt_forward_body(model, &batch);
        rc = rc ? rc : keep_steps(s, model, first, batch.B, T);
        if (!rc && orr_signal_seen())
            rc = ORR_FAIL(ORR_EINTR, "stopped by a signal; nothing was written");
    }
    gpt_batch_free(&batch);
    return rc;
}

int probe_stream_answered(struct probe_arena *arena, struct probe_stream *s,
                          const struct probe_answers *answers, const char *split, int layer,
                          const struct probe_labelled *set, int T, int prefix,
                          const struct probe_context *contexts, int count)
{
    char file[2 * ORR_NAME];
    struct probe_array array;
    const size_t n = (size_t)set->n;
    size_t same = 0;
    *s = (struct probe_stream){.n = set->n, .layers = 1};
    TRY(plan_places(arena, s, T, contexts, count));
    for (int k = 0; k < s->steps && 2 + 2 * k < prefix; k++)
        same += s->place[k] >= 0;
    snprintf(file, sizeof file, "activations_%s_layer%d.npy", split, layer);
    int rc = probe_array_open(&array, answers, file, n, (size_t)s->kept, 0, same);
    s->width = rc ? 0 : (int)array.width;
    s->x = rc ? NULL : probe_take(arena, n * (size_t)s->kept * array.width, sizeof *s->x);
    rc = rc ? rc : arena->failed;
    for (size_t i = 0; i < n * (size_t)s->kept && !rc; i++)
        for (size_t c = 0; c < array.width; c++)
            s->x[i * array.width + c] =
                (float)probe_array_at(&array, i / (size_t)s->kept, i % (size_t)s->kept, c);
    probe_array_close(&array);
    return rc;
}

/* ------------------------------------------------------------------------------- features */

static bool numbers_of(const struct probe_labelled *set, int i, int step,
                       double number[PROBE_NUMBERS])
{
    return probe_quantities_of(set->axes, probe_labelled_state(set, i, step),
                               probe_labelled_force(set, i, step), number);
}

void probe_read_stream(const struct probe_reader *r, bool held_out, int sequence, int step,
                       double *x)
{
    const struct probe_stream *s = r->stream[held_out];
    const float *from =
        stream_at(s, sequence, s->place[step]) + (size_t)r->layer * (size_t)s->width;
    for (int c = 0; c < s->width; c++)
        *x++ = (double)from[c];
    if (r->told) {
        double number[PROBE_NUMBERS];
        numbers_of(held_out ? r->held_out : r->fit, sequence, step, number);
        for (int k = 0; k < probe_numbers(r->fit->axes); k++)
            x[k] = isfinite(number[k]) ? number[k] : 0;
    }
}

void probe_read_inputs(const struct probe_reader *r, bool held_out, int sequence, int step,
                       double *x)
{
    const float *rows = probe_labelled_rows(held_out ? r->held_out : r->fit, sequence);
    const int axes = r->fit->axes;
    *x++ = (double)rows[0];
    for (int k = step - r->window + 1; k <= step; k++)
        for (int c = 0; c < 2 * axes; c++)
            *x++ = (double)rows[axes + 2 * axes * k + c];
}

/* ---------------------------------------------------------------------------------- rows */

/* Quantities q0 .. q1 - 1, fitted and evaluated together. */
struct family {
    int axes, q0, q1, first, numbers;
    int group[PROBE_NUMBERS];
};

static struct family family_of(int axes, int q0, int q1)
{
    struct family f = {.axes = axes, .q0 = q0, .q1 = q1, .first = probe_quantity_at(axes, q0)};
    for (int q = q0; q < q1; q++)
        for (int c = 0; c < probe_quantity_size(axes, q); c++)
            f.group[f.numbers++] = q - q0;
    return f;
}

/* Collects the rows of a set whose numbers are all finite. */
static int gather_rows(const struct probe_reader *r, bool held_out,
                       const struct probe_context *context, const struct family *f,
                       struct probe_rows *rows)
{
    const struct probe_labelled *set = held_out ? r->held_out : r->fit;
    double number[PROBE_NUMBERS];
    TRY(probe_rows_create(r->arena, rows, (long)set->n * context->count, r->features, f->numbers,
                          f->q1 - f->q0, f->group));
    for (int i = 0; i < set->n; i++)
        for (int k = 0; k < context->count; k++) {
            bool finite = true;
            numbers_of(set, i, context->step[k], number);
            for (int c = 0; c < f->numbers; c++)
                finite &= isfinite(number[f->first + c]) != 0;
            if (!finite)
                continue;
            memcpy(rows->y + (size_t)rows->rows * (size_t)f->numbers, number + f->first,
                   (size_t)f->numbers * sizeof *number);
            r->read(r, held_out, i, context->step[k],
                    rows->x + (size_t)rows->rows * (size_t)r->features);
            rows->sequence[rows->rows++] = i;
        }
    return 0;
}

static void add_score(struct probe_score *score, int size, const double *truth, const double *found)
{
    score->rows++;
    for (int c = 0; c < size; c++) {
        score->error += (found[c] - truth[c]) * (found[c] - truth[c]);
        score->square += truth[c] * truth[c];
        score->sum[c] += truth[c];
    }
}

/* ------------------------------------------------------------------------------- readouts */

/* Scores the held-out rows: score (quantities of the family, sequences). */
static void score_rows(const struct probe_ridge *ridge, const struct probe_rows *rows,
                       const struct family *f, int sequences, struct probe_score *score)
{
    const size_t F = (size_t)rows->features, K = (size_t)rows->targets;
    double found[PROBE_NUMBERS];
    for (size_t i = 0; i < (size_t)rows->rows; i++) {
        probe_ridge_predict(ridge, rows->x + i * F, found);
        for (int q = f->q0; q < f->q1; q++) {
            const int k = probe_quantity_at(f->axes, q) - f->first;
            add_score(&score[(q - f->q0) * sequences + rows->sequence[i]],
                      probe_quantity_size(f->axes, q), rows->y + i * K + k, found + k);
        }
    }
}

static int read_family(const struct probe_reader *r, const struct probe_context *context,
                       const struct probe_resamples *resamples, const struct family *f,
                       struct probe_reading *reading)
{
    struct probe_rows fit, rows;
    struct probe_ridge ridge;
    const int n = r->held_out->n;
    const size_t kept = r->arena->count, N = (size_t)n;
    struct probe_score *score = probe_take(r->arena, (size_t)(f->q1 - f->q0) * N, sizeof *score);
    unsigned short *once = probe_take(r->arena, N, sizeof *once);
    TRY(gather_rows(r, false, context, f, &fit));
    TRY(gather_rows(r, true, context, f, &rows));
    TRY(probe_ridge_fit(r->arena, &fit, &ridge));
    score_rows(&ridge, &rows, f, n, score);
    for (int i = 0; i < n; i++)
        once[i] = 1;
    for (int q = f->q0; q < f->q1; q++) {
        const struct probe_score *of = score + (size_t)(q - f->q0) * N;
        reading[q].r2 = resamples ? probe_bootstrap(resamples, probe_r2, of)
                                  : probe_exactly(probe_r2(of, n, once));
        reading[q].inner = ridge.inner[q - f->q0];
        reading[q].n = rows.rows;
    }
    probe_rewind(r->arena, kept);
    return 0;
}

/* Whether every row of the context has a bound orbit. */
static bool all_bound(const struct probe_labelled *set, const struct probe_context *context)
{
    double number[PROBE_NUMBERS];
    bool bound = true;
    for (int i = 0; i < set->n; i++)
        for (int k = 0; k < context->count; k++)
            bound &= numbers_of(set, i, context->step[k], number);
    return bound;
}

int probe_readout(const struct probe_reader *r, const struct probe_context *context,
                  const struct probe_resamples *resamples,
                  struct probe_reading reading[PROBE_QUANTITIES])
{
    const int axes = r->fit->axes;
    int kepler = 0;
    while (!probe_quantities[kepler].kepler)
        kepler++;
    const struct family all = family_of(axes, 0, PROBE_QUANTITIES),
                        newton = family_of(axes, 0, kepler),
                        elements = family_of(axes, kepler, PROBE_QUANTITIES);
    if (all_bound(r->fit, context) && all_bound(r->held_out, context))
        return read_family(r, context, resamples, &all, reading);
    TRY(read_family(r, context, resamples, &newton, reading));
    return read_family(r, context, resamples, &elements, reading);
}

/* ------------------------------------------------------------------------------- observer */

/* Means of the finite numbers over the rows of a context. */
static void find_means(const struct probe_labelled *set, const struct probe_context *context,
                       double mean[PROBE_NUMBERS])
{
    double count[PROBE_NUMBERS] = {0}, number[PROBE_NUMBERS];
    memset(mean, 0, PROBE_NUMBERS * sizeof *mean);
    for (int i = 0; i < set->n; i++)
        for (int k = 0; k < context->count; k++) {
            numbers_of(set, i, context->step[k], number);
            for (int c = 0; c < probe_numbers(set->axes); c++)
                if (isfinite(number[c])) {
                    mean[c] += number[c];
                    count[c]++;
                }
        }
    for (int c = 0; c < probe_numbers(set->axes); c++)
        mean[c] /= count[c];
}

/* Fits an orbit to sequence i after each wanted step: found (steps, PROBE_NUMBERS), NaN where there
 * is no orbit. Each fit is also started from the previous one. */
static int fitted_numbers(const struct probe_labelled *set, int i, int steps, const bool *wanted,
                          const struct gpt_orbit_prior *prior, double *found)
{
    double p[GPT_ORBIT_PARAMETERS];
    int last = 0;
    for (int k = 0; k < steps; k++) {
        struct probe_orbit orbit;
        bool there;
        double state[SIM_STATE + 2], force[SIM_AXES], *to = found + (size_t)k * PROBE_NUMBERS;
        if (!wanted[k])
            continue;
        TRY(probe_orbit_fit(set, i, k + 1, prior, p, last > 3, &orbit, &there));
        last = there ? k + 1 : 0;
        probe_orbit_state(&orbit, state, force);
        probe_quantities_of(set->axes, state, force, to);
        for (int c = 0; c < PROBE_NUMBERS && !there; c++)
            to[c] = NAN;
    }
    return 0;
}

/* Adds the observer's results for sequence i to the scores of a context. */
static void score_observer(const struct probe_labelled *set, int i,
                           const struct probe_context *context, const double *found,
                           const double mean[PROBE_NUMBERS],
                           struct probe_score score[PROBE_QUANTITIES])
{
    double truth[PROBE_NUMBERS], guess[PROBE_NUMBERS];
    for (int k = 0; k < context->count; k++) {
        const double *of = found + (size_t)context->step[k] * PROBE_NUMBERS;
        numbers_of(set, i, context->step[k], truth);
        for (int c = 0; c < probe_numbers(set->axes); c++)
            guess[c] = isfinite(of[c]) ? of[c] : mean[c];
        for (int q = 0; q < PROBE_QUANTITIES; q++) {
            const int first = probe_quantity_at(set->axes, q);
            if (isfinite(truth[first]))
                add_score(&score[q], probe_quantity_size(set->axes, q), truth + first,
                          guess + first);
        }
    }
}

int probe_observer(struct probe_arena *arena, const struct probe_labelled *fit,
                   const struct probe_labelled *held_out, int n,
                   const struct probe_context *contexts, int count, double r2[][PROBE_QUANTITIES])
{
    struct probe_score score[PROBE_CONTEXTS][PROBE_QUANTITIES] = {{{0}}};
    double mean[PROBE_CONTEXTS][PROBE_NUMBERS];
    const unsigned short once = 1;
    struct gpt_orbit_prior prior;
    double *found = probe_take(arena, (size_t)held_out->steps * PROBE_NUMBERS, sizeof *found);
    bool *wanted = probe_take(arena, (size_t)held_out->steps, sizeof *wanted);
    TRY(arena->failed);
    TRY(probe_orbit_prior(fit, &prior));
    for (int c = 0; c < count; c++) {
        find_means(fit, &contexts[c], mean[c]);
        for (int k = 0; k < contexts[c].count; k++)
            wanted[contexts[c].step[k]] = true;
    }
    for (int i = 0; i < n; i++) {
        if (orr_signal_seen())
            return ORR_FAIL(ORR_EINTR, "stopped by a signal");
        TRY(fitted_numbers(held_out, i, held_out->steps, wanted, &prior, found));
        for (int c = 0; c < count; c++)
            score_observer(held_out, i, &contexts[c], found, mean[c], score[c]);
    }
    for (int c = 0; c < count; c++)
        for (int q = 0; q < PROBE_QUANTITIES; q++)
            r2[c][q] = probe_r2(&score[c][q], 1, &once);
    return 0;
}
