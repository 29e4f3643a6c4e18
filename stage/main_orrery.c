/* main_orrery.c - bin/orrery: every program under one name, and the stages of a run in order.
 *
 * `orrery world PRESET=quick RUN=DIR` takes the variables that make takes and runs the commands of
 * `make world`. The makefile passes its variables to `orrery stage NAME`, so that the command lines
 * of the stages are defined only here. */
#include "base/data.h"
#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "base/version.h"
#include "cli.h"
#include "program.h"
#include "sweep.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* ------------------------------------------------------------------------------- variables */

enum word { PRESET, RUN, SET, ATTENTION, ORBITS_DIR, THREADS, DEVICE, MINUTES, FORCE, WORDS };
static const char *const word_name[WORDS] = {
    "PRESET", "RUN", "SET", "ATTENTION", "ORBITS_DIR", "THREADS", "DEVICE", "MINUTES", "FORCE"};

/* The options of a stage, by variable; FORCE is a flag. */
struct option {
    enum word word;
    const char *option;
};
static const struct option of_orbits[] = {{RUN, "--resume"},
                                          {THREADS, "--threads"},
                                          {ORBITS_DIR, "--out"},
                                          {FORCE, "--force"},
                                          {WORDS, NULL}},
                           of_training[] = {{ATTENTION, "--attention"}, {ORBITS_DIR, "--orbits"},
                                            {RUN, "--resume"},          {THREADS, "--threads"},
                                            {DEVICE, "--device"},       {MINUTES, "--minutes"},
                                            {FORCE, "--force"},         {WORDS, NULL}},
                           of_symreg[] = {{ATTENTION, "--attention"},
                                          {ORBITS_DIR, "--orbits"},
                                          {RUN, "--resume"},
                                          {THREADS, "--threads"},
                                          {WORDS, NULL}},
                           of_figures[] = {{ATTENTION, "--attention"},
                                           {ORBITS_DIR, "--orbits"},
                                           {RUN, "--resume"},
                                           {WORDS, NULL}},
                           of_probe[] = {{ATTENTION, "--attention"},
                                         {ORBITS_DIR, "--orbits"},
                                         {THREADS, "--threads"},
                                         {DEVICE, "--device"},
                                         {WORDS, NULL}};
/* A stage, or the probe of attention: its program and its first argument. */
static const struct stage {
    const char *name, *program, *first;
    const struct option *options;
} stages[] = {
    {"orbits", "orbits", NULL, of_orbits},       {"pretrain", "pretrain", NULL, of_training},
    {"finetune", "finetune", NULL, of_training}, {"symreg", "laws", NULL, of_symreg},
    {"figures", "report", NULL, of_figures},     {"probe", "probe", "attention", of_probe}};
enum { ALL = sizeof stages / sizeof *stages, IN_WORLD = ALL - 1, ARGUMENTS = 640, TEXT = 16384 };

static const char *const programs[] = {"orbits",  "pretrain", "finetune", "symreg",
                                       "laws",    "probe",    "compare",  "report",
                                       "verdict", "sample",   "judge",    "lab"};

static void print_help(void)
{
    printf("Runs the programs of Orrery, and the stages of a run in their order.\n\n"
           "usage: orrery PROGRAM [options]        orbits, pretrain, finetune, symreg, laws,\n"
           "                                       probe, compare, report, sample\n"
           "       orrery judge --run RUN --answers DIR [--untrained DIR]\n"
           "                                       a card (docs/exchange.md)\n"
           "       orrery lab --run RUN [--out FILE.html]    the orbit lab (docs/lab.md)\n"
           "       orrery world [WORD=VALUE ...]   all stages of a run, each making what is\n"
           "                                       not up to date\n"
           "       orrery plan [WORD=VALUE ...]    what they would keep or make, and why\n"
           "       orrery stage NAME [WORD=VALUE ...]    one stage: orbits, pretrain,\n"
           "                                       finetune, symreg, figures; or probe,\n"
           "                                       which draws the attention of a run\n"
           "       orrery check                    a small world in a temporary folder,\n"
           "                                       to see that all is there\n"
           "       orrery watch RUN [FILE.png]     the losses of the training under way\n"
           "       orrery sweep GRID [WORD=VALUE ...]   the runs of a grid, several at once\n"
           "       orrery cells GRID [--folders] [WORD=VALUE ...]    its runs as commands\n"
           "\nwords, as make takes them:\n"
           "  PRESET=NAME|FILE   settings (default: those of the run at RUN, else quick)\n"
           "  RUN=DIR            folder of the results (default runs/<preset>)\n"
           "  SET='KEY=VALUE ...'    settings that are changed\n"
           "  ATTENTION=NAME     only this attention variant\n"
           "  ORBITS_DIR=DIR     data sets, shared between runs\n"
           "  THREADS=N          threads (default: all usable cores)\n"
           "  DEVICE=cpu|cuda|cuda:N|auto    where to compute\n"
           "  MINUTES=N          pretrain and finetune end after so many, with all saved\n"
           "  FORCE=1            replaces data sets and trainings of other settings\n"
           "of sweep and cells, also as variables of the environment:\n"
           "  RUNS=DIR           folder of the runs (default runs)\n"
           "  JOBS=N             cells at a time (default: all usable cores)\n"
           "  PART=I/N           every N-th cell, from the I-th on, for N machines\n"
           "  KEPT=DIR           leaves out cells with a result DIR/FOLDER/CELL.json\n"
           "  THREADS=N          of each program (default 1)\n"
           "\noptions:\n"
           "  -h, --help                     this text\n"
           "  --version                      the version\n");
}

