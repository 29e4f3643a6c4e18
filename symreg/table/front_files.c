/* front_files.c - writes a front in all notations: front_full.csv and front.json. */
#include "program.h"

#include <math.h>

#include <gsl/gsl_statistics_double.h>

#include <cjson/cJSON.h>

/* A row in a notation; people read the formula `readable`. */
static void write_notation(const struct sr_answer *o, int row, const struct sr_expr *readable,
                           int notation, const struct sr_export *names, char text[SR_TEXT])
{
    const enum sr_notation n = (enum sr_notation)notation;
    sr_expr_write(o->data->language, sr_notation_typeset(n) ? readable : &o->front->expr[row], n,
                  names, text, SR_TEXT);
}

int sr_output_table(const struct sr_answer *o, const char *path)
{
    const struct sr_front *front = o->front;
    struct sr_export names;
    struct orr_file file;
    char text[SR_TEXT];
    int rc = 0;
    sr_export_make(&names, o->names, o->data->features);
    TRY(orr_file_create(&file, path));
    orr_file_printf(&file, "Complexity,Loss,%s,DescriptionLength,Equation",
                    o->beside ? "Nats" : "Score");
    for (int k = 0; k < SR_NOTATIONS; k++)
        orr_file_printf(&file, ",%s", sr_notation_name[k]);
    orr_file_printf(&file, "\n");
    for (int i = 0; i < front->count && !rc; i++) {
        struct sr_expr readable;
        rc = sr_answer_formula(o, i, &readable);
        orr_file_printf(&file, "%d,%.9g,%.9g,%.9g,", front->complexity[i], front->loss[i],
                        front->score[i], front->mdl[i]);
        sr_expr_print(o->data->language, &front->expr[i], o->names, text, sizeof text);
        orr_csv_write_cell(&file, text);
        for (int k = 0; k < SR_NOTATIONS; k++) {
            write_notation(o, i, &readable, k, &names, text);
            orr_file_printf(&file, ",");
            orr_csv_write_cell(&file, text);
        }
        orr_file_printf(&file, "\n");
    }
    if (!rc)
        rc = orr_file_commit(&file);
    orr_file_close(&file);
    return rc;
}

/* ---- JSON: a tree is complete even where memory runs out (base/oom_reserve.c), and
 * orr_json_write() then refuses it. */

/* Adds the profile intervals of a row that a rule selects, if there are any; null where there is no
 * bound. */
static void add_profiles(const struct sr_answer *o, int row, cJSON *object)
{
    double low[SR_NODES], high[SR_NODES];
    const struct sr_expr *expr = &o->front->expr[row];
    const int count = sr_expr_constants(expr, NULL);
    double chi2, freedom;
    bool selected = false;
    for (int rule = 0; rule < SR_RULES; rule++)
        selected = selected || sr_front_select(o->front, (enum sr_rule)rule) == row;
    if (!count || !selected || o->beside || o->front->unfitted[row] ||
        sr_answer_measured(o, row, &chi2, &freedom) || /* profiles are those of the table */
        sr_constants_profile(expr, o->data, sr_answer_variance(o, row), SR_LEVEL, low, high) ||
        isnan(low[0]))
        return;
    orr_json_add_list(object, "low_95", low, count);
    orr_json_add_list(object, "high_95", high, count);
}

/* Gives the covariance of the table the errors that a further judge measured. */
static int take_measured(const struct sr_answer *o, int row, double error[SR_NODES],
                         struct sr_uncertainty *u)
{
    double chi2, freedom, times[SR_NODES];
    if (!sr_answer_measured(o, row, &chi2, &freedom))
        return 0;
    TRY(sr_answer_errors(o, row, error));
    for (int a = 0; a < u->constants; a++)
        times[a] = error[a] / sqrt(u->covariance[a][a]);
    for (int a = 0; a < u->constants; a++)
        for (int b = 0; b < u->constants; b++)
            u->covariance[a][b] *= times[a] * times[b];
    return 0;
}

/* Adds the constants in their order, their uncertainty and that of predictions, which `symreg
 * predict --interval` reads; null where there is none. */
