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
    int features;                  /* with the constants of each category, which come last */
    struct sr_expr expr;
    /* of a search with --category */
    const char *category;  /* the column; NULL: none */
    int categories, first; /* feature of the first constant */
    char **label;          /* (categories) owned by the JSON */
    double *constant;      /* (features - first, categories) of the formula */
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

/* Reads the category's column and values, and its constants as further features. */
static int read_category(const char *path, struct front_file *front)
{
    const cJSON *json = cJSON_GetObjectItemCaseSensitive(front->json, "category"), *item;
    if (!json)
        return 0;
    const cJSON *values = cJSON_GetObjectItemCaseSensitive(json, "values");
    const cJSON *constants = cJSON_GetObjectItemCaseSensitive(json, "constants");
    front->category = orr_json_text(json, "column");
    front->first = front->features;
    if (!*front->category || !cJSON_IsArray(values) || !cJSON_IsArray(constants))
        return wrong_front(path, "column, values and constants of \"category\"");
    cJSON_ArrayForEach (item, constants) {
        if (!cJSON_IsString(item) || front->features == SR_FEATURES)
            return wrong_front(path, "names of up to 64 features and constants");
        front->name[front->features++] = item->valuestring;
    }
    front->label = orr_alloc((size_t)cJSON_GetArraySize(values) + 1, sizeof *front->label);
    TRY(front->label ? 0 : ORR_ENOMEM);
    cJSON_ArrayForEach (item, values) {
        if (!cJSON_IsString(item))
            return wrong_front(path, "texts as values of \"category\"");
        front->label[front->categories++] = item->valuestring;
    }
    return 0;
}

/* Reads the constants that a row of the front has in each category. */
static int read_constants(const char *path, const cJSON *row, struct front_file *front)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(row, "category_constants"), *item, *number;
    const int most = front->features - front->first, count = front->categories;
    int k = 0;
    front->constant = orr_alloc((size_t)most * (size_t)count + 1, sizeof *front->constant);
    TRY(front->constant ? 0 : ORR_ENOMEM);
    cJSON_ArrayForEach (item, list) {
        int i = 0;
        const cJSON *values = cJSON_GetObjectItemCaseSensitive(item, "values");
        if (k == most || cJSON_GetArraySize(values) != count)
            return wrong_front(path, "value for every category in \"category_constants\"");
        cJSON_ArrayForEach (number, values)
            front->constant[k * count + i++] = cJSON_IsNumber(number) ? number->valuedouble : NAN;
        k++;
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
    if (front->category)
        TRY(read_constants(path, cJSON_GetArrayItem(rows, row), front));
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
    TRY(read_category(path, front));
    return choose_formula(path, o, front);
}

/* ---- values */

/* Finds the columns of the features that the formula contains, and last that of the category, -1
 * where the formula has none of its constants; the table needs no others. */
static int find_columns(const struct front_file *front, const char *file, const struct orr_csv *csv,
                        int column[SR_FEATURES + 1])
{
    bool of_category = false;
    for (int f = 0; f <= SR_FEATURES; f++)
        column[f] = -1;
    for (int i = 0; i < front->expr.count; i++) {
        const struct sr_node *node = &front->expr.node[i];
        if (node->op == SR_FEATURE && column[node->feature] < 0 &&
            !(front->category && node->feature >= front->first))
            TRY(sr_table_column(csv, file, front->name[node->feature], &column[node->feature]));
        of_category |= node->op == SR_FEATURE && front->category && node->feature >= front->first;
    }
    return of_category ? sr_table_column(csv, file, front->category, &column[SR_FEATURES]) : 0;
}

/* Fills the constants of the row's category. */
static int enter_category(const struct front_file *front, const char *file,
                          const struct orr_csv *csv, int column, size_t row, double *x)
{
    char number[SR_NUMBER];
    const char *label = sr_category_label(csv, row, column, number);
    int k = 0;
    while (k < front->categories && strcmp(front->label[k], label) != 0)
        k++;
    if (k == front->categories)
        return sr_category_unknown(file, csv->line[row], front->category, label, front->label,
                                   front->categories);
    for (int f = front->first; f < front->features; f++)
        x[f] = front->constant[(f - front->first) * front->categories + k];
    return 0;
}

/* *value: NaN where the formula is not finite. *lacks: a cell is missing, with --missing drop. */
static int predict_row(const struct front_file *front, const char *file, const struct orr_csv *csv,
                       const int *column, size_t row, bool drop, double *value, bool *lacks)
{
    double x[SR_FEATURES] = {0};
    const int category = column[SR_FEATURES];
    if (category >= 0 && drop && csv->cells[row * csv->cols + (size_t)category] &&
        sr_cell_is_missing(csv->cells[row * csv->cols + (size_t)category])) {
        *lacks = true;
        return 0;
    }
    if (category >= 0)
        TRY(enter_category(front, file, csv, category, row, x));
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
    int column[SR_FEATURES + 1], rc = 0;
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
    free(front.label);
    free(front.constant);
    cJSON_Delete(front.json);
    return rc;
}
