/* category.c - --category: the values of a column whose rows have constants of their own, and the
 * columns that stand for these constants in the formulas of a front. */
#include "solve.h"

#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

/* ---- labels */

int sr_category_find(const struct sr_category *c, const char *label)
{
    for (int k = 0; k < c->count; k++)
        if (!strcmp(c->label[k], label))
            return k;
    return -1;
}

const char *sr_category_label(const struct orr_csv *csv, size_t row, int column,
                              char number[SR_NUMBER])
{
    const size_t at = row * csv->cols + (size_t)column;
    if (csv->cells && csv->cells[at])
        return csv->cells[at];
    sr_number_print(csv->values[at], number);
    return number;
}

int sr_category_unknown(const char *file, size_t line, const char *column, const char *label,
                        char *const *known, int count)
{
    char list[400] = "";
    size_t used = 0;
    for (int k = 0; k < count && used + 60 < sizeof list; k++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s\"%.40s\"", k ? ", " : "",
                                 known[k]);
    return ORR_FAIL(ORR_EINVAL,
                    "%s:%zu: column \"%s\": expected a category that the search has seen (%s%s), "
                    "found \"%.100s\"",
                    file, line, column, list, used + 60 < sizeof list ? "" : ", ...", label);
}

/* Labels by their hash, as a table may have thousands of categories. */
struct lookup {
    size_t slots;
    int *slot; /* (slots) number of a category plus 1; 0: free */
};

static int *find_slot(const struct lookup *l, const struct sr_category *c, const char *label)
{
    size_t at = (size_t)XXH64(label, strlen(label), 0) % l->slots;
    while (l->slot[at] && strcmp(c->label[l->slot[at] - 1], label) != 0)
        at = (at + 1) % l->slots;
    return &l->slot[at];
}

static int read_row(const struct orr_csv *csv, const char *file, size_t row, int column,
                    const struct sr_category *like, const struct lookup *lookup,
                    struct sr_category *c)
{
    char number[SR_NUMBER];
    const char *label = sr_category_label(csv, row, column, number);
    if (sr_cell_is_missing(label))
        return ORR_FAIL(ORR_EFORMAT, "%s:%zu: column \"%s\": expected a category, found \"%s\"",
                        file, csv->line[row], c->name, label);
    int *slot = find_slot(lookup, c, label);
    if (!*slot && like)
        return sr_category_unknown(file, csv->line[row], c->name, label, like->label, like->count);
    if (!*slot) {
        c->label[c->count] = strdup(label);
        if (!c->label[c->count])
            return ORR_FAIL(ORR_ENOMEM, "%s: out of memory", file);
        *slot = ++c->count;
    }
    c->of_row[row] = *slot - 1;
    return 0;
}

/* Copies the labels of `like`. */
static int copy_labels(const struct sr_category *like, const struct lookup *lookup,
                       struct sr_category *c)
{
    for (int k = 0; k < like->count; k++) {
        c->label[k] = strdup(like->label[k]);
        if (!c->label[k])
            return ORR_ENOMEM;
        c->count++;
        *find_slot(lookup, c, c->label[k]) = c->count;
    }
    return 0;
}

static void name_constant(const char *category, int k, char name[SR_PARAMETER_NAME])
{
    snprintf(name, SR_PARAMETER_NAME, "c%d[%s]", k + 1, category);
}

bool sr_category_takes_name(const char *category, const char *name)
{
    char own[SR_PARAMETER_NAME];
    bool taken = false;
    for (int k = 0; k < SR_PARAMETERS; k++) {
        name_constant(category, k, own);
        taken = taken || !strcmp(own, name);
    }
    return taken;
}

static int make_category(const char *name, size_t rows, size_t most, struct sr_category **category)
{
    struct sr_category *c = *category = orr_alloc(1, sizeof *c);
    if (!c)
        return ORR_ENOMEM;
    c->name = name;
    c->label = orr_alloc(most, sizeof *c->label);
    c->of_row = orr_alloc(rows, sizeof *c->of_row);
    for (int k = 0; k < SR_PARAMETERS; k++)
        name_constant(name, k, c->parameter[k]);
    return c->label && c->of_row ? 0 : ORR_ENOMEM;
}

int sr_category_read(const struct orr_csv *csv, const char *file, int column,
                     const struct sr_category *like, struct sr_category **category)
{
    const size_t most = csv->rows + (like ? (size_t)like->count : 0);
    struct lookup lookup = {.slots = 2 * most + 1};
    TRY(make_category(csv->names[column], csv->rows, most, category));
    lookup.slot = orr_alloc(lookup.slots, sizeof *lookup.slot);
    int rc = lookup.slot ? like ? copy_labels(like, &lookup, *category) : 0 : ORR_ENOMEM;
    for (size_t i = 0; i < csv->rows && !rc; i++)
        rc = read_row(csv, file, i, column, like, &lookup, *category);
    free(lookup.slot);
    if (!rc && !like && 2 * (size_t)(*category)->count > csv->rows)
        return ORR_FAIL(ORR_EINVAL,
                        "%s: column \"%s\": expected at least two rows a category on average, "
                        "found %d categories in %zu rows, so that constants of each fit anything",
                        file, csv->names[column], (*category)->count, csv->rows);
    return rc;
}

int sr_category_sample(const struct sr_category *all, const size_t *row, size_t rows,
                       struct sr_category **sample)
{
    int *number = orr_alloc((size_t)all->count, sizeof *number);
    int rc = number ? make_category(all->name, rows, 1, sample) : ORR_ENOMEM, count = 0;
    for (size_t i = 0; i < rows && !rc; i++) {
        int *of = &number[all->of_row[row[i]]];
        *of = *of ? *of : ++count;
        (*sample)->of_row[i] = *of - 1;
    }
    if (!rc) {
        free((*sample)->label); /* a search needs none */
        (*sample)->label = NULL;
        (*sample)->count = count;
    }
    free(number);
    return rc;
}

void sr_category_give(const struct sr_table *table, struct sr_fit *fit)
{
    fit->category = table->category ? table->category->of_row : NULL;
    fit->categories = table->category ? table->category->count : 0;
}

static void free_rows(struct sr_category *c)
{
    for (int i = 0; i <= SR_NODES; i++) {
        free(c->row[i].value);
        free(c->row[i].error);
        c->row[i] = (struct sr_category_row){0};
    }
}

void sr_category_forget(struct sr_table *table)
{
    if (!table->category)
        return;
    free_rows(table->category);
    table->data.features -= table->category->most;
    table->category->most = 0;
}

void sr_category_free(struct sr_category *c)
{
    for (int k = 0; c && c->label && k < c->count; k++)
        free(c->label[k]);
    if (c) {
        free_rows(c);
        free(c->label);
        free(c->of_row);
    }
    free(c);
}

void sr_category_enter(const struct sr_category *fitted, const struct sr_category *rows_of,
                       size_t rows, int row)
{
    const struct sr_category_row *of = &fitted->row[row];
    for (int k = 0; k < fitted->most; k++)
        for (size_t i = 0; i < rows; i++)
            rows_of->column[(size_t)k * rows + i] =
                k < of->parameters ? of->value[k * fitted->count + rows_of->of_row[i]] : 0;
}
