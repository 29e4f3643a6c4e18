/* cuda_host_barrier.cc - mbarriers and copies of tensors (TMA), as PTX describes them.
 *
 * A barrier's state is kept beside its 8 bytes of shared memory, which hold a pattern: what writes
 * over them is found. A copy is late: its destination is NaN from its issue on, and its bytes come
 * when a thread asks for the phase after all arrivals were made. */
#include "cuda_host_internal.h"

#include <map>
#include <vector>

enum { DIMENSIONS = 5, MOST_ARRIVALS = (1 << 20) - 1, THREADS = 1024, WORDS = 256 * 1024 / 4 };

/* ---- maps */

static const uint64_t MAP_PATTERN = 0x70616d726f736e74, BARRIER_PATTERN = 0x7265697272616200;

struct map { /* what the 128 bytes of a CUtensorMap hold */
    uint64_t pattern;
    char *address;
    uint64_t strides[DIMENSIONS]; /* bytes; the first is an element's */
    uint32_t last[DIMENSIONS];    /* the largest coordinates */
    uint16_t box[DIMENSIONS];
    uint8_t rank, span; /* bytes that are swizzled; 16 where none are */
};
static_assert(sizeof(struct map) <= sizeof(CUtensorMap), "a map has 128 bytes");

static unsigned element_bytes(CUtensorMapDataType type)
{
    static const uint8_t bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
    return (size_t)type < sizeof(bytes) ? bytes[type] : 0; /* 0: packed types, not emulated */
}

static CUresult encode(CUtensorMap *to, CUtensorMapDataType type, cuuint32_t rank, void *address,
                       const cuuint64_t *sizes, const cuuint64_t *strides, const cuuint32_t *box,
                       const cuuint32_t *steps, CUtensorMapInterleave interleave,
                       CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                       CUtensorMapFloatOOBfill fill)
{
    static const uint8_t spans[] = {16, 32, 64, 128};
    struct map m = {};
    const unsigned bytes = element_bytes(type);
    if (cuda_host_capability() < 90)
        return CUDA_ERROR_NOT_SUPPORTED;
    if (!to || (uintptr_t)to % 64 || !bytes || !rank || rank > DIMENSIONS || !address ||
        (uintptr_t)address % 16 || !sizes || (rank > 1 && !strides) || !box || !steps ||
        interleave != CU_TENSOR_MAP_INTERLEAVE_NONE || (unsigned)swizzle >= sizeof(spans) ||
        (unsigned)promotion > CU_TENSOR_MAP_L2_PROMOTION_L2_256B ||
        fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE)
        return CUDA_ERROR_INVALID_VALUE;
    m.pattern = MAP_PATTERN;
    m.address = (char *)address;
    m.rank = (uint8_t)rank;
    m.span = spans[swizzle];
    m.strides[0] = bytes;
    for (unsigned i = 0; i < rank; i++) {
        if (!sizes[i] || sizes[i] > (cuuint64_t)1 << 32 || !box[i] || box[i] > 256 || steps[i] != 1)
            return CUDA_ERROR_INVALID_VALUE;
        if (i && (strides[i - 1] % 16 || strides[i - 1] >= (cuuint64_t)1 << 40))
            return CUDA_ERROR_INVALID_VALUE;
        m.last[i] = (uint32_t)(sizes[i] - 1);
        m.box[i] = (uint16_t)box[i];
        if (i)
            m.strides[i] = strides[i - 1];
    }
    if (box[0] * bytes % 16 || (m.span > 16 && box[0] * bytes > m.span))
        return CUDA_ERROR_INVALID_VALUE;
    memset(to, 0, sizeof(*to));
    memcpy(to, &m, sizeof(m));
    return CUDA_SUCCESS;
}

