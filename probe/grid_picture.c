/* grid_picture.c - see grid_picture.h. */
#include "grid_picture.h"
#include "grid_figure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void probe_row_name(const struct probe_row *row, bool with_context, char name[PROBE_ROW_NAME])
{
    char context[32] = "";
    if (row->context && with_context)
        snprintf(context, sizeof context, ", context %d", row->context);
    snprintf(name, PROBE_ROW_NAME, "%s, %s%s", row->quantity, row->measure, context);
}

static bool is_named(const struct probe_row *row, const char *wanted, bool with_context)
{
    char name[PROBE_ROW_NAME];
    probe_row_name(row, with_context, name);
    return !wanted || !strcmp(wanted, name);
}

/* The first with a number. */
static const struct probe_row *find_row(const struct probe_file *files, int n, const char *wanted,
                                        bool with_context)
{
    for (int i = 0; i < n; i++)
        for (int r = 0; r < files[i].results.count; r++) {
            const struct probe_row *row = &files[i].results.row[r];
            if (row->layer < 0 && isfinite(row->value) && is_named(row, wanted, with_context))
                return row;
        }
    return NULL;
}

static int by_number(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* Every context that the figure has in some file; those there is no room for are left out. */
static void find_contexts(const struct probe_file *files, int n, struct probe_drawn *drawn)
{
    for (int i = 0; i < n; i++)
        for (int r = 0; r < files[i].results.count; r++) {
            struct probe_row row = files[i].results.row[r];
            bool known = drawn->contexts == PROBE_LEVELS || !row.context;
            for (int k = 0; k < drawn->contexts && !known; k++)
                known = drawn->context[k] == row.context;
            row.context = drawn->row->context;
            if (!known && probe_same_figure(&row, drawn->row))
                drawn->context[drawn->contexts++] = files[i].results.row[r].context;
        }
    qsort(drawn->context, (size_t)drawn->contexts, sizeof *drawn->context, by_number);
}

/* The grid with the contexts as one more setting, whose levels are its last; files stay those of
 * `grid`. */
static void widen(const struct probe_grid *grid, const struct probe_drawn *drawn,
                  struct probe_grid *wide)
{
    *wide = *grid;
    if (drawn->contexts < 2)
        return;
    struct probe_factor *factor = &wide->factor[wide->factors++];
    snprintf(factor->name, sizeof factor->name, "positions");
    factor->count = drawn->contexts;
    for (int k = 0; k < drawn->contexts; k++)
        snprintf(factor->level[k], sizeof factor->level[k], "%d", drawn->context[k]);
    wide->places *= drawn->contexts;
}

int probe_grid_choose(const struct probe_grid *grid, const struct probe_options *options,
                      const struct probe_file *files, struct probe_drawn *drawn)
{
    char first[PROBE_ROW_NAME] = "none";
    const int n = options->file_count;
    struct probe_grid wide;
    *drawn = (struct probe_drawn){.row = find_row(files, n, options->figure, true)};
    const bool of_one = options->figure && drawn->row;
    if (!drawn->row)
        drawn->row = find_row(files, n, options->figure, false);
    const struct probe_row *any = find_row(files, n, NULL, true);
    if (any)
        probe_row_name(any, true, first);
    if (options->figure && !drawn->row)
        return ORR_FAIL(ORR_EUSAGE,
                        "--figure: no \"%s\" with numbers in %s; the first figure is \"%s\"",
                        options->figure, files[0].path, first);
    if (drawn->row && !of_one && grid->factors < PROBE_FACTORS)
        find_contexts(files, n, drawn);
    widen(grid, drawn, &wide);
    int rc = 0;
    if (!drawn->row)
        rc = ORR_FAIL(ORR_EINVAL, "no figure of the model as a whole has numbers");
    else if (!probe_grid_fits(&wide))
        rc = ORR_FAIL(ORR_EUSAGE, "more than %d curves or %d panels", PROBE_CURVES, PROBE_PANELS);
    else
        rc = orr_gnuplot_check("grid.gp");
    if (!rc || options->figure)
        return rc;
    orr_note(options->quiet, "note: no picture: %s", orr_error());
    orr_error_clear();
    drawn->row = NULL;
    return 0;
}

int probe_grid_picture(const struct probe_grid *grid, const struct probe_file *files,
                       const struct probe_drawn *drawn, const char *out)
{
    char name[PROBE_ROW_NAME], title[PROBE_ROW_NAME + 2 * ORR_NAME + 64], file[ORR_NAME + 8];
    char subtitle[80], path[4096];
    struct probe_grid wide;
    struct probe_numbers numbers;
    snprintf(file, sizeof file, "%s_grid", files[0].probe);
    TRY(orr_path(path, "%s/%s.png", out, file));
    if (!drawn->row)
        return orr_remove(path);
    widen(grid, drawn, &wide);
    const size_t count = (size_t)wide.places * (size_t)wide.seeds;
    TRY(probe_grid_numbers(grid, drawn->row, drawn->context,
                           drawn->contexts < 2 ? 0 : drawn->contexts, &numbers));
    probe_row_name(drawn->row, drawn->contexts < 2, name);
    snprintf(title, sizeof title, "probe %s, preset %s: %s", files[0].probe, files[0].preset, name);
    bool whole = true;
    for (size_t k = 0; k < count; k++)
        whole = whole && isfinite(numbers.value[k]);
    if (grid->seeds > 1)
        snprintf(subtitle, sizeof subtitle, "means over %s%d seeds, 95%% intervals by Student's t",
                 whole ? "" : "up to ", grid->seeds);
    else
        snprintf(subtitle, sizeof subtitle, "1 seed: no interval");
    const struct probe_grid_figure figure = {.grid = &wide,
                                             .title = title,
                                             .subtitle = subtitle,
                                             .y_label = drawn->row->measure,
                                             .value = numbers.value,
                                             .ceiling = numbers.ceiling,
                                             .floor = numbers.floor};
    const int rc = probe_grid_draw(&figure, out, file);
    free(numbers.value);
    return rc;
}
