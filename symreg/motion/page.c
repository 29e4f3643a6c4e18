/* page.c - the tracks beside those of the law that was found, as a part of report.html. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/html.h"
#include "motion.h"

enum { TRACKS = 12, POINTS = 400 }; /* shown, at most; points of each */

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

static void write_number(struct orr_file *html, size_t i, double value, int digits)
{
    if (isfinite(value))
        orr_file_printf(html, "%s%.*g", i ? "," : "", digits, value);
    else
        orr_file_printf(html, "%snull", i ? "," : "");
}

/* "NAME":[[...],...] of the rows shown, for every coordinate. from: the coordinates; less: what is
 * subtracted, NULL for nothing; unit: of the numbers. */
static void write_rows(struct orr_file *html, const char *name, const struct sr_track *track,
                       int dims, const double *from, const double *less, double unit)
{
    const size_t points = track->n < POINTS ? track->n : POINTS;
    orr_file_printf(html, ",\"%s\":[", name);
    for (size_t d = 0; d < (size_t)dims; d++) {
        orr_file_printf(html, "%s", d ? ",[" : "[");
        for (size_t k = 0; k < points; k++) {
            const size_t i = d * track->n + k * track->n / points;
            write_number(html, k, (from[i] - (less ? less[i] : 0)) / unit, less ? 5 : 8);
        }
        orr_file_printf(html, "]");
    }
    orr_file_printf(html, "]");
}

static void write_track(struct orr_file *html, const struct sr_track *track, int dims,
                        const double *model)
{
    const size_t points = track->n < POINTS ? track->n : POINTS;
    const bool sigmas = track->noise > 0;
    orr_file_printf(html, "{\"sigmas\":%s,\"t\":[", sigmas ? "true" : "false");
    for (size_t k = 0; k < points; k++)
        write_number(html, k, track->t[k * track->n / points], 12);
    orr_file_printf(html, "]");
    write_rows(html, "x", track, dims, track->x, NULL, 1);
    write_rows(html, "model", track, dims, model, NULL, 1);
    write_rows(html, "rest", track, dims, track->x, model, sigmas ? track->noise : 1);
    orr_file_printf(html, "}");
}

static void write_choice(struct orr_file *html, const struct sr_track *track, int number)
{
    orr_file_printf(html, "<option value=\"%d\">", number);
    if (*track->system) {
        orr_html_text(html, track->system);
        orr_file_printf(html, ": ");
    }
    orr_html_text(html, *track->body ? track->body : "the body");
    orr_file_printf(html, "</option>");
}

/* Writes every track that has a model, at most TRACKS: as a choice, or its numbers; nothing where
 * html is NULL. Returns how many. */
static int write_each(struct orr_file *html, const struct sr_tracks *tracks, const double *model,
                      bool numbers)
{
    int count = 0;
    for (size_t k = 0; k < tracks->count && count < TRACKS; k++) {
        const struct sr_track *track = &tracks->track[k];
        if (isfinite(model[0]) && numbers) {
            orr_file_printf(html, "%s", count ? "," : "");
            write_track(html, track, tracks->dims, model);
        } else if (isfinite(model[0]) && html) {
            write_choice(html, track, count);
        }
        count += isfinite(model[0]);
        model += (size_t)tracks->dims * track->n;
    }
    return count;
}

static void write_part(const struct sr_motion_page *page, const double *model, int shown,
                       struct orr_file *html)
{
    orr_file_printf(html,
                    "<h2>Tracks beside the model</h2>\n<p>Points: positions of the file. Line: "
                    "the accelerations of the formula above, integrated twice along the smoothed "
                    "path, and the straight line that is nearest to the positions.%s</p>\n<p>"
                    "<label>Track of <select id=\"track\">",
                    shown == TRACKS ? " At most 12 tracks are shown." : "");
    write_each(html, page->tracks, model, false);
    orr_file_printf(html, "</select></label></p>\n<div class=\"charts\"><figure id=\"path\">"
                          "</figure><figure id=\"aside\"></figure></div>\n<script "
                          "type=\"application/json\" id=\"tracks\">[");
    write_each(html, page->tracks, model, true);
    orr_file_printf(html, "]</script>\n");
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
    int rc = model
                 ? sr_motion_model(tracks, page->options->centre, page->table, &law, TRACKS, model)
                 : ORR_ENOMEM;
    const int shown = rc ? 0 : write_each(NULL, tracks, model, false);
    if (shown)
        write_part(page, model, shown, html);
    free(model);
    return rc;
}
