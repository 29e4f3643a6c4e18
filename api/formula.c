/* formula.c - a formula as an object: its own language, nodes and columns, in no need of the search
 * that it came from. */
#include "regress.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct formula {
    const struct sr_language *language;
    struct sr_expr expr, readable;  /* readable: for LaTeX and MathML */
    int features, category_columns; /* the last features are constants of each category */
    const char *name[SR_FEATURES];  /* (features) */
    size_t column[SR_FEATURES];     /* (features) in the tables that it is evaluated on */
    size_t columns;                 /* of these tables */
};
/* Where the constants of each category of a row are. */
struct categories {
    const struct sr_category *category;
    size_t column; /* of the table that has the categories */
    int row;       /* of the front */
};
struct orrery_formula {
    struct api_handle handle;
    struct formula of;
    struct sr_language *language; /* those of `of`, owned */
    char *name[SR_FEATURES];
};

/* Leaves the handle for its message alone. */
static void empty(struct orrery_formula *f)
{
    sr_language_free(f->language);
    for (int k = 0; k < f->of.features; k++)
        free(f->name[k]);
    f->language = NULL;
    f->of = (struct formula){0};
}

/* Gives a formula a language of its own: that of a text of definitions, which may be NULL. */
static int own_language(struct orrery_formula *f, const char *define)
{
    f->of.language = f->language = sr_language_create();
    TRY(f->language ? 0 : ORR_ENOMEM);
    return define && *define ? sr_custom_define(f->language, define) : 0;
}

static int add_name(struct orrery_formula *f, const char *name, size_t column)
{
    const int k = f->of.features;
    f->name[k] = strdup(name);
    if (!f->name[k])
        return ORR_FAIL(ORR_ENOMEM, "formula: out of memory");
    f->of.name[k] = f->name[k];
    f->of.column[k] = column;
    f->of.features++;
    return 0;
}

/* ------------------------------------------------------------------------------ evaluation */

/* Evaluates a formula row by row, with NaN where a value is not finite; with an uncertainty (else
 * NULL) also standard deviations. */
