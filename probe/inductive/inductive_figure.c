/* inductive_figure.c - inductive.png: distances of predictions against distances of oracles. */
#include "inductive.h"

#include <math.h>
#include <string.h>

static const char *const quantities[] = {"linear oracle", "MLP oracle"};
static const char *const forms[] = {"corrected", "published"};
enum { PANELS = 4 };

/* One block per panel: diagonal, value, low, high, ceiling, floor, raw. A bin's diagonal stands in
 * the row behind it. */
static int write_data(const struct probe_results *results, const char *path)
{
    struct orr_file file = {0};
    char measure[PROBE_MEASURE];
    int rc = orr_file_create(&file, path);
    for (int panel = 0; panel < PANELS; panel++) {
        snprintf(measure, sizeof measure, "distance, %s", forms[panel / 2]);
        for (int i = 0; i + 1 < results->count && !rc; i++) {
            const struct probe_row *r = &results->row[i];
            if (!strcmp(r->quantity, quantities[panel % 2]) && !strcmp(r->measure, measure))
                rc = orr_file_printf(&file, "%.9g %.9g %.9g %.9g %.9g %.9g %.9g\n", r[1].value,
                                     r->value, isfinite(r->low) ? r->low : r->value,
                                     isfinite(r->high) ? r->high : r->value, r->ceiling, r->floor,
                                     r->raw);
        }
        if (!rc)
            rc = orr_file_printf(&file, "\n\n");
    }
    if (!rc)
        rc = orr_file_commit(&file);
    orr_file_close(&file);
    return rc;
}

static int write_settings(const struct probe_inductive *p, const char *path)
{
    struct orr_file file = {0};
    char text[PROBE_TEXT], title[2 * PROBE_TEXT];
    probe_describe(&p->s.probe.model, text);
    snprintf(title, sizeof title, "Inductive bias towards the state, %d data sets: %s, seed %llu",
             p->usable, text, (unsigned long long)p->s.probe.preset.seed);
    int rc = orr_file_create(&file, path);
    if (!rc)
        rc = orr_gnuplot_assign(&file, "title", 0, title);
    if (!rc)
        rc = orr_file_commit(&file);
    orr_file_close(&file);
    return rc;
}

static int write_drawing(const void *of, const char *data, const char *settings)
{
    const struct probe_inductive *p = of;
    TRY(write_data(&p->s.results, data));
    return write_settings(p, settings);
}

int probe_inductive_draw(const struct probe_inductive *p)
{
    return probe_picture(p->s.folder, "inductive", "inductive.gp", write_drawing, p);
}
