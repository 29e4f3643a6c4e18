/* cuda_backend.c - the CUDA backend as a whole, on the emulation (make check) and on a GPU (make
 * check-gpu): memory, numbers that come through pointers, recordings, products of every kind. */
#include "op_calls.h"
#include "test_data.h"

static const struct k_ops *ops;
extern void cuda_host_set_order(int order) __attribute__((weak)); /* there under the emulation */

/* Device memory with these numbers; NULL for zeros. */
static real *device(const real *from, size_t n)
{
    void *memory;
    assert_int_equal(ops->alloc(&memory, n * sizeof(real)), 0);
    assert_true((uintptr_t)memory % 64 == 0);
    if (from)
        assert_int_equal(ops->upload(memory, from, n * sizeof(real)), 0);
    return memory;
}

FIXTURE(open_backend)
{
    if (k_find("cuda", &ops) || ops->open(1, K_PRECISION_FP32)) {
        fprintf(stderr, "%s\n", orr_error());
        return 1;
    }
    return 0;
}

FIXTURE(close_backend)
{
    ops->close();
    return 0;
}

/* The emulation can be without a device; what was open stays so. */
TEST(no_gpu_is_an_error)
{
    if (!cuda_host_set_order)
        skip();
    setenv("ORR_CUDA_HOST_DEVICES", "0", 1);
    assert_int_equal(ops->open(1, K_PRECISION_FP32), ORR_EDEVICE);
    assert_non_null(strstr(orr_error(), "no NVIDIA GPU"));
    unsetenv("ORR_CUDA_HOST_DEVICES");
    void *memory;
    assert_int_equal(ops->alloc(&memory, 8), 0);
    ops->release(memory);
}

TEST(memory_is_copied_both_ways)
{
    struct outputs o = {0};
    struct stream s = {.seed = 3};
    const size_t n = (3u << 20) + 17; /* several pieces of an upload */
    real *x = input(&o, &s, n, 1), *y = input(&o, &s, n, 1), *kept = input(&o, &s, n, 0);
    memcpy(kept, x, n * sizeof *x);
    real *a = device(NULL, n), *b = device(NULL, n);
    assert_false(ops->host);
    assert_int_equal(ops->download(y, a, n * sizeof *y), 0);
    for (size_t i = 0; i < n; i++)
        assert_true(y[i] == 0); /* new memory is zero */
    assert_int_equal(ops->upload(a, x, n * sizeof *x), 0);
    memset(x, 0, n * sizeof *x); /* the caller's memory is its own again */
    assert_int_equal(ops->copy(b + 1, a, (n - 1) * sizeof *x), 0);
    assert_int_equal(ops->zero(a, 5 * sizeof *x), 0);
    assert_int_equal(ops->download(y, a, n * sizeof *y), 0);
    for (size_t i = 0; i < n; i++)
        assert_true(y[i] == (i < 5 ? 0 : kept[i]));
    assert_int_equal(ops->download(y, b, n * sizeof *y), 0);
    assert_memory_equal(y + 1, kept, (n - 1) * sizeof *y);
    assert_true(y[0] == 0);
    ops->release(a);
    ops->release(b);
    ops->release(NULL);
    outputs_free(&o);
    void *none;
    assert_int_equal(ops->alloc(&none, (size_t)1 << 50), ORR_ENOMEM);
    assert_null(none);
    assert_non_null(strstr(orr_error(), "1073741824.0 MiB"));
}

/* More numbers than there are places for before a wait, and each where it was asked for. */
TEST(numbers_come_with_wait)
{
    enum { TIMES = 600, N = 100 };
    real host[N];
    static double sums[TIMES];
    for (int i = 0; i < N; i++)
        host[i] = 1;
    real *x = device(host, N);
    for (size_t k = 0; k < TIMES; k++)
        assert_int_equal(ops->sum_squares(&sums[k], x, 1 + k % N), 0);
    assert_int_equal(ops->wait(), 0);
    for (size_t k = 0; k < TIMES; k++)
        assert_true(sums[k] == (double)(1 + k % N));
    sums[0] = -1;
    assert_int_equal(ops->wait(), 0);
    assert_true(sums[0] == -1); /* delivered once */
    ops->release(x);
}

/* A recording does nothing by itself; a replay does all of it, numbers included, from the values
 * that memory has then; two recordings live beside each other and beside other work. */
