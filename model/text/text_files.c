/* text_files.c - maps files of bytes and of tokens, and joins them to one text. */
#include "text.h"

#include <dirent.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <xxhash.h>

/* The first bytes of llm.c's files: shards of tokens (dev/data/data_common.py, write_datafile),
 * and kinds of files that are not text. */
static const struct magic {
    int32_t magic, version;
    enum orr_dtype dtype;
    const char *other; /* NULL: tokens */
} magics[] = {
    {20240520, 1, ORR_U16, NULL},
    {20240801, 7, ORR_U32, NULL},
    {20240326, 0, ORR_U8, "a model"},
    {20240327, 0, ORR_U8, "a debug state"},
    {20240328, 0, ORR_U8, "a tokenizer"},
    {20240522, 0, ORR_U8, "an evaluation set with choices"},
    {20240527, 0, ORR_U8, "an optimiser state"},
};
enum { MAGICS = sizeof magics / sizeof *magics };
enum { HEADER_INTS = 256, HEADER_BYTES = 4 * HEADER_INTS };
enum { PIECE = 1 << 20 }; /* tokens hashed together */

/* ------------------------------------------------------------------------------ one file */

static int open_shard(const char *key, struct gpt_text_file *f, const struct magic *kind)
{
    int32_t header[HEADER_INTS];
    const size_t size = orr_dtype_size(kind->dtype);
    if (kind->other)
        return ORR_FAIL(ORR_EFORMAT, "%s: %s: expected text or tokens, found %s of llm.c", key,
                        f->path, kind->other);
    if (f->map_bytes < HEADER_BYTES)
        return ORR_FAIL(ORR_EFORMAT, "%s: %s: a token shard begins with %d bytes, found %zu", key,
                        f->path, HEADER_BYTES, f->map_bytes);
    memcpy(header, f->map, sizeof header);
    if (header[1] != kind->version)
        return ORR_FAIL(ORR_EFORMAT,
                        "%s: %s: token shard, at byte 4: expected version %d, found %d", key,
                        f->path, (int)kind->version, (int)header[1]);
    const size_t there = (f->map_bytes - HEADER_BYTES) / size;
    if (header[2] < 1 || f->map_bytes != HEADER_BYTES + size * (size_t)header[2])
        return ORR_FAIL(ORR_EFORMAT,
                        "%s: %s: token shard, at byte 8: %d tokens are %lld bytes with the header, "
                        "found %zu bytes (%zu tokens)",
                        key, f->path, (int)header[2],
                        HEADER_BYTES + (long long)size * (long long)header[2], f->map_bytes, there);
    f->count = (uint64_t)header[2];
    f->dtype = kind->dtype;
    f->data = (const char *)f->map + HEADER_BYTES;
    return 0;
}

/* Prepends the setting to the last error, which names the file. */
static int fail_in(const char *key, int rc)
{
    char why[4096];
    snprintf(why, sizeof why, "%s", orr_error());
    return ORR_FAIL(rc, "%s: %s", key, why);
}

/* Opens a .npy file: its array replaces the raw file. */
static int open_npy(const char *key, struct gpt_text_file *f)
{
    struct orr_npy npy;
    const int rc = orr_npy_open(f->path, &npy);
    if (rc)
        return fail_in(key, rc);
    orr_file_unmap(f->map, f->map_bytes);
    f->map = npy.map;
    f->map_bytes = npy.map_bytes;
    f->data = npy.data;
    f->dtype = npy.dtype;
    f->count = npy.shape[0];
    if (npy.ndim != 1 || f->dtype == ORR_F32 || f->dtype == ORR_F64)
        return ORR_FAIL(ORR_EFORMAT,
                        "%s: %s: expected tokens, whole numbers in one dimension, found %s in %d",
                        key, f->path, orr_dtype_descr(npy.dtype), npy.ndim);
    return f->count ? 0 : ORR_FAIL(ORR_EFORMAT, "%s: %s: the array is empty", key, f->path);
}

static int open_bare(const char *key, struct gpt_text_file *f, enum orr_tokens tokens)
{
    f->dtype = tokens == ORR_TOKENS_UINT16   ? ORR_U16
               : tokens == ORR_TOKENS_UINT32 ? ORR_U32
                                             : ORR_U8;
    f->tokens = f->dtype != ORR_U8;
    f->data = f->map;
    f->count = f->map_bytes / orr_dtype_size(f->dtype);
    if (f->map_bytes % orr_dtype_size(f->dtype))
        return ORR_FAIL(ORR_EFORMAT, "%s: %s: expected tokens of %zu bytes, found %zu bytes", key,
                        f->path, orr_dtype_size(f->dtype), f->map_bytes);
    return 0;
}

