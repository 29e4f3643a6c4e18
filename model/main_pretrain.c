/* main_pretrain.c - bin/pretrain: next-state training of every attention variant of a preset. */
#include "pretrain.h"

#include <string.h>

static const char *orbits_option = "";
static const struct orr_option options[] = {
    {"--orbits", "DIR", "where the data sets are (default: <run>/orbits)", &orbits_option},
    {NULL, NULL, NULL, NULL},
};
static const struct orr_program program = {
    .name = "pretrain",
    .purpose = "Trains a GPT to predict the next position, once per attention variant.",
    .usage = "pretrain [options]",
    .options = options,
    .groups = "attention,model,pretrain,pretrain_planets",
};

static int one(const struct orr_cli *cli, const struct k_ops *ops, const char *attention,
               bool planets, const char *orbits)
{
    const struct orr_preset *p = &cli->preset;
    struct gpt_pretraining job = {
        .preset = p, .train = planets ? &p->pretrain_planets : &p->pretrain, .ops = ops,
        .attention = attention, .orbits_dir = orbits, .planets = planets,
        .checkpoint = planets ? "" : cli->checkpoint, .resume = cli->resume, .quiet = cli->quiet,
    };
    if (job.train->steps < 1 || (planets ? !p->planets.enabled : p->orbits.train < 1))
        return 0;
    const char *stage = planets ? "pretrain_planets" : "pretrain";
    int rc = *cli->out ? orr_path(job.folder, "%s%s", cli->out, planets ? "_planets" : "")
                       : orr_path(job.folder, "%s/%s/%s", cli->run, attention, stage);
    return rc ? rc : gpt_pretrain(&job);
}

static int check_arguments(const struct orr_cli *cli, const char *orbits)
{
    char manifest[4096];
    struct gpt_config config;
    int rc = 0;
    for (int i = 0; i < cli->preset.attention.count && !rc; i++)
        rc = gpt_config_from_preset(&config, &cli->preset, cli->preset.attention.item[i],
                                    cli->preset.orbits.positions);
    if (!rc && *cli->out && cli->preset.attention.count > 1)
        return ORR_FAIL(ORR_EUSAGE, "--out: needs one --attention, the preset has %d",
                        cli->preset.attention.count);
    if (!rc && *cli->checkpoint) {
        struct gpt_model model;
        rc = gpt_load(&model, cli->checkpoint, &k_ref, NULL);
        if (!rc)
            gpt_free(&model);
    }
    if (!rc)
        rc = orr_path(manifest, "%s/manifest.json", orbits);
    if (!rc && !orr_exists(manifest))
        rc = ORR_FAIL(ORR_EMISSING, "%s: no data sets there; make them with: orbits --preset %s",
                      orbits, cli->preset.name);
    return rc;
}

static int run(const struct orr_cli *cli)
{
    char orbits[4096], saved[4096];
    const struct k_ops *ops;
    int rc = *orbits_option ? orr_path(orbits, "%s", orbits_option)
                            : orr_path(orbits, "%s/orbits", cli->run);
    if (!rc)
        rc = k_find(cli->device == ORR_DEVICE_CUDA ? "cuda" : "cpu", &ops);
    if (!rc)
        rc = check_arguments(cli, orbits);
    if (!rc)
        rc = ops->open(cli->threads, cli->preset.model.precision != ORR_PRECISION_FP32);
    if (rc)
        return rc;
    rc = orr_mkdir(cli->run);
    if (!rc)
        rc = orr_path(saved, "%s/preset.json", cli->run);
    if (!rc && !*cli->out)
        rc = orr_preset_save(&cli->preset, saved);
    for (int i = 0; i < cli->preset.attention.count && !rc; i++) {
        rc = one(cli, ops, cli->preset.attention.item[i], false, orbits);
        if (!rc)
            rc = one(cli, ops, cli->preset.attention.item[i], true, orbits);
    }
    ops->close();
    return rc;
}

int main(int argc, char **argv)
{
    struct orr_cli cli;
    bool done = false;
    int rc = orr_cli_parse(&program, argc, argv, &cli, &done);
    if (rc || done)
        return orr_error_exit(program.name, rc);
    orr_signals_catch();
    rc = run(&cli);
    if (rc == ORR_EINTR) {
        fprintf(stderr, "pretrain: %s\nresume with:", orr_error());
        for (int i = 0; i < argc; i++)
            fprintf(stderr, " %s", argv[i]);
        fprintf(stderr, "%s\n", cli.resume ? "" : " --resume");
    }
    return orr_error_exit(program.name, rc);
}
