/* laws_write.c - laws/: fronts, laws.md for readers, laws.json for bin/report. */
#include "laws.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

/* Names of the features, in the order of the columns of x. */
static const char *const law_features[3] = {"r", "m1", "m2"};

/* The row that a rule of the preset selects; its name was checked before the search. */
static int chosen_row(const struct laws *laws, const struct law_sample *sample, int rule)
{
    enum sr_rule r;
    if (sr_rule_find("symreg.rules", laws->cli->settings.symreg.rules.item[rule], &r))
        return -1;
    return sr_front_select(&sample->fit.front, r);
}

/* ---- laws.json: a tree is complete even where memory runs out (base/oom_reserve.c), and
 * orr_json_write() then refuses it. Numbers that are not finite become null. */

/* A new object at the end of a list. */
static cJSON *append_object(cJSON *list)
{
    cJSON *object = cJSON_CreateObject();
    cJSON_AddItemToArray(list, object);
    return object;
}

static void add_law(const struct laws *laws, const struct law_source *source, int number, int rule,
                    cJSON *array)
{
    const struct law_sample *sample = &source->sample[number];
    const int row = chosen_row(laws, sample, rule);
    if (row < 0)
        return; /* no formula is finite */
    const struct sr_front *front = &sample->fit.front;
    char text[SR_TEXT];
    cJSON *law = append_object(array);
    sr_expr_print(NULL, &front->expr[row], law_features, text, sizeof text);
    cJSON_AddStringToObject(law, "source", source->name);
    cJSON_AddNumberToObject(law, "sample", number);
    cJSON_AddStringToObject(law, "rule", laws->cli->settings.symreg.rules.item[rule]);
    cJSON_AddStringToObject(law, "equation", text);
    cJSON_AddNumberToObject(law, "complexity", front->expr[row].count);
    cJSON_AddNumberToObject(law, "loss", front->loss[row]);
    cJSON_AddBoolToObject(law, "selected_true", sample->row_true[row]);
    cJSON_AddBoolToObject(law, "on_front", sample->true_row >= 0);
    cJSON_AddNumberToObject(law, "constant", sample->k);
}

static void add_source(const struct laws *laws, const struct law_source *source, cJSON *array)
{
    const char *answers = orr_answers_folder(&laws->answers, source->name);
    const struct law_analysis *a = &source->analysis;
    cJSON *object = append_object(array);
    cJSON *exponents = cJSON_AddObjectToObject(object, "exponents");
    cJSON_AddStringToObject(object, "source", source->name);
    if (answers) /* a model of another program */
        cJSON_AddStringToObject(object, "answers", answers);
    cJSON_AddNumberToObject(object, "r2_log", a->r2_log);
    cJSON_AddNumberToObject(object, "median_relative_error", a->median_relative_error);
    cJSON_AddNumberToObject(object, "dropped", (double)a->dropped);
    for (int e = 0; e < 3; e++) {
        cJSON *interval = cJSON_AddObjectToObject(exponents, law_features[e]);
        cJSON_AddNumberToObject(interval, "value", a->exponent[e].value);
        cJSON_AddNumberToObject(interval, "low", a->exponent[e].low);
        cJSON_AddNumberToObject(interval, "high", a->exponent[e].high);
    }
}

static void add_sample(const struct law_source *source, int number, cJSON *array)
{
    const struct law_sample_facts *facts = &source->sample[number].facts;
    cJSON *object = append_object(array);
    cJSON_AddStringToObject(object, "source", source->name);
    cJSON_AddNumberToObject(object, "sample", number);
    cJSON_AddNumberToObject(object, "rows", (double)facts->rows);
    cJSON_AddNumberToObject(object, "k_dropped_m2", facts->k_dropped_m2);
    cJSON_AddNumberToObject(object, "leverage", facts->leverage);
}

static int add_files(const struct laws *laws, cJSON *json)
{
    char name[ORR_NAME + 64];
    cJSON *files = cJSON_AddObjectToObject(json, "files");
    TRY(orr_files_add(files, laws->folder, "laws.md"));
    for (int i = 0; i < laws->sources; i++)
        for (int s = 0; s < laws->source[i].forces.samples; s++) {
            snprintf(name, sizeof name, "front_%s_%d.csv", laws->source[i].name, s);
            TRY(orr_files_add(files, laws->folder, name));
        }
    return 0;
}

