/* test_arrays.c - .npy and safetensors: round trips, foreign files, damage. */
#include "scratch.h"

static char *const dir = scratch_dir;

static const enum orr_dtype all[] = {ORR_U8, ORR_U16, ORR_U32, ORR_I32, ORR_I64, ORR_F32, ORR_F64};
enum { ALL = sizeof all / sizeof *all };

/* Bytes with every pattern, for any type. */
static void fill(unsigned char *data, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        data[i] = (unsigned char)(i * 167 + 13);
}

/* --------------------------------------------------------------------------------- npy */

TEST_BETWEEN(test_npy_round_trip, scratch_setup, scratch_teardown)
{
    static const size_t shapes[][3] = {{0, 0, 0}, {5, 0, 0}, {7, 3, 0}, {2, 3, 11}, {0, 4, 2}};
    static const int ndim[] = {0, 1, 2, 3, 3};
    unsigned char data[8 * 66];
    char path[4096];
    fill(data, sizeof data);
    for (int t = 0; t < ALL; t++)
        for (int s = 0; s < 5; s++) {
            size_t count = 1, size = orr_dtype_size(all[t]);
            uint64_t sum, found, bytes;
            struct orr_npy npy;
            for (int k = 0; k < ndim[s]; k++)
                count *= shapes[s][k];
            scratch_path(path, dir, "x.npy");
            assert_int_equal(orr_npy_write(path, all[t], ndim[s], shapes[s], data, &sum), 0);
            assert_int_equal(orr_file_checksum(path, &found, &bytes), 0);
            assert_true(found == sum);
            assert_int_equal((bytes - count * size) % 64, 0); /* the header keeps alignment */
            assert_int_equal(orr_npy_open(path, &npy), 0);
            assert_int_equal(npy.dtype, all[t]);
            assert_int_equal(npy.ndim, ndim[s]);
            for (int k = 0; k < ndim[s]; k++)
                assert_int_equal(npy.shape[k], shapes[s][k]);
            assert_memory_equal(npy.data, data, count * size);
            assert_int_equal((uintptr_t)npy.data % 64, 0);
            orr_npy_close(&npy);
            orr_npy_close(&npy);
        }
}

/* The exact bytes that numpy.save writes for np.arange(3, dtype="<u2"), version 1.0. */
TEST_BETWEEN(test_npy_header_is_numpys, scratch_setup, scratch_teardown)
{
    char path[4096], expected[128], *text;
    size_t bytes;
    const uint16_t data[3] = {0, 1, 2};
    const size_t shape[] = {3};
    scratch_path(path, dir, "x.npy");
    assert_int_equal(orr_npy_write(path, ORR_U16, 1, shape, data, NULL), 0);
    assert_int_equal(orr_file_read(path, &text, &bytes), 0);
    assert_int_equal(bytes, 134);
    memset(expected, ' ', sizeof expected);
    memcpy(expected, "\x93NUMPY\x01\x00\x76\x00", 10);
    static const char dictionary[] = "{'descr': '<u2', 'fortran_order': False, 'shape': (3,";
    memcpy(expected + 10, dictionary, sizeof dictionary - 1);
    expected[127] = '\n';
    assert_memory_equal(text, expected, 10 + sizeof dictionary - 1);
    assert_int_equal(text[127], '\n');
    assert_memory_equal(text + 128, data, 6);
    free(text);
}

/* A file with this dictionary and this many data bytes, of .npy version `version`. */
static void write_npy(const char *path, int version, const char *dictionary, size_t data)
{
    unsigned char file[1024] = {0x93, 'N', 'U', 'M', 'P', 'Y', (unsigned char)version, 0};
    const size_t prefix = version == 1 ? 10 : 12, length = strlen(dictionary);
    file[8] = (unsigned char)length;
    memcpy(file + prefix, dictionary, length);
    fill(file + prefix + length, data);
    scratch_write(path, file, prefix + length + data);
}

