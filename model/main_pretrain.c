/* main_pretrain.c - bin/pretrain: next-state training of every attention variant of a preset. */
#include "kernels/collectives.h"
#include "cluster/cluster.h"
#include "pretrain.h"

static const char *orbits_option = "", *minutes_option, *force_option;
static const struct orr_option options[] = {
    {"--orbits", "DIR", "where the data sets are (default: <run>/orbits)", &orbits_option, NULL},
    {"--minutes", "N", "stop after so many, with everything saved, and exit with status 0",
     &minutes_option, NULL},
    {"--force", NULL, "replace trainings of other settings or data, or without --resume any",
     &force_option, NULL},
    {NULL, NULL, NULL, NULL, NULL},
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
    .settle = cluster_settle,
};

/* What all jobs of a call share. */
struct call {
    const struct orr_cli *given;
    struct orr_cli cli; /* the same with model.precision decided */
    char orbits[4096];
    struct gpt_device device;
    struct orr_chain chain;
    uint64_t manifest; /* checksum of the data sets' manifest when they were looked at */
};

/* One stage of one variant; folder stays "" when the settings or --attention leave it out. */
static int make_job(struct call *call, int i, struct gpt_pretraining *job)
{
    const struct orr_cli *cli = &call->cli;
    const struct orr_preset *p = &cli->preset;
    const bool planets = i % 2 == 1;
    *job = (struct gpt_pretraining){
        .preset = p,
        .train = planets ? &p->pretrain_planets : &p->pretrain,
        .ops = call->device.ops,
        .attention = p->attention.item[i / 2],
        .orbits_dir = call->orbits,
        .planets = planets,
        .checkpoint = planets ? "" : cli->checkpoint,
        .chain = &call->chain,
        .resume = cli->resume || cli->plan,
        .force = force_option != NULL,
        .quiet = cli->quiet,
    };
    if (!orr_cli_wants(cli, job->attention) || !orr_has_pretrain(p, planets))
        return 0;
    const char *stage = planets ? "pretrain_planets" : "pretrain";
    return *cli->out ? orr_path(job->folder, "%s%s", cli->out, planets ? "_planets" : "")
                     : orr_path(job->folder, "%s/%s/%s", cli->run, job->attention, stage);
}

static int jobs(const struct call *call)
{
    return 2 * call->cli.preset.attention.count;
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
    return rc;
}

/* Of a folder that was made elsewhere, without a manifest: 0. */
static int sum_manifest(const struct call *call, uint64_t *sum)
{
    char path[4096];
    uint64_t bytes;
    *sum = 0;
    TRY(orr_path(path, "%s/manifest.json", call->orbits));
    return orr_exists(path) ? orr_file_checksum(path, sum, &bytes) : 0;
}

static int verify_data(const struct call *call)
{
    const struct orr_preset *p = &call->cli.preset;
    enum sim_split need[7];
    int count = 0;
    if (orr_preset_is_text(p))
        return 0;
    if (orr_has_pretrain(p, false) && p->orbits.train_files >= p->orbits.train)
        need[count++] = SIM_SPLIT_TRAIN; /* otherwise it is streamed */
    if (orr_has_pretrain(p, false) && p->orbits.val > 0)
        need[count++] = SIM_SPLIT_VAL;
    if (orr_has_pretrain(p, false) && p->orbits.test > 0)
        need[count++] = SIM_SPLIT_TEST;
    if (orr_has_pretrain(p, true)) {
        need[count++] = SIM_SPLIT_PLANETS_TRAIN;
        if (p->planets.val > 0)
            need[count++] = SIM_SPLIT_PLANETS_VAL;
        if (p->planets.test > 0)
            need[count++] = SIM_SPLIT_PLANETS_TEST;
        if (!*orbits_option) /* for the rollouts; a folder made elsewhere may have none */
            need[count++] = SIM_SPLIT_PLANETS_SOLAR;
    }
    return sim_dataset_verify(p, call->orbits, need, count, !*orbits_option, call->cli.quiet);
}

