/* file.h - atomic files with checksums, folders, locks, mapped files. */
#ifndef ORR_FILE_H
#define ORR_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct dirent;

/* Writes go to a temporary name in the same folder; commit flushes, checks for errors, syncs
 * and renames; close without commit removes the temporary file. An empty handle is all zero.
 * Temporary files are "<name>.<process>.orrery-partial", a form that files of other programs do not
 * have; create removes those that killed processes left in the folder, and no other's (a lock tells
 * them apart, flock). */
enum { ORR_TEMPORARY = 4160 };
struct orr_file {
    FILE *stream;
    char path[4096], temporary[ORR_TEMPORARY];
    uint64_t checksum, bytes; /* XXH64 (seed 0) of everything written, set by commit */
    void *hash_state;
    int failed, error_number; /* the first write that failed: its code, and errno */
};
int orr_file_create(struct orr_file *file, const char *path);
/* After a write that failed all further ones fail, and so do flush and commit, with its error:
 * whoever writes many pieces may leave their codes alone. */
int orr_file_write(struct orr_file *file, const void *data, size_t bytes);
int orr_file_printf(struct orr_file *file, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
int orr_file_commit(struct orr_file *file);
/* What was written so far can be read under the temporary name, by another program too. */
int orr_file_flush(struct orr_file *file);
/* As orr_file_commit, but a file that already holds these bytes stays as it is, with its time: what
 * was made from it is still up to date. */
int orr_file_commit_changes(struct orr_file *file);
void orr_file_close(struct orr_file *file); /* safe after commit and on an empty handle */

/* The temporary name of `path` (at most 4095 bytes) in this process, for those who make it
 * themselves: unlocked, it may be taken for a killed process's. */
void orr_temporary_name(char temporary[ORR_TEMPORARY], const char *path);
/* Whether a name has that form; *stem: bytes of <name>. */
bool orr_is_temporary(const char *name, size_t *stem);

/* mkdir -p. */
int orr_mkdir(const char *path);
/* One process at a time: the folder is locked until *fd is unlocked, or the process ends. Waits so
 * many seconds for another one, and says so where that may be long; then ORR_EIO says what that is
 * `doing`, ORR_EINTR after a signal. File systems without locks let all in, and NFS holds a folder
 * against programs of the same machine alone. */
int orr_lock(const char *folder, const char *doing, int wait_s, int *fd);
/* Any number of processes at a time, but none that holds the folder by orr_lock(). */
int orr_lock_shared(const char *folder, const char *doing, int wait_s, int *fd);
/* What a killed process has begun, as jobs side by side, ends and lets go a moment later: the same
 * command may come again before that. */
enum { ORR_LOCK_WAIT_S = 5 };
void orr_unlock(int fd);
bool orr_exists(const char *path);
/* Removes what may not be there. ORR_EIO. */
int orr_remove(const char *path);
/* rename(2), which on NFS may have renamed and say ENOENT: when the answer was lost, the request
 * came a second time. ORR_EIO names `to`. */
int orr_rename(const char *from, const char *to);
/* Of the following three: ORR_EMISSING where no file is, ORR_EIO where it is no regular file: none
 * waits for what a FIFO may bring.
 * XXH64 of a file's bytes. */
int orr_file_checksum(const char *path, uint64_t *checksum, uint64_t *bytes);
/* Maps a whole file to read. *map is NULL where it is empty. Where it becomes shorter meanwhile,
 * the program that reads it ends with an error that names it (orr_signals_catch). */
int orr_file_map(const char *path, void **map, size_t *bytes);
/* The program that such an error begins with: argv[0], which must stay. */
void orr_map_name_program(const char *path);
void orr_file_unmap(void *map, size_t bytes); /* of NULL too */
/* The whole file, NUL-terminated; free() it. */
int orr_file_read(const char *path, char **text, size_t *bytes);
/* A copy of a whole file, atomically. */
int orr_file_copy(const char *from, const char *to);
/* What is in a folder but what is hidden, by the bytes of the names. ORR_EMISSING: no folder that
 * can be read. orr_entries_free() of what was read, and of {0}. */
struct orr_entries {
    int count;
    struct dirent **at;
};
int orr_entries_read(const char *folder, struct orr_entries *entries);
void orr_entries_free(struct orr_entries *entries);
/* The folder of a path of at most 4095 bytes: "." of a name alone. */
void orr_folder_of(const char *path, char folder[4096]);
/* Formats a path into buffer[4096]; ORR_EINVAL when it does not fit. */
int orr_path(char buffer[4096], const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
