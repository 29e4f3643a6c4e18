/* inputs.c - opens the data for fine-tuning and draws its held-out positions and labels. */
#include "ft.h"

#include <stdlib.h>
#include <string.h>

static int open_magnitude(struct ft_run *run, const char *orbits)
{
    const struct orr_settings *p = run->settings;
    run->has_magnitude = orr_has_task(p, false);
    if (!run->has_magnitude)
        return 0;
    TRY(sim_dataset_open(&run->train, p, orbits, SIM_SPLIT_TWO_BODY_TRAIN));
    if (p->orbits.two_body_val > 0)
        TRY(sim_dataset_open(&run->val, p, orbits, SIM_SPLIT_TWO_BODY_VAL));
    TRY(sim_dataset_open(&run->test, p, orbits, SIM_SPLIT_TWO_BODY_TEST));
    const int samples = p->finetune.samples, size = p->finetune.sample_size;
    run->row_count = (size_t)samples * (size_t)size;
    run->rows = orr_alloc(run->row_count, sizeof *run->rows);
    if (!run->rows)
        return ORR_ENOMEM;
    return ft_sample(&run->test, (int)run->test.positions - 1, p->seed, samples, size, run->rows);
}

static int open_vector(struct ft_run *run, const char *orbits)
{
    const struct orr_settings *p = run->settings;
    run->has_vector = orr_has_task(p, true);
    if (!run->has_vector)
        return 0;
    const enum sim_split split =
        p->planets.enabled ? SIM_SPLIT_PLANETS_SOLAR : SIM_SPLIT_SOLAR_SYSTEM_TWO_BODY;
    const uint64_t bodies = sim_split_count(p, split);
    TRY(sim_dataset_open(&run->planets, p, orbits, split));
    if (run->planets.n != bodies)
        return ORR_FAIL(ORR_EFORMAT, "%s: %s has %zu sequences, expected those of %llu bodies",
                        orbits, sim_split_name(split), run->planets.n, (unsigned long long)bodies);
    const size_t labels = (size_t)p->planets.labels;
    run->labels = orr_alloc((size_t)run->planets.n * labels, sizeof *run->labels);
    if (!run->labels)
        return ORR_ENOMEM;
    for (size_t s = 0; s < (size_t)run->planets.n; s++)
        TRY(ft_choose_labels(&run->planets, (long)s, (int)run->planets.positions - 1, p->seed,
                             (int)labels, run->labels + s * labels));
    return 0;
}

int ft_run_open(struct ft_run *run, const struct orr_settings *settings, const char *run_dir,
                const char *orbits_dir, const struct k_ops *ops, struct orr_lineage *lineage)
{
    memset(run, 0, sizeof *run);
    run->settings = settings;
    run->ops = ops;
    run->lineage = lineage;
    int rc = orr_path(run->run, "%s", run_dir);
    if (!rc)
        rc = open_magnitude(run, orbits_dir);
    if (!rc)
        rc = open_vector(run, orbits_dir);
    if (rc)
        ft_run_close(run);
    return rc;
}

void ft_run_close(struct ft_run *run)
{
    sim_dataset_close(&run->train);
    sim_dataset_close(&run->val);
    sim_dataset_close(&run->test);
    sim_dataset_close(&run->planets);
    free(run->rows);
    free(run->labels);
    memset(run, 0, sizeof *run);
}
