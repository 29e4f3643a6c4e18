/* tiny.h - a run of fine-tuning small enough for a test: data sets in a scratch folder, a model of
 * a few hundred weights, the tables it writes. */
#ifndef TESTS_FINETUNE_TINY_H
#define TESTS_FINETUNE_TINY_H

#include "base/scratch.h"
#include "finetune/ft.h"

#include <math.h>

/* Two comparable bodies in coordinates, and planet runs; or tokens and the solar system. */
static inline void tiny_preset(struct orr_settings *p, bool tokens)
{
    orr_settings_defaults(p);
    strcpy(p->name, "tiny");
    p->seed = 12;
    p->orbits.train = p->orbits.train_files = 2;
    p->orbits.val = p->orbits.test = 1;
    p->orbits.two_body_train = 23;
    p->orbits.two_body_val = 5;
    p->orbits.two_body_test = 17; /* shares of 6, 6 and 5 */
    p->orbits.positions = tokens ? 48 : 33;
    p->orbits.bins = 150;
    if (!tokens) {
        p->orbits.protocol = ORR_PROTOCOL_IDENTIFIABLE;
        p->orbits.output = ORR_OUTPUT_CONTINUOUS;
        p->orbits.mass_prior = ORR_MASS_LOGUNIFORM;
        p->orbits.a_max_au = 4;
        p->orbits.label_from_step = 5;
        p->orbits.solar_system = false;
        p->planets.enabled = p->planets.eccentric = true;
        p->planets.train = p->planets.val = 1;
        p->planets.steps = 25;
        p->planets.labels = 7;
    }
    p->model.layers = 1;
    p->model.heads = 2;
    p->model.width = 8;
    p->finetune.magnitude.steps = p->finetune.vector.steps = 5;
    p->finetune.magnitude.batch = 4;
    p->finetune.magnitude.eval_every = 2;
    p->finetune.samples = 3;
    p->finetune.sample_size = 40;
    assert_int_equal(orr_settings_check(p), 0);
}

struct tiny {
    char dir[64];
    struct orr_settings settings;
    struct orr_lineage lineage;
    struct ft_run run; /* of dir/run, data sets in dir/orbits */
};

static inline void tiny_open_run(struct tiny *tiny, const char *name)
{
    char run[4096], orbits[4096];
    scratch_path(run, tiny->dir, name);
    scratch_path(orbits, tiny->dir, "orbits");
    assert_int_equal(orr_lineage_open(&tiny->lineage, &tiny->settings, NULL), 0);
    assert_int_equal(ft_run_open(&tiny->run, &tiny->settings, run, orbits, &k_ref, &tiny->lineage),
                     0);
    tiny->run.quiet = true;
}

/* Writes the data sets; the preset is the caller's. */
static inline void tiny_open(struct tiny *tiny)
{
    char orbits[4096];
    scratch_create(tiny->dir);
    scratch_path(orbits, tiny->dir, "orbits");
    assert_int_equal(sim_dataset_write(&tiny->settings, orbits, 1, false, true), 0);
    tiny_open_run(tiny, "run");
}

static inline void tiny_close_run(struct tiny *tiny)
{
    ft_run_close(&tiny->run);
    orr_lineage_close(&tiny->lineage);
}

static inline void tiny_close(struct tiny *tiny)
{
    tiny_close_run(tiny);
    scratch_remove(tiny->dir);
}

/* A file of a source: run/<source>/finetune/<name>. */
static inline void tiny_path(char path[4096], const struct tiny *tiny, const char *source,
                             const char *name)
{
    assert_int_equal(orr_path(path, "%s/%s/finetune/%s", tiny->run.run, source, name), 0);
}

static inline void tiny_read(struct orr_csv *csv, const struct tiny *tiny, const char *source,
                             const char *name)
{
    char path[4096];
    tiny_path(path, tiny, source, name);
    assert_int_equal(orr_csv_read(path, ORR_CSV_KEEP_TEXT, csv), 0);
}

static inline double tiny_cell(const struct orr_csv *csv, size_t row, const char *column)
{
    const int at = orr_csv_column(csv, column);
    assert_true(at >= 0 && row < csv->rows);
    return csv->values[row * csv->cols + (size_t)at];
}

static inline uint64_t tiny_checksum(const struct tiny *tiny, const char *source, const char *name)
{
    char path[4096];
    uint64_t sum, bytes;
    tiny_path(path, tiny, source, name);
    assert_int_equal(orr_file_checksum(path, &sum, &bytes), 0);
    return sum;
}

/* Of the tensors of a checkpoint alone: its metadata knows the held-out losses. */
static inline uint64_t tiny_tensors(const struct tiny *tiny, const char *source, const char *name)
{
    char path[4096], sum[32];
    tiny_path(path, tiny, source, name);
    assert_int_equal(gpt_checkpoint_metadata(path, "xxh64", sum, sizeof sum), 0);
    return strtoull(sum, NULL, 16);
}

/* Rewrites dir/orbits/<kind>_<split>.npy, a float array: change(value, index, context). The run
 * must be opened again afterwards. */
static inline void tiny_change(const struct tiny *tiny, const char *kind, const char *split,
                               float (*change)(float, size_t, const void *), const void *context)
{
    char path[4096];
    struct orr_npy npy;
    size_t count = 1;
    assert_int_equal(orr_path(path, "%s/orbits/%s_%s.npy", tiny->dir, kind, split), 0);
    assert_int_equal(orr_npy_open(path, &npy), 0);
    assert_int_equal(npy.dtype, ORR_F32);
    for (int i = 0; i < npy.ndim; i++)
        count *= npy.shape[i];
    float *data = malloc(count * sizeof *data);
    assert_non_null(data);
    const float *was = npy.data;
    for (size_t i = 0; i < count; i++)
        data[i] = change(was[i], i, context);
    assert_int_equal(orr_npy_write(path, ORR_F32, npy.ndim, npy.shape, data, NULL), 0);
    free(data);
    orr_npy_close(&npy);
}

/* Uniform in [0, 1). */
static inline double tiny_uniform(uint64_t stream, uint64_t n)
{
    return (double)(orr_rng_hash(43, ORR_STAGE_TEST_SUITE, stream, n) >> 11) * 0x1p-53;
}

#endif
