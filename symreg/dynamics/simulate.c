/* simulate.c - `symreg simulate`: reads a system, its start and its times, and writes the solution.
 * Inputs are linear between the rows of their file, so that the solution is computed at these, too,
 * and written at the times that were asked for. */
#include "simulate.h"

#include <cjson/cJSON.h>

#include "base/text.h"
#include "flow.h"
#include "symreg/layout/layout.h"
#include "symreg/solve/solve.h"

enum { NAMES = 2 * SR_FLOW_STATES + 1 + SR_FLOW_INPUTS, NAME = 264 };
#define TOLERANCE  1e-10
#define MOST_TIMES 1e8

struct system {
    const char *path;
    struct cJSON *json;
    struct sr_language *language;
    struct sr_flow flow;
    struct sr_expr equation[SR_FLOW_STATES];
    char made[NAMES][NAME]; /* names that the file does not give */
    /* states, velocities, time, inputs, constants of each category */
    const char *name[SR_FEATURES];
    int names;
    double each[SR_FEATURES]; /* (names) of the constants, their values in the category asked for */
};

/* ---- the file of equations */

/* The list of texts under a key into the names, each made from the number and `format` where the
 * file has no such list. */
static int read_names(struct system *s, const char *key, int count, const char *before,
                      const char *const *of)
{
    const cJSON *const list = cJSON_GetObjectItemCaseSensitive(s->json, key), *item;
    if (list && cJSON_GetArraySize(list) != count)
        return ORR_FAIL(ORR_EFORMAT, "%s: expected %d name%s in \"%s\", as many as %s, found %d",
                        s->path, count, count == 1 ? "" : "s", key, "equations",
                        cJSON_GetArraySize(list));
    for (int k = 0; k < count; k++) {
        item = list ? cJSON_GetArrayItem(list, k) : NULL;
        if (list && (!cJSON_IsString(item) || strlen(item->valuestring) >= NAME - 8))
            return ORR_FAIL(ORR_EFORMAT, "%s: expected short texts in \"%s\"", s->path, key);
        char *const made = s->made[s->names];
        if (of)
            snprintf(made, NAME, "%s%.200s", before, of[k]);
        else
            snprintf(made, NAME, "%s%d", before, k);
        s->name[s->names++] = item ? item->valuestring : made;
    }
    return 0;
}

static int find_names(struct system *s)
{
    const cJSON *const time = cJSON_GetObjectItemCaseSensitive(s->json, "time");
    const cJSON *const inputs = cJSON_GetObjectItemCaseSensitive(s->json, "inputs");
    const int dims = s->flow.dims;
    TRY(read_names(s, "columns", dims, "x", NULL));
    if (s->flow.order == 2)
        TRY(read_names(s, "velocities", dims, "v_", s->name));
    if (time && !cJSON_IsString(time))
        return ORR_FAIL(ORR_EFORMAT, "%s: expected a name as \"time\"", s->path);
    s->name[s->names++] = time ? time->valuestring : "t";
    if (inputs && (!cJSON_IsArray(inputs) || cJSON_GetArraySize(inputs) > SR_FLOW_INPUTS))
        return ORR_FAIL(ORR_EFORMAT, "%s: expected up to %d names in \"inputs\"", s->path,
                        SR_FLOW_INPUTS);
    s->flow.inputs = inputs ? cJSON_GetArraySize(inputs) : 0;
    TRY(read_names(s, "inputs", s->flow.inputs, "u", NULL));
    return 0;
}

static int check_names(const struct system *s)
{
    for (int a = 0; a < s->names; a++)
        for (int b = 0; b < a; b++)
            if (!strcmp(s->name[a], s->name[b]))
                return ORR_FAIL(ORR_EFORMAT, "%s: \"%s\" is the name of two columns", s->path,
                                s->name[a]);
    return 0;
}

/* Reports the error of a text in the file. */
static int wrong_text(const struct system *s, const char *what)
{
    char found[2048];
    snprintf(found, sizeof found, "%s", orr_error());
    return ORR_FAIL(ORR_EFORMAT, "%s: %s: %s", s->path, what, found);
}

