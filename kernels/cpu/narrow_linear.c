/* narrow_linear.c - linear layers with a handful of inputs or outputs (coordinates in, forces and
 * coordinates out), where a matrix library is not faster: plain loops in full precision.
 *
 * Both kinds are three loops between the narrow side X (N, S), S small, and the long side Y (N, L)
 * through M (S, L): layers with few inputs have X = input and M = W transposed, layers with few
 * outputs have X = output and M = W. */
#include <string.h>

#include "base/base.h"
#include "cpu.h"
#include "vec.h"

enum { ROWS = 256, GROUPS = 16 };

/* Y (rows, L) = X M + bias (L, may be NULL). */
static void expand(float *y, const float *x, const float *m, const float *bias, int rows, int S,
                   int L)
{
    for (int r = 0; r < rows; r++, x += S, y += L) {
        for (int at = 0; at < L; at += CPU_LANES) {
            const int n = L - at < CPU_LANES ? L - at : CPU_LANES;
            const bool whole = n == CPU_LANES;
            cpu_vec v = {0};
            if (bias)
                v = whole ? cpu_load(bias + at) : cpu_load_first(bias + at, n);
            for (int s = 0; s < S; s++) {
                const float *row = m + (size_t)s * (size_t)L + at;
                v = cpu_fma(cpu_set(x[s]), whole ? cpu_load(row) : cpu_load_first(row, n), v);
            }
            if (whole)
                cpu_store(y + at, v);
            else
                cpu_store_first(y + at, v, n);
        }
    }
}

/* X (rows, S) = Y M^T + bias (S, may be NULL). */
static void contract(float *x, const float *y, const float *m, const float *bias, int rows, int S,
                     int L)
{
    const int whole = L / CPU_LANES * CPU_LANES;
    for (int r = 0; r < rows; r++, x += S, y += L) {
        for (int s = 0; s < S; s++) {
            const float *row = m + (size_t)s * (size_t)L;
            cpu_vec v = {0};
            for (int at = 0; at < whole; at += CPU_LANES)
                v = cpu_fma(cpu_load(y + at), cpu_load(row + at), v);
            if (whole < L)
                v = cpu_fma(cpu_load_first(y + whole, L - whole),
                            cpu_load_first(row + whole, L - whole), v);
            x[s] = cpu_sum(v) + (bias ? bias[s] : 0.0f);
        }
    }
}

/* Adds X^T Y to M (S, L). */
static void accumulate(float *m, const float *x, const float *y, int rows, int S, int L)
{
    for (int r = 0; r < rows; r++, x += S, y += L) {
        for (int s = 0; s < S; s++) {
            float *row = m + (size_t)s * (size_t)L;
            const float xs = x[s];
#pragma omp simd
            for (int l = 0; l < L; l++)
                row[l] += xs * y[l];
        }
    }
}

/* to (cols, rows) = from (rows, cols) transposed. */
static void transpose(float *to, const float *from, int rows, int cols)
{
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < cols; c++)
            to[(size_t)c * (size_t)rows + (size_t)r] = from[(size_t)r * (size_t)cols + (size_t)c];
}

int k_cpu_narrow_forward(const struct k_linear *l, float *out)
{
    const int N = l->N, C = l->C, OC = l->OC;
    const bool few_outputs = OC <= K_CPU_NARROW;
    TRY(k_cpu_scratch_reserve(sizeof(float) * (size_t)C * (size_t)OC, 0));
    float *wt = k_cpu_scratch_shared();
    if (!few_outputs)
        transpose(wt, l->w, OC, C);
#pragma omp parallel for schedule(static) num_threads(k_cpu_threads()) if (N > ROWS)
    for (int at = 0; at < N; at += ROWS) {
        const int rows = N - at < ROWS ? N - at : ROWS;
        float *o = out + (size_t)at * (size_t)OC;
        const float *x = l->inp + (size_t)at * (size_t)C;
        if (few_outputs)
            contract(o, x, l->w, l->b, rows, OC, C);
        else
            expand(o, x, wt, l->b, rows, C, OC);
    }
    return 0;
}

struct narrow_gradients {
    float *dinp, *dw_part, *db_part; /* parts: (groups, S, L), (groups, OC) */
    const float *dout, *inp, *m;
    int C, OC;
    bool few_outputs, with_db;
};

static void backward_rows(const struct narrow_gradients *g, int group, int at, int rows)
{
    const size_t C = (size_t)g->C, OC = (size_t)g->OC, first = (size_t)at;
    const float *dout = g->dout + first * OC, *inp = g->inp + first * C;
    float *dw = g->dw_part + (size_t)group * C * OC;
    if (g->few_outputs)
        accumulate(dw, dout, inp, rows, g->OC, g->C);
    else
        accumulate(dw, inp, dout, rows, g->C, g->OC);
    if (g->dinp && g->few_outputs)
        expand(g->dinp + first * C, dout, g->m, NULL, rows, g->OC, g->C);
    else if (g->dinp)
        contract(g->dinp + first * C, dout, g->m, NULL, rows, g->C, g->OC);
    if (!g->with_db)
        return;
    float *db = g->db_part + (size_t)group * OC;
    for (int r = 0; r < rows; r++) {
#pragma omp simd
        for (size_t o = 0; o < OC; o++)
            db[o] += dout[(size_t)r * OC + o];
    }
}

int k_cpu_narrow_backward(const struct k_linear *l)
{
    const int N = l->N, C = l->C, OC = l->OC;
    float *dw = l->dw, *db = l->db;
    const size_t weights = (size_t)C * (size_t)OC;
    const size_t part = k_cpu_lines(sizeof(float) * GROUPS * (weights + (size_t)OC));
    TRY(k_cpu_scratch_reserve(part + sizeof(float) * weights, 0));
    char *shared = k_cpu_scratch_shared();
    float *parts = (float *)(void *)shared, *wt = (float *)(void *)(shared + part);
    memset(parts, 0, part);
    const bool few_outputs = OC <= K_CPU_NARROW;
    if (!few_outputs)
        transpose(wt, l->w, OC, C);
    const struct narrow_gradients g = {.dinp = l->dinp,
                                       .dw_part = parts,
                                       .db_part = parts + GROUPS * weights,
                                       .dout = l->dout,
                                       .inp = l->inp,
                                       .m = few_outputs ? l->w : wt,
                                       .C = C,
                                       .OC = OC,
                                       .few_outputs = few_outputs,
                                       .with_db = db != NULL};
#pragma omp parallel for schedule(static) num_threads(k_cpu_threads()) if (N > ROWS)
    for (int group = 0; group < GROUPS; group++) {
        const int first = (int)((long)group * N / GROUPS);
        const int end = (int)((long)(group + 1) * N / GROUPS);
        backward_rows(&g, group, first, end - first);
    }
    for (size_t group = 0; group < GROUPS; group++) {
        const float *dw_part = g.dw_part + group * weights;
        for (size_t i = 0; dw && i < weights; i++) {
            /* parts of layers with few inputs are (C, OC) */
            const size_t o = i / (size_t)C, c = i % (size_t)C;
            dw[i] += few_outputs ? dw_part[i] : dw_part[c * (size_t)OC + o];
        }
        for (size_t o = 0; db && o < (size_t)OC; o++)
            db[o] += g.db_part[group * (size_t)OC + o];
    }
    return 0;
}
