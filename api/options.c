/* options.c - settings and options of a regression by name. */
#include <stdlib.h>
#include <string.h>

#include "regress.h"

/* The values of presets/table.json, which the library does not read (a test compares them). */
static const char *const of_tables[] = {"symreg.binary=+,-,*,/",
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
enum { OF_TABLES = sizeof of_tables / sizeof *of_tables };

int api_default_settings(struct orr_settings *settings)
{
    orr_settings_defaults(settings);
    for (int i = 0; i < OF_TABLES; i++)
        TRY(orr_settings_set(settings, of_tables[i]));
    return 0;
}

/* ------------------------------------------------------------------------------ the list */

/* What the library has beside the rows of symreg/solve/options.h: settings without an option, by
 * their names in Python, and keep-state. */
#define KEEP_STATE "keep-state"
static const struct more {
    const char *key, *python;
    bool recorded;
} more[] = {{KEEP_STATE, "warm_start", false},
            {"seed", "random_state", true},
            {"symreg.loss_parameter", NULL, true},
            {"symreg.populations", "populations", true},
            {"symreg.population_size", "population_size", true},
            {"symreg.cycles", "ncycles_per_iteration", true},
            {"symreg.restarts", NULL, true},
            {"symreg.parsimony", "parsimony", true},
            {"symreg.enumerate", "enumerate", true},
            {"symreg.patience", "patience", false},
            {"symreg.rules", NULL, false}};
enum { MORE = sizeof more / sizeof *more };

/* The name of an option without "--", or of a setting without "symreg.". */
static const char *short_name(const char *name)
{
    const char *const dot = strchr(name, '.');
    return dot ? dot + 1 : name + strspn(name, "-");
}

static const char *default_of(const struct orr_setting *setting)
{
    const size_t length = strlen(setting->key);
    for (int i = 0; i < OF_TABLES; i++)
        if (!strncmp(of_tables[i], setting->key, length) && of_tables[i][length] == '=')
            return of_tables[i] + length + 1;
    return setting->initial;
}

static void describe_setting(const char *key, struct orrery_option *option)
{
    static const int type[] = {
        [ORR_FIELD_INT] = ORRERY_OPTION_WHOLE,  [ORR_FIELD_LONG] = ORRERY_OPTION_WHOLE,
        [ORR_FIELD_U64] = ORRERY_OPTION_WHOLE,  [ORR_FIELD_DOUBLE] = ORRERY_OPTION_NUMBER,
        [ORR_FIELD_BOOL] = ORRERY_OPTION_WORD,  [ORR_FIELD_ENUM] = ORRERY_OPTION_WORD,
        [ORR_FIELD_NAMES] = ORRERY_OPTION_WORDS};
    const struct orr_setting *f = orr_setting_find(key);
    option->key = short_name(key);
    option->type = type[f->type];
    option->initial = default_of(f);
    option->low = f->min;
    option->high = f->max;
    option->choices = f->choices;
    option->needs = f->needs;
}

static bool is_ours(int option)
{
    return sr_option[option].of & SR_OF_LIBRARY;
}

static struct orrery_option describe_row(const struct sr_option *row)
{
    static const int type[] = {[SR_OPTION_WHOLE] = ORRERY_OPTION_WHOLE,
                               [SR_OPTION_POSITIVE] = ORRERY_OPTION_NUMBER,
                               [SR_OPTION_WORD] = ORRERY_OPTION_WORD};
    const bool word = row->kind == SR_OPTION_WORD;
    struct orrery_option option = {.key = row->of & SR_OF_LIBRARY ? short_name(row->name) : NULL,
                                   .program = row->name,
                                   .value = row->value_name,
                                   .python = row->python,
                                   .initial = row->initial,
                                   .low = (double)row->low,
                                   .high = (double)row->high,
                                   .choices = word ? row->value_name : NULL,
                                   .unit = row->unit,
                                   .needs = row->needs,
                                   .without = row->without,
                                   .recorded = row->recorded,
                                   .help = row->help};
    if (row->key) {
        describe_setting(row->key, &option);
        return option;
    }
    option.type = row->value_name ? type[row->kind] : ORRERY_OPTION_FLAG;
    if (row == &sr_option[SR_OPTION_loss]) { /* a name, as in the setting, or a formula */
        const struct orr_setting *f = orr_setting_find("symreg.loss");
        option.initial = default_of(f);
        option.choices = f->choices;
    }
    return option;
}

static struct orrery_option describe_more(const struct more *row)
{
    struct orrery_option option = {
        .key = row->key, .python = row->python, .recorded = row->recorded};
    if (!strcmp(row->key, KEEP_STATE)) {
        option.type = ORRERY_OPTION_FLAG;
        option.initial = "0";
        option.help = "keep what a later search resumes from";
        return option;
    }
    describe_setting(row->key, &option);
    option.program = row->key;
    option.help = orr_setting_find(row->key)->help;
    return option;
}

/* Options of a table, without those of a run's laws alone. */
static int table_options(void)
{
    int count = 0;
    for (int i = 0; i < SR_OPTION_COUNT; i++)
        count += sr_option[i].of != SR_OF_RUN;
    return count;
}

static const struct sr_option *table_option(int number)
{
    const struct sr_option *row = sr_option;
    while (row->of == SR_OF_RUN || number-- > 0)
        row++;
    return row;
}

int orrery_option_count(void)
{
    return table_options() + MORE;
}

int orrery_option_at(int number, struct orrery_option *option)
{
    if (number < 0 || number >= orrery_option_count() ||
        api_filled("option", sizeof *option, option)) {
        orr_error_recover();
        return ORRERY_EINVAL;
    }
    const int of_table = table_options();
    *option = number < of_table ? describe_row(table_option(number))
                                : describe_more(&more[number - of_table]);
    option->bytes = sizeof *option;
    return ORRERY_OK;
}

/* ----------------------------------------------------------------------------- one by one */

/* Finds an option by name; -1: there is none. */
static int find_option(const char *key)
{
    for (int i = 0; i < SR_OPTION_COUNT; i++)
        if (is_ours(i) && !strcmp(key, short_name(sr_option[i].name)))
            return i;
    return -1;
}

static int keep_option(struct orrery_regression *r, int i, const char *value)
{
    char *copy = value ? strdup(value) : NULL;
    if (value && !copy)
        return ORR_FAIL(ORR_ENOMEM, "%s: out of memory", sr_option[i].name);
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

int api_set(void *regression, const char *key, const char *value)
{
    struct orrery_regression *r = regression;
    bool flag = false;
    if (!key)
        return ORR_FAIL(ORR_EINVAL, "set: expected a key, found NULL");
    if (!strcmp(key, KEEP_STATE))
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