/* Trainings of one call may begin hours apart, and each opens its data when it begins: sets that
 * were made there meanwhile are looked at as those before were. */
static int verify_again(struct call *call)
{
    const uint64_t before = call->manifest;
    TRY(sum_manifest(call, &call->manifest));
    return call->manifest == before ? 0 : verify_data(call);
}

/* The manifest goes before the first file that is replaced: where it is what it was, so is what was
 * opened by now. */
static int unchanged(const void *of)
{
    const struct call *call = of;
    uint64_t now;
    TRY(sum_manifest(call, &now));
    return now == call->manifest
               ? 0
               : ORR_FAIL(ORR_EINVAL,
                          "%s: data sets were made there meanwhile; the same command looks at "
                          "them again",
                          call->orbits);
}

static int check_names(const struct orr_cli *cli)
{
    const struct orr_preset *p = &cli->preset;
    struct gpt_config config;
    int rc = 0, wanted = 0;
    if (orr_preset_is_text(p) && *orbits_option)
        rc = ORR_FAIL(ORR_EUSAGE, "--orbits: preset %s trains on text", p->name);
    for (int i = 0; i < p->attention.count && !rc; i++) {
        wanted += orr_cli_wants(cli, p->attention.item[i]);
        rc = gpt_config_from_preset(&config, p, p->attention.item[i], p->orbits.positions);
    }
    if (!rc && *cli->out && wanted > 1)
        rc = ORR_FAIL(ORR_EUSAGE, "--out: needs one --attention, the preset has %d", wanted);
    return rc;
}

/* What the trainings should be made from. */
static int open_chain(struct call *call)
{
    const struct orr_cli *cli = &call->cli;
    uint64_t content;
    int rc = orr_chain_open(&call->chain, &cli->preset, orbits_option);
    if (!rc && orr_preset_is_text(&cli->preset)) {
        rc = gpt_text_content(
            &cli->preset, cli->quiet || cli->plan || orr_side() || cluster_rank() > 0, &content);
        if (!rc)
            rc = orr_chain_take_text(&call->chain, content);
    }
    for (int i = 0; i < cli->preset.attention.count && !rc && *cli->checkpoint; i++)
        if (orr_cli_wants(cli, cli->preset.attention.item[i]))
            rc = orr_chain_checkpoint(&call->chain, cli->checkpoint, call->chain.start[i]);
    return rc;
}

/* Lines of --plan. */
static int print_plan(struct call *call)
{
    int rc = 0;
    for (int i = 0; i < jobs(call) && !rc; i++) {
        struct gpt_pretraining job;
        struct gpt_judgement trained;
        enum orr_verdict verdict;
        char why[ORR_WHY], path[4096];
        bool measured;
        rc = make_job(call, i, &job);
        if (rc || !*job.folder)
            continue;
        rc = gpt_pretrain_judge(&job, &trained);
        if (!rc)
            rc = orr_path(path, "%s/last.safetensors", job.folder);
        if (!rc)
            orr_plan_print(trained.verdict, path, trained.why);
        if (!rc)
            rc = gpt_evaluation_judge(&job, trained.verdict, &measured, &verdict, why);
        if (!rc)
            rc = orr_path(path, "%s/evaluation.json", job.folder);
        if (!rc && measured && trained.verdict != ORR_REFUSE)
            orr_plan_print(verdict, path, why);
    }
    return rc;
}

/* Everything that can be wrong is found before any training starts; *work = something is to do.
 * Data sets are read only for work: what is complete was made from them as they were. */
