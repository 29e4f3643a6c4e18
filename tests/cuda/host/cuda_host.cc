/* cuda_host.cc - runs grids: blocks one after the other, threads as fibers. */
#include "cuda_host_internal.h"

#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "cuda_host_fiber.h"

extern "C" {
#include "base/base.h"
}

uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;

enum { THREADS = 1024, WARP = 32, PAGE = 4096, SHARED = 227 * 1024 };
enum state { NEW, READY, AT_BARRIER, IN_WARP, SPINNING, DONE };
enum operation { OP_SYNCWARP, OP_BALLOT, OP_ALL, OP_SHUFFLE };

struct thread {
    enum state state;
    struct cuda_host_fiber *fiber;
    uint3 index;
    /* what it waits in, what it gives and what it gets */
    enum operation operation;
    enum cuda_host_shuffle how;
    unsigned mask;
    int lane, width;
    uint64_t bits, result;
    unsigned barrier, parity; /* the phase that it spins for */
};

static struct {
    const struct cuda_host_launch *launch;
    struct thread threads[THREADS];
    int count;                        /* threads of the block */
    unsigned waiting[THREADS / WARP]; /* lanes in a warp-wide operation */
    unsigned gone[THREADS / WARP];    /* lanes that returned, or never were */
    struct thread *current;           /* NULL outside of fibers */
    int votes;                        /* of the barrier before */
    int ballots;                      /* of the barrier that fills */
    int spinning;                     /* threads */
    int rounds;                       /* of asking again in vain */
    char *shared;
    bool failed;
    char error[512];
} now;

static struct cuda_host_fiber fibers[THREADS];
static struct cuda_host_fiber *free_fibers[THREADS];
static int fibers_made, fibers_free;
static int order = -1;

/* ---- order */

extern "C" void cuda_host_set_order(int next)
{
    order = next;
}

extern "C" int cuda_host_order(void)
{
    if (order < 0) {
        const char *name = getenv("ORR_CUDA_HOST_ORDER");
        order = !name                      ? CUDA_HOST_FORWARD
                : !strcmp(name, "reverse") ? CUDA_HOST_REVERSE
                : !strcmp(name, "shuffle") ? CUDA_HOST_SHUFFLE
                                           : CUDA_HOST_FORWARD;
    }
    return order;
}

/* The i-th of n things in the order that is set. */
static size_t nth(size_t i, size_t n)
{
    if (order == CUDA_HOST_FORWARD)
        return i;
    if (order == CUDA_HOST_REVERSE)
        return n - 1 - i;
    const size_t step = n % 7919 ? 7919 : 104729; /* primes: a permutation */
    return (i * step + n / 2) % n;
}

/* ---- errors: the first one of a launch counts, and ends it */

[[noreturn]] static void leave_for_good(void)
{
    for (;;)
        cuda_host_fiber_leave(now.current->fiber);
}

__attribute__((format(printf, 1, 2))) static void fail(const char *format, ...)
{
    if (now.failed)
        return;
    const uint3 t = now.current ? now.current->index : uint3{0, 0, 0};
    int at = snprintf(now.error, sizeof(now.error), "block (%u, %u, %u)", blockIdx.x, blockIdx.y,
                      blockIdx.z);
    if (now.current)
        at += snprintf(now.error + at, sizeof(now.error) - (size_t)at, ", thread (%u, %u, %u)", t.x,
                       t.y, t.z);
    at += snprintf(now.error + at, sizeof(now.error) - (size_t)at, ": ");
    va_list args;
    va_start(args, format);
    vsnprintf(now.error + at, sizeof(now.error) - (size_t)at, format, args);
    va_end(args);
    now.failed = true;
}

void cuda_host_stop(const char *format, ...)
{
    char text[400];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    fail("%s", text);
    leave_for_good();
}

int cuda_host_thread(void)
{
    return (int)(now.current - now.threads);
}

static void on_fault(int signal_number, siginfo_t *info, void *)
{
    if (cuda_host_memory_touched(info->si_addr))
        return;
    if (!now.current) { /* the host's own: as it would have been */
        signal(signal_number, SIG_DFL);
        return;
    }
    char where[256];
    if (cuda_host_fiber_overflowed(now.current->fiber, info->si_addr))
        snprintf(where, sizeof(where), "the stack is full");
    else
        cuda_host_memory_describe(info->si_addr, where, sizeof(where));
    fail("bad access to %p: %s", info->si_addr, where);
    leave_for_good(); /* nothing blocks the signal: SA_NODEFER */
}

