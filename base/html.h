/* html.h - self-contained pages: escaped texts, styles and scripts of figures/, and the policy that
 * allows these scripts alone. */
#ifndef ORR_HTML_H
#define ORR_HTML_H

#include <stdbool.h>
#include <stddef.h>

struct orr_file;

/* Writes text with & < > " escaped. */
void orr_html_text(struct orr_file *html, const char *text);
void orr_html_bytes(struct orr_file *html, const char *text, size_t bytes);
/* Writes a file of figures/ unchanged: style or script of the page. Errors as orr_file_read(). */
int orr_html_part(struct orr_file *html, const char *name);
/* Writes bytes as base64 (RFC 4648, no line breaks). */
int orr_html_base64(struct orr_file *html, const unsigned char *in, size_t bytes);
/* Writes bytes as UTF-8 in which every byte carries seven bits, most significant first: a seventh
 * more than the bytes, where base64 is a third more. A character below 128 is seven bits. Six of
 * these cannot stand in a line of a <script> element or would upset a terminal: NUL, tab, newline,
 * carriage return, escape and <. One of them, the k-th, and the seven bits n behind it are the
 * character 256 + 128 k + n, and 256 + 128 (k + 6) where it is the last. Bits missing at the end
 * are 0. Tabs and newlines are free for what stands between such texts. */
int orr_html_sevens(struct orr_file *html, const unsigned char *in, size_t bytes);
/* Writes the Content Security Policy (level 3) of a page that needs no network: the script of
 * figures/, as orr_html_script() writes it, and `inline_script` (NULL: none) by their hashes,
 * styles and embedded pictures; `frames`: also pages beside it in frames. A second wall behind the
 * escaping of texts. */
int orr_html_policy(struct orr_file *html, const char *script, const char *inline_script,
                    bool frames);
/* Writes a script of figures/ as an element. */
int orr_html_script(struct orr_file *html, const char *name);

#endif
