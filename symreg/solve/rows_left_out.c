/* rows_left_out.c - a table goes on without some of its rows, and has them again. */
#include <stdlib.h>

#include "solve.h"

int sr_table_leave_out(struct sr_table *table, const bool *marked, size_t count)
{
    const struct sr_data all = table->data;
    const size_t rows = all.rows - count;
    size_t *row = orr_alloc(rows, sizeof *row), *line = orr_alloc(rows, sizeof *line), kept = 0;
    for (size_t i = 0; i < all.rows && row; i++)
        if (!marked[i])
            row[kept++] = i;
    int rc =
        row && line ? sr_rows_take(&all, rows, row, &table->data, &table->without) : ORR_ENOMEM;
    if (rc) {
        free(row);
        free(line);
        return rc;
    }
    table->whole = all;
    table->data.digits = all.digits;
    table->data.variance = all.variance;
    for (size_t i = 0; i < all.rows; i++)
        if (marked[i] && table->odds < SR_ODDS) {
            table->odd_line[table->odds] = table->line ? table->line[i] : 0;
            table->odd[table->odds++] = i + 1;
        }
    for (size_t i = 0; i < rows && table->line; i++)
        line[i] = table->line[row[i]];
    table->whole_line = table->line;
    free(row);
    table->line = table->line ? line : NULL;
    if (!table->line)
        free(line);
    return 0;
}

void sr_table_restore(struct sr_table *table)
{
    if (!table->without)
        return;
    table->data = table->whole;
    free(table->without);
    table->without = NULL;
    table->odds = 0;
    if (table->line)
        free(table->line);
    table->line = table->whole_line;
    table->whole_line = NULL;
}