/* A word as a user may have written it, "preset" or "--orbits-dir", in the letters of words. */
static void as_word(const char *argument, char name[32])
{
    const char *from = strncmp(argument, "--", 2) != 0 ? argument : argument + 2;
    size_t i = 0;
    for (; i < 31 && from[i] && from[i] != '='; i++)
        name[i] = from[i] >= 'a' && from[i] <= 'z' ? (char)(from[i] - 'a' + 'A')
                  : from[i] == '-'                 ? '_'
                                                   : from[i];
    name[i] = '\0';
}

static int refuse_word(const char *argument)
{
    struct orr_nearest nearest = {0};
    char name[32], list[128] = "";
    as_word(argument, name);
    for (int w = 0; w < WORDS; w++) {
        orr_append(list, sizeof list, "%s%s", w ? ", " : "", word_name[w]);
        orr_nearest_offer(&nearest, name, word_name[w]);
    }
    if (nearest.name)
        return ORR_FAIL(ORR_EUSAGE,
                        "\"%.100s\": expected WORD=VALUE; did you mean %s=...?; see "
                        "--help",
                        argument, nearest.name);
    return ORR_FAIL(ORR_EUSAGE,
                    "\"%.100s\": expected WORD=VALUE, where WORD is one of %s; see "
                    "--help",
                    argument, list);
}

static int take_words(const char *value[WORDS], int count, char *const *argument)
{
    for (int i = 0; i < count; i++) {
        const size_t length = strcspn(argument[i], "=");
        int w = 0;
        while (w < WORDS && (strlen(word_name[w]) != length || !argument[i][length] ||
                             strncmp(argument[i], word_name[w], length) != 0))
            w++;
        if (w == WORDS)
            return refuse_word(argument[i]);
        value[w] = argument[i][length + 1] ? argument[i] + length + 1 : NULL;
    }
    if (value[FORCE] && strcmp(value[FORCE], "0") != 0 && strcmp(value[FORCE], "1") != 0)
        return ORR_FAIL(ORR_EUSAGE, "FORCE: expected 1 or 0, found \"%.100s\"", value[FORCE]);
    if (value[FORCE] && !strcmp(value[FORCE], "0"))
        value[FORCE] = NULL;
    return 0;
}

/* The default run, runs/<preset>. A preset may be a path ending in .json. */
static int default_run(const char *preset, char run[4096])
{
    const char *base = strrchr(preset, '/');
    base = base ? base + 1 : preset;
    size_t length = strlen(base);
    if (orr_ends_in(base, ".json"))
        length -= strlen(".json");
    return orr_path(run, "runs/%.*s", (int)length, base);
}

/* ------------------------------------------------------------------------ command lines */

struct command {
    char program[4096], run[4096];
    char *set; /* the words of SET, each ended by 0 */
    const char *argv[ARGUMENTS];
    int argc;
};

static int add_argument(struct command *c, const char *argument)
{
    if (c->argc + 1 >= ARGUMENTS)
        return ORR_FAIL(ORR_EUSAGE, "SET: at most %d settings", ORR_SETTINGS_GIVEN);
    c->argv[c->argc++] = argument;
    c->argv[c->argc] = NULL;
    return 0;
}

static int add_settings(struct command *c, const char *set)
{
    c->set = strdup(set ? set : "");
    if (!c->set)
        return ORR_FAIL(ORR_ENOMEM, "out of memory");
    char *rest = NULL;
    for (char *one = strtok_r(c->set, " \t\n", &rest); one; one = strtok_r(NULL, " \t\n", &rest)) {
        TRY(add_argument(c, "--set"));
        TRY(add_argument(c, one));
    }
    return 0;
}

