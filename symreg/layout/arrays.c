/* arrays.c - NumPy's .npy and .npz: arrays of one or two dimensions, or of records, become columns.
 * Columns of an array without field names are c0, c1 ...; of a .npz NAME, or NAME_0, NAME_1 ... */
#include "as_csv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/text.h"
#include "base/zip.h"

enum { NAME = 300, MOST_COLUMNS = 100000 };

struct array_column {
    char name[NAME];
    char kind; /* as in NumPy: b i u f U S M */
    bool swap; /* big endian */
    size_t size, stride;
    const unsigned char *data;
    double tick_s; /* of M */
};

struct arrays {
    struct array_column *column;
    size_t columns, rows;
    char first_name[NAME]; /* of the array that gave the rows */
};

/* A dtype: "<f8", or a list of fields. */
struct field {
    char name[NAME], kind, order;
    size_t size, offset;
    double tick_s;
};

static double tick_of(const char *unit)
{
    static const struct {
        const char *name;
        double tick_s;
    } ticks[] = {{"[D]", 86400}, {"[h]", 3600},  {"[m]", 60},    {"[s]", 1},
                 {"[ms]", 1e-3}, {"[us]", 1e-6}, {"[ns]", 1e-9}, {"[W]", 604800}};
    for (size_t k = 0; k < sizeof ticks / sizeof *ticks; k++)
        if (!strncmp(unit, ticks[k].name, strlen(ticks[k].name)))
            return ticks[k].tick_s;
    return 0;
}

/* Reads '<f8' at *at, which then follows it. */
static int read_type(const char *name, const char **at, struct field *field)
{
    const char quote = **at, *text = *at + 1;
    const char *const end = quote == '\'' || quote == '"' ? strchr(text, quote) : NULL;
    const int shown = (int)(end && end < text + 30 ? end - text : 12);
    size_t size = 0;
    if (end)
        for (const char *c = text + 2; *c >= '0' && *c <= '9' && size < 1000000; c++)
            size = 10 * size + (size_t)(*c - '0');
    field->order = end ? text[0] : '\0';
    field->kind = end ? text[1] : '\0';
    field->tick_s = field->kind == 'M' && end ? tick_of(text + 3) : 0;
    field->size = field->kind == 'U' ? 4 * size : size;
    const bool known = (field->kind == 'b' && size == 1) ||
                       (field->kind == 'f' && (size == 2 || size == 4 || size == 8)) ||
                       (field->kind && strchr("iu", field->kind) &&
                        (size == 1 || size == 2 || size == 4 || size == 8)) ||
                       field->kind == 'U' || field->kind == 'S' || (field->tick_s > 0 && size == 8);
    if (!end || !known)
        return ORR_FAIL(ORR_EFORMAT,
                        "%s: expected numbers, booleans, texts or dates, found the NumPy type "
                        "%.*s%s",
                        name, shown, text, field->kind == 'O' ? " (objects of Python)" : "");
    *at = end + 1;
    return 0;
}

/* Reads [('a', '<f8'), ('b', '<i4')]. */
static int read_fields(const char *name, const char *at, struct field **fields, size_t *count,
                       size_t *item)
{
    for (at++; *at && *at != ']';) {
        struct field field = {.offset = *item};
        const char *end = NULL;
        at += strspn(at, " ,");
        if (at[0] == '(' && (at[1] == '\'' || at[1] == '"'))
            end = strchr(at + 2, at[1]);
        if (!end || end[1] != ',' || *count == MOST_COLUMNS)
            return ORR_FAIL(ORR_EFORMAT, "%s: fields of a NumPy type that are not known: %.40s",
                            name, at);
        snprintf(field.name, NAME, "%.*s", (int)(end - at - 2), at + 2);
        at = end + 2 + strspn(end + 2, " ");
        TRY(read_type(name, &at, &field));
        if (*at++ != ')')
            return ORR_FAIL(ORR_EFORMAT,
                            "%s: field \"%s\" is an array of arrays; expected one number a row",
                            name, field.name);
        *item += field.size;
        struct field *larger = realloc(*fields, (*count + 1) * sizeof *larger);
        if (!larger)
            return ORR_FAIL(ORR_ENOMEM, "%s: out of memory", name);
        *fields = larger;
        larger[(*count)++] = field;
        at += strspn(at, " ,");
    }
    return 0;
}

