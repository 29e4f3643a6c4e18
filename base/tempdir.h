/* tempdir.h - temporary working folders: for files that are assembled into others, or used once. */
#ifndef ORR_TEMPDIR_H
#define ORR_TEMPDIR_H

#include <dirent.h>

struct orr_tempdir {
    char folder[4096]; /* "" = none */
    DIR *listing;      /* locked */
};
/* Makes <parent>/.<name>-XXXXXX and locks it until it is removed or the process ends. First removes
 * folders of this name that no process locks, which killed processes left, with those that were
 * made in them; where locks do not work they stay. ORR_EIO, ORR_ENOMEM. */
int orr_tempdir_create(struct orr_tempdir *work, const char *parent, const char *name);
/* Removes the folder and the plain files in it; needs no memory. Safe after a failed create; what
 * cannot be removed stays. */
void orr_tempdir_remove(struct orr_tempdir *work);

#endif
