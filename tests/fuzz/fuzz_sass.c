/* fuzz_sass.c - any bytes as the text of nvdisasm: parts that hold every instruction once, or an
 * error. */
#include "base/base.h"
#include "fuzz.h"
#include "predict/sass.h"

FUZZ_TARGET(sass)
{
    char path[4096];
    struct predict_code code;
    const struct predict_range range = {"some", 0x20, 0x60};
    const struct predict_branch branch = {0x50, true};
    const struct predict_known known = {&range, 1, &branch, 1};
    fuzz_file(path, "a.sass", bytes, size);
    if (!predict_code_read(&code, path, "", &known))
        predict_code_free(&code);
    const int rc = predict_code_read(&code, path, "", NULL);
    FUZZ_EXPECT(!rc || *orr_error());
    double sum = 0;
    for (int p = 0; p < code.parts; p++) {
        FUZZ_EXPECT(*code.part[p].name && predict_tally_instructions(&code.part[p].tally) > 0);
        sum += predict_tally_instructions(&code.part[p].tally);
    }
    FUZZ_EXPECT(rc || sum == (double)code.count);
    for (size_t i = 0; i < code.count; i++) {
        const struct predict_instruction *in = &code.instruction[i];
        FUZZ_EXPECT(in->part >= 0 && in->part < code.parts);
        FUZZ_EXPECT(in->target >= -1 && in->target < (int)code.count);
    }
    predict_code_free(&code);
    return 0;
}
