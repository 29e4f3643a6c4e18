/* animation.c - a projection of a body's orbit as a GIF: truth and models as in the player of
 * report.html, drawn by player.gp. */
#include "report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double longest = 2; /* longest arrow, relative to the true one at the same position */
/* length of the true arrow, relative to half the size of the orbit */
static const double arrow_share = 0.5;

/* What is drawn: the second coordinate of a view is y, or z. */
struct scene {
    const struct report_run *run;
    int body;
    enum report_view view;
};

static double second_of(const struct scene *scene, double y, double z)
{
    return scene->view == REPORT_XZ ? z : y;
}

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
static const struct report_rollout *rollout_of(const struct scene *scene)
{
    const struct report_run *run = scene->run;
    for (int s = 0; s < run->source_count; s++)
        if (run->source[s].rollout[scene->body].count)
            return &run->source[s].rollout[scene->body];
    return NULL;
}

/* The arrow of a prediction, with length `arrow_au` where it equals the true force; NaN without a
 * prediction. */
static void arrow_of(const struct scene *scene, const struct report_source *source,
                     const struct report_position *at, double arrow_au, double arrow[2])
{
    const bool truth = source->role == REPORT_TRUTH;
    const double true_second = second_of(scene, at->fy_true, at->fz_true);
    const double fx = truth ? at->fx_true : at->fx;
    const double fy = truth ? true_second : second_of(scene, at->fy, at->fz);
    const double unit = hypot(at->fx_true, true_second), size = hypot(fx, fy) / unit;
    const double scale = arrow_au / unit * (size > longest ? longest / size : 1);
    arrow[0] = scale * fx;
    arrow[1] = scale * fy;
}

static bool is_shown(const struct report_source *source)
{
    return source->has_vectors &&
           (source->role == REPORT_TRUTH || source->role == REPORT_ATTENTION);
}

static void widen_by_rollouts(const struct scene *scene, double box[4])
{
    for (int s = 0; s < scene->run->source_count; s++) {
        const struct report_rollout *r = &scene->run->source[s].rollout[scene->body];
        for (size_t i = r->known; i < r->count; i++)
            widen_box(box, r->at[i].x_au, second_of(scene, r->at[i].y_au, r->at[i].z_au));
    }
}

/* The square that contains the orbit, the Sun, all arrows, and rollouts that stay nearby. Rollouts
 * that diverge are left out, as they would shrink the orbit to a dot. */
static struct square frame_of(const struct scene *scene)
{
    const struct report_run *run = scene->run;
    const int body = scene->body;
    double box[4] = {0}, all[4], arrow[2];
    const struct report_orbit *truth = &run->source[0].orbit[body];
    const struct report_rollout *known = rollout_of(scene);
    for (size_t i = 0; i < truth->count; i++)
        widen_box(box, truth->at[i].x_au, second_of(scene, truth->at[i].y_au, truth->at[i].z_au));
    for (size_t i = 0; known && i < known->count; i++)
        widen_box(box, known->at[i].x_true_au,
                  second_of(scene, known->at[i].y_true_au, known->at[i].z_true_au));
    const double orbit_au = square_around(box).half_au, arrow_au = arrow_share * orbit_au;
    memcpy(all, box, sizeof all);
    widen_by_rollouts(scene, all);
    if (square_around(all).half_au < 1.6 * orbit_au)
        memcpy(box, all, sizeof box);
    for (int s = 0; s < run->source_count; s++)
        for (size_t i = 0; is_shown(&run->source[s]) && i < run->source[s].orbit[body].count; i++) {
            const struct report_position *at = &run->source[s].orbit[body].at[i];
            arrow_of(scene, &run->source[s], at, arrow_au, arrow);
            widen_box(box, at->x_au + arrow[0], second_of(scene, at->y_au, at->z_au) + arrow[1]);
        }
    struct square view = square_around(box);
    view.half_au = fmax(1.2 * orbit_au, 1.06 * view.half_au);
    view.arrow_au = arrow_au;
    return view;
}

/* ---------------------------------------------------------------------------------- blocks */

