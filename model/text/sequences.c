/* sequences.c - windows of a text: random ones for training, all in order for validation. */
#include "text.h"
#include "model/source.h"

#include <stdlib.h>
#include <string.h>

enum { CHECKED_AT_ONCE = 1 << 27 }; /* tokens checked together: 256 MB of a shard */

/* One split: tokens first .. first + count - 1 of the files. */
struct gpt_text {
    struct gpt_text_files files;
    uint64_t first, count;
    int positions;
    uint16_t *window; /* (positions) */
};

int gpt_text_vocab(const struct orr_settings *settings, int *vocab)
{
    struct gpt_text_files files;
    const int rc = gpt_text_files_open(&files, "text.train", settings->text.train, &settings->text);
    *vocab = files.vocab;
    gpt_text_files_close(&files);
    return rc;
}

int gpt_text_content(const struct orr_settings *settings, bool quiet, uint64_t *content)
{
    const struct orr_text_settings *p = &settings->text;
    const char *const keys[] = {"text.train", "text.val"}, *const paths[] = {p->train, p->val};
    int rc = 0;
    *content = 0;
    for (int i = 0; i < 2 && !rc; i++) {
        struct gpt_text_files files;
        if (!*paths[i])
            continue;
        rc = gpt_text_files_open(&files, keys[i], paths[i], p);
        if (!rc)
            gpt_text_tell(&files, keys[i], paths[i], quiet);
        if (!rc)
            rc = gpt_text_hash(&files, content);
        gpt_text_files_close(&files);
    }
    return rc;
}

/* Chooses the tokens of a split. Training text ends where the held-out part begins, so that no
 * window crosses the border. */
static void choose_part(struct gpt_text *t, const struct orr_text_settings *p, bool held_out)
{
    const uint64_t all = t->files.count;
    const bool cut = !*p->val;
    const uint64_t trained = cut ? (uint64_t)((1 - p->val_fraction) * (double)all) : all;
    t->first = cut && held_out ? trained : 0;
    t->count = cut ? (held_out ? all - trained : trained) : all;
}

static int check_part(const struct gpt_text *t, const struct orr_text_settings *p, bool held_out,
                      int vocab)
{
    const char *key = held_out && *p->val ? "text.val" : "text.train";
    if (t->files.vocab != vocab)
        return ORR_FAIL(ORR_EINVAL,
                        "%s: %s: a vocabulary of %d, that of text.train is %d: expected "
                        "one kind of file",
                        key, p->val, t->files.vocab, vocab);
    if (held_out && !*p->val && p->val_fraction <= 0)
        return 0; /* nothing is held out */
    if (t->count < (uint64_t)t->positions)
        return ORR_FAIL(ORR_EINVAL,
                        "%s: %s: expected at least text.positions = %d tokens %s, found %llu", key,
                        t->files.file[0].path, t->positions, held_out ? "held out" : "to train on",
                        (unsigned long long)t->count);
    return 0;
}

static int open_text(struct gpt_text *t, const struct orr_settings *settings, bool held_out)
{
    const struct orr_text_settings *p = &settings->text;
    const bool own = held_out && *p->val;
    int vocab;
    TRY(gpt_text_vocab(settings, &vocab));
    TRY(gpt_text_files_open(&t->files, own ? "text.val" : "text.train", own ? p->val : p->train,
                            p));
    t->positions = p->positions;
    choose_part(t, p, held_out);
    TRY(check_part(t, p, held_out, vocab));
    TRY(gpt_text_check(&t->files, CHECKED_AT_ONCE));
    t->window = orr_alloc((size_t)t->positions, sizeof *t->window);
    return t->window ? 0 : ORR_ENOMEM;
}

int gpt_text_open(struct gpt_text **text, const struct orr_settings *settings, bool held_out)
{
    struct gpt_text *t = calloc(1, sizeof *t);
    if (!t)
        return ORR_FAIL(ORR_ENOMEM, "text: out of memory");
    const int rc = open_text(t, settings, held_out);
    if (rc)
        gpt_text_close(t);
    else
        *text = t;
    return rc;
}

void gpt_text_close(struct gpt_text *text)
{
    if (!text)
        return;
    gpt_text_files_close(&text->files);
    free(text->window);
    free(text);
}

long gpt_text_sequences(const struct gpt_text *text)
{
    return text->count < (uint64_t)text->positions
               ? 0
               : (long)((text->count - 1) / (uint64_t)(text->positions - 1));
}

uint64_t gpt_text_draw(const struct gpt_text *text, uint64_t seed, uint64_t d)
{
    const uint64_t starts = text->count - (uint64_t)text->positions + 1;
    return text->first + orr_rng_hash(seed, ORR_STAGE_SHUFFLE, 0, d) % starts;
}

/* First token of sequence i. Sequences share one token: the last target of one is the first
 * input of the next. */
static uint64_t start_of(const struct gpt_text *text, uint64_t i)
{
    const uint64_t count = (uint64_t)gpt_text_sequences(text);
    return text->first + i % (count ? count : 1) * (uint64_t)(text->positions - 1);
}

int gpt_text_sequence(struct gpt_text *text, uint64_t i, const uint16_t **tokens)
{
    *tokens = text->window;
    return gpt_text_copy(&text->files, start_of(text, i), (size_t)text->positions, text->window);
}

/* Sets the weights of targets: 1, except in a text of passkeys, where only the digits of a
 * requested key count, if the window also shows the key. */
static void weigh_rows(const struct gpt_text *text, real *weight)
{
    const int T = text->positions - 1;
    bool shown = false;
    int asked = 0; /* digits still to come */
    for (int t = 0; t < T; t++) {
        if (text->window[t] == '\n')
            shown = false;
        if (text->window[t] == '{')
            shown = true;
        if (text->window[t] == '?' && shown)
            asked = GPT_PASSKEY_DIGITS;
        weight[t] = !text->files.keys || asked > 0;
        asked -= asked > 0;
    }
}

int gpt_text_fill(struct gpt_text *text, uint64_t first, bool in_order, uint64_t seed,
                  struct gpt_batch *batch)
{
    const size_t T = (size_t)batch->T;
    if (T + 1 != (size_t)text->positions)
        return ORR_FAIL(ORR_EINVAL,
                        "text: a batch of %zu positions, expected text.positions - 1 = "
                        "%d",
                        T, text->positions - 1);
    if (gpt_text_sequences(text) < 1)
        return ORR_FAIL(ORR_EINVAL, "text: no text is held out (text.val, text.val_fraction)");
    for (size_t b = 0; b < (size_t)batch->B; b++) {
        const uint64_t d = first + b;
        const uint64_t at = in_order ? start_of(text, d) : gpt_text_draw(text, seed, d);
        TRY(gpt_text_copy(&text->files, at, T + 1, text->window));
        memcpy(batch->tokens + b * T, text->window, T * sizeof *batch->tokens);
        memcpy(batch->target_tokens + b * T, text->window + 1, T * sizeof *batch->target_tokens);
        weigh_rows(text, batch->weight + b * T);
    }
    return 0;
}
