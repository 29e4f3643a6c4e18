/* train.c - the training loop of next-state training and fine-tuning: steps, evaluations and
 * checkpoints. */
#include "train.h"
#include "prefetcher.h"
#include "retention.h"
#include "log.h"
#include "monitor.h"
#include "model/checkpoint.h"
#include "model/nonfinite.h"
#include "model/optimizer.h"
#include "model/ranks/zero.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct loop {
    struct gpt_model *model;
    const struct orr_train_settings *train;
    const struct gpt_task *task;
    struct gpt_prefetcher prefetcher;
    struct gpt_monitor monitor;
    struct gpt_meter meter;
    struct orr_log log;
    struct orr_progress progress;
    char last[4096], best[4096];
    struct gpt_passes passes;
    int first, share;       /* this rank's passes of a step: first .. first + share - 1 */
    int leaf_passes;        /* passes in a leaf of the tree: all of them without micro-batches */
    struct gpt_tree tree;   /* sums the leaves' gradients */
    struct gpt_ranks ranks; /* sums gradients over the ranks */
    struct gpt_zero zero;   /* with zero1: moments distributed among the ranks */
    bool zero1;
    bool stop;           /* some rank must stop: all stop after this step */
    long step;           /* the step in progress, 0-based */
    double weight;       /* factor of the gradient of the pass in progress, */
    size_t weighed_from; /* applied so far from this element of the arena on */
    bool announced;
};

struct outcome {
    double loss, norm;
    double divisor;      /* the model's gradient is a sum that must be divided by this */
    const char *skipped; /* why there was no update; NULL: there was */
};

/* Prints how long the training will take if that is more than an hour, estimated from the first
 * pass. */
static void announce_duration(struct loop *loop, long step, double pass_s)
{
    const struct orr_train_settings *t = loop->train;
    const double total_s = pass_s * loop->share * (double)(t->steps - step);
    char text[ORR_DURATION];
    if (loop->announced || total_s < 3600) {
        loop->announced = true;
        return;
    }
    loop->announced = true;
    orr_duration_print(total_s, text);
    orr_note(loop->task->quiet,
             "%s: about %s for %ld steps of %d x %d sequences at the speed of "
             "the first; %.1f GB of activations",
             loop->task->label, text, t->steps - step, loop->passes.count, loop->passes.batch,
             (double)gpt_activation_bytes(loop->model, loop->passes.batch, loop->task->T) * 1e-9);
}

/* Prefetches the batch after (step, pass). */
static void prefetch_next(struct loop *loop, int pass)
{
    if (pass + 1 < loop->first + loop->share)
        gpt_prefetcher_start(&loop->prefetcher, loop->step, pass + 1);
    else if (loop->step + 1 < loop->train->steps)
        gpt_prefetcher_start(&loop->prefetcher, loop->step + 1, loop->first);
}

/* Runs one pass, whose gradient adds to the model's. The weight of a micro-batch is the share of
 * its rows with non-zero weight; a pass of `accumulation` has weight 1. A signal between passes
 * aborts the step. */
static int run_pass(struct loop *loop, int pass, double *loss)
{
    struct gpt_batch *batch;
    if (pass > loop->first && orr_signal_seen())
        return ORR_EINTR;
    const double start_s = orr_time_s();
    TRY(gpt_prefetcher_take(&loop->prefetcher, loop->step, pass, &batch));
    prefetch_next(loop, pass);
    loop->weight = 1;
    if (loop->train->micro_batches > 0)
        loop->weight = gpt_batch_weight(batch) / ((double)batch->B * (double)batch->T);
    TRY(gpt_loss_backward(loop->model, batch, loss));
    if (!isfinite(*loss))
        return gpt_diverged_loss(loop->model, batch, loop->step + 1);
    announce_duration(loop, loop->step, orr_time_s() - start_s);
    return 0;
}

/* Multiplies the gradient by the pass's weight from element `from` of the arena on, where the
 * gradient is final. */
static int weigh_gradient(struct loop *loop, size_t from)
{
    const size_t count = loop->weighed_from - from;
    loop->weighed_from = from;
    if (loop->weight >= 1 && loop->weight <= 1)
        return 0;
    return loop->model->ops->scale(loop->model->grad + from, loop->weight, count);
}

