/* html_lab.c - the orbit lab of a run (docs/lab.md): lab.html beside the report, which shows it in
 * a frame. A page of its own, so that the report stays small and its policy strict. */
#include "report.h"
#include "base/data.h"
#include "stage/cli.h"

#include <stdio.h>
#include <string.h>

bool report_has_lab(const struct report_run *run)
{
    const struct orr_orbits_settings *o = &run->settings.orbits;
    return !*run->settings.tracks && o->output == ORR_OUTPUT_CONTINUOUS && o->dimensions == 2;
}

/* Whether the run has kept a network that `probe lab` may find. */
static int has_network(const struct report_run *run, bool *has)
{
    static const char *const files[] = {"pretrain/best", "pretrain/last", "finetune/magnitude",
                                        "finetune/magnitude_best"};
    const struct orr_name_list *names = &run->settings.attention;
    char path[REPORT_PATH];
    *has = false;
    for (int i = -1; i < names->count && !*has; i++)
        for (size_t f = 0; f < sizeof files / sizeof *files && !*has; f++) {
            TRY(orr_path(path, "%s/%s/%s.safetensors", run->path,
                         i < 0 ? "untrained" : names->item[i], files[f]));
            *has = orr_exists(path);
        }
    return 0;
}

int report_lab_make(const struct report_run *run, const char *folder, bool *made, bool *failed)
{
    char option[REPORT_PATH + 8], page[REPORT_PATH], shipped[4096];
    const char *const arguments[] = {"lab", option, "--quiet", NULL};
    *made = *failed = false;
    if (!report_has_lab(run))
        return 0;
    TRY(has_network(run, made));
    if (*made && orr_data_path("docs", "lab.html", shipped)) {
        orr_error_clear();
        *made = false;
    }
    if (!*made)
        return 0;
    TRY(orr_path(page, "%s/lab.html", folder));
    snprintf(option, sizeof option, "--out=%s", page);
    const int rc = orr_program_run("probe", arguments, true);
    if (rc == ORR_EINTR)
        return rc;
    *made = !rc;
    *failed = rc != 0;
    if (rc)
        orr_error_clear();
    return 0;
}

int report_html_lab(const struct report_run *run, bool made, struct orr_file *html)
{
    char shipped[4096];
    if (!report_has_lab(run))
        return 0;
    orr_file_printf(html,
                    "<section class=\"boxed\" aria-labelledby=\"lab\">\n<h2 id=\"lab\">The orbit "
                    "lab</h2>\n<p>Throw a planet yourself, and see how the networks of this run "
                    "continue its orbit and which force they imply, beside the true one.</p>\n");
    if (made)
        orr_file_printf(html, "<p id=\"lab-beside\"><a href=\"lab.html\">lab.html</a>, which lies "
                              "beside this page, in a frame:</p>\n<iframe id=\"lab-frame\" "
                              "src=\"lab.html\" title=\"The orbit lab\" loading=\"lazy\" "
                              "sandbox=\"allow-scripts allow-downloads\"></iframe>\n");
    if (orr_data_path("docs", "lab.html", shipped)) {
        orr_error_clear();
        return orr_file_printf(html, "<p>The page of the lab was not built where this report was "
                                     "made: make lab builds it (docs/lab.md).</p>\n</section>\n");
    }
    orr_file_printf(html,
                    "<p%s>This command writes lab.html, a page that needs no program and no "
                    "network:</p>\n<pre tabindex=\"0\">",
                    made ? " class=\"note\"" : "");
    TRY(report_html_command(run, "bin/orrery lab --run ", "", html));
    return orr_file_printf(html, "</pre>\n</section>\n");
}
