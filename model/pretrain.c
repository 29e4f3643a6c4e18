/* pretrain.c - one pretraining, from its data to evaluation.json. */
#include "pretrain.h"
#include "checkpoint.h"
#include "optimizer.h"
#include "model/evaluate/evaluate.h"
#include "model/ranks/ranks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

/* What a pretraining reads its sequences for; they come from sets of orbits or planet runs, or
 * from splits of a text. */
enum role { ROLE_TRAIN, ROLE_VAL, ROLE_FINAL, ROLES };

struct next_state {
    const struct gpt_pretraining *job;
    struct gpt_config config;
    struct gpt_source *source, *val, *test; /* test: NULL where final metrics are measured on val */
    struct gpt_batch val_batch;
    long val_sequences; /* number of sequences that are evaluated */
    int val_most;       /* sequences of one batch */
};

static enum sim_split split_of(const struct gpt_pretraining *job, enum role role)
{
    if (role == ROLE_FINAL)
        return gpt_final_split(job->settings, job->planets);
    if (role == ROLE_VAL)
        return job->planets ? SIM_SPLIT_PLANETS_VAL : SIM_SPLIT_VAL;
    return job->planets ? SIM_SPLIT_PLANETS_TRAIN : SIM_SPLIT_TRAIN;
}

/* Whether the settings give the split any sequences. */
static bool has_split(const struct gpt_pretraining *job, enum role role)
{
    const struct orr_settings *p = job->settings;
    if (orr_settings_is_text(p))
        return role == ROLE_TRAIN || *p->text.val || p->text.val_fraction > 0;
    return sim_split_count(p, split_of(job, role)) > 0;
}

static int open_source(const struct gpt_pretraining *job, enum role role,
                       const struct gpt_config *config, struct gpt_source **source)
{
    return gpt_source_open(source, job->settings, job->orbits_dir, split_of(job, role), config);
}

static int config_of(const struct gpt_pretraining *job, struct gpt_config *config)
{
    const struct orr_settings *p = job->settings;
    TRY(gpt_config_from_preset(config, p, job->attention,
                               orr_settings_is_text(p)
                                   ? p->text.positions
                                   : sim_split_positions(p, split_of(job, ROLE_TRAIN))));
    config->huber = config->head == GPT_HEAD_REGRESSION ? job->train->huber : 0;
    return 0;
}

int gpt_pretrain_check(const struct gpt_pretraining *job)
{
    struct gpt_config config;
    struct gpt_model model;
    TRY(config_of(job, &config));
    for (int role = ROLE_TRAIN; role < (cluster_leads() ? ROLES : ROLE_VAL); role++) {
        struct gpt_source *source;
        if (!orr_settings_is_text(job->settings) && !has_split(job, (enum role)role))
            continue;
        TRY(open_source(job, (enum role)role, &config, &source));
        gpt_source_close(source);
    }
    if (!cluster_leads() || !*job->checkpoint)
        return 0;
    TRY(gpt_load_as(&model, job->checkpoint, &config, false, &k_ref, NULL));
    gpt_free(&model);
    return 0;
}

static int fill_batch(void *context, long step, int pass, struct gpt_batch *batch)
{
    struct next_state *task = context;
    const struct orr_train_settings *t = task->job->train;
    const uint64_t passes = (uint64_t)gpt_passes_of(t).count;
    const uint64_t first = ((uint64_t)step * passes + (uint64_t)pass) * (uint64_t)batch->B;
    return gpt_source_fill(task->source, first, false, t->noise_au, task->job->settings->seed,
                           batch);
}

static int evaluate_val(void *context, struct gpt_model *model, double *loss)
{
    struct next_state *task = context;
    const long n = task->val_sequences;
    double sum = 0, weight = 0;
    for (long first = 0; first < n; first += task->val_most) {
        task->val_batch.B = n - first < task->val_most ? (int)(n - first) : task->val_most;
        TRY(gpt_source_fill(task->val, (uint64_t)first, true, 0, 0, &task->val_batch));
        TRY(gpt_loss_add(model, &task->val_batch, &sum, &weight));
    }
    *loss = weight > 0 ? sum / weight : 0; /* as in gpt_loss where no row has weight */
    return 0;
}

static const char *error_unit(const struct gpt_pretraining *job)
{
    return job->planets ? "separation at step 0" : *job->settings->tracks ? GPT_TRACKS_UNIT : "AU";
}

