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
/* Those of a system of equations, whose searches have folders of their own. */
static const struct kind of_system[] = {
    {"report.md", "# Equations of motion", ", Orrery "},
    {"equations.json", "{", "\"version\":"},
    {"equations.py", "# The right-hand side of the equations", NULL},
    {"equations.c", "/* The right-hand side of the equations", NULL},
    {"solutions.csv", "track,", " residual in sigmas"}};
static const char *const pictures[] = {"front.png", "residuals.png"};

enum state { MISSING, OURS, FOREIGN };

/* Whether a file is one of the kind of this name. An empty one, as a kill may leave it, is nobody's
 * loss; links and folders are not followed. */
static int look_at(const struct kind *kind, size_t count, const char *folder, const char *name,
                   enum state *state)
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
    for (size_t k = 0; k < count; k++)
        if (!strcmp(kind[k].name, name) && !strncmp(head, kind[k].begins, strlen(kind[k].begins)) &&
            (!kind[k].holds || strstr(head, kind[k].holds)))
            *state = OURS;
    return 0;
}

static int refuse(const char *folder, const char *name)
{
    return ORR_FAIL(ORR_EUSAGE,
                    "--out: %s/%s is not a file of an earlier search, and would be replaced by one "
                    "of this; expected another folder",
                    folder, name);
}

int sr_own_files(const char *folder, bool made)
{
    enum state state;
    bool any = false;
    const char *foreign = NULL;
    for (int k = 0; k < KINDS; k++) {
        if (!made && !strcmp(kinds[k].name, SR_MADE_TABLE))
            continue;
        TRY(look_at(kinds, KINDS, folder, kinds[k].name, &state));
        any = any || state == OURS;
        foreign = state == FOREIGN ? kinds[k].name : foreign;
    }
    for (size_t i = 0; i < sizeof pictures / sizeof *pictures && !any; i++) {
        TRY(look_at(kinds, KINDS, folder, pictures[i],
                    &state)); /* beside a search's files, they are its own */
        foreign = state == FOREIGN ? pictures[i] : foreign;
    }
    return foreign ? refuse(folder, foreign) : 0;
}

int sr_own_system_files(const char *folder)
{
    enum { COUNT = sizeof of_system / sizeof *of_system };
    for (int k = 0; k < COUNT; k++) {
        enum state state;
        TRY(look_at(of_system, COUNT, folder, of_system[k].name, &state));
        if (state == FOREIGN)
            return refuse(folder, of_system[k].name);
    }
    return 0;
}
