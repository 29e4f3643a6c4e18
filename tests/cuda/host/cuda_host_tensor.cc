/* cuda_host_tensor.cc - tensor cores and copies under way, as PTX describes them. */
#include "cuda_host_internal.h"

#include <vector>

enum { THREADS = 1024, WARP = 32 };

/* ---- what the lanes of a warp show each other */

static struct {
    unsigned a[4], b[2];
    const void *row;
} shown[THREADS];

static float number(unsigned pair, int which)
{
    return __uint_as_float(which ? pair & 0xffff0000u : pair << 16);
}

/* Element (row, k) of A, (k, column) of B: which lane holds it, and where. */
static float of_a(int warp, int row, int k)
{
    const int lane = row % 8 * 4 + k % 8 / 2;
    return number(shown[warp + lane].a[row / 8 + k / 8 * 2], k % 2);
}

static float of_b(int warp, int k, int column)
{
    return number(shown[warp + column * 4 + k % 8 / 2].b[k / 8], k % 2);
}

void cuda_host_mma(float sums[4], const unsigned a[4], const unsigned b[2])
{
    const int thread = cuda_host_thread(), lane = thread % WARP, warp = thread - lane;
    memcpy(shown[thread].a, a, sizeof(shown[thread].a));
    memcpy(shown[thread].b, b, sizeof(shown[thread].b));
    __syncwarp();
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 16; k++)
            sums[i] += of_a(warp, lane / 4 + i / 2 * 8, k) * of_b(warp, k, lane % 4 * 2 + i % 2);
    __syncwarp();
}

/* Eight pieces of 16 bytes that shared memory moves at once: each needs four of 32 banks, and two
 * that need the same ones take turns, unless they are one piece. */
static void no_conflict(const void *const piece[8], const char *what)
{
    for (int a = 0; a < 8; a++)
        for (int b = 0; b < a; b++)
            if (piece[a] != piece[b] &&
                (uintptr_t)piece[a] / 16 % 8 == (uintptr_t)piece[b] / 16 % 8)
                cuda_host_stop(what);
}

void cuda_host_ldmatrix(unsigned to[4], const void *row, bool across)
{
    const int thread = cuda_host_thread(), lane = thread % WARP, warp = thread - lane;
    const int g = lane / 4, t = lane % 4;
    if ((uintptr_t)row % 16)
        cuda_host_stop("ldmatrix of a row that is not aligned to 16 bytes");
    shown[thread].row = row;
    __syncwarp();
    if (lane % 8 == 0) {
        const void *piece[8];
        for (int i = 0; i < 8; i++)
            piece[i] = shown[thread + i].row;
        no_conflict(piece, "ldmatrix of rows that share banks");
    }
    for (int i = 0; i < 4; i++) {
        uint16_t pair[2];
        for (int j = 0; j < 2; j++) {
            const int r = across ? 2 * t + j : g, column = across ? g : 2 * t + j;
            pair[j] = ((const uint16_t *)shown[warp + 8 * i + r].row)[column];
        }
        to[i] = pair[0] | (unsigned)pair[1] << 16;
    }
    __syncwarp();
}

/* ---- copies under way */

struct copy {
    void *to;
    const void *from;
    int bytes;
};
static struct {
    std::vector<std::vector<struct copy>> groups; /* closed, oldest first */
    std::vector<struct copy> open, closed;        /* closed: the last group, as it was issued */
    int groups_closed;
} under_way[THREADS];

void cuda_host_copies_none(void)
{
    for (int i = 0; i < THREADS; i++) {
        under_way[i].groups.clear();
        under_way[i].open.clear();
        under_way[i].closed.clear();
        under_way[i].groups_closed = 0;
    }
}

bool cuda_host_copies_left(void)
{
    for (int i = 0; i < THREADS; i++) {
        if (!under_way[i].open.empty())
            return true;
        for (const std::vector<struct copy> &group : under_way[i].groups)
            if (!group.empty())
                return true;
    }
    return false;
}

void cuda_host_copy_async(void *to, const void *from, int bytes)
{
    if ((uintptr_t)to % 16 || (uintptr_t)from % 16)
        cuda_host_stop("cp.async of 16 bytes that are not aligned");
    memset(to, 0xff, 16);
    under_way[cuda_host_thread()].open.push_back({to, from, bytes});
}

/* The i-th copies of a group of eight lanes are one instruction's, where all have as many. */
static void no_conflict_of_copies(int first)
{
    for (int i = 1; i < 8; i++)
        if (under_way[first + i].groups_closed != under_way[first].groups_closed ||
            under_way[first + i].closed.size() != under_way[first].closed.size())
            return;
    for (size_t c = 0; c < under_way[first].closed.size(); c++) {
        const void *piece[8];
        for (int i = 0; i < 8; i++)
            piece[i] = under_way[first + i].closed[c].to;
        no_conflict(piece, "cp.async of eight lanes to the same banks");
    }
}

void cuda_host_copy_commit(void)
{
    const int thread = cuda_host_thread();
    under_way[thread].groups.push_back(under_way[thread].open);
    under_way[thread].closed = under_way[thread].open;
    under_way[thread].groups_closed++;
    no_conflict_of_copies(thread - thread % 8);
    under_way[thread].open.clear();
}

void cuda_host_copy_wait(int later)
{
    std::vector<std::vector<struct copy>> &groups = under_way[cuda_host_thread()].groups;
    while ((int)groups.size() > later) {
        for (const struct copy &c : groups.front()) {
            memset(c.to, 0, 16);
            memcpy(c.to, c.from, (size_t)c.bytes);
        }
        groups.erase(groups.begin());
    }
}