static void add_constants(const struct sr_answer *o, int row, cJSON *object)
{
    double constant[SR_NODES], error[SR_NODES], triangle[SR_NODES * (SR_NODES + 1) / 2];
    const struct sr_expr *expr = &o->front->expr[row];
    const int count = sr_expr_constants(expr, constant);
    struct sr_uncertainty u;
    int n = 0;
    if (!o->least_squares)
        return;
    if (o->category) { /* those that all categories share */
        if (sr_answer_errors(o, row, error))
            return;
        orr_json_add_list(object, "constants", constant, count);
        orr_json_add_list(object, "standard_errors", error, count);
        return;
    }
    if (sr_constants_uncertainty(expr, o->data, sr_answer_variance(o, row), &u) ||
        sr_constants_errors_of(expr, o->data, sr_answer_variance(o, row), &u, error) ||
        take_measured(o, row, error, &u))
        return;
    const bool unfitted = o->front->unfitted[row]; /* not at the optimum: no uncertainty */
    for (int a = 0; a < count; a++) {
        error[a] = unfitted ? (double)NAN : error[a];
        for (int b = 0; b <= a; b++)
            triangle[n++] = unfitted ? (double)NAN : u.covariance[a][b];
    }
    orr_json_add_list(object, "constants", constant, count);
    orr_json_add_list(object, "standard_errors", error, count);
    orr_json_add_list(object, "covariance", triangle, n);
    orr_json_add_exact(object, "noise_variance", u.noise);
    orr_json_add_exact(object, "residual_variance", u.scatter);
    orr_json_add_exact(object, "degrees_of_freedom", u.spare);
    add_profiles(o, row, object);
}

/* The column, its values, and the names of its constants in the formulas. */
static void add_category(const struct sr_answer *o, cJSON *json)
{
    const struct sr_category *c = o->category;
    cJSON *object = cJSON_AddObjectToObject(json, "category");
    cJSON_AddStringToObject(object, "column", c->name);
    cJSON *values = cJSON_AddArrayToObject(object, "values");
    for (int k = 0; k < c->count; k++)
        cJSON_AddItemToArray(values, cJSON_CreateString(c->label[k]));
    cJSON *names = cJSON_AddArrayToObject(object, "constants");
    for (int k = 0; k < c->most; k++)
        cJSON_AddItemToArray(names, cJSON_CreateString(c->parameter[k]));
}

/* The constants of each category, in the order of the column's values. */
static void add_category_row(const struct sr_answer *o, int row, cJSON *object)
{
    const struct sr_category *c = o->category;
    const struct sr_category_row *of = &c->row[row];
    cJSON *list = cJSON_AddArrayToObject(object, "category_constants");
    for (int k = 0; k < of->parameters; k++) {
        cJSON *entry = cJSON_CreateObject();
        cJSON_AddItemToArray(list, entry);
        cJSON_AddStringToObject(entry, "name", c->parameter[k]);
        orr_json_add_list(entry, "values", of->value + k * c->count, c->count);
        if (o->least_squares)
            orr_json_add_list(entry, "standard_errors", of->error + k * c->count, c->count);
    }
}

/* The parts of a template, by their headings. */
static void add_parts(const struct sr_answer *o, int row, cJSON *object)
{
    char head[SR_TEXT], text[SR_TEXT];
    cJSON *parts = cJSON_AddObjectToObject(object, "parts");
    for (int k = 0; k < o->form->parts; k++) {
        sr_template_head(o->form, k, o->names, head, sizeof head);
        sr_template_text(o->form, k, &o->front->expr[row], o->names, text, sizeof text);
        cJSON_AddStringToObject(parts, head, text);
    }
}

