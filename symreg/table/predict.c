/* predict.c - evaluates a formula of a front.json on another table and prints CSV to standard
 * output. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "base/text.h"
#include "program.h"

/* The parts of front.json that describe a formula. */
struct front_file {
    cJSON *json;
    struct sr_language *language;
    const char *name[SR_FEATURES]; /* (features) owned by the JSON */
    int features;                  /* with the constants of each category, which come last */
    struct sr_expr expr;
    /* of a search with --category */
    double low[SR_FEATURES], high[SR_FEATURES]; /* of the search, NaN where they are not known */
    const char *category;                       /* the column; NULL: none */
    int categories, first;                      /* feature of the first constant */
    char **label;                               /* (categories) owned by the JSON */
    double *constant;                           /* (features - first, categories) of the formula */
    /* with --interval, else NULL: the chosen row's */
    struct sr_uncertainty *uncertainty;
    struct sr_noise noise;
    double level, factor; /* probability; half the width in standard deviations */
};

/* Reads a percentage: "95" or "95%". Below 1 it would be a share. */
static int read_level(const char *text, double *level)
{
    char *end;
    const double percent = strtod(text, &end);
    if (end == text || end[*end == '%'] || !(percent >= 1 && percent < 100))
        return ORR_FAIL(ORR_EUSAGE,
                        "--interval: expected percent from 1 to less than 100, such as 95, found "
                        "\"%s\"",
                        text);
    *level = percent / 100;
    return 0;
}

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
    if (!orr_json_list(front->json, "features_low", front->low, front->features) ||
        !orr_json_list(front->json, "features_high", front->high, front->features))
        for (int f = 0; f < front->features; f++)
            front->low[f] = front->high[f] = NAN;
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
    long value;
    if (!orr_whole(text, 1, rows, &value))
        return ORR_FAIL(ORR_EUSAGE,
                        "--index: expected a row of the front, from 1 to %d, found "
                        "\"%s\"",
                        rows, text);
    *row = (int)value - 1;
    return 0;
}

/* The row that a rule selects, which is one: which of two was meant is not known. */
static int find_selected(const char *path, const cJSON *rows, const char *rule, int *row)
{
    const cJSON *item, *name;
    int at = -1;
    *row = -1;
    cJSON_ArrayForEach (item, rows) {
        at++;
        cJSON_ArrayForEach (name, cJSON_GetObjectItemCaseSensitive(item, "selected_by")) {
            if (!cJSON_IsString(name) || strcmp(name->valuestring, rule) != 0)
                continue;
            if (*row >= 0 && *row < at)
                return ORR_FAIL(ORR_EFORMAT, "%s: %s selects rows %d and %d of the front", path,
                                rule, *row + 1, at + 1);
            *row = at;
        }
    }
    return *row >= 0
               ? 0
               : ORR_FAIL(ORR_EMISSING, "%s: no row is selected by %s; give --index", path, rule);
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
        TRY(sr_rule_find("--rule", o->rule, &rule));
    if (o->index)
        TRY(read_index(o->index, count, &row));
    else
        TRY(find_selected(path, rows, sr_rule_name[rule], &row));
    const char *text = orr_json_text(cJSON_GetArrayItem(rows, row), "equation");
    if (front->category)
        TRY(read_constants(path, cJSON_GetArrayItem(rows, row), front));
    if (front->category && front->uncertainty)
        return ORR_FAIL(ORR_EUSAGE, "--interval: not for a search with --category");
    if (sr_expr_parse(front->language, text, front->name, front->features, &front->expr)) {
        snprintf(message, sizeof message, "%s", orr_error());
        return ORR_FAIL(ORR_EFORMAT, "%s: row %d of the front: %s", path, row + 1, message);
    }
    return front->uncertainty ? sr_uncertainty_read(path, front->json, row, &front->expr,
                                                    front->uncertainty, &front->noise)
                              : 0;
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
    if (!orr_is_seen(orr_json_text(front->json, "target"))) /* it is printed */
        return ORR_FAIL(ORR_EFORMAT,
                        "%s: \"target\": expected a name without invisible and control characters, "
                        "found \"%s\"",
                        path, orr_json_text(front->json, "target"));
    return choose_formula(path, o, front);
}

