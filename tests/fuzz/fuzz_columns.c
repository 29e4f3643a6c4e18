/* fuzz_columns.c - any bytes as a table for symbolic regression. The first lines are the options
 * that name its columns: target, features, weights and log target (an empty line: not given); the
 * rest is the file. */
#include <math.h>
#include <string.h>

#include "fuzz.h"
#include "symreg/solve/solve.h"

FUZZ_TARGET(columns)
{
    char path[4096];
    struct sr_table table = {0}, sample = {0};
    char *text = malloc(size + 1), *rest = text;
    FUZZ_EXPECT(text);
    memcpy(text, bytes, size);
    text[size] = '\0';
    struct sr_csv_options options = {.target = fuzz_line(&rest)};
    options.target = options.target ? options.target : "y";
    options.features = fuzz_line(&rest);
    options.weights = fuzz_line(&rest);
    options.log_target = fuzz_line(&rest);
    fuzz_file(path, "a.csv", rest, strlen(rest));
    const int rc = sr_table_read(path, &options, &table);
    FUZZ_EXPECT(!rc || *orr_error());
    const struct sr_data *data = &table.data;
    for (size_t i = 0; !rc && i < data->rows; i++)
        FUZZ_EXPECT(isfinite(data->y[i]) && (!data->weight || data->weight[i] >= 0));
    for (size_t i = 0; !rc && i < data->rows * (size_t)data->features; i++)
        FUZZ_EXPECT(isfinite(data->x[i]));
    if (!rc && data->rows > 2)
        FUZZ_EXPECT(sr_table_sample(&table, 2, 5, &sample) == 0 && sample.data.rows == 2);
    if (!rc) {
        struct sr_export names;
        sr_export_make(&names, table.name, data->features);
    }
    sr_table_free(&sample);
    sr_table_free(&table);
    free(text);
    return 0;
}
