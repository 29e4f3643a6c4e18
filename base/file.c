/* file.c - atomic files with checksums; folders; whole-file reads. */
#include "error.h"
#include "file.h"
#include "memory.h"
#include "map.h"
#include "text.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <xxhash.h>

static int io_error(const char *path, const char *doing)
{
    const int code = errno == ENOMEM ? ORR_ENOMEM : ORR_EIO;
    return ORR_FAIL(code, "%s: cannot %s: %s", path, doing, strerror(errno));
}

int orr_path(char buffer[4096], const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const int length = vsnprintf(buffer, 4096, format, args);
    va_end(args);
    if (length < 0 || length >= 4096)
        return ORR_FAIL(ORR_EINVAL, "path too long: %.80s...", buffer);
    return 0;
}

bool orr_is_name(const char *text)
{
    return orr_is_seen(text) && !strchr(text, '/') && *text && strcmp(text, ".") != 0 &&
           strcmp(text, "..") != 0;
}

bool orr_is_inside(const char *path)
{
    char name[256];
    for (const char *at = path;; at += strcspn(at, "/") + 1) {
        const size_t length = strcspn(at, "/");
        if (length >= sizeof name)
            return false;
        memcpy(name, at, length);
        name[length] = '\0';
        if (!orr_is_name(name))
            return false;
        if (!at[length])
            return true;
    }
}

int orr_remove(const char *path)
{
    return remove(path) && errno != ENOENT ? io_error(path, "remove") : 0;
}

int orr_remove_where(const char *folder, bool (*is_unwanted)(const char *name, const void *of),
                     const void *of)
{
    char path[4096];
    int rc = 0;
    DIR *listing = opendir(folder);
    if (!listing)
        return io_error(folder, "list");
    for (const struct dirent *entry; !rc && (entry = readdir(listing)) != NULL;) {
        struct stat info;
        if (!is_unwanted(entry->d_name, of))
            continue;
        rc = orr_path(path, "%s/%s", folder, entry->d_name);
        if (!rc && !lstat(path, &info) && S_ISREG(info.st_mode))
            rc = orr_remove(path);
    }
    closedir(listing);
    return rc;
}

int orr_rename(const char *from, const char *to)
{
    struct stat file, there;
    const bool known = !lstat(from, &file);
    if (!rename(from, to))
        return 0;
    const int why = errno;
    if (why == ENOENT && known && !lstat(to, &there) && there.st_dev == file.st_dev &&
        there.st_ino == file.st_ino && lstat(from, &there))
        return 0;
    return ORR_FAIL(ORR_EIO, "%s: cannot give a file this name: %s", to, strerror(why));
}

bool orr_exists(const char *path)
{
    return access(path, F_OK) == 0;
}

int orr_mkdir(const char *path)
{
    char part[4096];
    TRY(orr_path(part, "%s", path));
    for (char *at = part + 1;; at++) {
        if (*at != '/' && *at != '\0')
            continue;
        const char end = *at;
        *at = '\0';
        struct stat info;
        if (mkdir(part, 0777) && errno != EEXIST)
            return io_error(part, "create folder");
        if (stat(part, &info) || !S_ISDIR(info.st_mode))
            return ORR_FAIL(ORR_EIO, "%s: expected a folder, found %s", part,
                            !lstat(part, &info) && S_ISLNK(info.st_mode) && !orr_exists(part)
                                ? "a symbolic link that leads nowhere"
                                : "a file");
        *at = end;
        if (!end)
            return 0;
    }
}

/* The folder of a file: "." where the path has none. */
void orr_folder_of(const char *path, char folder[4096])
{
    snprintf(folder, 4096, "%s", path);
    char *slash = strrchr(folder, '/');
    if (slash)
        slash[slash == folder] = '\0';
    else
        strcpy(folder, ".");
}

static const char temporary_end[] = ".orrery-partial";

void orr_temporary_name(char temporary[ORR_TEMPORARY], const char *path)
{
    snprintf(temporary, ORR_TEMPORARY, "%.4095s.%ld%s", path, (long)getpid(), temporary_end);
}

bool orr_is_temporary(const char *name, size_t *stem)
{
    const size_t length = strlen(name), end = strlen(temporary_end);
    if (length <= end || strcmp(name + length - end, temporary_end))
        return false;
    size_t digits = length - end, last = digits;
    while (digits > 0 && isdigit((unsigned char)name[digits - 1]))
        digits--;
    if (digits == last || digits < 2 || name[digits - 1] != '.')
        return false;
    *stem = digits - 1;
    return true;
}

/* Removes temporary files of killed writers from the folder of `path`. A writer holds a lock on its
 * file until its process ends, so a file that can be locked is abandoned. Where locks do not work,
 * all files stay. */
static void remove_abandoned(const char *path)
{
    char folder[4096], name[4096];
    orr_folder_of(path, folder);
    DIR *listing = opendir(folder);
    if (!listing)
        return;
    for (const struct dirent *entry; (entry = readdir(listing)) != NULL;) {
        size_t stem;
        if (!orr_is_temporary(entry->d_name, &stem) ||
            snprintf(name, sizeof name, "%s/%s", folder, entry->d_name) >= (int)sizeof name)
            continue;
        const int fd = open(name, O_RDWR);
        if (fd < 0)
            continue;
        if (!flock(fd, LOCK_EX | LOCK_NB))
            (void)unlink(name);
        close(fd);
    }
    closedir(listing);
}

