/* label_figure.c - labels.png: R^2 against labelled sequences (figures/labels.gp). */
#include "labels.h"

#include <string.h>

/* A block of n, R^2, low, high for each arm. */
static int write_data(const struct probe_results *results, const char *path)
{
    static const char *const quantity[] = {"log force", "log force, untrained",
                                           "log force, neighbours"};
    struct orr_file file = {0};
    int rc = orr_file_create(&file, path);
    for (int arm = 0; arm < PROBE_ARMS; arm++) {
        for (int i = 0; i < results->count && !rc; i++) {
            const struct probe_row *row = &results->row[i];
            if (!strcmp(row->quantity, quantity[arm]))
                rc = orr_file_printf(&file, "%d %.9g %.9g %.9g\n", row->context, row->value,
                                     row->low, row->high);
        }
        if (!rc)
            rc = orr_file_printf(&file, "\n\n");
    }
    if (!rc)
        rc = orr_file_commit(&file);
    orr_file_close(&file);
    return rc;
}

static int write_settings(const struct probe *probe, const char *path)
{
    struct orr_file file = {0};
    char text[PROBE_TEXT];
    probe_describe(&probe->model, text);
    int rc = orr_file_create(&file, path);
    if (!rc)
        rc = orr_gnuplot_assign(&file, "title", 0, text);
    if (!rc)
        rc = orr_file_printf(&file, "seed = \"%llu\"\n", (unsigned long long)probe->preset.seed);
    if (!rc)
        rc = orr_file_commit(&file);
    orr_file_close(&file);
    return rc;
}

static int write_drawing(const void *of, const char *data, const char *settings)
{
    const struct probe_session *s = of;
    TRY(write_data(&s->results, data));
    return write_settings(&s->probe, settings);
}

int probe_labels_draw_figure(const struct probe_session *s)
{
    return probe_picture(s->folder, "labels", "labels.gp", write_drawing, s);
}