void cuda_host_memory_watch(bool on)
{
    static struct sigaction before[2];
    static char stack[64 * 1024];
    const int signals[2] = {SIGSEGV, SIGBUS};
    if (CUDA_HOST_ASAN) {
        if (on)
            cuda_host_memory_open();
        return;
    }
    for (int i = 0; i < 2; i++) {
        if (!on) {
            sigaction(signals[i], &before[i], NULL);
            continue;
        }
        stack_t alternative = {};
        alternative.ss_sp = stack;
        alternative.ss_size = sizeof(stack);
        sigaltstack(&alternative, NULL);
        struct sigaction action = {};
        action.sa_sigaction = on_fault;
        action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
        sigaction(signals[i], &action, &before[i]);
    }
}

/* ---- threads */

static void fiber_main(void)
{
    cuda_host_fiber_entered();
    for (;;) { /* one thread after the other, while none of them breaks off */
        now.launch->call(now.launch->arguments);
        now.current->state = DONE;
        cuda_host_fiber_leave(now.current->fiber);
    }
}

static struct cuda_host_fiber *take_fiber(void)
{
    if (fibers_free)
        return free_fibers[--fibers_free];
    struct cuda_host_fiber *fiber = &fibers[fibers_made];
    if (!cuda_host_fiber_start(fiber, fiber_main)) {
        fail("no memory for the stack of a thread");
        return NULL;
    }
    fibers_made++;
    return fiber;
}

static void park(enum state state)
{
    now.current->state = state;
    cuda_host_fiber_leave(now.current->fiber);
}

static bool complete(int warp, unsigned mask);

/* Runs a thread until it waits or returns. */
static void resume(struct thread *t)
{
    if (t->state == NEW && !(t->fiber = take_fiber()))
        return;
    t->state = READY;
    now.current = t;
    threadIdx = t->index;
    cuda_host_fiber_enter(t->fiber);
    now.current = NULL;
    if (now.failed || t->state != DONE)
        return;
    free_fibers[fibers_free++] = t->fiber;
    const int warp = (int)(t - now.threads) / WARP;
    now.gone[warp] |= 1u << ((t - now.threads) % WARP);
    /* it may have been the last that others waited for */
    for (int lane = 0; lane < WARP && now.waiting[warp]; lane++)
        if (now.waiting[warp] >> lane & 1)
            complete(warp, now.threads[warp * WARP + lane].mask);
}

/* ---- warp-wide operations */

static uint64_t shuffled(const struct thread *threads, int lane, unsigned mask)
{
    const struct thread *t = &threads[lane];
    const int first = lane & ~(t->width - 1), end = first + t->width;
    int from = t->how == CUDA_HOST_IDX   ? first + (t->lane & (t->width - 1))
               : t->how == CUDA_HOST_XOR ? lane ^ t->lane
               : t->how == CUDA_HOST_UP  ? lane - t->lane
                                         : lane + t->lane;
    const bool inside = t->how == CUDA_HOST_XOR  ? from < end && from >= 0
                        : t->how == CUDA_HOST_UP ? from >= first
                                                 : from < end;
    if (!inside)
        from = lane;
    return mask >> from & 1 ? threads[from].bits : ~(uint64_t)0;
}

/* When all lanes of the mask that have not returned wait in the same operation: their results, and
 * they may go on. */
