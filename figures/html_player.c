/* html_player.c - the orbit player of report.html: controls, and data as JSON for player.js.
 *
 * For each body: "first", the step of the first position with a force; "at", "force" (true) and
 * "forces" per source, pairs of numbers per position, in AU and in the body's unit of force;
 * "labelled", a digit per position. For bodies with a rollout (report_rollout): "path", the true
 * positions from step 0; "known", the number of steps given to the models; and "rollouts" per
 * source, the predicted positions after those steps. Pairs are x and y. In three dimensions a
 * second list of the bodies follows, whose pairs are x and z. */
#include "report.h"

#include <math.h>

/* Writes ",\"key\":", without the comma for the first key of an object. */
static void open_key(struct orr_file *html, const char *key, bool *first)
{
    orr_file_printf(html, "%s\"%s\":", *first ? "" : ",", key);
    *first = false;
}

/* Four digits are finer than a pixel. JSON has no infinite or NaN values. */
static void write_pair(struct orr_file *html, bool first, double x, double y)
{
    if (isfinite(x) && isfinite(y))
        orr_file_printf(html, "%s%.4g,%.4g", first ? "" : ",", x, y);
    else
        orr_file_printf(html, "%snull,null", first ? "" : ",");
}

enum pairs { PLACES, TRUE_FORCES, FORCES };

static void write_positions(struct orr_file *html, const struct report_orbit *orbit,
                            enum report_view view, enum pairs pairs)
{
    orr_file_printf(html, "[");
    for (size_t i = 0; i < orbit->count; i++) {
        const struct report_position *at = &orbit->at[i];
        const double x[] = {at->x_au, at->fx_true, at->fx}, y[] = {at->y_au, at->fy_true, at->fy};
        const double z[] = {at->z_au, at->fz_true, at->fz};
        write_pair(html, i == 0, x[pairs], (view == REPORT_XZ ? z : y)[pairs]);
    }
    orr_file_printf(html, "]");
}

static void write_forces(const struct report_run *run, int body, enum report_view view,
                         struct orr_file *html)
{
    const struct report_orbit *truth = &run->source[0].orbit[body];
    bool first = true;
    orr_file_printf(html, ",\"first\":%d,\"at\":", truth->at[0].step);
    write_positions(html, truth, view, PLACES);
    orr_file_printf(html, ",\"force\":");
    write_positions(html, truth, view, TRUE_FORCES);
    orr_file_printf(html, ",\"labelled\":\"");
    for (size_t i = 0; i < truth->count; i++)
        orr_file_printf(html, "%d", truth->at[i].labelled);
    orr_file_printf(html, "\",\"forces\":{");
    for (int s = 1; s < run->source_count; s++)
        if (run->source[s].has_vectors) {
            open_key(html, run->source[s].name, &first);
            write_positions(html, &run->source[s].orbit[body], view, FORCES);
        }
    orr_file_printf(html, "}");
}

/* The true positions are taken from the first source with a rollout of the body; they are equal in
 * all sources. */
static void write_rollouts(const struct report_run *run, int body, enum report_view view,
                           struct orr_file *html)
{
    const bool z = view == REPORT_XZ;
    bool first = true;
    for (int s = 0; s < run->source_count; s++) {
        const struct report_rollout *r = &run->source[s].rollout[body];
        if (r->count == 0)
            continue;
        if (first) {
            orr_file_printf(html, ",\"known\":%zu,\"path\":[", r->known);
            for (size_t i = 0; i < r->count; i++)
                write_pair(html, i == 0, r->at[i].x_true_au,
                           z ? r->at[i].z_true_au : r->at[i].y_true_au);
            orr_file_printf(html, "],\"rollouts\":{");
        }
        open_key(html, run->source[s].name, &first);
        orr_file_printf(html, "[");
        for (size_t i = r->known; i < r->count; i++)
            write_pair(html, i == r->known, r->at[i].x_au, z ? r->at[i].z_au : r->at[i].y_au);
        orr_file_printf(html, "]");
    }
    if (!first)
        orr_file_printf(html, "}");
}

