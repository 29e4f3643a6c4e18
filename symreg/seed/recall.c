/* recall.c - results of costly steps by the bytes of all that they depend on. */
#include "recall.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 256 }; /* results */

struct entry {
    unsigned char *byte; /* key, then result */
    size_t key, result;
};
struct sr_recall {
    omp_lock_t lock;
    bool closed;
    int count;
    struct entry entry[MOST];
};

void sr_recall_key_add(struct sr_recall_key *key, const void *data, size_t bytes)
{
    if (key->failed)
        return;
    if (key->bytes + bytes > key->capacity) {
        const size_t capacity = 2 * (key->bytes + bytes);
        unsigned char *byte = realloc(key->byte, capacity);
        key->failed = !byte;
        if (!byte)
            return;
        key->byte = byte;
        key->capacity = capacity;
    }
    if (bytes)
        memcpy(key->byte + key->bytes, data, bytes);
    key->bytes += bytes;
}

void sr_recall_key_free(struct sr_recall_key *key)
{
    free(key->byte);
    *key = (struct sr_recall_key){0};
}

struct sr_recall_key sr_recall_key_table(const struct sr_recall *recall, const char *step,
                                         const struct sr_data *data)
{
    const size_t rows = data->rows, columns = (size_t)data->features;
    const size_t head[] = {rows, columns, data->weight != NULL};
    struct sr_recall_key key = {.failed = !sr_recall_is_open(recall)};
    sr_recall_key_add(&key, step, strlen(step));
    sr_recall_key_add(&key, head, sizeof head);
    sr_recall_key_add(&key, data->x, columns * rows * sizeof *data->x);
    sr_recall_key_add(&key, data->y, rows * sizeof *data->y);
    if (data->weight)
        sr_recall_key_add(&key, data->weight, rows * sizeof *data->weight);
    return key;
}

struct sr_recall *sr_recall_create(void)
{
    struct sr_recall *recall = calloc(1, sizeof *recall);
    if (recall)
        omp_init_lock(&recall->lock);
    return recall;
}

void sr_recall_free(struct sr_recall *recall)
{
    for (int k = 0; recall && k < recall->count; k++)
        free(recall->entry[k].byte);
    if (recall)
        omp_destroy_lock(&recall->lock);
    free(recall);
}

void sr_recall_close(struct sr_recall *recall)
{
    if (recall)
        recall->closed = true;
}

bool sr_recall_is_open(const struct sr_recall *recall)
{
    return recall && !(recall->closed && recall->count == 0);
}

static const struct entry *find_entry(const struct sr_recall *recall,
                                      const struct sr_recall_key *key)
{
    for (int k = 0; k < recall->count; k++)
        if (recall->entry[k].key == key->bytes &&
            !memcmp(recall->entry[k].byte, key->byte, key->bytes))
            return &recall->entry[k];
    return NULL;
}

size_t sr_recall_find(struct sr_recall *recall, const struct sr_recall_key *key, void *result,
                      size_t most)
{
    size_t bytes = 0;
    if (!recall || key->failed || !key->bytes)
        return 0;
    omp_set_lock(&recall->lock);
    const struct entry *const entry = find_entry(recall, key);
    if (entry && entry->result <= most) {
        bytes = entry->result;
        memcpy(result, entry->byte + entry->key, bytes);
    }
    omp_unset_lock(&recall->lock);
    return bytes;
}

void sr_recall_keep(struct sr_recall *recall, const struct sr_recall_key *key, const void *result,
                    size_t bytes)
{
    if (!recall || recall->closed || key->failed || !key->bytes)
        return;
    omp_set_lock(&recall->lock);
    unsigned char *byte = NULL;
    if (recall->count < MOST && !find_entry(recall, key))
        byte = malloc(key->bytes + bytes);
    if (byte) {
        memcpy(byte, key->byte, key->bytes);
        memcpy(byte + key->bytes, result, bytes);
        recall->entry[recall->count++] = (struct entry){byte, key->bytes, bytes};
    }
    omp_unset_lock(&recall->lock);
}
