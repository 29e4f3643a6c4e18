/* systems.c - `orbits --systems FILE --out DIR`: simulates systems of the user, given by state
 * vectors or elements, under the law of the settings; the tracks become data sets. */
#include "base/text.h"
#include "symreg/layout/layout.h"
#include "symreg/motion/motion.h"
#include "tracks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

enum { MOST_BODIES = SIM_PLANETS + 1, NUMBERS = 6, STEPS = 100 };
enum form { FORM_STATE, FORM_ELEMENTS };
/* The last third is of systems in space. */
static const char *const state_name[NUMBERS] = {"x", "y", "vx", "vy", "z", "vz"};
static const char *const element_name[NUMBERS] = {"a",     "e",           "omega",
                                                  "phase", "inclination", "node"};

/* A table of systems, whose rows are bodies. */
struct systems {
    const char *file;
    struct orr_csv csv;
    enum form form;
    int axes, numbers; /* coordinates; columns of a state or of elements */
    int system, mass, dt, clockwise, number[NUMBERS]; /* columns; -1: none */
};
/* A system under construction. */
struct given {
    int bodies;
    double mass[MOST_BODIES], start[SIM_STATE * MOST_BODIES], dt;
    bool central[MOST_BODIES]; /* a row without elements */
    struct sim_elements orbit[MOST_BODIES];
};

/* ------------------------------------------------------------------------------- the table */

static int find_columns(struct systems *s)
{
    const struct orr_csv *csv = &s->csv;
    const bool elements = orr_csv_column(csv, element_name[0]) >= 0;
    if (elements && orr_csv_column(csv, state_name[0]) >= 0)
        return ORR_FAIL(ORR_EINVAL,
                        "%s: expected columns x, y, vx, vy or a, e, omega, phase, found both",
                        s->file);
    s->form = elements ? FORM_ELEMENTS : FORM_STATE;
    const char *const *name = elements ? element_name : state_name;
    s->axes = orr_csv_column(csv, name[4]) >= 0 || orr_csv_column(csv, name[5]) >= 0 ? 3 : 2;
    s->numbers = 2 * s->axes;
    for (int k = 0; k < s->numbers; k++)
        TRY(sr_table_column(csv, s->file, name[k], &s->number[k]));
    TRY(sr_table_column(csv, s->file, "m", &s->mass));
    s->system = orr_csv_column(csv, "system");
    s->dt = orr_csv_column(csv, "dt");
    s->clockwise = elements ? orr_csv_column(csv, "clockwise") : -1;
    return 0;
}

static double number_at(const struct systems *s, size_t row, int column)
{
    return s->csv.values[row * s->csv.cols + (size_t)column];
}

static const char *name_at(const struct systems *s, size_t row)
{
    return s->system < 0 ? "" : s->csv.cells[row * s->csv.cols + (size_t)s->system];
}

static bool is_missing(const struct systems *s, size_t row, int column)
{
    const char *cell = s->csv.cells[row * s->csv.cols + (size_t)column];
    return cell && sr_cell_is_missing(cell);
}

static int take_number(const struct systems *s, size_t row, int column, double above,
                       double *number)
{
    *number = number_at(s, row, column);
    if (!isfinite(*number))
        return sr_table_wrong_cell(&s->csv, s->file, row, column);
    return *number > above
               ? 0
               : ORR_FAIL(ORR_EINVAL, "%s:%zu: column \"%s\": expected a number above %g, found %g",
                          s->file, s->csv.line[row], s->csv.names[column], above, *number);
}

static int take_elements(const struct systems *s, size_t row, struct given *g)
{
    struct sim_elements *el = &g->orbit[g->bodies];
    double clockwise = 0;
    int missing = 0;
    for (int k = 0; k < s->numbers; k++)
        missing += is_missing(s, row, s->number[k]);
    g->central[g->bodies] = missing == s->numbers;
    if (g->central[g->bodies])
        return 0;
    TRY(take_number(s, row, s->number[0], 0, &el->a_au));
    TRY(take_number(s, row, s->number[1], -1e-300, &el->e));
    TRY(take_number(s, row, s->number[2], -INFINITY, &el->omega_rad));
    TRY(take_number(s, row, s->number[3], -INFINITY, &el->phase_rad));
    el->in_space = s->axes == 3;
    if (el->in_space) {
        TRY(take_number(s, row, s->number[4], -INFINITY, &el->inclination_rad));
        TRY(take_number(s, row, s->number[5], -INFINITY, &el->node_rad));
    }
    if (s->clockwise >= 0)
        TRY(take_number(s, row, s->clockwise, -1e-300, &clockwise));
    el->clockwise = clockwise > 0;
    return el->e < 1 ? 0
                     : ORR_FAIL(ORR_EINVAL,
                                "%s:%zu: column \"e\": expected a number below 1, found %g; an "
                                "orbit that is not bound can be given by x, y, vx, vy",
                                s->file, s->csv.line[row], el->e);
}

