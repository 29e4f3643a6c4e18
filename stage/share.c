/* share.c - makes once what several cells of a grid have in common, and links it into one of them.
 */
#define _GNU_SOURCE /* realpath() */
#include "base/base.h"
#include "program.h"
#include "sweep.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

int orr_sweep_lock(const char *path, const char *waiting, int *fd)
{
    *fd = open(path, O_RDWR | O_CREAT, 0666); // NOLINT(android-cloexec-open): programs inherit it
    if (*fd < 0)
        return ORR_FAIL(ORR_EIO, "%s: %s", path, strerror(errno));
    if (waiting && flock(*fd, LOCK_EX | LOCK_NB)) {
        printf("sweep: %s: another sweep makes it, waiting\n", waiting);
        (void)fflush(stdout);
    }
    while (flock(*fd, LOCK_EX)) /* nothing where it is held already */
        if (errno != EINTR)
            return ORR_FAIL(ORR_EIO, "%s: cannot be locked: %s", path, strerror(errno));
        else if (orr_signal_seen())
            return ORR_FAIL(ORR_EINTR, "stopped by a signal");
    return 0;
}

/* The path of `to` as seen from `folder`; both are absolute, without links. */
static int relative(const char *folder, const char *to, char path[4096])
{
    size_t common = 0;
    for (size_t i = 0; folder[i] && folder[i] == to[i]; i++)
        if (folder[i] == '/')
            common = i + 1;
    *path = '\0';
    orr_append(path, 4096, "%s", "../");
    for (const char *c = folder + common; *c; c++)
        if (*c == '/')
            orr_append(path, 4096, "%s", "../");
    if (strlen(path) + strlen(to + common) >= 4096)
        return ORR_FAIL(ORR_EINVAL, "%s: the path is too long", to);
    orr_append(path, 4096, "%s", to + common);
    return 0;
}

static bool is_folder(const char *path)
{
    struct stat is;
    return !stat(path, &is) && S_ISDIR(is.st_mode);
}

/* Links SHARED/NAME into CELL, unless something is there. */
static int link_one(const char *cell, const char *shared, const char *name)
{
    char made[4096], link[4096], folder[4096], to[4096];
    TRY(orr_path(made, "%s/%s", shared, name));
    TRY(orr_path(link, "%s/%s", cell, name));
    if (!is_folder(made) || orr_exists(link))
        return 0;
    orr_folder_of(link, folder);
    TRY(orr_mkdir(folder));
    char *const real = realpath(made, NULL), *const from = realpath(folder, NULL);
    int rc = real && from ? relative(from, real, to)
                          : ORR_FAIL(ORR_EIO, "%s: %s", made, strerror(errno));
    free(real);
    free(from);
    if (!rc && unlink(link) && errno != ENOENT) /* a link that leads nowhere */
        rc = ORR_FAIL(ORR_EIO, "%s: cannot be replaced: %s", link, strerror(errno));
    if (!rc && symlink(to, link))
        rc = ORR_FAIL(ORR_EIO, "%s: cannot be made: %s", link, strerror(errno));
    return rc;
}

static int link_all(const char *cell, const char *shared)
{
    static const char *const trained[] = {"pretrain", "pretrain_planets"};
    struct orr_entries of = {0};
    char name[4096];
    int rc = link_one(cell, shared, "orbits");
    if (!rc)
        rc = orr_entries_read(shared, &of);
    for (int i = 0; i < of.count && !rc; i++)
        for (size_t t = 0; t < sizeof trained / sizeof *trained && !rc; t++) {
            rc = orr_path(name, "%s/%s", of.at[i]->d_name, trained[t]);
            rc = rc ? rc : link_one(cell, shared, name);
        }
    orr_entries_free(&of);
    return rc;
}

int orr_share_make(const char *cell, const char *shared, const char *const *argv, int *status)
{
    char lock[4096];
    TRY(orr_mkdir(cell));
    TRY(orr_mkdir(shared));
    TRY(orr_path(lock, "%s.lock", shared));
    int fd = -1, rc = orr_sweep_lock(lock, NULL, &fd);
    if (!rc)
        rc = orr_program_call(argv, false, status);
    if (!rc && !*status && !orr_signal_seen())
        rc = link_all(cell, shared);
    if (fd >= 0)
        (void)close(fd);
    return rc;
}

int orr_share_command(int count, char *const *argument, int *status)
{
    if (count < 3)
        return ORR_FAIL(ORR_EUSAGE, "share: expected CELL SHARED COMMAND..., found %d argument%s",
                        count, count == 1 ? "" : "s");
    orr_signals_catch();
    TRY(orr_share_make(argument[0], argument[1], (const char *const *)(uintptr_t)(argument + 2),
                       status));
    if (!*status && orr_signal_seen())
        *status = 128 + orr_signal_number();
    return 0;
}
