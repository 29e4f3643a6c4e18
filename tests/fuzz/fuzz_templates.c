/* fuzz_templates.c - any text as a template of named columns, and further lines as formulas: what
 * is an instance of the template has parts, which can be taken, printed and put back. */
#include <string.h>

#include "fuzz.h"
#include "symreg/select/template.h"
#include "symreg/solve/solve.h"

enum { NAMES = 4 };
static const char *const names[NAMES] = {"r", "m1", "x", "a, \"b\""};
static const char *const others[] = {"w"};

static void use(const struct sr_template *form, struct sr_expr *expr)
{
    static char text[SR_TEXT];
    struct sr_span span[SR_PARTS];
    struct sr_expr part, again = *expr;
    const bool admits = sr_template_admits(form, expr);
    if (!sr_template_find(form, expr, span)) {
        FUZZ_EXPECT(!admits);
        return;
    }
    for (int k = 0; k < form->parts; k++) {
        FUZZ_EXPECT(span[k].start >= 0 && span[k].size > 0 &&
                    span[k].start + span[k].size <= expr->count);
        sr_template_head(form, k, names, text, sizeof text);
        FUZZ_EXPECT(*text);
        sr_template_text(form, k, expr, names, text, sizeof text);
        if (!admits || !sr_template_take(form, k, expr, &part))
            continue;
        FUZZ_EXPECT(sr_template_put(form, k, &part, SR_NODES, &again));
        FUZZ_EXPECT(again.count == expr->count);
    }
}

FUZZ_TARGET(templates)
{
    struct sr_template form;
    struct sr_expr expr;
    char *text = malloc(size + 1), *rest = text;
    FUZZ_EXPECT(text);
    memcpy(text, bytes, size);
    text[size] = '\0';
    struct sr_language *language = sr_language_create();
    FUZZ_EXPECT(language != NULL);
    const char *line = fuzz_line(&rest);
    const int rc = sr_template_parse(&form, language, line ? line : "", names, NAMES, others, 1);
    FUZZ_EXPECT(!rc || *orr_error());
    FUZZ_EXPECT(rc || (form.parts > 0 && form.parts <= SR_PARTS && form.functions <= form.parts));
    for (int i = 0; !rc && i < 8 && *rest; i++) {
        line = fuzz_line(&rest);
        if (line && !sr_expr_parse(language, line, names, NAMES, &expr) &&
            sr_template_adopt(&form, &expr))
            use(&form, &expr);
    }
    sr_language_free(language);
    free(text);
    return 0;
}
