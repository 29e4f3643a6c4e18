/* grid_read.c - finds the factors of a grid in the settings of its files. See grid.h. */
#include "grid.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>
#include <xxhash.h>

/* The value of a setting as text, "-" where it has no effect. Values that are too long or cannot
 * stand in a table are replaced by their hash. */
static void text_of(const cJSON *item, char text[ORR_NAME])
{
    char *printed = item ? cJSON_PrintUnformatted(item) : NULL;
    const char *from = cJSON_IsString(item) ? item->valuestring : printed ? printed : "-";
    const bool is_label = orr_is_label(from);
    if (!is_label || snprintf(text, ORR_NAME, "%s", from) >= ORR_NAME)
        snprintf(text, ORR_NAME, "%.40s...%016llx", is_label ? from : "",
                 (unsigned long long)XXH64(from, strlen(from), 0));
    cJSON_free(printed);
}

/* A factor while files are read, with the level of each file. */
struct draft {
    struct compare_factor factor;
    int *of; /* (n) */
};

static void value_of(const struct compare_file *file, const char *key, char text[ORR_NAME])
{
    char group[ORR_NAME];
    const char *dot = strchr(key, '.');
    const cJSON *from = orr_json_get(file->json, "settings");
    snprintf(group, sizeof group, "%.*s", dot ? (int)(dot - key) : 0, key);
    if (!strcmp(key, "attention")) { /* the attention of the model, not of its run */
        snprintf(text, ORR_NAME, "%s", file->source);
        return;
    }
    if (dot)
        from = orr_json_get(from, group);
    text_of(orr_json_get(from, dot ? dot + 1 : key), text);
}

/* The level with the given text, added if it is new; -1 where there are too many. */
static int level_of(struct compare_factor *factor, const char *text)
{
    for (int k = 0; k < factor->count; k++)
        if (!strcmp(factor->level[k], text))
            return k;
    if (factor->count == COMPARE_LEVELS)
        return -1;
    snprintf(factor->level[factor->count], ORR_NAME, "%s", text);
    return factor->count++;
}

static int too_many_levels(const struct compare_factor *factor)
{
    return ORR_FAIL(ORR_EINVAL, "grid: %s: expected at most %d levels, found more", factor->name,
                    COMPARE_LEVELS);
}

/* Fills the draft of a setting. A setting with one level is not a factor. */
static int consider_setting(struct draft *draft, const struct compare_files *files, const char *key)
{
    draft->factor = (struct compare_factor){.count = 0};
    snprintf(draft->factor.name, ORR_NAME, "%s", key);
    for (int i = 0; i < files->count; i++) {
        char text[ORR_NAME];
        value_of(&files->file[i], key, text);
        draft->of[i] = level_of(&draft->factor, text);
        if (draft->of[i] < 0)
            return too_many_levels(&draft->factor);
    }
    return 0;
}

/* Whether two settings belong together: they are not crossed, but one determines the other, as a
 * law and its exponent. An incomplete crossed grid does not qualify: there some level of each
 * setting occurs with several levels of the other. */
static bool belong_together(const struct draft *a, const struct draft *b, int n)
{
    bool seen[COMPARE_LEVELS][COMPARE_LEVELS] = {{false}}, several[2] = {false, false};
    int pairs = 0, with_a[COMPARE_LEVELS] = {0}, with_b[COMPARE_LEVELS] = {0};
    for (int i = 0; i < n; i++) {
        const int x = a->of[i], y = b->of[i];
        if (seen[x][y])
            continue;
        seen[x][y] = true;
        pairs++;
        several[0] |= ++with_a[x] > 1;
        several[1] |= ++with_b[y] > 1;
    }
    return pairs <= a->factor.count + b->factor.count - 1 && !(several[0] && several[1]);
}

