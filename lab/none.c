/* none.c - what a module in a page has none of: signals, folders for temporary files, locks of
 * files and a terminal. Stands in for base/signals.c and base/terminal.c. */
#include "base/stop.h"
#include "base/system.h"
#include "base/terminal.h"

#include <stddef.h>
#include <string.h>
#include <unistd.h>

const struct orr_stop *orr_stop_of_call;

bool orr_time_over(void)
{
    const struct orr_stop *stop = orr_stop_of_call;
    return stop && stop->until_s > 0 && orr_time_s() >= stop->until_s;
}

bool orr_signal_seen(void)
{
    return (orr_stop_of_call && orr_stop_of_call->asked) || orr_time_over();
}

int orr_signal_number(void)
{
    return 0;
}

void orr_terminal_size(int *rows, int *columns)
{
    *rows = *columns = 0;
}

bool orr_terminal_colours(void)
{
    return false;
}

int orr_bytes_within(const char *text, int cells)
{
    (void)cells;
    return (int)strlen(text);
}

int flock(int file, int how);
int flock(int file, int how)
{
    (void)file, (void)how;
    return -1;
}

char *mkdtemp(char *template);
char *mkdtemp(char *template)
{
    (void)template;
    return NULL;
}

/* The one file that the module looks for is the checkpoint of lab/tensors.c. */
int access(const char *path, int how)
{
    (void)how;
    return strcmp(path, "model") ? -1 : 0;
}
