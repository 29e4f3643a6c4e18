/* table.c - tracks from a table: rows of one body each, or, without --body, rows with the columns
 * of all bodies side by side. The reader of `symreg motion` reads both. */
#include "symreg/motion/motion.h"
#include "tracks.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_BODIES = 64 }; /* whose columns stand side by side */

struct names { /* of columns */
    int count;
    char at[3 * MOST_BODIES][256];
};
/* What the source owns: one reading, or one for each body, and the names that it shows. */
struct readings {
    int count;
    int axes; /* columns of a position */
    struct sr_tracks at[MOST_BODIES];
    struct names position, velocity, mass; /* columns side by side */
};

static void release(void *of)
{
    struct readings *readings = of;
    for (int k = 0; k < readings->count; k++)
        sr_tracks_free(&readings->at[k]);
    free(readings);
}

static int read_names(const char *option, const char *list, struct names *names)
{
    const char *at = list;
    names->count = 0;
    while (at) {
        if (names->count == 3 * MOST_BODIES ||
            !sr_name_next(&at, names->at[names->count], sizeof names->at[0]))
            return ORR_FAIL(ORR_EUSAGE,
                            "%s: expected names of columns with commas between, found \"%s\"",
                            option, list);
        names->count++;
    }
    return 0;
}

/* Appends a name as lists of columns have it. */
static void append_name(char *list, size_t bytes, const char *name)
{
    orr_append(list, bytes, "%s", *list ? "," : "");
    orr_append_quoted(list, bytes, name);
}

/* ------------------------------------------------------------------------ columns side by side */

/* Checks that there are columns of a position for each body, and a mass. */
static int check_side(const struct readings *side, const struct tracks_options *o)
{
    const int bodies = side->position.count / side->axes;
    if (o->velocity && side->velocity.count != side->position.count)
        return ORR_FAIL(ORR_EUSAGE,
                        "--velocity: expected %d columns, as many as --position, found %d",
                        side->position.count, side->velocity.count);
    return o->mass && side->mass.count != bodies
               ? ORR_FAIL(ORR_EUSAGE, "--mass: expected %d columns, one for each body, found %d",
                          bodies, side->mass.count)
               : 0;
}

/* Reads body k of columns side by side. */
static int read_side(const char *file, const struct tracks_options *o, int k, struct readings *side)
{
    char position[1650] = "", velocity[1650] = "";
    for (int c = side->axes * k; c < side->axes * (k + 1); c++) {
        append_name(position, sizeof position, side->position.at[c]);
        if (o->velocity)
            append_name(velocity, sizeof velocity, side->velocity.at[c]);
    }
    const struct sr_motion_options motion = {.time = o->time,
                                             .position = position,
                                             .velocity = o->velocity ? velocity : NULL,
                                             .system = o->system,
                                             .mass = o->mass ? side->mass.at[k] : NULL,
                                             .missing = o->missing};
    return sr_tracks_read_plain(file, &motion, &side->at[k]);
}

/* Finds the columns of a position: --dimensions, else three columns alone are x, y and z. *side: of
 * several bodies. */
static int find_axes(const struct tracks_options *o, struct readings *readings, bool *side)
{
    const int columns = readings->position.count;
    long axes = columns == 3 ? 3 : 2;
    if (o->dimensions && !orr_whole(o->dimensions, 2, 3, &axes))
        return ORR_FAIL(ORR_EUSAGE, "--dimensions: expected 2 or 3, found \"%s\"", o->dimensions);
    readings->axes = (int)axes;
    *side = columns != axes;
    if (!*side || (!o->body && columns && columns % axes == 0))
        return columns / axes <= MOST_BODIES
                   ? 0
                   : ORR_FAIL(ORR_EUSAGE, "--position: expected columns of at most %d bodies",
                              MOST_BODIES);
    if (o->dimensions)
        return ORR_FAIL(ORR_EUSAGE, "--position: expected %ld columns%s by --dimensions, found %d",
                        axes, o->body ? "" : " for each body", columns);
    return ORR_FAIL(ORR_EUSAGE,
                    "--position: expected two or three columns, or without --body two for each "
                    "body (three with --dimensions 3), found %d",
                    columns);
}

static int read_all(const char *file, const struct tracks_options *o, struct readings *readings)
{
    bool side;
    TRY(read_names("--position", o->position, &readings->position));
    TRY(find_axes(o, readings, &side));
    if (!side) {
        const struct sr_motion_options motion = {.time = o->time,
                                                 .position = o->position,
                                                 .velocity = o->velocity,
                                                 .body = o->body,
                                                 .system = o->system,
                                                 .mass = o->mass,
                                                 .missing = o->missing};
        readings->count = 1;
        return sr_tracks_read_plain(file, &motion, &readings->at[0]);
    }
    TRY(o->velocity ? read_names("--velocity", o->velocity, &readings->velocity) : 0);
    TRY(o->mass ? read_names("--mass", o->mass, &readings->mass) : 0);
    TRY(check_side(readings, o));
    for (int k = 0; k < readings->position.count / readings->axes; k++) {
        readings->count = k + 1;
        TRY(read_side(file, o, k, readings));
    }
    return 0;
}