/* Finds the category asked for among the values of the column. */
static int find_category(const struct system *s, const char *column, const cJSON *values,
                         const char *wanted, int *number)
{
    const cJSON *item;
    char list[400] = "";
    int k = 0;
    cJSON_ArrayForEach (item, values) {
        const char *const label = cJSON_IsString(item) ? item->valuestring : "";
        if (wanted && !strcmp(label, wanted)) {
            *number = k;
            return 0;
        }
        if (strlen(list) + 60 < sizeof list)
            orr_append(list, sizeof list, "%s\"%.40s\"", k ? ", " : "", label);
        k++;
    }
    if (!wanted)
        return ORR_FAIL(ORR_EUSAGE, "%s: --category VALUE of \"%s\" is needed: %s", s->path, column,
                        list);
    return ORR_FAIL(ORR_EUSAGE,
                    "--category: expected a value of \"%s\" in %s (%s), found \"%.100s\"", column,
                    s->path, list, wanted);
}

/* Reads the constants that the equations have in a category. */
static int read_category(struct system *s, const char *wanted)
{
    const cJSON *const json = cJSON_GetObjectItemCaseSensitive(s->json, "category");
    const cJSON *const values = cJSON_GetObjectItemCaseSensitive(json, "values"), *entry;
    const cJSON *const list = cJSON_GetObjectItemCaseSensitive(s->json, "category_constants");
    int number = 0;
    if (!json && wanted)
        return ORR_FAIL(ORR_EUSAGE, "--category: %s has no categories", s->path);
    if (!json)
        return 0;
    if (!cJSON_IsArray(values) || !cJSON_IsArray(list) ||
        s->names + cJSON_GetArraySize(list) > SR_FEATURES)
        return ORR_FAIL(
            ORR_EFORMAT,
            "%s: expected \"values\" in \"category\", and a list \"category_constants\"", s->path);
    if (wanted || cJSON_GetArraySize(list))
        TRY(find_category(s, orr_json_text(json, "column"), values, wanted, &number));
    cJSON_ArrayForEach (entry, list) {
        const cJSON *const name = cJSON_GetObjectItemCaseSensitive(entry, "name");
        const cJSON *const value =
            cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(entry, "values"), number);
        if (!cJSON_IsString(name) || !cJSON_IsNumber(value))
            return ORR_FAIL(ORR_EFORMAT,
                            "%s: expected a name and a number for each value of \"category\" in "
                            "\"category_constants\"",
                            s->path);
        s->each[s->names] = value->valuedouble;
        s->name[s->names++] = name->valuestring;
    }
    return 0;
}

static int read_equations(struct system *s, const char *category)
{
    const cJSON *const list = cJSON_GetObjectItemCaseSensitive(s->json, "equations"), *item;
    const cJSON *const order = cJSON_GetObjectItemCaseSensitive(s->json, "order");
    const char *const define = orr_json_text(s->json, "define");
    s->flow = (struct sr_flow){.dims = cJSON_GetArraySize(list), .order = 1};
    s->flow.equation = s->equation;
    if (!cJSON_IsArray(list) || s->flow.dims < 1 || s->flow.dims > SR_FLOW_STATES)
        return ORR_FAIL(ORR_EFORMAT, "%s: expected \"equations\", a list of 1 to %d formulas",
                        s->path, SR_FLOW_STATES);
    if (order && (!cJSON_IsNumber(order) || (order->valuedouble != 1 && order->valuedouble != 2)))
        return ORR_FAIL(ORR_EFORMAT, "%s: expected 1 or 2 as \"order\"", s->path);
    s->flow.order = order ? (int)order->valuedouble : 1;
    TRY(find_names(s));
    s->flow.language = s->language = sr_language_create();
    TRY(s->language ? 0 : ORR_ENOMEM);
    if (*define && sr_custom_define(s->language, define))
        return wrong_text(s, "\"define\"");
    const int plain = s->names;
    TRY(read_category(s, category));
    TRY(check_names(s));
    int k = 0;
    cJSON_ArrayForEach (item, list) {
        if (!cJSON_IsString(item))
            return ORR_FAIL(ORR_EFORMAT, "%s: expected formulas in \"equations\"", s->path);
        char what[40];
        snprintf(what, sizeof what, "equation %d", ++k);
        if (sr_expr_parse(s->language, item->valuestring, s->name, s->names, &s->equation[k - 1]))
            return wrong_text(s, what);
        for (int i = 0; i < s->equation[k - 1].count; i++) {
            struct sr_node *const node = &s->equation[k - 1].node[i];
            if (node->op == SR_FEATURE && node->feature >= plain)
                *node = sr_constant_node(s->each[node->feature]);
        }
    }
    return 0;
}

