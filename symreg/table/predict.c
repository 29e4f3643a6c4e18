/* predict.c - evaluates a formula of a front.json on another table and prints CSV to standard
 * output. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "output.h"

/* The parts of front.json that describe a formula. */
struct front_file {
    cJSON *json;
    struct sr_language *language;
    const char *name[SR_FEATURES]; /* (features) owned by the JSON */
    int features;
    struct sr_expr expr;
};

static int wrong_front(const char *path, const char *what)
{
    return ORR_FAIL(ORR_EFORMAT, "%s: expected the front.json of a search, found no %s", path,
                    what);
}

static int read_features(const char *path, struct front_file *front)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(front->json, "features"), *item;
    if (!cJSON_IsArray(list))
        return wrong_front(path, "list \"features\"");
    cJSON_ArrayForEach (item, list) {
        if (!cJSON_IsString(item) || front->features == SR_FEATURES)
            return wrong_front(path, "names of up to 64 features");
        front->name[front->features++] = item->valuestring;
    }
    return 0;
}

static int read_index(const char *text, int rows, int *row)
{
    char *end;
    const long value = strtol(text, &end, 10);
    if (end == text || *end || value < 1 || value > rows)
        return ORR_FAIL(ORR_EUSAGE,
                        "--index: expected a row of the front, from 1 to %d, found "
                        "\"%s\"",
                        rows, text);
    *row = (int)value - 1;
    return 0;
}

/* The row that a rule selects; -1 for none. */
static int selected_row(const cJSON *rows, const char *rule)
{
    const cJSON *item, *name;
    int row = 0;
    cJSON_ArrayForEach (item, rows) {
        cJSON_ArrayForEach (name, cJSON_GetObjectItemCaseSensitive(item, "selected_by")) {
            if (cJSON_IsString(name) && !strcmp(name->valuestring, rule))
                return row;
        }
        row++;
    }
    return -1;
}

static int choose_formula(const char *path, const struct sr_predict_options *o,
                          struct front_file *front)
{
    const cJSON *rows = cJSON_GetObjectItemCaseSensitive(front->json, "front");
    const int count = cJSON_IsArray(rows) ? cJSON_GetArraySize(rows) : 0;
    enum sr_rule rule = SR_BEST;
    char message[1024];
    int row = -1;
    if (!count)
        return wrong_front(path, "rows \"front\"");
    if (o->index && o->rule)
        return ORR_FAIL(ORR_EUSAGE, "--index: --rule chooses a row, too; give one of them");
    if (o->rule)
        TRY(sr_rule_find(o->rule, &rule));
    if (o->index)
        TRY(read_index(o->index, count, &row));
    else
        row = selected_row(rows, sr_rule_name[rule]);
    if (row < 0)
        return ORR_FAIL(ORR_EMISSING, "%s: no row is selected by %s; give --index", path,
                        sr_rule_name[rule]);
    const char *text = orr_json_text(cJSON_GetArrayItem(rows, row), "equation");
    if (!sr_expr_parse(front->language, text, front->name, front->features, &front->expr))
        return 0;
    snprintf(message, sizeof message, "%s", orr_error());
    return ORR_FAIL(ORR_EFORMAT, "%s: row %d of the front: %s", path, row + 1, message);
}

static int read_front(const char *path, const struct sr_predict_options *o,
                      struct front_file *front)
{
    TRY(orr_json_read(path, &front->json));
    front->language = sr_language_create();
    TRY(front->language ? 0 : ORR_ENOMEM);
    const char *define = orr_json_text(front->json, "define");
    if (*define)
        TRY(sr_custom_define(front->language, define));
    TRY(read_features(path, front));
    return choose_formula(path, o, front);
}

/* ---- values */

/* Finds the columns of the features that the formula contains; the table needs no others. */
static int find_columns(const struct front_file *front, const char *file, const struct orr_csv *csv,
                        int column[SR_FEATURES])
{
    for (int f = 0; f < front->features; f++)
        column[f] = -1;
    for (int i = 0; i < front->expr.count; i++) {
        const struct sr_node *node = &front->expr.node[i];
        if (node->op == SR_FEATURE && column[node->feature] < 0)
            TRY(sr_table_column(csv, file, front->name[node->feature], &column[node->feature]));
    }
    return 0;
}

/* *value: NaN where the formula is not finite. *lacks: a cell is missing, with --missing drop. */
static int predict_row(const struct front_file *front, const char *file, const struct orr_csv *csv,
                       const int *column, size_t row, bool drop, double *value, bool *lacks)
{
    double x[SR_FEATURES] = {0};
    for (int f = 0; f < front->features; f++) {
        if (column[f] < 0)
            continue;
        const size_t at = row * csv->cols + (size_t)column[f];
        x[f] = csv->values[at];
        if (isfinite(x[f]))
            continue;
        if (!drop || !sr_cell_is_missing(csv->cells[at]))
            return sr_table_wrong_cell(csv, file, row, column[f]);
        *lacks = true;
        return 0;
    }
    const struct sr_data data = {
        .rows = 1, .features = front->features, .x = x, .language = front->language};
    if (!sr_eval(&front->expr, &data, value))
        *value = NAN;
    return 0;
}

static void print_header(const char *name)
{
    const bool quotes = strpbrk(name, ",\"\r\n") != NULL;
    if (quotes)
        putchar('"');
    for (const char *c = name; *c; c++) {
        if (*c == '"')
            putchar('"');
        putchar(*c);
    }
    printf(quotes ? "\"\n" : "\n");
}

static void print_values(const double *value, const bool *lacks, size_t rows)
{
    char text[SR_NUMBER];
    for (size_t i = 0; i < rows; i++) {
        sr_number_print(value[i], text);
        puts(lacks[i] ? "" : isfinite(value[i]) ? text : "nan");
    }
}

static int predict_table(const struct front_file *front, const char *file,
                         const struct sr_predict_options *o, const struct orr_csv *csv)
{
    const bool drop = o->missing && !strcmp(o->missing, "drop");
    int column[SR_FEATURES], rc = 0;
    size_t undefined = 0;
    TRY(find_columns(front, file, csv, column));
    double *value = orr_alloc(csv->rows + 1, sizeof *value);
    bool *lacks = orr_alloc(csv->rows + 1, sizeof *lacks);
    if (!value || !lacks)
        rc = ORR_ENOMEM;
    for (size_t i = 0; i < csv->rows && !rc; i++) {
        rc = predict_row(front, file, csv, column, i, drop, &value[i], &lacks[i]);
        undefined += !lacks[i] && isnan(value[i]);
    }
    if (!rc) {
        print_header(orr_json_text(front->json, "target"));
        print_values(value, lacks, csv->rows);
        if (undefined)
            orr_note(o->quiet, "symreg: %s: the formula is not finite on %zu of %zu rows (nan)",
                     file, undefined, csv->rows);
    }
    free(value);
    free(lacks);
    return rc;
}

int sr_predict_run(const char *path, const char *file, const struct sr_predict_options *o)
{
    struct front_file front = {0};
    struct orr_csv csv = {0};
    int rc = sr_missing_check(o->missing);
    if (!rc)
        rc = read_front(path, o, &front);
    if (!rc)
        rc = sr_table_cells(file, &csv);
    if (!rc)
        rc = predict_table(&front, orr_input_name(file), o, &csv);
    orr_csv_free(&csv);
    if (front.language)
        sr_language_free(front.language);
    cJSON_Delete(front.json);
    return rc;
}
