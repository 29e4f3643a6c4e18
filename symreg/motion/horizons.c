/* horizons.c - files of JPL Horizons as tracks: the heading of each says what its body, its centre,
 * its frame and its units are. Vectors and elements become one table of times, bodies, positions
 * and GM, in the units of the first file. */
#include "motion.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "formula/expr.h"

#define AU_KM 149597870.7
#define DAY_S 86400.0
enum { NAME = 80 };

/* GM of the systems (by the number of their barycentre) and of the Sun, the Earth and the Moon,
 * km^3/s^2: DE440, Park et al. (2021), AJ 161, 105, Table 2. */
static const struct {
    int number;
    double gm;
} masses[] = {{10, 132712440041.279419}, {1, 22031.868551},  {199, 22031.868551},
              {2, 324858.592},           {299, 324858.592},  {3, 403503.235625},
              {399, 398600.435507},      {301, 4902.800118}, {4, 42828.375816},
              {5, 126712764.1},          {6, 37940584.8418}, {7, 5794556.4},
              {8, 6836527.10058},        {9, 975.5}};

/* What a heading says. */
struct heading {
    char body[NAME], centre[NAME], frame[NAME];
    double length, gm; /* km of a unit of length; km^3/s^2, 0 where it is not known */
    double time;       /* days of a unit of time of elements' motions; not used for vectors */
    int number;        /* of the centre; 0: a barycentre of the Solar System, or none */
};

/* Copies what stands behind "label :" up to the end of the line or "{"; "" without the line. */
static void read_entry(const char *text, const char *label, char value[NAME])
{
    const char *at = strstr(text, label);
    size_t n = 0;
    at = at ? at + strlen(label) : "";
    at += strspn(at, " \t:");
    n = strcspn(at, "{\r\n");
    while (n && strchr(" \t;,", at[n - 1])) /* a spreadsheet fills lines up with separators */
        n--;
    snprintf(value, NAME, "%.*s", (int)(n < NAME ? n : NAME - 1), at);
}

/* The number in the last parentheses of "Earth (399)"; -1: none. The name loses them. */
static int take_number(char name[NAME])
{
    char *open = strrchr(name, '('), *end;
    if (!open)
        return -1;
    const long number = strtol(open + 1, &end, 10);
    if (end == open + 1 || *end != ')' || number < 0 || number > 1000000000)
        return -1;
    while (open > name && open[-1] == ' ')
        open--;
    *open = '\0';
    return (int)number;
}

/* GM of a body by its number; 0: not known. */
static double known_gm(int number)
{
    for (size_t k = 0; k < sizeof masses / sizeof *masses; k++)
        if (masses[k].number == number)
            return masses[k].gm;
    return 0;
}

/* GM of a body by its number, else by the heading ("GM (km^3/s^2) = 4.9e3", "GM= 62.6284"). */
static double find_gm(const char *text, const char *block, int number)
{
    if (known_gm(number) > 0)
        return known_gm(number);
    const char *at = strstr(text, "GM");
    for (; at && at < block; at = strstr(at + 2, "GM")) {
        const char *equals = at + 2;
        equals += strspn(equals, " ");
        if (*equals == ',' || *equals == '(')
            equals += strcspn(equals, "=\r\n");
        char *end;
        const double gm = *equals == '=' ? strtod(equals + 1, &end) : 0;
        if (gm > 0 && isfinite(gm))
            return gm;
    }
    return 0;
}

static int read_heading(const char *file, const char *text, struct heading *h)
{
    char units[NAME];
    const char *block = strstr(text, "$$SOE");
    *h = (struct heading){.time = 1};
    if (!block)
        return ORR_FAIL(ORR_EUSAGE,
                        "%s: motion needs --time COLUMN and --position X,Y, except of files of JPL "
                        "Horizons, which have a block from $$SOE to $$EOE",
                        file);
    read_entry(text, "Target body name", h->body);
    read_entry(text, "Center body name", h->centre);
    read_entry(text, "Reference frame", h->frame);
    read_entry(text, "Output units", units);
    h->length = !strncmp(units, "AU-", 3) ? AU_KM : !strncmp(units, "KM-", 3) ? 1 : 0;
    h->time = units[0] && units[1] && units[2] && units[3] == 'S' ? 1 / DAY_S : 1;
    if (!*h->body || !(h->length > 0))
        return ORR_FAIL(ORR_EFORMAT,
                        "%s: expected lines \"Target body name: ...\" and \"Output units : AU-D\", "
                        "KM-S or KM-D before $$SOE; give --time and --position instead",
                        file);
    const int number = take_number(h->body);
    h->gm = find_gm(text, block, number);
    h->number = take_number(h->centre);
    return 0;
}

