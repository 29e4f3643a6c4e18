/* text.c - spelling help: edit distance, the program's own folder. */
#include "text.h"

#include <string.h>
#include <unistd.h>

enum { WORD = 64 };

/* Levenshtein distance, rows of a table; long words are not compared. */
static int edit_distance(const char *a, const char *b)
{
    const size_t n = strlen(a), m = strlen(b);
    int row[WORD + 1];
    if (n > WORD || m > WORD)
        return WORD;
    for (size_t j = 0; j <= m; j++)
        row[j] = (int)j;
    for (size_t i = 1; i <= n; i++) {
        int diagonal = row[0];
        row[0] = (int)i;
        for (size_t j = 1; j <= m; j++) {
            const int change = diagonal + (a[i - 1] != b[j - 1]);
            const int insert = row[j - 1] + 1, erase = row[j] + 1;
            diagonal = row[j];
            row[j] = change < insert ? change : insert;
            row[j] = row[j] < erase ? row[j] : erase;
        }
    }
    return row[m];
}

void orr_nearest_offer(struct orr_nearest *nearest, const char *word, const char *candidate)
{
    const int distance = edit_distance(word, candidate);
    const int far = (int)strlen(candidate) / 2 + 1;
    if (distance > far || (nearest->name && distance >= nearest->distance))
        return;
    nearest->name = candidate;
    nearest->distance = distance;
}

int orr_program_folder(char path[4096])
{
    const ssize_t length = readlink("/proc/self/exe", path, 4095);
    if (length <= 0)
        return 1;
    path[length] = '\0';
    char *slash = strrchr(path, '/');
    if (!slash)
        return 1;
    *slash = '\0';
    return 0;
}
