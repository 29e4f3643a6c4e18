/* fuzz_csv.c - any bytes as a CSV file: a table whose parts fit together, or an error; never
 * more. */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "fuzz.h"

FUZZ_TARGET(csv)
{
    char path[4096];
    struct orr_csv numbers, text, odd;
    fuzz_file(path, "a.csv", bytes, size);
    const int strict = orr_csv_read(path, ORR_CSV_NUMBERS, &numbers);
    const int rc = orr_csv_read(path, ORR_CSV_KEEP_TEXT, &text);
    const int rc_odd = orr_csv_read(path, ORR_CSV_KEEP_ODD, &odd);
    FUZZ_EXPECT(!rc || *orr_error());
    FUZZ_EXPECT(rc == rc_odd && (rc || (odd.rows == text.rows && odd.cols == text.cols)));
    FUZZ_EXPECT(rc || text.cols > 0);
    FUZZ_EXPECT(!rc || strict); /* what is broken is broken for both */
    if (!strict)
        FUZZ_EXPECT(numbers.rows == text.rows && numbers.cols == text.cols && !numbers.cells);
    for (size_t c = 0; !rc && c < text.cols; c++)
        FUZZ_EXPECT(orr_csv_column(&text, text.names[c]) == (int)c);
    for (size_t i = 0; !rc && i < text.rows * text.cols; i++) {
        const bool kept = odd.cells && odd.cells[i];
        FUZZ_EXPECT(text.cells[i]);
        FUZZ_EXPECT(memcmp(&odd.values[i], &text.values[i], sizeof(double)) == 0);
        FUZZ_EXPECT(kept == !isfinite(odd.values[i]));
        FUZZ_EXPECT(!kept || !strcmp(odd.cells[i], text.cells[i]));
        if (!strict)
            FUZZ_EXPECT(memcmp(&numbers.values[i], &text.values[i], sizeof(double)) == 0);
    }
    orr_csv_free(&numbers);
    orr_csv_free(&text);
    orr_csv_free(&odd);
    return 0;
}
