/* cuda_host_hopper.cc - products of a warpgroup (wgmma), as PTX describes them.
 *
 * A product is late. Its sums become NaN when it is issued; it is computed when it is waited for,
 * from shared memory as it is then and from registers as they were when it was issued. Products are
 * computed by warps: the first lane that waits for one multiplies the warp's 16 rows, the others
 * take their numbers from it, because all lanes of a warp wait together. */
#include "cuda_host_internal.h"

#include <deque>
#include <map>
#include <vector>

enum { THREADS = 1024, WARP = 32, GROUP = 128, ROWS = 64, K = 16, N_MOST = 256 };

/* ---- tiles in shared memory: PTX ISA, matrix descriptor and canonical layouts */

struct tile {
    unsigned start, leading, stride; /* bytes */
    unsigned span;                   /* bytes that are swizzled; 16 where none are */
    bool across;
};

/* The tile of `rows` rows (of M or N) and 16 columns (of K). */
static struct tile tile_of(char name, uint64_t d, bool across, int rows)
{
    static const unsigned spans[] = {16, 128, 64, 32};
    const struct tile t = {(unsigned)(d & 0x3fff) << 4, (unsigned)(d >> 16 & 0x3fff) << 4,
                           (unsigned)(d >> 32 & 0x3fff) << 4, spans[d >> 62], across};
    if ((d >> 14 & 3) || (d >> 30 & 3) || (d >> 46 & 7) || (d >> 52 & 0x3ff))
        cuda_host_stop("wgmma: descriptor of %c 0x%016llx has reserved bits", name,
                       (unsigned long long)d);
    if (d >> 49 & 7)
        cuda_host_stop("wgmma: descriptor of %c has a base offset, which is not emulated", name);
    if (t.span == 16)
        return t;
    if (t.start % (8 * t.span) >= t.span)
        cuda_host_stop("wgmma: tile %c begins at 0x%x, inside the %u bytes of a swizzle's pattern",
                       name, t.start, 8 * t.span);
    if (t.start % t.span % (across ? t.span : 2 * K))
        cuda_host_stop("wgmma: tile %c begins at 0x%x, byte %u of the %u that are swizzled", name,
                       t.start, t.start % t.span, t.span);
    if (across && rows % (int)(t.span / 2))
        cuda_host_stop("wgmma: %d rows of the transposed tile %c are no multiple of the %u that "
                       "a swizzle of %u bytes has",
                       rows, name, t.span / 2, t.span);
    return t;
}

/* Where an element lies. K-major: rows of `span` bytes, eight rows `stride` apart, and without a
 * swizzle two pieces of 16 bytes `leading` apart. MN-major: the other way round, rows of K of
 * `span` bytes, eight of them `stride` apart, what the span does not hold `leading` apart; without
 * a swizzle leading and stride change their places. */
static unsigned place(const struct tile *t, unsigned row, unsigned k)
{
    const unsigned per = t->span / 2; /* numbers in a span */
    unsigned at = t->start;
    if (!t->across)
        at += row / 8 * t->stride + row % 8 * t->span +
              (t->span == 16 ? k / 8 * t->leading + k % 8 * 2 : k * 2);
    else if (t->span == 16)
        at += row / 8 * t->stride + row % 8 * 2 + k / 8 * t->leading + k % 8 * 16;
    else
        at += row / per * t->leading + row % per * 2 + k / 8 * t->stride + k % 8 * t->span;
    return cuda_host_swizzled(at, t->span);
}

static float number(unsigned pair, int which)
{
    return __uint_as_float(which ? pair & 0xffff0000u : pair << 16);
}

static float element(char name, const struct tile *t, int row, int k)
{
    const unsigned at = place(t, (unsigned)row, (unsigned)k);
    const size_t all = cuda_host_shared_bytes();
    if (at + sizeof(uint16_t) > all)
        cuda_host_stop("wgmma: element (%d, %d) of tile %c at 0x%x: shared memory has %zu bytes",
                       row, k, name, at, all);
    cuda_host_need_fenced("wgmma", at, sizeof(uint16_t));
    uint16_t bits;
    memcpy(&bits, (const char *)k_cuda_host_shared() + at, sizeof(bits));
    return number(bits, 0);
}

/* ---- products under way */