/* ---- the start */

static int state_of(const struct system *s, const char *name)
{
    for (int k = 0; k < sr_flow_states(&s->flow); k++)
        if (!strcmp(s->name[k], name))
            return k;
    return -1;
}

static int no_state(const struct system *s, const char *name)
{
    char known[400] = "";
    for (int k = 0; k < sr_flow_states(&s->flow); k++)
        orr_append(known, sizeof known, "%s\"%s\"", k ? ", " : "", s->name[k]);
    return ORR_FAIL(ORR_EUSAGE, "--start: \"%s\" is no state of %s, which has %s", name, s->path,
                    known);
}

static int read_start(const struct system *s, const char *text, double *start)
{
    const int states = sr_flow_states(&s->flow);
    for (int k = 0; k < states; k++)
        start[k] = NAN;
    for (const char *at = *text ? text : NULL; at;) {
        char name[NAME], *end;
        const size_t quoted = sr_name_quoted(at);
        const char *const equals = at + quoted + strcspn(at + quoted, "=,");
        if (*equals != '=' || !sr_name_read(at, (size_t)(equals - at), name, sizeof name))
            return ORR_FAIL(ORR_EUSAGE, "--start: expected NAME=NUMBER,..., found \"%s\" in \"%s\"",
                            at, text);
        const int k = state_of(s, name);
        if (k < 0)
            return no_state(s, name);
        if (!isnan(start[k]))
            return ORR_FAIL(ORR_EUSAGE, "--start: \"%s\" is given twice", name);
        start[k] = strtod(equals + 1, &end);
        const bool any = end > equals + 1;
        end += strspn(end, " ");
        if (!any || !isfinite(start[k]) || (*end && *end != ','))
            return ORR_FAIL(ORR_EUSAGE, "--start: expected a number as \"%s\", found \"%s\"", name,
                            equals + 1);
        at = *end ? end + 1 : NULL;
    }
    for (int k = 0; k < states; k++)
        if (isnan(start[k]))
            return ORR_FAIL(ORR_EUSAGE, "--start: expected %d number%s, found none for \"%s\"",
                            states, states == 1 ? "" : "s", s->name[k]);
    return 0;
}

/* ---- times and inputs */

struct times {
    size_t n;
    double *t; /* (n) */
};

/* Reads "begin:end:step". False where the text has another form. */
static bool read_range(const char *text, double range[3])
{
    char *end = NULL;
    for (int k = 0; k < 3; k++) {
        range[k] = strtod(text, &end);
        if (end == text || *end != (k < 2 ? ':' : '\0'))
            return false;
        text = end + 1;
    }
    return true;
}

static int fill_range(const char *text, const double range[3], struct times *times)
{
    const double count = floor((range[1] - range[0]) / range[2] + 1e-9) + 1;
    if (!(range[2] > 0) || !(range[1] > range[0]) || !(count <= MOST_TIMES))
        return ORR_FAIL(ORR_EUSAGE,
                        "--times: expected BEGIN:END:STEP with BEGIN < END and at most %g steps > "
                        "0, found \"%s\"",
                        MOST_TIMES, text);
    times->n = (size_t)count;
    times->t = orr_alloc(times->n, sizeof *times->t);
    TRY(times->t ? 0 : ORR_ENOMEM);
    for (size_t i = 0; i < times->n; i++)
        times->t[i] = range[0] + (double)i * range[2];
    return 0;
}

/* A column of a file as an array, which the caller frees. */
static int read_column(const struct orr_csv *csv, const char *file, const char *name, bool rises,
                       double *out)
{
    const int column = orr_csv_column(csv, name);
    if (column < 0)
        return ORR_FAIL(ORR_EMISSING, "%s: no column \"%s\"", file, name);
    for (size_t i = 0; i < csv->rows; i++) {
        out[i] = csv->values[i * csv->cols + (size_t)column];
        if (!isfinite(out[i]))
            return sr_table_wrong_cell(csv, file, i, column);
        if (rises && i && !(out[i] > out[i - 1]))
            return sr_table_time_falls(csv, file, i - 1, i, column, "", "");
    }
    return csv->rows ? 0 : ORR_FAIL(ORR_EINVAL, "%s: no rows", file);
}

