/* laws.c - run directory mode: one search for every sample of every source. */
#include "laws.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

/* ---- sources */

/* Models of other programs, each with its table of forces. */
static int list_answers(struct laws *laws)
{
    for (int i = 0; i < laws->answers.count; i++) {
        struct law_source *source = &laws->source[laws->sources++];
        bool there;
        snprintf(source->name, sizeof source->name, "%s", laws->answers.name[i]);
        TRY(orr_answers_table(&laws->answers, source->name, false, source->path, &there));
        if (!there)
            return ORR_FAIL(ORR_EMISSING,
                            "%s: missing; a model answers with the rows of the truth's table, "
                            "which probe export copies",
                            source->path);
    }
    return 0;
}

/* Sets names and paths of the tables of forces that the settings name. */
static int list_sources(struct laws *laws)
{
    const struct orr_settings *settings = &laws->cli->settings;
    struct orr_sources names;
    orr_sources_list(settings, laws->cli->attention, &names);
    for (int i = 0; i < names.count; i++) {
        if (!orr_has_table(settings, names.name[i], false))
            continue;
        struct law_source *source = &laws->source[laws->sources++];
        snprintf(source->name, sizeof source->name, "%s", names.name[i]);
        TRY(orr_table_path(laws->cli->run, names.name[i], false, source->path));
    }
    return laws->sources ? list_answers(laws) : 0;
}

/* Reads the record of a table; NULL with the reason if there is none. Checkpoints that models were
 * started from are accepted, and the laws record them, too. */
static int read_made(struct laws *laws, struct law_source *source, cJSON **made, char why[ORR_WHY])
{
    TRY(orr_sidecar_read(source->path, made, why));
    return orr_lineage_take_starts(&laws->lineage, *made, source->path);
}

/* The digest that up-to-date laws have. */
static int find_digest(struct laws *laws)
{
    struct orr_sources names;
    orr_sources_list(&laws->cli->settings, laws->cli->attention, &names);
    for (int i = 0; i < laws->answers.count; i++)
        snprintf(names.name[names.count++], ORR_NAME, "%s", laws->answers.name[i]);
    if (laws->positions)
        snprintf(names.name[names.count++], ORR_NAME, ORR_POSITIONS);
    return orr_lineage_laws(&laws->lineage, &names, laws->digest);
}

/* Whether the existing laws have the source "positions". */
static bool made_from_positions(const struct laws *laws)
{
    char path[4096];
    cJSON *json = NULL;
    bool made = false;
    if (!orr_path(path, "%s/laws.json", laws->folder) && orr_exists(path) &&
        !orr_json_read(path, &json))
        made = orr_made_from_positions(orr_json_get(json, "made"));
    orr_error_clear();
    cJSON_Delete(json);
    return made;
}

/* Existing laws with the source "positions" stay up to date when its data set is gone. */
static bool wants_positions(const struct laws *laws)
{
    return !law_positions_lack(&laws->cli->settings) && !*laws->lineage.external_tables[0] &&
           (law_positions_there(laws->cli, laws->orbits) || made_from_positions(laws));
}

static int open_lineage(struct laws *laws)
{
    const struct orr_cli *cli = laws->cli;
    char why[ORR_WHY];
    TRY(orr_lineage_open(&laws->lineage, &cli->settings, laws->orbits));
    laws->lineage.answers = &laws->answers;
    TRY(orr_lineage_find_external_tables(&laws->lineage, cli->run, cli->attention, false));
    for (int i = 0; i < laws->sources; i++) {
        cJSON *made = NULL;
        if (orr_answers_folder(&laws->answers, laws->source[i].name))
            continue;
        const int rc = read_made(laws, &laws->source[i], &made, why);
        cJSON_Delete(made);
        if (rc)
            return rc;
    }
    laws->positions = wants_positions(laws);
    return find_digest(laws);
}

