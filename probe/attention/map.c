/* map.c - attention maps as pictures: reduces a map to cells and draws them by gnuplot. */
#include "probe/probe.h"

#include <math.h>
#include <stdlib.h>

enum { CELLS = 256 }; /* cells along an axis, at most; about the pixels of a panel */

void probe_cells(float *cells, const float *map, int T, int block, int window)
{
    const int n = (T + block - 1) / block;
    for (int k = 0; k < n * n; k++)
        cells[k] = NAN;
    for (int i = 0; i < T; i++)
        for (int j = window > 0 && i >= window ? i - window + 1 : 0; j <= i; j++) {
            float *cell = &cells[(i / block) * n + j / block];
            const float a = map[(size_t)i * (size_t)T + (size_t)j];
            if (isnan(*cell) || fabsf(a) > fabsf(*cell))
                *cell = a;
        }
}

/* ---------------------------------------------------------------------- what gnuplot reads */

/* Writes only names of variants and numbers, so gnuplot needs no escaping. */
static int write_page(const void *of, struct orr_file *data, struct orr_file *settings)
{
    const struct probe_page *page = of;
    const int block = (page->T + CELLS - 1) / CELLS, n = (page->T + block - 1) / block;
    const size_t count = (size_t)n * (size_t)n, T = (size_t)page->T;
    float *cells = orr_alloc(count, sizeof *cells);
    if (!cells)
        return ORR_ENOMEM;
    orr_file_printf(settings,
                    "title = \"%s\"\npanels = %d\ncells = %d\nblock = %d\n"
                    "positions = %d\nwith_sign = %d\narray label[%d]\narray note[%d]\n",
                    page->title, page->count, n, block, page->T, page->has_sign, page->count,
                    page->count);
    for (int h = 0; h < page->count; h++) {
        const struct probe_means *m = &page->means[h];
        probe_cells(cells, page->map + (size_t)h * T * T, page->T, block, page->window);
        orr_file_write(data, cells, count * sizeof *cells);
        orr_file_printf(settings,
                        "label[%d] = \"head %d\"\n"
                        "note[%d] = \"entropy %.2f, sink %.2f, zeros %.0f%%\"\n",
                        h + 1, page->first + h, h + 1, m->entropy_relative, m->sink,
                        100 * m->zeros);
    }
    free(cells);
    return 0;
}

int probe_draw(const struct probe_page *page, const char *folder, const char *name)
{
    return orr_picture_draw(folder, name, "attention_map.gp", write_page, page);
}
