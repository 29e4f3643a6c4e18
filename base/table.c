/* table.c - results as a table of rows, and contrasts of its rows over seeds. */
#include "table.h"
#include "error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------------------- rows */

const struct orr_row orr_row_none = {.model = "",
                                     .quantity = "",
                                     .measure = "",
                                     .layer = -1,
                                     .context = -1,
                                     .value = NAN,
                                     .half = NAN,
                                     .low = NAN,
                                     .high = NAN,
                                     .upper_bound = NAN,
                                     .baseline = NAN,
                                     .raw = NAN};

const char *orr_table_text(struct orr_table *table, const char *text)
{
    if (!text) /* of an earlier failure */
        return NULL;
    for (size_t i = table->texts; i-- > 0;)
        if (!strcmp(table->text[i], text))
            return table->text[i];
    char **more = realloc(table->text, (table->texts + 1) * sizeof *more);
    if (more)
        table->text = more;
    return more && (more[table->texts] = strdup(text)) ? more[table->texts++] : NULL;
}

int orr_table_add(struct orr_table *table, const struct orr_row *row)
{
    struct orr_row *more = table->row;
    if (!(table->count & (table->count - 1))) /* full: 0, 1, 2, 4, ... */
        more = realloc(more, (table->count ? 2 * table->count : 1) * sizeof *more);
    if (!more)
        return ORR_FAIL(ORR_ENOMEM, "table of results: out of memory");
    table->row = more;
    more += table->count;
    *more = *row;
    more->model = orr_table_text(table, row->model);
    more->quantity = orr_table_text(table, row->quantity);
    more->measure = orr_table_text(table, row->measure);
    if (!more->model || !more->quantity || !more->measure)
        return ORR_FAIL(ORR_ENOMEM, "table of results: out of memory");
    table->count++;
    return 0;
}

void orr_table_free(struct orr_table *table)
{
    for (size_t i = 0; i < table->texts; i++)
        free(table->text[i]);
    free(table->text);
    free(table->row);
    *table = (struct orr_table){0};
}

bool orr_row_same(const struct orr_row *a, const struct orr_row *b)
{
    return a->layer == b->layer && a->context == b->context && !strcmp(a->quantity, b->quantity) &&
           !strcmp(a->measure, b->measure);
}

const struct orr_row *orr_table_find(const struct orr_table *table, const struct orr_row *like,
                                     bool with_model)
{
    for (const struct orr_row *row = table->row; row < table->row + table->count; row++)
        if (orr_row_same(row, like) && (!with_model || !strcmp(row->model, like->model)))
            return row;
    return NULL;
}

/* ------------------------------------------------------------------------------- numbers */

double orr_row_number(const struct orr_row *row, enum orr_row_number number)
{
    switch (number) {
    case ORR_ROW_VALUE:
        return row->value;
    case ORR_ROW_UPPER_BOUND:
        return row->upper_bound;
    case ORR_ROW_BASELINE:
        return row->baseline;
    case ORR_ROW_RAW:
        return row->raw;
    case ORR_ROW_LEARNED:
        return row->value - row->baseline;
    case ORR_ROW_NEARNESS:
        return -fabs(row->value - row->upper_bound);
    case ORR_ROW_GAIN:
        return fabs(row->baseline - row->upper_bound) - fabs(row->value - row->upper_bound);
    case ORR_ROW_SHARE:
        return (row->value - row->baseline) / (row->upper_bound - row->baseline);
    }
    return NAN;
}

/* ------------------------------------------------------------------------------ settings */

/* Where "key=value" stands in a model's settings, between blanks; NULL: nowhere. */
static const char *find_setting(const char *model, const char *setting)
{
    const size_t bytes = strlen(setting);
    for (const char *at = model; bytes && (at = strstr(at, setting)) != NULL; at++)
        if ((at == model || at[-1] == ' ') && (!at[bytes] || at[bytes] == ' '))
            return at;
    return NULL;
}

bool orr_row_has(const struct orr_row *row, const char *setting)
{
    return !*setting || find_setting(row->model, setting);
}

