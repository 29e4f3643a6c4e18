/* map.c - attention maps as pictures: cells for the eye, drawn by gnuplot. */
#include "probe/probe.h"

#include <math.h>
#include <stdlib.h>

enum { CELLS = 256 }; /* cells along an axis at most: about the pixels of a panel */

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

static int write_cells(const struct probe_page *page, int block, const char *path)
{
    const size_t n = (size_t)((page->T + block - 1) / block), T = (size_t)page->T;
    float *cells = orr_alloc(n * n, sizeof *cells);
    struct orr_file file = {0};
    int rc = cells ? orr_file_create(&file, path) : ORR_ENOMEM;
    for (int h = 0; h < page->count && !rc; h++) {
        probe_cells(cells, page->map + (size_t)h * T * T, page->T, block, page->window);
        rc = orr_file_write(&file, cells, n * n * sizeof *cells);
    }
    rc = rc ? rc : orr_file_commit(&file);
    orr_file_close(&file);
    free(cells);
    return rc;
}

/* Names of variants and numbers only: nothing that gnuplot could take for more than text. */
static int write_settings(const struct probe_page *page, int block, const char *path)
{
    struct orr_file file = {0};
    int rc = orr_file_create(&file, path);
    if (!rc)
        rc = orr_file_printf(&file,
                             "title = \"%s\"\npanels = %d\ncells = %d\nblock = %d\n"
                             "positions = %d\nwith_sign = %d\narray label[%d]\narray note[%d]\n",
                             page->title, page->count, (page->T + block - 1) / block, block,
                             page->T, page->has_sign, page->count, page->count);
    for (int h = 0; h < page->count && !rc; h++) {
        const struct probe_means *m = &page->means[h];
        rc = orr_file_printf(&file,
                             "label[%d] = \"head %d\"\n"
                             "note[%d] = \"entropy %.2f, sink %.2f, zeros %.0f%%\"\n",
                             h + 1, page->first + h, h + 1, m->entropy_relative, m->sink,
                             100 * m->zeros);
    }
    rc = rc ? rc : orr_file_commit(&file);
    orr_file_close(&file);
    return rc;
}

static int write_page(const void *of, const char *data, const char *settings)
{
    const struct probe_page *page = of;
    const int block = (page->T + CELLS - 1) / CELLS;
    TRY(write_cells(page, block, data));
    return write_settings(page, block, settings);
}

int probe_draw(const struct probe_page *page, const char *folder, const char *name)
{
    return probe_picture(folder, name, "attention_map.gp", write_page, page);
}
