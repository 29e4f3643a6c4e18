/* export_inductive.c - what probe inductive asks: random functions of the state, of which a model
 * learns two values of each sequence. */
#include "exporter.h"
#include "probe/inductive/inductive.h"

#include <stdlib.h>

#include <cjson/cJSON.h>

static const char rows_file[] = "rows_inductive.csv", labels_file[] = "labels_inductive.csv";

/* labels_inductive.csv: the labels of every data set. */
static int write_labels(struct exporter *e, const struct probe_inductive *p)
{
    struct orr_file file = {0};
    double z[PROBE_STATE];
    TRY(probe_export_open(e, &file, labels_file, "set,sequence,row,target"));
    for (int d = 0; d < p->sets; d++)
        for (int s = 0; s < PROBE_NOISE_SEQUENCES; s++)
            for (int k = 0; k < PROBE_NOISE_LABELS; k++) {
                const int step = p->noise[d].step[s][k], sequence = p->noise[d].first + s;
                probe_pool_state(&p->pool, &p->fit, sequence, step, z);
                (void)orr_file_printf(&file, "%d,%d,%d,%.9g\n", d, sequence, 2 + 2 * step,
                                      probe_noise_target(&p->noise[d], z));
            }
    return probe_export_commit(e, &file, labels_file);
}

static int write_points(struct exporter *e, const struct probe_inductive *p)
{
    const size_t points = p->points[PROBE_CORRECTED] + p->points[PROBE_PUBLISHED];
    struct orr_file file = {0};
    TRY(probe_export_open(e, &file, rows_file, "set,held_out,sequence,row,target"));
    for (int d = 0; d < p->sets; d++)
        for (size_t i = 0; i < points; i++) {
            const struct probe_inductive_point at = probe_inductive_point_at(p, d, i);
            (void)orr_file_printf(&file, "%d,%d,%d,%d,%.9g\n", d, at.held_out, at.sequence, at.row,
                                  at.target);
        }
    cJSON *one = probe_export_ask(e, rows_file, PROBE_INDUCTIVE_ANSWERS);
    cJSON_AddStringToObject(one, "labels", labels_file);
    cJSON_AddStringToObject(one, "inputs", "inputs_inductive_train.npy");
    cJSON_AddStringToObject(one, "held_out", "inputs_inductive_test.npy");
    cJSON_AddNumberToObject(one, "sets", p->sets);
    return probe_export_commit(e, &file, rows_file);
}

static int ask(struct exporter *e, struct probe_inductive *p)
{
    TRY(probe_inductive_points(p));
    TRY(probe_inductive_noises(p));
    TRY(probe_export_set(e, "inputs_inductive_train.npy", &p->fit, PROBE_NOISE_SEQUENCES * p->sets,
                         e->T));
    TRY(probe_export_set(e, "inputs_inductive_test.npy", &p->held_out, p->held_out.n, e->T));
    TRY(write_labels(e, p));
    return write_points(e, p);
}

int probe_export_inductive(struct exporter *e)
{
    struct probe_inductive *p = orr_alloc(1, sizeof *p);
    if (!p)
        return ORR_ENOMEM;
    p->s.options = e->options;
    int rc = probe_inductive_open(p);
    if (rc == ORR_EINVAL) { /* too few steps with labels */
        orr_note(e->options->quiet, "export: no inductive bias: %s", orr_error());
        orr_error_clear();
        rc = 0;
    } else if (!rc)
        rc = ask(e, p);
    probe_rewind(&p->s.arena, 0);
    probe_close(&p->s.probe);
    free(p);
    return rc;
}
