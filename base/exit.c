/* exit.c - what main() returns: the last error on a line, and an exit status. */
#include "error.h"
#include "signals.h"
#include "terminal.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Whether all of standard output was written. A reader that has closed the pipe (| head) is no
 * failure. The stream remembers that an earlier write failed, but not its error; polling the pipe
 * tells whether its reader is gone. NFS and quotas report errors at close, so a copy is closed. */
static int finish_output(void)
{
    struct pollfd reader = {.fd = STDOUT_FILENO};
    if (fflush(stdout))
        return errno == EPIPE
                   ? 0
                   : ORR_FAIL(ORR_EIO, "standard output: cannot write: %s", strerror(errno));
    if (ferror(stdout) && (poll(&reader, 1, 0) != 1 || !(reader.revents & POLLERR)))
        return ORR_FAIL(ORR_EIO, "standard output: cannot write: some of it was lost before");
    const int copy = dup(STDOUT_FILENO);
    if (copy >= 0 && close(copy))
        return ORR_FAIL(ORR_EIO, "standard output: cannot write: %s", strerror(errno));
    return 0;
}

int orr_error_exit(const char *program, int code)
{
    if (code == ORR_OK)
        code = finish_output();
    if (code == ORR_OK)
        return 0;
    if (code == ORR_EINTR) /* 128 + signal, as a shell reports it: the next stage must not start */
        return 128 + (orr_signal_number() ? orr_signal_number() : SIGINT);
    const bool colours = orr_terminal_colours();
    /* the command that was typed, `orrery judge`, where another program does it */
    const char *typed = getenv("ORRERY_COMMAND");
    program = typed && *typed ? typed : program;
    if (!orr_error_was_told())
        fprintf(stderr, "%s: %serror:%s %s\n", program, colours ? ORR_RED : "",
                colours ? ORR_PLAIN : "", *orr_error() ? orr_error() : "unknown failure");
    return code == ORR_EUSAGE ? 2 : 1;
}
