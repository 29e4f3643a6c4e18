/* next_state.c - next-state errors against trivial predictors, and rollouts. */
#include "evaluate.h"
#include "model/decode.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

enum { EVAL_BATCH = 32 };

enum sim_split gpt_final_split(const struct orr_settings *settings, bool planets)
{
    const enum sim_split test = planets ? SIM_SPLIT_PLANETS_TEST : SIM_SPLIT_TEST;
    if (!orr_settings_is_text(settings) && sim_split_count(settings, test) > 0)
        return test;
    return planets ? SIM_SPLIT_PLANETS_VAL : SIM_SPLIT_VAL;
}

static double bin_centre(double bin, int bins, double extent_au)
{
    return -extent_au + (bin + 0.5) * 2 * extent_au / bins;
}

/* The most probable bin of one channel's logits (V): only position bins count. */
static int best_bin(const real *logits, int bins)
{
    int best = 0;
    for (int v = 1; v < bins; v++)
        if (logits[v] > logits[best])
            best = v;
    return best;
}

void gpt_next_position(const struct gpt_config *config, double extent_au, const real *out,
                       double xy[], uint16_t token[2])
{
    for (int c = 0; c < gpt_config_axes(config) && config->head == GPT_HEAD_REGRESSION; c++)
        xy[c] = (double)out[c];
    if (config->head == GPT_HEAD_REGRESSION)
        return;
    const int bins = config->vocab - 3;
    for (int c = 0; c < 2; c++) {
        const int bin = best_bin(out + (size_t)c * (size_t)config->vocab, bins);
        token[c] = (uint16_t)bin;
        xy[c] = bin_centre(bin, bins, extent_au);
    }
}

/* Fills row t of the batch and of path (B, T, d) with the prediction in `out` (B, OC), the
 * outputs of row t - 1. */
static void put_row(const struct gpt_config *config, struct gpt_batch *batch, int t,
                    double extent_au, const real *out, real *path)
{
    const size_t T = (size_t)batch->T, F = (size_t)gpt_config_features(config);
    const size_t axes = (size_t)gpt_config_axes(config);
    for (size_t b = 0; b < (size_t)batch->B; b++, out += config->outputs) {
        const size_t row = b * T + (size_t)t;
        double xy[GPT_AXES] = {0};
        uint16_t token[2];
        gpt_next_position(config, extent_au, out, xy, token);
        for (size_t c = 0; c < axes; c++)
            path[axes * row + c] = (real)xy[c];
        if (config->input == GPT_INPUT_TOKENS)
            memcpy(batch->tokens + 2 * row, token, sizeof token);
        else
            gpt_place_features(config, xy, false, batch->features + row * F);
    }
}

int gpt_rollout(struct gpt_model *model, struct gpt_batch *batch, int prefix, double extent_au,
                real *path)
{
    const struct gpt_config *config = &model->config;
    if (config->input == GPT_INPUT_TEXT)
        return ORR_FAIL(ORR_EINVAL, "rollout: expected a model of orbits, found text");
    if (prefix < 1)
        return ORR_FAIL(ORR_EINVAL, "rollout: the prefix must have at least 1 row, found %d",
                        prefix);
    if (prefix >= batch->T)
        return 0;
    struct gpt_decoder decoder;
    int rc = gpt_decoder_open(&decoder, model, batch);
    for (int t = prefix; t < batch->T && !rc; t++) {
        const real *out = NULL;
        if (orr_signal_seen())
            rc = ORR_FAIL(ORR_EINTR, "stopped by a signal");
        if (!rc)
            rc = t == prefix ? gpt_decoder_first(&decoder, t - 1, &out)
                             : gpt_decoder_next(&decoder, t - 1, &out);
        if (!rc)
            put_row(config, batch, t, extent_au, out, path);
    }
    gpt_decoder_close(&decoder);
    return rc;
}

struct eval {
    struct gpt_model *model;
    struct gpt_source *source;
    double extent_au;
    int bins, axes;
    struct gpt_next_state *result;
    double weight; /* sum of the weights of the rows in the loss */
    long teacher_rows, rollout_rows[3];
    double *xy; /* (B, T, d) predicted positions of a batch */
};

/* True position of row t of a sequence, in the data set's units. */
static void truth_at(const struct eval *e, const uint16_t *tokens, const float *coords, int t,
                     double xy[GPT_AXES])
{
    for (int c = 0; c < e->axes; c++)
        xy[c] = coords ? (double)coords[e->axes * t + c]
                       : bin_centre(tokens[2 * t + c], e->bins, e->extent_au);
}

static double distance(const struct eval *e, const double a[], const double b[])
{
    const double flat = hypot(a[0] - b[0], a[1] - b[1]);
    return e->axes == 3 ? hypot(flat, a[2] - b[2]) : flat;
}