/* Begins evaluation.json with the record of what it was made from; the metrics follow. */
static int begin_evaluation(const struct gpt_pretraining *job, const char *unit, long step,
                            cJSON **json)
{
    char digest[ORR_DIGEST];
    TRY(orr_lineage_evaluation(job->lineage, job->attention, job->planets, digest));
    *json = cJSON_CreateObject();
    cJSON_AddItemToObject(*json, "made", orr_records_made(&job->lineage->records, digest));
    cJSON_AddStringToObject(*json, "attention", job->attention);
    cJSON_AddStringToObject(*json, "unit", unit);
    cJSON_AddStringToObject(*json, "checkpoint", gpt_final_checkpoint(job->train));
    cJSON_AddNumberToObject(*json, "step", (double)step);
    return 0;
}

static int write_evaluation(const struct gpt_pretraining *job, cJSON *json)
{
    char path[4096];
    TRY(orr_path(path, "%s/evaluation.json", job->folder));
    return orr_json_write(path, json);
}

/* Next-state metrics of orbits. For planet runs also the information about the period in the
 * time step (docs/laws.md), the upper bound for such a run, and rollouts in a file of their own. */
static int evaluate_orbits(const struct gpt_pretraining *job, struct gpt_model *model,
                           struct gpt_source *source, const char *label, long step)
{
    const char *split = sim_split_name(split_of(job, ROLE_FINAL));
    struct gpt_next_state r;
    double period_r2 = 0;
    bool rollouts = false;
    TRY(gpt_evaluate_next_state(model, source, job->train->eval_sequences,
                                job->settings->orbits.extent_au, &r));
    if (job->planets) {
        TRY(sim_prior_period_r2(job->settings, SIM_SPLIT_PLANETS_TRAIN, &period_r2));
        TRY(gpt_rollouts_write(job, model, &rollouts));
    }
    cJSON *json;
    TRY(begin_evaluation(job, error_unit(job), step, &json));
    cJSON_AddStringToObject(json, "split", split);
    gpt_next_state_add(json, &r);
    if (job->planets)
        cJSON_AddNumberToObject(json, "period_r2", period_r2);
    int rc = 0;
    if (rollouts)
        rc = orr_files_add(cJSON_AddObjectToObject(json, "files"), job->folder, GPT_ROLLOUTS);
    if (!rc)
        rc = write_evaluation(job, json);
    cJSON_Delete(json);
    if (!rc)
        orr_note(job->quiet, "%s: next-state error %.4g %s, persistence %.4g (%d sequences of %s)",
                 label, r.teacher_forced, job->planets ? "separations" : error_unit(job),
                 r.persistence, r.sequences, split);
    return rc;
}

static int evaluate_text(const struct gpt_pretraining *job, struct gpt_model *model,
                         struct gpt_source *source, long step)
{
    struct gpt_text_result r;
    TRY(gpt_evaluate_text(model, source, job->train->eval_sequences, model->config.context, &r));
    cJSON *json;
    TRY(begin_evaluation(job, "nats", step, &json));
    cJSON_AddNumberToObject(json, "sequences", r.sequences);
    cJSON_AddNumberToObject(json, "positions", r.positions);
    cJSON_AddNumberToObject(json, "vocab", model->config.vocab);
    cJSON_AddNumberToObject(json, "loss", r.loss);
    cJSON_AddNumberToObject(json, "perplexity", r.perplexity);
    cJSON_AddNumberToObject(json, "bits_per_token", r.bits_per_token);
    const int rc = write_evaluation(job, json);
    cJSON_Delete(json);
    orr_note(job->quiet, "pretrain %s: loss %.4f, perplexity %.4g, %.4f bits per token",
             job->attention, r.loss, r.perplexity, r.bits_per_token);
    return rc;
}

/* Loads a checkpoint's weights for a new training, as fine-tuning does: the average where there
 * is one, without the optimiser's state, whose corrections belong to its own steps. */
static int start_from(const struct gpt_pretraining *job, const struct gpt_config *config,
                      struct gpt_model *model)
{
    TRY(gpt_load_as(model, job->checkpoint, config, false, job->ops, NULL));
    gpt_swap_average(model);
    gpt_drop_training(model);
    return 0;
}

static struct gpt_training training_of(const struct gpt_pretraining *job)
{
    return (struct gpt_training){.lineage = job->lineage,
                                 .kind =
                                     job->planets ? ORR_KIND_PRETRAIN_PLANETS : ORR_KIND_PRETRAIN,
                                 .source = job->attention,
                                 .train = job->train,
                                 .folder = job->folder,
                                 .last = "last.safetensors",
                                 .best = "best.safetensors",
                                 .resume = job->resume,
                                 .force = job->force};
}