/* Called in the pass of the last micro-batch: this rank's gradient is final from `from` on. */
static int send_gradient(void *context, size_t from)
{
    struct loop *loop = context;
    TRY(weigh_gradient(loop, from));
    TRY(gpt_tree_fold(&loop->tree, from));
    gpt_ranks_begin(&loop->ranks, loop->model->grad, !loop->zero1);
    gpt_ranks_ready(&loop->ranks, from);
    return 0;
}

/* Runs the passes of one leaf of the tree, which add to the model's gradient. */
static int run_leaf(void *context, int leaf, struct gpt_sum *sum)
{
    struct loop *loop = context;
    struct gpt_model *model = loop->model;
    const int first = leaf * loop->leaf_passes;
    int rc = 0;
    *sum = (struct gpt_sum){0};
    model->gradient_ready_context = loop;
    for (int pass = first; pass < first + loop->leaf_passes && !rc; pass++) {
        double loss = 0;
        const bool sends = pass + 1 == loop->first + loop->share && cluster_size() > 1;
        model->on_gradient_ready = sends ? send_gradient : NULL;
        loop->weighed_from = model->total;
        rc = run_pass(loop, pass, &loss);
        sum->loss += loop->weight * loss;
        sum->weight += loop->weight;
    }
    model->on_gradient_ready = NULL;
    return rc ? rc : weigh_gradient(loop, 0);
}

/* Sums the gradient of a step over its passes and the ranks, and computes its norm. */
static int sum_gradient(struct loop *loop, struct outcome *out)
{
    struct gpt_model *model = loop->model;
    struct gpt_sum sum = {0};
    const int rc = gpt_tree_sum(&loop->tree, loop->first, run_leaf, loop, &sum);
    loop->stop = orr_signal_seen();
    /* has no effect where the last pass has called it */
    gpt_ranks_begin(&loop->ranks, model->grad, !loop->zero1);
    /* Fails only if the network does: no rank can be reached, so do not cluster_agree(). */
    TRY(gpt_ranks_end(&loop->ranks));
    TRY(cluster_agree(rc));
    TRY(gpt_ranks_stop(&loop->stop));
    TRY(gpt_ranks_sum(&loop->ranks, &sum));
    out->divisor = sum.weight > 0 ? sum.weight : 1; /* no row has weight: everything is 0 */
    out->loss = sum.loss / out->divisor;
    if (loop->zero1)
        return gpt_zero_norm(&loop->zero, loop->step, out->divisor, &out->norm);
    const size_t block = loop->train->micro_batches > 0 ? GPT_BLOCK : model->total;
    return gpt_gradient_norm(model, loop->step, out->divisor, block, &out->norm);
}

/* Computes the gradient and updates the weights, unless the step is skipped. */
static int compute_step(struct loop *loop, struct outcome *out)
{
    TRY(sum_gradient(loop, out));
    TRY(gpt_monitor_step(&loop->monitor, loop->step + 1, out->loss, out->norm, &out->skipped));
    if (out->skipped)
        return 0;
    return loop->zero1
               ? gpt_zero_apply(&loop->zero, loop->train, loop->step, out->norm, out->divisor)
               : gpt_apply(loop->model, loop->train, loop->step, out->norm, out->divisor);
}

/* Runs one step. A signal between passes aborts it, with the weights unchanged. */
static int step_once(struct loop *loop, long step, struct outcome *out)
{
    const double start_s = orr_time_s();
    loop->step = step;
    const int rc = compute_step(loop, out);
    if (rc == ORR_EINTR) { /* on all ranks */
        loop->stop = true;
        return rc;
    }
    gpt_meter_add(&loop->meter, orr_time_s() - start_s);
    return cluster_agree(rc);
}

/* Writes the last checkpoint with the state of gpt_monitor, so that a resumed run makes equal
 * decisions. */
static int write_last(struct loop *loop, long step)
{
    enum { MOST = 48 };
    const char *extra[MOST + 3];
    char *state;
    size_t n = 0;
    TRY(gpt_monitor_print(&loop->monitor, &state));
    for (const char *const *from = loop->task->extra; from && *from && n < MOST; from++)
        extra[n++] = *from;
    extra[n++] = "training";
    extra[n++] = state;
    extra[n] = NULL;
    int rc = gpt_save(loop->model, loop->last, step, true, extra);
    free(state);
    if (!rc && gpt_keeps_step(loop->train, step))
        rc = gpt_keep_checkpoint(loop->task, loop->train, loop->last, step);
    return rc;
}