/* Opens the temporary file and locks it. Between the two another process may have removed it as
 * abandoned; it is then created again. */
static FILE *open_temporary(const char *path)
{
    for (int attempt = 0; attempt < 8; attempt++) {
        struct stat info;
        (void)unlink(path); /* never write through a link with this name */
        FILE *stream = fopen(path, "wbx");
        if (!stream && errno == EEXIST)
            continue;
        if (!stream)
            return NULL;
        (void)flock(fileno(stream), LOCK_EX | LOCK_NB); /* optional: may not work here */
        if (!fstat(fileno(stream), &info) && info.st_nlink > 0)
            return stream;
        fclose(stream);
    }
    errno = EBUSY;
    return NULL;
}

int orr_file_create(struct orr_file *file, const char *path)
{
    memset(file, 0, sizeof *file);
    TRY(orr_path(file->path, "%s", path));
    remove_abandoned(path);
    orr_temporary_name(file->temporary, path);
    file->stream = open_temporary(file->temporary);
    if (!file->stream)
        return io_error(path, "create");
    file->hash_state = XXH64_createState();
    if (!file->hash_state) {
        orr_file_close(file);
        return ORR_FAIL(ORR_ENOMEM, "%s: out of memory", path);
    }
    XXH64_reset(file->hash_state, 0);
    return 0;
}

/* The error of the first write that failed; 0 if none has. */
static int file_failed(const struct orr_file *file)
{
    if (file->failed == ORR_ENOMEM)
        return ORR_FAIL(ORR_ENOMEM, "%s: out of memory", file->path);
    errno = file->error_number;
    return file->failed ? io_error(file->path, "write") : 0;
}

static int fail_file(struct orr_file *file, int code)
{
    file->failed = code;
    file->error_number = errno;
    return file_failed(file);
}

int orr_file_write(struct orr_file *file, const void *data, size_t bytes)
{
    if (bytes == 0 || file->failed)
        return file_failed(file);
    if (fwrite(data, 1, bytes, file->stream) != bytes)
        return fail_file(file, ORR_EIO);
    XXH64_update(file->hash_state, data, bytes);
    file->bytes += bytes;
    return 0;
}

int orr_file_printf(struct orr_file *file, const char *format, ...)
{
    char small[1024], *text = small;
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    const int length = vsnprintf(small, sizeof small, format, args);
    va_end(args);
    if (length >= (int)sizeof small && (text = malloc((size_t)length + 1)) != NULL)
        vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    const int rc = length < 0 ? fail_file(file, ORR_EIO)
                   : text     ? orr_file_write(file, text, (size_t)length)
                              : fail_file(file, ORR_ENOMEM);
    if (text != small)
        free(text);
    return rc;
}

/* Syncs the folder, which makes the rename durable. */
static void sync_folder(const char *path)
{
    char folder[4096];
    orr_folder_of(path, folder);
    const int fd = open(folder, O_RDONLY);
    if (fd >= 0) {
        (void)fsync(fd); /* some file systems cannot; the data itself is synced */
        close(fd);
    }
}

int orr_file_flush(struct orr_file *file)
{
    TRY(file_failed(file));
    return fflush(file->stream) || ferror(file->stream) ? fail_file(file, ORR_EIO) : 0;
}

/* fsync(2), repeated a few times if a signal interrupts it. */
static int sync_file(int fd)
{
    enum { TRIES = 16 };
    int rc = -1;
    errno = EINTR;
    for (int i = 0; i < TRIES && rc && errno == EINTR; i++)
        rc = fsync(fd);
    return rc;
}

int orr_file_commit(struct orr_file *file)
{
    if (orr_memory_short())
        return ORR_FAIL(ORR_ENOMEM, "%s: not written, out of memory", file->path);
    TRY(orr_file_flush(file));
    if (sync_file(fileno(file->stream)))
        return io_error(file->path, "write");
    /* Closing may fail, too (quotas, NFS), so it comes before the rename. A second descriptor keeps
     * the lock while the file has its temporary name. */
    const int lock = fcntl(fileno(file->stream), F_DUPFD_CLOEXEC, 0);
    if (lock < 0)
        return io_error(file->path, "finish");
    FILE *stream = file->stream;
    file->stream = NULL;
    int rc = fclose(stream) ? io_error(file->path, "finish") : 0;
    if (!rc)
        rc = orr_rename(file->temporary, file->path);
    if (rc)
        unlink(file->temporary);
    close(lock);
    file->temporary[0] = '\0';
    if (rc)
        return rc;
    file->checksum = XXH64_digest(file->hash_state);
    sync_folder(file->path);
    return 0;
}

