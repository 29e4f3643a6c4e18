/* intervene.c - bin/probe intervene: tests whether a model uses a quantity that a readout finds in
 * it. The quantity is changed in the residual stream along its ridge readout, and the model's
 * continuation is compared with the orbit after an equal change of the quantity. */
#include "intervene.h"
#include "probe/core/figure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIT = 2000, SEQUENCES = 64, BATCH = 64 };
const int probe_horizons[PROBE_HORIZONS] = {1, 2};
static const char *const slope_name[PROBE_WAYS] = {"slope", "slope, likely"};
static const char *const cosine_name[PROBE_WAYS] = {"cosine", "cosine, likely"};

/* Readouts: the quantities that are changed, and the relative position, which no change moves. */
enum { READOUTS = PROBE_CHANGES + SIM_AXES };

static int readouts_of(const struct probe_intervene *v)
{
    return v->changes + v->axes;
}

/* Lists the readouts that are kept fixed while quantity q is changed, q itself first: the
 * velocities, but of the angular momentum, which moves them, and the position. Returns how many. */
static int list_held(const struct probe_intervene *v, int q, int held[READOUTS])
{
    int count = 0;
    held[count++] = q;
    for (int c = 0; c < v->axes; c++)
        if (c != q && probe_change_at(v->axes, q) != PROBE_CHANGE_MOMENTUM)
            held[count++] = c;
    for (int c = 0; c < v->axes; c++)
        held[count++] = v->changes + c;
    return count;
}

/* ------------------------------------------------------------------------------ the subject
 * (steer.h) */

static int continue_batch(struct probe_continued *s, int first, int layer, const real *vector,
                          struct gpt_batch *batch, real *path, double *place)
{
    const struct probe_intervene *v = s->v;
    const size_t C = (size_t)s->model->config.width, T = (size_t)v->T, H = (size_t)v->horizons;
    const size_t axes = (size_t)v->axes;
    const struct gpt_activation_patch add = {layer, v->prefix - 1,
                                             vector ? vector + (size_t)first * C : NULL};
    probe_labelled_fill(&v->held_out, &s->model->config, first, batch);
    s->model->patch = vector ? &add : NULL;
    const int rc = gpt_rollout(s->model, batch, v->prefix, 0, path);
    s->model->patch = NULL;
    for (size_t b = 0; b < (size_t)batch->B && !rc; b++)
        for (size_t h = 0; h < H; h++)
            for (size_t c = 0; c < axes; c++) {
                const size_t row = (size_t)v->prefix + 2 * (size_t)(probe_horizons[h] - 1);
                place[axes * (((size_t)first + b) * H + h) + c] =
                    (double)path[axes * (b * T + row) + c];
            }
    return rc;
}

int probe_intervene_continue(void *of, int layer, const real *vector, double *place)
{
    struct probe_continued *s = of;
    const int n = s->v->held_out.n, most = gpt_evaluation_batch(s->model, s->v->T, BATCH);
    struct gpt_batch batch = {0};
    real *path = orr_alloc((size_t)most * (size_t)(s->v->T * s->v->axes), sizeof *path);
    int rc = path ? gpt_batch_create(&batch, &s->model->config, most, s->v->T) : ORR_ENOMEM;
    for (int first = 0; first < n && !rc; first += most) {
        batch.B = n - first < most ? n - first : most;
        rc = continue_batch(s, first, layer, vector, &batch, path, place);
        if (!rc && orr_signal_seen())
            rc = ORR_FAIL(ORR_EINTR, "stopped by a signal; nothing was written");
    }
    gpt_batch_free(&batch);
    free(path);
    return rc;
}

/* ------------------------------------------------------------------------------ directions */

/* Collects the rows of one layer, with the quantities and the position as targets. */
static int gather_rows(struct probe_intervene *v, const struct probe_reader *reader,
                       struct probe_rows *rows)
{
    static const int group[READOUTS] = {0, 1, 2, 3, 4, 5, 6, 7};
    const int readouts = readouts_of(v);
    TRY(probe_rows_create(&v->s.arena, rows, v->fit.n, reader->features, readouts, readouts,
                          group));
    for (int i = 0; i < v->fit.n; i++) {
        const struct probe_orbit orbit = probe_orbit_true(&v->fit, i, v->known - 1);
        double *y = rows->y + (size_t)(i * readouts);
        for (int q = 0; q < v->changes; q++)
            y[q] = probe_change_value(&orbit, probe_change_at(v->axes, q));
        memcpy(y + v->changes, orbit.state, (size_t)v->axes * sizeof *y);
        reader->read(reader, false, i, v->known - 1,
                     rows->x + (size_t)i * (size_t)reader->features);
        rows->sequence[rows->rows++] = i;
    }
    return 0;
}

