/* tables.c - forces_magnitude.csv and forces_vector.csv (docs/formats.md). */
#include "ft.h"

#include <math.h>
#include <string.h>

#include <cjson/cJSON.h>

int ft_table_status(struct orr_lineage *lineage, const char *run_dir, const char *source,
                    bool vector, struct orr_artefact *table)
{
    const char *path = table->path;
    char digest[ORR_DIGEST];
    cJSON *made = NULL;
    table->action = ORR_MAKE;
    TRY(orr_table_path(run_dir, source, vector, table->path));
    TRY(orr_lineage_table(lineage, source, vector, digest));
    TRY(orr_sidecar_read(path, &made, table->why));
    if (made && orr_made_same(&lineage->records, digest, made, table->why))
        table->action = ORR_KEEP;
    else if (made || (orr_exists(path) && orr_sidecar_exists(path)))
        table->action = ORR_REMAKE;
    else if (orr_exists(path))
        table->action = ORR_REFUSE;
    cJSON_Delete(made);
    if (table->action == ORR_REFUSE)
        snprintf(table->why, ORR_WHY,
                 "made elsewhere (no record beside it) and not replaced: move it, "
                 "or delete it");
    if (table->action == ORR_MAKE)
        table->why[0] = '\0';
    return 0;
}

static int begin_table(struct orr_file *file, const struct ft_run *run, const char *source,
                       bool vector, const char *header)
{
    char folder[4096], path[4096];
    TRY(orr_path(folder, "%s/%s/finetune", run->run, source));
    TRY(orr_mkdir(folder));
    TRY(orr_table_path(run->run, source, vector, path));
    TRY(orr_file_create(file, path));
    return orr_file_printf(file, "%s\n", header);
}

/* Writes the sidecar with the record of what the table was made from, then renames the table to
 * its final name. */
static int commit_table(struct orr_file *file, struct ft_run *run, const char *source, bool vector)
{
    char digest[ORR_DIGEST];
    TRY(orr_lineage_table(run->lineage, source, vector, digest));
    return orr_sidecar_commit(file, &run->lineage->records, digest);
}

double ft_length(const float v[], int axes)
{
    const double flat = (double)v[0] * (double)v[0] + (double)v[1] * (double)v[1];
    return sqrt(axes == 3 ? flat + (double)v[2] * (double)v[2] : flat);
}

/* Row 0 of a sequence holds the time step: ln(dt) in coordinates, a token otherwise. */
static double dt_of(const struct sim_dataset *set, size_t sequence)
{
    const size_t at = sequence * (size_t)set->positions * (size_t)set->dimensions;
    if (set->coords)
        return orr_exp((double)set->coords[at]);
    return sim_token_dt_yr(set->tokens[at], set->bins);
}

int ft_write_magnitude(struct ft_run *run, const char *source, const double *F)
{
    struct orr_file file = {0};
    const struct sim_dataset *set = &run->test;
    const int full = sim_full_columns(set->dimensions);
    int rc = begin_table(&file, run, source, false, "sample,sequence,step,r,m1,m2,dt,F_true,F");
    for (size_t i = 0; i < run->row_count && !rc; i++) {
        const struct ft_row *row = &run->rows[i];
        const size_t at = (size_t)row->sequence * (size_t)set->positions + (size_t)row->row;
        const float *state = set->full_state + (size_t)full * at;
        const int bodies = set->num_bodies[row->sequence];
        rc = orr_file_printf(&file, "%d,%ld,%d,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g\n", row->sample,
                             row->sequence, (row->row - 1) / bodies,
                             ft_length(state, set->dimensions), (double)state[full - 2],
                             (double)state[full - 1], dt_of(set, (size_t)row->sequence),
                             (double)set->force_magnitude[at], F[i]);
    }
    if (!rc)
        rc = commit_table(&file, run, source, false);
    orr_file_close(&file);
    return rc;
}

void ft_vector_scale(const struct ft_run *run, double unit[FT_PLANETS][SIM_AXES])
{
    const struct sim_dataset *set = &run->planets;
    const size_t axes = (size_t)set->dimensions;
    const size_t P = (size_t)set->positions, labels = (size_t)run->settings->planets.labels;
    for (size_t s = 0; s < (size_t)set->n; s++) {
        const float *force = set->force_vector + axes * s * P;
        double largest = 0;
        memset(unit[s], 0, sizeof unit[s]);
        if (run->settings->finetune.vector_scale == ORR_VECTOR_LARGEST) {
            for (size_t t = 0; t < P; t++)
                for (size_t c = 0; c < axes && isfinite(force[axes * t]); c++)
                    unit[s][c] = fmax(unit[s][c], fabs((double)force[axes * t + c]));
            continue;
        }
        for (size_t i = 0; i < labels; i++)
            largest = fmax(largest, ft_length(force + axes * (size_t)run->labels[s * labels + i],
                                              set->dimensions));
        for (size_t c = 0; c < axes; c++)
            unit[s][c] = largest;
    }
}

static bool is_label(const struct ft_run *run, size_t sequence, int row)
{
    const int count = run->settings->planets.labels;
    const int *labels = run->labels + sequence * (size_t)count;
    for (int i = 0; i < count; i++)
        if (labels[i] == row)
            return true;
    return false;
}

/* Writes a row of the table of vectors: position `at` of the set, of sequence s, row t. */
static int write_vector_row(struct orr_file *file, const struct ft_run *run, size_t s, int t,
                            const double unit[], const double f[])
{
    const struct sim_dataset *set = &run->planets;
    const size_t at = s * (size_t)set->positions + (size_t)t, axes = (size_t)set->dimensions;
    const float *truth = set->force_vector + axes * at;
    const float *state = set->full_state + (size_t)sim_full_columns(set->dimensions) * at;
    TRY(orr_file_printf(file, "%zu,%s,%d", s, sim_sun_bodies[s].name,
                        (t - 1) / set->num_bodies[s]));
    for (size_t c = 0; c < axes; c++)
        TRY(orr_file_printf(file, ",%.9g", (double)state[c]));
    for (size_t c = 0; c < axes; c++)
        TRY(orr_file_printf(file, ",%.9g", (double)truth[c] / unit[c]));
    for (size_t c = 0; c < axes; c++)
        TRY(orr_file_printf(file, ",%.9g", f[c]));
    return orr_file_printf(file, ",%d\n", is_label(run, s, t));
}

int ft_write_vector(struct ft_run *run, const char *source, const double *f)
{
    struct orr_file file = {0};
    const struct sim_dataset *set = &run->planets;
    const size_t axes = (size_t)set->dimensions;
    const int T = (int)set->positions - 1;
    double unit[FT_PLANETS][SIM_AXES];
    ft_vector_scale(run, unit);
    int rc = begin_table(&file, run, source, true,
                         axes == 3 ? "planet,name,step,x,y,z,fx_true,fy_true,fz_true,fx,fy,fz,"
                                     "labelled"
                                   : "planet,name,step,x,y,fx_true,fy_true,fx,fy,labelled");
    for (size_t s = 0; s < (size_t)set->n && !rc; s++) {
        for (int t = 0; t < T && !rc; t++) {
            const size_t at = s * (size_t)set->positions + (size_t)t;
            if (isfinite(set->force_vector[axes * at]))
                rc = write_vector_row(&file, run, s, t, unit[s],
                                      f + axes * (s * (size_t)T + (size_t)t));
        }
    }
    if (!rc)
        rc = commit_table(&file, run, source, true);
    orr_file_close(&file);
    return rc;
}
