/* base.h - what every part of Orrery stands on: errors, memory, random streams, options and
 * presets, .npy, safetensors, CSV, atomic files with checksums, progress and logs.
 *
 * Conventions. Every function that can fail returns int: 0 = ok, otherwise one of enum
 * orr_status, and orr_error() then holds one line that names file, line or key, what was
 * expected and what was found. Only main() exits. Sizes are counts of elements unless the name
 * says bytes. Paths are UTF-8 strings; nothing here changes the working directory. */
#ifndef ORR_BASE_H
#define ORR_BASE_H

#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <gsl/gsl_rng.h>

#include "preset.h"

#define ORR_VERSION "0.2.0-dev"

struct cJSON;

/* ------------------------------------------------------------------------------ errors */

enum orr_status {
    ORR_OK = 0,
    ORR_EUSAGE,    /* bad command line, preset or key: exit status 2 */
    ORR_EINVAL,    /* bad argument or content */
    ORR_EDOM,      /* outside the mathematical domain */
    ORR_EIO,       /* the operating system refused: open, read, write, rename */
    ORR_EFORMAT,   /* a file that is truncated, foreign or corrupt */
    ORR_EMISSING,  /* a file, tensor or column that should be there is not */
    ORR_ENOMEM,    /* out of memory */
    ORR_EDEVICE,   /* the asked-for backend or device is not there */
    ORR_EDIVERGED, /* training reached a non-finite loss or gradient */
    ORR_EINTR,     /* stopped by SIGINT or SIGTERM after saving */
};

/* Records the message (thread-local, at most 4095 bytes) and yields its code:
 * return ORR_FAIL(ORR_EIO, "%s: cannot open: %s", path, strerror(errno)); */