static int join_drafts(struct draft *a, const struct draft *b, int n)
{
    struct compare_factor both = {.count = 0};
    if (snprintf(both.name, ORR_NAME, "%s, %s", a->factor.name, b->factor.name) >= ORR_NAME)
        snprintf(both.name, ORR_NAME, "%.50s, ...", a->factor.name);
    for (int i = 0; i < n; i++) {
        char text[2 * ORR_NAME + 4];
        snprintf(text, sizeof text, "%s, %s", a->factor.level[a->of[i]], b->factor.level[b->of[i]]);
        if (strlen(text) >= ORR_NAME)
            return ORR_FAIL(ORR_EINVAL, "grid: %s: a level is too long: %s", both.name, text);
        a->of[i] = level_of(&both, text);
        if (a->of[i] < 0)
            return too_many_levels(&both);
    }
    a->factor = both;
    return 0;
}

bool compare_factor_numbers(const struct compare_factor *factor, double value[COMPARE_LEVELS])
{
    for (int k = 0; k < factor->count; k++) {
        char *end;
        value[k] = strtod(factor->level[k], &end);
        if (end == factor->level[k] || *end)
            return false;
    }
    return true;
}

/* Sorts numeric levels in ascending order; others keep the order of the files. */
static void sort_levels(struct draft *draft, int n)
{
    struct compare_factor *f = &draft->factor;
    double value[COMPARE_LEVELS];
    if (!compare_factor_numbers(f, value))
        return;
    for (int k = 1; k < f->count; k++)
        for (int j = k; j > 0 && value[j] < value[j - 1]; j--) {
            char text[ORR_NAME];
            const double v = value[j];
            value[j] = value[j - 1];
            value[j - 1] = v;
            memcpy(text, f->level[j], sizeof text);
            memcpy(f->level[j], f->level[j - 1], sizeof text);
            memcpy(f->level[j - 1], text, sizeof text);
            for (int i = 0; i < n; i++)
                draft->of[i] = draft->of[i] == j ? j - 1 : draft->of[i] == j - 1 ? j : draft->of[i];
        }
}

static int find_factors(struct draft *draft, int *count, const struct compare_files *files)
{
    const int n = files->count;
    const char *key;
    *count = 0;
    for (int k = 0; (key = orr_settings_key(k)) != NULL; k++) {
        struct draft *last = &draft[*count];
        if (!strcmp(key, "seed") || !strcmp(key, "about"))
            continue;
        TRY(consider_setting(last, files, key));
        if (last->factor.count < 2)
            continue;
        int with = 0;
        while (with < *count && !belong_together(&draft[with], last, n))
            with++;
        if (with < *count) {
            TRY(join_drafts(&draft[with], last, n));
            continue;
        }
        sort_levels(last, n);
        if (++*count > COMPARE_FACTORS)
            return ORR_FAIL(ORR_EINVAL,
                            "grid: expected files that differ in at most %d settings, found %s as "
                            "one more",
                            COMPARE_FACTORS, key);
    }
    return 0;
}

static int seed_of(struct compare_grid *grid, uint64_t seed)
{
    for (int k = 0; k < grid->seeds; k++)
        if (grid->seed[k] == seed)
            return k;
    grid->seed[grid->seeds] = seed;
    return grid->seeds++;
}

static int put_files(struct compare_grid *grid, const struct draft *draft,
                     const struct compare_files *files)
{
    for (int i = 0; i < files->count; i++) {
        int place = 0;
        for (int f = 0; f < grid->factors; f++)
            place = place * grid->factor[f].count + draft[f].of[i];
        grid->at[i] = place * grid->seeds + seed_of(grid, files->file[i].seed);
        for (int k = 0; k < i; k++)
            if (grid->at[k] == grid->at[i])
                return ORR_FAIL(ORR_EINVAL, "%s: of the same settings and seed as %s",
                                files->file[i].path, files->file[k].path);
    }
    return 0;
}

