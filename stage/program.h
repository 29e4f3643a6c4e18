/* program.h - the arguments of the running program (inside stage/ only). */
#ifndef ORR_PROGRAM_H
#define ORR_PROGRAM_H

#include <stdbool.h>

/* Those of main(), the program's name first; 0 outside orr_main(). */
int orr_program_arguments(char ***argv);
/* "--set=a=b" and "--set a=b" are option --set; next = its value is the argument after it. */
bool orr_is_option(const char *argument, const char *name, bool *next);

#endif