static bool complete(int warp, unsigned mask)
{
    static const char *const names[] = {"__syncwarp", "__ballot_sync", "__all_sync", "__shfl_sync"};
    struct thread *threads = &now.threads[warp * WARP];
    const unsigned need = mask & ~now.gone[warp];
    if (!need || (now.waiting[warp] & need) != need)
        return false;
    const struct thread *first = &threads[__builtin_ctz(need)];
    unsigned ballot = 0;
    for (unsigned rest = need; rest; rest &= rest - 1) {
        const int lane = __builtin_ctz(rest);
        const struct thread *t = &threads[lane];
        if (t->mask != mask || t->operation != first->operation || t->how != first->how) {
            fail("lanes %d and %d of warp %d meet in different operations: %s with mask %08x, "
                 "%s with mask %08x",
                 __builtin_ctz(need), lane, warp, names[first->operation], first->mask,
                 names[t->operation], t->mask);
            return false;
        }
        ballot |= (t->bits != 0 ? 1u : 0u) << lane;
    }
    for (unsigned rest = need; rest; rest &= rest - 1) {
        const int lane = __builtin_ctz(rest);
        struct thread *t = &threads[lane];
        t->result = first->operation == OP_BALLOT    ? ballot
                    : first->operation == OP_ALL     ? ballot == need
                    : first->operation == OP_SHUFFLE ? shuffled(threads, lane, need)
                                                     : 0;
        if (t != now.current)
            t->state = READY;
    }
    now.waiting[warp] &= ~need;
    return true;
}

static uint64_t meet(enum operation operation, unsigned mask, uint64_t bits, int lane, int width,
                     enum cuda_host_shuffle how)
{
    struct thread *t = now.current;
    const int at = (int)(t - now.threads), warp = at / WARP;
    if (!(mask >> (at % WARP) & 1)) {
        fail("lane %d is not in its mask %08x", at % WARP, mask);
        leave_for_good();
    }
    t->operation = operation;
    t->how = how;
    t->mask = mask;
    t->lane = lane;
    t->width = width;
    t->bits = bits;
    now.waiting[warp] |= 1u << (at % WARP);
    if (!complete(warp, mask)) {
        if (now.failed)
            leave_for_good();
        park(IN_WARP);
    }
    return t->result;
}

void __syncwarp(unsigned mask)
{
    meet(OP_SYNCWARP, mask, 0, 0, WARP, CUDA_HOST_IDX);
}

unsigned __ballot_sync(unsigned mask, int predicate)
{
    return (unsigned)meet(OP_BALLOT, mask, predicate != 0, 0, WARP, CUDA_HOST_IDX);
}

int __all_sync(unsigned mask, int predicate)
{
    return (int)meet(OP_ALL, mask, predicate != 0, 0, WARP, CUDA_HOST_IDX);
}

uint64_t cuda_host_shuffle_bits(unsigned mask, uint64_t bits, int lane, int width,
                                enum cuda_host_shuffle how)
{
    if (width <= 0 || width > WARP || (width & (width - 1))) {
        fail("a shuffle of width %d", width);
        leave_for_good();
    }
    return meet(OP_SHUFFLE, mask, bits, lane, width, how);
}

/* ---- barriers */

int __syncthreads_count(int predicate)
{
    now.ballots += predicate != 0;
    park(AT_BARRIER);
    return now.votes;
}

void __syncthreads(void)
{
    __syncthreads_count(0);
}

int __syncthreads_or(int predicate)
{
    return __syncthreads_count(predicate) != 0;
}

int __syncthreads_and(int predicate)
{
    return __syncthreads_count(predicate) == now.count;
}

void cuda_host_spin(unsigned barrier, unsigned parity)
{
    now.current->barrier = barrier;
    now.current->parity = parity;
    now.spinning++;
    park(SPINNING);
}

void cuda_host_went_on(void)
{
    now.rounds = 0;
}

void __trap(void)
{
    fail("__trap");
    leave_for_good();
}

void *k_cuda_host_shared(void)
{
    return now.shared;
}

size_t cuda_host_shared_bytes(void)
{
    return now.launch->shared;
}

/* ---- blocks */

static bool can_pass(const struct thread *t)
{
    return t->state == SPINNING && cuda_host_barrier_passable(t->barrier, t->parity);
}

static void run(struct thread *t)
{
    now.spinning -= t->state == SPINNING;
    resume(t);
}

/* Whether a thread of it ran. */
static bool run_warp(int warp)
{
    const int first = warp * WARP;
    const int lanes = now.count - first < WARP ? now.count - first : WARP;
    bool any = false;
    for (bool more = true; more && !now.failed;) {
        more = false;
        for (int i = 0; i < lanes && !now.failed; i++) {
            struct thread *t = &now.threads[first + (int)nth((size_t)i, (size_t)lanes)];
            if (t->state == NEW || t->state == READY ||
                (order == CUDA_HOST_SHUFFLE && can_pass(t))) {
                run(t);
                any = more = true;
            }
        }
    }
    return any;
}

