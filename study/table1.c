/* table1.c - Table 1 of the LSSAR paper, version 3, with our values: held-out loss by length, a row
 * for each attention. */
#include "claims.h"

#include <math.h>
#include <string.h>

#include "compare/results.h"
#include "reader.h"
#include "stage/settings.h"

enum { LENGTHS = 4 };
/* Our lengths: 128 positions and 2, 4 and 8 times as many. */
static const int positions[LENGTHS] = {128, 256, 512, 1024};

enum { FILES = 8 /* of results, at most */ };
/* Files of results that were read; those that are missing have no rows. */
struct files {
    int count;
    const char *name[FILES];
    struct orr_table table[FILES];
};

/* A row of table1.csv. */
struct line {
    const char *name, *file, *attention;
    double loss[LENGTHS]; /* the paper's losses at 1, 2, 4 and 8 times the 1,024 trained tokens */
};

static int take_line(const struct verdict_reader *r, struct line *line)
{
    static const char *const at[LENGTHS] = {"at_1", "at_2", "at_4", "at_8"};
    line->name = verdict_cell_of(r, "name");
    line->file = verdict_cell_of(r, "file");
    line->attention = verdict_cell_of(r, "attention");
    TRY(line->name && line->file && line->attention ? 0 : ORR_EFORMAT);
    for (int k = 0; k < LENGTHS; k++) {
        TRY(verdict_take_number(r, at[k], NAN, &line->loss[k]));
        if (isnan(line->loss[k]))
            return verdict_bad_cell(r, at[k], "a loss in nats");
    }
    return 0;
}

/* The rows of a file of the folder, which is read once. */
static int rows_of(struct files *files, const char *folder, const char *name,
                   const struct orr_table **table)
{
    char path[4096];
    int f = 0;
    while (f < files->count && strcmp(files->name[f], name) != 0)
        f++;
    if (f == FILES)
        return ORR_FAIL(ORR_EFORMAT, "table1.csv: expected at most %d files, found \"%s\"", FILES,
                        name);
    *table = &files->table[f];
    if (f < files->count)
        return 0;
    files->name[files->count++] = name;
    TRY(orr_path(path, "%s/%s", folder, name));
    return orr_exists(path) ? compare_results_read(path, &files->table[f]) : 0;
}

/* Mean over seeds of an attention's loss at a length, or of that of its random weights; beyond the
 * trained length with NTK scaling, as in the paper's versions 1 and 2. */
static struct orr_mean loss_of(const struct orr_table *table, const char *attention, int context,
                               enum orr_row_number number)
{
    const char *quantity = context > positions[0] ? "next token, NTK" : "next token";
    char model[ORR_NAME + 16];
    double loss[ORR_SEEDS];
    int n = 0;
    snprintf(model, sizeof model, "attention=%s", attention);
    for (size_t i = 0; i < table->count && n < ORR_SEEDS; i++) {
        const struct orr_row *row = &table->row[i];
        if (!strcmp(row->quantity, quantity) && !strcmp(row->measure, "nats") &&
            row->context == context && orr_row_has(row, model))
            loss[n++] = orr_row_number(row, number);
    }
    return orr_mean_of(loss, n);
}

static int write_mean(struct orr_file *file, struct orr_mean mean)
{
    if (!mean.n)
        return orr_file_printf(file, " - |");
    if (!isfinite(mean.half))
        return orr_file_printf(file, " %.3f |", mean.mean);
    return orr_file_printf(file, " %.3f +- %.2g |", mean.mean, mean.half);
}

static int write_row(struct orr_file *file, const struct orr_table *own, const struct line *line)
{
    TRY(orr_file_printf(file, "| %s |", line->name));
    for (int k = 0; k < LENGTHS; k++)
        TRY(orr_file_printf(file, " %.3f |", line->loss[k]));
    for (int k = 0; k < LENGTHS; k++)
        TRY(write_mean(file, loss_of(own, line->attention, positions[k], ORR_ROW_VALUE)));
    TRY(write_mean(file, loss_of(own, line->attention, positions[LENGTHS - 1], ORR_ROW_BASELINE)));
    return orr_file_printf(file, " %d |\n",
                           loss_of(own, line->attention, positions[0], ORR_ROW_VALUE).n);
}

static int write_rows(const char *folder, const struct orr_csv *csv, struct verdict_reader *r,
                      struct files *files, struct orr_file *file)
{
    for (; r->row < csv->rows; r->row++) {
        const struct orr_table *table = NULL;
        struct line line;
        TRY(take_line(r, &line));
        TRY(rows_of(files, folder, line.file, &table));
        TRY(write_row(file, table, &line));
    }
    return 0;
}

int verdict_table1(const char *folder, struct orr_file *file)
{
    struct files files = {.count = 0};
    struct verdict_reader r;
    struct orr_csv csv = {0};
    char found[4096];
    TRY(orr_file_printf(
        file,
        "\n## Table 1 of [L] beside ours\n\nHeld-out loss in nats: theirs per token of "
        "FineWeb, models of 124 million weights trained on 1,024 tokens, no spread given; ours per "
        "byte of the Python manual, models of 0.8 million weights trained on 128 bytes, with "
        "NTK scaling beyond these, as in versions 1 and 2 of the paper, which have the same "
        "losses; "
        "mean over seeds with the 95%% interval of Student's t ([text.md](text.md)). Compare "
        "losses "
        "of one column only.\n\n"
        "| attention | theirs, 1,024 | 2,048 | 4,096 | 8,192 | ours, 128 | 256 | 512 | 1,024 "
        "| random weights, 1,024 | seeds |\n|---|---|---|---|---|---|---|---|---|---|---|\n"));
    int rc = verdict_reader_open(NULL, "table1.csv", found, &r, &csv);
    rc = rc ? rc : write_rows(folder, &csv, &r, &files, file);
    for (int f = 0; f < files.count; f++)
        orr_table_free(&files.table[f]);
    orr_csv_free(&csv);
    return rc;
}
