/* animation.c - a body's orbit as a GIF: truth and models as in the player of report.html, drawn by
 * player.gp. */
#include "report.h"

#include <math.h>
#include <string.h>

#include <gsl/gsl_linalg.h>

static const double longest = 2; /* longest arrow, relative to the true one at the same position */
/* length of the true arrow, relative to half the size of the orbit */
static const double arrow_share = 0.5;

struct square {
    double x_au, y_au, half_au;
    double arrow_au; /* length of the true arrow */
};

static void widen_box(double box[4], double x, double y)
{
    if (!isfinite(x) || !isfinite(y))
        return;
    box[0] = fmin(box[0], x);
    box[1] = fmax(box[1], x);
    box[2] = fmin(box[2], y);
    box[3] = fmax(box[3], y);
}

static struct square square_around(const double box[4])
{
    return (struct square){(box[0] + box[1]) / 2, (box[2] + box[3]) / 2,
                           fmax(box[1] - box[0], box[3] - box[2]) / 2, 0};
}

/* The first source with a rollout of the body; NULL: none. */
static const struct report_rollout *rollout_of(const struct report_run *run, int body)
{
    for (int s = 0; s < run->source_count; s++)
        if (run->source[s].rollout[body].count)
            return &run->source[s].rollout[body];
    return NULL;
}

/* The arrow of a prediction, with length `arrow_au` where it equals the true force; NaN without a
 * prediction. */
static void arrow_of(const struct report_source *source, const struct report_position *at,
                     double arrow_au, double arrow[2])
{
    const bool truth = source->role == REPORT_TRUTH;
    const double fx = truth ? at->fx_true : at->fx, fy = truth ? at->fy_true : at->fy;
    const double unit = hypot(at->fx_true, at->fy_true), size = hypot(fx, fy) / unit;
    const double scale = arrow_au / unit * (size > longest ? longest / size : 1);
    arrow[0] = scale * fx;
    arrow[1] = scale * fy;
}

static bool is_shown(const struct report_source *source)
{
    return source->has_vectors &&
           (source->role == REPORT_TRUTH || source->role == REPORT_ATTENTION);
}

static void widen_by_rollouts(const struct report_run *run, int body, double box[4])
{
    for (int s = 0; s < run->source_count; s++) {
        const struct report_rollout *r = &run->source[s].rollout[body];
        for (size_t i = r->known; i < r->count; i++)
            widen_box(box, r->at[i].x_au, r->at[i].y_au);
    }
}

/* The square that contains the orbit, the Sun, all arrows, and rollouts that stay nearby. Rollouts
 * that diverge are left out, as they would shrink the orbit to a dot. */
static struct square frame_of(const struct report_run *run, int body)
{
    double box[4] = {0}, all[4], arrow[2];
    const struct report_orbit *truth = &run->source[0].orbit[body];
    const struct report_rollout *known = rollout_of(run, body);
    for (size_t i = 0; i < truth->count; i++)
        widen_box(box, truth->at[i].x_au, truth->at[i].y_au);
    for (size_t i = 0; known && i < known->count; i++)
        widen_box(box, known->at[i].x_true_au, known->at[i].y_true_au);
    const double orbit_au = square_around(box).half_au, arrow_au = arrow_share * orbit_au;
    memcpy(all, box, sizeof all);
    widen_by_rollouts(run, body, all);
    if (square_around(all).half_au < 1.6 * orbit_au)
        memcpy(box, all, sizeof box);
    for (int s = 0; s < run->source_count; s++)
        for (size_t i = 0; is_shown(&run->source[s]) && i < run->source[s].orbit[body].count; i++) {
            const struct report_position *at = &run->source[s].orbit[body].at[i];
            arrow_of(&run->source[s], at, arrow_au, arrow);
            widen_box(box, at->x_au + arrow[0], at->y_au + arrow[1]);
        }
    struct square view = square_around(box);
    view.half_au = fmax(1.2 * orbit_au, 1.06 * view.half_au);
    view.arrow_au = arrow_au;
    return view;
}