static int read_times(const struct system *s, const char *text, struct times *times)
{
    double range[3];
    struct orr_csv csv = {0};
    if (read_range(text, range))
        return fill_range(text, range, times);
    if (!orr_input_is_standard(text) && !orr_exists(text) && !orr_input_is_packed(text))
        return ORR_FAIL(ORR_EUSAGE,
                        "--times: expected BEGIN:END:STEP or a CSV file, found \"%s\", which is no "
                        "file",
                        text);
    TRY(sr_cells_read(text, ORR_CSV_KEEP_ODD, &csv));
    times->n = csv.rows;
    times->t = orr_alloc(csv.rows + 1, sizeof *times->t);
    const int rc = !times->t ? ORR_ENOMEM
                             : read_column(&csv, orr_input_name(text),
                                           s->name[sr_flow_states(&s->flow)], true, times->t);
    orr_csv_free(&csv);
    return rc;
}

/* Inputs at rising times. */
struct inputs {
    struct times at;
    double *value; /* (inputs, at.n) */
};

static int read_inputs(const struct system *s, const char *file, struct inputs *inputs)
{
    const int time = sr_flow_states(&s->flow);
    struct orr_csv csv = {0};
    int rc = sr_cells_read(file, ORR_CSV_KEEP_ODD, &csv);
    if (rc)
        return rc;
    inputs->at.n = csv.rows;
    inputs->at.t = orr_alloc(csv.rows + 1, sizeof *inputs->at.t);
    inputs->value = orr_alloc((size_t)s->flow.inputs * csv.rows + 1, sizeof *inputs->value);
    if (!inputs->at.t || !inputs->value)
        rc = ORR_ENOMEM;
    if (!rc)
        rc = read_column(&csv, orr_input_name(file), s->name[time], true, inputs->at.t);
    for (int k = 0; k < s->flow.inputs && !rc; k++)
        rc = read_column(&csv, orr_input_name(file), s->name[time + 1 + k], false,
                         inputs->value + (size_t)k * csv.rows);
    orr_csv_free(&csv);
    return rc;
}

/* The times asked for and those of the inputs between them, rising, with the inputs there. asked
 * (grid->n): which are asked for. */
struct grid {
    size_t n;
    double *t, *input;
    bool *asked;
};

static int make_grid(const struct system *s, const struct times *times, const char *file,
                     const struct inputs *inputs, struct grid *grid)
{
    const size_t most = times->n + inputs->at.n, given = inputs->at.n;
    const size_t width = (size_t)s->flow.inputs;
    const double first = times->t[0], last = times->t[times->n - 1];
    if (width && !(inputs->at.t[0] <= first && inputs->at.t[given - 1] >= last))
        return ORR_FAIL(ORR_EINVAL,
                        "%s: expected inputs from the time %.10g to %.10g, found %.10g "
                        "to %.10g",
                        orr_input_name(file), first, last, inputs->at.t[0],
                        inputs->at.t[given - 1]);
    grid->t = orr_alloc(most, sizeof *grid->t);
    grid->input = orr_alloc(most * width + 1, sizeof *grid->input);
    grid->asked = orr_alloc(most, sizeof *grid->asked);
    TRY(grid->t && grid->input && grid->asked ? 0 : ORR_ENOMEM);
    size_t next = 0;
    for (size_t i = 0; i < times->n; i++) {
        for (; next < given && inputs->at.t[next] < times->t[i]; next++)
            if (inputs->at.t[next] > first)
                grid->t[grid->n++] = inputs->at.t[next];
        grid->asked[grid->n] = true;
        grid->t[grid->n++] = times->t[i];
        next += next < given && inputs->at.t[next] == times->t[i];
    }
    size_t before = 0;
    for (size_t i = 0; i < grid->n && width; i++) {
        while (before + 2 < given && inputs->at.t[before + 1] <= grid->t[i])
            before++;
        const size_t behind = before + 1 < given ? before + 1 : before;
        const double from = inputs->at.t[before], span = inputs->at.t[behind] - from;
        const double share = span > 0 ? (grid->t[i] - from) / span : 0;
        for (size_t k = 0; k < width; k++) {
            const double *const u = inputs->value + k * given;
            grid->input[k * grid->n + i] = u[before] * (1 - share) + u[behind] * share;
        }
    }
    return 0;
}

/* ---- the table */

/* A name as a cell of CSV. */
static void append_name(char *line, size_t bytes, const char *name)
{
    if (strpbrk(name, ",\"\r\n"))
        orr_append_quoted(line, bytes, name);
    else
        orr_append(line, bytes, "%s", name);
}

