/* arrays.c - tracks from NumPy's .npy and .npz: positions of shape (n, steps, bodies, d), or
 * (steps, bodies, d) for one system, d = 2 or 3; in a .npz also times, velocities and masses. */
#include "tracks.h"
#include "base/text.h"
#include "base/zip.h"
#include "stage/help.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ARRAYS = 64, POSITION = 0, VELOCITY, TIME, MASS, PARTS };

#define TYPES "real little-endian numbers, as '<f8'"

/* An array of a file, as doubles. */
struct array {
    char name[256];
    int ndim;
    size_t shape[ORR_NPY_DIMS], count;
    double *value;
};
/* An array of a .npz that is left out, and its type as NumPy writes it. */
struct other {
    char name[256], type[16];
};
struct arrays {
    int count, others;
    struct array at[MOST_ARRAYS];
    struct other other[MOST_ARRAYS]; /* the first of them */
    double *even;                    /* times that --dt gives */
};

static void release(void *of)
{
    struct arrays *arrays = of;
    for (int i = 0; i < arrays->count; i++)
        free(arrays->at[i].value);
    free(arrays->even);
    free(arrays);
}

int tracks_is_array(const char *file, bool *is)
{
    unsigned char head[8] = {0};
    FILE *stream = fopen(file, "rb");
    if (!stream)
        return ORR_FAIL(ORR_EMISSING, "%s: not found", file);
    const size_t read = fread(head, 1, sizeof head, stream);
    fclose(stream);
    *is = read == sizeof head && (!memcmp(head, "\x93NUMPY", 6) || orr_zip_is(head, sizeof head));
    return 0;
}

/* ------------------------------------------------------------------------------- reading */

static double number_at(const unsigned char *at, enum orr_dtype dtype, size_t i)
{
    float narrow;
    double wide;
    if (dtype == ORR_F32) {
        memcpy(&narrow, at + i * sizeof narrow, sizeof narrow);
        return (double)narrow;
    }
    if (dtype != ORR_F64)
        return (double)orr_integer_at(at, dtype, i);
    memcpy(&wide, at + i * sizeof wide, sizeof wide);
    return wide;
}

static bool find_dtype(const char *header, enum orr_dtype *dtype)
{
    const char *descr = orr_npy_value(header, "descr");
    for (int d = ORR_U8; d <= ORR_F64 && descr; d++) {
        const char *text = orr_dtype_descr((enum orr_dtype)d);
        *dtype = (enum orr_dtype)d;
        if (!strncmp(descr + 1, text, strlen(text)))
            return true;
    }
    return false;
}

/* Where element i of an array in C order stands in Fortran's. */
static size_t fortran_place(const struct array *a, size_t i)
{
    size_t place = 0;
    for (int d = a->ndim - 1; d >= 0; d--) {
        size_t stride = 1;
        for (int k = 0; k < d; k++)
            stride *= a->shape[k];
        place += i % a->shape[d] * stride;
        i /= a->shape[d];
    }
    return place;
}

/* The type of a header as it stands there, in quotes where it is a word: '>f8'. */
static void take_type(const char *header, char type[16])
{
    const char *descr = orr_npy_value(header, "descr");
    const char *end = descr && *descr ? strchr(descr + 1, *descr) : NULL;
    const int length = end && end < descr + 15 ? (int)(end - descr) + 1 : 12;
    snprintf(type, 16, "%.*s", length, descr ? descr : "none");
}

/* Keeps the name and type of an array that is left out of a .npz, for messages. */
static void add_other(const char *name, const char *type, struct arrays *arrays)
{
    if (arrays->others == MOST_ARRAYS)
        return;
    struct other *other = &arrays->other[arrays->others++];
    snprintf(other->name, sizeof other->name, "%s", name);
    snprintf(other->type, sizeof other->type, "%s", type);
}

