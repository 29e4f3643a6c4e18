/* import.c - `orbits import FILE --out DIR`: tracks of another program become a folder of data
 * sets. */
#include "tracks.h"
#include "base/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

static int read_number(const char *option, const char *text, double low, double high, double *value)
{
    char *end;
    if (!text)
        return 0;
    *value = strtod(text, &end);
    return *text && !*end && *value >= low && *value <= high
               ? 0
               : ORR_FAIL(ORR_EUSAGE, "%s: expected a number from %g to %g, found \"%s\"", option,
                          low, high, text);
}

/* The options that are numbers or words. */
int tracks_read_options(const struct tracks_options *o, struct sim_import *import, double *resample)
{
    long steps = 0;
    *resample = 0;
    TRY(read_number("--resample", o->resample, 1e-300, 1e300, resample));
    TRY(read_number("--val", o->val, 0, 0.9, &import->val));
    TRY(read_number("--test", o->test, 0, 0.9, &import->test));
    if (o->steps && !orr_whole(o->steps, SIM_IMPORT_LEAST, 100000, &steps))
        return ORR_FAIL(ORR_EUSAGE,
                        "--steps: expected a whole number from %d to 100000, found "
                        "\"%s\"",
                        SIM_IMPORT_LEAST, o->steps);
    import->steps = (int)steps;
    if (import->val + import->test > 1 - 1e-9)
        return ORR_FAIL(ORR_EUSAGE,
                        "--val, --test: expected shares that leave some for train, a sum below 1, "
                        "found %g and %g",
                        import->val, import->test);
    import->by_time = o->split_by && !strcmp(o->split_by, "time");
    return !o->split_by || import->by_time || !strcmp(o->split_by, "system")
               ? 0
               : ORR_FAIL(ORR_EUSAGE, "--split-by: expected system or time, found \"%s\"",
                          o->split_by);
}

/* How the file was read and divided, for the manifest and the records. */
static cJSON *describe(const struct tracks_options *o, const struct sim_import *import,
                       const struct tracks_units *units, const struct tracks_common *common)
{
    const struct {
        const char *name, *value;
    } given[] = {{"time", o->time},
                 {"position", o->position},
                 {"velocity", o->velocity},
                 {"body", o->body},
                 {"system", o->system},
                 {"mass", o->mass},
                 {"dimensions", o->dimensions},
                 {"missing", o->missing},
                 {"dt", o->dt},
                 {"resample", o->resample},
                 {"origin", o->origin ? "a body at rest" : NULL},
                 {"units", units->text}};
    char text[64];
    cJSON *how = cJSON_CreateObject();
    for (size_t k = 0; k < sizeof given / sizeof *given; k++)
        if (given[k].value)
            cJSON_AddStringToObject(how, given[k].name, given[k].value);
    if (o->resample) {
        snprintf(text, sizeof text, "%.2g", common->error);
        cJSON_AddStringToObject(how, "interpolation_error", text);
    }
    snprintf(text, sizeof text, "val %g, test %g, by %s, seed %llu", import->val, import->test,
             import->by_time ? "time" : "system", (unsigned long long)import->seed);
    cJSON_AddStringToObject(how, "split", text);
    return how;
}

/* Coordinates far from 1 are out of the range that models are made for. */
static void note_size(const char *file, const struct tracks_common *common, bool quiet)
{
    double squares = 0, count = 0;
    for (size_t s = 0; s < common->systems; s++) {
        const size_t n =
            common->system[s].steps * (size_t)common->system[s].bodies * (size_t)common->dimensions;
        for (size_t k = 0; k < n; k++)
            squares += common->system[s].position[k] * common->system[s].position[k];
        count += (double)n;
    }
    const double size = sqrt(squares / count);
    if (size > 1000 || size < 1e-3)
        orr_note(quiet,
                 "orbits: %s: note: coordinates are of size %.2g, models are made for sizes near "
                 "1; --units TIME,LENGTH converts, by names as s,km or by numbers",
                 file, size);
}

static int write_common(const struct orr_cli *cli, const struct tracks_options *o,
                        const struct tracks_units *units, const struct tracks_common *common,
                        struct sim_import *import)
{
    uint64_t bytes;
    TRY(orr_file_checksum(import->file, &import->content, &bytes));
    if (o->resample)
        orr_note(cli->quiet,
                 "orbits: %s: interpolated to a step of %s; the error is at most about %.1g of the "
                 "size of a track",
                 import->file, o->resample, common->error);
    cJSON *how = describe(o, import, units, common);
    import->how = how;
    import->dimensions = common->dimensions;
    import->systems = common->systems;
    import->system = common->system;
    const int rc = sim_dataset_import(cli->out, import, o->force, cli->quiet);
    if (!rc)
        note_size(import->file, common, cli->quiet);
    cJSON_Delete(how);
    return rc;
}

int tracks_import(const struct orr_cli *cli, const struct tracks_options *o)
{
    struct tracks_source source = {0};
    struct tracks_common common = {0};
    struct tracks_units units;
    struct sim_import import = {.seed = cli->settings.seed, .val = 0.1, .test = 0.1};
    double resample;
    bool is_array;
    if (cli->argc_rest != 2)
        return ORR_FAIL(ORR_EUSAGE, "import: expected FILE, found %d arguments",
                        cli->argc_rest - 1);
    if (!*cli->out)
        return ORR_FAIL(ORR_EUSAGE, "import: where to? Give --out DIR");
    if (o->origin && o->mass)
        return ORR_FAIL(ORR_EUSAGE,
                        "--origin: does not go with --mass, which the body at the origin "
                        "has none of");
    import.file = cli->argv_rest[1];
    TRY(tracks_read_options(o, &import, &resample));
    TRY(tracks_is_array(import.file, &is_array));
    int rc = (is_array ? tracks_read_arrays : tracks_read_table)(import.file, o, &source);
    if (!rc)
        rc = tracks_units_find(o->units, &source, &units);
    if (!rc)
        rc = tracks_common_make(&source, resample, &units, &common);
    if (!rc)
        rc = write_common(cli, o, &units, &common, &import);
    if (!rc && source.or_in_space)
        orr_note(cli->quiet,
                 "orbits: %s: note: %d bodies in the plane; --dimensions 3 for %d in space",
                 import.file, source.or_in_space * 3 / 2, source.or_in_space);
    tracks_common_free(&common);
    tracks_source_free(&source);
    return rc;
}
