/* rollouts.c - rollouts.csv: a model of planet runs continues the orbits of the solar system's
 * bodies from half of their steps on. For the player of report.html, which computes no models. */
#include "evaluate.h"
#include "model/pretrain.h"

#include <stdlib.h>

/* What a call works on. A step is two rows, the planet and the sun. */
struct rollouts {
    struct gpt_model *model;
    struct sim_dataset set;
    struct gpt_batch batch;
    int B, T, known; /* sequences; rows; steps that the model is given */
    real *path;      /* (B, T, 2): rows of known steps are not written */
};

static int prepare_batch(struct rollouts *r)
{
    const struct gpt_config *config = &r->model->config;
    const size_t F = (size_t)gpt_config_features(config), T = (size_t)r->T;
    TRY(gpt_batch_create(&r->batch, config, r->B, r->T));
    r->path = orr_alloc(2 * T * (size_t)r->B, sizeof *r->path);
    if (!r->path)
        return ORR_ENOMEM;
    for (int b = 0; b < r->B; b++) {
        const float *coords = sim_dataset_coords(&r->set, (size_t)b);
        TRY(sim_dataset_check_rows(&r->set, (size_t)b));
        for (size_t t = 0; t < T; t++)
            gpt_features(config, (double)coords[2 * t], (double)coords[2 * t + 1], t == 0,
                         r->batch.features + ((size_t)b * T + t) * F);
    }
    return 0;
}

/* Planet minus sun of a step, in AU. */
static void relative_place(const struct rollouts *r, int b, int step, double truth_au[2],
                           double au[2])
{
    const size_t planet = 1 + 2 * (size_t)step, row = (size_t)b * (size_t)r->T + planet;
    const float *coords = sim_dataset_coords(&r->set, (size_t)b) + 2 * planet;
    const double scale_au = (double)r->set.scale[b];
    for (int c = 0; c < 2; c++) {
        truth_au[c] = scale_au * ((double)coords[c] - (double)coords[2 + c]);
        au[c] = step < r->known ? truth_au[c]
                                : scale_au * ((double)r->path[2 * row + (size_t)c] -
                                              (double)r->path[2 * row + 2 + (size_t)c]);
    }
}

static int write_rows(const struct rollouts *r, struct orr_file *file)
{
    const int steps = (r->T - 1) / 2;
    TRY(orr_file_printf(file, "name,step,x_true,y_true,x,y,known\n"));
    for (int b = 0; b < r->B; b++)
        for (int step = 0; step < steps; step++) {
            double truth_au[2], au[2];
            relative_place(r, b, step, truth_au, au);
            TRY(orr_file_printf(file, "%s,%d,%.6g,%.6g,%.6g,%.6g,%d\n", sim_sun_bodies[b].name,
                                step, truth_au[0], truth_au[1], au[0], au[1], step < r->known));
        }
    return 0;
}

int gpt_rollouts_write(const struct gpt_pretraining *job, struct gpt_model *model, bool *written)
{
    struct rollouts r = {.model = model, .T = model->config.context};
    struct orr_file file = {0};
    char path[4096];
    *written = false;
    TRY(orr_path(path, "%s/%s", job->folder, GPT_ROLLOUTS));
    int rc = sim_dataset_open(&r.set, job->preset, job->orbits_dir, SIM_SPLIT_PLANETS_SOLAR);
    if (rc == ORR_EMISSING &&
        *job->chain->orbits) { /* made elsewhere: only what trains is needed */
        orr_error_clear();
        return 0;
    }
    r.B = (int)r.set.n < SIM_SUN_BODIES ? (int)r.set.n : SIM_SUN_BODIES;
    r.known = (r.T - 1) / 4;
    if (!rc)
        rc = prepare_batch(&r);
    if (!rc)
        rc = gpt_rollout(model, &r.batch, 1 + 2 * r.known, 0, r.path);
    if (!rc)
        rc = orr_file_create(&file, path);
    if (!rc)
        rc = write_rows(&r, &file);
    if (!rc)
        rc = orr_file_commit(&file);
    orr_file_close(&file);
    *written = !rc;
    gpt_batch_free(&r.batch);
    free(r.path);
    sim_dataset_close(&r.set);
    return rc;
}
