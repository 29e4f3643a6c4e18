/* fuzz_log.c - any bytes as a training's log: a curve whose steps rise, or an error; a log that is
 * cut back to a step holds no later one. */
#include <math.h>

#include "figures/report.h"
#include "fuzz.h"
#include "model/train/log.h"

static void check_rising(const double *step, size_t count)
{
    for (size_t i = 0; i < count; i++)
        FUZZ_EXPECT(isfinite(step[i]) && (i == 0 || step[i] > step[i - 1]));
}

static int read_curve(const char *path, double most)
{
    struct report_curve curve = {0};
    const int rc = report_read_curve(path, &curve);
    FUZZ_EXPECT(!rc || *orr_error());
    if (!rc) {
        check_rising(curve.step, curve.count);
        check_rising(curve.val_step, curve.val_count);
        FUZZ_EXPECT(!curve.count || curve.step[curve.count - 1] <= most);
    }
    free(curve.step);
    free(curve.val_step);
    return rc;
}

FUZZ_TARGET(log)
{
    char path[4096];
    fuzz_file(path, "log.jsonl", bytes, size);
    (void)read_curve(path, HUGE_VAL);
    FUZZ_EXPECT(gpt_log_trim(path, 20) == 0);
    FUZZ_EXPECT(read_curve(path, 20) == 0);
    return 0;
}