/* Takes the row of a body. */
static int take_row(const struct systems *s, size_t row, double dt_yr, struct given *g)
{
    double dt = dt_yr;
    if (g->bodies == MOST_BODIES)
        return ORR_FAIL(ORR_EINVAL, "%s:%zu: expected at most %d bodies of a system", s->file,
                        s->csv.line[row], MOST_BODIES);
    TRY(take_number(s, row, s->mass, 0, &g->mass[g->bodies]));
    if (s->dt >= 0)
        TRY(take_number(s, row, s->dt, 0, &dt));
    if (g->bodies && (dt < g->dt || dt > g->dt))
        return ORR_FAIL(
            ORR_EINVAL, "%s:%zu: column \"dt\": expected %.*g, as the rows before it, found %.*g",
            s->file, s->csv.line[row], orr_digits(g->dt, dt), g->dt, orr_digits(g->dt, dt), dt);
    g->dt = dt;
    if (s->form == FORM_ELEMENTS)
        TRY(take_elements(s, row, g));
    static const int place[2][NUMBERS] = {{0, 1, 2, 3}, {0, 1, 3, 4, 2, 5}};
    double *start = g->start + s->numbers * g->bodies;
    for (int k = 0; k < s->numbers && s->form == FORM_STATE; k++)
        TRY(take_number(s, row, s->number[k], -INFINITY, &start[place[s->axes == 3][k]]));
    g->bodies++;
    return 0;
}

/* ------------------------------------------------------------------------------- the starts */

/* Elements are those of Newtonian orbits around the central body, at the start: the speed is theirs
 * under any law. The centre of mass of all bodies rests at the origin. */
static int start_by_elements(const struct systems *s, size_t row, struct given *g)
{
    const int width = 2 * s->axes;
    int centre = -1, count = 0;
    double total = 0;
    for (int i = 0; i < g->bodies; i++) {
        centre = g->central[i] ? i : centre;
        count += g->central[i];
        total += g->mass[i];
    }
    if (count != 1)
        return ORR_FAIL(ORR_EINVAL,
                        "%s:%zu: system \"%s\": expected one row without elements, of the central "
                        "body, found %d",
                        s->file, s->csv.line[row], name_at(s, row), count);
    for (int i = 0; i < g->bodies; i++)
        if (i != centre)
            TRY(sim_orbit_states(&g->orbit[i], g->mass[i] + g->mass[centre], 0, 1,
                                 &g->start[width * i]));
    for (int c = 0; c < width; c++) {
        double moment = 0;
        g->start[width * centre + c] = 0;
        for (int i = 0; i < g->bodies; i++)
            moment += g->mass[i] * g->start[width * i + c];
        for (int i = 0; i < g->bodies; i++)
            g->start[width * i + c] -= moment / total;
    }
    return 0;
}

/* Reads the system that begins at *row, and moves behind its rows. */
static int read_system(const struct systems *s, size_t *row, double dt_yr, struct given *g)
{
    const size_t first = *row;
    *g = (struct given){0};
    for (; *row < s->csv.rows && !strcmp(name_at(s, *row), name_at(s, first)); ++*row)
        TRY(take_row(s, *row, dt_yr, g));
    if (g->bodies < 2)
        return ORR_FAIL(ORR_EINVAL, "%s:%zu: system \"%s\": expected 2 to %d bodies, found %d",
                        s->file, s->csv.line[first], name_at(s, first), MOST_BODIES, g->bodies);
    return s->form == FORM_ELEMENTS ? start_by_elements(s, first, g) : 0;
}

/* ------------------------------------------------------------------------------- simulation */

static int simulate(const struct systems *s, struct sim_dynamics *dynamics, const struct given *g,
                    const char *name, size_t steps, struct sim_track_system *to)
{
    const size_t bodies = (size_t)g->bodies, axes = (size_t)s->axes;
    double *out = orr_alloc(bodies * steps * 2 * axes, sizeof *out);
    *to = (struct sim_track_system){.name = name,
                                    .steps = steps,
                                    .bodies = g->bodies,
                                    .dt = g->dt,
                                    .position = orr_alloc(steps * bodies * axes, sizeof *out),
                                    .velocity = orr_alloc(steps * bodies * axes, sizeof *out),
                                    .mass = orr_alloc(bodies, sizeof *out)};
    int rc = out && to->position && to->velocity && to->mass
                 ? sim_integrate_given(dynamics, g->bodies, g->mass, g->start, g->dt, steps, out)
                 : ORR_ENOMEM;
    if (rc == ORR_EDOM || rc == ORR_EINVAL) {
        char why[512];
        snprintf(why, sizeof why, "%.500s", orr_error());
        rc = ORR_FAIL(rc, "%s: system \"%s\": %s", s->file, name, why);
    }
    for (size_t b = 0; b < bodies && !rc; b++) {
        to->mass[b] = g->mass[b];
        for (size_t k = 0; k < steps; k++)
            for (size_t c = 0; c < axes; c++) {
                const double *state = out + (b * steps + k) * 2 * axes;
                to->position[(k * bodies + b) * axes + c] = state[c];
                to->velocity[(k * bodies + b) * axes + c] = state[axes + c];
            }
    }
    free(out);
    return rc;
}

