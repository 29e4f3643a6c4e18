/* html_commands.c - the end of report.html: the commands that repeat the run, and the program
 * versions that wrote its files. */
#include "report.h"

#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

/* Adds a row with the version recorded in a JSON file, if the file exists. */
static int version_row(const struct report_run *run, const char *file, struct orr_file *html)
{
    char path[REPORT_PATH];
    cJSON *json = NULL;
    TRY(orr_path(path, "%s/%s", run->path, file));
    if (!orr_exists(path))
        return 0;
    const int read = orr_json_read(path, &json);
    if (read == ORR_ENOMEM)
        return read;
    if (read) { /* unreadable files are skipped */
        orr_error_clear();
        return 0;
    }
    const cJSON *version = orr_json_get(json, "version");
    orr_file_printf(html, "<tr><th scope=\"row\">%s</th><td>", file);
    orr_html_text(html, cJSON_IsString(version) ? version->valuestring : "not told");
    orr_file_printf(html, "</td></tr>\n");
    cJSON_Delete(json);
    return 0;
}

int report_html_command(const struct report_run *run, const char *before, const char *between,
                        struct orr_file *html)
{
    char path[REPORT_PATH], word[4 * REPORT_PATH];
    TRY(orr_path(path, "%s%s", run->path, *between ? "/preset.json" : ""));
    TRY(orr_shell_word(word, sizeof word, path));
    orr_file_printf(html, "%s", before);
    orr_html_text(html, word);
    return *between ? report_html_command(run, between, "", html) : orr_file_printf(html, "\n");
}

int report_html_commands(const struct report_run *run, struct orr_file *html)
{
    orr_file_printf(html, "<h2 id=\"commands\">Commands and versions</h2>\n<pre tabindex=\"0\">");
    TRY(report_html_command(
        run,
        "# what of this run would be kept and what made again\nmake plan PRESET=", " RUN=", html));
    TRY(report_html_command(
        run, "# the whole run, wherever it is not what the settings make\nmake world PRESET=",
        " RUN=", html));
    TRY(report_html_command(run, "# this page\nbin/report --run ", "", html));
    TRY(report_html_command(run, "# what its models attend to\nbin/probe attention --run ", "",
                            html));
    orr_file_printf(html,
                    "</pre>\n<p class=\"caption\" id=\"versions\">Orrery that wrote the files "
                    "of this run; docs/provenance.md says how each is known to be what the "
                    "settings make.</p>\n<div class=\"wide whole\" role=\"region\" "
                    "aria-labelledby=\"versions\" tabindex=\"0\"><table>\n<thead><tr>"
                    "<th scope=\"col\">File</th><th scope=\"col\">Version</th></tr></thead>\n"
                    "<tbody>\n");
    TRY(version_row(run, "orbits/manifest.json", html));
    TRY(version_row(run, "laws/laws.json", html));
    orr_file_printf(html, "<tr><th scope=\"row\">report.html</th><td>%s</td></tr>\n", ORR_VERSION);
    return orr_file_printf(html, "</tbody></table></div>\n");
}
