/* table1.c - Table 1 of the LSSAR paper, version 3, with our values: held-out loss by length, a row
 * for each attention. */
#include "claims.h"

#include <math.h>
#include <string.h>

#include "compare/results.h"
#include "stage/settings.h"

enum { LENGTHS = 4 };
/* Our lengths: 128 positions and 2, 4 and 8 times as many. */
static const int positions[LENGTHS] = {128, 256, 512, 1024};

enum file { OWN, P3, TABLES_A, FILES };
static const char *const name_of[FILES] = {"table1.json", "table1_p3.json", "tables_a4_a6.json"};

static const struct {
    const char *name;
    enum file file;
    const char *attention;
    double loss[LENGTHS]; /* the paper's losses at 1, 2, 4 and 8 times the 1,024 trained tokens */
} rows[] = {
    {"softmax", OWN, "softmax", {3.1911, 4.1662, 5.4513, 6.2823}},
    {"sigmoid, b = -log L", OWN, "sigmoid_logL", {3.1935, 7.4554, 11.8355, 14.4995}},
    {"sigmoid, b = -log N", OWN, "sigmoid_logN", {3.1930, 6.5830, 8.4679, 9.5939}},
    {"sigmoid, b = -log N, l1 norm", OWN, "sigmoid_logN_l1", {3.1849, 4.3470, 5.5544, 6.1846}},
    {"sigmoid of Table A6", TABLES_A, "phi_sigmoid", {3.2000, 4.3811, 5.8465, 6.5701}},
    {"ReLU (Wortsman et al.)", OWN, "relu_wortsman", {3.2143, 6.2662, 8.4982, 10.3460}},
    {"ReLU (Li et al.)", OWN, "relu_li", {3.2006, 4.5192, 5.6924, 6.4561}},
    {"ReLU (Shen et al.)", OWN, "relu_shen", {3.2155, 6.5573, 8.9072, 10.7266}},
    {"LSSA", OWN, "lssa", {3.1905, 4.1301, 5.2960, 5.9403}},
    {"re-weighted softmax, p = 3", P3, "rw_softmax", {3.1879, 4.0277, 5.2842, 6.2339}},
    {"re-weighted sigmoid, p = 3", P3, "rw_sigmoid", {3.1841, 3.7387, 4.9286, 5.7450}},
    {"LSSAR, p = 3", P3, "lssar", {3.1782, 4.2383, 5.4056, 6.3007}},
    {"re-weighted softmax, p = 15", OWN, "rw_softmax", {5.3878, 5.9491, 6.5276, 7.0183}},
    {"re-weighted sigmoid, p = 15", OWN, "rw_sigmoid", {3.2171, 3.3499, 3.6108, 3.8587}},
    {"LSSAR, p = 15", OWN, "lssar", {3.1905, 3.1930, 3.2291, 3.3171}},
};
enum { ROWS = sizeof rows / sizeof *rows };

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

static int write_row(struct orr_file *file, const struct orr_table table[FILES], int r)
{
    const struct orr_table *own = &table[rows[r].file];
    const char *attention = rows[r].attention;
    TRY(orr_file_printf(file, "| %s |", rows[r].name));
    for (int k = 0; k < LENGTHS; k++)
        TRY(orr_file_printf(file, " %.3f |", rows[r].loss[k]));
    for (int k = 0; k < LENGTHS; k++)
        TRY(write_mean(file, loss_of(own, attention, positions[k], ORR_ROW_VALUE)));
    TRY(write_mean(file, loss_of(own, attention, positions[LENGTHS - 1], ORR_ROW_BASELINE)));
    return orr_file_printf(file, " %d |\n", loss_of(own, attention, positions[0], ORR_ROW_VALUE).n);
}

int verdict_table1(const char *folder, struct orr_file *file)
{
    struct orr_table table[FILES] = {{0}}; /* tables without rows are missing */
    char path[4096];
    int rc = 0;
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
    for (int f = 0; f < FILES && !rc; f++) {
        rc = orr_path(path, "%s/%s", folder, name_of[f]);
        if (!rc && orr_exists(path))
            rc = compare_results_read(path, &table[f]);
    }
    for (int r = 0; r < ROWS && !rc; r++)
        rc = write_row(file, table, r);
    for (int f = 0; f < FILES; f++)
        orr_table_free(&table[f]);
    return rc;
}
