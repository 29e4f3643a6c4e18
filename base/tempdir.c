/* tempdir.c - makes, locks and removes working folders; see tempdir.h. */
#include "tempdir.h"

#include "error.h"
#include "file.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RANDOM = 6 }; /* characters that mkdtemp chooses */

/* Opens a folder to list and lock, so that removing it later needs no memory. NULL: errno. */
static DIR *open_folder(const char *folder)
{
    const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *listing = fd < 0 ? NULL : fdopendir(fd);
    if (fd >= 0 && !listing)
        close(fd);
    return listing;
}

static void remove_files(DIR *listing)
{
    rewinddir(listing);
    for (const struct dirent *entry; (entry = readdir(listing)) != NULL;)
        (void)unlinkat(dirfd(listing), entry->d_name, 0); /* fails for "." and other folders */
}

/* Whether an entry is named ".<name>-XXXXXX", as mkdtemp() makes it; NULL: of any name. */
static bool is_work(const char *entry, const char *name)
{
    const char *dash = strrchr(entry, '-');
    if (*entry != '.' || !dash || dash == entry + 1)
        return false;
    const size_t length = (size_t)(dash - entry) - 1;
    if (name && (strlen(name) != length || strncmp(entry + 1, name, length)))
        return false;
    size_t chosen = 0;
    while (isalnum((unsigned char)dash[1 + chosen]))
        chosen++;
    return chosen == RANDOM && !dash[1 + chosen];
}

static void remove_abandoned(const char *parent, const char *name)
{
    char path[4096];
    DIR *listing = opendir(parent);
    if (!listing)
        return;
    for (const struct dirent *entry; (entry = readdir(listing)) != NULL;) {
        if (!is_work(entry->d_name, name) ||
            snprintf(path, sizeof path, "%s/%s", parent, entry->d_name) >= (int)sizeof path)
            continue;
        DIR *abandoned = open_folder(path);
        if (!abandoned)
            continue;
        if (!flock(dirfd(abandoned), LOCK_EX | LOCK_NB)) {
            if (name) /* that of a part, which was made in it */
                remove_abandoned(path, NULL);
            remove_files(abandoned);
            (void)rmdir(path);
        }
        closedir(abandoned);
    }
    closedir(listing);
}

/* Whether the folder still exists: another process may have removed it as abandoned before it was
 * locked. */
static bool is_there(const struct orr_tempdir *work)
{
    struct stat locked, named;
    return !fstat(dirfd(work->listing), &locked) && !stat(work->folder, &named) &&
           locked.st_dev == named.st_dev && locked.st_ino == named.st_ino;
}

int orr_tempdir_create(struct orr_tempdir *work, const char *parent, const char *name)
{
    work->listing = NULL;
    work->folder[0] = '\0';
    remove_abandoned(parent, name);
    for (int attempt = 0; attempt < 8; attempt++) {
        const int rc = orr_path(work->folder, "%s/.%s-XXXXXX", parent, name);
        if (rc || !mkdtemp(work->folder)) {
            work->folder[0] = '\0';
            return rc ? rc
                      : ORR_FAIL(ORR_EIO, "%s: cannot create a working folder: %s", parent,
                                 strerror(errno));
        }
        work->listing = open_folder(work->folder);
        if (!work->listing && errno == ENOMEM) {
            (void)rmdir(work->folder);
            work->folder[0] = '\0';
            return ORR_FAIL(ORR_ENOMEM, "%s: out of memory", parent);
        }
        if (work->listing) /* locking is optional: it may not work here */
            (void)flock(dirfd(work->listing), LOCK_EX | LOCK_NB);
        if (work->listing && is_there(work))
            return 0;
        orr_tempdir_remove(work);
    }
    return ORR_FAIL(ORR_EIO, "%s: cannot create a working folder: %s", parent, strerror(EBUSY));
}

void orr_tempdir_remove(struct orr_tempdir *work)
{
    if (work->listing) {
        remove_files(work->listing);
        (void)rmdir(work->folder);
        closedir(work->listing);
    }
    work->listing = NULL;
    work->folder[0] = '\0';
}
