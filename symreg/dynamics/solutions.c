/* solutions.c - the tracks beside the solutions of the equations that were found: solutions.csv,
 * solutions.png, and whether the solutions explain more than constants do. The equations stay, the
 * starts are those that follow the tracks best. */
#include "dynamics.h"

#include <math.h>
#include <stdlib.h>

#include "base/gnuplot.h"

enum { DRAWN = 2000 }; /* rows of the picture, at most */

/* Solutions along all tracks, into track[k].model. */
static int follow(const struct sr_states *s, const struct sr_language *language,
                  const struct sr_system *system, struct sr_flow_track *track)
{
    struct sr_expr *const fixed = orr_alloc(SR_STATES, sizeof *fixed);
    struct sr_each *const each = orr_alloc(1, sizeof *each);
    struct sr_flow flow = {.dims = s->dims,
                           .order = s->order,
                           .inputs = s->inputs,
                           .language = language,
                           .equation = fixed,
                           .each = each,
                           .categories = s->categories,
                           .held = UINT32_MAX};
    const struct sr_flow_options options = {.seconds = 0};
    struct sr_flow_result result;
    int rc = fixed && each ? 0 : ORR_ENOMEM;
    if (!rc)
        *each = system->each;
    for (int d = 0; d < s->dims && !rc; d++) {
        fixed[d] = system->expr[d];
        for (int i = 0; i < fixed[d].count; i++)
            if (sr_is_number(&fixed[d].node[i]))
                fixed[d].node[i].feature = SR_FIXED;
    }
    if (!rc) {
        rc = sr_flow_fit(&flow, s->count, track, &options, &result);
        sr_flow_result_free(&result);
    }
    free(fixed);
    free(each);
    return rc;
}

static void write_number(struct orr_file *file, double x)
{
    char text[SR_NUMBER];
    if (isfinite(x)) {
        sr_number_print(x, text);
        orr_file_printf(file, ",%s", text);
    } else {
        orr_file_printf(file, ",");
    }
}

static int write_table(const struct sr_states *s, const struct sr_flow_track *track,
                       const char *path)
{
    static const char *const kinds[] = {"", " of the model", " residual in sigmas"};
    struct orr_file file;
    char name[SR_STATE_NAME + 32];
    TRY(orr_file_create(&file, path));
    orr_file_printf(&file, "track,");
    orr_csv_write_cell(&file, s->name[sr_states_time(s)]);
    for (int d = 0; d < s->dims; d++)
        for (int k = 0; k < 3; k++) {
            snprintf(name, sizeof name, "%s%s", s->name[d], kinds[k]);
            orr_file_printf(&file, ",");
            orr_csv_write_cell(&file, name);
        }
    orr_file_printf(&file, "\n");
    for (size_t k = 0; k < s->count; k++)
        for (size_t i = 0; i < track[k].n; i++) {
            orr_csv_write_cell(&file, s->track[k].label);
            write_number(&file, track[k].t[i]);
            for (int d = 0; d < s->dims; d++) {
                const size_t at = (size_t)d * track[k].n + i;
                write_number(&file, track[k].x[at]);
                write_number(&file, track[k].model[at]);
                write_number(&file, (track[k].x[at] - track[k].model[at]) / track[k].sigma[at]);
            }
            orr_file_printf(&file, "\n");
        }
    const int rc = orr_file_commit(&file);
    orr_file_close(&file);
    return rc;
}

/* The picture's data: of each row of the first track t, then x, model and residual of each
 * state. */
static int write_picture(const struct sr_states *s, const struct sr_flow_track *track,
                         const char *path)
{
    struct orr_file file;
    const size_t every = (track->n + DRAWN - 1) / DRAWN;
    TRY(orr_file_create(&file, path));
    orr_file_printf(&file, "states = %d\n", s->dims);
    orr_gnuplot_assign(&file, "time", 0, s->name[sr_states_time(s)]);
    orr_file_printf(&file, "array name[%d]\n", s->dims);
    for (int d = 0; d < s->dims; d++)
        orr_gnuplot_assign(&file, "name", d + 1, s->name[d]);
    orr_file_printf(&file, "$rows << END\n");
    for (size_t i = 0; i < track->n; i += every) {
        orr_file_printf(&file, "%.12g", track->t[i]);
        for (int d = 0; d < s->dims; d++) {
            const size_t at = (size_t)d * track->n + i;
            orr_file_printf(&file, " %.9g %.9g %.6g", track->x[at], track->model[at],
                            (track->x[at] - track->model[at]) / track->sigma[at]);
        }
        orr_file_printf(&file, "\n");
    }
    orr_file_printf(&file, "END\n");
    const int rc = orr_file_commit(&file);
    orr_file_close(&file);
    return rc;
}