static int fill_grid(struct compare_grid *grid, struct draft *draft,
                     const struct compare_files *files)
{
    TRY(find_factors(draft, &grid->factors, files));
    for (int f = 0; f < grid->factors; f++) {
        grid->factor[f] = draft[f].factor;
        grid->places *= draft[f].factor.count;
    }
    if (grid->places > 16 * COMPARE_FILES)
        return ORR_FAIL(ORR_EINVAL, "grid: %d combinations of levels, expected at most %d",
                        grid->places, 16 * COMPARE_FILES);
    grid->seed = orr_alloc((size_t)files->count, sizeof *grid->seed);
    grid->at = orr_alloc((size_t)files->count, sizeof *grid->at);
    if (!grid->seed || !grid->at)
        return ORR_ENOMEM;
    for (int i = 0; i < files->count; i++)
        (void)seed_of(grid, files->file[i].seed);
    return put_files(grid, draft, files);
}

int compare_grid_create(struct compare_grid *grid, const struct compare_files *files)
{
    const size_t n = (size_t)files->count;
    const struct compare_file *file = files->file;
    struct draft draft[COMPARE_FACTORS + 1];
    *grid = (struct compare_grid){.places = 1};
    for (size_t i = 0; i < n; i++) {
        if (!cJSON_IsObject(orr_json_get(file[i].json, "settings")))
            return ORR_FAIL(ORR_EFORMAT,
                            "%s: expected \"settings\", which files of before 0.2 do not hold: "
                            "measure again",
                            file[i].path);
        if (strcmp(file[i].stage, file[0].stage) != 0)
            return ORR_FAIL(ORR_EINVAL, "%s: of stage %s; %s is of stage %s", file[i].path,
                            file[i].stage, file[0].path, file[0].stage);
    }
    int *of = orr_alloc((COMPARE_FACTORS + 1) * n, sizeof *of);
    for (size_t f = 0; f <= COMPARE_FACTORS; f++)
        draft[f].of = of + f * n;
    const int rc = of ? fill_grid(grid, draft, files) : ORR_ENOMEM;
    free(of);
    return rc;
}

void compare_grid_free(struct compare_grid *grid)
{
    free(grid->at);
    free(grid->seed);
    *grid = (struct compare_grid){0};
}

static int stride_of(const struct compare_grid *grid, int factor)
{
    int stride = 1;
    for (int f = factor + 1; f < grid->factors; f++)
        stride *= grid->factor[f].count;
    return stride;
}

int compare_grid_level(const struct compare_grid *grid, int place, int factor)
{
    return place / stride_of(grid, factor) % grid->factor[factor].count;
}

int compare_grid_place(const struct compare_grid *grid, int place, int factor, int level)
{
    return place + (level - compare_grid_level(grid, place, factor)) * stride_of(grid, factor);
}

/* Adds the row of a place and seed, without numbers. */
static int add_place(const struct compare_grid *grid, int place, int seed, struct orr_table *rows)
{
    struct orr_row row = orr_row_none;
    char model[16 * COMPARE_FACTORS] = "";
    for (int f = 0; f < grid->factors; f++)
        orr_append(model, sizeof model, "%s%d=%d", f ? " " : "", f,
                   compare_grid_level(grid, place, f));
    row.model = model;
    row.seed = grid->seed[seed];
    return orr_table_add(rows, &row);
}

int compare_grid_rows(const struct compare_grid *grid, const struct compare_files *files,
                      const struct orr_row *row, struct orr_table *rows)
{
    const int times = grid->contexts ? grid->contexts : 1;
    struct orr_row wanted = *row;
    *rows = (struct orr_table){.crossed = true};
    for (int k = 0; k < grid->places * grid->seeds; k++)
        TRY(add_place(grid, k / grid->seeds, k % grid->seeds, rows));
    for (int i = 0; i < files->count; i++)
        for (size_t r = files->file[i].first; r < files->file[i].end; r++)
            for (int c = 0; c < times; c++) {
                const int place = grid->at[i] / grid->seeds * times + c;
                const struct orr_row *from = &files->table.row[r];
                struct orr_row *to = &rows->row[place * grid->seeds + grid->at[i] % grid->seeds];
                wanted.context = grid->contexts ? grid->context[c] : row->context;
                if (!orr_row_same(from, &wanted))
                    continue;
                to->value = from->value;
                to->upper_bound = from->upper_bound;
                to->baseline = from->baseline;
                to->raw = from->raw;
            }
    return 0;
}
