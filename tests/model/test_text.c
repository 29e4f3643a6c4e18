/* test_text.c - text as a source: files and shards, windows, what is held out, the model of it. */
#include "on_ref.h"
#include "tiny.h"

#include "model/text/text.h"

static char *const dir = scratch_dir;
enum { LONG = 1000, VOCAB = 300 };
static const struct orr_text_settings settings = {.vocab = VOCAB};

/* Bytes n of a fixed text; 32..95, so that neither magic nor NUL occurs. */
static uint8_t byte_at(uint64_t n)
{
    return (uint8_t)(32 + tiny_uniform(5, n) * 64);
}

static void write_bytes(const char *name, uint64_t first, size_t count, char path[4096])
{
    uint8_t text[LONG];
    for (size_t i = 0; i < count; i++)
        text[i] = byte_at(first + i);
    scratch_path(path, dir, name);
    scratch_write(path, text, count);
}

/* A shard of tokens (7 n) mod VOCAB, n = first, ...; the header may lie. */
static void write_shard(const char *name, uint64_t first, size_t count, const int32_t start[3],
                        char path[4096])
{
    static struct {
        int32_t header[256];
        uint16_t token[LONG];
    } shard;
    memset(&shard, 0, sizeof shard);
    memcpy(shard.header, start, 3 * sizeof *start);
    for (size_t i = 0; i < count; i++)
        shard.token[i] = (uint16_t)(7 * (first + i) % VOCAB);
    scratch_path(path, dir, name);
    scratch_write(path, &shard, sizeof shard.header + 2 * count);
}

static void good_shard(const char *name, uint64_t first, size_t count, char path[4096])
{
    write_shard(name, first, count, (int32_t[]){20240520, 1, (int32_t)count}, path);
}

static struct orr_settings text_preset(const char *train, const char *val, int positions)
{
    struct orr_settings p;
    orr_settings_defaults(&p);
    p.seed = 9;
    p.text.positions = positions;
    p.text.vocab = VOCAB;
    assert_true(strlen(train) < ORR_PATHS && strlen(val) < ORR_PATHS);
    strcpy(p.text.train, train);
    strcpy(p.text.val, val);
    p.model.layers = 1;
    p.model.heads = 2;
    p.model.width = 8;
    return p;
}

/* ---------------------------------------------------------------------------------- files */

/* Any piece of the text, over the borders of its files. */
static void check_text(const char *paths, uint64_t count, bool shards)
{
    struct gpt_text_files text;
    uint16_t piece[40];
    assert_int_equal(gpt_text_files_open(&text, "text.train", paths, &settings), 0);
    assert_int_equal(text.count, count);
    assert_int_equal(text.vocab, shards ? VOCAB : 256);
    for (uint64_t at = 0; at + 40 <= count; at++) {
        assert_int_equal(gpt_text_copy(&text, at, 40, piece), 0);
        for (uint64_t i = 0; i < 40; i++)
            assert_int_equal(piece[i], shards ? 7 * (at + i) % VOCAB : byte_at(at + i));
    }
    assert_int_equal(gpt_text_copy(&text, count - 39, 40, piece), ORR_EINVAL);
    gpt_text_files_close(&text);
}

static uint64_t hash_of(const char *paths)
{
    struct gpt_text_files text;
    uint64_t value = 0;
    assert_int_equal(gpt_text_files_open(&text, "text.train", paths, &settings), 0);
    assert_int_equal(gpt_text_hash(&text, &value), 0);
    gpt_text_files_close(&text);
    return value;
}

TEST(test_files)
{
    char whole[4096], folder[4096], part[4096], list[ORR_PATHS];
    write_bytes("whole.txt", 0, 400, whole);
    check_text(whole, 400, false);
    scratch_path(folder, dir, "parts");
    assert_int_equal(orr_mkdir(folder), 0);
    write_bytes("parts/b", 100, 1, part);
    write_bytes("parts/a", 0, 100, part);
    write_bytes("parts/c", 101, 299, part);
    write_bytes("parts/.hidden", 0, 10, part);
    check_text(folder, 400, false);
    check_text(scratch_at(dir, "parts/[a-c]"), 400, false);
    snprintf(list, sizeof list, "%s/parts/a,%s/parts/b,%s/parts/c", dir, dir, dir);
    check_text(list, 400, false);
    assert_true(hash_of(whole) == hash_of(folder));
    write_bytes("whole.txt", 0, 401, whole);
    assert_true(hash_of(whole) != hash_of(folder));
    write_bytes("whole.txt", 1, 400, whole);
    assert_true(hash_of(whole) != hash_of(folder));

    good_shard("s_1.bin", 0, 250, whole);
    check_text(whole, 250, true);
    good_shard("s_2.bin", 250, 130, part);
    check_text(scratch_at(dir, "s_*.bin"), 380, true);
}