/* ---- values */

/* The cells of a table that a formula and its noise need. */
struct cells {
    const char *file;
    const struct orr_csv *csv;
    int column[SR_FEATURES];   /* of each feature, -1: not in the formula */
    int category;              /* column of --category, -1: not in the formula */
    int noise;                 /* column of sigmas or weights, -1: none */
    struct sr_missing missing; /* --missing drop, --missing-value */
};

/* What is printed in a row: the value, and with --interval its bounds. */
struct line {
    bool lacks; /* a cell is missing, and may be */
    double number[3];
};

/* Finds the columns of the features that the formula contains, and that of the category if it has
 * its constants; the table needs no others. */
static int find_columns(const struct front_file *front, struct cells *cells)
{
    bool of_category = false;
    cells->category = -1;
    for (int f = 0; f < front->features; f++)
        cells->column[f] = -1;
    for (int i = 0; i < front->expr.count; i++) {
        const struct sr_node *node = &front->expr.node[i];
        if (node->op == SR_FEATURE && front->category && node->feature >= front->first)
            of_category = true;
        else if (node->op == SR_FEATURE && cells->column[node->feature] < 0)
            TRY(sr_table_column(cells->csv, cells->file, front->name[node->feature],
                                &cells->column[node->feature]));
    }
    return of_category ? sr_table_column(cells->csv, cells->file, front->category, &cells->category)
                       : 0;
}

/* Fills the constants of the row's category; *lacks: it is missing, and may be. */
static int enter_category(const struct front_file *front, const struct cells *cells, size_t row,
                          double *x, bool *lacks)
{
    const struct orr_csv *csv = cells->csv;
    const size_t at = row * csv->cols + (size_t)cells->category;
    char number[SR_NUMBER];
    const char *label = sr_category_label(csv, row, cells->category, number);
    int k = 0;
    *lacks = sr_is_missing(&cells->missing, csv->cells ? csv->cells[at] : NULL, csv->values[at]);
    if (*lacks)
        return 0;
    while (k < front->categories && strcmp(front->label[k], label) != 0)
        k++;
    if (k == front->categories)
        return sr_category_unknown(cells->file, csv->line[row], front->category, label,
                                   front->label, front->categories);
    for (int f = front->first; f < front->features; f++)
        x[f] = front->constant[(f - front->first) * front->categories + k];
    return 0;
}

/* Finds the column of the noise. Without it the residuals of the search tell of the noise. */
static void find_noise(struct cells *cells, struct sr_noise *noise, bool quiet)
{
    cells->noise = noise->column ? orr_csv_column(cells->csv, noise->column) : -1;
    if (!noise->column || cells->noise >= 0)
        return;
    orr_note(quiet,
             "symreg: %s: no column \"%s\"; the noise of every row is the scatter of the "
             "residuals in the search",
             cells->file, noise->column);
    noise->kind = SR_NOISE_ALIKE;
}

/* A number of the table; *lacks: it is missing, and may be. */
static int read_cell(const struct cells *cells, size_t row, int column, double *x, bool *lacks)
{
    const size_t at = row * cells->csv->cols + (size_t)column;
    *x = cells->csv->values[at];
    if (sr_is_missing(&cells->missing, cells->csv->cells ? cells->csv->cells[at] : NULL, *x))
        *lacks = true;
    else if (!isfinite(*x))
        return sr_table_wrong_cell(cells->csv, cells->file, row, column);
    return 0;
}

