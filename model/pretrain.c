/* pretrain.c - one pretraining, from data to evaluation.json. */
#include "pretrain.h"
#include "model.h"

#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

struct next_state {
    const struct gpt_pretraining *job;
    struct gpt_source *source, *val;
    struct gpt_batch val_batch;
    int val_batches;
};

static int fill(void *context, long step, int pass, struct gpt_batch *batch)
{
    struct next_state *task = context;
    const struct orr_train_preset *t = task->job->train;
    const int passes = t->accumulation > 1 ? t->accumulation : 1;
    const uint64_t first =
        ((uint64_t)step * (uint64_t)passes + (uint64_t)pass) * (uint64_t)batch->B;
    return gpt_source_fill(task->source, first, false, t->noise_au, task->job->preset->seed, batch);
}

static int evaluate(void *context, struct gpt_model *model, double *loss)
{
    struct next_state *task = context;
    *loss = 0;
    for (int i = 0; i < task->val_batches; i++) {
        double part;
        TRY(gpt_source_fill(task->val, (uint64_t)i * (uint64_t)task->val_batch.B, true, 0, 0,
                            &task->val_batch));
        TRY(gpt_loss(model, &task->val_batch, &part));
        *loss += part / task->val_batches;
    }
    return 0;
}

static int write_evaluation(const struct gpt_pretraining *job, const struct gpt_next_state *r,
                            long step)
{
    char path[4096], key[64];
    TRY(orr_path(path, "%s/evaluation.json", job->folder));
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "attention", job->attention);
    cJSON_AddStringToObject(json, "unit", job->planets ? "separation at step 0" : "AU");
    cJSON_AddNumberToObject(json, "step", (double)step);
    cJSON_AddNumberToObject(json, "sequences", r->sequences);
    cJSON_AddNumberToObject(json, "loss", r->loss);
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
    int rc = orr_json_write(path, json);
    cJSON_Delete(json);
    return rc;
}

static int evaluate_text(const struct gpt_pretraining *job, struct gpt_model *model,
                         struct gpt_source *val, long step)
{
    struct gpt_text_result r;
    char path[4096];
    TRY(orr_path(path, "%s/evaluation.json", job->folder));
    TRY(gpt_evaluate_text(model, val, job->train->eval_sequences, model->config.context, &r));
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "attention", job->attention);
    cJSON_AddStringToObject(json, "unit", "nats");
    cJSON_AddNumberToObject(json, "step", (double)step);
    cJSON_AddNumberToObject(json, "sequences", r.sequences);
    cJSON_AddNumberToObject(json, "positions", r.positions);
    cJSON_AddNumberToObject(json, "vocab", model->config.vocab);
    cJSON_AddNumberToObject(json, "loss", r.loss);
    cJSON_AddNumberToObject(json, "perplexity", r.perplexity);
    cJSON_AddNumberToObject(json, "bits_per_token", r.bits_per_token);
    int rc = orr_json_write(path, json);
    cJSON_Delete(json);
    orr_note(job->quiet, "pretrain %s: loss %.4f, perplexity %.4g, %.4f bits per token",
             job->attention, r.loss, r.perplexity, r.bits_per_token);
    return rc;
}

/* A checkpoint's weights for a training of their own, as fine-tuning takes them: the average where
 * there is one, without the optimiser's state, whose corrections belong to its steps. */
static int start_from(const struct gpt_pretraining *job, const struct gpt_config *config,
                      struct gpt_model *model)
{
    TRY(gpt_load_as(model, job->checkpoint, config, false, job->ops, NULL));
    gpt_swap_average(model);
    gpt_drop_training(model);
    return 0;
}

/* The model to train: resumed, from --checkpoint, or fresh. */
static int open_model(const struct gpt_pretraining *job, const struct gpt_config *config,
                      const char *digest, struct gpt_model *model, long *step)
{
    char last[4096], found[32];
    *step = 0;
    TRY(orr_path(last, "%s/last.safetensors", job->folder));
    if (job->resume && orr_exists(last)) {
        TRY(gpt_checkpoint_metadata(last, "digest", found, sizeof found));
        if (!strcmp(found, digest))
            return gpt_load_as(model, last, config, false, job->ops, step);
        orr_note(job->quiet, "%s: made with other settings, training starts anew", last);
    }
    if (*job->checkpoint)
        return start_from(job, config, model);
    return gpt_create(model, config, job->ops, job->preset->seed);
}