/* The tokens of good_shard() as other programs write them. */
enum other { LLAMA, NPY_U16, NPY_I64, BARE_16, BARE_32, OTHERS };

static void write_other(enum other kind, size_t count, char path[4096])
{
    static struct {
        int32_t header[256];
        uint32_t token[LONG];
    } shard = {.header = {20240801, 7}};
    static uint16_t narrow[LONG];
    static int64_t wide[LONG];
    for (size_t i = 0; i < count; i++) {
        shard.token[i] = narrow[i] = (uint16_t)(7 * i % VOCAB);
        wide[i] = narrow[i];
    }
    shard.header[2] = (int32_t)count;
    scratch_path(path, dir, "other");
    if (kind == LLAMA)
        scratch_write(path, &shard, sizeof shard.header + 4 * count);
    else if (kind == BARE_16)
        scratch_write(path, narrow, 2 * count);
    else if (kind == BARE_32)
        scratch_write(path, shard.token, 4 * count);
    else
        assert_int_equal(orr_npy_write(path, kind == NPY_U16 ? ORR_U16 : ORR_I64, 1, &count,
                                       kind == NPY_U16 ? (void *)narrow : wide, NULL),
                         0);
}

static enum orr_tokens tokens_of(enum other kind)
{
    return kind == BARE_16 ? ORR_TOKENS_UINT16 : kind == BARE_32 ? ORR_TOKENS_UINT32 : 0;
}

/* One text, whoever wrote it; read as bytes where that is asked for. */
TEST(test_other_tokens)
{
    char path[4096];
    struct gpt_text_files text;
    uint16_t piece[250];
    good_shard("ours.bin", 0, 250, path);
    const uint64_t hash = hash_of(path);
    for (enum other kind = 0; kind < OTHERS; kind++) {
        struct orr_text_settings p = {.vocab = VOCAB, .tokens = tokens_of(kind)};
        uint64_t found = 0;
        write_other(kind, 250, path);
        assert_int_equal(gpt_text_files_open(&text, "text.train", path, &p), 0);
        assert_int_equal(text.count, 250);
        assert_int_equal(text.vocab, VOCAB);
        assert_int_equal(gpt_text_copy(&text, 0, 250, piece), 0);
        for (uint64_t i = 0; i < 250; i++)
            assert_int_equal(piece[i], 7 * i % VOCAB);
        assert_int_equal(gpt_text_hash(&text, &found), 0);
        assert_true(found == hash);
        gpt_text_files_close(&text);
        p.tokens = ORR_TOKENS_BYTES;
        assert_int_equal(gpt_text_files_open(&text, "text.train", path, &p), 0);
        assert_int_equal(text.vocab, 256);
        assert_true(text.count >= 500);
        gpt_text_files_close(&text);
    }
}

static void refused(const char *paths, int code, const char *named, const char *said)
{
    struct gpt_text_files text;
    orr_error_clear();
    assert_int_equal(gpt_text_files_open(&text, "text.val", paths, &settings), code);
    error_names("text.val", named, said, NULL);
    gpt_text_files_close(&text);
}

