/* html.c - what the pages of runs and of tables have in common. */
#include "html.h"
#include "error.h"
#include "file.h"
#include "gnuplot.h"
#include "sha256.h"

#include <stdlib.h>
#include <string.h>

void orr_html_bytes(struct orr_file *html, const char *text, size_t bytes)
{
    static const char *const entity[] = {
        ['&'] = "&amp;", ['<'] = "&lt;", ['>'] = "&gt;", ['"'] = "&quot;"};
    for (size_t i = 0; i < bytes; i++) {
        const unsigned char c = (unsigned char)text[i];
        if (c < sizeof entity / sizeof *entity && entity[c])
            orr_file_printf(html, "%s", entity[c]);
        else
            orr_file_write(html, text + i, 1);
    }
}

void orr_html_text(struct orr_file *html, const char *text)
{
    orr_html_bytes(html, text, strlen(text));
}

/* Reads a file of figures/; free() it. */
static int read_part(const char *name, char **text, size_t *bytes)
{
    char path[4096];
    *text = NULL;
    TRY(orr_figures_path(name, path));
    return orr_file_read(path, text, bytes);
}

int orr_html_part(struct orr_file *html, const char *name)
{
    char *text;
    size_t bytes;
    int rc = read_part(name, &text, &bytes);
    if (!rc)
        rc = orr_file_write(html, text, bytes);
    free(text);
    return rc;
}

int orr_html_base64(struct orr_file *html, const unsigned char *in, size_t bytes)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    int rc = 0;
    for (size_t i = 0; i < bytes && !rc; i += 3) {
        const size_t left = bytes - i;
        const unsigned b1 = left > 1 ? in[i + 1] : 0, b2 = left > 2 ? in[i + 2] : 0;
        const unsigned group = (unsigned)in[i] << 16 | b1 << 8 | b2;
        char out[4] = {digit[group >> 18], digit[group >> 12 & 63],
                       left > 1 ? digit[group >> 6 & 63] : '=', left > 2 ? digit[group & 63] : '='};
        rc = orr_file_write(html, out, 4);
    }
    return rc;
}

/* The i-th seven bits. */
static unsigned seven_bits(const unsigned char *in, size_t bytes, size_t i)
{
    const size_t at = 7 * i / 8, from = 7 * i % 8;
    const unsigned two = (unsigned)in[at] << 8 | (at + 1 < bytes ? in[at + 1] : 0U);
    return two >> (9 - from) & 127;
}

int orr_html_sevens(struct orr_file *html, const unsigned char *in, size_t bytes)
{
    static const char forbidden[6] = {'\0', '\t', '\n', '\r', 27, '<'};
    const size_t count = (8 * bytes + 6) / 7;
    int rc = 0;
    for (size_t i = 0; i < count && !rc; i++) {
        const unsigned seven = seven_bits(in, bytes, i);
        const char *is = memchr(forbidden, (int)seven, sizeof forbidden);
        char out[2] = {(char)seven, 0};
        if (is) {
            unsigned code = 256 + 128 * (unsigned)(is - forbidden);
            code += ++i < count ? seven_bits(in, bytes, i) : 6 * 128;
            out[0] = (char)(0xc0 | code >> 6);
            out[1] = (char)(0x80 | (code & 63));
        }
        rc = orr_file_write(html, out, is ? 2 : 1);
    }
    return rc;
}

static int write_hash(struct orr_file *html, const char *text, size_t bytes)
{
    unsigned char hash[32];
    orr_sha256(text, bytes, hash);
    orr_file_printf(html, " 'sha256-");
    orr_html_base64(html, hash, sizeof hash);
    return orr_file_printf(html, "'");
}

int orr_html_policy(struct orr_file *html, const char *name, const char *inline_script, bool frames)
{
    char *part, *script = NULL;
    size_t bytes = 0;
    int rc = read_part(name, &part, &bytes);
    if (!rc)
        rc = (script = malloc(bytes + 1)) ? 0 : ORR_FAIL(ORR_ENOMEM, "%s: out of memory", name);
    if (!rc) {
        script[0] = '\n'; /* after <script> */
        memcpy(script + 1, part, bytes);
        orr_file_printf(html, "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src "
                              "'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; "
                              "form-action 'none'; script-src");
        write_hash(html, script, bytes + 1);
        if (inline_script)
            write_hash(html, inline_script, strlen(inline_script));
        rc = orr_file_printf(html, "%s\">\n", frames ? "; frame-src 'self' file:" : "");
    }
    free(script);
    free(part);
    return rc;
}

int orr_html_script(struct orr_file *html, const char *name)
{
    orr_file_printf(html, "<script>\n");
    TRY(orr_html_part(html, name));
    return orr_file_printf(html, "</script>\n");
}
