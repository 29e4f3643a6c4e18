/* laws.c - run directory mode: every source and sample through the same search. */
#include "laws.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cjson/cJSON.h>

const char *const sr_law_features[3] = {"r", "m1", "m2"};

/* ---- sources */

static int add_source(struct sr_laws *laws, const char *name)
{
    struct sr_law_source *source = &laws->source[laws->sources++];
    snprintf(source->name, sizeof source->name, "%s", name);
    return orr_path(source->path, "%s/%s/finetune/forces_magnitude.csv", laws->cli->run, name);
}

/* Names, paths and the digest of all that decides the result beside the files. */
static int list_sources(struct sr_laws *laws, bool compat)
{
    const struct orr_preset *preset = &laws->cli->preset;
    int rc = add_source(laws, "truth");
    if (!rc)
        rc = add_source(laws, "oracle");
    for (int i = 0; i < preset->attention.count && !rc; i++)
        rc = add_source(laws, preset->attention.item[i]);
    if (!rc)
        rc = add_source(laws, "untrained");
    int used = snprintf(laws->digest, sizeof laws->digest, "%s %016llx%s", ORR_VERSION,
                        (unsigned long long)orr_preset_digest(preset, "seed,symreg"),
                        compat ? " pysr" : "");
    for (int i = 0; i < laws->sources; i++)
        used += snprintf(laws->digest + used, sizeof laws->digest - (size_t)used, " %s",
                         laws->source[i].name);
    for (int i = 0; i < laws->sources && !rc; i++)
        if (!orr_exists(laws->source[i].path))
            rc = ORR_FAIL(ORR_EMISSING,
                          "%s: not found; run bin/finetune first (--attention NAME "
                          "leaves the other variants out)",
                          laws->source[i].path);
    return rc;
}

/* ---- resume */

static bool newer(const char *path, const struct stat *than)
{
    struct stat info;
    if (stat(path, &info))
        return true; /* not there: must be made again */
    return info.st_mtim.tv_sec > than->st_mtim.tv_sec ||
           (info.st_mtim.tv_sec == than->st_mtim.tv_sec &&
            info.st_mtim.tv_nsec > than->st_mtim.tv_nsec);
}

/* laws.json is written last: when it is newer than its inputs and of these settings, the rest is
 * there, too. */
static bool up_to_date(const struct sr_laws *laws)
{
    char path[4096];
    struct stat info;
    if (orr_path(path, "%s/laws.md", laws->folder) || !orr_exists(path) ||
        orr_path(path, "%s/laws.json", laws->folder) || stat(path, &info))
        return false;
    for (int i = 0; i < laws->sources; i++)
        if (newer(laws->source[i].path, &info))
            return false;
    cJSON *json = NULL;
    if (orr_json_read(path, &json)) {
        orr_error_clear(); /* a broken file is simply made again */
        return false;
    }
    const cJSON *digest = cJSON_GetObjectItemCaseSensitive(json, "digest");
    const bool same = cJSON_IsString(digest) && !strcmp(digest->valuestring, laws->digest);
    cJSON_Delete(json);
    return same;
}

/* ---- samples */

static int take_sample(const struct sr_forces *forces, int number, struct sr_law_sample *sample)
{
    size_t n = 0;
    for (size_t i = 0; i < forces->rows; i++)
        n += (int)forces->sample[i] == number;
    if (n < 2)
        return ORR_FAIL(ORR_EFORMAT, "sample %d: expected at least 2 rows, found %zu", number, n);
    sample->x = orr_alloc(4 * n, sizeof *sample->x);
    if (!sample->x)
        return ORR_ENOMEM;
    sample->y = sample->x + 3 * n;
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
        sample->y[k++] = forces->f[i];
    }
    sample->fit.data = (struct sr_data){.rows = n, .features = 3, .x = sample->x, .y = sample->y};
    sample->fit.stream = (uint64_t)number;
    return sr_analyse_sample(forces, number, &sample->facts);
}