static int read_noise_cell(const struct cells *cells, size_t row, const struct sr_noise *noise,
                           double *x, bool *lacks)
{
    TRY(read_cell(cells, row, cells->noise, x, lacks));
    const bool sigma = noise->kind == SR_NOISE_SIGMA;
    return *lacks || (sigma ? *x > 0 : *x >= 0)
               ? 0
               : ORR_FAIL(ORR_EINVAL, "%s:%zu: column \"%s\": expected a %s, found %g", cells->file,
                          cells->csv->line[row], noise->column,
                          sigma ? "standard deviation above 0" : "weight of at least 0", *x);
}

/* NaN where the formula is not finite. */
static int predict_row(const struct front_file *front, const struct cells *cells, size_t row,
                       struct line *line)
{
    double x[SR_FEATURES] = {0}, jacobian[SR_NODES], cell = NAN, variance;
    if (cells->category >= 0)
        TRY(enter_category(front, cells, row, x, &line->lacks));
    for (int f = 0; f < front->features && !line->lacks; f++)
        if (cells->column[f] >= 0)
            TRY(read_cell(cells, row, cells->column[f], &x[f], &line->lacks));
    if (cells->noise >= 0 && !line->lacks)
        TRY(read_noise_cell(cells, row, &front->noise, &cell, &line->lacks));
    const struct sr_data data = {
        .rows = 1, .features = front->features, .x = x, .language = front->language};
    double *const number = line->number;
    if (line->lacks || !sr_eval(&front->expr, &data, number)) {
        number[0] = number[1] = number[2] = NAN;
    } else if (front->uncertainty) {
        if (!sr_predict_variance(&front->expr, &data, front->uncertainty, number, jacobian,
                                 &variance))
            variance = NAN;
        variance += sr_noise_variance(front->uncertainty, &front->noise, cell, number[0]);
        number[1] = number[0] - front->factor * sqrt(variance);
        number[2] = number[0] + front->factor * sqrt(variance);
    }
    return 0;
}

static void print_name(const char *name)
{
    const bool quotes = strpbrk(name, ",\"\r\n") != NULL;
    if (quotes)
        putchar('"');
    for (const char *c = name; *c; c++) {
        if (*c == '"')
            putchar('"');
        putchar(*c);
    }
    if (quotes)
        putchar('"');
}

static void print_line(const struct line *line, int numbers)
{
    for (int k = 0; k < numbers; k++) {
        const double x = line->number[k];
        char text[SR_NUMBER];
        sr_number_print(x, text);
        printf("%s%s", k ? "," : "",
               line->lacks   ? ""
               : isnan(x)    ? "nan"
               : isfinite(x) ? text
               : x < 0       ? "-inf"
                             : "inf");
    }
    putchar('\n');
}

/* Writes a number of a feature, with the date where it counts days. */
static void write_value(const struct front_file *front, int feature, double x, char text[200])
{
    const cJSON *item;
    char date[SR_DAY_TEXT];
    snprintf(text, 200, "%.6g", x);
    cJSON_ArrayForEach (item, cJSON_GetObjectItemCaseSensitive(front->json, "dates")) {
        if (strcmp(orr_json_text(item, "column"), front->name[feature]) != 0)
            continue;
        sr_day_text(orr_json_number(item, "first_day") + x, date);
        snprintf(text, 200, "%s", date);
    }
}

/* Notes how many of the rows that are predicted have a number of a feature that lies outside those
 * of the search: there a formula that fits may be far off. */
static void note_outside(const struct front_file *front, const struct cells *cells,
                         const struct line *lines, bool quiet)
{
    const struct orr_csv *csv = cells->csv;
    const int features = front->category ? front->first : front->features;
    for (int f = 0; f < features; f++) {
        size_t count = 0, first = 0;
        for (size_t i = 0; i < csv->rows && cells->column[f] >= 0; i++) {
            const double x = csv->values[i * csv->cols + (size_t)cells->column[f]];
            if (lines[i].lacks || (!(x < front->low[f]) && !(x > front->high[f])))
                continue;
            first = count++ ? first : i;
        }
        if (!count)
            continue;
        const double x = csv->values[first * csv->cols + (size_t)cells->column[f]];
        char low[200], high[200], found[200];
        write_value(front, f, front->low[f], low);
        write_value(front, f, front->high[f], high);
        write_value(front, f, x, found);
        orr_note(quiet,
                 "symreg: %s: column \"%s\": %zu of %zu rows are outside of %s .. %s, the range of "
                 "the search (line %zu: %s); the formula is extrapolated there",
                 cells->file, front->name[f], count, csv->rows, low, high, csv->line[first], found);
    }
}