static int add_column(struct arrays *arrays, const char *file, const struct array_column *column)
{
    const size_t n = arrays->columns;
    if (n == MOST_COLUMNS)
        return ORR_FAIL(ORR_EFORMAT, "%s: expected at most %d columns", file, MOST_COLUMNS);
    if ((n & (n - 1)) == 0) {
        struct array_column *larger = realloc(arrays->column, (n ? 2 * n : 1) * sizeof *larger);
        if (!larger)
            return ORR_FAIL(ORR_ENOMEM, "%s: out of memory", file);
        arrays->column = larger;
    }
    arrays->column[arrays->columns++] = *column;
    return 0;
}

/* One array: its header, and where its values are. */
struct array {
    const char *file, *name; /* name: NULL for a .npy file */
    size_t shape[ORR_NPY_DIMS];
    int ndim;
    bool fortran, records;
    struct field *field;
    size_t fields, item; /* item: bytes of all fields */
    const unsigned char *data;
};

static int add_array(const struct array *a, struct arrays *arrays)
{
    const size_t rows = a->shape[0], width = a->ndim == 2 ? a->shape[1] : 1;
    for (size_t k = 0; k < width; k++)
        for (size_t f = 0; f < a->fields; f++) {
            const struct field *field = &a->field[f];
            struct array_column column = {.kind = field->kind,
                                          .swap = field->order == '>',
                                          .size = field->size,
                                          .tick_s = field->tick_s,
                                          .stride = a->fortran ? a->item : a->item * width};
            column.data = a->data + field->offset + k * a->item * (a->fortran ? rows : 1);
            if (a->records)
                orr_append(column.name, NAME, "%s%s%s", a->name ? a->name : "", a->name ? "_" : "",
                           field->name);
            else if (!a->name)
                snprintf(column.name, NAME, "c%zu", k);
            else if (a->ndim == 2)
                orr_append(column.name, NAME, "%s_%zu", a->name, k);
            else
                snprintf(column.name, NAME, "%s", a->name);
            TRY(add_column(arrays, a->file, &column));
        }
    return 0;
}

/* Whether the values take all bytes that follow the header. */
static bool fits(const struct array *a, size_t bytes)
{
    size_t size = a->item;
    for (int i = 0; i < a->ndim; i++) {
        if (a->shape[i] && size > SIZE_MAX / a->shape[i])
            return false;
        size *= a->shape[i];
    }
    return size == bytes && (a->ndim < 2 || a->shape[1] <= MOST_COLUMNS) && a->item > 0;
}

static int read_header(const char *header, struct array *a)
{
    const char *descr = orr_npy_value(header, "descr");
    const char *order = orr_npy_value(header, "fortran_order");
    const char *shape = orr_npy_value(header, "shape");
    if (!descr || !order || !shape || *shape != '(')
        return ORR_FAIL(ORR_EFORMAT, "%s: .npy header without descr, fortran_order and shape",
                        a->file);
    a->fortran = !strncmp(order, "True", 4);
    a->records = *descr == '[';
    TRY(orr_npy_shape(a->file, shape, a->shape, &a->ndim));
    if (a->records)
        return read_fields(a->file, descr, &a->field, &a->fields, &a->item);
    a->field = calloc(1, sizeof *a->field);
    if (!a->field)
        return ORR_FAIL(ORR_ENOMEM, "%s: out of memory", a->file);
    a->fields = 1;
    TRY(read_type(a->file, &descr, a->field));
    a->item = a->field->size;
    return 0;
}

