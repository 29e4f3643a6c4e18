/* report.c - report.md: the front, what each rule selects, how well that fits, and remarks. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "output.h"

/* A formula or name in a cell of a table. */
static int write_code(struct orr_file *file, const char *text)
{
    TRY(orr_file_printf(file, " "));
    TRY(orr_markdown_code(file, text, true));
    return orr_file_printf(file, " |");
}

/* Names are those of a stranger's table and file. */
static int write_head(const struct sr_output *o, struct orr_file *file)
{
    char spent[ORR_DURATION];
    orr_duration_print(o->seconds, spent);
    TRY(orr_file_printf(file, "# "));
    TRY(orr_markdown_code(file, o->target, false));
    TRY(orr_file_printf(file, "\n\n%zu rows of ", o->data->rows));
    TRY(orr_markdown_code(file, o->file, false));
    for (int f = 0; f < o->data->features; f++) {
        TRY(orr_file_printf(file, f ? ", " : "; features "));
        TRY(orr_markdown_code(file, o->names[f], false));
    }
    TRY(orr_file_printf(file, ". Loss "));
    TRY(orr_markdown_code(file, o->loss, false));
    TRY(orr_file_printf(file, ", seed %llu, %.4g formulas in %s, Orrery %s.\n",
                        (unsigned long long)o->seed, o->evaluations, spent, ORR_VERSION));
    if (o->weights && *o->weights) {
        TRY(orr_file_printf(file, "Rows have the weights of column "));
        TRY(orr_markdown_code(file, o->weights, false));
        TRY(orr_file_printf(file, ".\n"));
    } else if (o->weights) {
        TRY(orr_file_printf(file, "Rows have the weights 1/y^2; those with |y| below a tenth of "
                                  "its median have that one's.\n"));
    }
    return orr_file_printf(file, "\n## The front\n\n"
                                 "| complexity | loss | score | description length | formula "
                                 "|\n|---:|---:|---:|---:|---|\n");
}

static int write_front(const struct sr_output *o, struct orr_file *file)
{
    char text[SR_TEXT];
    int rc = 0;
    for (int i = 0; i < o->front->count && !rc; i++) {
        rc = orr_file_printf(file, "| %d | %.6g | %.4g | %.1f |", o->front->complexity[i],
                             o->front->loss[i], o->front->score[i], o->front->mdl[i]);
        sr_expr_print(o->data->language, &o->front->expr[i], o->names, text, sizeof text);
        if (!rc)
            rc = write_code(file, text);
        if (!rc)
            rc = orr_file_printf(file, "\n");
    }
    return rc;
}

/* The columns whose name in C and SymPy is another. */
static int write_names(const struct sr_export *names, struct orr_file *file)
{
    int rc = 0;
    bool any = false;
    for (int f = 0; f < names->features && !rc; f++) {
        if (!sr_export_renamed(names, f))
            continue;
        if (!any)
            rc =
                orr_file_printf(file, "\nThe formulas in C and SymPy (`front.json`) have other "
                                      "names for these columns:\n\n| column | name |\n|---|---|\n");
        any = true;
        if (!rc)
            rc = orr_file_printf(file, "|");
        if (!rc)
            rc = write_code(file, names->column[f]);
        if (!rc)
            rc = write_code(file, names->name[f]);
        if (!rc)
            rc = orr_file_printf(file, "\n");
    }
    return rc;
}

/* Share of the variance left, and the largest deviation: rows have their weight, a deviation the
 * root of it. */
static void quality(const struct sr_data *data, const double *value, double *left, double *worst)
{
    double mean = 0, total = 0, residual = 0, rows = 0;
    *worst = 0;
    for (size_t i = 0; i < data->rows; i++)
        rows += sr_row_weight(data, i);
    for (size_t i = 0; i < data->rows; i++)
        mean += sr_row_weight(data, i) * data->y[i] / rows;
    for (size_t i = 0; i < data->rows; i++) {
        const double d = value[i] - data->y[i], w = sr_row_weight(data, i);
        total += w * (data->y[i] - mean) * (data->y[i] - mean);
        residual += w * d * d;
        *worst = fmax(*worst, sqrt(w) * fabs(d));
    }
    *left = total > 0 ? residual / total : NAN;
}

