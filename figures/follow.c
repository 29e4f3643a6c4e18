/* follow.c - the losses of trainings that are under way: logs are looked for and read again until
 * no program writes them, and a picture or the terminal shows what they have. */
#define _XOPEN_SOURCE 700 /* for realpath */
#include "base/tempdir.h"
#include "report.h"

#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cjson.h"

enum {
    DEPTH = 6, /* folders below a run: of a sweep, GRID/CELL/ATTENTION/STAGE */
    RESTS = 5, /* looks without a change after which a training is over */
    LOGS = (int)REPORT_STAGES * REPORT_SOURCES
};

struct log {
    char path[REPORT_PATH]; /* without symbolic links, as /proc has it */
    char title[ORR_NAME];
    enum report_stage stage;
    struct timespec changed;
    off_t bytes;
};
struct logs {
    int count;
    struct log at[LOGS];
};

/* ---- which logs there are */

/* Cuts the log of a stage off a path that ends in one, "lssar/pretrain/log.jsonl"; that of none is
 * taken for one of pretraining. */
static bool cut_stage(char *path, enum report_stage *stage)
{
    *stage = REPORT_PRETRAIN;
    for (int s = 0; s < REPORT_STAGES; s++) {
        char *end = path + strlen(path) - strlen(report_stage_log[s]);
        if (end < path || strcmp(end, report_stage_log[s]) || (end > path && end[-1] != '/'))
            continue;
        *(end > path ? end - 1 : end) = '\0';
        *stage = (enum report_stage)s;
        return true;
    }
    char *slash = strrchr(path, '/');
    *(slash ? slash : path) = '\0';
    return false;
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Adds a log, which is called by its folder in the run, "lssar"; the run's own, and one that was
 * named itself, by the folder that it is in. Of several runs each name begins with the run's. */
static int add_log(struct logs *logs, const char *path, const char *run, bool several)
{
    struct stat info;
    char whole[PATH_MAX], of_run[PATH_MAX], name[2 * PATH_MAX] = "", inside[REPORT_PATH];
    if (!realpath(path, whole) || !realpath(run, of_run) || stat(path, &info))
        return 0; /* it went away meanwhile */
    if (logs->count == LOGS)
        return ORR_FAIL(ORR_EINVAL, "%s: more than %d logs", run, LOGS);
    struct log *log = &logs->at[logs->count++];
    *log = (struct log){.changed = info.st_mtim, .bytes = info.st_size};
    TRY(orr_path(log->path, "%s", whole));
    TRY(orr_path(inside, "%s", path + strlen(run) + strspn(path + strlen(run), "/")));
    (void)cut_stage(*inside ? inside : of_run, &log->stage);
    if (several || !*inside)
        orr_append(name, sizeof name, "%s", last_part(of_run));
    orr_append(name, sizeof name, "%s%s", *name && *inside ? ": " : "", inside);
    orr_shown(log->title, sizeof log->title, name);
    return 0;
}

/* Whether a log is a training's: that of a search, log.jsonl too, has epochs in place of steps. */
static bool has_steps(const char *path)
{
    char line[512] = "\"step\"";
    FILE *file = fopen(path, "r");
    if (file && !fgets(line, sizeof line, file))
        strcpy(line, "\"step\""); /* it has just begun */
    if (file)
        fclose(file);
    return strstr(line, "\"step\"") != NULL;
}

/* Adds the logs of a folder and of those below it, in the order of their names. */
static int add_folder(struct logs *logs, const char *folder, const char *run, bool several,
                      int depth)
{
    struct orr_entries entries;
    char path[REPORT_PATH], copy[REPORT_PATH];
    struct stat info;
    enum report_stage stage;
    int rc = orr_entries_read(folder, &entries);
    for (int i = 0; i < entries.count && !rc; i++) {
        rc = orr_path(path, "%s/%s", folder, entries.at[i]->d_name);
        if (rc || lstat(path, &info))
            continue;
        memcpy(copy, path, sizeof copy);
        if (S_ISDIR(info.st_mode) && depth < DEPTH)
            rc = add_folder(logs, path, run, several, depth + 1);
        else if (S_ISREG(info.st_mode) &&
                 (cut_stage(copy, &stage) ||
                  (!strcmp(entries.at[i]->d_name, "log.jsonl") && has_steps(path))))
            rc = add_log(logs, path, run, several);
    }
    orr_entries_free(&entries);
    return rc;
}

/* Whether a folder is of a run that may still get logs. */
static bool is_run(const char *folder)
{
    char settings[REPORT_PATH], orbits[REPORT_PATH];
    return !orr_path(settings, "%s/preset.json", folder) &&
           !orr_path(orbits, "%s/orbits", folder) && (orr_exists(settings) || orr_exists(orbits));
}

/* The logs of all runs; of one that is not there yet, none. */
static int find_logs(const struct report_follow *of, struct logs *logs)
{
    struct stat info;
    logs->count = 0;
    for (int i = 0; i < of->count; i++) {
        const int before = logs->count;
        if (stat(of->run[i], &info))
            continue;
        if (!S_ISDIR(info.st_mode)) {
            TRY(add_log(logs, of->run[i], of->run[i], of->count > 1));
            continue;
        }
        TRY(add_folder(logs, of->run[i], of->run[i], of->count > 1, 1));
        if (logs->count == before && !is_run(of->run[i]))
            return ORR_FAIL(ORR_EMISSING,
                            "%s: no logs in this folder (log.jsonl); expected a run directory",
                            of->run[i]);
    }
    return 0;
}

/* Whether something of the logs differs. */
static bool have_changed(const struct logs *now, const struct logs *before)
{
    bool same = now->count == before->count;
    for (int i = 0; i < now->count && same; i++) {
        const struct log *a = &now->at[i], *b = &before->at[i];
        same = !strcmp(a->path, b->path) && a->bytes == b->bytes &&
               a->changed.tv_sec == b->changed.tv_sec && a->changed.tv_nsec == b->changed.tv_nsec;
    }
    return !same;
}

/* Whether a process, whose number is the name of a folder of /proc, has one of the logs open. */
static bool has_open(const char *process, const struct logs *logs)
{
    char path[300], target[PATH_MAX];
    snprintf(path, sizeof path, "/proc/%.20s/fd", process);
    DIR *folder = opendir(path);
    bool found = false;
    for (const struct dirent *entry; folder && !found && (entry = readdir(folder));) {
        const ssize_t length = readlinkat(dirfd(folder), entry->d_name, target, sizeof target);
        for (int i = 0; i < logs->count && !found && length > 0; i++)
            found = strlen(logs->at[i].path) == (size_t)length &&
                    !memcmp(logs->at[i].path, target, (size_t)length);
    }
    if (folder)
        closedir(folder);
    return found;
}

/* Whether one of the logs is written: by a process of this machine, which has it open; those of
 * other machines changed a moment ago. */
static bool under_way(const struct logs *logs, double moment_s)
{
    DIR *folder = opendir("/proc");
    bool found = false;
    for (int i = 0; i < logs->count && !found; i++) {
        const double ago_s = difftime(time(NULL), logs->at[i].changed.tv_sec);
        found = ago_s >= 0 && ago_s < moment_s;
    }
    for (const struct dirent *entry; folder && !found && (entry = readdir(folder));)
        found = isdigit((unsigned char)*entry->d_name) && has_open(entry->d_name, logs);
    if (folder)
        closedir(folder);
    return found;
}

/* ---- what they have */

/* "lssar/pretrain" */
static const char *curve_name(char name[2 * ORR_NAME], const char *training, int stage)
{
    const char *log = report_stage_log[stage], *end = strstr(log, "/log.");
    end = end ? end : strchr(log, '.');
    snprintf(name, 2 * ORR_NAME, "%s/%.*s", training, (int)(end - log), log);
    return name;
}

static int read_curves(const struct logs *logs, struct report_run *run)
{
    for (int i = 0; i < logs->count; i++) {
        const struct log *log = &logs->at[i];
        int s = 0;
        while (s < run->source_count && (strcmp(run->source[s].name, log->title) != 0 ||
                                         run->source[s].curve[log->stage].step))
            s++; /* (two runs of one name are two trainings) */
        if (s == REPORT_SOURCES)
            return ORR_FAIL(ORR_EINVAL, "--follow: more than %d trainings", REPORT_SOURCES);
        struct report_source *source = &run->source[s];
        if (s == run->source_count) {
            run->source_count++;
            memcpy(source->name, log->title, sizeof log->title);
            snprintf(source->title, sizeof source->title, "%s", log->title);
            source->role = REPORT_ATTENTION;
            source->colour = orr_attention_colour(last_part(log->title), s);
        }
        TRY(report_read_curve(log->path, &source->curve[log->stage]));
    }
    return 0;
}

/* Keeps the last line that has a speed. */
static int take_newest(void *of, struct cJSON *line, double step, size_t number)
{
    struct report_lines *lines = of;
    (void)step, (void)number;
    if (!isfinite(orr_json_number(line, "tokens_per_s"))) {
        cJSON_Delete(line);
        return 0;
    }
    cJSON_Delete(*lines->at);
    *lines->at = line;
    lines->count = 1;
    return 0;
}

/* One line about the log that was written last. */
static int headline(const struct logs *logs, char text[512])
{
    const struct log *newest = logs->at;
    for (const struct log *log = logs->at; log < logs->at + logs->count; log++)
        if (log->changed.tv_sec > newest->changed.tv_sec ||
            (log->changed.tv_sec == newest->changed.tv_sec &&
             log->changed.tv_nsec > newest->changed.tv_nsec))
            newest = log;
    struct report_lines lines;
    *text = '\0';
    const int rc = report_lines_read(newest->path, take_newest, &lines);
    if (!rc && lines.count) {
        const cJSON *line = lines.at[0];
        const double share = orr_json_number(line, "peak_share"),
                     eta = orr_json_number(line, "eta_s"),
                     memory = orr_json_number(line, "memory_mb");
        char left[ORR_DURATION], name[2 * ORR_NAME];
        snprintf(text, 512, "%s: step %.0f, loss %.4g, %.0f positions/s",
                 curve_name(name, newest->title, (int)newest->stage), orr_json_number(line, "step"),
                 orr_json_number(line, "loss"), orr_json_number(line, "tokens_per_s"));
        if (isfinite(share))
            orr_append(text, 512, " (%.0f%% of peak)", 100 * share);
        orr_duration_print(eta, left);
        if (eta > 0)
            orr_append(text, 512, ", %s left", left);
        if (isfinite(memory))
            orr_append(text, 512, ", %.2g GB", memory / 1000);
    }
    report_lines_free(&lines);
    return rc;
}

/* ---- the terminal */

static int write_text(const struct report_run *run, bool colours, int rows, int columns,
                      const char *stem)
{
    char path[REPORT_PATH], title[2 * ORR_NAME];
    struct orr_file set = {0};
    int curves = 0, curve = 0;
    TRY(orr_path(path, "%s.set", stem));
    TRY(orr_file_create(&set, path));
    for (int s = 0; s < run->source_count; s++)
        for (int k = 0; k < REPORT_STAGES; k++)
            curves += run->source[s].curve[k].count > 0;
    orr_file_printf(&set, "columns = %d\nlines = %d\ncolours = %d\ncurves = %d\narray title[%d]\n",
                    columns, rows - 2, colours, curves, curves);
    for (int s = 0; s < run->source_count; s++)
        for (int k = 0; k < REPORT_STAGES; k++)
            if (run->source[s].curve[k].count)
                orr_gnuplot_assign(&set, "title", ++curve,
                                   curve_name(title, run->source[s].title, k));
    orr_file_printf(&set, "$data << EOD\n");
    for (int s = 0; s < run->source_count; s++)
        for (int k = 0; k < REPORT_STAGES; k++)
            if (run->source[s].curve[k].count)
                report_write_training(&set, &run->source[s].curve[k]);
    orr_file_printf(&set, "EOD\n");
    const int rc = orr_file_commit(&set);
    orr_file_close(&set);
    return rc;
}

/* Prints lines without the blanks at their ends, and no empty ones. */
static void print_lines(char *text)
{
    for (char *line = text; *line;) {
        const size_t length = strcspn(line, "\n");
        size_t used = length;
        while (used && isspace((unsigned char)line[used - 1]))
            used--;
        if (used)
            printf("%.*s\n", (int)used, line);
        line += length + (line[length] == '\n');
    }
}

static int show_text(const struct logs *logs, const struct report_run *run, bool terminal,
                     const char *folder)
{
    char stem[REPORT_PATH], path[REPORT_PATH], first[512], *text = NULL;
    size_t bytes;
    int rows = 24, columns = 80;
    if (terminal)
        orr_terminal_size(&rows, &columns);
    TRY(headline(logs, first));
    TRY(orr_path(stem, "%s/losses", folder));
    TRY(orr_path(path, "%s/losses.txt", folder));
    TRY(write_text(run, terminal && orr_terminal_colours(), rows, columns, stem));
    TRY(orr_gnuplot_draw("follow.gp", stem, path));
    TRY(orr_file_read(path, &text, &bytes));
    printf("%s%.*s\n", terminal ? "\033[H\033[J" : "",
           terminal ? orr_bytes_within(first, columns - 1) : (int)strlen(first), first);
    print_lines(text);
    free(text);
    (void)fflush(stdout); /* orr_main() says where it cannot be written */
    return 0;
}

/* ---- following */

static int draw(const struct report_follow *of, const struct logs *logs, bool terminal, bool *drawn)
{
    struct orr_tempdir work;
    const char *temporary = getenv("TMPDIR");
    struct report_run *run = orr_alloc(1, sizeof *run);
    if (!run)
        return ORR_ENOMEM;
    int rc = read_curves(logs, run);
    for (int s = 0; s < run->source_count && !*drawn; s++)
        for (int k = 0; k < REPORT_STAGES; k++)
            *drawn |= run->source[s].curve[k].count > 0;
    if (!rc && *drawn && *of->out) {
        rc = report_single(run, "loss", of->style, of->keep, of->out);
    } else if (!rc && *drawn) {
        rc = orr_tempdir_create(&work, temporary && *temporary ? temporary : "/tmp", "losses");
        rc = rc ? rc : show_text(logs, run, terminal, work.folder);
        orr_tempdir_remove(&work);
    }
    report_free(run);
    free(run);
    return rc;
}

static void rest(double seconds)
{
    const struct timespec time = {.tv_sec = (time_t)seconds,
                                  .tv_nsec = (long)(1e9 * (seconds - floor(seconds)))};
    nanosleep(&time, NULL); /* which a signal ends */
}

/* Looks until the trainings are over or a signal comes; now[1] has what the look before found. */
static int look_on(const struct report_follow *of, struct logs now[2], bool terminal)
{
    bool drawn = false, over = false, changed = true, told = of->quiet, stale = true;
    const double rest_s = RESTS * of->every_s;
    double seen_s = -INFINITY; /* when a training was last under way */
    for (bool first = true; !over && !orr_signal_seen(); first = false) {
        TRY(find_logs(of, now));
        if (!now->count) {
            orr_note(told, "waiting for %s (Ctrl-C ends)", *of->run);
            told = true;
            seen_s = orr_time_s(); /* what appears from now on is under way */
        } else {
            changed = have_changed(now, now + 1);
            stale |= changed;
            if ((changed && !first) || under_way(now, rest_s))
                seen_s = orr_time_s();
            over = orr_time_s() - seen_s >= rest_s;
            if (stale && (terminal || *of->out || over)) {
                TRY(draw(of, now, terminal, &drawn));
                stale = false;
            }
        }
        now[1] = now[0];
        if (!over)
            rest(of->every_s);
    }
    return over && !drawn ? ORR_FAIL(ORR_EMISSING, "%s: its logs have no losses", *of->run) : 0;
}

int report_follow(const struct report_follow *of)
{
    struct logs *logs = orr_alloc(2, sizeof *logs);
    if (!logs)
        return ORR_ENOMEM;
    const bool terminal = !*of->out && isatty(STDOUT_FILENO) == 1;
    int rc = look_on(of, logs, terminal);
    free(logs);
    if (rc && orr_signal_seen()) { /* also while gnuplot drew: a signal is how one stops looking */
        orr_error_clear();
        rc = 0;
    }
    return rc;
}
