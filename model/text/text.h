/* text.h - text as one long row of tokens, mapped from files; inside model/ only.
 *
 * Kinds of files, told apart by their first bytes, all little endian. Token shards as llm.c writes
 * them: a header of 256 int32 (magic, version, number of tokens, zeros), then the tokens: uint16
 * (magic 20240520, version 1) or uint32 (magic 20240801, version 7). NumPy's .npy of whole numbers
 * in one dimension. Files without such a header are what text.tokens says: bytes, unless it says
 * otherwise, where a token is a byte and the vocabulary 256, or bare tokens. Several files are one
 * text, in the order in which they are named; how a text is cut into files changes nothing. */
#ifndef GPT_TEXT_H
#define GPT_TEXT_H

#include "model/forward.h"

enum { GPT_TEXT_BYTES = 256 };

struct gpt_text_file {
    char *path;
    void *map;
    size_t map_bytes;
    const void *data;      /* the first token */
    enum orr_dtype dtype;  /* of tokens in the file: unsigned, or signed where .npy has it so */
    bool tokens;           /* of the vocabulary text.vocab; false: bytes */
    uint64_t first, count; /* place in the text, tokens */
};
struct gpt_text_files {
    struct gpt_text_file *file; /* (files) */
    int files;
    int vocab;
    uint64_t count; /* tokens of all files */
    bool keys;      /* a text of passkeys */
};
/* Maps what `paths` names: files, folders (every file in them whose name does not begin with a
 * dot, by name) and patterns (*, ?, [...], by name), separated by commas. Of the settings, vocab
 * is that of tokens, and `tokens` says what files without a header hold. Errors name `key`
 * ("text.train") and the file: nothing there (ORR_EMISSING), an empty file, a mixture of bytes
 * and tokens, another version, a truncated shard, a file of llm.c that is no tokens
 * (ORR_EFORMAT). Close also after an error. */
int gpt_text_files_open(struct gpt_text_files *text, const char *key, const char *paths,
                        const struct orr_text_settings *settings);
/* A line on the terminal: what the files were read as. */
void gpt_text_tell(const struct gpt_text_files *text, const char *key, const char *paths,
                   bool quiet);
void gpt_text_files_close(struct gpt_text_files *text);
/* Copies tokens at .. at + count - 1. A token outside the vocabulary: ORR_EFORMAT naming file and
 * byte offset. */
int gpt_text_copy(const struct gpt_text_files *text, uint64_t at, size_t count, uint16_t *out);
/* Looks for tokens outside the vocabulary in the first `most` tokens; later ones are checked when
 * they are copied. */
int gpt_text_check(const struct gpt_text_files *text, uint64_t most);
/* *hash = XXH64 of all tokens, seeded by what it was: how a text is cut into files is no part of
 * it. */
int gpt_text_hash(const struct gpt_text_files *text, uint64_t *hash);

/* The text "passkey:N" in the place of a file: 4 MiB of records (gpt_passkey in gpt.h) of at least
 * GPT_PASSKEY_LEAST and at most N bytes, always the same; `asked` is N. ORR_EUSAGE naming `key`. */
int gpt_passkey_text(const char *key, const char *asked, struct gpt_text_file *file);

/* Vocabulary of a text preset. */
int gpt_text_vocab(const struct orr_settings *preset, int *vocab);

/* One split of a text: what gpt_source does with it. */
struct gpt_text;
int gpt_text_open(struct gpt_text **text, const struct orr_settings *preset, bool held_out);
void gpt_text_close(struct gpt_text *text);
/* Sequences in order; 0: no text is held out. */
long gpt_text_sequences(const struct gpt_text *text);
/* Tokens of sequence i, valid until the next call. */
int gpt_text_sequence(struct gpt_text *text, uint64_t i, const uint16_t **tokens);
/* Where draw d begins, from the text's first token. */
uint64_t gpt_text_draw(const struct gpt_text *text, uint64_t seed, uint64_t d);
int gpt_text_fill(struct gpt_text *text, uint64_t first, bool in_order, uint64_t seed,
                  struct gpt_batch *batch);

#endif