/* Adds an array. One without dimensions is left out of a .npz, which may have such notes. */
static int take_array(const char *file, const char *name, const void *bytes, size_t size,
                      struct arrays *arrays)
{
    struct array a = {.file = file, .name = name};
    char *header, label[2 * NAME];
    size_t data;
    snprintf(label, sizeof label, "%s%s%s", file, name ? ": " : "", name ? name : "");
    TRY(orr_npy_header(label, bytes, size, &header, &data));
    a.file = label;
    int rc = read_header(header, &a);
    free(header);
    a.data = (const unsigned char *)bytes + data;
    if (!rc && a.ndim == 0 && name) {
        free(a.field);
        return 0;
    }
    if (!rc && (a.ndim < 1 || a.ndim > 2 || (a.ndim == 2 && a.records)))
        rc =
            ORR_FAIL(ORR_EFORMAT,
                     "%s: expected an array of rows, or of rows and columns, found %d dimensions%s",
                     label, a.ndim, a.records ? " of records" : "");
    if (!rc && !fits(&a, size - data))
        rc = ORR_FAIL(ORR_EFORMAT, "%s: the array does not have the bytes that its header says",
                      label);
    if (!rc && arrays->columns && arrays->rows != a.shape[0])
        rc = ORR_FAIL(ORR_EFORMAT, "%s: expected %zu rows, as \"%s\" has, found %zu", label,
                      arrays->rows, arrays->first_name, a.shape[0]);
    if (!rc && !arrays->columns) {
        arrays->rows = a.shape[0];
        snprintf(arrays->first_name, NAME, "%s", name ? name : "");
    }
    rc = rc ? rc : add_array(&a, arrays);
    free(a.field);
    return rc;
}

/* ---- values as text */

static uint64_t integer_of(const struct array_column *c, const unsigned char *at)
{
    uint64_t value = 0;
    for (size_t i = 0; i < c->size && i < 8; i++)
        value |= (uint64_t)at[c->swap ? c->size - 1 - i : i] << 8 * i;
    return value;
}

static double half_of(uint64_t bits)
{
    const double sign = bits & 0x8000 ? -1 : 1, fraction = (double)(bits & 0x3ff);
    const int power = (int)(bits >> 10 & 31);
    if (power == 31)
        return fraction > 0 ? (double)NAN : sign * HUGE_VAL;
    return sign * (power ? ldexp(1024 + fraction, power - 25) : ldexp(fraction, -24));
}

static void print_float(const struct array_column *c, uint64_t bits, char text[64])
{
    double wide;
    float narrow;
    const uint32_t low = (uint32_t)bits;
    memcpy(&wide, &bits, sizeof wide);
    memcpy(&narrow, &low, sizeof narrow);
    if (c->size == 8)
        snprintf(text, 64, "%.17g", wide);
    else
        snprintf(text, 64, c->size == 4 ? "%.9g" : "%.5g",
                 c->size == 4 ? (double)narrow : half_of(bits));
}

/* A date as ISO 8601; NaT where there is none. */
static void print_date(const struct array_column *c, int64_t ticks, char text[64])
{
    const double seconds = floor((double)ticks * c->tick_s);
    const time_t whole = fabs(seconds) < 1e12 ? (time_t)seconds : 0;
    struct tm parts;
    if (ticks == INT64_MIN || fabs(seconds) >= 1e12 || !gmtime_r(&whole, &parts) ||
        !strftime(text, 64, "%Y-%m-%dT%H:%M:%S", &parts))
        snprintf(text, 64, "NaT");
}

/* Writes a text of NumPy, bytes or UCS-4, up to the NULs that fill it, as one line of UTF-8. */
static void write_text(const struct array_column *c, const unsigned char *at, struct sr_made *made)
{
    char text[4 * NAME];
    size_t n = 0;
    const size_t step = c->kind == 'U' ? 4 : 1;
    for (size_t i = 0; i + step <= c->size && n + 5 < sizeof text; i += step) {
        const struct array_column one = {.size = step, .swap = c->swap};
        const uint64_t code = integer_of(&one, at + i);
        if (code == 0)
            break;
        if (code < 0x80 || step == 1)
            text[n++] = (char)(code < ' ' ? ' ' : code);
        else if (code < 0x800)
            text[n++] = (char)(0xc0 | code >> 6);
        else if (code < 0x10000)
            text[n++] = (char)(0xe0 | code >> 12);
        else
            text[n++] = (char)(0xf0 | (code >> 18 & 7));
        for (int shift = code < 0x80 || step == 1 ? 0
                         : code < 0x800           ? 6
                         : code < 0x10000         ? 12
                                                  : 18;
             shift > 0; shift -= 6)
            text[n++] = (char)(0x80 | (code >> (shift - 6) & 0x3f));
    }
    sr_made_text(made, text, n);
}

