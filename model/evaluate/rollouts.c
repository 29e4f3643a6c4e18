/* rollouts.c - rollouts.csv: a model of planet runs continues the orbits of the solar system's
 * bodies from half of their steps on. The player in report.html shows them, since it cannot run
 * models. */
#include "evaluate.h"
#include "model/pretrain.h"

#include <stdlib.h>

/* State of a call. A step is two rows, the planet and the sun. */
struct rollouts {
    struct gpt_model *model;
    struct sim_dataset set;
    struct gpt_batch batch;
    int B, T, known; /* sequences; rows; steps that the model is given */
    size_t axes;     /* coordinates d */
    real *path;      /* (B, T, d): rows of known steps are not written */
};

static int prepare_batch(struct rollouts *r)
{
    const struct gpt_config *config = &r->model->config;
    TRY(gpt_batch_create(&r->batch, config, r->B, r->T));
    r->path = orr_alloc(r->axes * (size_t)r->T * (size_t)r->B, sizeof *r->path);
    if (!r->path)
        return ORR_ENOMEM;
    for (int b = 0; b < r->B; b++) {
        TRY(sim_dataset_check_rows(&r->set, (size_t)b));
        gpt_fill_coords(config, sim_dataset_coords(&r->set, (size_t)b), 0, NULL, b, &r->batch);
    }
    return 0;
}

/* Position of the planet relative to the sun at a step, in AU. */
static void relative_place(const struct rollouts *r, int b, int step, double truth_au[GPT_AXES],
                           double au[GPT_AXES])
{
    const size_t planet = 1 + 2 * (size_t)step, row = (size_t)b * (size_t)r->T + planet;
    const size_t axes = r->axes;
    const float *coords = sim_dataset_coords(&r->set, (size_t)b) + axes * planet;
    const double scale_au = (double)r->set.scale[b];
    for (size_t c = 0; c < axes; c++) {
        truth_au[c] = scale_au * ((double)coords[c] - (double)coords[axes + c]);
        au[c] = step < r->known ? truth_au[c]
                                : scale_au * ((double)r->path[axes * row + c] -
                                              (double)r->path[axes * (row + 1) + c]);
    }
}

static void write_rows(const struct rollouts *r, struct orr_file *file)
{
    const int steps = (r->T - 1) / 2;
    const bool space = r->axes == 3;
    orr_file_printf(file, "name,step,x_true,y_true,x,y,known%s\n", space ? ",z_true,z" : "");
    for (int b = 0; b < r->B; b++)
        for (int step = 0; step < steps; step++) {
            double truth_au[GPT_AXES] = {0}, au[GPT_AXES] = {0};
            relative_place(r, b, step, truth_au, au);
            orr_file_printf(file, "%s,%d,%.6g,%.6g,%.6g,%.6g,%d", sim_sun_bodies[b].name, step,
                            truth_au[0], truth_au[1], au[0], au[1], step < r->known);
            if (space)
                orr_file_printf(file, ",%.6g,%.6g", truth_au[2], au[2]);
            orr_file_printf(file, "\n");
        }
}

static int write_file(struct rollouts *r, struct orr_file *file, const char *path)
{
    r->B = (int)r->set.n < SIM_SUN_BODIES ? (int)r->set.n : SIM_SUN_BODIES;
    r->known = (r->T - 1) / 4;
    TRY(prepare_batch(r));
    TRY(gpt_rollout(r->model, &r->batch, 1 + 2 * r->known, 0, r->path));
    TRY(orr_file_create(file, path));
    write_rows(r, file); /* a failed write makes the commit fail */
    return orr_file_commit(file);
}

int gpt_rollouts_write(const struct gpt_pretraining *job, struct gpt_model *model, bool *written)
{
    struct rollouts r = {.model = model,
                         .T = model->config.context,
                         .axes = (size_t)gpt_config_axes(&model->config)};
    struct orr_file file = {0};
    char path[4096];
    *written = false;
    TRY(orr_path(path, "%s/%s", job->folder, GPT_ROLLOUTS));
    int rc = sim_dataset_open(&r.set, job->settings, job->orbits_dir, SIM_SPLIT_PLANETS_SOLAR);
    if (rc == ORR_EMISSING && *job->lineage->orbits) {
        orr_error_clear(); /* data sets made elsewhere need not have this set */
        return 0;
    }
    if (!rc)
        rc = write_file(&r, &file, path);
    *written = !rc;
    orr_file_close(&file);
    gpt_batch_free(&r.batch);
    free(r.path);
    sim_dataset_close(&r.set);
    return rc;
}
