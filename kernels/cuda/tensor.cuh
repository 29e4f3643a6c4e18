/* tensor.cuh - tiles of bfloat16 for tensor cores; internal to kernels/cuda.
 *
 * The instructions (PTX ISA 9.0: mma.m16n8k16, ldmatrix, cp.async; compute capability 8.0) and
 * tiles in shared memory. A fragment is what a lane holds of a small matrix, g = lane / 4,
 * t = lane % 4:
 *
 *   sums (16, 8), float      [0, 1]: row g, columns 2t, 2t + 1; [2, 3]: row g + 8
 *   A (16, 16), bf16 in pairs  [0] row g, columns 2t..; [1] row g + 8; [2], [3] columns 2t + 8..
 *   B (16, 8), bf16 in pairs   [0] column g, rows 2t..; [1] rows 2t + 8..
 *
 * Two neighbouring fragments of sums, rounded, are therefore a fragment A.
 *
 * A tile has rows of W numbers in pieces of 16 bytes. The order of the pieces depends on the
 * row, so that reading eight rows at once touches every bank once. Places in shared memory are
 * 32-bit byte offsets from the start of dynamic shared memory; all but a few of their bits are
 * compile-time constants. */
#ifndef K_CUDA_TENSOR_CUH
#define K_CUDA_TENSOR_CUH

#include "cuda.h"

typedef __nv_bfloat16 bf16;

enum { PIECE = 8 }; /* numbers in 16 bytes */

#ifdef K_CUDA_HOST

static inline void tensor_multiply(float sums[4], const unsigned a[4], unsigned b0, unsigned b1)
{
    const unsigned b[2] = {b0, b1};
    cuda_host_mma(sums, a, b);
}
static inline char *tensor_shared(void)
{
    return (char *)k_cuda_host_shared();
}
static inline void tensor_load(unsigned to[4], unsigned row)
{
    cuda_host_ldmatrix(to, tensor_shared() + row, false);
}
static inline void tensor_load_across(unsigned to[4], unsigned row)
{
    cuda_host_ldmatrix(to, tensor_shared() + row, true);
}
static inline void tensor_fetch(unsigned to, const void *from, bool there)
{
    cuda_host_copy_async(tensor_shared() + to, from, there ? 16 : 0);
}
static inline void tensor_fetched(void)
{
    cuda_host_copy_commit();
}
template <int LATER> static inline void tensor_wait(void)
{
    cuda_host_copy_wait(LATER);
}
static inline float fast_exp2(float x)
{
    return exp2f(x);
}
static inline float fast_log2(float x)
{
    return log2f(x);
}
static inline float fast_inverse(float x)
{
    return 1.0f / x;
}

#else

/* sums += A B */
static __device__ __forceinline__ void tensor_multiply(float sums[4], const unsigned a[4],
                                                       unsigned b0, unsigned b1)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, "
                 "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

static __device__ __forceinline__ char *tensor_shared(void)
{
    K_SHARED(char, shared);
    return shared;
}

static __device__ __forceinline__ unsigned tensor_address(unsigned place)
{
    return (unsigned)__cvta_generic_to_shared(tensor_shared()) + place;
}

/* Loads four matrices (8, 8). Lanes 8 i .. 8 i + 7 give the addresses of the rows of matrix i,
 * and each lane gets row g, columns 2t, 2t + 1 of each matrix ... */
static __device__ __forceinline__ void tensor_load(unsigned to[4], unsigned row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(tensor_address(row))
                 : "memory");
}

/* ... or column g, rows 2t, 2t + 1. */
static __device__ __forceinline__ void tensor_load_across(unsigned to[4], unsigned row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(tensor_address(row))
                 : "memory");
}

/* Starts the copy of a piece to shared memory. It is complete once its group, closed by
 * tensor_fetched, was waited for. Unless `there`, zeros are written and `from` is not read. */