TEST_BETWEEN(test_npy_foreign, scratch_setup, scratch_teardown)
{
    static const struct {
        int version;
        const char *dictionary;
        size_t data;
        const char *said; /* NULL: a good file */
    } files[] = {
        {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n", 24, NULL},
        {2, "{'shape': (2, 3), 'fortran_order': False, 'descr': '<f4'}\n", 24, NULL},
        {3, "{'descr':'<f4','fortran_order':False,'shape':(2,3)}\n", 24, NULL},
        {3, "{'descr':'<f4','fortran_order':False,'shape':(2,3)}\n", 25,
         "bytes behind the array: expected 24 bytes of data, found 25"},
        {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (0,), }\n", 1, "bytes behind"},
        {1, "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }\n", 24, "Fortran"},
        {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n", 23, "truncated"},
        {1, "{'descr': '>f4', 'fortran_order': False, 'shape': (2, 3), }\n", 24, "dtype"},
        {1, "{'descr': '<f2', 'fortran_order': False, 'shape': (2, 3), }\n", 24, "dtype"},
        {1, "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,), }\n", 24, "dtype"},
        {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (-2, 3), }\n", 24, "shape"},
        {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, x), }\n", 24, "shape"},
        {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3", 24, "shape"},
        {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1), }\n", 24,
         "shape"},
        {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775807, 8), }\n", 24,
         "overflow"},
        {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }\n", 24,
         "shape"},
        {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (\n-1,), }\n", 24, "shape"},
        /* 2^40 numbers that are not there */
        {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (1099511627776,), }\n", 24,
         "expected 4398046511104 bytes of data, found 24"},
        {1, "{'descr': '<f4', 'shape': (2, 3), }\n", 24, "fortran_order"},
        {1, "'fortran_order': False, 'shape': (2, 3), 'descr':", 0, "without descr"},
        {4, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n", 24, "version"},
    };
    char path[4096];
    scratch_path(path, dir, "foreign.npy");
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct orr_npy npy;
        write_npy(path, files[i].version, files[i].dictionary, files[i].data);
        assert_int_equal(orr_npy_open(path, &npy), files[i].said ? ORR_EFORMAT : 0);
        if (files[i].said)
            error_names(path, files[i].said, NULL);
        else
            assert_true(npy.shape[0] == 2 && npy.shape[1] == 3 && npy.dtype == ORR_F32);
        orr_npy_close(&npy);
    }
}

/* Wherever the numbers of a file begin, they lie where numbers of their type may. */
TEST_BETWEEN(test_npy_unaligned, scratch_setup, scratch_teardown)
{
    char path[4096], text[256];
    unsigned char expected[32];
    scratch_path(path, dir, "unaligned.npy");
    fill(expected, sizeof expected);
    for (int spaces = 0; spaces < 16; spaces++) {
        struct orr_npy npy;
        snprintf(text, sizeof text,
                 "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), }%*s", spaces, "");
        write_npy(path, 1, text, sizeof expected);
        assert_int_equal(orr_npy_open(path, &npy), 0);
        assert_int_equal((uintptr_t)npy.data % sizeof(double), 0);
        assert_memory_equal(npy.data, expected, sizeof expected);
        orr_npy_close(&npy);
    }
}

/* What is told of a type that is not known is the type, not the rest of the header. */
TEST_BETWEEN(test_npy_unknown_type, scratch_setup, scratch_teardown)
{
    static const char *const types[] = {"'<f2'", "'<U4'", "'|b1'"};
    char path[4096], text[256], expected[64];
    struct orr_npy npy;
    scratch_path(path, dir, "unknown.npy");
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        snprintf(text, sizeof text, "{'descr': %s, 'fortran_order': False, 'shape': (2, 3), }\n",
                 types[i]);
        write_npy(path, 1, text, 24);
        assert_int_equal(orr_npy_open(path, &npy), ORR_EFORMAT);
        snprintf(expected, sizeof expected, "unsupported dtype %s", types[i]);
        error_names(path, NULL);
        assert_string_equal(strstr(orr_error(), "unsupported"), expected);
    }
}

/* Every prefix of a good file is refused. */
TEST_BETWEEN(test_npy_every_truncation, scratch_setup, scratch_teardown)
{
    char path[4096], cut[4096], *text;
    size_t bytes;
    double data[6] = {0};
    const size_t shape[] = {6};
    scratch_path(path, dir, "x.npy");
    scratch_path(cut, dir, "cut.npy");
    assert_int_equal(orr_npy_write(path, ORR_F64, 1, shape, data, NULL), 0);
    assert_int_equal(orr_file_read(path, &text, &bytes), 0);
    for (size_t n = 0; n < bytes; n++) {
        struct orr_npy npy;
        scratch_write(cut, text, n);
        assert_int_equal(orr_npy_open(cut, &npy), ORR_EFORMAT);
        error_names(cut, NULL);
    }
    free(text);
}

