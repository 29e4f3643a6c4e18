/* sweep_command.c - `orrery cells GRID` and `orrery sweep GRID`: their words, and cells as lines of
 * commands, for job arrays of a cluster or GNU parallel. */
#include "base/base.h"
#include "cli.h"
#include "program.h"
#include "sweep.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Words WORD=VALUE, or variables of the environment of these names. */
enum word { RUNS, THREADS, FORCE, PART, KEPT, JOBS, WORDS };
static const char *const word_name[WORDS] = {"RUNS", "THREADS", "FORCE", "PART", "KEPT", "JOBS"};

struct asked {
    const char *command, *value[WORDS];
    const char *grid;
    bool folders;
    struct orr_grid_place place;
    long first, every, jobs;
};

/* Takes WORD=VALUE. */
static bool is_word(struct asked *a, const char *argument)
{
    const size_t length = strcspn(argument, "=");
    for (int w = 0; w < WORDS; w++)
        if (strlen(word_name[w]) == length && argument[length] &&
            !strncmp(word_name[w], argument, length)) {
            a->value[w] = argument + length + 1;
            return true;
        }
    return false;
}

/* The FILE of GRID=FILE, as make takes it, or of FILE; NULL: another WORD=VALUE. */
static const char *grid_of(const char *argument)
{
    static const char capitals[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ", word[] = "GRID=";
    const size_t length = strspn(argument, capitals);
    if (!strncmp(argument, word, strlen(word)))
        return argument + strlen(word);
    return length && argument[length] == '=' ? NULL : argument;
}

static int refuse_word(const struct asked *a, const char *argument)
{
    struct orr_nearest nearest = {0};
    char name[64], hint[128];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(argument, "="), argument);
    for (int w = 0; w < WORDS; w++)
        orr_nearest_offer(&nearest, name, word_name[w]);
    orr_nearest_text(&nearest, hint);
    return ORR_FAIL(ORR_EUSAGE,
                    "%s: expected GRID%s [WORD=VALUE ...], where WORD is RUNS, THREADS, FORCE, "
                    "PART, KEPT or JOBS, found \"%.100s\"%s",
                    a->command, strcmp(a->command, "cells") ? "" : " [--folders]", argument, hint);
}

/* Every N-th cell from the I-th on: "I/N". */
static int take_part(struct asked *a)
{
    char first[16];
    const char *const part = a->value[PART], *const slash = strchr(part, '/');
    snprintf(first, sizeof first, "%.*s", slash ? (int)(slash - part) : 0, part);
    if (!slash || !orr_whole(slash + 1, 1, 99999, &a->every) ||
        !orr_whole(first, 1, a->every, &a->first))
        return ORR_FAIL(ORR_EUSAGE, "PART: expected I/N with 1 <= I <= N, found \"%.100s\"", part);
    return 0;
}

static int take_words(struct asked *a, int count, char *const *argument)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(argument[i], "--folders") && !strcmp(a->command, "cells"))
            a->folders = true;
        else if (!is_word(a, argument[i]) && (a->grid || !(a->grid = grid_of(argument[i]))))
            return refuse_word(a, argument[i]);
    for (int w = 0; w < WORDS; w++) {
        const char *const value = a->value[w] ? a->value[w] : getenv(word_name[w]);
        a->value[w] = value && *value ? value : NULL;
    }
    if (!a->grid || !*a->grid)
        return ORR_FAIL(ORR_EUSAGE, "%s: which grid? orrery %s FILE, or make %s GRID=FILE",
                        a->command, a->command, a->command);
    for (int w = RUNS; w <= THREADS; w++) /* a command is a line */
        if (a->value[w] && strchr(a->value[w], '\n'))
            return ORR_FAIL(ORR_EUSAGE, "%s: expected one line", word_name[w]);
    a->first = a->every = 1;
    a->jobs = orr_cores();
    a->place.runs = a->value[RUNS] ? a->value[RUNS] : "runs";
    a->place.threads = a->value[THREADS] ? a->value[THREADS] : "1";
    a->place.force = a->value[FORCE] && strcmp(a->value[FORCE], "0") != 0;
    if (a->value[PART])
        TRY(take_part(a));
    long threads;
    if (!orr_whole(a->place.threads, 1, 4096, &threads))
        return ORR_FAIL(ORR_EUSAGE,
                        "THREADS: expected a whole number from 1 to 4096, found \"%.100s\"",
                        a->place.threads);
    if (a->value[JOBS] && !orr_whole(a->value[JOBS], 1, 99999, &a->jobs))
        return ORR_FAIL(ORR_EUSAGE, "JOBS: expected a whole number from 1 on, found \"%.100s\"",
                        a->value[JOBS]);
    return 0;
}

