/* test_checkpoint.c - checkpoints: nothing is lost between save and load, and files that are no
 * such checkpoint are refused by name. */
#include "tiny.h"

static char *const dir = scratch_dir;

TEST(test_identity)
{
    char path[4096], text[64];
    static const char *const extra[] = {"stage", "test of \"quotes\"", "digest", "00ff", NULL};
    scratch_path(path, dir, "model.safetensors");
    for (int kind = 0; kind < 2; kind++) {
        struct gpt_config c = kind ? tiny_tokens() : tiny_continuous();
        struct gpt_model model, back;
        long step = -1;
        c.rope_base = 1e4 / 3; /* not a short decimal */
        c.attention_window = 5;
        c.positions = kind ? ORR_POSITIONS_ROPE : ORR_POSITIONS_LEARNED;
        c.head_bias = kind;
        c.init_std = kind ? 0.1 : 0;
        c.huber = kind ? 0 : 1.0 / 3;
        strcpy(c.attention, "rw_softmax");
        tiny_trained(&model, &c);
        assert_int_equal(gpt_save(&model, path, 123456789012, true, extra), 0);
        assert_int_equal(gpt_load(&back, path, &k_ref, &step), 0);
        assert_int_equal(step, 123456789012);
        assert_memory_equal(&back.config, &model.config, sizeof c);
        assert_true(tiny_same(model.param, back.param, model.total));
        assert_true(tiny_same(model.m, back.m, model.total));
        assert_true(tiny_same(model.v, back.v, model.total));
        assert_true(tiny_same(model.average, back.average, model.total));
        gpt_free(&back);
        assert_int_equal(gpt_checkpoint_metadata(path, "stage", text, sizeof text), 0);
        assert_string_equal(text, "test of \"quotes\"");
        assert_int_equal(gpt_checkpoint_metadata(path, "digest", text, sizeof text), 0);
        assert_string_equal(text, "00ff");
        assert_int_equal(gpt_checkpoint_metadata(path, "absent", text, sizeof text), 0);
        assert_string_equal(text, "");
        assert_int_equal(gpt_save(&model, path, 7, false, NULL), 0); /* weights only */
        assert_int_equal(gpt_load(&back, path, &k_ref, &step), 0);
        assert_int_equal(step, 7);
        assert_null(back.m);
        assert_null(back.v);
        assert_true(tiny_same(model.param, back.param, model.total));
        gpt_free(&back);
        gpt_free(&model);
    }
    assert_int_equal(scratch_count(dir), 1); /* no temporary file is left */
}

/* ------------------------------------------------------------------------- foreign files */

/* What differs in a copy of a checkpoint. */
struct change {
    const char *key, *value; /* metadata; value NULL: left out */
    const char *lacks;       /* of the metadata, this is left out, too */
    const char *without;     /* tensors beginning like this are left out */
    const char *narrower;    /* this tensor loses a row */
    const char *doubles;     /* this tensor's numbers are doubles */
    enum orr_dtype all;      /* so are those of every tensor: 16 bits of `halves` */
    uint16_t last;           /* the last of which is this */
};

/* Halves of IEEE 754: normal ones of both signs, the largest, the least, the least normal one. */
static const struct {
    uint16_t bits;
    double f16, bf16;
} halves[] = {{0x3c00, 1, 0x1.00p-7},       {0xc000, -2, -2},
              {0x7bff, 65504, 0x1.fep+120}, {0x0001, 0x1p-24, 0x1p-133},
              {0x0400, 0x1p-14, 0x1p-119},  {0x3555, 0.333251953125, 0x1.aap-21},
              {0x8000, -0., -0.},           {0, 0, 0}};
enum { HALVES = sizeof halves / sizeof *halves };

