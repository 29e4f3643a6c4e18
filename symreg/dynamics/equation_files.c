/* equation_files.c - a system of equations as files: for people and for programs. */
#include <ctype.h>

#include <cjson/cJSON.h>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "sentences.h"

static void add_texts(cJSON *json, const char *key, const char (*name)[SR_STATE_NAME], int count)
{
    cJSON *list = cJSON_AddArrayToObject(json, key);
    for (int k = 0; k < count; k++)
        cJSON_AddItemToArray(list, cJSON_CreateString(name[k]));
}

static void add_numbers(cJSON *list, const double *value, int count)
{
    cJSON *object = cJSON_CreateObject();
    orr_json_add_list(object, "list", value, count);
    cJSON_AddItemToArray(list, cJSON_DetachItemFromObject(object, "list"));
    cJSON_Delete(object);
}

/* The column, its values, and what each constant is for these, as in front.json. */
static void add_categories(const struct sr_states *s, const struct sr_system *system, cJSON *json)
{
    if (!s->categories)
        return;
    cJSON *const object = cJSON_AddObjectToObject(json, "category");
    cJSON_AddStringToObject(object, "column", s->category);
    cJSON *const values = cJSON_AddArrayToObject(object, "values");
    for (int i = 0; i < s->categories; i++)
        cJSON_AddItemToArray(values, cJSON_CreateString(s->category_label[i]));
    cJSON *const list = cJSON_AddArrayToObject(json, "category_constants");
    for (int k = 0; k < system->constants; k++) {
        cJSON *const entry = cJSON_CreateObject();
        cJSON_AddItemToArray(list, entry);
        cJSON_AddStringToObject(entry, "name", s->each_name[k]);
        orr_json_add_list(entry, "values", system->each.value[k], s->categories);
        orr_json_add_list(entry, "standard_errors", system->each_error.value[k], s->categories);
    }
}

static int write_json(const struct sr_states *s, const struct sr_language *language,
                      const struct sr_system *system, const char *define, const char *path)
{
    const char *name[SR_SYSTEM_NAMES];
    char text[SR_TEXT];
    const int t = sr_states_time(s);
    cJSON *json = cJSON_CreateObject();
    sr_said_names(s, name);
    cJSON_AddStringToObject(json, "version", ORR_VERSION);
    cJSON *equations = cJSON_AddArrayToObject(json, "equations");
    cJSON *latex = cJSON_CreateArray();
    for (int d = 0; d < s->dims; d++) {
        struct sr_expr readable = system->expr[d];
        sr_expr_print(language, &system->expr[d], name, text, sizeof text);
        cJSON_AddItemToArray(equations, cJSON_CreateString(text));
        sr_expr_collect(language, &readable);
        sr_expr_text(language, &readable, SR_LATEX, name, text, sizeof text);
        cJSON_AddItemToArray(latex, cJSON_CreateString(text));
    }
    add_texts(json, "columns", s->name, s->dims);
    cJSON_AddNumberToObject(json, "order", s->order);
    if (s->order == 2)
        add_texts(json, "velocities", s->name + s->dims, s->dims);
    cJSON_AddStringToObject(json, "time", s->name[t]);
    cJSON_AddBoolToObject(json, "explicit_time", s->explicit_time);
    if (s->inputs)
        add_texts(json, "inputs", s->name + t + 1, s->inputs);
    if (define)
        cJSON_AddStringToObject(json, "define", define);
    cJSON *values = cJSON_AddArrayToObject(json, "constants");
    cJSON *errors = cJSON_AddArrayToObject(json, "standard_errors");
    cJSON *low = cJSON_AddArrayToObject(json, "interval_low");
    cJSON *high = cJSON_AddArrayToObject(json, "interval_high");
    for (int d = 0; d < s->dims; d++) {
        double value[SR_NODES];
        const int count = sr_expr_constants(&system->expr[d], value);
        add_numbers(values, value, count);
        add_numbers(errors, system->error[d], count);
        add_numbers(low, system->low[d], count);
        add_numbers(high, system->high[d], count);
    }
    orr_json_add_list(json, "noise", s->noise, s->dims);
    cJSON *kinds = cJSON_AddArrayToObject(json, "noise_proportional");
    for (int d = 0; d < s->dims; d++)
        cJSON_AddItemToArray(kinds, cJSON_CreateBool(s->proportional[d]));
    cJSON_AddBoolToObject(json, "chosen_by_track", system->by_track);
    cJSON *alone = cJSON_AddArrayToObject(json, "fitted_alone");
    for (int d = 0; d < s->dims; d++)
        cJSON_AddItemToArray(alone, cJSON_CreateBool(system->alone[d]));
    if (system->follows_time >= 0)
        cJSON_AddStringToObject(json, "follows_time", s->name[system->follows_time]);
    orr_json_add_exact(json, "residual", system->residual);
    cJSON_AddItemToObject(json, "latex", latex);
    cJSON *conserved = cJSON_AddArrayToObject(json, "conserved");
    for (int q = 0; q < system->conserved.count; q++) {
        cJSON *item = cJSON_CreateObject();
        sr_expr_print(language, &system->conserved.expr[q], name, text, sizeof text);
        cJSON_AddStringToObject(item, "formula", text);
        cJSON_AddNumberToObject(item, "change", system->conserved.change[q]);
        cJSON_AddItemToArray(conserved, item);
    }
    sr_symmetry_json(s, &system->symmetry, json);
    add_categories(s, system, json);
    const int rc = orr_json_write(path, json);
    cJSON_Delete(json);
    return rc;
}

