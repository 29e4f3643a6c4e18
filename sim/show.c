/* show.c - one sequence for the eye: elements, sampling, a picture. */
#include "dataset.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Samples per orbit: below the first, motion is not determined by the samples (Nyquist); below
 * the second, accelerations from differences are rough. */
enum { SAMPLES_LEAST = 2, SAMPLES_GOOD = 40 };

struct shown {
    const struct orr_preset *preset;
    enum sim_split split;
    uint64_t index;
    struct sim_system system;
    struct sim_sequence sequence;
};

static double period_yr(const struct sim_system *s, int i)
{
    return sim_period_yr(s->orbit[i].a_au, s->mass[i] + s->star_mass);
}

/* Otherwise the bodies leave the ellipses of their elements. */
static bool kepler_orbits(const struct shown *w)
{
    return sim_states_closed(&w->sequence.dynamics, &w->system);
}

static void print_table(const struct shown *w)
{
    const struct sim_system *s = &w->system;
    printf("%s %llu of preset %s, seed %llu: %d bodies, %d positions, dt %.6g yr\n",
           sim_split_name(w->split), (unsigned long long)w->index, w->preset->name,
           (unsigned long long)w->preset->seed, s->planets + 1, w->sequence.positions, s->dt_yr);
    printf("%-5s %12s %9s %7s %9s %9s %11s %9s\n", "body", "mass", "a", "e", "omega", "phase",
           "period", "samples");
    printf("%-5s %12s %9s %7s %9s %9s %11s %9s\n", "", "solar", "AU", "", "degrees", "degrees",
           "yr", "per orbit");
    const double degrees = 180 / acos(-1);
    for (int i = 0; i < s->planets; i++) {
        const struct sim_elements *el = &s->orbit[i];
        const double period = period_yr(s, i);
        printf("%-5d %12.4g %9.4f %7.4f %9.2f %9.2f %11.4f %9.1f\n", i + 1, s->mass[i], el->a_au,
               el->e, el->omega_rad * degrees, el->phase_rad * degrees, period, period / s->dt_yr);
    }
    printf("%-5s %12.4g\n", "star", s->star_mass);
    printf("centre of mass %.4f, %.4f AU; the star %s; %ld coordinates clipped\n", s->com_au[0],
           s->com_au[1], s->star_moves ? "moves around it" : "stays there", w->sequence.clipped);
    if (!kepler_orbits(w))
        printf("law %s%s%s: elements and periods are those of Newton's law, which sets the start\n",
               w->sequence.dynamics.law->name, w->sequence.dynamics.nbody ? ", nbody" : "",
               w->sequence.dynamics.jump_step ? ", with a jump" : "");
    for (int i = 0; i < s->planets; i++) {
        const double samples = period_yr(s, i) / s->dt_yr;
        if (samples < SAMPLES_LEAST)
            printf("warning: body %d is sampled %.1f times per orbit, below %d (Nyquist): its "
                   "motion can not be told from these samples\n",
                   i + 1, samples, SAMPLES_LEAST);
        else if (samples < SAMPLES_GOOD)
            printf("note: body %d is sampled %.1f times per orbit, below %d: forces by "
                   "differences are rough\n",
                   i + 1, samples, SAMPLES_GOOD);
    }
}

/* ------------------------------------------------------------------------------ picture */

/* Where a body of row `row` is seen, AU. */
static void seen_at(const struct shown *w, size_t row, double xy[2])
{
    const struct sim_sequence *q = &w->sequence;
    const struct orr_orbits_preset *o = &w->preset->orbits;
    for (size_t c = 0; c < 2; c++)
        xy[c] = q->tokens
                    ? (q->tokens[2 * row + c] + 0.5) * 2 * o->extent_au / o->bins - o->extent_au
                    : (double)q->coords[2 * row + c] * (double)q->scale;
}

static void write_samples(const struct shown *w, int body, FILE *to)
{
    const size_t bodies = (size_t)w->system.planets + 1;
    fprintf(to, "$seen%d << END\n", body);
    for (size_t row = 1 + (size_t)body; row < (size_t)w->sequence.positions; row += bodies) {
        double xy[2];
        seen_at(w, row, xy);
        fprintf(to, "%.6f %.6f\n", xy[0], xy[1]);
    }
    fprintf(to, "END\n");
}

enum { CURVE = 721 };

/* One Kepler orbit of planet i, as the data shows it: around the star, or around the centre. */
static int write_curve(const struct shown *w, int i, FILE *to)
{
    double *state = orr_alloc(4 * CURVE, sizeof *state);
    const struct sim_system *s = &w->system;
    if (!state)
        return ORR_ENOMEM;
    const double total = s->mass[i] + s->star_mass;
    const double share = s->star_moves ? s->star_mass / total : 1;
    const int rc =
        sim_orbit_states(&s->orbit[i], total, period_yr(s, i) / (CURVE - 1), CURVE, state);
    fprintf(to, "$curve%d << END\n", i);
    for (int k = 0; k < CURVE && !rc; k++)
        fprintf(to, "%.6f %.6f\n", s->com_au[0] + share * state[4 * k],
                s->com_au[1] + share * state[4 * k + 1]);
    fprintf(to, "END\n");
    free(state);
    return rc;
}

