/* nfs_like.c - a network file system whose server does what it is asked and whose answers get lost:
 * preloaded into a program, it makes calls on files end as they may end on NFS.
 *
 *   LD_PRELOAD=nfs_like.so NFS_REPORT=FILE program ...
 *
 * Lost answers: the client asks a second time, and is told what has become of the first. rename,
 * unlink, remove and rmdir have done it and say ENOENT; link has done it and says EEXIST.
 * NFS_HOW=gone makes rename say ENOENT and do nothing, as when somebody else has removed the file.
 *
 * Silly renames: a file that this process has open, when it is removed or another one takes its
 * name, stays in its folder as ".nfs<number>" until the process ends.
 *
 * Locks are refused with ENOLCK, and folders cannot be synced. NFS_REPORT gets a line
 * "<lost answers> <silly renames> <refused locks> <program>" when the program returns. */
#define _GNU_SOURCE
#include "preload.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH = 4200, SILLY = 256 };
static char silly[SILLY][PATH]; /* files that are gone when this process has ended */
static int silly_renames, lost, refused;

static int answer_lost(int error)
{
    lost++;
    errno = error;
    return -1;
}

static int is_open(const struct stat *file)
{
    int found = 0;
    DIR *descriptors = opendir("/proc/self/fd");
    if (!descriptors)
        abort();
    for (const struct dirent *entry; !found && (entry = readdir(descriptors)) != NULL;) {
        struct stat info;
        found = *entry->d_name != '.' && !fstat(atoi(entry->d_name), &info) &&
                info.st_dev == file->st_dev && info.st_ino == file->st_ino;
    }
    closedir(descriptors);
    return found;
}

/* Before a name is taken from a file: one that is open keeps another. */
static void keep_if_open(const char *path)
{
    struct stat info;
    const char *slash = strrchr(path, '/');
    const int folder = slash ? (int)(slash - path + 1) : 0;
    int (*real)(const char *, const char *);
    if (lstat(path, &info) || !S_ISREG(info.st_mode) || !is_open(&info))
        return;
    if (silly_renames == SILLY)
        abort();
    snprintf(silly[silly_renames], PATH, "%.*s.nfs%08lx%08lx", folder, path, (long)getpid(),
             (long)silly_renames);
    preload_next("link", &real);
    if (real(path, silly[silly_renames]))
        abort();
    silly_renames++;
}

int rename(const char *from, const char *to)
{
    struct stat old, new;
    const char *how = getenv("NFS_HOW");
    if (how && !strcmp(how, "gone"))
        return answer_lost(ENOENT);
    if (!lstat(from, &old) && !lstat(to, &new) && old.st_ino != new.st_ino)
        keep_if_open(to);
    int (*real)(const char *, const char *);
    preload_next("rename", &real);
    return real(from, to) ? -1 : answer_lost(ENOENT);
}

int link(const char *from, const char *to)
{
    int (*real)(const char *, const char *);
    preload_next("link", &real);
    return real(from, to) ? -1 : answer_lost(EEXIST);
}

int unlink(const char *path)
{
    keep_if_open(path);
    int (*real)(const char *);
    preload_next("unlink", &real);
    return real(path) ? -1 : answer_lost(ENOENT);
}

int remove(const char *path)
{
    keep_if_open(path);
    int (*real)(const char *);
    preload_next("remove", &real);
    return real(path) ? -1 : answer_lost(ENOENT);
}

int rmdir(const char *path)
{
    int (*real)(const char *);
    preload_next("rmdir", &real);
    return real(path) ? -1 : answer_lost(ENOENT);
}

int flock(int fd, int operation)
{
    (void)fd, (void)operation;
    refused++;
    errno = ENOLCK;
    return -1;
}

int fsync(int fd)
{
    struct stat info;
    if (!fstat(fd, &info) && S_ISDIR(info.st_mode)) {
        errno = EINVAL;
        return -1;
    }
    int (*real)(int);
    preload_next("fsync", &real);
    return real(fd);
}

__attribute__((destructor)) static void end(void)
{
    char line[128];
    int (*real)(const char *);
    preload_next("unlink", &real);
    for (int i = 0; i < silly_renames; i++)
        (void)real(silly[i]);
    snprintf(line, sizeof line, "%d %d %d %s\n", lost, silly_renames, refused,
             program_invocation_short_name);
    preload_report("NFS_REPORT", line);
}
