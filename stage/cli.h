/* cli.h - the command line that all programs share, their main(), and parallel jobs. */
#ifndef ORR_CLI_H
#define ORR_CLI_H

#include <stdbool.h>
#include <stddef.h>

#include "settings.h"

/* The options that programs share.
 *
 * Settings are read from --preset; without it, from the run (<run>/preset.json), else from the
 * preset quick. --set and --seed change them. A model.precision of auto keeps the precision that
 * the run has already chosen. --attention selects one variant; it is added to the settings' list if
 * it is not in it, and the run's list does not change. */
enum { ORR_SETTINGS_GIVEN = 256 }; /* maximum number of settings by --set and by options */
struct orr_cli {
    struct orr_settings settings; /* file, --set, then options of settings: merged */
    char run[4096];               /* --run DIR, default runs/<preset name> */
    char out[4096];               /* --out DIR, "" when not given */
    char attention[64];           /* --attention NAME, "" when not given: all variants */
    bool attention_added;         /* --attention is not in the settings' list and was added at its
                                   end */
    char checkpoint[4096];        /* --checkpoint FILE, "" when not given */
    enum orr_device device;       /* --device; auto: the preset decides */
    int device_number;            /* --device cuda:N, 0 to 99; -1 when not given */
    int threads;                  /* --threads N, default orr_cores() */
    bool generic_attention;       /* --attention-impl generic */
    bool preset_given, seed_given, set_given, run_given, threads_given, resume, plan, quiet;
    int set_texts; /* number of --set KEY=VALUE */
    const char *set_text[ORR_SETTINGS_GIVEN];
    int argc_rest; /* number of positional arguments, in order */
    const char *argv_rest[1024];
};
/* A program's own options, beside the common ones. */
struct orr_option {
    const char *name;       /* "--target" */
    const char *value_name; /* "COLUMN"; NULL for a flag */
    const char *help;
    const char **value; /* receives the text (flags: "1"); NULL: nowhere */
    const char *key;    /* the setting that the option sets, "symreg.maxsize"; NULL: none. Overrides
                           --set; errors name the option */
};
/* What a program does, by the word that its arguments begin with, `symreg motion`, or by an option
 * that replaces what it does else, `report --body`: a row each. An option that some rows take
 * belongs to these alone, one that no row takes to all. */
struct orr_command {
    const char *name; /* the word; an option, whose value is NULL where it is not given; "": without
                          either; "*": with any other first argument */
    const char *what; /* in messages, "symreg motion TRACKS.csv" */
    const char *takes; /* options, "--time,--body"; NULL: none that belong to others */
    int (*run)(const struct orr_cli *cli);
    const char *program; /* the program beside this one that does it in place of `run`, with all
                            arguments; NULL: this one */
    const char *usual;   /* what its --help lists in place of the program's `usual`; NULL: that */
    bool old;            /* found for one release more, but in no list */
    bool alone;          /* it takes no option but these, --out, --quiet and --help */
    int words;           /* most arguments, a word's name included; 0: as many as the program takes;
                            ORR_NO_WORDS: none */
    const char *usage, *purpose; /* of its --help, as `usual` */
};
enum { ORR_NO_WORDS = -1 };
struct orr_program {
    const char *name;                 /* "symreg" */
    const char *purpose;              /* one line */
    const char *usage;                /* "symreg [options] [FILE.csv]" */
    const struct orr_option *options; /* own options, ended by name == NULL; may be NULL */
    int max_rest;                     /* most positional arguments allowed */
    const char *groups;               /* preset groups listed by --help: "orbits,planets" */
    bool resumes;                     /* a stopped run continues with --resume: its command is
                                         printed */
    bool stops_well;                  /* a stop saves everything: exit status 0; always so at a time
                                         limit */
    const char *rest_preset;          /* default preset with positional arguments; NULL: quick */
    const char *rest_ignores;         /* groups and keys without effect on positional arguments:
                                         refused in --set; may be NULL */
    int (*settle)(int rc);            /* for programs whose processes are ranks of a job: takes the
                                         result of the command line, then of the work, and returns
                                         the result that all ranks share; may be NULL */
    bool makes_orbits;                /* without arguments, --out names the folder of data sets */
    const char *without;              /* common options that the program lacks: "--device,--plan" */
    const char *usual; /* options and settings that --help lists, "--run,model.width"; --help all
                          lists all; NULL: all options, no settings */
    const struct orr_command *commands; /* ended by name == NULL; may be NULL */
};
/* Finds the command of the arguments, of several options the first row's, checks that it takes the
 * options that are given, and runs it. ORR_EUSAGE names an option that belongs to others, or an
 * unknown word with the nearest one. */