/* Standard deviations of the quantities, the units of all changes. */
static void find_deviations(struct probe_intervene *v, const struct probe_rows *rows)
{
    const size_t readouts = (size_t)readouts_of(v);
    for (size_t q = 0; q < (size_t)v->changes; q++) {
        double sum = 0, square = 0;
        for (size_t i = 0; i < (size_t)rows->rows; i++)
            sum += rows->y[i * readouts + q] / (double)rows->rows;
        for (size_t i = 0; i < (size_t)rows->rows; i++)
            square += pow(rows->y[i * readouts + q] - sum, 2) / (double)rows->rows;
        v->sd[q] = sqrt(square);
    }
}

/* The name of quantity q. */
static const char *name_of(const struct probe_intervene *v, int q)
{
    return probe_change_name[probe_change_at(v->axes, q)];
}

size_t probe_trials(const struct probe_intervene *v)
{
    return 1 + 2 * PROBE_WAYS * 6 * (size_t)v->changes;
}

static double *direction_of(const struct probe_intervene *v, enum probe_way way, int layer, int q)
{
    const size_t C = (size_t)v->widest;
    return v->direction +
           (((size_t)way * (size_t)v->layers + (size_t)layer) * (size_t)v->changes + (size_t)q) * C;
}

/* Computes both directions of every quantity at a layer; overwrites the rows' targets with the
 * readouts. */
static int directions_at(struct probe_intervene *v, int layer, const struct probe_ridge *ridge,
                         struct probe_rows *rows)
{
    const int C = rows->features, readouts = readouts_of(v);
    for (long i = 0; i < rows->rows; i++)
        probe_ridge_predict(ridge, rows->x + (size_t)i * (size_t)C,
                            rows->y + (size_t)i * (size_t)readouts);
    for (int q = 0; q < v->changes; q++) {
        int held[READOUTS];
        const int count = list_held(v, q, held);
        probe_steer_shortest(ridge->weight + q, C, readouts,
                             direction_of(v, PROBE_SHORTEST, layer, q));
        TRY(probe_steer_likeliest(&v->s.arena, rows->rows, C, rows->x, readouts, rows->y, count,
                                  held, direction_of(v, PROBE_LIKELIEST, layer, q)));
    }
    return 0;
}

/* Fits readouts of all quantities at a layer, at the last row of the prefix. */
static int directions_of(struct probe_intervene *v, const struct probe_stream *stream, int at,
                         int layer, bool baseline)
{
    const size_t kept = v->s.arena.count;
    const struct probe_reader reader = {.features = stream->width,
                                        .read = probe_read_stream,
                                        .fit = &v->fit,
                                        .stream = {stream, NULL},
                                        .layer = at};
    struct probe_rows rows;
    struct probe_ridge ridge;
    TRY(gather_rows(v, &reader, &rows));
    TRY(probe_ridge_fit(&v->s.arena, &rows, &ridge));
    for (int q = 0; q < v->changes; q++)
        v->inner[((baseline ? v->layers : 0) + layer) * v->changes + q] = ridge.inner[q];
    find_deviations(v, &rows);
    TRY(directions_at(v, layer, &ridge, &rows));
    probe_rewind(&v->s.arena, kept);
    return 0;
}

int probe_intervene_directions(struct probe_intervene *v, struct gpt_model *model,
                               const struct probe_answers *answers, bool baseline)
{
    const struct probe_context last = {.context = v->known, .count = 1, .step = {v->known - 1}};
    const size_t before = v->s.arena.count;
    struct probe_stream stream;
    if (!answers)
        TRY(probe_stream_capture(&v->s.arena, &stream, model, &v->fit, v->prefix, &last, 1));
    for (int layer = 0; layer < v->layers; layer++) {
        const size_t kept = v->s.arena.count;
        if (answers)
            TRY(probe_stream_answered(&v->s.arena, &stream, answers, "intervene", layer, &v->fit,
                                      v->prefix, v->prefix, &last, 1));
        if (stream.width != v->width[layer])
            return ORR_FAIL(ORR_EFORMAT,
                            "%s: layer %d: expected activations of %d numbers, found %d",
                            answers ? answers->folder : "", layer, v->width[layer], stream.width);
        TRY(directions_of(v, &stream, answers ? 0 : layer, layer, baseline));
        if (answers)
            probe_rewind(&v->s.arena, kept);
    }
    probe_rewind(&v->s.arena, before);
    return 0;
}

