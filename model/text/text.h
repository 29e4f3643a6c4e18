/* text.h - text as one sequence of tokens, mapped from files; inside model/ only.
 *
 * Kinds of files, recognised by their first bytes, all little endian. Token shards as written by
 * llm.c: a header of 256 int32 (magic, version, number of tokens, zeros), then the tokens:
 * uint16 (magic 20240520, version 1) or uint32 (magic 20240801, version 7). NumPy's .npy with
 * integers in one dimension. Files without such a header contain what text.tokens says: by
 * default bytes, where a token is a byte and the vocabulary has 256, or tokens without a header.
 * Several files form one text, in the order in which they are named; the division of a text into
 * files has no effect. */
#ifndef GPT_TEXT_H
#define GPT_TEXT_H

#include "model/forward.h"

enum { GPT_TEXT_BYTES = 256 };

struct gpt_text_file {
    char *path;
    void *map;
    size_t map_bytes;
    const void *data;      /* the first token */
    enum orr_dtype dtype;  /* type of tokens in the file: unsigned, or signed where .npy is */
    bool tokens;           /* tokens of the vocabulary text.vocab; false: bytes */
    uint64_t first, count; /* range of the file in the text, in tokens */
};
struct gpt_text_files {
    struct gpt_text_file *file; /* (files) */
    int files;
    int vocab;
    uint64_t count; /* tokens of all files */
    bool keys;      /* whether it is a text of passkeys */
};
/* Maps what `paths` names: files, folders (every file in them whose name does not begin with a
 * dot, by name) and patterns (*, ?, [...], by name), separated by commas. Of the settings,
 * `vocab` is the vocabulary of token files, and `tokens` is the content of files without a
 * header. Errors name `key` ("text.train") and the file: no file (ORR_EMISSING); an empty file,
 * a mixture of bytes and tokens, another version, a truncated shard, a file of llm.c without
 * tokens (ORR_EFORMAT). Call gpt_text_files_close() also after an error. */
int gpt_text_files_open(struct gpt_text_files *text, const char *key, const char *paths,
                        const struct orr_text_settings *settings);
/* Prints a line on the terminal that says how the files were read. */
void gpt_text_tell(const struct gpt_text_files *text, const char *key, const char *paths,
                   bool quiet);
void gpt_text_files_close(struct gpt_text_files *text);
/* Copies tokens at .. at + count - 1. A token outside the vocabulary: ORR_EFORMAT naming file and
 * byte offset. */
int gpt_text_copy(const struct gpt_text_files *text, uint64_t at, size_t count, uint16_t *out);
/* Searches the first `most` tokens for tokens outside the vocabulary; later ones are checked
 * when they are copied. */
int gpt_text_check(const struct gpt_text_files *text, uint64_t most);
/* *hash = XXH64 of all tokens, with *hash on entry as its seed; it does not depend on the
 * division into files. */
int gpt_text_hash(const struct gpt_text_files *text, uint64_t *hash);

/* The generated text "passkey:N": 4 MiB of records (gpt_passkey in source.h) of at least
 * GPT_PASSKEY_LEAST and at most N bytes, always equal; `asked` is N. ORR_EUSAGE naming `key`. */
int gpt_passkey_text(const char *key, const char *asked, struct gpt_text_file *file);

/* Vocabulary of a text preset. */
int gpt_text_vocab(const struct orr_settings *settings, int *vocab);

/* One split of a text, for gpt_source. */
struct gpt_text;
int gpt_text_open(struct gpt_text **text, const struct orr_settings *settings, bool held_out);
void gpt_text_close(struct gpt_text *text);
/* Number of sequences in order; 0: no text is held out. */
long gpt_text_sequences(const struct gpt_text *text);
/* Tokens of sequence i, valid until the next call. */
int gpt_text_sequence(struct gpt_text *text, uint64_t i, const uint16_t **tokens);
/* Offset of draw d from the text's first token. */
uint64_t gpt_text_draw(const struct gpt_text *text, uint64_t seed, uint64_t d);
int gpt_text_fill(struct gpt_text *text, uint64_t first, bool in_order, uint64_t seed,
                  struct gpt_batch *batch);

#endif