/* ----------------------------------------------------------------------------- the ellipse */

struct track {
    size_t n;
    const struct report_rollout *known;
    const struct report_orbit *truth;
};

static void position_at(const struct track *p, size_t i, double at[2])
{
    at[0] = p->known ? p->known->at[i].x_true_au : p->truth->at[i].x_au;
    at[1] = p->known ? p->known->at[i].y_true_au : p->truth->at[i].y_au;
}

/* Fits a conic around the Sun to all positions by least squares: r = p - u x - v y, c = (p, u, v).
 * False where the positions are not on a conic (under another law than Newton's), or where it is
 * not an ellipse. */
static bool fit_conic(const struct track *p, double c[3])
{
    double m[9] = {0}, b[3] = {0}, at[2];
    for (size_t i = 0; i < p->n; i++) {
        position_at(p, i, at);
        const double row[3] = {1, -at[0], -at[1]}, r = hypot(at[0], at[1]);
        for (int k = 0; k < 3; k++) {
            b[k] += row[k] * r;
            for (int l = 0; l < 3; l++)
                m[3 * k + l] += row[k] * row[l];
        }
    }
    gsl_matrix_view matrix = gsl_matrix_view_array(m, 3, 3);
    gsl_vector_view right = gsl_vector_view_array(b, 3), solution = gsl_vector_view_array(c, 3);
    if (p->n < 5 || gsl_linalg_HH_solve(&matrix.matrix, &right.vector, &solution.vector))
        return false;
    for (size_t i = 0; i < p->n; i++) {
        position_at(p, i, at);
        const double r = hypot(at[0], at[1]);
        if (!(fabs(c[0] - c[1] * at[0] - c[2] * at[1] - r) < 0.01 * r))
            return false;
    }
    return c[0] > 0 && hypot(c[1], c[2]) < 0.99;
}

/* Writes the ellipse at even steps of eccentric anomaly, which resolve both ends well; the
 * positions where there is no ellipse. */
static void write_curve(const struct track *p, struct orr_file *file)
{
    enum { POINTS = 240 };
    double c[3], at[2];
    orr_file_printf(file, "$curve << EOD\n");
    if (fit_conic(p, c)) {
        const double e = hypot(c[1], c[2]), a = c[0] / (1 - e * e), turn = atan2(c[2], c[1]);
        for (int k = 0; k <= POINTS; k++) {
            const double E = 2 * M_PI * k / POINTS;
            const double x = a * (cos(E) - e), y = a * sqrt(1 - e * e) * sin(E);
            orr_file_printf(file, "%.7g %.7g\n", x * cos(turn) - y * sin(turn),
                            x * sin(turn) + y * cos(turn));
        }
    } else {
        for (size_t i = 0; i < p->n; i++) {
            position_at(p, i, at);
            orr_file_printf(file, "%.7g %.7g\n", at[0], at[1]);
        }
    }
    orr_file_printf(file, "EOD\n");
}

/* ---------------------------------------------------------------------------------- blocks */

/* Writes the true positions: those of a rollout, which begin at step 0, else those with forces. */
static void write_orbit(const struct report_run *run, int body, struct orr_file *file)
{
    const struct report_orbit *truth = &run->source[0].orbit[body];
    const struct report_rollout *known = rollout_of(run, body);
    const size_t n = known ? known->count : truth->count;
    const struct track track = {n, known, truth};
    write_curve(&track, file);
    orr_file_printf(file, "$orbit << EOD\n");
    for (size_t i = 0, at = 0; i < n; i++) {
        double xy[2];
        position_at(&track, i, xy);
        const int step = known ? (int)i : truth->at[i].step;
        while (at < truth->count && truth->at[at].step < step)
            at++;
        const bool labelled =
            at < truth->count && truth->at[at].step == step && truth->at[at].labelled;
        orr_file_printf(file, "%d %.7g %.7g %d\n", step, xy[0], xy[1], labelled);
    }
    orr_file_printf(file, "EOD\n$none << EOD\nEOD\n");
}

