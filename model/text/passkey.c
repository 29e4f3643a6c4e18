/* passkey.c - texts that hide a key among random words, generated in memory. Source: the
 * retrieval task of Mohtashami and Jaggi (2023), with words instead of sentences. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "text.h"
#include "model/source.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static const char *const words[] = {"grass ",  "is ",    "green ", "sky ", "blue ",  "sun ",
                                    "yellow ", "here ",  "we ",    "go ",  "there ", "and ",
                                    "back ",   "again ", "far ",   "moon "};
enum { WORDS = sizeof words / sizeof *words };

/* Fills text with random words; the last one is cut off. */
static void fill_words(gsl_rng *rng, int length, uint8_t *text)
{
    while (length > 0) {
        const char *word = words[gsl_rng_uniform_int(rng, WORDS)];
        const int letters = (int)strlen(word), taken = letters < length ? letters : length;
        memcpy(text, word, (size_t)taken);
        text += taken;
        length -= taken;
    }
}

static void make_record(gsl_rng *rng, int length, uint8_t *record)
{
    const int filler = length - (GPT_PASSKEY_LEAST - 1);
    const int before = (int)gsl_rng_uniform_int(rng, (unsigned long)filler + 1);
    uint8_t key[GPT_PASSKEY_DIGITS];
    for (int k = 0; k < GPT_PASSKEY_DIGITS; k++)
        key[k] = (uint8_t)('0' + gsl_rng_uniform_int(rng, 10));
    *record++ = '\n';
    fill_words(rng, before, record);
    record += before;
    *record++ = '{';
    memcpy(record, key, sizeof key);
    record += sizeof key;
    *record++ = '}';
    fill_words(rng, filler - before, record);
    record += filler - before;
    *record++ = '?';
    memcpy(record, key, sizeof key);
}

int gpt_passkey(uint64_t seed, uint64_t index, int length, uint8_t *record)
{
    gsl_rng *rng = orr_rng_create(seed, ORR_STAGE_PASSKEY, index);
    if (!rng)
        return ORR_ENOMEM;
    make_record(rng, length, record);
    gsl_rng_free(rng);
    return 0;
}

/* Draws a length from GPT_PASSKEY_LEAST to `longest`. The excess over the least is uniform below a
 * random power of two: short records teach that keys are repeated, long ones to search for them. */
static int draw_length(gsl_rng *rng, int longest)
{
    const unsigned long beyond = (unsigned long)(longest - GPT_PASSKEY_LEAST) + 1;
    unsigned long octaves = 0;
    while (octaves < 30 && 1ul << octaves < beyond)
        octaves++;
    const unsigned long end = 1ul << gsl_rng_uniform_int(rng, octaves + 1);
    return GPT_PASSKEY_LEAST + (int)gsl_rng_uniform_int(rng, end < beyond ? end : beyond);
}

int gpt_passkey_text(const char *key, const char *asked, struct gpt_text_file *file)
{
    enum { BYTES = 1 << 22 };
    long longest;
    if (!orr_whole(asked, GPT_PASSKEY_LEAST, 1 << 20, &longest))
        return ORR_FAIL(ORR_EUSAGE,
                        "%s: passkey:%s: expected passkey:N, records of at most N = %d to %d bytes",
                        key, asked, GPT_PASSKEY_LEAST, 1 << 20);
    gsl_rng *rng = orr_rng_create(0, ORR_STAGE_PASSKEY, 0);
    uint8_t *text = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (!rng || text == MAP_FAILED) {
        if (rng)
            gsl_rng_free(rng);
        return ORR_FAIL(ORR_ENOMEM, "%s: passkey:%s: out of memory", key, asked);
    }
    file->map = text;
    file->map_bytes = BYTES;
    int at = 0;
    for (;;) {
        const int length = draw_length(rng, (int)longest);
        if (length > BYTES - at)
            break;
        make_record(rng, length, text + at);
        at += length;
    }
    gsl_rng_free(rng);
    file->data = text;
    file->count = (uint64_t)at;
    return 0;
}
