/* grid_read.c - finds the factors of a grid in the settings of its files. See grid.h. */
#include "grid.h"

#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

/* The value of "group.key" or "key" as text. */
static void text_of(const cJSON *item, char text[ORR_NAME])
{
    char *printed = item ? cJSON_PrintUnformatted(item) : NULL;
    const char *from = cJSON_IsString(item) ? item->valuestring : printed ? printed : "";
    snprintf(text, ORR_NAME, "%s", from);
    free(printed);
}

static const cJSON *find(const cJSON *settings, const char *group, const char *key)
{
    if (*group)
        settings = cJSON_GetObjectItemCaseSensitive(settings, group);
    return cJSON_GetObjectItemCaseSensitive(settings, key);
}

static void value_of(const struct probe_file *file, const char *group, const char *key,
                     char text[ORR_NAME])
{
    if (!*group && !strcmp(key, "attention"))
        snprintf(text, ORR_NAME, "%s", file->source);
    else
        text_of(find(file->settings, group, key), text);
}

static int level_of(const struct probe_factor *factor, const char *text)
{
    for (int k = 0; k < factor->count; k++)
        if (!strcmp(factor->level[k], text))
            return k;
    return -1;
}

/* Adds "group.key" where the files differ in it. */
static int consider(struct probe_grid *grid, const struct probe_file *files, int n,
                    const char *group, const char *key)
{
    struct probe_factor factor = {.count = 0};
    const int used = snprintf(factor.name, ORR_NAME, "%s%s%s", group, *group ? "." : "", key);
    if (used >= ORR_NAME || !strcmp(factor.name, "seed") || !strcmp(factor.name, "name"))
        return 0;
    for (int i = 0; i < n; i++) {
        char text[ORR_NAME];
        value_of(&files[i], group, key, text);
        if (level_of(&factor, text) >= 0)
            continue;
        if (factor.count == PROBE_LEVELS)
            return ORR_FAIL(ORR_EINVAL, "grid: %s: expected at most %d levels, found more",
                            factor.name, PROBE_LEVELS);
        memcpy(factor.level[factor.count++], text, sizeof text);
    }
    if (factor.count < 2)
        return 0;
    if (grid->factors == PROBE_FACTORS)
        return ORR_FAIL(ORR_EINVAL,
                        "grid: expected files that differ in at most %d settings, found %s as one "
                        "more",
                        PROBE_FACTORS, factor.name);
    grid->factor[grid->factors++] = factor;
    return 0;
}

static int find_factors(struct probe_grid *grid, const struct probe_file *files, int n)
{
    const cJSON *item, *inner;
    for (item = files[0].settings->child; item; item = item->next) {
        if (!cJSON_IsObject(item))
            TRY(consider(grid, files, n, "", item->string));
        for (inner = cJSON_IsObject(item) ? item->child : NULL; inner; inner = inner->next)
            TRY(consider(grid, files, n, item->string, inner->string));
    }
    return 0;
}

static int seed_of(struct probe_grid *grid, double seed)
{
    for (int k = 0; k < grid->seeds; k++)
        if (grid->seed[k] == seed)
            return k;
    grid->seed[grid->seeds] = seed;
    return grid->seeds++;
}

static void split_name(const char *name, char group[ORR_NAME], const char **key)
{
    const char *dot = strchr(name, '.');
    snprintf(group, ORR_NAME, "%.*s", dot ? (int)(dot - name) : 0, name);
    *key = dot ? dot + 1 : name;
}

/* Where a file stands. */
static int place_of(const struct probe_grid *grid, const struct probe_file *file)
{
    int place = 0;
    for (int f = 0; f < grid->factors; f++) {
        char group[ORR_NAME], text[ORR_NAME];
        const char *key;
        split_name(grid->factor[f].name, group, &key);
        value_of(file, group, key, text);
        place = place * grid->factor[f].count + level_of(&grid->factor[f], text);
    }
    return place;
}

static int put_files(struct probe_grid *grid, const struct probe_file *files, int n)
{
    for (int i = 0; i < n; i++) {
        const int seed = seed_of(grid, files[i].seed), place = place_of(grid, &files[i]);
        const struct probe_file **to =
            &grid->file[(size_t)place * (size_t)grid->seeds + (size_t)seed];
        if (*to)
            return ORR_FAIL(ORR_EINVAL, "%s: of the same settings and seed as %s", files[i].path,
                            (*to)->path);
        *to = &files[i];
    }
    return 0;
}

int probe_grid_create(struct probe_grid *grid, const struct probe_file *files, int n)
{
    *grid = (struct probe_grid){.places = 1};
    for (int i = 0; i < n; i++) {
        if (!cJSON_IsObject(files[i].settings))
            return ORR_FAIL(ORR_EFORMAT,
                            "%s: expected \"settings\", which files of before 0.2 do not hold: "
                            "measure again",
                            files[i].path);
        if (strcmp(files[i].stage, files[0].stage) != 0)
            return ORR_FAIL(ORR_EINVAL, "%s: of stage %s; %s is of stage %s", files[i].path,
                            files[i].stage, files[0].path, files[0].stage);
    }
    TRY(find_factors(grid, files, n));
    for (int f = 0; f < grid->factors; f++)
        grid->places *= grid->factor[f].count;
    if (grid->places > 16 * PROBE_FILES)
        return ORR_FAIL(ORR_EINVAL, "grid: %d combinations of levels, expected at most %d",
                        grid->places, 16 * PROBE_FILES);
    grid->seed = orr_alloc((size_t)n, sizeof *grid->seed);
    if (!grid->seed)
        return ORR_ENOMEM;
    for (int i = 0; i < n; i++)
        (void)seed_of(grid, files[i].seed);
    grid->file = orr_alloc((size_t)grid->places * (size_t)grid->seeds, sizeof *grid->file);
    return grid->file ? put_files(grid, files, n) : ORR_ENOMEM;
}

void probe_grid_free(struct probe_grid *grid)
{
    free(grid->file);
    free(grid->seed);
    *grid = (struct probe_grid){0};
}

static int stride_of(const struct probe_grid *grid, int factor)
{
    int stride = 1;
    for (int f = factor + 1; f < grid->factors; f++)
        stride *= grid->factor[f].count;
    return stride;
}

int probe_grid_level(const struct probe_grid *grid, int place, int factor)
{
    return place / stride_of(grid, factor) % grid->factor[factor].count;
}

int probe_grid_place(const struct probe_grid *grid, int place, int factor, int level)
{
    return place + (level - probe_grid_level(grid, place, factor)) * stride_of(grid, factor);
}