/* A number that is not finite becomes null. */
static int add_row(const struct sr_answer *o, const struct sr_export *names, int row, cJSON *array)
{
    static const char *const keys[SR_NOTATIONS] = {"latex", "c",       "sympy", "numpy",
                                                   "jax",   "pytorch", "mathml"};
    const struct sr_front *front = o->front;
    struct sr_expr readable;
    char text[SR_TEXT], line[SR_SENTENCE];
    TRY(sr_answer_formula(o, row, &readable));
    cJSON *object = cJSON_CreateObject();
    cJSON_AddItemToArray(array, object);
    sr_expr_print(o->data->language, &front->expr[row], o->names, text, sizeof text);
    cJSON_AddNumberToObject(object, "complexity", front->complexity[row]);
    cJSON_AddNumberToObject(object, "loss", front->loss[row]);
    if (sr_answer_has_paths(o))
        cJSON_AddNumberToObject(object, "path_loss", sr_answer_path_loss(o, row));
    cJSON_AddNumberToObject(object, sr_output_score(o), front->score[row]);
    cJSON_AddNumberToObject(object, "description_length", front->mdl[row]);
    cJSON_AddStringToObject(object, "equation", text);
    for (int k = 0; k < SR_NOTATIONS; k++) {
        write_notation(o, row, &readable, k, names, text);
        cJSON_AddStringToObject(object, keys[k], text);
    }
    add_constants(o, row, object);
    if (o->category)
        add_category_row(o, row, object);
    if (o->form)
        add_parts(o, row, object);
    if (o->test) {
        cJSON_AddNumberToObject(object, "test_loss", o->test->loss[row]);
        cJSON_AddNumberToObject(object, "test_r2", o->test->r2[row]);
    }
    if (o->beside)
        return 0;
    TRY(sr_answer_line(o, row, line, sizeof line));
    cJSON_AddStringToObject(object, "answer", line);
    cJSON *rules = cJSON_AddArrayToObject(object, "selected_by");
    for (int rule = 0; rule < SR_RULES; rule++)
        if (sr_front_select(front, (enum sr_rule)rule) == row)
            cJSON_AddItemToArray(rules, cJSON_CreateString(sr_rule_name[rule]));
    return 0;
}

static int add_rows(const struct sr_answer *o, const char *key, const struct sr_export *names,
                    cJSON *json)
{
    cJSON *rows = cJSON_AddArrayToObject(json, key);
    for (int i = 0; i < o->front->count; i++)
        TRY(add_row(o, names, i, rows));
    return 0;
}

/* Adds the weights. A column may have any name, so a column is distinguished from the other
 * kinds. */
static void add_weights(cJSON *json, const struct sr_answer *o)
{
    const char *weights = o->weights;
    char text[300];
    if (o->log_target)
        cJSON_AddTrueToObject(json, "log_target");
    if (weights)
        orr_json_add_exact(json, "weight_mean", o->weight_mean);
    if (weights && !*weights) {
        double largest = 0;
        for (size_t i = 0; i < o->data->rows; i++)
            largest = fmax(largest, o->data->weight[i]);
        orr_json_add_exact(json, "weight_largest", largest * o->weight_mean);
    }
    if (o->variance > 0) {
        cJSON_AddStringToObject(json, "weights", "1/sigma^2");
        cJSON_AddStringToObject(json, "sigma", weights);
    } else if (o->by) {
        char formula[SR_TEXT];
        sr_expr_print(o->data->language, o->by, o->names, formula, sizeof formula);
        cJSON_AddStringToObject(json, "weights", SR_WEIGHTS_CHOSEN);
        cJSON_AddStringToObject(json, "weights_predicted_by", formula);
    } else if (weights) {
        snprintf(text, sizeof text, "column %s", weights);
        cJSON_AddStringToObject(json, "weights", *weights ? text : "1/y^2");
    } else {
        cJSON_AddNullToObject(json, "weights");
    }
}

/* Adds the smallest and the largest number of each feature. */
static void add_ranges(const struct sr_answer *o, cJSON *json)
{
    const size_t rows = o->data->rows;
    const int features = sr_answer_features(o);
    double low[SR_FEATURES], high[SR_FEATURES];
    for (int f = 0; f < features; f++)
        gsl_stats_minmax(&low[f], &high[f], o->data->x + (size_t)f * rows, 1, rows);
    orr_json_add_list(json, "features_low", low, features);
    orr_json_add_list(json, "features_high", high, features);
}

/* Adds the columns of dates, with the day that counts as 0. */
static void add_dates(const struct sr_dates *dates, cJSON *json)
{
    cJSON *list = dates && dates->count ? cJSON_AddArrayToObject(json, "dates") : NULL;
    for (int k = 0; list && k < dates->count; k++) {
        char text[SR_DAY_TEXT];
        cJSON *item = cJSON_CreateObject();
        cJSON_AddItemToArray(list, item);
        sr_day_text(dates->of[k].first, text);
        cJSON_AddStringToObject(item, "column", dates->of[k].name);
        cJSON_AddStringToObject(item, "first", text);
        orr_json_add_exact(item, "first_day", dates->of[k].first);
    }
}

