/* options.c - the page docs/symreg_options.md: every option of a table as the library lists it, for
 * the program symreg, for orrery_regression_set() and for Python. `make options-page` writes it.
 *
 *     cc options.c -o options $(pkg-config --cflags --libs orrery)
 *     ./options */
#include <orrery.h>
#include <stdio.h>
#include <string.h>

/* Prints a text as code in a cell of a table, where "|" would end the cell. */
static void print_code(const char *before, const char *text)
{
    printf("%s`", before);
    for (; *text; text++)
        printf(*text == '|' ? "\\|" : "%c", *text);
    printf("`");
}

/* Prints "`a`, `b`" for "a|b". */
static void print_choices(const char *choices)
{
    for (const char *at = choices; *at; at += *at == '|') {
        const int length = (int)strcspn(at, "|");
        printf("%s`%.*s`", at == choices ? " " : ", ", length, at);
        at += length;
    }
}

static void print_values(const struct orrery_option *o)
{
    static const char *const type[] = {
        [ORRERY_OPTION_TEXT] = "text",     [ORRERY_OPTION_FLAG] = "flag: `0`, `1`",
        [ORRERY_OPTION_WHOLE] = "integer", [ORRERY_OPTION_NUMBER] = "number",
        [ORRERY_OPTION_WORD] = "one of",   [ORRERY_OPTION_WORDS] = "some of"};
    printf(" | %s", type[o->type]);
    if (o->unit)
        printf(" (%s)", o->unit);
    if (o->type == ORRERY_OPTION_WHOLE || o->type == ORRERY_OPTION_NUMBER)
        printf(", %g to %g", o->low, o->high);
    if (o->type == ORRERY_OPTION_TEXT && o->value)
        print_code(" ", o->value);
    if (o->choices)
        print_choices(o->choices);
}

static void print_names(const struct orrery_option *o)
{
    const int setting = o->program && strncmp(o->program, "--", 2) != 0;
    printf("| ");
    if (o->program)
        print_code(setting ? "`--set` " : "", o->program);
    printf(" | ");
    if (o->key)
        print_code("", o->key);
    printf(" | %s", o->python ? o->python : "");
}

static void print_help(const struct orrery_option *o)
{
    printf(" | ");
    for (const char *c = o->help; *c; c++)
        printf(strchr("|*<", *c) ? "\\%c" : "%c", *c);
    if (o->needs)
        print_code("; needs ", o->needs);
    if (o->without)
        print_code("; not with ", o->without);
    printf(" | %s |\n", o->recorded ? "yes" : "");
}

int main(void)
{
    struct orrery_option o = {.bytes = sizeof o};
    printf(
        "# Options of a table\n\n"
        "Every option of a search in a table, from the rows of which parsing, `--help` and "
        "refusals are made; `make options-page` writes this page.\n"
        "[Symbolic regression](symreg.md#options) says more of some options. Where the library "
        "or Python has no such name, arrays and arguments say it: columns, the target, a second "
        "table.\n"
        "*Kept*: a search is resumed (`--resume`, `keep-state`, `warm_start`) with the same value "
        "only.\n\n"
        "| `symreg` | `orrery_regression_set()` | `SymbolicRegressor` | value | default | meaning "
        "| kept |\n|---|---|---|---|---|---|---|\n");
    for (int i = 0; i < orrery_option_count(); i++) {
        if (orrery_option_at(i, &o))
            return 1;
        print_names(&o);
        print_values(&o);
        printf(" | ");
        if (o.initial)
            print_code("", o.initial);
        print_help(&o);
    }
    return 0;
}
