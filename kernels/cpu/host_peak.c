/* host_peak.c - the matmul rate of this machine, through the same oneDNN that training uses. */
#include <math.h>
#include <omp.h>
#include <string.h>

#include "base/base.h"
#include "cpu.h"

enum { ROWS = 64, COLUMNS = 768, INNER = 2048 }; /* a product takes one or two milliseconds */

static const double all_s = 0.1;

struct peak {
    struct k_cpu_matmul *matmul;
    size_t a_bytes, c_bytes; /* bytes of a thread's operand and product */
};

/* Reserves scratch memory and packs a matrix of zeros. */
static int prepare_product(struct peak *peak)
{
    const bool bf16 = k_cpu_bf16();
    const size_t item = bf16 ? sizeof(uint16_t) : sizeof(float);
    const struct k_cpu_matmul_shape shape = {
        .M = ROWS, .N = COLUMNS, .K = INNER, .b_packed = true, .bf16 = bf16};
    struct k_cpu_pack *pack;
    int rc = k_cpu_matmul_find(&shape, &peak->matmul);
    rc = rc ? rc : k_cpu_pack_find(INNER, COLUMNS, bf16, &pack);
    if (rc)
        return rc;
    const size_t b = k_cpu_lines(k_cpu_pack_bytes(pack));
    peak->a_bytes = k_cpu_lines(item * ROWS * INNER);
    peak->c_bytes = k_cpu_lines(sizeof(float) * ROWS * COLUMNS);
    rc = k_cpu_scratch_reserve(b, peak->a_bytes + peak->c_bytes +
                                      k_cpu_lines(k_cpu_matmul_scratch(peak->matmul)));
    if (!rc)
        memset(k_cpu_scratch_shared(), 0, b);
    return rc;
}

/* Multiplies the calling thread's rows by the packed matrix. */
static int multiply_once(const struct peak *peak)
{
    char *local = k_cpu_scratch_local();
    return k_cpu_matmul_run(peak->matmul, (float *)(void *)(local + peak->a_bytes), local,
                            k_cpu_scratch_shared(), NULL, local + peak->a_bytes + peak->c_bytes);
}

/* Seconds of the thread's fastest multiplication: the first, or any that ended within all_s
 * seconds, while all threads were still multiplying. */
static double best_of_thread(const struct peak *peak, int *failed)
{
    const double start = orr_time_s();
    double best = HUGE_VAL, from, to = start;
    do {
        from = to;
        *failed |= multiply_once(peak);
        to = orr_time_s();
        if (best == HUGE_VAL || to - start < all_s)
            best = fmin(best, to - from);
    } while (to - start < all_s);
    return fmax(best, 1e-9);
}

/* All threads multiply at once, and the best rates of the threads are added. Other processes can
 * only slow a thread down, and even on a busy machine some multiplications of milliseconds run
 * undisturbed. */
int k_cpu_peak(double *gflops)
{
    struct peak peak = {0};
    TRY(prepare_product(&peak));
    int failed = 0;
    double rate = 0;
#pragma omp parallel num_threads(k_cpu_threads()) reduction(| : failed) reduction(+ : rate)
    {
        memset(k_cpu_scratch_local(), 0, peak.a_bytes);
        failed = multiply_once(&peak); /* warms up */
#pragma omp barrier
        rate = 2e-9 * ROWS * COLUMNS * INNER / best_of_thread(&peak, &failed);
    }
    /* the rates of threads that share a core do not add up */
    const int cores = omp_get_num_procs(), threads = k_cpu_threads();
    *gflops = threads > cores ? rate * cores / threads : rate;
    return failed ? ORR_FAIL(ORR_EDEVICE, "oneDNN failed while the matmul peak was measured") : 0;
}
