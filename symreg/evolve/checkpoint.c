/* checkpoint.c - writes and reads the blocks of memory of a checkpoint (docs/formats.md).
 *
 * The file holds: magic, program version, bytes of the text, epoch, number of blocks, total bytes
 * of the blocks, the text of sr_search_about(), the blocks, and the XXH64 checksum of everything
 * before. Blocks are written in the machine's memory layout, so only the build that wrote a file
 * can read it; the version and the sizes identify the build. */
#include "search.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

struct header {
    char magic[8], version[16];
    uint64_t text, epoch, blocks, bytes;
};
static const char magic[8] = "orrsrck2";

static struct header header_of(const char *about, int epoch, const struct sr_block *block,
                               int blocks)
{
    struct header header = {
        .text = strlen(about), .epoch = (uint64_t)epoch, .blocks = (uint64_t)blocks};
    memcpy(header.magic, magic, sizeof magic);
    strncpy(header.version, ORR_VERSION, sizeof header.version - 1);
    for (int i = 0; i < blocks; i++)
        header.bytes += block[i].bytes;
    return header;
}

int sr_checkpoint_write(const char *path, const char *about, int epoch,
                        const struct sr_block *block, int blocks)
{
    struct orr_file file;
    const struct header header = header_of(about, epoch, block, blocks);
    XXH64_state_t *state = XXH64_createState();
    int rc = state ? orr_file_create(&file, path) : ORR_FAIL(ORR_ENOMEM, "%s: out of memory", path);
    if (!rc) {
        XXH64_reset(state, 0);
        XXH64_update(state, &header, sizeof header);
        XXH64_update(state, about, strlen(about));
        orr_file_write(&file, &header, sizeof header);
        orr_file_write(&file, about, strlen(about));
        for (int i = 0; i < blocks; i++) {
            XXH64_update(state, block[i].data, block[i].bytes);
            orr_file_write(&file, block[i].data, block[i].bytes);
        }
        const uint64_t sum = XXH64_digest(state);
        orr_file_write(&file, &sum, sizeof sum);
        rc = orr_file_commit(&file);
        orr_file_close(&file);
    }
    XXH64_freeState(state);
    return rc;
}

/* Compares the text in the checkpoint with the text of this search. Where they differ, the error
 * names the first line that differs. */
static int compare_about(const char *path, const char *there, size_t bytes, const char *here)
{
    const char *const end = there + bytes;
    while (there < end && *here) {
        const char *const stop = memchr(there, '\n', (size_t)(end - there));
        const int before = (int)((stop ? stop : end) - there), now = (int)strcspn(here, "\n");
        if (before != now || memcmp(there, here, (size_t)now) != 0) {
            const int key = (int)strcspn(here, "=\n"), shift = key < now ? key + 1 : now;
            if (before >= shift && !memcmp(there, here, (size_t)shift))
                return !strncmp(here, "the table=", 10)
                           ? ORR_FAIL(ORR_EINVAL,
                                      "%s: the table is another one, or others of its rows or "
                                      "columns are used, also as weights or sigmas; without "
                                      "--resume a new search begins",
                                      path)
                           : ORR_FAIL(ORR_EINVAL,
                                      "%s: %.*s was \"%.*s\", is \"%.*s\" here; a search "
                                      "continues with the settings that it began with, but for "
                                      "its limits",
                                      path, key, here, before - shift, there + shift, now - shift,
                                      here + shift);
            break;
        }
        there += before + 1;
        here += now + (here[now] != '\0');
    }
    return there == end && !*here
               ? 0
               : ORR_FAIL(ORR_EINVAL, "%s: of a search with other options", path);
}

/* Whether the file's bytes are a complete checkpoint of this search. Fills *header. */
static int check_file(const char *path, const char *about, const struct header *expected,
                      const char *text, size_t bytes, struct header *header)
{
    uint64_t sum;
    if (bytes < sizeof *header)
        return ORR_FAIL(ORR_EFORMAT, "%s: no checkpoint of a search: %zu bytes", path, bytes);
    memcpy(header, text, sizeof *header);
    if (memcmp(header->magic, magic, sizeof magic) != 0)
        return ORR_FAIL(ORR_EFORMAT, "%s: no checkpoint of a search", path);
    if (memcmp(header->version, expected->version, sizeof header->version) != 0)
        return ORR_FAIL(ORR_EFORMAT, "%s: written by version %.15s, this is %s", path,
                        header->version, ORR_VERSION);
    if (header->text > bytes - sizeof *header)
        return ORR_FAIL(ORR_EFORMAT, "%s: truncated or of another build", path);
    TRY(compare_about(path, text + sizeof *header, (size_t)header->text, about));
    if (header->blocks != expected->blocks || header->bytes != expected->bytes ||
        bytes != sizeof *header + header->text + header->bytes + sizeof sum)
        return ORR_FAIL(ORR_EFORMAT, "%s: truncated or of another build", path);
    if (header->epoch >= INT_MAX)
        return ORR_FAIL(ORR_EFORMAT, "%s: expected an epoch below %d, found %llu", path, INT_MAX,
                        (unsigned long long)header->epoch);
    memcpy(&sum, text + bytes - sizeof sum, sizeof sum);
    return XXH64(text, bytes - sizeof sum, 0) == sum
               ? 0
               : ORR_FAIL(ORR_EFORMAT, "%s: damaged (checksum)", path);
}

