/* template_print.c - prints the unknown functions and constants of a template in the selected
 * formula. */
#include "base/html.h"
#include "program.h"

static void write_head(const struct sr_answer *o, enum sr_medium medium, struct orr_file *file)
{
    const char *rule = sr_rule_name[o->rule];
    if (medium == SR_TERMINAL)
        printf("parts of the formula that %s selects:\n", rule);
    else if (medium == SR_MARKDOWN)
        orr_file_printf(file, "\n## Parts of what %s selects\n\n| part | formula |\n|---|---|\n",
                        rule);
    else
        orr_file_printf(file,
                        "<h2>Parts of what <code>%s</code> selects</h2>\n<div class=\"wide\">"
                        "<table><thead><tr><th>part</th><th>formula</th></tr></thead><tbody>\n",
                        rule);
}

static void write_part(enum sr_medium medium, struct orr_file *file, const char *head,
                       const char *text)
{
    if (medium == SR_TERMINAL) {
        printf("  %s = %s\n", head, text);
    } else if (medium == SR_MARKDOWN) {
        orr_file_printf(file, "| ");
        orr_markdown_code(file, head, true);
        orr_file_printf(file, " | ");
        orr_markdown_code(file, text, true);
        orr_file_printf(file, " |\n");
    } else {
        orr_file_printf(file, "<tr><td><code>");
        orr_html_text(file, head);
        orr_file_printf(file, "</code></td><td><code>");
        orr_html_text(file, text);
        orr_file_printf(file, "</code></td></tr>\n");
    }
}

void sr_output_parts(const struct sr_answer *o, enum sr_medium medium, struct orr_file *file)
{
    char head[SR_TEXT], text[SR_TEXT];
    const int row = o->form ? sr_front_select(o->front, o->rule) : -1;
    if (row < 0)
        return;
    write_head(o, medium, file);
    for (int k = 0; k < o->form->parts; k++) {
        sr_template_head(o->form, k, o->names, head, sizeof head);
        sr_template_text(o->form, k, &o->front->expr[row], o->names, text, sizeof text);
        write_part(medium, file, head, text);
    }
    if (medium == SR_HTML)
        orr_file_printf(file, "</tbody></table></div>\n");
}
