/* help.c - the text of --help: the usual options and settings on one screen, or all of them. */
#include "base/error.h"
#include "base/text.h"
#include "help.h"
#include "program.h"
#include "settings_table.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

bool orr_is_listed(const char *list, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = list; at && *at; at += *at == ',') {
        const size_t part = strcspn(at, ",");
        if (part == length && !strncmp(at, word, length))
            return true;
        at += part;
    }
    return false;
}

bool orr_command_takes(const struct orr_program *program, const struct orr_command *command,
                       const char *option)
{
    bool claimed = command->alone;
    for (const struct orr_command *c = program->commands; c->name; c++)
        claimed |= orr_is_listed(c->takes, option);
    return !claimed || orr_is_listed(command->takes, option);
}

/* Width of the left column, in the short and in the full help; width of a line of the short
 * help. */
enum { LEFT = 24, LEFT_ALL = 34, WIDTH = 80 };

/* Prints a name and its text: in full help one line, which grep finds whole; else wrapped at WIDTH
 * columns. */
static void print_row(const char *name, const char *text, bool all)
{
    int column = printf("  %-*s ", all ? LEFT_ALL : LEFT, name);
    if (all) {
        printf("%s\n", text);
        return;
    }
    for (const char *at = text, *space = ""; *at;) {
        int word = (int)strcspn(at, " |");
        word += at[word] == '|';
        if (column + (int)strlen(space) + word > WIDTH) {
            column = printf("\n%*s", LEFT + 3, "") - 1;
            space = "";
        }
        column += printf("%s%.*s", space, word, at);
        at += word;
        space = *at == ' ' ? " " : "";
        at += *at == ' ';
    }
    putchar('\n');
}

static void print_option(const struct orr_option *option, bool all)
{
    char name[64];
    const bool out = !strcmp(option->name, "--out"), help = !strcmp(option->name, "--help");
    snprintf(name, sizeof name, "%s%s%s%s",
             out    ? "-o, "
             : help ? "-h, "
                    : "",
             option->name, option->value_name ? " " : "",
             option->value_name ? option->value_name : "");
    print_row(name, option->help, all);
}

static void print_options(const struct orr_program *program, const struct orr_command *command,
                          bool all)
{
    struct orr_option common[ORR_COMMON_OPTIONS];
    const int count = orr_common_options(program, common);
    printf("\noptions:\n");
    for (const struct orr_option *o = program->options; o && o->name; o++)
        if ((all || !program->usual || orr_is_listed(program->usual, o->name)) &&
            (!command || orr_command_takes(program, command, o->name)))
            print_option(o, all);
    for (int i = 0; i < count; i++)
        if (all || !program->usual || orr_is_listed(program->usual, common[i].name))
            print_option(&common[i], all);
}

/* The values that a setting accepts: "a|b", "true|false", "(a list: a,b,c)", or its range. */
static void accepted_values(const struct orr_setting *f, char text[256])
{
    *text = '\0';
    if (f->type == ORR_FIELD_NAMES && f->choices) {
        snprintf(text, 256, "(a list of ");
        for (const char *at = f->choices; *at; at += strcspn(at, "|"), at += *at == '|')
            orr_append(text, 256, "%s%.*s", at == f->choices ? "" : ", ", (int)strcspn(at, "|"),
                       at);
        orr_append(text, 256, ")");
    } else if (f->choices)
        snprintf(text, 256, "%s", f->choices);
    else if (f->type == ORR_FIELD_BOOL)
        strcpy(text, "true|false");
    else if (f->type == ORR_FIELD_NAMES)
        strcpy(text, "(a list: a,b,c)");
    else if (f->type == ORR_FIELD_TEXT)
        strcpy(text, "(a text of at most 255 bytes)");
    else if (f->type == ORR_FIELD_U64)
        strcpy(text, "(whole number from 0 to 18446744073709551615)");
    else
        snprintf(text, 256, "(%snumber from %g to %g)", f->type == ORR_FIELD_DOUBLE ? "" : "whole ",
                 f->min, f->max);
}

/* The value of a setting, or the key of the setting that it follows. */
static void value_of(const struct orr_settings *settings, const struct orr_setting *f,
                     char text[ORR_SETTING])
{
    if (orr_setting_follows(settings, f, text))
        return;
    orr_setting_text(settings, f, text);
    if (!*text)
        strcpy(text, "\"\"");
}

static void print_setting(const struct orr_setting *f, const struct orr_settings *settings,
                          const struct orr_settings *file, bool all)
{
    char line[2 * ORR_SETTING + 1024], value[ORR_SETTING], other[ORR_SETTING], takes[256];
    value_of(settings, f, value);
    value_of(file ? file : settings, f, other);
    accepted_values(f, takes);
    const bool differs = strcmp(value, other) != 0, shown = all || f->type == ORR_FIELD_ENUM;
    snprintf(line, sizeof line, "%s%s%s%s%s%s [%s]", f->help, shown ? " " : "", shown ? takes : "",
             differs ? " (with a FILE: " : "", differs ? other : "", differs ? ")" : "", value);
    print_row(f->key, line, all);
}