static int check_jobs(struct call *call, bool *work)
{
    int rc = 0;
    *work = false;
    for (int i = 0; i < jobs(call) && !rc; i++) {
        struct gpt_pretraining job;
        struct gpt_judgement found;
        bool complete = false;
        rc = make_job(call, i, &job);
        if (rc || !*job.folder)
            continue;
        rc = gpt_pretrain_judge(&job, &found);
        if (!rc)
            rc = gpt_pretrain_complete(&job, &complete);
        if (rc || complete)
            continue;
        if (!*work)
            rc = sum_manifest(call, &call->manifest);
        if (!rc && !*work)
            rc = verify_data(call);
        *work = true;
        if (!rc)
            rc = check_job(&job);
        if (!rc && found.verdict == ORR_REFUSE)
            rc = gpt_pretrain_refuse(&job, &found);
    }
    return rc;
}

/* The data that a rank above 0 reads: nothing is written before all have theirs. */
static int check_shares(struct call *call)
{
    const struct orr_preset *p = &call->cli.preset;
    int rc = 0;
    for (int i = 0; i < jobs(call) && !rc; i++) {
        struct gpt_pretraining job;
        struct gpt_config config;
        struct gpt_source *source = NULL;
        rc = make_job(call, i, &job);
        if (rc || !*job.folder)
            continue;
        const enum sim_split split = job.planets ? SIM_SPLIT_PLANETS_TRAIN : SIM_SPLIT_TRAIN;
        rc = gpt_config_from_preset(&config, p, job.attention,
                                    orr_preset_is_text(p) ? p->text.positions
                                                          : sim_split_positions(p, split));
        if (!rc)
            rc = gpt_source_open(&source, p, job.orbits_dir, split, &config);
        gpt_source_close(source);
    }
    return rc;
}

/* Variants of small models, on the CPU, train side by side. *done = that was done. */
static int train_side_by_side(struct call *call, bool *done)
{
    const struct orr_cli *cli = &call->cli;
    const struct orr_preset *p = &cli->preset;
    const char *name[ORR_LIST];
    int count = 0;
    for (int i = 0; i < p->attention.count; i++)
        if (orr_cli_wants(cli, p->attention.item[i]))
            name[count++] = p->attention.item[i];
    const long positions = orr_preset_is_text(p) ? p->text.positions : p->orbits.positions;
    *done = count > 1 && !minutes_option && cluster_size() == 1 &&
            gpt_is_small(cli, &call->device, p->pretrain.batch, positions);
    if (!*done)
        return 0;
    const int rc = orr_cli_save_preset(cli, cli->run);
    return rc ? rc : orr_side_by_side("--attention", name, count, cli->threads);
}

/* Of a job: ranks on GPUs have one each, and are joined by the GPUs' own library. */
static int open_device(struct call *call)
{
    TRY(gpt_ranks_choose(call->device.ops, call->cli.device_number));
    TRY(cluster_agree(gpt_device_open(&call->device, &call->cli, false)));
    return gpt_ranks_join(call->device.ops);
}

static void close_device(struct call *call)
{
    const struct k_ops *ops = call->device.ops;
    if (cluster_broken()) /* all ranks end at once */
        return;
    if (ops->collectives)
        ops->collectives->close();
    ops->close();
}

/* Variants whose rows are uniform whatever is learned. */
static void tell_uniform(const struct orr_cli *cli)
{
    const struct orr_preset *p = &cli->preset;
    for (int i = 0; i < p->attention.count && p->model.width == p->model.heads; i++) {
        const struct k_attention *v = k_attention_find(p->attention.item[i]);
        if (v && v->score == K_SCORE_COS_LOGN && orr_cli_wants(cli, v->name))
            orr_note(
                cli->quiet,
                "note: %s with head size 1 (model.heads = model.width): ln 1 is 0, so that all "
                "scores are and every row is uniform%s",
                v->name, v->reweight ? ", or 0 where it is re-weighted" : "");
    }
}

