/* answer.c - bin/probe answer: a model of the run answers an export as a model of another program
 * does, from the exported files alone, and so does its untrained baseline. An example of answers,
 * and the proof that they give the numbers of the probes (tests/cli/test_exchange.sh). */
#include "probe/core/answers.h"
#include "probe/inductive/inductive.h"
#include "probe/intervene/intervene.h"
#include "probe/labels/extrapolate.h"
#include "probe/planets/planets.h"

#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

enum { BATCH = 32 };

struct answerer {
    const struct probe_options *options;
    struct probe_label_study study; /* its session holds the probed model */
    struct probe_answers exported;  /* the folder of the export */
    struct gpt_model *model;        /* that answers: the probed one, or the baseline */
    char folder[4096];
    struct probe_arena arena;
    const cJSON *rows; /* whose activations are asked */
};

/* Inputs (n, rows, d) of the export. */
static int open_inputs(const struct answerer *a, const char *file, struct orr_npy *npy)
{
    size_t shape[3] = {0, 0, (size_t)gpt_config_axes(&a->model->config)};
    char path[4096];
    TRY(orr_path(path, "%s/%s", a->exported.folder, file));
    TRY(orr_npy_expect(path, npy, ORR_F32, 3, shape));
    if (npy->shape[1] >= 1 && npy->shape[1] <= (size_t)a->model->config.context)
        return 0;
    return ORR_FAIL(ORR_EFORMAT, "%s: expected 1 to %d rows, found %zu", path,
                    a->model->config.context, npy->shape[1]);
}

static int write_answer(const struct answerer *a, const char *file, size_t n, size_t rows,
                        size_t width, const real *x)
{
    const size_t shape[] = {n, rows, width};
    char path[4096];
    TRY(orr_path(path, "%s/%s", a->folder, file));
    return orr_npy_write(path, sizeof(real) == 8 ? ORR_F64 : ORR_F32, 3, shape, x, NULL);
}

/* Calls one() for batches of the inputs, whose rows are filled in and T rows long. */
typedef int one_batch(struct answerer *a, struct gpt_batch *batch, size_t first, void *of);

static int each_batch(struct answerer *a, const struct orr_npy *inputs, int T, one_batch *one,
                      void *of)
{
    const size_t n = inputs->shape[0], rows = inputs->shape[1];
    const struct gpt_config *c = &a->model->config;
    const size_t F = (size_t)gpt_config_features(c), axes = (size_t)gpt_config_axes(c);
    const int most = gpt_evaluation_batch(a->model, T, BATCH);
    struct gpt_batch batch = {0};
    int rc = gpt_batch_create(&batch, c, most, T);
    for (size_t first = 0; first < n && !rc; first += (size_t)most) {
        batch.B = n - first < (size_t)most ? (int)(n - first) : most;
        for (size_t b = 0; b < (size_t)batch.B; b++)
            for (size_t t = 0; t < rows; t++)
                gpt_row_features(c, (const float *)inputs->data + axes * ((first + b) * rows + t),
                                 t == 0, batch.features + (b * (size_t)T + t) * F);
        rc = orr_signal_seen() ? ORR_FAIL(ORR_EINTR, "stopped by a signal")
                               : one(a, &batch, first, of);
    }
    gpt_batch_free(&batch);
    return rc;
}

/* ----------------------------------------------------------------- next state and rollouts */

struct kept {
    real *to; /* (rows of the batch, d) */
    size_t axes;
};

static int keep_rows(void *of, size_t first, size_t rows, const real *out)
{
    const struct kept *k = of;
    memcpy(k->to + k->axes * first, out, k->axes * rows * sizeof *out);
    return 0;
}

static int predict_batch(struct answerer *a, struct gpt_batch *batch, size_t first, void *of)
{
    const size_t axes = (size_t)gpt_config_axes(&a->model->config);
    struct kept kept = {(real *)of + axes * first * (size_t)batch->T, axes};
    return gpt_forward_pieces(a->model, batch, keep_rows, &kept, NULL);
}

