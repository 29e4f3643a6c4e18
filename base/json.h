/* json.h - JSON files (cJSON). */
#ifndef ORR_JSON_H
#define ORR_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cJSON;

/* Parses a JSON file; a syntax error names file, line and column. cJSON_Delete() it. */
int orr_json_read(const char *path, struct cJSON **json);
/* The members of an object by the order of their keys; free() it. NULL without memory. */
const struct cJSON **orr_json_sorted(const struct cJSON *object);
/* No object of what the file holds may have a key twice: readers differ in which of the two they
 * take. ORR_EFORMAT. orr_json_read() has asked already. */
int orr_json_check_keys(const char *path, const struct cJSON *json);
/* Adds a whole number with every digit: a number up to 2^53, beyond which readers of JSON may
 * round, a string above. False without memory. */
bool orr_json_add_u64(struct cJSON *object, const char *key, uint64_t value);
bool orr_json_append_u64(struct cJSON *list, uint64_t value);
/* The same read again, of an item and of a key; false where there is neither. */
bool orr_json_item_u64(const struct cJSON *item, uint64_t *value);
bool orr_json_u64(const struct cJSON *object, const char *key, uint64_t *value);
/* The shortest decimal text that reads back as the same double, which cJSON's own may miss by the
 * last bit; as a number of an object, and as a list; null for what is not finite. */
void orr_shortest(double value, char *text, size_t bytes);
void orr_json_add_exact(struct cJSON *object, const char *key, double value);
void orr_json_add_list(struct cJSON *object, const char *key, const double *x, int n);
/* Such a list of n numbers read again, NaN for null; false where there is none of that length. */
bool orr_json_list(const struct cJSON *object, const char *key, double *x, int n);
/* A number of an object, NaN where there is none; whether a text is there and is this one. */
double orr_json_number(const struct cJSON *object, const char *key);
bool orr_json_says(const struct cJSON *object, const char *key, const char *text);
/* A text of an object, which keeps it; "" where there is none. */
const char *orr_json_text(const struct cJSON *object, const char *key);
/* Pretty-printed, atomically; a file that already holds this stays as it is. */
int orr_json_write(const char *path, const struct cJSON *json);

#endif