static int training_status(void *of, struct orr_stage_output *output)
{
    const struct gpt_pretraining *job = of;
    const struct gpt_training training = training_of(job);
    struct orr_artefact *trained = output->file, *evaluated = trained + 1;
    char digest[ORR_DIGEST];
    TRY(gpt_training_status(&training, trained));
    output->files = has_split(job, ROLE_FINAL) && trained->action != ORR_REFUSE ? 2 : 1;
    TRY(orr_path(evaluated->path, "%s/evaluation.json", job->folder));
    TRY(orr_lineage_evaluation(job->lineage, job->attention, job->planets, digest));
    TRY(orr_json_status(job->folder, &job->lineage->records, digest, true, evaluated));
    if (evaluated->action == ORR_KEEP && trained->action != ORR_KEEP) {
        evaluated->action = ORR_REMAKE;
        snprintf(evaluated->why, ORR_WHY, "its model is not whole");
    }
    return 0;
}

static int refuse_training(void *of, const struct orr_stage_output *output)
{
    const struct gpt_training training = training_of(of);
    return gpt_training_refuse(&training, output->file);
}

/* Opens the model to train: resumed, from --checkpoint, or new. Evaluations of a model that is
 * replaced are removed first. */
static int open_model(const struct gpt_pretraining *job, const struct gpt_config *config,
                      const struct orr_artefact *trained, struct gpt_model *model, long *step)
{
    char path[4096];
    const bool goes_on = trained->action == ORR_GO_ON || trained->action == ORR_KEEP;
    *step = 0;
    TRY(orr_path(path, "%s/evaluation.json", job->folder));
    if (!goes_on || trained->lengthened)
        TRY(orr_remove(path));
    if (goes_on) {
        TRY(orr_path(path, "%s/last.safetensors", job->folder));
        return gpt_load_as(model, path, config, false, job->ops, step);
    }
    if (*job->checkpoint)
        return start_from(job, config, model);
    return gpt_create(model, config, job->ops, job->settings->seed);
}

/* Opens the model on rank 0, which alone reads files, and copies it to all ranks. */
static int share_model(const struct gpt_pretraining *job, const struct gpt_config *config,
                       const struct orr_artefact *trained, struct gpt_model *model, long *step)
{
    TRY(cluster_agree(cluster_leads() ? open_model(job, config, trained, model, step) : 0));
    return gpt_ranks_share_model(model, job->ops, job->train->zero, step);
}

static void print_label(const struct gpt_pretraining *job, char label[2 * ORR_NAME])
{
    snprintf(label, 2 * ORR_NAME, "pretrain %s%s", job->attention, job->planets ? ", planets" : "");
}

/* Metrics of the trained weights, measured and written by rank 0. */
static int evaluate_weights(const struct gpt_pretraining *job, struct next_state *task,
                            struct gpt_model *model, const char *label, long step)
{
    struct gpt_source *source = task->test ? task->test : task->val;
    if (!source)
        return 0;
    /* the weights with the least held-out loss instead of the last ones */
    if (job->train->patience > 0)
        TRY(gpt_reload(model, job->folder, gpt_final_checkpoint(job->train), &step));
    gpt_swap_average(model);
    return model->config.input == GPT_INPUT_TEXT ? evaluate_text(job, model, source, step)
                                                 : evaluate_orbits(job, model, source, label, step);
}

/* After a signal or at the time limit, a later call with resume makes the missing evaluation.
 * Such a call does not check the time limit before it has made it. */
static int evaluate_final(const struct gpt_pretraining *job, struct next_state *task,
                          struct gpt_model *model, const char *label, long step)
{
    const int rc = evaluate_weights(job, task, model, label, step);
    if (rc == ORR_EINTR)
        return ORR_FAIL(ORR_EINTR, "%s: stopped in its evaluation; the training is saved in %s",
                        label, job->folder);
    orr_time_hold(false);
    return rc;
}

static int train_and_evaluate(const struct gpt_pretraining *job, struct next_state *task,
                              struct gpt_model *model, const char *made, bool lengthened, long step)
{
    char label[2 * ORR_NAME];
    /* Only rank 0 has validation data, so that its answer applies to all ranks. */
    bool evaluates = task->val_sequences > 0;
    TRY(cluster_broadcast(&evaluates, sizeof evaluates, 0));
    print_label(job, label);
    const char *const extra[] = {"stage", job->planets ? "pretrain_planets" : "pretrain", "made",
                                 made, NULL};
    struct gpt_task loop = {.context = task,
                            .fill = fill_batch,
                            .evaluate = evaluates ? evaluate_val : NULL,
                            .label = label,
                            .folder = job->folder,
                            .checkpoint = "last.safetensors",
                            .best = "best.safetensors",
                            .log = "log.jsonl",
                            .extra = extra,
                            .T = model->config.context,
                            .lengthened = lengthened,
                            .quiet = job->quiet};
    TRY(gpt_train(model, job->train, &loop, &step));
    return cluster_agree(cluster_leads() ? evaluate_final(job, task, model, label, step) : 0);
}

