/* tracks.c - the settings of a run that reads imported tracks: those of the data follow from the
 * folder, which has them in its manifest. */
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "tracks.h"

#include <string.h>

#include "base/cjson.h"

static long sequences_of(const cJSON *manifest, const char *set)
{
    const double n =
        orr_json_number(orr_json_get(orr_json_get(manifest, "sets"), set), "sequences");
    return n >= 1 && n <= 1e12 ? (long)n : 0;
}

/* Only train, val and test can be had without forces and states. */
static int follow_folder(struct orr_settings *settings, const cJSON *manifest, double positions)
{
    struct orr_orbits_settings *o = &settings->orbits;
    o->protocol = ORR_PROTOCOL_IDENTIFIABLE;
    o->output = ORR_OUTPUT_CONTINUOUS;
    if (o->mass_prior == ORR_MASS_STUDY)
        o->mass_prior = ORR_MASS_LOGUNIFORM;
    o->train = o->train_files = sequences_of(manifest, "train");
    o->val = sequences_of(manifest, "val");
    o->test = sequences_of(manifest, "test");
    o->two_body_train = o->two_body_val = o->two_body_test = 0;
    o->positions = (int)positions;
    o->dimensions = orr_json_number(orr_json_get(manifest, "tracks"), "dimensions") == 3 ? 3 : 2;
    o->clockwise = o->dimensions == 3 ? 0 : o->clockwise;
    o->solar_system = o->nbody = false;
    o->law = ORR_LAW_NEWTON;
    o->jump_step = 0;
    o->jump_factor = 1;
    settings->planets.enabled = false;
    return orr_settings_drop_laws(settings);
}

int orr_tracks_adopt(struct orr_settings *settings, const char *folder, bool *adopted)
{
    char path[4096];
    cJSON *manifest = NULL;
    *adopted = false;
    if (orr_path(path, "%s/manifest.json", folder) || !orr_exists(path)) {
        orr_error_clear();
        return 0;
    }
    int rc = orr_json_read(path, &manifest);
    if (rc && rc != ORR_ENOMEM) {
        orr_error_clear();
        return 0;
    }
    const double positions = orr_json_number(orr_json_get(manifest, "tracks"), "positions");
    if (!rc && positions >= 5 && positions <= 1e6) {
        *adopted = true;
        strcpy(settings->tracks, folder);
        rc = follow_folder(settings, manifest, positions);
    }
    cJSON_Delete(manifest);
    return rc;
}

static int number_tracks(const char *path, const char *set, const cJSON *pieces, int n, int track[])
{
    const cJSON *one;
    int at = 0, k = 0;
    bool counts = cJSON_IsArray(pieces);
    cJSON_ArrayForEach (one, pieces) {
        const double count = cJSON_IsNumber(one) ? one->valuedouble : 0;
        counts = counts && count >= 1 && count <= n - at && count == (int)count;
        for (int i = 0; i < count && counts; i++)
            track[at++] = k;
        k++;
    }
    return counts && at == n ? 0
                             : ORR_FAIL(ORR_EFORMAT,
                                        "%s: \"pieces\" of \"%s\": expected numbers of sequences "
                                        "whose sum is %d",
                                        path, set, n);
}

int orr_tracks_pieces(const struct orr_settings *settings, const char *set, int n, int track[])
{
    char path[4096];
    cJSON *manifest = NULL;
    for (int i = 0; i < n; i++)
        track[i] = i;
    if (!*settings->tracks)
        return 0;
    TRY(orr_path(path, "%s/manifest.json", settings->tracks));
    TRY(orr_json_read(path, &manifest));
    const cJSON *of = orr_json_get(orr_json_get(manifest, "sets"), set);
    const cJSON *pieces = orr_json_get(of, "pieces");
    const int rc = pieces ? number_tracks(path, set, pieces, n, track) : 0;
    cJSON_Delete(manifest);
    return rc;
}

int orr_tracks_refuse(const struct orr_settings *settings, const char *what)
{
    return *settings->tracks
               ? ORR_FAIL(ORR_EINVAL, "%s: imported tracks: %s needs simulated orbits",
                          settings->tracks, what)
               : 0;
}