/* The value of a name in a program: of a state, a velocity, the time, an input or a constant of
 * each category. */
static void write_source(const struct sr_states *s, int k, char *text, size_t bytes)
{
    const int t = sr_states_time(s);
    if (k >= SR_EACH_FIRST)
        snprintf(text, bytes, "categories_[category_][%d]", k - SR_EACH_FIRST);
    else if (k == t)
        snprintf(text, bytes, "time_");
    else
        snprintf(text, bytes, k < t ? "state_[%d]" : "input_[%d]", k < t ? k : k - t - 1);
}

static uint64_t names_used(const struct sr_states *s, const struct sr_system *system)
{
    uint64_t used = 0;
    for (int d = 0; d < s->dims; d++)
        for (int i = 0; i < system->expr[d].count; i++)
            if (system->expr[d].node[i].op == SR_FEATURE)
                used |= UINT64_C(1) << system->expr[d].node[i].feature;
    return used;
}

struct program {
    enum sr_notation notation;
    const char *head;               /* of the file */
    const char *table, *of, *close; /* of constants of each category: format of how many each has */
    const char *argument;           /* the category's */
    const char *declares, *says, *begins, *end; /* %s: that argument; says: the time, the list */
    const char *let, *rate, *passed; /* formats of a name, of a rate, of a velocity as rate */
};
static const struct program programs[] = {
    {SR_NUMPY, "# The right-hand side of the equations that were found.\nimport numpy as np\n\n\n",
     "# The %d constants of each category_.\ncategories_ = {\n", "    %s: (%s),\n", "}\n\n\n",
     ", *, category_", "def rhs(time_, state_, input_=()%s):\n",
     "    \"\"\"Returns d/d%s of state_, %s.\"\"\"\n", "", "    return np.array(rate_)\n",
     "    %s = %s\n", "    rate_.append(%s)\n", "    rate_.append(state_[%d])\n"},
    {SR_C, "/* The right-hand side of the equations that were found. */\n#include <math.h>\n\n",
     "/* The constants of each category_. */\nstatic const double categories_[][%d] = {\n",
     "    // %s\n    {%s},\n", "};\n\n", "int category_, ",
     "void rhs(double time_, const double state_[], const double input_[], %sdouble rate_[]);\n\n",
     "/* rate_ is d/d%s of state_, %s. */\n",
     "void rhs(double time_, const double state_[], const double input_[], %sdouble rate_[])\n{\n",
     "    (void)time_;\n    (void)state_;\n    (void)input_;\n}\n", "    const double %s = %s;\n",
     "    *rate_++ = %s;\n", "    *rate_++ = state_[%d];\n"},
};

