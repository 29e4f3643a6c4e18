/* picture.c - pictures by gnuplot from a data file and a file of settings, which nobody keeps. */
#define _XOPEN_SOURCE 700 /* mkdtemp */
#include "probe.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void remove_work(const char *work)
{
    static const char *const names[] = {"picture.dat", "picture.set"};
    char path[4096];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!orr_path(path, "%s/%s", work, names[i]))
            (void)unlink(path);
    (void)rmdir(work);
}

int probe_picture(const char *folder, const char *name, const char *script,
                  int (*write)(const void *of, const char *data, const char *settings),
                  const void *of)
{
    char work[4096], data[4096], set[4096], stem[4096], picture[4096];
    TRY(orr_mkdir(folder));
    TRY(orr_path(work, "%s/.probe-XXXXXX", folder));
    TRY(orr_path(picture, "%s/%s.png", folder, name));
    if (!mkdtemp(work))
        return ORR_FAIL(ORR_EIO, "%s: cannot create a working folder: %s", folder, strerror(errno));
    int rc = orr_path(data, "%s/picture.dat", work);
    if (!rc)
        rc = orr_path(set, "%s/picture.set", work);
    if (!rc)
        rc = orr_path(stem, "%s/picture", work);
    if (!rc)
        rc = write(of, data, set);
    if (!rc)
        rc = orr_gnuplot_draw(script, stem, picture);
    if (!rc && orr_signal_seen())
        rc = ORR_FAIL(ORR_EINTR, "stopped by a signal");
    remove_work(work);
    return rc;
}
