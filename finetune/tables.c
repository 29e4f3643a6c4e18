/* tables.c - forces_magnitude.csv and forces_vector.csv (docs/formats.md). */
#include "ft.h"

#include <math.h>

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

/* sqrt is used instead of hypot(), whose result depends on the CPU; squares of floats are exact
 * in double. */
static double vector_length(const float v[2])
{
    return sqrt((double)v[0] * (double)v[0] + (double)v[1] * (double)v[1]);
}

/* Row 0 of a sequence holds the time step: ln(dt) in coordinates, a token otherwise. */
static double dt_of(const struct sim_dataset *set, size_t sequence)
{
    const size_t at = sequence * (size_t)set->positions * 2;
    if (set->coords)
        return orr_exp((double)set->coords[at]);
    return sim_token_dt_yr(set->tokens[at], set->bins);
}

int ft_write_magnitude(struct ft_run *run, const char *source, const double *F)
{
    struct orr_file file = {0};
    const struct sim_dataset *set = &run->test;
    int rc = begin_table(&file, run, source, false, "sample,sequence,step,r,m1,m2,dt,F_true,F");
    for (size_t i = 0; i < run->row_count && !rc; i++) {
        const struct ft_row *row = &run->rows[i];
        const size_t at = (size_t)row->sequence * (size_t)set->positions + (size_t)row->row;
        const float *state = set->full_state + 6 * at;
        const int bodies = set->num_bodies[row->sequence];
        rc = orr_file_printf(&file, "%d,%ld,%d,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g\n", row->sample,
                             row->sequence, (row->row - 1) / bodies, vector_length(state),
                             (double)state[4], (double)state[5], dt_of(set, (size_t)row->sequence),
                             (double)set->force_magnitude[at], F[i]);
    }
    if (!rc)
        rc = commit_table(&file, run, source, false);
    orr_file_close(&file);
    return rc;
}

void ft_vector_scale(const struct ft_run *run, double unit[FT_PLANETS][2])
{
    const struct sim_dataset *set = &run->planets;
    const size_t P = (size_t)set->positions, labels = (size_t)run->preset->planets.labels;
    for (size_t s = 0; s < (size_t)set->n; s++) {
        const float *force = set->force_vector + 2 * s * P;
        unit[s][0] = unit[s][1] = 0;
        if (run->preset->finetune.vector_scale == ORR_VECTOR_LARGEST) {
            for (size_t t = 0; t < P; t++)
                for (size_t c = 0; c < 2 && isfinite(force[2 * t]); c++)
                    unit[s][c] = fmax(unit[s][c], fabs((double)force[2 * t + c]));
            continue;
        }
        for (size_t i = 0; i < labels; i++) {
            const float *f = force + 2 * (size_t)run->labels[s * labels + i];
            unit[s][0] = unit[s][1] = fmax(unit[s][0], vector_length(f));
        }
    }
}

static bool is_label(const struct ft_run *run, size_t sequence, int row)
{
    const int count = run->preset->planets.labels;
    const int *labels = run->labels + sequence * (size_t)count;
    for (int i = 0; i < count; i++)
        if (labels[i] == row)
            return true;
    return false;
}

int ft_write_vector(struct ft_run *run, const char *source, const double *f)
{
    struct orr_file file = {0};
    const struct sim_dataset *set = &run->planets;
    const int T = (int)set->positions - 1;
    double unit[FT_PLANETS][2];
    ft_vector_scale(run, unit);
    int rc = begin_table(&file, run, source, true,
                         "planet,name,step,x,y,fx_true,fy_true,fx,fy,labelled");
    for (size_t s = 0; s < (size_t)set->n && !rc; s++) {
        for (int t = 0; t < T && !rc; t++) {
            const size_t at = s * (size_t)set->positions + (size_t)t;
            const float *truth = set->force_vector + 2 * at, *state = set->full_state + 6 * at;
            if (!isfinite(truth[0]))
                continue;
            const double *p = f + 2 * (s * (size_t)T + (size_t)t);
            rc = orr_file_printf(&file, "%zu,%s,%d,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g,%d\n", s,
                                 sim_sun_bodies[s].name, (t - 1) / set->num_bodies[s],
                                 (double)state[0], (double)state[1], (double)truth[0] / unit[s][0],
                                 (double)truth[1] / unit[s][1], p[0], p[1], is_label(run, s, t));
        }
    }
    if (!rc)
        rc = commit_table(&file, run, source, true);
    orr_file_close(&file);
    return rc;
}
