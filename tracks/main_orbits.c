/* main_orbits.c - bin/orbits: simulates and writes the data sets of a preset, imports tracks as
 * data sets, and inspects them. */
#include "tracks.h"
#include "base/text.h"
#include "stage/engine.h"
#include "stage/help.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

static const char *split_name, *sequence_number, *force, *part_text, *csv, *systems_file;
static struct tracks_options tracks;
static const struct orr_option options[] = {
    {"--force", NULL, "replace data sets of other settings", &force, NULL},
    {"--part", "I/N",
     "write every N-th file of the large sets, from the I-th on (1 to N), for N processes or "
     "machines side by side in one folder; the last one completes it",
     &part_text, NULL},
    {"--systems", "FILE",
     "simulate these systems: a row a body, columns system, m and x, y, vx, vy or a, e, omega, "
     "phase; in space also z, vz or inclination, node",
     &systems_file, NULL},
    {"--csv", NULL, "export: the format, comma-separated values", &csv, NULL},
    {"--split", "NAME", "show: the data set (default: train); export: only this one", &split_name,
     NULL},
    {"--sequence", "N", "show: the sequence, from 0 (default: 0)", &sequence_number, NULL},
    {"--time", "COLUMN", "import: times, which rise along the rows of a body; or array of times",
     &tracks.time, NULL},
    {"--position", "X,Y",
     "import: columns of positions, X,Y or X,Y,Z; without --body two for each body, x1,y1,x2,y2; "
     "or "
     "array",
     &tracks.position, NULL},
    {"--velocity", "VX,VY", "import: columns of velocities, likewise", &tracks.velocity, NULL},
    {"--dimensions", "2|3",
     "import: columns of a position where those of several bodies stand side by side (default: 2)",
     &tracks.dimensions, NULL},
    {"--body", "COLUMN", "import: which body a row is of", &tracks.body, NULL},
    {"--system", "COLUMN", "import: which system a row is of (default: all rows of one)",
     &tracks.system, NULL},
    {"--mass", "COLUMN", "import: the mass of the body; or array of masses", &tracks.mass, NULL},
    {"--origin", NULL, "import: add a body at rest at the origin, as the last one", &tracks.origin,
     NULL},
    {"--missing", "drop|error", "import: rows with a missing value (default: error)",
     &tracks.missing, NULL},
    {"--units", "TIME,LENGTH[,MASS]",
     "import: units of the file, yr, d, h, min, s; AU, km, m; Msun, Mjup, Mearth, kg; or numbers "
     "(default: as the file says, else its numbers as they are)",
     &tracks.units, NULL},
    {"--resample", "STEP", "import: interpolate to this time step, in the unit of the file",
     &tracks.resample, NULL},
    {"--dt", "STEP", "import: the time step of arrays without times", &tracks.dt, NULL},
    {"--steps", "N",
     "import: time steps of a sequence (default: about 128 rows); --systems: of a system (default: "
     "100)",
     &tracks.steps, NULL},
    {"--val", "SHARE", "import: share of the systems for validation (default: 0.1; --systems: 0)",
     &tracks.val, NULL},
    {"--test", "SHARE", "import: share of the systems for the final results (likewise)",
     &tracks.test, NULL},
    {"--split-by", "system|time",
     "import: divide whole systems, or each track by time (default: system)", &tracks.split_by,
     NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
/* Reports the space that large sets, or a part of them, need, and refuses sets that do not fit. */
static int check_disk(const struct orr_cli *cli, const char *dir, int part, int parts)
{
    const double bytes = sim_dataset_bytes(&cli->settings, part, parts);
    if (bytes > 10e9)
        orr_note(cli->quiet, "orbits: %.1f GB will be written to %s", bytes / 1e9, dir);
    char probe[4096];
    int rc = orr_path(probe, "%s", dir);
    while (!rc && !orr_exists(probe)) { /* the nearest existing folder */
        char *slash = strrchr(probe, '/');
        if (slash == probe || !slash) {
            strcpy(probe, slash ? "/" : ".");
            break;
        }
        *slash = '\0';
    }
    struct statvfs disk;
    if (rc || statvfs(probe, &disk))
        return rc;
    /* existing files are finished parts of these sets, or are removed first */
    const double free_bytes = (double)disk.f_bavail * (double)disk.f_frsize +
                              sim_dataset_bytes_there(&cli->settings, dir, part, parts);
    if (bytes > free_bytes)
        return ORR_FAIL(ORR_EIO,
                        "%s: %.3f GB needed, %.3f GB free; make orbits.train_files "
                        "smaller or choose another --out",
                        dir, bytes / 1e9, free_bytes / 1e9);
    return 0;
}

enum { PARTS_MOST = 99999 };

/* Reads a number at *at and moves past it; the result is above PARTS_MOST if it is too large.
 * Accepts only digits: strtol() would skip blanks and signs. */
static int read_number(const char **at)
{
    int number = 0;
    for (; isdigit((unsigned char)**at); ++*at)
        number = number > PARTS_MOST ? number : 10 * number + (**at - '0');
    return number;
}

/* Reads "2/4" as part 1 (from 0) of 4. */
static int read_part(int *part, int *parts)
{
    const char *at = part_text;
    *part = read_number(&at) - 1;
    const bool slash = *at == '/';
    at += slash;
    *parts = read_number(&at);
    return slash && !*at && *part >= 0 && *part < *parts && *parts <= PARTS_MOST
               ? 0
               : ORR_FAIL(ORR_EUSAGE, "--part: expected I/N with 1 <= I <= N <= %d, found \"%s\"",
                          PARTS_MOST, part_text);
}

/* The folder holds imported tracks: they stay, whatever the settings. */
static int keep_tracks(const struct orr_cli *cli)
{
    static const enum sim_split splits[] = {SIM_SPLIT_TRAIN, SIM_SPLIT_VAL, SIM_SPLIT_TEST};
    const struct orr_settings *p = &cli->settings;
    for (size_t i = 0; i < sizeof splits / sizeof *splits && cli->plan; i++) {
        struct orr_artefact set = {.action = ORR_KEEP, .why = "imported tracks"};
        if (!sim_split_count(p, splits[i]))
            continue;
        TRY(orr_path(set.path, "%s/%s", p->tracks, sim_split_name(splits[i])));
        orr_artefact_plan(&set);
    }
    if (!cli->plan)
        orr_note(cli->quiet, "orbits: %s holds imported tracks: read as they are", p->tracks);
    return *cli->out || cli->plan ? 0 : orr_cli_save_preset(cli, cli->run);
}

/* An option of the systems and of the import, given alone: most likely a setting is meant. */
static int refuse_tracks_option(const char *name, const char *value)
{
    static const struct orr_program sets = {.groups = "orbits"};
    char setting[512] = "";
    orr_help_setting(&sets, name, value, setting);
    return ORR_FAIL(ORR_EUSAGE, "%s: belongs to --systems and orbits import%s", name, setting);
}

/* A stage of a run simulates into a folder that is not there: its name may be mistyped. */
static int note_new_folder(const struct orr_cli *cli, const char *dir)
{
    char own[4096];
    TRY(orr_path(own, "%s/orbits", cli->run));
    if (cli->resume && strcmp(dir, own) != 0 && !orr_exists(dir))
        orr_note(cli->quiet,
                 "orbits: note: %s is not there yet: orbits are simulated into it; tracks of your "
                 "own come from orbits import",
                 dir);
    return 0;
}

static int write_sets(const struct orr_cli *cli)
{
    int part = 0, parts = 1;
    char dir[4096];
    struct sim_dynamics dynamics;
    if (orr_settings_is_text(&cli->settings)) { /* nothing to simulate */
        orr_note(cli->quiet, "orbits: preset %s trains on text: none are needed",
                 cli->settings.name);
        return 0;
    }
    tracks.force = force != NULL;
    if (systems_file && part_text)
        return ORR_FAIL(ORR_EUSAGE, "--part: does not go with --systems");
    if (systems_file)
        return tracks_simulate(cli, systems_file, &tracks);
    if (tracks.steps || tracks.val || tracks.test)
        return tracks.steps ? refuse_tracks_option("--steps", tracks.steps)
               : tracks.val ? refuse_tracks_option("--val", tracks.val)
                            : refuse_tracks_option("--test", tracks.test);
    if (*cli->settings.tracks)
        return keep_tracks(cli);
    if (part_text && cli->plan)
        return ORR_FAIL(ORR_EUSAGE, "--plan: of all data sets, not of a --part");
    const int rc =
        sim_dynamics_create(&dynamics, &cli->settings); /* reports an invalid expression */
    sim_dynamics_free(&dynamics);
    TRY(rc); /* before anything is made */
    TRY(*cli->out ? orr_path(dir, "%s", cli->out) : orr_path(dir, "%s/orbits", cli->run));
    if (part_text)
        TRY(read_part(&part, &parts));
    if (cli->plan)
        return sim_dataset_plan(&cli->settings, dir, force != NULL);
    if (cli->resume && *cli->out && sim_dataset_is_foreign(dir)) { /* a stage of a run */
        orr_note(cli->quiet, "orbits: %s was made elsewhere: read as it is", dir);
        return 0;
    }
    const bool complete = sim_dataset_complete(&cli->settings, dir, force != NULL);
    if (!complete) {
        TRY(sim_dataset_may_write(&cli->settings, dir, force != NULL));
        TRY(check_disk(cli, dir, part, parts));
        TRY(note_new_folder(cli, dir));
    }
    TRY(*cli->out ? 0 : orr_cli_save_preset(cli, cli->run));
    if (!complete)
        return sim_dataset_write_part(&cli->settings, dir, part, parts, cli->threads, force != NULL,
                                      cli->quiet);
    orr_note(cli->quiet, "orbits: %s is up to date", dir);
    return sim_dataset_tidy(dir);
}

/* --------------------------------------------------------------------------- inspecting sets */

/* The folder given as second argument, else the run's. */
static int folder_of(const struct orr_cli *cli, char dir[4096])
{
    return cli->argc_rest > 1 ? orr_path(dir, "%s", cli->argv_rest[1])
                              : orr_path(dir, "%s/orbits", cli->run);
}

static int verify_folder(const struct orr_cli *cli)
{
    if (cli->argc_rest < 2)
        return ORR_FAIL(ORR_EUSAGE, "verify: which folder? orbits verify DIR");
    return sim_dataset_check(cli->argv_rest[1]);
}

static int print_statistics(const struct orr_cli *cli)
{
    char dir[4096];
    TRY(folder_of(cli, dir));
    return sim_dataset_statistics(dir);
}

static int print_checksum(const struct orr_cli *cli)
{
    uint64_t sum;
    const double start_s = orr_time_s();
    if (cli->argc_rest > 1)
        return ORR_FAIL(ORR_EUSAGE, "checksum: unexpected argument \"%s\"", cli->argv_rest[1]);
    TRY(sim_stream_checksum(&cli->settings, cli->threads, cli->quiet, &sum));
    const double seconds = orr_time_s() - start_s;
    printf("train: %ld sequences, xxh64 %016llx\n", cli->settings.orbits.train,
           (unsigned long long)sum);
    orr_note(cli->quiet, "orbits: %.1f s, %.0f sequences per second", seconds,
             (double)cli->settings.orbits.train / seconds);
    return 0;
}

static int print_prior(const struct orr_cli *cli)
{
    if (cli->argc_rest > 1)
        return ORR_FAIL(ORR_EUSAGE, "prior: unexpected argument \"%s\"", cli->argv_rest[1]);
    return sim_prior_print(&cli->settings);
}

static int find_split(const char *name, enum sim_split *split)
{
    char known[512] = "", meant[128];
    struct orr_nearest nearest;
    if (sim_split_find(name, split, &nearest))
        return 0;
    for (int i = 0; i < SIM_SPLITS; i++)
        orr_append(known, sizeof known, "%s%s", i ? ", " : "", sim_split_name((enum sim_split)i));
    orr_nearest_text(&nearest, meant);
    return ORR_FAIL(ORR_EUSAGE, "--split: unknown data set \"%s\"%s; expected one of %s", name,
                    meant, known);
}

static int export_folder(const struct orr_cli *cli)
{
    char dir[4096];
    enum sim_split split;
    if (!csv)
        return ORR_FAIL(ORR_EUSAGE, "export: expected --csv, the only format");
    TRY(split_name ? find_split(split_name, &split) : 0);
    TRY(folder_of(cli, dir));
    return sim_folder_export(dir, *cli->out ? cli->out : dir, split_name ? &split : NULL,
                             cli->quiet);
}

/* Shows a sequence: of a folder, using its manifest, or made from the settings. */
static int show_sequence(const struct orr_cli *cli)
{
    enum sim_split split = SIM_SPLIT_TRAIN;
    const char *number = sequence_number ? sequence_number : "0", *dir = NULL;
    long given_index;
    if (!orr_whole(number, 0, LONG_MAX, &given_index))
        return ORR_FAIL(ORR_EUSAGE, "--sequence: expected a whole number, found \"%s\"", number);
    const unsigned long long index = (unsigned long long)given_index;
    if (split_name)
        TRY(find_split(split_name, &split));
    const char *picture = *cli->out ? cli->out : NULL;
    if (cli->argc_rest > 1)
        dir = cli->argv_rest[1];
    const struct orr_settings *settings = &cli->settings;
    if (dir) {
        const bool given = cli->preset_given || cli->set_given || cli->seed_given;
        return sim_folder_show(dir, given ? settings : NULL, split, index, picture);
    }
    const unsigned long long count = sim_split_count(settings, split);
    if (!count)
        return ORR_FAIL(ORR_EUSAGE, "--split: expected one that preset %s makes, found %s",
                        settings->name, sim_split_name(split));
    if (index >= count)
        return ORR_FAIL(ORR_EUSAGE, "--sequence: %s of preset %s has %llu sequences, found %llu",
                        sim_split_name(split), settings->name, count, index);
    return sim_sequence_show(settings, split, index, picture);
}

static int import_tracks(const struct orr_cli *cli)
{
    tracks.force = force != NULL;
    return tracks_import(cli, &tracks);
}

#define OF_IMPORT                                                                                  \
    "--time,--position,--velocity,--body,--system,--mass,--origin,--missing,--units,--resample,--" \
    "dt,--dimensions,"                                                                             \
    "--steps,--val,--test,--split-by"
static const struct orr_command commands[] = {
    {"", "writing data sets", "--force,--plan,--part,--systems,--steps,--val,--test,--seed",
     .run = write_sets},
    {"import", "orbits import FILE", OF_IMPORT ",--force,--seed", .run = import_tracks,
     .usual = OF_IMPORT ",--out,--seed,--force,--quiet,--help", .alone = true, .words = 2},
    {"verify", "orbits verify", "--seed", .run = verify_folder, .words = 2},
    {"stat", "orbits stat", "--seed", .run = print_statistics, .words = 2},
    {"show", "orbits show", "--split,--sequence,--seed", .run = show_sequence, .words = 2},
    {"export", "orbits export", "--split,--csv,--seed", .run = export_folder, .words = 2},
    {"checksum", "orbits checksum", "--seed", .run = print_checksum, .words = 1},
    {"prior", "orbits prior", "--seed", .run = print_prior, .words = 1},
    {.name = NULL}};
static const struct orr_program program = {
    .name = "orbits",
    .purpose = "Simulates orbits, imports tracks, writes data sets and looks at them.",
    .usage = "orbits [options]               write the data sets of a preset\n"
             "       orbits --systems FILE --out DIR   simulate systems of your own\n"
             "       orbits import FILE --out DIR --time T --position X,Y\n"
             "                                      read tracks of other programs\n"
             "       orbits verify DIR              check every file against manifest.json\n"
             "       orbits stat [DIR]              what is in the data sets\n"
             "       orbits show [DIR] [--split NAME] [--sequence N] [--out FILE.png|.svg]\n"
             "                                      a sequence: elements, sampling, picture;\n"
             "                                      of DIR as it is there, else of settings\n"
             "       orbits export [DIR] --csv [--split NAME] [--out DIR]\n"
             "                                      positions, states, forces, masses as CSV\n"
             "       orbits checksum [options]      make all training sequences, write nothing\n"
             "       orbits prior [options]         what the prior tells before any training",
    .options = options,
    .max_rest = 2,
    .makes_orbits = true,
    .groups = "seed,orbits,planets",
    .without = "--checkpoint,--attention,--attention-impl,--device",
    .commands = commands,
    .usual = "--preset,--set,--run,--out,--threads,--seed,--resume,--force,--plan,--help,"
             "orbits.train,orbits.two_body_train,orbits.positions,orbits.a_min_au,orbits.a_max_au,"
             "orbits.dt_yr,orbits.law",
};

static int run(const struct orr_cli *cli)
{
    return orr_command_run(&program, cli);
}

int main(int argc, char **argv)
{
    return orr_main(&program, argc, argv, run);
}
