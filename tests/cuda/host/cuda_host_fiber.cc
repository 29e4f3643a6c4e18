/* cuda_host_fiber.cc - a switch saves the registers that a call preserves and changes the stack:
 * some 2 ns. */
#include "cuda_host_fiber.h"

#include <sys/mman.h>

#include "cuda_host_internal.h"
#if CUDA_HOST_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

enum { PAGE = 4096, STACK = (CUDA_HOST_ASAN ? 256 : 64) * 1024 };

/* void cuda_host_switch(void **save, void *load): saves this stack's place, goes on at another. */
extern "C" void cuda_host_switch(void **save, void *load);
#if defined(__x86_64__)
enum { SAVED = 7 }; /* rbp, rbx, r12 - r15, the place to return to */
asm(R"(
    .text
    .p2align 4
    .globl cuda_host_switch
    .type cuda_host_switch, @function
cuda_host_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
    .size cuda_host_switch, . - cuda_host_switch
)");
#elif defined(__aarch64__)
enum { SAVED = 20 }; /* x19 - x30, d8 - d15 */
asm(R"(
    .text
    .p2align 4
    .globl cuda_host_switch
    .type cuda_host_switch, %function
cuda_host_switch:
    sub sp, sp, #160
    stp x19, x20, [sp, #0]
    stp x21, x22, [sp, #16]
    stp x23, x24, [sp, #32]
    stp x25, x26, [sp, #48]
    stp x27, x28, [sp, #64]
    stp x29, x30, [sp, #80]
    stp d8, d9, [sp, #96]
    stp d10, d11, [sp, #112]
    stp d12, d13, [sp, #128]
    stp d14, d15, [sp, #144]
    mov x2, sp
    str x2, [x0]
    mov sp, x1
    ldp x19, x20, [sp, #0]
    ldp x21, x22, [sp, #16]
    ldp x23, x24, [sp, #32]
    ldp x25, x26, [sp, #48]
    ldp x27, x28, [sp, #64]
    ldp x29, x30, [sp, #80]
    ldp d8, d9, [sp, #96]
    ldp d10, d11, [sp, #112]
    ldp d12, d13, [sp, #128]
    ldp d14, d15, [sp, #144]
    add sp, sp, #160
    ret
    .size cuda_host_switch, . - cuda_host_switch
)");
#else
#error "the emulation switches stacks on x86-64 and aarch64"
#endif

static void *scheduler; /* its place while a fiber runs */
#if CUDA_HOST_ASAN
static void *scheduler_fake;
static const void *scheduler_stack;
static size_t scheduler_size;
#endif

bool cuda_host_fiber_start(struct cuda_host_fiber *fiber, void (*entry)(void))
{
    if (!fiber->stack) {
        char *map = (char *)mmap(NULL, PAGE + STACK, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (map == (char *)MAP_FAILED)
            return false;
        if (mprotect(map, PAGE, PROT_NONE)) {
            munmap(map, PAGE + STACK);
            return false;
        }
        fiber->stack = map + PAGE;
    }
#if CUDA_HOST_ASAN
    __asan_unpoison_memory_region(fiber->stack, STACK);
#endif
    /* stacks that begin at the same place of a page would share a few sets of the cache */
    const size_t shift = ((size_t)fiber->stack / (PAGE + STACK)) % 61 * 64;
    void **top = (void **)(fiber->stack + STACK - shift - 64);
#if defined(__x86_64__)
    top[-1] = NULL; /* entry starts as if called from here: 8 bytes off 16 */
    top[-2] = (void *)entry;
    fiber->sp = top - 1 - SAVED;
    memset(fiber->sp, 0, (SAVED - 1) * sizeof(void *));
#else
    fiber->sp = top - SAVED;
    memset(fiber->sp, 0, SAVED * sizeof(void *));
    ((void **)fiber->sp)[11] = (void *)entry; /* x30 */
#endif
    fiber->fake = NULL;
    return true;
}

void cuda_host_fiber_enter(struct cuda_host_fiber *fiber)
{
#if CUDA_HOST_ASAN
    __sanitizer_start_switch_fiber(&scheduler_fake, fiber->stack, STACK);
#endif
    cuda_host_switch(&scheduler, fiber->sp);
#if CUDA_HOST_ASAN
    __sanitizer_finish_switch_fiber(scheduler_fake, NULL, NULL);
#endif
}

void cuda_host_fiber_leave(struct cuda_host_fiber *fiber)
{
#if CUDA_HOST_ASAN
    __sanitizer_start_switch_fiber(&fiber->fake, scheduler_stack, scheduler_size);
#endif
    cuda_host_switch(&fiber->sp, scheduler);
#if CUDA_HOST_ASAN
    __sanitizer_finish_switch_fiber(fiber->fake, &scheduler_stack, &scheduler_size);
#endif
}

void cuda_host_fiber_entered(void)
{
#if CUDA_HOST_ASAN
    __sanitizer_finish_switch_fiber(NULL, &scheduler_stack, &scheduler_size);
#endif
}

bool cuda_host_fiber_overflowed(const struct cuda_host_fiber *fiber, const void *address)
{
    const char *at = (const char *)address;
    return at >= fiber->stack - PAGE && at < fiber->stack;
}
