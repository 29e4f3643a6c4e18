/* test_html.c - bytes as text of seven bits a byte: what is written is read again here, by another
 * way than the page's, and is UTF-8 that a line of a <script> element may hold. */
#include "base/html.h"
#include "scratch.h"

enum { MOST = 40 };

/* The character at *at, which moves behind it; -1: no UTF-8 of one or two bytes. */
static int character(const unsigned char *text, size_t bytes, size_t *at)
{
    const unsigned first = text[(*at)++];
    if (first < 0x80)
        return (int)first;
    if (first < 0xc2 || first > 0xdf || *at == bytes || (text[*at] & 0xc0) != 0x80)
        return -1;
    return (int)((first & 31) << 6 | (text[(*at)++] & 63U));
}

static void round_trip(const unsigned char *in, size_t bytes)
{
    struct orr_file file = {0};
    char *text;
    size_t size, at = 0, bits = 0;
    unsigned char out[MOST + 4] = {0};
    assert_int_equal(orr_file_create(&file, scratch_at(scratch_dir, "sevens")), 0);
    assert_int_equal(orr_html_sevens(&file, in, bytes), 0);
    assert_int_equal(orr_file_commit(&file), 0);
    orr_file_close(&file);
    assert_int_equal(orr_file_read(scratch_at(scratch_dir, "sevens"), &text, &size), 0);
    assert_int_equal(size, (8 * bytes + 6) / 7 + (size > 0 && text[size - 1] < 0 &&
                                                  ((unsigned)text[size - 2] & 0xffU) >= 0xd0));
    while (at < size) {
        const int code = character((const unsigned char *)text, size, &at);
        assert_true(code >= 0);
        int sevens[2] = {code, code & 127}, count = 1;
        if (code >= 128) {
            const int k = (code - 256) / 128;
            assert_in_range(k, 0, 11);
            sevens[0] = "\0\t\n\r\33<"[k % 6];
            count = k < 6 ? 2 : 1;
        } else {
            assert_null(memchr("\0\t\n\r\33<", code, 6));
        }
        for (int s = 0; s < count; s++)
            for (int bit = 6; bit >= 0; bit--, bits++)
                out[bits / 8] |= (unsigned char)((sevens[s] >> bit & 1) << (7 - bits % 8));
    }
    assert_int_equal(bits, (8 * bytes + 6) / 7 * 7);
    assert_memory_equal(out, in, bytes);
    assert_memory_equal(out + bytes, "\0\0", 2); /* bits that are missing */
    free(text);
}

TEST(bytes_come_back_from_text_of_seven_bits)
{
    static const unsigned char pattern[][5] = {{0},
                                               {0xff, 0xff, 0xff, 0xff, 0xff},
                                               {0x78, 0xf1, 0xe3, 0xc7, 0x8f}, /* each seven is < */
                                               {0x12, 0x34, 0x1b, 0x9a, 0x0d}};
    for (size_t p = 0; p < sizeof pattern / sizeof *pattern; p++)
        for (size_t bytes = 0; bytes <= MOST; bytes++) {
            unsigned char in[MOST];
            for (size_t i = 0; i < MOST; i++)
                in[i] = pattern[p][i % 5];
            round_trip(in, bytes);
        }
    for (unsigned seed = 1; seed <= 200; seed++) {
        unsigned char in[MOST];
        for (size_t i = 0; i < MOST; i++)
            in[i] = (unsigned char)((seed * 2654435761U + (unsigned)i * 40503U) >> (i % 17 + 3));
        round_trip(in, seed % MOST);
    }
}

TESTS(scratch_setup, scratch_teardown)
