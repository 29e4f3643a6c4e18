/* html_tracks.c - the page of a run that read imported tracks: where they come from, and how well
 * the models continue them. Forces and laws need more than tracks have. */
#include "report.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

/* The record of the imported tracks in the evaluation of a model; NULL: none. */
static const cJSON *find_record(const cJSON *evaluation)
{
    const cJSON *record;
    cJSON_ArrayForEach (record, orr_json_get(orr_json_get(evaluation, "made"), "records"))
        if (orr_json_says(record, "what", "tracks"))
            return record;
    return NULL;
}

/* *evaluation: of a source; NULL where it has none or it cannot be read. Only ORR_ENOMEM and a path
 * that is too long fail. */
static int read_evaluation(const struct report_run *run, const struct report_source *source,
                           cJSON **evaluation)
{
    char path[REPORT_PATH];
    *evaluation = NULL;
    TRY(orr_path(path, "%s/%s/pretrain/evaluation.json", run->path, source->name));
    if (!orr_exists(path))
        return 0;
    const int rc = orr_json_read(path, evaluation);
    if (rc != ORR_ENOMEM)
        orr_error_clear();
    return rc == ORR_ENOMEM ? rc : 0;
}

static void write_number(struct orr_file *html, const cJSON *item)
{
    if (cJSON_IsNumber(item))
        orr_file_printf(html, "<td class=\"n\">%.4g</td>", item->valuedouble);
    else
        orr_file_printf(html, "<td class=\"n\">&ndash;</td>");
}

/* Rows of a model: next positions, then every horizon of its rollouts, beside persistence. */
static void write_rows(const struct report_source *source, const cJSON *evaluation,
                       struct orr_file *html)
{
    static const char rollout[] = "rollout_";
    const cJSON *item;
    orr_file_printf(html, "<tr><th scope=\"row\">");
    report_html_dot(source, html);
    orr_html_text(html, source->title);
    orr_file_printf(html, "</th><td>next position</td>");
    write_number(html, orr_json_get(evaluation, "teacher_forced"));
    write_number(html, orr_json_get(evaluation, "persistence"));
    orr_file_printf(html, "</tr>\n");
    cJSON_ArrayForEach (item, evaluation) {
        char key[64];
        if (strncmp(item->string, rollout, strlen(rollout)) != 0 ||
            !isdigit((unsigned char)item->string[strlen(rollout)]))
            continue;
        snprintf(key, sizeof key, "rollout_persistence_%.30s", item->string + strlen(rollout));
        orr_file_printf(html, "<tr><th scope=\"row\">");
        report_html_dot(source, html);
        orr_html_text(html, source->title);
        orr_file_printf(html, "</th><td>rollout, position %.30s</td>",
                        item->string + strlen(rollout));
        write_number(html, item);
        write_number(html, orr_json_get(evaluation, key));
        orr_file_printf(html, "</tr>\n");
    }
}

void report_html_tracks_head(const struct report_run *run, struct orr_file *html)
{
    orr_file_printf(html, "<p>Sequence models were trained to continue tracks that were imported, "
                          "in the folder <code>");
    orr_html_text(html, run->settings.tracks);
    orr_file_printf(html, "</code>. Models see positions and the time step only. Tracks have no "
                          "forces, so nothing was fine-tuned to forces and no law was searched "
                          "for.</p>\n</header>\n<main>\n");
}

int report_html_tracks(const struct report_run *run, struct orr_file *html)
{
    cJSON *evaluation[REPORT_SOURCES] = {NULL};
    const cJSON *record = NULL;
    int rc = 0;
    for (int s = 0; s < run->source_count && !rc; s++) {
        rc = read_evaluation(run, &run->source[s], &evaluation[s]);
        record = record ? record : find_record(evaluation[s]);
    }
    orr_file_printf(html, "<h2 id=\"continued\">Next positions</h2>\n<p>");
    if (record) {
        orr_file_printf(html, "The tracks are of <code>");
        orr_html_text(html, orr_json_text(record, "name"));
        orr_file_printf(html, "</code> (units ");
        orr_html_text(html, orr_json_text(record, "units"));
        orr_file_printf(html, "; ");
        orr_html_text(html, orr_json_text(record, "split"));
        orr_file_printf(html, "). ");
    }
    orr_file_printf(html,
                    "Sequences: %ld to train, %ld to validate, %ld for the errors below, %d rows "
                    "each.</p>\n",
                    run->settings.orbits.train, run->settings.orbits.val, run->settings.orbits.test,
                    run->settings.orbits.positions);
    report_html_table(
        html, "next-positions",
        "Mean distances from the true positions, in the unit of the data, on held-out "
        "sequences. Persistence: each body stays where it was.",
        "Model|Measured|#Error|#Persistence");
    report_html_rows(html);
    for (int s = 0; s < run->source_count && !rc; s++)
        if (evaluation[s])
            write_rows(&run->source[s], evaluation[s], html);
    for (int s = 0; s < run->source_count; s++)
        cJSON_Delete(evaluation[s]);
    return rc ? rc : report_html_table_end(html);
}
