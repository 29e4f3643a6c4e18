/* picture.c - pictures by gnuplot from a data file and a file of settings, which nobody keeps. */
#include "picture.h"

#include "base/tempdir.h"

#include <math.h>

int probe_picture(const char *folder, const char *name, const char *script,
                  int (*write)(const void *of, const char *data, const char *settings),
                  const void *of)
{
    struct orr_tempdir work;
    char data[4096], set[4096], stem[4096], picture[4096];
    TRY(orr_mkdir(folder));
    TRY(orr_path(picture, "%s/%s.png", folder, name));
    int rc = orr_tempdir_create(&work, folder, "probe");
    rc = rc ? rc : orr_path(data, "%s/picture.dat", work.folder);
    rc = rc ? rc : orr_path(set, "%s/picture.set", work.folder);
    rc = rc ? rc : orr_path(stem, "%s/picture", work.folder);
    rc = rc ? rc : write(of, data, set);
    rc = rc ? rc : orr_gnuplot_draw(script, stem, picture);
    if (!rc && orr_signal_seen())
        rc = ORR_FAIL(ORR_EINTR, "stopped by a signal");
    orr_tempdir_remove(&work);
    return rc;
}

/* ------------------------------------------------------------------------------ of results */

static int write_rows(const struct probe_results *results, const char *path)
{
    struct orr_file file = {0};
    int rc = orr_file_create(&file, path);
    for (int i = 0; i < results->count && !rc; i++) {
        const struct probe_row *r = &results->row[i];
        rc = orr_file_printf(
            &file, "%s\t%s\t%d\t%d\t%.9g\t%.9g\t%.9g\t%.9g\t%.9g\t%.9g\t%ld\n", r->quantity,
            r->measure, r->layer, r->context, r->value, isfinite(r->low) ? r->low : r->value,
            isfinite(r->high) ? r->high : r->value, r->ceiling, r->floor, r->raw, r->n);
    }
    rc = rc ? rc : orr_file_commit(&file);
    orr_file_close(&file);
    return rc;
}

struct drawing {
    const struct probe_session *session;
    int (*settings)(const void *of, struct orr_file *file);
    const void *of;
};

static int write_drawing(const void *of, const char *data, const char *settings)
{
    const struct drawing *d = of;
    const struct probe *probe = &d->session->probe;
    struct orr_file file = {0};
    char text[PROBE_TEXT];
    TRY(write_rows(&d->session->results, data));
    probe_describe(&probe->model, text);
    int rc = orr_file_create(&file, settings);
    rc = rc ? rc : orr_gnuplot_assign(&file, "model", 0, text);
    if (!rc)
        rc = orr_file_printf(&file, "seed = \"%llu\"\n", (unsigned long long)probe->preset.seed);
    if (!rc && d->settings)
        rc = d->settings(d->of, &file);
    rc = rc ? rc : orr_file_commit(&file);
    orr_file_close(&file);
    return rc;
}

int probe_session_draw(const struct probe_session *session, const char *name, const char *script,
                       int (*settings)(const void *of, struct orr_file *file), const void *of)
{
    const struct drawing drawing = {session, settings, of};
    return probe_picture(session->folder, name, script, write_drawing, &drawing);
}
