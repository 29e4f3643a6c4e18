/* picture.c - pictures by gnuplot from a data file and a file of settings, which nobody keeps. */
#include "base/work.h"
#include "probe/probe.h"

int probe_picture(const char *folder, const char *name, const char *script,
                  int (*write)(const void *of, const char *data, const char *settings),
                  const void *of)
{
    struct orr_work work;
    char data[4096], set[4096], stem[4096], picture[4096];
    TRY(orr_mkdir(folder));
    TRY(orr_path(picture, "%s/%s.png", folder, name));
    int rc = orr_work_create(&work, folder, "probe");
    if (!rc)
        rc = orr_path(data, "%s/picture.dat", work.folder);
    if (!rc)
        rc = orr_path(set, "%s/picture.set", work.folder);
    if (!rc)
        rc = orr_path(stem, "%s/picture", work.folder);
    if (!rc)
        rc = write(of, data, set);
    if (!rc)
        rc = orr_gnuplot_draw(script, stem, picture);
    if (!rc && orr_signal_seen())
        rc = ORR_FAIL(ORR_EINTR, "stopped by a signal");
    orr_work_remove(&work);
    return rc;
}
