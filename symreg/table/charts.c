/* charts.c - the frame of pages in the look of a table's, and charts as numbers in JSON. */
#include "charts.h"

#include <math.h>
#include <string.h>

#include "base/html.h"
#include "program.h"

bool sr_page_ready(bool quiet)
{
    static const char *const part[] = {"report.css", "table_page.css", "table_page.js"};
    char path[4096];
    for (size_t k = 0; k < sizeof part / sizeof *part; k++)
        if (orr_figures_path(part[k], path)) {
            orr_note(quiet, "symreg: no report.html: %s", orr_error());
            orr_error_recover();
            return false;
        }
    return true;
}

int sr_page_begin(struct orr_file *html, const char *title)
{
    orr_file_printf(html,
                    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta "
                    "name=\"generator\" content=\"Orrery symreg %s\">\n",
                    ORR_VERSION);
    TRY(orr_html_policy(html, "table_page.js", NULL, false));
    orr_file_printf(html, "<meta name=\"viewport\" content=\"width=device-width, "
                          "initial-scale=1\">\n<title>");
    orr_html_text(html, title);
    orr_file_printf(html, " - symreg</title>\n<style>\n");
    TRY(orr_html_part(html, "report.css"));
    TRY(orr_html_part(html, "table_page.css"));
    orr_file_printf(html, "</style>\n</head>\n<body>\n<header>\n<h1>");
    orr_html_text(html, title);
    return orr_file_printf(html, "</h1>\n");
}

void sr_page_command(struct orr_file *html)
{
    char text[ORR_COMMAND], *end;
    orr_command("symreg", NULL, text, sizeof text);
    end = strstr(text, " --resume"); /* which orr_command() adds last */
    for (char *next = end; next; next = strstr(next + 1, " --resume"))
        end = next;
    if (end)
        *end = '\0';
    orr_file_printf(html, "<h2>The command</h2>\n<pre tabindex=\"0\"><code>");
    orr_html_text(html, text);
    orr_file_printf(html, "</code></pre>\n");
}

int sr_page_end(struct orr_file *html)
{
    orr_file_printf(html, "</main>\n");
    TRY(orr_html_script(html, "table_page.js"));
    return orr_file_printf(html, "</body>\n</html>\n");
}

/* ---- charts */

/* A text in JSON that ends no script element. */
static void write_text(struct orr_file *html, const char *text)
{
    orr_file_printf(html, "\"");
    for (const unsigned char *c = (const unsigned char *)text; *c; c++)
        orr_file_printf(html, *c < 32 || strchr("\"\\<>&", *c) ? "\\u%04x" : "%c", *c);
    orr_file_printf(html, "\"");
}

static void write_list(struct orr_file *html, const char *key, const double *value, size_t n,
                       int digits)
{
    const size_t points = n < SR_CHART_POINTS ? n : SR_CHART_POINTS;
    orr_file_printf(html, ",\"%s\":[", key);
    for (size_t k = 0; k < points && value; k++) {
        const double v = value[k * n / points];
        orr_file_printf(html, isfinite(v) ? "%s%.*g" : "%snull", k ? "," : "", digits, v);
    }
    orr_file_printf(html, "]");
}

void sr_charts_begin(struct sr_charts *c)
{
    orr_file_printf(c->html,
                    "<noscript><p>The drawings need JavaScript.</p></noscript>\n"
                    "<p id=\"choice\" hidden><label>%s <select></select></label></p>\n"
                    "<div class=\"charts\" id=\"drawn\"></div>\n"
                    "<script type=\"application/json\" id=\"groups\">[",
                    c->what);
}

void sr_charts_group(struct sr_charts *c, const char *label)
{
    orr_file_printf(c->html, "%s{\"label\":", c->groups++ ? "]}," : "");
    write_text(c->html, label);
    orr_file_printf(c->html, ",\"charts\":[");
    c->charts = 0;
}

void sr_charts_add(struct sr_charts *c, const struct sr_chart *chart)
{
    orr_file_printf(c->html, "%s{\"title\":", c->charts++ ? "," : "");
    write_text(c->html, chart->title);
    orr_file_printf(c->html, ",\"across\":");
    write_text(c->html, chart->across);
    orr_file_printf(c->html, ",\"residuals\":%s,\"decades\":%s",
                    chart->residuals ? "true" : "false", chart->decades ? "true" : "false");
    write_list(c->html, "x", chart->x, chart->n, 12);
    write_list(c->html, "y", chart->y, chart->n, chart->residuals ? 5 : 8);
    write_list(c->html, "sigma", chart->sigma, chart->n, 5);
    write_list(c->html, "curveX", chart->curve_x, chart->curve_n, 12);
    write_list(c->html, "curveY", chart->curve_y, chart->curve_n, 8);
    static const char *const part[] = {"fieldX", "fieldY", "fieldDx", "fieldDy"};
    for (size_t k = 0; k < 4; k++)
        write_list(c->html, part[k], chart->field ? chart->field + k * chart->field_n : NULL,
                   chart->field_n, 4);
    orr_file_printf(c->html, "}");
}

void sr_charts_end(struct sr_charts *c)
{
    orr_file_printf(c->html, "%s]</script>\n", c->groups ? "]}" : "");
}
