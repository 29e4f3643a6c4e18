/* hopper.cuh - tiles for the tensor cores of compute capability 9.0 (sm_90a); internal to
 * kernels/cuda.
 *
 * The instructions (PTX ISA 9.0: wgmma.mma_async.m64nNk16, cp.async.bulk.tensor, mbarrier): four
 * warps multiply at once, warp w has rows 16 w .. 16 w + 15 of the 64, in the fragments of
 * tensor.cuh; operands lie in shared memory; A may also be in registers. One thread starts the
 * fetch of a whole tile, and a barrier in shared memory signals its completion.
 *
 * A tile has rows of SPAN numbers, 64 or 32, whose pieces of 16 bytes are laid out as in
 * tensor.cuh (a swizzle of 128 or 64 bytes). With 128 numbers in a row it consists of two such
 * tiles, one after the other: the first 64 columns, then the others. Tiles begin at a multiple
 * of 1,024 bytes.
 *
 * A product uses its registers, sums and A, until hopper_wait; code before that must not touch
 * them. Call hopper_ready before the first product whose registers were written by other code,
 * and hopper_close after the last product of a group. hopper_hold after hopper_wait keeps the
 * compiler from moving uses of sums before the wait. */
#ifndef K_CUDA_HOPPER_CUH
#define K_CUDA_HOPPER_CUH

#ifndef K_CUDA_HOST
#include <cuda.h> /* CUtensorMap */
#endif

#include "tensor.cuh"

enum {
    HOPPER_SLACK = 1008,  /* most bytes before the first offset that is a multiple of 1,024 */
    HOPPER_BARRIERS = 16, /* bytes of the barriers of two buffers, 8 each */
};

#ifdef K_CUDA_HOST

static inline unsigned hopper_base(void)
{
    return 0;
}
static inline unsigned hopper_address(unsigned place)
{
    return place;
}
static inline void hopper_barrier_make(unsigned barrier)
{
    cuda_host_barrier_init(barrier, 1);
}
static inline void hopper_barriers_made(void)
{
    cuda_host_fence_async();
}
static inline void hopper_expect(unsigned barrier, unsigned bytes)
{
    cuda_host_barrier_expect(barrier, bytes);
}
static inline void hopper_await(unsigned barrier, unsigned turn)
{
    while (!cuda_host_barrier_done(barrier, turn % 2))
        ;
}
static inline void hopper_fetch_box(unsigned to, const CUtensorMap *map, int c0, int c1, int c2,
                                    int c3, unsigned barrier)
{
    cuda_host_tensor_copy(to, map, c0, c1, c2, c3, barrier);
}
static inline void hopper_store(unsigned place, unsigned pair)
{
    *(unsigned *)(tensor_shared() + place) = pair;
    cuda_host_shared_written(place, sizeof(pair));
}
static inline void hopper_stored(void)
{
    cuda_host_fence_async();
}
static inline void hopper_ready(void)
{
    cuda_host_wgmma_fence();
}
static inline void hopper_close(void)
{
    cuda_host_wgmma_commit();
}
template <int LATER> static inline void hopper_wait(void)
{
    cuda_host_wgmma_wait(LATER);
}
template <int N> static inline void hopper_hold(float sums[N][4])
{
    (void)sums;
}
template <int N, bool ACROSS>
static inline void hopper_multiply(float sums[N / 8][4], uint64_t a, uint64_t b, bool add)
{
    cuda_host_wgmma(sums[0], N, NULL, a, b, add, ACROSS, ACROSS);
}
template <int N>
static inline void hopper_multiply_rows(float sums[N / 8][4], const unsigned a[4], uint64_t b)
{
    cuda_host_wgmma(sums[0], N, a, 0, b, true, false, true);
}

#else

static __device__ __forceinline__ unsigned hopper_address(unsigned place)
{
    return tensor_address(place);
}

/* The first offset whose address is a multiple of 1,024 bytes. */
static __device__ __forceinline__ unsigned hopper_base(void)
{
    return (0u - tensor_address(0)) % 1024u;
}

/* A barrier (8 bytes) at which one thread arrives in each phase, with the number of bytes that
 * it expects. */
static __device__ __forceinline__ void hopper_barrier_make(unsigned barrier)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(hopper_address(barrier))
                 : "memory");
}

static __device__ __forceinline__ void hopper_barriers_made(void)
{
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

static __device__ __forceinline__ void hopper_expect(unsigned barrier, unsigned bytes)
{
    asm volatile(
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(hopper_address(barrier)),
        "r"(bytes)
        : "memory");
}

/* Waits until phase `turn` of the barrier, counted from 0, is over. */
static __device__ __forceinline__ void hopper_await(unsigned barrier, unsigned turn)
{
    unsigned done;
    do
        asm volatile("{\n\t"
                     ".reg .pred over;\n\t"
                     "mbarrier.try_wait.parity.shared::cta.b64 over, [%1], %2;\n\t"
                     "selp.u32 %0, 1, 0, over;\n\t"
                     "}"
                     : "=r"(done)
                     : "r"(hopper_address(barrier)), "r"(turn % 2)
                     : "memory");
    while (!done);
}

/* Fetches the box of a tensor map that begins at (c0, c1, c2, c3); zeros outside the tensor. */
static __device__ __forceinline__ void hopper_fetch_box(unsigned to, const CUtensorMap *map, int c0,
                                                        int c1, int c2, int c3, unsigned barrier)
{
    asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3, %4, %5}], [%6];" ::"r"(hopper_address(to)),
                 "l"(map), "r"(c0), "r"(c1), "r"(c2), "r"(c3), "r"(hopper_address(barrier))
                 : "memory");
}