static __device__ __forceinline__ void tensor_fetch(unsigned to, const void *from, bool there)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(tensor_address(to)),
                 "l"(from), "r"(there ? 16 : 0)
                 : "memory");
}

static __device__ __forceinline__ void tensor_fetched(void)
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}

/* Waits for all groups of the thread except the last LATER. */
template <int LATER> static __device__ __forceinline__ void tensor_wait(void)
{
    asm volatile("cp.async.wait_group %0;" ::"n"(LATER) : "memory");
}

/* 2^x, log2 x and 1 / x by one instruction each, to about 2^-22. */
static __device__ __forceinline__ float fast_exp2(float x)
{
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
static __device__ __forceinline__ float fast_log2(float x)
{
    float y;
    asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
static __device__ __forceinline__ float fast_inverse(float x)
{
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

#endif

/* ---- tiles */

template <int W> static __host__ __device__ constexpr unsigned tile_bytes(int rows)
{
    return (unsigned)(rows * W) * (unsigned)sizeof(bf16);
}

/* The offset of a piece of a row from the start of the tile. Eight rows later the offset is
 * larger by tile_bytes(8); 2 k pieces after an even piece it differs by an exclusive or with 32
 * k. */
template <int W> static __device__ __forceinline__ unsigned tile_place(int row, int piece)
{
    const int turn = W >= 64 ? row % 8 : row / 2 % 4;
    return tile_bytes<W>(row) + (unsigned)((piece ^ turn) * 16);
}

/* Stores two numbers at an offset that is a multiple of 4. */
static __device__ __forceinline__ void tensor_store(unsigned place, unsigned pair)
{
    *(unsigned *)(tensor_shared() + place) = pair;
}

template <int W>
static __device__ __forceinline__ float tile_number(unsigned tile, int row, int column)
{
    const unsigned at = tile + tile_place<W>(row, column / PIECE);
    return __bfloat162float(((const bf16 *)(tensor_shared() + at))[column % PIECE]);
}

/* All THREADS of the block fetch rows first .. first + ROWS - 1 of `from`, `stride` apart; zeros
 * from row `rows` on. */
template <int W, int ROWS, int THREADS>
static __device__ __forceinline__ void tile_fetch(unsigned to, const bf16 *from, ptrdiff_t stride,
                                                  int first, int rows)
{
    constexpr int pieces = W / PIECE, together = THREADS / pieces;
    const int piece = (int)threadIdx.x % pieces, row = (int)threadIdx.x / pieces;
    static_assert(ROWS % together == 0 && together % 8 == 0, "whole rounds, the same turns");
    to += tile_place<W>(row, piece);
    from += (first + row) * stride + piece * PIECE;
#pragma unroll
    for (int r = 0; r < ROWS; r += together) {
        tensor_fetch(to + tile_bytes<W>(r), from, first + row + r < rows);
        from += together * stride;
    }
}

/* Loads fragments A of rows row .. row + 15 (row is a multiple of 8), all W columns. */
template <int W>
static __device__ __forceinline__ void tile_take(unsigned a[W / 16][4], unsigned tile, int row)
{
    const int lane = (int)threadIdx.x % K_WARP;
    const unsigned at = tile_place<W>(lane % 16, lane / 16);
    tile += tile_bytes<W>(row);
#pragma unroll
    for (int k = 0; k < W / 16; k++)
        tensor_load(a[k], tile + (at ^ (unsigned)(32 * k)));
}

/* sums (MT tiles of 16 rows, N columns of 8) = A times the transpose of the first 8 N rows of
 * `tile`: scores of 8 N keys. */
template <int W, int MT, int N>
static __device__ __forceinline__ void tile_scores(float sums[MT][N][4],
                                                   const unsigned a[MT][W / 16][4], unsigned tile)
{
    const int lane = (int)threadIdx.x % K_WARP;
    const unsigned at = tile_place<W>(lane / 16 * 8 + lane % 8, lane / 8 % 2);
#pragma unroll
    for (int m = 0; m < MT; m++)
#pragma unroll
        for (int n = 0; n < N; n++)
#pragma unroll
            for (int i = 0; i < 4; i++)
                sums[m][n][i] = 0.0f;
#pragma unroll
    for (int k = 0; k < W / 16; k++) {
        const unsigned row = tile + (at ^ (unsigned)(32 * k));
#pragma unroll
        for (int n = 0; n < N; n += 2) {
            unsigned b[4];
            tensor_load(b, row + tile_bytes<W>(8 * n));
#pragma unroll
            for (int m = 0; m < MT; m++) {
                tensor_multiply(sums[m][n], a[m][k], b[0], b[1]);
                tensor_multiply(sums[m][n + 1], a[m][k], b[2], b[3]);
            }
        }
    }
}

/* sums (MT tiles of 16 rows, W columns) += A times the first 8 N rows of `tile`; A has been
 * rounded from N fragments of sums. */
template <int W, int MT, int N>
static __device__ __forceinline__ void tile_add(float sums[MT][W / 8][4],
                                                const unsigned a[MT][N / 2][4], unsigned tile)
{
    const int lane = (int)threadIdx.x % K_WARP;
    const unsigned at = tile_place<W>(lane % 16, lane / 16);
#pragma unroll
    for (int n = 0; n < W / 8; n += 2) {
        const unsigned row = tile + (at ^ (unsigned)(16 * n));
#pragma unroll
        for (int k = 0; k < N / 2; k++) {
            unsigned b[4];
            tensor_load_across(b, row + tile_bytes<W>(16 * k));
#pragma unroll
            for (int m = 0; m < MT; m++) {
                tensor_multiply(sums[m][n], a[m][k], b[0], b[1]);
                tensor_multiply(sums[m][n + 1], a[m][k], b[2], b[3]);
            }
        }
    }
}

static __device__ __forceinline__ unsigned tensor_pair(float x, float y)
{
    const __nv_bfloat162 h = __floats2bfloat162_rn(x, y);
    unsigned pair;
    memcpy(&pair, &h, sizeof(pair));
    return pair;
}

/* x rounded to bf16 and back to float. */
static __device__ __forceinline__ float tensor_rounded(float x)
{
    return __bfloat162float(__float2bfloat16_rn(x));
}

/* Rounds fragments of sums to fragments A. */
template <int N>
static __device__ __forceinline__ void tensor_round(unsigned a[N / 2][4], const float sums[N][4])
{
#pragma unroll
    for (int k = 0; k < N / 2; k++) {
        a[k][0] = tensor_pair(sums[2 * k][0], sums[2 * k][1]);
        a[k][1] = tensor_pair(sums[2 * k][2], sums[2 * k][3]);
        a[k][2] = tensor_pair(sums[2 * k + 1][0], sums[2 * k + 1][1]);
        a[k][3] = tensor_pair(sums[2 * k + 1][2], sums[2 * k + 1][3]);
    }
}

/* Masks scores (16 rows, 8 N columns) with -INFINITY: columns after `last` and columns up to
 * `none` of each row. Both are given for the thread's first row and counted from its first
 * column; for a later row they are larger by the number of rows between. */
template <int N>
static __device__ __forceinline__ void tensor_mask(float s[N][4], int none, int last)
{
#pragma unroll
    for (int n = 0; n < N; n++)
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const int at = 8 * n + i % 2 - i / 2 * 8;
            if (at > last || at <= none)
                s[n][i] = -INFINITY;
        }
}

/* The sum, or the largest, over the four lanes that have numbers of one row. */
static __device__ __forceinline__ float row_sum(float x)
{
    x += __shfl_xor_sync(0xffffffffu, x, 1);
    return x + __shfl_xor_sync(0xffffffffu, x, 2);
}

static __device__ __forceinline__ float row_largest(float x)
{
    x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, 1));
    return fmaxf(x, __shfl_xor_sync(0xffffffffu, x, 2));
}

#endif
