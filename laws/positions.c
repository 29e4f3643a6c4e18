/* positions.c - the source "positions": forces estimated from positions, times and masses of the
 * same sequences as the tables of forces, by the method of symreg/motion/. It reads no label and
 * uses no network. */
#include "laws.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_sort.h>

#include "symreg/motion/motion.h"

enum { BODIES = 2 };

const char *law_positions_lack(const struct orr_settings *settings)
{
    const struct orr_orbits_settings *o = &settings->orbits;
    if (o->two_body_test == 0)
        return "orbits.two_body_test is 0: there are no sequences";
    if (o->output == ORR_OUTPUT_TOKENS)
        return "orbits.output is tokens: positions are rounded to bins";
    if (o->jump_step > 0 && o->jump_factor != 1)
        return "orbits.jump_step changes G within a sequence";
    if ((o->positions - 1) / BODIES < SR_TRACK_ROWS)
        return "orbits.positions: a track needs at least 8 steps";
    return NULL;
}

bool law_positions_there(const struct orr_cli *cli, const char *orbits)
{
    char folder[4096], path[4096];
    if (orr_cli_orbits(cli, orbits, folder))
        return false;
    if (!orbits || !*orbits)
        return sim_dataset_has(&cli->settings, folder, SIM_SPLIT_TWO_BODY_TEST);
    static const char *const name[] = {"coords_two_body_test.npy", "manifest.json"};
    for (int i = 0; i < 2; i++)
        if (!orr_path(path, "%s/%s", folder, name[i]) && orr_exists(path))
            return true;
    return false;
}

/* ---- tracks of one sample */

/* Sequences of a sample of the table, ascending -> number (rows); *rows = rows of the sample. */
static size_t list_sequences(const struct law_forces *truth, int sample, double *number,
                             size_t *rows)
{
    size_t count = 0, n = 0;
    for (size_t i = 0; i < truth->rows; i++)
        if ((int)truth->sample[i] == sample)
            number[n++] = truth->sequence[i];
    gsl_sort(number, 1, n);
    for (size_t i = 0; i < n; i++)
        if (count == 0 || number[i] > number[count - 1])
            number[count++] = number[i];
    *rows = n;
    return count;
}

static double dt_of(const struct sim_dataset *set, size_t sequence)
{
    return orr_exp((double)sim_dataset_coords(set, sequence)[0]);
}

/* Tracks of both bodies of a sequence. Masses stand on the row of the second body. */
static int take_sequence(const struct sim_dataset *set, size_t sequence, const char *name,
                         struct sr_track *track)
{
    const float *row = sim_dataset_coords(set, sequence);
    const size_t axes = (size_t)set->dimensions, full = (size_t)sim_full_columns(set->dimensions);
    const float *state = set->full_state + full * sequence * (size_t)set->positions;
    const double scale = set->scale ? (double)set->scale[sequence] : 1, dt = dt_of(set, sequence);
    for (size_t body = 0; body < BODIES; body++) {
        track[body].system = name;
        track[body].body = body ? "2" : "1";
        track[body].mass = (double)state[full * BODIES + full - 2 + body];
        if (!(track[body].mass > 0))
            return ORR_FAIL(ORR_EFORMAT, "%s: two_body_test: sequence %zu: no mass of body %zu",
                            set->dir, sequence, body + 1);
        for (size_t step = 0; step < track[body].n; step++) {
            track[body].t[step] = (double)step * dt;
            for (size_t d = 0; d < axes; d++)
                track[body].x[d * track[body].n + step] =
                    scale * (double)row[axes * (1 + BODIES * step + body) + d];
        }
    }
    return 0;
}

/* Tracks of these sequences, two each. names: (sequences, 24). */
static int make_tracks(const struct sim_dataset *set, const double *sequence, size_t sequences,
                       char (*names)[24], struct sr_tracks *tracks)
{
    const size_t steps = ((size_t)set->positions - 1) / BODIES;
    size_t *rows = orr_alloc(BODIES * sequences, sizeof *rows);
    if (!rows)
        return ORR_ENOMEM;
    for (size_t k = 0; k < BODIES * sequences; k++)
        rows[k] = steps;
    *tracks = (struct sr_tracks){.file = set->dir};
    int rc = sr_tracks_create(tracks, set->dimensions, BODIES * sequences, rows);
    for (size_t i = 0; i < sequences && !rc; i++) {
        snprintf(names[i], sizeof names[i], "%.0f", sequence[i]);
        rc = sequence[i] < (double)set->n
                 ? take_sequence(set, (size_t)sequence[i], names[i], tracks->track + BODIES * i)
                 : ORR_FAIL(ORR_EFORMAT, "%s: two_body_test: no sequence %.0f", set->dir,
                            sequence[i]);
    }
    free(rows);
    return rc;
}

