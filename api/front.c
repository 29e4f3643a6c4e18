/* front.c - rows of the front: their properties, their text, and their values on new columns. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "regress.h"

static int check_row(const struct orrery_regression *r, int row)
{
    if (!r->fit)
        return ORR_FAIL(ORR_EMISSING, "there is no front yet; orrery_regression_search()");
    const int rows = r->fit->front.count + (r->fit->alternatives ? r->fit->alternatives->count : 0);
    return row >= 0 && row < rows
               ? 0
               : ORR_FAIL(ORR_EINVAL, "row: expected 0 to %d, found %d", rows - 1, row);
}

/* The front or the alternatives, and the row in them. */
static const struct sr_front *front_of(const struct orrery_regression *r, int *row)
{
    if (*row < r->fit->front.count)
        return &r->fit->front;
    *row -= r->fit->front.count;
    return r->fit->alternatives;
}

static const struct sr_expr *expr_of(const struct orrery_regression *r, int row)
{
    const struct sr_front *front = front_of(r, &row);
    return &front->expr[row];
}

/* Whether a stop or a limit left no time to fit the constants of the row. */
static bool is_unfitted(const struct orrery_regression *r, int row)
{
    const struct sr_front *front = front_of(r, &row);
    return front->unfitted[row];
}

int orrery_regression_rows(struct orrery_regression *r, int *rows)
{
    struct api_call call;
    TRY(api_enter(r ? &r->handle : NULL, &call));
    if (!rows)
        return api_leave(&call, ORR_FAIL(ORR_EINVAL, "rows: expected a pointer, found NULL"));
    *rows = r->fit ? r->fit->front.count : 0;
    return api_leave(&call, 0);
}

static int describe_formula(const struct orrery_regression *r, int row,
                            struct orrery_formula *formula)
{
    struct orrery_formula known;
    TRY(api_take("formula", &known, sizeof known, sizeof known, formula));
    TRY(check_row(r, row));
    const struct sr_front *front = front_of(r, &row);
    *formula = (struct orrery_formula){.bytes = sizeof *formula,
                                       .complexity = front->complexity[row],
                                       .constants = sr_expr_constants(&front->expr[row], NULL),
                                       .loss = front->loss[row],
                                       .score = front->score[row],
                                       .description_length = front->mdl[row]};
    return 0;
}

int orrery_regression_formula(struct orrery_regression *r, int row, struct orrery_formula *formula)
{
    API_RETURN(r, describe_formula(r, row, formula));
}

static int choose_row(const struct orrery_regression *r, const char *rule, int *row)
{
    enum sr_rule found;
    if (!rule || !row)
        return ORR_FAIL(ORR_EINVAL, "select: expected a rule and a pointer, found NULL");
    TRY(sr_rule_find("select", rule, &found));
    TRY(check_row(r, 0));
    *row = sr_front_select(&r->fit->front, found);
    return *row >= 0 ? 0 : ORR_FAIL(ORR_EMISSING, "select: %s chooses no row of this front", rule);
}

int orrery_regression_select(struct orrery_regression *r, const char *rule, int *row)
{
    API_RETURN(r, choose_row(r, rule, row));
}

static int write_as(const struct orrery_regression *r, const struct sr_expr *expr, int notation,
                    char *text, size_t bytes, size_t *needed)
{
    static const enum sr_notation of[] = {
        [ORRERY_LATEX] = SR_LATEX,  [ORRERY_C] = SR_C,     [ORRERY_SYMPY] = SR_SYMPY,
        [ORRERY_NUMPY] = SR_NUMPY,  [ORRERY_JAX] = SR_JAX, [ORRERY_PYTORCH] = SR_TORCH,
        [ORRERY_MATHML] = SR_MATHML};
    char whole[SR_TEXT];
    if (notation < ORRERY_TEXT || notation > ORRERY_MATHML)
        return ORR_FAIL(ORR_EINVAL, "notation: expected 0 to %d, found %d", ORRERY_MATHML,
                        notation);
    if (notation == ORRERY_TEXT) {
        sr_expr_print(r->setup.language, expr, r->table.name, whole, sizeof whole);
    } else {
        struct sr_export *names = orr_alloc(1, sizeof *names);
        if (!names)
            return ORR_ENOMEM;
        sr_export_make(names, r->table.name, r->table.data.features);
        sr_expr_write(r->setup.language, expr, of[notation], names, whole, sizeof whole);
        free(names);
    }
    return api_write_text(whole, text, bytes, needed);
}

