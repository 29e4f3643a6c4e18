/* sweep.h - bin/orrery's commands of grids: `cells`, `sweep` and `share` (inside stage/ only). */
#ifndef ORR_SWEEP_H
#define ORR_SWEEP_H

#include "grid.h"

/* Runs the cells listed in cell[count] of a grid, `jobs` at a time. Each writes FOLDER.log, and is
 * locked by FOLDER.lock, so that another sweep waits for it. What fails is named at the end with
 * the last line of its log, the others go on: ORR_EINVAL then. ORR_EINTR after a signal, once the
 * programs have saved and ended. */
int orr_sweep_run(const struct orr_grid *grid, const struct orr_grid_place *place, const long *cell,
                  size_t count, int jobs);
/* Runs a command that makes the run folder `shared`, one process at a time, and links its data sets
 * and pretrained models into the run folder `cell`. *status: of the command, as a shell reports it.
 */
int orr_share_make(const char *cell, const char *shared, const char *const *argv, int *status);
/* Opens and locks a file; *fd keeps the lock, and programs that are called inherit it, so that it
 * lasts until the last has ended, whatever becomes of this process. waiting: the cell that is said
 * to be waited for; NULL: none is. Close *fd, unless it is negative, after errors too. */
int orr_sweep_lock(const char *path, const char *waiting, int *fd);

/* The commands of bin/orrery; `self`: its argv[0]. *status: of what they ran. */
int orr_cells_command(const char *self, int count, char *const *argument);
int orr_sweep_command(const char *self, int count, char *const *argument, int *status);
int orr_share_command(int count, char *const *argument, int *status);

#endif
