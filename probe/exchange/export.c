/* export.c - bin/probe export: writes what a model of another program is asked, so that its answers
 * are measured as Orrery's models are (docs/exchange.md). */
#include "exporter.h"
#include "probe/intervene/intervene.h"
#include "probe/labels/extrapolate.h"
#include "probe/linear/readout.h"
#include "probe/orbits/motion.h"

#include <dirent.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include <cjson/cJSON.h>

/* ------------------------------------------------------------------------------------ files */

static int add_file(struct exporter *e, const char *file)
{
    return orr_files_add(e->files, e->folder, file);
}

/* Writes x (n, rows, width), or (n, rows) with width 1, in float32, and lists the file. */
static int write_array(struct exporter *e, const char *file, size_t n, int rows, int width,
                       const float *x)
{
    const size_t shape[] = {n, (size_t)rows, (size_t)width};
    char path[4096];
    TRY(orr_path(path, "%s/%s", e->folder, file));
    TRY(orr_npy_write(path, ORR_F32, width > 1 ? 3 : 2, shape, x, NULL));
    return add_file(e, file);
}

/* A file that answers: its shape, with 0 for any number, and the rows that it is made from. */
static void ask_array(struct exporter *e, const char *inputs, const char *file, size_t n, int rows,
                      int width)
{
    const int shape[] = {(int)n + probe_repeats(n), rows, width};
    cJSON *one = cJSON_AddObjectToObject(e->asked, file);
    cJSON_AddStringToObject(one, "inputs", inputs);
    cJSON_AddItemToObject(one, "shape", cJSON_CreateIntArray(shape, 3));
    cJSON_AddNumberToObject(one, "sequences", (double)n);
}

cJSON *probe_export_ask(struct exporter *e, const char *rows, const char *file)
{
    cJSON *one = cJSON_AddObjectToObject(e->asked, file);
    cJSON_AddStringToObject(one, "rows", rows);
    return one;
}

/* x (n + repeats, rows, d) of which n sequences are filled: adds the repeated ones, which are other
 * sequences from row `cut` on, and writes the file. */
int probe_export_repeated(struct exporter *e, const char *file, size_t n, int rows, int cut,
                          float *x)
{
    const size_t d = (size_t)e->axes, R = d * (size_t)rows, C = d * (size_t)cut;
    for (int k = 0; k < probe_repeats(n); k++) {
        size_t of, as;
        float *to = x + R * (n + (size_t)k);
        probe_repeat(n, k, &of, &as);
        memcpy(to, x + R * of, R * sizeof *to);
        memcpy(to + C, x + R * as + C, (R - C) * sizeof *to);
    }
    return write_array(e, file, n + (size_t)probe_repeats(n), rows, e->axes, x);
}

/* Room for n sequences of `rows` rows and the repeated ones. */
static float *take_rows(struct exporter *e, size_t n, int rows)
{
    return probe_take(&e->arena, (n + (size_t)probe_repeats(n)) * (size_t)(rows * e->axes),
                      sizeof(float));
}

/* ------------------------------------------------------------------- next state and rollouts */

/* A source of rows: copies the first `rows` rows of sequence i. */
typedef int copy_rows(struct exporter *e, const void *of, size_t i, int rows, float *to);

static int rows_of_split(struct exporter *e, const void *of, size_t i, int rows, float *to)
{
    const uint16_t *tokens;
    const float *coords;
    int bodies;
    (void)of;
    TRY(gpt_source_sequence(e->probe.data, i, &tokens, &coords, &bodies));
    memcpy(to, coords, (size_t)(rows * e->axes) * sizeof *to);
    return 0;
}

static int rows_of_set(struct exporter *e, const void *of, size_t i, int rows, float *to)
{
    memcpy(to, probe_labelled_rows(of, (int)i), (size_t)(rows * e->axes) * sizeof *to);
    return 0;
}

/* Writes <kind>_<name>.npy of n sequences of `rows` rows. */
static int write_rows(struct exporter *e, const char *kind, const char *name, copy_rows *copy,
                      const void *of, size_t n, int rows, int cut)
{
    char file[2 * ORR_NAME];
    float *x = take_rows(e, n, rows);
    TRY(e->arena.failed);
    for (size_t i = 0; i < n; i++)
        TRY(copy(e, of, i, rows, x + i * (size_t)(rows * e->axes)));
    snprintf(file, sizeof file, "%s_%s.npy", kind, name);
    return probe_export_repeated(e, file, n, rows, cut, x);
}