static int read_source(struct sr_law_source *source, uint64_t seed)
{
    int rc = sr_forces_read(source->path, &source->forces);
    if (rc)
        return rc;
    rc = sr_analyse(&source->forces, seed, &source->analysis);
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

static int judge(struct sr_law_sample *sample, double tolerance)
{
    double k;
    const int rc = sr_front_describe(&sample->fit.front, &sample->fit.data);
    sample->k = NAN;
    sample->true_row =
        sr_law_find(&sample->fit.front, sample->low, sample->high, tolerance, &sample->k);
    for (int row = 0; row < sample->fit.front.count; row++)
        sample->row_true[row] =
            sr_law_check(&sample->fit.front.expr[row], sample->low, sample->high, tolerance, &k);
    return rc;
}

/* With --resume from the checkpoint of a search that was stopped; one of other data or settings, or
 * that is broken, is none. */
static int search(struct sr_laws *laws, struct sr_settings *settings, struct sr_fit *fits,
                  int count)
{
    const struct orr_cli *cli = laws->cli;
    struct orr_progress progress;
    settings->checkpoint = laws->checkpoint;
    settings->checkpoint_of_stops = true;
    settings->resume = cli->resume && orr_exists(laws->checkpoint);
    orr_progress_init(&progress, "symreg", (uint64_t)settings->iterations, cli->quiet);
    int rc = sr_search(settings, fits, count, cli->threads, &progress);
    if (settings->resume && (rc == ORR_EINVAL || rc == ORR_EFORMAT)) {
        orr_note(cli->quiet, "symreg: %s; the search starts anew", orr_error());
        orr_error_clear();
        settings->resume = false;
        rc = sr_search(settings, fits, count, cli->threads, &progress);
    }
    orr_progress_end(&progress, NULL);
    return rc;
}

/* All samples of all sources in one pool. When stopped, the fronts so far are there, not judged. */
static int fit_all(struct sr_laws *laws, struct sr_settings *settings)
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
    int rc = search(laws, settings, fits, count);
    next = 0;
    for (int i = 0; i < laws->sources && (!rc || rc == ORR_EINTR); i++)
        for (int s = 0; s < laws->source[i].forces.samples && (!rc || rc == ORR_EINTR); s++) {
            laws->source[i].sample[s].fit = fits[next++];
            if (!rc)
                rc = judge(&laws->source[i].sample[s], laws->cli->preset.symreg.constant_tolerance);
        }
    free(fits);
    return rc;
}

static void laws_free(struct sr_laws *laws)
{
    for (int i = 0; i < laws->sources; i++) {
        struct sr_law_source *source = &laws->source[i];
        for (int s = 0; s < source->forces.samples && source->sample; s++)
            free(source->sample[s].x);
        free(source->sample);
        sr_forces_free(&source->forces);
    }
    free(laws);
}

int sr_laws_run(const struct orr_cli *cli, const char *compat)
{
    struct sr_settings settings;
    int rc = orr_preset_needs_orbits(&cli->preset, "a search for laws");
    if (rc)
        return rc;
    struct sr_laws *laws = orr_alloc(1, sizeof *laws);
    if (!laws)
        return ORR_ENOMEM;
    laws->cli = cli;
    rc = sr_settings_init(&settings, &cli->preset);
    if (!rc)
        rc = sr_compat_find(compat, &settings.compat);
    if (!rc)
        rc = *cli->out ? orr_path(laws->folder, "%s", cli->out)
                       : orr_path(laws->folder, "%s/laws", cli->run);
    if (!rc)
        rc = orr_path(laws->checkpoint, "%s/checkpoint.bin", laws->folder);
    if (!rc)
        rc = list_sources(laws, settings.compat);
    if (!rc && cli->resume && up_to_date(laws)) {
        orr_note(cli->quiet, "symreg: %s is up to date", laws->folder);
        rc = sr_laws_print(laws);
        laws_free(laws);
        return rc;
    }
    for (int i = 0; i < laws->sources && !rc; i++)
        rc = read_source(&laws->source[i], cli->preset.seed);
    if (!rc)
        rc = sr_analyse_floors(&laws->source[0].forces, &laws->floors);
    if (!rc)
        rc = orr_mkdir(laws->folder);
    if (!rc)
        rc = fit_all(laws, &settings);
    if (rc == ORR_EINTR)
        rc = sr_laws_stopped(laws);
    if (!rc)
        rc = sr_laws_write(laws);
    if (!rc)
        rc = sr_laws_print(laws);
    laws_free(laws);
    return rc;
}