int orr_command_run(const struct orr_program *program, const struct orr_cli *cli);
/* Parses all arguments, loads the preset, applies --set and validates. --help (-h) and --version
 * print and set *done; --help shows the settings that result from the other arguments. A command
 * that another program does is handed over to that before any file is read; the process is then the
 * other program. ORR_EUSAGE for unknown options, keys and values, with the nearest valid name.
 * Creates nothing on disk. */
int orr_cli_parse(const struct orr_program *program, int argc, char **argv, struct orr_cli *cli,
                  bool *done);

/* Whether --set gives this setting. */
bool orr_cli_sets(const struct orr_cli *cli, const char *setting);
/* Whether --attention selects this variant, or is not given. */
bool orr_cli_wants(const struct orr_cli *cli, const char *attention);
/* Writes the folder of the data sets into path[4096]: `orbits`, the value of --orbits, unless it is
 * NULL or ""; then the tracks that the run reads, else <run>/orbits. */
int orr_cli_orbits(const struct orr_cli *cli, const char *orbits, char path[4096]);
/* Writes the settings to <run>/preset.json, which holds those of the last command that wrote into
 * the run. */
int orr_cli_save_preset(const struct orr_cli *cli, const char *run);

/* Makes waiting OpenMP threads sleep after a moment instead of occupying cores. OpenMP reads this
 * from the environment when it is loaded, so the program sets the variables and executes itself
 * again, once, before anything else. Does nothing if the user has set how threads wait, or if the
 * program cannot be executed again. orr_main() calls this; a main() that starts something earlier
 * must call it itself. */
void orr_threads_sleep(char **argv);

/* The whole of main(): parses, catches signals, disables GSL's abort handler, calls `run`, reports
 * errors and returns the exit status. `run` is not called for --help or --version. If a signal
 * stopped `run` (ORR_EINTR), the status is 128 + the signal, or 0 for a program with stops_well;
 * later commands must then check what was written. */
int orr_main(const struct orr_program *program, int argc, char **argv,
             int (*run)(const struct orr_cli *cli));

/* Writes a quoted command line for the same shell and folder: of the running program with all its
 * arguments (options NULL), or of the program `name` beside it with the arguments that `options`
 * names (ended by NULL). Adds --resume at the end. For use inside orr_main(). */
enum { ORR_COMMAND = 16384 };
void orr_command(const char *name, const char *const *options, char *text, size_t bytes);
/* Writes the command by which another program makes its part of this run, with this program's
 * --preset, --set, --run, --seed, --orbits and --attention. */
void orr_command_of_run(const char *name, char text[ORR_COMMAND]);
/* Appends a space and an argument, quoted for the shell if necessary. */
void orr_command_add(char *text, size_t bytes, const char *argument);

/* Runs another program beside this one, with these arguments (ended by NULL) and what --preset,
 * --set, --run, --seed and --threads this program was given, and waits for it. hidden: discards
 * what it prints but for errors. A failure that it has printed is recorded as told
 * (orr_error_told()). For use inside orr_main(). */
int orr_program_run(const char *name, const char *const *arguments, bool hidden);
/* Becomes another program beside this one, with these arguments (ended by NULL); returns only with
 * an error, which names it. For use inside orr_main(). */
int orr_program_become(const char *name, const char *const *arguments);
/* Runs the program itself once per job, with its arguments except `option` and --threads, then
 * `option name[i] --threads K`. At most one job per thread runs at a time; jobs share the threads.
 * Each job prints its own messages, progress as whole lines. Signals are passed on, and jobs end
 * when this process is killed. After a failure or a signal (ORR_EINTR) no further job begins. For
 * use inside orr_main(). */
int orr_jobs_run(const char *option, const char *const name[], int count, int threads);
/* Called by a job: ends the job when its parent process ends. */
void orr_job_follow(void);

#endif