TEST(test_bad_files)
{
    char path[4096], other[4096], list[2 * 64 + 32];
    scratch_path(path, dir, "nothing.txt");
    refused(path, ORR_EMISSING, path, "no such file");
    refused("", ORR_EUSAGE, "files", "found");
    refused("a,,b", ORR_EMISSING, "a", "no such");
    write_bytes("empty.txt", 0, 0, path);
    refused(path, ORR_EFORMAT, path, "empty");
    scratch_path(path, dir, "no_files");
    assert_int_equal(orr_mkdir(path), 0);
    refused(path, ORR_EMISSING, path, "found none");
    write_shard("v.bin", 0, 50, (int32_t[]){20240520, 2, 50}, path);
    refused(path, ORR_EFORMAT, path, "at byte 4: expected version 1, found 2");
    write_shard("v.bin", 0, 50, (int32_t[]){20240520, 1, 51}, path);
    refused(path, ORR_EFORMAT, path, "51 tokens are 1126 bytes with the header, found 1124");
    write_shard("v.bin", 0, 50, (int32_t[]){20240520, 1, 49}, path);
    refused(path, ORR_EFORMAT, path, "49 tokens");
    write_shard("v.bin", 0, 50, (int32_t[]){20240520, 1, -1}, path);
    refused(path, ORR_EFORMAT, path, "-1 tokens");
    scratch_write(path, (int32_t[]){20240520, 1, 0}, 12);
    refused(path, ORR_EFORMAT, path, "1024 bytes, found 12");
    write_shard("v.bin", 0, 50, (int32_t[]){20240801, 1, 25}, path);
    refused(path, ORR_EFORMAT, path, "at byte 4: expected version 7, found 1");
    write_shard("v.bin", 0, 50, (int32_t[]){20240801, 7, 24}, path);
    refused(path, ORR_EFORMAT, path, "24 tokens are 1120 bytes with the header, found 1124");
    write_shard("v.bin", 0, 50, (int32_t[]){20240522, 1, 50}, path);
    refused(path, ORR_EFORMAT, path, "an evaluation set with choices of llm.c");
    write_shard("v.bin", 0, 50, (int32_t[]){20240326, 3, 50}, path);
    refused(path, ORR_EFORMAT, path, "a model of llm.c");
    assert_int_equal(orr_npy_write(path, ORR_F32, 1, (size_t[]){2}, "01234567", NULL), 0);
    refused(path, ORR_EFORMAT, path, "found <f4 in 1");
    assert_int_equal(orr_npy_write(path, ORR_U16, 2, (size_t[]){2, 2}, "01234567", NULL), 0);
    refused(path, ORR_EFORMAT, path, "one dimension, found <u2 in 2");
    assert_int_equal(orr_npy_write(path, ORR_U16, 1, (size_t[]){0}, "", NULL), 0);
    refused(path, ORR_EFORMAT, path, "empty");
    scratch_write(path, "\x93NUMPY and more", 16);
    refused(path, ORR_EFORMAT, "text.val", path);
    good_shard("good.bin", 0, 50, path);
    write_bytes("good.txt", 0, 50, other);
    snprintf(list, sizeof list, "%s/good.bin,%s/good.txt", dir, dir);
    refused(list, ORR_EFORMAT, "good.txt", "one kind");
}