/* Writes the law that selected_true and on_front count. */
static void add_true_law(const struct laws *laws, cJSON *json)
{
    const struct law_true *law = &laws->true_law;
    cJSON *object = cJSON_AddObjectToObject(json, "true_law");
    cJSON *k = cJSON_AddArrayToObject(object, "k");
    cJSON_AddStringToObject(object, "law", sim_law_name(&law->dynamics));
    cJSON_AddStringToObject(object, "formula", law->name);
    cJSON_AddNumberToObject(object, "labels_differ_by", laws->labels_differ);
    for (int side = 0; side < law->sides; side++)
        cJSON_AddItemToArray(k, cJSON_CreateNumber(law->k[side]));
}

static void fill_json(const struct laws *laws, cJSON *json)
{
    cJSON *list = cJSON_AddArrayToObject(json, "laws");
    cJSON *sources = cJSON_AddArrayToObject(json, "sources");
    cJSON *samples = cJSON_AddArrayToObject(json, "samples");
    cJSON *baselines = cJSON_AddObjectToObject(json, "baselines");
    add_true_law(laws, json);
    cJSON_AddStringToObject(json, "version", ORR_VERSION);
    cJSON_AddItemToObject(json, "made", orr_records_made(&laws->lineage.records, laws->digest));
    orr_json_add_u64(json, "seed", laws->cli->settings.seed);
    cJSON_AddStringToObject(json, "preset", laws->cli->settings.name);
    for (int i = 0; i < laws->sources; i++) {
        const struct law_source *source = &laws->source[i];
        add_source(laws, source, sources);
        for (int s = 0; s < source->forces.samples; s++) {
            add_sample(source, s, samples);
            for (int r = 0; r < laws->cli->settings.symreg.rules.count; r++)
                add_law(laws, source, s, r, list);
        }
    }
    cJSON_AddNumberToObject(baselines, "log_r", laws->baselines.log_r);
    cJSON_AddNumberToObject(baselines, "log_scale_dt_r", laws->baselines.log_scale_dt_r);
    cJSON_AddNumberToObject(baselines, "constant", laws->baselines.constant);
}

/* ---- laws.md */

/* The title of a source; that of the untrained model has its attention, if this run made it. */
static void source_title(const struct laws *laws, const struct law_source *source,
                         char title[2 * ORR_NAME + 4])
{
    const bool baseline = !strcmp(source->name, "untrained") && !*laws->lineage.external_tables[0];
    if (baseline)
        snprintf(title, 2 * ORR_NAME + 4, "%s (%s)", source->name,
                 orr_source_attention(&laws->cli->settings, source->name));
    else
        snprintf(title, 2 * ORR_NAME + 4, "%s", source->name);
}

/* Counts samples whose front has k times the run's law, and finds the median of k. */
static int find_true_law(const struct law_source *source, int *on_front, double *constant)
{
    double *k = orr_alloc((size_t)source->forces.samples + 1, sizeof *k);
    if (!k)
        return ORR_ENOMEM;
    *on_front = 0;
    for (int s = 0; s < source->forces.samples; s++)
        if (source->sample[s].true_row >= 0)
            k[(*on_front)++] = source->sample[s].k;
    *constant = orr_median(k, (size_t)*on_front);
    free(k);
    return 0;
}

/* Explains the column *true*, unless it counts Newton's law. */
static void write_true_law(const struct laws *laws, struct orr_file *file)
{
    const struct law_true *law = &laws->true_law;
    const struct sim_dynamics *d = &law->dynamics;
    if (!law->newton)
        orr_file_printf(file, "The run's law: %s;\nk = %.5g is the law itself.\n", law->name,
                        law->k[0]);
    if (d->jump_step > 0 && law->sides == 1)
        orr_file_printf(file,
                        "G is multiplied by %g from step %zu on, and labels are of the steps "
                        "%s: k = %.5g is\nthe law there.\n",
                        d->jump_factor, d->jump_step,
                        law->step[0] < d->jump_step ? "before" : "from there on", law->k[0]);
    if (law->sides == 2)
        orr_file_printf(file,
                        "G is multiplied by %g from step %zu on, and labels are of steps before "
                        "and after: k = %.5g is\nthe law before, %.5g after. No one formula of "
                        "r, m1, m2 is right for both; *true* asks for the\nlaw of either side "
                        "with any k.\n",
                        d->jump_factor, d->jump_step, law->k[0], law->k[1]);
    if (laws->labels_differ > 0)
        orr_file_printf(file,
                        "The labels are not of this law, from which their median differs by "
                        "%.2g%%: their data sets\nwere made with other settings.\n",
                        100 * laws->labels_differ);
}