/* Whether row t counts: errors are those of planets, without the sun; of imported tracks, in which
 * the last body is no sun, those of all bodies. */
static bool counts(const struct eval *e, int t, int bodies)
{
    return gpt_source_is_tracks(e->source) || (t - 1) % bodies != bodies - 1;
}

/* Adds the teacher-forced error of sequence i, whose predictions for rows 1 .. T are guess (T,
 * d). */
static int teacher_forced(struct eval *e, uint64_t i, const double *guess, int T)
{
    const uint16_t *tokens;
    const float *coords;
    int bodies;
    TRY(gpt_source_sequence(e->source, i, &tokens, &coords, &bodies));
    double mean[GPT_AXES] = {0};
    int rows = 0;
    for (int t = 1; t <= T; t++) {
        if (!counts(e, t, bodies))
            continue;
        double xy[GPT_AXES] = {0};
        truth_at(e, tokens, coords, t, xy);
        for (int c = 0; c < GPT_AXES; c++)
            mean[c] += xy[c];
        rows++;
    }
    for (int c = 0; c < GPT_AXES; c++)
        mean[c] /= rows;
    for (int t = 1 + bodies; t <= T; t++) {
        if (!counts(e, t, bodies))
            continue;
        double xy[GPT_AXES] = {0}, before[GPT_AXES] = {0};
        truth_at(e, tokens, coords, t, xy);
        truth_at(e, tokens, coords, t - bodies, before);
        e->result->teacher_forced += distance(e, guess + e->axes * (t - 1), xy);
        e->result->persistence += distance(e, before, xy);
        e->result->sequence_mean += distance(e, mean, xy);
        e->teacher_rows++;
    }
    return 0;
}

/* Adds the errors of a rollout at the horizons; where a horizon is a row of the sun, the
 * planet's row before it counts. Persistence repeats the body's last known position. */
static int rollout_errors(struct eval *e, uint64_t i, const real *path)
{
    const uint16_t *tokens;
    const float *coords;
    int bodies;
    struct gpt_next_state *r = e->result;
    TRY(gpt_source_sequence(e->source, i, &tokens, &coords, &bodies));
    for (int k = 0; k < r->horizons; k++) {
        int t = r->prefix - 1 + r->horizon[k];
        if (!counts(e, t, bodies) && --t < r->prefix)
            continue;
        int last = t - bodies;
        while (last >= r->prefix)
            last -= bodies;
        if (last < 1)
            continue; /* the prefix does not contain this body */
        double xy[GPT_AXES] = {0}, before[GPT_AXES] = {0}, at[GPT_AXES] = {0};
        truth_at(e, tokens, coords, t, xy);
        truth_at(e, tokens, coords, last, before);
        for (int c = 0; c < e->axes; c++)
            at[c] = (double)path[e->axes * t + c];
        r->rollout[k] += distance(e, at, xy);
        r->rollout_persistence[k] += distance(e, before, xy);
        e->rollout_rows[k]++;
    }
    return 0;
}

static int decode_rows(void *context, size_t first, size_t rows, const real *out)
{
    struct eval *e = context;
    const struct gpt_config *config = &e->model->config;
    uint16_t token[2];
    for (size_t n = first; n < first + rows; n++, out += config->outputs)
        gpt_next_position(config, e->extent_au, out, e->xy + (size_t)e->axes * n, token);
    return 0;
}

static int evaluate_batch(struct eval *e, struct gpt_batch *batch, struct gpt_batch *start,
                          real *path, uint64_t first)
{
    const size_t axes = (size_t)e->axes;
    double loss;
    TRY(gpt_source_fill(e->source, first, true, 0, 0, batch));
    TRY(gpt_forward_pieces(e->model, batch, decode_rows, e, &loss));
    const double weight = gpt_batch_weight(batch);
    e->result->loss += weight * loss;
    e->weight += weight;
    for (int b = 0; b < batch->B; b++)
        TRY(teacher_forced(e, first + (uint64_t)b, e->xy + axes * (size_t)b * (size_t)batch->T,
                           batch->T));
    start->B = batch->B;
    TRY(gpt_source_fill(e->source, first, true, 0, 0, start));
    TRY(gpt_rollout(e->model, start, e->result->prefix, e->extent_au, path));
    for (int b = 0; b < batch->B; b++)
        TRY(rollout_errors(e, first + (uint64_t)b, path + axes * (size_t)b * (size_t)start->T));
    return 0;
}

void gpt_next_state_plan(struct gpt_next_state *r, int T, bool two_bodies)
{
    static const int wanted[3] = {1, 5, 100};
    r->prefix = T / 2 + 1; /* row 0 is the time step */
    if (two_bodies)
        r->prefix -= r->prefix % 2 == 0; /* makes the next row the planet's */
    for (int k = 0; k < 3; k++)
        if (r->prefix + wanted[k] <= T || k == 0)
            r->horizon[r->horizons++] = wanted[k];
    if (r->horizons < 3 && T - r->prefix > r->horizon[r->horizons - 1])
        r->horizon[r->horizons++] = T - r->prefix;
}

