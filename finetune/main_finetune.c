/* main_finetune.c - bin/finetune: tables of forces from every pretrained model, the truth, the
 * oracle and the untrained baseline. */
#include "ft.h"
#include "stage/engine.h"

#include <string.h>

#include <cjson/cJSON.h>

static const char *orbits_option = "", *source_option = "", *minutes_option, *force_option;
static const struct orr_option options[] = {
    {"--orbits", "DIR", "where the data sets are (default: <run>/orbits)", &orbits_option, NULL},
    {"--source", "NAME", "only this source: truth, oracle, untrained or an attention variant",
     &source_option, NULL},
    {"--minutes", "N", "stop after N minutes with everything saved, status 0", &minutes_option,
     NULL},
    {"--force", NULL,
     "replace models that are there (--resume: those of other settings or data only)",
     &force_option, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static const struct orr_program program = {
    .name = "finetune",
    .purpose = "Fine-tunes pretrained models to forces; writes held-out predictions as CSV.\n"
               "Models start from last.safetensors of their pretraining, or from\n"
               "best.safetensors with pretrain.patience.",
    .usage = "finetune [options]",
    .options = options,
    .groups = "attention,planets,finetune",
    .resumes = true,
    .usual = "--source,--minutes,--force,--preset,--set,--run,--attention,--checkpoint,--device,"
             "--threads,--resume,--plan,--help,attention,finetune.magnitude.steps,"
             "finetune.magnitude.batch,finetune.magnitude.lr,finetune.magnitude.train,"
             "finetune.vector.steps,finetune.vector.lr,finetune.samples,finetune.sample_size,"
             "planets.labels",
};

/* State that all sources of a call share. */
struct call {
    struct ft_training model; /* of the table that the stage's functions are called for */
    const struct orr_cli *given;
    struct orr_cli cli; /* `given` with model.precision decided */
    char orbits[4096], out[4096];
    struct gpt_device device;
    struct orr_lineage lineage;
    struct orr_sources sources;
    bool work, train; /* a table must be made, by a model */
    struct ft_run run;
    /* the table of a source that is being made */
    const char *source, *attention; /* attention: "" for truth and oracle */
    bool vector;
};

static bool is_model(const struct call *call)
{
    return *call->attention != '\0';
}

static bool is_pretrained(const struct call *call)
{
    return is_model(call) && strcmp(call->source, "untrained") != 0;
}

/* Whether the model was pretrained on planet runs, as for the vectors of their planets. */
static bool on_planets(const struct call *call)
{
    return call->vector && call->cli.settings.planets.enabled;
}

/* The next table that the settings and options select. */
static int next_table(void *of, int *i, bool *there)
{
    struct call *call = of;
    const struct orr_settings *p = &call->cli.settings;
    for (*there = false; *i < 2 * call->sources.count && !*there; *i += !*there) {
        call->source = call->sources.name[*i / 2];
        call->attention = orr_source_attention(p, call->source);
        call->vector = *i % 2 == 1;
        *there = orr_has_table(p, call->source, call->vector) &&
                 (!*source_option || !strcmp(source_option, call->source));
    }
    if (!*there)
        return 0;
    TRY(ft_training_of(&call->model, &call->lineage, call->out, call->source, call->vector));
    call->model.training.resume = call->cli.resume || call->cli.plan;
    call->model.training.force = force_option != NULL;
    return 0;
}

/* The status of a table, and of the model that is made for it alone. The table's record states
 * the lengths that its model had. */
static int table_status(void *of, struct orr_stage_output *output)
{
    struct call *call = of;
    struct orr_artefact *model = output->file, *table = model + is_model(call);
    if (is_model(call))
        TRY(gpt_training_status(&call->model.training, model));
    TRY(ft_table_status(&call->lineage, call->out, call->source, call->vector, table));
    orr_artefact_resume(&call->cli, table);
    output->files = 1 + is_model(call);
    if (!is_model(call))
        return 0;
    if (table->action == ORR_REFUSE || (table->action == ORR_KEEP && model->action != ORR_KEEP)) {
        *model = *table;
        output->files = 1;
    } else if (table->action != ORR_KEEP && model->action == ORR_REFUSE) {
        table->action = ORR_REFUSE;
    }
    return 0;
}

/* ------------------------------------------------------------------- where models come from */

static int run_checkpoint(const struct call *call, const char *attention, bool planets,
                          const char *name, char path[4096])
{
    return orr_path(path, "%s/%s/%s/%s", call->cli.run, attention,
                    planets ? "pretrain_planets" : "pretrain", name);
}

/* The checkpoint that a model starts from: the run's own (the best one with patience), or
 * --checkpoint for the first stage (models of planet runs have another length). "" = random
 * weights. */
static int pretrained_path(const struct call *call, const char *attention, bool planets,
                           char path[4096])
{
    const struct orr_cli *cli = &call->cli;
    const struct orr_settings *p = &cli->settings;
    *path = '\0';
    if (*cli->checkpoint && !planets)
        return orr_path(path, "%s", cli->checkpoint);
    if (!orr_has_pretrain(p, planets))
        return 0;
    return run_checkpoint(call, attention, planets,
                          gpt_final_checkpoint(planets ? &p->pretrain_planets : &p->pretrain),
                          path);
}

/* Checks that a pretrained checkpoint was made with these settings. */
static int check_made(struct call *call, const char *path, const char *command)
{
    char why[ORR_WHY], digest[ORR_DIGEST];
    cJSON *made;
    TRY(orr_lineage_pretrain(&call->lineage, call->attention, on_planets(call), digest));
    TRY(gpt_checkpoint_made(path, &made));
    const bool same = orr_made_same(&call->lineage.records, digest, made, why);
    cJSON_Delete(made);
    return same ? 0
                : ORR_FAIL(ORR_EINVAL,
                           "%s: not what these settings make: %s; make it again with: %s --force, "
                           "or name the file with --checkpoint",
                           path, why, command);
}

/* Checks that the pretraining is complete and was made with this run's settings and data. */
static int check_pretraining(struct call *call, const char *used, const char *command)
{
    const struct orr_settings *p = &call->cli.settings;
    const bool planets = on_planets(call);
    const long steps = planets ? p->pretrain_planets.steps : p->pretrain.steps;
    char path[4096], advice[ORR_COMMAND + 32];
    TRY(run_checkpoint(call, call->attention, planets, "last.safetensors", path));
    if (!orr_exists(path))
        return 0; /* the caller reports the missing checkpoint */
    TRY(check_made(call, path, command));
    if (strcmp(path, used) != 0 && orr_exists(used))
        TRY(check_made(call, used, command));
    snprintf(advice, sizeof advice, "continue with: %s", command);
    return gpt_check_complete(path, steps, advice);
}

/* Checks that the checkpoint that a model starts from ("" = random weights) exists and was made
 * with these settings. A file named by --checkpoint is not checked. */
static int find_pretrained(struct call *call, char path[4096])
{
    static const char *const shared[] = {"--preset",         "--set",       "--run",     "--seed",
                                         "--orbits",         "--attention", "--threads", "--device",
                                         "--attention-impl", NULL};
    char command[ORR_COMMAND];
    TRY(pretrained_path(call, call->attention, on_planets(call), path));
    if (!*path)
        return 0;
    orr_command("pretrain", shared, command, sizeof command);
    if (!*call->cli.checkpoint || on_planets(call))
        TRY(check_pretraining(call, path, command));
    return orr_exists(path)
               ? 0
               : ORR_FAIL(ORR_EMISSING, "%s: no pretrained model there; make it with: %s", path,
                          command);
}

/* Also checks that the checkpoint can be loaded and has the shape of the preset's model. */
static int check_pretrained(struct call *call)
{
    const struct orr_settings *p = &call->cli.settings;
    const enum sim_split split =
        on_planets(call) ? SIM_SPLIT_PLANETS_SOLAR : SIM_SPLIT_TWO_BODY_TRAIN;
    struct gpt_config config;
    struct gpt_model model;
    char path[4096];
    TRY(find_pretrained(call, path));
    if (!*path)
        return 0;
    TRY(gpt_config_from_preset(&config, p, call->attention, sim_split_positions(p, split)));
    TRY(gpt_load_as(&model, path, &config, true, &k_ref, NULL));
    gpt_free(&model);
    return 0;
}

/* Records what the models of an attention variant start from: --checkpoint, or the record of the
 * run's pretrained model. */
static int take_start(struct call *call, int attention, bool planets)
{
    const struct orr_cli *cli = &call->cli;
    char path[4096];
    cJSON *made;
    if (*cli->checkpoint && !planets)
        return orr_lineage_checkpoint(&call->lineage, cli->checkpoint,
                                      call->lineage.from[attention]);
    TRY(pretrained_path(call, cli->settings.attention.item[attention], planets, path));
    if (!*path)
        return 0;
    TRY(gpt_checkpoint_made(path, &made));
    const int rc = orr_lineage_take_starts(&call->lineage, made, path);
    cJSON_Delete(made);
    return rc;
}

static int open_chain(struct call *call)
{
    TRY(orr_lineage_open(&call->lineage, &call->cli.settings, orbits_option));
    for (int i = 0; i < 2 * call->cli.settings.attention.count; i++)
        TRY(take_start(call, i / 2, i % 2 == 1));
    return 0;
}

/* ------------------------------------------------------------------------------- arguments */

/* Verifies the data sets for magnitudes and vectors; quiet: without notes on other settings. */
static int verify_data(const struct call *call, bool quiet)
{
    static const enum sim_split used[] = {SIM_SPLIT_TWO_BODY_TRAIN, SIM_SPLIT_TWO_BODY_VAL,
                                          SIM_SPLIT_TWO_BODY_TEST, SIM_SPLIT_SOLAR_SYSTEM_TWO_BODY,
                                          SIM_SPLIT_PLANETS_SOLAR};
    const struct orr_settings *p = &call->cli.settings;
    enum sim_split need[sizeof used / sizeof *used];
    int count = 0;
    for (size_t i = 0; i < sizeof used / sizeof *used; i++)
        if (sim_split_count(p, used[i]) > 0)
            need[count++] = used[i];
    return sim_dataset_verify(p, call->orbits, need, count, !*orbits_option, quiet);
}

static int check_names(const struct orr_cli *cli)
{
    const struct orr_settings *p = &cli->settings;
    char variants[256] = "";
    bool known = !*source_option || !strcmp(source_option, "truth") ||
                 !strcmp(source_option, "oracle") || !strcmp(source_option, "untrained");
    struct gpt_config config;
    TRY(orr_settings_needs_orbits(p, "fine-tuning"));
    for (int i = 0; i < p->attention.count; i++) {
        const char *name = p->attention.item[i];
        known |= orr_cli_wants(cli, name) && !strcmp(source_option, name);
        orr_append(variants, sizeof variants, ", %s", name);
        TRY(gpt_config_from_preset(&config, p, name, p->orbits.positions));
    }
    return known ? 0
                 : ORR_FAIL(ORR_EUSAGE,
                            "--source: expected one of truth, oracle, untrained%s, found \"%s\"",
                            variants, source_option);
}

static int refuse_table(void *of, const struct orr_stage_output *output)
{
    struct call *call = of;
    const struct orr_artefact *first = output->file;
    return output->files > 1 ? gpt_training_refuse(&call->model.training, first)
                             : ORR_FAIL(ORR_EINVAL, "%s: %s", first->path, first->why);
}

/* Finds every possible error before any training starts. */
static int check_table(void *of, const struct orr_stage_output *output)
{
    struct call *call = of;
    if (output->files == 1 && orr_output_refused(output))
        return refuse_table(call, output);
    if (!call->work)
        /* the job's caller has printed the notes */
        TRY(verify_data(call, call->cli.quiet || orr_is_job()));
    call->work = true;
    call->train |= is_model(call);
    return is_pretrained(call) ? check_pretrained(call) : 0;
}

/* ------------------------------------------------------------------------------------- run */

static const char *task_of(const struct call *call)
{
    return call->vector ? "vector" : "magnitude";
}

static int keep_table(void *of)
{
    const struct call *call = of;
    orr_note(call->cli.quiet, "finetune %s, %s: complete", call->source, task_of(call));
    return 0;
}

/* Makes a table. The sidecar of an old table with other settings is removed before its model
 * changes, so that the old table cannot be mistaken for the new one. */
static int make_table(void *of, const struct orr_stage_output *output)
{
    static int (*const of_truth[])(struct ft_run *) = {ft_magnitude_truth, ft_vector_truth};
    static int (*const of_oracle[])(struct ft_run *) = {ft_magnitude_oracle, ft_vector_oracle};
    struct call *call = of;
    const struct orr_artefact *table = &output->file[output->files - 1];
    char from[4096] = "";
    if (table->action == ORR_REMAKE && *table->why)
        orr_note(call->cli.quiet, "finetune %s, %s: made anew: %s", call->source, task_of(call),
                 table->why);
    if (table->action == ORR_REMAKE)
        TRY(orr_sidecar_remove(table->path));
    if (!strcmp(call->source, "truth"))
        return of_truth[call->vector](&call->run);
    if (!strcmp(call->source, "oracle"))
        return of_oracle[call->vector](&call->run);
    /* checked again: another process may have trained it anew while earlier tables were made */
    if (is_pretrained(call))
        TRY(find_pretrained(call, from));
    return (call->vector ? ft_vector_model : ft_magnitude_model)(
        &call->run, call->source, call->attention, *from ? from : NULL);
}

static const struct orr_stage_row stage = {.doing = "fine-tuning",
                                           .next = next_table,
                                           .status = table_status,
                                           .check = check_table,
                                           .refuse = refuse_table,
                                           .keep = keep_table,
                                           .make = make_table};

static int make_tables(struct call *call)
{
    call->run.resume = call->cli.resume;
    call->run.force = force_option != NULL;
    call->run.quiet = call->cli.quiet;
    /* verified again: sets may have been replaced before they were opened */
    TRY(verify_data(call, true));
    /* saved only now that nothing can be refused any more */
    TRY(orr_cli_save_preset(&call->cli, call->out));
    return orr_stage_make(&stage, call);
}

static int make_all(struct call *call)
{
    TRY(ft_run_open(&call->run, &call->cli.settings, call->out, call->orbits, call->device.ops,
                    &call->lineage));
    const int rc = make_tables(call);
    ft_run_close(&call->run);
    return rc;
}

/* Makes the sources of small models in jobs of their own on the CPU. *done = whether that was
 * done. */
static int make_side_by_side(struct call *call, bool *done)
{
    const struct orr_cli *cli = &call->cli;
    const struct orr_settings *p = &cli->settings;
    const struct orr_sources *sources = &call->sources;
    const char *name[ORR_LIST + 3];
    for (int i = 0; i < sources->count; i++)
        name[i] = sources->name[i];
    *done = !*source_option && !minutes_option &&
            gpt_is_small(cli, &call->device, p->finetune.magnitude.batch, p->orbits.positions);
    if (!*done)
        return 0;
    TRY(orr_cli_save_preset(cli, call->out));
    return orr_jobs_run("--source", name, sources->count, cli->threads);
}

static int make_on_device(struct call *call)
{
    TRY(gpt_device_open(&call->device, &call->cli, false));
    const int rc = make_all(call);
    call->device.ops->close();
    return rc;
}

static int finetune_all(struct call *call)
{
    const struct orr_cli *cli = &call->cli;
    bool done = false;
    if (*cli->checkpoint && !orr_exists(cli->checkpoint))
        return ORR_FAIL(ORR_EMISSING, "%s: no such checkpoint (--checkpoint)", cli->checkpoint);
    TRY(open_chain(call));
    if (cli->plan)
        return orr_stage_plan(&stage, call);
    TRY(orr_stage_check(&stage, call));
    if (call->train && !orr_is_job())
        gpt_precision_tell(call->given, cli, &call->device);
    if (call->train)
        TRY(make_side_by_side(call, &done));
    if (done)
        return 0;
    if (call->work)
        return call->train ? make_on_device(call) : make_all(call);
    TRY(orr_cli_save_preset(cli, call->out));
    if (*cli->settings.tracks)
        orr_note(cli->quiet, "finetune: %s holds tracks without forces: nothing to fine-tune to",
                 cli->settings.tracks);
    else
        orr_note(cli->quiet, "finetune: complete");
    return 0;
}

static int open_call(struct call *call)
{
    const struct orr_cli *cli = call->given;
    TRY(orr_path(call->out, "%s", *cli->out ? cli->out : cli->run));
    TRY(orr_cli_orbits(cli, orbits_option, call->orbits));
    if (minutes_option)
        TRY(orr_time_limit(minutes_option));
    orr_time_hold(true); /* until the first step is done */
    TRY(gpt_device_find(&call->device, cli));
    TRY(check_names(cli));
    TRY(gpt_precision_decide(&call->cli, &call->device, ""));
    orr_sources_list(&call->cli.settings, cli->attention, &call->sources);
    return 0;
}

static int run(const struct orr_cli *cli)
{
    struct call call = {.given = cli, .cli = *cli};
    if (orr_plan_text(cli, program.name))
        return 0;
    TRY(open_call(&call));
    const int rc = finetune_all(&call);
    orr_lineage_close(&call.lineage);
    return rc;
}

int main(int argc, char **argv)
{
    return orr_main(&program, argc, argv, run);
}
