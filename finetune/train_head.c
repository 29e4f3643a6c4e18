/* train_head.c - code shared by magnitude and vector fine-tuning: inputs, the model, its folder. */
#include "train_head.h"

#include <stdlib.h>
#include <string.h>

void ft_fill_inputs(const struct ft_inputs *in, const struct sim_dataset *set, size_t sequence,
                    double noise_au, gsl_rng *rng, int b, struct gpt_batch *batch)
{
    const struct gpt_config *config = in->config;
    const size_t T = (size_t)batch->T, first = sequence * (size_t)set->positions;
    if (config->input == GPT_INPUT_TOKENS) {
        memcpy(batch->tokens + (size_t)b * T * 2, set->tokens + first * 2,
               T * 2 * sizeof *batch->tokens);
        return;
    }
    gpt_fill_coords(config, set->coords + (size_t)set->dimensions * first, noise_au, rng, b, batch);
}

int ft_model_open(struct gpt_model *model, const struct ft_run *run, const char *attention,
                  const char *from, int positions, int outputs)
{
    struct gpt_config config;
    TRY(gpt_config_from_preset(&config, run->settings, attention, positions));
    TRY(from ? gpt_load_as(model, from, &config, true, run->ops, NULL)
             : gpt_create(model, &config, run->ops, run->settings->seed));
    gpt_swap_average(model); /* the averaged weights, where pretraining kept an average */
    const int rc = gpt_replace_head(model, GPT_HEAD_REGRESSION, outputs, run->settings->seed);
    if (rc)
        gpt_free(model);
    return rc;
}

int ft_training_of(struct ft_training *of, struct orr_lineage *lineage, const char *run_dir,
                   const char *source, bool vector)
{
    const struct orr_finetune_settings *f = &lineage->settings->finetune;
    const char *name = vector ? "vector" : "magnitude";
    TRY(orr_path(of->folder, "%s/%s/finetune", run_dir, source));
    snprintf(of->last, sizeof of->last, "%s.safetensors", name);
    snprintf(of->best, sizeof of->best, "%s_best.safetensors", name);
    of->training = (struct gpt_training){.lineage = lineage,
                                         .kind = vector ? ORR_KIND_VECTOR : ORR_KIND_MAGNITUDE,
                                         .source = source,
                                         .train = vector ? &f->vector : &f->magnitude,
                                         .folder = of->folder,
                                         .last = of->last,
                                         .best = of->best};
    return 0;
}

/* Loads an existing model where its training continues; *step = its step. */
static int resume_model(struct gpt_model *model, const struct ft_run *run,
                        const struct ft_training *of, const char *label, struct orr_artefact *found,
                        long *step)
{
    TRY(gpt_training_status(&of->training, found));
    if (found->action == ORR_REFUSE)
        return gpt_training_refuse(&of->training, found);
    gpt_training_tell(found, label, run->quiet);
    if (found->action == ORR_REMAKE || found->action == ORR_MAKE)
        return 0;
    return gpt_reload(model, of->folder, of->last, step);
}

/* Removes the best weights of an earlier training, also without patience. */
static int remove_best(const char *folder, const char *best)
{
    char path[4096];
    TRY(orr_path(path, "%s/%s", folder, best));
    return orr_remove(path);
}

int ft_train(struct gpt_model *model, struct ft_run *run, const char *source, bool vector,
             const struct orr_train_settings *train, const char *force, struct gpt_task *task)
{
    const char *name = vector ? "vector" : "magnitude";
    struct ft_training of;
    struct orr_artefact found;
    char log[ORR_NAME], label[2 * ORR_NAME], digest[ORR_DIGEST];
    long step = 0;
    model->config.huber = train->huber;
    snprintf(log, sizeof log, "%s.jsonl", name);
    snprintf(label, sizeof label, "finetune %s, %s", source, name);
    TRY(ft_training_of(&of, run->lineage, run->run, source, vector));
    of.training.resume = run->resume;
    of.training.force = run->force;
    TRY(resume_model(model, run, &of, label, &found, &step));
    TRY(orr_lineage_model(run->lineage, source, vector, digest));
    char *made = orr_records_made_text(&run->lineage->records, digest);
    if (!made)
        return ORR_FAIL(ORR_ENOMEM, "%s: out of memory", of.folder);
    const char *const extra[] = {"stage", name,    "source", source, "made",
                                 made,    "force", force,    NULL};
    task->label = label;
    task->folder = of.folder;
    task->checkpoint = of.last;
    task->best = train->patience > 0 ? of.best : NULL;
    task->log = log;
    task->extra = extra;
    task->lengthened = found.lengthened;
    task->quiet = run->quiet;
    int rc = step == 0 ? remove_best(of.folder, of.best) : 0;
    if (!rc)
        rc = gpt_train(model, train, task, &step);
    if (!rc && task->best)
        rc = gpt_reload(model, of.folder, of.best, NULL);
    if (!rc)
        gpt_swap_average(model); /* predictions use the average */
    free(made);
    return rc;
}