/* A token outside the vocabulary, at once or where it is read. */
TEST(test_large_token)
{
    char path[4096];
    struct gpt_text_files text;
    uint16_t piece[60];
    good_shard("large.bin", 0, 60, path); /* token 42 is 294, the largest */
    assert_int_equal(
        gpt_text_files_open(&text, "text.train", path, &(struct orr_text_settings){.vocab = 295}),
        0);
    assert_int_equal(gpt_text_check(&text, UINT64_MAX), 0);
    gpt_text_files_close(&text);
    assert_int_equal(
        gpt_text_files_open(&text, "text.train", path, &(struct orr_text_settings){.vocab = 294}),
        0);
    assert_int_equal(gpt_text_check(&text, 42), 0);
    assert_int_equal(gpt_text_copy(&text, 0, 42, piece), 0);
    assert_int_equal(gpt_text_check(&text, 43), ORR_EFORMAT);
    error_names(path, "at byte 1108", "token 294", "text.vocab = 294", NULL);
    assert_int_equal(gpt_text_copy(&text, 40, 3, piece), ORR_EFORMAT);
    error_names(path, "at byte 1108", NULL);
    gpt_text_files_close(&text);
    static const char *const place[OTHERS] = {"at byte 1192", "at byte 212", "at byte 464",
                                              "at byte 84", "at byte 168"};
    for (enum other kind = 0; kind < OTHERS; kind++) {
        const struct orr_text_settings p = {.vocab = 294, .tokens = tokens_of(kind)};
        write_other(kind, 60, path);
        assert_int_equal(gpt_text_files_open(&text, "text.train", path, &p), 0);
        assert_int_equal(gpt_text_check(&text, UINT64_MAX), ORR_EFORMAT);
        error_names(path, place[kind], "token 294", NULL);
        gpt_text_files_close(&text);
    }
    /* above 65535, and below 0: not cut to 16 bits */
    assert_int_equal(orr_npy_write(path, ORR_I32, 1, (size_t[]){2}, (int32_t[]){1 << 16, 5}, NULL),
                     0);
    assert_int_equal(gpt_text_files_open(&text, "text.train", path, &settings), 0);
    assert_int_equal(gpt_text_copy(&text, 0, 2, piece), ORR_EFORMAT);
    error_names(path, "token 65536", NULL);
    gpt_text_files_close(&text);
    assert_int_equal(orr_npy_write(path, ORR_I32, 1, (size_t[]){2}, (int32_t[]){5, -3}, NULL), 0);
    assert_int_equal(gpt_text_files_open(&text, "text.train", path, &settings), 0);
    assert_int_equal(gpt_text_copy(&text, 0, 2, piece), ORR_EFORMAT);
    error_names(path, "token -3", NULL);
    gpt_text_files_close(&text);
    scratch_write(path, "12345", 5);
    const struct orr_text_settings odd = {.vocab = VOCAB, .tokens = ORR_TOKENS_UINT16};
    assert_int_equal(gpt_text_files_open(&text, "text.train", path, &odd), ORR_EFORMAT);
    error_names(path, "tokens of 2 bytes, found 5 bytes", NULL);
    gpt_text_files_close(&text);
}

/* ------------------------------------------------------------------------------- sources */

static struct gpt_source *open_source(const struct orr_settings *p, enum sim_split split,
                                      struct gpt_config *config)
{
    struct gpt_source *source;
    assert_int_equal(gpt_config_from_preset(config, p, "softmax", p->text.positions), 0);
    assert_int_equal(gpt_source_open(&source, p, NULL, split, config), 0);
    return source;
}

/* In order, every token but the first is a target once, after the token before it. */
TEST(test_in_order)
{
    char path[4096];
    struct gpt_config c;
    struct gpt_batch batch;
    write_bytes("order.txt", 0, 100, path);
    struct orr_settings p = text_preset(path, path, 12); /* 99 = 9 x 11 targets */
    struct gpt_source *source = open_source(&p, SIM_SPLIT_VAL, &c);
    assert_int_equal(gpt_source_count(source), 9);
    assert_int_equal(gpt_batch_create(&batch, &c, 9, c.context), 0);
    assert_int_equal(batch.T, 11);
    assert_int_equal(gpt_source_fill(source, 0, true, 0, 0, &batch), 0);
    for (uint64_t n = 0; n < 99; n++) {
        assert_int_equal(batch.tokens[n], byte_at(n));
        assert_int_equal(batch.target_tokens[n], byte_at(n + 1));
        assert_true(batch.weight[n] == 1);
    }
    for (uint64_t i = 0; i < 9; i++) {
        const uint16_t *tokens;
        const float *coords;
        int bodies;
        assert_int_equal(gpt_source_sequence(source, i, &tokens, &coords, &bodies), 0);
        assert_null(coords);
        for (uint64_t t = 0; t < 12; t++)
            assert_int_equal(tokens[t], byte_at(11 * i + t));
    }
    batch.T = 10; /* of another length */
    assert_int_equal(gpt_source_fill(source, 0, true, 0, 0, &batch), ORR_EINVAL);
    gpt_batch_free(&batch);
    gpt_source_close(source);
}

