/* json.h - JSON files (cJSON). */
#ifndef ORR_JSON_H
#define ORR_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cJSON;

/* ---- files of results. A later program believes what they say, so that they have a checksum:
 * "xxh64", the last key, is the XXH64 of the object's text in one line without that key. A file in
 * which a value was changed is refused wherever it is read. Files without the key are read: people
 * write them, and so did versions before the checksum; those that can be made again are refused by
 * orr_result_read() of stage/provenance.h. */

/* Parses a JSON file; a syntax error names file, line and column, ORR_EFORMAT also where the object
 * does not have the sum that it states. cJSON_Delete() it. */
int orr_json_read(const char *path, struct cJSON **json);
/* Parses a file whatever its sum. */
enum orr_json_sum { ORR_JSON_NO_SUM, ORR_JSON_AS_WRITTEN, ORR_JSON_CHANGED };
int orr_json_read_any(const char *path, struct cJSON **json, enum orr_json_sum *sum);
#define ORR_JSON_IS_CHANGED "it has been changed since it was made"
/* Writes JSON with indentation, atomically; a file with equal content stays as it is. Adds the sum
 * to the object, in place of an earlier one. */
int orr_json_write(const char *path, struct cJSON *json);
/* Likewise without a sum: a file that people are to edit, as preset.json. */
int orr_json_write_plain(const char *path, const struct cJSON *json);
/* Adds the sum of an object to it (false without memory); whether it has the sum that it states. */
bool orr_json_sum_add(struct cJSON *json);
bool orr_json_sum_same(const struct cJSON *json);

/* ---- objects */

/* A new object with "format" and Orrery's "version". */
struct cJSON *orr_json_create(const char *format);
/* The members of an object, ordered by key; free() it. NULL without memory. */
const struct cJSON **orr_json_sorted(const struct cJSON *object);
/* ORR_EFORMAT if any object in the file has a key twice, because JSON readers differ in which value
 * they take. orr_json_read() already checks this. */
int orr_json_check_keys(const char *path, const struct cJSON *json);
/* Adds a whole number with all digits: as a number up to 2^53, above as a string, because JSON
 * readers may round larger numbers. False without memory. */
bool orr_json_add_u64(struct cJSON *object, const char *key, uint64_t value);
bool orr_json_append_u64(struct cJSON *list, uint64_t value);
/* Reads such a whole number from an item, or from a key of an object. False where there is none. */
bool orr_json_item_u64(const struct cJSON *item, uint64_t *value);
bool orr_json_u64(const struct cJSON *object, const char *key, uint64_t *value);
/* Write a double as the shortest decimal text that reads back as the same double; cJSON's own
 * format may miss the last bit. orr_json_add_exact() adds one number to an object,
 * orr_json_add_list() a list of n; numbers that are not finite become null. */
void orr_shortest(double value, char *text, size_t bytes);
void orr_json_add_exact(struct cJSON *object, const char *key, double value);
void orr_json_add_list(struct cJSON *object, const char *key, const double *x, int n);
/* Reads a list of n numbers, NaN for null. False where there is no list of this length. */
bool orr_json_list(const struct cJSON *object, const char *key, double *x, int n);
/* The member of an object, owned by the object; NULL where there is none. */
struct cJSON *orr_json_get(const struct cJSON *object, const char *key);
/* A number, as an item or of an object; NaN where there is none. */
double orr_json_item_number(const struct cJSON *item);
double orr_json_number(const struct cJSON *object, const char *key);
/* Whether the object's string under `key` equals `text`. */
bool orr_json_says(const struct cJSON *object, const char *key, const char *text);
/* A string of an object, owned by the object; "" where there is none. */
const char *orr_json_text(const struct cJSON *object, const char *key);

#endif
