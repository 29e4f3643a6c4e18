/* fuzz_shard.c - any bytes as text, with token shards of llm.c, .npy and bare tokens among them:
 * tokens below the vocabulary, or an error; never more. The first byte is the vocabulary (times
 * 8), and its highest bits say what files without a header hold. */
#include <string.h>

#include "fuzz.h"
#include "model/text/text.h"

FUZZ_TARGET(shard)
{
    char path[4096];
    struct gpt_text_files text;
    uint16_t token[64];
    uint64_t hash = 1;
    if (size < 1)
        return 0;
    const struct orr_text_settings settings = {.vocab = 8 * bytes[0],
                                               .tokens = (enum orr_tokens)(bytes[0] >> 6)};
    fuzz_file(path, "a.bin", bytes + 1, size - 1);
    const int rc = gpt_text_files_open(&text, "text.train", path, &settings);
    FUZZ_EXPECT(!rc || *orr_error());
    if (!rc) {
        FUZZ_EXPECT(text.files == 1 && text.count > 0 && text.count < size);
        const bool sound = !gpt_text_check(&text, text.count);
        for (uint64_t at = 0; at < text.count; at += 64) {
            const size_t left = (size_t)(text.count - at), count = left < 64 ? left : 64;
            if (!gpt_text_copy(&text, at, count, token))
                for (size_t i = 0; i < count; i++)
                    FUZZ_EXPECT(token[i] < text.vocab);
            else
                FUZZ_EXPECT(!sound);
        }
        FUZZ_EXPECT(gpt_text_copy(&text, text.count, 1, token) != 0);
        FUZZ_EXPECT(!gpt_text_hash(&text, &hash) == sound);
    }
    gpt_text_files_close(&text);
    return 0;
}