cudaError_t cudaGetDriverEntryPointByVersion(const char *symbol, void **function, unsigned version,
                                             unsigned long long,
                                             enum cudaDriverEntryPointQueryResult *status)
{
    int driver;
    cudaDriverGetVersion(&driver);
    if (!symbol || !function || (int)version > driver)
        return cuda_host_fail(cudaErrorInvalidValue, "entry point of version %u of the driver %d",
                              version, driver);
    const bool known = !strcmp(symbol, "cuTensorMapEncodeTiled");
    *function = known && version >= 12000 ? (void *)encode : NULL;
    if (status)
        *status = *function ? cudaDriverEntryPointSuccess
                  : known   ? cudaDriverEntryPointVersionNotSufficent
                            : cudaDriverEntryPointSymbolNotFound;
    return cudaSuccess;
}

/* ---- stores that products and copies do not see yet: the last one to every word */

static struct {
    unsigned block;  /* another one's store is over */
    unsigned fences; /* of the thread, before the store */
    int thread;
} stored[WORDS];
static unsigned block, fences[THREADS];

void cuda_host_shared_written(unsigned at, unsigned bytes)
{
    const int thread = cuda_host_thread();
    for (unsigned word = at / 4; word < WORDS && word * 4 < at + bytes; word++)
        stored[word] = {block, fences[thread], thread};
}

void cuda_host_fence_async(void)
{
    cuda_host_need_hopper("fence.proxy.async");
    fences[cuda_host_thread()]++;
}

void cuda_host_need_fenced(const char *what, unsigned at, unsigned bytes)
{
    for (unsigned word = at / 4; word < WORDS && word * 4 < at + bytes; word++)
        if (stored[word].block == block && stored[word].fences == fences[stored[word].thread])
            cuda_host_stop("%s of 0x%x, which thread %d stored without fence.proxy.async after it",
                           what, word * 4, stored[word].thread);
}

/* ---- barriers */

struct copy {
    unsigned to, bytes;
    struct map map;
    int64_t from[DIMENSIONS]; /* coordinates */
};
struct barrier {
    unsigned count, missing;      /* arrivals of a phase; those that were not made */
    unsigned phase;               /* the number of the one under way */
    uint64_t expected, under_way; /* bytes of the phase: of the arrivals, of the copies */
    std::vector<struct copy> copies;
};
static std::map<unsigned, struct barrier> barriers;

void cuda_host_barriers_start(void)
{
    block++;
    barriers.clear();
}

/* (A phase that some arrived at and others did not: arrivals and count do not belong together.) */
const char *cuda_host_barriers_left(void)
{
    static char text[160];
    for (const auto &entry : barriers) {
        const struct barrier &b = entry.second;
        if (!b.copies.empty() || b.expected)
            snprintf(text, sizeof(text),
                     "barrier 0x%x: nobody waited for %llu bytes of copies and %llu expected bytes",
                     entry.first, (unsigned long long)b.under_way, (unsigned long long)b.expected);
        else if (b.missing != b.count)
            snprintf(text, sizeof(text),
                     "barrier 0x%x: %u of the %u arrivals of phase %u were made at the end",
                     entry.first, b.count - b.missing, b.count, b.phase);
        else
            continue;
        return text;
    }
    return NULL;
}

static char *shared_bytes(const char *what, unsigned at, size_t bytes)
{
    const size_t all = cuda_host_shared_bytes();
    if (at > all || all - at < bytes)
        cuda_host_stop("%s: %zu bytes at 0x%x: shared memory has %zu bytes", what, bytes, at, all);
    return (char *)k_cuda_host_shared() + at;
}

static struct barrier *barrier_at(const char *what, unsigned at)
{
    cuda_host_need_hopper(what);
    const auto found = barriers.find(at);
    if (found == barriers.end())
        cuda_host_stop("%s: no barrier was initialised at 0x%x", what, at);
    if (memcmp(shared_bytes(what, at, 8), &BARRIER_PATTERN, 8))
        cuda_host_stop("%s: barrier 0x%x was written over", what, at);
    return &found->second;
}