struct rollout {
    int prefix;
    real *path; /* (n, T, d) */
};

static int continue_batch(struct answerer *a, struct gpt_batch *batch, size_t first, void *of)
{
    const struct rollout *r = of;
    const size_t row = (size_t)gpt_config_axes(&a->model->config);
    return gpt_rollout(a->model, batch, r->prefix, 0, r->path + row * first * (size_t)batch->T);
}

/* predictions_<split>.npy */
static int answer_predictions(struct answerer *a, const char *file, const char *answer)
{
    struct orr_npy inputs = {.map = NULL};
    int rc = open_inputs(a, file, &inputs);
    const size_t n = inputs.shape[0], T = inputs.shape[1], axes = inputs.shape[2];
    real *x = rc ? NULL : probe_take(&a->arena, n * T * axes, sizeof *x);
    rc = rc ? rc : a->arena.failed;
    rc = rc ? rc : each_batch(a, &inputs, (int)T, predict_batch, x);
    rc = rc ? rc : write_answer(a, answer, n, T, axes, x);
    orr_npy_close(&inputs);
    return rc;
}

/* rollout_<split>.npy: the rows after the prefix. */
static int answer_rollout(struct answerer *a, const char *file, const char *answer)
{
    const size_t T = (size_t)a->model->config.context;
    struct orr_npy inputs = {.map = NULL};
    int rc = open_inputs(a, file, &inputs);
    const size_t n = inputs.shape[0], prefix = inputs.shape[1], axes = inputs.shape[2];
    const size_t after = axes * (T - prefix);
    struct rollout r = {.prefix = (int)prefix};
    r.path = rc ? NULL : probe_take(&a->arena, n * T * axes, sizeof *r.path);
    rc = rc ? rc : a->arena.failed;
    rc = rc ? rc : each_batch(a, &inputs, (int)T, continue_batch, &r);
    for (size_t i = 0; i < n && !rc; i++) /* to the front, sequence by sequence */
        memmove(r.path + i * after, r.path + axes * (i * T + prefix), after * sizeof *r.path);
    rc = rc ? rc : write_answer(a, answer, n, T - prefix, axes, r.path);
    orr_npy_close(&inputs);
    return rc;
}

/* ------------------------------------------------------------------------------- activations */

struct stream {
    const cJSON *rows;
    size_t kept, n;
    real *x; /* (layers, n, kept, width) */
};

static int keep_stream(struct answerer *a, struct gpt_batch *batch, size_t first, void *of)
{
    const struct stream *s = of;
    const size_t C = (size_t)a->model->config.width;
    TRY(gpt_forward_body(a->model, batch));
    for (int layer = 0; layer <= a->model->config.layers; layer++) {
        const real *x;
        TRY(gpt_residual(a->model, layer, &x));
        for (size_t b = 0; b < (size_t)batch->B; b++)
            for (size_t k = 0; k < s->kept; k++) {
                const int row = cJSON_GetArrayItem(s->rows, (int)k)->valueint;
                memcpy(s->x + (((size_t)layer * s->n + first + b) * s->kept + k) * C,
                       x + (b * (size_t)batch->T + (size_t)row) * C, C * sizeof *x);
            }
    }
    return 0;
}