int sr_checkpoint_read(const char *path, const char *about, int *epoch,
                       const struct sr_block *block, int blocks)
{
    char *text;
    size_t bytes;
    struct header header;
    const struct header expected = header_of(about, 0, block, blocks);
    TRY(orr_file_read(path, &text, &bytes));
    const int rc = check_file(path, about, &expected, text, bytes, &header);
    const char *at = rc ? NULL : text + sizeof header + header.text;
    for (int i = 0; i < blocks && !rc; i++) {
        memcpy(block[i].data, at, block[i].bytes);
        at += block[i].bytes;
    }
    if (!rc)
        *epoch = (int)header.epoch;
    free(text);
    return rc;
}

bool sr_checkpoint_says(const char *path, const char *line)
{
    char *text;
    size_t bytes, length = strlen(line);
    struct header header = {0};
    if (orr_file_read(path, &text, &bytes)) {
        orr_error_clear();
        return false;
    }
    if (bytes >= sizeof header)
        memcpy(&header, text, sizeof header);
    const char *at = NULL;
    if (!memcmp(header.magic, magic, sizeof magic) && header.text <= bytes - sizeof header) {
        text[sizeof header + header.text] = '\0';
        at = strstr(text + sizeof header, line);
    }
    const bool says = at && at[-1] == '\n' && at[length] == '\n';
    free(text);
    return says;
}

/* ---- the text that identifies a search */

static uint64_t digest_of_data(const struct sr_fit *fits, int count)
{
    uint64_t digest = 1;
    for (int f = 0; f < count; f++) {
        const struct sr_data *data = &fits[f].data;
        digest = XXH64(&fits[f].stream, sizeof fits[f].stream, digest);
        digest = XXH64(data->x, data->rows * (size_t)data->features * sizeof *data->x, digest);
        digest = XXH64(data->y, data->rows * sizeof *data->y, digest);
        if (data->weight)
            digest = XXH64(data->weight, data->rows * sizeof *data->weight, digest);
        if (fits[f].category)
            digest = XXH64(fits[f].category, data->rows * sizeof *fits[f].category, digest);
    }
    return digest;
}

static void print_operators(FILE *out, const char *key, const struct sr_language *language,
                            const enum sr_op *op, int count)
{
    fprintf(out, "%s=", key);
    for (int i = 0; i < count; i++)
        fprintf(out, "%s%s", i ? "," : "", sr_op(language, (int)op[i])->name);
    fprintf(out, "\n");
}

char *sr_search_about(const struct sr_settings *s, const struct sr_fit *fits, int count)
{
    const struct {
        const char *key;
        double value;
    } number[] = {
        {"--compat", s->algorithm->kind},
        {"symreg.loss", s->loss},
        {"symreg.loss_parameter", s->loss_parameter},
        {"--maxsize", s->maxsize},
        {"symreg.populations", s->populations},
        {"symreg.population_size", s->population_size},
        {"symreg.cycles", s->cycles},
        {"symreg.restarts", s->restarts},
        {"symreg.parsimony", s->parsimony},
        {"symreg.enumerate", s->enumerate},
    };
    char *text = NULL;
    size_t bytes;
    uint64_t guesses = 0;
    FILE *out = open_memstream(&text, &bytes);
    if (!out)
        return NULL;
    fprintf(out, "%s--seed=%llu\n", s->context_text ? s->context_text : "",
            (unsigned long long)s->seed);
    for (size_t i = 0; i < sizeof number / sizeof *number; i++)
        fprintf(out, "%s=%.17g\n", number[i].key, number[i].value);
    print_operators(out, "--binary", s->language, s->binary, s->binary_count);
    print_operators(out, "--unary", s->language, s->unary, s->unary_count);
    for (int i = 0; i < s->guesses; i++) {
        const uint64_t hash = sr_expr_hash(&s->guess[i]);
        guesses = XXH64(&hash, sizeof hash, guesses);
    }
    fprintf(out, "--guess=%d formulas %016llx\n", s->guesses, (unsigned long long)guesses);
    fprintf(out, "the table=%016llx\n", (unsigned long long)digest_of_data(fits, count));
    const bool failed = ferror(out) != 0;
    if (fclose(out) || failed) {
        free(text);
        return NULL;
    }
    return text;
}