#define ORR_FAIL(code, ...) orr_fail((code), __FILE__, __LINE__, __VA_ARGS__)
int orr_fail(int code, const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The last message of this thread ("" when none). ORRERY_TRACE=1 adds source file and line. */
const char *orr_error(void);
/* Forgets the message: for callers that go on without. After memory that ran out nobody can tell
 * what they go on without: no file is committed from then on (orr_memory_short()). */
void orr_error_clear(void);
/* The same where nothing is lost by it, also by memory that ran out: what failed is done in another
 * way, or it was only to say something. */
void orr_error_recover(void);
/* The failure that the program ends with was printed by the process in which it happened. */
void orr_error_told(void);
bool orr_error_was_told(void);
/* Passes an error on to the caller. */
#define TRY(call)                                                                                  \
    do {                                                                                           \
        const int try_rc = (call);                                                                 \
        if (try_rc)                                                                                \
            return try_rc;                                                                         \
    } while (0)
/* With ORRERY_TRACE=1 prints "trace <seconds since the start> s  message" to stderr, without it
 * nothing. For what a developer asks of a run: stages with their time, which artefacts their
 * records keep or make again and why, the instruction set and the precision chosen. Any thread. */
void orr_trace(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Prints "program: error: message" to stderr; returns the exit status: 2 usage, else 1. Prints
 * nothing for ORR_EINTR (128 + the signal: 130 for SIGINT, 143 for SIGTERM) and ORR_OK (0, or 1
 * when what was printed to stdout did not arrive there). */
int orr_error_exit(const char *program, int code);

/* ------------------------------------------------------------------------------ memory */

/* Zeroed, 64-byte aligned; NULL (and an ORR_ENOMEM message) when it fails or overflows.
 * Free with free(). */
void *orr_alloc(size_t count, size_t size);
/* The same without the zeros, for what is written before it is read: pages that are never written
 * take no memory. */
void *orr_alloc_unset(size_t count, size_t size);

/* ------------------------------------------------------------- counter-based randomness */

/* Philox4x32-10 (Salmon et al., SC'11) as a gsl_rng_type, so that GSL's distributions draw
 * from it. A stream is keyed by (seed, stage, index): never by thread. Streams of different
 * keys are independent; each is 2^64 blocks long. */
extern const gsl_rng_type *const orr_rng_philox;

enum orr_stage { /* high half of the stream key; fixed numbers, part of the file formats */
                 ORR_STAGE_TRAIN = 1,
                 ORR_STAGE_VAL,
                 ORR_STAGE_TEST,
                 ORR_STAGE_TWO_BODY_TRAIN,
                 ORR_STAGE_TWO_BODY_VAL,
                 ORR_STAGE_TWO_BODY_TEST,
                 ORR_STAGE_PLANETS_TRAIN,
                 ORR_STAGE_PLANETS_VAL,
                 ORR_STAGE_INIT,
                 ORR_STAGE_SHUFFLE,
                 ORR_STAGE_NOISE,
                 ORR_STAGE_LABELS,
                 ORR_STAGE_SAMPLE,
                 ORR_STAGE_BOOTSTRAP,
                 ORR_STAGE_SYMREG,
                 ORR_STAGE_TEST_SUITE,
                 ORR_STAGE_SOLAR,
                 ORR_STAGE_PLANETS_TEST,
                 ORR_STAGE_PASSKEY,
};
/* A new generator at the start of the stream; NULL without memory, and a message. gsl_rng_free()
 * it. */
gsl_rng *orr_rng_create(uint64_t seed, enum orr_stage stage, uint64_t index);
/* Moves an orr_rng_philox generator to the start of another stream (no allocation). */
void orr_rng_seek(gsl_rng *rng, uint64_t seed, enum orr_stage stage, uint64_t index);
/* The raw block function, for kernels and known-answer tests. */
void orr_philox4x32(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);
/* Uniform 64-bit value number `n` of the stream (seed, stage, index), without state. */
uint64_t orr_rng_hash(uint64_t seed, enum orr_stage stage, uint64_t index, uint64_t n);

/* Draws whose bits depend on the generator alone. GSL's draw through exp, log and pow of the C
 * library, whose last bit depends on the CPU; of GSL, gsl_rng_uniform, gsl_rng_uniform_int,
 * gsl_ran_flat and gsl_ran_choose use no such function. */

/* Standard normal, by the ziggurat method; `rng` gives 32-bit words, as orr_rng_philox does. */
double orr_draw_normal(gsl_rng *rng);
/* Gamma of a shape > 0 and scale 1: Marsaglia & Tsang 2000. */
double orr_draw_gamma(gsl_rng *rng, double shape);
/* Beta(a, b), a and b > 0, in [0, 1]: from two gammas, also where both would be 0. */
double orr_draw_beta(gsl_rng *rng, double a, double b);
/* Poisson, by products of uniforms: takes a time proportional to the mean. */
unsigned orr_draw_poisson(gsl_rng *rng, double mean);

/* ------------------------------------------------------------------ elementary functions */

/* exp, log and pow with the same bits on every CPU, for all numbers that reach data sets or fronts.
 * The C library chooses among variants by the CPU, and their last bits differ; its sqrt, fabs, fma,
 * floor, rint, fmod, ldexp, frexp and the like are exact. Errors: exp 0.8 ulp, log 1.1; pow 1.1
 * where |b log a| <= 40 and 9 up to 700. With b = 1/2 pow is the square root, and with a whole b up
 * to 8 products and a quotient: exact where these are. */
double orr_exp(double x);
double orr_log(double x);
double orr_pow(double a, double b); /* of finite numbers */

/* ----------------------------------------------------------------------------- statistics */

/* Median of x (n), which is sorted; of an even number the mean of the two in the middle, NaN of
 * none. */
double orr_median(double *x, size_t n);

/* Mean over repetitions, its standard error, and half of its 95% interval of Student's t. */
struct orr_mean {
    double mean, half; /* NaN of no number; half and error: NaN of fewer than two */
    double error;
    int n; /* numbers that it is of */
};
/* Of those of x (n) that are finite. */
struct orr_mean orr_mean_of(const double x[], int n);
/* How many numbers it takes until the 95% interval of their mean leaves out 0 with a probability of
 * 80%, if they spread as these do and the true mean is `effect`; 0: more than 1,000. By Student's t
 * in place of its noncentral distribution, which is a number too few at most. */
int orr_mean_power(struct orr_mean mean, double effect);
/* The 95% percentile interval of the mean's bootstrap (Efron and Tibshirani 1993, chapter 13), of
 * those of x (n) that are finite: over all n^n resamples of up to 6 numbers, else over 10,000, the
 * same ones in each call. Of few numbers it is too narrow (of 3, about 0.75 instead of 0.95): state
 * it beside Student's interval, not in its place. NaN of fewer than two numbers, and without
 * memory. */
void orr_bootstrap_mean(const double x[], int n, double interval[2]);

/* --------------------------------------------------------------------------------- cores */

/* Cores that this process may use, at least 1: those that it is bound to, and no more than the CPU
 * quota of its control group (rounded up). */
int orr_cores(void);
/* That quota in cores, infinite where there is none. groups: /proc/self/cgroup; root:
 * /sys/fs/cgroup, with the files of version 1 or 2. */
double orr_cores_quota(const char *groups, const char *root);

/* ------------------------------------------------------------------------- command line */

/* The options that programs share.
 *
 * Settings are those of --preset; without it, those of the run (<run>/preset.json) where it has
 * any, else of the preset quick. --set and --seed change them. Where model.precision is auto, the
 * run's own stays. --attention chooses one variant to work on: it is added to the list of the
 * settings where it is not in it, and the list stays the list of the run. */
enum { ORR_SETTINGS = 256 }; /* by --set, and by options of settings, at most */
struct orr_cli {
    struct orr_preset preset; /* file, --set, then options of settings: merged */
    char run[4096];           /* --run DIR, default runs/<preset name> */
    char out[4096];           /* --out DIR, "" when not given */
    char attention[64];       /* --attention NAME, "" when not given: all of the settings */
    bool attention_added;     /* it is not of the settings, whose list now ends with it */
    char checkpoint[4096];    /* --checkpoint FILE, "" when not given */
    enum orr_device device;   /* --device; auto: as the preset says */
    int device_number;        /* --device cuda:N, 0 to 99; -1 when not given */
    int threads;              /* --threads N, default orr_cores() */
    bool generic_attention;   /* --attention-impl generic */
    bool preset_given, seed_given, set_given, run_given, threads_given, resume, plan, quiet;
    int setting_count; /* of --set, KEY=VALUE */
    const char *settings[ORR_SETTINGS];
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
};
/* Parses everything, loads the preset, applies --set, validates. --help and --version print
 * and set *done. Unknown options, keys and values: ORR_EUSAGE with the nearest valid name. Creates
 * nothing on disk. */
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
/* Appends a space and an argument, as a shell takes it: in quotes where it has to be. */
void orr_command_add(char *text, size_t bytes, const char *argument);

/* Runs the program itself once per job, with all of its arguments but `option` and --threads, then
 * `option name[i] --threads K`; as many at a time as there are threads, which they share. Each job
 * prints what it has to say, progress as lines. Signals are passed on, and a job ends when this
 * process is killed. After a failure, or a signal (ORR_EINTR), no further job begins. For use
 * inside orr_main(). */
int orr_side_by_side(const char *option, const char *const name[], int count, int threads);
/* Whether this process is such a job. */
bool orr_side(void);
/* Makes such a job end with its caller. */
void orr_side_follow(void);

/* SIGINT and SIGTERM set a flag (a second one ends at once); SIGPIPE and SIGXFSZ (a limit on
 * file sizes) are ignored: the write fails instead. SIGCHLD is not, whatever the caller did. SIGBUS
 * of a mapped file that became shorter is an error: one line on stderr, status 1. */
void orr_signals_catch(void);
/* `last` is called before a signal ends the process at once: a second SIGINT or SIGTERM, and SIGHUP
 * or SIGQUIT, which are caught for this alone. It runs in the handler and may use only what is
 * async-signal-safe. NULL: nothing is called any more. */
void orr_signals_at_end(void (*last)(void));
bool orr_signal_seen(void);
/* pthread_create() of a thread that no signal is delivered to: they are the caller's. 0, or the
 * error number. */
int orr_thread_start(pthread_t *thread, void *(*run)(void *), void *argument);
int orr_signal_number(void); /* 0 when none was seen */
/* --minutes N of a program: when they are over, counted from now, orr_signal_seen() is true, as
 * after SIGTERM, and a program that was stopped by it exits with 0. Expects a number above 0:
 * ORR_EUSAGE. */
int orr_time_limit(const char *minutes);
bool orr_time_over(void);
/* While it is held the time is not over: from the limit to the first training step of a process, so
 * that a limit shorter than reading the data does not end every call where it began. */
void orr_time_hold(bool hold);

/* --------------------------------------------------------------------------------- files */

/* Writes go to a temporary name in the same folder; commit flushes, checks for errors, syncs
 * and renames; close without commit removes the temporary file. An empty handle is all zero.
 * Temporary files are "<name>.<process>.orrery-partial", a form that files of other programs do not
 * have; create removes those that killed processes left in the folder, and no other's (a lock tells
 * them apart, flock). */
enum { ORR_TEMPORARY = 4160 };
struct orr_file {
    FILE *stream;
    char path[4096], temporary[ORR_TEMPORARY];
    uint64_t checksum, bytes; /* XXH64 (seed 0) of everything written, set by commit */
    void *hash_state;
};
int orr_file_create(struct orr_file *file, const char *path);
int orr_file_write(struct orr_file *file, const void *data, size_t bytes);
int orr_file_printf(struct orr_file *file, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
int orr_file_commit(struct orr_file *file);
/* Whether memory ran out at any time in a way that its caller may not have noticed: in JSON, whose
 * trees are whole all the same, from a reserve, or in an error that was forgotten. From then on
 * orr_file_commit() refuses (ORR_ENOMEM). */
bool orr_memory_short(void);
void orr_memory_ran_out(void);
/* What was written so far can be read under the temporary name, by another program too. */
int orr_file_flush(struct orr_file *file);
/* As orr_file_commit, but a file that already holds these bytes stays as it is, with its time: what
 * was made from it is still up to date. */
int orr_file_commit_changes(struct orr_file *file);
void orr_file_close(struct orr_file *file); /* safe after commit and on an empty handle */

/* The temporary name of `path` (at most 4095 bytes) in this process, for those who make it
 * themselves: unlocked, it may be taken for a killed process's. */
void orr_temporary_name(char temporary[ORR_TEMPORARY], const char *path);
/* Whether a name has that form; *stem: bytes of <name>. */
bool orr_is_temporary(const char *name, size_t *stem);

/* mkdir -p. */
int orr_mkdir(const char *path);
/* One process at a time: the folder is locked until *fd is unlocked, or the process ends. Waits so
 * many seconds for another one, and says so where that may be long; then ORR_EIO says what that is
 * `doing`, ORR_EINTR after a signal. File systems without locks let all in, and NFS holds a folder
 * against programs of the same machine alone. */
int orr_lock(const char *folder, const char *doing, int wait_s, int *fd);
/* Any number of processes at a time, but none that holds the folder by orr_lock(). */
int orr_lock_shared(const char *folder, const char *doing, int wait_s, int *fd);
/* What a killed process has begun, as jobs side by side, ends and lets go a moment later: the same
 * command may come again before that. */
enum { ORR_LOCK_WAIT_S = 5 };
void orr_unlock(int fd);
bool orr_exists(const char *path);
/* Removes what may not be there. ORR_EIO. */
int orr_remove(const char *path);
/* rename(2), which on NFS may have renamed and say ENOENT: when the answer was lost, the request
 * came a second time. ORR_EIO names `to`. */
int orr_rename(const char *from, const char *to);
/* Whether a text can be the name of a file in a folder and lead nowhere else: not empty, no "/", no
 * control character, neither "." nor "..". For names that stand in files. */
bool orr_is_name(const char *text);
/* The same of a file in a folder or below it: names with "/" between them. */
bool orr_is_inside(const char *path);
/* Whether a text of a file can stand in a line and in a cell of a Markdown table as it is: no
 * control characters (also of 8 bits, as UTF-8 has them), no "|". */
bool orr_is_label(const char *text);
/* Writes a text of strangers as a code span of Markdown, in which nothing of it is markup or HTML;
 * in a cell of a table "|" is escaped. Control characters are as orr_one_line() makes them. */
int orr_markdown_code(struct orr_file *file, const char *text, bool cell);
/* Makes one line of a text: a space for a line break or tab, "?" for other control characters. */
void orr_one_line(char *text);
/* Of the following three: ORR_EMISSING where no file is, ORR_EIO where it is no regular file: none
 * waits for what a FIFO may bring.
 * XXH64 of a file's bytes. */
int orr_file_checksum(const char *path, uint64_t *checksum, uint64_t *bytes);
/* Maps a whole file to read. *map is NULL where it is empty. Where it becomes shorter meanwhile,
 * the program that reads it ends with an error that names it (orr_signals_catch). */
int orr_file_map(const char *path, void **map, size_t *bytes);
void orr_file_unmap(void *map, size_t bytes); /* of NULL too */
/* The whole file, NUL-terminated; free() it. */
int orr_file_read(const char *path, char **text, size_t *bytes);
/* Formats a path into buffer[4096]; ORR_EINVAL when it does not fit. */
int orr_path(char buffer[4096], const char *format, ...) __attribute__((format(printf, 2, 3)));

/* -------------------------------------------------------------------------------- pictures */

/* Draws `picture`, whose name ends in .png, .svg or .gif, by
 * `gnuplot -c SCRIPT INPUT OUTPUT png|svg|gif`.
 * The script is of this name, in $ORRERY_FIGURES, else in figures/ beside the program's folder,
 * else in ./figures; `input` is what the script takes as its first argument. gnuplot draws under a
 * temporary name, and the picture gets its own when gnuplot succeeded and the picture is whole:
 * anything else leaves what was there before. ORR_EMISSING: no gnuplot in PATH, or no script;
 * ORR_EINTR: a signal came meanwhile (one that came before does not stop it); ORR_EIO: gnuplot
 * failed, with its words, or the disk is full. */
int orr_gnuplot_draw(const char *script, const char *input, const char *picture);
/* Where a file of figures/ is: a script, or what the report takes into its page (searched as
 * above). ORR_EMISSING: nowhere. */
int orr_figures_path(const char *name, char path[4096]);
/* ORR_EMISSING when orr_gnuplot_draw would find no gnuplot or no script, before work is done. */
int orr_gnuplot_check(const char *script);
/* Writes a string as a gnuplot literal: "..." with escapes, backquotes made quotes. */
int orr_gnuplot_string(struct orr_file *file, const char *text);
/* A line `variable = "text"`, or `variable[index] = "text"` for an index from 1 on; NULL is "". */
int orr_gnuplot_assign(struct orr_file *file, const char *variable, int index, const char *text);

/* ---------------------------------------------------------------------------------- JSON */

/* Parses a JSON file; a syntax error names file, line and column. cJSON_Delete() it. */
int orr_json_read(const char *path, struct cJSON **json);
/* The members of an object by the order of their keys; free() it. NULL without memory. */
const struct cJSON **orr_json_sorted(const struct cJSON *object);
/* No object of what the file holds may have a key twice: readers differ in which of the two they
 * take. ORR_EFORMAT. orr_json_read() has asked already. */
int orr_json_check_keys(const char *path, const struct cJSON *json);
/* Adds a whole number with every digit: a number up to 2^53, beyond which readers of JSON may
 * round, a string above. False without memory. */
bool orr_json_add_u64(struct cJSON *object, const char *key, uint64_t value);
bool orr_json_append_u64(struct cJSON *list, uint64_t value);
/* The same read again; false where the key has neither. */
bool orr_json_u64(const struct cJSON *object, const char *key, uint64_t *value);
/* The shortest decimal text that reads back as the same double, which cJSON's own may miss by the
 * last bit; as a number of an object, and as a list; null for what is not finite. */
void orr_shortest(double value, char *text, size_t bytes);
void orr_json_add_exact(struct cJSON *object, const char *key, double value);
void orr_json_add_list(struct cJSON *object, const char *key, const double *x, int n);
/* Such a list of n numbers read again, NaN for null; false where there is none of that length. */
bool orr_json_list(const struct cJSON *object, const char *key, double *x, int n);
/* A number of an object, NaN where there is none; whether a text is there and is this one. */
double orr_json_number(const struct cJSON *object, const char *key);
bool orr_json_says(const struct cJSON *object, const char *key, const char *text);
/* Pretty-printed, atomically; a file that already holds this stays as it is. */
int orr_json_write(const char *path, const struct cJSON *json);

/* ---------------------------------------------------------------------------------- .npy */

/* The last two, 16-bit floats, are read from safetensors alone. */
enum orr_dtype { ORR_U8, ORR_U16, ORR_U32, ORR_I32, ORR_I64, ORR_F32, ORR_F64, ORR_F16, ORR_BF16 };
size_t orr_dtype_size(enum orr_dtype dtype);
const char *orr_dtype_descr(enum orr_dtype dtype); /* "<u2" */

enum { ORR_NPY_DIMS = 8 };
struct orr_npy {
    enum orr_dtype dtype;
    int ndim;
    size_t shape[ORR_NPY_DIMS];
    const void *data; /* C order, mapped read-only */
    void *map;
    size_t map_bytes;
};
/* Maps a .npy file (versions 1-3, little endian, C order). Truncated, foreign or
 * Fortran-ordered files, and bytes behind the array, are ORR_EFORMAT. */
int orr_npy_open(const char *path, struct orr_npy *npy);
/* As above and checks dtype and shape; a shape entry of 0 accepts any size and receives it. */
int orr_npy_expect(const char *path, struct orr_npy *npy, enum orr_dtype dtype, int ndim,
                   size_t shape[]);
void orr_npy_close(struct orr_npy *npy);
/* Writes an array at once, atomically; checksum may be NULL. */
int orr_npy_write(const char *path, enum orr_dtype dtype, int ndim, const size_t shape[],
                  const void *data, uint64_t *checksum);
/* Header only, for writers that stream rows into an orr_file afterwards. */
int orr_npy_write_header(struct orr_file *file, enum orr_dtype dtype, int ndim,
                         const size_t shape[]);

/* --------------------------------------------------------------------------- safetensors */

struct orr_tensor {
    const char *name;
    enum orr_dtype dtype;
    int ndim;
    size_t shape[ORR_NPY_DIMS];
    void *data;
};
/* Writes tensors and string metadata (pairs key, value, ..., NULL; may be NULL) atomically;
 * the XXH64 of the data part stands in __metadata__ as "xxh64", that of the other metadata (every
 * key and its value, each with a NUL behind it, by the order of the keys) as "xxh64_metadata". */
int orr_safetensors_write(const char *path, const struct orr_tensor *tensors, size_t count,
                          const char *const *metadata);
struct orr_safetensors;
/* Maps a file and verifies header, extents, which have to fill the data without overlap or gap, and
 * the checksums that it has. */
int orr_safetensors_open(const char *path, struct orr_safetensors **file);
/* NULL when there is no such tensor; data points into the map. */
const struct orr_tensor *orr_safetensors_find(const struct orr_safetensors *file, const char *name);
size_t orr_safetensors_count(const struct orr_safetensors *file);
const struct orr_tensor *orr_safetensors_at(const struct orr_safetensors *file, size_t i);
const char *orr_safetensors_metadata(const struct orr_safetensors *file, const char *key);
void orr_safetensors_close(struct orr_safetensors *file);

/* ----------------------------------------------------------------------------------- CSV */

/* How the numbers of a column were written: the most digits, without zeros before them; the power
 * of ten of the last digit of any; whole as long as all are plain whole numbers. */
struct orr_csv_digits {
    int significant, last;
    bool whole;
};
/* A table of numbers with a header row. */
struct orr_csv {
    size_t rows, cols;
    char **names;   /* (cols) */
    double *values; /* (rows, cols); NaN where the cell is not a number */
    char **cells;   /* (rows, cols) text, only with ORR_CSV_KEEP_TEXT; with ORR_CSV_KEEP_ODD of
                       cells that are no finite numbers, NULL for others, NULL if there are none */
    struct orr_csv_digits *digits; /* (cols) with ORR_CSV_KEEP_ODD; else NULL */
    size_t *line;    /* (rows) of the file where a row begins: quoted cells may have line breaks */
    size_t header;   /* line of the file where the header begins */
    size_t comments; /* lines that begin with "#" before the header, which are skipped */
};
enum orr_csv_flags { ORR_CSV_NUMBERS = 0, ORR_CSV_KEEP_TEXT = 1, ORR_CSV_KEEP_ODD = 2 };
/* Reads RFC 4180 CSV (quotes, CRLF). Blank lines are skipped; blanks around names and around quotes
 * are not theirs; numbers may have Fortran's exponents (3.9D-01). A header that begins with "#" is
 * read as one where it is the last of such lines and a row of as many numbers follows. Ragged rows,
 * and with ORR_CSV_NUMBERS cells that are not numbers, are ORR_EFORMAT naming file, line and
 * column. */
int orr_csv_read(const char *path, enum orr_csv_flags flags, struct orr_csv *csv);
int orr_csv_column(const struct orr_csv *csv, const char *name); /* index, -1 when absent */
/* Frees all but the names. */
void orr_csv_free_rows(struct orr_csv *csv);
void orr_csv_free(struct orr_csv *csv);

/* ------------------------------------------------------------------- progress, JSONL log */

/* One live line on a terminal (redrawn at most 10 times a second), a plain line every
 * 10 seconds otherwise; nothing when quiet. */
struct orr_progress {
    char label[64];
    uint64_t total, done;
    uint64_t begun; /* done before: time left is judged by what came after */
    double start_s, last_s;
    bool quiet, terminal, dirty;
};
void orr_progress_init(struct orr_progress *progress, const char *label, uint64_t total,
                       bool quiet);
/* `detail` may be NULL; done counts from 0 to total. Shows rate and time left. */
void orr_progress_set(struct orr_progress *progress, uint64_t done, const char *detail);
void orr_progress_end(struct orr_progress *progress, const char *summary);

/* "45 s", "12 min", "3.4 h", "5.1 days", "2.3 years". */
enum { ORR_DURATION = 32 };
void orr_duration_print(double seconds, char text[ORR_DURATION]);

/* A message to stderr unless quiet: one line, whatever its parts hold. */
void orr_note(bool quiet, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Appends one JSON object per line: orr_log_line(&log, "step", 3.0, "loss", 0.5, NULL) -
 * pairs of (const char *, double), non-finite values become null; flushed per line. */
struct orr_log {
    FILE *stream;
    char path[4096];
    bool appends; /* to what is there, and no line was yet */
};
/* The first line that is appended takes the place of what a kill or a power loss left of the last
 * one: the two would be glued together. Nothing is written through a symbolic link: a new log
 * replaces it, to append to one is ORR_EIO. */
int orr_log_open(struct orr_log *log, const char *path, bool append);
int orr_log_line(struct orr_log *log, ...);
/* The whole of a log, to be cut into lines; free() it. NUL bytes, which a power loss leaves, are
 * "?": no line ends there, and none that has one is an object. */
int orr_log_read(const char *path, char **text, size_t *bytes);
/* The same with a pair of texts in front; neither may need escapes. */
int orr_log_word_line(struct orr_log *log, const char *key, const char *word, ...);
/* ORR_EIO: what was written did not reach the file after all (quotas, NFS). Safe on one that is
 * closed. */
int orr_log_close(struct orr_log *log);

/* Largest memory this process has held since its start, or the last restart, bytes resident (Linux:
 * VmHWM); NaN where the system does not tell. */
double orr_memory_peak(void);
/* From here on the peak is of what comes, not of what was, where the system can do that. */
void orr_memory_peak_restart(void);
/* Seconds on a monotonic clock. */
double orr_time_s(void);

#endif