/* Adds the columns whose exported name differs. */
static void add_names(const struct sr_export *names, cJSON *json)
{
    cJSON *list = cJSON_AddArrayToObject(json, "exported_names");
    for (int f = 0; f < names->features; f++) {
        if (!sr_export_renamed(names, f))
            continue;
        cJSON *pair = cJSON_CreateObject();
        cJSON_AddItemToArray(list, pair);
        cJSON_AddStringToObject(pair, "column", names->column[f]);
        cJSON_AddStringToObject(pair, "name", names->name[f]);
    }
}

static void add_permutations(const struct sr_permutations *p, cJSON *json)
{
    cJSON *object = cJSON_AddObjectToObject(json, "permutations");
    cJSON_AddNumberToObject(object, "searches", p->searches);
    cJSON_AddNumberToObject(object, "as_good", p->as_good);
    cJSON_AddNumberToObject(object, "p", p->p);
    cJSON_AddNumberToObject(object, "complexity", p->complexity);
    cJSON_AddNumberToObject(object, "least_loss", p->least);
    cJSON_AddNumberToObject(object, "median_loss", p->median);
}

int sr_output_json(const struct sr_answer *o, const char *path)
{
    struct sr_export names;
    sr_export_make(&names, o->names, o->data->features);
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "version", ORR_VERSION);
    cJSON_AddStringToObject(json, "file", o->file);
    cJSON_AddStringToObject(json, "target", o->target);
    if (o->end_name)
        cJSON_AddItemToObject(json, "target_interval", cJSON_CreateStringArray(o->end_name, 2));
    cJSON_AddNumberToObject(json, "rows", (double)o->data->rows);
    if (o->front->worth > 0)
        cJSON_AddNumberToObject(json, "rows_worth", o->front->worth);
    if (sr_front_counts_fewer(o->front))
        cJSON_AddNumberToObject(json, "rows_independent", o->front->independent);
    if (o->table && o->table->odds) {
        cJSON *const rows = cJSON_AddArrayToObject(json, "left_out_rows");
        for (int k = 0; k < o->table->odds; k++)
            cJSON_AddItemToArray(rows, cJSON_CreateNumber((double)o->table->odd[k]));
    }
    if (o->front->odds) {
        cJSON *const rows = cJSON_AddArrayToObject(json, "compared_without_rows");
        for (int k = 0; k < o->front->odds; k++)
            cJSON_AddItemToArray(rows, cJSON_CreateNumber((double)o->front->odd[k]));
    }
    if (o->front->without)
        cJSON_AddNumberToObject(json, "compared_without_row", (double)o->front->without);
    orr_json_add_u64(json, "seed", o->seed);
    cJSON_AddStringToObject(json, "loss", o->loss);
    if (o->loss_parameter > 0)
        orr_json_add_exact(json, "loss_parameter", o->loss_parameter);
    add_weights(json, o);
    cJSON_AddNumberToObject(json, "evaluations", o->evaluations);
    if (o->define)
        cJSON_AddStringToObject(json, "define", o->define);
    if (o->form)
        cJSON_AddStringToObject(json, "template", o->form_text);
    if (o->test) {
        cJSON_AddStringToObject(json, "test_file", o->test->file);
        cJSON_AddNumberToObject(json, "test_rows", (double)o->test->rows);
    }
    if (o->permutations)
        add_permutations(o->permutations, json);
    cJSON *features = cJSON_AddArrayToObject(json, "features");
    for (int f = 0; f < sr_answer_features(o); f++)
        cJSON_AddItemToArray(features, cJSON_CreateString(o->names[f]));
    add_ranges(o, json);
    add_dates(o->dates, json);
    add_names(&names, json);
    if (o->category)
        add_category(o, json);
    int rc = add_rows(o, "front", &names, json);
    if (o->alternatives && !rc)
        rc = add_rows(o->alternatives, "alternatives", &names, json);
    if (!rc)
        rc = orr_json_write(path, json);
    cJSON_Delete(json);
    return rc;
}
