/* html_formula.c - formulas in report.html as MathML, by the parser and the printer of symreg. */
#include "report.h"
#include "formula/expr.h"

/* "F = ..." in MathML. False, and the text is empty, where it is no formula of k, m1, m2 and r. */
static bool make_mathml(const char *formula, char mathml[SR_TEXT])
{
    static const char *const names[] = {"k", "m1", "m2", "r"}; /* the order within a product */
    struct sr_expr expr;
    *mathml = '\0';
    if (sr_expr_parse(NULL, formula, names, sizeof names / sizeof *names, &expr)) {
        orr_error_recover();
        return false;
    }
    sr_expr_collect(NULL, &expr);
    sr_expr_text(NULL, &expr, SR_MATHML, names, mathml, SR_TEXT);
    return true;
}

static void write_math(struct orr_file *html, const char *mathml)
{
    orr_file_printf(html, "<math displaystyle=\"true\"><mrow><mi>F</mi><mo>=</mo>%s</mrow></math>",
                    mathml);
}

void report_html_formula(struct orr_file *html, const char *formula)
{
    char mathml[SR_TEXT];
    if (make_mathml(formula, mathml))
        write_math(html, mathml);
    else
        orr_html_text(html, formula);
}

void report_html_law(struct orr_file *html, const char *formula, const char *class_name)
{
    char mathml[SR_TEXT];
    const bool math = make_mathml(formula, mathml);
    if (math) {
        orr_file_printf(html, "<details class=\"%s\"><summary>", class_name);
        write_math(html, mathml);
        orr_file_printf(html, "</summary><code>");
    } else {
        orr_file_printf(html, "<code class=\"%s\">", class_name);
    }
    orr_html_text(html, formula);
    orr_file_printf(html, "</code>%s", math ? "</details>" : "");
}