TEST(recordings_replay)
{
    enum { N = 300 };
    real host[N], ones[N];
    for (int i = 0; i < N; i++)
        host[i] = (real)i, ones[i] = 1;
    real *x = device(host, N), *one = device(ones, N);
    double sum = 0, first = -1, other = -1, now = -1;
    struct k_recording *add = NULL, *twice = NULL;
    /* everything has run once before: scratch memory is there */
    assert_int_equal(ops->add(x, x, one, N), 0);
    assert_int_equal(ops->sum_squares(&now, x, N), 0);
    assert_int_equal(ops->scale(x, 1, N), 0);
    assert_int_equal(ops->wait(), 0);
    assert_int_equal(ops->upload(x, host, sizeof host), 0);
    assert_int_equal(ops->record_begin(), 0);
    assert_int_equal(ops->record_begin(), ORR_EINVAL);
    assert_int_equal(ops->add(x, x, one, N), 0);
    assert_int_equal(ops->sum_squares(&first, x, N), 0);
    assert_int_equal(ops->record_end(&add), 0);
    assert_int_equal(ops->record_begin(), 0);
    assert_int_equal(ops->scale(x, 2, N), 0);
    assert_int_equal(ops->sum_squares(&other, x, N), 0);
    assert_int_equal(ops->record_end(&twice), 0);
    assert_int_equal(ops->wait(), 0);
    assert_true(first == -1 && other == -1);
    for (int round = 0; round < 3; round++) {
        assert_int_equal(ops->upload(x, host, sizeof host), 0);
        for (int k = 0; k <= round; k++)
            assert_int_equal(ops->replay(add), 0);
        assert_int_equal(ops->replay(twice), 0);
        assert_int_equal(ops->sum_squares(&now, one, N), 0);
        assert_int_equal(ops->wait(), 0);
        sum = 0;
        for (int i = 0; i < N; i++)
            sum += (double)(i + round + 1) * (i + round + 1);
        assert_near(first, sum, 1e-12 * sum);
        assert_near(other, 4 * sum, 1e-12 * sum);
        assert_true(now == N);
        first = other = -1;
    }
    ops->record_free(add);
    assert_int_equal(ops->replay(twice), 0);
    assert_int_equal(ops->wait(), 0);
    assert_near(other, 16 * sum, 1e-12 * sum);
    ops->record_free(twice);
    ops->release(x);
    ops->release(one);
}

/* A recording has the address of scratch memory, which other work outgrows: it stays. */
TEST(scratch_outlives_growth)
{
    enum { SMALL = 64, LARGE = 1024 };
    struct outputs o = {0};
    struct stream s = {.seed = 5};
    const size_t n = (size_t)LARGE * LARGE;
    real *host = input(&o, &s, n, 1), got[SMALL], again[SMALL];
    real *dout = device(host, n), *dw = device(NULL, n), *db = device(NULL, LARGE);
    struct k_recording *recording = NULL;
    assert_int_equal(call_linear_backward(ops, NULL, dw, db, dout, dout, dout, 100, SMALL, SMALL),
                     0);
    assert_int_equal(ops->download(got, db, sizeof got), 0);
    assert_int_equal(ops->record_begin(), 0);
    assert_int_equal(ops->zero(db, sizeof got), 0);
    assert_int_equal(call_linear_backward(ops, NULL, dw, db, dout, dout, dout, 100, SMALL, SMALL),
                     0);
    assert_int_equal(ops->record_end(&recording), 0);
    assert_int_equal(call_linear_backward(ops, NULL, dw, db, dout, dout, dout, 900, SMALL, LARGE),
                     0);
    assert_int_equal(ops->replay(recording), 0);
    assert_int_equal(ops->download(again, db, sizeof again), 0);
    assert_memory_equal(got, again, sizeof got);
    ops->record_free(recording);
    ops->release(dout);
    ops->release(dw);
    ops->release(db);
    outputs_free(&o);
}

/* Scratch memory that would have to grow within a recording is an error that breaks nothing. */
TEST(growth_while_recording_is_refused)
{
    enum { N = 20000, OC = 96 };
    real *dout = device(NULL, (size_t)N * OC), *dw = device(NULL, OC), *db = device(NULL, OC);
    struct k_recording *recording = NULL;
    ops->close(); /* forgets its scratch memory */
    assert_int_equal(ops->open(1, K_PRECISION_FP32), 0);
    assert_int_equal(ops->record_begin(), 0);
    assert_int_not_equal(call_linear_backward(ops, NULL, dw, db, dout, dout, dout, N, 1, OC), 0);
    assert_non_null(strstr(orr_error(), "recording"));
    if (!ops->record_end(&recording))
        ops->record_free(recording);
    assert_int_equal(call_linear_backward(ops, NULL, dw, db, dout, dout, dout, N, 1, OC), 0);
    assert_int_equal(ops->wait(), 0);
    ops->release(dout);
    ops->release(dw);
    ops->release(db);
}

/* Column sums over several chunks of more rows than the smallest: db of one layer, exactly, since
 * the numbers are whole. */