/* Checks that an existing table was made by these settings. */
static int check_source(struct laws *laws, struct law_source *source)
{
    char why[ORR_WHY], digest[ORR_DIGEST];
    cJSON *made = NULL;
    if (*laws->lineage.external_tables[0] || !orr_exists(source->path) ||
        orr_answers_folder(&laws->answers, source->name))
        return 0;
    int rc = read_made(laws, source, &made, why);
    if (!rc)
        rc = orr_lineage_table(&laws->lineage, source->name, false, digest);
    if (!rc && (!made || !orr_made_same(&laws->lineage.records, digest, made, why)))
        rc = orr_refuse_input(source->path, why, "finetune",
                              ", or name its data sets with --orbits");
    cJSON_Delete(made);
    return rc;
}

/* If laws exist already, tables may be missing. */
static int check_sources(struct laws *laws, bool needed)
{
    char command[ORR_COMMAND], advice[256];
    const struct orr_cli *cli = laws->cli;
    orr_command_of_run("finetune", command);
    snprintf(advice, sizeof advice, "--attention NAME leaves the other variants out");
    if (cli->attention_added)
        snprintf(advice, sizeof advice, "preset %s alone would not train %s", cli->settings.name,
                 cli->attention);
    for (int i = 0; i < laws->sources && needed; i++)
        if (!orr_exists(laws->source[i].path))
            return ORR_FAIL(ORR_EMISSING, "%s: missing; make it with: %s (%s)",
                            laws->source[i].path, command, advice);
    for (int i = 0; i < laws->sources; i++)
        TRY(check_source(laws, &laws->source[i]));
    return 0;
}

/* ---- samples */

/* Tables of forces hold numbers of single precision, 24 bits: a formula that deviates by no more
 * than their rounding leaves nothing to explain. */
static const struct sr_digits single_precision[] = {
    {.significant = 7, .last = -99}, /* r, m1, m2, F */
    {.significant = 7, .last = -99},
    {.significant = 7, .last = -99},
    {.significant = 7, .last = -99}};

static int take_sample(const struct law_forces *forces, int number, struct law_sample *sample)
{
    size_t n = 0;
    for (size_t i = 0; i < forces->rows; i++)
        n += (int)forces->sample[i] == number;
    if (n < 2)
        return ORR_FAIL(ORR_EFORMAT, "sample %d: expected at least 2 rows, found %zu", number, n);
    sample->x = orr_alloc(5 * n, sizeof *sample->x);
    if (!sample->x)
        return ORR_ENOMEM;
    sample->y = sample->x + 3 * n;
    sample->weight = forces->sigma ? sample->y + n : NULL;
    const double *const column[3] = {forces->r, forces->m1, forces->m2};
    for (int f = 0; f < 3; f++) {
        sample->low[f] = HUGE_VAL;
        sample->high[f] = 0;
    }
    size_t k = 0;
    for (size_t i = 0; i < forces->rows; i++) {
        if ((int)forces->sample[i] != number)
            continue;
        for (size_t f = 0; f < 3; f++) {
            sample->x[f * n + k] = column[f][i];
            sample->low[f] = fmin(sample->low[f], column[f][i]);
            sample->high[f] = fmax(sample->high[f], column[f][i]);
        }
        if (sample->weight)
            sample->weight[k] = 1 / (forces->sigma[i] * forces->sigma[i]);
        sample->y[k++] = forces->f[i];
    }
    if (sample->weight)
        sr_weights_level(sample->weight, n);
    sample->fit.data = (struct sr_data){.rows = n,
                                        .features = 3,
                                        .x = sample->x,
                                        .y = sample->y,
                                        .weight = sample->weight,
                                        .digits = single_precision};
    sample->fit.stream = (uint64_t)number;
    return law_analyse_sample(forces, number, &sample->facts);
}

