/* fuzz_layouts.c - any bytes as a table in any layout: a table whose parts fit together, or an
 * error; never more. */
#include <math.h>
#include <string.h>

#include "fuzz.h"
#include "symreg/layout/layout.h"

/* Parses a copy, which may be overwritten. */
static int parse(const uint8_t *bytes, size_t size, enum orr_csv_flags flags, struct orr_csv *csv)
{
    char *text = malloc(size + 1);
    FUZZ_EXPECT(text);
    memcpy(text, bytes, size);
    text[size] = '\0';
    const int rc = sr_cells_parse("input", text, size, flags, csv);
    free(text);
    return rc;
}

FUZZ_TARGET(layouts)
{
    struct orr_csv odd, text;
    const int rc = parse(bytes, size, ORR_CSV_KEEP_ODD, &odd);
    FUZZ_EXPECT(!rc || *orr_error());
    FUZZ_EXPECT(rc == parse(bytes, size, ORR_CSV_KEEP_TEXT, &text));
    FUZZ_EXPECT(rc || (odd.rows == text.rows && odd.cols == text.cols && odd.cols > 0));
    for (size_t i = 0; !rc && i < odd.rows; i++)
        FUZZ_EXPECT(odd.line[i] == text.line[i] &&
                    odd.line[i] > (i ? odd.line[i - 1] : odd.header));
    for (size_t i = 0; !rc && i < odd.rows * odd.cols; i++) {
        FUZZ_EXPECT(text.cells[i]);
        FUZZ_EXPECT(isfinite(odd.values[i]) || (odd.cells && odd.cells[i]));
        FUZZ_EXPECT(memcmp(&odd.values[i], &text.values[i], sizeof(double)) == 0);
    }
    for (size_t c = 0; !rc && odd.units && c < odd.cols; c++) {
        char unit[256];
        if (odd.units[c] && sr_unit_translate(odd.units[c], unit, sizeof unit))
            FUZZ_EXPECT(strlen(unit) < sizeof unit);
    }
    orr_csv_free(&odd);
    orr_csv_free(&text);
    return 0;
}
