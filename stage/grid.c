/* grid.c - reads a grid of experiments. */
#include "base/base.h"
#include "grid.h"
#include "provenance.h"
#include "settings.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct text {
    struct text *next;
    char of[];
};

/* A copy of the text, which belongs to the grid; NULL: out of memory. */
static __attribute__((format(printf, 2, 3))) const char *grid_text(struct orr_grid *grid,
                                                                   const char *format, ...)
{
    va_list list, again;
    va_start(list, format);
    va_copy(again, list);
    const int length = vsnprintf(NULL, 0, format, list);
    struct text *text = length < 0 ? NULL : malloc(sizeof *text + (size_t)length + 1);
    if (text) {
        (void)vsnprintf(text->of, (size_t)length + 1, format, again);
        text->next = grid->texts;
        grid->texts = text;
    }
    va_end(again);
    va_end(list);
    return text ? text->of : NULL;
}

static int words_add(struct orr_words *words, const char *word)
{
    if (!word)
        return ORR_FAIL(ORR_ENOMEM, "out of memory");
    if (words->count == ORR_GRID_WORDS)
        return ORR_FAIL(ORR_EFORMAT, "expected at most %d words", ORR_GRID_WORDS);
    words->word[words->count++] = word;
    return 0;
}

void orr_grid_free(struct orr_grid *grid)
{
    for (struct text *text = grid->texts, *next; text; text = next) {
        next = text->next;
        free(text);
    }
    for (int a = 0; a < grid->axes; a++)
        free(grid->axis[a].level);
    *grid = (struct orr_grid){0};
}

/* ---- lines */

struct reading {
    struct orr_grid *grid;
    struct orr_settings settings; /* defaults, on which settings are tried */
    char *word[ORR_GRID_WORDS];
    int words;
};