static void copy_changed(const char *from, const char *to, const struct change *change)
{
    static const char *const keys[] = {"format",
                                       "orrery_format",
                                       "version",
                                       "layers",
                                       "heads",
                                       "width",
                                       "ffn",
                                       "context",
                                       "input",
                                       "vocab",
                                       "fourier",
                                       "fourier_min_au",
                                       "head",
                                       "outputs",
                                       "positions",
                                       "rope_base",
                                       "attention",
                                       "attention_p",
                                       "attention_window",
                                       "gate",
                                       "step"};
    struct orr_safetensors *file;
    struct orr_tensor tensors[256];
    const char *metadata[64];
    size_t count = 0, pairs = 0;
    static double zeros[4096];
    static uint16_t half[4096];
    for (size_t i = 0; i < 4096; i++)
        half[i] = i % HALVES == HALVES - 1 ? change->last : halves[i % HALVES].bits;
    assert_int_equal(orr_safetensors_open(from, &file), 0);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const char *value = orr_safetensors_metadata(file, keys[i]);
        assert_non_null(value);
        if (change->key && !strcmp(keys[i], change->key))
            value = change->value;
        if (!value || (change->lacks && !strcmp(keys[i], change->lacks)))
            continue;
        metadata[pairs++] = keys[i];
        metadata[pairs++] = value;
    }
    metadata[pairs] = NULL;
    for (size_t i = 0; i < orr_safetensors_count(file); i++) {
        struct orr_tensor t = *orr_safetensors_at(file, i);
        if (change->without && !strncmp(t.name, change->without, strlen(change->without)))
            continue;
        if (change->narrower && !strcmp(t.name, change->narrower))
            t.shape[0]--;
        if (change->doubles && !strcmp(t.name, change->doubles)) {
            t.dtype = ORR_F64;
            t.data = zeros;
        }
        if (change->all) {
            t.dtype = change->all;
            t.data = half;
        }
        assert_true(count < 256);
        tensors[count++] = t;
    }
    assert_int_equal(orr_safetensors_write(to, tensors, count, metadata), 0);
    orr_safetensors_close(file);
}

static void refused(const char *path, int code, const char *a, const char *b)
{
    struct gpt_model model;
    long step;
    orr_error_clear();
    const int rc = gpt_load(&model, path, &k_ref, &step);
    if (rc != code)
        fail_msg("%s, %s: code %d (%s), expected %d", a, b, rc, orr_error(), code);
    error_names(path, a, b, NULL);
    assert_null(strchr(orr_error(), '\n'));
    assert_null(model.param);
    assert_null(model.table);
    gpt_free(&model);
}

