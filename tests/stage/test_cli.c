/* test_cli.c - the command line every program shares. */
#include "base/scratch.h"
#include "stage/cli.h"

#include <fcntl.h>

static char dir[64], home[4096], presets[4096];
static const char *target, *flag, *steps;
static const struct orr_option own[] = {
    {"--target", "COLUMN", "a value of its own", &target, NULL},
    {"--loose", NULL, "a flag of its own", &flag, NULL},
    {"--steps", "N", "a setting", &steps, "pretrain.steps"},
    {"--layers", "N", "a setting whose text nobody needs", NULL, "model.layers"},
    {NULL, NULL, NULL, NULL, NULL},
};
static const struct orr_program program = {
    .name = "try",
    .purpose = "Tries.",
    .usage = "try [options] [FILE]",
    .options = own,
    .max_rest = 2,
    .groups = "seed,orbits",
};
/* without some of the common options, and with settings of a table where a file is named */
static const struct orr_program narrow = {
    .name = "narrow",
    .purpose = "Tries less.",
    .usage = "narrow [options] [FILE]",
    .max_rest = 1,
    .rest_preset = "mine",
    .without = "--checkpoint,--device",
};
static const struct orr_program *tried = &program;
static struct orr_cli cli;

/* Works in an empty folder, with a preset "quick" of its own beside it. */
FIXTURE(setup)
{
    char path[4096];
    scratch_create(dir);
    scratch_path(presets, dir, "presets");
    scratch_path(path, dir, "empty");
    if (!getcwd(home, sizeof home) || orr_mkdir(presets) || orr_mkdir(path) || chdir(path))
        return 1;
    scratch_path(path, presets, "quick.json");
    scratch_text(path, "{\"seed\": 41, \"pretrain\": {\"steps\": 7}}");
    scratch_path(path, presets, "mine.json");
    scratch_text(path, "{\"model\": {\"heads\": 3}}");
    setenv("ORRERY_PRESETS", presets, 1);
    target = flag = steps = NULL;
    tried = &program;
    return 0;
}

/* Nothing was created, whatever the command line said. */
FIXTURE(teardown)
{
    const int left = scratch_count(".");
    unsetenv("ORRERY_PRESETS");
    const int back = chdir(home);
    scratch_remove(dir);
    return left || back;
}

/* Parses words up to NULL. What is parsed points into them, as into main()'s. */
static int parse(bool *done, const char *word, ...)
{
    static char words[32][160];
    char *argv[34] = {words[0]};
    int argc = 1;
    va_list list;
    strcpy(words[0], "try");
    va_start(list, word);
    for (; word; word = va_arg(list, const char *)) {
        snprintf(words[argc], sizeof words[argc], "%s", word);
        argv[argc] = words[argc];
        argc++;
    }
    va_end(list);
    orr_error_clear();
    return orr_cli_parse(tried, argc, argv, &cli, done);
}

TEST_BETWEEN(test_nothing_given, setup, teardown)
{
    bool done = true;
    assert_int_equal(parse(&done, NULL), 0);
    assert_false(done);
    assert_string_equal(cli.settings.name, "quick");
    assert_string_equal(cli.run, "runs/quick");
    assert_true(cli.settings.seed == 41 && cli.settings.pretrain.steps == 7);
    assert_false(cli.preset_given || cli.seed_given || cli.run_given || cli.resume || cli.quiet);
    assert_string_equal(cli.out, "");
    assert_string_equal(cli.attention, "");
    assert_string_equal(cli.checkpoint, "");
    assert_int_equal(cli.device, ORR_DEVICE_AUTO);
    assert_int_equal(cli.device_number, -1);
    assert_false(cli.generic_attention);
    assert_int_equal(cli.threads, orr_cores());
    assert_int_equal(cli.argc_rest, 0);
}

/* A list is the settings' list; what none of them may be called is refused as --set refuses it. */
TEST_BETWEEN(test_list_of_attention, setup, teardown)
{
    bool done = true;
    assert_int_equal(parse(&done, "--attention", "lssa,softmax", NULL), 0);
    assert_string_equal(cli.attention, "");
    assert_int_equal(cli.settings.attention.count, 2);
    assert_string_equal(cli.settings.attention.item[0], "lssa");
    assert_string_equal(cli.settings.attention.item[1], "softmax");
    assert_true(orr_cli_wants(&cli, "lssa") && orr_cli_wants(&cli, "softmax"));
    assert_int_equal(parse(&done, "--attention", "lssa,../up", NULL), ORR_EUSAGE);
    error_names("--attention", "../up", NULL);
}