/* Whether the run has a preset.json, which its programs use if no preset is given. */
static bool has_settings(const char *run)
{
    char path[4096];
    const bool has = !orr_path(path, "%s/preset.json", run) && orr_exists(path);
    orr_error_clear();
    return has;
}

/* Makes the command of a stage; free c->set. */
static int make_command(struct command *c, const char *self, const struct stage *stage,
                        const char *const value[WORDS], bool plan)
{
    const char *preset = value[PRESET] ? value[PRESET] : "quick";
    c->argc = 0;
    TRY(orr_program_of_orrery(self, stage->program, c->program));
    TRY(value[RUN] ? orr_path(c->run, "%s", value[RUN]) : default_run(preset, c->run));
    const bool its_own = !value[PRESET] && value[RUN] && has_settings(c->run);
    const char *const begin[] = {
        c->program, stage->first, its_own ? NULL : "--preset", its_own ? NULL : preset,
        "--run",    c->run};
    for (size_t i = 0; i < sizeof begin / sizeof *begin; i++)
        TRY(begin[i] ? add_argument(c, begin[i]) : 0);
    TRY(add_settings(c, value[SET]));
    for (const struct option *o = stage->options; o->option; o++) {
        const enum word w = o->word;
        if (w != RUN && !value[w])
            continue;
        TRY(add_argument(c, o->option));
        TRY(w == RUN || w == FORCE ? 0 : add_argument(c, value[w]));
    }
    return plan ? add_argument(c, "--plan") : 0;
}

/* ---------------------------------------------------------------------------- processes */

static volatile sig_atomic_t child, stopped_by;

/* A terminal sends SIGINT to the child as well; other signals are passed on, as make does. */
static void on_signal(int number)
{
    stopped_by = number;
    if (child > 0 && number != SIGINT)
        kill((pid_t)child, number);
}

static void catch_signals(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        (void)sigaction(numbers[i], &action, NULL);
}

static int spawn_program(const char *const *argv, bool hidden, pid_t *pid)
{
    posix_spawn_file_actions_t files;
    int error = posix_spawn_file_actions_init(&files);
    if (error)
        return error;
    for (int stream = STDOUT_FILENO; hidden && stream <= STDERR_FILENO && !error; stream++)
        error = posix_spawn_file_actions_addopen(&files, stream, "/dev/null", O_WRONLY, 0);
    if (!error)
        error = posix_spawnp(pid, argv[0], &files, NULL, (char *const *)(uintptr_t)argv, environ);
    posix_spawn_file_actions_destroy(&files);
    return error;
}

/* Runs a command until it ends. *status: its exit status as a shell reports it. hidden: discards
 * its output. */
static int run_command(const char *const *argv, bool hidden, int *status)
{
    pid_t pid = 0;
    int ended = 0;
    const int error = spawn_program(argv, hidden, &pid);
    if (error)
        return ORR_FAIL(error == ENOENT ? ORR_EMISSING : ORR_EIO, "%s: cannot be run: %s", argv[0],
                        strerror(error));
    child = pid;
    while (waitpid(pid, &ended, 0) < 0)
        if (errno != EINTR)
            return ORR_FAIL(ORR_EIO, "%s: waitpid: %s", argv[0], strerror(errno));
    child = 0;
    *status = WIFSIGNALED(ended) ? 128 + WTERMSIG(ended) : WEXITSTATUS(ended);
    if (!*status && stopped_by) /* stopped, all saved: later stages must not begin */
        *status = 128 + stopped_by;
    return 0;
}

/* Runs a stage with --plan, which makes nothing. */
static int try_plan(const char *self, const struct stage *stage, const char *const value[WORDS],
                    bool hidden, int *status)
{
    struct command *c = calloc(1, sizeof *c);
    int rc = c ? 0 : ORR_FAIL(ORR_ENOMEM, "out of memory");
    if (!rc)
        rc = make_command(c, self, stage, value, true);
    if (!rc)
        rc = run_command(c->argv, hidden, status);
    if (c)
        free(c->set);
    free(c);
    return rc;
}

/* Before data sets are made, refuses variables that training refuses and data sets do not, such as
 * an unknown attention variant. *status: exit status of the refusal. */
