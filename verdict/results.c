/* results.c - a figure of ours from the file of results that a claim names. */
#include "claims.h"

#include <math.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "verdict.h"

static const cJSON *get(const cJSON *object, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(object, key);
}

/* The element of a list whose keys say all of this; keys and texts in pairs, ended by NULL. */
static const cJSON *pick(const cJSON *list, const char *const want[])
{
    const cJSON *item;
    for (item = cJSON_IsArray(list) ? list->child : NULL; item; item = item->next) {
        bool fits = true;
        for (int k = 0; want[k]; k += 2)
            fits = fits && orr_json_says(item, want[k], want[k + 1]);
        if (fits)
            return item;
    }
    return NULL;
}

/* "exponents.r" below an object. */
static const cJSON *below(const cJSON *object, const char *path)
{
    char key[64];
    while (object && *path) {
        const size_t n = strcspn(path, ".");
        snprintf(key, sizeof key, "%.*s", (int)n, path);
        object = get(object, key);
        path += n + (path[n] == '.');
    }
    return object;
}

/* {"mean", "half_width", "values"} */
static void take(const cJSON *mean, struct verdict_fact *fact)
{
    const cJSON *value = get(mean, "values");
    fact->mean = orr_json_number(mean, "mean");
    fact->half = orr_json_number(mean, "half_width");
    fact->there = isfinite(fact->mean);
    for (value = cJSON_IsArray(value) ? value->child : NULL; value; value = value->next)
        fact->n += cJSON_IsNumber(value) ? 1 : 0;
}

static double mean_of(const cJSON *object, const char *path)
{
    return orr_json_number(below(object, path), "mean");
}

/* Means of a figure and its bounds. */
struct bounds {
    double value, ceiling, floor;
};
static struct bounds bounds_of(const cJSON *figure)
{
    return (struct bounds){mean_of(figure, "value"), mean_of(figure, "ceiling"),
                           mean_of(figure, "floor")};
}

static void of_verdict(const cJSON *json, const struct verdict_claim *claim,
                       struct verdict_fact *fact)
{
    const bool is_pair = claim->source == VERDICT_OF_PAIR;
    const char *const want[] = {"id", claim->a, "attention", claim->b, NULL};
    const cJSON *figures = get(json, "figures"), *figure = pick(figures, want);
    const cJSON *pair = is_pair ? pick(get(json, "differences"), want) : NULL;
    const struct bounds own = bounds_of(figure);
    take(get(is_pair ? pair : figure, claim->c), fact);
    fact->ceiling = own.ceiling;
    fact->floor = own.floor;
    if (is_pair) {
        const char *minus = cJSON_GetStringValue(get(pair, "minus"));
        const char *const other[] = {"id", claim->a, "attention", minus ? minus : "", NULL};
        const struct bounds of = bounds_of(pick(figures, other));
        const bool nearer = !strcmp(claim->c, "nearer");
        fact->most = nearer ? fabs(of.value - of.ceiling) : (double)NAN;
        fact->ceiling = nearer ? fact->most : own.ceiling - of.ceiling;
        fact->floor = nearer ? fabs(of.floor - of.ceiling) - fabs(own.floor - own.ceiling)
                             : own.floor - of.floor;
    } else if (!strcmp(claim->c, "nearer_than_floor")) {
        fact->most = fact->ceiling = fabs(own.ceiling - own.floor);
        fact->floor = 0;
    }
}

/* The text of a row's settings, "" where runs do not differ in any. */
static const char *label_of(const cJSON *json, const cJSON *row)
{
    const double settings = orr_json_number(row, "settings");
    const cJSON *group = settings >= 0 && settings < 1e6
                             ? cJSON_GetArrayItem(get(json, "settings"), (int)settings)
                             : NULL;
    const char *label = cJSON_GetStringValue(get(group, "label"));
    return label ? label : "";
}

