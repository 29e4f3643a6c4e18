/* test_png.c - PNG of true colours get a palette: what stays exact, by how much shades move, and
 * what keeps its bytes. Pictures are written and read by functions of this file. */
#include <zlib.h>

#include "base/png.h"
#include "scratch.h"

enum { WIDTH = 200, HEIGHT = 60, RGB = 3, FILE_BYTES = 1 << 18 };
static unsigned char image[HEIGHT][WIDTH][RGB], file[FILE_BYTES];

static size_t put(size_t at, const char *name, const unsigned char *data, size_t bytes)
{
    const unsigned char length[4] = {0, (unsigned char)(bytes >> 16), (unsigned char)(bytes >> 8),
                                     (unsigned char)bytes};
    memcpy(file + at, length, 4);
    memcpy(file + at + 4, name, 4);
    if (bytes)
        memcpy(file + at + 8, data, bytes);
    const unsigned long crc = crc32(0, file + at + 4, (uInt)bytes + 4);
    for (size_t i = 0; i < 4; i++)
        file[at + 8 + bytes + i] = (unsigned char)(crc >> (24 - 8 * i));
    return at + 12 + bytes;
}

/* The image as `filter` (5: each in turn) leaves it, in two chunks; the bytes in `file`. */
static size_t encode(int filter, unsigned char type, unsigned char interlaced)
{
    static unsigned char rows[HEIGHT][1 + WIDTH * RGB], packed[FILE_BYTES];
    const unsigned char *flat = image[0][0];
    const int stride = WIDTH * RGB;
    for (int y = 0; y < HEIGHT; y++) {
        const int f = filter < 5 ? filter : y % 5;
        rows[y][0] = (unsigned char)f;
        for (int x = 0; x < stride; x++) {
            const int a = x < RGB ? 0 : flat[y * stride + x - RGB];
            const int b = y ? flat[(y - 1) * stride + x] : 0;
            const int c = y && x >= RGB ? flat[(y - 1) * stride + x - RGB] : 0;
            const int pa = abs(b - c), pb = abs(a - c), pc = abs(a + b - 2 * c);
            const int near = pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
            const int guess = (int[]){0, a, b, (a + b) / 2, near}[f];
            rows[y][1 + x] = (unsigned char)(flat[y * stride + x] - guess);
        }
    }
    uLongf bytes = sizeof packed;
    assert_int_equal(compress2(packed, &bytes, rows[0], sizeof rows, 6), Z_OK);
    const unsigned char header[13] = {0, 0, 0, WIDTH, 0, 0, 0, HEIGHT, 8, type, 0, 0, interlaced};
    memcpy(file, "\x89PNG\r\n\x1a\n", 8);
    size_t at = put(8, "IHDR", header, sizeof header);
    at = put(at, "tEXt", (const unsigned char *)"Software", 8);
    at = put(at, "IDAT", packed, bytes / 2);
    at = put(at, "IDAT", packed + bytes / 2, bytes - bytes / 2);
    return put(at, "IEND", NULL, 0);
}

static const char *path(void)
{
    return scratch_at(scratch_dir, "it.png");
}

/* What orr_png_shrink() makes of the first `bytes` bytes of `file`; free() it. */
static char *shrunk(size_t bytes, size_t *fewer)
{
    char *text;
    FILE *out = fopen(path(), "wb");
    assert_non_null(out);
    assert_int_equal(fwrite(file, 1, bytes, out), bytes);
    assert_int_equal(fclose(out), 0);
    assert_int_equal(orr_png_shrink(path()), 0);
    assert_int_equal(orr_file_read(path(), &text, fewer), 0);
    return text;
}

static void stays(size_t bytes, const char *what)
{
    size_t fewer;
    char *text = shrunk(bytes, &fewer);
    if (fewer != bytes || memcmp(text, file, bytes) != 0)
        fail_msg("%s: expected the same bytes, found others", what);
    free(text);
}

/* Reads a PNG with a palette and rows without filters, and compares it with the image: the largest
 * difference of a colour; *exact: of pixels for which is_exact() holds. */