/* Adds an array; one of another kind than numbers is left out of a .npz. */
static int add_array(const char *file, const char *name, const void *bytes, size_t size,
                     struct arrays *arrays)
{
    char label[600], type[16], *header;
    size_t from;
    enum orr_dtype dtype = ORR_F64;
    if (arrays->count == MOST_ARRAYS)
        return ORR_FAIL(ORR_EFORMAT, "%s: expected at most %d arrays", file, MOST_ARRAYS);
    struct array *a = &arrays->at[arrays->count];
    *a = (struct array){.count = 1};
    snprintf(a->name, sizeof a->name, "%s", name);
    snprintf(label, sizeof label, "%.300s%s%.250s", file, *name ? ": " : "", name);
    TRY(orr_npy_header(label, bytes, size, &header, &from));
    const bool known = find_dtype(header, &dtype);
    take_type(header, type);
    const char *shape = orr_npy_value(header, "shape");
    const char *order = orr_npy_value(header, "fortran_order");
    const bool fortran = order && !strncmp(order, "True", 4);
    const int rc = !known  ? 0
                   : shape ? orr_npy_shape(label, shape, a->shape, &a->ndim)
                           : ORR_FAIL(ORR_EFORMAT, "%s: no shape", label);
    free(header);
    TRY(rc);
    if (!known && !*name)
        return ORR_FAIL(ORR_EFORMAT, "%s: expected an array of " TYPES ", found %s", label, type);
    if (!known) {
        add_other(name, type, arrays);
        return 0;
    }
    const size_t most = (size - from) / orr_dtype_size(dtype);
    for (int d = 0; d < a->ndim; d++) {
        if (a->shape[d] && a->count > most / a->shape[d])
            return ORR_FAIL(ORR_EFORMAT, "%s: truncated", label);
        a->count *= a->shape[d];
    }
    if (a->count != most)
        return ORR_FAIL(ORR_EFORMAT, "%s: expected %zu numbers by its shape, found %zu", label,
                        a->count, most);
    a->value = orr_alloc(a->count ? a->count : 1, sizeof *a->value);
    if (!a->value)
        return ORR_ENOMEM;
    arrays->count++;
    for (size_t i = 0; i < a->count; i++)
        a->value[i] = number_at((const unsigned char *)bytes + from, dtype,
                                fortran ? fortran_place(a, i) : i);
    return 0;
}

static int add_members(const char *file, const void *bytes, size_t size, struct arrays *arrays)
{
    struct orr_zip zip;
    struct orr_zip_member member;
    TRY(orr_zip_open(file, bytes, size, &zip));
    while (zip.left > 0) {
        char *unpacked = NULL;
        TRY(orr_zip_next(&zip, &member));
        if (!orr_ends_in(member.name, ".npy"))
            continue;
        TRY(orr_zip_read(&zip, &member, &unpacked));
        member.name[strlen(member.name) - 4] = '\0';
        const int rc = add_array(file, member.name, unpacked, member.unpacked, arrays);
        free(unpacked);
        TRY(rc);
    }
    return 0;
}

/* -------------------------------------------------------------------------- which is which */

/* Refuses an array that was left out: under the name of an option, or numbers (real, complex or
 * whole) under a usual name, which would be missed. */
static int refuse_other(const char *file, const struct arrays *arrays, const char *option,
                        const char *name, const char *usual)
{
    for (int i = 0; i < arrays->others; i++) {
        const struct other *other = &arrays->other[i];
        const bool numbers = other->type[1] && other->type[2] && strchr("fcui", other->type[2]);
        if (name ? !strcmp(name, other->name) : numbers && orr_is_listed(usual, other->name))
            return ORR_FAIL(ORR_EFORMAT, "%s: %s: array \"%s\": expected " TYPES ", found %s",
                            option, file, other->name, other->type);
    }
    return 0;
}

/* The array that an option names, else the one with a usual name; NULL: none. */
static int find_array(const char *file, const struct arrays *arrays, const char *option,
                      const char *name, const char *usual, const struct array **found)
{
    char list[512] = "";
    *found = NULL;
    for (int i = 0; i < arrays->count && !*found; i++) {
        orr_append(list, sizeof list, "%s%s", i ? ", " : "", arrays->at[i].name);
        if (name ? !strcmp(name, arrays->at[i].name) : orr_is_listed(usual, arrays->at[i].name))
            *found = &arrays->at[i];
    }
    if (!*found)
        TRY(refuse_other(file, arrays, option, name, usual));
    return name && !*found ? ORR_FAIL(ORR_EUSAGE, "%s: %s has no array \"%s\", but %s", option,
                                      file, name, *list ? list : "none")
                           : 0;
}