/* Whether "a=b" is one of the settings of "a=b c=d"; "" is of all. */
static bool has_setting(const char *label, const char *setting)
{
    const size_t bytes = strlen(setting);
    for (const char *at = label; bytes && (at = strstr(at, setting)) != NULL; at++)
        if ((at == label || at[-1] == ' ') && (!at[bytes] || at[bytes] == ' '))
            return true;
    return !bytes;
}

/* The only row of the list that all texts and the setting fit; NULL for none, and for several:
 * which of them is meant would be a guess. */
static const cJSON *only(const cJSON *json, const char *list, const char *const want[],
                         const char *setting)
{
    const cJSON *row, *found = NULL;
    cJSON_ArrayForEach (row, get(json, list)) {
        bool fits = has_setting(label_of(json, row), setting);
        for (int i = 0; want[i]; i += 2)
            fits = fits && orr_json_says(row, want[i], want[i + 1]);
        if (fits && found)
            return NULL;
        found = fits ? row : found;
    }
    return found;
}

/* A row's figure, of random weights that of the shape. */
static double of_row(const cJSON *json, const char *source, const struct verdict_claim *claim)
{
    const char *const want[] = {"source", source, NULL};
    return mean_of(only(json, "rows", want, claim->d), claim->c);
}

static void of_runs(const cJSON *json, const struct verdict_claim *claim, struct verdict_fact *fact)
{
    char floor[128], other[128];
    const bool is_row = claim->source == VERDICT_OF_RUNS_ROW;
    snprintf(floor, sizeof floor, "untrained (%s)", claim->a);
    snprintf(other, sizeof other, "untrained (%s)", claim->b);
    const char *const of[] = {"source", claim->a, is_row ? NULL : "minus", claim->b, NULL};
    const cJSON *row = only(json, is_row ? "rows" : "differences", of, claim->d);
    take(below(row, claim->c), fact);
    if (!row)
        return;
    fact->ceiling = of_row(json, "truth", claim);
    fact->floor = of_row(json, floor, claim);
    if (!is_row) { /* the truth less itself */
        fact->ceiling -= fact->ceiling;
        fact->floor -= of_row(json, other, claim);
    }
}

enum { SEEDS = 64 };

static bool fits(const cJSON *row, const char *quantity, const char *measure, int context)
{
    return orr_json_says(row, "quantity", quantity) && orr_json_says(row, "measure", measure) &&
           (context < 0 || orr_json_number(row, "context") == context);
}

/* The row of a figure, NULL: there is none; source NULL: whatever it is of. */
static const cJSON *row_of(const cJSON *json, const char *source, const char *quantity,
                           const char *measure, int context)
{
    const cJSON *row, *rows = get(json, "rows");
    for (row = cJSON_IsArray(rows) ? rows->child : NULL; row; row = row->next)
        if ((!source || orr_json_says(row, "source", source)) &&
            fits(row, quantity, measure, context))
            break;
    return row;
}

static void of_seeds(const cJSON *json, const struct verdict_claim *claim,
                     struct verdict_fact *fact)
{
    const bool above = !strcmp(claim->d, "above_floor");
    const cJSON *row = row_of(json, claim->a, claim->b, claim->c, claim->context);
    fact->mean = orr_json_number(row, claim->d);
    fact->half = orr_json_number(row, above ? "above_floor_half_width" : "half_width");
    fact->ceiling = orr_json_number(row, "ceiling");
    fact->floor = orr_json_number(row, "floor");
    fact->there = isfinite(fact->mean);
    const double n = orr_json_number(row, above ? "above_floor_seeds" : "seeds");
    fact->n = n >= 1 && n <= SEEDS ? (int)n : 1; /* who does not say has one */
    if (above) {
        fact->ceiling -= fact->floor;
        fact->floor = 0;
    }
}

/* Which of a cell's levels is that of the factor, -1 where the grid has no such factor. */
static int factor_of(const cJSON *json, const char *name)
{
    const cJSON *factors = get(json, "factors");
    for (int i = 0; i < cJSON_GetArraySize(factors); i++)
        if (orr_json_says(cJSON_GetArrayItem(factors, i), "name", name))
            return i;
    return -1;
}

