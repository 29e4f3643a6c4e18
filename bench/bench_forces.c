/* bench_forces.c - accelerations with a symmetry, found from one track each.
 *
 * One or two tracks of 300 rows are integrated under each field (two where a first integral makes
 * other equations equivalent on one; the second starts with 0.8 times the velocity), sampled, and
 * given normal noise that is a share of the rms distance from the origin. COMMAND is run for each
 * with TABLE (the file), POSITION (its columns; the column of tracks is "run") and OUT (a folder)
 * in the environment, and what OUT/equations.json says is compared with the field at 500 points
 * drawn from the box of the tracks' positions and velocities, no nearer to the origin than these. A
 * field is right where the rms difference is at most 0.1% of the rms acceleration without noise, 1%
 * at a noise of 0.1%, and 5% at 1%: a formula that holds along the tracks alone is wrong there.
 * "Other form": its vectors are not those of the truth.
 *     bench_forces [--only NAME] [--noise 0,0.001,0.01] [--seed 1] [--json FILE] FOLDER COMMAND
 * Prints a row for each, and the vectors of the form that was found; FILE receives the rows. */
#include <gsl/gsl_errno.h>
#include <gsl/gsl_odeiv2.h>

#include "bench.h"
#include "symreg/symreg.h"

enum { ROWS = 300, MOST = 2 * ROWS, POINTS = 500 };
static const double pull = 39.478;

/* a (3) at position x and velocity v. */
typedef void field(const double *x, const double *v, double *a);

