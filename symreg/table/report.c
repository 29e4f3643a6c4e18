/* report.c - writes report.md: the front, the rows that the rules select, their accuracy, and
 * remarks. */
#include <math.h>
#include <stdlib.h>

#include "program.h"

/* Writes a formula or a name into a table cell. */
static void write_code(struct orr_file *file, const char *text)
{
    orr_file_printf(file, " ");
    orr_markdown_code(file, text, true);
    orr_file_printf(file, " |");
}

/* Writes the heading. Names come from the user's table and file, and are escaped. */
static void write_head(const struct sr_answer *o, struct orr_file *file)
{
    char spent[ORR_DURATION], since[SR_DAY_TEXT];
    orr_duration_print(o->seconds, spent);
    orr_file_printf(file, "# ");
    orr_markdown_code(file, o->target, false);
    orr_file_printf(file, "\n\n%zu rows of ", o->data->rows);
    orr_markdown_code(file, o->file, false);
    for (int f = 0; f < sr_answer_features(o); f++) {
        orr_file_printf(file, f ? ", " : "; features ");
        orr_markdown_code(file, o->names[f], false);
        if (sr_answer_since(o, f, since))
            orr_file_printf(file, " (days since %s)", since);
    }
    orr_file_printf(file, ". Loss ");
    orr_markdown_code(file, o->loss, false);
    if (o->loss_parameter > 0)
        orr_file_printf(file, " (parameter %.4g)", o->loss_parameter);
    orr_file_printf(file, ", seed %llu, %.4g formulas in %s, Orrery %s.\n",
                    (unsigned long long)o->seed, o->evaluations, spent, ORR_VERSION);
    for (int k = 0; k < SR_STATEMENTS; k++) {
        struct sr_statement said;
        if (!sr_output_statement(o, (enum sr_statement_of)k, &said))
            continue;
        orr_file_printf(file, "%s", said.before);
        if (*said.code)
            orr_markdown_code(file, said.code, false);
        orr_file_printf(file, "%s\n", said.after);
    }
}

/* The answer in a person's words. */
static int write_answer(const struct sr_answer *o, struct orr_file *file)
{
    char text[SR_SENTENCE];
    TRY(sr_answer_sentence(o, text, sizeof text));
    orr_file_printf(file, "\n");
    orr_markdown_code(file, text, false);
    orr_file_printf(file, "\n");
    return 0;
}

static void write_test_head(const struct sr_test *test, struct orr_file *file)
{
    orr_file_printf(file, "Test: %zu rows of ", test->rows);
    orr_markdown_code(file, test->file, false);
    orr_file_printf(file,
                    ", which the search did not use; - where a formula is not finite there.\n\n");
}

static void write_front(const struct sr_answer *o, struct orr_file *file)
{
    char text[SR_TEXT], loss[40], r2[40];
    orr_file_printf(file, o->beside ? "\n## Alternatives\n\n" : "\n## The front\n\n");
    if (o->beside && !o->front->count) {
        orr_file_printf(file, "None was found.\n");
        return;
    }
    if (o->beside)
        orr_file_printf(file,
                        "Other functions, as good as what `best` selects; nats: by which their "
                        "description is longer.\n\n");
    else if (o->test)
        write_test_head(o->test, file);
    const bool paths = sr_answer_has_paths(o);
    orr_file_printf(file, "| complexity | loss |%s %s | description length |%s formula |\n",
                    paths ? " of the paths |" : "", sr_output_score(o),
                    o->test ? " test loss | test R2 |" : "");
    orr_file_printf(file, "|---:|---:|---:|---:|%s%s---|\n", paths ? "---:|" : "",
                    o->test ? "---:|---:|" : "");
    for (int i = 0; i < o->front->count; i++) {
        orr_file_printf(file, "| %d | %.6g |", o->front->complexity[i], o->front->loss[i]);
        if (paths) {
            sr_test_text(sr_answer_path_loss(o, i), 0, loss, sizeof loss);
            orr_file_printf(file, " %s |", loss);
        }
        orr_file_printf(file, " %.4g | %.1f |", o->front->score[i], o->front->mdl[i]);
        if (o->test) {
            sr_test_text(o->test->loss[i], 0, loss, sizeof loss);
            sr_test_text(o->test->r2[i], 0, r2, sizeof r2);
            orr_file_printf(file, " %s | %s |", loss, r2);
        }
        sr_expr_print(o->data->language, &o->front->expr[i], o->names, text, sizeof text);
        write_code(file, text);
        orr_file_printf(file, "\n");
    }
}