/* ------------------------------------------------------------------------------- measuring */

static struct probe_moved *moved_of(const struct probe_intervene *v, enum probe_subject_of who,
                                    enum probe_way way, int layer, int change)
{
    const size_t block = (size_t)v->horizons * (size_t)v->held_out.n;
    const size_t of = (size_t)who * PROBE_WAYS + (size_t)way;
    return v->moved +
           ((of * (size_t)v->layers + (size_t)layer) * (size_t)v->changes + (size_t)change) * block;
}

int probe_intervene_layer(struct probe_intervene *v, enum probe_subject_of who,
                          const struct probe_subject *subject, int layer)
{
    for (int way = 0; way < PROBE_WAYS; way++)
        for (int q = 0; q < v->changes; q++) {
            const struct probe_steering how = {.change = probe_change_at(v->axes, q),
                                               .layer = layer,
                                               .direction =
                                                   direction_of(v, (enum probe_way)way, layer, q),
                                               .sd = v->sd[q],
                                               .orbit = v->orbit,
                                               .base = v->base,
                                               .random = who == PROBE_OF_RANDOM,
                                               .seed = v->s.probe.settings.seed};
            v->trial = 1 + (((int)how.random * PROBE_WAYS + way) * v->changes + q) * 6;
            TRY(probe_steer(&v->s.arena, subject, &how,
                            moved_of(v, who, (enum probe_way)way, layer, q)));
            orr_progress_set(&v->s.progress, ++v->s.done, NULL);
        }
    return 0;
}

static int steer_model(struct probe_intervene *v, enum probe_subject_of who,
                       struct gpt_model *model)
{
    struct probe_continued of = {v, model};
    const struct probe_subject subject = {.n = v->held_out.n,
                                          .width = model->config.width,
                                          .horizons = v->horizons,
                                          .horizon = probe_horizons,
                                          .of = &of,
                                          .follow = probe_intervene_continue};
    TRY(probe_intervene_continue(&of, 0, NULL, v->base));
    for (int layer = 0; layer < v->layers; layer++)
        TRY(probe_intervene_layer(v, who, &subject, layer));
    return 0;
}

static int steer_all(struct probe_intervene *v)
{
    const struct probe_options *o = v->s.options;
    orr_progress_init(&v->s.progress, "intervene",
                      (uint64_t)v->layers * PROBE_SUBJECTS * PROBE_WAYS * (uint64_t)v->changes,
                      o->quiet);
    if (o->answers) {
        TRY(probe_intervene_answered(v, o->answers, false));
        TRY(o->twin ? probe_intervene_answered(v, o->twin, true) : 0);
    } else {
        TRY(probe_intervene_directions(v, &v->s.probe.model, NULL, false));
        TRY(steer_model(v, PROBE_OF_MODEL, &v->s.probe.model));
        TRY(steer_model(v, PROBE_OF_RANDOM, &v->s.probe.model));
        TRY(probe_intervene_directions(v, &v->s.baseline, NULL, true));
        TRY(steer_model(v, PROBE_OF_BASELINE, &v->s.baseline));
    }
    orr_progress_end(&v->s.progress, NULL);
    return 0;
}

/* --------------------------------------------------------------------------------- results */

static double without_resampling(const struct probe_intervene *v, const struct probe_moved *moved,
                                 double (*statistic)(const void *of, int n,
                                                     const unsigned short times[]))
{
    return statistic(moved, v->held_out.n, v->s.resamples.times);
}

/* Answers of another program may be without an untrained twin. */
static bool has_baseline(const struct probe_intervene *v)
{
    return !v->s.options->answers || v->s.options->twin;
}

