/* tempdir.h - working folders: where a program makes what becomes other files, or is used once. */
#ifndef ORR_TEMPDIR_H
#define ORR_TEMPDIR_H

#include <dirent.h>

struct orr_tempdir {
    char folder[4096]; /* "" = none */
    DIR *listing;      /* locked */
};
/* Makes <parent>/.<name>-XXXXXX and locks it until it is removed or the process ends. Those of the
 * same name that nobody locks, which killed processes left, are removed first; where locks do not
 * work they stay. ORR_EIO, ORR_ENOMEM. */
int orr_tempdir_create(struct orr_tempdir *work, const char *parent, const char *name);
/* With the plain files in it, also where there is no memory. Safe after a failure to make it; what
 * cannot be removed stays. */
void orr_tempdir_remove(struct orr_tempdir *work);

#endif