/* Writes the true positions: those of a rollout, which begin at step 0, else those with forces. */
static int write_orbit(const struct scene *scene, struct orr_file *file)
{
    const struct report_orbit *truth = &scene->run->source[0].orbit[scene->body];
    const struct report_rollout *known = rollout_of(scene);
    const size_t n = known ? known->count : truth->count;
    double *xy = orr_alloc(2 * n + 2, sizeof *xy);
    if (!xy)
        return ORR_ENOMEM;
    for (size_t i = 0; i < n; i++) {
        xy[2 * i] = known ? known->at[i].x_true_au : truth->at[i].x_au;
        xy[2 * i + 1] = known ? second_of(scene, known->at[i].y_true_au, known->at[i].z_true_au)
                              : second_of(scene, truth->at[i].y_au, truth->at[i].z_au);
    }
    report_write_curve(n, xy, file);
    orr_file_printf(file, "$orbit << EOD\n");
    for (size_t i = 0, at = 0; i < n; i++) {
        const int step = known ? (int)i : truth->at[i].step;
        while (at < truth->count && truth->at[at].step < step)
            at++;
        const bool labelled =
            at < truth->count && truth->at[at].step == step && truth->at[at].labelled;
        orr_file_printf(file, "%d %.7g %.7g %d\n", step, xy[2 * i], xy[2 * i + 1], labelled);
    }
    free(xy);
    orr_file_printf(file, "EOD\n$none << EOD\nEOD\n");
    return 0;
}

static void write_forces(const struct scene *scene, const struct report_source *source, int number,
                         double arrow_au, struct orr_file *file)
{
    const struct report_orbit *orbit = &source->orbit[scene->body];
    orr_file_printf(file, "$force%d << EOD\n", number);
    for (size_t i = 0; i < orbit->count; i++) {
        double arrow[2];
        const struct report_position *at = &orbit->at[i];
        arrow_of(scene, source, at, arrow_au, arrow);
        if (isfinite(arrow[0]) && isfinite(arrow[1]))
            orr_file_printf(file, "%d %.7g %.7g %.7g %.7g\n", at->step, at->x_au,
                            second_of(scene, at->y_au, at->z_au), arrow[0], arrow[1]);
    }
    orr_file_printf(file, "EOD\n");
}

static void write_path(const struct scene *scene, const struct report_source *source, int number,
                       struct orr_file *file)
{
    const struct report_rollout *r = &source->rollout[scene->body];
    if (!r->count)
        return;
    orr_file_printf(file, "$path%d << EOD\n", number);
    for (size_t i = r->known ? r->known - 1 : 0; i < r->count; i++) {
        const bool given = i < r->known;
        orr_file_printf(file, "%zu %.7g %.7g\n", i, given ? r->at[i].x_true_au : r->at[i].x_au,
                        given ? second_of(scene, r->at[i].y_true_au, r->at[i].z_true_au)
                              : second_of(scene, r->at[i].y_au, r->at[i].z_au));
    }
    orr_file_printf(file, "EOD\n");
}

static int write_input(const struct scene *scene, struct orr_file *file)
{
    const struct report_run *run = scene->run;
    const int body = scene->body;
    const struct square view = frame_of(scene);
    const char *projection = report_views(run) == 1     ? ""
                             : scene->view == REPORT_XZ ? "Projection on x and z. "
                                                        : "Projection on x and y. ";
    char note[160];
    const struct report_orbit *truth = &run->source[0].orbit[body];
    const struct report_rollout *known = rollout_of(scene);
    int number = 0;
    orr_gnuplot_assign(file, "heading", 0, report_body_title[body]);
    snprintf(note, sizeof note, "%sArrows: forces, the true one black.%s", projection,
             known ? " Lines: each model's own continuation." : "");
    orr_gnuplot_assign(file, "note", 0, note);
    orr_file_printf(file, "first = %d\nlast = %d\ncx = %.9g\ncy = %.9g\nhalf = %.9g\n",
                    known ? 0 : truth->at[0].step,
                    known ? (int)known->count - 1 : truth->at[truth->count - 1].step, view.x_au,
                    view.y_au, view.half_au);
    orr_file_printf(file,
                    "array title[%d]\narray colour[%d]\narray paths[%d]\narray "
                    "forces[%d]\n",
                    REPORT_SOURCES, REPORT_SOURCES, REPORT_SOURCES, REPORT_SOURCES);
    TRY(write_orbit(scene, file));
    for (int s = 0; s < run->source_count; s++) {
        const struct report_source *source = &run->source[s];
        if (!is_shown(source))
            continue;
        number++;
        orr_gnuplot_assign(file, "title", number, source->title);
        orr_gnuplot_assign(file, "colour", number, source->colour);
        orr_file_printf(file, "paths[%d] = %d\nforces[%d] = 1\n", number,
                        source->rollout[body].count > 0, number);
        write_forces(scene, source, number, view.arrow_au, file);
        write_path(scene, source, number, file);
    }
    return orr_file_printf(file, "sources = %d\n", number);
}

int report_animate(const struct report_run *run, int body, enum report_view view,
                   const char *picture)
{
    const struct scene scene = {run, body, view};
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
    int rc = write_input(&scene, &file);
    rc = rc ? rc : orr_file_commit(&file);
    orr_file_close(&file);
    rc = rc ? rc : orr_gnuplot_draw("player.gp", input, picture);
    remove(input);
    return rc;
}
