/* cli.c - the command line every program shares. */
#include "base.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

enum { SETTINGS = 256 };

struct parse {
    const struct orr_program *program;
    struct orr_cli *cli;
    const char *preset, *seed, *device, *implementation, *threads;
    const char *settings[SETTINGS];
    int setting_count;
    bool help, version;
    int argc, at;
    char **argv;
};

static const struct common {
    const char *name, *value_name, *help;
} common[] = {
    {"--preset", "NAME|FILE", "settings: a name in presets/ or a JSON file (default quick)"},
    {"--set", "KEY=VALUE", "changes one setting; repeatable"},
    {"--run", "DIR", "run directory (default runs/<preset>)"},
    {"--out", "DIR", "write directly into DIR"},
    {"--attention", "NAME", "only this attention variant"},
    {"--checkpoint", "FILE", "start from this model"},
    {"--device", "cpu|cuda|auto", "where to compute (default auto: as the preset says)"},
    {"--attention-impl", "auto|generic", "fused attention kernels, or the path of any variant"},
    {"--threads", "N", "threads (default: all usable cores)"},
    {"--seed", "N", "seed of every random stream (default: the preset's)"},
    {"--resume", NULL, "continue what is there, skip what is complete"},
    {"--quiet", NULL, "no progress, no notes"},
    {"--help", NULL, "this text"},
    {"--version", NULL, "the version"},
};
enum { COMMON = sizeof common / sizeof *common };

static void print_option(const char *name, const char *value, const char *help)
{
    char left[64];
    snprintf(left, sizeof left, "%s%s%s", name, value ? " " : "", value ? value : "");
    printf("  %-30s %s\n", left, help);
}