/* A draw depends on seed and number alone; every place of the training text is drawn. */
TEST(test_draws)
{
    enum { P = 5, N = 30, DRAWS = 4000 };
    char path[4096];
    struct gpt_text *text;
    struct gpt_config c;
    struct gpt_batch one, four;
    int drawn[N] = {0}, other = 0;
    write_bytes("draws.txt", 0, N, path);
    struct orr_settings p = text_preset(path, path, P);
    assert_int_equal(gpt_text_open(&text, &p, false), 0);
    for (uint64_t d = 0; d < DRAWS; d++) {
        const uint64_t at = gpt_text_draw(text, 3, d);
        assert_true(at <= N - P);
        drawn[at]++;
        other += gpt_text_draw(text, 4, d) != at;
    }
    for (int at = 0; at <= N - P; at++) /* 154 expected, spread 12 */
        assert_in_range(drawn[at], 90, 220);
    assert_true(other > DRAWS / 2);
    struct gpt_source *source = open_source(&p, SIM_SPLIT_TRAIN, &c);
    assert_int_equal(gpt_batch_create(&four, &c, 4, P - 1), 0);
    assert_int_equal(gpt_batch_create(&one, &c, 1, P - 1), 0);
    assert_int_equal(gpt_source_fill(source, 100, false, 0, 3, &four), 0);
    for (uint64_t b = 4; b-- > 0;) { /* backwards: nothing depends on what was drawn before */
        const uint64_t at = gpt_text_draw(text, 3, 100 + b);
        assert_int_equal(gpt_source_fill(source, 100 + b, false, 0, 3, &one), 0);
        assert_memory_equal(one.tokens, four.tokens + b * (P - 1), sizeof(uint16_t) * (P - 1));
        for (uint64_t t = 0; t < P - 1; t++) {
            assert_int_equal(one.tokens[t], byte_at(at + t));
            assert_int_equal(one.target_tokens[t], byte_at(at + t + 1));
        }
    }
    gpt_batch_free(&one);
    gpt_batch_free(&four);
    gpt_source_close(source);
    gpt_text_close(text);
}

/* Training never sees the held-out part, not even as a target; together they are the text. */
TEST(test_held_out)
{
    enum { P = 9, N = 400 };
    char path[4096], bytes[N];
    struct gpt_config c;
    struct gpt_batch batch;
    for (int i = 0; i < N; i++)
        bytes[i] = i < 300 ? 'a' : i == 300 ? 'F' : 'b';
    bytes[299] = 'L'; /* the last that is trained on, the first that is not */
    scratch_path(path, dir, "cut.txt");
    scratch_write(path, bytes, N);
    struct orr_settings p = text_preset(path, "", P);
    p.text.val_fraction = 0.25;
    struct gpt_source *train = open_source(&p, SIM_SPLIT_TRAIN, &c);
    struct gpt_source *val = open_source(&p, SIM_SPLIT_VAL, &c);
    assert_int_equal(gpt_source_count(val), (100 - 1) / (P - 1));
    assert_int_equal(gpt_batch_create(&batch, &c, 3000, P - 1), 0);
    assert_int_equal(gpt_source_fill(train, 0, false, 0, 1, &batch), 0);
    int last = 0;
    for (size_t n = 0; n < 3000 * (P - 1); n++) {
        assert_true(batch.tokens[n] == 'a'); /* L is a target only, at the end of a window */
        assert_true(batch.target_tokens[n] == 'a' || batch.target_tokens[n] == 'L');
        last += batch.target_tokens[n] == 'L';
    }
    assert_true(last > 0);
    batch.B = 12;
    assert_int_equal(gpt_source_fill(val, 0, true, 0, 1, &batch), 0);
    assert_int_equal(batch.tokens[0], 'F');
    for (size_t n = 1; n < 12 * (P - 1); n++)
        assert_int_equal(batch.tokens[n], 'b');
    gpt_batch_free(&batch);
    gpt_source_close(train);
    gpt_source_close(val);

    p.text.val_fraction = 0; /* all of it trained on, nothing to validate with */
    val = open_source(&p, SIM_SPLIT_VAL, &c);
    assert_int_equal(gpt_source_count(val), 0);
    gpt_source_close(val);
}

static void source_refused(const struct orr_settings *p, enum sim_split split, const char *key,
                           const char *said)
{
    struct gpt_config c = tiny_text(1);
    struct gpt_source *source = NULL;
    orr_error_clear();
    assert_true(gpt_source_open(&source, p, NULL, split, &c) != 0);
    error_names(key, said, NULL);
}

