/* html_verdict.c - the verdict of a grid (verdict.json of bin/verdict), shown at the top of
 * report.html. */
#include "report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

int report_verdict_read(const char *path, struct cJSON **json)
{
    const cJSON *figure;
    TRY(orr_json_read(path, json));
    bool good = orr_json_says(*json, "format", "orrery-verdict-1") &&
                cJSON_GetArraySize(orr_json_get(*json, "verdict")) >= 3 &&
                cJSON_IsString(orr_json_get(*json, "cannot_say")) &&
                cJSON_IsArray(orr_json_get(*json, "figures")) &&
                cJSON_IsArray(orr_json_get(*json, "differences"));
    good = good && isfinite(orr_json_number(*json, "cells"));
    cJSON_ArrayForEach (figure, orr_json_get(*json, "verdict"))
        good = good && cJSON_IsString(figure);
    cJSON_ArrayForEach (figure, orr_json_get(*json, "figures"))
        good = good && cJSON_IsString(orr_json_get(figure, "id")) &&
               cJSON_IsString(orr_json_get(figure, "title")) &&
               cJSON_IsString(orr_json_get(figure, "attention")) &&
               isfinite(orr_json_number(figure, "seeds"));
    cJSON_ArrayForEach (figure, orr_json_get(*json, "differences"))
        good = good && cJSON_IsString(orr_json_get(figure, "id")) &&
               cJSON_IsString(orr_json_get(figure, "attention")) &&
               isfinite(orr_json_number(figure, "seeds"));
    return good ? 0
                : ORR_FAIL(ORR_EFORMAT,
                           "%s: expected a verdict (\"format\": \"orrery-verdict-1\") as "
                           "orrery verdict writes it",
                           path);
}

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

int report_html_verdict(const struct cJSON *json, struct orr_file *html)
{
    const cJSON *item;
    if (!json)
        return 0;
    orr_file_printf(
        html,
        "<section class=\"verdict\" id=\"verdict\">\n<h2>The verdict</h2>\n<p class=\"note\">"
        "Of %.0f runs of preset ",
        orr_json_number(json, "cells"));
    orr_html_text(html, cJSON_GetStringValue(orr_json_get(json, "preset"))
                            ? orr_json_get(json, "preset")->valuestring
                            : "?");
    orr_file_printf(html, ", put together by a program; the rest of the page is of one run "
                          "alone.</p>\n<ol>\n");
    cJSON_ArrayForEach (item, orr_json_get(json, "verdict")) {
        orr_file_printf(html, "<li>");
        write_sentence(html, item->valuestring);
        orr_file_printf(html, "</li>\n");
    }
    orr_file_printf(html, "</ol>\n<p>");
    orr_html_text(html, orr_json_get(json, "cannot_say")->valuestring);
    orr_file_printf(html, "</p>\n<details><summary>All figures</summary>\n");
    write_figures(json, html);
    write_differences(json, html);
    return orr_file_printf(html, "</details>\n</section>\n");
}
