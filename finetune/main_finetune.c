/* main_finetune.c - bin/finetune: forces from every pretrained model, with truth, oracle and
 * untrained rows. */
#include "ft.h"

#include <string.h>

static const char *orbits_option = "", *source_option = "", *minutes_option;
static const struct orr_option options[] = {
    {"--orbits", "DIR", "where the data sets are (default: <run>/orbits)", &orbits_option},
    {"--source", "NAME", "only this source: truth, oracle, untrained or an attention variant",
     &source_option},
    {"--minutes", "N", "stop after so many, with everything saved, and exit with status 0",
     &minutes_option},
    {NULL, NULL, NULL, NULL},
};
static const struct orr_program program = {
    .name = "finetune",
    .purpose =
        "Fine-tunes pretrained models to forces; writes held-out predictions as CSV. Models start "
        "from\nlast.safetensors of their pretraining, or from best.safetensors where it has "
        "pretrain.patience.",
    .usage = "finetune [options]",
    .options = options,
    .groups = "attention,planets,finetune",
    .resumes = true,
};

static bool wanted(const char *source)
{
    return !*source_option || !strcmp(source_option, source);
}

/* The checkpoint that a model starts from: the run's own, the best one where patience chose it, or
 * --checkpoint for the first stage (planet runs have models of another length). */
static int pretrained(const struct orr_cli *cli, const char *attention, const char *stage,
                      char path[4096])
{
    if (*cli->checkpoint && !strcmp(stage, "pretrain"))
        return orr_path(path, "%s", cli->checkpoint);
    const struct orr_preset *p = &cli->preset;
    const bool first = !strcmp(stage, "pretrain");
    int rc = orr_path(path, "%s/%s/%s/%s", cli->run, attention, stage,
                      gpt_final_checkpoint(first ? &p->pretrain : &p->pretrain_planets));
    if (!rc && !orr_exists(path))
        rc = ORR_FAIL(ORR_EMISSING,
                      "%s: no pretrained model there; make it with: pretrain "
                      "--preset %s --attention %s",
                      path, cli->preset.name, attention);
    return rc;
}

static int one_model(struct ft_run *run, const struct orr_cli *cli, const char *source,
                     const char *attention)
{
    const struct orr_preset *p = &cli->preset;
    const bool fresh = !strcmp(source, "untrained");
    char main_path[4096] = "", planets_path[4096] = "";
    int rc = 0;
    if (!fresh && p->pretrain.steps > 0)
        rc = pretrained(cli, attention, "pretrain", main_path);
    if (!rc && !fresh && p->planets.enabled && p->pretrain_planets.steps > 0)
        rc = pretrained(cli, attention, "pretrain_planets", planets_path);
    const char *vector_from = p->planets.enabled ? planets_path : main_path;
    if (!rc && run->has_magnitude && p->finetune.magnitude.steps > 0)
        rc = ft_magnitude_model(run, source, attention, *main_path ? main_path : NULL);
    if (!rc && run->has_vector && p->finetune.vector.steps > 0)
        rc = ft_vector_model(run, source, attention, *vector_from ? vector_from : NULL);
    return rc;
}

static int truth_and_oracle(struct ft_run *run)
{
    int rc = 0;
    if (wanted("truth") && run->has_magnitude)
        rc = ft_magnitude_truth(run);
    if (!rc && wanted("truth") && run->has_vector)
        rc = ft_vector_truth(run);
    if (!rc && wanted("oracle") && run->has_magnitude)
        rc = ft_magnitude_oracle(run);
    if (!rc && wanted("oracle") && run->has_vector)
        rc = ft_vector_oracle(run);
    return rc;
}

/* The data sets that magnitudes and vectors come from. */
static int verify_data(const struct orr_cli *cli, const char *orbits)
{
    static const enum sim_split used[] = {SIM_SPLIT_TWO_BODY_TRAIN, SIM_SPLIT_TWO_BODY_VAL,
                                          SIM_SPLIT_TWO_BODY_TEST, SIM_SPLIT_SOLAR_SYSTEM_TWO_BODY,
                                          SIM_SPLIT_PLANETS_SOLAR};
    enum sim_split need[sizeof used / sizeof *used];
    int count = 0;
    for (size_t i = 0; i < sizeof used / sizeof *used; i++)
        if (sim_split_count(&cli->preset, used[i]) > 0)
            need[count++] = used[i];
    return sim_dataset_verify(&cli->preset, orbits, need, count, cli->quiet);
}

/* A pretraining that was stopped (which is no failure of bin/pretrain) is to go on first. A file
 * named by --checkpoint is taken as it is. */
