/* limits.c - counts of kernels' loops held against limits (predict/limits.json): what the loops
 * that a tile runs through may hold, per lane element of it. */
#include "predict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

enum { MMA = 16 * 8 * 16 }; /* multiply-adds of mma.m16n8k16 */

/* What a kernel does for a lane element: the sum over its loops of counts / (elements / 32). mma:
 * products of m16n8k16, or as many multiply-adds of larger ones. */
struct found {
    double mma, slots, local_share; /* of the slots */
};

static int find(const cJSON *limit, const char *counts, const char *where, struct found *found)
{
    const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(limit, "kernel"));
    const cJSON *tile, *tiles = cJSON_GetObjectItemCaseSensitive(limit, "tiles");
    struct predict_part *part;
    int parts, rc = 0;
    if (!name || !cJSON_IsObject(tiles) || !tiles->child)
        return ORR_FAIL(ORR_EFORMAT,
                        "%s: expected a \"kernel\" and its \"tiles\", elements by loop", where);
    TRY(predict_counts_read(counts, name, &part, &parts));
    double local = 0;
    *found = (struct found){0};
    cJSON_ArrayForEach (tile, tiles) {
        int p = 0;
        while (p < parts && strcmp(part[p].name, tile->string) != 0)
            p++;
        if (p == parts || !cJSON_IsNumber(tile) || !(tile->valuedouble > 0)) {
            rc = ORR_FAIL(ORR_EFORMAT, "%s: %s: \"%s\": expected a loop of %s and its elements",
                          where, name, tile->string, counts);
            break;
        }
        const double lanes = tile->valuedouble / 32;
        found->mma +=
            (part[p].tally.count[PREDICT_MMA] + part[p].tally.multiply_adds[PREDICT_WGMMA] / MMA) /
            lanes;
        found->slots += predict_tally_instructions(&part[p].tally) / lanes;
        local += part[p].tally.count[PREDICT_LOCAL] / lanes;
    }
    free(part);
    found->local_share = local / found->slots;
    return rc;
}

/* One line; *kept: it is within its limits. */
static int hold(const cJSON *limit, const char *counts, const char *where, bool *kept)
{
    struct found found = {0};
    TRY(find(limit, counts, where, &found));
    const double mma = orr_json_number(limit, "mma"), slots = orr_json_number(limit, "slots"),
                 local = orr_json_number(limit, "local_share");
    if (!isfinite(mma) || !isfinite(slots) || !isfinite(local))
        return ORR_FAIL(ORR_EFORMAT, "%s: expected numbers \"mma\", \"slots\", \"local_share\"",
                        where);
    *kept = found.mma == mma && found.slots <= slots && found.local_share <= local;
    printf("| %s | %.4g | %.4g | %.3g | %.3g | %.2g%% | %.2g%% | %s |\n",
           cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(limit, "kernel")), found.mma, mma,
           found.slots, slots, 100 * found.local_share, 100 * local, *kept ? "yes" : "NO");
    return 0;
}

int predict_limits(const char *path, const char *counts)
{
    cJSON *file;
    const cJSON *limit;
    char where[4096 + 32];
    int count[2] = {0}, rc = 0;
    TRY(orr_json_read(path, &file));
    const cJSON *limits = cJSON_GetObjectItemCaseSensitive(file, "limits");
    printf("counted per lane element of a tile, in the loops without masks\n\n"
           "| kernel | matrix products | must be | slots | at most | local | at most | kept |\n"
           "|---|---|---|---|---|---|---|---|\n");
    cJSON_ArrayForEach (limit, limits) {
        bool kept = false;
        snprintf(where, sizeof where, "%s: limit %d", path, count[0] + count[1] + 1);
        rc = hold(limit, counts, where, &kept);
        if (rc)
            break;
        count[kept]++;
    }
    cJSON_Delete(file);
    if (!rc && !count[0] && !count[1])
        rc = ORR_FAIL(ORR_EFORMAT, "%s: expected a list \"limits\"", path);
    if (rc)
        return rc;
    printf("\n%d passed, %d failed\n", count[1], count[0]);
    return count[0] ? ORR_FAIL(ORR_EFORMAT, "%s: %d of %d kernels are beyond their limits", counts,
                               count[0], count[0] + count[1])
                    : 0;
}
