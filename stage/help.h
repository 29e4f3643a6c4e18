/* help.h - what --help prints, and advice on unknown options (inside stage/ only). */
#ifndef ORR_HELP_H
#define ORR_HELP_H

#include "cli.h"

/* A word of a list "a,b,c", which may be NULL. */
bool orr_is_listed(const char *list, const char *word);
/* The common options that a program has, in the order of --help, and their number. */
enum { ORR_COMMON_OPTIONS = 32 };
int orr_common_options(const struct orr_program *program,
                       struct orr_option option[ORR_COMMON_OPTIONS]);
/* Prints purpose, usage, options and settings with their values in `preset`, which `from` names:
 * those of program->usual, or all of them with unit and range. */
void orr_help_print(const struct orr_program *program, const struct orr_settings *preset,
                    const char *from, bool all);
/* "; steps is a setting: --set pretrain.steps=10; see --help all" into text, for an option
 * "--steps" with this value (NULL: none) that the program does not have; false: there is no setting
 * of that name. */
bool orr_help_setting(const struct orr_program *program, const char *option, const char *value,
                      char text[512]);

#endif