/* Without a model: which sequences count, and the horizons of their rollouts. */
static struct eval begin_evaluation(const struct gpt_config *config, struct gpt_source *source,
                                    int sequences, double extent_au, struct gpt_next_state *result)
{
    const int most = (int)gpt_source_count(source);
    *result = (struct gpt_next_state){.sequences = sequences < most ? sequences : most,
                                      .orbit_fit = NAN,
                                      .orbit_fit_half = NAN,
                                      .orbit_fit_late = NAN};
    /* continuous data have two bodies; tokens and tracks any number */
    gpt_next_state_plan(result, config->context,
                        gpt_is_continuous(config) && !gpt_source_is_tracks(source));
    return (struct eval){.source = source,
                         .extent_au = extent_au,
                         .bins = config->vocab - 3,
                         .axes = gpt_config_axes(config),
                         .result = result};
}

/* Sums become means; of no rows NaN. */
static void end_evaluation(struct eval *e)
{
    struct gpt_next_state *result = e->result;
    const double rows = (double)e->teacher_rows;
    result->loss /= e->weight;
    result->teacher_forced /= rows;
    result->persistence /= rows;
    result->sequence_mean /= rows;
    for (int k = 0; k < result->horizons; k++) {
        result->rollout[k] /= (double)e->rollout_rows[k];
        result->rollout_persistence[k] /= (double)e->rollout_rows[k];
    }
}

int gpt_evaluate_next_state(struct gpt_model *model, struct gpt_source *source, int sequences,
                            double extent_au, struct gpt_next_state *result)
{
    const int T = model->config.context;
    struct gpt_batch batch, start;
    if (model->config.input == GPT_INPUT_TEXT)
        return ORR_FAIL(ORR_EINVAL, "next-state errors: expected a model of orbits, found text");
    struct eval e = begin_evaluation(&model->config, source, sequences, extent_au, result);
    e.model = model;
    const int longest = result->prefix + result->horizon[result->horizons - 1];
    const int B = gpt_evaluation_batch(model, T, EVAL_BATCH);
    TRY(gpt_batch_create(&batch, &model->config, B, T));
    int rc = gpt_batch_create(&start, &model->config, B, longest < T ? longest : T);
    const size_t numbers = (size_t)B * (size_t)T * (size_t)e.axes;
    real *path = orr_alloc(numbers, sizeof *path);
    e.xy = orr_alloc(numbers, sizeof *e.xy);
    if (!path || !e.xy)
        rc = ORR_ENOMEM;
    for (int i = 0; i < result->sequences && !rc; i += B) {
        batch.B = result->sequences - i < B ? result->sequences - i : B;
        rc = evaluate_batch(&e, &batch, &start, path, (uint64_t)i);
        if (!rc && orr_signal_seen())
            rc = ORR_FAIL(ORR_EINTR, "stopped by a signal");
    }
    end_evaluation(&e);
    gpt_batch_free(&batch);
    gpt_batch_free(&start);
    free(path);
    free(e.xy);
    return rc;
}

int gpt_evaluate_predictions(const struct gpt_config *config, struct gpt_source *source,
                             int sequences, const double *next, const real *path,
                             struct gpt_next_state *result)
{
    struct eval e = begin_evaluation(config, source, sequences, 0, result);
    const size_t T = (size_t)config->context, axes = (size_t)e.axes;
    for (size_t i = 0; i < (size_t)result->sequences; i++) {
        TRY(teacher_forced(&e, i, next + axes * i * T, (int)T));
        TRY(rollout_errors(&e, i, path + axes * i * T));
    }
    end_evaluation(&e);
    return 0;
}

void gpt_next_state_add(cJSON *json, const struct gpt_next_state *r)
{
    char key[64];
    cJSON_AddNumberToObject(json, "sequences", r->sequences);
    cJSON_AddNumberToObject(json, "loss", r->loss); /* cJSON prints NaN as null */
    cJSON_AddNumberToObject(json, "teacher_forced", r->teacher_forced);
    cJSON_AddNumberToObject(json, "persistence", r->persistence);
    cJSON_AddNumberToObject(json, "sequence_mean", r->sequence_mean);
    cJSON_AddNumberToObject(json, "rollout_prefix", r->prefix);
    for (int k = 0; k < r->horizons; k++) {
        snprintf(key, sizeof key, "rollout_%d", r->horizon[k]);
        cJSON_AddNumberToObject(json, key, r->rollout[k]);
        snprintf(key, sizeof key, "rollout_persistence_%d", r->horizon[k]);
        cJSON_AddNumberToObject(json, key, r->rollout_persistence[k]);
    }
}
