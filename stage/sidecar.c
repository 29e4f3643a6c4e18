/* sidecar.c - "<name>.made.json" beside a file that cannot store its own record. */
#include "base/error.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "provenance.h"

#include <string.h>

#include "base/cjson.h"
#include <xxhash.h>

/* The sidecar's path: forces_magnitude.csv -> forces_magnitude.made.json */
static int sidecar_path(const char *path, char sidecar[4096])
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
    const bool suffix = dot && (!slash || dot > slash + 1);
    return orr_path(sidecar, "%.*s.made.json", (int)(suffix ? dot - path : (long)strlen(path)),
                    path);
}

/* Adds a file of a result, by its size and XXH64. */
static void add_file(cJSON *files, const char *name, uint64_t bytes, uint64_t checksum)
{
    char sum[ORR_DIGEST];
    cJSON *file = cJSON_AddObjectToObject(files, name);
    snprintf(sum, sizeof sum, "%016llx", (unsigned long long)checksum);
    cJSON_AddNumberToObject(file, "bytes", (double)bytes);
    cJSON_AddStringToObject(file, "xxh64", sum);
}

int orr_sidecar_commit(struct orr_file *file, const struct orr_records *records,
                       const char digest[ORR_DIGEST])
{
    char sidecar[4096];
    const char *path = file->path, *slash = strrchr(path, '/');
    TRY(sidecar_path(path, sidecar));
    cJSON *json = cJSON_CreateObject();
    add_file(cJSON_AddObjectToObject(json, "files"), slash ? slash + 1 : path, file->bytes,
             XXH64_digest(file->hash_state));
    cJSON_AddItemToObject(json, "made", orr_records_made(records, digest));
    const int rc = orr_json_write(sidecar, json);
    cJSON_Delete(json);
    return rc ? rc : orr_file_commit_changes(file);
}

/* Whether the file has the size and checksum that a result states; only ORR_ENOMEM fails. */
static int judge_file(const char *path, const cJSON *json, bool *whole)
{
    char found[ORR_DIGEST];
    uint64_t checksum, bytes;
    const cJSON *size = orr_json_get(json, "bytes");
    const cJSON *sum = orr_json_get(json, "xxh64");
    *whole = false;
    if (!cJSON_IsNumber(size) || !cJSON_IsString(sum))
        return 0;
    const int rc = orr_file_checksum(path, &checksum, &bytes);
    if (rc)
        return rc == ORR_ENOMEM ? rc : 0;
    snprintf(found, sizeof found, "%016llx", (unsigned long long)checksum);
    *whole = (double)bytes == size->valuedouble && !strcmp(found, sum->valuestring);
    return 0;
}

int orr_result_read(const char *path, cJSON **json, char why[ORR_WHY])
{
    enum orr_json_sum sum;
    *json = NULL;
    TRY(orr_json_read_any(path, json, &sum));
    if (sum == ORR_JSON_AS_WRITTEN)
        return 0;
    snprintf(why, ORR_WHY, "%s",
             sum == ORR_JSON_CHANGED
                 ? ORR_JSON_IS_CHANGED
                 : "it has no checksum \"xxh64\", so that an older version made "
                   "it, or it has been changed");
    cJSON_Delete(*json);
    *json = NULL;
    return 0;
}

/* Whether a sidecar names its file, unchanged; if not, `why`. */
static bool names_file(const char *path, const cJSON *json, char why[ORR_WHY])
{
    const char *slash = strrchr(path, '/');
    const cJSON *file = orr_json_get(orr_json_get(json, "files"), slash ? slash + 1 : path);
    bool whole = false;
    if (judge_file(path, file, &whole) || !whole)
        snprintf(why, ORR_WHY, ORR_JSON_IS_CHANGED);
    return whole;
}

