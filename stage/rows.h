/* rows.h - the results of a probe of one model as rows of the long table (base/table.h): the one
 * reader of <probe>.json, and the one writer of its rows and of <probe>.csv (docs/formats.md). */
#ifndef ORR_ROWS_H
#define ORR_ROWS_H

#include "base/base.h"
#include "base/table.h"

#define ORR_ROWS_FORMAT "orrery-probe-1"
enum { ORR_QUANTITY = 48, ORR_MEASURE = 32 }; /* bytes of a row's texts, with NUL */

struct cJSON;

/* Adds the rows of such an object, of model "attention=lssar stage=pretrain" and the file's seed.
 * ORR_EFORMAT, naming the path, where it has another format, was changed since it was written (as
 * far as it records that), or has an invalid row or a quantity twice. */
int orr_rows_take(const char *path, const struct cJSON *json, struct orr_table *table);
/* Reads such a file; *json holds the whole object (call cJSON_Delete()). After an error *json is
 * NULL, and rows before the invalid one may have been added. */
int orr_rows_read(const char *path, struct orr_table *table, struct cJSON **json);

/* Writes all rows as a CSV, atomically. */
int orr_rows_write_csv(const struct orr_table *table, const char *path);
/* Adds "rows", one object each, to the object. */
void orr_rows_json(const struct orr_table *table, struct cJSON *json);
/* Adds what a row is of to the object: quantity, measure, layer, context. */
void orr_row_json(const struct orr_row *row, struct cJSON *json);

#endif
