/* help.h - what --help prints, and advice on unknown options (inside stage/ only). */
#ifndef ORR_HELP_H
#define ORR_HELP_H

#include "cli.h"

/* Whether a word is in a list "a,b,c", which may be NULL. */
bool orr_is_listed(const char *list, const char *word);
/* Whether a command takes an option: one of its own, or one that no command claims. */
bool orr_command_takes(const struct orr_program *program, const struct orr_command *command,
                       const char *option);
/* Writes the common options that a program has, in the order of --help; returns their number. */
enum { ORR_COMMON_OPTIONS = 32 };
int orr_common_options(const struct orr_program *program,
                       struct orr_option option[ORR_COMMON_OPTIONS]);
/* Prints purpose, usage, options (of a command, those that it takes; NULL: of all) and settings
 * with their values in `preset`, whose source `from` names: only those of program->usual, or with
 * `all` all of them, with unit and range. */
void orr_help_print(const struct orr_program *program, const struct orr_command *command,
                    const struct orr_settings *settings, const char *from, bool all);
/* Writes a hint for an unknown option "--steps" with this value (NULL: none): "; steps is a
 * setting: --set pretrain.steps=10; see --help all". False if no setting has this name. */
bool orr_help_setting(const struct orr_program *program, const char *option, const char *value,
                      char text[512]);

#endif