/* ------------------------------------------------------------------------------- the source */

/* Adds the bodies of a system; those side by side have the names of their first columns. */
static void add_system(const struct readings *readings, const struct tracks_options *o,
                       size_t first, size_t size, struct tracks_source *source)
{
    struct tracks_system *system = &source->system[source->systems++];
    *system = (struct tracks_system){.first = source->bodies};
    if (o->system)
        snprintf(system->name, sizeof system->name, "system \"%.100s\"",
                 readings->at[0].track[first].system);
    else
        snprintf(system->name, sizeof system->name, "the tracks");
    for (int r = 0; r < readings->count; r++)
        for (size_t k = first; k < first + size; k++) {
            const struct sr_track *track = &readings->at[r].track[k];
            source->body[source->bodies++] = (struct tracks_body){
                .name =
                    readings->count > 1 ? readings->position.at[readings->axes * r] : track->body,
                .n = track->n,
                .axis = track->n,
                .stride = 1,
                .t = track->t,
                .x = track->x,
                .v = track->v,
                .mass = track->mass};
        }
    system->bodies = source->bodies - system->first;
}

static void take_units(const struct readings *readings, const struct tracks_options *o,
                       struct tracks_source *source)
{
    const struct orr_csv *csv = &readings->at[0].csv;
    const char *const name[2] = {o->time, readings->position.at[0]};
    for (int k = 0; k < 2; k++) {
        const int column = orr_csv_column(csv, name[k]);
        if (csv->units && column >= 0 && csv->units[column])
            snprintf(source->unit[k], sizeof source->unit[k], "%.31s", csv->units[column]);
    }
}

static int make_source(const struct readings *readings, const struct tracks_options *o,
                       struct tracks_source *source)
{
    const struct sr_tracks *tracks = &readings->at[0];
    for (int r = 1; r < readings->count; r++)
        if (readings->at[r].count != tracks->count) /* a whole system has no such body */
            return ORR_FAIL(ORR_EINVAL,
                            "%s: column \"%s\": expected rows of %zu systems, found %zu",
                            source->file, readings->position.at[readings->axes * r], tracks->count,
                            readings->at[r].count);
    source->system = orr_alloc(tracks->count, sizeof *source->system);
    source->body = orr_alloc(tracks->count * (size_t)readings->count, sizeof *source->body);
    if (!source->system || !source->body)
        return ORR_ENOMEM;
    for (size_t first = 0, size; first < tracks->count; first += size) {
        size = sr_system_size(tracks, first);
        add_system(readings, o, first, size, source);
        const struct tracks_system *system = &source->system[source->systems - 1];
        if (system->bodies + source->origin < 2)
            return ORR_FAIL(ORR_EINVAL,
                            "%s: %s: expected at least two bodies, found one; %s; "
                            "--origin adds a body at rest at the origin",
                            source->file, system->name,
                            o->body ? "--system says which bodies belong together"
                                    : "rows of several bodies need --body COLUMN, columns of "
                                      "several bodies --position x1,y1,x2,y2");
    }
    source->dimensions = readings->axes;
    if (readings->count > 1 && !o->dimensions && readings->position.count % 6 == 0)
        source->or_in_space = readings->position.count / 3;
    source->masses = o->mass != NULL;
    source->velocities = o->velocity != NULL;
    take_units(readings, o, source);
    return 0;
}

int tracks_read_table(const char *file, const struct tracks_options *o,
                      struct tracks_source *source)
{
    *source = (struct tracks_source){.file = file, .release = release, .origin = o->origin != NULL};
    if (o->dt)
        return ORR_FAIL(ORR_EUSAGE, "--dt: belongs to arrays without times, not to a table");
    if (!o->time || !o->position)
        return ORR_FAIL(ORR_EUSAGE, "%s: a table needs --time COLUMN and --position X,Y", file);
    struct readings *readings = source->of = orr_alloc(1, sizeof *readings);
    TRY(readings ? read_all(file, o, readings) : ORR_ENOMEM);
    return make_source(readings, o, source);
}

void tracks_source_free(struct tracks_source *source)
{
    if (source->of)
        source->release(source->of);
    free(source->system);
    free(source->body);
    *source = (struct tracks_source){0};
}
