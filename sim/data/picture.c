/* picture.c - draws the orbits and samples of one sequence by figures/orbit.gp. */
#include "sim/data/print_sequence.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CURVE = 721 }; /* points on an ellipse */

/* Colours of the project's figures, distinguishable for the colour-blind; the script sets the
 * star's. */
static const char *const colours[SIM_PLANETS] = {"#1f6fb4", "#d1602b", "#2a8f5b", "#8a4fb0",
                                                 "#b0406e", "#2f8f9d", "#6b6f2a", "#5a5fc0",
                                                 "#9c5a3c", "#222222"};

/* ---------------------------------------------------------------------------------- samples */

/* The observed position of the body in row `row`, AU. */
static void seen_at(const struct sim_shown *w, size_t row, double xy[])
{
    const struct sim_sequence *q = &w->sequence;
    const struct orr_orbits_settings *o = &w->settings->orbits;
    const size_t axes = (size_t)q->dimensions;
    for (size_t c = 0; c < axes; c++)
        xy[c] = q->tokens
                    ? (q->tokens[2 * row + c] + 0.5) * 2 * o->extent_au / o->bins - o->extent_au
                    : (double)q->coords[axes * row + c] * (double)q->scale;
}

/* The fraction of the separation from planet i at which the planet, or the star, lies from the
 * centre. */
static double share_of(const struct sim_shown *w, int i, bool star)
{
    const struct sim_system *s = &w->system;
    const double total = s->mass[i] + s->star_mass;
    if (!s->star_moves)
        return star ? 0 : 1;
    return star ? -s->mass[i] / total : s->star_mass / total;
}

/* What is drawn of a body (the star is after the last planet): its samples, and its ellipse if it
 * has one. */
struct drawn {
    double *curve; /* (points, d), AU */
    int points, axes;
    double low[SIM_AXES], high[SIM_AXES]; /* extent of samples and curve */
    double nearest, farthest;             /* from the centre */
};

static void extend_drawn(struct drawn *d, const double centre[], const double xy[])
{
    const double z = d->axes == 3 ? xy[2] - centre[2] : 0,
                 flat = hypot(xy[0] - centre[0], xy[1] - centre[1]);
    const double r = d->axes == 3 ? hypot(flat, z) : flat;
    for (int c = 0; c < d->axes; c++) {
        d->low[c] = fmin(d->low[c], xy[c]);
        d->high[c] = fmax(d->high[c], xy[c]);
    }
    d->nearest = fmin(d->nearest, r);
    d->farthest = fmax(d->farthest, r);
}

/* Computes one orbit of a body. The star has an ellipse only with a single planet. */
static int make_curve(const struct sim_shown *w, int body, struct drawn *d)
{
    const struct sim_system *s = &w->system;
    const bool star = body == s->planets;
    const int i = star ? 0 : body;
    if (!sim_shown_kepler(w) || (star && !(s->star_moves && s->planets == 1)))
        return 0;
    const int axes = d->axes;
    double *state = orr_alloc(SIM_STATE * CURVE, sizeof *state);
    d->curve = orr_alloc(SIM_AXES * CURVE, sizeof *d->curve);
    int rc = state && d->curve ? 0 : ORR_ENOMEM;
    if (!rc)
        rc = sim_orbit_states(&s->orbit[i], s->mass[i] + s->star_mass,
                              sim_shown_period_yr(w, i) / (CURVE - 1), CURVE, state);
    const double share = share_of(w, i, star);
    for (int k = 0; k < CURVE && !rc; k++)
        for (int c = 0; c < axes; c++)
            d->curve[axes * k + c] = s->com_au[c] + share * state[2 * axes * k + c];
    d->points = rc ? 0 : CURVE;
    free(state);
    return rc;
}

static int make_drawn(const struct sim_shown *w, int body, struct drawn *d)
{
    const struct sim_system *s = &w->system;
    *d = (struct drawn){.low = {INFINITY, INFINITY, INFINITY},
                        .high = {-INFINITY, -INFINITY, -INFINITY},
                        .nearest = INFINITY,
                        .axes = w->sequence.dimensions};
    const int rc = make_curve(w, body, d);
    for (int k = 0; k < d->points; k++)
        extend_drawn(d, s->com_au, d->curve + (size_t)d->axes * (size_t)k);
    for (size_t row = 1 + (size_t)body; row < (size_t)w->sequence.positions;
         row += (size_t)s->planets + 1) {
        double xy[SIM_AXES] = {0};
        seen_at(w, row, xy);
        extend_drawn(d, s->com_au, xy);
    }
    return rc;
}

