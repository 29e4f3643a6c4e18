/* page.c - the verdict as a page, verdict.html: what verdict.json has, in the look of a report. */
#include "verdict.h"

#include <math.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "figures/report.h"

/* Writes a sentence with " +- " as the character. */
static void write_sentence(struct orr_file *html, const char *text)
{
    static const char sign[] = " +- ";
    for (const char *at; (at = strstr(text, sign)) != NULL; text = at + sizeof sign - 1) {
        orr_html_bytes(html, text, (size_t)(at - text));
        orr_file_printf(html, " &plusmn; ");
    }
    orr_html_text(html, text);
}

/* Writes a mean and half of its interval; a dash where there is none. */
static void mean_cell(struct orr_file *html, const cJSON *mean)
{
    char text[64];
    const double value = orr_json_number(mean, "mean"), half = orr_json_number(mean, "half_width");
    if (!isfinite(value)) {
        orr_file_printf(html, "<td class=\"n\">&ndash;</td>");
        return;
    }
    snprintf(text, sizeof text, "%.3g", fabs(value));
    orr_file_printf(html, "<td class=\"n\">%s%s", value < 0 ? "&minus;" : "", text);
    if (isfinite(half))
        orr_file_printf(html, " &plusmn; %.2g", half);
    orr_file_printf(html, "</td>");
}

static void chance_cell(struct orr_file *html, const cJSON *row)
{
    const cJSON *beyond = orr_json_get(row, "significant");
    orr_file_printf(html, "<td class=\"%s\">%s</td></tr>\n", cJSON_IsTrue(beyond) ? "yes" : "",
                    cJSON_IsTrue(beyond)    ? "yes"
                    : cJSON_IsFalse(beyond) ? "no"
                                            : "&ndash;");
}

static void write_names(struct orr_file *html, const char *title, const char *attention,
                        const cJSON *row)
{
    orr_file_printf(html, "<tr><th scope=\"row\">");
    orr_html_text(html, title);
    orr_file_printf(html, "</th><td>");
    orr_html_text(html, attention);
    orr_file_printf(html, "</td><td class=\"n\">%.0f</td>", orr_json_number(row, "seeds"));
}

static void write_figures(const cJSON *json, struct orr_file *html)
{
    static const char *const mean[] = {"value", "upper_bound", "baseline", "raw",
                                       "nearer_than_baseline"};
    const cJSON *row;
    report_html_table(
        html, "verdict-figures",
        "Means over seeds and half of the 95% interval of Student's t. Upper bound: the "
        "same procedure fed the truth, or an observer who fits the orbit; baseline: random "
        "weights of the same shape, fine-tuned alike; raw: without a model. Nearer than "
        "baseline: how much pretraining has brought the figure nearer to the upper bound, seed "
        "by seed.",
        "Figure|Attention|#Seeds|#Value|#Upper bound|#Baseline|#Raw|#Nearer than baseline|"
        "#Significant");
    report_html_rows(html);
    cJSON_ArrayForEach (row, orr_json_get(json, "figures")) {
        write_names(html, orr_json_get(row, "title")->valuestring,
                    orr_json_get(row, "attention")->valuestring, row);
        for (int i = 0; i < 5; i++)
            mean_cell(html, orr_json_get(row, mean[i]));
        chance_cell(html, row);
    }
    report_html_table_end(html);
}

static const char *title_of(const cJSON *json, const char *id)
{
    const cJSON *row;
    cJSON_ArrayForEach (row, orr_json_get(json, "figures"))
        if (orr_json_says(row, "id", id))
            return orr_json_get(row, "title")->valuestring;
    return id;
}

static void write_differences(const cJSON *json, struct orr_file *html)
{
    const cJSON *row, *list = orr_json_get(json, "differences");
    if (!cJSON_GetArraySize(list))
        return;
    report_html_table(
        html, "verdict-differences", "Each attention against the first one, seed by seed.",
        "Figure|Attention|#Seeds|#Difference|#Nearer to the upper bound|#Significant");
    report_html_rows(html);
    cJSON_ArrayForEach (row, list) {
        write_names(html, title_of(json, orr_json_get(row, "id")->valuestring),
                    orr_json_get(row, "attention")->valuestring, row);
        mean_cell(html, orr_json_get(row, "difference"));
        mean_cell(html, orr_json_get(row, "nearer"));
        chance_cell(html, row);
    }
    report_html_table_end(html);
}

static void write_head(struct orr_file *html)
{
    orr_file_printf(html,
                    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                    "style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n"
                    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                    "<title>Orrery: the verdict</title>\n<style>\n");
}

static void write_words(const cJSON *json, struct orr_file *html)
{
    const cJSON *item;
    orr_file_printf(
        html,
        "li { margin: .5rem 0; max-width: 52rem; }\n</style>\n</head>\n<body>\n"
        "<header>\n<h1>Orrery: the verdict</h1>\n<p class=\"meta\">%.0f runs of preset ",
        orr_json_number(json, "cells"));
    orr_html_text(html, orr_json_get(json, "preset")->valuestring);
    orr_file_printf(html,
                    ", put together by Orrery %s; the values are in verdict.json.</p>\n"
                    "</header>\n<main>\n<ol>\n",
                    ORR_VERSION);
    cJSON_ArrayForEach (item, orr_json_get(json, "verdict")) {
        orr_file_printf(html, "<li>");
        write_sentence(html, item->valuestring);
        orr_file_printf(html, "</li>\n");
    }
    orr_file_printf(html, "</ol>\n<p>");
    orr_html_text(html, orr_json_get(json, "cannot_say")->valuestring);
    orr_file_printf(html, "</p>\n<h2>All figures</h2>\n");
}

int verdict_page_write(const struct cJSON *json, const char *path)
{
    struct orr_file html = {0};
    int rc = orr_file_create(&html, path);
    if (!rc) {
        write_head(&html);
        rc = orr_html_part(&html, "report.css");
    }
    if (!rc) {
        write_words(json, &html);
        write_figures(json, &html);
        write_differences(json, &html);
        orr_file_printf(&html, "</main>\n</body>\n</html>\n");
        rc = orr_file_commit(&html);
    }
    orr_file_close(&html);
    return rc;
}
