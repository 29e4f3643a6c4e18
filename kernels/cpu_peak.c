/* cpu_peak.c - the matmul rate of this machine, through the same oneDNN that training uses. */
#include <string.h>

#include "base.h"
#include "cpu.h"

enum { ROWS = 256, COLUMNS = 768, INNER = 2048, REPEATS = 12, LOOKS = 8 };

/* Every thread multiplies its own rows by the same packed matrix; the best of several looks, since
 * anything else on the machine only slows it down. */
int k_cpu_peak(double *gflops)
{
    const bool bf16 = k_cpu_bf16();
    struct k_cpu_pack *pack;
    const size_t item = bf16 ? sizeof(uint16_t) : sizeof(float);
    const struct k_cpu_matmul_shape shape = {
        .M = ROWS, .N = COLUMNS, .K = INNER, .b_packed = true, .bf16 = bf16};
    struct k_cpu_matmul *matmul;
    int rc = k_cpu_matmul_find(&shape, &matmul);
    if (rc != 0)
        return rc;
    if ((rc = k_cpu_pack_find(INNER, COLUMNS, bf16, &pack)) != 0)
        return rc;
    const size_t a = k_cpu_lines(item * ROWS * INNER), b = k_cpu_lines(k_cpu_pack_bytes(pack));
    const size_t c = k_cpu_lines(sizeof(float) * ROWS * COLUMNS);
    const size_t work = k_cpu_lines(k_cpu_matmul_scratch(matmul));
    rc = k_cpu_scratch_reserve(b, a + c + work);
    if (rc != 0)
        return rc;
    memset(k_cpu_scratch_shared(), 0, b);
    int failed = 0;
    double best = 0;
    for (int look = 0; look < LOOKS; look++) {
        const double start = orr_time_s();
#pragma omp parallel num_threads(k_cpu_threads()) reduction(| : failed)
        {
            char *local = k_cpu_scratch_local();
            if (look == 0)
                memset(local, 0, a);
            for (int i = 0; i < REPEATS; i++)
                failed |= k_cpu_matmul_run(matmul, (float *)(void *)(local + a), local,
                                           k_cpu_scratch_shared(), NULL, local + a + c);
        }
        const double flop = 2.0 * ROWS * COLUMNS * INNER * REPEATS * k_cpu_threads();
        const double rate = 1e-9 * flop / (orr_time_s() - start);
        best = rate > best ? rate : best;
    }
    *gflops = best;
    return failed ? ORR_FAIL(ORR_EDEVICE, "oneDNN failed while the matmul peak was measured") : 0;
}
