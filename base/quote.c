/* quote.c - any text as a word of the shell, and as code of Markdown. */
#include "error.h"
#include "file.h"
#include "text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

int orr_shell_word(char *word, size_t bytes, const char *text)
{
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/._+-";
    const bool quoted = !*text || text[strspn(text, plain)];
    size_t used = 0;
    if (quoted && used < bytes)
        word[used++] = '\'';
    for (const char *c = text; *c && used < bytes; c++)
        if (*c != '\'')
            word[used++] = *c;
        else
            for (const char *escape = "'\\''"; *escape && used < bytes; escape++)
                word[used++] = *escape;
    if (quoted && used < bytes)
        word[used++] = '\'';
    if (used >= bytes)
        return ORR_FAIL(ORR_EINVAL, "too long for a word of a command: %.80s...", text);
    word[used] = '\0';
    return 0;
}

/* Fences the text by more backticks than it has in a row, with blanks where it begins or ends with
 * one. */
int orr_markdown_code(struct orr_file *file, const char *text, bool cell)
{
    size_t fence = 1, run = 0;
    for (const char *c = text; *c; c++) {
        run = *c == '`' ? run + 1 : 0;
        fence = run >= fence ? run + 1 : fence;
    }
    const size_t bytes = strlen(text);
    const bool pads = !bytes || strchr("` ", text[0]) || strchr("` ", text[bytes - 1]);
    for (size_t i = 0; i < fence; i++)
        TRY(orr_file_write(file, "`", 1));
    TRY(orr_file_write(file, " ", pads));
    for (size_t step; *text; text += step) {
        uint32_t code;
        const bool blank = *text == '\n' || *text == '\t', bar = cell && *text == '|';
        const size_t unseen = orr_unseen(text);
        step = unseen ? unseen : orr_character(text, &code);
        TRY(bar      ? orr_file_write(file, "\\|", 2)
            : blank  ? orr_file_write(file, " ", 1)
            : unseen ? orr_file_write(file, "?", 1)
                     : orr_file_write(file, text, step));
    }
    TRY(orr_file_write(file, " ", pads));
    for (size_t i = 0; i < fence; i++)
        TRY(orr_file_write(file, "`", 1));
    return 0;
}