TEST(test_bad_sources)
{
    char path[4096], other[4096], shard[4096];
    write_bytes("short.txt", 0, 100, path);
    write_bytes("few.txt", 0, 19, other);
    good_shard("kind.bin", 0, 100, shard);
    struct orr_settings p = text_preset(path, "", 91); /* 90 train, 10 are held out */
    source_refused(&p, SIM_SPLIT_TRAIN, "text.train", "text.positions = 91");
    p.text.positions = 11;
    source_refused(&p, SIM_SPLIT_VAL, "text.train", "held out, found 10");
    p = text_preset(path, other, 20);
    source_refused(&p, SIM_SPLIT_VAL, "text.val", "held out, found 19");
    p = text_preset(path, shard, 20);
    source_refused(&p, SIM_SPLIT_VAL, "text.val", "vocabulary of 300");
    p = text_preset(shard, "", 20);
    p.text.vocab = 200;
    source_refused(&p, SIM_SPLIT_TRAIN, "kind.bin", "below text.vocab = 200");
}

/* --------------------------------------------------------------------------------- models */

static size_t count_of(const struct gpt_config *c)
{
    const size_t C = (size_t)c->width, F = (size_t)c->ffn, V = (size_t)c->vocab;
    const size_t block = 4 * C * C + 2 * C * F + 9 * C + F;
    const size_t position = c->positions == ORR_POSITIONS_LEARNED ? (size_t)c->context * C : 0;
    return V * C + position + (size_t)c->layers * block + 2 * C + (c->tied ? 0 : V * C);
}

TEST(test_config)
{
    char path[4096], shard[4096];
    struct gpt_config c;
    struct gpt_model model, own;
    write_bytes("config.txt", 0, 100, path);
    good_shard("config.bin", 0, 100, shard);
    struct orr_settings p = text_preset(path, "", 21);
    assert_int_equal(gpt_config_from_preset(&c, &p, "lssar", 21), 0);
    assert_true(c.input == GPT_INPUT_TEXT && c.head == GPT_HEAD_TEXT && c.tied == 1);
    assert_true(c.vocab == 256 && c.outputs == 256 && c.context == 20);
    assert_int_equal(gpt_create(&model, &c, &k_ref, 1), 0);
    assert_int_equal(model.count, count_of(&c));
    assert_int_equal(model.head_w, model.embed_w);
    p.model.tie = false;
    assert_int_equal(gpt_config_from_preset(&c, &p, "lssar", 21), 0);
    assert_int_equal(c.tied, 0);
    assert_int_equal(gpt_create(&own, &c, &k_ref, 1), 0);
    assert_int_equal(own.count, count_of(&c));
    /* the head of its own is the end of the table: all else is the same */
    assert_true(tiny_same(model.param, own.param, model.total));
    gpt_free(&model);
    gpt_free(&own);
    p = text_preset(shard, "", 21);
    assert_int_equal(gpt_config_from_preset(&c, &p, "softmax", 21), 0);
    assert_true(c.vocab == VOCAB && c.outputs == VOCAB);

    const struct gpt_config good = tiny_text(1);
    c = good;
    c.outputs++;
    assert_int_equal(gpt_create(&model, &c, &k_ref, 1), ORR_EUSAGE);
    error_names("head of text", "23", "24", NULL);
    c = tiny_tokens();
    c.tied = 1;
    assert_int_equal(gpt_create(&model, &c, &k_ref, 1), ORR_EUSAGE);
    error_names("tied", NULL);
    c = good;
    c.vocab = c.outputs = 1;
    assert_int_equal(gpt_create(&model, &c, &k_ref, 1), ORR_EUSAGE);
    error_names("vocab", NULL);
}

/* Models of orbits begin with the weights they had before there was text. */
TEST(test_initialisation)
{
    const struct gpt_config c[] = {tiny_tokens(), tiny_continuous()};
    const double expected[] = {4442.4575506576111, 4151.4394438516574};
    for (int i = 0; i < 2; i++) {
        struct gpt_model model;
        double sum = 0;
        assert_int_equal(gpt_create(&model, &c[i], &k_ref, 77), 0);
        for (size_t j = 0; j < model.total; j++)
            sum += (double)model.param[j] * (double)(j % 97 + 1);
        assert_true(fabs(sum - expected[i]) <
                    1e-6); /* the last bits are the mathematics library's */
        gpt_free(&model);
    }
}

