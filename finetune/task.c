/* task.c - what magnitude and vector fine-tuning share: the model, its folder, predictions. */
#include "task.h"

#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

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
    const size_t F = (size_t)gpt_config_features(config);
    for (size_t t = 0; t < T; t++) {
        const float *xy = set->coords + 2 * (first + t);
        double x = (double)xy[0], y = (double)xy[1];
        if (t > 0 && noise_au > 0) {
            x += gsl_ran_gaussian_ziggurat(rng, noise_au);
            y += gsl_ran_gaussian_ziggurat(rng, noise_au);
        }
        gpt_features(config, x, y, t == 0, batch->features + ((size_t)b * T + t) * F);
    }
}

int ft_model_open(struct gpt_model *model, const struct ft_run *run, const char *attention,
                  const char *from, int positions, int outputs)
{
    struct gpt_config config;
    int rc = gpt_config_from_preset(&config, run->preset, attention, positions);
    if (rc)
        return rc;
    if (from)
        rc = gpt_load_as(model, from, &config, true, run->ops, NULL);
    else
        rc = gpt_create(model, &config, run->ops, run->preset->seed);
    if (rc)
        return rc;
    gpt_swap_average(model); /* the averaged weights, where pretraining kept them */
    rc = gpt_replace_head(model, GPT_HEAD_REGRESSION, outputs, run->preset->seed);
    if (rc)
        gpt_free(model);
    return rc;
}

/* The weights of the least held-out loss, by which patience has ended the training. */
static int take_best(struct gpt_model *model, const struct ft_run *run, const char *folder,
                     const char *name)
{
    char path[4096];
    struct gpt_model best;
    int rc = orr_path(path, "%s/%s", folder, name);
    if (!rc)
        rc = gpt_load_as(&best, path, &model->config, false, run->ops, NULL);
    if (rc)
        return rc;
    gpt_free(model);
    *model = best;
    return 0;
}

int ft_model_judge(struct orr_chain *chain, const char *run_dir, const char *source, bool vector,
                   enum orr_verdict *verdict, char path[4096], char why[ORR_WHY])
{
    const struct orr_finetune_preset *f = &chain->preset->finetune;
    char digest[ORR_DIGEST];
    cJSON *made = NULL;
    long step = 0;
    bool ended = false;
    why[0] = '\0';
    *verdict = ORR_MAKE;
    int rc = orr_path(path, "%s/%s/finetune/%s.safetensors", run_dir, source,
                      vector ? "vector" : "magnitude");
    if (rc || !orr_exists(path))
        return rc;
    rc = orr_chain_model(chain, source, vector, digest);
    if (!rc)
        rc = gpt_checkpoint_made(path, &made);
    *verdict = !rc && orr_made_same(&chain->book, digest, made, why) ? ORR_KEEP : ORR_REMAKE;
    cJSON_Delete(made);
    if (rc || *verdict == ORR_REMAKE)
        return rc;
    rc = gpt_progress(path, &step, &ended);
    const long steps = vector ? f->vector.steps : f->magnitude.steps;
    if (!rc && !ended && step < steps) {
        *verdict = ORR_GO_ON;
        snprintf(why, ORR_WHY, "step %ld of %ld", step, steps);
    }
    return rc;
}

/* Takes the model that is there, unless it was made from other things; *step = where it is. */
static int resume(struct gpt_model *model, struct ft_run *run, const char *path,
                  const char digest[ORR_DIGEST], const char *label, long *step)
{
    struct gpt_model saved;
    char why[ORR_WHY];
    cJSON *made;
    int rc = gpt_checkpoint_made(path, &made);
    if (rc)
        return rc;
    const bool same = orr_made_same(&run->chain->book, digest, made, why);
    cJSON_Delete(made);
    if (!same) {
        orr_note(run->quiet, "%s: made anew: %s", label, why);
        return 0;
    }
    rc = gpt_load_as(&saved, path, &model->config, false, run->ops, step);
    if (rc)
        return rc;
    gpt_free(model);
    *model = saved;
    return 0;
}

int ft_train(struct gpt_model *model, struct ft_run *run, const char *source, bool vector,
             const struct orr_train_preset *train, struct gpt_task *task)
{
    const char *name = vector ? "vector" : "magnitude";
    char folder[4096], checkpoint[ORR_NAME], best[ORR_NAME], log[ORR_NAME], path[4096];
    char label[2 * ORR_NAME], digest[ORR_DIGEST];
    long step = 0;
    snprintf(checkpoint, sizeof checkpoint, "%s.safetensors", name);
    snprintf(best, sizeof best, "%s_best.safetensors", name);
    snprintf(log, sizeof log, "%s.jsonl", name);
    snprintf(label, sizeof label, "finetune %s, %s", source, name);
    int rc = orr_path(folder, "%s/%s/finetune", run->run, source);
    if (!rc)
        rc = orr_path(path, "%s/%s", folder, checkpoint);
    if (!rc)
        rc = orr_chain_model(run->chain, source, vector, digest);
    if (rc)
        return rc;
    char *made = orr_book_made_text(&run->chain->book, digest);
    if (!made)
        return ORR_FAIL(ORR_ENOMEM, "%s: out of memory", path);
    const char *const extra[] = {"stage", name, "source", source, "made", made, NULL};
    task->label = label;
    task->folder = folder;
    task->checkpoint = checkpoint;
    task->best = train->patience > 0 ? best : NULL;
    task->log = log;
    task->extra = extra;
    task->quiet = run->quiet;
    if (run->resume && orr_exists(path))
        rc = resume(model, run, path, digest, label, &step);
    if (!rc)
        rc = gpt_train(model, train, task, &step);
    if (!rc && task->best)
        rc = take_best(model, run, folder, best);
    if (!rc)
        gpt_swap_average(model); /* predictions use the average */
    free(made);
    return rc;
}