int orr_sidecar_read(const char *path, cJSON **made, char why[ORR_WHY])
{
    char sidecar[4096], of_record[ORR_WHY] = "";
    cJSON *json = NULL;
    *made = NULL;
    why[0] = '\0';
    TRY(sidecar_path(path, sidecar));
    if (!orr_exists(path)) {
        snprintf(why, ORR_WHY, "not there");
        return 0;
    }
    int rc = orr_exists(sidecar) ? orr_result_read(sidecar, &json, of_record) : ORR_EMISSING;
    if (rc == ORR_ENOMEM)
        return rc;
    orr_error_clear(); /* a damaged sidecar counts as missing */
    const bool whole = json && names_file(path, json, why);
    if (orr_memory_short()) {
        cJSON_Delete(json);
        return ORR_ENOMEM; /* the message is kept */
    }
    if (rc)
        snprintf(why, ORR_WHY, "nothing beside it says what it was made from");
    else if (!json)
        snprintf(why, ORR_WHY, "its record %.128s: %.150s", strrchr(sidecar, '/') + 1, of_record);
    else if (whole)
        *made = cJSON_DetachItemFromObjectCaseSensitive(json, "made");
    if (!rc && !*made && !*why)
        snprintf(why, ORR_WHY, "it does not say what it was made from");
    cJSON_Delete(json);
    orr_error_clear();
    return 0;
}

bool orr_sidecar_exists(const char *path)
{
    char sidecar[4096];
    return !sidecar_path(path, sidecar) && orr_exists(sidecar);
}

int orr_files_add(cJSON *files, const char *folder, const char *name)
{
    char path[4096];
    uint64_t checksum, bytes;
    TRY(orr_path(path, "%s/%s", folder, name));
    TRY(orr_file_checksum(path, &checksum, &bytes));
    add_file(files, name, bytes, checksum);
    return 0;
}

bool orr_file_same(const char *folder, const cJSON *file, char why[ORR_WHY])
{
    char path[4096];
    const bool is_name = file->string && orr_is_inside(file->string);
    bool same = false;
    const bool is_judged =
        !is_name || orr_path(path, "%s/%s", folder, file->string) || !judge_file(path, file, &same);
    if (!is_judged)
        snprintf(why, ORR_WHY, "%.200s: out of memory", file->string);
    else if (!is_name)
        snprintf(why, ORR_WHY, "it names %.200s, which is no file of its folder",
                 file->string ? file->string : "a file without a name");
    else if (!same)
        snprintf(why, ORR_WHY, "%.200s is not there, or has been changed", file->string);
    orr_error_clear();
    return same;
}

bool orr_files_same(const char *folder, const cJSON *files, char why[ORR_WHY])
{
    const cJSON *file;
    if (!cJSON_IsObject(files))
        snprintf(why, ORR_WHY, "it does not name its files");
    cJSON_ArrayForEach (file, files)
        if (!*why)
            (void)orr_file_same(folder, file, why);
    return !*why;
}

bool orr_json_is_whole(const cJSON *json, const char *folder, const struct orr_records *records,
                       const char digest[ORR_DIGEST], char why[ORR_WHY])
{
    const cJSON *made = orr_json_get(json, "made");
    return orr_made_same(records, digest, made, why) &&
           orr_files_same(folder, orr_json_get(json, "files"), why);
}

int orr_json_status(const char *folder, const struct orr_records *records,
                    const char digest[ORR_DIGEST], bool alone, struct orr_artefact *status)
{
    cJSON *json = NULL;
    char *why = status->why;
    why[0] = '\0';
    status->action = ORR_MAKE;
    if (!orr_exists(status->path))
        return 0;
    status->action = ORR_REMAKE;
    const int rc = orr_result_read(status->path, &json, why);
    if (rc == ORR_ENOMEM)
        return rc;
    if (rc) {
        snprintf(why, ORR_WHY, "what it was made from cannot be read");
        orr_error_clear(); /* a damaged file is made again */
        return 0;
    }
    const bool without = alone && !cJSON_HasObjectItem(json, "files");
    const cJSON *made = orr_json_get(json, "made");
    if (json && (without ? orr_made_same(records, digest, made, why)
                         : orr_json_is_whole(json, folder, records, digest, why)))
        status->action = ORR_KEEP;
    cJSON_Delete(json);
    return 0;
}

int orr_refuse_input(const char *path, const char *why, const char *program, const char *else_what)
{
    char command[ORR_COMMAND];
    orr_command_of_run(program, command);
    if (strcmp(program, "symreg") != 0) /* all but symreg need it to replace files */
        orr_command_add(command, sizeof command, "--force");
    return ORR_FAIL(ORR_EINVAL, "%s: not what these settings make: %s; make it again with: %s%s",
                    path, why, command, else_what);
}

int orr_sidecar_remove(const char *path)
{
    char sidecar[4096];
    const char *const both[] = {path, sidecar}; /* this order never leaves a file without its
                                                   record */
    TRY(sidecar_path(path, sidecar));
    for (int i = 0; i < 2; i++)
        TRY(orr_remove(both[i]));
    return 0;
}