/* Finds out what a mapped file contains, by its first bytes. */
static int open_kind(const char *key, struct gpt_text_file *f, enum orr_tokens tokens)
{
    int32_t first = 0;
    if (f->map_bytes >= sizeof first)
        memcpy(&first, f->map, sizeof first);
    if (tokens == ORR_TOKENS_BYTES)
        return open_bare(key, f, tokens);
    f->tokens = true;
    if (f->map_bytes >= 6 && !memcmp(f->map, "\x93NUMPY", 6))
        return open_npy(key, f);
    for (int i = 0; i < MAGICS; i++)
        if (first == magics[i].magic)
            return open_shard(key, f, &magics[i]);
    return open_bare(key, f, tokens);
}

static int map_file(const char *key, struct gpt_text_file *f)
{
    const int rc = orr_file_map(f->path, &f->map, &f->map_bytes);
    if (!rc && !f->map)
        return ORR_FAIL(ORR_EFORMAT, "%s: %s: the file is empty", key, f->path);
    return rc ? fail_in(key, rc) : 0;
}

/* Prefix of texts that are generated instead of read. */
static const char made[] = "passkey:";

static bool is_made(const char *path)
{
    return !strncmp(path, made, strlen(made));
}

/* Appends a file to the text; the first file decides the kind. */
static int add_file(struct gpt_text_files *text, const char *key, const char *path,
                    const struct orr_text_settings *settings)
{
    struct gpt_text_file *grown =
        realloc(text->file, ((size_t)text->files + 1) * sizeof *text->file);
    if (!grown)
        return ORR_FAIL(ORR_ENOMEM, "%s: out of memory", key);
    text->file = grown;
    struct gpt_text_file *f = &text->file[text->files++];
    *f = (struct gpt_text_file){.path = strdup(path), .first = text->count};
    if (!f->path)
        return ORR_FAIL(ORR_ENOMEM, "%s: out of memory", key);
    const bool keys = is_made(path);
    TRY(keys ? gpt_passkey_text(key, path + strlen(made), f) : map_file(key, f));
    if (text->files > 1 && keys != text->keys)
        return ORR_FAIL(ORR_EINVAL, "%s: %s stands beside other text: expected it alone", key,
                        keys ? path : text->file[0].path);
    text->keys = keys;
    if (!keys)
        TRY(open_kind(key, f, settings->tokens));
    if (f->tokens != text->file[0].tokens)
        return ORR_FAIL(ORR_EFORMAT, "%s: %s holds %s, %s holds %s: expected one kind", key,
                        text->file[0].path, f->tokens ? "bytes" : "tokens", f->path,
                        f->tokens ? "tokens" : "bytes");
    text->vocab = f->tokens ? settings->vocab : GPT_TEXT_BYTES;
    text->count += f->count;
    return 0;
}

/* ---------------------------------------------------------------------------------- lists */

static int is_shown(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name); /* independent of the locale */
}

static int add_folder(struct gpt_text_files *text, const char *key, const char *folder,
                      const struct orr_text_settings *settings)
{
    struct dirent **entry = NULL;
    const int before = text->files, count = scandir(folder, &entry, is_shown, by_name);
    int rc = 0;
    if (count < 0)
        return ORR_FAIL(ORR_EIO, "%s: %s: cannot list: %s", key, folder, strerror(errno));
    for (int i = 0; i < count; i++) {
        char path[4096];
        struct stat info;
        if (!rc)
            rc = orr_path(path, "%s/%s", folder, entry[i]->d_name);
        if (!rc && !stat(path, &info) && S_ISREG(info.st_mode))
            rc = add_file(text, key, path, settings);
        free(entry[i]);
    }
    free(entry);
    if (!rc && text->files == before)
        rc =
            ORR_FAIL(ORR_EMISSING, "%s: %s: expected files in the folder, found none", key, folder);
    return rc;
}

