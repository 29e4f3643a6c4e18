/* lock.c - folders that one process, or several that read, hold while they work there. */
#include "error.h"
#include "file.h"
#include "log.h"
#include "signals.h"
#include "system.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

/* how: LOCK_EX or LOCK_SH */
static int lock_folder(const char *folder, const char *doing, int wait_s, int how, int *fd)
{
    const double until_s = orr_time_s() + wait_s;
    bool told = false;
    *fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*fd < 0)
        return ORR_FAIL(errno == ENOMEM ? ORR_ENOMEM : ORR_EIO, "%s: cannot open: %s", folder,
                        strerror(errno));
    while (flock(*fd, how | LOCK_NB)) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return 0; /* some file systems have no locks */
        if (orr_signal_seen() || orr_time_s() >= until_s) {
            close(*fd);
            return orr_signal_number()
                       ? ORR_FAIL(ORR_EINTR, "stopped while another process was %s in %s", doing,
                                  folder)
                       : ORR_FAIL(ORR_EIO, "%s: another process is %s there", folder, doing);
        }
        if (wait_s > ORR_LOCK_WAIT_S && !told && orr_time_s() >= until_s - wait_s + 1) {
            orr_note(false, "%s: another process is %s there, waiting for it", folder, doing);
            told = true;
        }
        (void)nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    }
    return 0;
}

int orr_lock(const char *folder, const char *doing, int wait_s, int *fd)
{
    return lock_folder(folder, doing, wait_s, LOCK_EX, fd);
}

int orr_lock_shared(const char *folder, const char *doing, int wait_s, int *fd)
{
    return lock_folder(folder, doing, wait_s, LOCK_SH, fd);
}

void orr_unlock(int fd)
{
    close(fd);
}
