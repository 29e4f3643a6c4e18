/* train.c - the training loop, the same for next-state training and fine-tuning. */
#include "model.h"

#include <math.h>
#include <string.h>

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

static int step_once(struct loop *loop, long step, double *loss, double *norm)
{
    const int passes = loop->train->accumulation > 1 ? loop->train->accumulation : 1;
    gpt_zero_grad(loop->model);
    *loss = 0;
    for (int pass = 0; pass < passes; pass++) {
        double part;
        TRY(loop->task->fill(loop->task->context, step, pass, &loop->batch));
        TRY(gpt_loss_backward(loop->model, &loop->batch, &part));
        *loss += part / passes;
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
    TRY(orr_log_line(&loop->log, "step", (double)step, "val_loss", loss, NULL));
    if (!loop->task->best || !(loss < loop->best_loss))
        return 0;
    loop->best_loss = loss;
    gpt_swap_average(loop->model);
    rc = gpt_save(loop->model, loop->best, step, false, loop->task->extra);
    gpt_swap_average(loop->model);
    return rc;
}

/* A resumed run measures the best weights kept so far again. */
static int recall_best(struct loop *loop)
{
    if (!loop->task->best || !loop->task->evaluate || !orr_exists(loop->best))
        return 0;
    struct gpt_model best;
    TRY(gpt_load_as(&best, loop->best, &loop->model->config, false, loop->model->ops, NULL));
    int rc = loop->task->evaluate(loop->task->context, &best, &loop->best_loss);
    gpt_free(&best);
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
    return orr_log_line(&loop->log, "step", (double)step, "loss", loss, "lr",
                        gpt_lr(loop->train, step - 1), "grad_norm", norm, "tokens_per_s", rate,
                        NULL);
}

static int run(struct loop *loop, long *step)
{
    const struct orr_train_preset *t = loop->train;
    while (*step < t->steps) {
        double loss, norm;
        TRY(step_once(loop, *step, &loss, &norm));
        ++*step;
        TRY(log_step(loop, *step, loss, norm));
        const bool stop = orr_signal_seen(), end = *step == t->steps;
        if (end || (t->eval_every > 0 && *step % t->eval_every == 0))
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
    struct loop loop = {.model = model, .train = train, .task = task, .best_loss = INFINITY,
                        .started_s = orr_time_s()};
    char log[4096];
    TRY(orr_mkdir(task->folder));
    TRY(orr_path(loop.last, "%s/%s", task->folder, task->checkpoint));
    TRY(orr_path(loop.best, "%s/%s", task->folder, task->best ? task->best : ""));
    TRY(orr_path(log, "%s/%s", task->folder, task->log));
    int rc = gpt_batch_create(&loop.batch, &model->config, train->batch, task->T);
    if (!rc && *step > 0)
        rc = recall_best(&loop);
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