TEST_BETWEEN(test_npy_expect, scratch_setup, scratch_teardown)
{
    char path[4096];
    struct orr_npy npy;
    const size_t shape[] = {4, 9};
    const uint16_t data[36] = {0};
    size_t any[] = {0, 9}, wrong[] = {4, 8}, flat[] = {36};
    scratch_path(path, dir, "x.npy");
    assert_int_equal(orr_npy_write(path, ORR_U16, 2, shape, data, NULL), 0);
    assert_int_equal(orr_npy_expect(path, &npy, ORR_U16, 2, any), 0);
    assert_int_equal(any[0], 4);
    orr_npy_close(&npy);
    assert_int_equal(orr_npy_expect(path, &npy, ORR_U16, 2, wrong), ORR_EFORMAT);
    error_names(path, "expected 8, found 9", NULL);
    assert_int_equal(orr_npy_expect(path, &npy, ORR_F32, 2, any), ORR_EFORMAT);
    error_names(path, "<f4", "<u2", NULL);
    assert_int_equal(orr_npy_expect(path, &npy, ORR_U16, 1, flat), ORR_EFORMAT);
    error_names(path, "dimensions", NULL);
    assert_null(npy.map);
    scratch_path(path, dir, "absent.npy");
    assert_int_equal(orr_npy_open(path, &npy), ORR_EMISSING);
    error_names(path, NULL);
    assert_int_equal(orr_npy_open(dir, &npy), ORR_EIO);
}

/* ------------------------------------------------------------------------- safetensors */

static const char *const about[] = {"step", "700", "quote", "a \"b\" \\ \xc3\xa9", NULL};

static void write_tensors(const char *path, unsigned char *data)
{
    static const char *const names[ALL] = {"u8", "w.0", "bias", "i32", "i64", "f32", "f64"};
    struct orr_tensor tensors[ALL + 1];
    fill(data, 8 * 60);
    for (int t = 0; t < ALL; t++)
        tensors[t] = (struct orr_tensor){names[t], all[t], 3, {5, 3, 4}, data};
    tensors[ALL] = (struct orr_tensor){"scalar", ORR_F64, 0, {0}, data};
    assert_int_equal(orr_safetensors_write(path, tensors, ALL + 1, about), 0);
}

TEST_BETWEEN(test_safetensors_round_trip, scratch_setup, scratch_teardown)
{
    char path[4096];
    unsigned char data[480];
    struct orr_safetensors *file;
    scratch_path(path, dir, "x.safetensors");
    write_tensors(path, data);
    assert_int_equal(orr_safetensors_open(path, &file), 0);
    assert_int_equal(orr_safetensors_count(file), ALL + 1);
    for (int t = 0; t < ALL; t++) {
        const struct orr_tensor *x = orr_safetensors_at(file, (size_t)t);
        assert_ptr_equal(orr_safetensors_find(file, x->name), x);
        assert_int_equal(x->dtype, all[t]);
        assert_int_equal(x->ndim, 3);
        assert_true(x->shape[0] == 5 && x->shape[1] == 3 && x->shape[2] == 4);
        assert_memory_equal(x->data, data, 60 * orr_dtype_size(all[t]));
    }
    assert_int_equal(orr_safetensors_find(file, "scalar")->ndim, 0);
    assert_null(orr_safetensors_at(file, ALL + 1));
    assert_null(orr_safetensors_find(file, "w.1"));
    assert_string_equal(orr_safetensors_metadata(file, "step"), "700");
    assert_string_equal(orr_safetensors_metadata(file, "quote"), about[3]);
    assert_null(orr_safetensors_metadata(file, "none"));
    orr_safetensors_close(file);
    orr_safetensors_close(NULL);
    assert_int_equal(orr_safetensors_write(path, NULL, 0, NULL), 0);
    assert_int_equal(orr_safetensors_open(path, &file), 0);
    assert_int_equal(orr_safetensors_count(file), 0);
    orr_safetensors_close(file);
}

