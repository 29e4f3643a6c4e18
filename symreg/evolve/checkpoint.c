/* checkpoint.c - blocks of memory in one checked file (docs/formats.md).
 *
 * magic, version of the program, digest, epoch, number of blocks, their bytes together, the blocks,
 * XXH64 of all before. The bytes are as in memory: a file is for the build that wrote it, which
 * the version and the sizes tell. */
#include "search.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

struct header {
    char magic[8], version[16];
    uint64_t digest, epoch, blocks, bytes;
};
static const char magic[8] = "orrsrck1";

static struct header header_of(uint64_t digest, int epoch, const struct sr_block *block, int blocks)
{
    struct header header = {.digest = digest, .epoch = (uint64_t)epoch, .blocks = (uint64_t)blocks};
    memcpy(header.magic, magic, sizeof magic);
    strncpy(header.version, ORR_VERSION, sizeof header.version - 1);
    for (int i = 0; i < blocks; i++)
        header.bytes += block[i].bytes;
    return header;
}

int sr_checkpoint_write(const char *path, uint64_t digest, int epoch, const struct sr_block *block,
                        int blocks)
{
    struct orr_file file = {0};
    const struct header header = header_of(digest, epoch, block, blocks);
    XXH64_state_t *state = XXH64_createState();
    if (!state)
        return ORR_FAIL(ORR_ENOMEM, "%s: out of memory", path);
    XXH64_reset(state, 0);
    XXH64_update(state, &header, sizeof header);
    int rc = orr_file_create(&file, path);
    if (!rc)
        rc = orr_file_write(&file, &header, sizeof header);
    for (int i = 0; i < blocks && !rc; i++) {
        XXH64_update(state, block[i].data, block[i].bytes);
        rc = orr_file_write(&file, block[i].data, block[i].bytes);
    }
    const uint64_t sum = XXH64_digest(state);
    if (!rc)
        rc = orr_file_write(&file, &sum, sizeof sum);
    if (!rc)
        rc = orr_file_commit(&file);
    orr_file_close(&file);
    XXH64_freeState(state);
    return rc;
}

int sr_checkpoint_read(const char *path, uint64_t digest, int *epoch, const struct sr_block *block,
                       int blocks)
{
    char *text = NULL;
    size_t bytes = 0;
    struct header header;
    const struct header expected = header_of(digest, 0, block, blocks);
    int rc = orr_file_read(path, &text, &bytes);
    if (rc)
        return rc;
    if (bytes < sizeof header) {
        rc = ORR_FAIL(ORR_EFORMAT, "%s: no checkpoint of a search: %zu bytes", path, bytes);
        goto out;
    }
    memcpy(&header, text, sizeof header);
    if (memcmp(header.magic, magic, sizeof magic) != 0)
        rc = ORR_FAIL(ORR_EFORMAT, "%s: no checkpoint of a search", path);
    else if (memcmp(header.version, expected.version, sizeof header.version) != 0)
        rc = ORR_FAIL(ORR_EFORMAT, "%s: written by version %.15s, this is %s", path, header.version,
                      ORR_VERSION);
    else if (header.digest != digest)
        rc = ORR_FAIL(ORR_EINVAL, "%s: of other data or settings (digest %016llx, here %016llx)",
                      path, (unsigned long long)header.digest, (unsigned long long)digest);
    else if (header.blocks != expected.blocks || header.bytes != expected.bytes ||
             bytes != sizeof header + header.bytes + sizeof(uint64_t))
        rc = ORR_FAIL(ORR_EFORMAT, "%s: truncated or of another build", path);
    else if (header.epoch >= INT_MAX)
        rc = ORR_FAIL(ORR_EFORMAT, "%s: expected an epoch below %d, found %llu", path, INT_MAX,
                      (unsigned long long)header.epoch);
    if (rc)
        goto out;
    uint64_t sum;
    memcpy(&sum, text + bytes - sizeof sum, sizeof sum);
    if (XXH64(text, bytes - sizeof sum, 0) != sum) {
        rc = ORR_FAIL(ORR_EFORMAT, "%s: damaged (checksum)", path);
        goto out;
    }
    const char *at = text + sizeof header;
    for (int i = 0; i < blocks; i++) {
        memcpy(block[i].data, at, block[i].bytes);
        at += block[i].bytes;
    }
    *epoch = (int)header.epoch;
out:
    free(text);
    return rc;
}

uint64_t sr_search_digest(const struct sr_settings *s, const struct sr_fit *fits, int count)
{
    uint64_t digest = XXH64(s->binary, (size_t)s->binary_count * sizeof *s->binary, 1);
    const double values[] = {s->loss,
                             s->loss_parameter,
                             s->maxsize,
                             s->populations,
                             s->population_size,
                             s->cycles,
                             s->restarts,
                             s->parsimony,
                             s->enumerate,
                             s->binary_count,
                             s->unary_count,
                             s->iterations,
                             sr_algorithm_of(s)->kind,
                             s->guesses,
                             s->patience,
                             count};
    digest = XXH64(s->unary, (size_t)s->unary_count * sizeof *s->unary, digest);
    digest = XXH64(values, sizeof values, digest);
    digest = XXH64(&s->seed, sizeof s->seed, digest);
    digest = XXH64(&s->context_digest, sizeof s->context_digest, digest);
    for (int i = 0; i < s->guesses; i++) {
        const uint64_t hash = sr_expr_hash(&s->guess[i]);
        digest = XXH64(&hash, sizeof hash, digest);
    }
    for (int f = 0; f < count; f++) {
        const struct sr_data *data = &fits[f].data;
        digest = XXH64(&fits[f].stream, sizeof fits[f].stream, digest);
        digest = XXH64(data->x, data->rows * (size_t)data->features * sizeof *data->x, digest);
        digest = XXH64(data->y, data->rows * sizeof *data->y, digest);
        if (data->weight)
            digest = XXH64(data->weight, data->rows * sizeof *data->weight, digest);
    }
    return digest;
}
