/* text.h - control characters, spelling help (inside base/ only). */
#ifndef ORR_TEXT_H
#define ORR_TEXT_H

#include <stdbool.h>

/* Whether a control character begins there: C0, DEL, and C1 as UTF-8 has it, since terminals take
 * U+009B for the begin of a command. */
bool orr_is_control(const char *c);

/* The candidate nearest to a mistyped word by edit distance; name is NULL while none is near. */
struct orr_nearest {
    const char *name;
    int distance;
};
void orr_nearest_offer(struct orr_nearest *nearest, const char *word, const char *candidate);
/* Folder of the running program into path[4096]; 0 when known. */
int orr_program_folder(char path[4096]);

#endif