static int predict_table(struct front_file *front, const char *file,
                         const struct sr_predict_options *o, const struct orr_csv *csv)
{
    struct cells cells = {.file = file, .csv = csv, .noise = -1};
    size_t undefined = 0;
    int rc = 0;
    TRY(sr_missing_read(o->missing, o->missing_value, &cells.missing));
    TRY(find_columns(front, &cells));
    if (front->uncertainty) {
        find_noise(&cells, &front->noise, o->quiet);
        front->factor = sr_noise_factor(front->uncertainty, &front->noise, front->level);
    }
    struct line *lines = orr_alloc(csv->rows + 1, sizeof *lines);
    if (!lines)
        rc = ORR_ENOMEM;
    for (size_t i = 0; i < csv->rows && !rc; i++) {
        rc = predict_row(front, &cells, i, &lines[i]);
        undefined += !lines[i].lacks && isnan(lines[i].number[0]);
    }
    if (!rc) {
        print_name(orr_json_text(front->json, "target"));
        printf(front->uncertainty ? ",low,high\n" : "\n");
        for (size_t i = 0; i < csv->rows; i++)
            print_line(&lines[i], front->uncertainty ? 3 : 1);
        if (undefined)
            orr_note(o->quiet, "symreg: %s: the formula is not finite on %zu of %zu rows (nan)",
                     file, undefined, csv->rows);
        note_outside(front, &cells, lines, o->quiet);
    }
    free(lines);
    return rc;
}

/* Makes days of the columns that were dates in the search; numbers are such days already. */
static int fill_dates(const struct front_file *front, const char *file, struct orr_csv *csv)
{
    const cJSON *item;
    cJSON_ArrayForEach (item, cJSON_GetObjectItemCaseSensitive(front->json, "dates")) {
        const int column = orr_csv_column(csv, orr_json_text(item, "column"));
        const double first = orr_json_number(item, "first_day");
        if (column < 0 || !isfinite(first) || !csv->cells ||
            sr_dates_fill(csv, (size_t)column, first))
            continue;
        const long odd = sr_dates_odd(csv, (size_t)column, true);
        if (odd >= 0 && isnan(csv->values[(size_t)odd * csv->cols + (size_t)column]))
            return sr_table_wrong_date(csv, file, (size_t)odd, column);
    }
    return 0;
}

int sr_predict_run(const char *path, const char *file, const struct sr_predict_options *o)
{
    struct front_file front = {0};
    struct orr_csv csv = {0};
    struct sr_missing missing;
    int rc = sr_missing_read(o->missing, o->missing_value, &missing);
    if (!rc && o->interval)
        rc = read_level(o->interval, &front.level);
    if (!rc && o->interval)
        rc = (front.uncertainty = orr_alloc(1, sizeof *front.uncertainty)) ? 0 : ORR_ENOMEM;
    if (!rc)
        rc = read_front(path, o, &front);
    if (!rc)
        rc = sr_cells_read(file, ORR_CSV_KEEP_ODD, &csv);
    if (!rc)
        sr_cells_notes(&csv, orr_input_name(file), o->quiet);
    if (!rc)
        rc = fill_dates(&front, orr_input_name(file), &csv);
    if (!rc)
        rc = predict_table(&front, orr_input_name(file), o, &csv);
    orr_csv_free(&csv);
    if (front.language)
        sr_language_free(front.language);
    free(front.label);
    free(front.constant);
    free(front.uncertainty);
    cJSON_Delete(front.json);
    return rc;
}