/* With ZeRO-1, gives rank 0's model its average and, with `moments`, the moments, until
 * drop_zero1(). */
static int collect_zero1(struct loop *loop, bool moments)
{
    return loop->zero1 ? gpt_zero_collect(&loop->zero, moments) : 0;
}

static void drop_zero1(struct loop *loop)
{
    if (loop->zero1)
        gpt_drop_training(loop->model);
}

static int save_last(struct loop *loop, long step)
{
    int rc = gpt_check_weights(loop->model, step);
    if (!rc)
        rc = collect_zero1(loop, true);
    if (!rc && cluster_leads())
        rc = write_last(loop, step);
    drop_zero1(loop);
    return cluster_agree(rc);
}

/* Logs the held-out loss of the weights, or of their average where there is one. */
static int log_val_loss(struct loop *loop, long step, double *loss)
{
    gpt_swap_average(loop->model);
    const int rc = loop->task->evaluate(loop->task->context, loop->model, loss);
    gpt_swap_average(loop->model);
    return rc ? rc
              : orr_log_line(&loop->log, "step", (double)step, "val_loss", *loss, "memory_mb",
                             orr_memory_peak() * 1e-6, (char *)NULL);
}

/* Writes the weights that were evaluated, without moments. */
static int write_best(struct loop *loop, long step)
{
    struct gpt_model measured = *loop->model;
    if (measured.average)
        measured.param = measured.average;
    measured.average = NULL;
    return gpt_save(&measured, loop->best, step, false, loop->task->extra);
}

/* Evaluates the held-out loss and keeps the best weights. */
static int evaluate_now(struct loop *loop, long step)
{
    double loss = 0;
    TRY(cluster_agree(cluster_leads() ? log_val_loss(loop, step, &loss) : 0));
    TRY(cluster_broadcast(&loss, sizeof loss, 0));
    if (!loop->task->best && loop->train->patience == 0)
        return 0; /* logged only: it affects no selection, and is not stored in checkpoints */
    const bool better = gpt_monitor_evaluation(&loop->monitor, loss);
    int rc = 0;
    if (loop->monitor.ended && cluster_leads())
        rc = orr_log_word_line(&loop->log, "stopped", "patience", "step", (double)step,
                               (char *)NULL);
    else if (better && loop->task->best && cluster_leads())
        rc = write_best(loop, step);
    return cluster_agree(rc);
}

static int evaluate_weights(struct loop *loop, long step)
{
    if (!loop->task->evaluate)
        return 0;
    int rc = collect_zero1(loop, false);
    if (!rc)
        rc = evaluate_now(loop, step);
    drop_zero1(loop);
    return rc;
}

/* Removes the checkpoints of an earlier training before its log, so that the files belong
 * together at every instant. */
static int remove_checkpoints(const struct loop *loop)
{
    if (loop->task->best)
        TRY(orr_remove(loop->best));
    TRY(gpt_remove_kept(loop->task, 0));
    /* removed last, because its presence shows that there are weights to lose */
    return orr_remove(loop->last);
}

/* Gives the best weights of a shorter training the record of this one. */
static int lengthen_best(const struct loop *loop)
{
    struct gpt_model best;
    long step;
    if (!loop->task->best || !orr_exists(loop->best))
        return 0;
    TRY(gpt_load_as(&best, loop->best, &loop->model->config, false, loop->model->ops, &step));
    const int rc = gpt_save(&best, loop->best, step, false, loop->task->extra);
    gpt_free(&best);
    return rc;
}

/* Restores the least held-out loss. Checkpoints of version 0.1 have no training state (known =
 * false): their best model is evaluated again. */
static int recall_best(struct loop *loop, bool known)
{
    if (!loop->task->best)
        return 0;
    if (!orr_exists(loop->best)) { /* the next evaluation writes it */
        loop->monitor.best = INFINITY;
        return 0;
    }
    if (known || !loop->task->evaluate)
        return 0;
    struct gpt_model best;
    TRY(gpt_load_as(&best, loop->best, &loop->model->config, false, loop->model->ops, NULL));
    int rc = loop->task->evaluate(loop->task->context, &best, &loop->monitor.best);
    gpt_free(&best);
    return rc;
}

