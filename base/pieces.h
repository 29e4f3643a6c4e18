/* pieces.h - reads a large text file in pieces of whole lines, of which one is in memory. */
#ifndef ORR_PIECES_H
#define ORR_PIECES_H

#include <stdbool.h>
#include <stddef.h>

enum { ORR_PIECE = 2 << 20 }; /* bytes of a piece, at most */

/* Begin with {.fd = -1}; end with orr_pieces_close(). */
struct orr_pieces {
    int fd;
    bool is_whole;        /* the last piece ended the file: all of it was read */
    char *buffer;         /* (ORR_PIECE + 1) */
    char next;            /* the byte that the NUL of the last piece stands for */
    size_t at, end, left; /* the piece's end and the end of what was read; bytes still to read */
};
/* Opens a regular file of more than `least` bytes. False for other inputs, without a message. */
bool orr_pieces_open(struct orr_pieces *pieces, const char *path, size_t least);
/* The next piece, NUL-terminated, which may be overwritten, until the next call. Lines end with
 * "\n"; the last one of the file may lack it. False at the end, and where reading fails or a line
 * is longer than a piece: then is_whole is false. */
bool orr_pieces_next(struct orr_pieces *pieces, char **text, size_t *bytes);
void orr_pieces_close(struct orr_pieces *pieces);

#endif