static int write_rules(const struct sr_output *o, const struct sr_export *names, double *value,
                       struct orr_file *file)
{
    char text[SR_TEXT];
    int rc = orr_file_printf(
        file,
        "\n## What each rule selects\n\n%s| rule | complexity | 1 - R2 | largest residual | "
        "formula "
        "| LaTeX |\n|---|---:|---:|---:|---|---|\n",
        o->data->weight ? "1 - R2 has the weights of the rows, a residual the root of its row's "
                          "(weights have mean 1).\n\n"
                        : "");
    for (int rule = 0; rule < SR_RULES && !rc; rule++) {
        const int row = sr_front_select(o->front, (enum sr_rule)rule);
        double left = NAN, worst = NAN;
        if (row < 0 || !sr_eval(&o->front->expr[row], o->data, value))
            continue;
        quality(o->data, value, &left, &worst);
        rc = orr_file_printf(file, "| %s | %d | %.3g | %.4g |", sr_rule_name[rule],
                             o->front->complexity[row], left, worst);
        sr_expr_print(o->data->language, &o->front->expr[row], o->names, text, sizeof text);
        if (!rc)
            rc = write_code(file, text);
        sr_expr_write(o->data->language, &o->front->expr[row], SR_LATEX, names, text, sizeof text);
        if (!rc)
            rc = write_code(file, text);
        if (!rc)
            rc = orr_file_printf(file, "\n");
    }
    return rc;
}

/* Remarks about the table, then numbers of the selected formulas that look familiar. */
static int write_remarks(const struct sr_output *o, struct orr_file *file)
{
    bool any = false, done[SR_NODES + 1] = {false};
    int rc = 0;
    for (int k = 0; k < SR_TABLE_REMARKS && !rc; k++) {
        char text[512];
        if (!sr_table_remark(o, (enum sr_table_remark)k, text, sizeof text))
            continue;
        rc = orr_file_printf(file, "%s- %s\n", any ? "" : "\n## Remarks\n\n", text);
        any = true;
    }
    for (int rule = 0; rule < SR_RULES && !rc; rule++) {
        const int row = sr_front_select(o->front, (enum sr_rule)rule);
        double constant[SR_NODES];
        if (row < 0 || done[row])
            continue;
        done[row] = true;
        const int count = sr_expr_constants(&o->front->expr[row], constant);
        for (int c = 0; c < count && !rc; c++) {
            char text[80], number[SR_NUMBER];
            sr_number_print(constant[c], number);
            if (!sr_constant_remark(constant[c], text, sizeof text))
                continue;
            rc = orr_file_printf(file, "%s- %s at complexity %d is near %s\n",
                                 any ? "" : "\n## Remarks\n\n", number, o->front->complexity[row],
                                 text);
            any = true;
        }
    }
    return rc;
}

int sr_report(const struct sr_output *o, const char *folder, bool quiet)
{
    struct orr_file file = {0};
    char path[4096];
    double *value = orr_alloc(o->data->rows, sizeof *value);
    int rc = value ? 0 : ORR_ENOMEM;
    bool pictures = false;
    struct sr_export names;
    sr_export_make(&names, o->names, o->data->features);
    if (!rc) {
        rc = sr_report_pictures(o, folder);
        pictures = !rc;
        if (rc == ORR_EMISSING) { /* the report is worth having without */
            orr_note(quiet, "symreg: no pictures: %s", orr_error());
            orr_error_clear();
            rc = 0;
        }
    }
    if (!rc)
        rc = orr_path(path, "%s/report.md", folder);
    if (!rc)
        rc = orr_file_create(&file, path);
    if (!rc)
        rc = write_head(o, &file);
    if (!rc)
        rc = write_front(o, &file);
    if (!rc)
        rc = write_names(&names, &file);
    if (!rc && pictures)
        rc = orr_file_printf(&file, "\n![front](front.png)\n");
    if (!rc)
        rc = write_rules(o, &names, value, &file);
    if (!rc && pictures)
        rc = orr_file_printf(&file,
                             "\nResiduals of what `%s` selects:\n\n![residuals]("
                             "residuals.png)\n",
                             sr_rule_name[o->rule]);
    if (!rc)
        rc = write_remarks(o, &file);
    if (!rc)
        rc = orr_file_commit(&file);
    orr_file_close(&file);
    free(value);
    return rc;
}
