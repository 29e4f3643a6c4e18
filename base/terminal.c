/* terminal.c - the size of a terminal, and texts cut to a width. */
#define _DEFAULT_SOURCE /* struct winsize */
#include "terminal.h"
#include "text.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

void orr_terminal_size(int *rows, int *columns)
{
    struct winsize size;
    *rows = 24;
    *columns = 80;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 4 && size.ws_col > 20) {
        *rows = size.ws_row;
        *columns = size.ws_col;
    }
}

bool orr_terminal_colours(void)
{
    const char *none = getenv("NO_COLOR"), *kind = getenv("TERM");
    return (!none || !*none) && (!kind || strcmp(kind, "dumb") != 0) && isatty(STDERR_FILENO) == 1;
}

int orr_bytes_within(const char *text, int cells)
{
    const char *c = text;
    uint32_t code;
    while (*c) {
        const size_t bytes = orr_character(c, &code);
        cells -= code < 0x1100 ? 1 : 2;
        if (cells < 0)
            break;
        c += bytes;
    }
    return (int)(c - text);
}