static void evaluate_rows(const struct sr_expr *expr, struct sr_data *data, double *row, double *y,
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

/* Adds the constants that a row has in the category of each row, where the formula needs them. */
static int enter_categories(const struct categories *from, const struct orrery_table *t, double *x)
{
    const struct sr_category *c = from->category;
    for (size_t i = 0; i < t->rows; i++) {
        char label[SR_NUMBER];
        sr_number_print(api_cell(t, i, from->column), label);
        const int k = sr_category_find(c, label);
        if (k < 0)
            return sr_category_unknown("table", i, c->name, label, c->label, c->count);
        for (int p = 0; p < c->row[from->row].parameters; p++)
            x[(size_t)p * t->rows + i] = c->row[from->row].value[p * c->count + k];
    }
    return 0;
}

/* Values on a table; with an uncertainty (else NULL) also their standard deviations. */
static int evaluate_on(const struct formula *f, const struct categories *categories,
                       const struct orrery_table *given, double *y, const struct sr_uncertainty *u,
                       double *deviation)
{
    struct orrery_table t;
    const int own = f->features - f->category_columns;
    TRY(api_check_table(given, false, &t));
    if (!y)
        return ORR_FAIL(ORR_EINVAL, "y: expected a pointer, found NULL");
    if (t.columns != f->columns)
        return ORR_FAIL(ORR_EINVAL, "table: expected %zu columns, found %zu", f->columns,
                        t.columns);
    if (f->category_columns && !categories)
        return ORR_FAIL(ORR_EINVAL, "formula: its constants of each category belong to a row of a "
                                    "front; orrery_regression_predict()");
    double *x = orr_alloc((size_t)f->features * (t.rows + 1) + 1, sizeof *x);
    if (!x)
        return ORR_ENOMEM;
    for (int k = 0; k < own; k++)
        for (size_t i = 0; i < t.rows; i++)
            x[(size_t)k * t.rows + i] = api_cell(&t, i, f->column[k]);
    const int rc =
        f->category_columns ? enter_categories(categories, &t, x + (size_t)own * t.rows) : 0;
    struct sr_data data = {
        .rows = t.rows, .features = f->features, .x = x, .y = x, .language = f->language};
    if (!rc && (u || !sr_eval(&f->expr, &data, y))) /* all rows at once where all are finite */
        evaluate_rows(&f->expr, &data, x + (size_t)f->features * t.rows, y, u, deviation);
    free(x);
    return rc;
}

/* -------------------------------------------------------------------------------- creation */

/* Whether the name may stand in the text, by itself or in quotes. */
static bool may_use(const char *text, const char *name)
{
    char quoted[2 * 256 + 3], *to = quoted;
    if (strstr(text, name))
        return true;
    if (!strchr(name, '"') || strlen(name) > 255)
        return false;
    for (const char *c = name; *c; c++) {
        *to++ = *c;
        if (*c == '"')
            *to++ = '"';
    }
    *to = '\0';
    return strstr(text, quoted) != NULL;
}

/* Takes the columns that the text may use. */
static int take_names(const char *text, const char *const *names, size_t columns,
                      struct orrery_formula *f)
{
    char numbered[32];
    for (size_t c = 0; c < columns; c++) {
        snprintf(numbered, sizeof numbered, "x%zu", c + 1);
        const char *name = names ? names[c] : numbered;
        if (!name || !*name)
            return ORR_FAIL(ORR_EINVAL, "names: expected a name of column %zu, found %s", c,
                            name ? "\"\"" : "NULL");
        if (columns > SR_FEATURES && !may_use(text, name))
            continue;
        TRY(sr_column_name_check("table", 0, (int)c, name));
        TRY(sr_feature_name_check("table", 0, (int)c, name));
        for (int k = 0; k < f->of.features; k++)
            if (!strcmp(f->name[k], name))
                return ORR_FAIL(ORR_EINVAL, "names: \"%s\" stands twice", name);
        if (f->of.features == SR_FEATURES)
            return ORR_FAIL(ORR_EINVAL, "formula: expected at most %d columns in it", SR_FEATURES);
        TRY(add_name(f, name, c));
    }
    return 0;
}

static int parse(const char *text, const char *const *names, size_t columns, const char *define,
                 struct orrery_formula *f)
{
    if (!text)
        return ORR_FAIL(ORR_EINVAL, "formula: expected a text, found NULL");
    if (columns < 1 || columns > SR_COLUMNS)
        return ORR_FAIL(ORR_EINVAL, "columns: expected 1 to %d, found %zu", SR_COLUMNS, columns);
    f->of.columns = columns;
    TRY(take_names(text, names, columns, f));
    TRY(own_language(f, define));
    TRY(sr_expr_parse(f->language, text, f->of.name, f->of.features, &f->of.expr));
    f->of.readable = f->of.expr;
    sr_expr_collect(f->of.language, &f->of.readable);
    return 0;
}

int orrery_formula_parse(int interface_, const char *text, const char *const *names, size_t columns,
                         const char *define, struct orrery_formula **formula)
{
    struct api_call call;
    TRY(api_create(interface_, sizeof **formula, formula));
    struct orrery_formula *f = *formula;
    TRY(api_enter(&f->handle, &call));
    const int rc = parse(text, names, columns, define, f);
    if (rc)
        empty(f);
    return api_leave(&call, rc);
}

/* A formula of the regression's table, with the language and names of the regression. */
static struct formula formula_of(const struct orrery_regression *r, const struct sr_expr *expr)
{
    const struct sr_data *data = &r->table.data;
    const int own = sr_category_features(data, r->table.category);
    struct formula f = {.language = r->setup.language,
                        .expr = *expr,
                        .features = data->features,
                        .columns = r->columns};
    for (int k = 0; k < f.features; k++)
        f.name[k] = r->table.name[k];
    for (int k = 0; k < own; k++)
        f.column[k] = r->column[k];
    for (int i = 0; i < expr->count; i++)
        if (expr->node[i].op == SR_FEATURE && expr->node[i].feature >= own)
            f.category_columns = data->features - own;
    return f;
}

/* Copies what a formula refers to. */
static int own_parts(struct orrery_formula *f, const struct formula *from, const char *define)
{
    f->of = *from;
    f->of.features = 0;
    for (int k = 0; k < from->features; k++)
        TRY(add_name(f, from->name[k], from->column[k]));
    return own_language(f, define);
}

static int copy_formula(const struct orrery_regression *r, bool beside, int number,
                        struct orrery_formula **formula)
{
    const struct sr_front *front;
    if (!formula)
        return ORR_FAIL(ORR_EINVAL, "formula: expected a pointer, found NULL");
    *formula = NULL;
    TRY(api_find_row(r, beside, number, &front));
    struct formula from = formula_of(r, &front->expr[number]);
    TRY(sr_answer_formula(beside ? &r->solution.beside : &r->solution.answer, number,
                          &from.readable));
    struct orrery_formula *f = orr_alloc(1, sizeof *f);
    TRY(f ? 0 : ORR_ENOMEM);
    const int rc = own_parts(f, &from, r->setup.define);
    if (rc) {
        orrery_formula_free(f);
        return rc;
    }
    *formula = f;
    return 0;
}

int orrery_formula_of_row(struct orrery_regression *r, int row, struct orrery_formula **formula)
{
    API_RETURN(r, copy_formula(r, false, row, formula));
}

int orrery_formula_of_alternative(struct orrery_regression *r, int number,
                                  struct orrery_formula **formula)
{
    API_RETURN(r, copy_formula(r, true, number, formula));
}

void orrery_formula_free(struct orrery_formula *f)
{
    if (f)
        empty(f);
    free(f);
}

/* --------------------------------------------------------------------------------- queries */

/* A handle whose text was refused has a message alone. */
static int check(const struct orrery_formula *f)
{
    return f->of.language ? 0
                          : ORR_FAIL(ORR_EMISSING, "formula: the text of this handle was refused");
}

static int print(const struct formula *f, int notation, char *text, size_t bytes, size_t *needed)
{
    static const enum sr_notation of[] = {
        [ORRERY_LATEX] = SR_LATEX,  [ORRERY_C] = SR_C,     [ORRERY_SYMPY] = SR_SYMPY,
        [ORRERY_NUMPY] = SR_NUMPY,  [ORRERY_JAX] = SR_JAX, [ORRERY_PYTORCH] = SR_TORCH,
        [ORRERY_MATHML] = SR_MATHML};
    const char *const *names = f->name;
    char whole[SR_TEXT];
    if (notation < ORRERY_TEXT || notation > ORRERY_MATHML)
        return ORR_FAIL(ORR_EINVAL, "notation: expected 0 to %d, found %d", ORRERY_MATHML,
                        notation);
    if (notation == ORRERY_TEXT) {
        sr_expr_print(f->language, &f->expr, names, whole, sizeof whole);
    } else {
        struct sr_export *exported = orr_alloc(1, sizeof *exported);
        if (!exported)
            return ORR_ENOMEM;
        sr_export_make(exported, names, f->features);
        sr_expr_write(f->language, sr_notation_typeset(of[notation]) ? &f->readable : &f->expr,
                      of[notation], exported, whole, sizeof whole);
        free(exported);
    }
    return api_write_text(whole, text, bytes, needed);
}

static int print_formula(const struct orrery_formula *f, int notation, char *text, size_t bytes,
                         size_t *needed)
{
    TRY(check(f));
    return print(&f->of, notation, text, bytes, needed);
}

int orrery_formula_print(struct orrery_formula *f, int notation, char *text, size_t bytes,
                         size_t *needed)
{
    API_RETURN(f, print_formula(f, notation, text, bytes, needed));
}

static int evaluate(const struct orrery_formula *f, const struct orrery_table *table, double *y)
{
    TRY(check(f));
    return evaluate_on(&f->of, NULL, table, y, NULL, NULL);
}

int orrery_formula_evaluate(struct orrery_formula *f, const struct orrery_table *table, double *y)
{
    API_RETURN(f, evaluate(f, table, y));
}

static int mark_columns(const struct orrery_formula *f, size_t columns, int *used)
{
    TRY(check(f));
    if (columns != f->of.columns || !used)
        return ORR_FAIL(ORR_EINVAL, "columns: expected a capacity of %zu, found %zu", f->of.columns,
                        used ? columns : 0);
    memset(used, 0, columns * sizeof *used);
    for (int i = 0; i < f->of.expr.count; i++)
        if (f->of.expr.node[i].op == SR_FEATURE &&
            f->of.expr.node[i].feature < f->of.features - f->of.category_columns)
            used[f->of.column[f->of.expr.node[i].feature]] = 1;
    return 0;
}

int orrery_formula_columns(struct orrery_formula *f, size_t columns, int *used)
{
    API_RETURN(f, mark_columns(f, columns, used));
}

static int give_constants(const struct orrery_formula *f, int *count, double *constants)
{
    TRY(check(f));
    if (!count)
        return ORR_FAIL(ORR_EINVAL, "count: expected a pointer, found NULL");
    *count = sr_expr_constants(&f->of.expr, constants);
    return 0;
}

int orrery_formula_constants(struct orrery_formula *f, int *count, double *constants)
{
    API_RETURN(f, give_constants(f, count, constants));
}

static int give_deviations(const struct orrery_formula *f, const struct orrery_table *table,
                           int constants, const double *triangle, double *y, double *deviation)
{
    struct sr_uncertainty u;
    TRY(check(f));
    u.constants = sr_expr_constants(&f->of.expr, NULL);
    if (constants != u.constants)
        return ORR_FAIL(ORR_EINVAL, "constants: expected %d, those of the formula, found %d",
                        u.constants, constants);
    if (!triangle || !deviation)
        return ORR_FAIL(ORR_EINVAL, "deviation: expected pointers, found NULL");
    for (int a = 0; a < u.constants; a++)
        for (int b = 0; b <= a; b++)
            u.covariance[a][b] = u.covariance[b][a] = *triangle++;
    return evaluate_on(&f->of, NULL, table, y, &u, deviation);
}

int orrery_formula_deviation(struct orrery_formula *f, const struct orrery_table *table,
                             int constants, const double *covariance, double *y, double *deviation)
{
    API_RETURN(f, give_deviations(f, table, constants, covariance, y, deviation));
}

/* --------------------------------------------------------------- formulas of a regression */

static int predict_row(const struct orrery_regression *r, int row, const struct orrery_table *table,
                       double *y)
{
    TRY(api_check_row(r, row));
    const struct formula f = formula_of(r, &r->solution.fit->front.expr[row]);
    const struct sr_category *c = r->table.category;
    const int column = c ? orr_csv_column(&r->table.csv, c->name) : 0;
    const struct categories from = {c, (size_t)column, row};
    return evaluate_on(&f, &from, table, y, NULL, NULL);
}

int orrery_regression_predict(struct orrery_regression *r, int row,
                              const struct orrery_table *table, double *y)
{
    API_RETURN(r, predict_row(r, row, table, y));
}

static int print_row(const struct orrery_regression *r, int row, int notation, char *text,
                     size_t bytes, size_t *needed)
{
    TRY(api_check_row(r, row));
    struct formula f = formula_of(r, &r->solution.fit->front.expr[row]);
    TRY(sr_answer_formula(&r->solution.answer, row, &f.readable));
    return print(&f, notation, text, bytes, needed);
}

int orrery_regression_print(struct orrery_regression *r, int row, int notation, char *text,
                            size_t bytes, size_t *needed)
{
    API_RETURN(r, print_row(r, row, notation, text, bytes, needed));
}