/* Stores two numbers that products will read, as tensor_store does. */
static __device__ __forceinline__ void hopper_store(unsigned place, unsigned pair)
{
    tensor_store(place, pair);
}

/* After this and a barrier, products see what the thread has stored. */
static __device__ __forceinline__ void hopper_stored(void)
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

static __device__ __forceinline__ void hopper_ready(void)
{
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

static __device__ __forceinline__ void hopper_close(void)
{
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

/* Waits for all groups of products except the last LATER. */
template <int LATER> static __device__ __forceinline__ void hopper_wait(void)
{
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(LATER) : "memory");
}

template <int N> static __device__ __forceinline__ void hopper_hold(float sums[N][4])
{
#pragma unroll
    for (int n = 0; n < N; n++)
        asm volatile(""
                     : "+f"(sums[n][0]), "+f"(sums[n][1]), "+f"(sums[n][2]), "+f"(sums[n][3])
                     :
                     : "memory");
}

#define HOPPER_4(s) "+f"((s)[0]), "+f"((s)[1]), "+f"((s)[2]), "+f"((s)[3])
#define HOPPER_SUMS(s, n)                                                                          \
    HOPPER_4((s)[n]), HOPPER_4((s)[n + 1]), HOPPER_4((s)[n + 2]), HOPPER_4((s)[n + 3])
#define HOPPER_SUMS_32(s) HOPPER_SUMS(s, 0)
#define HOPPER_SUMS_64(s) HOPPER_SUMS(s, 0), HOPPER_SUMS(s, 4)
#define HOPPER_SUMS_128(s)                                                                         \
    HOPPER_SUMS(s, 0), HOPPER_SUMS(s, 4), HOPPER_SUMS(s, 8), HOPPER_SUMS(s, 12)
#define HOPPER_REGISTERS_32 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15"
#define HOPPER_REGISTERS_64                                                                        \
    HOPPER_REGISTERS_32 ", %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, "      \
                        "%29, %30, %31"
#define HOPPER_REGISTERS_128                                                                       \
    HOPPER_REGISTERS_64 ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, " \
                        "%46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, "   \
                        "%60, %61, %62, %63"
/* A, B: operands of the instruction; P: whether the product is added to sums; the others:
 * numbers of registers */
#define HOPPER_TILES(N, A, B, P, ACROSS_A, ACROSS_B)                                               \
    "{\n\t.reg .pred add;\n\tsetp.ne.b32 add, " P ", 0;\n\t"                                       \
    "wgmma.mma_async.sync.aligned.m64n" #N "k16.f32.bf16.bf16 {" HOPPER_REGISTERS_##N              \
        "}, " A ", " B ", add, 1, 1, " ACROSS_A ", " ACROSS_B ";\n\t}"
#define HOPPER_ROWS(N, A, B)                                                                       \
    "wgmma.mma_async.sync.aligned.m64n" #N "k16.f32.bf16.bf16 {" HOPPER_REGISTERS_##N              \
        "}, {" A "}, " B ", 1, 1, 1, 1;"

/* sums (64 rows, N columns) = A B, added to sums when `add`; A and B are descriptors of tiles.
 * ACROSS: both are stored with k across their rows, so that rows of A are columns of its tile
 * and columns of B are columns of its tile. */
template <int N, bool ACROSS>
static __device__ __forceinline__ void hopper_multiply(float sums[N / 8][4], uint64_t a, uint64_t b,
                                                       bool add)
{
    if constexpr (N == 32)
        asm volatile(HOPPER_TILES(32, "%16", "%17", "%18", "%19", "%19")
                     : HOPPER_SUMS_32(sums)
                     : "l"(a), "l"(b), "r"((int)add), "n"((int)ACROSS));
    else
        asm volatile(HOPPER_TILES(64, "%32", "%33", "%34", "%35", "%35")
                     : HOPPER_SUMS_64(sums)
                     : "l"(a), "l"(b), "r"((int)add), "n"((int)ACROSS));
    static_assert(N == 32 || N == 64, "columns");
}

/* sums (64 rows, N columns) += A B, with A in registers and B stored with k across its rows. */
template <int N>
static __device__ __forceinline__ void hopper_multiply_rows(float sums[N / 8][4],
                                                            const unsigned a[4], uint64_t b)
{
    if constexpr (N == 32)
        asm volatile(HOPPER_ROWS(32, "%16, %17, %18, %19", "%20")
                     : HOPPER_SUMS_32(sums)
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
    else if constexpr (N == 64)
        asm volatile(HOPPER_ROWS(64, "%32, %33, %34, %35", "%36")
                     : HOPPER_SUMS_64(sums)
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
    else
        asm volatile(HOPPER_ROWS(128, "%64, %65, %66, %67", "%68")
                     : HOPPER_SUMS_128(sums)
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
    static_assert(N == 32 || N == 64 || N == 128, "columns");
}

#endif

/* Initialises the barriers of two buffers; called by one thread before the block's next
 * __syncthreads. */
static __device__ __forceinline__ void hopper_barriers_make(unsigned barriers)
{
    hopper_barrier_make(barriers);
    hopper_barrier_make(barriers + 8);
    hopper_barriers_made();
}

/* ---- tiles of W columns, ROWS rows */

template <int W> static __host__ __device__ constexpr int hopper_span(void)
{
    return W < 64 ? W : 64;
}

/* Bytes from one part of 64 columns to the next. */
template <int W, int ROWS> static __host__ __device__ constexpr unsigned hopper_part(void)
{
    return tile_bytes<hopper_span<W>()>(ROWS);
}

template <int W, int ROWS> struct hopper_tile {
    static constexpr int SPAN = hopper_span<W>(), PIECES = SPAN / PIECE;

    /* The offset of a piece of a row from the start of the tile. */
    static __device__ __forceinline__ unsigned place(int row, int piece)
    {
        return (unsigned)(piece / PIECES) * hopper_part<W, ROWS>() +
               tile_place<SPAN>(row, piece % PIECES);
    }

    static __device__ __forceinline__ float number(unsigned tile, int row, int column)
    {
        const unsigned at = tile + place(row, column / PIECE);
        return __bfloat162float(((const bf16 *)(tensor_shared() + at))[column % PIECE]);
    }

    /* Starts the fetch of rows row .. row + ROWS - 1 of a head; called by one thread. The
     * dimensions of the map are columns, rows, heads, sequences or, with heads_first, columns,
     * heads, rows, sequences. */
    static __device__ __forceinline__ void fetch(unsigned to, const CUtensorMap *map,
                                                 bool heads_first, int row, int head, int sequence,
                                                 unsigned barrier)
    {
#pragma unroll
        for (int part = 0; part < W / SPAN; part++)
            hopper_fetch_box(to + (unsigned)part * hopper_part<W, ROWS>(), map, part * SPAN,
                             heads_first ? head : row, heads_first ? row : head, sequence, barrier);
    }

    /* Descriptor of the tile's rows from `row` on, a multiple of 8 (PTX ISA 9.0, "Matrix
     * descriptor"). It has the distances of eight rows and, with k across them, of the next
     * part's columns. */
    static __device__ __forceinline__ uint64_t descriptor(unsigned tile, int row)
    {
        const uint64_t swizzle = SPAN == 64 ? 1 : 2;
        const unsigned address = hopper_address(tile) + tile_bytes<SPAN>(row);
        return swizzle << 62 | (uint64_t)(tile_bytes<SPAN>(8) / 16) << 32 |
               (uint64_t)(hopper_part<W, ROWS>() / 16 % (1u << 14)) << 16 |
               (uint64_t)(address % (1u << 18) / 16);
    }

    /* Added to a tile's descriptor, gives the descriptor of its columns from 16 k on. */
    static __device__ __forceinline__ constexpr uint64_t columns(int k)
    {
        return (uint64_t)(k / (SPAN / 16)) * (hopper_part<W, ROWS>() / 16) +
               (uint64_t)(k % (SPAN / 16) * 2);
    }

    /* Added to a tile's descriptor, gives the descriptor of its rows from 16 k on. */
    static __device__ __forceinline__ constexpr uint64_t rows(int k)
    {
        return (uint64_t)(k * (int)(tile_bytes<SPAN>(16) / 16));
    }
};

/* sums (64 rows, 8 N columns) = rows of A times rows of B: tiles of W columns, given by their
 * descriptors. */
template <class TILE_A, class TILE_B, int W, int N>
static __device__ __forceinline__ void hopper_scores(float sums[N][4], uint64_t a, uint64_t b)
{
#pragma unroll
    for (int k = 0; k < W / 16; k++)
        hopper_multiply<8 * N, false>(sums, a + TILE_A::columns(k), b + TILE_B::columns(k), k > 0);
}

/* sums (64 rows, W columns) += A B: A has 8 N columns in registers, B is 8 N rows of a tile. */
template <class TILE, int W, int N>
static __device__ __forceinline__ void hopper_add(float sums[W / 8][4], const unsigned a[N / 2][4],
                                                  uint64_t b)
{
#pragma unroll
    for (int k = 0; k < N / 2; k++)
        hopper_multiply_rows<W>(sums, a[k], b + TILE::rows(k));
}

#endif
