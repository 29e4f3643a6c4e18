/* fuzz_categories.c - any bytes as a table with --category, and as a second one whose categories
 * have to be those of the first. The first line is the category's column; the tables have a form
 * feed in between. */
#include <math.h>
#include <string.h>

#include "fuzz.h"
#include "symreg/solve/solve.h"

static void check(const struct sr_table *table)
{
    const struct sr_category *c = table->category;
    FUZZ_EXPECT(c && c->count > 0 && c->name);
    for (int k = 0; k < c->count; k++) {
        FUZZ_EXPECT(c->label[k] && *c->label[k]);
        FUZZ_EXPECT(sr_category_find(c, c->label[k]) == k);
    }
    for (size_t i = 0; i < table->data.rows; i++)
        FUZZ_EXPECT(c->of_row[i] >= 0 && c->of_row[i] < c->count);
}

FUZZ_TARGET(categories)
{
    char path[4096], second[4096];
    struct sr_table table = {0}, other = {0}, sample = {0};
    char *text = malloc(size + 1), *rest = text;
    FUZZ_EXPECT(text);
    memcpy(text, bytes, size);
    text[size] = '\0';
    struct sr_csv_options options = {.target = "y", .category = fuzz_line(&rest)};
    options.category = options.category ? options.category : "c";
    char *end = strchr(rest, '\f');
    fuzz_file(path, "a.csv", rest, end ? (size_t)(end - rest) : strlen(rest));
    fuzz_file(second, "b.csv", end ? end + 1 : rest, strlen(end ? end + 1 : rest));
    const int rc = sr_table_read(path, &options, &table);
    FUZZ_EXPECT(!rc || (*orr_error() && !strchr(orr_error(), '\n')));
    if (!rc) {
        check(&table);
        if (table.data.rows > 2)
            FUZZ_EXPECT(!sr_table_sample(&table, 2, 5, &sample));
        const int like = sr_table_read_like(second, &options, &table, &other);
        FUZZ_EXPECT(!like || (*orr_error() && !strchr(orr_error(), '\n')));
        for (size_t i = 0; !like && i < other.data.rows; i++)
            FUZZ_EXPECT(other.category->of_row[i] < table.category->count);
    }
    sr_table_free(&sample);
    sr_table_free(&other);
    sr_table_free(&table);
    free(text);
    return 0;
}
