/* train.c - the training loop, the same for next-state training and fine-tuning. */
#include "model.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

struct loop {
    struct gpt_model *model;
    const struct orr_train_preset *train;
    const struct gpt_task *task;
    struct gpt_batch batch;
    struct orr_log log;
    struct orr_progress progress;
    char last[4096], best[4096];
    double best_loss, started_s, positions;
};

/* Says first what will take more than an hour, by the speed of the first pass. */
static void announce(const struct loop *loop, long step, double pass_s)
{
    const struct orr_train_preset *t = loop->train;
    const int passes = t->accumulation > 1 ? t->accumulation : 1;
    const double total_s = pass_s * passes * (double)(t->steps - step);
    char text[ORR_DURATION];
    if (total_s < 3600)
        return;
    orr_duration_print(total_s, text);
    orr_note(loop->task->quiet,
             "%s: about %s for %ld steps of %d x %d sequences at the speed of "
             "the first; %.1f GB of activations",
             loop->task->label, text, t->steps - step, passes, loop->batch.B,
             (double)gpt_activation_bytes(loop->model, loop->batch.B, loop->batch.T) * 1e-9);
}

/* One update. At a signal between passes it is given up, with the weights as they were. */
static int step_once(struct loop *loop, long step, double *loss, double *norm)
{
    const int passes = loop->train->accumulation > 1 ? loop->train->accumulation : 1;
    gpt_zero_grad(loop->model);
    *loss = 0;
    for (int pass = 0; pass < passes; pass++) {
        double part;
        if (pass > 0 && orr_signal_seen())
            return ORR_EINTR;
        const double start_s = orr_time_s();
        TRY(loop->task->fill(loop->task->context, step, pass, &loop->batch));
        TRY(gpt_loss_backward(loop->model, &loop->batch, &part));
        *loss += part / passes;
        if (pass == 0 && loop->positions == 0)
            announce(loop, step, orr_time_s() - start_s);
    }
    if (!isfinite(*loss))
        return ORR_FAIL(ORR_EDIVERGED, "step %ld: the loss is not finite", step + 1);
    loop->positions += (double)passes * loop->batch.B * loop->batch.T;
    return gpt_update(loop->model, loop->train, step, norm);
}

static int save_last(struct loop *loop, long step)
{
    return gpt_save(loop->model, loop->last, step, true, loop->task->extra);
}

/* Held-out loss, logged; the best weights are kept (of the average, when there is one). */
static int evaluate(struct loop *loop, long step)
{
    if (!loop->task->evaluate)
        return 0;
    double loss;
    gpt_swap_average(loop->model);
    int rc = loop->task->evaluate(loop->task->context, loop->model, &loss);
    gpt_swap_average(loop->model);
    if (rc)
        return rc;
    TRY(orr_log_line(&loop->log, "step", (double)step, "val_loss", loss, (char *)NULL));
    if (!loop->task->best || !(loss < loop->best_loss))
        return 0;
    loop->best_loss = loss;
    struct gpt_model measured = *loop->model; /* the weights that were measured, nothing else */
    if (measured.average)
        measured.param = measured.average;
    measured.average = NULL;
    return gpt_save(&measured, loop->best, step, false, loop->task->extra);
}

/* A resumed run measures the best weights kept so far again; a fresh one has none. */
static int recall_best(struct loop *loop, bool fresh)
{
    if (!loop->task->best || !orr_exists(loop->best))
        return 0;
    if (fresh && remove(loop->best))
        return ORR_FAIL(ORR_EIO, "%s: cannot remove: %s", loop->best, strerror(errno));
    if (fresh || !loop->task->evaluate)
        return 0;
    struct gpt_model best;
    TRY(gpt_load_as(&best, loop->best, &loop->model->config, false, loop->model->ops, NULL));
    int rc = loop->task->evaluate(loop->task->context, &best, &loop->best_loss);
    gpt_free(&best);
    return rc;
}

/* What a run that was killed logged after its last checkpoint will be logged again: keeps the
 * lines up to `step`. */
