/* test_html_formula.c - laws in report.html: MathML of formulas, any other text as it stands. */
#include "base/scratch.h"
#include "report.h"

static const char *law_of(const char *formula)
{
    static char *page;
    struct orr_file html = {0};
    size_t bytes;
    free(page);
    assert_int_equal(orr_file_create(&html, scratch_at(scratch_dir, "law.html")), 0);
    report_html_law(&html, formula, "law");
    assert_int_equal(orr_file_commit(&html), 0);
    orr_file_close(&html);
    assert_int_equal(orr_file_read(scratch_at(scratch_dir, "law.html"), &page, &bytes), 0);
    assert_string_equal(orr_error(), "");
    return page;
}

TEST(laws_are_mathml)
{
    assert_string_equal(
        law_of("((m2 * (m1 * 39.4)) / (r * r))"),
        "<details class=\"law\"><summary><math displaystyle=\"true\"><mrow><mi>F</mi><mo>=</mo>"
        "<mfrac><mrow><mn>39.4</mn><mo rspace=\"0.15em\">&#x2062;</mo><msub><mi>m</mi><mn>1</mn>"
        "</msub><mo>&#x2062;</mo><msub><mi>m</mi><mn>2</mn></msub></mrow><mrow><msup><mi>r</mi>"
        "<mn>2</mn></msup></mrow></mfrac></mrow></math></summary><code>"
        "((m2 * (m1 * 39.4)) / (r * r))</code></details>");
}

TEST(other_texts_stay_texts)
{
    assert_string_equal(law_of("m1 * m2 < r & 39.4"),
                        "<code class=\"law\">m1 * m2 &lt; r &amp; 39.4</code>");
    static const char *const texts[] = {"",      "k m1 m2 / r^2", "(r",     "r)",    "r +",  "sin(",
                                        "sin()", "inf",           "r ** 2", "1e999", "x * r"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (strstr(law_of(texts[i]), "<math"))
            fail_msg("read as a formula: %s", texts[i]);
    static char deep[1000001]; /* without a limit too deep for the stack */
    memset(deep, '(', 1000000);
    assert_null(strstr(law_of(deep), "<math"));
    memset(deep, '-', 1000000);
    assert_null(strstr(law_of(deep), "<math"));
}

TESTS(scratch_setup, scratch_teardown)