/* Restores the training state from the checkpoint; *known = whether it has one. */
static int recall_state(struct loop *loop, bool *known)
{
    const size_t bytes = 64 * (size_t)(loop->monitor.window + 8);
    char *text = orr_alloc(bytes, 1);
    if (!text)
        return ORR_ENOMEM;
    int rc = gpt_checkpoint_metadata(loop->last, "training", text, bytes);
    *known = !rc && *text;
    if (*known)
        rc = gpt_monitor_parse(&loop->monitor, loop->last, text);
    free(text);
    return rc;
}

static int report_step(struct loop *loop, long step, const struct outcome *out)
{
    const struct orr_train_settings *t = loop->train;
    struct gpt_log_entry entry = {.step = step,
                                  .steps = t->steps,
                                  .loss = out->loss,
                                  .lr = gpt_lr(t, step - 1),
                                  .norm = out->norm,
                                  .skipped = out->skipped,
                                  .skipped_steps = loop->monitor.skipped};
    char detail[160];
    gpt_log_detail(&entry, &loop->meter, detail);
    orr_progress_set(&loop->progress, (uint64_t)step, detail);
    if (!out->skipped && step != 1 && step % 10 && step != t->steps)
        return 0;
    TRY(gpt_degenerate_rows(loop->model,
                            &entry.degenerate)); /* of the last pass, which the last rank ran */
    TRY(cluster_broadcast(&entry.degenerate, sizeof entry.degenerate, cluster_size() - 1));
    return cluster_agree(cluster_leads() ? gpt_log_step(&loop->log, &entry, &loop->meter) : 0);
}

static bool is_due(long step, long period)
{
    return period > 0 && step % period == 0;
}

/* Saves the last step. An evaluation that is made only because the training ends decides which
 * weights are the best. The saved state is the one before it, from which a longer training
 * continues. */
static int save_end(struct loop *loop, long step, const struct gpt_monitor *before)
{
    const struct gpt_monitor after = loop->monitor;
    if (!is_due(step, loop->train->eval_every))
        loop->monitor = *before;
    const int rc = save_last(loop, step);
    loop->monitor = after;
    return rc;
}

static int run_steps(struct loop *loop, long *step)
{
    const struct orr_train_settings *t = loop->train;
    while (*step < t->steps && !loop->monitor.ended) {
        struct outcome out;
        int rc = step_once(loop, *step, &out);
        const bool given_up = rc == ORR_EINTR;
        if (!rc) {
            orr_time_hold(false);
            rc = report_step(loop, ++*step, &out);
        }
        if (rc && !given_up)
            return rc;
        const bool stop = cluster_size() > 1 ? loop->stop : orr_signal_seen();
        const struct gpt_monitor before = loop->monitor;
        if (!given_up && (*step == t->steps || is_due(*step, t->eval_every)))
            TRY(evaluate_weights(loop, *step));
        const bool end = *step == t->steps || loop->monitor.ended;
        if (*step == t->steps)
            TRY(save_end(loop, *step, &before));
        else if (end || stop || is_due(*step, t->checkpoint_every) || gpt_keeps_step(t, *step))
            TRY(save_last(loop, *step));
        if (stop && !end)
            return ORR_FAIL(ORR_EINTR, "stopped at step %ld of %ld, saved in %s", *step, t->steps,
                            loop->last);
    }
    return 0;
}

/* Opens the existing checkpoints and log; a new run removes them. */
static int open_files(struct loop *loop, const char *log, long step)
{
    const bool fresh = step == 0;
    bool known = false;
    if (fresh)
        TRY(remove_checkpoints(loop));
    if (orr_exists(loop->last))
        TRY(recall_state(loop, &known));
    TRY(recall_best(loop, known));
    if (loop->task->lengthened)
        TRY(lengthen_best(loop));
    if (!fresh)
        TRY(gpt_log_trim(log, step));
    return orr_log_open(&loop->log, log, !fresh);
}

/* Restores the state: rank 0 alone reads files, and all ranks get the state of the monitor. */
static int recall_past(struct loop *loop, const char *log, long step)
{
    char *state = NULL;
    TRY(cluster_agree(cluster_leads() ? open_files(loop, log, step) : 0));
    if (cluster_size() < 2)
        return 0;
    int rc = cluster_agree(cluster_leads() ? gpt_monitor_print(&loop->monitor, &state) : 0);
    if (!rc)
        rc = gpt_ranks_share_text(&state);
    if (!rc)
        rc = cluster_agree(gpt_monitor_parse(&loop->monitor, loop->last, state));
    free(state);
    return rc;
}