static int trim_log(const char *path, long step)
{
    char *text, *rest = NULL;
    struct orr_file file = {0};
    if (!orr_exists(path))
        return 0;
    TRY(orr_file_read(path, &text, NULL));
    int rc = orr_file_create(&file, path);
    for (char *line = strtok_r(text, "\n", &rest); line && !rc;
         line = strtok_r(NULL, "\n", &rest)) {
        cJSON *json = cJSON_Parse(line); /* NULL: cut off in mid-line */
        const cJSON *at = cJSON_GetObjectItemCaseSensitive(json, "step");
        if (cJSON_IsNumber(at) && at->valuedouble <= (double)step)
            rc = orr_file_printf(&file, "%s\n", line);
        cJSON_Delete(json);
    }
    if (!rc)
        rc = orr_file_commit(&file);
    orr_file_close(&file);
    free(text);
    return rc;
}

static int log_step(struct loop *loop, long step, double loss, double norm)
{
    const double rate = loop->positions / fmax(orr_time_s() - loop->started_s, 1e-9);
    char detail[96];
    snprintf(detail, sizeof detail, "loss %.4g, %.0f positions/s", loss, rate);
    orr_progress_set(&loop->progress, (uint64_t)step, detail);
    if (step != 1 && step % 10 && step != loop->train->steps)
        return 0;
    long silent; /* of the last pass */
    TRY(gpt_silent_rows(loop->model, &silent));
    return orr_log_line(&loop->log, "step", (double)step, "loss", loss, "lr",
                        gpt_lr(loop->train, step - 1), "grad_norm", norm, "silent_rows",
                        (double)silent, "tokens_per_s", rate, (char *)NULL);
}

static int run(struct loop *loop, long *step)
{
    const struct orr_train_preset *t = loop->train;
    while (*step < t->steps) {
        double loss, norm;
        int rc = step_once(loop, *step, &loss, &norm);
        const bool given_up = rc == ORR_EINTR;
        if (!rc)
            rc = log_step(loop, ++*step, loss, norm);
        if (rc && !given_up)
            return rc;
        const bool stop = orr_signal_seen(), end = *step == t->steps;
        if (!given_up && (end || (t->eval_every > 0 && *step % t->eval_every == 0)))
            TRY(evaluate(loop, *step));
        if (end || stop || (t->checkpoint_every > 0 && *step % t->checkpoint_every == 0))
            TRY(save_last(loop, *step));
        if (stop && !end)
            return ORR_FAIL(ORR_EINTR, "stopped at step %ld of %ld, saved in %s", *step, t->steps,
                            loop->last);
    }
    return 0;
}

int gpt_train(struct gpt_model *model, const struct orr_train_preset *train,
              const struct gpt_task *task, long *step)
{
    if (*step >= train->steps)
        return 0;
    if (*step > 0 && !(model->m && model->v))
        return ORR_FAIL(ORR_EINVAL,
                        "%s/%s: cannot continue at step %ld: the optimiser's state is "
                        "missing",
                        task->folder, task->checkpoint, *step);
    struct loop loop = {.model = model,
                        .train = train,
                        .task = task,
                        .best_loss = INFINITY,
                        .started_s = orr_time_s()};
    char log[4096];
    TRY(orr_mkdir(task->folder));
    TRY(orr_path(loop.last, "%s/%s", task->folder, task->checkpoint));
    TRY(orr_path(loop.best, "%s/%s", task->folder, task->best ? task->best : ""));
    TRY(orr_path(log, "%s/%s", task->folder, task->log));
    int rc = gpt_batch_create(&loop.batch, &model->config, train->batch, task->T);
    if (!rc)
        rc = recall_best(&loop, *step == 0);
    if (!rc && *step > 0)
        rc = trim_log(log, *step);
    if (!rc)
        rc = orr_log_open(&loop.log, log, *step > 0);
    if (!rc) {
        orr_progress_init(&loop.progress, task->label, (uint64_t)train->steps, task->quiet);
        rc = run(&loop, step);
        orr_progress_end(&loop.progress, NULL);
        orr_log_close(&loop.log);
    }
    gpt_batch_free(&loop.batch);
    return rc;
}