static void print_help(const struct orr_program *program)
{
    printf("%s\n\nusage: %s\n\noptions:\n", program->purpose, program->usage);
    for (const struct orr_option *o = program->options; o && o->name; o++)
        print_option(o->name, o->value_name, o->help);
    for (int i = 0; i < COMMON; i++)
        print_option(common[i].name, common[i].value_name, common[i].help);
    if (program->groups) {
        printf("\nsettings (--set key=value) [default without a preset]:\n");
        orr_preset_print_help(program->groups);
    }
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

static int keep_attention(const char *value, char into[ORR_NAME])
{
    if (!*value || strlen(value) >= ORR_NAME)
        return ORR_FAIL(ORR_EUSAGE, "--attention: expected a name of 1 to %d bytes, found \"%s\"",
                        ORR_NAME - 1, value);
    strcpy(into, value);
    return 0;
}

static int take_common(struct parse *p, const char *name, const char *value)
{
    struct orr_cli *cli = p->cli;
    if (!strcmp(name, "--preset"))
        p->preset = value;
    else if (!strcmp(name, "--seed"))
        p->seed = value;
    else if (!strcmp(name, "--device"))
        p->device = value;
    else if (!strcmp(name, "--attention-impl"))
        p->implementation = value;
    else if (!strcmp(name, "--threads"))
        p->threads = value;
    else if (!strcmp(name, "--resume"))
        cli->resume = true;
    else if (!strcmp(name, "--quiet"))
        cli->quiet = true;
    else if (!strcmp(name, "--help"))
        p->help = true;
    else if (!strcmp(name, "--version"))
        p->version = true;
    else if (!strcmp(name, "--run"))
        return keep_path(name, value, cli->run);
    else if (!strcmp(name, "--out"))
        return keep_path(name, value, cli->out);
    else if (!strcmp(name, "--checkpoint"))
        return keep_path(name, value, cli->checkpoint);
    else if (!strcmp(name, "--attention"))
        return keep_attention(value, cli->attention);
    else if (p->setting_count == SETTINGS)
        return ORR_FAIL(ORR_EUSAGE, "--set: at most %d of them", SETTINGS);
    else
        p->settings[p->setting_count++] = value;
    return 0;
}

static int unknown_option(const struct parse *p, const char *name)
{
    struct orr_nearest nearest = {0};
    for (int i = 0; i < COMMON; i++)
        orr_nearest_offer(&nearest, name, common[i].name);
    for (const struct orr_option *o = p->program->options; o && o->name; o++)
        orr_nearest_offer(&nearest, name, o->name);
    return ORR_FAIL(ORR_EUSAGE, "unknown option %s%s%s%s; see --help", name,
                    nearest.name ? "; did you mean " : "", nearest.name ? nearest.name : "",
                    nearest.name ? "?" : "");
}

static int take_option(struct parse *p)
{
    char name[64];
    const char *argument = p->argv[p->at], *value = NULL;
    const char *equals = strchr(argument, '=');
    snprintf(name, sizeof name, "%.*s", (int)(equals ? equals - argument : (long)strlen(argument)),
             argument);
    const char *value_name = NULL;
    const struct orr_option *own = NULL;
    bool known = false;
    for (int i = 0; i < COMMON && !known; i++) {
        known = !strcmp(common[i].name, name);
        value_name = common[i].value_name;
    }
    for (const struct orr_option *o = p->program->options; o && o->name && !known; o++) {
        if (strcmp(o->name, name))
            continue;
        known = true;
        own = o;
        value_name = o->value_name;
    }
    if (!known)
        return unknown_option(p, name);
    if (!value_name && equals)
        return ORR_FAIL(ORR_EUSAGE, "%s: takes no value", name);
    int rc = value_name ? value_of(p, name, equals ? equals + 1 : NULL, &value) : 0;
    if (rc)
        return rc;
    if (own) {
        *own->value = value_name ? value : "1";
        return 0;
    }
    return take_common(p, name, value);
}

static int whole_number(const char *name, const char *text, unsigned long long most,
                        unsigned long long *value)
{
    errno = 0;
    *value = strtoull(text, NULL, 10);
    if (!*text || text[strspn(text, "0123456789")] || errno || *value > most)
        return ORR_FAIL(ORR_EUSAGE, "%s: expected a whole number up to %llu, found \"%s\"", name,
                        most, text);
    return 0;
}

/* --device and --attention-impl. */
static int take_compute(struct parse *p)
{
    struct orr_cli *cli = p->cli;
    if (p->device && !strcmp(p->device, "cpu"))
        cli->device = ORR_DEVICE_CPU;
    else if (p->device && !strcmp(p->device, "cuda"))
        cli->device = ORR_DEVICE_CUDA;
    else if (p->device && strcmp(p->device, "auto"))
        return ORR_FAIL(ORR_EUSAGE, "--device: expected cpu, cuda or auto, found \"%s\"",
                        p->device);
    if (p->implementation && !strcmp(p->implementation, "generic"))
        cli->generic_attention = true;
    else if (p->implementation && strcmp(p->implementation, "auto"))
        return ORR_FAIL(ORR_EUSAGE, "--attention-impl: expected auto or generic, found \"%s\"",
                        p->implementation);
    return 0;
}

/* Merges preset, --set, --seed and --attention, and checks the whole. */
static int merge(struct parse *p)
{
    struct orr_cli *cli = p->cli;
    unsigned long long number;
    cli->preset_given = p->preset != NULL;
    const bool other = cli->argc_rest && p->program->rest_preset;
    const char *const initial = other ? p->program->rest_preset : "quick";
    int rc = orr_preset_load(&cli->preset, p->preset ? p->preset : initial);
    for (int i = 0; i < p->setting_count && !rc; i++)
        rc = orr_preset_set(&cli->preset, p->settings[i]);
    if (!rc && p->seed) {
        cli->seed_given = true;
        rc = whole_number("--seed", p->seed, ~0ull, &number);
        cli->preset.seed = number;
    }
    cli->threads = orr_cores();
    if (!rc && p->threads) {
        rc = whole_number("--threads", p->threads, 4096, &number);
        if (!rc && number < 1)
            rc = ORR_FAIL(ORR_EUSAGE, "--threads: expected at least 1, found 0");
        cli->threads = (int)number;
    }
    if (!rc)
        rc = take_compute(p);
    if (!rc && *cli->attention) {
        cli->preset.attention.count = 1;
        strcpy(cli->preset.attention.item[0], cli->attention);
    }
    cli->run_given = *cli->run != '\0';
    if (!rc && !cli->run_given)
        rc = orr_path(cli->run, "runs/%s", cli->preset.name);
    return rc ? rc : orr_preset_check(&cli->preset);
}

int orr_cli_parse(const struct orr_program *program, int argc, char **argv, struct orr_cli *cli,
                  bool *done)
{
    struct parse p = {.program = program, .cli = cli, .argc = argc, .argv = argv, .at = 1};
    memset(cli, 0, sizeof *cli);
    *done = false;
    int rc = 0;
    for (; p.at < argc && !rc; p.at++) {
        const char *argument = argv[p.at];
        if (!strncmp(argument, "--", 2))
            rc = take_option(&p);
        else if (argument[0] == '-' && argument[1])
            rc = unknown_option(&p, argument);
        else if (cli->argc_rest >= program->max_rest)
            rc = ORR_FAIL(ORR_EUSAGE, "unexpected argument \"%s\"; usage: %.*s", argument,
                          (int)strcspn(program->usage, "\n"), program->usage);
        else
            cli->argv_rest[cli->argc_rest++] = argument;
    }
    if (!rc && p.help)
        print_help(program);
    else if (!rc && p.version)
        printf("orrery %s %s\n", program->name, ORR_VERSION);
    *done = !rc && (p.help || p.version);
    return rc || *done ? rc : merge(&p);
}
