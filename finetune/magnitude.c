/* magnitude.c - force magnitudes: truth, nearest-neighbour oracle, fine-tuned models. */
#include "train_head.h"

#include <stdlib.h>
#include <string.h>

struct magnitude {
    const struct ft_run *run;
    struct ft_magnitudes feed;
    struct ft_labels train, val; /* val: the sequences for evaluations */
    struct gpt_batch batch;      /* for evaluations */
    int most;                    /* number of sequences in that batch */
};

static int fill_train(void *context, long step, int pass, struct gpt_batch *batch)
{
    const struct magnitude *task = context;
    return ft_fill_magnitudes(&task->feed, step, pass, batch);
}

/* Mean loss over the labels of the first sequences of the validation set. It is logged and, with
 * patience, selects the best weights. Labels outside the bounds do not count. */
static int evaluate_val(void *context, struct gpt_model *model, double *loss)
{
    struct magnitude *task = context;
    const int n = (int)task->val.count;
    double sum = 0, weight = 0;
    for (int first = 0; first < n; first += task->most) {
        task->batch.B = n - first < task->most ? n - first : task->most;
        for (int b = 0; b < task->batch.B; b++) {
            const size_t s = task->val.sequence[first + b];
            ft_fill_inputs(&task->feed.inputs, task->val.set, s, 0, NULL, b, &task->batch);
            ft_fill_targets(&task->val, &task->feed.transform, s, b, &task->batch);
        }
        TRY(gpt_loss_add(model, &task->batch, &sum, &weight));
    }
    *loss = weight > 0 ? sum / weight : 0;
    return 0;
}

/* Predicts F at the held-out rows. */
static int predict_rows(const struct magnitude *task, struct gpt_model *model, double *F)
{
    const struct ft_run *run = task->run;
    const size_t T = (size_t)run->test.positions - 1;
    double *all = orr_alloc((size_t)run->test.n * T, sizeof *all);
    int rc = all ? ft_predict(model, &task->feed.transform, &run->test, NULL, run->test.n, all)
                 : ORR_ENOMEM;
    for (size_t i = 0; i < run->row_count && !rc; i++)
        F[i] = all[(size_t)run->rows[i].sequence * T + (size_t)run->rows[i].row];
    free(all);
    return rc;
}

/* Finds the labels for training and evaluation, and the transform of the loss. */
static int find_labels(struct magnitude *task)
{
    const struct ft_run *run = task->run;
    const struct orr_train_settings *train = task->feed.train;
    const size_t most = train->eval_sequences > 0 ? (size_t)train->eval_sequences : 0;
    struct ft_bounds bounds;
    ft_bounds_of(run->settings, &bounds);
    task->feed.labels = &task->train;
    TRY(ft_labels_find(&task->train, &run->train, &bounds));
    TRY(ft_labels_find(&task->val, &run->val, &bounds));
    TRY(ft_labels_transform(&task->train, run->settings->finetune.magnitude_loss,
                            &task->feed.transform));
    if (run->val.n > 0 && !task->val.count && train->patience > 0)
        return ORR_FAIL(ORR_EINVAL,
                        "finetune.magnitude.patience: no sequence of two_body_val has a "
                        "label within orbits.label_r_min ... label_m_max to measure on");
    if (task->val.count > most)
        task->val.count = most;
    task->most = task->val.count < 64 ? (int)task->val.count : 64;
    return 0;
}

static void close_task(struct magnitude *task)
{
    gpt_batch_free(&task->batch);
    ft_labels_free(&task->train);
    ft_labels_free(&task->val);
    if (task->feed.rng)
        gsl_rng_free(task->feed.rng);
}

int ft_magnitude_model(struct ft_run *run, const char *source, const char *attention,
                       const char *from)
{
    const struct orr_train_settings *train = &run->settings->finetune.magnitude;
    const int T = (int)run->train.positions - 1;
    struct magnitude task = {.run = run, .feed = {.seed = run->settings->seed, .train = train}};
    struct gpt_model model;
    char force[FT_TRANSFORM_TEXT];
    int rc = find_labels(&task);
    if (rc || (rc = ft_model_open(&model, run, attention, from, T + 1, 1)) != 0) {
        close_task(&task);
        return rc;
    }
    task.most = gpt_evaluation_batch(&model, T, task.most);
    double *F = orr_alloc(run->row_count, sizeof *F);
    task.feed.rng = orr_rng_create(run->settings->seed, ORR_STAGE_NOISE, 0);
    rc = F && task.feed.rng ? gpt_batch_create(&task.batch, &model.config, task.most, T)
                            : ORR_ENOMEM;
    struct gpt_task loop = {.context = &task,
                            .fill = fill_train,
                            .T = T,
                            .evaluate = task.val.count ? evaluate_val : NULL};
    task.feed.inputs.config = &model.config;
    ft_transform_print(&task.feed.transform, force);
    if (!rc)
        rc = ft_train(&model, run, source, false, train, force, &loop);
    if (!rc)
        rc = predict_rows(&task, &model, F);
    if (!rc)
        rc = ft_write_magnitude(run, source, F);
    close_task(&task);
    free(F);
    gpt_free(&model);
    return rc;
}

/* Index of held-out row i in the arrays of the test set. */
static size_t place_of(const struct ft_run *run, size_t i)
{
    return (size_t)run->rows[i].sequence * (size_t)run->test.positions + (size_t)run->rows[i].row;
}

int ft_magnitude_truth(struct ft_run *run)
{
    double *F = orr_alloc(run->row_count, sizeof *F);
    if (!F)
        return ORR_ENOMEM;
    for (size_t i = 0; i < run->row_count; i++)
        F[i] = (double)run->test.force_magnitude[place_of(run, i)];
    const int rc = ft_write_magnitude(run, "truth", F);
    free(F);
    return rc;
}

int ft_magnitude_oracle(struct ft_run *run)
{
    struct ft_labels labels;
    struct ft_bounds bounds;
    ft_bounds_of(run->settings, &bounds);
    TRY(ft_labels_find(&labels, &run->train, &bounds));
    if (ft_labels_enough(&labels, (size_t)run->settings->finetune.knn_magnitude)) {
        ft_labels_free(&labels);
        return ORR_EINVAL;
    }
    const size_t n = ft_labels_points(&labels, NULL, NULL), m = run->row_count;
    const size_t full = (size_t)sim_full_columns(run->test.dimensions);
    float *states = orr_alloc(n * full, sizeof *states), *forces = orr_alloc(n, sizeof *forces);
    float *queries = orr_alloc(m * full, sizeof *queries), *out = orr_alloc(m, sizeof *out);
    double *F = orr_alloc(m, sizeof *F);
    int rc = states && forces && queries && out && F ? 0 : ORR_ENOMEM;
    if (!rc) {
        ft_labels_points(&labels, states, forces);
        for (size_t i = 0; i < m; i++)
            memcpy(queries + full * i, run->test.full_state + full * place_of(run, i),
                   full * sizeof *queries);
        ft_standardise(full, n, states, m, queries);
        rc = ft_knn(run->settings->finetune.knn_magnitude, full, n, states, 1, forces, m, queries,
                    out);
    }
    for (size_t i = 0; i < m && !rc; i++)
        F[i] = (double)out[i];
    if (!rc)
        rc = ft_write_magnitude(run, "oracle", F);
    ft_labels_free(&labels);
    free(states);
    free(forces);
    free(queries);
    free(out);
    free(F);
    return rc;
}