static int print_formula(const struct orrery_regression *r, int row, int notation, char *text,
                         size_t bytes, size_t *needed)
{
    TRY(check_row(r, row));
    return write_as(r, expr_of(r, row), notation, text, bytes, needed);
}

int orrery_regression_print(struct orrery_regression *r, int row, int notation, char *text,
                            size_t bytes, size_t *needed)
{
    API_RETURN(r, print_formula(r, row, notation, text, bytes, needed));
}

static int write_text(struct orrery_regression *r, const char *formula, int notation, char *text,
                      size_t bytes, size_t *needed)
{
    struct sr_expr expr;
    TRY(api_parse(r, formula, &expr));
    return write_as(r, &expr, notation, text, bytes, needed);
}

int orrery_regression_write(struct orrery_regression *r, const char *formula, int notation,
                            char *text, size_t bytes, size_t *needed)
{
    API_RETURN(r, write_text(r, formula, notation, text, bytes, needed));
}

static int write_definitions(const struct orrery_regression *r, char *text, size_t bytes,
                             size_t *needed)
{
    if (!r->fit)
        return ORR_FAIL(ORR_EMISSING, "definitions: there is no front yet");
    return api_write_text(r->setup.define ? r->setup.define : "", text, bytes, needed);
}

int orrery_regression_definitions(struct orrery_regression *r, char *text, size_t bytes,
                                  size_t *needed)
{
    API_RETURN(r, write_definitions(r, text, bytes, needed));
}

/* The constants of a row and their standard errors, which only least-squares losses have. */
static int copy_constants(const struct orrery_regression *r, int row, double *value, double *error)
{
    TRY(check_row(r, row));
    const struct sr_expr *expr = expr_of(r, row);
    const int count = sr_expr_constants(expr, value);
    for (int c = 0; error && c < count && r->table.category; c++)
        error[c] =
            r->setup.settings.loss == ORR_SR_L2 ? r->table.category->row[row].shared[c] : NAN;
    if (r->table.category)
        return 0;
    for (int c = 0; error && c < count; c++)
        error[c] = NAN;
    return error && r->setup.settings.loss == ORR_SR_L2 && !is_unfitted(r, row)
               ? sr_constants_errors(expr, &r->table.data, r->table.variance, error)
               : 0;
}

int orrery_regression_constants(struct orrery_regression *r, int row, double *value, double *error)
{
    API_RETURN(r, copy_constants(r, row, value, error));
}

static int copy_category(const struct orrery_regression *r, int row, int number, size_t *categories,
                         double *constant, double *error)
{
    TRY(check_row(r, row));
    const struct sr_category *c = r->table.category;
    if (number < 0 || !c || number >= c->row[row].parameters)
        return ORR_FAIL(ORR_EMISSING,
                        "category: row %d has %d constants of each category, found "
                        "number %d",
                        row, c ? c->row[row].parameters : 0, number);
    const size_t count = (size_t)c->count, bytes = count * sizeof(double);
    const bool known = r->setup.settings.loss == ORR_SR_L2;
    if (categories)
        *categories = count;
    if (constant)
        memcpy(constant, c->row[row].value + (size_t)number * count, bytes);
    if (error)
        memcpy(error, c->row[row].error + (size_t)number * count, bytes);
    for (size_t k = 0; error && !known && k < count; k++)
        error[k] = NAN;
    return 0;
}

int orrery_regression_category(struct orrery_regression *r, int row, int number, size_t *categories,
                               double *constant, double *error)
{
    API_RETURN(r, copy_category(r, row, number, categories, constant, error));
}

