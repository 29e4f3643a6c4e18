/* text.h - spelling help (inside base/ only). */
#ifndef ORR_TEXT_H
#define ORR_TEXT_H

/* The candidate nearest to a mistyped word by edit distance; name is NULL while none is near. */
struct orr_nearest {
    const char *name;
    int distance;
};
void orr_nearest_offer(struct orr_nearest *nearest, const char *word, const char *candidate);
/* Folder of the running program into path[4096]; 0 when known. */
int orr_program_folder(char path[4096]);

#endif
