/* png.c - PNG (ISO/IEC 15948) of true colours, read and written again with a palette. cairo writes
 * three bytes a pixel, and most of its colours are shades between a line and what is behind it. */
#include "png.h"
#include "error.h"
#include "file.h"
#include "memory.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ZLIB_CONST /* declares zlib's input as const */
#include <zlib.h>

enum { CHANNELS = 3, PALETTE = 256, MOST_COLOURS = 1 << 14, SLOTS = 4 * MOST_COLOURS, RUN = 7 };
static const size_t most_bytes = (size_t)1 << 28; /* of an unpacked picture */

struct picture {
    size_t width, height;
    unsigned char *rows; /* (height, 1 + width * CHANNELS): a filter and the pixels of each row */
};
struct colour {
    uint32_t value; /* red, green and blue, 8 bits each */
    int entry;      /* of the palette, the nearest */
    int distance;   /* to it: the largest of the three */
    size_t solid;   /* pixels that equal those at their left and above */
    size_t pixels;
};
struct colours {
    int count;
    struct colour at[MOST_COLOURS];
    int slot[SLOTS]; /* of the hash table: 1 + place in `at`, 0: empty */
};

static uint32_t number_at(const unsigned char *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/* ---- reading */

/* Unpacks the chunks IDAT, which are parts of one stream of zlib. False: not as the header says. */
static bool unpack(const unsigned char *file, size_t bytes, unsigned char *rows, size_t expected)
{
    z_stream z = {.next_out = rows, .avail_out = (uInt)expected};
    if (inflateInit(&z) != Z_OK)
        return false;
    int rc = Z_OK;
    for (size_t at = 8; bytes - at >= 12 && rc == Z_OK;) {
        const size_t length = number_at(file + at);
        if (length > bytes - at - 12)
            break;
        if (!memcmp(file + at + 4, "IDAT", 4)) {
            z.next_in = file + at + 8;
            z.avail_in = (uInt)length;
            rc = inflate(&z, Z_NO_FLUSH);
        }
        at += 12 + length;
    }
    inflateEnd(&z);
    return rc == Z_STREAM_END && z.avail_out == 0;
}

static int paeth(int left, int above, int before)
{
    const int p = left + above - before;
    const int to_left = abs(p - left), to_above = abs(p - above), to_before = abs(p - before);
    if (to_left <= to_above && to_left <= to_before)
        return left;
    return to_above <= to_before ? above : before;
}

/* Takes the filters of rows back (section 9 of the standard). */
static bool unfilter(struct picture *p)
{
    const size_t stride = p->width * CHANNELS;
    for (size_t y = 0; y < p->height; y++) {
        unsigned char *row = p->rows + y * (1 + stride) + 1;
        const unsigned char *previous = row - (1 + stride);
        const int filter = row[-1];
        if (filter > 4)
            return false;
        for (size_t x = 0; x < stride; x++) {
            const int left = x >= CHANNELS ? row[x - CHANNELS] : 0, above = y ? previous[x] : 0;
            const int before = y && x >= CHANNELS ? previous[x - CHANNELS] : 0;
            const int predicted[5] = {0, left, above, (left + above) / 2,
                                      paeth(left, above, before)};
            row[x] = (unsigned char)(row[x] + predicted[filter]);
        }
    }
    return true;
}

/* *is_ours: a whole PNG of true colours without interlacing. free() p->rows. */
static int read_picture(const unsigned char *file, size_t bytes, struct picture *p, bool *is_ours)
{
    static const unsigned char start[16] = "\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR";
    static const unsigned char form[5] = {8, 2, 0, 0, 0}; /* 8 bits, RGB, no interlacing */
    enum { HEADER = 33 };
    *is_ours = bytes > HEADER && !memcmp(file, start, sizeof start) &&
               !memcmp(file + 24, form, sizeof form);
    if (!*is_ours)
        return 0;
    p->width = number_at(file + 16);
    p->height = number_at(file + 20);
    *is_ours = p->width && p->height &&
               p->height <= most_bytes / (1 + p->width * CHANNELS); /* 32 bits times 3 */
    if (!*is_ours)
        return 0;
    const size_t expected = p->height * (1 + p->width * CHANNELS);
    p->rows = orr_alloc_unset(expected, 1);
    if (!p->rows)
        return ORR_ENOMEM;
    *is_ours = unpack(file, bytes, p->rows, expected) && unfilter(p);
    return 0;
}

/* ---- the palette */

/* The colour's place in c->at, where it is added; -1: there are too many. */
static int place_of(struct colours *c, uint32_t value)
{
    uint32_t slot = value * 2654435761u % SLOTS;
    while (c->slot[slot] && c->at[c->slot[slot] - 1].value != value)
        slot = (slot + 1) % SLOTS;
    if (!c->slot[slot]) {
        if (c->count == MOST_COLOURS)
            return -1;
        c->at[c->count] = (struct colour){.value = value, .distance = PALETTE};
        c->slot[slot] = ++c->count;
    }
    return c->slot[slot] - 1;
}

static uint32_t value_at(const unsigned char *pixel)
{
    return (uint32_t)pixel[0] << 16 | (uint32_t)pixel[1] << 8 | pixel[2];
}

/* Whether the RUN pixels before it are as it is; step: bytes from one to the next. */
static bool ends_run(const unsigned char *pixel, size_t step)
{
    for (size_t i = 1; i <= RUN; i++)
        if (memcmp(pixel, pixel - i * step, CHANNELS) != 0)
            return false;
    return true;
}

static bool count_colours(const struct picture *p, struct colours *c)
{
    for (size_t y = 0; y < p->height; y++) {
        const unsigned char *row = p->rows + y * (1 + p->width * CHANNELS) + 1;
        int place = -1;
        for (size_t x = 0, alike = 0; x < p->width; x++) { /* alike: pixels before it as it is */
            const unsigned char *pixel = row + x * CHANNELS;
            const uint32_t value = value_at(pixel);
            alike = place >= 0 && value == c->at[place].value ? alike + 1 : 0;
            if (!alike && (place = place_of(c, value)) < 0)
                return false;
            c->at[place].pixels++;
            c->at[place].solid +=
                alike >= RUN || (y >= RUN && ends_run(pixel, 1 + p->width * CHANNELS));
        }
    }
    return true;
}

static int distance(uint32_t a, uint32_t b)
{
    int most = 0;
    for (int shift = 0; shift < 24; shift += 8) {
        const int d = abs((int)(a >> shift & 255) - (int)(b >> shift & 255));
        most = d > most ? d : most;
    }
    return most;
}

/* The next colour of the palette: of those that must be exact the one of most pixels, then the one
 * farthest from all that are in it; -1: none is needed. */
static int next_entry(const struct colours *c, bool first)
{
    int exact = -1, far = 0;
    for (int i = 0; i < c->count; i++) {
        const struct colour *at = &c->at[i];
        if (at->distance > 0 && (first || at->solid >= ORR_PNG_SOLID) &&
            (exact < 0 || at->solid > c->at[exact].solid))
            exact = i;
        far = at->distance > c->at[far].distance ? i : far;
    }
    return exact >= 0 ? exact : c->at[far].distance > ORR_PNG_SHADE ? far : -1;
}

/* The number of entries; 0: PALETTE are too few. */
static int choose_palette(struct colours *c, uint32_t palette[PALETTE])
{
    for (int n = 0;; n++) {
        const int next = next_entry(c, n == 0);
        if (next < 0)
            return n;
        if (n == PALETTE)
            return 0;
        palette[n] = c->at[next].value;
        for (int i = 0; i < c->count; i++) {
            const int d = distance(c->at[i].value, palette[n]);
            if (d < c->at[i].distance) {
                c->at[i].distance = d;
                c->at[i].entry = n;
            }
        }
    }
}

/* Whether what changes much is edges, and no area of shades, which would be in steps. */
static bool keeps_shades(const struct picture *p, const struct colours *c)
{
    size_t changed = 0;
    for (int i = 0; i < c->count; i++)
        changed += c->at[i].distance > ORR_PNG_SHADE / 3 ? c->at[i].pixels : 0;
    return changed <= p->width * p->height / ORR_PNG_CHANGED;
}

/* ---- writing */

static void put_number(unsigned char *at, size_t value)
{
    for (int i = 0; i < 4; i++)
        at[i] = (unsigned char)(value >> (24 - 8 * i));
}

/* Finishes a chunk whose data are there, at + 8; the end of it. */
static unsigned char *put_chunk(unsigned char *at, const char *name, size_t bytes)
{
    put_number(at, bytes);
    memcpy(at + 4, name, 4);
    put_number(at + 8 + bytes, crc32_z(0, at + 4, 4 + bytes));
    return at + 12 + bytes;
}

/* The picture with a palette, its rows not filtered, in *bytes bytes; free() it. */
static int write_picture(struct picture *p, struct colours *c, const uint32_t *palette, int entries,
                         unsigned char **file, size_t *bytes)
{
    const size_t stride = p->width * CHANNELS;
    unsigned char *to = p->rows; /* shorter rows, in the place of those that were read */
    for (size_t y = 0; y < p->height; y++) {
        const unsigned char *row = p->rows + y * (1 + stride) + 1;
        const struct colour *at = NULL; /* neighbours are alike more often than not */
        *to++ = 0;
        for (size_t x = 0; x < p->width; x++) {
            const uint32_t value = value_at(row + x * CHANNELS);
            at = at && at->value == value ? at : &c->at[place_of(c, value)];
            *to++ = (unsigned char)at->entry;
        }
    }
    uLongf packed = compressBound((uLong)(to - p->rows));
    enum { START = 16, HEADER = 13, CHUNKS = START + HEADER + 4 + 12 + PALETTE * CHANNELS + 24 };
    *file = orr_alloc_unset(packed + CHUNKS, 1);
    if (!*file)
        return ORR_ENOMEM;
    memcpy(*file, "\x89PNG\r\n\x1a\n", 8);
    put_number(*file + START, p->width);
    put_number(*file + START + 4, p->height);
    memcpy(*file + START + 8, "\x08\x03\0\0\0", 5); /* 8 bits, a palette, no interlacing */
    unsigned char *at = put_chunk(*file + 8, "IHDR", HEADER);
    for (int i = 0; i < entries; i++)
        for (int k = 0; k < CHANNELS; k++)
            at[8 + i * CHANNELS + k] = (unsigned char)(palette[i] >> (16 - 8 * k));
    at = put_chunk(at, "PLTE", (size_t)entries * CHANNELS);
    if (compress2(at + 8, &packed, p->rows, (uLong)(to - p->rows), 8) != Z_OK)
        return ORR_FAIL(ORR_ENOMEM, "out of memory for a picture");
    at = put_chunk(at, "IDAT", packed);
    *bytes = (size_t)(put_chunk(at, "IEND", 0) - *file);
    return 0;
}

static int replace(const char *path, const unsigned char *content, size_t bytes)
{
    FILE *file = fopen(path, "wb");
    const bool written = file && fwrite(content, 1, bytes, file) == bytes;
    if ((file && fclose(file)) || !written)
        return ORR_FAIL(ORR_EIO, "%s: cannot write: %s", path, strerror(errno));
    return 0;
}

int orr_png_shrink(const char *path)
{
    char *file = NULL;
    unsigned char *smaller = NULL;
    size_t bytes, fewer = 0;
    uint32_t palette[PALETTE];
    struct picture p = {0};
    bool is_ours = false;
    int entries = 0;
    TRY(orr_file_read(path, &file, &bytes));
    int rc = read_picture((const unsigned char *)file, bytes, &p, &is_ours);
    struct colours *c = !rc && is_ours ? orr_alloc(1, sizeof *c) : NULL;
    if (!rc && is_ours && !c)
        rc = ORR_ENOMEM;
    if (c && count_colours(&p, c))
        entries = choose_palette(c, palette);
    if (entries && keeps_shades(&p, c))
        rc = write_picture(&p, c, palette, entries, &smaller, &fewer);
    if (!rc && fewer && fewer < bytes)
        rc = replace(path, smaller, fewer);
    free(smaller);
    free(c);
    free(p.rows);
    free(file);
    return rc;
}