static int write_law_rows(const struct laws *laws, struct orr_file *file)
{
    char text[SR_TEXT], title[2 * ORR_NAME + 4];
    orr_file_printf(
        file,
        "Law of F(r, m1, m2) from each source of forces; AU, years, solar masses. *true* says "
        "how\noften the selected formula is %s, *on front* how often any formula of the front\n"
        "is; k is the median of its constants over these fronts.\n",
        laws->true_law.newton ? laws->true_law.name : "k times the run's true law");
    write_true_law(laws, file);
    orr_file_printf(file, "\n| source | rule | law (sample 0) | true | on front | k |\n"
                          "|---|---|---|---|---|---|\n");
    for (int i = 0; i < laws->sources; i++) {
        const struct law_source *source = &laws->source[i];
        const int n = source->forces.samples;
        int on_front = 0;
        double k = NAN;
        TRY(find_true_law(source, &on_front, &k));
        source_title(laws, source, title);
        for (int r = 0; r < laws->cli->settings.symreg.rules.count; r++) {
            int selected = 0;
            for (int s = 0; s < n; s++) {
                const int chosen = chosen_row(laws, &source->sample[s], r);
                selected += chosen >= 0 && source->sample[s].row_true[chosen];
            }
            const int row = chosen_row(laws, &source->sample[0], r);
            snprintf(text, sizeof text, "-");
            if (row >= 0)
                sr_expr_print(NULL, &source->sample[0].fit.front.expr[row], law_features, text,
                              sizeof text);
            orr_file_printf(file, "| %s | %s | `%s` | %d/%d | %d/%d |", title,
                            laws->cli->settings.symreg.rules.item[r], text, selected, n, on_front,
                            n);
            if (isnan(k))
                orr_file_printf(file, " - |\n");
            else
                orr_file_printf(file, " %.5g |\n", k);
        }
    }
    return 0;
}

/* Explains the inputs of the source "positions", if the laws have it. */
static void write_positions(const struct laws *laws, struct orr_file *file)
{
    for (int i = 0; i < laws->sources; i++)
        if (!strcmp(laws->source[i].name, ORR_POSITIONS))
            orr_file_printf(file,
                            "\n*" ORR_POSITIONS "*: forces estimated from positions, times and "
                            "masses of the sequences that the other\nrows' tables are of; no force "
                            "labels, no network. The search weights its rows by 1/sigma^2.\n");
}

static void write_source_rows(const struct laws *laws, struct orr_file *file)
{
    char title[2 * ORR_NAME + 4];
    orr_file_printf(
        file,
        "\nExponents of F ~ r^a m1^b m2^c with 95%% intervals over sequences (%s); *dropped*\n"
        "counts rows with F <= 0, which have no logarithm; k without m2 is what k m1 / r^2 fits "
        "best\nby least absolute deviation, leverage the largest share of sum |F| of one "
        "sequence, both of\nsample 0.\n\n"
        "| source | R2 log F | median error | r | m1 | m2 | dropped | k without m2 | "
        "leverage |\n|---|---|---|---|---|---|---|---|---|\n",
        laws->true_law.newton ? "Newton: -2, 1, 1" : "truth: what the run's law has here");
    for (int i = 0; i < laws->sources; i++) {
        const struct law_source *source = &laws->source[i];
        const struct law_analysis *a = &source->analysis;
        source_title(laws, source, title);
        orr_file_printf(file, "| %s | %.4f | %.2f%% |", title, a->r2_log,
                        100 * a->median_relative_error);
        for (int e = 0; e < 3; e++)
            orr_file_printf(file, " %.3f [%.3f, %.3f] |", a->exponent[e].value, a->exponent[e].low,
                            a->exponent[e].high);
        orr_file_printf(file, " %zu | %.4g | %.2f |\n", a->dropped,
                        source->sample[0].facts.k_dropped_m2, source->sample[0].facts.leverage);
    }
    orr_file_printf(file,
                    "\nBaselines, R2 of log F_true by regression: on log r %.4f; on "
                    "log r, log dt, log mean r %.4f; constant %.4g.\n",
                    laws->baselines.log_r, laws->baselines.log_scale_dt_r,
                    laws->baselines.constant);
}

/* A preset's name is a file name, so it may hold any character. */
static void write_settings(const struct laws *laws, struct orr_file *file)
{
    const struct orr_settings *settings = &laws->cli->settings;
    orr_file_printf(file, "\nPreset ");
    orr_markdown_code(file, settings->name, false);
    orr_file_printf(file, ", seed %llu, Orrery %s.\n", (unsigned long long)settings->seed,
                    ORR_VERSION);
}