static int difference(const char *text, size_t bytes, bool (*is_exact)(int y, int x), int *exact)
{
    static unsigned char rows[HEIGHT][1 + WIDTH];
    const unsigned char *palette = NULL, *at = (const unsigned char *)text + 8;
    const unsigned char *const end = (const unsigned char *)text + bytes;
    uLongf unpacked = 0;
    int most = 0, entries = 0;
    *exact = 0;
    while (at < end) {
        const size_t length = (size_t)at[1] << 16 | (size_t)at[2] << 8 | at[3];
        const unsigned char *crc = at + 8 + length;
        assert_true(end - at >= (long)length + 12);
        assert_int_equal(crc32(0, at + 4, (uInt)length + 4),
                         (uLong)crc[0] << 24 | (uLong)crc[1] << 16 | (uLong)crc[2] << 8 | crc[3]);
        if (!memcmp(at + 4, "IHDR", 4))
            assert_memory_equal(at + 8, "\0\0\0\xc8\0\0\0\x3c\x08\x03\0\0\0", 13);
        if (!memcmp(at + 4, "PLTE", 4)) {
            palette = at + 8;
            entries = (int)length / RGB;
        }
        if (!memcmp(at + 4, "IDAT", 4)) {
            unpacked = sizeof rows;
            assert_int_equal(uncompress(rows[0], &unpacked, at + 8, length), Z_OK);
        }
        at += 12 + length;
    }
    assert_int_equal(unpacked, sizeof rows);
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            for (int k = 0; k < RGB; k++) {
                assert_true(rows[y][0] == 0 && rows[y][1 + x] < entries);
                const int d = abs(palette[rows[y][1 + x] * RGB + k] - image[y][x][k]);
                most = d > most ? d : most;
                if (is_exact(y, x) && d > *exact)
                    *exact = d;
            }
    return most;
}

static int area_rows = 54; /* below them, 100 shades in each row, as at edges: 600 */

static bool is_area(int y, int x)
{
    return y < area_rows || x < 100;
}

/* Two areas, a line of a colour that is near to that of one area, and shades. */
static void draw_lines(void)
{
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            for (int k = 0; k < RGB; k++) {
                const int area = y < 20 ? 255 : y == 20 ? 250 : 30 + 80 * k;
                image[y][x][k] = (unsigned char)(is_area(y, x) ? area : 255 - x - k * (y % 20));
            }
}

TEST(test_areas_stay_exact)
{
    draw_lines();
    for (int filter = 0; filter <= 5; filter++) {
        size_t fewer, bytes = encode(filter, 2, 0);
        char *text = shrunk(bytes, &fewer);
        int exact;
        const int most = difference(text, fewer, is_area, &exact);
        if (fewer >= bytes || exact != 0 || most > ORR_PNG_SHADE || most < 1)
            fail_msg("filter %d: %zu of %zu bytes, areas changed by %d, shades by %d", filter,
                     fewer, bytes, exact, most);
        free(text);
    }
}

static bool everywhere(int y, int x)
{
    (void)y;
    (void)x;
    return true;
}

TEST(test_few_colours_stay_exact)
{
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            for (int k = 0; k < RGB; k++) /* 100 colours, columns of 2 pixels */
                image[y][x][k] = (unsigned char)(100 + x / 2 % (17 - k));
    size_t fewer, bytes = encode(5, 2, 0);
    char *text = shrunk(bytes, &fewer);
    int exact;
    assert_int_equal(difference(text, fewer, everywhere, &exact), 0);
    assert_true(fewer < bytes);
    free(text);
}

TEST(test_others_keep_their_bytes)
{
    draw_lines();
    const size_t whole = encode(5, 2, 0);
    stays(whole - 20, "a picture that is cut");
    stays(7, "the first 7 bytes of a picture");
    file[8 + 25 + 4] = 'x'; /* the name of a chunk that is not needed: read all the same */
    size_t fewer;
    free(shrunk(whole, &fewer));
    assert_true(fewer < whole);
    stays(encode(5, 6, 0), "a picture whose header says alpha");
    stays(encode(5, 2, 1), "a picture whose header says interlaced");
    area_rows = 40; /* a sixth of the picture is shades, as a map without a bar of its colours */
    draw_lines();
    stays(encode(5, 2, 0), "a picture with an area of shades");
    area_rows = 54;
    unsigned random = 1;
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            for (int k = 0; k < RGB; k++)
                image[y][x][k] = (unsigned char)((random = random * 1664525u + 1013904223u) >> 24);
    stays(encode(0, 2, 0), "a picture of colours in all directions");
    snprintf((char *)file, sizeof file, "no picture");
    stays(10, "a text");
    assert_int_equal(orr_png_shrink(scratch_at(scratch_dir, "none.png")), ORR_EMISSING);
    error_names("none.png", NULL);
}

TESTS(scratch_setup, scratch_teardown)