struct product {
    float *sums;
    int n;
    bool registers; /* A is in them */
    unsigned a[4];
    uint64_t a_tile, b_tile;
    bool add, across_a, across_b;
};
struct accumulator { /* sums of products under way, which look like NaN meanwhile */
    float *sums;
    int n, products;
    std::vector<float> kept;
};
static struct {
    bool fenced;                         /* since the last wait */
    size_t finished;                     /* products that were waited for */
    std::deque<struct product> products; /* those that were not, oldest first */
    std::deque<size_t> groups;           /* closed: the products issued before their ends */
    std::vector<struct accumulator> accumulators;
} under_way[THREADS];
/* What the first thread of a group that came there asked for: all others ask for the same. */
static std::vector<struct product> asked[THREADS / GROUP];
struct result {
    std::vector<float> sums; /* (16, n) */
    int taken;               /* by lanes */
};
static std::map<size_t, struct result> results[THREADS / WARP];
static bool hopper, used; /* used: the block before, or this one, has something to clear */

void cuda_host_products_start(void)
{
    hopper = cuda_host_capability() == 90;
    if (!used)
        return;
    used = false;
    for (int i = 0; i < THREADS; i++) {
        under_way[i].fenced = false;
        under_way[i].finished = 0;
        under_way[i].products.clear();
        under_way[i].groups.clear();
        under_way[i].accumulators.clear();
    }
    for (int i = 0; i < THREADS / GROUP; i++)
        asked[i].clear();
    for (int i = 0; i < THREADS / WARP; i++)
        results[i].clear();
}

const char *cuda_host_products_left(void)
{
    static char text[160];
    const int threads = (int)(blockDim.x * blockDim.y * blockDim.z);
    for (int i = 0; used && i < threads; i++) {
        const size_t issued = under_way[i].finished + under_way[i].products.size();
        const size_t closed =
            under_way[i].groups.empty() ? under_way[i].finished : under_way[i].groups.back();
        if (issued != asked[i / GROUP].size()) {
            snprintf(text, sizeof(text),
                     "thread %d issued %zu wgmma, another one of its warpgroup %zu", i, issued,
                     asked[i / GROUP].size());
            return text;
        }
        if (closed != issued || !under_way[i].products.empty()) {
            snprintf(text, sizeof(text), "thread %d returned with wgmma that were not %s", i,
                     closed != issued ? "committed" : "waited for");
            return text;
        }
    }
    return NULL;
}

void cuda_host_need_hopper(const char *what)
{
    if (!hopper)
        cuda_host_stop("%s needs compute capability 9.0", what);
}

/* ---- computing one */

static float of_a(int warp, size_t number_of_product, int row, int k)
{
    const int thread = warp * WARP + row % 8 * 4 + k % 8 / 2;
    const size_t at = number_of_product - under_way[thread].finished;
    if (at >= under_way[thread].products.size())
        cuda_host_stop("wgmma: thread %d has not issued it", thread);
    return number(under_way[thread].products[at].a[row / 8 + k / 8 * 2], k % 2);
}

/* sums (16, n) = the warp's rows of A times B. */
static void multiply(const struct product *p, int warp, size_t number_of_product, float *sums)
{
    static float a[16][K], b[K][N_MOST];
    const int n = p->n, first = warp % 4 * 16;
    const struct tile at_b = tile_of('B', p->b_tile, p->across_b, n);
    struct tile at_a = {};
    if (!p->registers)
        at_a = tile_of('A', p->a_tile, p->across_a, ROWS);
    for (int k = 0; k < K; k++) {
        for (int row = 0; row < 16; row++)
            a[row][k] = p->registers ? of_a(warp, number_of_product, row, k)
                                     : element('A', &at_a, first + row, k);
        for (int column = 0; column < n; column++)
            b[k][column] = element('B', &at_b, column, k);
    }
    for (int row = 0; row < 16; row++)
        for (int k = 0; k < K; k++)
            for (int column = 0; column < n; column++)
                sums[row * n + column] += a[row][k] * b[k][column];
}

/* The thread's numbers of a product: to[i] = (add ? from[i] : 0) + ... */
static void take(int thread, size_t number_of_product, const struct product *p, float *to)
{
    const int warp = thread / WARP, g = thread % WARP / 4, t = thread % 4, n = p->n;
    struct result *r = &results[warp][number_of_product];
    if (r->sums.empty()) {
        r->sums.assign((size_t)(16 * n), 0.0f);
        multiply(p, warp, number_of_product, r->sums.data());
    }
    for (int i = 0; i < n / 2; i++) {
        const int row = g + i % 4 / 2 * 8, column = i / 4 * 8 + 2 * t + i % 2;
        to[i] = (p->add ? to[i] : 0.0f) + r->sums[(size_t)(row * n + column)];
    }
    if (++r->taken == WARP)
        results[warp].erase(number_of_product);
}

/* ---- issuing and waiting */