static int analyse_source(struct law_source *source, uint64_t seed)
{
    int rc = law_analyse(&source->forces, seed, &source->analysis);
    source->sample = rc ? NULL : orr_alloc((size_t)source->forces.samples, sizeof *source->sample);
    if (!rc && !source->sample)
        rc = ORR_ENOMEM;
    for (int s = 0; s < source->forces.samples && !rc; s++)
        rc = take_sample(&source->forces, s, &source->sample[s]);
    if (rc == ORR_EFORMAT || rc == ORR_EINVAL) {
        char message[1024];
        snprintf(message, sizeof message, "%s", orr_error());
        return ORR_FAIL(rc, "%s: %s", source->path, message);
    }
    return rc;
}

/* The truth comes first. */
static int read_source(struct law_source *source, const struct law_source *truth, uint64_t seed)
{
    TRY(law_forces_read(source->path, &source->forces));
    TRY(law_forces_check(source->path, &source->forces, truth->path, &truth->forces));
    return analyse_source(source, seed);
}

/* ---- the source "positions" */

static void free_source(struct law_source *source)
{
    for (int s = 0; s < source->forces.samples && source->sample; s++)
        free(source->sample[s].x);
    free(source->sample);
    law_forces_free(&source->forces);
    *source = (struct law_source){0};
}

static void note_no_positions(const struct laws *laws, const char *why)
{
    orr_note(laws->cli->quiet, "%s: no source \"" ORR_POSITIONS "\": %s", laws->program, why);
}

/* Whether the data set of the source exists. */
static int open_positions(struct laws *laws, struct law_source *source, struct sim_dataset *set,
                          bool *opened)
{
    const char *lack = law_positions_lack(&laws->cli->settings);
    *opened = false;
    if (!lack && *laws->lineage.external_tables[0])
        lack = "the tables of forces were made elsewhere, of other sequences";
    if (lack) {
        note_no_positions(laws, lack);
        return 0;
    }
    const int rc = law_positions_open(laws->cli, laws->orbits, source->path, set);
    if (rc == ORR_ENOMEM)
        return rc;
    *opened = !rc;
    if (!rc)
        return 0;
    note_no_positions(laws, orr_error());
    orr_error_clear();
    laws->positions = false;
    return find_digest(laws);
}

/* Adds "positions" as the last source, or prints a note why the run cannot have it. */
static int add_positions(struct laws *laws)
{
    struct law_source *source = &laws->source[laws->sources];
    struct sim_dataset set;
    bool opened;
    TRY(open_positions(laws, source, &set, &opened));
    if (!opened)
        return 0;
    snprintf(source->name, sizeof source->name, ORR_POSITIONS);
    int rc = law_positions_estimate(&set, &laws->source[0].forces, laws->cli->threads,
                                    &laws->true_law, &source->forces);
    sim_dataset_close(&set);
    rc = rc ? rc : analyse_source(source, laws->cli->settings.seed);
    if (!rc) {
        laws->sources++;
        return 0;
    }
    free_source(source);
    if (rc == ORR_ENOMEM)
        return rc;
    note_no_positions(laws, orr_error());
    orr_error_clear();
    return 0;
}

/* Ends a front at the first formula that misses its rows by no more than their rounding, under the
 * published rules, too: what follows explains rounding. */
static int cut_front(const struct sr_settings *settings, struct sr_fit *fit)
{
    struct sr_loss loss;
    TRY(sr_loss_init_with(&loss, settings->loss, settings->loss_parameter, &fit->data));
    const int rc = sr_front_cut(&fit->front, &loss);
    sr_loss_free(&loss);
    return rc;
}

static int find_true_law(struct law_true *law, struct law_sample *sample, double tolerance)
{
    sample->k = NAN;
    sample->true_row = law_true_find(law, &sample->fit.front, sample->low, sample->high, tolerance,
                                     sample->row_true, &sample->k);
    return sr_front_describe(&sample->fit.front, &sample->fit.data);
}

/* With --resume, continues from the checkpoint of a stopped search. A damaged checkpoint, or one of
 * other data or settings, is ignored. */