/* activations_<split>_layer<l>.npy: the residual stream. */
static int answer_activations(struct answerer *a, const char *file, const char *answer)
{
    const size_t layers = (size_t)a->model->config.layers + 1, C = (size_t)a->model->config.width;
    const char *numbered = strstr(answer, "<l>");
    struct stream s = {.rows = a->rows};
    struct orr_npy inputs = {.map = NULL};
    char name[2 * ORR_NAME];
    int rc = open_inputs(a, file, &inputs);
    s.n = inputs.shape[0];
    s.kept = (size_t)cJSON_GetArraySize(s.rows);
    s.x = rc ? NULL : probe_take(&a->arena, layers * s.n * s.kept * C, sizeof *s.x);
    rc = rc ? rc : a->arena.failed;
    rc = rc ? rc : each_batch(a, &inputs, (int)inputs.shape[1], keep_stream, &s);
    for (size_t l = 0; l < layers && !rc; l++) {
        snprintf(name, sizeof name, "%.*s%zu%s", (int)(numbered - answer), answer, l, numbered + 3);
        rc = write_answer(a, name, s.n, s.kept, C, s.x + l * s.n * s.kept * C);
    }
    orr_npy_close(&inputs);
    return rc;
}

/* ------------------------------------------------------------------------------------ forces */

struct curve {
    struct answerer *a;
    struct orr_file file;
    size_t size;
    double lr; /* of the first draw of a size, for all its draws */
    double *log_f;
};

static int answer_draw(void *of, int draw, const struct ft_labels *subset)
{
    struct curve *c = of;
    struct answerer *a = c->a;
    struct probe_learners *learners = &a->study.learners;
    const struct probe_held_out *j = &a->study.held_out;
    const size_t P = (size_t)j->set->positions;
    const enum probe_learner learner =
        a->model == &a->study.s.baseline ? PROBE_UNTRAINED : PROBE_PRETRAINED;
    if (draw == 0)
        TRY(probe_learner_rate(learners, learner, subset, &c->lr));
    TRY(probe_learner_predict(learners, learner, subset, c->lr, learners->train.steps, j,
                              c->log_f));
    for (size_t i = 0; i < j->rows; i++)
        (void)orr_file_printf(&c->file, "%zu,%d,%zu,%zu,%.9g,%.17g\n", c->size, draw, j->at[i] / P,
                              (j->at[i] % P - 2) / 2, (double)j->set->force_magnitude[j->at[i]],
                              orr_exp(c->log_f[i]));
    return 0;
}

/* Forces learned from draws of labels, as probe labels and probe extrapolate learn them. */
static int answer_curve(struct answerer *a, const char *file, const struct ft_labels *labels)
{
    struct probe_label_study *t = &a->study;
    struct curve c = {.a = a};
    char path[4096];
    c.log_f = probe_take(&a->arena, t->held_out.rows, sizeof *c.log_f);
    TRY(a->arena.failed);
    TRY(orr_path(path, "%s/%s", a->folder, file));
    TRY(orr_file_create(&c.file, path));
    (void)orr_file_printf(&c.file, "n,draw,sequence,step,F_true,F\n");
    int rc = 0;
    for (int k = 0; k < t->sizes && !rc; k++) {
        c.size = (size_t)t->n[k];
        rc = probe_labels_each(&a->arena, labels, a->options->settings->seed, t->draws, c.size,
                               answer_draw, &c);
    }
    rc = rc ? rc : orr_file_commit(&c.file);
    orr_file_close(&c.file);
    return rc;
}

static int answer_labels(struct answerer *a)
{
    struct probe_label_study *t = &a->study;
    TRY(probe_label_study_sizes(t, probe_label_sizes, PROBE_LABEL_SIZES, t->forces.labels.count));
    return answer_curve(a, PROBE_LABEL_ANSWERS, &t->forces.labels);
}

/* Labels in the middle half of r, or of m1 m2, alone. */
static int answer_extrapolation(struct answerer *a, const char *answer)
{
    struct probe_experiment experiment[PROBE_EXPERIMENTS] = {{.name = NULL}};
    char file[ORR_NAME];
    int rc = probe_experiments_open(&a->study, experiment);
    for (int i = 0; i < PROBE_EXPERIMENTS && !rc; i++) {
        snprintf(file, sizeof file, PROBE_EXTRAPOLATE_ANSWERS, experiment[i].tag);
        if (!strcmp(file, answer))
            rc = answer_curve(a, file, &experiment[i].labels);
    }
    probe_experiments_close(experiment);
    return rc;
}