/* Opens the data: every rank trains, and rank 0 also evaluates. */
static int open_sources(struct next_state *task)
{
    const struct gpt_pretraining *job = task->job;
    TRY(config_of(job, &task->config));
    TRY(open_source(job, ROLE_TRAIN, &task->config, &task->source));
    if (!cluster_leads())
        return 0;
    if (has_split(job, ROLE_VAL))
        TRY(open_source(job, ROLE_VAL, &task->config, &task->val));
    const enum sim_split final = split_of(job, ROLE_FINAL);
    return final == SIM_SPLIT_TEST || final == SIM_SPLIT_PLANETS_TEST
               ? open_source(job, ROLE_FINAL, &task->config, &task->test)
               : 0;
}

/* The batch for held-out sequences during training. */
static int create_val_batch(struct next_state *task, const struct gpt_model *model)
{
    const struct gpt_pretraining *job = task->job;
    const bool text = orr_settings_is_text(job->settings);
    if (!task->val)
        return 0;
    const long held_out = text ? gpt_source_count(task->val)
                               : (long)sim_split_count(job->settings, split_of(job, ROLE_VAL));
    const long n = job->train->eval_sequences < held_out ? job->train->eval_sequences : held_out;
    const int wanted = text && job->train->batch < 64 ? job->train->batch : 64;
    const int most = gpt_evaluation_batch(model, task->config.context, wanted);
    task->val_sequences = n;
    task->val_most = n < most ? (int)n : most;
    return n > 0 ? gpt_batch_create(&task->val_batch, &task->config, task->val_most,
                                    task->config.context)
                 : 0;
}

static int verify_sets(const struct gpt_pretraining *job, bool opened)
{
    return job->verify ? cluster_agree(cluster_leads() ? job->verify(job->of, opened) : 0) : 0;
}

static int make_opened(struct next_state *task, struct gpt_model *model,
                       const struct orr_artefact *trained, const char *made)
{
    const struct gpt_pretraining *job = task->job;
    long step;
    TRY(verify_sets(job, false));
    TRY(cluster_agree(open_sources(task)));
    TRY(verify_sets(job, true));
    TRY(share_model(job, &task->config, trained, model, &step));
    TRY(cluster_agree(create_val_batch(task, model)));
    return train_and_evaluate(job, task, model, made, trained->lengthened, step);
}

static int train_opened(const struct gpt_pretraining *job, const struct orr_artefact *trained,
                        const char *made)
{
    struct next_state task = {.job = job};
    struct gpt_model model = {0};
    const int rc = make_opened(&task, &model, trained, made);
    gpt_batch_free(&task.val_batch);
    gpt_source_close(task.source);
    gpt_source_close(task.val);
    gpt_source_close(task.test);
    gpt_free(&model);
    return rc;
}

/* *made = the record of what the training is made from, as text for its checkpoints; free() it. */
static int print_record(const struct gpt_pretraining *job, char **made)
{
    char digest[ORR_DIGEST];
    TRY(orr_lineage_pretrain(job->lineage, job->attention, job->planets, digest));
    *made = orr_records_made_text(&job->lineage->records, digest);
    return *made ? 0 : ORR_FAIL(ORR_ENOMEM, "%s: out of memory", job->folder);
}

static int keep_training(void *of)
{
    const struct gpt_pretraining *job = of;
    char label[2 * ORR_NAME];
    print_label(job, label);
    orr_note(job->quiet, "%s: complete (%ld steps)", label, job->train->steps);
    return 0;
}

static int make_training(void *of, const struct orr_stage_output *output)
{
    const struct gpt_pretraining *job = of;
    char label[2 * ORR_NAME], *made = NULL;
    print_label(job, label);
    gpt_training_tell(output->file, label, job->quiet || !cluster_leads());
    int rc = cluster_agree(cluster_leads() ? print_record(job, &made) : 0);
    if (!rc)
        rc = train_opened(job, output->file, made);
    free(made);
    orr_trace("%s ends", label);
    return rc;
}

static const struct orr_stage_ranks ranks = {cluster_leads, cluster_agree, cluster_broadcast};
const struct orr_stage_row gpt_pretrain_stage = {.doing = "training",
                                                 .ranks = &ranks,
                                                 .status = training_status,
                                                 .refuse = refuse_training,
                                                 .keep = keep_training,
                                                 .make = make_training};
