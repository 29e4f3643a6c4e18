/* fuzz_cell.c - any bytes as a cell's results: figures that go into a verdict, or an error or a
 * reason why they are left out; never more. */
#include <string.h>

#include <cjson/cJSON.h>

#include "fuzz.h"
#include "study/verdict.h"

FUZZ_TARGET(cell)
{
    char path[4096];
    static struct verdict verdict;
    static struct verdict_sentences sentences;
    const char *const one = path;
    fuzz_file(path, "cell.json", bytes, size);
    const int rc = verdict_read(&verdict, &one, 1);
    FUZZ_EXPECT(!rc || *orr_error());
    if (!rc) {
        FUZZ_EXPECT(verdict.cells.count == 1 && verdict.attentions > 0 && verdict.seeds == 1);
        fuzz_quiet();
        verdict_sentences(&verdict, &sentences);
        FUZZ_EXPECT(verdict_write(&verdict, &sentences, fuzz_folder()) == 0);
        FUZZ_EXPECT(verdict_print(&verdict, &sentences) == 0);
        FUZZ_EXPECT(compare_cells_print(&verdict.cells) == 0);
    }
    verdict_free(&verdict);
    return 0;
}