TEST_BETWEEN(test_every_option, setup, teardown)
{
    static char path[4096];
    bool done = true;
    scratch_path(path, presets, "mine.json");
    assert_int_equal(parse(&done, "--set", "model.width=96", "--preset", path, "--run", "r/1",
                           "--out=o", "--attention", "lssa", "--checkpoint", "c.safetensors",
                           "--device=cuda:7", "--attention-impl", "generic", "--threads", "3",
                           "--seed", "18446744073709551615", "--resume", "--quiet",
                           "--set=about=a=b", "--target", "F", "--loose", "in.csv", "-", NULL),
                     0);
    assert_false(done);
    assert_string_equal(cli.settings.name, "mine");
    assert_true(cli.settings.model.width == 96 && cli.settings.model.heads == 3);
    assert_string_equal(cli.settings.about, "a=b");
    assert_string_equal(cli.run, "r/1");
    assert_string_equal(cli.out, "o");
    assert_string_equal(cli.checkpoint, "c.safetensors");
    assert_string_equal(cli.attention, "lssa");
    assert_int_equal(cli.settings.attention.count, 3); /* one more of the preset's two */
    assert_string_equal(cli.settings.attention.item[0], "softmax");
    assert_string_equal(cli.settings.attention.item[2], "lssa");
    assert_true(orr_cli_wants(&cli, "lssa") && !orr_cli_wants(&cli, "softmax"));
    assert_int_equal(cli.device, ORR_DEVICE_CUDA);
    assert_int_equal(cli.device_number, 7);
    assert_true(cli.generic_attention);
    assert_int_equal(cli.threads, 3);
    assert_true(cli.settings.seed == UINT64_MAX);
    assert_true(cli.preset_given && cli.seed_given && cli.run_given && cli.resume && cli.quiet);
    assert_string_equal(target, "F");
    assert_string_equal(flag, "1");
    assert_int_equal(cli.argc_rest, 2);
    assert_string_equal(cli.argv_rest[1], "-");
    assert_int_equal(parse(&done, "--seed=4", "--", "-dash.csv", "--", NULL), 0);
    assert_int_equal(cli.argc_rest, 2); /* names, whatever they begin with */
    assert_string_equal(cli.argv_rest[0], "-dash.csv");
    assert_string_equal(cli.argv_rest[1], "--");
}

/* The later assignment holds; options that set a setting, --seed among them, stand above --set. */
TEST_BETWEEN(test_order, setup, teardown)
{
    bool done;
    assert_int_equal(parse(&done, "--seed", "5", "--set", "seed=6", "--set", "pretrain.batch=3",
                           "--set", "pretrain.batch=4", "--preset", "mine", NULL),
                     0);
    assert_true(cli.settings.seed == 5 && cli.settings.pretrain.batch == 4);
    assert_string_equal(cli.run, "runs/mine");
    assert_null(steps);
    assert_int_equal(parse(&done, "--steps", "3", "--layers=2", "--set", "pretrain.steps=5",
                           "--set", "model.layers=7", "--steps=1e4", NULL),
                     0);
    assert_true(cli.settings.pretrain.steps == 10000 && cli.settings.model.layers == 2);
    assert_string_equal(steps, "1e4");
    assert_false(cli.seed_given);
}