static int find_parts(const char *file, const struct arrays *arrays, const struct tracks_options *o,
                      const struct array *part[PARTS])
{
    const struct array *one = arrays->count == 1 ? &arrays->at[0] : NULL;
    TRY(find_array(file, arrays, "--position", o->position,
                   "positions,position,xy,x,r,coords,tracks,trajectories", &part[POSITION]));
    TRY(find_array(file, arrays, "--velocity", o->velocity, "velocities,velocity,v",
                   &part[VELOCITY]));
    TRY(find_array(file, arrays, "--time", o->time, "times,time,t", &part[TIME]));
    TRY(find_array(file, arrays, "--mass", o->mass, "masses,mass,m", &part[MASS]));
    part[POSITION] = part[POSITION] ? part[POSITION] : one;
    return part[POSITION]
               ? 0
               : ORR_FAIL(ORR_EUSAGE, "%s: which array has the positions? Give --position NAME",
                          file);
}

/* ------------------------------------------------------------------------------- the source */

/* n systems of `steps` steps and `bodies` bodies. */
struct sizes {
    size_t n, steps, bodies, axes;
};

static int check_positions(const char *file, const struct array *a, bool origin,
                           struct sizes *sizes)
{
    const size_t *shape = a->shape + (a->ndim == 4);
    if (a->ndim != 3 && a->ndim != 4)
        return ORR_FAIL(ORR_EFORMAT,
                        "%s: %s: expected positions of shape (systems, steps, bodies, 2 or 3), or "
                        "(steps, bodies, 2 or 3), found %d dimensions",
                        file, *a->name ? a->name : "array", a->ndim);
    *sizes = (struct sizes){a->ndim == 4 ? a->shape[0] : 1, shape[0], shape[1], shape[2]};
    if (shape[2] != 2 && shape[2] != 3)
        return ORR_FAIL(ORR_EINVAL, "%s: %s: expected two or three coordinates, found %zu", file,
                        *a->name ? a->name : "positions", shape[2]);
    if (!sizes->n || sizes->steps < TRACKS_LEAST || sizes->bodies + origin < 2)
        return ORR_FAIL(ORR_EINVAL,
                        "%s: expected at least 1 system of %d steps of 2 bodies, found %zu of %zu "
                        "of %zu",
                        file, TRACKS_LEAST, sizes->n, sizes->steps, sizes->bodies);
    return 0;
}

static int check_numbers(const char *file, const struct array *a, const char *what, bool positive)
{
    for (size_t i = 0; i < a->count; i++)
        if (!isfinite(a->value[i]) || (positive && !(a->value[i] > 0)))
            return ORR_FAIL(ORR_EINVAL, "%s: %s: number %zu: expected a %s%s, found %g", file, what,
                            i, positive ? "mass above 0" : "finite number", "", a->value[i]);
    return 0;
}

/* Whether an array has a value for each of `inner`, common to all systems or one for each. */
static int check_shape(const char *file, const struct array *a, const char *what,
                       const struct sizes *sizes, size_t inner)
{
    const bool common = a->count == inner && a->ndim == 1;
    return common || (a->count == sizes->n * inner && a->ndim >= 1)
               ? 0
               : ORR_FAIL(ORR_EFORMAT,
                          "%s: %s: expected %zu numbers, or %zu for each of %zu "
                          "systems, found %zu",
                          file, what, inner, inner, sizes->n, a->count);
}

static int check_rising(const char *file, const struct array *a, size_t steps)
{
    for (size_t i = 1; i < a->count; i++)
        if (i % steps && !(a->value[i] > a->value[i - 1]))
            return ORR_FAIL(ORR_EINVAL,
                            "%s: %s: number %zu: expected a time after %.*g, found %.*g", file,
                            a->name, i, orr_digits(a->value[i - 1], a->value[i]), a->value[i - 1],
                            orr_digits(a->value[i - 1], a->value[i]), a->value[i]);
    return 0;
}

/* The step that --dt gives; arrays without times need it. */
static int make_times(const char *file, const struct tracks_options *o, bool there, size_t steps,
                      struct arrays *arrays)
{
    char *end;
    if (there)
        return o->dt ? ORR_FAIL(ORR_EUSAGE, "--dt: %s has times of its own", file) : 0;
    if (!o->dt)
        return ORR_FAIL(ORR_EUSAGE, "%s: an array without times needs --dt STEP", file);
    const double dt = strtod(o->dt, &end);
    if (!*o->dt || *end || !(dt > 0) || !isfinite(dt))
        return ORR_FAIL(ORR_EUSAGE, "--dt: expected a number above 0, found \"%s\"", o->dt);
    arrays->even = orr_alloc(steps, sizeof *arrays->even);
    for (size_t k = 0; k < steps && arrays->even; k++)
        arrays->even[k] = (double)k * dt;
    return arrays->even ? 0 : ORR_ENOMEM;
}