/* The constants of each category, whose label is a text of JSON. */
static int write_categories(const struct program *p, const struct sr_states *s,
                            const struct sr_system *system, struct orr_file *file)
{
    orr_file_printf(file, p->table, system->constants);
    for (int i = 0; i < s->categories; i++) {
        char list[SR_EACH * 32] = "";
        cJSON *const label = cJSON_CreateString(s->category_label[i]);
        char *const quoted = label ? cJSON_PrintUnformatted(label) : NULL;
        for (int k = 0; k < system->constants; k++)
            orr_append(list, sizeof list, "%.17g, ", system->each.value[k][i]);
        if (quoted)
            orr_file_printf(file, p->of, quoted, list);
        cJSON_free(quoted);
        cJSON_Delete(label);
        TRY(quoted ? 0 : ORR_FAIL(ORR_ENOMEM, "equations: out of memory"));
    }
    orr_file_printf(file, "%s", p->close);
    return 0;
}

static int write_program(const struct program *p, const struct sr_states *s,
                         const struct sr_language *language, const struct sr_system *system,
                         const char *path)
{
    const char *name[SR_SYSTEM_NAMES];
    struct sr_export names;
    struct orr_file file;
    char text[SR_TEXT], list[SR_STATES * 2 * 64] = "";
    const char *const category = system->constants ? p->argument : "";
    const uint64_t used = names_used(s, system);
    sr_said_names(s, name);
    sr_export_make(&names, name, system->constants ? SR_EACH_FIRST + system->constants : s->names);
    for (int k = 0; k < s->order * s->dims; k++)
        orr_append(list, sizeof list, "%s%s", k ? ", " : "", names.name[k]);
    TRY(orr_file_create(&file, path));
    orr_file_printf(&file, "%s", p->head);
    int rc = system->constants ? write_categories(p, s, system, &file) : 0;
    orr_file_printf(&file, p->declares, category);
    orr_file_printf(&file, p->says, names.name[sr_states_time(s)], list);
    orr_file_printf(&file, p->begins, category);
    for (int k = 0; k < SR_SYSTEM_NAMES; k++) {
        write_source(s, k, text, sizeof text);
        if (used >> k & 1)
            orr_file_printf(&file, p->let, names.name[k], text);
    }
    if (p->notation == SR_NUMPY)
        orr_file_printf(&file, "    rate_ = []\n");
    for (int d = 0; d < s->dims && s->order == 2; d++)
        orr_file_printf(&file, p->passed, s->dims + d);
    for (int d = 0; d < s->dims; d++) {
        sr_expr_write(language, &system->expr[d], p->notation, &names, text, sizeof text);
        orr_file_printf(&file, p->rate, text);
    }
    orr_file_printf(&file, "%s", p->end);
    rc = rc ? rc : orr_file_commit(&file);
    orr_file_close(&file);
    return rc;
}

/* The constants of each category, as a table. */
static void write_constants(const struct sr_states *s, const struct sr_system *system,
                            struct orr_file *file)
{
    char text[SR_SAID_CONSTANT];
    if (!system->constants)
        return;
    orr_file_printf(file, "\nConstants with standard errors:\n\n| ");
    orr_markdown_code(file, s->category, true);
    for (int k = 0; k < system->constants; k++) {
        orr_file_printf(file, " | ");
        orr_markdown_code(file, s->each_name[k], true);
    }
    orr_file_printf(file, " |\n|---|");
    for (int k = 0; k < system->constants; k++)
        orr_file_printf(file, "---:|");
    for (int i = 0; i < s->categories; i++) {
        orr_file_printf(file, "\n| ");
        orr_markdown_code(file, s->category_label[i], true);
        for (int k = 0; k < system->constants; k++) {
            sr_said_constant(system, k, i, text);
            orr_file_printf(file, " | %s", text);
        }
        orr_file_printf(file, " |");
    }
    orr_file_printf(file, "\n");
}

