/* vector.c - force vectors of the bodies of the solar system: 10 labelled positions each, the
 * others are predicted; every body has its own unit (ft_vector_scale). */
#include "train_head.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct vector {
    const struct ft_run *run;
    const struct orr_train_settings *train;
    struct ft_inputs inputs;
    double unit[FT_PLANETS][SIM_AXES];
    gsl_rng *rng;
};

/* Fills a batch with all planets; only noise changes from step to step. */
static int fill_planets(void *context, long step, int pass, struct gpt_batch *batch)
{
    struct vector *task = context;
    const struct ft_run *run = task->run;
    const struct sim_dataset *set = &run->planets;
    const size_t T = (size_t)batch->T, axes = (size_t)set->dimensions;
    const int labels = run->settings->planets.labels;
    const int passes = gpt_passes_of(task->train).count;
    memset(batch->weight, 0, (size_t)batch->B * T * sizeof *batch->weight);
    for (int b = 0; b < batch->B; b++) {
        const size_t s = (size_t)b % (size_t)set->n;
        const uint64_t draw =
            ((uint64_t)step * (uint64_t)passes + (uint64_t)pass) * (uint64_t)batch->B + (uint64_t)b;
        orr_rng_seek(task->rng, run->settings->seed, ORR_STAGE_NOISE, (2ull << 40) + draw);
        ft_fill_inputs(&task->inputs, set, s, task->train->noise_au, task->rng, b, batch);
        for (int i = 0; i < labels; i++) {
            const size_t row = (size_t)run->labels[s * (size_t)labels + (size_t)i];
            const float *f = set->force_vector + axes * (s * (size_t)set->positions + row);
            const size_t at = (size_t)b * T + row;
            batch->weight[at] = 1;
            for (size_t c = 0; c < axes; c++)
                batch->target[axes * at + c] = (real)((double)f[c] / task->unit[s][c]);
        }
    }
    return 0;
}

static int predict_planets(struct vector *task, struct gpt_model *model, double *f)
{
    const struct sim_dataset *set = &task->run->planets;
    const int T = (int)set->positions - 1;
    struct gpt_batch batch;
    TRY(gpt_batch_create(&batch, &model->config, (int)set->n, T));
    for (int b = 0; b < batch.B; b++)
        ft_fill_inputs(&task->inputs, set, (size_t)b, 0, NULL, b, &batch);
    const real *out;
    const int rc = gpt_forward(model, &batch, &out);
    const size_t axes = (size_t)set->dimensions;
    for (size_t i = 0; i < (size_t)batch.B * (size_t)T * axes && !rc; i++)
        f[i] = (double)out[i];
    gpt_batch_free(&batch);
    return rc;
}

static double *alloc_forces(const struct ft_run *run)
{
    const size_t rows = run->planets.n * (size_t)(run->planets.positions - 1);
    return orr_alloc(rows * (size_t)run->planets.dimensions, sizeof(double));
}

/* The units as text in a checkpoint (docs/checkpoints.md). */
enum { UNITS_TEXT = 8 + SIM_AXES * 26 * FT_PLANETS };
static void print_units(const struct vector *task, char text[UNITS_TEXT])
{
    snprintf(text, UNITS_TEXT, "units");
    for (size_t s = 0; s < (size_t)task->run->planets.n && s < FT_PLANETS; s++)
        for (int c = 0; c < task->run->planets.dimensions; c++)
            orr_append(text, UNITS_TEXT, " %.17g", task->unit[s][c]);
}

int ft_vector_model(struct ft_run *run, const char *source, const char *attention, const char *from)
{
    const struct orr_train_settings *train = &run->settings->finetune.vector;
    const int T = (int)run->planets.positions - 1;
    struct vector task = {.run = run, .train = train};
    struct gpt_model model;
    char force[UNITS_TEXT];
    struct orr_train_settings all = *train;
    all.batch = (int)run->planets.n;
    TRY(ft_model_open(&model, run, attention, from, T + 1, run->planets.dimensions));
    ft_vector_scale(run, task.unit);
    print_units(&task, force);
    task.inputs.config = &model.config;
    task.rng = orr_rng_create(run->settings->seed, ORR_STAGE_NOISE, 0);
    double *f = alloc_forces(run);
    struct gpt_task loop = {.context = &task, .fill = fill_planets, .T = T};
    int rc = task.rng && f ? 0 : ORR_ENOMEM;
    if (!rc)
        rc = ft_train(&model, run, source, true, &all, force, &loop);
    if (!rc)
        rc = predict_planets(&task, &model, f);
    if (!rc)
        rc = ft_write_vector(run, source, f);
    if (task.rng)
        gsl_rng_free(task.rng);
    free(f);
    gpt_free(&model);
    return rc;
}

int ft_vector_truth(struct ft_run *run)
{
    const struct sim_dataset *set = &run->planets;
    const size_t T = (size_t)set->positions - 1, axes = (size_t)set->dimensions;
    double unit[FT_PLANETS][SIM_AXES], *f = alloc_forces(run);
    if (!f)
        return ORR_ENOMEM;
    ft_vector_scale(run, unit);
    for (size_t s = 0; s < (size_t)set->n; s++)
        for (size_t t = 0; t < T; t++)
            for (size_t c = 0; c < axes; c++)
                f[axes * (s * T + t) + c] =
                    (double)set->force_vector[axes * (s * (size_t)set->positions + t) + c] /
                    unit[s][c];
    int rc = ft_write_vector(run, "truth", f);
    free(f);
    return rc;
}

/* Predicts by k nearest neighbours among the labelled positions of all planets, in the state (2 d +
 * 1) without standardisation. */
int ft_vector_oracle(struct ft_run *run)
{
    const struct sim_dataset *set = &run->planets;
    const size_t T = (size_t)set->positions - 1, P = (size_t)set->positions, m = (size_t)set->n * T;
    const size_t labels = (size_t)run->settings->planets.labels, n = (size_t)set->n * labels;
    const size_t axes = (size_t)set->dimensions, dims = (size_t)sim_state_columns(set->dimensions);
    float *points = orr_alloc(n * dims, sizeof *points);
    float *values = orr_alloc(n * axes, sizeof *values);
    float *queries = orr_alloc(m * dims, sizeof *queries), *out = orr_alloc(m * axes, sizeof *out);
    double *f = alloc_forces(run), unit[FT_PLANETS][SIM_AXES];
    int rc = points && values && queries && out && f ? 0 : ORR_ENOMEM;
    if (!rc) {
        ft_vector_scale(run, unit);
        for (size_t i = 0; i < n; i++) {
            const size_t s = i / labels, at = s * P + (size_t)run->labels[i];
            memcpy(points + dims * i, set->state + dims * at, dims * sizeof *points);
            for (size_t c = 0; c < axes; c++)
                values[axes * i + c] =
                    (float)((double)set->force_vector[axes * at + c] / unit[s][c]);
        }
        for (size_t i = 0; i < m; i++)
            memcpy(queries + dims * i, set->state + dims * (i / T * P + i % T),
                   dims * sizeof *queries);
        rc = ft_knn(run->settings->finetune.knn_vector, dims, n, points, axes, values, m, queries,
                    out);
    }
    for (size_t i = 0; i < axes * m && !rc; i++)
        f[i] = (double)out[i];
    if (!rc)
        rc = ft_write_vector(run, "oracle", f);
    free(points);
    free(values);
    free(queries);
    free(out);
    free(f);
    return rc;
}