const char *orr_row_setting(const struct orr_row *row, const char *key)
{
    const size_t bytes = strlen(key);
    for (const char *at = row->model; (at = strstr(at, key)) != NULL; at++)
        if ((at == row->model || at[-1] == ' ') && at[bytes] == '=')
            return at + bytes + 1;
    return NULL;
}

/* ----------------------------------------------------------------------------- contrasts */

enum { PART = 256 };

/* A contrast replaces one or two settings `of` by `from`. */
struct contrast {
    int parts;
    char of[2][PART], from[2][PART];
};

/* Splits "a x b" into its parts; returns how many. */
static int split_product(const char *text, char part[2][PART])
{
    static const char cross[] = " x ";
    const char *second = strstr(text, cross);
    const int bytes = second ? (int)(second - text) : (int)strlen(text);
    snprintf(part[0], PART, "%.*s", bytes, text);
    snprintf(part[1], PART, "%s", second ? second + strlen(cross) : "");
    return second ? 2 : 1;
}

/* The row of this seed and model, with other settings in the parts that `mask` names. */
static const struct orr_row *find_partner(const struct orr_table *table, const struct orr_row *row,
                                          const struct contrast *c, unsigned mask)
{
    char model[ORR_MODEL], text[ORR_MODEL];
    snprintf(model, sizeof model, "%s", row->model);
    for (int k = 0; k < c->parts; k++) {
        const char *at = mask >> k & 1 ? find_setting(model, c->of[k]) : NULL;
        if (!at)
            continue;
        snprintf(text, sizeof text, "%s%s", c->from[k], at + strlen(c->of[k]));
        snprintf(model + (at - model), sizeof model - (size_t)(at - model), "%s", text);
    }
    for (size_t i = 0; i < table->count; i++)
        if (table->row[i].seed == row->seed && !strcmp(table->row[i].model, model))
            return &table->row[i];
    return NULL;
}

int orr_table_seeds(const struct orr_table *table, uint64_t seed[ORR_SEEDS])
{
    int count = 0;
    for (size_t i = 0; i < table->count; i++) {
        int s = 0;
        while (s < count && seed[s] != table->row[i].seed)
            s++;
        if (s == count && count < ORR_SEEDS)
            seed[count++] = table->row[i].seed;
    }
    return count;
}

/* The contrast of one row with its partners; NaN where one is missing. */
static double contrast_of(const struct orr_table *table, const struct orr_row *row,
                          const struct contrast *c, enum orr_row_number number)
{
    double sum = 0;
    for (unsigned mask = 0; mask < 1U << c->parts; mask++) {
        const struct orr_row *other = find_partner(table, row, c, mask);
        sum +=
            other ? (mask == 1 || mask == 2 ? -1 : 1) * orr_row_number(other, number) : (double)NAN;
    }
    return sum;
}

void orr_table_values(const struct orr_table *table, const uint64_t *seed, int seeds,
                      const char *of, const char *from, enum orr_row_number number, double *value)
{
    struct contrast c = {.parts = split_product(of, c.of)};
    const struct orr_row *first = NULL;
    bool several = false;
    (void)split_product(from, c.from);
    for (int s = 0; s < seeds; s++) {
        int models = 0;
        value[s] = 0;
        for (size_t i = 0; i < table->count; i++) {
            const struct orr_row *row = &table->row[i];
            if (row->seed != seed[s] || !orr_row_has(row, c.of[0]) || !orr_row_has(row, c.of[1]))
                continue;
            first = first ? first : row;
            several = several || strcmp(row->model, first->model) != 0;
            models++;
            value[s] += *from ? contrast_of(table, row, &c, number) : orr_row_number(row, number);
        }
        value[s] = models ? value[s] / models : (double)NAN;
    }
    for (int s = 0; s < seeds && several && !table->crossed; s++)
        value[s] = NAN;
}

struct orr_mean orr_table_contrast(const struct orr_table *table, const char *of, const char *from,
                                   enum orr_row_number number)
{
    uint64_t seed[ORR_SEEDS];
    double value[ORR_SEEDS];
    const int seeds = orr_table_seeds(table, seed);
    orr_table_values(table, seed, seeds, of, from, number, value);
    return orr_mean_of(value, seeds);
}
