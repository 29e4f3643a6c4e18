/* live.c - the live view: the current front on a terminal, and the JSONL log. The key q ends the
 * search (terminal_keys.c) where stdin and stderr are a terminal in the foreground. */
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "program.h"

enum {
    HEAD_LINES = 2,
    WIDE = 60,     /* columns from which on losses and scores are shown in full */
    JUDGED = 2000, /* rows, at most, on which the front so far is judged */
};
static const double redraw_s = 0.1;
static const double share_drawn = 0.05; /* of the time, at most, for drawing and judging */

struct sr_live {
    const struct sr_language *language;
    const struct sr_table *table;
    const struct sr_settings *settings;
    struct sr_table sample; /* of the rows of a large table */
    const struct sr_table *judged;
    enum sr_rule rule;
    bool log_target;                   /* the target is the logarithm of its column */
    double max_seconds, started, next; /* next: when the block may be drawn again */
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

/* Prints a line, cut to the width of the terminal, with `end` kept where the line is cut. */
static void print_cut(const char *line, const char *end, int columns)
{
    const int spare = columns - 1 - (int)strlen(end);
    const int whole = orr_bytes_within(line, spare);
    if (!line[whole])
        fprintf(stderr, "%s%s\n", line, end);
    else
        fprintf(stderr, "%.*s...%s\n", orr_bytes_within(line, spare - 3), line, end);
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
    print_cut(text, "", columns);
    print_cut(columns >= WIDE ? "complexity          loss     score  equation"
                              : "size       loss  equation",
              "", columns);
}

/* The front so far as it would be answered: judged on the rows of live->judged, or, for categories
 * and where that fails, as it stands. Returns the row that the rule chooses; -1: none. */
static int judge_front(struct sr_live *live)
{
    sr_front_make(live->best, &live->front);
    if (!live->table->category && live->front.count) {
        if (sr_front_judge(live->settings, &live->judged->data, &live->front)) {
            orr_error_recover();
            sr_front_make(live->best, &live->front);
        }
    }
    return sr_front_select(&live->front, live->rule);
}

/* A formula as people write it, with its constants to five digits. */
static void print_short(const struct sr_live *live, int row, char *text, size_t bytes)
{
    enum { DIGITS = 5 };
    struct sr_expr expr = live->front.expr[row];
    sr_expr_collect(live->language, &expr);
    for (int i = 0; i < expr.count; i++)
        if (sr_is_number(&expr.node[i]))
            expr.node[i].value = sr_round_digits(expr.node[i].value, DIGITS);
    sr_expr_text(live->language, &expr, SR_INFIX, live->table->name, text, bytes);
}

/* The rows of the front, of which `most` fit: the longest, which fit best, and the chosen one. */
static void print_rows(struct sr_live *live, int chosen, int most, int columns)
{
    const struct sr_front *front = &live->front;
    const bool wide = columns >= WIDE;
    char text[SR_TEXT], row[SR_TEXT + 64], mark[40];
    snprintf(mark, sizeof mark, "   <- %s", sr_rule_name[live->rule]);
    int first = front->count > most ? front->count - most : 0;
    for (int i = 0; i < front->count; i++) {
        const bool is_chosen = i == chosen;
        if (i < first + (chosen >= 0 && chosen < first) && !is_chosen)
            continue;
        print_short(live, i, text, sizeof text);
        if (wide)
            snprintf(row, sizeof row, "%10d  %12.6g  %8.4g  %s", front->complexity[i],
                     front->loss[i], front->score[i], text);
        else
            snprintf(row, sizeof row, "%4d  %9.3g  %s", front->complexity[i], front->loss[i], text);
        *row = is_chosen ? '>' : *row;
        print_cut(row, is_chosen && wide ? mark : "", columns);
        live->lines++;
    }
}

static void draw_block(struct sr_live *live, int epoch, double total, double spent)
{
    int rows, columns;
    orr_terminal_size(&rows, &columns);
    const int chosen = judge_front(live);
    erase_block(live);
    print_status(live, epoch, total, spent, columns);
    live->lines = HEAD_LINES;
    print_rows(live, chosen, rows - HEAD_LINES - 2, columns);
    if (chosen >= 0) {
        char target[300], text[SR_TEXT], name[300], line[SR_TEXT + 400];
        sr_target_write(live->language, live->table->target, live->log_target, SR_INFIX, target,
                        sizeof target);
        print_short(live, chosen, text, sizeof text);
        snprintf(line, sizeof line, "%s so far: %s = %s", sr_rule_name[live->rule],
                 orr_shown(name, sizeof name, target), text);
        print_cut(line, "", columns);
        live->lines++;
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
    if (live->block && now >= live->next) {
        draw_block(live, seen->epoch, total, now - live->started);
        const double end = orr_time_s();
        live->next = end + fmax(redraw_s, (end - now) / share_drawn);
    }
}

static void free_live(struct sr_live *live)
{
    (void)orr_log_close(&live->log);
    free(live->evaluations);
    free(live->best);
    sr_table_free(&live->sample);
    free(live);
}

/* What the block shows, and on which rows it is judged. */
static int start_block(struct sr_live *live)
{
    live->judged = live->table;
    if (!live->block || live->table->data.rows <= JUDGED || live->table->category)
        return 0;
    live->judged = &live->sample;
    return sr_table_sample(live->table, JUDGED, live->settings->seed, &live->sample);
}

int sr_live_start(const struct sr_problem *problem, bool quiet, const char *log,
                  struct sr_live **result)
{
    const struct sr_table *table = problem->table;
    const struct sr_csv_setup *setup = problem->setup;
    const struct sr_settings *settings = &setup->settings;
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
    live->block = !quiet && isatty(STDERR_FILENO) == 1;
    live->table = table;
    live->log_target = problem->options->log_target;
    live->settings = settings;
    if (!rc)
        rc = start_block(live);
    if (rc) {
        free_live(live);
        *result = NULL;
        return rc;
    }
    sr_hall_of_fame_clear(live->best);
    live->quiet = quiet;
    live->language = settings->language;
    live->rule = setup->rule;
    live->max_seconds = settings->max_seconds;
    live->epochs = settings->restarts_fresh ? 0 : settings->iterations;
    live->restarts = settings->restarts;
    live->started = orr_time_s();
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
