/* cells.h - what a long probe measured so far: numbers under a name, such as "untrained 100 0". The
 * file grows by a line for each, so that an interrupted probe resumes (docs/formats.md). */
#ifndef PROBE_CELLS_H
#define PROBE_CELLS_H

#include "probe/results.h"

enum { PROBE_CELL = 64 };
struct probe_cell {
    char name[PROBE_CELL];
    double *value; /* (numbers) */
};
struct probe_cells {
    char path[4096], key[PROBE_KEY]; /* key: what cells depend on */
    size_t numbers;                  /* of every cell */
    struct probe_cell *cell;
    int count, capacity;
};
/* The file <folder>/<probe>_cells.jsonl. With --resume, cells that were measured under this key are
 * kept, and a note says how many; of a file that ends within a line, or was changed, the lines
 * before that. Free it also after an error. */
int probe_cells_open(struct probe_cells *cells, const struct probe_options *options,
                     const char *folder, const char *probe, const char *key, size_t numbers);
void probe_cells_free(struct probe_cells *cells);
/* value (numbers) of a cell, NULL where it was not measured yet. */
const double *probe_cells_find(const struct probe_cells *cells, const char *name, ...)
    __attribute__((format(printf, 2, 3)));
/* Copies value (numbers), in which NaN stands for any number that is not finite, and writes it. */
int probe_cells_add(struct probe_cells *cells, const double *value, const char *name, ...)
    __attribute__((format(printf, 3, 4)));

#endif