TEST(test_foreign)
{
    static const struct {
        struct change change;
        int code;
        const char *a, *b;
    } cases[] = {
        {{.key = "orrery_format", .value = "other-1"}, ORR_EFORMAT, "other-1", "orrery-gpt-1"},
        {{.key = "orrery_format"}, ORR_EFORMAT, "\"format\" is \"pt\"", "orrery-gpt-1"},
        {{.key = "layers"}, ORR_EFORMAT, "layers", "lacks"},
        {{.key = "layers", .value = "two"}, ORR_EFORMAT, "layers", "two"},
        {{.key = "layers", .value = "3"}, ORR_EMISSING, "block.2.ln1.weight", "missing"},
        {{.key = "layers", .value = "2000000000"}, ORR_EFORMAT, "layers", "2000000000"},
        {{.key = "width", .value = "99999999999"}, ORR_EFORMAT, "width", "99999999999"},
        {{.key = "width", .value = "-18"}, ORR_EFORMAT, "width", "-18"},
        {{.key = "width", .value = "21"}, ORR_EFORMAT, "embed.weight", "[21, 11]"},
        /* terabytes, told from the file before any memory is asked for */
        {{.key = "width", .value = "999999"}, ORR_EFORMAT, "embed.weight", "[999999, 11]"},
        {{.key = "heads", .value = "5"}, ORR_EFORMAT, "heads", "5"},
        {{.key = "rope_base", .value = "1e"}, ORR_EFORMAT, "rope_base", "1e"},
        {{.key = "attention", .value = "nothing"}, ORR_EFORMAT, "attention", "nothing"},
        {{.key = "input", .value = "7"}, ORR_EFORMAT, "input", "7"},
        {{.key = "gate", .value = "3"}, ORR_EFORMAT, "gate", "3"},
        {{.key = "gate", .value = "1"}, ORR_EMISSING, "block.0.attention.gate.weight", "missing"},
        {{.key = "step", .value = "-2"}, ORR_EFORMAT, "step", "-2"},
        {{.key = "step"}, ORR_EFORMAT, "step", "count"},
        {{.key = "step", .value = "99999999999999999999999"}, ORR_EFORMAT, "step", "count"},
        {{.key = "step", .value = "3 "}, ORR_EFORMAT, "step", "count"},
        {{.without = "final.bias"}, ORR_EMISSING, "final.bias", "missing"},
        {{.without = "adam.v.block.1"}, ORR_EMISSING, "adam.v.block.1", "missing"},
        {{.without = "adam.v."}, ORR_EMISSING, "adam.v.", "missing"},
        {{.without = "adam.m."}, ORR_EMISSING, "adam.m.", "missing"},
        {{.without = "average.final"}, ORR_EMISSING, "average.final.weight", "missing"},
        {{.narrower = "head.weight"}, ORR_EFORMAT, "head.weight", "[1, 18]"},
        {{.doubles = "embed.bias"}, ORR_EFORMAT, "embed.bias", "<f8"},
    };
    struct gpt_config c = tiny_continuous();
    struct gpt_model model;
    char good[4096], bad[4096], format[32];
    scratch_path(good, dir, "good.safetensors");
    scratch_path(bad, dir, "bad.safetensors");
    tiny_trained(&model, &c);
    assert_int_equal(gpt_save(&model, good, 3, true, NULL), 0);
    gpt_free(&model);
    copy_changed(good, bad, &(struct change){0}); /* the copy itself is fine */
    assert_int_equal(gpt_load(&model, bad, &k_ref, NULL), 0);
    gpt_free(&model);
    /* what loaders of PyTorch look for; converters may leave it out */
    assert_int_equal(gpt_checkpoint_metadata(good, "format", format, sizeof format), 0);
    assert_string_equal(format, "pt");
    copy_changed(good, bad, &(struct change){.key = "format"});
    assert_int_equal(gpt_load(&model, bad, &k_ref, NULL), 0);
    gpt_free(&model);
    /* as version 0.1.0 wrote them */
    copy_changed(
        good, bad,
        &(struct change){.key = "format", .value = "orrery-gpt-1", .lacks = "orrery_format"});
    assert_int_equal(gpt_load(&model, bad, &k_ref, NULL), 0);
    gpt_free(&model);
    copy_changed(good, bad, &(struct change){.key = "gate"});
    assert_int_equal(gpt_load(&model, bad, &k_ref, NULL), 0);
    assert_int_equal(model.config.gate, K_GATE_NONE);
    gpt_free(&model);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        copy_changed(good, bad, &cases[i].change);
        if (cases[i].code)
            refused(bad, cases[i].code, cases[i].a, cases[i].b);
    }
}

/* Weights of 16 bits are read to the bit; what is not finite there is refused. */
TEST(test_halves)
{
    struct gpt_config c = tiny_continuous();
    struct gpt_model model;
    char good[4096], bad[4096];
    scratch_path(good, dir, "good.safetensors");
    scratch_path(bad, dir, "half.safetensors");
    tiny_trained(&model, &c);
    assert_int_equal(gpt_save(&model, good, 3, true, NULL), 0);
    gpt_free(&model);
    for (int f16 = 0; f16 < 2; f16++) {
        const enum orr_dtype dtype = f16 ? ORR_F16 : ORR_BF16;
        copy_changed(good, bad, &(struct change){.all = dtype});
        assert_int_equal(gpt_load(&model, bad, &k_ref, NULL), 0);
        for (int k = 0; k < model.parameters; k++)
            for (size_t i = 0; i < model.table[k].count; i++) {
                const real expected =
                    (real)(f16 ? halves[i % HALVES].f16 : halves[i % HALVES].bf16);
                assert_true(model.param[model.table[k].offset + i] == expected);
                assert_true(model.m[model.table[k].offset + i] == expected);
            }
        gpt_free(&model);
        copy_changed(good, bad, &(struct change){.all = dtype, .last = f16 ? 0xfc00 : 0x7f80});
        refused(bad, ORR_EFORMAT, "number 7 is not finite", "");
    }
}

