/* live.c - the live view: the current front on a terminal, and the JSONL log. The key q ends the
 * search (keys.c) where stdin and stderr are a terminal in the foreground. */
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "program.h"

enum { HEAD_LINES = 2 };
static const double redraw_s = 0.1;

struct sr_live {
    const struct sr_language *language;
    const char *const *names;
    double max_seconds, started, drawn;
    int epochs, restarts;
    double *evaluations; /* (restarts) */
    struct sr_hall_of_fame *best;
    bool block, line; /* a block is redrawn; one progress line is shown */
    int lines;        /* lines of the block on the screen */
    struct sr_front front;
    struct orr_progress progress;
    struct orr_log log;
    bool quiet, told; /* told: that there are no more checkpoints */
    int log_rc;       /* why the log ended, with its message */
    char log_error[600];
    bool keys; /* the terminal is in raw mode, and q is read */
    atomic_bool asked;
};

/* ---- the block */

static void erase_block(struct sr_live *live)
{
    if (live->lines)
        fprintf(stderr, "\033[%dA\r\033[J", live->lines);
    live->lines = 0;
}

static void print_status(const struct sr_live *live, int epoch, double total, double spent,
                         int columns)
{
    char text[256], spent_text[ORR_DURATION], left_text[ORR_DURATION];
    const double share = live->epochs ? (double)epoch / live->epochs : 0;
    char of[32] = "";
    if (live->epochs)
        snprintf(of, sizeof of, " of %d", live->epochs);
    double left = share > 0 ? spent * (1 - share) / share : INFINITY;
    if (live->max_seconds > 0)
        left = fmin(left, fmax(live->max_seconds - spent, 0));
    orr_duration_print(spent, spent_text);
    orr_duration_print(left, left_text);
    snprintf(text, sizeof text, "symreg: epoch %d%s, %.4g formulas, %.3g/s, %s, %s left%s", epoch,
             of, total, total / fmax(spent, 1e-3), spent_text, isfinite(left) ? left_text : "?",
             live->keys ? " (q stops)" : "");
    fprintf(stderr, "%.*s\n%.*s\n", columns - 1, text, columns - 1,
            "complexity          loss     score  equation");
}

static void draw_block(struct sr_live *live, int epoch, double total, double spent)
{
    char text[SR_TEXT], row[SR_TEXT + 64];
    int rows, columns;
    orr_terminal_size(&rows, &columns);
    sr_front_make(live->best, &live->front);
    const struct sr_front *front = &live->front;
    erase_block(live);
    print_status(live, epoch, total, spent, columns);
    const int most = rows - HEAD_LINES - 1;
    /* show the longest formulas, which are the best */
    int i = front->count > most ? front->count - most : 0;
    live->lines = HEAD_LINES + front->count - i;
    for (; i < front->count; i++) {
        sr_expr_print(live->language, &front->expr[i], live->names, text, sizeof text);
        snprintf(row, sizeof row, "%10d  %12.6g  %8.4g  %s", front->complexity[i], front->loss[i],
                 front->score[i], text);
        fprintf(stderr, "%.*s\n", orr_bytes_within(row, columns - 1), row);
    }
    fflush(stderr);
}

/* ---- between epochs */

static void write_log(struct sr_live *live, const struct sr_observation *seen)
{
    const struct sr_front *front = seen->front;
    const double loss = front->count ? front->loss[front->count - 1] : INFINITY;
    const int rc = live->log_rc
                       ? 0
                       : orr_log_line(&live->log, "epoch", (double)seen->epoch, "restart",
                                      (double)seen->restart, "evaluations", seen->evaluations,
                                      "rows", (double)front->count, "loss", loss, "seconds",
                                      seen->seconds, (const char *)NULL);
    if (!rc)
        return;
    live->log_rc = rc;
    snprintf(live->log_error, sizeof live->log_error, "%s", orr_error());
    orr_error_recover();
}

/* Says once that the search continues without checkpoints. */
static void tell_unsaved(struct sr_live *live, const char *why)
{
    if (!*why || live->told)
        return;
    live->told = true;
    erase_block(live);
    orr_note(live->quiet, "symreg: %s; the search continues without checkpoints", why);
}

void sr_live_observe(void *observer, const struct sr_observation *seen)
{
    struct sr_live *live = observer;
    const double now = orr_time_s();
    double total = 0;
    live->evaluations[seen->restart] = seen->evaluations;
    for (int i = 0; i < live->restarts; i++)
        total += live->evaluations[i];
    for (int i = 0; i < seen->front->count; i++)
        sr_hall_of_fame_offer(live->best, live->language, &seen->front->expr[i],
                              seen->front->loss[i]);
    if (live->log.stream)
        write_log(live, seen);
    tell_unsaved(live, seen->unsaved);
    if (live->line)
        orr_progress_set(&live->progress, (uint64_t)seen->epoch, NULL);
    if (live->block && now - live->drawn >= redraw_s) {
        draw_block(live, seen->epoch, total, now - live->started);
        live->drawn = now;
    }
}

static void free_live(struct sr_live *live)
{
    (void)orr_log_close(&live->log);
    free(live->evaluations);
    free(live->best);
    free(live);
}

int sr_live_start(const struct sr_table *table, const struct sr_settings *settings, bool quiet,
                  const char *log, struct sr_live **result)
{
    struct sr_live *live = *result = orr_alloc(1, sizeof *live);
    if (!live)
        return ORR_ENOMEM;
    live->evaluations = orr_alloc((size_t)settings->restarts, sizeof *live->evaluations);
    live->best = orr_alloc(1, sizeof *live->best);
    int rc = live->evaluations && live->best ? 0 : ORR_ENOMEM;
    if (!rc && *log)
        rc = orr_log_open(&live->log, log, settings->resume);
    if (!rc && *log && table->csv.comments && !settings->resume)
        rc = orr_log_line(&live->log, "skipped_lines", (double)table->csv.comments,
                          (const char *)NULL);
    if (rc) {
        free_live(live);
        *result = NULL;
        return rc;
    }
    sr_hall_of_fame_clear(live->best);
    live->quiet = quiet;
    live->language = settings->language;
    live->names = table->name;
    live->max_seconds = settings->max_seconds;
    live->epochs = settings->restarts_fresh ? 0 : settings->iterations;
    live->restarts = settings->restarts;
    live->started = orr_time_s();
    live->block = !quiet && isatty(STDERR_FILENO) == 1;
    live->line = !quiet && !live->block;
    atomic_init(&live->asked, false);
    orr_progress_init(&live->progress, "symreg", (uint64_t)live->epochs, quiet);
    if (live->block && isatty(STDIN_FILENO) == 1)
        live->keys = sr_keys_start(&live->asked);
    return 0;
}

int sr_live_end(struct sr_live *live, bool *asked)
{
    if (live->keys)
        sr_keys_end();
    erase_block(live);
    fflush(stderr);
    *asked = atomic_load(&live->asked);
    const int rc =
        live->log_rc ? ORR_FAIL(live->log_rc, "%s", live->log_error) : orr_log_close(&live->log);
    free_live(live);
    return rc;
}