/* Lists the columns whose name in C and SymPy differs. */
static void write_names(const struct sr_export *names, struct orr_file *file)
{
    bool any = false;
    for (int f = 0; f < names->features; f++) {
        if (!sr_export_renamed(names, f))
            continue;
        if (!any)
            orr_file_printf(file, "\nThe formulas in C and Python (`front.json`) have other "
                                  "names for these columns:\n\n| column | name |\n|---|---|\n");
        any = true;
        orr_file_printf(file, "|");
        write_code(file, names->column[f]);
        write_code(file, names->name[f]);
        orr_file_printf(file, "\n");
    }
}

static int write_rules(const struct sr_answer *o, const struct sr_export *names, double *value,
                       struct orr_file *file)
{
    char text[SR_TEXT];
    orr_file_printf(
        file,
        "\n## What each rule selects\n\n%s| rule | complexity | 1 - R2 | largest residual | "
        "formula "
        "| LaTeX |\n|---|---:|---:|---:|---|---|\n",
        o->data->weight ? "1 - R2 has the weights of the rows, a residual the root of its row's "
                          "(weights have mean 1).\n\n"
                        : "");
    for (int rule = 0; rule < SR_RULES; rule++) {
        const int row = sr_front_select(o->front, (enum sr_rule)rule);
        double left = NAN, worst = NAN;
        if (row < 0 || !sr_eval(&o->front->expr[row], sr_answer_data(o, row), value))
            continue;
        sr_measure_fit(o->data, value, &left, &worst);
        orr_file_printf(file, "| %s | %d | %.3g | %.4g |", sr_rule_name[rule],
                        o->front->complexity[row], left, worst);
        sr_expr_print(o->data->language, &o->front->expr[row], o->names, text, sizeof text);
        write_code(file, text);
        TRY(sr_answer_write(o, row, SR_LATEX, names, text, sizeof text));
        write_code(file, text);
        orr_file_printf(file, "\n");
    }
    return 0;
}

void sr_bound_print(double bound, double constant, char *text, size_t bytes)
{
    int digits = 6;
    for (double share = fabs(bound - constant); share < 1e-3 * fabs(bound) && digits < 17; digits++)
        share *= 10;
    if (isinf(bound))
        snprintf(text, bytes, bound < 0 ? "-inf" : "inf");
    else if (isnan(bound))
        snprintf(text, bytes, "-");
    else
        snprintf(text, bytes, "%.*g", digits, bound);
}

int sr_output_constants(const struct sr_answer *o, int row, struct sr_shown_constants *s)
{
    const struct sr_expr *expr = row < 0 ? NULL : &o->front->expr[row];
    *s = (struct sr_shown_constants){.count = 0};
    if (!expr || !o->least_squares)
        return 0;
    s->count = sr_expr_constants(expr, s->constant);
    if (!s->count)
        return 0;
    double chi2, freedom;
    TRY(sr_answer_errors(o, row, s->error));
    if (o->category || o->front->unfitted[row] || row != sr_front_select(o->front, o->rule) ||
        sr_answer_measured(o, row, &chi2, &freedom))
        return 0;
    TRY(sr_constants_profile(expr, o->data, sr_answer_variance(o, row), SR_LEVEL, s->low, s->high));
    s->profiles = !isnan(s->low[0]);
    return 0;
}

/* For squared losses, writes the constants of the selected formula with standard errors and profile
 * intervals. */
static int write_constants(const struct sr_answer *o, struct orr_file *file)
{
    struct sr_shown_constants s;
    TRY(sr_output_constants(o, sr_front_select(o->front, o->rule), &s));
    if (!s.count)
        return 0;
    orr_file_printf(file,
                    "\n## Constants of what %s selects\n\nIn the order of the formula, with "
                    "standard errors %s%s.\n\n| constant | standard error |%s\n|---:|---:|%s\n",
                    sr_rule_name[o->rule],
                    o->variance_factor > 0 ? "from the noise of the tracks"
                    : o->variance > 0      ? "from the sigmas of the rows"
                                           : "from the scatter of the residuals",
                    s.profiles ? " and 95% profile intervals" : "",
                    s.profiles ? " from | to |" : "", s.profiles ? "---:|---:|" : "");
    for (int c = 0; c < s.count; c++) {
        char number[SR_NUMBER], text[40];
        sr_number_print(s.constant[c], number);
        sr_test_text(s.error[c], 0, text, sizeof text);
        orr_file_printf(file, "| %s | %s |", number, text);
        if (s.profiles) {
            char from[40], to[40];
            sr_bound_print(s.low[c], s.constant[c], from, sizeof from);
            sr_bound_print(s.high[c], s.constant[c], to, sizeof to);
            orr_file_printf(file, " %s | %s |", from, to);
        }
        orr_file_printf(file, "\n");
    }
    return 0;
}

