/* main_pretrain.c - bin/pretrain: next-state training of every attention variant of a preset. */
#include "pretrain.h"

static const char *orbits_option = "", *minutes_option;
static const struct orr_option options[] = {
    {"--orbits", "DIR", "where the data sets are (default: <run>/orbits)", &orbits_option},
    {"--minutes", "N", "stop after so many, with everything saved, and exit with status 0",
     &minutes_option},
    {NULL, NULL, NULL, NULL},
};
static const struct orr_program program = {
    .name = "pretrain",
    .purpose = "Trains a GPT to predict the next position, once per attention variant; or the next "
               "token of a\ntext (docs/text.md).",
    .usage = "pretrain [options]",
    .options = options,
    .groups = "attention,text,model,pretrain,pretrain_planets",
    .resumes = true,
    .stops_well = true,
};

/* One stage of one variant; folder stays "" when the preset leaves the stage out. */
static int make_job(const struct orr_cli *cli, const struct k_ops *ops, const char *attention,
                    bool planets, const char *orbits, struct gpt_pretraining *job)
{
    const struct orr_preset *p = &cli->preset;
    *job = (struct gpt_pretraining){
        .preset = p,
        .train = planets ? &p->pretrain_planets : &p->pretrain,
        .ops = ops,
        .attention = attention,
        .orbits_dir = orbits,
        .planets = planets,
        .checkpoint = planets ? "" : cli->checkpoint,
        .resume = cli->resume,
        .quiet = cli->quiet,
    };
    const bool data = planets ? p->planets.enabled : orr_preset_is_text(p) || p->orbits.train > 0;
    if (job->train->steps < 1 || !data)
        return 0;
    const char *stage = planets ? "pretrain_planets" : "pretrain";
    return *cli->out ? orr_path(job->folder, "%s%s", cli->out, planets ? "_planets" : "")
                     : orr_path(job->folder, "%s/%s/%s", cli->run, attention, stage);
}

/* The data and checkpoints that a job reads; nothing is kept. */
static int check_job(const struct gpt_pretraining *job)
{
    const struct orr_preset *p = job->preset;
    const enum sim_split split[] = {job->planets ? SIM_SPLIT_PLANETS_TRAIN : SIM_SPLIT_TRAIN,
                                    job->planets ? SIM_SPLIT_PLANETS_VAL : SIM_SPLIT_VAL,
                                    gpt_final_split(p, job->planets)};
    struct gpt_config config;
    struct gpt_model model;
    char last[4096], digest[32];
    const bool text = orr_preset_is_text(p);
    int rc = gpt_config_from_preset(&config, p, job->attention,
                                    text ? p->text.positions : sim_split_positions(p, split[0]));
    for (int i = 0; i < 3 && !rc; i++) {
        struct gpt_source *source = NULL;
        if (text || sim_split_count(p, split[i]) > 0)
            rc = gpt_source_open(&source, p, job->orbits_dir, split[i], &config);
        if (!rc)
            gpt_source_close(source);
    }
    if (!rc && *job->checkpoint) {
        rc = gpt_load_as(&model, job->checkpoint, &config, false, &k_ref, NULL);
        if (!rc)
            gpt_free(&model);
    }
    if (!rc)
        rc = orr_path(last, "%s/last.safetensors", job->folder);
    if (!rc && job->resume && orr_exists(last))
        rc = gpt_checkpoint_metadata(last, "digest", digest, sizeof digest);
    return rc;
}

static int verify_data(const struct orr_cli *cli, const char *orbits)
{
    const struct orr_preset *p = &cli->preset;
    enum sim_split need[6];
    int count = 0;
    if (orr_preset_is_text(p))
        return *orbits_option ? ORR_FAIL(ORR_EUSAGE, "--orbits: preset %s trains on text", p->name)
                              : 0;
    if (p->pretrain.steps > 0 && p->orbits.train_files >= p->orbits.train && p->orbits.train > 0)
        need[count++] = SIM_SPLIT_TRAIN; /* otherwise it is streamed */
    if (p->pretrain.steps > 0 && p->orbits.val > 0)
        need[count++] = SIM_SPLIT_VAL;
    if (p->pretrain.steps > 0 && p->orbits.test > 0)
        need[count++] = SIM_SPLIT_TEST;
    if (p->pretrain_planets.steps > 0 && p->planets.enabled) {
        need[count++] = SIM_SPLIT_PLANETS_TRAIN;
        if (p->planets.val > 0)
            need[count++] = SIM_SPLIT_PLANETS_VAL;
        if (p->planets.test > 0)
            need[count++] = SIM_SPLIT_PLANETS_TEST;
    }
    return sim_dataset_verify(p, orbits, need, count, cli->quiet);
}

/* Everything that can be wrong is found before any training starts. */
static int check_arguments(const struct orr_cli *cli, const struct k_ops *ops, const char *orbits)
{
    const struct orr_preset *p = &cli->preset;
    struct gpt_config config;
    struct gpt_pretraining job;
    int rc = 0;
    for (int i = 0; i < p->attention.count && !rc; i++)
        rc = gpt_config_from_preset(&config, p, p->attention.item[i], p->orbits.positions);
    if (!rc && *cli->out && p->attention.count > 1)
        return ORR_FAIL(ORR_EUSAGE, "--out: needs one --attention, the preset has %d",
                        p->attention.count);
    if (!rc)
        rc = verify_data(cli, orbits);
    for (int i = 0; i < 2 * p->attention.count && !rc; i++) {
        rc = make_job(cli, ops, p->attention.item[i / 2], i % 2 == 1, orbits, &job);
        if (!rc && *job.folder)
            rc = check_job(&job);
    }
    return rc;
}

static int run(const struct orr_cli *cli)
{
    char orbits[4096], saved[4096];
    struct gpt_pretraining job;
    struct gpt_device device;
    int rc = *orbits_option ? orr_path(orbits, "%s", orbits_option)
                            : orr_path(orbits, "%s/orbits", cli->run);
    if (!rc && minutes_option)
        rc = orr_time_limit(minutes_option);
    if (!rc)
        rc = gpt_device_find(&device, cli);
    if (!rc)
        rc = check_arguments(cli, device.ops, orbits);
    if (!rc)
        rc = gpt_device_open(&device, cli, false);
    if (rc)
        return rc;
    if (!*cli->out)
        rc = orr_mkdir(cli->run);
    if (!rc && !*cli->out)
        rc = orr_path(saved, "%s/preset.json", cli->run);
    if (!rc && !*cli->out)
        rc = orr_preset_save(&cli->preset, saved);
    for (int i = 0; i < 2 * cli->preset.attention.count && !rc; i++) {
        rc = make_job(cli, device.ops, cli->preset.attention.item[i / 2], i % 2 == 1, orbits, &job);
        if (!rc && *job.folder)
            rc = gpt_pretrain(&job);
    }
    device.ops->close();
    return rc;
}

int main(int argc, char **argv)
{
    return orr_main(&program, argc, argv, run);
}