static void print_settings(const struct orr_program *program, const struct orr_settings *settings,
                           const char *from, bool all)
{
    struct orr_settings file;
    const bool reads_file = program->rest_preset &&
                            strcmp(settings->name, program->rest_preset) != 0 &&
                            !orr_settings_load(&file, program->rest_preset);
    orr_error_clear();
    bool any = false;
    for (const struct orr_setting *f = orr_setting_rows; f->key; f++) {
        if (!orr_settings_in_groups(f->key, program->groups) ||
            (!all && !orr_is_listed(program->usual, f->key)))
            continue;
        if (!any)
            printf("\nsettings, given as --set KEY=VALUE [value in %s]:\n", from);
        any = true;
        print_setting(f, settings, reads_file ? &file : NULL, all);
    }
}

/* The last blank of a line after `first` and up to `most`, before one of two characters where
 * `before` names them; `first`: there is none. */
static size_t break_of(const char *line, size_t first, size_t most, const char *before)
{
    while (most > first &&
           (line[most] != ' ' || (before[1] && !strchr(before + 1, line[most + 1]))))
        most--;
    return most;
}

/* Prints a line wrapped at WIDTH. What follows the first goes below an explanation, which stands
 * behind three spaces or more, else below what the line begins with. */
static void print_wrapped(const char *line)
{
    const size_t first = strspn(line, " "), most = WIDTH / 2;
    const char *gap = strstr(line + first, "   ");
    size_t indent = gap ? (size_t)(gap - line) + strspn(gap, " ") : first + strlen("usage: ");
    indent = first > most / 2 ? first : indent > most ? most : indent;
    for (size_t left = 0;; left = indent) {
        size_t length = strlen(line), most_here = WIDTH - left;
        if (length > most_here) {
            const char *before = gap ? " " : " [-"; /* of a command: before an option */
            length = break_of(line, first, most_here, before);
            length = length > first ? length : break_of(line, first, most_here, " ");
            length = length > first ? length : strlen(line);
        }
        size_t shown = length;
        while (shown && line[shown - 1] == ' ')
            shown--;
        printf("%*s%.*s\n", (int)left, "", (int)shown, line);
        line += length + strspn(line + length, " ");
        if (!*line)
            return;
    }
}

/* The lines of the usage, each with "orrery" before the program's name where users call it so. */
static void print_usage(const struct orr_program *program)
{
    const size_t length = strlen(program->name), indent = strlen("usage: ");
    for (const char *line = program->usage; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        const char *from = line == program->usage ? line : line + strspn(line, " ");
        const bool named = !strncmp(from, program->name, length) && from[length] == ' ' &&
                           (line == program->usage || (size_t)(from - line) == indent);
        char whole[512];
        snprintf(whole, sizeof whole, "%s%.*s%s%.*s", line == program->usage ? "usage: " : "",
                 (int)(from - line), line, named && orr_program_is_part() ? "orrery " : "",
                 (int)strcspn(from, "\n"), from);
        print_wrapped(whole);
    }
}

/* Whether every name in program->usual is an option or a setting of the program. */
static bool usual_exists(const struct orr_program *program)
{
    struct orr_option common[ORR_COMMON_OPTIONS];
    const int count = orr_common_options(program, common);
    for (const char *at = program->usual; at && *at; at += *at == ',') {
        char name[64];
        const size_t part = strcspn(at, ",");
        snprintf(name, sizeof name, "%.*s", (int)part, at);
        at += part;
        bool found = orr_setting_find(name) && orr_settings_in_groups(name, program->groups);
        for (const struct orr_option *o = program->options; o && o->name; o++)
            found |= !strcmp(o->name, name);
        for (int i = 0; i < count; i++)
            found |= !strcmp(common[i].name, name);
        if (!found)
            return false;
    }
    return true;
}

void orr_help_print(const struct orr_program *program, const struct orr_command *command,
                    const struct orr_settings *settings, const char *from, bool all)
{
    assert(usual_exists(program));
    printf("%s\n\n", program->purpose);
    print_usage(program);
    print_options(program, command, all);
    if (program->groups && *program->groups)
        print_settings(program, settings, from, all);
    if (!all && program->usual)
        printf("\n--help all: every option and setting, with units and ranges.\n");
}

bool orr_help_setting(const struct orr_program *program, const char *option, const char *value,
                      char text[512])
{
    const char *key[ORR_KEYS_NAMED];
    char name[64];
    snprintf(name, sizeof name, "%s", option + strspn(option, "-"));
    for (char *c = name; *c; c++)
        *c = *c == '-' ? '_' : *c;
    int count = program->groups ? orr_settings_named(name, program->groups, key) : 0;
    count = count ? count : orr_settings_named(name, NULL, key);
    if (!count || !option[strspn(option, "-")])
        return false;
    snprintf(text, 512, "; it is a setting: ");
    for (int i = 0; i < count; i++) {
        const char *dot = strrchr(key[i], '.'), *last = dot ? dot + 1 : key[i];
        /* a setting whose name differs from the option's is listed with its help text */
        const bool other = !strstr(last, name) && !strstr(name, last);
        orr_append(text, 512, "%s--set %s=%.40s%s%s%s", i ? " or " : "", key[i],
                   value ? value : "VALUE", other ? " (" : "",
                   other ? orr_setting_find(key[i])->help : "", other ? ")" : "");
    }
    orr_append(text, 512, "; see --help all");
    return true;
}
