/* program.h - the arguments of the running program (inside stage/ only). */
#ifndef ORR_PROGRAM_H
#define ORR_PROGRAM_H

#include <stdbool.h>

/* The arguments of main(), with the program's name first; returns their number, 0 outside
 * orr_main(). */
int orr_program_arguments(char ***argv);
/* Whether an argument is the option `name`: "--set=a=b" and "--set a=b" are both --set. *next: its
 * value is the next argument. */
bool orr_is_option(const char *argument, const char *name, bool *next);

#endif