/* Writes a line to the file, or to standard output without one. */
static int write_line(struct orr_file *file, char *line)
{
    const size_t bytes = strlen(line);
    line[bytes] = '\n';
    if (file)
        return orr_file_write(file, line, bytes + 1);
    fwrite(line, 1, bytes + 1, stdout);
    return 0;
}

static int write_rows(const struct system *s, const struct grid *grid, const double *x,
                      struct orr_file *file)
{
    enum { LINE = 2 * NAME * NAMES };
    char line[LINE + 2] = "", number[SR_NUMBER];
    const int states = sr_flow_states(&s->flow);
    append_name(line, LINE, s->name[states]);
    for (int k = 0; k < states; k++) {
        orr_append(line, LINE, ",");
        append_name(line, LINE, s->name[k]);
    }
    int rc = write_line(file, line);
    for (size_t i = 0; i < grid->n && !rc; i++) {
        if (!grid->asked[i])
            continue;
        if (isnan(x[i]))
            break; /* the solution ended */
        sr_number_print(grid->t[i], number);
        snprintf(line, LINE, "%s", number);
        for (int k = 0; k < states; k++) {
            sr_number_print(x[(size_t)k * grid->n + i], number);
            orr_append(line, LINE, ",%s", number);
        }
        rc = write_line(file, line);
    }
    return rc;
}

/* Solves and writes. An end of the solution is told after its rows are written. */
static int simulate(const struct system *s, const double *start, const struct grid *grid,
                    const char *out)
{
    char ended[4096] = "";
    struct orr_file file = {0};
    const size_t states = (size_t)sr_flow_states(&s->flow);
    double *const x = orr_alloc(states * grid->n, sizeof *x);
    TRY(x ? 0 : ORR_ENOMEM);
    int rc = sr_flow_solve(&s->flow, start, grid->n, grid->t, grid->input, TOLERANCE, x);
    const bool ends = rc == ORR_EINVAL;
    if (ends) {
        snprintf(ended, sizeof ended, "%s", orr_error());
        rc = 0;
    }
    if (!rc && *out)
        rc = orr_file_create(&file, out);
    if (!rc)
        rc = write_rows(s, grid, x, *out ? &file : NULL);
    if (!rc && *out)
        rc = orr_file_commit(&file);
    orr_file_close(&file);
    free(x);
    if (!rc && ends)
        return ORR_FAIL(ORR_EINVAL, "%s: %s", s->path, ended);
    return rc;
}

static int run(struct system *s, const struct sr_simulate_options *o, struct times *times,
               struct inputs *inputs, struct grid *grid)
{
    double start[2 * SR_FLOW_STATES];
    enum orr_json_sum sum;
    TRY(orr_json_read_any(s->path, &s->json, &sum));
    if (sum == ORR_JSON_CHANGED)
        orr_note(o->quiet, "symreg: %s: %s", s->path, ORR_JSON_IS_CHANGED);
    TRY(read_equations(s, o->category));
    TRY(read_start(s, o->start, start));
    if (s->flow.inputs && !o->input)
        return ORR_FAIL(ORR_EUSAGE, "%s: --input FILE.csv with \"%s\" is needed", s->path,
                        s->name[sr_flow_states(&s->flow) + 1]);
    if (!s->flow.inputs && o->input)
        return ORR_FAIL(ORR_EUSAGE, "--input: %s has no inputs", s->path);
    TRY(read_times(s, o->times, times));
    if (o->input)
        TRY(read_inputs(s, o->input, inputs));
    TRY(make_grid(s, times, o->input, inputs, grid));
    return simulate(s, start, grid, o->out);
}

int sr_simulate_run(const char *path, const struct sr_simulate_options *options)
{
    if (!options->start || !options->times)
        return ORR_FAIL(ORR_EUSAGE, "%s: simulate needs --start x=1,y=0 and --times 0:10:0.1",
                        path);
    struct times times = {0};
    struct inputs inputs = {0};
    struct grid grid = {0};
    struct system *const s = orr_alloc(1, sizeof *s);
    TRY(s ? 0 : ORR_ENOMEM);
    s->path = path;
    const int rc = run(s, options, &times, &inputs, &grid);
    free(grid.t);
    free(grid.input);
    free(grid.asked);
    free(inputs.at.t);
    free(inputs.value);
    free(times.t);
    if (s->language)
        sr_language_free(s->language);
    cJSON_Delete(s->json);
    free(s);
    return rc;
}