/* ---- the table of forces */

/* Appends a row. F_true is the run's law at the row's r; errors are measured against it. */
static void add_row(const struct sim_dataset *set, int sample, double sequence,
                    const struct sr_motion_row *row, struct law_true *law,
                    struct law_forces *forces)
{
    const size_t i = forces->rows++;
    const double dt = dt_of(set, (size_t)sequence);
    forces->sample[i] = sample;
    forces->sequence[i] = sequence;
    forces->step[i] = floor(row->t / dt + 0.5);
    forces->r[i] = row->r;
    forces->m1[i] = row->m1;
    forces->m2[i] = row->m2;
    forces->dt[i] = dt;
    forces->f[i] = row->value;
    forces->sigma[i] = row->sigma;
    forces->f_true[i] =
        sim_law_force_at(&law->dynamics, (size_t)forces->step[i], row->m1, row->m2, row->r);
}

/* Takes the rows of one sample evenly, at most as many as its table of forces has. */
static void take_rows(const struct sim_dataset *set, int sample, size_t most,
                      const double *sequence, const struct sr_tracks *tracks,
                      const struct sr_motion_table *table, struct law_true *law,
                      struct law_forces *forces)
{
    const size_t rows = table->count < most ? table->count : most;
    for (size_t k = 0; k < rows; k++) {
        const struct sr_motion_row *row = &table->row[k * table->count / rows];
        const size_t track = (size_t)(row->track - tracks->track);
        add_row(set, sample, sequence[track / BODIES], row, law, forces);
    }
}

static int estimate_sample(const struct sim_dataset *set, const struct law_forces *truth,
                           int sample, int threads, struct law_true *law, struct law_forces *forces)
{
    struct sr_tracks tracks = {0};
    struct sr_motion_table table = {0};
    size_t rows = 0, sequences = 0;
    double *sequence = orr_alloc(truth->rows, sizeof *sequence);
    char(*names)[24] = orr_alloc(truth->rows, sizeof *names);
    int rc = sequence && names ? 0 : ORR_ENOMEM;
    if (!rc) {
        sequences = list_sequences(truth, sample, sequence, &rows);
        rc = make_tracks(set, sequence, sequences, names, &tracks);
    }
    if (!rc)
        rc = sr_motion_make(&tracks, NULL, threads, &table);
    if (!rc)
        take_rows(set, sample, rows, sequence, &tracks, &table, law, forces);
    sr_motion_free(&table);
    sr_tracks_free(&tracks);
    free(sequence);
    free(names);
    return rc;
}

/* Allocates columns for as many rows as the tables of forces have. */
static int create_columns(size_t rows, struct law_forces *forces)
{
    double **const at[10] = {&forces->sample, &forces->sequence, &forces->step, &forces->r,
                             &forces->m1,     &forces->m2,       &forces->dt,   &forces->f_true,
                             &forces->f,      &forces->sigma};
    double *storage = orr_alloc(10 * rows, sizeof *storage);
    *forces = (struct law_forces){.storage = storage};
    for (size_t c = 0; c < 10 && storage; c++)
        *at[c] = storage + c * rows;
    return storage ? 0 : ORR_ENOMEM;
}

int law_positions_estimate(const struct sim_dataset *set, const struct law_forces *truth,
                           int threads, struct law_true *law, struct law_forces *forces)
{
    int rc = create_columns(truth->rows, forces);
    for (int s = 0; s < truth->samples && !rc; s++)
        rc = estimate_sample(set, truth, s, threads, law, forces);
    forces->samples = rc ? 0 : truth->samples;
    if (rc)
        law_forces_free(forces);
    return rc;
}

int law_positions_open(const struct orr_cli *cli, const char *orbits, char *path,
                       struct sim_dataset *set)
{
    static const enum sim_split split[] = {SIM_SPLIT_TWO_BODY_TEST};
    *set = (struct sim_dataset){0};
    TRY(orr_cli_orbits(cli, orbits, path));
    TRY(sim_dataset_verify(&cli->settings, path, split, 1, !orbits || !*orbits, true));
    TRY(sim_dataset_open(set, &cli->settings, path, SIM_SPLIT_TWO_BODY_TEST));
    if (set->coords && set->full_state)
        return 0;
    sim_dataset_close(set);
    return ORR_FAIL(ORR_EFORMAT, "%s: two_body_test: no coordinates", path);
}