/* Whether a text can name a folder below the folder of runs. */
static bool is_folder(const char *text)
{
    static const char first[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+-";
    if (!*text || !strchr(first, *text))
        return false;
    for (const char *c = text; *c; c++)
        if (*c != '.' && !strchr(first, *c))
            return false;
    return true;
}

/* Adds a setting "group.key=value" to options, if there is one of this name that takes it. */
static int add_setting(struct reading *r, struct orr_words *options, const char *setting)
{
    static const char of_keys[] = "abcdefghijklmnopqrstuvwxyz_.0123456789";
    const size_t key = strspn(setting, of_keys);
    if (!key || setting[key] != '=' || !setting[key + 1])
        return ORR_FAIL(ORR_EFORMAT, "expected KEY=VALUE, found \"%.100s\"", setting);
    if (orr_settings_set(&r->settings, setting)) {
        char why[1024];
        snprintf(why, sizeof why, "%s", orr_error());
        return ORR_FAIL(ORR_EFORMAT, "%s", why);
    }
    TRY(words_add(options, "--set"));
    return words_add(options, grid_text(r->grid, "%s", setting));
}

static int one_word(const struct reading *r, const char *what, const char **value)
{
    if (r->words != 2 || *value)
        return ORR_FAIL(ORR_EFORMAT, "expected one line \"%s NAME\"", what);
    *value = grid_text(r->grid, "%s", r->word[1]);
    return *value ? 0 : ORR_FAIL(ORR_ENOMEM, "out of memory");
}

static int read_preset(struct reading *r)
{
    return one_word(r, "preset", &r->grid->preset);
}

static int read_folder(struct reading *r)
{
    if (r->words == 2 && !is_folder(r->word[1]))
        return ORR_FAIL(ORR_EFORMAT, "expected one line \"folder NAME\", found \"%.100s\"",
                        r->word[1]);
    return one_word(r, "folder", &r->grid->folder);
}

static int read_set(struct reading *r)
{
    if (r->words < 2)
        return ORR_FAIL(ORR_EFORMAT, "set: expected KEY=VALUE ...");
    for (int i = 1; i < r->words; i++)
        TRY(add_setting(r, &r->grid->common, r->word[i]));
    return 0;
}

/* What a setting changes first. */
static enum orr_grid_stage stage_of(const char *setting)
{
    char key[ORR_NAME];
    snprintf(key, sizeof key, "%.*s", (int)strcspn(setting, "="), setting);
    const char *const stage = orr_setting_stage(key);
    return !strcmp(stage, "orbits")     ? ORR_GRID_DATA
           : !strcmp(stage, "pretrain") ? ORR_GRID_MODELS
                                        : ORR_GRID_LATER;
}

/* A level of a free name: "tag", or "tag:key=value,key=value". */
static int read_free_level(struct reading *r, struct orr_axis *axis, char *word, const char **tag,
                           struct orr_words *options)
{
    char *settings = strchr(word, ':'), *rest = NULL;
    *tag = grid_text(r->grid, "%.*s", settings ? (int)(settings - word) : (int)strlen(word), word);
    if (!settings)
        return 0;
    for (char *one = strtok_r(settings + 1, ",", &rest); one; one = strtok_r(NULL, ",", &rest)) {
        TRY(add_setting(r, options, one));
        const enum orr_grid_stage stage = stage_of(one);
        axis->stage = stage < axis->stage ? stage : axis->stage;
    }
    return 0;
}

/* A level of a setting, of `seed` or of `attention`: its value. */
static int read_value(struct reading *r, const struct orr_axis *axis, const char *value,
                      const char **tag, struct orr_words *options)
{
    long seed;
    if (!strcmp(axis->name, "seed")) {
        if (!orr_whole(value, 0, 999999999, &seed) || (value[0] == '0' && value[1]))
            return ORR_FAIL(ORR_EFORMAT, "axis seed: expected whole numbers, found \"%.100s\"",
                            value);
        *tag = grid_text(r->grid, "seed%s", value);
        TRY(words_add(options, "--seed"));
        return words_add(options, grid_text(r->grid, "%s", value));
    }
    const char *const setting = grid_text(r->grid, "%s=%s", axis->name, value);
    const char *const dot = strrchr(axis->name, '.');
    *tag = grid_text(r->grid, "%s%s",
                     !strcmp(axis->name, "attention") ? ""
                     : dot                            ? dot + 1
                                                      : axis->name,
                     value);
    return setting ? add_setting(r, options, setting) : ORR_FAIL(ORR_ENOMEM, "out of memory");
}

static bool are_same(const struct orr_words *a, const struct orr_words *b)
{
    if (a->count != b->count)
        return false;
    for (int i = 0; i < a->count; i++)
        if (strcmp(a->word[i], b->word[i]) != 0)
            return false;
    return true;
}

static int check_level(const struct orr_axis *axis, int l, const char *word)
{
    const struct orr_level *new = &axis->level[l];
    if (!is_folder(new->tag))
        return ORR_FAIL(ORR_EFORMAT,
                        "axis %s: expected a level that can name a folder, found \"%.100s\"",
                        axis->name, new->tag);
    for (int k = 0; k < l; k++)
        if (!strcmp(axis->level[k].tag, new->tag))
            return ORR_FAIL(ORR_EFORMAT, "axis %s: %.100s is there twice", axis->name, word);
    for (int k = 0; k < l; k++)
        if (are_same(&axis->level[k].options, &new->options))
            return ORR_FAIL(ORR_EFORMAT,
                            "axis %s: %.100s has the settings of another level; settings are "
                            "written group.key, levels of a free name level:key=value",
                            axis->name, word);
    return 0;
}

/* Refuses a setting that another axis gives as well: it would win, and a cell's name would say a
 * level that the cell does not have. */
static int check_keys(const struct orr_grid *grid, const struct orr_axis *axis, int l)
{
    const struct orr_words *new = &axis->level[l].options;
    for (int i = 1; i < new->count; i += 2)
        for (const struct orr_axis *other = grid->axis; other < axis; other++)
            for (int k = 0; k < other->levels; k++)
                for (int w = 1; w < other->level[k].options.count; w += 2) {
                    const char *const word = other->level[k].options.word[w];
                    const size_t key = strcspn(word, "=");
                    if (word[key] && !strncmp(word, new->word[i], key + 1))
                        return ORR_FAIL(ORR_EFORMAT,
                                        "axis %s: %.*s is a setting of axis %s already", axis->name,
                                        (int)key, word, other->name);
                }
    return 0;
}

static int read_axis(struct reading *r)
{
    struct orr_grid *grid = r->grid;
    if (r->words < 3)
        return ORR_FAIL(ORR_EFORMAT, "axis: expected a name and at least one level");
    const char *const name = r->word[1];
    for (int a = 0; a < grid->axes; a++)
        if (!strcmp(grid->axis[a].name, name))
            return ORR_FAIL(ORR_EFORMAT, "axis %s: given already", name);
    if (grid->axes == ORR_GRID_AXES || r->words - 2 > ORR_GRID_LEVELS)
        return ORR_FAIL(ORR_EFORMAT, "axis %s: expected at most %d axes of at most %d levels", name,
                        ORR_GRID_AXES, ORR_GRID_LEVELS);
    /* a free name has no dot, and is not the name of a setting by itself */
    const bool is_free =
        !strchr(name, '.') && strcmp(name, "seed") != 0 && strcmp(name, "attention") != 0;
    struct orr_axis *axis = &grid->axis[grid->axes];
    *axis = (struct orr_axis){.name = grid_text(grid, "%s", name),
                              .stage = is_free ? ORR_GRID_LATER : stage_of(name),
                              .level = calloc((size_t)r->words - 2, sizeof *axis->level)};
    if (!axis->name || !axis->level) {
        free(axis->level);
        return ORR_FAIL(ORR_ENOMEM, "out of memory");
    }
    grid->axes++;
    for (int l = 0; l < r->words - 2; l++) {
        char *const word = r->word[l + 2];
        struct orr_level *level = &axis->level[l];
        TRY(is_free ? read_free_level(r, axis, word, &level->tag, &level->options)
                    : read_value(r, axis, word, &level->tag, &level->options));
        if (!level->tag)
            return ORR_FAIL(ORR_ENOMEM, "out of memory");
        TRY(check_level(axis, l, word));
        TRY(check_keys(grid, axis, l));
        axis->levels++;
    }
    return 0;
}

static int read_step(struct reading *r)
{
    static const char *const steps[] = {"orbits", "pretrain", "finetune", "symreg",
                                        "report", "probe",    "cell"};
    struct orr_grid *grid = r->grid;
    const char *const found = r->words > 1 ? r->word[1] : "";
    const char *program = NULL;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        program = strcmp(found, steps[i]) != 0 ? program : steps[i];
    if (!program)
        return ORR_FAIL(ORR_EFORMAT,
                        "step: expected orbits, pretrain, finetune, symreg, report, probe or cell, "
                        "found \"%.100s\"",
                        found);
    if (grid->steps == ORR_GRID_STEPS)
        return ORR_FAIL(ORR_EFORMAT, "expected at most %d steps", ORR_GRID_STEPS);
    struct orr_step *step = &grid->step[grid->steps++];
    *step = (struct orr_step){.program = program};
    for (int i = 2; i < r->words; i++)
        TRY(words_add(&step->own, grid_text(grid, "%s", r->word[i])));
    return 0;
}

static const struct {
    const char *word;
    int (*read)(struct reading *r);
} lines[] = {{"preset", read_preset},
             {"folder", read_folder},
             {"set", read_set},
             {"axis", read_axis},
             {"step", read_step}};

/* Reads a line, which it cuts into words; a # at its begin or after a blank begins a comment. */
static int read_line(struct reading *r, char *line)
{
    char *rest = NULL;
    for (char *c = line; *c; c++)
        if (*c == '#' && (c == line || isblank((unsigned char)c[-1]))) {
            *c = '\0';
            break;
        }
    r->words = 0;
    for (char *w = strtok_r(line, " \t\r", &rest); w; w = strtok_r(NULL, " \t\r", &rest)) {
        if (r->words == ORR_GRID_WORDS)
            return ORR_FAIL(ORR_EFORMAT, "expected at most %d words", ORR_GRID_WORDS);
        r->word[r->words++] = w;
    }
    for (size_t k = 0; r->words && k < sizeof lines / sizeof *lines; k++)
        if (!strcmp(r->word[0], lines[k].word))
            return lines[k].read(r);
    return r->words ? ORR_FAIL(ORR_EFORMAT,
                               "expected preset, folder, set, axis or step, found \"%.100s\"",
                               r->word[0])
                    : 0;
}

static int read_lines(struct reading *r, char *text)
{
    int number = 0;
    for (char *line = text, *end; line && *line; line = end) {
        end = strchr(line, '\n');
        if (end)
            *end++ = '\0';
        number++;
        const int rc = read_line(r, line);
        if (rc) {
            char why[2048];
            snprintf(why, sizeof why, "%s", orr_error());
            return ORR_FAIL(rc, "%s:%d: %s", r->grid->file, number, why);
        }
    }
    return 0;
}

/* The folder of its cells: the name of the file, without ".grid". */
static int name_folder(struct orr_grid *grid)
{
    const char *const slash = strrchr(grid->file, '/'), *const name =
                                                            slash ? slash + 1 : grid->file;
    const size_t length = strlen(name) - (orr_ends_in(name, ".grid") ? strlen(".grid") : 0);
    grid->folder = grid_text(grid, "%.*s", (int)length, name);
    if (!grid->folder)
        return ORR_FAIL(ORR_ENOMEM, "out of memory");
    return is_folder(grid->folder)
               ? 0
               : ORR_FAIL(ORR_EFORMAT,
                          "%s: expected a file whose name can name a folder, or a line "
                          "\"folder NAME\"",
                          grid->file);
}

int orr_grid_read(const char *file, struct orr_grid *grid)
{
    char *text = NULL;
    size_t bytes;
    *grid = (struct orr_grid){0};
    struct reading *r = calloc(1, sizeof *r);
    grid->file = grid_text(grid, "%s", file);
    int rc = r && grid->file ? 0 : ORR_FAIL(ORR_ENOMEM, "out of memory");
    if (!rc) {
        r->grid = grid;
        orr_settings_defaults(&r->settings);
        rc = orr_file_read(file, &text, &bytes);
    }
    if (!rc)
        rc = read_lines(r, text);
    free(text);
    free(r);
    if (!rc && (!grid->preset || !grid->axes || !grid->steps))
        rc = ORR_FAIL(ORR_EFORMAT, "%s: expected a preset, an axis and a step", file);
    if (!rc && !grid->folder)
        rc = name_folder(grid);
    grid->cells = 1;
    for (int a = 0; a < grid->axes && !rc; a++)
        if (grid->cells > 1000000 / grid->axis[a].levels)
            rc = ORR_FAIL(ORR_EFORMAT, "%s: expected at most a million cells", file);
        else
            grid->cells *= grid->axis[a].levels;
    return rc;
}