int probe_export_set(struct exporter *e, const char *file, const struct probe_labelled *set, int n,
                     int rows)
{
    const size_t mark = e->arena.count, R = (size_t)rows * (size_t)e->axes;
    float *x = probe_take(&e->arena, (size_t)n * R, sizeof *x);
    TRY(e->arena.failed);
    for (int i = 0; i < n; i++)
        memcpy(x + R * (size_t)i, probe_labelled_rows(set, i), R * sizeof *x);
    TRY(write_array(e, file, (size_t)n, rows, e->axes, x));
    probe_rewind(&e->arena, mark);
    return 0;
}

int probe_export_rows(struct exporter *e, const char *file, const struct probe_labelled *set,
                      size_t n, int rows, int cut)
{
    const size_t mark = e->arena.count;
    float *x = take_rows(e, n, rows);
    TRY(e->arena.failed);
    for (size_t i = 0; i < n; i++)
        TRY(rows_of_set(e, set, i, rows, x + i * (size_t)(rows * e->axes)));
    TRY(probe_export_repeated(e, file, n, rows, cut, x));
    probe_rewind(&e->arena, mark);
    return 0;
}

/* The first `prefix` rows of n sequences, and the question how they go on. */
static int export_prefix(struct exporter *e, const char *name, copy_rows *copy, const void *of,
                         size_t n)
{
    char inputs[2 * ORR_NAME], answer[2 * ORR_NAME];
    snprintf(inputs, sizeof inputs, "prefix_%s.npy", name);
    snprintf(answer, sizeof answer, "rollout_%s.npy", name);
    ask_array(e, inputs, answer, n, e->T - e->prefix, e->axes);
    return write_rows(e, "prefix", name, copy, of, n, e->prefix, e->prefix);
}

static int export_next_state(struct exporter *e)
{
    const char *split = sim_split_name(e->probe.split);
    const size_t n = (size_t)e->probe.sequences;
    char inputs[2 * ORR_NAME], answer[2 * ORR_NAME], sum[17];
    uint64_t checksum;
    TRY(probe_rows_checksum(&e->probe, &checksum));
    snprintf(sum, sizeof sum, "%016" PRIx64, checksum);
    cJSON *set = cJSON_AddObjectToObject(cJSON_AddObjectToObject(e->json, "next_state"), split);
    cJSON_AddStringToObject(set, "xxh64", sum);
    snprintf(inputs, sizeof inputs, "inputs_%s.npy", split);
    snprintf(answer, sizeof answer, "predictions_%s.npy", split);
    ask_array(e, inputs, answer, n, e->T, e->axes);
    TRY(write_rows(e, "inputs", split, rows_of_split, NULL, n, e->T, e->prefix));
    return export_prefix(e, split, rows_of_split, NULL, n);
}

/* ------------------------------------------------------------------------------- activations */

/* Lists the rows whose activations are read: the last rows of the steps of all contexts. */
static int list_kept(struct exporter *e, int *kept)
{
    const int steps = (e->T - 1) / 2;
    struct probe_context context[PROBE_CONTEXTS];
    const int count = probe_contexts(steps, e->options->settings->orbits.label_from_step, context);
    int *place = probe_take(&e->arena, (size_t)steps, sizeof *place);
    TRY(e->arena.failed);
    *kept = probe_stream_places(steps, context, count, place);
    cJSON *rows = cJSON_AddArrayToObject(e->json, "activation_rows");
    for (int k = 0; k < steps; k++)
        if (place[k] >= 0)
            cJSON_AddItemToArray(rows, cJSON_CreateNumber(2 + 2 * k));
    return 0;
}

