/* answers.c - see answers.h. */
#include "answers.h"
#include "stage/provenance.h"

#include <dirent.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include <cjson/cJSON.h>
#include <xxhash.h>

/* ------------------------------------------------------------------------------------ folder */

static int take_content(struct probe_answers *a)
{
    struct orr_entries entries = {0};
    char path[4096];
    int rc = orr_entries_read(a->folder, &entries);
    for (int i = 0; i < entries.count && !rc; i++) {
        const char *name = entries.at[i]->d_name;
        uint64_t of[2] = {0, 0}, bytes;
        if (!strcmp(name, "card.json") || !strcmp(name, "card.md") ||
            !strcmp(name, "answered.json"))
            continue; /* made from the results, and how the answers were made */
        rc = orr_path(path, "%s/%s", a->folder, name);
        if (!rc && orr_file_checksum(path, &of[0], &bytes)) {
            orr_error_clear(); /* a folder below it */
            continue;
        }
        of[1] = XXH64(name, strlen(name), a->content);
        a->content = XXH64(of, sizeof of, a->content);
    }
    orr_entries_free(&entries);
    return rc;
}

void probe_settings_sum(const struct orr_settings *settings, char text[PROBE_SUM])
{
    snprintf(text, PROBE_SUM, "%016" PRIx64, orr_settings_checksum(settings, PROBE_SETTINGS));
}

static int check_export(struct probe_answers *a, const char *path, enum orr_json_sum sum,
                        const struct orr_settings *settings)
{
    char expected[PROBE_SUM];
    const struct cJSON *options = orr_json_get(a->exported, "options");
    if (!orr_json_says(a->exported, "format", PROBE_EXPORT_FORMAT))
        return ORR_FAIL(ORR_EFORMAT, "%s: expected \"format\": \"" PROBE_EXPORT_FORMAT "\"", path);
    if (sum != ORR_JSON_AS_WRITTEN)
        return ORR_FAIL(ORR_EFORMAT, "%s: %s; copy it anew from the export", path,
                        sum == ORR_JSON_CHANGED ? ORR_JSON_IS_CHANGED : "it has no checksum");
    probe_settings_sum(settings, expected);
    if (!orr_json_says(a->exported, "settings_xxh64", expected))
        return ORR_FAIL(ORR_EINVAL,
                        "%s: answers to other data: settings and seed of preset %s, checksum %s; "
                        "expected %s, as of this run",
                        path, orr_json_text(a->exported, "preset"),
                        orr_json_text(a->exported, "settings_xxh64"), expected);
    a->sequences = (int)orr_json_number(options, "sequences");
    a->draws = (int)orr_json_number(options, "draws");
    a->sizes = orr_json_text(options, "sizes");
    return 0;
}

int probe_answers_open(struct probe_answers *a, const char *folder,
                       const struct orr_settings *settings)
{
    char path[4096];
    enum orr_json_sum sum;
    *a = (struct probe_answers){.sizes = ""};
    TRY(orr_path(a->folder, "%s", folder));
    TRY(orr_answers_name(folder, a->name));
    TRY(orr_path(path, "%s/export.json", folder));
    if (!orr_exists(path))
        return ORR_FAIL(ORR_EMISSING,
                        "%s: missing; answers hold a copy of the export.json that they answer, "
                        "which probe export writes",
                        path);
    TRY(orr_json_read_any(path, &a->exported, &sum));
    TRY(check_export(a, path, sum, settings));
    return take_content(a);
}

void probe_answers_close(struct probe_answers *a)
{
    cJSON_Delete(a->exported);
    *a = (struct probe_answers){0};
}

int probe_answers_check_twin(const struct probe_answers *answers, const struct probe_answers *twin)
{
    if (twin->content == answers->content)
        return ORR_FAIL(ORR_EINVAL,
                        "%s: the same files as %s; expected those of an untrained model",
                        twin->folder, answers->folder);
    if (orr_json_says(twin->exported, "xxh64", orr_json_text(answers->exported, "xxh64")))
        return 0;
    return ORR_FAIL(ORR_EINVAL, "%s/export.json: not the export that %s answers", twin->folder,
                    answers->folder);
}

bool probe_answers_has(const struct probe_answers *a, const char *file)
{
    char path[4096];
    const bool there = !orr_path(path, "%s/%s", a->folder, file) && orr_exists(path);
    orr_error_clear();
    return there;
}

int probe_rows_checksum(struct probe *probe, uint64_t *checksum)
{
    XXH64_state_t *state = XXH64_createState();
    const uint16_t *tokens;
    const float *coords;
    int bodies, rc = state ? 0 : ORR_FAIL(ORR_ENOMEM, "a checksum: out of memory");
    if (state)
        XXH64_reset(state, 0);
    for (int i = 0; i < probe->sequences && !rc; i++) {
        rc = gpt_source_sequence(probe->data, (uint64_t)i, &tokens, &coords, &bodies);
        if (!rc)
            XXH64_update(state, coords,
                         (size_t)(probe->T * probe->settings.orbits.dimensions) * sizeof *coords);
    }
    *checksum = rc ? 0 : XXH64_digest(state);
    XXH64_freeState(state);
    return rc;
}

