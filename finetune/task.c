/* task.c - what magnitude and vector fine-tuning share: the model, its folder, predictions. */
#include "task.h"

#include <errno.h>
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
    const struct orr_train_preset *train = vector ? &f->vector : &f->magnitude;
    char digest[ORR_DIGEST], best[4096];
    long step = 0;
    bool ended = false, same = false;
    why[0] = '\0';
    *verdict = ORR_MAKE;
    int rc = orr_path(path, "%s/%s/finetune/%s.safetensors", run_dir, source,
                      vector ? "vector" : "magnitude");
    if (rc || !orr_exists(path))
        return rc;
    *verdict = ORR_REMAKE;
    rc = orr_chain_model(chain, source, vector, digest);
    if (!rc)
        rc = gpt_checkpoint_same(path, &chain->book, digest, &same, why);
    if (!rc && same)
        rc = gpt_progress(path, &step, &ended);
    if (rc || !same)
        return rc;
    const bool whole = ended || step >= train->steps;
    if (train->patience > 0) {
        rc = orr_path(best, "%s/%s/finetune/%s_best.safetensors", run_dir, source,
                      vector ? "vector" : "magnitude");
        if (!rc)
            rc = gpt_best_same(best, &chain->book, digest, whole, &same, why);
    }
    if (rc || !same)
        return rc;
    *verdict = whole ? ORR_KEEP : ORR_GO_ON;
    if (!whole)
        snprintf(why, ORR_WHY, "step %ld of %ld", step, train->steps);
    return 0;
}

/* Takes the model that is there, unless it was made from other things; *step = where it is. */
static int resume(struct gpt_model *model, struct ft_run *run, const char *source, bool vector,
                  const char *label, long *step)
{
    struct gpt_model saved;
    enum orr_verdict verdict;
    char path[4096], why[ORR_WHY];
    int rc = ft_model_judge(run->chain, run->run, source, vector, &verdict, path, why);
    if (rc || verdict == ORR_MAKE)
        return rc;
    if (verdict == ORR_REMAKE) {
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

/* Without patience, too: of the training before this one. */
static int remove_best(const char *folder, const char *best)
{
    char path[4096];
    const int rc = orr_path(path, "%s/%s", folder, best);
    return rc ? rc : orr_remove(path);
}

int ft_train(struct gpt_model *model, struct ft_run *run, const char *source, bool vector,
             const struct orr_train_preset *train, struct gpt_task *task)
{
    const char *name = vector ? "vector" : "magnitude";
    char folder[4096], checkpoint[ORR_NAME], best[ORR_NAME], log[ORR_NAME];
    char label[2 * ORR_NAME], digest[ORR_DIGEST];
    long step = 0;
    model->config.huber = train->huber;
    snprintf(checkpoint, sizeof checkpoint, "%s.safetensors", name);
    snprintf(best, sizeof best, "%s_best.safetensors", name);
    snprintf(log, sizeof log, "%s.jsonl", name);
    snprintf(label, sizeof label, "finetune %s, %s", source, name);
    int rc = orr_path(folder, "%s/%s/finetune", run->run, source);
    if (!rc)
        rc = orr_chain_model(run->chain, source, vector, digest);
    if (rc)
        return rc;
    char *made = orr_book_made_text(&run->chain->book, digest);
    if (!made)
        return ORR_FAIL(ORR_ENOMEM, "%s: out of memory", folder);
    const char *const extra[] = {"stage", name, "source", source, "made", made, NULL};
    task->label = label;
    task->folder = folder;
    task->checkpoint = checkpoint;
    task->best = train->patience > 0 ? best : NULL;
    task->log = log;
    task->extra = extra;
    task->quiet = run->quiet;
    if (run->resume)
        rc = resume(model, run, source, vector, label, &step);
    if (!rc && step == 0)
        rc = remove_best(folder, best);
    if (!rc)
        rc = gpt_train(model, train, task, &step);
    if (!rc && task->best)
        rc = take_best(model, run, folder, best);
    if (!rc)
        gpt_swap_average(model); /* predictions use the average */
    free(made);
    return rc;
}
