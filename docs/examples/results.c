/* results.c - prints a table of results as CSV: of a run directory, of a file *.csv, *.jsonl (a
 * training log) or *.json.
 *
 *     results RUN|FILE [COLUMN]...
 *
 * All columns, or those that are named. */
#include <math.h>
#include <orrery.h>
#include <stdio.h>

enum { MOST = 4096 };

static void print_cell(const struct orrery_column *column, size_t row)
{
    if (column->kind == ORRERY_WORDS)
        printf("\"%s\"", column->words[row]);
    else if (isfinite(column->numbers[row])) /* NaN: an empty cell */
        printf("%.9g", column->numbers[row]);
}

static void print(const struct orrery_column *column, size_t columns, size_t rows)
{
    for (size_t c = 0; c < columns; c++)
        printf("%s%s", c ? "," : "", column[c].name);
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < columns; c++) {
            putchar(c ? ',' : '\n');
            print_cell(&column[c], r);
        }
    putchar('\n');
}

int main(int argc, char **argv)
{
    static struct orrery_column column[MOST];
    struct orrery_results *results = NULL;
    size_t rows = 0, columns = 0;
    if (argc < 2) {
        fprintf(stderr, "usage: results RUN|FILE [COLUMN]...\n");
        return 1;
    }
    int status = orrery_results_create(ORRERY_INTERFACE, &results);
    if (!status)
        status = orrery_results_open(results, argv[1]);
    if (!status)
        status = orrery_results_size(results, &rows, &columns);
    if (argc > 2)
        columns = (size_t)argc - 2;
    if (columns > MOST)
        columns = MOST;
    for (size_t c = 0; c < columns && !status; c++) {
        column[c].bytes = sizeof *column;
        status = argc > 2 ? orrery_results_find(results, argv[2 + c], &column[c])
                          : orrery_results_column(results, c, &column[c]);
    }
    if (status)
        fprintf(stderr, "results: %s\n",
                results ? orrery_message(results) : orrery_status_text(status));
    else
        print(column, columns, rows);
    orrery_results_free(results);
    return status != 0;
}