/* -------------------------------------------------------------------------------------- panels */

struct panel {
    double centre[2], half;  /* AU; half: half the side */
    bool shows[SIM_PLANETS]; /* planets with a part inside */
    int inside;              /* planets that stay inside */
};

/* Frames a square around the star and the planets within a distance from the centre, in the plane
 * of the x axis and another one. */
static void frame_drawn(const struct sim_shown *w, const struct drawn *drawn, int other,
                        double within, struct panel *panel)
{
    static const double margin = 1.12;
    const int n = w->system.planets;
    double low[2], high[2];
    *panel = (struct panel){.half = 0};
    for (int c = 0; c < 2; c++) {
        const int axis = c ? other : 0;
        low[c] = drawn[n].low[axis];
        high[c] = drawn[n].high[axis];
        for (int i = 0; i < n; i++) {
            if (drawn[i].farthest > within)
                continue;
            low[c] = fmin(low[c], drawn[i].low[axis]);
            high[c] = fmax(high[c], drawn[i].high[axis]);
        }
        panel->centre[c] = (low[c] + high[c]) / 2;
        panel->half = fmax(panel->half, margin * (high[c] - low[c]) / 2);
    }
    if (!(panel->half > 0))
        panel->half = 1;
    for (int i = 0; i < n; i++) {
        panel->inside += drawn[i].farthest <= within;
        panel->shows[i] = drawn[i].farthest <= within || drawn[i].nearest < 2 * panel->half;
    }
}

/* Makes a panel of all bodies and, if the widest gap between orbits leaves the inner ones only a
 * small spot, one of the inner bodies. In space the panels are the x, y and the x, z plane, of
 * equal scale. Returns the number of panels. */
static int make_panels(const struct sim_shown *w, const struct drawn *drawn, struct panel panel[2])
{
    static const double gap_least = 2, share_most = 0.2;
    const int n = w->system.planets;
    double reach[SIM_PLANETS] = {0}, widest = gap_least, within = 0;
    frame_drawn(w, drawn, 1, INFINITY, &panel[0]);
    if (w->sequence.dimensions == 3) {
        frame_drawn(w, drawn, 2, INFINITY, &panel[1]);
        panel[0].half = panel[1].half = fmax(panel[0].half, panel[1].half);
        return 2;
    }
    for (int i = 0; i < n; i++)
        reach[i] = drawn[i].farthest;
    qsort(reach, (size_t)n, sizeof *reach, orr_compare_doubles);
    for (int i = 0; i + 1 < n; i++) {
        if (reach[i] > share_most * reach[n - 1] || !(reach[i + 1] > widest * reach[i]))
            continue;
        widest = reach[i + 1] / reach[i];
        within = reach[i];
    }
    if (within > 0)
        frame_drawn(w, drawn, 1, within, &panel[1]);
    return within > 0 ? 2 : 1;
}

/* ------------------------------------------------------------------------- what gnuplot reads */

static void write_point(const double xy[], int axes, FILE *to)
{
    fprintf(to, "%.6f %.6f", xy[0], xy[1]);
    if (axes == 3)
        fprintf(to, " %.6f", xy[2]);
    fprintf(to, "\n");
}

/* Writes a block of $seen: the samples of a body. */
static void write_samples(const struct sim_shown *w, int body, FILE *to)
{
    const size_t bodies = (size_t)w->system.planets + 1;
    for (size_t row = 1 + (size_t)body; row < (size_t)w->sequence.positions; row += bodies) {
        double xy[SIM_AXES] = {0};
        seen_at(w, row, xy);
        write_point(xy, w->sequence.dimensions, to);
    }
    fprintf(to, "\n\n");
}

/* Writes a block of $curve: the ellipse, or lines between samples. */
static void write_curve(const struct sim_shown *w, const struct drawn *d, int body, FILE *to)
{
    if (!d->points) {
        write_samples(w, body, to);
        return;
    }
    for (int k = 0; k < d->points; k++)
        write_point(d->curve + d->axes * k, d->axes, to);
    fprintf(to, "\n\n");
}