/* ---- positions */

/* Columns: the time, and vectors or elements. */
struct columns {
    int time, x[3], e, inclination, node, periapsis, anomaly, axis;
    bool vectors;
};

static int find_columns(const char *file, const struct orr_csv *csv, struct columns *c)
{
    static const char *const axis[3] = {"X", "Y", "Z"};
    c->time = -1;
    for (size_t k = csv->cols; k-- > 0;)
        if (!strncmp(csv->names[k], "JD", 2))
            c->time = (int)k;
    for (int d = 0; d < 3; d++)
        c->x[d] = orr_csv_column(csv, axis[d]);
    c->e = orr_csv_column(csv, "EC");
    c->inclination = orr_csv_column(csv, "IN");
    c->node = orr_csv_column(csv, "OM");
    c->periapsis = orr_csv_column(csv, "W");
    c->anomaly = orr_csv_column(csv, "TA");
    c->axis = orr_csv_column(csv, "A");
    c->vectors = c->x[0] >= 0 && c->x[1] >= 0 && c->x[2] >= 0;
    const bool elements = c->e >= 0 && c->inclination >= 0 && c->node >= 0 && c->periapsis >= 0 &&
                          c->anomaly >= 0 && c->axis >= 0;
    if (c->time < 0 || (!c->vectors && !elements))
        return ORR_FAIL(ORR_EFORMAT,
                        "%s: expected times JDTDB and vectors X, Y, Z or elements EC, IN, OM, W, "
                        "TA, A; give --time and --position instead",
                        file);
    return 0;
}

static double turned(enum sr_op op, double degrees)
{
    return sr_op_value(NULL, op, degrees * (0.017453292519943295769), 0);
}

/* Murray & Dermott, Eqs. 2.20 and 2.122; hyperbolic orbits have A below 0. */
static void from_elements(const double *value, const struct columns *c, double x[3])
{
    const double e = value[c->e], nu = value[c->anomaly], angle = value[c->periapsis] + nu;
    const double r = value[c->axis] * (1 - e) * (1 + e) / (1 + e * turned(SR_COS, nu));
    const double co = turned(SR_COS, angle), so = turned(SR_SIN, angle);
    const double cn = turned(SR_COS, value[c->node]), sn = turned(SR_SIN, value[c->node]);
    const double ci = turned(SR_COS, value[c->inclination]),
                 si = turned(SR_SIN, value[c->inclination]);
    x[0] = r * (cn * co - sn * so * ci);
    x[1] = r * (sn * co + cn * so * ci);
    x[2] = r * so * si;
}

/* GM in the first file's unit of length and days: the law then is m1 m2 / r^2. */
static double scaled_gm(double gm, const struct heading *first)
{
    return gm * DAY_S * DAY_S / (first->length * first->length * first->length);
}

static int write_rows(FILE *out, const char *file, const struct orr_csv *csv,
                      const struct heading *h, const struct heading *first, bool with_gm)
{
    struct columns c;
    TRY(find_columns(file, csv, &c));
    const double scale = h->length / first->length, gm = scaled_gm(h->gm, first);
    for (size_t i = 0; i < csv->rows; i++) {
        const double *value = csv->values + i * csv->cols;
        double x[3];
        if (c.vectors)
            for (int d = 0; d < 3; d++)
                x[d] = value[c.x[d]];
        else
            from_elements(value, &c, x);
        if (!isfinite(value[c.time]) || !isfinite(x[0]) || !isfinite(x[1]) || !isfinite(x[2]))
            return ORR_FAIL(ORR_EFORMAT, "%s:%zu: expected numbers of a time and a position", file,
                            csv->line[i]);
        fprintf(out, "%.17g,\"%s\",%.17g,%.17g,%.17g", value[c.time], h->body, x[0] * scale,
                x[1] * scale, x[2] * scale);
        if (with_gm)
            fprintf(out, ",%.17g", gm);
        putc('\n', out);
    }
    return 0;
}

/* ---- several files */

struct source {
    struct heading heading;
    struct orr_csv csv;
};