static int add_row(struct probe_intervene *v, enum probe_way way, int layer, int q, int h,
                   bool slope)
{
    double (*const statistic)(const void *, int, const unsigned short[]) =
        slope ? probe_slope : probe_cosine;
    const size_t at = (size_t)h * (size_t)v->held_out.n;
    const struct probe_moved *moved = moved_of(v, PROBE_OF_MODEL, way, layer, q) + at;
    struct orr_row row =
        probe_row_of(&v->s.results, probe_bootstrap(&v->s.resamples, statistic, moved),
                     (slope ? slope_name : cosine_name)[way], "%s", name_of(v, q));
    row.layer = layer;
    row.context = probe_horizons[h];
    row.upper_bound = 1; /* the orbit in place of the model */
    row.baseline =
        has_baseline(v)
            ? without_resampling(v, moved_of(v, PROBE_OF_BASELINE, way, layer, q) + at, statistic)
            : (double)NAN;
    row.raw = without_resampling(v, moved_of(v, PROBE_OF_RANDOM, way, layer, q) + at, statistic);
    for (int i = 0; i < v->held_out.n; i++)
        row.n += moved[i].bb > 0;
    return orr_table_add(&v->s.results.table, &row);
}

/* Adds R^2 of the readout of quantity q at the layer. */
static int add_readout(struct probe_intervene *v, int layer, int q)
{
    struct orr_row row =
        probe_row_of(&v->s.results, probe_exactly(v->inner[layer * v->changes + q]), "R^2, inner",
                     "%s", name_of(v, q));
    row.layer = layer;
    row.upper_bound = 1;
    row.baseline = has_baseline(v) ? v->inner[(v->layers + layer) * v->changes + q] : (double)NAN;
    row.n = v->fit.n / 4;
    return orr_table_add(&v->s.results.table, &row);
}

static int add_all(struct probe_intervene *v)
{
    for (int q = 0; q < v->changes; q++) {
        for (int layer = 0; layer < v->layers; layer++)
            TRY(add_readout(v, layer, q));
        for (int way = 0; way < PROBE_WAYS; way++)
            for (int slope = 1; slope >= 0; slope--)
                for (int h = 0; h < v->horizons; h++)
                    for (int layer = 0; layer < v->layers; layer++)
                        TRY(add_row(v, (enum probe_way)way, layer, q, h, slope != 0));
    }
    return 0;
}

/* Readouts, and slopes at a horizon of one step. */
static bool is_short(const struct orr_row *row)
{
    return row->context <= probe_horizons[0] && !strstr(row->measure, "cosine");
}

static int draw_panels(void *of)
{
    const struct probe_intervene *v = of;
    struct probe_panel panel[PROBE_WAYS * PROBE_CHANGES];
    char name[PROBE_WAYS * PROBE_CHANGES][64];
    for (int k = 0; k < PROBE_WAYS * v->changes; k++) {
        const int way = PROBE_WAYS - 1 - k / v->changes, q = k % v->changes;
        snprintf(name[k], sizeof name[k], "%s, %s change", name_of(v, q),
                 way == PROBE_SHORTEST ? "shortest" : "likeliest");
        panel[k] = (struct probe_panel){.quantity = name_of(v, q),
                                        .measure = slope_name[way],
                                        .y_label = q ? "" : "slope",
                                        .title = name[k]};
    }
    const struct probe_figure figure = {.x_label = "layer (0 = embedding)",
                                        .value = "model",
                                        .upper_bound = "orbit (upper bound)",
                                        .baseline = "untrained baseline",
                                        .raw = "random directions",
                                        .least = -1,
                                        .fixed = probe_horizons[0],
                                        .panel = panel,
                                        .panels = PROBE_WAYS * v->changes};
    return probe_figure_draw(&v->s, &figure, "Next position when a quantity is changed inside");
}

/* ----------------------------------------------------------------------------------- probe */

static int check_model(const struct probe_intervene *v)
{
    if (!v->s.options->no_model && !v->s.probe.model.ops->host)
        return ORR_FAIL(ORR_EUSAGE,
                        "probe intervene: changes of the residual stream are made by the host, not "
                        "on %s; give --device cpu",
                        v->s.probe.model.ops->name);
    if (v->prefix >= v->s.probe.T || v->known < 1)
        return ORR_FAIL(
            ORR_EUSAGE,
            "probe intervene: %s: %d positions leave no step to continue after a prefix "
            "of half of them; give a --length of 4 or more",
            v->s.options->checkpoint, v->s.probe.T);
    const struct orr_orbits_settings *o = &v->s.probe.settings.orbits;
    if (o->law != ORR_LAW_NEWTON || o->nbody || o->jump_step > 0)
        return ORR_FAIL(
            ORR_EINVAL,
            "probe intervene: %s: orbits of preset %s do not follow Newton's law, whose "
            "closed form the model is compared with",
            v->s.options->checkpoint, v->s.probe.settings.name);
    return 0;
}

