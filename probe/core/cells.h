/* cells.h - intermediate results of a long probe: numbers under a name, such as "untrained 100 0".
 * Each cell adds a line to a file, so that an interrupted probe can resume (docs/formats.md). */
#ifndef PROBE_CELLS_H
#define PROBE_CELLS_H

#include "probe/results.h"

enum { PROBE_CELL = 64 };
struct probe_cell {
    char name[PROBE_CELL];
    double *value; /* (numbers) */
};
struct probe_cells {
    char path[4096], key[PROBE_KEY]; /* key: describes all that the cells depend on */
    size_t numbers;                  /* numbers in every cell */
    struct probe_cell *cell;
    int count, capacity;
};
/* Opens the file <folder>/<probe>_cells.jsonl. With --resume, cells measured under this key are
 * kept, and a note says how many. Of a file that was cut or changed, the lines before the damage
 * are kept. Free the cells after an error, too. */
int probe_cells_open(struct probe_cells *cells, const struct probe_options *options,
                     const char *folder, const char *probe, const char *key, size_t numbers);
void probe_cells_free(struct probe_cells *cells);
/* value (numbers) of a cell; NULL where it has not been measured. */
const double *probe_cells_find(const struct probe_cells *cells, const char *name, ...)
    __attribute__((format(printf, 2, 3)));
/* Stores a copy of value (numbers), with NaN for numbers that are not finite, and appends it to the
 * file. */
int probe_cells_add(struct probe_cells *cells, const double *value, const char *name, ...)
    __attribute__((format(printf, 3, 4)));

#endif