/* Draws the first track, also where no solution follows it. */
static int draw(const struct sr_states *s, const struct sr_flow_track *track, const char *folder,
                bool quiet)
{
    char data[4096], picture[4096];
    TRY(orr_path(data, "%s/solutions.gp", folder));
    TRY(orr_path(picture, "%s/solutions.png", folder));
    remove(picture); /* of an earlier run */
    int rc = orr_gnuplot_check("motion_tracks.gp");
    if (!rc)
        rc = write_picture(s, track, data);
    if (!rc)
        rc = orr_gnuplot_draw("motion_tracks.gp", data, picture);
    remove(data);
    if (rc != ORR_EMISSING)
        return rc;
    orr_note(quiet, "symreg: no picture of the tracks: %s", orr_error());
    orr_error_recover();
    return 0;
}

/* The tracks with memory for their solutions, *models; the caller frees both. */
static int follow_tracks(const struct sr_states *s, const struct sr_language *language,
                         const struct sr_system *system, struct sr_flow_track **tracks,
                         double **models)
{
    const size_t states = (size_t)s->order * (size_t)s->dims;
    struct sr_flow_track *const track = *tracks = orr_alloc(s->count, sizeof *track);
    double *model = *models = orr_alloc(states * s->rows, sizeof *model);
    if (!track || !model)
        return ORR_ENOMEM;
    for (size_t k = 0; k < s->count; k++) {
        const struct sr_state_track *from = &s->track[k];
        track[k] = (struct sr_flow_track){.n = from->n,
                                          .category = from->category,
                                          .t = from->t,
                                          .x = from->x,
                                          .sigma = from->sigma,
                                          .input = s->inputs ? from->input : NULL,
                                          .guess = from->smooth,
                                          .model = model};
        model += states * from->n;
    }
    return follow(s, language, system, track);
}

/* Half the rows times the logarithm of how much more the mean of each track leaves of state d than
 * the solutions do, less what the means cost. */
static double gain_over_mean(const struct sr_states *s, const struct sr_flow_track *tracks,
                             size_t d)
{
    double left = 0, left_by_mean = 0, rows = 0;
    for (size_t k = 0; k < s->count; k++) {
        const struct sr_flow_track *track = &tracks[k];
        const size_t n = track->n;
        const double *const x = track->x + d * n, *const sigma = track->sigma + d * n;
        const double *const model = isfinite(track->model[0]) ? track->model : track->guess;
        double sum = 0, weights = 0;
        for (size_t i = 0; i < n; i++) {
            sum += x[i] / (sigma[i] * sigma[i]);
            weights += 1 / (sigma[i] * sigma[i]);
        }
        for (size_t i = 0; i < n; i++) {
            const double off = (x[i] - model[d * n + i]) / sigma[i];
            const double by_mean = (x[i] - sum / weights) / sigma[i];
            left += off * off;
            left_by_mean += by_mean * by_mean;
        }
        rows += (double)n;
    }
    return left > 0 ? 0.5 * rows * orr_log(left_by_mean / left) : HUGE_VAL;
}

int sr_system_still(const struct sr_states *s, const struct sr_language *language,
                    struct sr_system *system)
{
    static const double enough = 10; /* nats, about what a short formula costs */
    struct sr_flow_track *track = NULL;
    double *models = NULL;
    const int rc = follow_tracks(s, language, system, &track, &models);
    for (size_t d = 0; d < (size_t)s->dims && !rc; d++)
        system->still[d] = !(gain_over_mean(s, track, d) > enough);
    free(models);
    free(track);
    return rc;
}

int sr_system_tracks(const struct sr_states *s, const struct sr_language *language,
                     const struct sr_system *system, const char *folder, bool quiet)
{
    char path[4096];
    struct sr_flow_track *track = NULL;
    double *models = NULL;
    int rc = follow_tracks(s, language, system, &track, &models);
    if (!rc)
        rc = orr_path(path, "%s/solutions.csv", folder);
    if (!rc)
        rc = write_table(s, track, path);
    if (!rc)
        rc = sr_system_page(s, language, system, track, folder, quiet);
    if (!rc)
        rc = draw(s, track, folder, quiet);
    free(models);
    free(track);
    return rc;
}
