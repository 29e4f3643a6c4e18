/* png.h - pictures of gnuplot in fewer bytes. */
#ifndef ORR_PNG_H
#define ORR_PNG_H

/* Rewrites a PNG of 8 bits a colour, red, green and blue, as one with a palette of at most 256
 * colours, where these can stand for all: colours of areas, upright and level lines stay exact
 * (ORR_PNG_SOLID pixels that end runs of 8), and shades at edges change by at most ORR_PNG_SHADE of
 * 255 in red, in green and in blue, by more than a third of it in one of ORR_PNG_CHANGED pixels at
 * most. It takes a quarter of the bytes. A file of another kind, with more colours, with an area of
 * shades or that would not become smaller keeps its bytes. The file is written in place, for
 * one that has its temporary name. ORR_ENOMEM; ORR_EIO: the file cannot be read or written, as on a
 * full disk. */
int orr_png_shrink(const char *path);
enum { ORR_PNG_SHADE = 24, ORR_PNG_SOLID = 10, ORR_PNG_CHANGED = 20 };

#endif
