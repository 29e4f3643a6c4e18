/* options.c - what the rows of options.h say, checked and written. */
#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/text.h"

const struct sr_option sr_option[SR_OPTION_COUNT] = {
#define ROW(member, its_name, its_value, its_help, ...)                                            \
    [SR_OPTION_##member] = {.name = its_name,                                                      \
                            .value_name = its_value,                                               \
                            .help = its_help,                                                      \
                            .offset = offsetof(struct sr_csv_options, member),                     \
                            __VA_ARGS__},
    SR_OPTIONS(ROW)
#undef ROW
};

const char **sr_option_place(struct sr_csv_options *options, int number)
{
    return (const char **)(void *)((char *)options + sr_option[number].offset);
}

int sr_options_list(struct sr_csv_options *options, unsigned who,
                    struct orr_option list[SR_OPTION_COUNT])
{
    int count = 0;
    for (int i = 0; i < SR_OPTION_COUNT; i++)
        if (sr_option[i].of & who)
            list[count++] =
                (struct orr_option){sr_option[i].name, sr_option[i].value_name, sr_option[i].help,
                                    sr_option_place(options, i), sr_option[i].key};
    return count;
}

static const char *text_of(const struct sr_csv_options *options, int number)
{
    return *(const char *const *)(const void *)((const char *)options + sr_option[number].offset);
}

/* Whether an option is given, and with a value that means something. */
static bool is_given(const struct sr_csv_options *options, int number)
{
    const char *text = text_of(options, number), *none = sr_option[number].same_as_none;
    return text && !(none && !strcmp(text, none));
}

static int find(const char *name)
{
    int i = 0;
    while (i < SR_OPTION_COUNT && strcmp(sr_option[i].name, name) != 0)
        i++;
    return i;
}

int sr_option_word(int number, const char *text)
{
    const size_t length = strlen(text);
    const char *at = sr_option[number].value_name;
    for (int k = 0; at; k++, at = strchr(at, '|'), at += at != NULL)
        if (strcspn(at, "|") == length && !strncmp(at, text, length))
            return k;
    return -1;
}

int sr_option_check(int number, const char *text)
{
    const struct sr_option *o = &sr_option[number];
    char *end = NULL;
    long whole;
    if (!text)
        return 0;
    if (o->kind == SR_OPTION_WORD && sr_option_word(number, text) < 0)
        return ORR_FAIL(ORR_EUSAGE, "%s: expected one of %s, found \"%s\"", o->name, o->value_name,
                        text);
    if (o->kind == SR_OPTION_WHOLE && !orr_whole(text, o->low, o->high, &whole))
        return ORR_FAIL(ORR_EUSAGE, "%s: expected a whole number from %ld to %ld, found \"%s\"",
                        o->name, o->low, o->high, text);
    if (o->kind != SR_OPTION_POSITIVE)
        return 0;
    const double value = strtod(text, &end);
    return end != text && !*end && value > 0 && value < (double)o->high
               ? 0
               : ORR_FAIL(ORR_EUSAGE, "%s: expected a number above 0, below %ld, found \"%s\"",
                          o->name, o->high, text);
}

int sr_options_check(const struct sr_csv_options *options)
{
    for (int i = 0; i < SR_OPTION_COUNT; i++) {
        const struct sr_option *o = &sr_option[i];
        TRY(sr_option_check(i, text_of(options, i)));
        if (!text_of(options, i))
            continue;
        if (o->needs && !is_given(options, find(o->needs)))
            return ORR_FAIL(ORR_EUSAGE, "%s: needs %s", o->name, o->needs);
        if (o->without && is_given(options, i) && is_given(options, find(o->without)))
            return ORR_FAIL(ORR_EUSAGE, "%s: not with %s", o->name, o->without);
    }
    return 0;
}

char *sr_options_record(const struct sr_csv_options *options)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    for (int i = 0; i < SR_OPTION_COUNT && out; i++)
        if (sr_option[i].recorded && !sr_option[i].key)
            fprintf(out, "%s=%s\n", sr_option[i].name,
                    is_given(options, i) ? text_of(options, i) : "");
    if (out && !fclose(out))
        return text;
    free(text);
    return NULL;
}
