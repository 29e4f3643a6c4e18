/* intervene_answers.c - interventions in models of other programs: the vectors that they are asked
 * to add to their activations, and the continuations that they answer (docs/exchange.md). */
#include "intervene.h"

#include <math.h>
#include <string.h>

/* A layer of answers as the subject of changes: the vectors are compared with those that were
 * asked, the continuations read; or the vectors are recorded, to be asked. */
struct answered {
    struct probe_intervene *v;
    struct probe_array additions, continuations;
    float *record; /* (trials, n, width); NULL: read */
    int layer;
};

int probe_intervene_layers(const struct probe_answers *answers, const char *kind, int *layers)
{
    enum { LAYERS = 1000 };
    char file[2 * ORR_NAME];
    for (*layers = 0; *layers < LAYERS; ++*layers) {
        snprintf(file, sizeof file, "%s_layer%d.npy", kind, *layers);
        if (!probe_answers_has(answers, file))
            break;
    }
    if (*layers)
        return 0;
    return ORR_FAIL(ORR_EMISSING, "%s/%s: missing; export.json lists what is asked",
                    answers->folder, file);
}

static int check_addition(const struct answered *a, const real *vector)
{
    const size_t width = (size_t)a->v->width[a->layer], trial = (size_t)a->v->trial;
    for (size_t i = 0; i < (size_t)a->v->held_out.n; i++)
        for (size_t c = 0; c < width; c++) {
            const double is = probe_array_at(&a->additions, trial, i, c),
                         expected = vector ? (double)vector[i * width + c] : 0;
            if (!(fabs(is - expected) <= 1e-5 * (1e-6 + fabs(expected))))
                return ORR_FAIL(
                    ORR_EINVAL,
                    "%s: trial %zu, sequence %zu, column %zu: expected %.9g, as of these "
                    "activations, found %.9g; ask again with probe export --answers",
                    a->additions.path, trial, i, c, expected, is);
        }
    return 0;
}

static int follow(void *of, int layer, const real *vector, double *place)
{
    struct answered *a = of;
    const size_t n = (size_t)a->v->held_out.n, width = (size_t)a->v->width[layer];
    const size_t numbers = (size_t)a->v->axes * (size_t)a->v->horizons, trial = (size_t)a->v->trial;
    if (a->record) {
        for (size_t k = 0; k < n * width; k++)
            a->record[trial * n * width + k] = vector ? (float)vector[k] : 0;
        memset(place, 0, n * numbers * sizeof *place);
    } else {
        TRY(check_addition(a, vector));
        for (size_t i = 0; i < n; i++)
            for (size_t k = 0; k < numbers; k++)
                place[numbers * i + k] = probe_array_at(&a->continuations, trial, i, k);
    }
    a->v->trial++;
    return 0;
}

/* All trials of a layer, in the order in which they are asked; of a twin the random ones are not
 * used. */
static int all_trials(struct answered *a, bool twin)
{
    struct probe_intervene *v = a->v;
    const struct probe_subject subject = {.n = v->held_out.n,
                                          .width = v->width[a->layer],
                                          .horizons = v->horizons,
                                          .horizon = probe_horizons,
                                          .of = a,
                                          .follow = follow};
    v->trial = 0;
    TRY(follow(a, a->layer, NULL, v->base));
    TRY(probe_intervene_layer(v, twin ? PROBE_OF_BASELINE : PROBE_OF_MODEL, &subject, a->layer));
    return twin ? 0 : probe_intervene_layer(v, PROBE_OF_RANDOM, &subject, a->layer);
}