/* Nothing is left to do: the last step was made, or patience was over, and evaluated. */
static int is_complete(const struct gpt_pretraining *job, long step, bool *complete)
{
    char last[4096], evaluation[4096];
    long saved;
    bool ended = false;
    *complete = false;
    TRY(orr_path(evaluation, "%s/evaluation.json", job->folder));
    TRY(orr_path(last, "%s/last.safetensors", job->folder));
    if (step < 1 || !orr_exists(evaluation))
        return 0;
    TRY(gpt_progress(last, &saved, &ended));
    *complete = ended || step >= job->train->steps;
    return 0;
}

static int train_and_evaluate(const struct gpt_pretraining *job, struct next_state *task,
                              struct gpt_model *model, const char *digest, long step)
{
    char label[2 * ORR_NAME];
    snprintf(label, sizeof label, "pretrain %s%s", job->attention, job->planets ? ", planets" : "");
    const char *const extra[] = {"stage", job->planets ? "pretrain_planets" : "pretrain", "digest",
                                 digest, NULL};
    struct gpt_task loop = {.context = task,
                            .fill = fill,
                            .evaluate = task->val_batches ? evaluate : NULL,
                            .label = label,
                            .folder = job->folder,
                            .checkpoint = "last.safetensors",
                            .best = "best.safetensors",
                            .log = "log.jsonl",
                            .extra = extra,
                            .T = model->config.context,
                            .quiet = job->quiet};
    bool complete;
    TRY(is_complete(job, step, &complete));
    if (complete) {
        orr_note(job->quiet, "%s: complete (%ld steps)", label, step);
        return 0;
    }
    TRY(gpt_train(model, job->train, &loop, &step));
    if (!task->val)
        return 0;
    struct gpt_next_state result;
    gpt_swap_average(model);
    if (model->config.input == GPT_INPUT_TEXT)
        return evaluate_text(job, model, task->val, step);
    TRY(gpt_evaluate_next_state(model, task->val, job->train->eval_sequences,
                                job->preset->orbits.extent_au, &result));
    TRY(write_evaluation(job, &result, step));
    orr_note(job->quiet, "%s: next-state error %.4g %s, persistence %.4g", label,
             result.teacher_forced, job->planets ? "separations" : "AU", result.persistence);
    return 0;
}

/* Of the settings, and of the text that is trained on. */
static void make_digest(const struct gpt_pretraining *job, const struct gpt_source *source,
                        char digest[32])
{
    const uint64_t settings =
        orr_preset_digest(job->preset, job->planets ? GPT_PLANETS_GROUPS : GPT_PRETRAIN_GROUPS);
    snprintf(digest, 32, "%016llx",
             (unsigned long long)(settings ^ gpt_source_fingerprint(source)));
}

int gpt_pretrain(const struct gpt_pretraining *job)
{
    const struct orr_preset *p = job->preset;
    struct next_state task = {.job = job};
    struct gpt_config config;
    struct gpt_model model = {0};
    char digest[32];
    long step;
    const bool text = orr_preset_is_text(p);
    const int positions = text           ? p->text.positions
                          : job->planets ? 1 + 2 * p->planets.steps
                                         : p->orbits.positions;
    long held_out = text           ? *p->text.val || p->text.val_fraction > 0
                    : job->planets ? p->planets.val
                                   : p->orbits.val;
    TRY(gpt_config_from_preset(&config, p, job->attention, positions));
    int rc = gpt_source_open(&task.source, p, job->orbits_dir,
                             job->planets ? SIM_SPLIT_PLANETS_TRAIN : SIM_SPLIT_TRAIN, &config);
    if (!rc && held_out > 0)
        rc = gpt_source_open(&task.val, p, job->orbits_dir,
                             job->planets ? SIM_SPLIT_PLANETS_VAL : SIM_SPLIT_VAL, &config);
    if (!rc) {
        make_digest(job, task.source, digest);
        rc = open_model(job, &config, digest, &model, &step);
    }
    if (!rc && task.val) {
        held_out = text ? gpt_source_count(task.val) : held_out;
        const long n =
            job->train->eval_sequences < held_out ? job->train->eval_sequences : held_out;
        const int most = text && job->train->batch < 64 ? job->train->batch : 64; /* logits */
        const int B = n < most ? (int)n : most;
        task.val_batches = B > 0 ? (int)(n / B) : 0;
        if (B > 0)
            rc = gpt_batch_create(&task.val_batch, &config, B, config.context);
    }
    if (!rc)
        rc = train_and_evaluate(job, &task, &model, digest, step);
    gpt_batch_free(&task.val_batch);
    gpt_source_close(task.source);
    gpt_source_close(task.val);
    gpt_free(&model);
    return rc;
}