/* A grid by its path, or by its name, of those of the data folder. */
static int find_grid(const char *given, char path[4096])
{
    char file[300];
    TRY(orr_path(path, "%s", given));
    if (orr_exists(path))
        return 0;
    snprintf(file, sizeof file, "grids/%.250s.grid", given);
    if (!strchr(given, '/') && !orr_data_path("presets", file, path))
        return 0;
    orr_error_clear();
    const char *const slash = strrchr(given, '/'); /* where grids lay before */
    TRY(orr_path(path, "study/grids/%s", slash ? slash + 1 : given));
    if (orr_exists(path))
        return ORR_FAIL(ORR_EMISSING, "%s: no such grid; it is %s now", given, path);
    return ORR_FAIL(ORR_EMISSING, "%s: no such grid", given);
}

static bool is_folder(const char *path)
{
    struct stat is;
    return !stat(path, &is) && S_ISDIR(is.st_mode);
}

/* The cells of PART that have no result in KEPT, KEPT/FOLDER/CELL.json. */
static int choose_cells(const struct asked *a, const struct orr_grid *grid, long **cell,
                        size_t *count)
{
    char name[ORR_CELL_NAME], kept[4096];
    *count = 0;
    if (a->value[KEPT] && !is_folder(a->value[KEPT]))
        return ORR_FAIL(ORR_EMISSING, "KEPT: %s: no such folder", a->value[KEPT]);
    *cell = orr_alloc((size_t)grid->cells, sizeof **cell);
    if (!*cell)
        return ORR_FAIL(ORR_ENOMEM, "out of memory");
    for (long i = a->first - 1; i < grid->cells; i += a->every) {
        TRY(orr_grid_cell_name(grid, i, name));
        if (a->value[KEPT]) {
            TRY(orr_path(kept, "%s/%s/%s.json", a->value[KEPT], grid->folder, name));
            if (orr_exists(kept))
                continue;
        }
        (*cell)[(*count)++] = i;
    }
    return 0;
}

/* ---- cells as lines */

static void print_word(const char *before, const char *word)
{
    char text[3 * 4096] = "";
    orr_command_add(text, sizeof text, word);
    printf("%s%s", before, text);
}

/* "P/orbits ... && P/orrery share CELL SHARED P/pretrain ... && ..." */
static int print_cell(const struct asked *a, const struct orr_grid *grid, long cell,
                      struct orr_cell_command *c)
{
    char orrery[4096], folder[4096];
    TRY(orr_grid_cell_folder(grid, &a->place, cell, folder));
    if (a->folders) {
        printf("%s\n", folder);
        return 0;
    }
    TRY(orr_program_beside(a->place.self, "orrery", orrery));
    for (int s = 0; s < grid->steps; s++) {
        TRY(orr_grid_command(grid, &a->place, cell, s, c));
        const char *before = s ? " && " : "";
        if (*c->shared) {
            print_word(before, orrery);
            print_word(" ", "share");
            print_word(" ", folder);
            print_word(" ", c->shared);
            before = " ";
        }
        for (int w = 0; w < c->argc; w++, before = " ")
            print_word(before, c->argv[w]);
    }
    printf("\n");
    return 0;
}

static int print_cells(const struct asked *a, const struct orr_grid *grid, const long *cell,
                       size_t count)
{
    struct orr_cell_command *c = calloc(1, sizeof *c);
    int rc = c ? 0 : ORR_FAIL(ORR_ENOMEM, "out of memory");
    for (size_t i = 0; i < count && !rc; i++)
        rc = print_cell(a, grid, cell[i], c);
    free(c);
    return rc;
}

static int do_cells(const struct asked *a, const struct orr_grid *grid, const long *cell,
                    size_t count)
{
    return !strcmp(a->command, "cells") ? print_cells(a, grid, cell, count)
                                        : orr_sweep_run(grid, &a->place, cell, count, (int)a->jobs);
}

static int run_command(const char *command, const char *self, int count, char *const *argument)
{
    struct asked a = {.command = command, .place.self = self};
    char path[4096];
    struct orr_grid *grid = calloc(1, sizeof *grid);
    long *cell = NULL;
    size_t cells = 0;
    if (!grid)
        return ORR_FAIL(ORR_ENOMEM, "out of memory");
    int rc = take_words(&a, count, argument);
    rc = rc ? rc : find_grid(a.grid, path);
    rc = rc ? rc : orr_grid_read(path, grid);
    rc = rc ? rc : orr_grid_check_names(grid);
    rc = rc ? rc : choose_cells(&a, grid, &cell, &cells);
    rc = rc ? rc : do_cells(&a, grid, cell, cells);
    free(cell);
    orr_grid_free(grid);
    free(grid);
    return rc;
}

int orr_cells_command(const char *self, int count, char *const *argument)
{
    return run_command("cells", self, count, argument);
}

int orr_sweep_command(const char *self, int count, char *const *argument, int *status)
{
    orr_signals_catch();
    const int rc = run_command("sweep", self, count, argument);
    if (rc == ORR_EINTR)
        *status = 128 + orr_signal_number();
    return rc == ORR_EINTR ? 0 : rc;
}
