/* cli.c - parses the command line that all programs share. */
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "base/system.h"
#include "base/text.h"
#include "base/version.h"
#include "cli.h"
#include "help.h"
#include "program.h"
#include "provenance.h"
#include "tracks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cjson/cJSON.h>

struct parse {
    const struct orr_program *program;
    struct orr_cli *cli;
    const char *preset, *device, *implementation, *threads, *help, *version;
    struct change {
        const char *option, *key, *value;
    } change[ORR_SETTINGS_GIVEN]; /* options that set a setting */
    int change_count, argc, at;
    char **argv;
};

/* Where a common option's value goes: its text into a member of struct parse, a path or flag into a
 * member of struct orr_cli, or the value to a function. */
static int keep_assignment(struct parse *p, const char *value);
static int keep_attention(struct parse *p, const char *value);
static int keep_seed(struct parse *p, const char *value);
static int keep_help(struct parse *p, const char *value);
#define TEXT(member) offsetof(struct parse, member), 0, 0, NULL
#define PATH(member) 0, offsetof(struct orr_cli, member), 0, NULL
#define FLAG(member) 0, 0, offsetof(struct orr_cli, member), NULL
static const struct common {
    const char *name, *value_name, *help;
    size_t text, path, flag; /* member offsets; 0: another kind of option */
    int (*keep)(struct parse *p, const char *value);
} common[] = {
    {"--preset", "NAME|FILE",
     "settings to start from: a name in presets/ or a JSON file (default: the run's own, else "
     "quick)",
     TEXT(preset)},
    {"--set", "KEY=VALUE", "change one setting; may be repeated", 0, 0, 0, keep_assignment},
    {"--run", "DIR", "folder of the run (default: runs/<preset>)", PATH(run)},
    {"--out", "DIR", "write into this folder or FILE, not into the run", PATH(out)},
    {"--attention", "NAME", "only this attention variant, or those of a list A,B", 0, 0, 0,
     keep_attention},
    {"--checkpoint", "FILE", "start from this model", PATH(checkpoint)},
    {"--device", "cpu|cuda|cuda:N|auto",
     "where to compute; N: number of the GPU (default auto: model.device)", TEXT(device)},
    {"--attention-impl", "auto|generic",
     "auto: fused attention kernels where there are any; generic: the path of any variant",
     TEXT(implementation)},
    {"--threads", "N", "number of threads (default: all usable cores)", TEXT(threads)},
    {"--seed", "N", "seed of all random numbers (default: the preset's)", 0, 0, 0, keep_seed},
    {"--resume", NULL, "continue what is unfinished, skip what is complete", FLAG(resume)},
    {"--plan", NULL, "say what would be made, and why; make nothing", FLAG(plan)},
    {"--quiet", NULL, "no progress, no notes", FLAG(quiet)},
    {"--help", "[all]", "this text; all: every option and setting", 0, 0, 0, keep_help},
    {"--version", NULL, "the version", TEXT(version)},
};
enum { COMMON = sizeof common / sizeof *common, SET = 1 };

/* Whether this program has the common option i. */
static bool has_common(const struct orr_program *program, int i)
{
    return !orr_is_listed(program->without, common[i].name);
}

int orr_common_options(const struct orr_program *program,
                       struct orr_option option[ORR_COMMON_OPTIONS])
{
    int count = 0;
    for (int i = 0; i < COMMON; i++)
        if (has_common(program, i) && common[i].help)
            option[count++] = (struct orr_option){common[i].name, common[i].value_name,
                                                  common[i].help, NULL, NULL};
    return count;
}

/* The option's value: after '=', or the next argument. */
static int value_of(struct parse *p, const char *name, const char *inline_value, const char **value)
{
    if (inline_value) {
        *value = inline_value;
        return 0;
    }
    if (p->at + 1 >= p->argc || !strncmp(p->argv[p->at + 1], "--", 2))
        return ORR_FAIL(ORR_EUSAGE, "%s: expected a value", name);
    *value = p->argv[++p->at];
    return 0;
}

static int keep_path(const char *name, const char *value, char into[4096])
{
    if (!*value)
        return ORR_FAIL(ORR_EUSAGE, "%s: expected a path, found nothing", name);
    return orr_path(into, "%s", value);
}

static int keep_change(struct parse *p, const char *option, const char *key, const char *value);