static int export_activations(struct exporter *e, enum sim_split split, int n, int kept)
{
    const size_t mark = e->arena.count;
    const char *name = sim_split_name(split);
    char inputs[2 * ORR_NAME], answer[2 * ORR_NAME];
    struct probe_labelled set;
    TRY(probe_labelled_make(&e->arena, &set, &e->probe, split, n));
    snprintf(inputs, sizeof inputs, "inputs_%s.npy", name);
    snprintf(answer, sizeof answer, "activations_%s_layer<l>.npy", name);
    ask_array(e, inputs, answer, (size_t)n, kept, 0);
    TRY(write_rows(e, "inputs", name, rows_of_set, &set, (size_t)n, e->T, e->prefix));
    probe_rewind(&e->arena, mark);
    return 0;
}

static int export_labelled(struct exporter *e)
{
    const int rollouts = probe_rollout_sequences(e->options);
    struct probe_labelled set;
    int held_out, kept;
    const int fit = probe_readout_sequences(e->options, &held_out);
    TRY(list_kept(e, &kept));
    TRY(export_activations(e, SIM_SPLIT_TWO_BODY_TRAIN, fit, kept));
    TRY(export_activations(e, SIM_SPLIT_TWO_BODY_TEST, held_out, kept));
    TRY(probe_labelled_make(&e->arena, &set, &e->probe, SIM_SPLIT_TWO_BODY_TEST, rollouts));
    return export_prefix(e, sim_split_name(SIM_SPLIT_TWO_BODY_TEST), rows_of_set, &set,
                         (size_t)rollouts);
}

/* ------------------------------------------------------------------------------------ forces */

/* All rows of a set but the last of each sequence, in the order of the numbers in tables of
 * forces. */
static int write_set(struct exporter *e, const char *file, const struct sim_dataset *set)
{
    const size_t T = (size_t)set->positions - 1, one = T * (size_t)set->dimensions;
    float *x = probe_take(&e->arena, set->n * one, sizeof *x);
    TRY(e->arena.failed);
    for (size_t i = 0; i < set->n; i++)
        memcpy(x + i * one, sim_dataset_coords(set, i), one * sizeof *x);
    return write_array(e, file, set->n, (int)T, set->dimensions, x);
}

/* (n, T): the labels that a model may learn from, elsewhere infinity. */
static int write_labels(struct exporter *e, const char *file, const struct ft_labels *labels)
{
    const struct sim_dataset *set = labels->set;
    const size_t T = (size_t)e->T, P = (size_t)set->positions;
    float *x = probe_take(&e->arena, set->n * T, sizeof *x);
    TRY(e->arena.failed);
    for (size_t i = 0; i < set->n; i++)
        for (size_t t = 0; t < T; t++)
            x[i * T + t] = ft_label_counts(set, &labels->bounds, i * P + t)
                               ? set->force_magnitude[i * P + t]
                               : INFINITY;
    return write_array(e, file, set->n, e->T, 1, x);
}

int probe_export_commit(struct exporter *e, struct orr_file *file, const char *name)
{
    const int rc = orr_file_commit(file);
    orr_file_close(file);
    return rc ? rc : add_file(e, name);
}

int probe_export_open(const struct exporter *e, struct orr_file *file, const char *name,
                      const char *header)
{
    char path[4096];
    TRY(orr_path(path, "%s/%s", e->folder, name));
    TRY(orr_file_create(file, path));
    if (header)
        (void)orr_file_printf(file, "%s\n", header);
    return 0;
}

struct draws {
    struct orr_file file;
    size_t n;
};

static int write_draw(void *of, int draw, const struct ft_labels *subset)
{
    struct draws *d = of;
    for (size_t i = 0; i < subset->count; i++)
        (void)orr_file_printf(&d->file, "%zu,%d,%zu\n", d->n, draw, subset->sequence[i]);
    return 0;
}

/* The labelled sequences of every measurement of a label curve. */
static int write_draws(struct exporter *e, const char *name, const struct ft_labels *labels)
{
    struct probe_label_study *t = &e->study;
    struct draws d = {.n = 0};
    int rc = probe_export_open(e, &d.file, name, "n,draw,sequence");
    for (int k = 0; k < t->sizes && !rc; k++) {
        d.n = (size_t)t->n[k];
        rc = probe_labels_each(&e->arena, labels, e->options->settings->seed, t->draws, d.n,
                               write_draw, &d);
    }
    if (!rc)
        return probe_export_commit(e, &d.file, name);
    orr_file_close(&d.file);
    return rc;
}