TEST(test_checkpoint)
{
    char path[4096];
    const struct gpt_config tied = tiny_text(1), own = tiny_text(0);
    struct gpt_model model, loaded;
    long step;
    scratch_path(path, dir, "text.safetensors");
    tiny_trained(&model, &tied);
    assert_int_equal(gpt_save(&model, path, 3, true, NULL), 0);
    assert_int_equal(gpt_load_as(&loaded, path, &tied, false, &k_ref, &step), 0);
    assert_int_equal(loaded.head_w, loaded.embed_w);
    assert_true(tiny_same(model.param, loaded.param, model.total));
    assert_true(tiny_same(model.m, loaded.m, model.total));
    gpt_free(&loaded);
    assert_int_equal(gpt_load_as(&loaded, path, &own, false, &k_ref, &step), ORR_EINVAL);
    error_names(path, "tied is 1, expected 0", NULL);
    /* another head leaves the embedding alone, which it is no longer tied to */
    assert_int_equal(gpt_load(&loaded, path, &k_ref, NULL), 0);
    assert_int_equal(gpt_replace_head(&loaded, GPT_HEAD_REGRESSION, 2, 5), 0);
    assert_int_equal(loaded.config.tied, 0);
    assert_true(loaded.head_w != loaded.embed_w);
    assert_true(tiny_same(gpt_param(&loaded, loaded.embed_w), gpt_param(&model, model.embed_w),
                          model.table[model.embed_w].count));
    gpt_free(&model);
    gpt_free(&loaded);
}

/* Held-out loss: that of a model that knows nothing, and the mean of single sequences. */
TEST(test_evaluate)
{
    char path[4096];
    struct gpt_config c;
    struct gpt_model model;
    struct gpt_batch batch;
    struct gpt_text_result r;
    struct gpt_next_state next;
    write_bytes("evaluate.txt", 0, 800, path);
    struct orr_settings p = text_preset(path, path, 21);
    struct gpt_source *source = open_source(&p, SIM_SPLIT_VAL, &c);
    assert_int_equal(gpt_create(&model, &c, &k_ref, 1), 0);
    tiny_enlarge(&model);
    assert_int_equal(gpt_batch_create(&batch, &c, 1, 20), 0);
    double sum = 0, late = 0, loss;
    for (uint64_t i = 0; i < 35; i++) { /* more than a batch of the evaluation */
        assert_int_equal(gpt_source_fill(source, i, true, 0, 0, &batch), 0);
        assert_int_equal(gpt_loss(&model, &batch, &loss), 0);
        sum += loss / 35;
        for (int t = 0; t < 15; t++)
            batch.weight[t] = 0;
        assert_int_equal(gpt_loss(&model, &batch, &loss), 0);
        late += loss / 35;
    }
    assert_int_equal(gpt_evaluate_text(&model, source, 35, 15, &r), 0);
    assert_int_equal(r.sequences, 35);
    assert_true(fabs(r.loss - sum) < 1e-6 * sum && fabs(r.late_loss - late) < 1e-6 * late);
    assert_true(fabs(r.loss - r.late_loss) > 1e-4);
    assert_true(fabs(r.perplexity - exp(r.loss)) < 1e-9 * r.perplexity);
    memset(gpt_param(&model, model.embed_w), 0, sizeof(real) * 256 * 8);
    assert_int_equal(gpt_evaluate_text(&model, source, 1000, 20, &r), 0);
    assert_int_equal(r.sequences, 39);
    assert_true(fabs(r.bits_per_token - 8) < 1e-6 && fabs(r.perplexity - 256) < 1e-3);
    assert_true(isnan(r.late_loss));
    assert_int_equal(gpt_evaluate_next_state(&model, source, 5, 1, &next), ORR_EINVAL);
    error_names("text", NULL);
    gpt_batch_free(&batch);
    gpt_free(&model);
    gpt_source_close(source);
}

TESTS_ON_REF(scratch_setup, scratch_teardown)
