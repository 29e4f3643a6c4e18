/* status.c - decides about the existing checkpoints of a training: keep, continue or replace
 * them. Replacing loses weights and is refused unless forced. */
#include "train.h"
#include "model/checkpoint.h"
#include "model/optimizer.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include <cjson/cJSON.h>

/* The setting for the number of steps of trainings of a kind. */
static const char *steps_key(enum orr_kind kind)
{
    return kind == ORR_KIND_PRETRAIN           ? "pretrain.steps"
           : kind == ORR_KIND_PRETRAIN_PLANETS ? "pretrain_planets.steps"
           : kind == ORR_KIND_MAGNITUDE        ? "finetune.magnitude.steps"
                                               : "finetune.vector.steps";
}

/* Whether the first `step` updates of both lengths had the same learning rates, to the bit. */
static bool same_rates(const struct orr_train_settings *train, long was, long step)
{
    struct orr_train_settings shorter = *train;
    shorter.steps = was;
    for (long i = 0; i < step; i++) {
        const double a = gpt_lr(&shorter, i), b = gpt_lr(train, i);
        if (a < b || a > b)
            return false;
    }
    return true;
}

/* *steps = the number of steps in the record `made`, where it differs from the requested
 * training in nothing else; otherwise 0. The lineage ignores earlier lengths during the
 * comparison. */
static int find_length(const struct gpt_training *t, const cJSON *made, long *steps)
{
    char *earlier_lengths = orr_lineage_earlier_lengths(t->lineage, t->kind, t->source);
    char digest[ORR_DIGEST], before[ORR_WENT_ON], text[32];
    snprintf(before, sizeof before, "%s", earlier_lengths);
    earlier_lengths[0] = '\0';
    const int rc = orr_lineage_training(t->lineage, t->kind, t->source, digest);
    snprintf(earlier_lengths, ORR_WENT_ON, "%s", before);
    *steps = 0;
    if (!rc &&
        orr_made_but(&t->lineage->records, digest, made, steps_key(t->kind), text, sizeof text))
        *steps = strtol(text, NULL, 10);
    return rc;
}

/* *own = whether the best weights, if there are any, belong to this training with some number of
 * steps: they will then get its record. */
static int owns_best(const struct gpt_training *t, bool *own)
{
    char path[4096];
    cJSON *made = NULL;
    long steps = 1;
    TRY(orr_path(path, "%s/%s", t->folder, t->best));
    int rc = orr_exists(path) ? gpt_checkpoint_made(path, &made) : 0;
    if (!rc && orr_exists(path))
        rc = find_length(t, made, &steps);
    cJSON_Delete(made);
    *own = !rc && steps > 0;
    if (rc != ORR_EFORMAT)
        return rc;
    orr_error_clear(); /* the file cannot be read */
    return 0;
}

/* Decides whether a longer training continues this shorter one. Where its learning rates up to
 * this step would have been different, its record states the step from which on it uses those of
 * the new length. */
static int lengthen_training(const struct gpt_training *t, const cJSON *made, long step,
                             bool *longer, char why[ORR_WHY])
{
    char *earlier_lengths = orr_lineage_earlier_lengths(t->lineage, t->kind, t->source);
    long was;
    bool own;
    TRY(find_length(t, made, &was));
    *longer = was > 0 && was < t->train->steps;
    if (!*longer)
        return 0;
    TRY(owns_best(t, &own));
    if (!own)
        snprintf(why, ORR_WHY, "%s is of another training", t->best);
    const bool same = same_rates(t->train, was, step);
    *longer = own && step <= was && strlen(earlier_lengths) + 64 < ORR_WENT_ON;
    if (!*longer)
        return 0;
    if (!same)
        orr_append(earlier_lengths, ORR_WENT_ON, "%s%ld until step %ld",
                   *earlier_lengths ? ", " : "", was, step);
    snprintf(why, ORR_WHY, "from step %ld of %ld on to step %ld, %s", step, was, t->train->steps,
             same ? "as if it had been asked for at once"
                  : "with the learning rates that a training of that length has from there on");
    return 0;
}

/* *same = whether the best weights belong to this training, with its present or an earlier
 * number of steps. */
static int best_status(const struct gpt_training *t, const char digest[ORR_DIGEST], bool whole,
                       bool *same, char why[ORR_WHY])
{
    char path[4096];
    *same = true;
    if (t->train->patience == 0 || !*t->best)
        return 0;
    TRY(orr_path(path, "%s/%s", t->folder, t->best));
    return gpt_best_same(path, &t->lineage->records, digest, whole, same, why);
}

