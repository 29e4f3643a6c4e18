/* commands.c - the commands of a program as rows: which one the arguments or an option name, and
 * whose options they are. */
#include "base/error.h"
#include "base/signals.h"
#include "base/text.h"
#include "cli.h"
#include "help.h"
#include "program.h"

#include <stdint.h>
#include <string.h>

static bool is_given(const struct orr_program *program, const char *option)
{
    for (const struct orr_option *o = program->options; o && o->name; o++)
        if (!strcmp(o->name, option))
            return *o->value != NULL;
    return false;
}

/* meant: " (did you mean ...)" for a word that is no command's name; "" for others. */
static int find(const struct orr_program *program, const struct orr_cli *cli,
                const struct orr_command **found, char meant[128])
{
    const char *word = cli->argc_rest ? cli->argv_rest[0] : "";
    char known[512] = "";
    struct orr_nearest nearest = {0};
    *meant = '\0';
    if (cli->argc_rest && !*word)
        return ORR_FAIL(ORR_EUSAGE, "the first argument is empty (a variable that is not set?)");
    for (const struct orr_command *c = program->commands; c->name; c++) {
        *found = c;
        if (*c->name == '-' && is_given(program, c->name))
            return 0;
    }
    for (const struct orr_command *c = program->commands; c->name; c++) {
        if (*c->name == '-')
            continue;
        *found = c;
        if (!strcmp(c->name, word))
            return 0;
        if (*word && !strcmp(c->name, "*")) {
            orr_nearest_text(&nearest, meant);
            return 0;
        }
        if (!*c->name || c->old)
            continue;
        orr_append(known, sizeof known, "%s%s", *known ? ", " : "", c->name);
        if (*word)
            orr_nearest_offer(&nearest, word, c->name);
    }
    orr_nearest_text(&nearest, meant);
    if (*word && !*known)
        return ORR_FAIL(ORR_EUSAGE, "unexpected argument \"%s\"; see %s --help", word,
                        program->name);
    return *word ? ORR_FAIL(ORR_EUSAGE, "unexpected argument \"%s\"%s; expected one of %s", word,
                            meant, known)
                 : ORR_FAIL(ORR_EUSAGE, "%s: expected a command: one of %s", program->name, known);
}

/* Lists the commands that take an option, "a, b and c"; "" where none does. */
static void list_owners(const struct orr_program *program, const char *option, char *text,
                        size_t bytes)
{
    const struct orr_command *last = NULL;
    *text = '\0';
    for (const struct orr_command *c = program->commands; c->name; c++) {
        if (c->old || !orr_is_listed(c->takes, option) || (last && !strcmp(last->what, c->what)))
            continue;
        if (last)
            orr_append(text, bytes, "%s%s", *text ? ", " : "", last->what);
        last = c;
    }
    if (last)
        orr_append(text, bytes, "%s%s", *text ? " and " : "", last->what);
}

static int check(const struct orr_program *program, const struct orr_command *command,
                 const char *option)
{
    char owners[1024];
    if (orr_command_takes(program, command, option))
        return 0;
    list_owners(program, option, owners, sizeof owners);
    return *owners
               ? ORR_FAIL(ORR_EUSAGE, "%s: belongs to %s, not to %s", option, owners, command->what)
               : ORR_FAIL(ORR_EUSAGE, "%s: does not go with %s", option, command->what);
}

/* The first of the program's own options that is given and that the command does not take; NULL:
 * none. Another program would refuse an empty one, too. */
static const char *own_of_others(const struct orr_program *program,
                                 const struct orr_command *command)
{
    for (const struct orr_option *o = program->options; o && o->name; o++)
        if (o->value && *o->value && (**o->value || command->program) &&
            !orr_command_takes(program, command, o->name))
            return o->name;
    return NULL;
}

int orr_command_hand_over(const struct orr_program *program, const struct orr_cli *cli, char **argv)
{
    const char *word = cli->argc_rest ? cli->argv_rest[0] : "";
    char path[4096];
    const struct orr_command *command = program->commands;
    while (command && command->name && (!command->program || strcmp(command->name, word) != 0))
        command++;
    if (!command || !command->name || own_of_others(program, command) || (cli->argc_rest && !*word))
        return 0;
    TRY(orr_program_beside(argv[0], command->program, path));
    orr_signals_release();
    return orr_program_exec(path, (const char *const *)(uintptr_t)argv);
}

int orr_command_run(const struct orr_program *program, const struct orr_cli *cli)
{
    const struct {
        const char *name;
        bool given;
    } common[] = {{"--checkpoint", *cli->checkpoint},
                  {"--attention", *cli->attention},
                  {"--run", cli->run_given}, /* before --preset, which a run may have set */
                  {"--preset", cli->preset_given},
                  {"--set", cli->set_given},
                  {"--attention-impl", cli->generic_attention},
                  {"--device", cli->device != ORR_DEVICE_AUTO},
                  {"--threads", cli->threads_given},
                  {"--seed", cli->seed_given},
                  {"--resume", cli->resume},
                  {"--plan", cli->plan}};
    const struct orr_command *command = NULL;
    char meant[128];
    TRY(find(program, cli, &command, meant));
    if (command->words == ORR_NO_WORDS && cli->argc_rest)
        return ORR_FAIL(ORR_EUSAGE, "unexpected argument \"%s\"; expected %s alone",
                        cli->argv_rest[0], command->what);
    if (command->words > 0 && cli->argc_rest > command->words)
        return ORR_FAIL(ORR_EUSAGE, "unexpected argument \"%s\"%s; expected %s alone",
                        cli->argv_rest[command->words], meant, command->what);
    const char *other = own_of_others(program, command);
    TRY(other ? check(program, command, other) : 0);
    for (size_t i = 0; i < sizeof common / sizeof *common; i++)
        if (common[i].given)
            TRY(check(program, command, common[i].name));
    return command->run(cli);
}
