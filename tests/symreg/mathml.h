/* mathml.h - reads MathML of a formula aloud, as an expression of Python. */
#ifndef TESTS_SYMREG_MATHML_H
#define TESTS_SYMREG_MATHML_H

#include <string.h>

/* Appends an element and moves behind it. Rows get no brackets, as nobody sees any. */
static inline void say_element(const char **at, char *out)
{
    static const struct {
        const char *tag, *open, *between, *close;
        int children; /* 0: any number */
    } layouts[] = {{"mfrac", "((", ")/(", "))", 2}, {"msup", "", "**(", ")", 2},
                   {"msub", "", "", "", 2},         {"mroot", "(cbrt(", ")+0*(", "))", 2},
                   {"msqrt", "sqrt(", "", ")", 0},  {"mrow", "", "", "", 0}};
    static const struct {
        const char *entity, *text;
    } operators[] = {{"&#x2062;", "*"}, {"&#x22c5;", "*"}, {"&#x2212;", "-"},
                     {"&#xd7;", "*"},   {"&#x2061;", ""},  {"+", "+"},
                     {"(", "("},        {")", ")"},        {",", ","}};
    static const char bars[] = "<mrow><mo>|</mo>", bar[] = "<mo>|</mo></mrow>";
    if (!strncmp(*at, bars, strlen(bars))) {
        *at += strlen(bars);
        strcat(out, "abs(");
        while (strncmp(*at, bar, strlen(bar)) != 0)
            say_element(at, out);
        *at += strlen(bar);
        strcat(out, ")");
        return;
    }
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        const size_t length = strlen(layouts[i].tag);
        if (strncmp(*at + 1, layouts[i].tag, length) != 0 || (*at)[length + 1] != '>')
            continue;
        *at += length + 2;
        strcat(out, layouts[i].open);
        int children = 0;
        for (; strncmp(*at, "</", 2) != 0; children++) {
            strcat(out, children ? layouts[i].between : "");
            say_element(at, out);
        }
        assert_true(layouts[i].children == 0 || children == layouts[i].children);
        assert_memory_equal(*at + 2, layouts[i].tag, length);
        strcat(out, layouts[i].close);
        *at += length + 3;
        return;
    }
    if (strncmp(*at, "<mi>", 4) != 0 && strncmp(*at, "<mn>", 4) != 0 && strncmp(*at, "<mo", 3) != 0)
        fail_msg("no element of MathML: %s", *at);
    const char *content = *at + strcspn(*at, ">") + 1;
    const size_t length = strcspn(content, "<");
    if ((*at)[2] != 'o') {
        strncat(out, length == 2 && !strncmp(content, "ln", 2) ? "log" : content,
                length == 2 && !strncmp(content, "ln", 2) ? 3 : length);
    } else {
        size_t i = 0;
        while (strlen(operators[i].entity) != length ||
               strncmp(operators[i].entity, content, length) != 0)
            assert_true(++i < sizeof operators / sizeof *operators);
        strcat(out, operators[i].text);
    }
    *at = content + length + 5;
}

/* Replaces MathML by what it says. */
static inline void say_mathml(char text[SR_TEXT])
{
    static char said[4 * SR_TEXT];
    const char *at = text;
    said[0] = '\0';
    while (*at)
        say_element(&at, said);
    assert_true(strlen(said) < SR_TEXT);
    strcpy(text, said);
}

#endif
