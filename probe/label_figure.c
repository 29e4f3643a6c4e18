/* label_figure.c - labels.png: R^2 against labelled sequences (figures/labels.gp). */
#define _XOPEN_SOURCE 700 /* mkdtemp */
#include "labels.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
        rc = orr_file_printf(&file, "title = ");
    if (!rc)
        rc = orr_gnuplot_string(&file, text);
    if (!rc)
        rc = orr_file_printf(&file, "\nseed = \"%llu\"\n", (unsigned long long)probe->preset.seed);
    if (!rc)
        rc = orr_file_commit(&file);
    orr_file_close(&file);
    return rc;
}

static void remove_work(const char *work)
{
    static const char *const names[] = {"labels.dat", "labels.set"};
    char path[4096];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!orr_path(path, "%s/%s", work, names[i]))
            (void)unlink(path);
    (void)rmdir(work);
}

int probe_labels_draw_figure(const struct probe_results *results, const struct probe *probe,
                             const char *folder)
{
    char work[4096], data[4096], set[4096], stem[4096], picture[4096];
    TRY(orr_path(picture, "%s/labels.png", folder));
    TRY(orr_path(work, "%s/.probe-XXXXXX", folder));
    if (!mkdtemp(work))
        return ORR_FAIL(ORR_EIO, "%s: cannot create a working folder: %s", folder, strerror(errno));
    int rc = orr_path(data, "%s/labels.dat", work);
    if (!rc)
        rc = orr_path(set, "%s/labels.set", work);
    if (!rc)
        rc = orr_path(stem, "%s/labels", work);
    if (!rc)
        rc = write_data(results, data);
    if (!rc)
        rc = write_settings(probe, set);
    if (!rc)
        rc = orr_gnuplot_draw("labels.gp", stem, picture);
    if (!rc && orr_signal_seen())
        rc = ORR_FAIL(ORR_EINTR, "stopped by a signal");
    remove_work(work);
    return rc;
}