TEST_BETWEEN(test_refusals, setup, teardown)
{
    static const struct {
        const char *words[3], *said, *also;
    } bad[] = {
        {{"--presett", "quick"}, "unknown option --presett", "did you mean --preset?"},
        {{"--thread=2"}, "unknown option --thread;", "--threads"},
        {{"--tarjet", "F"}, "unknown option --tarjet", "--target"},
        {{"--checkp"}, "unknown option --checkp", "--checkpoint"},
        {{"-help"}, "unknown option -help", "see --help"},
        {{"--help=al"}, "--help", "expected all or nothing, found \"al\""},
        {{"-o"}, "--out", "expected a value"},
        {{"--set", "law=power"}, "--set: unknown key \"law\"", "did you mean \"orbits.law\"?"},
        {{"--set", "lr=3"}, "\"pretrain.lr\" or", "\"finetune.magnitude.lr\""},
        {{"--set", "learning_rate=3"}, "\"pretrain.lr\" or", "\"finetune.magnitude.lr\""},
        {{"--set", "layerz=3"}, "unknown key \"layerz\"", "did you mean \"model.layers\"?"},
        {{"--set", "pretrain.lrr=3"}, "unknown key \"pretrain.lrr\"", "\"pretrain.lr\"?"},
        {{"--law", "power"}, "unknown option --law", "a setting: --set orbits.law=power;"},
        {{"--dt=0.1"}, "unknown option --dt", "--set orbits.dt_yr=0.1;"},
        {{"-lr", "1e-3"}, "unknown option -lr", "--set pretrain.lr=1e-3 or --set"},
        {{"--batch-size", "--quiet"}, "--batch-size", "--set pretrain.batch=VALUE or"},
        {{"--label-r-min", "1"}, "unknown option", "--set orbits.label_r_min=1;"},
        {{"-x"}, "unknown option -x", NULL},
        {{"--seed"}, "--seed", "expected a value"},
        {{"--run", "--quiet"}, "--run", "expected a value"},
        {{"--target"}, "--target", "expected a value"},
        {{"--run="}, "--run", "found nothing"},
        {{"--attention="}, "--attention", "name"},
        {{"--quiet=yes"}, "--quiet", "takes no value"},
        {{"--loose=1"}, "--loose", "takes no value"},
        {{"--threads=0"}, "--threads", "from 1 to 4096, found \"0\""},
        {{"--threads=-1"}, "--threads", "-1"},
        {{"--threads=5000"}, "--threads", "4096"},
        {{"--threads=2x"}, "--threads", "2x"},
        {{"--seed=1.5"}, "--seed", "1.5"},
        {{"--seed="}, "--seed", "whole number"},
        {{"--steps=-1"}, "--steps: pretrain.steps: ", "from 0 to 1e+12, found \"-1\""},
        {{"--steps="}, "--steps: pretrain.steps: ", "found \"\""},
        {{"--layers", "2.5"}, "--layers: model.layers: ", "found \"2.5\""},
        {{"--layers"}, "--layers", "expected a value"},
        {{"--layer=2"}, "unknown option --layer;", "--layers"},
        {{"--seed=18446744073709551616"}, "--seed", "18446744073709551616"},
        {{"--device=cuda:"}, "--device", "found \"cuda:\""},
        {{"--device=cuda:123"}, "--device", "found \"cuda:123\""},
        {{"--device=gpu"}, "--device", "cpu, cuda, cuda:N or auto"},
        {{"--attention-impl=fast"}, "--attention-impl", "auto or generic, found \"fast\""},
        {{"--attention-impl="}, "--attention-impl", "auto or generic"},
        {{"--attention-imp=auto"}, "unknown option --attention-imp;", "--attention-impl"},
        {{"--preset=smokey"}, "--preset", "smokey"},
        {{"--set", "pretrain.stepz=1"}, "pretrain.stepz", "pretrain.steps"},
        {{"--set", "model.heads=5"}, "model.heads", "must divide"},
        {{"a", "b", "c"}, "unexpected argument \"c\"", "usage: try"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        bool done = true;
        assert_int_equal(parse(&done, bad[i].words[0], bad[i].words[1], bad[i].words[2], NULL),
                         ORR_EUSAGE);
        assert_false(done);
        error_names(bad[i].said, bad[i].also, NULL);
    }
}

/* An option that would have no effect is none, and is not suggested. */
TEST_BETWEEN(test_narrow, setup, teardown)
{
    bool done;
    tried = &narrow;
    assert_int_equal(parse(&done, "--device=cpu", NULL), ORR_EUSAGE);
    error_names("--device", "narrow has no such option", NULL);
    assert_int_equal(parse(&done, "--checkpoint", "a", NULL), ORR_EUSAGE);
    error_names("--checkpoint", "narrow has no such option", NULL);
    assert_int_equal(parse(&done, "--checkpoin", "a", NULL), ORR_EUSAGE);
    assert_null(strstr(orr_error(), "did you mean"));
    assert_int_equal(parse(&done, "--attention-impl", "generic", NULL), 0);
}

/* Writes the settings of a run, as the programs do. */
static void write_run(const char *run, const char *text)
{
    char path[4096];
    assert_int_equal(orr_mkdir(run), 0);
    assert_int_equal(orr_path(path, "%s/preset.json", run), 0);
    scratch_text(path, text);
}

/* Without --preset the settings are those of the run; --set changes them, --preset replaces. */
TEST_BETWEEN(test_settings_of_the_run, setup, teardown)
{
    bool done;
    write_run("r", "{\"name\": \"mine\", \"seed\": 12, \"pretrain\": {\"steps\": 3}}");
    assert_int_equal(parse(&done, "--run", "r", "--set", "pretrain.batch=5", NULL), 0);
    assert_string_equal(cli.settings.name, "mine");
    assert_true(cli.settings.seed == 12 && cli.settings.pretrain.steps == 3);
    assert_int_equal(cli.settings.pretrain.batch, 5);
    assert_int_equal(parse(&done, "--run", "r", "--preset", "quick", NULL), 0);
    assert_true(cli.settings.seed == 41 && cli.settings.pretrain.steps == 7);
    assert_int_equal(parse(&done, "--run", "none", NULL), 0);
    assert_string_equal(cli.settings.name, "quick");
    write_run("runs/quick", "{\"name\": \"quick\", \"seed\": 13}"); /* the default run */
    assert_int_equal(parse(&done, NULL), 0);
    assert_true(cli.settings.seed == 13);
    assert_string_equal(cli.run, "runs/quick");
    tried = &narrow; /* a table has settings of its own */
    assert_int_equal(parse(&done, "a.csv", NULL), 0);
    assert_string_equal(cli.settings.name, "mine");
    assert_true(cli.settings.seed == 0);
    tried = &program;
    write_run("r", "{\"seed\": ");
    assert_int_equal(parse(&done, "--run", "r", NULL), ORR_EUSAGE);
    error_names("r/preset.json", "JSON", NULL);
    assert_int_equal(orr_cli_save_preset(&cli, "s"), 0);
    scratch_remove("r");
    scratch_remove("s");
    scratch_remove("runs");
}

/* "auto" is decided once in a run; --attention adds to the list of its settings. */
TEST_BETWEEN(test_kept_by_the_run, setup, teardown)
{
    bool done;
    write_run("r", "{\"model\": {\"precision\": \"bf16\"}, \"attention\": [\"lssar\"]}");
    assert_int_equal(parse(&done, "--run", "r", "--preset", "quick", NULL), 0);
    assert_int_equal(cli.settings.model.precision, ORR_PRECISION_BF16);
    assert_int_equal(cli.settings.attention.count, 2); /* the preset's own */
    assert_int_equal(
        parse(&done, "--run", "r", "--preset", "quick", "--set", "model.precision=fp32", NULL), 0);
    assert_int_equal(cli.settings.model.precision, ORR_PRECISION_FP32);
    assert_int_equal(parse(&done, "--run", "none", NULL), 0);
    assert_int_equal(cli.settings.model.precision, ORR_PRECISION_AUTO);
    assert_int_equal(parse(&done, "--run", "r", "--attention", "softmax", NULL), 0);
    assert_int_equal(cli.settings.attention.count, 2);
    assert_string_equal(cli.settings.attention.item[0], "lssar"); /* the baseline's stays */
    assert_int_equal(parse(&done, "--run", "r", "--attention", "lssar", NULL), 0);
    assert_int_equal(cli.settings.attention.count, 1);
    scratch_remove("r");
}

/* A word far from every option gets no suggestion. */
TEST_BETWEEN(test_no_far_suggestion, setup, teardown)
{
    static const char *const words[] = {
        "--bogus", "--y",       "--x",
        "-q",      "--verbose", "--datadir",
        "--gpu",   "---",       "--a-rather-long-option-that-nobody-has"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        bool done;
        assert_int_equal(parse(&done, words[i], NULL), ORR_EUSAGE);
        error_names(words[i], "see --help", NULL);
        if (strstr(orr_error(), "did you mean"))
            fail_msg("a suggestion for nothing: %s", orr_error());
    }
}

/* What the parser prints to stdout, and its result. */
static char *printed(int *rc, bool *done, const char *a, const char *b)
{
    char path[4096], *text;
    scratch_path(path, dir, "stdout");
    fflush(stdout);
    const int kept = dup(1), file = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0600);
    dup2(file, 1);
    *rc = parse(done, a, b, NULL);
    fflush(stdout);
    dup2(kept, 1);
    close(kept);
    close(file);
    assert_int_equal(orr_file_read(path, &text, NULL), 0);
    return text;
}

