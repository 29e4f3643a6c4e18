/* html_probes.c - the part of report.html with what probes measured of the run's models and of
 * models of other programs. */
#include "report.h"

#include <math.h>
#include <string.h>

static void write_number(struct orr_file *html, double value)
{
    if (isfinite(value))
        orr_file_printf(html, "%s%.4g", value < 0 ? "&minus;" : "", fabs(value));
    else
        orr_file_printf(html, "&ndash;");
}

static void number_cell(struct orr_file *html, double value)
{
    orr_file_printf(html, "<td class=\"n\">");
    write_number(html, value);
    orr_file_printf(html, "</td>");
}

static void value_cell(struct orr_file *html, const struct orr_measure *m)
{
    orr_file_printf(html, "<td class=\"n\">");
    write_number(html, m->value);
    if (isfinite(m->low) && isfinite(m->high_end)) {
        orr_file_printf(html, " <span class=\"note\">[");
        write_number(html, m->low);
        orr_file_printf(html, ", ");
        write_number(html, m->high_end);
        orr_file_printf(html, "]</span>");
    }
    orr_file_printf(html, "</td>");
}

/* The line of a source with this text; NULL: none. */
static const struct orr_measure *find_line(const struct report_source *source, const char *text)
{
    for (int i = 0; i < source->measures.count; i++)
        if (!strcmp(source->measures.at[i].text, text))
            return &source->measures.at[i];
    return NULL;
}

static void write_line(const struct report_source *source, const struct orr_measure *m,
                       struct orr_file *html)
{
    orr_file_printf(html, "<tr><th scope=\"row\">");
    report_html_dot(source, html);
    orr_html_text(html, source->title);
    orr_file_printf(html, "</th><td>");
    orr_html_text(html, m->text);
    orr_file_printf(html, "</td>");
    value_cell(html, m);
    number_cell(html, m->baseline);
    number_cell(html, m->raw);
    number_cell(html, m->upper_bound);
    orr_file_printf(html, "</tr>\n");
}

/* Lines of equal text stand together, in the order of the sources. */
static void write_lines(const struct report_run *run, struct orr_file *html)
{
    for (int s = 0; s < run->source_count; s++)
        for (int i = 0; i < run->source[s].measures.count; i++) {
            const char *text = run->source[s].measures.at[i].text;
            bool written = false;
            for (int earlier = 0; earlier < s; earlier++)
                written |= find_line(&run->source[earlier], text) != NULL;
            for (int of = s; of < run->source_count && !written; of++) {
                const struct orr_measure *m = find_line(&run->source[of], text);
                if (m)
                    write_line(&run->source[of], m, html);
            }
        }
}

int report_html_probes(const struct report_run *run, struct orr_file *html)
{
    orr_file_printf(html, "<h2 id=\"measured\">Probes</h2>\n");
    report_html_table(
        html, "probed",
        "What probes measured, with 95% intervals over held-out data. Untrained: the "
        "same shape with random weights. No model: the inputs alone, or persistence. "
        "Truth or fit: the same procedure fed the truth, or an observer who knows the "
        "law.",
        "Source|Measured|#Value|#Untrained|#No model|#Truth or fit");
    report_html_rows(html);
    write_lines(run, html);
    return report_html_table_end(html);
}
