/* retention.c - step-numbered checkpoints: "last.safetensors" of step 2000 is also kept as
 * "last-000002000.safetensors"; only the newest few of these are kept. */
#include "retention.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DIGITS = 9 };
static const char suffix[] = ".safetensors";
static const long most_steps = 1000000000000; /* most steps that settings allow for a training */

bool gpt_keeps_step(const struct orr_train_settings *train, long step)
{
    if (train->keep < 1)
        return false;
    const long every = train->keep_every > 0 ? train->keep_every : train->checkpoint_every;
    return every > 0 && step % every == 0;
}

static int print_name(char name[256], const char *stem, size_t length, long step)
{
    return snprintf(name, 256, "%.*s-%0*ld%s", (int)length, stem, DIGITS, step, suffix);
}

/* Step of a file that gpt_keep_checkpoint() may have made; -1 for other names. */
static long step_of_name(const char *name, const char *stem, size_t length)
{
    char own[256];
    if (strncmp(name, stem, length) || name[length] != '-')
        return -1;
    errno = 0;
    const long step = strtol(name + length + 1, NULL, 10);
    if (errno || step < 0 || step > most_steps || print_name(own, stem, length, step) >= 256)
        return -1;
    return strcmp(name, own) ? -1 : step;
}

static int newest_first(const void *a, const void *b)
{
    const long x = *(const long *)a, y = *(const long *)b;
    return (x < y) - (x > y);
}

/* Steps of the folder's numbered checkpoints, newest first; free() them. */
static int list_steps(const struct gpt_task *task, size_t length, long **steps, size_t *count)
{
    *steps = NULL;
    *count = 0;
    DIR *folder = opendir(task->folder);
    if (!folder)
        return ORR_FAIL(ORR_EIO, "%s: cannot list: %s", task->folder, strerror(errno));
    int rc = 0;
    const struct dirent *entry;
    while (!rc && (entry = readdir(folder)) != NULL) {
        const long step = step_of_name(entry->d_name, task->checkpoint, length);
        if (step < 0)
            continue;
        long *more = realloc(*steps, (*count + 1) * sizeof *more);
        if (!more) {
            rc = ORR_FAIL(ORR_ENOMEM, "%s: out of memory", task->folder);
            break;
        }
        *steps = more;
        more[(*count)++] = step;
    }
    closedir(folder);
    if (*count > 1)
        qsort(*steps, *count, sizeof **steps, newest_first);
    return rc;
}

static int path_of(const struct gpt_task *task, size_t length, long step, char path[4096])
{
    char name[256];
    (void)print_name(name, task->checkpoint, length, step);
    return orr_path(path, "%s/%s", task->folder, name);
}

static size_t stem_length(const struct gpt_task *task)
{
    const size_t length = strlen(task->checkpoint), tail = sizeof suffix - 1;
    return length > tail && !strcmp(task->checkpoint + length - tail, suffix) ? length - tail
                                                                              : length;
}

int gpt_remove_kept(const struct gpt_task *task, int keep)
{
    const size_t length = stem_length(task);
    long *steps;
    size_t count;
    int rc = list_steps(task, length, &steps, &count);
    for (size_t i = (size_t)keep; i < count && !rc; i++) {
        char path[4096];
        rc = path_of(task, length, steps[i], path);
        if (!rc)
            rc = orr_remove(path);
    }
    free(steps);
    return rc;
}

int gpt_keep_checkpoint(const struct gpt_task *task, const struct orr_train_settings *train,
                        const char *last, long step)
{
    char path[4096], temporary[ORR_TEMPORARY];
    TRY(path_of(task, stem_length(task), step, path));
    orr_temporary_name(temporary, path);
    /* "last" is replaced as a whole and never modified, so that a hard link keeps it */
    remove(temporary);
    /* a copy where the folder does not support hard links */
    int rc = link(last, temporary) ? orr_file_copy(last, path) : orr_rename(temporary, path);
    remove(temporary); /* still there where both names were already one file */
    return rc ? rc : gpt_remove_kept(task, train->keep);
}