/* Whether file `a` equals file `b`. `b` then stays in place, so it must be a regular file. */
static bool same_bytes(const char *a, const char *b)
{
    enum { CHUNK = 1 << 16 };
    struct stat info;
    if (lstat(b, &info) || !S_ISREG(info.st_mode))
        return false;
    FILE *one = fopen(a, "rb"), *other = fopen(b, "rb");
    char *left = malloc(CHUNK), *right = malloc(CHUNK);
    bool same = one && other && left && right;
    for (size_t got = 1; same && got > 0;) {
        got = fread(left, 1, CHUNK, one);
        same = fread(right, 1, CHUNK, other) == got && !memcmp(left, right, got) && !ferror(one) &&
               !ferror(other);
    }
    if (one)
        fclose(one);
    if (other)
        fclose(other);
    free(left);
    free(right);
    return same;
}

int orr_file_commit_changes(struct orr_file *file)
{
    TRY(orr_file_flush(file));
    if (!same_bytes(file->temporary, file->path))
        return orr_file_commit(file);
    file->checksum = XXH64_digest(file->hash_state);
    orr_file_close(file);
    return 0;
}

void orr_file_close(struct orr_file *file)
{
    if (file->stream)
        fclose(file->stream);
    if (file->temporary[0])
        unlink(file->temporary);
    if (file->hash_state)
        XXH64_freeState(file->hash_state);
    file->stream = NULL;
    file->hash_state = NULL;
    file->temporary[0] = '\0';
}

/* Opens a regular file to read. O_NONBLOCK keeps open() from waiting on a FIFO, which is then
 * refused. */
int orr_open_regular(const char *path, int *fd, size_t *bytes)
{
    struct stat info;
    *fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (*fd < 0 && errno == ENOENT)
        return ORR_FAIL(ORR_EMISSING, "%s: cannot open: %s", path, strerror(errno));
    if (*fd < 0)
        return io_error(path, "open");
    if (!fstat(*fd, &info) && S_ISREG(info.st_mode)) {
        *bytes = (size_t)info.st_size;
        return 0;
    }
    close(*fd);
    return ORR_FAIL(ORR_EIO, "%s: not a regular file", path);
}

static int open_stream(const char *path, FILE **stream, size_t *bytes)
{
    int fd;
    TRY(orr_open_regular(path, &fd, bytes));
    *stream = fdopen(fd, "rb");
    if (*stream)
        return 0;
    const int rc = io_error(path, "open");
    close(fd);
    return rc;
}

int orr_file_checksum(const char *path, uint64_t *checksum, uint64_t *bytes)
{
    FILE *stream;
    size_t size;
    TRY(open_stream(path, &stream, &size));
    enum { CHUNK = 1 << 20 };
    XXH64_state_t *state = XXH64_createState();
    char *buffer = malloc(CHUNK);
    int rc = state && buffer ? 0 : ORR_FAIL(ORR_ENOMEM, "%s: out of memory", path);
    *bytes = 0;
    if (!rc) {
        XXH64_reset(state, 0);
        for (size_t got; (got = fread(buffer, 1, CHUNK, stream)) > 0; *bytes += got)
            XXH64_update(state, buffer, got);
        if (ferror(stream))
            rc = io_error(path, "read");
        *checksum = XXH64_digest(state);
    }
    XXH64_freeState(state);
    free(buffer);
    fclose(stream);
    return rc;
}

int orr_file_read(const char *path, char **text, size_t *bytes)
{
    FILE *stream;
    size_t size;
    *text = NULL;
    TRY(open_stream(path, &stream, &size));
    int rc = 0;
    *text = malloc(size + 1);
    if (!*text)
        rc = ORR_FAIL(ORR_ENOMEM, "%s: out of memory (%zu bytes)", path, size);
    else if (fread(*text, 1, size, stream) != size)
        rc = ferror(stream)
                 ? io_error(path, "read")
                 : ORR_FAIL(ORR_EIO, "%s: the file became shorter while it was read", path);
    else
        (*text)[size] = '\0';
    if (bytes)
        *bytes = size;
    if (rc) {
        free(*text);
        *text = NULL;
    }
    fclose(stream);
    return rc;
}

int orr_file_copy(const char *from, const char *to)
{
    struct orr_file file = {0};
    char *bytes;
    size_t count;
    TRY(orr_file_read(from, &bytes, &count));
    int rc = orr_file_create(&file, to);
    if (!rc)
        rc = orr_file_write(&file, bytes, count);
    if (!rc)
        rc = orr_file_commit(&file);
    orr_file_close(&file);
    free(bytes);
    return rc;
}

static int is_visible(const struct dirent *entry)
{
    return *entry->d_name != '.';
}

int orr_entries_read(const char *folder, struct orr_entries *entries)
{
    *entries = (struct orr_entries){0};
    const int count = scandir(folder, &entries->at, is_visible, alphasort);
    if (count < 0 && errno == ENOMEM)
        return ORR_FAIL(ORR_ENOMEM, "%s: out of memory", folder);
    if (count < 0)
        return ORR_FAIL(ORR_EMISSING, "%s: not a folder that can be read", folder);
    entries->count = count;
    return 0;
}

void orr_entries_free(struct orr_entries *entries)
{
    for (int i = 0; i < entries->count; i++)
        free(entries->at[i]);
    free(entries->at);
}