/* One bit flipped anywhere in the data, one byte too many, and every truncation. */
TEST_BETWEEN(test_safetensors_damage, scratch_setup, scratch_teardown)
{
    char path[4096], bad[4096], *text;
    unsigned char data[480];
    size_t bytes;
    struct orr_safetensors *file;
    scratch_path(path, dir, "x.safetensors");
    scratch_path(bad, dir, "bad.safetensors");
    write_tensors(path, data);
    assert_int_equal(orr_file_read(path, &text, &bytes), 0);
    const size_t start = 8 + (unsigned char)text[0] + 256u * (unsigned char)text[1];
    assert_int_equal(start % 8, 0);
    for (size_t at = start; at < bytes; at += 97) {
        text[at] = (char)(text[at] ^ 16);
        scratch_write(bad, text, bytes);
        assert_int_equal(orr_safetensors_open(bad, &file), ORR_EFORMAT);
        error_names(bad, "checksum", NULL);
        text[at] = (char)(text[at] ^ 16);
    }
    for (size_t n = 0; n < bytes; n += n < start ? 13 : 41) {
        scratch_write(bad, text, n);
        assert_int_equal(orr_safetensors_open(bad, &file), ORR_EFORMAT);
        error_names(bad, NULL);
        assert_null(file);
    }
    scratch_write(bad, text, bytes + 1); /* the terminating NUL of orr_file_read */
    assert_int_equal(orr_safetensors_open(bad, &file), ORR_EFORMAT);
    free(text);
}

/* Any sign of the metadata changed, where the header stays JSON: found by a sum of its own. A file
 * of an earlier version, which lacks that sum, is read. */
TEST_BETWEEN(test_safetensors_metadata, scratch_setup, scratch_teardown)
{
    static const struct {
        const char *from, *to;
    } changes[] = {{"\"step\":\"700\"", "\"step\":\"900\""},
                   {"\"step\"", "\"stop\""},
                   {"\"quote\":\"a", "\"quote\":\"b"},
                   {"\"step\":\"700\",", "               "}};
    char path[4096], bad[4096], *text;
    unsigned char data[480];
    size_t bytes;
    struct orr_safetensors *file;
    scratch_path(path, dir, "x.safetensors");
    scratch_path(bad, dir, "bad.safetensors");
    write_tensors(path, data);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        assert_int_equal(orr_file_read(path, &text, &bytes), 0);
        memcpy(strstr(text + 8, changes[i].from), changes[i].to, strlen(changes[i].from));
        scratch_write(bad, text, bytes);
        free(text);
        assert_int_equal(orr_safetensors_open(bad, &file), ORR_EFORMAT);
        error_names(bad, "metadata", "checksum", NULL);
    }
    assert_int_equal(orr_file_read(path, &text, &bytes), 0);
    char *sum = strstr(text + 8, ",\"xxh64_metadata\":\"");
    assert_non_null(sum);
    memset(sum, ' ', 36);
    memcpy(strstr(text + 8, "700"), "900", 3);
    scratch_write(bad, text, bytes);
    free(text);
    assert_int_equal(orr_safetensors_open(bad, &file), 0);
    assert_string_equal(orr_safetensors_metadata(file, "step"), "900");
    orr_safetensors_close(file);
}

/* A file with this header and this many bytes of zeros. */
static int open_header(const char *header, size_t data, struct orr_safetensors **file)
{
    char path[4096];
    unsigned char text[1024] = {0};
    const size_t length = strlen(header);
    scratch_path(path, dir, "made.safetensors");
    text[0] = (unsigned char)length;
    text[1] = (unsigned char)(length >> 8);
    memcpy(text + 8, header, length);
    scratch_write(path, text, 8 + length + data);
    return orr_safetensors_open(path, file);
}

