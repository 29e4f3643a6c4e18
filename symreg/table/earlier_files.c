/* earlier_files.c - tells the files of an earlier search from others of these names, which a search
 * must not replace: by how their content begins, since any folder may be given as --out. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "program.h"

static const struct sr_own_kind search_kinds[] = {
    {"report.md", "# `", ", Orrery "},
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
enum { KINDS = sizeof search_kinds / sizeof *search_kinds, MADE = 2, HEAD = 4096 };
static const char *const search_pictures[] = {"front.png", "residuals.png"};

enum state { MISSING, OURS, FOREIGN };

/* Whether a file is one of the kind of this name. An empty one, as a kill may leave it, is nobody's
 * loss; links and folders are not followed. */
static int look_at(const char *folder, const char *name, const struct sr_own_kind *kind,
                   size_t kinds, enum state *state)
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
    for (size_t k = 0; k < kinds; k++)
        if (!strcmp(kind[k].name, name) && !strncmp(head, kind[k].begins, strlen(kind[k].begins)) &&
            (!kind[k].holds || strstr(head, kind[k].holds)))
            *state = OURS;
    return 0;
}

int sr_own_kinds(const char *folder, const struct sr_own_kind *kind, size_t kinds,
                 const char *const *picture, size_t pictures)
{
    enum state state;
    bool any = false;
    const char *foreign = NULL;
    for (size_t k = 0; k < kinds; k++) {
        TRY(look_at(folder, kind[k].name, kind, kinds, &state));
        any = any || state == OURS;
        foreign = state == FOREIGN ? kind[k].name : foreign;
    }
    for (size_t i = 0; i < pictures && !any; i++) {
        TRY(look_at(folder, picture[i], kind, kinds, &state));
        foreign = state == FOREIGN ? picture[i] : foreign;
    }
    return foreign ? ORR_FAIL(ORR_EUSAGE,
                              "--out: %s/%s is not a file of an earlier search, and would be "
                              "replaced by one of this; expected another folder",
                              folder, foreign)
                   : 0;
}

int sr_own_files(const char *folder, bool made)
{
    /* the tables of symreg motion are the last kinds */
    return sr_own_kinds(folder, search_kinds, KINDS - (made ? 0 : MADE), search_pictures,
                        sizeof search_pictures / sizeof *search_pictures);
}

/* Removes a regular file; links and folders stay. */
static int remove_file(const char *folder, const char *name)
{
    char path[4096];
    struct stat info;
    TRY(orr_path(path, "%s/%s", folder, name));
    return !lstat(path, &info) && S_ISREG(info.st_mode) ? orr_remove(path) : 0;
}

int sr_own_remove(const char *folder)
{
    TRY(sr_own_files(folder, true));
    for (int k = 0; k < KINDS; k++)
        TRY(remove_file(folder, search_kinds[k].name));
    for (size_t k = 0; k < sizeof search_pictures / sizeof *search_pictures; k++)
        TRY(remove_file(folder, search_pictures[k]));
    rmdir(folder); /* stays where it has other files */
    return 0;
}