/* Checks that a continued training has its moments, and that there is a folder to write to. */
static int check_folder(const struct loop *loop, long step)
{
    if (step > 0 && !(loop->model->m && loop->model->v))
        return ORR_FAIL(ORR_EINVAL,
                        "%s: cannot continue at step %ld: the optimiser's state is missing",
                        loop->last, step);
    return orr_mkdir(loop->task->folder);
}

static int open_loop(struct loop *loop, long step)
{
    const struct gpt_model *model = loop->model;
    const bool micro = loop->train->micro_batches > 0;
    if (cluster_leads())
        TRY(check_folder(loop, step));
    TRY(gpt_choose_optimizer(loop->model, loop->train->optimizer));
    gpt_ranks_share(loop->passes.count, &loop->first, &loop->share);
    loop->leaf_passes = micro ? 1 : loop->share;
    loop->zero1 = micro && loop->train->zero && cluster_size() > 1;
    TRY(gpt_prefetcher_open(&loop->prefetcher, loop->task, &model->config, loop->passes.batch));
    TRY(gpt_monitor_create(&loop->monitor, loop->train));
    TRY(gpt_tree_create(&loop->tree, model->ops, model->grad, model->total,
                        micro ? loop->share : 1));
    return gpt_ranks_create(&loop->ranks, model->ops, model->total);
}

static void close_loop(struct loop *loop)
{
    (void)orr_log_close(&loop->log);
    gpt_monitor_free(&loop->monitor);
    gpt_tree_free(&loop->tree);
    gpt_ranks_free(&loop->ranks);
    gpt_zero_free(&loop->zero);
    gpt_prefetcher_close(&loop->prefetcher);
}

/* Notes unusual events of the training. */
static void note_outcome(const struct loop *loop, long step)
{
    const struct gpt_monitor *monitor = &loop->monitor;
    if (monitor->skipped)
        orr_note(loop->task->quiet, "%s: %ld of %ld steps skipped as outliers", loop->task->label,
                 monitor->skipped, step);
    if (monitor->ended)
        orr_note(loop->task->quiet,
                 "%s: ended at step %ld of %ld: %ld evaluations without a better one",
                 loop->task->label, step, loop->train->steps, monitor->since_best);
}

const char *gpt_final_checkpoint(const struct orr_train_settings *train)
{
    return train->patience > 0 ? "best.safetensors" : "last.safetensors";
}

static int run_with_progress(struct loop *loop, long *step)
{
    const struct gpt_task *task = loop->task;
    gpt_meter_open(&loop->meter, loop->model, loop->passes.batch, task->T, loop->passes.count);
    loop->meter.peak *= cluster_size();
    orr_progress_init(&loop->progress, task->label, (uint64_t)loop->train->steps, task->quiet);
    loop->progress.begun = (uint64_t)*step;
    const int rc = run_steps(loop, step);
    orr_progress_end(&loop->progress, NULL);
    return rc;
}

static int train_opened(struct loop *loop, long *step)
{
    char log[4096];
    TRY(orr_path(loop->last, "%s/%s", loop->task->folder, loop->task->checkpoint));
    TRY(orr_path(loop->best, "%s/%s", loop->task->folder,
                 loop->task->best ? loop->task->best : ""));
    TRY(orr_path(log, "%s/%s", loop->task->folder, loop->task->log));
    TRY(cluster_agree(open_loop(loop, *step)));
    if (loop->zero1)
        TRY(gpt_zero_create(&loop->zero, loop->model));
    TRY(recall_past(loop, log, *step));
    /* after the best weights: if this call is interrupted in between, the older record here
     * makes the next call repeat both */
    if (loop->task->lengthened)
        TRY(save_last(loop, *step));
    TRY(run_with_progress(loop, step));
    TRY(collect_zero1(loop, false)); /* the model must end with its average */
    TRY(cluster_agree(orr_log_close(&loop->log)));
    note_outcome(loop, *step);
    return 0;
}

int gpt_train(struct gpt_model *model, const struct orr_train_settings *train,
              const struct gpt_task *task, long *step)
{
    struct loop loop = {
        .model = model, .train = train, .task = task, .passes = gpt_passes_of(train)};
    if (*step >= train->steps)
        return 0;
    /* so that the log shows this training's memory, not that of an earlier one */
    orr_memory_peak_restart();
    gpt_freeze(model, train->train);
    const int rc = train_opened(&loop, step);
    close_loop(&loop);
    return rc;
}