/* Names inputs that were not made by the settings of this run. */
static void write_origin(const struct laws *laws, struct orr_file *file)
{
    char text[4096];
    const char *orbits = laws->lineage.orbits;
    orr_records_external(&laws->lineage.records, laws->digest, text, sizeof text);
    if (*text)
        orr_file_printf(file, "Not made by this run: %s.\n", text);
    if (*orbits)
        orr_file_printf(file, "Data sets: %s.\n", orbits);
}

static int write_markdown(const struct laws *laws)
{
    char path[4096];
    struct orr_file file;
    TRY(orr_path(path, "%s/laws.md", laws->folder));
    TRY(orr_file_create(&file, path));
    int rc = write_law_rows(laws, &file);
    write_source_rows(laws, &file);
    write_positions(laws, &file);
    write_settings(laws, &file);
    write_origin(laws, &file);
    if (!rc)
        rc = orr_file_commit(&file);
    orr_file_close(&file);
    return rc;
}

/* ---- everything */

static bool is_front(const struct laws *laws, const char *file)
{
    char name[ORR_NAME + 64];
    for (int i = 0; i < laws->sources; i++)
        for (int s = 0; s < laws->source[i].forces.samples; s++) {
            snprintf(name, sizeof name, "front_%s_%d.csv", laws->source[i].name, s);
            if (!strcmp(name, file))
                return true;
        }
    return false;
}

/* Whether the name of a file is front_<source>_<sample>.csv. */
static bool is_some_front(const char *file)
{
    const char *sample = strrchr(file, '_');
    char end[ORR_NAME];
    int number;
    if (strncmp(file, "front_", 6) || sample <= file + 6 || sscanf(sample, "_%6d", &number) != 1 ||
        number < 0)
        return false;
    snprintf(end, sizeof end, "_%d.csv", number);
    return !strcmp(sample, end);
}

/* Whether a file is a front of a source or sample that these laws lack. */
static bool is_other(const char *file, const void *laws)
{
    return is_some_front(file) && !is_front(laws, file);
}

static int write_fronts(const struct laws *laws)
{
    char path[4096];
    TRY(orr_remove_where(laws->folder, is_other, laws));
    for (int i = 0; i < laws->sources; i++)
        for (int s = 0; s < laws->source[i].forces.samples; s++) {
            TRY(orr_path(path, "%s/front_%s_%d.csv", laws->folder, laws->source[i].name, s));
            TRY(sr_front_write(&laws->source[i].sample[s].fit.front, NULL, law_features, NULL, NULL,
                               path));
        }
    return 0;
}

int laws_stopped(const struct laws *laws)
{
    char path[4096];
    TRY(orr_path(path, "%s/laws.json", laws->folder));
    const bool whole = orr_exists(path);
    if (!whole) {
        TRY(orr_path(path, "%s/laws.md", laws->folder));
        TRY(orr_remove(path)); /* of earlier laws */
        TRY(write_fronts(laws));
    }
    if (orr_exists(laws->checkpoint))
        return ORR_FAIL(ORR_EINTR, "stopped; %s, the same command with --resume continues",
                        whole ? "the laws of before are as they were"
                              : "the fronts so far are saved");
    return ORR_FAIL(ORR_EINTR,
                    "stopped before the first checkpoint; %s, run the same command again",
                    whole ? "nothing was written" : "the fronts so far are saved");
}

int laws_write(const struct laws *laws)
{
    char path[4096];
    TRY(orr_path(path, "%s/laws.json", laws->folder));
    TRY(orr_remove(path)); /* so an interrupted write leaves no complete-looking laws */
    TRY(write_fronts(laws));
    TRY(write_markdown(laws));
    cJSON *json = cJSON_CreateObject();
    fill_json(laws, json);
    int rc = add_files(laws, json);
    if (!rc)
        rc = orr_json_write(path, json);
    if (!rc)
        rc = orr_remove(laws->checkpoint);
    cJSON_Delete(json);
    return rc;
}

int laws_print(const struct laws *laws)
{
    char path[4096], *text;
    size_t bytes;
    TRY(orr_path(path, "%s/laws.md", laws->folder));
    TRY(orr_file_read(path, &text, &bytes));
    const bool printed = fputs(text, stdout) >= 0;
    free(text);
    return printed ? 0 : ORR_FAIL(ORR_EIO, "standard output: cannot write");
}