static int copy_intervals(const struct orrery_regression *r, int row, double *low, double *high)
{
    TRY(check_row(r, row));
    if (!low || !high)
        return ORR_FAIL(ORR_EINVAL, "intervals: expected two pointers, found NULL");
    const struct sr_expr *expr = expr_of(r, row);
    const int count = sr_expr_constants(expr, NULL);
    for (int c = 0; c < count; c++)
        low[c] = high[c] = NAN;
    return r->setup.settings.loss == ORR_SR_L2 && !r->table.category && !is_unfitted(r, row)
               ? sr_constants_profile(expr, &r->table.data, r->table.variance, SR_LEVEL, low, high)
               : 0;
}

int orrery_regression_intervals(struct orrery_regression *r, int row, double *low, double *high)
{
    API_RETURN(r, copy_intervals(r, row, low, high));
}

static int copy_covariance(const struct orrery_regression *r, int row, double *triangle,
                           double *residual_variance, double *freedom)
{
    struct sr_uncertainty u = {.scatter = NAN, .spare = NAN};
    TRY(check_row(r, row));
    if (!triangle || !residual_variance || !freedom)
        return ORR_FAIL(ORR_EINVAL, "covariance: expected three pointers, found NULL");
    const struct sr_expr *expr = expr_of(r, row);
    const bool squares = r->setup.settings.loss == ORR_SR_L2 && !r->table.category;
    const bool known = squares && !is_unfitted(r, row);
    const int count = sr_expr_constants(expr, NULL);
    if (squares)
        TRY(sr_constants_uncertainty(expr, &r->table.data, r->table.variance, &u));
    for (int a = 0; a < count; a++)
        for (int b = 0; b <= a; b++)
            *triangle++ = known ? u.covariance[a][b] : (double)NAN;
    *residual_variance = u.scatter;
    *freedom = u.spare;
    return 0;
}

int orrery_regression_covariance(struct orrery_regression *r, int row, double *triangle,
                                 double *residual_variance, double *freedom)
{
    API_RETURN(r, copy_covariance(r, row, triangle, residual_variance, freedom));
}

double orrery_interval_factor(double level, double freedom)
{
    return level > 0 && level < 1 && freedom > 0 ? sr_interval_factor(level, freedom) : (double)NAN;
}

/* ------------------------------------------------------------------------------ evaluation */

/* Evaluates a formula row by row, with NaN where a value is not finite; with an uncertainty (else
 * NULL) also standard deviations. */
static void rows_of(const struct sr_expr *expr, struct sr_data *data, double *row, double *y,
                    const struct sr_uncertainty *u, double *deviation)
{
    const size_t rows = data->rows;
    const double *x = data->x;
    data->rows = 1;
    for (size_t i = 0; i < rows; i++) {
        double jacobian[SR_NODES], variance;
        for (int f = 0; f < data->features; f++)
            row[f] = x[(size_t)f * rows + i];
        data->x = row;
        if (!sr_eval(expr, data, y + i))
            y[i] = NAN;
        if (u)
            deviation[i] = sr_predict_variance(expr, data, u, y + i, jacobian, &variance)
                               ? sqrt(variance)
                               : (double)NAN;
    }
}

/* Fills the constants that row `row` of the front has in the categories of a table. */
static int enter_categories(const struct orrery_regression *r, int row,
                            const struct orrery_table *t, double *x)
{
    const struct sr_category *c = r->table.category;
    const size_t column = (size_t)orr_csv_column(&r->table.csv, c->name);
    for (size_t i = 0; i < t->rows; i++) {
        char label[SR_NUMBER];
        sr_number_print(api_cell(t, i, column), label);
        const int k = sr_category_find(c, label);
        if (k < 0)
            return sr_category_unknown("table", i, c->name, label, c->label, c->count);
        for (int p = 0; p < c->row[row].parameters; p++)
            x[(size_t)p * t->rows + i] = c->row[row].value[p * c->count + k];
    }
    return 0;
}

/* Whether a formula has constants of each category. */
static bool has_categories(const struct orrery_regression *r, const struct sr_expr *expr)
{
    const int columns = sr_category_features(&r->table.data, r->table.category);
    for (int i = 0; i < expr->count; i++)
        if (expr->node[i].op == SR_FEATURE && expr->node[i].feature >= columns)
            return true;
    return false;
}