static const char *level_of(const cJSON *cell, int factor)
{
    return cJSON_GetStringValue(cJSON_GetArrayItem(get(cell, "levels"), factor));
}

/* What is compared: one level of a factor with another, or, of two factors, the difference of such
 * differences. */
struct contrast {
    int factors, factor[2];
    char level[2][ORR_NAME], from[2][ORR_NAME];
};

/* Part k of "a x b". */
static void part_of(const char *text, int k, char part[ORR_NAME])
{
    const char *cross = strstr(text, " x ");
    const int first = cross ? (int)(cross - text) : (int)strlen(text);
    if (k == 0)
        snprintf(part, ORR_NAME, "%.*s", first, text);
    else
        snprintf(part, ORR_NAME, "%s", cross ? cross + 3 : "");
}

static bool contrast_of(const cJSON *json, const struct verdict_claim *claim, struct contrast *c)
{
    bool found = true;
    c->factors = strstr(claim->c, " x ") ? 2 : 1;
    for (int k = 0; k < c->factors; k++) {
        char name[ORR_NAME];
        part_of(claim->c, k, name);
        part_of(claim->d, k, c->level[k]);
        part_of(claim->from, k, c->from[k]);
        c->factor[k] = factor_of(json, name);
        found = found && c->factor[k] >= 0;
    }
    return found;
}

/* The cell like `a`, with the levels `from` of the factors that `mask` has; NULL: none. */
static const cJSON *like(const cJSON *cells, const cJSON *a, const struct contrast *c,
                         unsigned mask)
{
    const cJSON *b;
    cJSON_ArrayForEach (b, cells) {
        bool fits = true;
        for (int i = 0; i < cJSON_GetArraySize(get(a, "levels")) && fits; i++) {
            const char *want = level_of(a, i), *found = level_of(b, i);
            for (int k = 0; k < c->factors; k++)
                if (c->factor[k] == i)
                    want = mask >> k & 1 ? c->from[k] : c->level[k];
            fits = want && found && !strcmp(want, found);
        }
        if (fits)
            return b;
    }
    return NULL;
}

static double number_at(const cJSON *cell, const char *key, int i)
{
    const cJSON *number = cJSON_GetArrayItem(get(cell, key), i);
    return cJSON_IsNumber(number) ? number->valuedouble : (double)NAN;
}

static double value_at(const cJSON *cell, int seed)
{
    return number_at(cell, "values", seed);
}

/* Of random weights, of the same seeds. */
static double floor_at(const cJSON *cell, int seed)
{
    return isfinite(value_at(cell, seed)) ? number_at(cell, "floors", seed) : (double)NAN;
}

/* Of the truth. */
static double ceiling_at(const cJSON *cell, int seed)
{
    return isfinite(value_at(cell, seed)) ? orr_json_number(cell, "ceiling") : (double)NAN;
}

static double learned_at(const cJSON *cell, int seed)
{
    return value_at(cell, seed) - floor_at(cell, seed);
}

static double share_at(const cJSON *cell, int seed)
{
    return learned_at(cell, seed) / (orr_json_number(cell, "ceiling") - floor_at(cell, seed));
}

/* The mean over seeds of a contrast at the same levels of all other factors, averaged over them, of
 * a whole grid; without the seeds that lack one of the numbers. */
static struct orr_mean mean_contrast(const cJSON *cells,
                                     double (*number)(const cJSON *cell, int seed),
                                     const struct contrast *c, int seeds)
{
    const unsigned all = 1U << c->factors;
    const cJSON *a;
    double sum[SEEDS] = {0};
    int times = 0;
    cJSON_ArrayForEach (a, cells) {
        if (like(cells, a, c, 0) != a)
            continue;
        times++;
        for (unsigned mask = 0; mask < all; mask++) {
            const cJSON *cell = like(cells, a, c, mask); /* NULL: there is no such level */
            for (int s = 0; s < seeds; s++)
                sum[s] += cell ? (mask == 1 || mask == 2 ? -1 : 1) * number(cell, s) : (double)NAN;
        }
    }
    for (int s = 0; s < seeds; s++)
        sum[s] = times ? sum[s] / times : (double)NAN;
    return orr_mean_of(sum, seeds);
}