void cuda_host_barrier_init(unsigned at, unsigned count)
{
    cuda_host_need_hopper("mbarrier.init");
    if (at % 8)
        cuda_host_stop("mbarrier.init at 0x%x, which is not aligned to 8 bytes", at);
    if (!count || count > MOST_ARRIVALS)
        cuda_host_stop("mbarrier.init at 0x%x for %u arrivals", at, count);
    char *bytes = shared_bytes("mbarrier.init", at, 8);
    if (barriers.count(at))
        cuda_host_stop("mbarrier.init: barrier 0x%x is initialised twice", at);
    memcpy(bytes, &BARRIER_PATTERN, 8);
    barriers[at] = {count, count, 0, 0, 0, {}};
    cuda_host_went_on();
}

static void next_phase(struct barrier *b)
{
    b->phase++;
    b->missing = b->count;
    b->expected = b->under_way = 0;
    b->copies.clear();
    cuda_host_went_on();
}

/* After an arrival or a copy: no byte may come that nobody expects. */
static void look_at_bytes(unsigned at, const struct barrier *b)
{
    if (!b->missing && b->under_way > b->expected)
        cuda_host_stop("barrier 0x%x: copies bring %llu bytes, and %llu are expected", at,
                       (unsigned long long)b->under_way, (unsigned long long)b->expected);
}

static void arrive(const char *what, unsigned at, unsigned bytes)
{
    struct barrier *b = barrier_at(what, at);
    if (bytes > MOST_ARRIVALS || b->expected + bytes > MOST_ARRIVALS)
        cuda_host_stop("%s: barrier 0x%x cannot count %u bytes", what, at, bytes);
    if (!b->missing)
        cuda_host_stop("%s: barrier 0x%x has its %u arrivals, and its phase is not complete", what,
                       at, b->count);
    b->expected += bytes;
    b->missing--;
    cuda_host_went_on();
    look_at_bytes(at, b);
    if (!b->missing && !b->expected)
        next_phase(b);
}

void cuda_host_barrier_expect(unsigned at, unsigned bytes)
{
    arrive("mbarrier.arrive.expect_tx", at, bytes);
}

void cuda_host_barrier_arrive(unsigned at)
{
    arrive("mbarrier.arrive", at, 0);
}

/* ---- copies of tensors */

/* The numbers of a row of the box that the tensor has, at `to`; the others stay 0. */
static void read_row(const struct map *m, const int64_t *from, char *to)
{
    const char *address = m->address;
    for (int i = 1; i < m->rank; i++) {
        if (from[i] < 0 || from[i] > (int64_t)m->last[i])
            return;
        address += (uint64_t)from[i] * m->strides[i];
    }
    const int64_t first = from[0] < 0 ? 0 : from[0], last = from[0] + m->box[0] - 1;
    const int64_t end = last > (int64_t)m->last[0] ? (int64_t)m->last[0] + 1 : last + 1;
    if (first >= end)
        return;
    const size_t bytes = (size_t)(end - first) * m->strides[0];
    const char *memory = NULL;
    size_t all = 0;
    address += (uint64_t)first * m->strides[0];
    cuda_host_memory_find(address, &memory, &all);
    if (!memory || bytes > all - (size_t)(address - memory)) {
        char where[192];
        cuda_host_memory_describe(address, where, sizeof(where));
        cuda_host_stop("a copy of a tensor reads %zu bytes at %p: %s", bytes, (const void *)address,
                       where);
    }
    memcpy(to + (size_t)(first - from[0]) * m->strides[0], address, bytes);
}

