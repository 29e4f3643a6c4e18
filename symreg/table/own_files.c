/* own_files.c - tells the files of an earlier search from others of these names, which a search
 * must not replace: by how their content begins, since any folder may be given as --out. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "program.h"

/* A kind of file: its content begins with `begins` and has `holds` (NULL: anything) in its first
 * bytes. */
static const struct kind {
    const char *name, *begins, *holds;
} kinds[] = {{"report.md", "# `", ", Orrery "},
             {"report.html", "<!DOCTYPE html>", "content=\"Orrery symreg "},
             {"front.csv", "Complexity,Loss,Equation", NULL},
             {"front_full.csv", "Complexity,Loss,", ",DescriptionLength,Equation"},
             {"alternatives.csv", "Complexity,Loss,", ",DescriptionLength,Equation"},
             {"front.json", "{", "\"version\":"},
             {"log.jsonl", "{\"", "\"epoch\": "},
             {"log.jsonl", "{\"skipped_lines\": ", NULL},
             {"checkpoint.bin", "orrsrck", NULL},
             {SR_MADE_TABLE, "system,body,other,t,", NULL},
             {SR_MADE_TABLE, SR_STATES_TABLE, NULL}};
enum { KINDS = sizeof kinds / sizeof *kinds, HEAD = 4096 };
static const char *const pictures[] = {"front.png", "residuals.png"};

enum state { MISSING, OURS, FOREIGN };

/* Whether a file is one of the kind of this name. An empty one, as a kill may leave it, is nobody's
 * loss; links and folders are not followed. */
static int look_at(const char *folder, const char *name, enum state *state)
{
    char path[4096], head[HEAD + 1];
    struct stat info;
    TRY(orr_path(path, "%s/%s", folder, name));
    *state = MISSING;
    if (lstat(path, &info) || !S_ISREG(info.st_mode))
        return 0;
    FILE *stream = fopen(path, "rb");
    if (!stream)
        return ORR_FAIL(ORR_EIO, "%s: cannot be read, and would be replaced", path);
    const size_t bytes = fread(head, 1, HEAD, stream);
    fclose(stream);
    head[bytes] = '\0';
    *state = bytes ? FOREIGN : OURS;
    for (int k = 0; k < KINDS; k++)
        if (!strcmp(kinds[k].name, name) &&
            !strncmp(head, kinds[k].begins, strlen(kinds[k].begins)) &&
            (!kinds[k].holds || strstr(head, kinds[k].holds)))
            *state = OURS;
    return 0;
}

int sr_own_files(const char *folder, bool made)
{
    enum state state;
    bool any = false;
    const char *foreign = NULL;
    for (int k = 0; k < KINDS; k++) {
        if (!made && !strcmp(kinds[k].name, SR_MADE_TABLE))
            continue;
        TRY(look_at(folder, kinds[k].name, &state));
        any = any || state == OURS;
        foreign = state == FOREIGN ? kinds[k].name : foreign;
    }
    for (size_t i = 0; i < sizeof pictures / sizeof *pictures && !any; i++) {
        TRY(look_at(folder, pictures[i], &state)); /* beside a search's files, they are its own */
        foreign = state == FOREIGN ? pictures[i] : foreign;
    }
    return foreign ? ORR_FAIL(ORR_EUSAGE,
                              "--out: %s/%s is not a file of an earlier search, and would be "
                              "replaced by one of this; expected another folder",
                              folder, foreign)
                   : 0;
}