/* Whether every combination of levels has its cell: a mean of what is left would be of another
 * question. */
static bool is_whole(const cJSON *json, const cJSON *cells)
{
    double places = 1;
    const cJSON *factor;
    cJSON_ArrayForEach (factor, get(json, "factors"))
        places *= cJSON_GetArraySize(get(factor, "levels"));
    return cJSON_GetArraySize(cells) == places;
}

/* The cells of the claim's row, and how many seeds they have; NULL: not all of them are there. */
static const cJSON *cells_of(const cJSON *json, const struct verdict_claim *claim, int *seeds)
{
    const cJSON *cells = get(row_of(json, NULL, claim->a, claim->b, claim->context), "cells");
    *seeds = (int)orr_json_number(json, "seeds");
    const bool whole =
        cJSON_IsArray(cells) && is_whole(json, cells) && *seeds >= 1 && *seeds <= SEEDS;
    return whole ? cells : NULL;
}

/* The fact is a mean over seeds. */
static void settle(struct verdict_fact *fact, struct orr_mean mean)
{
    fact->mean = mean.mean;
    fact->half = mean.half;
    fact->n = mean.n;
    fact->there = mean.n > 0;
}

/* What a level does from another one, and, as the floor, what it does to random weights of the same
 * shapes and seeds; learned: the first without the second. */
static void of_grid(const cJSON *json, const struct verdict_claim *claim, bool learned,
                    struct verdict_fact *fact)
{
    struct contrast c;
    int seeds;
    const cJSON *cells = cells_of(json, claim, &seeds);
    if (!cells || !contrast_of(json, claim, &c))
        return;
    const struct orr_mean mean = mean_contrast(cells, learned ? learned_at : value_at, &c, seeds);
    settle(fact, mean);
    fact->floor = learned ? 0 : mean_contrast(cells, floor_at, &c, seeds).mean;
    fact->ceiling = learned ? (double)NAN : mean_contrast(cells, ceiling_at, &c, seeds).mean;
    fact->learned = learned;
    if (learned) {
        const struct orr_mean room = mean_contrast(cells, share_at, &c, seeds);
        fact->room = room.mean;
        fact->room_half = room.half;
    }
}

/* The slope of a number of the cells over a factor's decades, by least squares, of one seed. */
static double slope_of(const cJSON *cells, double (*number)(const cJSON *cell, int seed),
                       int factor, int seed)
{
    double n = 0, x = 0, y = 0, xx = 0, xy = 0;
    const cJSON *cell;
    cJSON_ArrayForEach (cell, cells) {
        const char *level = level_of(cell, factor);
        const double at = level ? log10(strtod(level, NULL)) : NAN, is = number(cell, seed);
        n++;
        x += at;
        y += is;
        xx += at * at;
        xy += at * is;
    }
    return (n * xy - x * y) / (n * xx - x * x);
}

/* What each decade of a factor adds to a figure beyond random weights of the same shapes and
 * seeds. */
static void of_slope(const cJSON *json, const struct verdict_claim *claim,
                     struct verdict_fact *fact)
{
    const int factor = factor_of(json, claim->c);
    double slope[SEEDS], floor[SEEDS];
    int seeds;
    const cJSON *cells = cells_of(json, claim, &seeds);
    if (!cells || factor < 0)
        return;
    for (int s = 0; s < seeds; s++) {
        slope[s] = slope_of(cells, learned_at, factor, s);
        floor[s] = slope_of(cells, floor_at, factor, s);
    }
    settle(fact, orr_mean_of(slope, seeds));
    fact->floor = orr_mean_of(floor, seeds).mean;
}