/* One variant is chosen among those of the settings, or added; a list "a,b" is the settings'. */
static int keep_attention(struct parse *p, const char *value)
{
    if (strchr(value, ','))
        return keep_change(p, "--attention", "attention", value);
    if (!*value || strlen(value) >= ORR_NAME)
        return ORR_FAIL(ORR_EUSAGE, "--attention: expected a name of 1 to %d bytes, found \"%s\"",
                        ORR_NAME - 1, value);
    if (!orr_is_name(value)) /* it names a folder of the run */
        return ORR_FAIL(ORR_EUSAGE,
                        "--attention: expected a name of a folder, without \"/\", "
                        "found \"%s\"",
                        value);
    strcpy(p->cli->attention, value);
    return 0;
}

/* Keeps an option that sets a setting. */
static int keep_change(struct parse *p, const char *option, const char *key, const char *value)
{
    if (p->change_count == ORR_SETTINGS_GIVEN)
        return ORR_FAIL(ORR_EUSAGE, "%s: at most %d such options", option, ORR_SETTINGS_GIVEN);
    p->change[p->change_count++] = (struct change){option, key, value};
    return 0;
}

static int keep_seed(struct parse *p, const char *value)
{
    return keep_change(p, "--seed", "seed", value);
}

static int keep_assignment(struct parse *p, const char *value)
{
    if (p->cli->set_texts == ORR_SETTINGS_GIVEN)
        return ORR_FAIL(ORR_EUSAGE, "--set: at most %d of them", ORR_SETTINGS_GIVEN);
    p->cli->set_text[p->cli->set_texts++] = value;
    return 0;
}

/* --help takes "all" or nothing; "" if no value was given. */
static int keep_help(struct parse *p, const char *value)
{
    if (*value && strcmp(value, "all") != 0)
        return ORR_FAIL(ORR_EUSAGE, "--help: expected all or nothing, found \"%s\"", value);
    p->help = value;
    return 0;
}

static int take_common(struct parse *p, const struct common *option, const char *value)
{
    char *cli = (char *)p->cli;
    if (option->keep)
        return option->keep(p, value);
    if (option->path)
        return keep_path(option->name, value, cli + option->path);
    if (option->flag)
        *(bool *)(void *)(cli + option->flag) = true;
    else
        *(const char **)(void *)((char *)p + option->text) = value;
    return 0;
}

/* The value given to an unknown option: after its "=", or the next argument; NULL: none. */
static const char *value_beside(const struct parse *p)
{
    const char *equals = strchr(p->argv[p->at], '=');
    const char *next = p->at + 1 < p->argc ? p->argv[p->at + 1] : NULL;
    return equals ? equals + 1 : next && strncmp(next, "--", 2) != 0 ? next : NULL;
}

