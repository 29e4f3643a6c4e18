/* fuzz_tables.c - any bytes as a table that other programs read: the first byte chooses forces,
 * force vectors, rollouts or a Pareto front. */
#include <math.h>
#include <string.h>

#include "figures/report.h"
#include "fuzz.h"
#include "laws/analysis.h"

static struct report_run run;

static void check_forces(const char *path)
{
    struct law_forces forces;
    struct law_sample_facts facts;
    if (law_forces_read(path, &forces))
        return;
    FUZZ_EXPECT(forces.rows >= 2 && forces.samples >= 1);
    for (int sample = 0; sample < forces.samples && sample < 3; sample++) {
        FUZZ_EXPECT(law_analyse_sample(&forces, sample, &facts) == 0);
        FUZZ_EXPECT(facts.rows <= forces.rows && !(facts.leverage > 1 + 1e-9));
    }
    law_forces_free(&forces);
}

/* A run of one source; the other tables are missing, which is the error that remains. */
static void open_run(void)
{
    static const char preset[] = "{\"attention\": [\"softmax\"], \"planets\": {\"enabled\": true}}";
    char path[4096];
    fuzz_file(path, "run/preset.json", preset, sizeof preset - 1);
    snprintf(path, sizeof path, "%s/run", fuzz_folder());
    FUZZ_EXPECT(report_read_settings(&run, path, "") == 0);
}

static void check_vectors(void)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/run", fuzz_folder());
    report_free(&run);
    FUZZ_EXPECT(report_read(&run, path, "", NULL) != 0 && *orr_error());
    const struct report_source *truth = &run.source[0];
    for (int p = 0; p < REPORT_BODIES; p++)
        for (size_t i = 0; i < truth->orbit[p].count; i++)
            FUZZ_EXPECT(isfinite(truth->orbit[p].at[i].fx));
}

static void check_rollouts(void)
{
    struct report_source *source = &run.source[report_find(&run, "softmax")];
    if (report_read_rollouts(&run, source))
        return;
    for (int p = 0; p < REPORT_BODIES; p++)
        FUZZ_EXPECT(source->rollout[p].known <= source->rollout[p].count);
}

/* Laws of one source, so that its front is read. */
static void check_front(void)
{
    static const char laws[] = "{\"laws\": [{\"source\": \"truth\", \"rule\": \"best\", "
                               "\"equation\": \"r\", \"sample\": 0}]}";
    char path[4096];
    fuzz_file(path, "run/laws/laws.json", laws, sizeof laws - 1);
    fuzz_seal(path);
    (void)report_read_laws(&run);
}

FUZZ_TARGET(tables)
{
    static const char *const file[] = {"forces.csv", "run/truth/finetune/forces_vector.csv",
                                       "run/softmax/pretrain_planets/rollouts.csv",
                                       "run/laws/front_truth_0.csv"};
    char path[4096];
    if (size < 1)
        return 0;
    const int which = bytes[0] % 4;
    open_run();
    fuzz_file(path, file[which], bytes + 1, size - 1);
    if (which == 0)
        check_forces(path);
    else if (which == 1)
        check_vectors();
    else if (which == 2)
        check_rollouts();
    else
        check_front();
    report_free(&run);
    return 0;
}
