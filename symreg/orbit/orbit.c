/* orbit.c - symreg orbit: reads velocities, fits no, one and two planets, prints and writes what
 * was found. */
#include "orbit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* Reads "0.87" or "0.87,0.03". */
static int read_star_mass(const char *text, double *mass, double *error)
{
    char *end;
    *mass = *error = 0;
    if (!text)
        return 0;
    *mass = strtod(text, &end);
    const bool one = end != text && *mass > 0 && isfinite(*mass);
    const char *const second = *end == ',' ? end + 1 : NULL;
    if (second)
        *error = strtod(second, &end);
    if (!one || *end || end == second || !(*error >= 0) || !isfinite(*error))
        return ORR_FAIL(ORR_EUSAGE,
                        "--star-mass: expected solar masses above 0, or with a standard error, "
                        "such as 0.87,0.03, found \"%s\"",
                        text);
    return 0;
}

static int read_planets(const char *text, long *planets)
{
    *planets = -1;
    if (text && !orr_whole(text, 0, SR_ORBIT_PLANETS, planets))
        return ORR_FAIL(ORR_EUSAGE, "--planets: expected 0, 1 or 2, found \"%s\"", text);
    return 0;
}

/* Refuses options before a file is read or a folder made. */
static int check_options(const struct sr_orbit_options *o)
{
    const char *const column[] = {o->time, o->velocity, o->sigma, o->instrument};
    static const char *const option[] = {"--time", "--velocity", "--sigma", "--instrument"};
    double one, two;
    long planets;
    TRY(read_planets(o->planets, &planets));
    TRY(read_star_mass(o->star_mass, &one, &two));
    TRY(o->periods ? sr_orbit_periods(o->periods, &one, &two) : 0);
    for (size_t a = 0; a < sizeof column / sizeof *column; a++)
        for (size_t b = 0; b < a; b++)
            if (column[a] && column[b] && !strcmp(column[a], column[b]))
                return ORR_FAIL(ORR_EUSAGE, "%s: \"%s\" is the column of %s, too", option[a],
                                column[a], option[b]);
    return 0;
}

static int write_report(const struct sr_orbit_answer *answer, const char *folder, bool drawn)
{
    struct orr_file file;
    char path[4096];
    TRY(orr_path(path, "%s/report.md", folder));
    TRY(orr_file_create(&file, path));
    sr_orbit_print(answer, SR_MARKDOWN, &file);
    if (drawn)
        orr_file_printf(&file, "\n![Velocities over phase, and residuals](orbit.png)\n");
    const int rc = orr_file_commit(&file);
    orr_file_close(&file);
    return rc;
}

/* Without gnuplot there is no picture, which a note says. */
static int draw(const struct sr_orbit_answer *answer, const char *folder, bool quiet, bool *drawn)
{
    const int rc = sr_orbit_figure(answer, folder);
    *drawn = rc == 0;
    if (rc != ORR_EMISSING)
        return rc;
    orr_note(quiet, "symreg: no picture: %s", orr_error());
    orr_error_recover();
    return 0;
}

static int write_files(const struct sr_orbit_answer *answer, const char *folder, bool quiet)
{
    char path[4096];
    bool drawn = false;
    TRY(orr_path(path, "%s/orbit.json", folder));
    TRY(sr_orbit_json(answer, path));
    TRY(orr_path(path, "%s/orbit.csv", folder));
    TRY(sr_orbit_table(answer, path));
    TRY(sr_orbit_page(answer, folder, quiet));
    TRY(draw(answer, folder, quiet, &drawn));
    return write_report(answer, folder, drawn);
}

/* Whether the answer has as many planets as were asked for. */
static int choose_orbit(const struct sr_orbits *found, const char *file, long planets,
                        const struct sr_orbit **orbit)
{
    if (planets > found->most)
        return ORR_FAIL(ORR_EDOM,
                        "%s: no orbits of %ld planets: a planet has 5 parameters, an instrument 2, "
                        "of which there have to be fewer than velocities",
                        file, planets);
    *orbit = &found->orbit[planets >= 0 ? planets : found->recommended];
    return 0;
}

static int fit(const struct orr_cli *cli, const struct sr_orbit_options *o,
               struct sr_velocities *data, struct sr_orbit_work *work)
{
    struct sr_orbits *found = orr_alloc(1, sizeof *found);
    struct sr_orbit_answer *answer = orr_alloc(1, sizeof *answer);
    long planets;
    int rc = found && answer ? read_planets(o->planets, &planets) : ORR_ENOMEM;
    if (!rc)
        rc = read_star_mass(o->star_mass, &answer->star_mass, &answer->star_mass_error);
    if (!rc)
        rc = sr_orbits_search(data, o, planets > 0 ? (int)planets : SR_ORBIT_PLANETS, found, work);
    if (!rc)
        rc = choose_orbit(found, data->file, planets, &answer->orbit);
    if (!rc) {
        answer->data = data;
        answer->options = o;
        answer->found = found;
        rc = sr_orbit_values(answer, work);
    }
    if (!rc)
        sr_orbit_print(answer, SR_TERMINAL, NULL);
    if (!rc && *cli->out)
        rc = write_files(answer, cli->out, cli->quiet);
    free(answer);
    free(found);
    return rc;
}

/* Fits with the folder of the results made and locked: one that cannot be written ends the command
 * before the work. */
static int fit_locked(const struct orr_cli *cli, const struct sr_orbit_options *o,
                      struct sr_velocities *data, struct sr_orbit_work *work)
{
    int fd;
    if (!*cli->out)
        return fit(cli, o, data, work);
    TRY(orr_mkdir(cli->out));
    TRY(orr_lock(cli->out, "writing an orbit", ORR_LOCK_WAIT_S, &fd));
    const int rc = fit(cli, o, data, work);
    orr_unlock(fd);
    return rc;
}

int sr_orbit_run(const struct orr_cli *cli, const char *file, const struct sr_orbit_options *o)
{
    static const struct sr_own_kind kinds[] = {
        {"report.md", "# Orbit of ", ", Orrery "},
        {"report.html", "<!DOCTYPE html>", "<title>Orbit - symreg</title>"},
        {"orbit.json", "{", "\"orrery-orbit-1\""},
        {"orbit.csv", "time,instrument,velocity,", NULL}};
    static const char *const picture[] = {"orbit.png"};
    struct sr_velocities data;
    TRY(check_options(o));
    if (*cli->out)
        TRY(sr_own_kinds(cli->out, kinds, sizeof kinds / sizeof *kinds, picture, 1));
    int rc = sr_velocities_read(file, o, &data);
    if (!rc) {
        sr_cells_notes(&data.csv, data.file, cli->quiet);
        sr_dropped_note(&data.dropped, data.file, data.csv.rows, cli->quiet);
        sr_velocities_note_far(&data, cli->quiet);
        if (!o->periods)
            sr_velocities_note_dense(&data, cli->quiet);
    }
    struct sr_orbit_work *work = rc ? NULL : sr_orbit_work_create(data.n);
    if (!rc)
        rc = work ? fit_locked(cli, o, &data, work) : ORR_ENOMEM;
    free(work);
    sr_velocities_free(&data);
    return rc;
}