/* ------------------------------------------------------------------------ repeated sequences */

int probe_repeats(size_t sequences)
{
    return sequences < PROBE_REPEATS ? (int)sequences : PROBE_REPEATS;
}

void probe_repeat(size_t sequences, int k, size_t *of, size_t *as)
{
    *of = (size_t)k * sequences / (size_t)probe_repeats(sequences);
    *as = (*of + (sequences + 1) / 2) % sequences;
}

/* ------------------------------------------------------------------------------------ arrays */

double probe_array_at(const struct probe_array *a, size_t sequence, size_t row, size_t column)
{
    const size_t i = (sequence * a->rows + row) * a->width + column;
    return a->npy.dtype == ORR_F64 ? ((const double *)a->npy.data)[i]
                                   : (double)((const float *)a->npy.data)[i];
}

static int check_shape(struct probe_array *a, size_t sequences, size_t rows, size_t width)
{
    const struct orr_npy *npy = &a->npy;
    char any[32] = "any", found[160] = "";
    if (width)
        snprintf(any, sizeof any, "%zu", width);
    for (int d = 0; d < npy->ndim; d++)
        orr_append(found, sizeof found, "%s%zu", d ? ", " : "", npy->shape[d]);
    if (npy->dtype != ORR_F32 && npy->dtype != ORR_F64)
        return ORR_FAIL(ORR_EFORMAT, "%s: expected numbers in float32 or float64, found \"%s\"",
                        a->path, orr_dtype_descr(npy->dtype));
    const size_t repeats = (size_t)probe_repeats(sequences);
    if (npy->ndim != 3 || npy->shape[0] != sequences + repeats || npy->shape[1] != rows ||
        npy->shape[2] < 1 || (width && npy->shape[2] != width))
        return ORR_FAIL(ORR_EFORMAT,
                        "%s: expected the shape (%zu, %zu, %s), of %zu sequences and %zu repeated "
                        "ones, found (%s)",
                        a->path, sequences + repeats, rows, any, sequences, repeats, found);
    a->rows = rows;
    a->width = npy->shape[2];
    return 0;
}

static int check_finite(const struct probe_array *a, double *rms)
{
    double square = 0;
    for (size_t i = 0; i < a->npy.shape[0]; i++)
        for (size_t t = 0; t < a->rows; t++)
            for (size_t c = 0; c < a->width; c++) {
                const double x = probe_array_at(a, i, t, c);
                if (!isfinite(x))
                    return ORR_FAIL(ORR_EFORMAT,
                                    "%s: sequence %zu, row %zu, column %zu: expected a finite "
                                    "number, found %g",
                                    a->path, i, t, c, x);
                square += x * x;
            }
    *rms = sqrt(square / (double)(a->npy.shape[0] * a->rows * a->width));
    return 0;
}

static int check_repeats(const struct probe_array *a, size_t sequences, size_t same, double rms)
{
    for (int k = 0; k < probe_repeats(sequences); k++) {
        size_t of, as;
        probe_repeat(sequences, k, &of, &as);
        for (size_t t = 0; t < same; t++)
            for (size_t c = 0; c < a->width; c++) {
                const double x = probe_array_at(a, of, t, c),
                             y = probe_array_at(a, sequences + (size_t)k, t, c);
                if (!(fabs(x - y) <= PROBE_REPEAT_SAME * rms))
                    return ORR_FAIL(
                        ORR_EINVAL,
                        "%s: row %zu of sequence %zu: expected %.9g, as of sequence %zu, whose "
                        "inputs are equal up to there, found %.9g: the order is another one, or "
                        "an output depends on later rows",
                        a->path, t, sequences + (size_t)k, x, of, y);
            }
    }
    return 0;
}

int probe_array_open(struct probe_array *a, const struct probe_answers *answers, const char *file,
                     size_t sequences, size_t rows, size_t width, size_t same)
{
    double rms = 0;
    *a = (struct probe_array){.rows = 0};
    TRY(orr_path(a->path, "%s/%s", answers->folder, file));
    if (!orr_exists(a->path))
        return ORR_FAIL(ORR_EMISSING, "%s: missing; export.json lists what is asked", a->path);
    TRY(orr_npy_open(a->path, &a->npy));
    TRY(check_shape(a, sequences, rows, width));
    TRY(check_finite(a, &rms));
    return check_repeats(a, sequences, same < rows ? same : rows, rms);
}

void probe_array_close(struct probe_array *a)
{
    orr_npy_close(&a->npy);
}

void probe_array_copy(const struct probe_array *a, size_t sequences, double *to)
{
    for (size_t i = 0; i < sequences; i++)
        for (size_t t = 0; t < a->rows; t++)
            for (size_t c = 0; c < a->width; c++)
                *to++ = probe_array_at(a, i, t, c);
}