static int search_laws(struct laws *laws, struct sr_settings *settings, struct sr_fit *fits,
                       int count)
{
    const struct orr_cli *cli = laws->cli;
    struct orr_progress progress;
    settings->checkpoint = laws->checkpoint;
    settings->checkpoint_of_stops = true;
    settings->resume = cli->resume && orr_exists(laws->checkpoint);
    orr_progress_init(&progress, laws->program, (uint64_t)settings->iterations, cli->quiet);
    int rc = sr_search(settings, fits, count, cli->threads, &progress);
    if (settings->resume && (rc == ORR_EINVAL || rc == ORR_EFORMAT)) {
        orr_note(cli->quiet, "%s: %s; the search starts anew", laws->program, orr_error());
        orr_error_clear();
        settings->resume = false;
        rc = sr_search(settings, fits, count, cli->threads, &progress);
    }
    orr_progress_end(&progress, NULL);
    return rc;
}

/* Searches all samples of all sources in one pool. A stop leaves the fronts so far. */
static int fit_all(struct laws *laws, struct sr_settings *settings)
{
    int count = 0, next = 0;
    for (int i = 0; i < laws->sources; i++)
        count += laws->source[i].forces.samples;
    struct sr_fit *fits = orr_alloc((size_t)count, sizeof *fits);
    if (!fits)
        return ORR_ENOMEM;
    for (int i = 0; i < laws->sources; i++)
        for (int s = 0; s < laws->source[i].forces.samples; s++)
            fits[next++] = laws->source[i].sample[s].fit;
    int rc = search_laws(laws, settings, fits, count);
    next = 0;
    for (int i = 0; i < laws->sources && (!rc || rc == ORR_EINTR); i++)
        for (int s = 0; s < laws->source[i].forces.samples && (!rc || rc == ORR_EINTR); s++) {
            laws->source[i].sample[s].fit = fits[next++];
            if (!rc)
                rc = cut_front(settings, &laws->source[i].sample[s].fit);
            if (!rc)
                rc = find_true_law(&laws->true_law, &laws->source[i].sample[s],
                                   laws->cli->settings.symreg.constant_tolerance);
        }
    free(fits);
    return rc;
}

static void laws_free(struct laws *laws)
{
    orr_lineage_close(&laws->lineage);
    law_true_free(&laws->true_law);
    for (int i = 0; i < laws->sources; i++)
        free_source(&laws->source[i]);
    free(laws);
}

/* Computes the run's law at the labelled steps. Labels may differ from it, because their data sets
 * may have been made with other settings. */
static int compare_labels(struct laws *laws)
{
    const struct law_forces *truth = &laws->source[0].forces;
    double first = HUGE_VAL, last = 0, tolerance = laws->cli->settings.symreg.constant_tolerance;
    for (size_t i = 0; i < truth->rows; i++) {
        first = fmin(first, truth->step[i]);
        last = fmax(last, truth->step[i]);
    }
    law_true_steps(&laws->true_law, (size_t)fmax(first, 0), (size_t)last);
    const int rc = law_true_difference(&laws->true_law, truth, &laws->labels_differ);
    if (!(laws->labels_differ > tolerance))
        laws->labels_differ = 0;
    return rc;
}

/* Notes the variants of the settings if --attention names another one. It may be a variant that is
 * not trained yet, or a misspelt name. */
static void note_attention(const struct laws *laws)
{
    const struct orr_cli *cli = laws->cli;
    const struct orr_name_list *names = &cli->settings.attention;
    char folder[4096], known[ORR_LIST * (ORR_NAME + 2)] = "";
    if (!cli->attention_added || orr_path(folder, "%s/%s", cli->run, cli->attention) ||
        orr_exists(folder))
        return;
    for (int i = 0; i < names->count - 1; i++)
        orr_append(known, sizeof known, "%s%s", i ? ", " : "", names->item[i]);
    orr_note(cli->quiet,
             "%s: --attention %s: nothing of it is in %s yet, and the settings have %s; laws "
             "need the tables of orrery finetune",
             laws->program, cli->attention, cli->run, known);
}

