/* picture.c - draws pictures by gnuplot from temporary files, of data and of settings. */
#include "error.h"
#include "file.h"
#include "gnuplot.h"
#include "log.h"
#include "signals.h"
#include "tempdir.h"

#include <stdio.h>

static int write_files(const char *stem,
                       int (*write)(const void *of, struct orr_file *data,
                                    struct orr_file *settings),
                       const void *of)
{
    static const char *const ends[2] = {"dat", "set"};
    struct orr_file file[2] = {{0}, {0}};
    char path[4096];
    int rc = 0;
    for (int k = 0; k < 2 && !rc; k++) {
        rc = orr_path(path, "%s.%s", stem, ends[k]);
        rc = rc ? rc : orr_file_create(&file[k], path);
    }
    rc = rc ? rc : write(of, &file[0], &file[1]);
    for (int k = 0; k < 2; k++) {
        rc = rc ? rc : orr_file_commit(&file[k]);
        orr_file_close(&file[k]);
    }
    return rc;
}

int orr_picture_check(const char *script)
{
    if (orr_gnuplot_is_there())
        return orr_gnuplot_check(script);
    orr_note(false, "note: no picture: gnuplot is not in PATH (package gnuplot-nox, or make deps)");
    return 0;
}

int orr_picture_draw(const char *folder, const char *name, const char *script,
                     int (*write)(const void *of, struct orr_file *data, struct orr_file *settings),
                     const void *of)
{
    struct orr_tempdir work;
    char stem[4096], picture[4096];
    TRY(orr_mkdir(folder));
    TRY(orr_path(picture, "%s/%s.png", folder, name));
    if (!orr_gnuplot_is_there())
        return orr_remove(picture); /* it would be of other numbers */
    int rc = orr_tempdir_create(&work, folder, "picture");
    rc = rc ? rc : orr_path(stem, "%s/picture", work.folder);
    rc = rc ? rc : write_files(stem, write, of);
    rc = rc ? rc : orr_gnuplot_draw(script, stem, picture);
    if (!rc && orr_signal_seen())
        rc = ORR_FAIL(ORR_EINTR, "stopped by a signal");
    orr_tempdir_remove(&work);
    return rc;
}