/* Forces after learning from few labels: the table that is asked, and its files. */
static int ask_curve(struct exporter *e, const char *answer, const char *draws, const char *forces,
                     const struct ft_labels *labels)
{
    cJSON *one = probe_export_ask(e, "rows_labels.csv", answer);
    cJSON_AddStringToObject(one, "labels", draws);
    cJSON_AddStringToObject(one, "forces", forces);
    TRY(write_labels(e, forces, labels));
    return write_draws(e, draws, labels);
}

/* rows_labels.csv: the held-out rows of label curves. */
static int write_held_out(struct exporter *e)
{
    const struct probe_held_out *j = &e->study.held_out;
    const size_t P = (size_t)j->set->positions;
    struct orr_file file = {0};
    TRY(probe_export_open(e, &file, "rows_labels.csv", "sequence,step,F_true"));
    for (size_t i = 0; i < j->rows; i++)
        (void)orr_file_printf(&file, "%zu,%zu,%.9g\n", j->at[i] / P, (j->at[i] % P - 2) / 2,
                              (double)j->set->force_magnitude[j->at[i]]);
    return probe_export_commit(e, &file, "rows_labels.csv");
}

/* The table of the truth that the run has, whose column F a model replaces. */
static int copy_truth(struct exporter *e, bool vector, bool *there)
{
    char from[4096], to[4096], file[ORR_NAME], answer[ORR_NAME];
    const char *kind = vector ? "vector" : "magnitude";
    TRY(orr_table_path(e->options->run, "truth", vector, from));
    *there = orr_exists(from);
    if (!*there)
        return 0;
    snprintf(file, sizeof file, "rows_%s.csv", kind);
    snprintf(answer, sizeof answer, "forces_%s.csv", kind);
    TRY(orr_path(to, "%s/%s", e->folder, file));
    TRY(orr_file_copy(from, to));
    probe_export_ask(e, file, answer);
    return add_file(e, file);
}

/* The set of the solar system, which is asked where the run has the truth of its forces. */
static enum sim_split solar_split(const struct orr_settings *settings)
{
    return settings->planets.enabled ? SIM_SPLIT_PLANETS_SOLAR : SIM_SPLIT_SOLAR_SYSTEM_TWO_BODY;
}

static int export_solar(struct exporter *e)
{
    const struct orr_settings *p = e->options->settings;
    const enum sim_split split = solar_split(p);
    struct sim_dataset set = {0};
    char dir[4096];
    bool there;
    TRY(copy_truth(e, true, &there));
    if (!there)
        return 0;
    TRY(orr_path(dir, "%s/orbits", e->options->run));
    int rc = sim_dataset_open(&set, p, dir, split);
    rc = rc ? rc : write_set(e, "inputs_forces_vector.npy", &set);
    sim_dataset_close(&set);
    return rc;
}

/* Labels in the middle half of r, or of m1 m2, alone. */
static int export_extrapolation(struct exporter *e)
{
    struct probe_experiment experiment[PROBE_EXPERIMENTS] = {{.name = NULL}};
    char answer[ORR_NAME], draws[ORR_NAME], forces[ORR_NAME];
    int rc = probe_experiments_open(&e->study, experiment);
    if (rc == ORR_EUSAGE || rc == ORR_EINVAL) { /* too few labels */
        orr_note(e->options->quiet, "export: no extrapolation beyond labels: %s", orr_error());
        orr_error_clear();
        probe_experiments_close(experiment);
        return 0;
    }
    for (int i = 0; i < PROBE_EXPERIMENTS && !rc; i++) {
        snprintf(answer, sizeof answer, PROBE_EXTRAPOLATE_ANSWERS, experiment[i].tag);
        snprintf(draws, sizeof draws, PROBE_EXTRAPOLATE_LABELS, experiment[i].tag);
        snprintf(forces, sizeof forces, PROBE_EXTRAPOLATE_FORCES, experiment[i].tag);
        rc = ask_curve(e, answer, draws, forces, &experiment[i].labels);
    }
    probe_experiments_close(experiment);
    return rc;
}

