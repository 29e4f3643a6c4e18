/* reader.c - reads the study's tables. */
#include "reader.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int verdict_reader_open(const char *path, const char *name, char found[4096],
                        struct verdict_reader *r, struct orr_csv *csv)
{
    if (!path)
        TRY(orr_data_path("study", name, found));
    *r = (struct verdict_reader){.path = path ? path : found, .csv = csv};
    return orr_csv_read(r->path, ORR_CSV_KEEP_TEXT, csv);
}

const char *verdict_cell_of(const struct verdict_reader *r, const char *column)
{
    const int c = orr_csv_column(r->csv, column);
    if (c >= 0)
        return r->csv->cells[r->row * r->csv->cols + (size_t)c];
    (void)ORR_FAIL(ORR_EFORMAT, "%s: expected a column \"%s\", found none", r->path, column);
    return NULL;
}

int verdict_bad_cell(const struct verdict_reader *r, const char *column, const char *expected)
{
    const char *found = verdict_cell_of(r, column);
    if (!found)
        return ORR_EFORMAT;
    return ORR_FAIL(ORR_EFORMAT, "%s:%zu: column \"%s\": expected %s, found \"%s\"", r->path,
                    r->csv->line[r->row], column, expected, found);
}

int verdict_take_word(const struct verdict_reader *r, const char *column, const char *words,
                      int *number)
{
    const char *found = verdict_cell_of(r, column);
    *number = 0;
    if (!found)
        return ORR_EFORMAT;
    for (const char *word = words; *word; word += word[strcspn(word, "|")] == '|', ++*number) {
        const size_t bytes = strcspn(word, "|");
        if (strlen(found) == bytes && !strncmp(word, found, bytes))
            return 0;
        word += bytes;
    }
    return verdict_bad_cell(r, column, words);
}

int verdict_take_number(const struct verdict_reader *r, const char *column, double none,
                        double *number)
{
    char *end;
    const char *found = verdict_cell_of(r, column);
    if (!found)
        return ORR_EFORMAT;
    *number = *found ? strtod(found, &end) : none;
    return !*found || (end != found && !*end && isfinite(*number))
               ? 0
               : verdict_bad_cell(r, column, "a number");
}