TEST_BETWEEN(test_help_and_version, setup, teardown)
{
    static const char *const parts[] = {"Tries.",
                                        "usage: try [options] [FILE]",
                                        "--target COLUMN",
                                        "--loose",
                                        "--preset NAME|FILE",
                                        "--set KEY=VALUE",
                                        "--run DIR",
                                        "--out DIR",
                                        "--attention NAME",
                                        "--checkpoint FILE",
                                        "--device",
                                        "--threads N",
                                        "--seed N",
                                        "--resume",
                                        "--quiet",
                                        "--help",
                                        "--version",
                                        "orbits.bins",
                                        "tokens|continuous",
                                        "(whole number from 1 to 65532) [7000]",
                                        "[value in preset quick]",
                                        ("seed of every random stream (whole number from 0 to "
                                         "18446744073709551615) [41]")};
    int rc;
    bool done = false;
    char *help = printed(&rc, &done, "--help", "all");
    assert_true(rc == 0 && done);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (!strstr(help, parts[i]))
            fail_msg("--help lacks \"%s\"", parts[i]);
    assert_null(strstr(help, "pretrain.steps")); /* not one of the program's groups */
    free(help);
    done = false;
    char *version = printed(&rc, &done, "--version", "--preset=not_there");
    assert_true(rc == 0 && done);
    assert_string_equal(version, "orrery try " ORR_VERSION "\n");
    free(version);
    char *nothing = printed(&rc, &done, "--help", "--bogus");
    assert_int_equal(rc, ORR_EUSAGE);
    assert_false(done);
    assert_string_equal(nothing, "");
    free(nothing);
}

