/* work.h - working folders: where a program makes what becomes other files, or is used once. */
#ifndef ORR_WORK_H
#define ORR_WORK_H

#include <dirent.h>

struct orr_work {
    char folder[4096]; /* "" = none */
    DIR *listing;      /* locked */
};
/* Makes <parent>/.<name>-XXXXXX and locks it until it is removed or the process ends. Those of the
 * same name that nobody locks, which killed processes left, are removed first; where locks do not
 * work they stay. ORR_EIO, ORR_ENOMEM. */
int orr_work_create(struct orr_work *work, const char *parent, const char *name);
/* With the plain files in it, also where there is no memory. Safe after a failure to make it; what
 * cannot be removed stays. */
void orr_work_remove(struct orr_work *work);

#endif