static int write_report(const struct sr_states *s, const struct sr_language *language,
                        const struct sr_system *system, const char *path)
{
    struct orr_file file;
    char text[3 * SR_TEXT], how[300];
    struct sr_said_remark remark[SR_SAID_REMARKS];
    TRY(orr_file_create(&file, path));
    sr_said_choice(system, how, sizeof how);
    orr_file_printf(&file, "# Equations of motion\n\n%zu rows of ", s->rows);
    orr_markdown_code(&file, s->file, false);
    orr_file_printf(&file, ", %zu track%s, Orrery %s. Equations %s.\n", s->count,
                    s->count == 1 ? "" : "s", ORR_VERSION, how);
    for (int d = 0; d < s->dims; d++) {
        sr_said_equation(s, language, system, d, text, sizeof text);
        orr_file_printf(&file, "\n");
        orr_markdown_code(&file, text, false);
        orr_file_printf(&file, "\n");
    }
    if (system->symmetry.vectors) {
        sr_form_text(s, &system->symmetry.form, text, sizeof text);
        orr_file_printf(&file, "\nVectors: ");
        orr_markdown_code(&file, text, false);
        orr_file_printf(&file, "\n");
    }
    for (int k = 0; sr_symmetry_text(s, &system->symmetry, k, text, sizeof text); k++)
        orr_file_printf(&file, "\n%c%s.\n", toupper((unsigned char)*text), text + 1);
    for (int q = 0; q < system->conserved.count; q++) {
        sr_said_quantity(s, language, &system->conserved, q, SR_INFIX, text, sizeof text);
        sr_said_how(&system->conserved, q, how, sizeof how);
        orr_file_printf(&file, "\n%c%s: ", toupper((unsigned char)*how), how + 1);
        orr_markdown_code(&file, text, false);
        orr_file_printf(&file, "\n");
    }
    write_constants(s, system, &file);
    const int remarks = sr_said_remarks(s, system, remark);
    for (int k = 0; k < remarks; k++) {
        orr_file_printf(&file, "\nRemark: ");
        if (*remark[k].subject) {
            orr_markdown_code(&file, remark[k].subject, false);
            orr_file_printf(&file, ": ");
        }
        orr_file_printf(&file, "%s.\n", remark[k].advice);
    }
    orr_file_printf(&file, "\n| column | noise | of |\n|---|---:|---|\n");
    for (int d = 0; d < s->dims; d++) {
        orr_file_printf(&file, "| ");
        orr_markdown_code(&file, s->name[d], true);
        orr_file_printf(&file, " | %.3g | %s |\n", s->noise[d],
                        s->proportional[d] ? "the value" : "one size");
    }
    const int rc = orr_file_commit(&file);
    orr_file_close(&file);
    return rc;
}

int sr_system_write(const struct sr_states *s, const struct sr_language *language,
                    const struct sr_system *system, const char *define, const char *folder)
{
    char path[4096];
    TRY(orr_path(path, "%s/equations.py", folder));
    TRY(write_program(&programs[0], s, language, system, path));
    TRY(orr_path(path, "%s/equations.c", folder));
    TRY(write_program(&programs[1], s, language, system, path));
    TRY(orr_path(path, "%s/report.md", folder));
    TRY(write_report(s, language, system, path));
    TRY(orr_path(path, "%s/equations.json", folder));
    return write_json(s, language, system, define, path);
}
