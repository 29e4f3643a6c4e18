/* columns.h - inside api/: tables of results as columns of numbers and text. */
#ifndef API_COLUMNS_H
#define API_COLUMNS_H

#include "base/base.h"

struct api_column {
    char *name;
    double *number; /* (rows) */
    char **word;    /* (rows); NULL: all cells are numbers or empty */
};
struct api_columns {
    size_t rows, count;
    struct api_column *column; /* (count) */
};

/* Reads the table of a path as orrery_results_open() describes. Free it also after an error. */
int api_columns_read(const char *path, struct api_columns *columns);
/* Reads the table of files of JPL Horizons as orrery_results_horizons() describes; likewise. */
int api_columns_horizons(const char *const *file, int count, struct api_columns *columns);
void api_columns_free(struct api_columns *columns);

#endif