static int check_words(const char *self, const char *const value[WORDS], int *status)
{
    enum { ORBITS, PRETRAIN, REFUSED = 2 };
    int orbits = 0, pretrain = 0;
    TRY(try_plan(self, &stages[PRETRAIN], value, true, &pretrain));
    if (pretrain == REFUSED)
        TRY(try_plan(self, &stages[ORBITS], value, true, &orbits));
    return pretrain == REFUSED && orbits != REFUSED
               ? try_plan(self, &stages[PRETRAIN], value, false, status)
               : 0;
}

/* Runs all stages in order, up to the first that fails. */
static int run_stages(const char *self, const char *const value[WORDS], bool plan, int *status)
{
    struct command *c = calloc(1, sizeof *c);
    char *text = malloc(TEXT);
    int rc = c && text ? 0 : ORR_FAIL(ORR_ENOMEM, "out of memory");
    catch_signals();
    if (!rc)
        rc = check_words(self, value, status);
    for (int s = 0; s < IN_WORLD && !rc && !*status; s++) {
        rc = make_command(c, self, &stages[s], value, plan);
        *text = '\0';
        for (int i = 0; i < c->argc && !rc; i++)
            orr_command_add(text, TEXT, c->argv[i]);
        if (!rc && !plan)
            fprintf(stderr, "%s\n", text);
        if (!rc)
            rc = run_command(c->argv, false, status);
        free(c->set);
        c->set = NULL;
    }
    free(text);
    free(c);
    return rc;
}

/* ----------------------------------------------------------------------------- commands */

static int one_stage(const char *self, int count, char *const *argument, int *status)
{
    const char *value[WORDS] = {NULL};
    const struct stage *stage = NULL;
    for (int s = 0; s < ALL && count && !stage; s++)
        if (!strcmp(argument[0], stages[s].name))
            stage = &stages[s];
    if (!stage)
        return ORR_FAIL(ORR_EUSAGE,
                        "stage: expected orbits, pretrain, finetune, symreg, figures or probe, "
                        "found \"%.100s\"",
                        count ? argument[0] : "");
    TRY(take_words(value, count - 1, argument + 1));
    TRY(stage == stages ? check_words(self, value, status) : 0);
    if (*status)
        return 0;
    struct command *c = calloc(1, sizeof *c);
    int rc = c ? 0 : ORR_FAIL(ORR_ENOMEM, "out of memory");
    if (!rc)
        rc = make_command(c, self, stage, value, false);
    if (!rc)
        rc = orr_program_exec(c->program, c->argv);
    if (c)
        free(c->set);
    free(c);
    return rc;
}

/* Runs a world of the preset smoke in a temporary folder. */
static int run_check(const char *self, int *status)
{
    char folder[4096], run[4096], page[4096];
    const char *temporary = getenv("TMPDIR"), *value[WORDS] = {[PRESET] = "smoke", [RUN] = run};
    int removed = 0;
    TRY(orr_path(folder, "%s/orrery-check-XXXXXX", temporary && *temporary ? temporary : "/tmp"));
    if (!mkdtemp(folder))
        return ORR_FAIL(ORR_EIO, "%s: cannot make this folder: %s", folder, strerror(errno));
    int rc = orr_path(run, "%s/run", folder);
    if (!rc)
        rc = run_stages(self, value, false, status);
    if (!rc && !*status)
        rc = orr_path(page, "%s/report.html", run);
    if (!rc && !*status && !orr_exists(page))
        rc = ORR_FAIL(ORR_EMISSING, "%s: the stages ended well, but there is no page", page);
    const char *const remove[] = {"rm", "-rf", "--", folder, NULL};
    stopped_by = 0;
    const int cleaned = run_command(remove, false, &removed);
    if (!rc && !*status && !cleaned)
        printf("orrery check: every stage ran\n");
    return rc ? rc : cleaned;
}

/* Errors of the program that does a command name the command, which is what was typed. */
static int name_command(const char *name)
{
    return setenv("ORRERY_COMMAND", name, 1) ? ORR_FAIL(ORR_ENOMEM, "out of memory") : 0;
}

/* Becomes `compare losses RUN --follow`; a RUN that begins with "-" is no option. */
static int run_watch(const char *self, int count, char *const *argument)
{
    char compare[4096], run[4096], picture[4096] = "";
    if (count < 1 || count > 2 || !*argument[0])
        return ORR_FAIL(ORR_EUSAGE, "watch: expected RUN [FILE.png]");
    TRY(orr_path(run, "%s%s", *argument[0] == '-' ? "./" : "", argument[0]));
    if (count > 1)
        TRY(orr_path(picture, "%s%s", *argument[1] == '-' ? "./" : "", argument[1]));
    const char *const argv[] = {compare, "losses", run, "--follow", *picture ? "--out" : NULL,
                                picture, NULL};
    TRY(orr_program_of_orrery(self, "compare", compare));
    TRY(name_command("watch"));
    return orr_program_exec(compare, argv);
}

