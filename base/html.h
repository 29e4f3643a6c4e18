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
/* Writes the Content Security Policy (level 3) of a page that needs no network: the script of
 * figures/, as orr_html_script() writes it, and `inline_script` (NULL: none) by their hashes,
 * styles and embedded pictures; `frames`: also pages beside it in frames. A second wall behind the
 * escaping of texts. */
int orr_html_policy(struct orr_file *html, const char *script, const char *inline_script,
                    bool frames);
/* Writes a script of figures/ as an element. */
int orr_html_script(struct orr_file *html, const char *name);

#endif