static void write_value(const struct array_column *c, size_t row, struct sr_made *made)
{
    const unsigned char *at = c->data + row * c->stride;
    char text[64] = "";
    const uint64_t bits = integer_of(c, at);
    const int shift = 64 - 8 * (int)(c->size < 8 ? c->size : 8);
    if (c->kind == 'U' || c->kind == 'S') {
        write_text(c, at, made);
        return;
    }
    if (c->kind == 'f')
        print_float(c, bits, text);
    else if (c->kind == 'i')
        snprintf(text, sizeof text, "%lld", (long long)((int64_t)(bits << shift) >> shift));
    else if (c->kind == 'M')
        print_date(c, (int64_t)bits, text);
    else
        snprintf(text, sizeof text, "%llu", (unsigned long long)bits);
    sr_made_cell(made, text, strlen(text));
}

static void write_table(const struct arrays *arrays, struct sr_made *made)
{
    sr_made_row(made, 1);
    for (size_t c = 0; c < arrays->columns; c++)
        sr_made_text(made, arrays->column[c].name, strlen(arrays->column[c].name));
    for (size_t r = 0; r < arrays->rows && !made->failed; r++) {
        sr_made_row(made, r + 2);
        for (size_t c = 0; c < arrays->columns; c++)
            write_value(&arrays->column[c], r, made);
    }
}

bool sr_is_npy(const struct sr_source *source)
{
    return source->bytes > 6 && !memcmp(source->text, "\x93NUMPY", 6);
}

int sr_read_npy(const struct sr_source *source, struct sr_made *made)
{
    struct arrays arrays = {0};
    const int rc = take_array(source->name, NULL, source->text, source->bytes, &arrays);
    if (!rc)
        write_table(&arrays, made);
    free(arrays.column);
    return rc;
}

bool sr_is_npz(const struct sr_source *source)
{
    struct orr_zip zip;
    struct orr_zip_member member;
    const bool is = orr_zip_is(source->text, source->bytes) &&
                    !orr_zip_open(source->name, source->text, source->bytes, &zip) && zip.left &&
                    !orr_zip_next(&zip, &member) && orr_ends_in(member.name, ".npy");
    orr_error_recover();
    return is;
}

int sr_read_npz(const struct sr_source *source, struct sr_made *made)
{
    struct arrays arrays = {0};
    struct orr_zip zip;
    struct orr_zip_member member;
    TRY(orr_zip_open(source->name, source->text, source->bytes, &zip));
    const size_t members = zip.left;
    char **bytes = calloc(members + 1, sizeof *bytes);
    int rc = bytes ? 0 : ORR_FAIL(ORR_ENOMEM, "%s: out of memory", source->name);
    for (size_t m = 0; m < members && !rc; m++) {
        rc = orr_zip_next(&zip, &member);
        if (!rc)
            rc = orr_zip_read(&zip, &member, &bytes[m]);
        if (rc || !orr_ends_in(member.name, ".npy"))
            continue;
        member.name[strlen(member.name) - 4] = '\0';
        rc = take_array(source->name, member.name, bytes[m], member.unpacked, &arrays);
    }
    if (!rc && !arrays.columns)
        rc = ORR_FAIL(ORR_EFORMAT, "%s: no array of rows in it", source->name);
    if (!rc)
        write_table(&arrays, made);
    for (size_t m = 0; m < members && bytes; m++)
        free(bytes[m]);
    free(bytes);
    free(arrays.column);
    return rc;
}
