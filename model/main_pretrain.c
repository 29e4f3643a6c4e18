/* main_pretrain.c - bin/pretrain: next-state training of every attention variant of a preset. */
#include "kernels/collectives.h"
#include "device.h"
#include "pretrain.h"
#include "source.h"
#include "model/ranks/ranks.h"

static const char *orbits_option = "", *minutes_option, *force_option;
static const struct orr_option options[] = {
    {"--orbits", "DIR", "where the data sets are (default: <run>/orbits)", &orbits_option, NULL},
    {"--minutes", "N", "stop after N minutes with everything saved, status 0", &minutes_option,
     NULL},
    {"--force", NULL,
     "replace trainings that are there (--resume: those of other settings or data only)",
     &force_option, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static const struct orr_program program = {
    .name = "pretrain",
    .purpose = "Trains a GPT to predict the next position, once per attention variant; or the\n"
               "next token of a text (docs/text.md).",
    .usage = "pretrain [options]",
    .options = options,
    .groups = "attention,text,model,pretrain,pretrain_planets",
    .resumes = true,
    .stops_well = true,
    .usual = "--minutes,--force,--preset,--set,--run,--out,--attention,--device,--threads,--seed,"
             "--resume,--plan,--help,attention,text.train,model.layers,model.heads,model.width,"
             "pretrain.steps,pretrain.batch,pretrain.lr,pretrain.schedule,pretrain.patience,"
             "pretrain_planets.steps",
    .settle = cluster_settle,
};

/* State that all jobs of a call share. */
struct call {
    /* must be the first member: the functions of the stage take its address */
    struct gpt_pretraining job;
    const struct orr_cli *given;
    struct orr_cli cli; /* `given` with model.precision decided */
    char orbits[4096];
    struct gpt_device device;
    struct orr_lineage lineage;
    struct orr_stage_row stage;
    bool work;         /* there is something to train or evaluate */
    uint64_t manifest; /* checksum of the data sets' manifest when they were checked */
};

/* *sum = the checksum of the data sets' manifest; 0 in a folder of data sets made elsewhere,
 * which has no manifest. */
static int sum_manifest(const struct call *call, uint64_t *sum)
{
    char path[4096];
    uint64_t bytes;
    *sum = 0;
    TRY(orr_path(path, "%s/manifest.json", call->orbits));
    return orr_exists(path) ? orr_file_checksum(path, sum, &bytes) : 0;
}

/* Checks that the trainings' data sets are complete. Streamed sets may be absent, and in a
 * folder made elsewhere also the sets for rollouts. quiet: without notes on other settings. */
static int verify_data(const struct call *call, bool quiet)
{
    const struct orr_settings *p = &call->cli.settings;
    const bool orbits = orr_has_pretrain(p, false), planets = orr_has_pretrain(p, true);
    const struct {
        enum sim_split split;
        bool needed;
    } sets[] = {
        {SIM_SPLIT_TRAIN, orbits && p->orbits.train_files >= p->orbits.train},
        {SIM_SPLIT_VAL, orbits && p->orbits.val > 0},
        {SIM_SPLIT_TEST, orbits && p->orbits.test > 0},
        {SIM_SPLIT_PLANETS_TRAIN, planets},
        {SIM_SPLIT_PLANETS_VAL, planets && p->planets.val > 0},
        {SIM_SPLIT_PLANETS_TEST, planets && p->planets.test > 0},
        {SIM_SPLIT_PLANETS_SOLAR, planets && !*orbits_option},
    };
    enum sim_split need[sizeof sets / sizeof *sets];
    int count = 0;
    if (orr_settings_is_text(p))
        return 0;
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        if (sets[i].needed)
            need[count++] = sets[i].split;
    return sim_dataset_verify(p, call->orbits, need, count, !*orbits_option, quiet);
}

/* Trainings of one call may begin hours apart, and each opens its data when it begins. Sets that
 * were made again in between are therefore verified again. bin/orbits removes the manifest
 * before it replaces a file: where the manifest is unchanged, so are the files that were opened. */
static int verify_again(void *of, bool opened)
{
    struct call *call = of;
    const uint64_t before = call->manifest;
    TRY(sum_manifest(call, &call->manifest));
    if (call->manifest == before)
        return 0;
    return opened ? ORR_FAIL(ORR_EINVAL,
                             "%s: data sets were made there meanwhile; the same command looks at "
                             "them again",
                             call->orbits)
                  : verify_data(call, call->cli.quiet);
}

static int check_names(const struct orr_cli *cli)
{
    const struct orr_settings *p = &cli->settings;
    struct gpt_config config;
    int wanted = 0;
    if (orr_settings_is_text(p) && *orbits_option)
        return ORR_FAIL(ORR_EUSAGE, "--orbits: preset %s trains on text", p->name);
    for (int i = 0; i < p->attention.count; i++) {
        wanted += orr_cli_wants(cli, p->attention.item[i]);
        TRY(gpt_config_from_preset(&config, p, p->attention.item[i], p->orbits.positions));
    }
    return *cli->out && wanted > 1
               ? ORR_FAIL(ORR_EUSAGE, "--out: needs one --attention, the preset has %d", wanted)
               : 0;
}

/* Opens the lineage: the records that say what the trainings should be made from. */
static int open_chain(struct call *call)
{
    const struct orr_cli *cli = &call->cli;
    const struct orr_name_list *names = &cli->settings.attention;
    const bool quiet = cli->quiet || cli->plan || orr_is_job() || !cluster_leads();
    uint64_t content;
    TRY(orr_lineage_open(&call->lineage, &cli->settings, orbits_option));
    if (orr_settings_is_text(&cli->settings)) {
        TRY(gpt_text_content(&cli->settings, quiet, &content));
        TRY(orr_lineage_take_text(&call->lineage, content));
    }
    for (int i = 0; i < names->count && *cli->checkpoint; i++)
        if (orr_cli_wants(cli, names->item[i]))
            TRY(orr_lineage_checkpoint(&call->lineage, cli->checkpoint, call->lineage.start[i]));
    return 0;
}

/* Sets up the training of a variant on orbits or on planet runs. */
static int open_job(struct call *call, const char *attention, bool planets)
{
    const struct orr_cli *cli = &call->cli;
    const struct orr_settings *p = &cli->settings;
    struct gpt_pretraining *job = &call->job;
    *job = (struct gpt_pretraining){.settings = p,
                                    .train = planets ? &p->pretrain_planets : &p->pretrain,
                                    .ops = call->device.ops,
                                    .attention = attention,
                                    .orbits_dir = call->orbits,
                                    .planets = planets,
                                    .checkpoint = planets ? "" : cli->checkpoint,
                                    .lineage = &call->lineage,
                                    .resume = cli->resume || cli->plan,
                                    .force = force_option != NULL,
                                    .quiet = cli->quiet,
                                    .verify = call->work ? verify_again : NULL,
                                    .of = call};
    const char *stage = planets ? "pretrain_planets" : "pretrain";
    return *cli->out ? orr_path(job->folder, "%s%s", cli->out, planets ? "_planets" : "")
                     : orr_path(job->folder, "%s/%s/%s", cli->run, attention, stage);
}

/* The next training that the settings and --attention select. */
static int next_job(void *of, int *i, bool *there)
{
    struct call *call = of;
    const struct orr_settings *p = &call->cli.settings;
    for (*there = false; *i < 2 * p->attention.count; ++*i) {
        const char *attention = p->attention.item[*i / 2];
        const bool planets = *i % 2 == 1;
        *there = orr_cli_wants(&call->cli, attention) && orr_has_pretrain(p, planets);
        if (*there)
            return open_job(call, attention, planets);
    }
    return 0;
}

/* Finds every possible error before any training starts. Data sets are read only where there is
 * work to do: complete outputs were made from the data as they were. */
static int check_job(void *of, const struct orr_stage_output *output)
{
    struct call *call = of;
    (void)output;
    if (!call->work) {
        TRY(sum_manifest(call, &call->manifest));
        /* the job's caller has printed the notes */
        TRY(verify_data(call, call->cli.quiet || orr_is_job()));
    }
    call->work = true;
    return gpt_pretrain_check(&call->job);
}

/* Checks the data that a rank above 0 reads: nothing is written before all ranks have theirs. */
static int check_share(struct call *call)
{
    bool there = true;
    for (int i = 0; there; i++) {
        TRY(next_job(call, &i, &there));
        TRY(there ? gpt_pretrain_check(&call->job) : 0);
    }
    return 0;
}

/* Trains the variants of small models in jobs of their own on the CPU. *done = whether that was
 * done. */
static int train_side_by_side(struct call *call, bool *done)
{
    const struct orr_cli *cli = &call->cli;
    const struct orr_settings *p = &cli->settings;
    const char *name[ORR_LIST];
    int count = 0;
    for (int i = 0; i < p->attention.count; i++)
        if (orr_cli_wants(cli, p->attention.item[i]))
            name[count++] = p->attention.item[i];
    const long positions = orr_settings_is_text(p) ? p->text.positions : p->orbits.positions;
    *done = count > 1 && !minutes_option && cluster_size() == 1 &&
            gpt_is_small(cli, &call->device, p->pretrain.batch, positions);
    if (!*done)
        return 0;
    TRY(orr_cli_save_preset(cli, cli->run));
    return orr_jobs_run("--attention", name, count, cli->threads);
}

/* Opens the device. Each rank has a GPU of its own, and ranks exchange data through the
 * backend's own library. */
static int open_device(struct call *call)
{
    TRY(gpt_ranks_choose(call->device.ops, call->cli.device_number));
    TRY(cluster_agree(gpt_device_open(&call->device, &call->cli, false)));
    return gpt_ranks_join(call->device.ops);
}

static void close_device(struct call *call)
{
    const struct k_ops *ops = call->device.ops;
    if (cluster_broken()) /* cluster_close() will end all ranks */
        return;
    if (ops->collectives)
        ops->collectives->close();
    ops->close();
}

/* Notes the variants whose attention is uniform for any weights. */
static void tell_uniform(const struct orr_cli *cli)
{
    const struct orr_settings *p = &cli->settings;
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

/* Notes the variants that have no fused kernels, unless the generic path was requested for all. */
static void tell_generic(const struct orr_cli *cli)
{
    const struct orr_name_list *names = &cli->settings.attention;
    for (int i = 0; i < names->count && !cli->generic_attention; i++) {
        const struct k_attention *v = k_attention_find(names->item[i]);
        if (v && !k_attention_has_fused(v) && orr_cli_wants(cli, v->name))
            orr_note(
                cli->quiet,
                "note: %s has no fused attention kernels and takes the generic path; what that "
                "costs grows with the length (docs/attention.md, \"The generic path\")",
                v->name);
    }
}

/* Rank 0 finds out what to do, for all ranks. *done = whether separate jobs have done it. */
static int prepare_jobs(struct call *call, bool *done)
{
    TRY(cluster_agree(cluster_leads() ? orr_stage_check(&call->stage, call) : 0));
    TRY(cluster_broadcast(&call->work, sizeof call->work, 0));
    TRY(cluster_agree(call->work && !cluster_leads() ? check_share(call) : 0));
    if (call->work && !orr_is_job()) {
        gpt_precision_tell(call->given, &call->cli, &call->device);
        if (cluster_leads()) {
            tell_uniform(&call->cli);
            tell_generic(&call->cli);
        }
    }
    if (call->work)
        TRY(train_side_by_side(call, done));
    if (*done)
        return 0;
    int rc = call->work ? open_device(call) : 0;
    if (!rc && cluster_leads() && !*call->cli.out)
        rc = orr_cli_save_preset(&call->cli, call->cli.run);
    return cluster_agree(rc);
}

static int train_all(struct call *call)
{
    bool done = false;
    TRY(prepare_jobs(call, &done));
    if (done)
        return 0;
    const int rc = orr_stage_make(&call->stage, call);
    if (call->work)
        close_device(call);
    return rc;
}

/* Where the settings leave the precision open, rank 0 decides it for all ranks. */
static int decide_precision(struct call *call, const char *checkpoint)
{
    enum orr_precision *precision = &call->cli.settings.model.precision;
    TRY(cluster_agree(
        cluster_rank() == 0 ? gpt_precision_decide(&call->cli, &call->device, checkpoint) : 0));
    return cluster_broadcast(precision, sizeof *precision, 0);
}

/* Whether the ranks of this job can share the trainings. */
static int check_ranks(const struct call *call)
{
    const struct orr_settings *p = &call->cli.settings;
    TRY(gpt_ranks_suit("pretrain", &p->pretrain, call->device.ops));
    return gpt_ranks_suit("pretrain_planets", &p->pretrain_planets, call->device.ops);
}

/* Reads the command line; *last = the checkpoint of --out, or "". */
static int open_call(struct call *call, char last[4096])
{
    const struct orr_cli *cli = call->given;
    *last = '\0';
    TRY(orr_cli_orbits(cli, orbits_option, call->orbits));
    if (minutes_option)
        TRY(orr_time_limit(minutes_option));
    TRY(gpt_device_find(&call->device, &call->cli));
    TRY(check_names(cli));
    if (*cli->out)
        TRY(orr_path(last, "%s/last.safetensors", cli->out));
    return check_ranks(call);
}

/* Finds out, on rank 0 alone, what trainings should be made from. */
static int find_start(struct call *call)
{
    const char *checkpoint = call->cli.checkpoint;
    if (*checkpoint && !orr_exists(checkpoint))
        return ORR_FAIL(ORR_EMISSING, "%s: no such checkpoint (--checkpoint)", checkpoint);
    return open_chain(call);
}

static int pretrain_all(struct call *call)
{
    char last[4096];
    const struct orr_cli *cli = call->given;
    TRY(gpt_ranks_alike(cli));
    orr_time_hold(true); /* until the first step is done */
    TRY(cluster_agree(open_call(call, last)));
    TRY(decide_precision(call, cli->resume || cli->plan ? last : ""));
    TRY(cluster_agree(cluster_leads() ? find_start(call) : 0));
    if (cli->plan)
        return cluster_agree(cluster_leads() ? orr_stage_plan(&call->stage, call) : 0);
    return train_all(call);
}

static int run(const struct orr_cli *cli)
{
    struct call call = {.given = cli, .cli = *cli, .stage = gpt_pretrain_stage};
    call.stage.next = next_job;
    call.stage.check = check_job;
    call.cli.quiet |= !cluster_leads();
    const int rc = pretrain_all(&call);
    orr_lineage_close(&call.lineage);
    return rc;
}

int main(int argc, char **argv)
{
    orr_threads_sleep(argv); /* before the rank joins the others */
    const int rc = cluster_open(program.name);
    return cluster_close(rc ? orr_error_exit(program.name, rc)
                            : orr_main(&program, argc, argv, run));
}
