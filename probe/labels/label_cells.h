/* label_cells.h - inside probe/: what was measured of a label curve so far, a cell for each arm,
 * number of labels and draw; kept in a file that grows, so that an interrupted probe goes on. */
#ifndef PROBE_LABEL_CELLS_H
#define PROBE_LABEL_CELLS_H

#include "labels.h"

struct probe_cell {
    enum probe_arm arm;
    int n, draw;
    double lr, r2, seconds;
    long steps;       /* of the optimiser, those that chose the rate included */
    double *residual; /* (sequences) */
};
struct probe_cells {
    char path[4096], key[PROBE_KEY];
    size_t sequences; /* held out */
    struct probe_cell *cell;
    int count, room;
};
/* Cells of <folder>/labels_cells.json where resume is set and the file is of this key, else
 * none. */
int probe_cells_open(struct probe_cells *cells, const char *folder, const char key[PROBE_KEY],
                     size_t sequences, bool resume);
void probe_cells_free(struct probe_cells *cells);
/* NULL where it was not measured yet. */
const struct probe_cell *probe_cells_find(const struct probe_cells *cells, enum probe_arm arm,
                                          int n, int draw);
/* Takes over a cell, whose residuals are copied, and writes the file, whole or not at all. */
int probe_cells_add(struct probe_cells *cells, const struct probe_cell *cell);

#endif
