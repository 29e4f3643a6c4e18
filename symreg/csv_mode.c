/* csv_mode.c - any table in, a Pareto front out. */
#include "symreg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

/* A problem read from a file: columns picked, x column-major. */
struct problem {
    struct orr_csv csv;
    int features;
    const char *name[SR_FEATURES];
    double *x, *y; /* one block */
};

static int find_column(const struct orr_csv *csv, const char *file, const char *name, int *column)
{
    struct orr_nearest nearest = {0};
    *column = orr_csv_column(csv, name);
    if (*column >= 0)
        return 0;
    for (size_t i = 0; i < csv->cols; i++)
        orr_nearest_offer(&nearest, name, csv->names[i]);
    return nearest.name ? ORR_FAIL(ORR_EMISSING, "%s: no column \"%s\"; did you mean \"%s\"?", file,
                                   name, nearest.name)
                        : ORR_FAIL(ORR_EMISSING, "%s: no column \"%s\"", file, name);
}

/* Columns named in a comma-separated list, or all but the target. */
static int pick_features(const struct problem *p, const char *file, int target, const char *list,
                         int column[SR_FEATURES], int *count)
{
    *count = 0;
    if (!list) {
        for (size_t i = 0; i < p->csv.cols; i++) {
            if ((int)i == target)
                continue;
            if (*count == SR_FEATURES)
                return ORR_FAIL(ORR_EUSAGE, "%s: more than %d features; choose with --features",
                                file, SR_FEATURES);
            column[(*count)++] = (int)i;
        }
        return *count ? 0 : ORR_FAIL(ORR_EINVAL, "%s: no column beside the target", file);
    }
    for (const char *at = list;; at++) {
        char name[256];
        const size_t length = strcspn(at, ",");
        if (length == 0 || length >= sizeof name)
            return ORR_FAIL(ORR_EUSAGE,
                            "--features: expected names of columns with commas "
                            "between, found \"%s\"",
                            list);
        memcpy(name, at, length);
        name[length] = '\0';
        if (*count == SR_FEATURES)
            return ORR_FAIL(ORR_EUSAGE, "--features: at most %d", SR_FEATURES);
        const int rc = find_column(&p->csv, file, name, &column[*count]);
        if (rc)
            return rc;
        if (column[*count] == target)
            return ORR_FAIL(ORR_EUSAGE, "--features: \"%s\" is the target", name);
        for (int k = 0; k < *count; k++)
            if (column[k] == column[*count])
                return ORR_FAIL(ORR_EUSAGE, "--features: \"%s\" stands twice", name);
        (*count)++;
        at += length;
        if (!*at)
            return 0;
    }
}

static int take_column(const struct problem *p, const char *file, int column, double *out)
{
    const struct orr_csv *csv = &p->csv;
    for (size_t i = 0; i < csv->rows; i++) {
        out[i] = csv->values[i * csv->cols + (size_t)column];
        if (!isfinite(out[i]))
            return ORR_FAIL(ORR_EFORMAT,
                            "%s:%zu: column \"%s\": expected a finite number, found \"%s\"", file,
                            i + 2, csv->names[column], csv->cells[i * csv->cols + (size_t)column]);
    }
    return 0;
}

static int read_problem(const char *file, const char *target, const char *features,
                        struct problem *p)
{
    int column[SR_FEATURES], goal = -1;
    if (!orr_exists(file))
        return ORR_FAIL(ORR_EMISSING, "%s: not found", file);
    /* text columns that are not used may stay */
    int rc = orr_csv_read(file, ORR_CSV_KEEP_TEXT, &p->csv);
    if (!rc)
        rc = find_column(&p->csv, file, target, &goal);
    if (!rc)
        rc = pick_features(p, file, goal, features, column, &p->features);
    if (!rc && p->csv.rows < 2)
        rc = ORR_FAIL(ORR_EINVAL, "%s: expected at least 2 rows, found %zu", file, p->csv.rows);
    if (rc)
        return rc;
    const size_t rows = p->csv.rows;
    p->x = orr_alloc(((size_t)p->features + 1) * rows, sizeof *p->x);
    if (!p->x)
        return ORR_ENOMEM;
    p->y = p->x + (size_t)p->features * rows;
    for (int f = 0; f < p->features && !rc; f++) {
        p->name[f] = p->csv.names[column[f]];
        rc = take_column(p, file, column[f], p->x + (size_t)f * rows);
    }
    return rc ? rc : take_column(p, file, goal, p->y);
}

static void print_front(const struct sr_front *front, const char *const *names,
                        const struct orr_names *rules)
{
    char text[SR_TEXT];
    printf("complexity          loss     score  equation\n");
    for (int i = 0; i < front->count; i++) {
        sr_expr_print(&front->expr[i], names, text, sizeof text);
        printf("%10d  %12.6g  %8.4g  %s", front->expr[i].count, front->loss[i], front->score[i],
               text);
        bool first = true;
        for (int k = 0; k < rules->count; k++) {
            enum sr_rule rule;
            if (sr_rule_find(rules->item[k], &rule) || sr_front_select(front, rule) != i)
                continue;
            printf("%s%s", first ? "   <- " : ", ", rules->item[k]);
            first = false;
        }
        printf("\n");
    }
}

int sr_csv_run(const struct orr_cli *cli, const char *file, const char *target,
               const char *features)
{
    struct problem p = {0};
    struct sr_settings settings;
    struct orr_progress progress;
    char path[4096];
    struct sr_fit *fit = NULL;
    int rc = sr_settings_init(&settings, &cli->preset), stopped = 0;
    if (!rc)
        rc = read_problem(file, target, features, &p);
    if (!rc && !(fit = orr_alloc(1, sizeof *fit)))
        rc = ORR_ENOMEM;
    if (rc)
        goto out;
    fit->data = (struct sr_data){.rows = p.csv.rows, .features = p.features, .x = p.x, .y = p.y};
    orr_progress_init(&progress, "symreg", (uint64_t)settings.iterations, cli->quiet);
    rc = sr_search(&settings, fit, 1, cli->threads, &progress);
    orr_progress_end(&progress, NULL);
    if (rc == ORR_EINTR) { /* what was found so far is shown and saved */
        stopped = rc;
        rc = 0;
    }
    if (rc)
        goto out;
    print_front(&fit->front, p.name, &cli->preset.symreg.rules);
    if (*cli->out)
        rc = orr_mkdir(cli->out);
    if (!rc && *cli->out)
        rc = orr_path(path, "%s/front.csv", cli->out);
    if (!rc && *cli->out)
        rc = sr_front_write(&fit->front, p.name, path);
    if (!rc && stopped)
        rc = ORR_FAIL(stopped, *cli->out ? "stopped; the front so far is saved"
                                         : "stopped; this is the front so far");
out:
    free(fit);
    free(p.x);
    orr_csv_free(&p.csv);
    return rc;
}