/* Threads whose phases are complete; whether there was one. */
static bool run_spinning(void)
{
    bool any = false;
    for (int i = 0; now.spinning && i < now.count && !now.failed; i++)
        if (can_pass(&now.threads[i])) {
            run(&now.threads[i]);
            any = true;
        }
    return any;
}

/* Until all threads wait or have returned. A thread whose phase is complete goes on at once in the
 * forward order, when its turn comes in the shuffled one, and when no other can in reverse: what a
 * barrier with too few arrivals lets happen shows in one of them. */
static void run_warps(int warps)
{
    bool more;
    do {
        more = false;
        for (int w = 0; w < warps && !now.failed; w++) {
            const bool spinning = now.spinning;
            bool ran = run_warp((int)nth((size_t)w, (size_t)warps));
            while (order == CUDA_HOST_FORWARD && run_spinning())
                ran = true;
            more |= ran && (spinning || now.spinning); /* other warps may go on now */
        }
    } while (more && !now.failed);
}

/* No thread can run: those that spin ask again, a few times; false when there are none. */
static bool ask_again(void)
{
    const struct thread *stuck = NULL;
    for (int i = 0; now.spinning && i < now.count; i++)
        if (now.threads[i].state == SPINNING) {
            stuck = &now.threads[i];
            now.threads[i].state = READY;
        }
    now.spinning = 0;
    if (!stuck || now.failed)
        return false;
    if (++now.rounds <= 3)
        return true;
    char lacks[160];
    cuda_host_barrier_describe(stuck->barrier, lacks, sizeof(lacks));
    fail("thread (%u, %u, %u) waits for ever at barrier 0x%x for the phase of parity %u: %s",
         stuck->index.x, stuck->index.y, stuck->index.z, stuck->barrier, stuck->parity, lacks);
    return false;
}

/* All threads wait or have returned: lets those at the barrier go on. False at the end. */
static bool pass_barrier(void)
{
    int counts[DONE + 1] = {0};
    const struct thread *stuck = NULL;
    for (int i = 0; i < now.count; i++) {
        counts[now.threads[i].state]++;
        if (now.threads[i].state == IN_WARP)
            stuck = &now.threads[i];
    }
    if (stuck)
        fail("thread (%u, %u, %u) waits in a warp-wide operation with mask %08x for lanes that "
             "never come",
             stuck->index.x, stuck->index.y, stuck->index.z, stuck->mask);
    else if (counts[AT_BARRIER] && counts[DONE])
        fail("%d threads wait at __syncthreads, %d have returned", counts[AT_BARRIER],
             counts[DONE]);
    if (now.failed || counts[DONE] == now.count)
        return false;
    for (int i = 0; i < now.count; i++)
        now.threads[i].state = READY;
    now.votes = now.ballots;
    now.ballots = 0;
    now.rounds = 0;
    return true;
}

static void run_block(const struct cuda_host_launch *l)
{
    const int warps = (now.count + WARP - 1) / WARP;
    memset(now.shared, 0xff, l->shared);
    for (int i = 0; i < now.count; i++)
        now.threads[i].state = NEW;
    for (int w = 0; w < warps; w++) {
        const int lanes = now.count - w * WARP;
        now.gone[w] = lanes < WARP ? ~0u << lanes : 0;
        now.waiting[w] = 0;
    }
    now.ballots = now.votes = 0;
    now.spinning = now.rounds = 0;
    cuda_host_copies_none();
    cuda_host_products_start();
    cuda_host_barriers_start();
    do
        run_warps(warps);
    while (!now.failed && (ask_again() || pass_barrier()));
    if (!now.failed && cuda_host_copies_left())
        fail("a thread returned with copies under way");
    const char *left = cuda_host_products_left();
    left = left ? left : cuda_host_barriers_left();
    if (!now.failed && left)
        fail("%s", left);
}

