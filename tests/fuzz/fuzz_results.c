/* fuzz_results.c - any bytes as a file of results: columns whose parts fit together, or an error;
 * never more. The first byte says which kind of file. */
#include <math.h>
#include <string.h>

#include "api/orrery.h"
#include "fuzz.h"

static void look(struct orrery_results *r)
{
    size_t rows, columns;
    FUZZ_EXPECT(orrery_results_size(r, &rows, &columns) == 0);
    for (size_t c = 0; c < columns; c++) {
        struct orrery_column column = {.bytes = sizeof column}, found = column;
        FUZZ_EXPECT(orrery_results_column(r, c, &column) == 0 && column.name && column.numbers);
        FUZZ_EXPECT(orrery_results_find(r, column.name, &found) == 0);
        FUZZ_EXPECT(!strcmp(found.name, column.name));
        FUZZ_EXPECT((column.kind == ORRERY_WORDS) == (column.words != NULL));
        for (size_t i = 0; i < rows; i++)
            FUZZ_EXPECT(!isinf(column.numbers[i]) || column.numbers[i] != 0);
        for (size_t i = 0; i < rows && column.words; i++)
            FUZZ_EXPECT(strlen(column.words[i]) < 1u << 30);
    }
}

FUZZ_TARGET(results)
{
    static const char *const names[] = {"a.json", "a.jsonl", "a.csv", "a.txt"};
    char path[4096];
    struct orrery_results *r = NULL;
    const uint8_t kind = size ? bytes[0] : 0;
    fuzz_file(path, names[kind % 4], bytes + (size > 0), size - (size > 0));
    FUZZ_EXPECT(orrery_results_create(ORRERY_INTERFACE, &r) == 0);
    const int status = orrery_results_open(r, path);
    FUZZ_EXPECT(!status == !*orrery_message(r));
    look(r);
    orrery_results_free(r);
    return 0;
}