static int check_complete(const struct orr_cli *cli, const char *attention, bool planets)
{
    static const char *const shared[] = {"--preset",         "--set",       "--run",     "--seed",
                                         "--orbits",         "--attention", "--threads", "--device",
                                         "--attention-impl", NULL};
    const struct orr_preset *p = &cli->preset;
    const long steps = planets ? p->pretrain_planets.steps : p->pretrain.steps;
    char path[4096], command[ORR_COMMAND];
    long step;
    bool ended;
    if (*cli->checkpoint && !planets)
        return 0;
    int rc = orr_path(path, "%s/%s/%s/last.safetensors", cli->run, attention,
                      planets ? "pretrain_planets" : "pretrain");
    if (rc || !orr_exists(path)) /* pretrained() tells */
        return rc;
    rc = gpt_progress(path, &step, &ended);
    if (rc || ended || step >= steps)
        return rc;
    orr_command("pretrain", shared, command, sizeof command);
    return ORR_FAIL(ORR_EMISSING,
                    "%s: pretraining is not complete: step %ld of %ld; go on with: %s", path, step,
                    steps, command);
}

/* A stage's checkpoint loads, is complete and of the preset's shape. */
static int check_pretrained(const struct orr_cli *cli, const char *attention, bool planets)
{
    const struct orr_preset *p = &cli->preset;
    struct gpt_config config;
    struct gpt_model model;
    char path[4096];
    int rc = check_complete(cli, attention, planets);
    if (!rc)
        rc = pretrained(cli, attention, planets ? "pretrain_planets" : "pretrain", path);
    if (!rc)
        rc = gpt_config_from_preset(
            &config, p, attention,
            sim_split_positions(p, planets ? SIM_SPLIT_PLANETS_SOLAR : SIM_SPLIT_TWO_BODY_TRAIN));
    if (!rc)
        rc = gpt_load_as(&model, path, &config, true, &k_ref, NULL);
    if (!rc)
        gpt_free(&model);
    return rc;
}

/* Everything that can be wrong is found before any training starts. */
static int check_arguments(const struct orr_cli *cli, const char *orbits)
{
    const struct orr_preset *p = &cli->preset;
    bool known = !*source_option || !strcmp(source_option, "truth") ||
                 !strcmp(source_option, "oracle") || !strcmp(source_option, "untrained");
    struct gpt_config config;
    int rc = orr_preset_needs_orbits(p, "fine-tuning");
    for (int i = 0; i < p->attention.count && !rc; i++) {
        known |= !strcmp(source_option, p->attention.item[i]);
        rc = gpt_config_from_preset(&config, p, p->attention.item[i], p->orbits.positions);
    }
    if (!rc && !known)
        rc = ORR_FAIL(ORR_EUSAGE,
                      "--source: expected truth, oracle, untrained or one of the "
                      "preset's variants, found \"%s\"",
                      source_option);
    if (!rc)
        rc = verify_data(cli, orbits);
    for (int i = 0; i < p->attention.count && !rc; i++) {
        const char *name = p->attention.item[i];
        if (wanted(name) && p->pretrain.steps > 0)
            rc = check_pretrained(cli, name, false);
        if (!rc && wanted(name) && p->planets.enabled && p->pretrain_planets.steps > 0)
            rc = check_pretrained(cli, name, true);
    }
    return rc;
}

static int run_all(const struct orr_cli *cli, const char *orbits, const struct k_ops *ops)
{
    struct ft_run run;
    const struct orr_preset *p = &cli->preset;
    int rc = ft_run_open(&run, p, *cli->out ? cli->out : cli->run, orbits, ops);
    if (rc)
        return rc;
    run.resume = cli->resume;
    run.quiet = cli->quiet;
    rc = truth_and_oracle(&run);
    for (int i = 0; i < p->attention.count && !rc; i++)
        if (wanted(p->attention.item[i]))
            rc = one_model(&run, cli, p->attention.item[i], p->attention.item[i]);
    if (!rc && wanted("untrained"))
        rc = one_model(&run, cli, "untrained", p->attention.item[0]);
    ft_run_close(&run);
    return rc;
}

static int run(const struct orr_cli *cli)
{
    char orbits[4096];
    struct gpt_device device;
    int rc = *orbits_option ? orr_path(orbits, "%s", orbits_option)
                            : orr_path(orbits, "%s/orbits", cli->run);
    if (!rc && minutes_option)
        rc = orr_time_limit(minutes_option);
    if (!rc)
        rc = gpt_device_find(&device, cli);
    if (!rc)
        rc = check_arguments(cli, orbits);
    if (!rc)
        rc = gpt_device_open(&device, cli, false);
    if (rc)
        return rc;
    rc = run_all(cli, orbits, device.ops);
    device.ops->close();
    return rc;
}

int main(int argc, char **argv)
{
    return orr_main(&program, argc, argv, run);
}