/* Commands of programs that are easily taken for commands of this one. */
static const struct {
    const char *name, *program;
} inner[] = {{"motion", "symreg"},   {"orbit", "symreg"},    {"predict", "symreg"},
             {"simulate", "symreg"}, {"import", "orbits"},   {"verify", "orbits"},
             {"show", "orbits"},     {"export", "orbits"},   {"runs", "compare"},
             {"seeds", "compare"},   {"effects", "compare"}, {"losses", "compare"}};

static int refuse_command(const char *name)
{
    static const char *const others[] = {"world", "plan",  "stage", "check",
                                         "watch", "cells", "sweep"};
    struct orr_nearest nearest = {0};
    for (size_t i = 0; i < sizeof inner / sizeof *inner; i++)
        if (!strcmp(name, inner[i].name))
            return ORR_FAIL(ORR_EUSAGE, "unknown command \"%s\"; did you mean %s %s?; see --help",
                            name, inner[i].program, name);
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        orr_nearest_offer(&nearest, name, programs[i]);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        orr_nearest_offer(&nearest, name, others[i]);
    return ORR_FAIL(ORR_EUSAGE, "unknown command \"%.100s\"%s%s%s; see --help", name,
                    nearest.name ? "; did you mean " : "", nearest.name ? nearest.name : "",
                    nearest.name ? "?" : "");
}

static int run_program(const char *name, const char *self, char **argument)
{
    static char path[4096];
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        if (!strcmp(name, programs[i])) {
            /* `judge ...` is `probe judge ...` */
            const bool probes = !strcmp(name, "judge") || !strcmp(name, "lab");
            TRY(orr_program_of_orrery(self, probes ? "probe" : name, path));
            TRY(probes ? name_command(name) : 0);
            if (!strcmp(name, "verdict") && !orr_exists(path))
                return ORR_FAIL(ORR_EMISSING,
                                "%s: not installed; the study's program is with "
                                "make install INSTALL_STUDY=1",
                                path);
            argument -= probes;
            argument[-1] = path;
            return orr_program_exec(path, (const char *const *)(uintptr_t)(argument - 1));
        }
    }
    return refuse_command(name);
}

static bool asks_for_help(const char *argument)
{
    return !strcmp(argument, "--help") || !strcmp(argument, "-h") || !strcmp(argument, "help");
}

/* Also behind a command of this program; programs have texts of their own. */
static bool wants_help(int argc, char *const *argv)
{
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        if (argc > 1 && !strcmp(argv[1], programs[i]))
            return false;
    return argc < 2 || asks_for_help(argv[1]) ||
           (argc > 2 && (asks_for_help(argv[2]) || asks_for_help(argv[argc - 1])));
}

static int dispatch_command(int argc, char **argv, int *status)
{
    const char *name = argc > 1 ? argv[1] : "", *value[WORDS] = {NULL};
    const bool plan = !strcmp(name, "plan");
    if (wants_help(argc, argv))
        print_help();
    else if (!strcmp(name, "--version"))
        printf("orrery %s\n", ORR_VERSION);
    else if (!strcmp(name, "stage"))
        return one_stage(argv[0], argc - 2, argv + 2, status);
    else if (plan || !strcmp(name, "world")) {
        TRY(take_words(value, argc - 2, argv + 2));
        return run_stages(argv[0], value, plan, status);
    } else if (!strcmp(name, "check"))
        return argc > 2 ? ORR_FAIL(ORR_EUSAGE, "check: unexpected argument \"%.100s\"", argv[2])
                        : run_check(argv[0], status);
    else if (!strcmp(name, "watch"))
        return run_watch(argv[0], argc - 2, argv + 2);
    else if (!strcmp(name, "cells"))
        return orr_cells_command(argv[0], argc - 2, argv + 2);
    else if (!strcmp(name, "sweep"))
        return orr_sweep_command(argv[0], argc - 2, argv + 2, status);
    else if (!strcmp(name, "share"))
        return orr_share_command(argc - 2, argv + 2, status);
    else
        return run_program(name, argv[0], argv + 2);
    return 0;
}

int main(int argc, char **argv)
{
    int status = 0;
    const int rc = dispatch_command(argc, argv, &status);
    return rc || !status ? orr_error_exit("orrery", rc) : status;
}