/* The program's own option for an unknown one with another common name; NULL: none. */
static const char *other_word(const struct orr_program *program, const char *name)
{
    static const char *const words[][2] = {{"--planet", "--body"}, {"--planets", "--body"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        for (const struct orr_option *o = program->options; o && o->name; o++)
            if (!strcmp(words[i][0], name) && !strcmp(words[i][1], o->name))
                return o->name;
    return NULL;
}

static int unknown_option(const struct parse *p, const char *name)
{
    char setting[512];
    const char *value = value_beside(p), *other = other_word(p->program, name);
    struct orr_nearest nearest = {0};
    if (other)
        return ORR_FAIL(ORR_EUSAGE, "unknown option %s; did you mean %s?; see --help", name, other);
    for (int i = 0; i < COMMON; i++) {
        if (has_common(p->program, i) && common[i].help)
            orr_nearest_offer(&nearest, name, common[i].name);
        else if (!strcmp(common[i].name, name))
            return ORR_FAIL(ORR_EUSAGE, "%s: %s has no such option; see --help", name,
                            p->program->name);
    }
    for (const struct orr_option *o = p->program->options; o && o->name; o++)
        orr_nearest_offer(&nearest, name, o->name);
    const bool slip = nearest.name && nearest.distance <= 1;
    if (!slip && has_common(p->program, SET) && orr_help_setting(p->program, name, value, setting))
        return ORR_FAIL(ORR_EUSAGE, "unknown option %s%s", name, setting);
    return ORR_FAIL(ORR_EUSAGE, "unknown option %s%s%s%s; see --help", name,
                    nearest.name ? "; did you mean " : "", nearest.name ? nearest.name : "",
                    nearest.name ? "?" : "");
}

/* Whether an argument is -h or -o, with or without "=". */
static bool is_letter(const char *argument)
{
    return argument[0] == '-' && (argument[1] == 'h' || argument[1] == 'o') &&
           (!argument[2] || argument[2] == '=');
}

/* Copies the option's name out of an argument and expands -h and -o. Returns its value after "=",
 * or NULL. */
static const char *name_of(const char *argument, char name[64])
{
    const char *equals = strchr(argument, '=');
    snprintf(name, 64, "%.*s", (int)(equals ? equals - argument : (long)strlen(argument)),
             argument);
    if (!strcmp(name, "-h") || !strcmp(name, "-o"))
        strcpy(name, name[1] == 'h' ? "--help" : "--out");
    return equals ? equals + 1 : NULL;
}

/* A value that may be omitted: after "=", or the next argument if it is the word of "[all]", or for
 * one such as "[FILE]" no option. */
static const char *optional_value(struct parse *p, const char *value_name, const char *inline_value)
{
    const char *next = p->at + 1 < p->argc ? p->argv[p->at + 1] : "";
    const size_t length = strlen(value_name) - 2;
    const bool any = value_name[1] >= 'A' && value_name[1] <= 'Z',
               taken = any ? *next && strncmp(next, "--", 2) != 0
                           : strlen(next) == length && !strncmp(next, value_name + 1, length);
    return inline_value ? inline_value : taken ? p->argv[++p->at] : "";
}

static int take_option(struct parse *p)
{
    char name[64];
    const char *value = "1", *inline_value = name_of(p->argv[p->at], name);
    const struct orr_option *own = p->program->options;
    const struct common *shared = NULL;
    for (int i = 0; i < COMMON && !shared; i++)
        if (!strcmp(common[i].name, name) && has_common(p->program, i))
            shared = &common[i];
    while (!shared && own && own->name && strcmp(own->name, name) != 0)
        own++;
    if (!shared && (!own || !own->name))
        return unknown_option(p, name);
    const char *value_name = shared ? shared->value_name : own->value_name;
    if (!value_name && inline_value)
        return ORR_FAIL(ORR_EUSAGE, "%s: takes no value", name);
    if (value_name && *value_name == '[')
        value = optional_value(p, value_name, inline_value);
    else
        TRY(value_name ? value_of(p, name, inline_value, &value) : 0);
    if (shared)
        return take_common(p, shared, value);
    if (own->value)
        *own->value = value;
    return own->key ? keep_change(p, own->name, own->key, value) : 0;
}

static int take_threads(struct parse *p)
{
    enum { MOST = 4096 };
    const char *text = p->threads;
    p->cli->threads = orr_cores();
    if (!text)
        return 0;
    long value;
    if (!orr_whole(text, 1, MOST, &value))
        return ORR_FAIL(ORR_EUSAGE, "--threads: expected a whole number from 1 to %d, found \"%s\"",
                        MOST, text);
    p->cli->threads = (int)value;
    p->cli->threads_given = true;
    return 0;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Parses --device and --attention-impl. */
static int take_compute(struct parse *p)
{
    struct orr_cli *cli = p->cli;
    cli->device_number = -1;
    if (p->device && !strcmp(p->device, "cpu"))
        cli->device = ORR_DEVICE_CPU;
    else if (p->device && !strcmp(p->device, "cuda"))
        cli->device = ORR_DEVICE_CUDA;
    else if (p->device && !strncmp(p->device, "cuda:", 5) && is_digit(p->device[5]) &&
             (!p->device[6] || (is_digit(p->device[6]) && !p->device[7]))) {
        cli->device = ORR_DEVICE_CUDA;
        cli->device_number = atoi(p->device + 5);
    } else if (p->device && strcmp(p->device, "auto"))
        return ORR_FAIL(ORR_EUSAGE, "--device: expected cpu, cuda, cuda:N or auto, found \"%s\"",
                        p->device);
    if (p->implementation && !strcmp(p->implementation, "generic"))
        cli->generic_attention = true;
    else if (p->implementation && strcmp(p->implementation, "auto"))
        return ORR_FAIL(ORR_EUSAGE, "--attention-impl: expected auto or generic, found \"%s\"",
                        p->implementation);
    return 0;
}

/* The path of the run's preset.json; "" if there is none. */
static int find_run_preset(const struct orr_cli *cli, char path[4096])
{
    const int rc = orr_path(path, "%s/preset.json", *cli->run ? cli->run : "runs/quick");
    if (!rc && !orr_exists(path))
        *path = '\0';
    return rc;
}

static int load_preset(struct parse *p)
{
    struct orr_cli *cli = p->cli;
    char path[4096];
    if (p->preset)
        return orr_settings_load(&cli->settings, p->preset);
    if (cli->argc_rest && p->program->rest_preset)
        return orr_settings_load(&cli->settings, p->program->rest_preset);
    const int rc = find_run_preset(cli, path);
    if (rc)
        return rc;
    cli->preset_given = *path && cli->run_given;
    return orr_settings_load(&cli->settings, *path ? path : "quick");
}

/* A precision of "auto" is decided once in a run, by its first training. An unreadable preset.json
 * counts as missing. */
static int keep_precision(struct orr_cli *cli)
{
    char path[4096], assignment[128];
    cJSON *json = NULL;
    const int rc = find_run_preset(cli, path);
    if (rc || !*path || cli->settings.model.precision != ORR_PRECISION_AUTO)
        return rc;
    const int read = orr_json_read(path, &json);
    if (read == ORR_ENOMEM)
        return read;
    if (!read) {
        const cJSON *model = orr_json_get(json, "model");
        const cJSON *precision = orr_json_get(model, "precision");
        if (cJSON_IsString(precision) && strlen(precision->valuestring) < ORR_NAME) {
            snprintf(assignment, sizeof assignment, "model.precision=%s", precision->valuestring);
            (void)orr_settings_set(&cli->settings, assignment);
        }
        cJSON_Delete(json);
    }
    orr_error_clear();
    return 0;
}

static int add_attention(struct orr_cli *cli)
{
    struct orr_name_list *names = &cli->settings.attention;
    for (int i = 0; i < names->count; i++)
        if (!strcmp(names->item[i], cli->attention))
            return 0;
    if (names->count == ORR_LIST)
        return ORR_FAIL(ORR_EUSAGE, "--attention: the settings have %d variants already", ORR_LIST);
    strcpy(names->item[names->count++], cli->attention);
    cli->attention_added = true;
    return 0;
}

static void key_of(const char *assignment, char key[128])
{
    snprintf(key, 128, "%.*s", (int)strcspn(assignment, "="), assignment);
}

/* The value of one of the program's own options; "": it is not given. */
static const char *own_value(const struct parse *p, const char *name)
{
    for (const struct orr_option *o = p->program->options; o && o->name; o++)
        if (!strcmp(o->name, name) && o->value && *o->value)
            return *o->value;
    return "";
}

/* Whether a setting has no effect, and why. --loss, of a table, takes the place of symreg.loss; one
 * that is a formula is no value of the setting. */
static bool is_unused(const struct parse *p, const char *key, char why[256])
{
    static const char stands_for[] = "symreg.loss is ";
    const char *loss = own_value(p, "--loss");
    struct orr_settings *whole = *loss ? malloc(sizeof *whole) : NULL;
    if (!whole)
        return orr_settings_unused(&p->cli->settings, key, why);
    *whole = p->cli->settings;
    const bool formula = orr_settings_set_by(whole, "--loss", "symreg.loss", loss);
    const bool unused = orr_settings_unused(whole, key, why);
    if (formula && unused && !strncmp(why, stands_for, strlen(stands_for)))
        snprintf(why, 256, "--loss is %.200s", loss);
    orr_error_clear();
    free(whole);
    return unused;
}

/* Notes settings given by --set that have no effect; each program reports those of its own groups.
 * A setting that turns something off by its own value does have an effect. */
static void note_unused(const struct parse *p)
{
    const struct orr_cli *cli = p->cli;
    for (int i = 0; i < p->cli->set_texts; i++) {
        char key[128], why[256];
        key_of(p->cli->set_text[i], key);
        if (p->program->groups && orr_settings_in_groups(key, p->program->groups) &&
            is_unused(p, key, why) && strncmp(why, key, strlen(key)) != 0)
            orr_note(cli->quiet, "note: --set %s has no effect: %s", p->cli->set_text[i], why);
    }
}

/* Refuses a setting that the law does not read, because the user must have meant another law: if
 * --set gives it, or a preset together with its law. If --set changes the law, or the preset is the
 * run's own, such settings of the file return to their defaults. */
static int check_laws(const struct parse *p)
{
    struct orr_settings *settings = &p->cli->settings;
    char key[128];
    bool law = !p->preset;
    for (int i = 0; i < p->cli->set_texts; i++) {
        key_of(p->cli->set_text[i], key);
        law |= !strcmp(key, "orbits.law");
        TRY(orr_settings_check_law(settings, "--set", key));
    }
    return law ? orr_settings_drop_laws(settings) : orr_settings_check_laws(settings, p->preset);
}

/* Refuses settings that apply to a run but not to the given files. */
static int refuse_of_runs(const struct parse *p)
{
    for (int i = 0; i < p->cli->set_texts && p->cli->argc_rest && p->program->rest_ignores; i++) {
        char key[128];
        key_of(p->cli->set_text[i], key);
        if (orr_settings_in_groups(key, p->program->rest_ignores))
            return ORR_FAIL(ORR_EUSAGE, "--set: %s: belongs to a run, has no effect on %s", key,
                            p->cli->argv_rest[0]);
    }
    return 0;
}

/* The folder of the data sets that the arguments name: --orbits, or --out of bin/orbits; "":
 * none. */
static const char *named_orbits(const struct parse *p)
{
    return p->program->makes_orbits ? p->cli->out : own_value(p, "--orbits");
}

/* Refuses settings by --set that the folder of tracks contradicts. */
static int check_against_tracks(const struct parse *p, const struct orr_settings *before)
{
    const struct orr_cli *cli = p->cli;
    for (int i = 0; i < cli->set_texts; i++) {
        char key[128], wanted[ORR_SETTING], found[ORR_SETTING];
        key_of(cli->set_text[i], key);
        orr_settings_value(before, key, wanted);
        orr_settings_value(&cli->settings, key, found);
        if (strcmp(wanted, found) != 0)
            return ORR_FAIL(ORR_EUSAGE, "--set: %s=%s: %s holds imported tracks, with %s=%s", key,
                            wanted, cli->settings.tracks, key, found);
    }
    return 0;
}

/* Takes the settings of the data from a folder of imported tracks: the named one, else the one that
 * the run read before, else <run>/orbits. */
static int take_tracks(struct parse *p)
{
    struct orr_cli *cli = p->cli;
    const char *named = named_orbits(p);
    char folder[4096];
    bool adopted;
    if (orr_settings_is_text(&cli->settings) ||
        (cli->argc_rest && (p->program->rest_preset || p->program->makes_orbits)) ||
        (p->program->makes_orbits && *own_value(p, "--systems"))) /* makes them anew */
        return 0;
    TRY(orr_cli_orbits(cli, named, folder));
    struct orr_settings *before = malloc(sizeof *before);
    if (!before)
        return ORR_FAIL(ORR_ENOMEM, "settings: out of memory");
    *before = cli->settings;
    if (*named)
        *cli->settings.tracks = '\0';
    int rc = orr_tracks_adopt(&cli->settings, folder, &adopted);
    if (!rc && adopted)
        rc = check_against_tracks(p, before);
    free(before);
    return rc;
}

/* Merges preset, --set, options that set a setting and --attention, and checks the whole. */
static int merge_settings(struct parse *p)
{
    struct orr_cli *cli = p->cli;
    cli->preset_given = p->preset != NULL;
    cli->set_given = p->cli->set_texts > 0;
    cli->run_given = *cli->run != '\0';
    TRY(refuse_of_runs(p));
    TRY(load_preset(p));
    for (int i = 0; i < cli->set_texts; i++)
        TRY(orr_settings_set(&cli->settings, cli->set_text[i]));
    for (int i = 0; i < p->change_count; i++) {
        const struct change *c = &p->change[i];
        cli->seed_given |= !strcmp(c->key, "seed");
        TRY(orr_settings_set_by(&cli->settings, c->option, c->key, c->value));
    }
    TRY(cli->run_given ? 0 : orr_path(cli->run, "runs/%s", cli->settings.name));
    TRY(take_tracks(p));
    TRY(check_laws(p));
    TRY(take_threads(p));
    TRY(take_compute(p));
    TRY(*cli->attention ? add_attention(cli) : 0);
    TRY(keep_precision(cli));
    TRY(orr_settings_check(&cli->settings));
    if (!cli->argc_rest &&
        cli->settings.symreg.binary.count + cli->settings.symreg.unary.count == 0)
        return ORR_FAIL(ORR_EUSAGE, "symreg.binary, symreg.unary: expected at least one operator");
    note_unused(p);
    return 0;
}

bool orr_cli_sets(const struct orr_cli *cli, const char *setting)
{
    bool sets = false;
    for (int i = 0; i < cli->set_texts; i++) {
        char key[128];
        key_of(cli->set_text[i], key);
        sets |= !strcmp(key, setting);
    }
    return sets;
}

bool orr_cli_wants(const struct orr_cli *cli, const char *attention)
{
    return !*cli->attention || !strcmp(cli->attention, attention);
}

int orr_cli_orbits(const struct orr_cli *cli, const char *orbits, char path[4096])
{
    if (orbits && *orbits)
        return orr_path(path, "%s", orbits);
    return *cli->settings.tracks ? orr_path(path, "%s", cli->settings.tracks)
                                 : orr_path(path, "%s/orbits", cli->run);
}

int orr_cli_save_preset(const struct orr_cli *cli, const char *run)
{
    char path[4096];
    TRY(orr_mkdir(run));
    TRY(orr_path(path, "%s/preset.json", run));
    return orr_settings_save(&cli->settings, path);
}

/* Prints help with the settings that a run with these arguments would have, as far as they can be
 * read. */
static void print_help(struct parse *p)
{
    struct orr_cli *cli = p->cli;
    char run[4096], from[4200];
    const bool reads_file = cli->argc_rest && p->program->rest_preset;
    if (find_run_preset(cli, run))
        *run = '\0';
    const bool failed = load_preset(p);
    if (failed)
        orr_settings_defaults(&cli->settings);
    for (int i = 0; i < cli->set_texts; i++)
        (void)orr_settings_set(&cli->settings, cli->set_text[i]);
    orr_error_clear();
    if (!p->preset && !reads_file && *run && !failed)
        snprintf(from, sizeof from, "%s", run);
    else
        snprintf(from, sizeof from, "preset %s", failed ? "defaults" : cli->settings.name);
    struct orr_program program = *p->program;
    const struct orr_command *command = NULL;
    for (const struct orr_command *c = program.commands; c && c->name; c++)
        if (cli->argc_rest && !strcmp(cli->argv_rest[0], c->name)) {
            command = c;
            program.usual = c->usual ? c->usual : program.usual;
            program.usage = c->usage ? c->usage : program.usage;
            program.purpose = c->purpose ? c->purpose : program.purpose;
        }
    orr_help_print(&program, command, &cli->settings, from, *p->help);
}

/* Bytes of the first line of a usage, without what is said of it. */
static int usage_length(const char *usage)
{
    const int line = (int)strcspn(usage, "\n");
    const char *gap = strstr(usage, "   ");
    return gap && gap - usage < line ? (int)(gap - usage) : line;
}

/* A run is a folder, or not there yet: else the first missing file would be asked for, in vain. */
static int refuse_file(const char *run)
{
    struct stat info;
    return stat(run, &info) || S_ISDIR(info.st_mode)
               ? 0
               : ORR_FAIL(ORR_EUSAGE, "--run: %s: expected a folder, found a file", run);
}

int orr_cli_parse(const struct orr_program *program, int argc, char **argv, struct orr_cli *cli,
                  bool *done)
{
    struct parse p = {.program = program, .cli = cli, .argc = argc, .argv = argv, .at = 1};
    memset(cli, 0, sizeof *cli);
    bool only_arguments = false; /* behind "--" */
    *done = false;
    for (; p.at < argc; p.at++) {
        const char *argument = argv[p.at];
        if (!only_arguments && !strcmp(argument, "--"))
            only_arguments = true;
        else if (!only_arguments && (!strncmp(argument, "--", 2) || is_letter(argument)))
            TRY(take_option(&p));
        else if (!only_arguments && argument[0] == '-' && argument[1])
            return unknown_option(&p, argument);
        else if (cli->argc_rest >= program->max_rest)
            return ORR_FAIL(ORR_EUSAGE, "unexpected argument \"%s\"; usage: %s%.*s", argument,
                            orr_program_is_part() ? "orrery " : "", usage_length(program->usage),
                            program->usage);
        else
            cli->argv_rest[cli->argc_rest++] = argument;
    }
    *done = p.help || p.version;
    if (p.help)
        print_help(&p);
    else if (p.version)
        printf("orrery %s %s\n", program->name, ORR_VERSION);
    if (*done)
        return 0;
    TRY(orr_command_hand_over(program, cli, argv));
    TRY(merge_settings(&p));
    return refuse_file(cli->run);
}
