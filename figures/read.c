/* read.c - gathers a run directory: settings, sources, force vectors, training logs. */
#include "stage/provenance.h"
#include "report.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 1000000 }; /* most steps of a sequence */

enum { PLANE = 9, COLUMNS = 12 }; /* columns of the plane; those of z are the last */

/* The length of a vector; in the plane, where z is 0, that of x and y bit for bit. */
static double length_of(double x, double y, double z)
{
    return hypot(hypot(x, y), z);
}

static int take_rows(const char *path, const struct orr_csv *csv, const int column[], int columns,
                     int bodies, struct report_source *source)
{
    for (size_t row = 0; row < csv->rows; row++) {
        const int planet = report_body_of(csv->cells[row * csv->cols + (size_t)column[0]]);
        if (planet < 0 || planet >= bodies)
            return ORR_FAIL(ORR_EFORMAT, "%s:%zu: expected a body of the run, found \"%s\"", path,
                            csv->line[row], csv->cells[row * csv->cols + (size_t)column[0]]);
        const double *v = csv->values + row * csv->cols;
        for (int c = 1; c < columns; c++)
            if (!isfinite(v[column[c]]))
                return ORR_FAIL(ORR_EFORMAT, "%s:%zu: \"%s\" is not a finite number", path,
                                csv->line[row], csv->names[column[c]]);
        const double step = v[column[1]];
        if (step < 0 || step > STEPS || step != floor(step))
            return ORR_FAIL(ORR_EFORMAT,
                            "%s:%zu: step: expected a whole number from 0 to %d, found %g", path,
                            csv->line[row], STEPS, step);
        struct report_orbit *orbit = &source->orbit[planet];
        struct report_position *at = &orbit->at[orbit->count++];
        *at = (struct report_position){.x_au = v[column[2]],
                                       .y_au = v[column[3]],
                                       .fx_true = v[column[4]],
                                       .fy_true = v[column[5]],
                                       .fx = v[column[6]],
                                       .fy = v[column[7]],
                                       .labelled = v[column[8]] > 0.5,
                                       .step = (int)step};
        if (columns == COLUMNS) {
            at->z_au = v[column[9]];
            at->fz_true = v[column[10]];
            at->fz = v[column[11]];
        }
        if (length_of(at->x_au, at->y_au, at->z_au) <= 0 ||
            length_of(at->fx_true, at->fy_true, at->fz_true) <= 0)
            return ORR_FAIL(ORR_EFORMAT, "%s:%zu: position and true force must not vanish", path,
                            csv->line[row]);
    }
    for (int p = 0; p < bodies; p++)
        if (source->orbit[p].count == 0)
            return ORR_FAIL(ORR_EFORMAT, "%s: no rows of %s", path, report_body_name[p]);
    return 0;
}

/* Checks that positions and true forces of a table are the truth's, to some roundings of float32 in
 * units of the position and of the force. */
static int check_truth(const struct report_run *run, const struct report_source *source,
                       const char *path)
{
    const double same = 8 * (double)FLT_EPSILON;
    const struct report_source *truth = &run->source[0];
    for (int p = 0; p < report_bodies(run) && truth->has_vectors; p++) {
        const struct report_orbit *a = &source->orbit[p], *b = &truth->orbit[p];
        size_t i = 0;
        for (; i < a->count && i < b->count; i++) {
            const struct report_position *x = &a->at[i], *y = &b->at[i];
            if (x->step != y->step || x->labelled != y->labelled ||
                !(length_of(x->x_au - y->x_au, x->y_au - y->y_au, x->z_au - y->z_au) <=
                  same * length_of(y->x_au, y->y_au, y->z_au)) ||
                !(length_of(x->fx_true - y->fx_true, x->fy_true - y->fy_true,
                            x->fz_true - y->fz_true) <=
                  same * length_of(y->fx_true, y->fy_true, y->fz_true)))
                break;
        }
        if (i == a->count && i == b->count)
            continue;
        char found[160] = "no row", expected[160] = "no row";
        for (int k = 0; k < 2; k++) {
            const struct report_orbit *of = k ? b : a;
            if (i < of->count)
                snprintf(k ? expected : found, sizeof found,
                         "step %d, x %.9g, y %.9g, fx_true %.9g, fy_true %.9g, labelled %d",
                         of->at[i].step, of->at[i].x_au, of->at[i].y_au, of->at[i].fx_true,
                         of->at[i].fy_true, of->at[i].labelled);
        }
        return ORR_FAIL(ORR_EFORMAT,
                        "%s: row %zu of %s: expected %s as in the table of %s, found %s", path,
                        i + 1, report_body_name[p], expected, truth->name, found);
    }
    return 0;
}

/* path: forces_vector.csv of the source. */
static int read_vectors(struct report_run *run, struct report_source *source, const char *path)
{
    static const char *const names[COLUMNS] = {"name",     "step",    "x",       "y",
                                               "fx_true",  "fy_true", "fx",      "fy",
                                               "labelled", "z",       "fz_true", "fz"};
    const int columns = report_views(run) > 1 ? COLUMNS : PLANE;
    int column[COLUMNS];
    if (!orr_exists(path)) {
        char command[ORR_COMMAND];
        orr_command_of_run("finetune", command);
        return ORR_FAIL(ORR_EMISSING,
                        "%s: missing; losses of trainings alone: compare losses; make it with: %s",
                        path, command);
    }
    struct orr_csv csv = {0};
    int rc = orr_csv_read(path, ORR_CSV_KEEP_TEXT, &csv);
    if (rc)
        return rc;
    for (int c = 0; c < columns && !rc; c++) {
        column[c] = orr_csv_column(&csv, names[c]);
        if (column[c] < 0)
            rc = ORR_FAIL(ORR_EFORMAT, "%s: no column \"%s\"", path, names[c]);
    }
    for (int p = 0; p < REPORT_BODIES && !rc; p++) {
        source->orbit[p].at = orr_alloc(csv.rows ? csv.rows : 1, sizeof *source->orbit[p].at);
        if (!source->orbit[p].at)
            rc = ORR_ENOMEM;
    }
    if (!rc)
        rc = take_rows(path, &csv, column, columns, report_bodies(run), source);
    source->has_vectors = !rc;
    orr_csv_free(&csv);
    return rc ? rc : check_truth(run, source, path);
}