static bool untouched(const struct accumulator *a)
{
    for (int i = 0; i < a->n / 2; i++)
        if (__float_as_uint(a->sums[i]) != 0xffffffffu)
            return false;
    return true;
}

static struct accumulator *accumulator_of(int thread, const struct product *p)
{
    for (struct accumulator &a : under_way[thread].accumulators) {
        if (a.sums == p->sums && a.n == p->n)
            return &a;
        if (p->sums < a.sums + a.n / 2 && a.sums < p->sums + p->n / 2)
            cuda_host_stop("wgmma: two products under way share a part of their sums");
    }
    under_way[thread].accumulators.push_back(
        {p->sums, p->n, 0, std::vector<float>(p->sums, p->sums + p->n / 2)});
    memset(p->sums, 0xff, (size_t)(p->n / 2) * sizeof(float));
    return &under_way[thread].accumulators.back();
}

static bool the_same(const struct product *a, const struct product *b)
{
    return a->n == b->n && a->registers == b->registers && a->a_tile == b->a_tile &&
           a->b_tile == b->b_tile && a->add == b->add && a->across_a == b->across_a &&
           a->across_b == b->across_b;
}

static void issue(struct product p)
{
    const int thread = cuda_host_thread(), group = thread / GROUP;
    cuda_host_need_hopper("wgmma");
    if (blockDim.x * blockDim.y * blockDim.z % GROUP)
        cuda_host_stop("wgmma in a block that has a part of a warpgroup");
    if (p.n < 8 || p.n > N_MOST || p.n % 8)
        cuda_host_stop("wgmma of %d columns", p.n);
    if (!under_way[thread].fenced)
        cuda_host_stop("wgmma without wgmma.fence since the last wait");
    if (p.registers && p.across_a)
        cuda_host_stop("wgmma of a transposed A in registers");
    const size_t number_of_product = under_way[thread].finished + under_way[thread].products.size();
    if (number_of_product == asked[group].size())
        asked[group].push_back(p);
    else if (!the_same(&asked[group][number_of_product], &p))
        cuda_host_stop("wgmma: threads of a warpgroup differ in shape, descriptors or scale-d");
    tile_of('B', p.b_tile, p.across_b, p.n);
    if (!p.registers)
        tile_of('A', p.a_tile, p.across_a, ROWS);
    under_way[thread].products.push_back(p);
    accumulator_of(thread, &p)->products++;
    __syncwarp(); /* .sync.aligned */
}

void cuda_host_wgmma(float *sums, int n, const unsigned a[4], uint64_t a_tile, uint64_t b_tile,
                     bool add, bool across_a, bool across_b)
{
    struct product p = {sums, n, a != NULL, {0}, a ? 0 : a_tile, b_tile, add, across_a, across_b};
    if (a)
        memcpy(p.a, a, sizeof(p.a));
    issue(p);
}

void cuda_host_wgmma_fence(void)
{
    cuda_host_need_hopper("wgmma.fence");
    used = true;
    under_way[cuda_host_thread()].fenced = true;
    __syncwarp();
}

void cuda_host_wgmma_commit(void)
{
    const int thread = cuda_host_thread();
    cuda_host_need_hopper("wgmma.commit_group");
    used = true;
    under_way[thread].groups.push_back(under_way[thread].finished +
                                       under_way[thread].products.size());
    __syncwarp();
}

/* The oldest product: its sums are there when no other one adds to them. */
static void finish(int thread)
{
    const struct product p = under_way[thread].products.front();
    std::vector<struct accumulator> &all = under_way[thread].accumulators;
    for (size_t i = 0; i < all.size(); i++) {
        struct accumulator *a = &all[i];
        if (a->sums != p.sums)
            continue;
        if (!untouched(a))
            cuda_host_stop("wgmma: sums were written while products were under way");
        take(thread, under_way[thread].finished, &p, a->kept.data());
        if (--a->products == 0) {
            memcpy(a->sums, a->kept.data(), a->kept.size() * sizeof(float));
            all.erase(all.begin() + (long)i);
        }
        break;
    }
    under_way[thread].products.pop_front();
    under_way[thread].finished++;
}

void cuda_host_wgmma_wait(int later)
{
    const int thread = cuda_host_thread();
    cuda_host_need_hopper("wgmma.wait_group");
    if (later < 0)
        cuda_host_stop("wgmma.wait_group %d", later);
    __syncwarp();
    std::deque<size_t> &groups = under_way[thread].groups;
    while ((int)groups.size() > later) {
        while (under_way[thread].finished < groups.front())
            finish(thread);
        groups.pop_front();
    }
    under_way[thread].fenced = false;
}