static int compare_paths(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int add_pattern(struct gpt_text_files *text, const char *key, const char *pattern,
                       const struct orr_text_settings *settings)
{
    glob_t found;
    int rc = 0;
    const int failed = glob(pattern, GLOB_NOSORT, NULL, &found);
    if (failed == GLOB_NOMATCH)
        return ORR_FAIL(ORR_EMISSING, "%s: %s: no such file, folder or pattern", key, pattern);
    if (failed)
        return ORR_FAIL(ORR_EIO, "%s: %s: cannot list", key, pattern);
    qsort(found.gl_pathv, found.gl_pathc, sizeof *found.gl_pathv, compare_paths);
    for (size_t i = 0; i < found.gl_pathc && !rc; i++)
        rc = add_file(text, key, found.gl_pathv[i], settings);
    globfree(&found);
    return rc;
}

static int add_part(struct gpt_text_files *text, const char *key, const char *part,
                    const struct orr_text_settings *settings)
{
    struct stat info;
    if (is_made(part))
        return add_file(text, key, part, settings);
    if (stat(part, &info))
        return add_pattern(text, key, part, settings);
    return S_ISDIR(info.st_mode) ? add_folder(text, key, part, settings)
                                 : add_file(text, key, part, settings);
}

int gpt_text_files_open(struct gpt_text_files *text, const char *key, const char *paths,
                        const struct orr_text_settings *settings)
{
    memset(text, 0, sizeof *text);
    for (const char *from = paths;; from++) {
        char part[4096];
        const size_t length = strcspn(from, ",");
        if (length == 0)
            return ORR_FAIL(ORR_EUSAGE,
                            "%s: expected files, folders or patterns: a,b,c, found "
                            "\"%s\"",
                            key, paths);
        TRY(orr_path(part, "%.*s", (int)length, from));
        TRY(add_part(text, key, part, settings));
        from += length;
        if (!*from)
            return 0;
    }
}

void gpt_text_files_close(struct gpt_text_files *text)
{
    for (int i = 0; i < text->files; i++) {
        orr_file_unmap(text->file[i].map, text->file[i].map_bytes);
        free(text->file[i].path);
    }
    free(text->file);
    memset(text, 0, sizeof *text);
}

void gpt_text_tell(const struct gpt_text_files *text, const char *key, const char *paths,
                   bool quiet)
{
    const struct gpt_text_file *f = &text->file[0];
    const size_t looked = f->map_bytes < PIECE ? f->map_bytes : PIECE;
    const char *hint =
        !f->tokens && memchr(f->map, '\0', looked)
            ? " (with zeros among them, as bare tokens have: text.tokens=uint16 reads those)"
            : "";
    if (!text->keys)
        orr_note(quiet, "%s: %s: read as %s, vocabulary %d: %llu%s", key, paths,
                 f->tokens ? "tokens" : "bytes", text->vocab, (unsigned long long)text->count,
                 hint);
}

/* --------------------------------------------------------------------------------- tokens */

/* Token i of a file; negative tokens become large numbers. */
static uint64_t token_at(const struct gpt_text_file *f, uint64_t i)
{
    return (uint64_t)orr_integer_at(f->data, f->dtype, i);
}

/* Checks tokens at .. at + count - 1 of a file against the vocabulary. */
static int check_tokens(const struct gpt_text_file *f, uint64_t at, uint64_t count, int vocab)
{
    const uint64_t end = at + count;
    while (at < end && token_at(f, at) < (uint64_t)vocab)
        at++;
    if (at == end)
        return 0;
    const size_t before = (size_t)((const char *)f->data - (const char *)f->map);
    return ORR_FAIL(ORR_EFORMAT, "%s: at byte %llu: token %lld, expected one below text.vocab = %d",
                    f->path, (unsigned long long)(before + orr_dtype_size(f->dtype) * at),
                    (long long)token_at(f, at), vocab);
}

int gpt_text_check(const struct gpt_text_files *text, uint64_t most)
{
    for (int i = 0; i < text->files && text->file[i].first < most; i++) {
        const struct gpt_text_file *f = &text->file[i];
        const uint64_t left = most - f->first;
        if (f->tokens)
            TRY(check_tokens(f, 0, f->count < left ? f->count : left, text->vocab));
    }
    return 0;
}

/* The file that contains token `at`. */
static const struct gpt_text_file *file_at(const struct gpt_text_files *text, uint64_t at)
{
    int low = 0, high = text->files;
    while (high - low > 1) {
        const int middle = low + (high - low) / 2;
        if (text->file[middle].first <= at)
            low = middle;
        else
            high = middle;
    }
    return &text->file[low];
}

int gpt_text_copy(const struct gpt_text_files *text, uint64_t at, size_t count, uint16_t *out)
{
    if (at > text->count || count > text->count - at)
        return ORR_FAIL(ORR_EINVAL, "text: tokens %llu to %llu of %llu", (unsigned long long)at,
                        (unsigned long long)(at + count), (unsigned long long)text->count);
    while (count > 0) {
        const struct gpt_text_file *f = file_at(text, at);
        const uint64_t begin = at - f->first, left = f->count - begin;
        const size_t here = count < left ? count : (size_t)left;
        if (f->tokens)
            TRY(check_tokens(f, begin, here, text->vocab));
        for (size_t i = 0; i < here; i++)
            out[i] = (uint16_t)token_at(f, begin + i);
        at += here;
        out += here;
        count -= here;
    }
    return 0;
}

int gpt_text_hash(const struct gpt_text_files *text, uint64_t *hash)
{
    XXH64_state_t *state = XXH64_createState();
    uint16_t *piece = orr_alloc(PIECE, sizeof *piece);
    int rc = state && piece ? 0 : ORR_FAIL(ORR_ENOMEM, "text: out of memory");
    if (!rc)
        XXH64_reset(state, *hash);
    for (uint64_t at = 0; at < text->count && !rc; at += PIECE) {
        const uint64_t left = text->count - at;
        const size_t count = left < PIECE ? (size_t)left : PIECE;
        rc = orr_signal_seen() ? ORR_FAIL(ORR_EINTR, "stopped while reading the text")
                               : gpt_text_copy(text, at, count, piece);
        if (!rc)
            XXH64_update(state, piece, count * sizeof *piece);
    }
    if (!rc)
        *hash = XXH64_digest(state);
    XXH64_freeState(state);
    free(piece);
    return rc;
}