static void write_forces(const struct report_source *source, int body, int number, double arrow_au,
                         struct orr_file *file)
{
    const struct report_orbit *orbit = &source->orbit[body];
    orr_file_printf(file, "$force%d << EOD\n", number);
    for (size_t i = 0; i < orbit->count; i++) {
        double arrow[2];
        arrow_of(source, &orbit->at[i], arrow_au, arrow);
        if (isfinite(arrow[0]) && isfinite(arrow[1]))
            orr_file_printf(file, "%d %.7g %.7g %.7g %.7g\n", orbit->at[i].step, orbit->at[i].x_au,
                            orbit->at[i].y_au, arrow[0], arrow[1]);
    }
    orr_file_printf(file, "EOD\n");
}

static void write_path(const struct report_source *source, int body, int number,
                       struct orr_file *file)
{
    const struct report_rollout *r = &source->rollout[body];
    if (!r->count)
        return;
    orr_file_printf(file, "$path%d << EOD\n", number);
    for (size_t i = r->known ? r->known - 1 : 0; i < r->count; i++) {
        const bool given = i < r->known;
        orr_file_printf(file, "%zu %.7g %.7g\n", i, given ? r->at[i].x_true_au : r->at[i].x_au,
                        given ? r->at[i].y_true_au : r->at[i].y_au);
    }
    orr_file_printf(file, "EOD\n");
}

static void write_input(const struct report_run *run, int body, struct orr_file *file)
{
    const struct square view = frame_of(run, body);
    const struct report_orbit *truth = &run->source[0].orbit[body];
    const struct report_rollout *known = rollout_of(run, body);
    int number = 0;
    orr_gnuplot_assign(file, "heading", 0, report_body_title[body]);
    orr_gnuplot_assign(file, "note", 0,
                       known ? "Arrows: forces, the true one black. Lines: each model's own "
                               "continuation."
                             : "Arrows: forces, the true one black.");
    orr_file_printf(file, "first = %d\nlast = %d\ncx = %.9g\ncy = %.9g\nhalf = %.9g\n",
                    known ? 0 : truth->at[0].step,
                    known ? (int)known->count - 1 : truth->at[truth->count - 1].step, view.x_au,
                    view.y_au, view.half_au);
    orr_file_printf(file,
                    "array title[%d]\narray colour[%d]\narray paths[%d]\narray "
                    "forces[%d]\n",
                    REPORT_SOURCES, REPORT_SOURCES, REPORT_SOURCES, REPORT_SOURCES);
    write_orbit(run, body, file);
    for (int s = 0; s < run->source_count; s++) {
        const struct report_source *source = &run->source[s];
        if (!is_shown(source))
            continue;
        number++;
        orr_gnuplot_assign(file, "title", number, source->title);
        orr_gnuplot_assign(file, "colour", number, source->colour);
        orr_file_printf(file, "paths[%d] = %d\nforces[%d] = 1\n", number,
                        source->rollout[body].count > 0, number);
        write_forces(source, body, number, view.arrow_au, file);
        write_path(source, body, number, file);
    }
    orr_file_printf(file, "sources = %d\n", number);
}

int report_animate(const struct report_run *run, int body, const char *picture)
{
    char input[REPORT_PATH], folder[REPORT_PATH];
    struct orr_file file = {0};
    if (!run->has_vectors || !run->source[0].orbit[body].count)
        return ORR_FAIL(ORR_EINVAL, "%s: no force vectors of %s to draw", run->path,
                        report_body_title[body]);
    const char *slash = strrchr(picture, '/');
    TRY(orr_path(folder, "%.*s", slash ? (int)(slash - picture) : 1, slash ? picture : "."));
    TRY(orr_mkdir(*folder ? folder : "/"));
    TRY(orr_path(input, "%s/.orbit_%s.gp", folder, report_body_name[body]));
    TRY(orr_file_create(&file, input));
    write_input(run, body, &file);
    int rc = orr_file_commit(&file);
    orr_file_close(&file);
    rc = rc ? rc : orr_gnuplot_draw("player.gp", input, picture);
    remove(input);
    return rc;
}
