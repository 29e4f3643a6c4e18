/* file.h - atomic files with checksums, folders, locks, mapped files. */
#ifndef ORR_FILE_H
#define ORR_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct dirent;

/* Writes go to a temporary file in the destination folder. Commit flushes, checks for errors, syncs
 * and renames; close without commit removes the temporary file. An empty handle is all zero.
 * Temporary files are named "<name>.<process>.orrery-partial", a form that other programs do not
 * use. Create removes temporary files of killed processes from the folder; flock(2) tells them from
 * files in use. */
enum { ORR_TEMPORARY = 4160 };
struct orr_file {
    FILE *stream;
    char path[4096], temporary[ORR_TEMPORARY];
    uint64_t checksum, bytes; /* XXH64 (seed 0) and number of all bytes written; set by commit */
    void *hash_state;
    int failed, error_number; /* the first failed write: its code, and errno */
};
int orr_file_create(struct orr_file *file, const char *path);
/* After a failed write all further writes, flush and commit fail with its error, so that callers
 * who write many pieces need only check the commit. */
int orr_file_write(struct orr_file *file, const void *data, size_t bytes);
int orr_file_printf(struct orr_file *file, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
int orr_file_commit(struct orr_file *file);
/* Makes everything written so far readable under the temporary name, also by another program. */
int orr_file_flush(struct orr_file *file);
/* As orr_file_commit(), but leaves a file that already holds these bytes as it is, with its time of
 * modification: files made from it remain up to date. */
int orr_file_commit_changes(struct orr_file *file);
void orr_file_close(struct orr_file *file); /* safe after commit and on an empty handle */

/* The temporary name of `path` (at most 4095 bytes) in this process, for callers that create the
 * file themselves. Without a lock the file may be removed as abandoned. */
void orr_temporary_name(char temporary[ORR_TEMPORARY], const char *path);
/* Whether a name has the form of a temporary file; *stem: length of <name> in bytes. */
bool orr_is_temporary(const char *name, size_t *stem);

/* mkdir -p. */
int orr_mkdir(const char *path);
/* Locks a folder for one process until *fd is unlocked or the process ends. Waits `wait_s` seconds
 * for another process, with a note if that may be long. Then ORR_EIO says what the other is
 * `doing`; ORR_EINTR after a signal. File systems without locks let all processes in, and NFS locks
 * only among processes of one machine. */
int orr_lock(const char *folder, const char *doing, int wait_s, int *fd);
/* A shared lock: any number of processes hold it together, but none beside an exclusive
 * orr_lock(). */
int orr_lock_shared(const char *folder, const char *doing, int wait_s, int *fd);
/* Waiting time for jobs of a killed process, which release their locks a moment after it: the same
 * command may be started again before that. */
enum { ORR_LOCK_WAIT_S = 5 };
void orr_unlock(int fd);
bool orr_exists(const char *path);
/* Removes a file; a missing one is no error. ORR_EIO. */
int orr_remove(const char *path);
/* Removes the regular files of a folder whose names are unwanted. ORR_EIO. */
int orr_remove_where(const char *folder, bool (*is_unwanted)(const char *name, const void *of),
                     const void *of);
/* rename(2). On NFS a rename may succeed and report ENOENT, if its answer was lost and the request
 * was repeated; this counts as success. ORR_EIO names `to`. */
int orr_rename(const char *from, const char *to);
/* The XXH64 and size of a file. This function and the two that read whole files below return
 * ORR_EMISSING where there is no file and ORR_EIO where it is not a regular file; none waits on a
 * FIFO. */
int orr_file_checksum(const char *path, uint64_t *checksum, uint64_t *bytes);
/* Maps a whole file to read; *map is NULL if it is empty. If the file becomes shorter meanwhile, a
 * program that reads it ends with an error that names it (orr_signals_catch()). */
int orr_file_map(const char *path, void **map, size_t *bytes);
/* Sets the program's name for that error: argv[0], which must remain valid. */
void orr_map_name_program(const char *path);
void orr_file_unmap(void *map, size_t bytes); /* NULL is allowed */
/* Reads the whole file, NUL-terminated; free() it. */
int orr_file_read(const char *path, char **text, size_t *bytes);
/* Copies a whole file, atomically. */
int orr_file_copy(const char *from, const char *to);
/* The entries of a folder except hidden ones, ordered by the bytes of their names. ORR_EMISSING if
 * the folder cannot be read. Free with orr_entries_free(), which also accepts {0}. */
struct orr_entries {
    int count;
    struct dirent **at;
};
int orr_entries_read(const char *folder, struct orr_entries *entries);
void orr_entries_free(struct orr_entries *entries);
/* The folder of a path of at most 4095 bytes; "." if the path has none. */
void orr_folder_of(const char *path, char folder[4096]);
/* Formats a path into buffer[4096]; ORR_EINVAL when it does not fit. */
int orr_path(char buffer[4096], const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
