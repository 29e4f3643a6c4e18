/* grid_cells.c - the cells of a grid: their names, run folders and commands. */
#include "base/base.h"
#include "grid.h"
#include "program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The level of axis `a` in cell `i`. */
static const struct orr_level *level_of(const struct orr_grid *grid, long i, int a)
{
    for (int later = grid->axes - 1; later > a; later--)
        i /= grid->axis[later].levels;
    return &grid->axis[a].level[i % grid->axis[a].levels];
}

int orr_grid_cell_name(const struct orr_grid *grid, long i, char name[ORR_CELL_NAME])
{
    size_t length = 0;
    *name = '\0';
    for (int a = 0; a < grid->axes; a++) {
        const char *const tag = level_of(grid, i, a)->tag;
        length += strlen(tag) + (a > 0);
        orr_append(name, ORR_CELL_NAME, "%s%s", a ? "-" : "", tag);
    }
    return length < ORR_CELL_NAME
               ? 0
               : ORR_FAIL(ORR_EINVAL, "%s: a cell's name has more than %d characters: %.100s...",
                          grid->file, ORR_CELL_NAME - 1, name);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* The tags of a cell's levels up to a stage, behind the text; whether there are later ones. */
static bool add_tags(const struct orr_grid *grid, long i, enum orr_grid_stage upto, char *text,
                     size_t bytes)
{
    bool later = false;
    for (int a = 0; a < grid->axes; a++)
        if (grid->axis[a].stage <= upto)
            orr_append(text, bytes, "-%s", level_of(grid, i, a)->tag);
        else
            later = true;
    return later;
}

/* What cells share by the tags of their levels up to a stage, and behind it their numbers. */
struct shared {
    char tags[ORR_CELL_NAME], levels[6 * ORR_GRID_AXES];
};

/* Two cells that share a folder have the same levels up to its stage. */
static int check_shared(const struct orr_grid *grid, enum orr_grid_stage upto)
{
    struct shared *shared = orr_alloc((size_t)grid->cells, sizeof *shared);
    if (!shared)
        return ORR_FAIL(ORR_ENOMEM, "out of memory");
    memset(shared, 0, (size_t)grid->cells * sizeof *shared);
    for (long i = 0; i < grid->cells; i++) {
        (void)add_tags(grid, i, upto, shared[i].tags, sizeof shared[i].tags);
        for (int a = 0; a < grid->axes; a++)
            if (grid->axis[a].stage <= upto)
                orr_append(shared[i].levels, sizeof shared[i].levels, " %d",
                           (int)(level_of(grid, i, a) - grid->axis[a].level));
    }
    int rc = 0;
    qsort(shared, (size_t)grid->cells, sizeof *shared, by_name);
    for (long i = 1; i < grid->cells && !rc; i++)
        if (!strcmp(shared[i - 1].tags, shared[i].tags) &&
            strcmp(shared[i - 1].levels, shared[i].levels) != 0)
            rc = ORR_FAIL(ORR_EFORMAT,
                          "%s: cells of other settings would share what is named \"%s\"; give "
                          "levels other names",
                          grid->file, shared[i].tags + 1);
    free(shared);
    return rc;
}

int orr_grid_check_names(const struct orr_grid *grid)
{
    char(*name)[ORR_CELL_NAME] = orr_alloc((size_t)grid->cells, sizeof *name);
    int rc = name ? 0 : ORR_FAIL(ORR_ENOMEM, "out of memory");
    for (long i = 0; i < grid->cells && !rc; i++)
        rc = orr_grid_cell_name(grid, i, name[i]);
    if (!rc)
        qsort(name, (size_t)grid->cells, sizeof *name, by_name);
    for (long i = 1; i < grid->cells && !rc; i++)
        if (!strcmp(name[i - 1], name[i]))
            rc = ORR_FAIL(ORR_EFORMAT, "%s: two cells are named %s; give levels other names",
                          grid->file, name[i]);
    free(name);
    rc = rc ? rc : check_shared(grid, ORR_GRID_DATA);
    return rc ? rc : check_shared(grid, ORR_GRID_MODELS);
}

int orr_grid_cell_folder(const struct orr_grid *grid, const struct orr_grid_place *place, long i,
                         char folder[4096])
{
    char name[ORR_CELL_NAME];
    TRY(orr_grid_cell_name(grid, i, name));
    return orr_path(folder, "%s/%s/%s", place->runs, grid->folder, name);
}

/* What cells of equal levels up to a stage share: its folder, "" where each cell has its own. */
static int name_shared(const struct orr_grid *grid, const struct orr_grid_place *place, long i,
                       enum orr_grid_stage upto, char folder[4096])
{
    char tags[ORR_CELL_NAME + 8] = "";
    const bool others = add_tags(grid, i, upto, tags, sizeof tags);
    *folder = '\0';
    return others ? orr_path(folder, "%s/%s/.shared/%s%s", place->runs, grid->folder,
                             upto == ORR_GRID_DATA ? "data" : "models", tags)
                  : 0;
}

static int add_word(struct orr_cell_command *c, const char *word)
{
    if (c->argc + 1 >= ORR_CELL_WORDS)
        return ORR_FAIL(ORR_EFORMAT, "a command has more than %d words", ORR_CELL_WORDS - 1);
    c->argv[c->argc++] = word;
    c->argv[c->argc] = NULL;
    return 0;
}

static int add_words(struct orr_cell_command *c, const struct orr_words *words)
{
    for (int i = 0; i < words->count; i++)
        TRY(add_word(c, words->word[i]));
    return 0;
}

static int add_option(struct orr_cell_command *c, const char *option, const char *value)
{
    TRY(add_word(c, option));
    return add_word(c, value);
}

/* The settings of a cell: of a shared folder those that its content depends on. */
static int add_settings(const struct orr_grid *grid, long i, enum orr_grid_stage stage,
                        struct orr_cell_command *c)
{
    TRY(add_option(c, "--preset", grid->preset));
    TRY(add_words(c, &grid->common));
    for (int a = 0; a < grid->axes; a++)
        if (!*c->shared || grid->axis[a].stage <= stage)
            TRY(add_words(c, &level_of(grid, i, a)->options));
    return add_word(c, "--resume");
}

static bool makes_orbits(const struct orr_grid *grid)
{
    for (int s = 0; s < grid->steps; s++)
        if (!strcmp(grid->step[s].program, "orbits"))
            return true;
    return false;
}

int orr_grid_command(const struct orr_grid *grid, const struct orr_grid_place *place, long i, int s,
                     struct orr_cell_command *c)
{
    const struct orr_step *step = &grid->step[s];
    const char *const name = step->program;
    const bool is_cell = !strcmp(name, "cell");
    const enum orr_grid_stage stage = !strcmp(name, "orbits")     ? ORR_GRID_DATA
                                      : !strcmp(name, "pretrain") ? ORR_GRID_MODELS
                                                                  : ORR_GRID_LATER;
    c->argc = 0;
    *c->shared = '\0';
    TRY(orr_grid_cell_folder(grid, place, i, c->run));
    TRY(orr_program_of_orrery(place->self, is_cell ? "verdict" : name, c->program));
    TRY(add_word(c, c->program));
    if (is_cell)
        return add_option(c, "--cell", c->run);
    if (stage < ORR_GRID_LATER)
        TRY(name_shared(grid, place, i, stage, c->shared));
    TRY(add_words(c, &step->own));
    if (strcmp(name, "probe") != 0) { /* a probe takes the settings of the run */
        TRY(add_settings(grid, i, stage, c));
        if (place->force && (stage < ORR_GRID_LATER || !strcmp(name, "finetune")))
            TRY(add_word(c, "--force"));
    }
    TRY(add_option(c, "--run", *c->shared ? c->shared : c->run));
    if (*c->shared && stage == ORR_GRID_MODELS && makes_orbits(grid)) {
        /* a model that cells share knows no data but those of this one */
        TRY(orr_path(c->orbits, "%s/orbits", c->run));
        TRY(add_option(c, "--orbits", c->orbits));
    }
    /* a report computes next to nothing */
    return strcmp(name, "report") != 0 ? add_option(c, "--threads", place->threads) : 0;
}