/* activations_intervene_layer<l>.npy: the residual stream at one row. */
static int answer_row(struct answerer *a, const cJSON *asked)
{
    const cJSON *all = orr_json_get(a->exported.exported, "activation_rows");
    a->rows = orr_json_get(asked, "rows");
    const int rc = answer_activations(a, orr_json_text(asked, "inputs"), asked->string);
    a->rows = all;
    return rc;
}

/* continuations_layer<l>.npy, after its own activations have been answered. */
static int continue_layer(struct answerer *a, struct probe_intervene *v, int layer)
{
    const size_t n = (size_t)v->held_out.n, width = (size_t)v->width[layer], kept = a->arena.count;
    const size_t asked = probe_trials(v), trials = asked + (size_t)probe_repeats(asked);
    const size_t each = (size_t)v->axes * (size_t)v->horizons, numbers = n * each;
    struct probe_continued of = {v, a->model};
    struct probe_array additions;
    char file[2 * ORR_NAME];
    real *vector = probe_take(&a->arena, n * width, sizeof *vector);
    real *out = probe_take(&a->arena, trials * numbers, sizeof *out);
    TRY(a->arena.failed);
    snprintf(file, sizeof file, PROBE_INTERVENE_ADDITIONS, layer);
    int rc = probe_array_open(&additions, v->s.options->answers, file, asked, n, width, n);
    for (size_t t = 0; t < trials && !rc; t++) {
        for (size_t k = 0; k < n * width; k++)
            vector[k] = (real)probe_array_at(&additions, t, k / width, k % width);
        rc = probe_intervene_continue(&of, layer, t ? vector : NULL, v->base);
        for (size_t k = 0; k < numbers && !rc; k++)
            out[t * numbers + k] = (real)v->base[k];
    }
    probe_array_close(&additions);
    snprintf(file, sizeof file, PROBE_INTERVENE_CONTINUATIONS, layer);
    rc = rc ? rc : write_answer(a, file, trials, n, each, out);
    probe_rewind(&a->arena, kept);
    return rc;
}

/* The vectors to add follow from the folder's activations; the folder stands for itself here, as it
 * is not complete yet. */
static int answer_interventions(struct answerer *a)
{
    struct probe_answers own = a->exported;
    struct probe_options o = *a->options, ask;
    struct probe_intervene v = {.T = 0};
    TRY(orr_path(own.folder, "%s", a->folder));
    o.answers = &own;
    ask = o;
    ask.no_model = true;
    TRY(probe_intervene_additions(&ask));
    v.s.options = &o;
    int rc = probe_intervene_open(&v);
    rc = rc ? rc : probe_intervene_prepare(&v);
    for (int layer = 0; layer < v.layers && !rc; layer++)
        rc = continue_layer(a, &v, layer);
    probe_rewind(&v.s.arena, 0);
    gpt_free(&v.s.baseline);
    probe_close(&v.s.probe);
    return rc;
}

/* targets_inductive.csv, learned as probe inductive does. */
static int answer_sets(struct answerer *a, struct probe_inductive *p)
{
    const size_t points = p->points[PROBE_CORRECTED] + p->points[PROBE_PUBLISHED];
    double *guess = probe_take(&a->arena, points, sizeof *guess);
    struct orr_file file = {0};
    char path[4096];
    int rc = 0;
    TRY(a->arena.failed);
    TRY(orr_path(path, "%s/" PROBE_INDUCTIVE_ANSWERS, a->folder));
    TRY(orr_file_create(&file, path));
    (void)orr_file_printf(&file, "set,held_out,sequence,row,target,y\n");
    for (int d = 0; d < p->sets && !rc; d++) {
        rc = probe_inductive_fit(p, a->model == &a->study.s.baseline, d, guess);
        for (size_t i = 0; i < points && !rc; i++) {
            const struct probe_inductive_point at = probe_inductive_point_at(p, d, i);
            (void)orr_file_printf(&file, "%d,%d,%d,%d,%.9g,%.17g\n", d, at.held_out, at.sequence,
                                  at.row, at.target, guess[i]);
        }
    }
    rc = rc ? rc : orr_file_commit(&file);
    orr_file_close(&file);
    return rc;
}