static void run_grid(const struct cuda_host_launch *l)
{
    const size_t blocks = (size_t)l->grid.x * l->grid.y * l->grid.z;
    unsigned at = 0;
    now.launch = l;
    now.failed = false;
    now.count = (int)(l->block.x * l->block.y * l->block.z);
    for (unsigned z = 0; z < l->block.z; z++)
        for (unsigned y = 0; y < l->block.y; y++)
            for (unsigned x = 0; x < l->block.x; x++)
                now.threads[at++].index = {x, y, z};
    blockDim = l->block;
    gridDim = l->grid;
    cuda_host_order();
    for (size_t i = 0; i < blocks && !now.failed; i++) {
        const size_t b = nth(i, blocks);
        blockIdx = {(unsigned)(b % l->grid.x), (unsigned)(b / l->grid.x % l->grid.y),
                    (unsigned)(b / l->grid.x / l->grid.y)};
        run_block(l);
    }
}

/* ---- launches */

/* The end of dynamic shared memory touches a page that nobody may touch. */
static char *shared_memory(size_t bytes)
{
    static char *end;
    if (CUDA_HOST_ASAN)
        return (char *)malloc(bytes ? bytes : 1);
    if (!end) {
        const size_t size = (SHARED + PAGE - 1) / PAGE * PAGE;
        char *map = (char *)mmap(NULL, size + PAGE, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (map == (char *)MAP_FAILED || mprotect(map + size, PAGE, PROT_NONE))
            return NULL;
        end = map + size;
    }
    return end - (bytes + 15) / 16 * 16;
}

static const char *bad_shape(const struct cuda_host_launch *l)
{
    const dim3 g = l->grid, b = l->block;
    if (!g.x || !g.y || !g.z || g.x > 0x7fffffffu || g.y > 65535 || g.z > 65535)
        return "the grid is empty or too large";
    if (!b.x || !b.y || !b.z || b.z > 64 || (size_t)b.x * b.y * b.z > THREADS)
        return "the block is empty or too large";
    if (l->shared > cuda_host_shared_limit(l->kernel))
        return "more dynamic shared memory than allowed";
    return NULL;
}

static int run_now(void *arguments)
{
    const struct cuda_host_launch *l = (const struct cuda_host_launch *)arguments;
    now.shared = shared_memory(l->shared);
    if (!now.shared)
        return ORR_FAIL(ORR_ENOMEM, "kernel %s: no memory for the emulation", l->name);
    cuda_host_memory_watch(true);
    run_grid(l);
    cuda_host_memory_watch(false);
    const char *overwritten = cuda_host_memory_close();
    if (CUDA_HOST_ASAN)
        free(now.shared);
    if (now.failed) { /* fibers were left in the middle */
        fibers_made = fibers_free = 0;
        cuda_host_fail(cudaErrorLaunchFailure, "kernel %s: %s", l->name, now.error);
        return ORR_FAIL(ORR_EDEVICE, "kernel %s: %s", l->name, now.error);
    }
    if (overwritten) {
        cuda_host_fail(cudaErrorIllegalAddress, "kernel %s: %s", l->name, overwritten);
        return ORR_FAIL(ORR_EDEVICE, "kernel %s: %s", l->name, overwritten);
    }
    return 0;
}

static void drop_launch(void *arguments)
{
    struct cuda_host_launch *l = (struct cuda_host_launch *)arguments;
    l->drop(l->arguments);
    delete l;
}

int cuda_host_start(struct cuda_host_launch *launch)
{
    const char *bad = bad_shape(launch);
    if (bad) {
        launch->drop(launch->arguments);
        cuda_host_fail(cudaErrorInvalidConfiguration, "kernel %s: %s", launch->name, bad);
        return ORR_FAIL(ORR_EDEVICE,
                        "kernel %s: %s: grid (%u, %u, %u), block (%u, %u, %u), %zu "
                        "bytes",
                        launch->name, bad, launch->grid.x, launch->grid.y, launch->grid.z,
                        launch->block.x, launch->block.y, launch->block.z, launch->shared);
    }
    if (cuda_host_no_launch()) {
        launch->drop(launch->arguments);
        return ORR_FAIL(ORR_EDEVICE, "kernel %s: %s", launch->name,
                        cudaGetErrorString(cudaPeekAtLastError()));
    }
    struct cuda_host_launch *l = new struct cuda_host_launch(*launch);
    if (cuda_host_keep(run_now, drop_launch, l))
        return 0;
    const int code = run_now(l);
    drop_launch(l);
    return code;
}