/* row: of the front, -1 for another formula. u, deviation: NULL for values alone. */
static int evaluate_formula(const struct orrery_regression *r, const struct sr_expr *expr, int row,
                            const struct orrery_table *given, double *y,
                            const struct sr_uncertainty *u, double *deviation)
{
    const bool categories = has_categories(r, expr);
    struct orrery_table t;
    TRY(api_check_table(given, false, &t));
    if (!y)
        return ORR_FAIL(ORR_EINVAL, "y: expected a pointer, found NULL");
    if (t.columns != r->columns)
        return ORR_FAIL(ORR_EINVAL, "table: expected %zu columns, found %zu", r->columns,
                        t.columns);
    if (categories && row < 0)
        return ORR_FAIL(ORR_EINVAL, "formula: its constants of each category belong to a row of a "
                                    "front; orrery_regression_predict()");
    const int features = r->table.data.features;
    const int columns = sr_category_features(&r->table.data, r->table.category);
    double *x = orr_alloc((size_t)features * (t.rows + 1), sizeof *x);
    if (!x)
        return ORR_ENOMEM;
    for (int f = 0; f < columns; f++)
        for (size_t i = 0; i < t.rows; i++)
            x[(size_t)f * t.rows + i] = api_cell(&t, i, r->column[f]);
    const int rc = categories ? enter_categories(r, row, &t, x + (size_t)columns * t.rows) : 0;
    struct sr_data data = {
        .rows = t.rows, .features = features, .x = x, .y = x, .language = r->setup.language};
    if (!rc && (u || !sr_eval(expr, &data, y))) /* all rows at once where all values are finite */
        rows_of(expr, &data, x + (size_t)features * t.rows, y, u, deviation);
    free(x);
    return rc;
}

static int predict_row(const struct orrery_regression *r, int row, const struct orrery_table *table,
                       double *y)
{
    TRY(check_row(r, row));
    return evaluate_formula(r, expr_of(r, row), row, table, y, NULL, NULL);
}

int orrery_regression_predict(struct orrery_regression *r, int row,
                              const struct orrery_table *table, double *y)
{
    API_RETURN(r, predict_row(r, row, table, y));
}

int api_parse(struct orrery_regression *r, const char *formula, struct sr_expr *expr)
{
    if (!formula)
        return ORR_FAIL(ORR_EINVAL, "formula: expected a text, found NULL");
    if (!r->has_table)
        return ORR_FAIL(ORR_EMISSING,
                        "formula: its names are those of a table; orrery_regression_data()");
    TRY(r->setup.language ? 0 : api_set_up(r));
    return sr_expr_parse(r->setup.language, formula, r->table.name, r->table.data.features, expr);
}

static int evaluate_text(struct orrery_regression *r, const char *formula,
                         const struct orrery_table *table, double *y)
{
    struct sr_expr expr;
    TRY(api_parse(r, formula, &expr));
    return evaluate_formula(r, &expr, -1, table, y, NULL, NULL);
}

int orrery_regression_evaluate(struct orrery_regression *r, const char *formula,
                               const struct orrery_table *table, double *y)
{
    API_RETURN(r, evaluate_text(r, formula, table, y));
}

static int predict_deviations(struct orrery_regression *r, const char *formula,
                              const struct orrery_table *table, int constants,
                              const double *triangle, double *y, double *deviation)
{
    struct sr_uncertainty u;
    struct sr_expr expr;
    TRY(api_parse(r, formula, &expr));
    u.constants = sr_expr_constants(&expr, NULL);
    if (constants != u.constants)
        return ORR_FAIL(ORR_EINVAL, "constants: expected %d, those of the formula, found %d",
                        u.constants, constants);
    if (!triangle || !deviation)
        return ORR_FAIL(ORR_EINVAL, "deviation: expected pointers, found NULL");
    for (int a = 0; a < u.constants; a++)
        for (int b = 0; b <= a; b++)
            u.covariance[a][b] = u.covariance[b][a] = *triangle++;
    return evaluate_formula(r, &expr, -1, table, y, &u, deviation);
}

int orrery_regression_deviation(struct orrery_regression *r, const char *formula,
                                const struct orrery_table *table, int constants,
                                const double *triangle, double *y, double *deviation)
{
    API_RETURN(r, predict_deviations(r, formula, table, constants, triangle, y, deviation));
}