static void write_panels(const struct sim_shown *w, const struct panel *panel, int panels, FILE *to)
{
    const int n = w->system.planets;
    fprintf(to, "panels = %d\ninside = %d\narray body[%d]\n", panels, panel[panels - 1].inside,
            panels * n);
    fprintf(to, "array centre_x[2]\narray centre_y[2]\narray half[2]\narray shown[2]\n");
    for (int p = 0; p < panels; p++) {
        int shown = 0;
        for (int i = 0; i < n; i++)
            if (panel[p].shows[i])
                fprintf(to, "body[%d] = %d\n", p * n + ++shown, i + 1);
        fprintf(to, "centre_x[%d] = %.9g\ncentre_y[%d] = %.9g\nhalf[%d] = %.9g\nshown[%d] = %d\n",
                p + 1, panel[p].centre[0], p + 1, panel[p].centre[1], p + 1, panel[p].half, p + 1,
                shown);
    }
}

/* Writes the file that orbit.gp loads. */
static void write_input(const struct sim_shown *w, const struct drawn *drawn, FILE *to)
{
    const struct sim_system *s = &w->system;
    struct panel panel[2] = {{.half = 0}};
    fprintf(to, "heading = '%s, sequence %llu'\n", sim_split_name(w->split),
            (unsigned long long)w->index);
    fprintf(to, "note = '%d bodies, %d rows, time step %.4g%s'\n", s->planets + 1,
            w->sequence.positions, s->dt_yr, w->tracks ? "" : " yr");
    if (w->sequence.dimensions == 3)
        fprintf(to, "space = 1\n");
    if (w->tracks)
        fprintf(to, "unit = ''\nlast_body = 'body %d'\n", s->planets + 1);
    char law[160];
    sim_shown_law(w, law);
    fprintf(to, "law = \"%s\"\n", law);
    fprintf(to, "lines = '%s'\nplanets = %d\n",
            sim_shown_kepler(w) ? "orbits of these elements" : "from sample to sample", s->planets);
    write_panels(w, panel, make_panels(w, drawn, panel), to);
    fprintf(to, "array colour[%d]\narray legend[%d]\n", s->planets, s->planets);
    for (int i = 0; i < s->planets; i++) {
        fprintf(to, "colour[%d] = '%s'\nlegend[%d] = 'body %d", i + 1, colours[i], i + 1, i + 1);
        if (w->unknown)
            fprintf(to, "'\n");
        else
            fprintf(to, ": a = %.2f AU, e = %.2f'\n", s->orbit[i].a_au, s->orbit[i].e);
    }
    fprintf(to, "$curve << END\n");
    for (int i = 0; i <= s->planets; i++)
        write_curve(w, &drawn[i], i, to);
    fprintf(to, "END\n$seen << END\n");
    for (int i = 0; i <= s->planets; i++)
        write_samples(w, i, to);
    fprintf(to, "END\n");
}

/* -------------------------------------------------------------------------------- the picture */

int sim_picture_check(const char *picture)
{
    const char *dot = strrchr(picture, '.');
    return dot && (!strcmp(dot, ".png") || !strcmp(dot, ".svg"))
               ? 0
               : ORR_FAIL(ORR_EUSAGE, "--out: expected FILE.png or FILE.svg, found \"%s\"",
                          picture);
}

/* gnuplot reads its input from a file that keeps its temporary name. */
int sim_picture_draw(const struct sim_shown *w, const char *picture)
{
    struct drawn drawn[SIM_PLANETS + 1] = {{0}};
    struct orr_file input = {0};
    char path[4096];
    int rc = sim_picture_check(picture);
    if (!rc)
        rc = orr_path(path, "%s.gpdata", picture);
    for (int i = 0; i <= w->system.planets && !rc; i++)
        rc = make_drawn(w, i, &drawn[i]);
    if (!rc)
        rc = orr_file_create(&input, path);
    if (!rc)
        write_input(w, drawn, input.stream);
    if (!rc)
        rc = orr_file_flush(&input);
    if (!rc)
        rc = orr_gnuplot_draw("orbit.gp", input.temporary, picture);
    orr_file_close(&input);
    for (int i = 0; i <= w->system.planets; i++)
        free(drawn[i].curve);
    return rc;
}
