/* html_losses.c - losses of report.html's picture "loss" as JSON, whose values the page says where
 * the pointer is. */
#include "report.h"

int report_html_losses(const struct report_run *run, struct orr_file *html)
{
    enum { POINTS = 40 };
    double step[POINTS], loss[POINTS];
    int panel = 0;
    const char *between = "";
    orr_file_printf(html, "<output id=\"loss-values\"></output>\n<script type=\"application/json\" "
                          "id=\"loss-data\">[");
    for (int stage = 0; stage < REPORT_STAGES; stage++) {
        bool any = false;
        for (int s = 0; s < run->source_count; s++) {
            const struct report_source *source = &run->source[s];
            if (!source->curve[stage].count)
                continue;
            panel += !any;
            any = true;
            const size_t n = report_means(&source->curve[stage], POINTS, step, loss);
            orr_file_printf(html, "%s\n{\"panel\":%d,\"title\":\"%s\",\"step\":[", between, panel,
                            source->title);
            for (size_t i = 0; i < n; i++)
                orr_file_printf(html, "%s%.4g", i ? "," : "", step[i]);
            orr_file_printf(html, "],\"loss\":[");
            for (size_t i = 0; i < n; i++)
                orr_file_printf(html, "%s%.3g", i ? "," : "", loss[i]);
            orr_file_printf(html, "]}");
            between = ",";
        }
    }
    return orr_file_printf(html, "]</script>\n");
}