TEST_BETWEEN(test_safetensors_foreign, scratch_setup, scratch_teardown)
{
    static const struct {
        const char *header;
        const char *said;
    } bad[] = {
        {"not json at all", "not JSON"},
        {"[1, 2]", "not JSON"},
        {"{\"w\": {\"dtype\": \"BOOL\", \"shape\": [16], \"data_offsets\": [0, 16]}}", "BOOL"},
        {"{\"w\": {\"dtype\": \"BF16\", \"shape\": [4], \"data_offsets\": [0, 8]}}",
         "behind the last tensor: expected 8 bytes of data, found 16"},
        {"{\"w\": {\"dtype\": \"F16\", \"shape\": [4], \"data_offsets\": [8, 16]}}",
         "\"w\": bytes before it are of no tensor: expected at byte 0, found at 8"},
        {"{\"v\": {\"dtype\": \"U8\", \"shape\": [8], \"data_offsets\": [8, 16]}, "
         "\"w\": {\"dtype\": \"U8\", \"shape\": [8], \"data_offsets\": [8, 16]}}",
         "of no tensor"},
        {"{}", "behind the last tensor"},
        {"{\"w\": {\"shape\": [4], \"data_offsets\": [0, 16]}}", "dtype"},
        {"{\"w\": {\"dtype\": \"F32\", \"shape\": [4], \"data_offsets\": [0, 17]}}", "extent"},
        {"{\"w\": {\"dtype\": \"F32\", \"shape\": [4], \"data_offsets\": [16, 0]}}", "extent"},
        {"{\"w\": {\"dtype\": \"F32\", \"shape\": [4], \"data_offsets\": [-1, 15]}}", "extent"},
        {"{\"w\": {\"dtype\": \"F32\", \"shape\": [3], \"data_offsets\": [0, 16]}}", "16"},
        {"{\"w\": {\"dtype\": \"F32\", \"shape\": [1.5], \"data_offsets\": [0, 6]}}", "shape"},
        {"{\"w\": {\"dtype\": \"F32\", \"shape\": [4]}}", "extent"},
        {"{\"w\": 7}", "dtype"},
        {"{\"w\": {\"dtype\": \"F32\", \"shape\": [1099511627776], "
         "\"data_offsets\": [0, 4398046511104]}}",
         "outside the file's 16 bytes"},
        {"{\"w\": {\"dtype\": \"F32\", \"shape\": [3], \"data_offsets\": [0, 12]}, "
         "\"v\": {\"dtype\": \"F32\", \"shape\": [2], \"data_offsets\": [8, 16]}}",
         "\"v\": overlaps"},
        {"{\"w\": {\"dtype\": \"F32\", \"shape\": [8e15, 8e15], \"data_offsets\": [0, 0]}}",
         "shape"},
        {"{\"w\": {\"dtype\": \"F32\", \"shape\": [1,1,1,1,1,1,1,1,4], \"data_offsets\": [0, 16]}}",
         "9 dimensions, expected at most 8"},
        {"{\"w\": {\"dtype\": \"F32\", \"shape\": [2], \"data_offsets\": [0, 8]}, "
         "\"w\": {\"dtype\": \"F32\", \"shape\": [2], \"data_offsets\": [8, 16]}}",
         "\"w\" stands twice"},
        {"{\"__metadata__\": {\"step\": \"1\", \"step\": \"2\"}}", "\"step\" stands twice"},
        {"{} \"trailing\": garbage", "behind its end"},
        {"{}\n\v", "behind its end"},
    };
    struct orr_safetensors *file;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(open_header(bad[i].header, 16, &file), ORR_EFORMAT);
        error_names("made.safetensors", bad[i].said, NULL);
        assert_null(file);
    }
    /* written by somebody else: no checksum, no metadata */
    assert_int_equal(open_header("{\"w\":{\"dtype\":\"F32\",\"shape\":[2,2],"
                                 "\"data_offsets\":[0,16]}}\t\r\n ",
                                 16, &file),
                     0);
    assert_int_equal(orr_safetensors_count(file), 1);
    assert_null(orr_safetensors_metadata(file, "xxh64"));
    orr_safetensors_close(file);
    /* in any order, empty ones among them */
    assert_int_equal(
        open_header("{\"w\":{\"dtype\":\"F16\",\"shape\":[4],\"data_offsets\":[8,16]},"
                    "\"e\":{\"dtype\":\"F32\",\"shape\":[0,3],\"data_offsets\":[8,8]},"
                    "\"v\":{\"dtype\":\"BF16\",\"shape\":[2,2],\"data_offsets\":[0,8]}}",
                    16, &file),
        0);
    assert_int_equal(orr_safetensors_find(file, "v")->dtype, ORR_BF16);
    assert_int_equal(orr_safetensors_find(file, "w")->dtype, ORR_F16);
    orr_safetensors_close(file);
    assert_int_equal(orr_safetensors_open("/nonexistent.safetensors", &file), ORR_EMISSING);
    error_names("/nonexistent.safetensors", NULL);
    assert_int_equal(orr_safetensors_open(dir, &file), ORR_EIO);
}

TESTS(NULL, NULL)
