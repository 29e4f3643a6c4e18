/* pieces.c - reads a large text file in pieces of whole lines. */
#include "pieces.h"
#include "error.h"
#include "map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool orr_pieces_open(struct orr_pieces *p, const char *path, size_t least)
{
    struct stat info;
    size_t bytes;
    *p = (struct orr_pieces){.fd = -1};
    if (stat(path, &info) || !S_ISREG(info.st_mode) || (size_t)info.st_size <= least)
        return false;
    if (orr_open_regular(path, &p->fd, &bytes)) {
        orr_error_recover();
        p->fd = -1;
        return false;
    }
    p->left = bytes;
    p->buffer = malloc(ORR_PIECE + 1);
    if (!p->buffer)
        orr_pieces_close(p);
    return p->buffer != NULL;
}

/* Fills the buffer; false where the file cannot be read or became shorter. */
static bool fill_buffer(struct orr_pieces *p)
{
    while (p->left && p->end < ORR_PIECE) {
        const size_t room = ORR_PIECE - p->end;
        const ssize_t got = read(p->fd, p->buffer + p->end, p->left < room ? p->left : room);
        if (got == 0 || (got < 0 && errno != EINTR))
            return false;
        p->end += got > 0 ? (size_t)got : 0;
        p->left -= got > 0 ? (size_t)got : 0;
    }
    return true;
}

bool orr_pieces_next(struct orr_pieces *p, char **text, size_t *bytes)
{
    if (p->at < p->end)
        p->buffer[p->at] = p->next;
    p->end -= p->at;
    memmove(p->buffer, p->buffer + p->at, p->end);
    p->at = 0;
    if (!fill_buffer(p))
        return false;
    p->at = p->end;
    while (p->left && p->at && p->buffer[p->at - 1] != '\n')
        p->at--;
    p->is_whole = !p->left && p->at == p->end;
    p->next = p->at < p->end ? p->buffer[p->at] : '\0';
    p->buffer[p->at] = '\0';
    *text = p->buffer;
    *bytes = p->at;
    return p->at > 0;
}

void orr_pieces_close(struct orr_pieces *p)
{
    if (p->fd >= 0)
        close(p->fd);
    free(p->buffer);
    *p = (struct orr_pieces){.fd = -1};
}