/* Cut anywhere, or one bit changed anywhere: refused, never read half. */
TEST(test_damaged)
{
    struct gpt_config c = tiny_continuous();
    struct gpt_model model;
    char good[4096], bad[4096], *data;
    size_t bytes;
    scratch_path(good, dir, "good.safetensors");
    scratch_path(bad, dir, "bad.safetensors");
    c.layers = 1;
    tiny_trained(&model, &c);
    assert_int_equal(gpt_save(&model, good, 3, true, NULL), 0);
    gpt_free(&model);
    assert_int_equal(orr_file_read(good, &data, &bytes), 0);
    for (size_t i = 0; i < 40; i++) {
        scratch_write(bad, data, i < 3 ? i * 7 : bytes * i / 40);
        refused(bad, ORR_EFORMAT, "", "");
    }
    uint64_t header;
    memcpy(&header, data, sizeof header);
    for (size_t i = 0; i < 40; i++) { /* the data part: found by its checksum */
        const size_t at = 8 + header + (bytes - 9 - header) * i / 39;
        data[at] ^= (char)(1 << i % 8);
        scratch_write(bad, data, bytes);
        refused(bad, ORR_EFORMAT, "", "");
        data[at] ^= (char)(1 << i % 8);
    }
    free(data);
    scratch_text(bad, "step,loss\n1,2\n");
    refused(bad, ORR_EFORMAT, "", "");
    refused(scratch_at(dir, "absent.safetensors"), ORR_EMISSING, "", "");
}

/* What gpt_progress says of a file with this step and state of training. */
static int progress_of(const char *step, const char *training, bool *ended)
{
    char path[4096];
    float weight = 1;
    const struct orr_tensor tensor = {"w", ORR_F32, 1, {1}, &weight};
    const char *const metadata[] = {"step", step, "training", training, NULL};
    long at;
    scratch_path(path, dir, "progress.safetensors");
    assert_int_equal(orr_safetensors_write(path, &tensor, 1, metadata), 0);
    return gpt_progress(path, &at, ended);
}

TEST(test_progress)
{
    static const char *const bad[] = {"10 0x1p+0", "2", "x", "1x", "01 0", " 1"};
    bool ended = true;
    assert_int_equal(progress_of("7", "0 0x1p+0 0 0 0 0", &ended), 0);
    assert_false(ended);
    assert_int_equal(progress_of("7", "1 0x1p+0 0 0 0 0", &ended), 0);
    assert_true(ended);
    assert_int_equal(progress_of("7", "", &ended), 0); /* of models that were converted */
    assert_false(ended);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(progress_of("7", bad[i], &ended), ORR_EFORMAT);
        error_names("progress.safetensors", "\"training\"", bad[i], NULL);
    }
    assert_int_equal(progress_of("99999999999999999999999", "0", &ended), ORR_EFORMAT);
    error_names("progress.safetensors", "\"step\"", "99999999999999999999999", NULL);
}

/* Weights and moments that are no numbers: refused, with the name of the tensor. */
TEST(test_not_finite)
{
    struct gpt_config c = tiny_continuous();
    struct gpt_model model;
    char path[4096];
    scratch_path(path, dir, "nan.safetensors");
    for (int i = 0; i < 4; i++) {
        static const char *const prefix[] = {"\"", "\"average.", "\"adam.m.", "\"adam.v."};
        char name[64];
        tiny_trained(&model, &c);
        real *const arena[] = {model.param, model.average, model.m, model.v};
        arena[i][model.table[model.block[1].up_w].offset + 5] = i % 2 ? NAN : -INFINITY;
        assert_int_equal(gpt_save(&model, path, 3, true, NULL), 0);
        gpt_free(&model);
        snprintf(name, sizeof name, "%sblock.1.ffn.up.weight\"", prefix[i]);
        refused(path, ORR_EFORMAT, name, "number 5 is not finite");
    }
}