/* What rank 0 finds to do, and where: for all ranks. */
static int begin(struct call *call, bool *work, bool *done)
{
    TRY(cluster_agree(cluster_rank() == 0 ? check_jobs(call, work) : 0));
    TRY(cluster_broadcast(work, sizeof *work, 0));
    TRY(cluster_agree(*work && cluster_rank() > 0 ? check_shares(call) : 0));
    if (*work && !orr_side())
        gpt_precision_tell(call->given, &call->cli, &call->device);
    if (*work && !orr_side() && cluster_rank() == 0)
        tell_uniform(&call->cli);
    if (*work)
        TRY(train_side_by_side(call, done));
    if (*done)
        return 0;
    int rc = *work ? open_device(call) : 0;
    if (!rc && cluster_rank() == 0 && !*call->cli.out)
        rc = orr_cli_save_preset(&call->cli, call->cli.run);
    return cluster_agree(rc);
}

static int train(struct call *call)
{
    struct gpt_pretraining job;
    bool work = false, done = false;
    int rc = begin(call, &work, &done);
    if (rc || done)
        return rc;
    for (int i = 0; i < jobs(call) && !rc; i++) {
        rc = make_job(call, i, &job);
        if (!rc && *job.folder && work)
            rc = cluster_agree(cluster_rank() == 0 ? verify_again(call) : 0);
        if (work) {
            job.unchanged = unchanged;
            job.of = call;
        }
        if (!rc && *job.folder)
            rc = gpt_pretrain(&job);
    }
    if (work)
        close_device(call);
    return rc;
}

/* A precision that the settings leave open is rank 0's, for all ranks. */
static int decide_precision(struct call *call, const char *checkpoint)
{
    enum orr_precision *precision = &call->cli.preset.model.precision;
    TRY(cluster_agree(
        cluster_rank() == 0 ? gpt_precision_decide(&call->cli, &call->device, checkpoint) : 0));
    return cluster_broadcast(precision, sizeof *precision, 0);
}

/* Whether the ranks of this job can share what is to be trained. */
static int check_ranks(const struct call *call)
{
    const struct orr_preset *p = &call->cli.preset;
    TRY(gpt_ranks_suit("pretrain", &p->pretrain, call->device.ops));
    return gpt_ranks_suit("pretrain_planets", &p->pretrain_planets, call->device.ops);
}

static int run(const struct orr_cli *cli)
{
    static struct call call;
    char last[4096] = "";
    call.given = cli;
    call.cli = *cli;
    call.cli.quiet |= cluster_rank() > 0;
    TRY(gpt_ranks_alike(cli));
    int rc = *orbits_option ? orr_path(call.orbits, "%s", orbits_option)
                            : orr_path(call.orbits, "%s/orbits", cli->run);
    if (!rc && minutes_option)
        rc = orr_time_limit(minutes_option);
    orr_time_hold(true); /* until a step is done */
    if (!rc)
        rc = gpt_device_find(&call.device, &call.cli);
    if (!rc)
        rc = check_names(cli);
    if (!rc && *cli->out)
        rc = orr_path(last, "%s/last.safetensors", cli->out);
    if (!rc)
        rc = check_ranks(&call);
    rc = cluster_agree(rc);
    if (!rc)
        rc = decide_precision(&call, cli->resume || cli->plan ? last : "");
    const bool leads = cluster_rank() == 0;
    if (!rc && leads && *cli->checkpoint && !orr_exists(cli->checkpoint))
        rc = ORR_FAIL(ORR_EMISSING, "%s: no such checkpoint (--checkpoint)", cli->checkpoint);
    if (!rc && leads)
        rc = open_chain(&call);
    rc = cluster_agree(rc);
    if (!rc && cli->plan)
        rc = cluster_agree(leads ? print_plan(&call) : 0);
    else if (!rc)
        rc = train(&call);
    orr_chain_close(&call.chain);
    return rc;
}

int main(int argc, char **argv)
{
    orr_threads_sleep(argv); /* before the rank joins the others */
    const int rc = cluster_open(program.name);
    return cluster_close(rc ? orr_error_exit(program.name, rc)
                            : orr_main(&program, argc, argv, run));
}