TEST(column_sums_are_whole)
{
    enum { N = 9001, OC = 33 };
    struct outputs o = {0};
    struct stream s = {.seed = 5};
    real *host = input(&o, &s, (size_t)N * OC, 0), found[OC];
    double sums[OC] = {0};
    for (size_t i = 0; i < (size_t)N * OC; i++) {
        host[i] = (real)((i * 7919) % 13);
        sums[i % OC] += (double)host[i];
    }
    real *dout = device(host, (size_t)N * OC), *inp = device(NULL, N), *w = device(NULL, OC);
    real *dw = device(NULL, OC), *db = device(NULL, OC);
    for (int times = 1; times <= 2; times++) { /* adds */
        assert_int_equal(call_linear_backward(ops, NULL, dw, db, dout, inp, w, N, 1, OC), 0);
        assert_int_equal(ops->download(found, db, sizeof found), 0);
        for (int c = 0; c < OC; c++)
            assert_true((double)found[c] == times * sums[c]);
    }
    ops->release(dout);
    ops->release(inp);
    ops->release(w);
    ops->release(dw);
    ops->release(db);
    outputs_free(&o);
}

/* ---- precision: what each rounds to, seen in a product of one term */

TEST(precisions_round_as_they_say)
{
    static const struct {
        enum k_precision precision;
        double kept; /* of 1 + 2^-9 + 2^-12 */
    } known[] = {
        {K_PRECISION_FP32, 1 + 0x1p-9 + 0x1p-12},
        {K_PRECISION_BF16, 1},
    };
    const real x = (real)(1 + 0x1p-9 + 0x1p-12);
    real values[64], ones[64 * 8], out[8 * 8];
    for (size_t i = 0; i < 64; i++)
        values[i] = x;
    for (size_t i = 0; i < sizeof ones / sizeof *ones; i++)
        ones[i] = i % 8 == 0 ? 1 : 0; /* (8, 8): the first column */
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        assert_int_equal(ops->open(1, known[k].precision), 0);
        real *a = device(values, 64), *w = device(ones, 64), *y = device(NULL, 64);
        assert_int_equal(call_linear_forward(ops, y, a, w, NULL, 8, 8, 8), 0);
        assert_int_equal(ops->download(out, y, sizeof out), 0);
        for (int i = 0; i < 64; i++)
            assert_true((double)out[i] == known[k].kept);
        assert_int_equal(call_linear_fp32_only_forward(ops, y, a, w, NULL, 8, 8, 8), 0);
        assert_int_equal(ops->download(out, y, sizeof out), 0);
        for (int i = 0; i < 64; i++)
            assert_true(out[i] == x); /* never rounded */
        ops->release(a);
        ops->release(w);
        ops->release(y);
    }
    assert_int_equal(ops->open(1, K_PRECISION_FP32), 0);
}

/* bf16 copies of rows that are no multiple of 8 long, and inputs that are not aligned. */
TEST(odd_rows_are_rounded_in_place)
{
    static const int sizes[][3] = {{3, 1, 2}, {5, 7, 9}, {17, 40, 33}, {8, 16, 8}, {64, 24, 3}};
    struct outputs o = {0};
    struct stream s = {.seed = 8};
    real *host = input(&o, &s, 4096, 1), *found = input(&o, &s, 4096, 0);
    for (size_t i = 0; i < 4096; i++) /* whole numbers below 256: bf16 has them */
        host[i] = (real)((i * 2654435761u >> 7) % 17) - 8;
    assert_int_equal(ops->open(1, K_PRECISION_BF16), 0);
    real *x = device(host, 4096), *y = device(NULL, 4096);
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        for (int shift = 0; shift < 5; shift++) {
            const int N = sizes[k][0], C = sizes[k][1], OC = sizes[k][2];
            const real *inp = x + shift, *w = x + 2000 + shift, *b = x + 3600 + shift;
            assert_int_equal(call_linear_forward(ops, y + shift, inp, w, b, N, C, OC), 0);
            assert_int_equal(ops->download(found, y, 4096 * sizeof *found), 0);
            for (int n = 0; n < N; n++)
                for (int c = 0; c < OC; c++) {
                    double sum = (double)host[3600 + shift + c];
                    for (int i = 0; i < C; i++)
                        sum += (double)host[shift + n * C + i] *
                               (double)host[2000 + shift + c * C + i];
                    assert_true((double)found[shift + n * OC + c] == sum);
                }
        }
    ops->release(x);
    ops->release(y);
    outputs_free(&o);
    assert_int_equal(ops->open(1, K_PRECISION_FP32), 0);
}

TEST(a_peak_is_measured)
{
    double gflops = 0;
    assert_int_equal(ops->peak(&gflops), 0);
    assert_true(gflops > 0 && isfinite(gflops));
}

TESTS(open_backend, close_backend)
