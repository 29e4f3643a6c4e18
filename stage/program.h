/* program.h - the arguments of the running program, and the programs beside it (inside stage/
 * only). */
#ifndef ORR_PROGRAM_H
#define ORR_PROGRAM_H

#include <stdbool.h>

#include "cli.h"

/* The arguments of main(), with the program's name first; returns their number, 0 outside
 * orr_main(). */
int orr_program_arguments(char ***argv);
/* Whether an argument is the option `name`: "--set=a=b" and "--set a=b" are both --set. *next: its
 * value is the next argument. */
bool orr_is_option(const char *argument, const char *name, bool *next);
/* Writes the path of the program `name` beside the running one, whose argv[0] is `self`: in the
 * folder as the user wrote it, unless `self` was found in PATH or is a symbolic link. ORR_EMISSING
 * where that folder is unknown. */
int orr_program_beside(const char *self, const char *name, char path[4096]);
/* Writes the path of the program `name` that bin/orrery, whose argv[0] is `self`, runs: in
 * libexec/orrery of the installed tree, or beside it in a build. Errors as orr_program_beside(). */
int orr_program_of_orrery(const char *self, const char *name, char path[4096]);
/* Whether the running program is one that users call as `orrery NAME`, since it has no name of its
 * own on the PATH: bin/orrery of an installed tree runs it. Outside orr_main(): false. */
bool orr_program_is_part(void);
/* Runs a program until it ends, which a signal to this process asks it for. hidden: discards what
 * it prints but for errors. *status: as a shell reports it. ORR_EMISSING or ORR_EIO name a program
 * that cannot be run. */
int orr_program_call(const char *const *argv, bool hidden, int *status);
/* Executes another program in this process; returns only with an error, which names it. argv begins
 * with the name that the program gets, and ends with NULL. */
int orr_program_exec(const char *path, const char *const *argv);
/* Where the arguments name a command that another program does (orr_command.program), and only
 * options that it takes: executes that program, and returns only with an error. Else 0. */
int orr_command_hand_over(const struct orr_program *program, const struct orr_cli *cli,
                          char **argv);

#endif