static double dot(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void newton(const double *x, const double *v, double *a)
{
    (void)v;
    for (int d = 0; d < 3; d++)
        a[d] = -pull * x[d] / pow(dot(x, x), 1.5);
}

static void linear_drag(const double *x, const double *v, double *a)
{
    newton(x, v, a);
    for (int d = 0; d < 3; d++)
        a[d] -= 0.15 * v[d];
}

static void quadratic_drag(const double *x, const double *v, double *a)
{
    (void)x;
    for (int d = 0; d < 3; d++)
        a[d] = (d == 1 ? -9.81 : 0) - 0.05 * sqrt(dot(v, v)) * v[d];
}

static void lorentz(const double *x, const double *v, double *a)
{
    (void)x;
    a[0] = -1.7 * v[1];
    a[1] = 1.7 * v[0];
    a[2] = 0;
}

static void crossed_fields(const double *x, const double *v, double *a)
{
    lorentz(x, v, a);
    a[0] += 0.4;
    a[2] += 0.1;
}

static void rotating_frame(const double *x, const double *v, double *a)
{
    for (int d = 0; d < 2; d++)
        a[d] = 0.64 * x[d] + (d ? -1.6 * v[0] : 1.6 * v[1]);
    a[2] = 0;
}

static void post_newtonian(const double *x, const double *v, double *a)
{
    const double r = sqrt(dot(x, x)), c2 = 2500;
    newton(x, v, a);
    for (int d = 0; d < 3; d++)
        a[d] +=
            pull / (c2 * r * r * r) * ((4 * pull / r - dot(v, v)) * x[d] + 4 * dot(x, v) * v[d]);
}

static void tides(const double *x, const double *v, double *a)
{
    a[0] = 3 * x[0] + 2 * v[1];
    a[1] = -2 * v[0];
    a[2] = -x[2];
}

static void oblate(const double *x, const double *v, double *a)
{
    const double r2 = dot(x, x), k = 1.5 * pull * 0.05 / pow(r2, 2.5);
    newton(x, v, a);
    for (int d = 0; d < 3; d++)
        a[d] += k * ((5 * x[2] * x[2] / r2 - 1) * x[d] - (d == 2 ? 2 * x[2] : 0));
}

struct kind {
    const char *name;
    int dims;
    double start[6], end; /* position, velocity */
    field *field;
    int tracks;
    const char *vector[5]; /* of the true form */
};
static const struct kind kinds[] = {
    {"newton", 2, {1.3, 0, 0, 0, 4.5, 0}, 3, newton, 1, {"r^-3 * (x, y)"}},
    {"linear_drag", 2, {1.3, 0, 0, 0, 4.5, 0}, 3, linear_drag, 1, {"r^-3 * (x, y)", "(v_x, v_y)"}},
    {"quadratic_drag",
     2,
     {0, 0, 0, 9, 14, 0},
     2.5,
     quadratic_drag,
     1,
     {"v * (v_x, v_y)", "(0, 1)"}},
    {"lorentz", 3, {1, 0, 0, 0.3, 1.2, 0.4}, 12, lorentz, 1, {"(-v_y, v_x, 0)"}},
    {"crossed_fields",
     3,
     {1, 0, 0, 0.3, 1.2, 0.4},
     12,
     crossed_fields,
     2,
     {"(-v_y, v_x, 0)", "(1, 0, 0)", "(0, 0, 1)"}},
    {"rotating_frame",
     2,
     {1, 0.2, 0, -0.7, 0.4, 0},
     4,
     rotating_frame,
     1,
     {"(x, y)", "(-v_y, v_x)"}},
    {"post_newtonian",
     2,
     {1.3, 0, 0, 0, 4.5, 0},
     4,
     post_newtonian,
     2,
     {"r^-3 * (x, y)", "r^-4 * (x, y)", "r^-3 * v^2 * (x, y)", "r^-3 * (r.v) * (v_x, v_y)"}},
    {"tides",
     3,
     {1, 0.2, 0.3, 0.2, -1.9, 0.1},
     9,
     tides,
     2,
     {"x * (1, 0, 0)", "z * (0, 0, 1)", "(-v_y, v_x, 0)"}},
    {"oblate",
     3,
     {1.2, 0, 0.5, 0, 4.5, 2.5},
     3,
     oblate,
     2,
     {"r^-3 * (x, y, z)", "r^-5 * (x, y, z)", "r^-5 * z * (0, 0, 1)", "r^-7 * z^2 * (x, y, z)"}},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static int derive(double t, const double y[], double f[], void *of)
{
    (void)t;
    const struct kind *kind = of;
    memcpy(f, y + 3, 3 * sizeof *f);
    kind->field(y, y + 3, f + 3);
    return GSL_SUCCESS;
}

/* y (ROWS, 6) */
static int integrate(const struct kind *kind, double speed, double (*y)[6])
{
    gsl_odeiv2_system ode = {derive, NULL, 6, (void *)(uintptr_t)kind};
    gsl_odeiv2_driver *driver =
        gsl_odeiv2_driver_alloc_y_new(&ode, gsl_odeiv2_step_rk8pd, 1e-4, 1e-13, 1e-13);
    double t = 0, at[6];
    int rc = driver ? 0 : ORR_ENOMEM;
    for (int d = 0; d < 6; d++)
        at[d] = kind->start[d] * (d < 3 ? 1 : speed);
    for (int i = 0; i < ROWS && !rc; i++) {
        if (i && gsl_odeiv2_driver_apply(driver, &t, kind->end * i / ROWS, at))
            rc = ORR_FAIL(ORR_EDOM, "%s: the integration failed", kind->name);
        memcpy(y[i], at, sizeof at);
    }
    gsl_odeiv2_driver_free(driver);
    return rc;
}

static int write_table(const struct kind *kind, double (*y)[6], double noise, uint64_t seed,
                       const char *path)
{
    double squares = 0;
    gsl_rng *rng = orr_rng_create(seed, ORR_STAGE_TEST_SUITE, (uint64_t)(kind - kinds));
    FILE *out = fopen(path, "w");
    if (!rng || !out)
        return ORR_FAIL(ORR_EIO, "%s: cannot be written", path);
    const int rows = ROWS * kind->tracks;
    for (int i = 0; i < rows; i++)
        squares += dot(y[i], y[i]) / rows;
    fprintf(out, "run,t,x,y%s\n", kind->dims == 3 ? ",z" : "");
    for (int i = 0; i < rows; i++) {
        fprintf(out, "r%d,%.15g", i / ROWS, kind->end * (i % ROWS) / ROWS);
        for (int d = 0; d < kind->dims; d++)
            fprintf(out, ",%.15g", y[i][d] + noise * sqrt(squares) * orr_draw_normal(rng));
        fprintf(out, "\n");
    }
    gsl_rng_free(rng);
    return fclose(out) ? ORR_FAIL(ORR_EIO, "%s: cannot be written", path) : 0;
}

/* ---- what was found */

/* Whether the text of a form has the vectors of the truth and no others. */
static bool has_vectors(const struct kind *kind, const char *form)
{
    int terms = 0, known = 0;
    for (const char *at = strchr(form, ' '); at; at = strchr(at, ' ')) {
        char *end;
        strtod(++at, &end); /* every vector follows a number */
        if (end == at || strncmp(end, " * ", 3) != 0)
            continue;
        terms++;
        for (int k = 0; kind->vector[k]; k++) {
            const size_t n = strlen(kind->vector[k]);
            known +=
                !strncmp(end + 3, kind->vector[k], n) && (end[3 + n] == 0 || end[3 + n] == ' ');
        }
    }
    int all = 0;
    while (kind->vector[all])
        all++;
    return terms == all && known == all;
}

static int read_equations(const struct kind *kind, const char *path, struct sr_expr expr[3],
                          char form[SR_TEXT])
{
    static const char *const plane[] = {"x", "y", "v_x", "v_y", "t"};
    static const char *const space[] = {"x", "y", "z", "v_x", "v_y", "v_z", "t"};
    char *text = NULL;
    size_t bytes = 0;
    FILE *in = fopen(path, "r");
    if (!in || getdelim(&text, &bytes, '\0', in) < 0)
        return ORR_FAIL(ORR_EIO, "%s: cannot be read", path);
    fclose(in);
    cJSON *json = cJSON_Parse(text);
    const cJSON *list = cJSON_GetObjectItem(json, "equations");
    const cJSON *symmetry = cJSON_GetObjectItem(json, "symmetry");
    const char *words = cJSON_GetStringValue(cJSON_GetObjectItem(symmetry, "form"));
    int rc = cJSON_GetArraySize(list) == kind->dims ? 0 : ORR_FAIL(ORR_EFORMAT, "%s", path);
    for (int d = 0; d < kind->dims && !rc; d++)
        rc = sr_expr_parse(NULL, cJSON_GetStringValue(cJSON_GetArrayItem(list, d)),
                           kind->dims == 3 ? space : plane, 2 * kind->dims + 1, &expr[d]);
    snprintf(form, SR_TEXT, "%s", words ? words : "by components");
    cJSON_Delete(json);
    free(text);
    return rc;
}

/* The rms difference over the rms acceleration, at points of the track's box. */
static double compare(const struct kind *kind, double (*y)[6], const struct sr_expr expr[3])
{
    double low[6], high[6], nearest = HUGE_VAL, off = 0, all = 0;
    gsl_rng *rng = orr_rng_create(2, ORR_STAGE_TEST_SUITE, 0);
    for (int d = 0; d < 6 && rng; d++) {
        low[d] = HUGE_VAL;
        high[d] = -HUGE_VAL;
        for (int i = 0; i < ROWS * kind->tracks; i++) {
            low[d] = fmin(low[d], y[i][d]);
            high[d] = fmax(high[d], y[i][d]);
        }
    }
    for (int i = 0; i < ROWS * kind->tracks; i++)
        nearest = fmin(nearest, sqrt(dot(y[i], y[i])));
    for (int p = 0; p < POINTS && rng;) {
        double at[6], a[3], row[7] = {0}, found;
        for (int d = 0; d < 6; d++)
            at[d] = low[d] + (high[d] - low[d]) * orr_rng_uniform(rng);
        if (sqrt(dot(at, at)) < nearest)
            continue;
        kind->field(at, at + 3, a);
        memcpy(row, at, (size_t)kind->dims * sizeof *row);
        memcpy(row + kind->dims, at + 3, (size_t)kind->dims * sizeof *row);
        const struct sr_data one = {.rows = 1, .features = 2 * kind->dims + 1, .x = row};
        for (int d = 0; d < kind->dims; d++) {
            off += sr_eval(&expr[d], &one, &found) ? pow(found - a[d], 2) : HUGE_VAL;
            all += a[d] * a[d];
        }
        p++;
    }
    gsl_rng_free(rng);
    return sqrt(off / all);
}

/* Prints a row, and adds it to the list. */
static void tell(const struct kind *kind, double noise, double off, const char *form, cJSON *rows)
{
    const double allowed = noise > 0.005 ? 0.05 : noise > 0 ? 0.01 : 0.001;
    const char *found = off > allowed || isnan(off) ? "wrong"
                        : has_vectors(kind, form)   ? "right"
                                                    : "right values, other form";
    cJSON *row = cJSON_CreateObject();
    printf("| %s | %g%% | %s | %.2g | %s |\n", kind->name, 100 * noise, found, off, form);
    fflush(stdout);
    cJSON_AddStringToObject(row, "field", kind->name);
    cJSON_AddNumberToObject(row, "noise_percent", 100 * noise);
    cJSON_AddStringToObject(row, "found", found);
    cJSON_AddNumberToObject(row, "rms_difference", off);
    cJSON_AddStringToObject(row, "form", form);
    cJSON_AddItemToArray(rows, row);
}

static int run(const struct kind *kind, double noise, uint64_t seed, const char *folder,
               const char *command, cJSON *rows)
{
    double(*y)[6] = orr_alloc(MOST, sizeof *y);
    struct sr_expr *expr = orr_alloc(3, sizeof *expr);
    char table[4096], out[4096], result[4200], form[SR_TEXT] = "";
    int rc = y && expr ? 0 : ORR_ENOMEM;
    for (int k = 0; k < kind->tracks && !rc; k++)
        rc = integrate(kind, k ? 0.8 : 1, y + (size_t)k * ROWS);
    snprintf(table, sizeof table, "%s/%s_%g.csv", folder, kind->name, noise);
    snprintf(out, sizeof out, "%s/%s_%g", folder, kind->name, noise);
    snprintf(result, sizeof result, "%s/equations.json", out);
    rc = rc ? rc : write_table(kind, y, noise, seed, table);
    if (!rc) {
        setenv("TABLE", table, 1);
        setenv("OUT", out, 1);
        setenv("POSITION", kind->dims == 3 ? "x,y,z" : "x,y", 1);
        double off = NAN;
        if (system(command) == 0 && read_equations(kind, result, expr, form) == 0)
            off = compare(kind, y, expr);
        tell(kind, noise, off, form, rows);
    }
    free(expr);
    free(y);
    return rc;
}

int main(int argc, char **argv)
{
    const char *only = NULL, *noises = "0,0.001,0.01", *json = NULL;
    uint64_t seed = 1;
    int at = 1;
    for (; at + 1 < argc && !strncmp(argv[at], "--", 2); at += 2)
        if (!strcmp(argv[at], "--only"))
            only = argv[at + 1];
        else if (!strcmp(argv[at], "--noise"))
            noises = argv[at + 1];
        else if (!strcmp(argv[at], "--json"))
            json = argv[at + 1];
        else if (!strcmp(argv[at], "--seed"))
            seed = strtoull(argv[at + 1], NULL, 10);
    if (argc - at != 2) {
        printf("usage: bench_forces [--only NAME] [--noise 0,0.001,0.01] [--seed 1] [--json FILE] "
               "FOLDER "
               "COMMAND\n");
        return 2;
    }
    int rc = 0;
    cJSON *all = cJSON_CreateObject(), *rows = cJSON_AddArrayToObject(all, "rows");
    for (int k = 0; k < KINDS && !rc; k++)
        for (const char *next = noises; next && !rc; next = strchr(next, ',')) {
            next += *next == ',';
            if (!only || !strcmp(only, kinds[k].name))
                rc = run(&kinds[k], strtod(next, NULL), seed, argv[at], argv[at + 1], rows);
        }
    cJSON_AddStringToObject(all, "command", argv[at + 1]);
    rc = rc || !json ? rc : orr_json_write_plain(json, all);
    cJSON_Delete(all);
    if (rc)
        fprintf(stderr, "bench_forces: %s\n", orr_error());
    return rc ? 1 : 0;
}
