/* missing.c - rows with missing values: --missing drop removes them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "output.h"

int sr_missing_check(const char *text)
{
    return !text || !strcmp(text, "error") || !strcmp(text, "drop")
               ? 0
               : ORR_FAIL(ORR_EUSAGE, "--missing: expected drop or error, found \"%s\"", text);
}

bool sr_cell_is_missing(const char *cell)
{
    static const char *const word[] = {"",     "NA",   "N/A",  "NaN",  "-NaN",
                                       "null", "None", "<NA>", "#N/A", "NaT"};
    const size_t first = strspn(cell, " \t");
    size_t length = strlen(cell);
    while (length > first && strchr(" \t", cell[length - 1]))
        length--;
    for (size_t i = 0; i < sizeof word / sizeof *word; i++)
        if (length - first == strlen(word[i]) &&
            !strncasecmp(cell + first, word[i], length - first))
            return true;
    return false;
}

static bool lacks_value(const struct orr_csv *csv, size_t row, const int *column, int count)
{
    for (int c = 0; c < count && csv->cells; c++) {
        const char *cell = csv->cells[row * csv->cols + (size_t)column[c]];
        if (cell && sr_cell_is_missing(cell))
            return true;
    }
    return false;
}

/* Moves the cells of row `from` to row `to`. */
static void move_row(struct orr_csv *csv, size_t from, size_t to)
{
    const size_t cols = csv->cols;
    memcpy(csv->values + to * cols, csv->values + from * cols, cols * sizeof *csv->values);
    csv->line[to] = csv->line[from];
    if (csv->cells)
        memcpy(csv->cells + to * cols, csv->cells + from * cols, cols * sizeof *csv->cells);
}

size_t sr_table_drop_missing(struct orr_csv *csv, const int *column, int count)
{
    size_t kept = 0;
    for (size_t i = 0; i < csv->rows; i++) {
        if (!lacks_value(csv, i, column, count)) {
            if (kept < i)
                move_row(csv, i, kept);
            kept++;
            continue;
        }
        for (size_t c = 0; c < csv->cols; c++)
            free(csv->cells[i * csv->cols + c]);
    }
    const size_t dropped = csv->rows - kept;
    csv->rows = kept;
    return dropped;
}
