/* several_targets.c - one search for each of several target columns, --target A,B, each with files
 * of its own. A search that fails does not end the others. */
#include <stdlib.h>
#include <string.h>

#include "program.h"

enum { TARGETS = 64, NAME = SR_TARGET_NAME, FOLDER = SR_TARGET_FOLDER };

struct targets {
    int count;
    char name[TARGETS][NAME];
};

/* Reads the list, and checks every name before the first search. */
static int read_targets(const char *file, const struct orr_csv *csv, const char *list,
                        struct targets *targets)
{
    int column[TARGETS];
    for (const char *at = list; at; targets->count++) {
        const int n = targets->count;
        if (n == TARGETS)
            return ORR_FAIL(ORR_EUSAGE, "--target: at most %d columns", TARGETS);
        TRY(sr_column_next("--target", list, &at, targets->name[n], NAME));
        TRY(sr_table_column(csv, file, targets->name[n], &column[n]));
        for (int k = 0; k < n; k++)
            if (column[k] == column[n])
                return ORR_FAIL(ORR_EUSAGE, "--target: \"%s\" stands twice", targets->name[n]);
    }
    return 0;
}

void sr_target_folder(const char *const *name, int n, char folder[][SR_TARGET_FOLDER])
{
    snprintf(folder[n], FOLDER, "%s", name[n]);
    for (char *c = folder[n]; *c; c++)
        if ((unsigned char)*c <= ' ' || strchr("/\\:*?\"<>|", *c) || (*c == '.' && c == folder[n]))
            *c = '_';
    for (int k = 0; k < n; k++)
        if (!strcmp(folder[k], folder[n])) {
            snprintf(folder[n] + strlen(folder[n]), FOLDER - strlen(folder[n]), "_%d", n + 1);
            k = -1; /* the longer name may be another's */
        }
}

/* Copies the entries of --units but those of other targets. */
static void units_of(const struct targets *targets, int n, const char *units, char *text)
{
    size_t used = 0;
    text[0] = '\0';
    for (const char *at = units; *at;) {
        char name[NAME];
        const size_t quoted = sr_name_quoted(at + strspn(at, " \t"));
        const size_t head = strspn(at, " \t") + quoted, length = head + strcspn(at + head, ",");
        const size_t equals = head + strcspn(at + head, "=,");
        bool other = false;
        if (at[equals] == '=' && sr_name_read(at, equals, name, sizeof name))
            for (int k = 0; k < targets->count; k++)
                other = other || (k != n && !strcmp(name, targets->name[k]));
        if (!other)
            used += (size_t)sprintf(text + used, "%s%.*s", used ? "," : "", (int)length, at);
        at += length + (at[length] == ',');
    }
}

/* The names of the other targets as a list, in quotes. */
static void list_others(const struct targets *targets, int n, char *list)
{
    const char *const start = list;
    for (int k = 0; k < targets->count; k++) {
        if (k == n)
            continue;
        if (list > start)
            *list++ = ',';
        *list++ = '"';
        for (const char *c = targets->name[k]; *c; c++) {
            *list++ = *c;
            if (*c == '"')
                *list++ = '"';
        }
        *list++ = '"';
        *list = '\0';
    }
}

static int search_target(const struct orr_cli *cli, const char *file,
                         const struct sr_csv_options *options, const struct targets *targets, int n,
                         const char *folder)
{
    struct orr_cli own = *cli;
    struct sr_csv_options o = *options;
    char others[TARGETS * (2 * NAME + 3)] = "";
    char *units = o.units ? orr_alloc(strlen(o.units) + 1, 1) : NULL;
    if (o.units && !units)
        return ORR_ENOMEM;
    list_others(targets, n, others);
    o.target = targets->name[n];
    o.other_targets = others;
    if (units) {
        units_of(targets, n, o.units, units);
        o.units = *units ? units : NULL;
    }
    int rc = *cli->out ? orr_path(own.out, "%s/%s", cli->out, folder) : 0;
    char shown[256];
    printf("%starget %s\n", n ? "\n" : "", orr_shown(shown, sizeof shown, targets->name[n]));
    fflush(stdout);
    if (!rc)
        rc = sr_csv_run(&own, file, &o);
    fflush(stdout);
    free(units);
    return rc;
}

static int search_all(const struct orr_cli *cli, const char *file,
                      const struct sr_csv_options *options, const struct targets *targets)
{
    char folder[TARGETS][FOLDER];
    const char *names[TARGETS];
    char failed[512] = "";
    int failures = 0, first = 0;
    for (int n = 0; n < targets->count; n++) {
        names[n] = targets->name[n];
        sr_target_folder(names, n, folder);
        const int rc = search_target(cli, file, options, targets, n, folder[n]);
        if (rc == ORR_EINTR)
            return rc;
        if (!rc)
            continue;
        orr_note(false, "symreg: target %s: %s", targets->name[n], orr_error());
        snprintf(failed + strlen(failed), sizeof failed - strlen(failed), "%s\"%s\"",
                 failures ? ", " : "", targets->name[n]);
        first = failures++ ? first : rc;
    }
    return failures ? ORR_FAIL(first, "--target: %d of %d searches failed: %s", failures,
                               targets->count, failed)
                    : 0;
}

int sr_csv_run_targets(const struct orr_cli *cli, const char *file,
                       const struct sr_csv_options *options)
{
    const char *const list = options->target;
    const size_t quoted = list ? sr_name_quoted(list) : 0;
    struct orr_csv csv;
    int column;
    if (!list || !strchr(list + quoted, ','))
        return sr_csv_run(cli, file, options);
    const char *const once = orr_input_is_read_once(file) ? file : options->test;
    if (once && orr_input_is_read_once(once))
        return ORR_FAIL(ORR_EUSAGE,
                        "--target: %s is read once, for one column; expected one column or a "
                        "file, found \"%s\"",
                        orr_input_name(once), list);
    TRY(sr_cells_read(file, ORR_CSV_KEEP_ODD, &csv));
    struct targets *targets = orr_alloc(1, sizeof *targets);
    int rc = targets ? 0 : ORR_ENOMEM;
    const bool single = !rc && !sr_table_column(&csv, file, list, &column);
    if (!rc && !single)
        rc = read_targets(orr_input_name(file), &csv, list, targets);
    orr_csv_free(&csv);
    if (!rc)
        rc = single ? sr_csv_run(cli, file, options) : search_all(cli, file, options, targets);
    free(targets);
    return rc;
}