static int check_parts(const char *file, const struct array *const part[PARTS],
                       const struct sizes *sizes)
{
    const struct array *velocity = part[VELOCITY], *time = part[TIME], *mass = part[MASS];
    TRY(check_numbers(file, part[POSITION], *part[POSITION]->name ? part[POSITION]->name : "array",
                      false));
    if (velocity) {
        if (velocity->count != part[POSITION]->count)
            return ORR_FAIL(ORR_EFORMAT,
                            "%s: %s: expected %zu numbers, as many as positions, "
                            "found %zu",
                            file, velocity->name, part[POSITION]->count, velocity->count);
        TRY(check_numbers(file, velocity, velocity->name, false));
    }
    if (time) {
        TRY(check_shape(file, time, time->name, sizes, sizes->steps));
        TRY(check_numbers(file, time, time->name, false));
        TRY(check_rising(file, time, sizes->steps));
    }
    if (mass) {
        TRY(check_shape(file, mass, mass->name, sizes, sizes->bodies));
        TRY(check_numbers(file, mass, mass->name, true));
    }
    return 0;
}

static int make_bodies(const struct arrays *arrays, const struct array *const part[PARTS],
                       const struct sizes *z, struct tracks_source *source)
{
    static const char *const number[] = {"1", "2", "3", "4", "5", "6", "7", "8", "9"};
    source->system = orr_alloc(z->n, sizeof *source->system);
    source->body = orr_alloc(z->n * z->bodies, sizeof *source->body);
    if (!source->system || !source->body)
        return ORR_ENOMEM;
    const bool own_times = part[TIME] && part[TIME]->count > z->steps;
    const bool own_masses = part[MASS] && part[MASS]->count > z->bodies;
    for (size_t s = 0; s < z->n; s++) {
        struct tracks_system *system = &source->system[source->systems++];
        *system = (struct tracks_system){.first = source->bodies, .bodies = z->bodies};
        snprintf(system->name, sizeof system->name, "system %zu", s);
        for (size_t b = 0; b < z->bodies; b++) {
            const size_t at = (s * z->steps * z->bodies + b) * z->axes;
            const double *times =
                part[TIME] ? part[TIME]->value + (own_times ? s * z->steps : 0) : arrays->even;
            source->body[source->bodies++] = (struct tracks_body){
                .name = b < 9 ? number[b] : "10 or more",
                .n = z->steps,
                .axis = 1,
                .stride = z->axes * z->bodies,
                .t = times,
                .x = part[POSITION]->value + at,
                .v = part[VELOCITY] ? part[VELOCITY]->value + at : NULL,
                .mass = part[MASS] ? part[MASS]->value[b + (own_masses ? s * z->bodies : 0)] : 0};
        }
    }
    source->dimensions = (int)z->axes;
    source->masses = part[MASS] && !source->origin; /* the origin has none */
    source->velocities = part[VELOCITY] != NULL;
    return 0;
}

int tracks_read_arrays(const char *file, const struct tracks_options *o,
                       struct tracks_source *source)
{
    const struct array *part[PARTS] = {NULL};
    struct sizes sizes = {0};
    char *bytes;
    size_t size;
    *source = (struct tracks_source){.file = file, .release = release, .origin = o->origin != NULL};
    if (o->body || o->system || o->missing || o->dimensions)
        return ORR_FAIL(ORR_EUSAGE, "%s: belongs to tables, not to arrays",
                        o->body      ? "--body"
                        : o->system  ? "--system"
                        : o->missing ? "--missing"
                                     : "--dimensions");
    struct arrays *arrays = source->of = orr_alloc(1, sizeof *arrays);
    if (!arrays)
        return ORR_ENOMEM;
    TRY(orr_input_read(file, &bytes, &size));
    const int rc = orr_zip_is(bytes, size) ? add_members(file, bytes, size, arrays)
                                           : add_array(file, "", bytes, size, arrays);
    free(bytes);
    TRY(rc);
    TRY(find_parts(file, arrays, o, part));
    TRY(check_positions(file, part[POSITION], source->origin, &sizes));
    TRY(make_times(file, o, part[TIME] != NULL, sizes.steps, arrays));
    TRY(check_parts(file, part, &sizes));
    return make_bodies(arrays, part, &sizes, source);
}
