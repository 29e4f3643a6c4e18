/* losses.c - training losses of the attention variants of one or several runs, available as soon as
 * logs exist: a table and a picture. */
#include "stage/provenance.h"
#include "report.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* number of logged losses averaged in the table; at most a quarter of the log */
enum { LAST = 10 };

/* Adds trained variants that are not in the run's list. */
static int add_others(struct report_run *run)
{
    struct orr_entries entries;
    char path[REPORT_PATH];
    int rc = 0;
    TRY(orr_entries_read(run->path, &entries));
    for (int i = 0; i < entries.count && !rc; i++) {
        const char *name = entries.at[i]->d_name;
        if (!orr_path(path, "%s/%s/%s", run->path, name, report_stage_log[REPORT_PRETRAIN]) &&
            orr_exists(path) && strlen(name) < ORR_NAME)
            rc = report_add_source(run, name, REPORT_ATTENTION);
    }
    orr_entries_free(&entries);
    return rc;
}

static int read_pretraining(struct report_run *run, const char *path)
{
    char log[REPORT_PATH];
    bool any = false;
    TRY(report_read_settings(run, path, ""));
    TRY(add_others(run));
    for (int s = 0; s < run->source_count; s++) {
        struct report_source *source = &run->source[s];
        if (source->role != REPORT_ATTENTION)
            continue;
        TRY(orr_path(log, "%s/%s/%s", run->path, source->name, report_stage_log[REPORT_PRETRAIN]));
        TRY(report_read_curve(log, &source->curve[REPORT_PRETRAIN]));
        any |= source->curve[REPORT_PRETRAIN].count > 0;
    }
    return any ? 0
               : ORR_FAIL(ORR_EMISSING,
                          "%s: no training log (ATTENTION/pretrain/log.jsonl); make one with: make "
                          "pretrain RUN=%s",
                          run->path, run->path);
}

/* Moves a run's curves into the collection of all runs. With several runs, titles begin with the
 * run's name and each curve has its own colour. */
static int take_curves(struct report_run *all, struct report_run *run, bool several)
{
    for (int s = 0; s < run->source_count; s++) {
        struct report_source *source = &run->source[s], *to = &all->source[all->source_count];
        if (!source->curve[REPORT_PRETRAIN].count)
            continue;
        if (all->source_count == REPORT_SOURCES)
            return ORR_FAIL(ORR_EINVAL, "--losses: more than %d trainings", REPORT_SOURCES);
        *to = *source;
        source->curve[REPORT_PRETRAIN] = (struct report_curve){0}; /* now owned by `all` */
        if (several) {
            snprintf(to->title, sizeof to->title, "%.40s: %.40s", run->name, source->name);
            to->colour = orr_attention_colour("", all->source_count);
        }
        all->source_count++;
    }
    return 0;
}

static void print_table(const struct report_run *all)
{
    printf("| training | steps | training loss, mean of the last quarter of logged values, at most "
           "%d | last validation | best validation | at step |\n|---|---|---|---|---|---|\n",
           LAST);
    for (int s = 0; s < all->source_count; s++) {
        const struct report_curve *c = &all->source[s].curve[REPORT_PRETRAIN];
        const size_t quarter = (c->count + 3) / 4, n = quarter < LAST ? quarter : LAST;
        const size_t best = report_best(c);
        double sum = 0;
        for (size_t i = c->count - n; i < c->count; i++)
            sum += c->loss[i];
        char title[256];
        printf("| %s | %.0f | %.4g |", orr_shown(title, sizeof title, all->source[s].title),
               c->step[c->count - 1], sum / (double)n);
        if (c->val_count)
            printf(" %.4g | %.4g | %.0f |\n", c->val_loss[c->val_count - 1], c->val_loss[best],
                   c->val_step[best]);
        else
            printf(" - | - | - |\n");
    }
}

static int read_all(const char *const *path, int count, struct report_run *all,
                    struct report_run *one)
{
    for (int i = 0; i < count; i++) {
        int rc = read_pretraining(one, path[i]);
        if (!rc && i == 0) {
            all->settings = one->settings;
            memcpy(all->path, one->path, sizeof all->path);
        }
        rc = rc ? rc : take_curves(all, one, count > 1);
        report_free(one);
        TRY(rc);
    }
    return 0;
}

int report_losses(const char *const *path, int count, const struct report_style *style, bool keep,
                  const char *out)
{
    struct report_run *run = orr_alloc(2, sizeof *run);
    if (!run)
        return ORR_ENOMEM;
    int rc = read_all(path, count, &run[0], &run[1]);
    if (!rc)
        print_table(&run[0]);
    rc = rc ? rc : report_single(&run[0], "loss", style, keep, out);
    report_free(&run[0]);
    free(run);
    return rc;
}
