/* engine.c - checks, plans and makes the outputs of any stage. */
#include "engine.h"
#include "base/error.h"
#include "base/log.h"
#include "base/text.h"

#include <string.h>

static const char *const words[] = {"keep", "resume", "make", "remake", "refuse"};

void orr_artefact_trace(const struct orr_artefact *s)
{
    orr_trace("record of %s: %s%s%s", s->path, words[s->action], *s->why ? ": " : "", s->why);
}

void orr_artefact_plan(const struct orr_artefact *s)
{
    char path[sizeof s->path], why[sizeof s->why];
    printf("%-7s %s%s%s\n", words[s->action], orr_shown(path, sizeof path, s->path),
           *s->why ? ": " : "", orr_shown(why, sizeof why, s->why));
}

void orr_artefact_resume(const struct orr_cli *cli, struct orr_artefact *status)
{
    if (status->action != ORR_KEEP || cli->resume || cli->plan)
        return;
    status->action = ORR_REMAKE;
    status->why[0] = '\0';
}

bool orr_plan_text(const struct orr_cli *cli, const char *program)
{
    const bool nothing = cli->plan && orr_settings_is_text(&cli->settings);
    if (nothing)
        orr_note(cli->quiet, "%s: preset %s trains on text: nothing to do", program,
                 cli->settings.name);
    return nothing;
}

static bool is_complete(const struct orr_stage_output *output)
{
    bool complete = true;
    for (int i = 0; i < output->files; i++)
        complete &= output->file[i].action == ORR_KEEP;
    return complete;
}

bool orr_output_refused(const struct orr_stage_output *output)
{
    bool refused = false;
    for (int i = 0; i < output->files; i++)
        refused |= output->file[i].action == ORR_REFUSE;
    return refused;
}

int orr_output_status(const struct orr_stage_row *row, void *of, struct orr_stage_output *output)
{
    memset(output, 0, sizeof *output);
    TRY(row->status(of, output));
    for (int i = 0; i < output->files; i++)
        orr_artefact_trace(&output->file[i]);
    return 0;
}

static int plan_output(const struct orr_stage_row *row, void *of)
{
    struct orr_stage_output output;
    TRY(orr_output_status(row, of, &output));
    for (int i = 0; i < output.files; i++)
        orr_artefact_plan(&output.file[i]);
    return 0;
}

static int check_output(const struct orr_stage_row *row, void *of)
{
    struct orr_stage_output output;
    TRY(orr_output_status(row, of, &output));
    if (is_complete(&output))
        return 0;
    TRY(row->check(of, &output));
    return orr_output_refused(&output) ? row->refuse(of, &output) : 0;
}

static bool leads_ranks(const struct orr_stage_row *row)
{
    return !row->ranks || row->ranks->leads();
}

static int agree_ranks(const struct orr_stage_row *row, int rc)
{
    return row->ranks ? row->ranks->agree(rc) : rc;
}

static int lock_folder(const struct orr_stage_row *row, const char *folder, int *fd)
{
    TRY(orr_mkdir(folder));
    return orr_lock(folder, row->doing, ORR_LOCK_WAIT_S, fd);
}

static int judge_locked(const struct orr_stage_row *row, void *of, struct orr_stage_output *output)
{
    TRY(orr_output_status(row, of, output));
    return orr_output_refused(output) ? row->refuse(of, output) : 0;
}

/* Reads the status under the lock, because another process may have made the output meanwhile. */
static int make_locked(const struct orr_stage_row *row, void *of)
{
    struct orr_stage_output output = {0};
    TRY(agree_ranks(row, leads_ranks(row) ? judge_locked(row, of, &output) : 0));
    if (row->ranks)
        TRY(row->ranks->share(&output, sizeof output, 0));
    return is_complete(&output) ? row->keep(of) : row->make(of, &output);
}

int orr_output_make(const struct orr_stage_row *row, void *of)
{
    int fd = -1;
    TRY(agree_ranks(row, leads_ranks(row) ? lock_folder(row, of, &fd) : 0));
    const int rc = make_locked(row, of);
    if (fd >= 0)
        orr_unlock(fd);
    return rc;
}

static int each_output(const struct orr_stage_row *row, void *of,
                       int (*visit)(const struct orr_stage_row *row, void *of))
{
    bool there = true;
    for (int i = 0; there; i++) {
        if (row->next)
            TRY(row->next(of, &i, &there));
        TRY(there ? visit(row, of) : 0);
        there &= row->next != NULL;
    }
    return 0;
}

int orr_stage_plan(const struct orr_stage_row *row, void *of)
{
    return each_output(row, of, plan_output);
}

int orr_stage_check(const struct orr_stage_row *row, void *of)
{
    return each_output(row, of, check_output);
}

int orr_stage_make(const struct orr_stage_row *row, void *of)
{
    return each_output(row, of, orr_output_make);
}
