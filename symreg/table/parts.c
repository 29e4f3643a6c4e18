/* parts.c - prints the unknown functions and constants of a template in the selected formula. */
#include "program.h"

void sr_output_parts(const struct sr_answer *o, struct orr_file *file)
{
    char head[SR_TEXT], text[SR_TEXT];
    const int row = o->form ? sr_front_select(o->front, o->rule) : -1;
    if (row < 0)
        return;
    if (file)
        orr_file_printf(file, "\n## Parts of what %s selects\n\n| part | formula |\n|---|---|\n",
                        sr_rule_name[o->rule]);
    else
        printf("parts of the formula that %s selects:\n", sr_rule_name[o->rule]);
    for (int k = 0; k < o->form->parts; k++) {
        sr_template_head(o->form, k, o->names, head, sizeof head);
        sr_template_text(o->form, k, &o->front->expr[row], o->names, text, sizeof text);
        if (!file) {
            printf("  %s = %s\n", head, text);
            continue;
        }
        orr_file_printf(file, "| ");
        orr_markdown_code(file, head, true);
        orr_file_printf(file, " | ");
        orr_markdown_code(file, text, true);
        orr_file_printf(file, " |\n");
    }
}