/* Colours that stay apart for the colour-blind, then repeated darker. */
static const char *const colours[SIM_PLANETS] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                 "#56b4e9", "#8c510a", "#5e3c99", "#666666",
                                                 "#b2182b", "#1b7837"};

static int write_script(const struct shown *w, const char *format, const char *output, FILE *to)
{
    const struct sim_system *s = &w->system;
    fprintf(to, "set terminal %s\nset output '%s'\n",
            !strcmp(format, "svg") ? "svg size 900,700 font 'sans,13'"
                                   : "pngcairo size 900,700 font 'sans,11'",
            output);
    fprintf(to, "set size ratio -1\nset key outside right top Left reverse\n"
                "set grid lc rgb '#dddddd'\nset xlabel 'x, AU'\nset ylabel 'y, AU'\n"
                "set offsets graph 0.04, graph 0.04, graph 0.04, graph 0.04\n");
    fprintf(to, "set title '%s %llu, time step %.4g yr' noenhanced\n", sim_split_name(w->split),
            (unsigned long long)w->index, s->dt_yr);
    int rc = 0;
    const bool kepler = kepler_orbits(w);
    for (int i = 0; i < s->planets && kepler && !rc; i++)
        rc = write_curve(w, i, to);
    for (int i = 0; i <= s->planets; i++)
        write_samples(w, i, to);
    fprintf(to, "plot ");
    for (int i = 0; i < s->planets; i++)
        fprintf(to, "$%s%d with lines lc rgb '%s' lw 0.6 notitle, ", kepler ? "curve" : "seen", i,
                colours[i]);
    for (int i = 0; i < s->planets; i++)
        fprintf(to,
                "$seen%d with points pt 7 ps 0.45 lc rgb '%s' notitle, NaN with points pt 7 ps 1 "
                "lc rgb '%s' title 'a = %.2f AU, e = %.2f', ",
                i, colours[i], colours[i], s->orbit[i].a_au, s->orbit[i].e);
    fprintf(to, "$seen%d with points pt 3 ps 1.2 lc rgb '#e6a700' title 'star'\n", s->planets);
    return rc;
}

/* Quotes end gnuplot's file name. */
static int check_name(const char *picture, const char **format)
{
    const char *dot = strrchr(picture, '.');
    *format = dot ? dot + 1 : "";
    if (strcmp(*format, "png") && strcmp(*format, "svg"))
        return ORR_FAIL(ORR_EUSAGE, "--out: expected FILE.png or FILE.svg, found \"%s\"", picture);
    if (strpbrk(picture, "'\n\\"))
        return ORR_FAIL(ORR_EUSAGE, "--out: no quotes or backslashes in %s", picture);
    return 0;
}

/* gnuplot does not report a full disk: a picture is whole when it ends as its format ends. */
static int check_whole(const char *path, const char *format, const char *picture)
{
    char *bytes;
    size_t size;
    int rc = orr_file_read(path, &bytes, &size);
    if (rc)
        return rc;
    const bool whole = strcmp(format, "svg") ? size > 20 && !memcmp(bytes + size - 8, "IEND", 4)
                                             : strstr(bytes, "</svg>") != NULL;
    free(bytes);
    return whole ? 0 : ORR_FAIL(ORR_EIO, "gnuplot: %s is incomplete (disk full?)", picture);
}

/* gnuplot writes into the file that we have open and locked. */
static int run_gnuplot(const struct shown *w, const char *format, const char *output,
                       const char *picture)
{
    FILE *to = popen("gnuplot", "w");
    if (!to)
        return ORR_FAIL(ORR_EIO, "gnuplot: cannot start: %s", strerror(errno));
    const int rc = write_script(w, format, output, to), status = pclose(to);
    if (rc)
        return rc;
    if (orr_signal_seen())
        return ORR_FAIL(ORR_EINTR, "stopped by a signal; %s was not drawn", picture);
    if (status)
        return ORR_FAIL(ORR_EIO, "gnuplot: failed while drawing %s (is gnuplot-nox installed?)",
                        picture);
    return check_whole(output, format, picture);
}

static int draw(const struct shown *w, const char *picture)
{
    struct orr_file file;
    const char *format;
    int rc = check_name(picture, &format);
    if (!rc)
        rc = orr_file_create(&file, picture);
    if (rc)
        return rc;
    rc = run_gnuplot(w, format, file.temporary, picture);
    if (!rc)
        rc = orr_file_commit(&file);
    orr_file_close(&file);
    return rc;
}

int sim_sequence_show(const struct orr_preset *preset, enum sim_split split, uint64_t index,
                      const char *picture)
{
    struct shown w = {.preset = preset, .split = split, .index = index};
    const char *format;
    int rc = picture ? check_name(picture, &format) : 0;
    if (!rc)
        rc = sim_sequence_create(&w.sequence, preset, split);
    if (rc)
        return rc;
    rc = sim_system_draw(preset, split, index, w.sequence.rng, &w.system);
    w.system.star_moves |= w.sequence.dynamics.nbody;
    if (!rc)
        rc = sim_sequence_make(&w.sequence, preset, split, index);
    if (!rc)
        print_table(&w);
    if (!rc && picture)
        rc = draw(&w, picture);
    sim_sequence_free(&w.sequence);
    return rc;
}