/* The number of bodies of the largest system. */
static size_t most_bodies(const struct systems *s)
{
    size_t most = 0;
    for (size_t row = 0, first = 0; row < s->csv.rows; row++) {
        first = strcmp(name_at(s, row), name_at(s, first)) != 0 ? row : first;
        most = row + 1 - first > most ? row + 1 - first : most;
    }
    return most;
}

/* Sequences have equal numbers of rows, so that systems of fewer bodies are followed for longer. */
static int simulate_all(const struct systems *s, const struct orr_settings *settings, size_t steps,
                        struct tracks_common *common)
{
    struct sim_dynamics dynamics;
    struct given g;
    const size_t rows = steps * most_bodies(s);
    common->system = orr_alloc(s->csv.rows, sizeof *common->system);
    if (!common->system)
        return ORR_ENOMEM;
    TRY(sim_dynamics_create(&dynamics, settings));
    dynamics.in_space = s->axes == 3; /* the table decides */
    int rc = 0;
    for (size_t row = 0; row < s->csv.rows && !rc;) {
        const char *name = name_at(s, row);
        rc = read_system(s, &row, settings->orbits.dt_yr, &g);
        if (!rc)
            rc = simulate(s, &dynamics, &g, *name ? name : "1",
                          (rows + (size_t)g.bodies - 1) / (size_t)g.bodies,
                          &common->system[common->systems++]);
        if (!rc && orr_signal_seen())
            rc = ORR_FAIL(ORR_EINTR, "stopped while simulating %s; nothing was written", s->file);
    }
    sim_dynamics_free(&dynamics);
    return rc;
}

/* The settings that the tracks depend on, for the manifest and the records. */
static cJSON *describe(const struct orr_settings *settings, size_t steps)
{
    static const char *const keys[] = {"orbits.dt_yr", "orbits.law", "orbits.jump_step",
                                       "orbits.jump_factor"};
    char value[ORR_SETTING], why[256];
    cJSON *how = cJSON_CreateObject();
    cJSON_AddStringToObject(how, "simulated", "systems of this file");
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
        orr_settings_value(settings, keys[k], value);
        cJSON_AddStringToObject(how, keys[k], value);
    }
    const char *key;
    for (int i = 0; (key = orr_settings_key(i)) != NULL; i++)
        if (!strncmp(key, "orbits.law_", 11) || !strcmp(key, "orbits.expression")) {
            orr_settings_value(settings, key, value);
            if (!orr_settings_unused(settings, key, why))
                cJSON_AddStringToObject(how, key, value);
        }
    snprintf(value, sizeof value, "%zu", steps);
    cJSON_AddStringToObject(how, "steps", value);
    cJSON_AddStringToObject(how, "units", "yr,AU,Msun");
    return how;
}

static int write_systems(const struct orr_cli *cli, const struct tracks_options *o,
                         struct systems *s, struct tracks_common *common)
{
    struct sim_import import = {.file = s->file, .seed = cli->settings.seed};
    double unused;
    uint64_t bytes;
    TRY(sr_cells_read(s->file, ORR_CSV_KEEP_TEXT, &s->csv));
    TRY(find_columns(s));
    if (cli->settings.orbits.dimensions == 3 && s->axes == 2)
        return ORR_FAIL(ORR_EINVAL,
                        "%s: orbits.dimensions is 3: expected columns %s and %s, found none",
                        s->file, (s->form == FORM_ELEMENTS ? element_name : state_name)[4],
                        (s->form == FORM_ELEMENTS ? element_name : state_name)[5]);
    TRY(tracks_read_options(o, &import, &unused));
    const size_t steps = import.steps ? (size_t)import.steps : STEPS;
    import.steps = (int)steps;
    TRY(simulate_all(s, &cli->settings, steps, common));
    TRY(orr_file_checksum(s->file, &import.content, &bytes));
    cJSON *how = describe(&cli->settings, steps);
    import.how = how;
    import.dimensions = s->axes;
    import.systems = common->systems;
    import.system = common->system;
    const int rc = sim_dataset_import(cli->out, &import, o->force, cli->quiet);
    cJSON_Delete(how);
    return rc;
}

int tracks_simulate(const struct orr_cli *cli, const char *file, const struct tracks_options *o)
{
    struct systems s = {.file = file};
    struct tracks_common common = {0};
    if (!*cli->out)
        return ORR_FAIL(ORR_EUSAGE, "--systems: where to? Give --out DIR");
    if (cli->plan || cli->resume)
        return ORR_FAIL(ORR_EUSAGE, "%s: does not go with --systems",
                        cli->plan ? "--plan" : "--resume");
    const int rc = write_systems(cli, o, &s, &common);
    tracks_common_free(&common);
    orr_csv_free(&s.csv);
    return rc;
}