static int export_forces(struct exporter *e)
{
    bool there;
    TRY(write_set(e, "inputs_forces_train.npy", &e->study.forces.train));
    TRY(write_set(e, "inputs_forces_test.npy", &e->study.forces.test));
    TRY(write_held_out(e));
    if (e->has_curves)
        TRY(ask_curve(e, PROBE_LABEL_ANSWERS, "labels.csv", "forces_train.npy",
                      &e->study.forces.labels));
    else
        TRY(write_labels(e, "forces_train.npy", &e->study.forces.labels));
    TRY(export_extrapolation(e));
    return copy_truth(e, false, &there);
}

/* ----------------------------------------------------------------------------------- export */

static void begin_json(struct exporter *e)
{
    const struct probe_options *o = e->options;
    char sum[PROBE_SUM];
    e->json = orr_json_create(PROBE_EXPORT_FORMAT);
    cJSON_AddStringToObject(e->json, "preset", o->settings->name);
    orr_json_add_u64(e->json, "seed", o->settings->seed);
    probe_settings_sum(o->settings, sum);
    cJSON_AddStringToObject(e->json, "settings_xxh64", sum);
    cJSON *options = cJSON_AddObjectToObject(e->json, "options");
    cJSON_AddNumberToObject(options, "sequences", o->sequences);
    cJSON_AddNumberToObject(options, "draws", o->draws);
    cJSON_AddStringToObject(options, "sizes", o->sizes ? o->sizes : "");
    cJSON_AddNumberToObject(e->json, "rows", e->T);
    cJSON_AddNumberToObject(e->json, "prefix", e->prefix);
    e->asked = cJSON_AddObjectToObject(e->json, "answers");
    e->files = cJSON_CreateObject();
}

/* The label curve needs labelled sequences; without enough of them it is left out. */
static int open_forces(struct exporter *e)
{
    const struct orr_settings *p = e->options->settings;
    e->study.s.options = e->options;
    e->has_forces = p->orbits.two_body_train > 0 && p->orbits.two_body_test > 0;
    if (!e->has_forces)
        return 0;
    TRY(probe_label_study_open(&e->study));
    const size_t most = e->study.forces.labels.count;
    e->has_curves = e->options->sizes || most >= (size_t)probe_label_sizes[0];
    if (e->has_curves)
        return probe_label_study_sizes(&e->study, probe_label_sizes, PROBE_LABEL_SIZES, most);
    orr_note(e->options->quiet,
             "export: no label curve: %zu sequences have labels to learn from, the least size is "
             "%d; name fewer with --sizes",
             most, probe_label_sizes[0]);
    return 0;
}

/* Opened once before anything is written, since data sets may be elsewhere. */
static int check_solar(const struct probe_options *o)
{
    char truth[4096], dir[4096], why[ORR_WHY];
    struct sim_dataset set = {0};
    TRY(orr_table_path(o->run, "truth", true, truth));
    TRY(orr_path(dir, "%s/orbits", o->run));
    if (!orr_exists(truth))
        return 0;
    const int rc = sim_dataset_open(&set, o->settings, dir, solar_split(o->settings));
    sim_dataset_close(&set);
    if (!rc)
        return 0;
    snprintf(why, sizeof why, "%s", orr_error());
    return ORR_FAIL(rc,
                    "%s; %s belongs to it: link the run's data sets to %s, or make them there with "
                    "bin/orbits --run %s",
                    why, truth, dir, o->run);
}

static int open_all(struct exporter *e)
{
    struct probe_options final = *e->options;
    if (*e->options->orbits)
        return ORR_FAIL(ORR_EUSAGE,
                        "--orbits: probe export asks about the data sets of the run and its seed");
    TRY(check_solar(e->options));
    final.final = true; /* next-state errors are those of evaluate */
    TRY(probe_open(&e->probe, &final, false, e->options->sequences));
    e->T = e->probe.T;
    e->axes = gpt_config_axes(&e->probe.trained);
    e->prefix = probe_prefix(e->T);
    if (e->T < 4)
        return ORR_FAIL(ORR_EUSAGE,
                        "probe export: sequences of %d rows leave no step to continue "
                        "(orbits.positions of at least 5)",
                        e->T);
    TRY(*e->options->out ? orr_path(e->folder, "%s", e->options->out)
                         : orr_path(e->folder, "%s/" PROBE_EXCHANGE, e->options->run));
    return open_forces(e);
}