/* Another configuration than the one asked for is named: key, found, expected. */
TEST(test_other_shape)
{
    struct gpt_config c = tiny_continuous(), other;
    struct gpt_model model;
    char path[4096];
    scratch_path(path, dir, "shape.safetensors");
    assert_int_equal(gpt_create(&model, &c, &k_ref, 6), 0);
    assert_int_equal(gpt_save(&model, path, 3, false, NULL), 0);
    gpt_free(&model);
    for (int kind = 0; kind < 4; kind++) {
        static const char *const key[] = {"layers", "attention", "rope_base", "positions"};
        static const char *const found[] = {"2", "softmax", "10000", "0"};
        static const char *const wanted[] = {"5", "lssar", "500", "1"};
        other = c;
        other.layers = kind == 0 ? 5 : c.layers;
        if (kind == 1)
            strcpy(other.attention, "lssar");
        other.rope_base = kind == 2 ? 500 : c.rope_base;
        other.positions = kind == 3 ? ORR_POSITIONS_ROPE : c.positions;
        assert_int_equal(gpt_load_as(&model, path, &other, true, &k_ref, NULL), ORR_EINVAL);
        error_names(path, key[kind], found[kind], wanted[kind], NULL);
    }
    other = c;
    other.outputs = 9; /* the head is the one part that may differ, and only when asked */
    assert_int_equal(gpt_load_as(&model, path, &other, false, &k_ref, NULL), ORR_EINVAL);
    error_names(path, "outputs", "9", NULL);
    assert_int_equal(gpt_load_as(&model, path, &other, true, &k_ref, NULL), 0);
    assert_int_equal(model.config.outputs, 2);
    gpt_free(&model);
    other = c; /* everything at once, and what to set */
    other.layers = 1;
    other.context = 12;
    other.rope_base = 500;
    other.gate = K_GATE_SIGMOID;
    assert_int_equal(gpt_load_as(&model, path, &other, false, &k_ref, NULL), ORR_EINVAL);
    error_names(path, "layers is 2, expected 1 (--set model.layers=2), ",
                "context is 11, expected 12 (--set orbits.positions=12), ",
                "rope_base is 10000, expected 500 (--set model.rope_base=10000), ",
                "gate is 0, expected 1 (model.gate)", NULL);
    assert_null(strstr(orr_error(), "heads"));
    c = tiny_tokens();
    assert_int_equal(gpt_load_as(&model, path, &c, false, &k_ref, NULL), ORR_EINVAL);
    error_names(path, "input is 1, expected 0 (orbits.output)", "vocab is 0, expected 23, ",
                "does not predict", NULL);
}

/* Whether a token head has a bias no setting says: it is the file's own. */
TEST(test_head_bias)
{
    struct gpt_config c = tiny_tokens();
    struct gpt_model model, back;
    char path[4096];
    scratch_path(path, dir, "bias.safetensors");
    for (int bias = 0; bias < 2; bias++) {
        c.head_bias = bias;
        tiny_trained(&model, &c);
        assert_int_equal(gpt_save(&model, path, 3, false, NULL), 0);
        c.head_bias = 1 - bias;
        assert_int_equal(gpt_load_as(&back, path, &c, false, &k_ref, NULL), 0);
        assert_int_equal(back.config.head_bias, bias);
        assert_true(tiny_same(back.param, model.param, model.total));
        gpt_free(&back);
        gpt_free(&model);
    }
}

/* A folder that cannot be written is said so. */
TEST(test_unwritable)
{
    struct gpt_config c = tiny_continuous();
    struct gpt_model model;
    char path[4096];
    scratch_path(path, dir, "nowhere/model.safetensors");
    assert_int_equal(gpt_create(&model, &c, &k_ref, 6), 0);
    assert_int_equal(gpt_save(&model, path, 3, false, NULL), ORR_EIO);
    error_names("nowhere", NULL);
    gpt_free(&model);
}

TESTS(scratch_setup, scratch_teardown)
