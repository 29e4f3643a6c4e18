/* fuzz_csv.c - any bytes as a CSV file: a table whose parts fit together, or an error; never more.
 *
 * Built with libFuzzer by `make fuzz`; tests/fuzz/replay.c runs it over corpus/csv in make check.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "fuzz.h"

static char path[64];

static void forget(void)
{
    unlink(path);
}

/* A file of our own, overwritten by every input. */
static void keep_input(const uint8_t *bytes, size_t size)
{
    if (!*path) {
        const char *folder = access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm"; /* memory is faster */
        snprintf(path, sizeof path, "%s/orrery-fuzz-%ld.csv", folder, (long)getpid());
        atexit(forget);
    }
    FILE *file = fopen(path, "wb");
    FUZZ_EXPECT(file && fwrite(bytes, 1, size, file) == size && fclose(file) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct orr_csv numbers, text;
    keep_input(bytes, size);
    const int strict = orr_csv_read(path, ORR_CSV_NUMBERS, &numbers);
    const int rc = orr_csv_read(path, ORR_CSV_KEEP_TEXT, &text);
    FUZZ_EXPECT(!rc || *orr_error());
    FUZZ_EXPECT(rc || text.cols > 0);
    FUZZ_EXPECT(!rc || strict); /* what is broken is broken for both */
    if (!strict)
        FUZZ_EXPECT(numbers.rows == text.rows && numbers.cols == text.cols && !numbers.cells);
    for (size_t c = 0; !rc && c < text.cols; c++)
        FUZZ_EXPECT(orr_csv_column(&text, text.names[c]) == (int)c);
    for (size_t i = 0; !rc && i < text.rows * text.cols; i++) {
        FUZZ_EXPECT(text.cells[i]);
        if (!strict)
            FUZZ_EXPECT(memcmp(&numbers.values[i], &text.values[i], sizeof(double)) == 0);
    }
    orr_csv_free(&numbers);
    orr_csv_free(&text);
    return 0;
}