static int answer_inductive(struct answerer *a)
{
    struct probe_inductive *p = orr_alloc(1, sizeof *p);
    if (!p)
        return ORR_ENOMEM;
    p->s.options = a->options;
    int rc = probe_inductive_open(p);
    rc = rc ? rc : probe_inductive_points(p);
    rc = rc ? rc : probe_inductive_noises(p);
    rc = rc ? rc : answer_sets(a, p);
    probe_rewind(&p->s.arena, 0);
    probe_close(&p->s.probe);
    free(p);
    return rc;
}

/* forces_planets.csv: of the run's heads, where it has them. */
static int answer_arrows(struct answerer *a, struct probe_planets *p, bool twin)
{
    struct orr_file file = {0};
    char path[4096];
    if (!p->arrows.there || (twin && !p->arrows.has_baseline))
        return 0;
    TRY(probe_arrows_units(p));
    TRY(probe_arrows_predict(p, twin));
    TRY(orr_path(path, "%s/" PROBE_PLANETS_FORCES, a->folder));
    TRY(orr_file_create(&file, path));
    int rc = probe_arrows_table(p, twin, &file);
    rc = rc ? rc : orr_file_commit(&file);
    orr_file_close(&file);
    return rc;
}

static int answer_tracks(struct answerer *a, struct probe_planets *p, bool twin)
{
    struct gpt_model *const kept = a->model;
    TRY(probe_planets_open(p));
    TRY(probe_planets_tracks(p));
    TRY(twin ? probe_baseline(&p->s.probe, p->s.options, &p->s.baseline) : 0);
    a->model = twin ? &p->s.baseline : &p->s.probe.model;
    const int rc = answer_predictions(a, "inputs_planets.npy", PROBE_PLANETS_PREDICTIONS);
    a->model = kept;
    return rc ? rc : answer_arrows(a, p, twin);
}

/* predictions_planets.npy and forces_planets.csv, by the run's model of planet runs. */
static int answer_planets(struct answerer *a)
{
    const bool twin = a->model == &a->study.s.baseline;
    struct probe_options o = *a->options;
    char checkpoint[4096];
    TRY(orr_path(checkpoint, "%s/%s/pretrain_planets/%s", o.run, a->study.s.probe.source,
                 gpt_final_checkpoint(&o.settings->pretrain_planets)));
    if (!orr_exists(checkpoint))
        return 0;
    struct probe_planets *p = orr_alloc(1, sizeof *p);
    if (!p)
        return ORR_ENOMEM;
    o.checkpoint = checkpoint;
    o.planet_runs = true;
    o.sequences = 0;
    p->s.options = &o;
    const int rc = answer_tracks(a, p, twin);
    probe_rewind(&p->s.arena, 0);
    gpt_free(&p->s.baseline);
    probe_close(&p->s.probe);
    free(p);
    return rc;
}

/* A table of forces is that of the fine-tuned model, where the run has it. */
static int answer_table(struct answerer *a, bool vector)
{
    const bool twin = a->model == &a->study.s.baseline;
    char from[4096], to[4096];
    TRY(orr_table_path(a->options->run, twin ? "untrained" : a->study.s.probe.source, vector,
                       from));
    if (!orr_exists(from))
        return 0;
    TRY(orr_path(to, "%s/forces_%s.csv", a->folder, vector ? "vector" : "magnitude"));
    return orr_file_copy(from, to);
}

/* ------------------------------------------------------------------------------------ answer */