static int read_curves(struct report_run *run, struct report_source *source)
{
    for (int stage = 0; stage < REPORT_STAGES; stage++) {
        char path[REPORT_PATH];
        int rc = orr_path(path, "%s/%s/%s", run->path, source->name, report_stage_log[stage]);
        if (!rc)
            rc = report_read_curve(path, &source->curve[stage]);
        if (rc)
            return rc;
    }
    char path[REPORT_PATH];
    int rc = orr_path(path, "%s/%s/pretrain_planets/evaluation.json", run->path, source->name);
    if (!rc)
        rc = report_read_number(path, "period_r2", &run->period_r2);
    return rc ? rc : report_read_rollouts(run, source);
}

/* Lists the sources that the settings of a run name. */
static int list_sources(struct report_run *run, const char *attention)
{
    const struct orr_name_list *names = &run->settings.attention;
    TRY(report_add_source(run, "truth", REPORT_TRUTH));
    TRY(report_add_source(run, "oracle", REPORT_ORACLE));
    bool found = !*attention;
    for (int i = 0; i < names->count; i++) {
        if (*attention && strcmp(attention, names->item[i]))
            continue;
        found = true;
        TRY(report_add_source(run, names->item[i], REPORT_ATTENTION));
    }
    if (!found)
        return ORR_FAIL(ORR_EUSAGE, "%s: the run has no attention \"%s\"", run->path, attention);
    return report_add_source(run, "untrained", REPORT_UNTRAINED);
}

static int read_preset(struct report_run *run)
{
    char path[REPORT_PATH];
    if (!orr_exists(run->path))
        return ORR_FAIL(ORR_EMISSING, "%s: no such run directory; make it with: make world RUN=%s",
                        run->path, run->path);
    TRY(orr_path(path, "%s/preset.json", run->path));
    if (!orr_exists(path))
        return ORR_FAIL(ORR_EMISSING, "%s: not found; make it with: make orbits RUN=%s", path,
                        run->path);
    TRY(orr_settings_load(&run->settings, path));
    size_t bytes;
    return orr_file_read(path, &run->preset_text, &bytes);
}

int report_read_settings(struct report_run *run, const char *path, const char *attention)
{
    memset(run, 0, sizeof *run);
    run->baseline_log_r = run->baseline_log_scale_dt_r = run->baseline_constant = run->period_r2 =
        NAN;
    TRY(orr_path(run->path, "%s", path));
    size_t length = strlen(run->path);
    while (length > 1 && run->path[length - 1] == '/')
        run->path[--length] = '\0';
    const char *slash = strrchr(run->path, '/');
    snprintf(run->name, sizeof run->name, "%.255s", slash && slash[1] ? slash + 1 : run->path);
    TRY(read_preset(run));
    return list_sources(run, attention);
}

/* Forces that models of other programs predict; of some there are magnitudes alone. */
static int read_answers(struct report_run *run, const struct orr_answers *answers)
{
    char path[REPORT_PATH];
    bool there;
    for (int i = 0; answers && i < answers->count; i++) {
        const int s = run->source_count;
        TRY(report_add_source(run, answers->name[i], REPORT_OTHER));
        TRY(orr_answers_table(answers, answers->name[i], true, path, &there));
        if (there && run->has_vectors)
            TRY(read_vectors(run, &run->source[s], path));
    }
    return 0;
}

int report_read(struct report_run *run, const char *path, const char *attention,
                const struct orr_answers *answers)
{
    char table[REPORT_PATH];
    int rc = report_read_settings(run, path, attention);
    run->has_vectors = orr_has_task(&run->settings, true);
    for (int s = 0; s < run->source_count && !rc; s++) {
        const char *name = run->source[s].name;
        if (orr_has_table(&run->settings, name, true)) {
            rc = orr_table_path(run->path, name, true, table);
            rc = rc ? rc : read_vectors(run, &run->source[s], table);
        }
        if (!rc)
            rc = read_curves(run, &run->source[s]);
    }
    rc = rc ? rc : read_answers(run, answers);
    rc = rc ? rc : report_read_probes(run, answers);
    return rc || !orr_has_task(&run->settings, false) ? rc : report_read_laws(run);
}

void report_free(struct report_run *run)
{
    for (int s = 0; s < run->source_count; s++) {
        struct report_source *source = &run->source[s];
        for (int p = 0; p < REPORT_BODIES; p++)
            free(source->orbit[p].at);
        for (int p = 0; p < REPORT_BODIES; p++)
            free(source->rollout[p].at);
        orr_table_free(&source->probed);
        for (int k = 0; k < REPORT_STAGES; k++) {
            free(source->curve[k].step);
            free(source->curve[k].val_step);
        }
    }
    for (size_t i = 0; i < run->law_count; i++)
        free(run->law[i].equation);
    free(run->law);
    free(run->preset_text);
    memset(run, 0, sizeof *run);
}