void report_html_player_data(const struct report_run *run, struct orr_file *html)
{
    static const char *const role[] = {"truth",     "oracle",    "attention",
                                       "untrained", "positions", "answers"};
    bool first = true;
    orr_file_printf(html, "{\"sources\":[");
    for (int s = 0; s < run->source_count; s++) {
        const struct report_source *source = &run->source[s];
        if (!source->has_vectors)
            continue;
        orr_file_printf(
            html, "%s{\"name\":\"%s\",\"title\":\"%s\",\"role\":\"%s\",\"colour\":\"%s\"}",
            first ? "" : ",", source->name, source->title, role[source->role], source->colour);
        first = false;
    }
    orr_file_printf(html, "],\"bodies\":[");
    for (int i = 0; i < report_views(run) * report_bodies(run); i++) {
        const int body = i % report_bodies(run);
        const enum report_view view = (enum report_view)(i / report_bodies(run));
        orr_file_printf(html, "%s\n{\"title\":\"%s%s\"", i ? "," : "", report_body_title[body],
                        view == REPORT_XZ ? ", x and z" : "");
        write_forces(run, body, view, html);
        write_rollouts(run, body, view, html);
        orr_file_printf(html, "}");
    }
    orr_file_printf(html, "]}");
}

static void write_boxes(const struct report_run *run, struct orr_file *html)
{
    int box = 0;
    orr_file_printf(html, "<fieldset><legend>Shown</legend>\n");
    for (int s = 0; s < run->source_count; s++) {
        const struct report_source *source = &run->source[s];
        if (!source->has_vectors)
            continue;
        const bool checked = source->role == REPORT_TRUTH || report_is_model(source);
        orr_file_printf(html, "<label><input type=\"checkbox\" id=\"player-source-%d\"%s>", box++,
                        checked ? " checked" : "");
        report_html_dot(source, html);
        orr_html_text(html, source->title);
        orr_file_printf(html, "</label>\n");
    }
    orr_file_printf(html, "<label><input type=\"checkbox\" id=\"player-forces\" checked>"
                          "Force arrows</label>\n<label><input type=\"checkbox\" "
                          "id=\"player-paths\" checked>Rollouts</label></fieldset>\n");
}

static void write_controls(const struct report_run *run, struct orr_file *html)
{
    orr_file_printf(html, "<form class=\"controls\" autocomplete=\"off\">\n<div class=\"row\">"
                          "<label>Body <select id=\"player-body\">");
    for (int i = 0; i < report_views(run) * report_bodies(run); i++)
        orr_file_printf(html, "<option value=\"%d\">%s%s</option>", i,
                        report_body_title[i % report_bodies(run)],
                        i < report_bodies(run) ? "" : ", x and z");
    orr_file_printf(html,
                    "</select></label>\n<button type=\"button\" id=\"player-play\">Play</button>\n"
                    "<label>Speed <select id=\"player-speed\"><option value=\"0.25\">"
                    "&frac14;</option><option value=\"0.5\">&frac12;</option>"
                    "<option value=\"1\" selected>1</option><option value=\"2\">2</option>"
                    "<option value=\"4\">4</option></select></label></div>\n"
                    "<div><label for=\"player-step\">Step</label><input type=\"range\" "
                    "id=\"player-step\" min=\"0\" max=\"1\" step=\"1\"></div>\n"
                    "<output id=\"player-words\"></output>\n");
    write_boxes(run, html);
    orr_file_printf(html, "</form>\n");
}

static bool has_rollouts(const struct report_run *run)
{
    for (int s = 0; s < run->source_count; s++)
        for (int body = 0; body < REPORT_BODIES; body++)
            if (run->source[s].rollout[body].count > 0)
                return true;
    return false;
}

int report_html_player(const struct report_run *run, struct orr_file *html)
{
    orr_file_printf(
        html,
        "<h2 id=\"orbits\">Orbits</h2>\n<p>The yellow disc is the Sun, the true orbit is grey. "
        "Arrows are "
        "forces, as "
        "long as they are in proportion to the true one at the same position (at most twice as "
        "long); "
        "a grey disc marks a position whose label was trained on. %s%s The slider and the arrow "
        "keys "
        "on it go through the steps.</p>\n",
        has_rollouts(run) ? "Dashed lines are rollouts: from half of the orbit on, each model gets "
                            "its own predictions as input (autoregressive)."
                          : "This run has no rollouts: its pretraining was evaluated by an earlier "
                            "version.",
        report_views(run) > 1 ? " Orbits lie in space: x and y are shown, and x and z of the "
                                "bodies named so."
                              : "");
    orr_file_printf(html, "<noscript><p>The player needs JavaScript; the figures below show the "
                          "same forces.</p></noscript>\n<div class=\"player\" id=\"player\" "
                          "hidden>\n<div><canvas id=\"player-canvas\" width=\"500\" "
                          "height=\"500\" role=\"img\" aria-label=\"Orbit\"></canvas></div>\n");
    write_controls(run, html);
    orr_file_printf(html, "</div>\n<script type=\"application/json\" id=\"player-data\">");
    report_html_player_data(run, html);
    orr_file_printf(html, "</script>\n");
    return orr_html_script(html, "player.js");
}