static void of_bench(const cJSON *json, const struct verdict_claim *claim,
                     struct verdict_fact *fact)
{
    const char *const a[] = {"name", claim->a, NULL}, *const b[] = {"name", claim->b, NULL};
    const cJSON *rows = get(json, "rows");
    fact->mean = orr_json_number(pick(rows, a), "value") / orr_json_number(pick(rows, b), "value");
    fact->there = isfinite(fact->mean);
}

static bool is_difference(const struct verdict_claim *claim)
{
    switch (claim->source) {
    case VERDICT_OF_FIGURE:
        return strcmp(claim->c, "value") != 0;
    case VERDICT_OF_SEEDS:
        return strcmp(claim->d, "value") != 0 || strstr(claim->b, " less ");
    case VERDICT_OF_RUNS_ROW:
    case VERDICT_OF_SLOPE:
    case VERDICT_OF_BENCH:
        return false;
    default:
        return true;
    }
}

int verdict_fact(const char *folder, const struct verdict_claim *claim, struct verdict_fact *fact)
{
    char path[4096];
    cJSON *json = NULL;
    static const char *const format[] = {[VERDICT_OF_FIGURE] = "orrery-verdict-1",
                                         [VERDICT_OF_PAIR] = "orrery-verdict-1",
                                         [VERDICT_OF_RUNS] = "orrery-runs-1",
                                         [VERDICT_OF_RUNS_ROW] = "orrery-runs-1",
                                         [VERDICT_OF_SEEDS] = "orrery-probe-seeds-1",
                                         [VERDICT_OF_GRID] = "orrery-probe-grid-1",
                                         [VERDICT_OF_GRID_LEARNED] = "orrery-probe-grid-1",
                                         [VERDICT_OF_SLOPE] = "orrery-probe-grid-1",
                                         [VERDICT_OF_BENCH] = NULL, /* these have none */
                                         [VERDICT_OF_CURVES] = NULL};
    *fact = (struct verdict_fact){.mean = NAN,
                                  .half = NAN,
                                  .ceiling = NAN,
                                  .floor = NAN,
                                  .most = NAN,
                                  .room = NAN,
                                  .room_half = NAN};
    TRY(orr_path(path, "%s/%s", folder, claim->file));
    if (!orr_exists(path))
        return 0;
    if (claim->source == VERDICT_OF_CURVES)
        TRY(verdict_curves(path, claim, fact));
    else
        TRY(orr_json_read(path, &json));
    if (format[claim->source] && !orr_json_says(json, "format", format[claim->source])) {
        const char *found = cJSON_GetStringValue(get(json, "format"));
        const int rc = ORR_FAIL(ORR_EFORMAT, "%s: \"format\": expected \"%s\", found %s", path,
                                format[claim->source], found ? found : "none");
        cJSON_Delete(json);
        return rc;
    }
    fact->read = true;
    switch (claim->source) {
    case VERDICT_OF_FIGURE:
    case VERDICT_OF_PAIR:
        of_verdict(json, claim, fact);
        break;
    case VERDICT_OF_RUNS:
    case VERDICT_OF_RUNS_ROW:
        of_runs(json, claim, fact);
        break;
    case VERDICT_OF_SEEDS:
        of_seeds(json, claim, fact);
        break;
    case VERDICT_OF_GRID:
    case VERDICT_OF_GRID_LEARNED:
        of_grid(json, claim, claim->source == VERDICT_OF_GRID_LEARNED, fact);
        break;
    case VERDICT_OF_SLOPE:
        of_slope(json, claim, fact);
        break;
    case VERDICT_OF_BENCH:
        of_bench(json, claim, fact);
        break;
    case VERDICT_OF_CURVES: /* is no JSON: read above */
        break;
    }
    fact->difference = is_difference(claim);
    fact->half = verdict_half(fact->mean, fact->half, fact->n, fact->difference);
    cJSON_Delete(json);
    return 0;
}