static void deliver(const struct copy *c)
{
    const struct map *m = &c->map;
    const unsigned bytes = m->box[0] * (unsigned)m->strides[0];
    const unsigned rows = c->bytes / bytes;
    char row[256 * 8], *shared = (char *)k_cuda_host_shared();
    for (unsigned r = 0; r < rows; r++) {
        int64_t from[DIMENSIONS] = {c->from[0]};
        unsigned rest = r;
        for (int i = 1; i < m->rank; i++) {
            from[i] = c->from[i] + rest % m->box[i];
            rest /= m->box[i];
        }
        memset(row, 0, bytes);
        read_row(m, from, row);
        for (unsigned i = 0; i < bytes; i += 16)
            memcpy(shared + cuda_host_swizzled(c->to + r * bytes + i, m->span), row + i, 16);
    }
}

void cuda_host_tensor_copy(unsigned to, const CUtensorMap *map, int c0, int c1, int c2, int c3,
                           unsigned barrier)
{
    static const char what[] = "cp.async.bulk.tensor";
    struct copy c = {to, 0, {}, {c0, c1, c2, c3, 0}};
    struct barrier *b = barrier_at(what, barrier);
    if ((uintptr_t)map % 64)
        cuda_host_stop("%s: the map is not aligned to 64 bytes", what);
    memcpy(&c.map, map, sizeof(c.map));
    if (c.map.pattern != MAP_PATTERN)
        cuda_host_stop("%s: cuTensorMapEncodeTiled did not make the map", what);
    if (c.map.rank != 4)
        cuda_host_stop("%s: four coordinates for a tensor of %d dimensions", what, c.map.rank);
    c.bytes = (unsigned)c.map.strides[0];
    for (int i = 0; i < 4; i++)
        c.bytes *= c.map.box[i];
    const unsigned alignment = c.map.span == 16 ? 128 : 8u * c.map.span;
    if (to % alignment)
        cuda_host_stop("%s to 0x%x, which is not aligned to %u bytes", what, to, alignment);
    if (c.map.span > 16 && c.map.box[0] * c.map.strides[0] != c.map.span)
        cuda_host_stop("%s: rows of %u bytes in a swizzle of %d are not emulated", what,
                       c.map.box[0] * (unsigned)c.map.strides[0], c.map.span);
    char *bytes = shared_bytes(what, to, c.bytes);
    for (const auto &other : barriers)
        for (const struct copy &o : other.second.copies)
            if (to < o.to + o.bytes && o.to < to + c.bytes)
                cuda_host_stop("%s to 0x%x, where another copy is under way", what, to);
    cuda_host_need_fenced(what, to, c.bytes);
    memset(bytes, 0xff, c.bytes);
    b->under_way += c.bytes;
    b->copies.push_back(c);
    cuda_host_went_on();
    look_at_bytes(barrier, b);
}

/* ---- waiting */

bool cuda_host_barrier_passable(unsigned at, unsigned parity)
{
    const auto found = barriers.find(at);
    if (found == barriers.end())
        return true; /* (it cannot be: the thread goes on and fails) */
    const struct barrier &b = found->second;
    return b.phase % 2 != parity || (!b.missing && b.under_way == b.expected);
}

void cuda_host_barrier_describe(unsigned at, char *text, size_t size)
{
    const struct barrier &b = barriers[at];
    snprintf(text, size, "phase %u lacks %u of %u arrivals and %lld of %llu bytes", b.phase,
             b.missing, b.count, (long long)(b.expected - b.under_way),
             (unsigned long long)b.expected);
}

bool cuda_host_barrier_done(unsigned at, unsigned parity)
{
    static const char what[] = "mbarrier.try_wait.parity";
    if (parity > 1)
        cuda_host_stop("%s of parity %u", what, parity);
    barrier_at(what, at);
    if (!cuda_host_barrier_passable(at, parity))
        cuda_host_spin(at, parity);
    struct barrier *b = barrier_at(what, at);
    if (!cuda_host_barrier_passable(at, parity))
        return false;
    if (b->phase % 2 == parity) {
        for (const struct copy &c : b->copies)
            deliver(&c);
        next_phase(b);
    }
    cuda_host_went_on();
    return true;
}