/* The widths of the streams of all layers. */
static int find_widths(struct probe_intervene *v)
{
    const struct probe_answers *answers = v->s.options->answers;
    char file[2 * ORR_NAME];
    v->layers = v->s.probe.model.config.layers + 1;
    if (answers)
        TRY(probe_intervene_layers(answers, "activations_intervene", &v->layers));
    v->width = probe_take(&v->s.arena, (size_t)v->layers, sizeof *v->width);
    TRY(v->s.arena.failed);
    for (int layer = 0; layer < v->layers; layer++) {
        struct probe_array array = {.width = (size_t)v->s.probe.model.config.width};
        int rc = 0;
        snprintf(file, sizeof file, PROBE_INTERVENE_ACTIVATIONS, layer);
        if (answers) {
            rc = probe_array_open(&array, answers, file, (size_t)v->fit.n, 1, 0, 1);
            probe_array_close(&array);
        }
        TRY(rc);
        v->width[layer] = (int)array.width;
        v->widest = v->width[layer] > v->widest ? v->width[layer] : v->widest;
    }
    return 0;
}

int probe_intervene_prepare(struct probe_intervene *v)
{
    const int n = v->s.options->sequences ? v->s.options->sequences : SEQUENCES;
    v->axes = gpt_config_axes(&v->s.probe.trained);
    v->changes = probe_changes(v->axes);
    v->prefix = probe_prefix(v->s.probe.T);
    v->known = (v->prefix - 1) / 2;
    TRY(check_model(v));
    for (int h = 0; h < PROBE_HORIZONS; h++)
        if (v->prefix + 2 * probe_horizons[h] - 1 <= v->s.probe.T)
            v->T = v->prefix + 2 * probe_horizons[v->horizons++] - 1;
    struct probe_arena *arena = &v->s.arena;
    TRY(probe_labelled_make(arena, &v->fit, &v->s.probe, SIM_SPLIT_TWO_BODY_TRAIN, FIT));
    TRY(probe_labelled_make(arena, &v->held_out, &v->s.probe, SIM_SPLIT_TWO_BODY_TEST, n));
    TRY(find_widths(v));
    const size_t N = (size_t)n, H = (size_t)v->horizons, L = (size_t)v->layers;
    const size_t all = L * (size_t)v->changes;
    TRY(probe_resamples_create(arena, &v->s.resamples, v->s.probe.settings.seed, n));
    v->orbit = probe_take(arena, N, sizeof *v->orbit);
    v->base = probe_take(arena, N * H * (size_t)v->axes, sizeof *v->base);
    v->direction = probe_take(arena, PROBE_WAYS * all * (size_t)v->widest, sizeof *v->direction);
    v->inner = probe_take(arena, 2 * all, sizeof *v->inner);
    v->moved = probe_take(arena, PROBE_SUBJECTS * PROBE_WAYS * all * H * N, sizeof *v->moved);
    TRY(arena->failed);
    for (int i = 0; i < n; i++)
        v->orbit[i] = probe_orbit_true(&v->held_out, i, v->known - 1);
    return v->s.options->no_model ? 0 : probe_baseline(&v->s.probe, v->s.options, &v->s.baseline);
}

static int measure_model(void *of)
{
    struct probe_intervene *v = of;
    TRY(probe_intervene_prepare(v));
    TRY(steer_all(v));
    return add_all(v);
}

int probe_intervene_open(void *of)
{
    struct probe_intervene *v = of;
    return probe_open_labelled(&v->s.probe, v->s.options, "intervene", true);
}

int probe_intervene(const struct probe_options *options)
{
    static const struct probe_steps steps = {.name = "intervene",
                                             .revision = 2,
                                             .script = "probe_panels.gp",
                                             .open = probe_intervene_open,
                                             .measure = measure_model,
                                             .write = draw_panels,
                                             .is_shown = is_short};
    struct probe_intervene v = {.T = 0};
    return probe_session_run(&v.s, options, &steps, &v);
}
