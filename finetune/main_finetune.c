/* main_finetune.c - bin/finetune: forces from every pretrained model, with truth, oracle and
 * untrained rows. */
#include "ft.h"

#include <string.h>

#include <cjson/cJSON.h>

static const char *orbits_option = "", *source_option = "", *minutes_option, *force_option;
static const struct orr_option options[] = {
    {"--orbits", "DIR", "where the data sets are (default: <run>/orbits)", &orbits_option, NULL},
    {"--source", "NAME", "only this source: truth, oracle, untrained or an attention variant",
     &source_option, NULL},
    {"--minutes", "N", "stop after so many, with everything saved, and exit with status 0",
     &minutes_option, NULL},
    {"--force", NULL, "replace models of other settings or data, or without --resume any",
     &force_option, NULL},
    {NULL, NULL, NULL, NULL, NULL},
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

/* What all sources of a call share. */
struct call {
    const struct orr_cli *given;
    struct orr_cli cli; /* the same with model.precision decided */
    char orbits[4096], out[4096];
    struct gpt_device device;
    struct orr_chain chain;
    struct orr_sources sources;
};

/* One table of one source. */
struct job {
    const char *source, *attention; /* attention: "" of truth and oracle */
    bool vector;
    enum orr_verdict verdict;
    char path[4096], why[ORR_WHY];
};

static bool is_model(const struct job *job)
{
    return *job->attention != '\0';
}

static bool is_pretrained(const struct job *job)
{
    return is_model(job) && strcmp(job->source, "untrained") != 0;
}

/* Where its model was pretrained: on planet runs for the vectors of their planets. */
static bool on_planets(const struct call *call, const struct job *job)
{
    return job->vector && call->cli.preset.planets.enabled;
}

/* Job number i; false when the settings have no such table, or the options leave it out. */
static bool find_job(struct call *call, int i, struct job *job)
{
    const struct orr_preset *p = &call->cli.preset;
    *job = (struct job){.source = call->sources.name[i / 2], .vector = i % 2 == 1};
    job->attention = orr_source_attention(p, job->source);
    return orr_has_table(p, job->source, job->vector) &&
           (!*source_option || !strcmp(source_option, job->source));
}

static int jobs(const struct call *call)
{
    return 2 * call->sources.count;
}

/* The model of a job as it is there, and what is to be done about it. */
static int judge_model(struct call *call, const struct job *job, struct ft_training *of,
                       struct gpt_judgement *judgement)
{
    TRY(ft_training_of(of, &call->chain, call->out, job->source, job->vector));
    of->training.resume = call->cli.resume || call->cli.plan;
    of->training.force = force_option != NULL;
    return gpt_training_judge(&of->training, judgement);
}

static int judge(struct call *call, struct job *job)
{
    struct ft_training of;
    struct gpt_judgement model; /* the table's record has what is told of its lengths */
    int rc = is_model(job) ? judge_model(call, job, &of, &model) : 0;
    if (!rc)
        rc = ft_table_judge(&call->chain, call->out, job->source, job->vector, &job->verdict,
                            job->path, job->why);
    if (!rc && job->verdict == ORR_KEEP && !call->cli.resume && !call->cli.plan)
        job->verdict = ORR_REMAKE;
    return rc;
}

/* ------------------------------------------------------------------- where models come from */

static int run_checkpoint(const struct call *call, const char *attention, bool planets,
                          const char *name, char path[4096])
{
    return orr_path(path, "%s/%s/%s/%s", call->cli.run, attention,
                    planets ? "pretrain_planets" : "pretrain", name);
}

/* The checkpoint that a model starts from: the run's own, the best one where patience chose it, or
 * --checkpoint for the first stage (planet runs have models of another length). "" = random
 * weights. */
static int pretrained(const struct call *call, const char *attention, bool planets, char path[4096])
{
    const struct orr_cli *cli = &call->cli;
    const struct orr_preset *p = &cli->preset;
    *path = '\0';
    if (*cli->checkpoint && !planets)
        return orr_path(path, "%s", cli->checkpoint);
    if (!orr_has_pretrain(p, planets))
        return 0;
    return run_checkpoint(call, attention, planets,
                          gpt_final_checkpoint(planets ? &p->pretrain_planets : &p->pretrain),
                          path);
}

static int check_made(struct call *call, const char *attention, bool planets, const char *path,
                      const char *command)
{
    char why[ORR_WHY], digest[ORR_DIGEST];
    cJSON *made;
    int rc = gpt_checkpoint_made(path, &made);
    if (!rc)
        rc = orr_chain_pretrain(&call->chain, attention, planets, digest);
    if (!rc && !orr_made_same(&call->chain.book, digest, made, why))
        rc = ORR_FAIL(
            ORR_EINVAL,
            "%s: not what these settings make: %s; make it again with: %s --force, or name "
            "the file with --checkpoint",
            path, why, command);
    cJSON_Delete(made);
    return rc;
}

/* A pretraining that was stopped (which is no failure of bin/pretrain) is to go on first, and one
 * of other settings or data is not taken for this run's. A file named by --checkpoint is taken as
 * it is. */
static int check_record(struct call *call, const char *attention, bool planets, const char *used,
                        const char *command)
{
    const struct orr_preset *p = &call->cli.preset;
    const long steps = planets ? p->pretrain_planets.steps : p->pretrain.steps;
    char path[4096];
    long step = 0;
    bool ended = false;
    if (*call->cli.checkpoint && !planets)
        return 0;
    int rc = run_checkpoint(call, attention, planets, "last.safetensors", path);
    if (!rc && !orr_exists(path))
        return 0; /* the one that is used is missed, too */
    if (!rc)
        rc = check_made(call, attention, planets, path, command);
    if (!rc && strcmp(path, used) != 0 && orr_exists(used))
        rc = check_made(call, attention, planets, used, command);
    if (!rc)
        rc = gpt_progress(path, &step, &ended);
    if (rc || ended || step >= steps)
        return rc;
    return ORR_FAIL(ORR_EMISSING,
                    "%s: pretraining is not complete: step %ld of %ld; go on with: %s", path, step,
                    steps, command);
}

/* The checkpoint of a job, "" = random weights, is there and what these settings make. */
static int find_pretrained(struct call *call, const struct job *job, char path[4096])
{
    static const char *const shared[] = {"--preset",         "--set",       "--run",     "--seed",
                                         "--orbits",         "--attention", "--threads", "--device",
                                         "--attention-impl", NULL};
    char command[ORR_COMMAND];
    const bool planets = on_planets(call, job);
    int rc = pretrained(call, job->attention, planets, path);
    if (rc || !*path)
        return rc;
    orr_command("pretrain", shared, command, sizeof command);
    rc = check_record(call, job->attention, planets, path, command);
    if (!rc && !orr_exists(path))
        rc = ORR_FAIL(ORR_EMISSING, "%s: no pretrained model there; make it with: %s", path,
                      command);
    return rc;
}

/* It also loads, and is of the preset's shape. */
static int check_pretrained(struct call *call, const struct job *job)
{
    const struct orr_preset *p = &call->cli.preset;
    struct gpt_config config;
    struct gpt_model model;
    char path[4096];
    int rc = find_pretrained(call, job, path);
    if (rc || !*path)
        return rc;
    rc = gpt_config_from_preset(&config, p, job->attention,
                                sim_split_positions(p, on_planets(call, job)
                                                           ? SIM_SPLIT_PLANETS_SOLAR
                                                           : SIM_SPLIT_TWO_BODY_TRAIN));
    if (!rc)
        rc = gpt_load_as(&model, path, &config, true, &k_ref, NULL);
    if (!rc)
        gpt_free(&model);
    return rc;
}

/* What models should be made from: --checkpoint, or what the run's pretrained ones came from. */
static int open_chain(struct call *call)
{
    const struct orr_cli *cli = &call->cli;
    const struct orr_names *names = &cli->preset.attention;
    char path[4096];
    cJSON *made;
    int rc = orr_chain_open(&call->chain, &cli->preset, orbits_option);
    for (int i = 0; i < 2 * names->count && !rc; i++) {
        const bool planets = i % 2 == 1;
        if (*cli->checkpoint && !planets) {
            rc = orr_chain_checkpoint(&call->chain, cli->checkpoint, call->chain.from[i / 2]);
            continue;
        }
        rc = pretrained(call, names->item[i / 2], planets, path);
        if (rc || !*path)
            continue;
        rc = gpt_checkpoint_made(path, &made);
        if (!rc)
            rc = orr_chain_adopt(&call->chain, made, path);
        cJSON_Delete(made);
    }
    return rc;
}

/* ------------------------------------------------------------------------------- arguments */

/* The data sets that magnitudes and vectors come from. */
static int verify_data(const struct call *call)
{
    static const enum sim_split used[] = {SIM_SPLIT_TWO_BODY_TRAIN, SIM_SPLIT_TWO_BODY_VAL,
                                          SIM_SPLIT_TWO_BODY_TEST, SIM_SPLIT_SOLAR_SYSTEM_TWO_BODY,
                                          SIM_SPLIT_PLANETS_SOLAR};
    const struct orr_preset *p = &call->cli.preset;
    enum sim_split need[sizeof used / sizeof *used];
    int count = 0;
    for (size_t i = 0; i < sizeof used / sizeof *used; i++)
        if (sim_split_count(p, used[i]) > 0)
            need[count++] = used[i];
    return sim_dataset_verify(p, call->orbits, need, count, !*orbits_option, call->cli.quiet);
}

static int check_names(const struct orr_cli *cli)
{
    const struct orr_preset *p = &cli->preset;
    bool known = !*source_option || !strcmp(source_option, "truth") ||
                 !strcmp(source_option, "oracle") || !strcmp(source_option, "untrained");
    struct gpt_config config;
    int rc = orr_preset_needs_orbits(p, "fine-tuning");
    for (int i = 0; i < p->attention.count && !rc; i++) {
        known |= orr_cli_wants(cli, p->attention.item[i]) &&
                 !strcmp(source_option, p->attention.item[i]);
        rc = gpt_config_from_preset(&config, p, p->attention.item[i], p->orbits.positions);
    }
    if (!rc && !known)
        rc = ORR_FAIL(ORR_EUSAGE,
                      "--source: expected truth, oracle, untrained or one of the "
                      "preset's variants, found \"%s\"",
                      source_option);
    return rc;
}

/* A table that is to be made, and its model that is there: refused where weights would be lost. */
static int check_model(struct call *call, const struct job *job)
{
    struct ft_training of;
    struct gpt_judgement judgement;
    if (!is_model(job))
        return 0;
    TRY(judge_model(call, job, &of, &judgement));
    return judgement.verdict == ORR_REFUSE ? gpt_training_refuse(&of.training, &judgement) : 0;
}

/* Everything that can be wrong is found before any training starts; *work = a table is to be
 * made, *train = by a model. */
static int check_jobs(struct call *call, bool *work, bool *train)
{
    int rc = 0;
    *work = *train = false;
    for (int i = 0; i < jobs(call) && !rc; i++) {
        struct job job;
        if (!find_job(call, i, &job))
            continue;
        rc = judge(call, &job);
        if (rc || job.verdict == ORR_KEEP)
            continue;
        if (job.verdict == ORR_REFUSE)
            return ORR_FAIL(ORR_EINVAL, "%s: %s", job.path, job.why);
        if (!*work)
            rc = verify_data(call);
        if (rc)
            return rc;
        *work = true;
        *train |= is_model(&job);
        if (is_pretrained(&job))
            rc = check_pretrained(call, &job);
        if (!rc)
            rc = check_model(call, &job);
    }
    return rc;
}

/* Lines of --plan: a table, and its model before it, which is made for a table alone. */
static int print_plan(struct call *call)
{
    int rc = 0;
    for (int i = 0; i < jobs(call) && !rc; i++) {
        struct job job;
        struct ft_training of;
        struct gpt_judgement model;
        char path[4096];
        if (!find_job(call, i, &job))
            continue;
        rc = judge(call, &job);
        if (!rc && is_model(&job) && job.verdict != ORR_REFUSE) {
            rc = judge_model(call, &job, &of, &model);
            if (!rc)
                rc = orr_path(path, "%s/%s", of.folder, of.last);
            if (!rc && (job.verdict != ORR_KEEP || model.verdict == ORR_KEEP))
                orr_plan_print(model.verdict, path, model.why);
            if (!rc && job.verdict != ORR_KEEP && model.verdict == ORR_REFUSE)
                job.verdict = ORR_REFUSE;
        }
        if (!rc)
            orr_plan_print(job.verdict, job.path, job.why);
    }
    return rc;
}

/* ------------------------------------------------------------------------------------- run */

static int make_table(struct call *call, struct ft_run *run, const struct job *job)
{
    static int (*const of_truth[])(struct ft_run *) = {ft_magnitude_truth, ft_vector_truth};
    static int (*const of_oracle[])(struct ft_run *) = {ft_magnitude_oracle, ft_vector_oracle};
    char from[4096] = "";
    if (!strcmp(job->source, "truth"))
        return of_truth[job->vector](run);
    if (!strcmp(job->source, "oracle"))
        return of_oracle[job->vector](run);
    /* looked at again: others may have trained it anew while earlier jobs were made */
    const int rc = is_pretrained(job) ? find_pretrained(call, job, from) : 0;
    if (rc)
        return rc;
    return (job->vector ? ft_vector_model : ft_magnitude_model)(run, job->source, job->attention,
                                                                *from ? from : NULL);
}

/* A table of other settings goes before its model changes: nothing takes it for this one's. */
static int make_locked(struct call *call, struct ft_run *run, struct job *job)
{
    const char *task = job->vector ? "vector" : "magnitude";
    int rc = judge(call, job);
    if (rc)
        return rc;
    if (job->verdict == ORR_KEEP) {
        orr_note(call->cli.quiet, "finetune %s, %s: complete", job->source, task);
        return 0;
    }
    TRY(check_model(call, job));
    if (job->verdict == ORR_REMAKE && *job->why)
        orr_note(call->cli.quiet, "finetune %s, %s: made anew: %s", job->source, task, job->why);
    if (job->verdict == ORR_REMAKE)
        rc = orr_sidecar_remove(job->path);
    return rc ? rc : make_table(call, run, job);
}

static int make_job(struct call *call, struct ft_run *run, struct job *job)
{
    char folder[4096];
    int fd, rc = orr_path(folder, "%s/%s/finetune", call->out, job->source);
    if (!rc)
        rc = orr_mkdir(folder);
    if (!rc)
        rc = orr_lock(folder, "fine-tuning", ORR_LOCK_WAIT_S, &fd);
    if (rc)
        return rc;
    rc = make_locked(call, run, job);
    orr_unlock(fd);
    return rc;
}

static int make_all(struct call *call)
{
    struct ft_run run;
    int rc = ft_run_open(&run, &call->cli.preset, call->out, call->orbits, call->device.ops,
                         &call->chain);
    if (rc)
        return rc;
    rc = verify_data(call); /* again: others may have made sets there before these were opened */
    if (rc) {
        ft_run_close(&run);
        return rc;
    }
    run.resume = call->cli.resume;
    run.force = force_option != NULL;
    run.quiet = call->cli.quiet;
    rc = orr_cli_save_preset(&call->cli, call->out); /* nothing can be refused any more */
    for (int i = 0; i < jobs(call) && !rc; i++) {
        struct job job;
        if (find_job(call, i, &job))
            rc = make_job(call, &run, &job);
    }
    ft_run_close(&run);
    return rc;
}

/* Sources of small models, on the CPU, are made side by side. *done = that was done. */
static int make_side_by_side(struct call *call, bool *done)
{
    const struct orr_cli *cli = &call->cli;
    const struct orr_preset *p = &cli->preset;
    const struct orr_sources *sources = &call->sources;
    const char *name[ORR_LIST + 3];
    for (int i = 0; i < sources->count; i++)
        name[i] = sources->name[i];
    *done = !*source_option && !minutes_option &&
            gpt_is_small(cli, &call->device, p->finetune.magnitude.batch, p->orbits.positions);
    if (!*done)
        return 0;
    const int rc = orr_cli_save_preset(cli, call->out);
    return rc ? rc : orr_side_by_side("--source", name, sources->count, cli->threads);
}

static int tune(struct call *call)
{
    bool work, train, done = false;
    int rc = 0;
    if (*call->cli.checkpoint && !orr_exists(call->cli.checkpoint))
        rc = ORR_FAIL(ORR_EMISSING, "%s: no such checkpoint (--checkpoint)", call->cli.checkpoint);
    if (!rc)
        rc = open_chain(call);
    if (!rc && call->cli.plan)
        return print_plan(call);
    if (!rc)
        rc = check_jobs(call, &work, &train);
    if (!rc && train && !orr_side())
        gpt_precision_tell(call->given, &call->cli, &call->device);
    if (!rc && train)
        rc = make_side_by_side(call, &done);
    if (rc || done)
        return rc;
    if (!rc && train)
        rc = gpt_device_open(&call->device, &call->cli, false);
    if (rc)
        return rc;
    rc = work ? make_all(call) : orr_cli_save_preset(&call->cli, call->out);
    if (!rc && !work)
        orr_note(call->cli.quiet, "finetune: complete");
    if (train)
        call->device.ops->close();
    return rc;
}

static int run(const struct orr_cli *cli)
{
    static struct call call;
    call.given = cli;
    call.cli = *cli;
    if (orr_plan_text(cli, program.name))
        return 0;
    int rc = orr_path(call.out, "%s", *cli->out ? cli->out : cli->run);
    if (!rc)
        rc = *orbits_option ? orr_path(call.orbits, "%s", orbits_option)
                            : orr_path(call.orbits, "%s/orbits", cli->run);
    if (!rc && minutes_option)
        rc = orr_time_limit(minutes_option);
    orr_time_hold(true); /* until a step is done */
    if (!rc)
        rc = gpt_device_find(&call.device, cli);
    if (!rc)
        rc = check_names(cli);
    if (!rc)
        rc = gpt_precision_decide(&call.cli, &call.device, "");
    orr_sources_list(&call.cli.preset, cli->attention, &call.sources);
    if (!rc)
        rc = tune(&call);
    orr_chain_close(&call.chain);
    return rc;
}

int main(int argc, char **argv)
{
    return orr_main(&program, argc, argv, run);
}
