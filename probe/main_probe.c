/* main_probe.c - bin/probe: the command line; table.c lists the probes. */
#define _XOPEN_SOURCE 700 /* for realpath */
#include "core/answers.h"
#include "results.h"
#include "base/text.h"
#include "stage/tracks.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const char *orbits_text, *layer_text, *head_text, *sequences_text, *length_text;
static const char *reweight_text, *p_text, *window_text, *ntk_text;
static const char *answers_text, *untrained_text, *export_text, *judged_text;
static const char *steps_text, *draws_text, *sizes_text, *figure_text, *no_untrained_text;
static const struct orr_option options[] = {
    {"--orbits", "DIR", "take sequences from here (default: the run's, else made on the fly)",
     &orbits_text, NULL},
    {"--sequences", "N", "how many (default: the probe's own)", &sequences_text, NULL},
    {"--layer", "N", "attention: maps of this layer only, from 0", &layer_text, NULL},
    {"--head", "N", "attention: maps of this head only, from 0", &head_text, NULL},
    {"--reweight", "on|off", "change: the re-weighting", &reweight_text, NULL},
    {"--p", "P", "change: its power", &p_text, NULL},
    {"--window", "W", "change: attend the last W positions, 0 = all", &window_text, NULL},
    {"--length", "L", "change: positions fed, beyond training with rope or none; length: the most",
     &length_text, NULL},
    {"--ntk", NULL, "change: NTK-aware scaling of rope for --length", &ntk_text, NULL},
    {"--sizes", "N,N,...", "labels, extrapolate, adaptation, export: labelled sequences",
     &sizes_text, NULL},
    {"--figure", "NAME", "grid: what to draw: \"quantity, measure[, context N]\"", &figure_text,
     NULL},
    {"--steps", "N",
     "labels, extrapolate, adaptation, inductive: steps of each fine-tuning (default: 600 or "
     "the preset's, if fewer; inductive: 100)",
     &steps_text, NULL},
    {"--draws", "N",
     "labels, extrapolate, adaptation: draws of labels (default: 3); inductive: white-noise data "
     "sets (default: 20, published: 100)",
     &draws_text, NULL},
    {"--no-untrained", NULL,
     "labels, extrapolate: leave out the untrained model, half of the work, whose values do not "
     "depend on pretraining",
     &no_untrained_text, NULL},
    {"--answers", "DIR",
     "of a model of another program, not of a checkpoint (docs/exchange.md); its folder's "
     "name is the model's; judge: DIR,DIR of several trainings",
     &answers_text, NULL},
    {"--untrained", "DIR", "answers of the untrained twin of that model", &untrained_text, NULL},
    {"--probes", "NAME,NAME",
     "judge: some of evaluate, rollout, linear, labels, extrapolate, inductive, intervene, "
     "planets, "
     "laws (default: all that the answers allow)",
     &judged_text, NULL},
    {"--export", "DIR", "answer: what is asked (default: RUN/" PROBE_EXCHANGE ")", &export_text,
     NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static char usage[4096];
enum { PROBES = 32 };
static struct orr_command commands[PROBES];
static const struct orr_program program = {
    .name = "probe",
    .purpose = "Looks into trained models, as they are or with their attention changed. With\n"
               "--checkpoint, --attention changes the variant; without, the models of the run\n"
               "are probed, and --attention chooses one. The run's preset.json gives the\n"
               "settings unless --preset does.",
    .usage = usage,
    .options = options,
    .max_rest = 1024,
    .groups = "attention,seed,orbits,planets,text,finetune",
    .without = "--plan",
    .commands = commands,
    .usual = "--preset,--set,--run,--out,--attention,--checkpoint,--sequences,--threads,--help",
};

/* ------------------------------------------------------------------------------- arguments */

static int read_whole(const char *option, const char *text, int least, int *value)
{
    long number = *value;
    if (text && !orr_whole(text, least, 1000000, &number))
        return ORR_FAIL(ORR_EUSAGE, "%s: expected a whole number from %d to 1000000, found \"%s\"",
                        option, least, text);
    *value = (int)number;
    return 0;
}

static int read_change(const struct orr_cli *cli, struct gpt_attention_override *change)
{
    char *end = NULL;
    if (*cli->attention && *cli->checkpoint)
        change->attention = cli->attention;
    if (reweight_text && !strcmp(reweight_text, "on"))
        change->reweight = GPT_REWEIGHT_ON;
    else if (reweight_text && !strcmp(reweight_text, "off"))
        change->reweight = GPT_REWEIGHT_OFF;
    else if (reweight_text)
        return ORR_FAIL(ORR_EUSAGE, "--reweight: expected on or off, found \"%s\"", reweight_text);
    change->power = p_text ? strtod(p_text, &end) : 0;
    if (p_text && (end == p_text || *end || !isfinite(change->power) || change->power < 1))
        return ORR_FAIL(ORR_EUSAGE, "--p: expected a number of at least 1, found \"%s\"", p_text);
    change->set_window = window_text != NULL;
    change->ntk = ntk_text != NULL;
    return read_whole("--window", window_text, 0, &change->window);
}

static int read_options(const struct orr_cli *cli, const struct probe_command *command,
                        struct probe_options *o)
{
    *o = (struct probe_options){.settings = &cli->settings,
                                .checkpoint = cli->checkpoint,
                                .run = cli->run_given || !*cli->checkpoint ? cli->run : "",
                                .orbits = orbits_text ? orbits_text : "",
                                .out = cli->out,
                                .layer = -1,
                                .head = -1,
                                .no_untrained = no_untrained_text != NULL,
                                .sizes = sizes_text,
                                .resume = cli->resume,
                                .no_model = command->no_model || answers_text,
                                .exported = export_text ? export_text : "",
                                .quiet = cli->quiet};
    if (cli->argc_rest > 1)
        return ORR_FAIL(ORR_EUSAGE, "unexpected argument \"%s\"; expected %s alone",
                        cli->argv_rest[1], command->name);
    TRY(read_whole("--layer", layer_text, 0, &o->layer));
    TRY(read_whole("--head", head_text, 0, &o->head));
    TRY(read_whole("--sequences", sequences_text, 1, &o->sequences));
    TRY(read_whole("--length", length_text, 2, &o->length));
    TRY(read_whole("--steps", steps_text, 1, &o->steps));
    TRY(read_whole("--draws", draws_text, 1, &o->draws));
    return read_change(cli, &o->change);
}

/* ------------------------------------------------------------------------------------- run */

/* Refuses a stopped training of a run, whose model is not the run's. */
static int check_complete(const char *last, const struct orr_train_settings *train)
{
    static const char *const shared[] = {"--run", "--seed", "--orbits", NULL};
    char command[ORR_COMMAND], advice[ORR_COMMAND + 64];
    if (!orr_exists(last))
        return 0;
    orr_command("pretrain", shared, command, sizeof command);
    snprintf(advice, sizeof advice, "continue with: %s, or give it as it is by --checkpoint",
             command);
    return gpt_check_complete(last, train->steps, advice);
}

/* Reports a missing checkpoint with the command that makes it, with the current settings and paths
 * relative to the current folder. */
static int no_model(const char *checkpoint, const char *attention)
{
    static const char *const shared[] = {"--preset", "--set", "--run", "--seed", "--orbits", NULL};
    char command[ORR_COMMAND];
    if (!k_attention_find(attention))
        return gpt_config_unknown_attention(attention);
    orr_command("pretrain", shared, command, sizeof command);
    return ORR_FAIL(ORR_EMISSING, "%s: no pretrained model there; make it with: %s --attention %s",
                    checkpoint, command, attention);
}

/* Probes the models of a run, one after the other. */
static int probe_run(const struct orr_cli *cli, const struct probe_command *command,
                     struct probe_options *o)
{
    const struct orr_settings *p = &cli->settings;
    const struct orr_name_list *names = &p->attention;
    const struct orr_train_settings *train = command->planets ? &p->pretrain_planets : &p->pretrain;
    char checkpoint[4096], last[4096];
    int rc = 0;
    if (command->planets && !orr_has_pretrain(p, true))
        return ORR_FAIL(ORR_EINVAL,
                        "probe %s: preset %s trains no models on planet runs (planets.enabled, "
                        "pretrain_planets.steps)",
                        command->name, p->name);
    if (*cli->out && !*cli->attention && names->count > 1)
        return ORR_FAIL(ORR_EUSAGE,
                        "--out: needs --checkpoint or one --attention, the preset has %d",
                        names->count);
    for (int pass = 0; pass < 2; pass++) /* the first pass checks that all exist */
        for (int i = 0; i < names->count && !rc; i++) {
            if (!orr_cli_wants(cli, names->item[i]))
                continue;
            rc = orr_path(last, "%s/%s/pretrain%s/last.safetensors", cli->run, names->item[i],
                          command->planets ? "_planets" : "");
            rc = rc ? rc
                    : orr_path(checkpoint, "%.*s%s", (int)(strrchr(last, '/') - last + 1), last,
                               gpt_final_checkpoint(train));
            o->checkpoint = checkpoint;
            if (!rc && pass == 0)
                rc = check_complete(last, train);
            if (!rc && pass == 0 && !orr_exists(checkpoint))
                rc = no_model(checkpoint, names->item[i]);
            if (!rc && pass == 1)
                rc = command->run(o);
        }
    return rc;
}

static char found_run[4096]; /* the folder of the preset.json found by main() */

/* ------------------------------------------------------------------------------- answers */

/* Options that belong to checkpoints, or to the export that was answered. */
static int check_answered(const struct orr_cli *cli, const struct probe_options *o)
{
    const struct {
        const char *name;
        bool given;
    } other[] = {{"--checkpoint", *cli->checkpoint},      {"--attention", *cli->attention},
                 {"--sequences", sequences_text != NULL}, {"--sizes", sizes_text != NULL},
                 {"--draws", draws_text != NULL},         {"--steps", steps_text != NULL},
                 {"--no-untrained", o->no_untrained}};
    for (size_t i = 0; i < sizeof other / sizeof *other; i++)
        if (other[i].given)
            return ORR_FAIL(ORR_EUSAGE, "%s: does not go with --answers%s", other[i].name,
                            i < 2 ? ", which stand for a checkpoint"
                                  : "; probe export takes what is asked");
    return probe_is_changed(o) ? ORR_FAIL(ORR_EUSAGE, "--answers: a changed attention or length is "
                                                      "of Orrery's own models")
                               : 0;
}

static int run_answers(const struct orr_cli *cli, const struct probe_command *command,
                       const struct probe_options *o)
{
    struct probe_answers answers = {.sizes = ""}, twin = {.sizes = ""};
    struct probe_options of = *o;
    int rc = check_answered(cli, o);
    if (!rc && command->judges) {
        of.answers_list = answers_text;
        of.twins_list = untrained_text ? untrained_text : "";
        of.judged = judged_text ? judged_text : "";
        return command->run(&of);
    }
    rc = rc ? rc : probe_answers_open(&answers, answers_text, o->settings);
    if (!rc && untrained_text) {
        rc = probe_answers_open(&twin, untrained_text, o->settings);
        rc = rc ? rc : probe_answers_check_twin(&answers, &twin);
        of.twin = &twin;
    }
    of.answers = &answers;
    of.checkpoint = answers.folder;
    of.no_untrained = !untrained_text;
    of.sequences = answers.sequences;
    of.draws = answers.draws;
    of.sizes = *answers.sizes ? answers.sizes : NULL;
    rc = rc ? rc : command->run(&of);
    probe_answers_close(&answers);
    probe_answers_close(&twin);
    return rc;
}

/* Imported tracks have neither states nor forces: a probe of these is left out, and an exchange
 * with another program, which asks for both, is refused. */
static int of_tracks(const struct orr_cli *cli, const struct probe_command *command)
{
    if (answers_text)
        return orr_tracks_refuse(&cli->settings, "--answers");
    if (command->no_model || !strcmp(command->name, "answer"))
        return orr_tracks_refuse(&cli->settings, "an exchange with other programs");
    orr_note(cli->quiet, "probe %s: %s holds tracks without states and forces: left out",
             command->name, cli->settings.tracks);
    return 0;
}

/* What other programs are asked has the settings of a run: without them a mistyped --run would be
 * asked as another preset. */
static int check_run(const struct orr_cli *cli, const struct probe_command *command)
{
    const bool exchange = command->judges || answers_text || !strcmp(command->name, "export") ||
                          !strcmp(command->name, "answer") || !strcmp(command->name, "lab");
    char path[4096];
    if (!exchange || cli->preset_given)
        return 0;
    TRY(orr_path(path, "%s/preset.json", cli->run));
    return orr_exists(path) ? 0
                            : ORR_FAIL(ORR_EMISSING,
                                       "%s: no preset.json there, so that it is no run; give "
                                       "--run RUN, or --preset",
                                       cli->run);
}

static int run_command(const struct orr_cli *cli)
{
    const struct probe_command *command;
    struct probe_options o;
    struct gpt_device device;
    int rc = probe_find(cli->argv_rest[0], &command);
    rc = rc ? rc : read_options(cli, command, &o);
    if (!rc && *cli->checkpoint && !orr_exists(cli->checkpoint))
        rc = ORR_FAIL(ORR_EMISSING, "%s: no such checkpoint", cli->checkpoint);
    if (!rc && *cli->checkpoint && !cli->preset_given)
        rc = ORR_FAIL(ORR_EUSAGE,
                      "%s: no preset.json beside it or in its run; give --preset or --run",
                      cli->checkpoint);
    if (!rc && command->judges && !answers_text)
        rc = ORR_FAIL(ORR_EUSAGE, "needs --answers DIR, of the model (docs/exchange.md)");
    if (!rc && untrained_text && !answers_text)
        rc = ORR_FAIL(ORR_EUSAGE, "--untrained: needs --answers");
    rc = rc ? rc : check_run(cli, command);
    if (!rc && *cli->settings.tracks && (command->states || answers_text))
        return of_tracks(cli, command);
    if (!rc && answers_text)
        return run_answers(cli, command, &o);
    if (!rc && command->no_model)
        return command->run(&o);
    rc = rc ? rc : gpt_device_find(&device, cli);
    rc = rc ? rc : gpt_device_open(&device, cli, command->exact);
    if (rc)
        return rc;
    o.ops = device.ops;
    if (!*o.run)
        o.run = found_run;
    rc = *cli->checkpoint ? command->run(&o) : probe_run(cli, command, &o);
    device.ops->close();
    return rc;
}

/* The value of an option as the parser will read it; NULL when it is not given. */
static const char *option_value(int argc, char **argv, const char *name)
{
    const size_t length = strlen(name);
    const char *value = NULL;
    for (int i = 1; i < argc; i++)
        if (!strncmp(argv[i], name, length) && argv[i][length] == '=')
            value = argv[i] + length + 1;
        else if (!strcmp(argv[i], name))
            value = i + 1 < argc ? argv[i + 1] : "";
    return value;
}

/* Finds the preset.json next to the checkpoint or of its run, <run>/<source>/<stage>/<file>; with
 * --run, only in that folder. path is "" when there is none; else found_run is its folder. */
static void find_preset(const char *run_option, const char *checkpoint, char path[4096])
{
    char *folder = realpath(run_option ? run_option : checkpoint, NULL);
    for (int up = 0; up <= 3 && folder && *folder && !*found_run; up++) {
        const bool here = run_option ? up == 0 : up == 1 || up == 3;
        if (here && !orr_path(path, "%s/preset.json", folder) && orr_exists(path))
            (void)orr_path(found_run, "%s", folder);
        char *slash = strrchr(folder, '/');
        *(slash ? slash : folder) = '\0';
    }
    if (!*found_run)
        *path = '\0';
    free(folder);
}

/* Usage and commands, of the table of probes. */
static void list_probes(void)
{
    static char what[PROBES][64];
    int n = 0;
    for (const struct probe_command *c = probe_table; c->name; c++, n++) {
        orr_append(usage, sizeof usage, "%sprobe %-11s %s", *usage ? "\n       " : "", c->name,
                   c->purpose);
        snprintf(what[n], sizeof what[n], "probe %s", c->name);
        commands[n] = (struct orr_command){c->name,
                                           what[n],
                                           c->takes,
                                           .run = run_command,
                                           .program = c->program,
                                           .alone = c->program != NULL};
        commands[n].usual = c->usual;
        commands[n].usage = c->usage;
        commands[n].purpose = c->about;
    }
}

/* Whether another program does the command now, which takes no run. */
static bool has_moved(const char *name)
{
    for (const struct probe_command *c = probe_table; c->name; c++)
        if (c->program && !strcmp(c->name, name))
            return true;
    return false;
}

static int run_probe(const struct orr_cli *cli)
{
    const struct probe_command *command;
    TRY(probe_find(cli->argc_rest > 0 ? cli->argv_rest[0] : NULL, &command));
    return orr_command_run(&program, cli);
}

/* The settings of a model are those of its run. They are passed as --preset before parsing, so that
 * --set and --seed change them like any preset. */
int main(int argc, char **argv)
{
    static char preset[4096], name[] = "--preset";
    const char *run_option = option_value(argc, argv, "--run");
    const char *checkpoint = option_value(argc, argv, "--checkpoint");
    char **with_preset = calloc((size_t)argc + 3, sizeof *with_preset);
    int count = argc;
    list_probes();
    if (!with_preset)
        return orr_error_exit(program.name, ORR_FAIL(ORR_ENOMEM, "out of memory"));
    memcpy(with_preset, argv, (size_t)argc * sizeof *argv);
    if ((run_option || checkpoint) && !has_moved(argc > 1 ? argv[1] : ""))
        find_preset(run_option, checkpoint, preset);
    if (*preset && !option_value(argc, argv, "--preset")) {
        with_preset[1] = name;
        with_preset[2] = preset;
        memcpy(with_preset + 3, argv + 1, (size_t)(argc - 1) * sizeof *argv);
        count += 2;
    }
    const int status = orr_main(&program, count, with_preset, run_probe);
    free(with_preset);
    return status;
}