static int answer_one(struct answerer *a, const cJSON *asked)
{
    static const struct {
        const char *begin;
        int (*answer)(struct answerer *a, const char *file, const char *answer);
    } kinds[] = {{"predictions_", answer_predictions},
                 {"rollout_", answer_rollout},
                 {"activations_", answer_activations}};
    if (!strcmp(asked->string, "activations_intervene_layer<l>.npy"))
        return answer_row(a, asked);
    if (!strcmp(asked->string, "continuations_layer<l>.npy"))
        return answer_interventions(a);
    if (!strcmp(asked->string, PROBE_PLANETS_PREDICTIONS))
        return answer_planets(a);
    if (!strcmp(asked->string, PROBE_PLANETS_FORCES))
        return 0; /* made with the predictions */
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        if (!strncmp(asked->string, kinds[k].begin, strlen(kinds[k].begin)))
            return kinds[k].answer(a, orr_json_text(asked, "inputs"), asked->string);
    if (!strcmp(asked->string, PROBE_LABEL_ANSWERS))
        return answer_labels(a);
    if (!strcmp(asked->string, PROBE_INDUCTIVE_ANSWERS))
        return answer_inductive(a);
    if (!strncmp(asked->string, "forces_extrapolate_", strlen("forces_extrapolate_")))
        return answer_extrapolation(a, asked->string);
    return answer_table(a, !strcmp(asked->string, "forces_vector.csv"));
}

/* Answers everything; the copy of export.json comes last, without which a folder is none. */
static int answer_all(struct answerer *a, struct gpt_model *model, const char *suffix)
{
    const cJSON *asked;
    char from[4096], to[4096];
    a->model = model;
    TRY(*a->options->out ? orr_path(a->folder, "%s%s", a->options->out, suffix)
                         : orr_path(a->folder, "%s/answers/%s%s", a->options->run,
                                    a->study.s.probe.source, suffix));
    a->rows = orr_json_get(a->exported.exported, "activation_rows");
    TRY(orr_path(from, "%s/export.json", a->exported.folder));
    TRY(orr_path(to, "%s/export.json", a->folder));
    TRY(orr_mkdir(a->folder));
    TRY(orr_remove(to));
    cJSON_ArrayForEach (asked, orr_json_get(a->exported.exported, "answers")) {
        const size_t mark = a->arena.count;
        TRY(answer_one(a, asked));
        probe_rewind(&a->arena, mark);
    }
    TRY(orr_file_copy(from, to));
    orr_note(a->options->quiet, "answer: %s", a->folder);
    return 0;
}

static int open_all(struct answerer *a, struct probe_options *o)
{
    char folder[4096];
    const bool named = a->options->exported && *a->options->exported;
    TRY(named ? orr_path(folder, "%s", a->options->exported)
              : orr_path(folder, "%s/" PROBE_EXCHANGE, a->options->run));
    TRY(probe_answers_open(&a->exported, folder, o->settings));
    o->sequences = a->exported.sequences;
    o->draws = a->exported.draws;
    o->sizes = *a->exported.sizes ? a->exported.sizes : NULL;
    a->study.s.options = a->options = o;
    TRY(probe_label_study_open(&a->study));
    return probe_baseline(&a->study.s.probe, o, &a->study.s.baseline);
}

int probe_answer(const struct probe_options *options)
{
    struct answerer a = {.options = options};
    struct probe_options asked = *options;
    int rc = open_all(&a, &asked);
    rc = rc ? rc : answer_all(&a, &a.study.s.probe.model, "");
    rc = rc ? rc : answer_all(&a, &a.study.s.baseline, "_untrained");
    probe_label_sets_close(&a.study.forces);
    probe_answers_close(&a.exported);
    probe_rewind(&a.arena, 0);
    probe_rewind(&a.study.s.arena, 0);
    gpt_free(&a.study.s.baseline);
    probe_close(&a.study.s.probe);
    return rc;
}