/* Continuations without an addition are the model's rollout: then the sequences are in order. */
static int check_base(const struct answered *a, const struct probe_answers *answers)
{
    const struct probe_intervene *v = a->v;
    const size_t n = (size_t)v->held_out.n, axes = (size_t)v->axes;
    const size_t numbers = axes * (size_t)v->horizons;
    const size_t all = (size_t)probe_rollout_sequences(v->s.options);
    struct probe_array path;
    double square = 0;
    int rc = probe_array_open(&path, answers, "rollout_two_body_test.npy", all,
                              (size_t)(v->s.probe.T - v->prefix), axes, 2);
    for (size_t i = 0; i < n && !rc; i++)
        square += pow(v->base[numbers * i], 2) / (double)n;
    for (size_t i = 0; i < n && i < all && !rc; i++)
        for (size_t k = 0; k < numbers && !rc; k++) {
            const size_t row = 2 * (size_t)(probe_horizons[k / axes] - 1);
            const double x = v->base[numbers * i + k], y = probe_array_at(&path, i, row, k % axes);
            if (!(fabs(x - y) <= PROBE_REPEAT_SAME * sqrt(square)))
                rc =
                    ORR_FAIL(ORR_EINVAL,
                             "%s: trial 0, without an addition, sequence %zu: expected %.9g, as in "
                             "rollout_two_body_test.npy, found %.9g",
                             a->continuations.path, i, y, x);
        }
    probe_array_close(&path);
    return rc;
}

static int answered_layer(struct probe_intervene *v, const struct probe_answers *answers, int layer,
                          bool twin)
{
    const size_t n = (size_t)v->held_out.n, trials = probe_trials(v);
    struct answered a = {.v = v, .layer = layer};
    char file[2 * ORR_NAME];
    snprintf(file, sizeof file, PROBE_INTERVENE_ADDITIONS, layer);
    int rc = probe_array_open(&a.additions, answers, file, trials, n, (size_t)v->width[layer], n);
    snprintf(file, sizeof file, PROBE_INTERVENE_CONTINUATIONS, layer);
    rc = rc ? rc
            : probe_array_open(&a.continuations, answers, file, trials, n,
                               (size_t)v->axes * (size_t)v->horizons, n);
    rc = rc ? rc : all_trials(&a, twin);
    rc = rc || layer ? rc : check_base(&a, answers);
    probe_array_close(&a.additions);
    probe_array_close(&a.continuations);
    return rc;
}

int probe_intervene_answered(struct probe_intervene *v, const struct probe_answers *answers,
                             bool twin)
{
    int layers;
    TRY(probe_intervene_layers(answers, "activations_intervene", &layers));
    if (layers != v->layers)
        return ORR_FAIL(ORR_EFORMAT,
                        "%s: expected activations of %d layers, as of the model, found "
                        "%d",
                        answers->folder, v->layers, layers);
    TRY(probe_intervene_directions(v, NULL, answers, twin));
    for (int layer = 0; layer < v->layers; layer++)
        TRY(answered_layer(v, answers, layer, twin));
    return 0;
}

static int write_additions(struct probe_intervene *v, int layer)
{
    const size_t n = (size_t)v->held_out.n, one = n * (size_t)v->width[layer];
    const size_t trials = probe_trials(v), kept = v->s.arena.count;
    const size_t repeats = (size_t)probe_repeats(trials);
    const size_t shape[] = {trials + repeats, n, (size_t)v->width[layer]};
    struct answered a = {.v = v, .layer = layer};
    char path[4096];
    a.record = probe_take(&v->s.arena, (trials + repeats) * one, sizeof *a.record);
    TRY(v->s.arena.failed);
    TRY(all_trials(&a, false));
    for (size_t k = 0; k < repeats; k++) {
        size_t of, as;
        probe_repeat(trials, (int)k, &of, &as);
        memcpy(a.record + (trials + k) * one, a.record + of * one, one * sizeof *a.record);
    }
    TRY(orr_path(path, "%s/" PROBE_INTERVENE_ADDITIONS, v->s.options->answers->folder, layer));
    TRY(orr_npy_write(path, ORR_F32, 3, shape, a.record, NULL));
    probe_rewind(&v->s.arena, kept);
    return 0;
}

int probe_intervene_additions(const struct probe_options *options)
{
    struct probe_intervene v = {.T = 0};
    v.s.options = options;
    int rc = probe_intervene_open(&v);
    rc = rc ? rc : probe_intervene_prepare(&v);
    rc = rc ? rc : probe_intervene_directions(&v, NULL, options->answers, false);
    orr_progress_init(&v.s.progress, "export", 1, true);
    for (int layer = 0; layer < v.layers && !rc; layer++)
        rc = write_additions(&v, layer);
    if (!rc)
        orr_note(options->quiet, "export: %s: vectors to be added to activations of %d layers",
                 options->answers->folder, v.layers);
    probe_rewind(&v.s.arena, 0);
    probe_close(&v.s.probe);
    return rc;
}