static int read_source(const char *file, struct source *source)
{
    char *text;
    size_t bytes;
    TRY(orr_input_read(file, &text, &bytes));
    int rc = read_heading(file, text, &source->heading);
    for (char *c = source->heading.body; *c && !rc; c++)
        *c = *c == '"' ? '\'' : *c; /* a cell between quotes */
    rc = rc ? rc : sr_cells_parse(file, text, bytes, ORR_CSV_KEEP_TEXT, &source->csv);
    free(text);
    return rc;
}

static int check_alike(const char *const *file, int k, const struct source *source)
{
    const struct heading *a = &source[0].heading, *b = &source[k].heading;
    if (strcmp(a->centre, b->centre) != 0)
        return ORR_FAIL(ORR_EINVAL, "%s: expected the centre \"%s\" of %s, found \"%s\"", file[k],
                        a->centre, file[0], b->centre);
    if (strcmp(a->frame, b->frame) != 0)
        return ORR_FAIL(ORR_EINVAL, "%s: expected the frame \"%s\" of %s, found \"%s\"", file[k],
                        a->frame, file[0], b->frame);
    for (int j = 0; j < k; j++)
        if (!strcmp(source[j].heading.body, b->body))
            return ORR_FAIL(ORR_EINVAL, "%s: expected another body than %s, found \"%s\" in both",
                            file[k], file[j], b->body);
    return 0;
}

/* The centre as a body that rests at the origin, at the times of the first file: heliocentric
 * positions of planets lack the Sun. Barycentres of the Solar System are no bodies. */
static bool adds_centre(const struct source *source, int count)
{
    return count > 1 && source[0].heading.number > 9 && known_gm(source[0].heading.number) > 0;
}

static int write_centre(FILE *out, const char *file, const struct source *source, bool with_gm)
{
    struct columns c;
    const struct heading *centre = &source->heading;
    TRY(find_columns(file, &source->csv, &c));
    const double gm = scaled_gm(known_gm(centre->number), centre);
    for (size_t i = 0; i < source->csv.rows; i++) {
        fprintf(out, "%.17g,\"%s\",0,0,0",
                source->csv.values[i * source->csv.cols + (size_t)c.time], centre->centre);
        if (with_gm)
            fprintf(out, ",%.17g", gm);
        putc('\n', out);
    }
    return 0;
}

static int join(const char *const *file, int count, struct source *source, struct sr_horizons *made)
{
    size_t bytes;
    int rc = 0;
    for (int k = 0; k < count && !rc; k++) {
        rc = read_source(file[k], &source[k]);
        rc = rc ? rc : check_alike(file, k, source);
        if (!rc && count > 1 && !made->lacking && !(source[k].heading.gm > 0))
            made->lacking = file[k];
    }
    const bool with_gm = count > 1 && !made->lacking;
    FILE *out = rc ? NULL : open_memstream(&made->text, &bytes);
    if (!rc && !out)
        return ORR_FAIL(ORR_ENOMEM, "%s: out of memory", file[0]);
    if (!rc)
        fprintf(out, "t,body,x,y,z%s\n", with_gm ? ",GM" : "");
    if (!rc && adds_centre(source, count))
        rc = write_centre(out, file[0], source, with_gm);
    for (int k = 0; k < count && !rc; k++)
        rc = write_rows(out, file[k], &source[k].csv, &source[k].heading, &source[0].heading,
                        with_gm);
    if (out && fclose(out) && !rc)
        rc = ORR_FAIL(ORR_ENOMEM, "%s: out of memory", file[0]);
    made->with_gm = with_gm;
    made->bodies = count + (!rc && adds_centre(source, count));
    snprintf(made->centre, sizeof made->centre, "%s", source[0].heading.centre);
    snprintf(made->frame, sizeof made->frame, "%s", source[0].heading.frame);
    snprintf(made->length, sizeof made->length, "%s", source[0].heading.length > 1 ? "AU" : "km");
    return rc;
}

int sr_horizons_join(const char *const *file, int count, struct sr_horizons *made)
{
    *made = (struct sr_horizons){0};
    struct source *source = orr_alloc((size_t)count, sizeof *source);
    if (!source)
        return ORR_ENOMEM;
    const int rc = join(file, count, source, made);
    for (int k = 0; k < count; k++)
        orr_csv_free(&source[k].csv);
    free(source);
    if (rc)
        sr_horizons_free(made);
    return rc;
}

void sr_horizons_free(struct sr_horizons *made)
{
    free(made->text);
    made->text = NULL;
}
