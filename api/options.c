/* options.c - settings and options of a regression by name. */
#include <stdlib.h>
#include <string.h>

#include "regress.h"

/* Sets the values of presets/table.json, which the library does not read (a test compares them). */
int api_default_settings(struct orr_settings *settings)
{
    static const char *const table[] = {"symreg.binary=+,-,*,/",
                                        "symreg.unary=inv,square,sqrt,exp,log,sin,cos",
                                        "symreg.loss=l2",
                                        "symreg.maxsize=30",
                                        "symreg.iterations=100",
                                        "symreg.populations=31",
                                        "symreg.population_size=27",
                                        "symreg.cycles=380",
                                        "symreg.restarts=1",
                                        "symreg.seconds=60",
                                        "symreg.patience=30",
                                        "symreg.rules=accuracy,score,best,mdl"};
    orr_settings_defaults(settings);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        TRY(orr_settings_set(settings, table[i]));
    return 0;
}

/* The library's options: those rows that are its own, by their names without "--". */
static const char *name_of(int option)
{
    return sr_option[option].name + strlen("--");
}

static bool is_ours(int option)
{
    return sr_option[option].of & SR_OF_LIBRARY;
}

const char *orrery_regression_option(int i)
{
    static const char *const more[] = {"keep-state"};
    for (int k = 0; k < SR_OPTION_COUNT; k++)
        if (is_ours(k) && i-- == 0)
            return name_of(k);
    return i >= 0 && i < (int)(sizeof more / sizeof *more) ? more[i] : NULL;
}

/* Finds an option by name; -1: there is none. */
static int find_option(const char *key)
{
    for (int i = 0; i < SR_OPTION_COUNT; i++)
        if (is_ours(i) && !strcmp(key, name_of(i)))
            return i;
    return -1;
}

static int keep_option(struct orrery_regression *r, int i, const char *value)
{
    char *copy = value ? strdup(value) : NULL;
    if (value && !copy)
        return ORR_FAIL(ORR_ENOMEM, "%s: out of memory", name_of(i));
    free(r->option[i]);
    r->option[i] = copy;
    *sr_option_place(&r->options, i) = copy;
    return 0;
}

/* Reads "1" or "0"; NULL is 0. */
static int read_flag(const char *key, const char *value, bool *flag)
{
    if (value && strcmp(value, "0") && strcmp(value, "1"))
        return ORR_FAIL(ORR_EUSAGE, "%s: expected 0 or 1, found \"%.100s\"", key, value);
    *flag = value && *value == '1';
    return 0;
}

/* Sets a setting of symreg; "maxsize" means "symreg.maxsize". */
static int set_setting(struct orrery_regression *r, const char *key, const char *value)
{
    char full[128], text[ORR_SETTING];
    struct orr_settings defaults;
    const bool whole = strchr(key, '.') || !strcmp(key, "seed"), given = value != NULL;
    if (snprintf(full, sizeof full, "%s%s", whole ? "" : "symreg.", key) >= (int)sizeof full)
        return ORR_FAIL(ORR_EUSAGE, "set: expected a key of at most 120 bytes");
    if (!value) {
        TRY(api_default_settings(&defaults));
        orr_settings_value(&defaults, full, text);
        value = text;
    }
    struct orr_settings changed = r->settings;
    TRY(orr_settings_set_by(&changed, "set", full, value));
    if (!orr_settings_in_groups(full, "seed,symreg"))
        return ORR_FAIL(ORR_EUSAGE, "set: expected seed, symreg.* or an option, found \"%s\"",
                        full);
    r->settings = changed;
    if (!strcmp(full, "symreg.seconds"))
        r->seconds_given = given;
    if (!strcmp(full, "symreg.iterations"))
        r->iterations_given = given;
    return 0;
}

int api_set(struct orrery_regression *r, const char *key, const char *value)
{
    bool flag = false;
    if (!key)
        return ORR_FAIL(ORR_EINVAL, "set: expected a key, found NULL");
    if (!strcmp(key, "keep-state"))
        return read_flag(key, value, &r->keep_state);
    const int option = find_option(key);
    if (option >= 0 && !sr_option[option].value_name) {
        TRY(read_flag(key, value, &flag));
        value = flag ? "1" : NULL;
    }
    return option >= 0 ? keep_option(r, option, value) : set_setting(r, key, value);
}

int orrery_regression_set(struct orrery_regression *r, const char *key, const char *value)
{
    API_RETURN(r, api_set(r, key, value));
}

void api_roles(const struct orrery_regression *r, char text[API_ROLES])
{
    const struct sr_csv_options *o = &r->options;
    const bool weighs = o->weights && strcmp(o->weights, "equal") != 0;
    snprintf(text, API_ROLES, "weights=%.300s category=%.300s log-target=%d",
             weighs ? o->weights : "", o->category ? o->category : "", o->log_target != NULL);
}
