/* derivative_units.c - the units of derivatives and velocities follow from those of states and the
 * time. */
#include "dynamics.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"

/* Reads the unit of each name; NULL where there is none. The texts are parts of `given`. */
static int read_units(const struct sr_states *s, const char *given,
                      const char *unit[SR_STATE_NAMES], int length[SR_STATE_NAMES])
{
    for (const char *at = *given ? given : NULL; at;) {
        char name[SR_STATE_NAME];
        at += strspn(at, " ");
        size_t head = sr_name_quoted(at);
        head += strcspn(at + head, "=,");
        int k = 0;
        if (at[head] != '=' || !sr_name_read(at, head, name, sizeof name))
            return ORR_FAIL(ORR_EUSAGE, "--units: expected column=unit, found \"%s\" in \"%s\"", at,
                            given);
        while (k < s->names && strcmp(name, s->name[k]) != 0)
            k++;
        if (k == s->names || (k >= s->dims && k < sr_states_time(s)))
            return ORR_FAIL(ORR_EUSAGE,
                            "--units: \"%s\" is no column of states, time or inputs; units of "
                            "velocities and derivatives follow from these",
                            name);
        if (unit[k])
            return ORR_FAIL(ORR_EUSAGE, "--units: \"%s\" stands twice", name);
        unit[k] = at + head + 1;
        length[k] = (int)strcspn(unit[k], ",");
        at = unit[k][length[k]] ? unit[k] + length[k] + 1 : NULL;
    }
    return 0;
}

static void print_entry(FILE *out, bool *any, const char *name, const char *unit, int length,
                        const char *time, int power)
{
    fputs(*any ? "," : "", out);
    orr_print_quoted(out, name);
    fprintf(out, "=%.*s", length, unit);
    if (power)
        fprintf(out, "/%s%s", time, power == 2 ? "^2" : "");
    *any = true;
}

static void print_units(FILE *out, const struct sr_states *s, int d,
                        const char *const unit[SR_STATE_NAMES], const int length[SR_STATE_NAMES],
                        const char *time)
{
    const int t = sr_states_time(s);
    bool any = false;
    for (int k = 0; k < s->names; k++) {
        const bool velocity = k >= s->dims && k < t;
        const int of = velocity ? k - s->dims : k;
        if (unit[of] && (k != t || s->explicit_time) && (!velocity || *time))
            print_entry(out, &any, s->name[k], unit[of], length[of], time, velocity);
    }
    if (unit[d] && *time)
        print_entry(out, &any, s->target[d], unit[d], length[d], time, s->order);
}

int sr_states_units(const struct sr_states *s, int d, const char *given, char **text)
{
    const char *unit[SR_STATE_NAMES] = {NULL};
    int length[SR_STATE_NAMES] = {0};
    const int t = sr_states_time(s);
    char time[64] = "";
    size_t bytes;
    *text = NULL;
    TRY(read_units(s, given, unit, length));
    if (unit[t]) {
        int n = 0;
        for (int k = 0; k < length[t]; k++)
            if (unit[t][k] != ' ' && n < (int)sizeof time - 1)
                time[n++] = unit[t][k];
        time[n] = '\0';
        for (const char *c = time; *c; c++)
            if (!isalpha((unsigned char)*c))
                return ORR_FAIL(ORR_EUSAGE,
                                "--units: expected one word for the unit of the time \"%s\", as "
                                "s or yr, found \"%s\"",
                                s->name[t], time);
    }
    FILE *out = open_memstream(text, &bytes);
    if (!out)
        return ORR_FAIL(ORR_ENOMEM, "--units: out of memory");
    print_units(out, s, d, unit, length, time);
    if (!fclose(out))
        return 0;
    free(*text);
    return ORR_FAIL(ORR_ENOMEM, "--units: out of memory");
}