/* Whether two values are written alike. */
static bool is_written_alike(const cJSON *a, const cJSON *b)
{
    char *first = cJSON_PrintUnformatted(a), *second = b ? cJSON_PrintUnformatted(b) : NULL;
    const bool same = first && second && !strcmp(first, second);
    cJSON_free(first);
    cJSON_free(second);
    return same;
}

/* Whether export.json of the folder is of the same settings and options. */
static bool is_asked(const struct exporter *e, const char *path)
{
    cJSON *was = NULL;
    const cJSON *one;
    bool same = orr_exists(path) && !orr_json_read(path, &was);
    cJSON_ArrayForEach (one, e->json)
        same = same && (one == e->asked || is_written_alike(one, orr_json_get(was, one->string)));
    cJSON_Delete(was);
    orr_error_clear();
    return same;
}

/* Whether a question has files of this name. */
static bool is_of_question(const char *name)
{
    static const char *const begins[] = {"inputs_", "prefix_", "rows_", "labels", "forces_train"};
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        if (!strncmp(name, begins[i], strlen(begins[i])))
            return true;
    return false;
}

/* Whether a folder with this entry holds something else than a question. Where there is one it may
 * have answers beside it; a run, a data set and answers of judge() keep theirs. */
static bool is_foreign(const char *name, bool has_question)
{
    return has_question ? !strcmp(name, "preset.json") || !strcmp(name, "manifest.json") ||
                              !strcmp(name, "answered.json")
                        : !is_of_question(name);
}

/* Refuses an --out that holds something else: files of the same names would be replaced there. */
static int check_out(const char *folder, bool has_question)
{
    struct orr_entries entries = {0};
    int rc = orr_exists(folder) ? orr_entries_read(folder, &entries) : 0;
    for (int i = 0; i < entries.count && !rc; i++)
        if (is_foreign(entries.at[i]->d_name, has_question))
            rc = ORR_FAIL(ORR_EINVAL,
                          "%s: expected a new folder or one of a question, found %s in it; choose "
                          "another --out",
                          folder, entries.at[i]->d_name);
    orr_entries_free(&entries);
    return rc;
}

/* Files are replaced by equal ones while export.json stays, so that who answers the same question
 * meanwhile goes on; export.json of another question goes first. */
static int begin_files(struct exporter *e, const char *path, struct probe_results *lock)
{
    begin_json(e);
    if (*e->options->out)
        TRY(check_out(e->folder, orr_exists(path)));
    TRY(orr_mkdir(e->folder));
    TRY(probe_lock(e->folder, &lock->lock));
    return is_asked(e, path) ? 0 : orr_remove(path);
}

static int write_all(struct exporter *e)
{
    char path[4096];
    struct probe_results lock = {.lock = 0};
    TRY(orr_path(path, "%s/export.json", e->folder));
    int rc = begin_files(e, path, &lock);
    rc = rc ? rc : export_next_state(e);
    rc = rc ? rc : export_labelled(e);
    rc = rc || !e->has_forces ? rc : export_forces(e);
    rc = rc ? rc : export_solar(e);
    rc = rc ? rc : probe_export_inductive(e);
    rc = rc ? rc : probe_export_intervene(e);
    rc = rc ? rc : probe_export_planets(e);
    cJSON_AddItemToObject(e->json, "files", e->files);
    rc = rc ? rc : orr_json_write(path, e->json);
    if (rc && lock.lock > 0)
        (void)unlink(path);
    probe_results_free(&lock);
    if (!rc)
        orr_note(e->options->quiet, "export: %s; docs/exchange.md says how to answer", e->folder);
    return rc;
}

int probe_export(const struct probe_options *options)
{
    if (options->answers) /* what follows from the activations that were answered */
        return probe_intervene_additions(options);
    struct exporter e = {.options = options};
    int rc = open_all(&e);
    rc = rc ? rc : write_all(&e);
    cJSON_Delete(e.json);
    probe_label_sets_close(&e.study.forces);
    probe_rewind(&e.study.s.arena, 0);
    probe_close(&e.study.s.probe);
    probe_rewind(&e.arena, 0);
    probe_close(&e.probe);
    return rc;
}
