/* cli.h - the command line that all programs share, their main(), and jobs side by side. */
#ifndef ORR_CLI_H
#define ORR_CLI_H

#include <stdbool.h>
#include <stddef.h>

#include "settings.h"

/* The options that programs share.
 *
 * Settings are those of --preset; without it, those of the run (<run>/preset.json) where it has
 * any, else of the preset quick. --set and --seed change them. Where model.precision is auto, the
 * run's own stays. --attention chooses one variant to work on: it is added to the list of the
 * settings where it is not in it, and the list stays the list of the run. */
enum { ORR_SETTINGS_GIVEN = 256 }; /* by --set, and by options of settings, at most */
struct orr_cli {
    struct orr_settings preset; /* file, --set, then options of settings: merged */
    char run[4096];             /* --run DIR, default runs/<preset name> */
    char out[4096];             /* --out DIR, "" when not given */
    char attention[64];         /* --attention NAME, "" when not given: all of the settings */
    bool attention_added;       /* it is not of the settings, whose list now ends with it */
    char checkpoint[4096];      /* --checkpoint FILE, "" when not given */
    enum orr_device device;     /* --device; auto: as the preset says */
    int device_number;          /* --device cuda:N, 0 to 99; -1 when not given */
    int threads;                /* --threads N, default orr_cores() */
    bool generic_attention;     /* --attention-impl generic */
    bool preset_given, seed_given, set_given, run_given, threads_given, resume, plan, quiet;
    int setting_count; /* of --set, KEY=VALUE */
    const char *settings[ORR_SETTINGS_GIVEN];
    int argc_rest; /* positional arguments, in order */
    const char *argv_rest[1024];
};
/* A program's own options, beside the common ones. */
struct orr_option {
    const char *name;       /* "--target" */
    const char *value_name; /* "COLUMN"; NULL for a flag */
    const char *help;
    const char **value; /* where the text goes (flags: set to "1"); NULL: nowhere */
    const char *key;    /* the setting that it sets, "symreg.maxsize", NULL: none. As by --set, with
                           the same errors under the option's name, and it stands above --set. */
};
struct orr_program {
    const char *name;                 /* "symreg" */
    const char *purpose;              /* one line */
    const char *usage;                /* "symreg [options] [FILE.csv]" */
    const struct orr_option *options; /* own options, ended by name == NULL; may be NULL */
    int max_rest;                     /* positional arguments allowed */
    const char *groups;               /* preset groups listed by --help: "orbits,planets" */
    bool resumes;                     /* when stopped, --resume goes on: the command is printed */
    bool stops_well;                  /* when stopped, everything is saved: exit status 0;
                                         so it always is at a time limit */
    const char *rest_preset;          /* default preset with positional arguments, NULL = quick */
    const char *rest_ignores;         /* groups and keys that have no effect with these: refused in
                                         --set; may be NULL */
    int (*settle)(int rc);            /* of a program whose processes are ranks of a job: given what
                                         the command line came to, then what the work came to, it
                                         returns what counts for all; may be NULL */
    const char *without;              /* common options that it does not have: "--device,--plan" */
    const char *usual; /* options and settings that --help names, "--run,model.width";
                                         --help all names all; NULL: all options, no settings */
};
/* Parses everything, loads the preset, applies --set, validates. --help (-h) and --version print
 * and set *done; --help shows the settings that the other arguments come to. Unknown options, keys
 * and values: ORR_EUSAGE with the nearest valid name. Creates nothing on disk. */
int orr_cli_parse(const struct orr_program *program, int argc, char **argv, struct orr_cli *cli,
                  bool *done);

/* Whether a --set gives this setting. */
bool orr_cli_sets(const struct orr_cli *cli, const char *setting);
/* Whether --attention leaves this variant in. */
bool orr_cli_wants(const struct orr_cli *cli, const char *attention);
/* Writes the settings to <run>/preset.json: those of the last command that makes something in the
 * run. */
int orr_cli_save_preset(const struct orr_cli *cli, const char *run);

/* Threads that wait sleep after a moment, instead of keeping the cores from other work: OpenMP's
 * library learns that from the environment when it is loaded, so that the program replaces itself
 * by itself with the variables set, once, before anything else. Where the user has set how threads
 * wait, or it cannot be started again, nothing happens. orr_main() does this; a main() that starts
 * something before it, too. */
void orr_threads_sleep(char **argv);

/* The whole of main(): parses, catches signals, turns GSL's abort off, runs, reports what went
 * wrong and returns the exit status. `run` is not called when only --help or --version were asked
 * for. When `run` was stopped by a signal (ORR_EINTR) the status is 128 + the signal, or 0 of a
 * program that stops well: what follows it must then look at what it left. */
int orr_main(const struct orr_program *program, int argc, char **argv,
             int (*run)(const struct orr_cli *cli));

/* A command line for the same shell and folder, in one line and quoted: of the running program,
 * all its arguments (options NULL), or of its neighbour `name` with those of its arguments that
 * are named in options (ended by NULL), and --resume at the end. For use inside orr_main(). */
enum { ORR_COMMAND = 16384 };
void orr_command(const char *name, const char *const *options, char *text, size_t bytes);
/* The command by which another program makes its part of the same run: with --preset, --set, --run,
 * --seed, --orbits and --attention of this one. */
void orr_command_of_run(const char *name, char text[ORR_COMMAND]);
/* Appends a space and an argument, as a shell takes it: in quotes where it has to be. */
void orr_command_add(char *text, size_t bytes, const char *argument);

/* Runs the program itself once per job, with all of its arguments but `option` and --threads, then
 * `option name[i] --threads K`; as many at a time as there are threads, which they share. Each job
 * prints what it has to say, progress as lines. Signals are passed on, and a job ends when this
 * process is killed. After a failure, or a signal (ORR_EINTR), no further job begins. For use
 * inside orr_main(). */
int orr_jobs_run(const char *option, const char *const name[], int count, int threads);
/* Makes such a job end with its caller. */
void orr_job_follow(void);

#endif