/* ---- the stage: laws.json is written last, and names the other files */

static int laws_status(void *of, struct orr_stage_output *output)
{
    const struct laws *laws = of;
    struct orr_artefact *file = output->file;
    output->files = 1;
    TRY(orr_path(file->path, "%s/laws.json", laws->folder));
    TRY(orr_json_status(laws->folder, &laws->lineage.records, laws->digest, false, file));
    orr_artefact_resume(laws->cli, file);
    return 0;
}

/* Reads all inputs of a search. */
static int read_all(void *of, const struct orr_stage_output *output)
{
    struct laws *laws = of;
    const struct orr_artefact *file = output->file;
    if (file->action == ORR_REMAKE && laws->cli->resume)
        orr_note(laws->cli->quiet, "%s: %s: made anew: %s", laws->program, file->path, file->why);
    laws->has_read = true;
    TRY(check_sources(laws, true));
    for (int i = 0; i < laws->sources; i++)
        TRY(read_source(&laws->source[i], &laws->source[0], laws->cli->settings.seed));
    TRY(law_analyse_baselines(&laws->source[0].forces, &laws->baselines));
    TRY(compare_labels(laws));
    return add_positions(laws);
}

/* Removes the checkpoint of a stopped search for other laws, beside up-to-date ones. */
static int keep_laws(void *of)
{
    const struct laws *laws = of;
    TRY(orr_remove(laws->checkpoint));
    orr_note(laws->cli->quiet, "%s: %s is up to date", laws->program, laws->folder);
    return laws_print(laws);
}

static int make_laws(void *of, const struct orr_stage_output *output)
{
    struct laws *laws = of;
    const struct orr_cli *cli = laws->cli;
    TRY(laws->has_read ? 0 : read_all(laws, output));
    const int rc = fit_all(laws, &laws->settings);
    TRY(rc == ORR_EINTR ? laws_stopped(laws) : rc);
    TRY(*cli->out ? 0 : orr_cli_save_preset(cli, cli->run));
    TRY(laws_write(laws));
    return laws_print(laws);
}

static int run_laws(struct laws *laws)
{
    static const struct orr_stage_row stage = {.doing = "searching for laws",
                                               .status = laws_status,
                                               .check = read_all,
                                               .keep = keep_laws,
                                               .make = make_laws};
    const struct orr_cli *cli = laws->cli;
    TRY(sr_settings_init(&laws->settings, &cli->settings));
    TRY(law_true_create(&laws->true_law, &cli->settings));
    TRY(*cli->out ? orr_path(laws->folder, "%s", cli->out)
                  : orr_path(laws->folder, "%s/laws", cli->run));
    TRY(orr_path(laws->checkpoint, "%s/checkpoint.bin", laws->folder));
    TRY(list_sources(laws));
    if (laws->sources == 0) {
        orr_note(cli->quiet, "%s: preset %s has no force magnitudes: nothing to do", laws->program,
                 cli->settings.name);
        return 0;
    }
    TRY(open_lineage(laws));
    if (cli->plan) {
        TRY(orr_stage_plan(&stage, laws));
        note_attention(laws);
        return 0;
    }
    TRY(orr_stage_check(&stage, laws)); /* before a folder is made */
    if (!laws->has_read)
        TRY(check_sources(laws, false));
    return orr_stage_make(&stage, laws);
}

int laws_run(const struct orr_cli *cli, const char *orbits, const char *answers,
             const char *program)
{
    if (orr_plan_text(cli, program))
        return 0;
    TRY(orr_settings_needs_orbits(&cli->settings, "a search for laws"));
    struct laws *laws = orr_alloc(1, sizeof *laws);
    if (!laws)
        return ORR_ENOMEM;
    laws->cli = cli;
    laws->program = program;
    laws->orbits = orbits;
    int rc = orr_answers_parse(&laws->answers, answers, &cli->settings);
    rc = rc ? rc : run_laws(laws);
    laws_free(laws);
    return rc;
}