static void write_permutations(const struct sr_permutations *p, struct orr_file *file)
{
    char text[512];
    sr_permutations_text(p, text, sizeof text);
    orr_file_printf(file,
                    "\n## Is it noise?\n\n%s. p is how often, at most, a target that has nothing "
                    "to do with the features would give as short a description.\n",
                    text);
}

/* Writes remarks about the table, then about constants of the selected formulas close to well-known
 * numbers. */
static void write_remarks(const struct sr_answer *o, struct orr_file *file)
{
    bool any = false, done[SR_NODES + 1] = {false};
    for (int k = 0; k < SR_TABLE_REMARKS; k++) {
        char text[512];
        if (!sr_table_remark(o, (enum sr_table_remark)k, text, sizeof text))
            continue;
        orr_file_printf(file, "%s- %s\n", any ? "" : "\n## Remarks\n\n", text);
        any = true;
    }
    for (int rule = 0; rule < SR_RULES; rule++) {
        const int row = sr_front_select(o->front, (enum sr_rule)rule);
        double constant[SR_NODES], error[SR_NODES];
        if (row < 0 || done[row])
            continue;
        done[row] = true;
        const int count = sr_expr_constants(&o->front->expr[row], constant);
        sr_answer_errors(o, row, error);
        for (int c = 0; c < count; c++) {
            char text[512], number[SR_NUMBER];
            sr_number_print(constant[c], number);
            if (!sr_constant_remark(constant[c], error[c], text, sizeof text))
                continue;
            orr_file_printf(file, "%s- %s at complexity %d is near %s\n",
                            any ? "" : "\n## Remarks\n\n", number, o->front->complexity[row], text);
            any = true;
        }
    }
}

/* *drawn: whether pictures were drawn. The report is written without them, too; pictures that fail
 * although there is a gnuplot are in `why`. ORR_ENOMEM. */
static int draw_pictures(const struct sr_answer *o, const char *folder, bool quiet, bool *drawn,
                         struct sr_late *why)
{
    const int rc = sr_report_pictures(o, folder);
    *drawn = rc == 0;
    if (!rc || rc == ORR_ENOMEM)
        return rc;
    if (rc == ORR_EMISSING)
        orr_note(quiet, "symreg: no pictures: %s", orr_error());
    else
        why->code = rc;
    snprintf(why->message, sizeof why->message, "%s", orr_error());
    orr_error_recover();
    return 0;
}

int sr_report(const struct sr_answer *o, const char *folder, bool quiet)
{
    struct orr_file file;
    struct sr_export names;
    char path[4096];
    bool drawn = false;
    struct sr_late pictures = {0};
    double *value = orr_alloc(o->data->rows, sizeof *value);
    int rc = value ? draw_pictures(o, folder, quiet, &drawn, &pictures) : ORR_ENOMEM;
    if (!rc)
        rc = orr_path(path, "%s/report.md", folder);
    if (!rc)
        rc = orr_file_create(&file, path);
    if (!rc) {
        sr_export_make(&names, o->names, o->data->features);
        write_head(o, &file);
        rc = write_answer(o, &file);
        write_front(o, &file);
        write_names(&names, &file);
        if (drawn)
            orr_file_printf(&file, "\n![front](front.png)\n");
        if (!rc)
            rc = write_rules(o, &names, value, &file);
        if (drawn)
            orr_file_printf(&file,
                            "\nResiduals of what `%s` selects:\n\n![residuals](residuals.png)\n",
                            sr_rule_name[o->rule]);
        sr_output_parts(o, SR_MARKDOWN, &file);
        if (!rc)
            rc = write_constants(o, &file);
        sr_output_categories(o, SR_REPORTED_CATEGORIES, SR_MARKDOWN, &file);
        if (o->alternatives)
            write_front(o->alternatives, &file);
        if (o->permutations)
            write_permutations(o->permutations, &file);
        write_remarks(o, &file);
        if (!rc)
            rc = orr_file_commit(&file);
        orr_file_close(&file);
    }
    free(value);
    return !rc && pictures.code ? ORR_FAIL(pictures.code, "%s", pictures.message) : rc;
}