/* Compares the record of existing, readable checkpoints with the requested one, and sets how far
 * the training is. */
static int compare_records(const struct gpt_training *t, const cJSON *made, long step, bool ended,
                           struct orr_artefact *s)
{
    char digest[ORR_DIGEST];
    bool same, longer = false;
    TRY(orr_lineage_training(t->lineage, t->kind, t->source, digest));
    same = orr_made_same(&t->lineage->records, digest, made, s->why);
    if (same) {
        const bool whole = ended || step >= t->train->steps;
        TRY(best_status(t, digest, whole, &same, s->why));
        s->action = !same ? ORR_REMAKE : whole ? ORR_KEEP : ORR_GO_ON;
        if (same && !whole)
            snprintf(s->why, ORR_WHY, "step %ld of %ld", step, t->train->steps);
        return 0;
    }
    s->action = ORR_REMAKE;
    if (t->resume)
        TRY(lengthen_training(t, made, step, &longer, s->why));
    if (longer) {
        s->action = ORR_GO_ON;
        s->lengthened = true;
    }
    return 0;
}

static int checkpoint_status(const struct gpt_training *t, struct orr_artefact *s)
{
    const char *path = s->path;
    cJSON *made = NULL;
    long step = 0;
    bool ended = false;
    s->action = ORR_REMAKE;
    int rc = gpt_checkpoint_made(path, &made);
    if (rc == ORR_EFORMAT) {
        snprintf(s->why, ORR_WHY, "it cannot be read");
        orr_error_clear();
        return 0;
    }
    orr_lineage_recall_lengths(t->lineage, t->kind, t->source, made);
    if (!rc)
        rc = gpt_progress(path, &step, &ended);
    if (rc == ORR_EFORMAT && t->force) { /* weights of another kind */
        snprintf(s->why, ORR_WHY, "%.500s", orr_error());
        orr_error_clear();
        cJSON_Delete(made);
        return 0;
    }
    if (!rc)
        rc = compare_records(t, made, step, ended, s);
    cJSON_Delete(made);
    if ((s->action == ORR_KEEP || s->action == ORR_GO_ON) && !t->resume) {
        s->action = ORR_REMAKE;
        s->why[0] = '\0';
    }
    if (s->action == ORR_REMAKE && step > 0 && !t->force)
        s->action = ORR_REFUSE;
    return rc;
}

int gpt_training_status(const struct gpt_training *t, struct orr_artefact *s)
{
    *s = (struct orr_artefact){.action = ORR_MAKE};
    TRY(orr_path(s->path, "%s/%s", t->folder, t->last));
    if (orr_exists(s->path))
        TRY(checkpoint_status(t, s));
    if (s->action == ORR_MAKE || s->action == ORR_REMAKE)
        orr_lineage_earlier_lengths(t->lineage, t->kind, t->source)[0] = '\0';
    return 0;
}

/* When a file was last written, in local time. */
static void print_date(const char *path, char text[32])
{
    struct stat info;
    struct tm tm;
    if (stat(path, &info) || !localtime_r(&info.st_mtime, &tm) ||
        !strftime(text, 32, "%Y-%m-%d %H:%M", &tm))
        snprintf(text, 32, "some time ago");
}

int gpt_training_refuse(const struct gpt_training *t, const struct orr_artefact *s)
{
    const char *path = s->path;
    char date[32], of[32];
    cJSON *made = NULL;
    long step;
    bool ended;
    TRY(gpt_progress(path, &step, &ended));
    TRY(gpt_checkpoint_made(path, &made));
    snprintf(of, sizeof of, "%s", orr_made_setting(made, steps_key(t->kind)));
    cJSON_Delete(made);
    print_date(path, date);
    return ORR_FAIL(ORR_EINVAL,
                    "%s: %ld%s%s steps of training, saved %s, would be lost%s%s%s; --resume "
                    "%scontinues it, another --run keeps both, --force (make FORCE=1) replaces it",
                    path, step, *of ? " of " : "", of, date, *s->why ? " (" : "", s->why,
                    *s->why ? ")" : "", *s->why ? "with its settings " : "");
}

void gpt_training_tell(const struct orr_artefact *s, const char *label, bool quiet)
{
    if (s->lengthened)
        orr_note(quiet, "%s: continues: %s", label, s->why);
    else if (s->action == ORR_REMAKE)
        orr_note(quiet, "%s: made anew%s%s", label, *s->why ? ": " : "", s->why);
}