/* --help names the usual options and settings, in lines of 80 columns. */
TEST_BETWEEN(test_short_help, setup, teardown)
{
    struct orr_program few = program;
    int rc;
    bool done = false;
    few.usual = "--loose,--out,orbits.law,seed";
    tried = &few;
    char *help = printed(&rc, &done, "-h", NULL);
    assert_true(rc == 0 && done);
    assert_non_null(strstr(help, "\n  --loose "));
    assert_non_null(strstr(help, "\n  -o, --out DIR "));
    assert_null(strstr(help, "--target"));
    assert_non_null(strstr(help, "\n  seed "));
    assert_non_null(strstr(help, "\n  orbits.law "));
    assert_null(strstr(help, "orbits.bins"));
    assert_non_null(strstr(help, "--help all"));
    for (const char *line = help; *line; line += strcspn(line, "\n"), line += *line == '\n')
        if (strcspn(line, "\n") > 80)
            fail_msg("a long line: %.200s", line);
    free(help);
}

/* The values in --help are those that the other arguments come to. */
TEST_BETWEEN(test_help_has_values_in_effect, setup, teardown)
{
    static const struct {
        const char *words[2], *line;
    } shown[] = {
        {{"--help=all", NULL}, "18446744073709551615) [41]\n"},
        {{"--set=seed=5", "--help=all"}, "18446744073709551615) [5]\n"},
        {{"--preset=mine", "--help=all"}, "18446744073709551615) [0]\n"},
        {{"--preset=mine", "--help=all"}, "[value in preset mine]"},
        {{"--run=r", "--help=all"}, "[value in r/preset.json]"},
        {{"--run=r", "--help=all"}, "18446744073709551615) [13]\n"},
        {{"--preset=none", "--help=all"}, "[value in preset defaults]"},
    };
    write_run("r", "{\"name\": \"quick\", \"seed\": 13}");
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
        int rc;
        bool done = false;
        char *help = printed(&rc, &done, shown[i].words[0], shown[i].words[1]);
        assert_true(rc == 0 && done);
        if (!strstr(help, shown[i].line))
            fail_msg("case %zu: no \"%s\" in %s", i, shown[i].line, help);
        free(help);
    }
    scratch_remove("r");
}

TEST_BETWEEN(test_letters, setup, teardown)
{
    bool done;
    assert_int_equal(parse(&done, "-o", "x", NULL), 0);
    assert_string_equal(cli.out, "x");
    assert_int_equal(parse(&done, "-o=y", NULL), 0);
    assert_string_equal(cli.out, "y");
    assert_int_equal(parse(&done, "-ox", NULL), ORR_EUSAGE);
    assert_int_equal(parse(&done, "-hx", NULL), ORR_EUSAGE);
}

TESTS(NULL, NULL)
