/* fuzz_laws.c - any bytes as laws.json of a run: laws of its sources, or an error; never more. */
#include <string.h>

#include "figures/report.h"
#include "fuzz.h"

FUZZ_TARGET(laws)
{
    static struct report_run run;
    static const char preset[] = "{\"attention\": [\"softmax\", \"lssar\"]}";
    char path[4096];
    fuzz_file(path, "run/preset.json", preset, sizeof preset - 1);
    fuzz_file(path, "run/laws/laws.json", bytes, size);
    fuzz_seal(path);
    snprintf(path, sizeof path, "%s/run", fuzz_folder());
    FUZZ_EXPECT(report_read_settings(&run, path, "") == 0);
    const int rc = report_read_laws_json(&run);
    FUZZ_EXPECT(!rc || *orr_error());
    for (size_t i = 0; !rc && i < run.law_count; i++) {
        const struct report_law *law = &run.law[i];
        FUZZ_EXPECT(law->source >= 0 && law->source < run.source_count && law->sample >= 0 &&
                    law->sample < run.samples && law->equation);
    }
    if (!rc)
        FUZZ_EXPECT(run.law_count > 0 && *report_headline_rule(&run));
    report_free(&run);
    return 0;
}
