/* page.c - the tracks beside those of the law that was found, as a part of report.html. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "motion.h"
#include "symreg/table/charts.h"

/* A formula of the front as a law. */
struct formula {
    const struct sr_answer *answer;
    int row;
};

static double value_of(void *context, double r, double m1, double m2)
{
    const struct formula *f = context;
    const struct sr_answer *o = f->answer;
    const double y = 0;
    double x[SR_FEATURES] = {0}, value;
    for (int k = 0; k < o->data->features; k++)
        x[k] = !strcmp(o->names[k], "r") ? r : !strcmp(o->names[k], "m1") ? m1 : m2;
    const struct sr_data data = {
        .rows = 1, .features = o->data->features, .x = x, .y = &y, .language = o->data->language};
    if (!sr_eval(&o->front->expr[f->row], &data, &value))
        return NAN;
    return o->log_target ? orr_exp(value) : value;
}

static bool has_columns(const struct sr_answer *o)
{
    bool known = true;
    for (int k = 0; k < o->data->features; k++)
        known = known && (!strcmp(o->names[k], "r") || !strcmp(o->names[k], "m1") ||
                          !strcmp(o->names[k], "m2"));
    return known;
}

/* Path and residuals of a track. values: 2 n numbers of memory for each coordinate. */
static void write_track(struct sr_charts *charts, const struct sr_track *track, int dims,
                        const double *model, double *values)
{
    const size_t n = track->n;
    const bool path = dims > 1, sigmas = track->noise > 0;
    double *const t = values, *const rest = values + (size_t)dims * n;
    char label[512];
    snprintf(label, sizeof label, "%s%s%s", track->system, *track->system ? ": " : "",
             *track->body ? track->body : "the body");
    sr_charts_group(charts, label);
    sr_charts_add(charts,
                  &(struct sr_chart){.title = path ? "second against first coordinate" : "position",
                                     .across = path ? "first coordinate" : "time",
                                     .n = n,
                                     .x = path ? track->x : track->t,
                                     .y = path ? track->x + n : track->x,
                                     .curve_n = n,
                                     .curve_x = path ? model : track->t,
                                     .curve_y = path ? model + n : model});
    for (size_t i = 0; i < (size_t)dims * n; i++) { /* one row of all coordinates after the other */
        const size_t at = i % (size_t)dims * n + i / (size_t)dims;
        t[i] = track->t[i / (size_t)dims];
        rest[i] = (track->x[at] - model[at]) / (sigmas ? track->noise : 1);
    }
    sr_charts_add(charts, &(struct sr_chart){.title = sigmas ? "position less model, in standard "
                                                               "deviations"
                                                             : "position less model",
                                             .across = "time",
                                             .n = (size_t)dims * n,
                                             .x = t,
                                             .y = rest,
                                             .residuals = sigmas});
}

static int write_part(const struct sr_motion_page *page, const double *model, size_t values,
                      struct orr_file *html)
{
    const struct sr_tracks *tracks = page->tracks;
    struct sr_charts charts = {.html = html, .what = "Track of"};
    double *const work = orr_alloc(2 * values, sizeof *work);
    if (!work)
        return ORR_ENOMEM;
    orr_file_printf(html,
                    "<h2>Tracks beside the model</h2>\n<p>Points: positions of the file. Line: "
                    "the accelerations of the formula above, integrated twice along the "
                    "smoothed path, and the straight line that is nearest to the positions. "
                    "At most %d tracks are shown.</p>\n",
                    SR_CHART_GROUPS);
    sr_charts_begin(&charts);
    for (size_t k = 0; k < tracks->count && charts.groups < SR_CHART_GROUPS; k++) {
        if (isfinite(model[0]))
            write_track(&charts, &tracks->track[k], tracks->dims, model, work);
        model += (size_t)tracks->dims * tracks->track[k].n;
    }
    sr_charts_end(&charts);
    free(work);
    return 0;
}

int sr_motion_page(void *context, const struct sr_answer *answer, int row, struct orr_file *html)
{
    const struct sr_motion_page *page = context;
    const struct sr_tracks *tracks = page->tracks;
    struct formula formula = {.answer = answer, .row = row};
    const struct sr_motion_law law = {value_of, &formula};
    size_t values = 0;
    if (!has_columns(answer))
        return 0;
    for (size_t k = 0; k < tracks->count; k++)
        values += (size_t)tracks->dims * tracks->track[k].n;
    double *model = orr_alloc(values + 1, sizeof *model);
    int rc = model ? sr_motion_model(tracks, page->options->centre, page->table, &law,
                                     SR_CHART_GROUPS, model)
                   : ORR_ENOMEM;
    bool any = false;
    for (size_t i = 0; i < values && !rc && !any; i++)
        any = isfinite(model[i]);
    if (any)
        rc = write_part(page, model, values, html);
    free(model);
    return rc;
}
