/* sidecar.c - "<name>.made.json" beside a file that cannot store its own record. */
#include "base/error.h"
#include "base/json.h"
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

int orr_sidecar_commit(struct orr_file *file, const struct orr_records *records,
                       const char digest[ORR_DIGEST])
{
    char sidecar[4096], sum[ORR_DIGEST];
    const char *path = file->path, *slash = strrchr(path, '/');
    TRY(sidecar_path(path, sidecar));
    snprintf(sum, sizeof sum, "%016llx", (unsigned long long)XXH64_digest(file->hash_state));
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "file", slash ? slash + 1 : path);
    cJSON_AddNumberToObject(json, "bytes", (double)file->bytes);
    cJSON_AddStringToObject(json, "xxh64", sum);
    cJSON_AddItemToObject(json, "made", orr_records_made(records, digest));
    const int rc = orr_json_write(sidecar, json);
    cJSON_Delete(json);
    return rc ? rc : orr_file_commit_changes(file);
}

/* Whether the file has the size and checksum in the sidecar; only ORR_ENOMEM fails. */
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

int orr_sidecar_read(const char *path, cJSON **made, char why[ORR_WHY])
{
    char sidecar[4096];
    cJSON *json = NULL;
    *made = NULL;
    why[0] = '\0';
    TRY(sidecar_path(path, sidecar));
    if (!orr_exists(path)) {
        snprintf(why, ORR_WHY, "not there");
        return 0;
    }
    int rc = orr_exists(sidecar) ? orr_json_read(sidecar, &json) : ORR_EMISSING;
    if (rc == ORR_ENOMEM)
        return rc;
    orr_error_clear(); /* a damaged sidecar counts as missing */
    bool whole = false;
    if (!rc && judge_file(path, json, &whole)) {
        cJSON_Delete(json);
        return ORR_ENOMEM; /* the message is kept */
    }
    if (rc)
        snprintf(why, ORR_WHY, "nothing beside it says what it was made from");
    else if (!whole)
        snprintf(why, ORR_WHY, "it has been changed since it was made");
    else
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
    char path[4096], sum[ORR_DIGEST];
    uint64_t checksum, bytes;
    TRY(orr_path(path, "%s/%s", folder, name));
    TRY(orr_file_checksum(path, &checksum, &bytes));
    snprintf(sum, sizeof sum, "%016llx", (unsigned long long)checksum);
    cJSON *file = cJSON_AddObjectToObject(files, name);
    cJSON_AddNumberToObject(file, "bytes", (double)bytes);
    cJSON_AddStringToObject(file, "xxh64", sum);
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
                    const char digest[ORR_DIGEST], bool summed, struct orr_artefact *status)
{
    cJSON *json = NULL;
    char *why = status->why;
    why[0] = '\0';
    status->action = ORR_MAKE;
    if (!orr_exists(status->path))
        return 0;
    status->action = ORR_REMAKE;
    const int rc = orr_json_read(status->path, &json);
    if (rc == ORR_ENOMEM)
        return rc;
    if (rc) {
        snprintf(why, ORR_WHY, "what it was made from cannot be read");
        orr_error_clear(); /* a damaged file is made again */
        return 0;
    }
    const bool without = summed && !cJSON_HasObjectItem(json, "files");
    const cJSON *made = orr_json_get(json, "made");
    const bool same = without ? orr_made_same(records, digest, made, why)
                              : orr_json_is_whole(json, folder, records, digest, why);
    if (same && (!summed || orr_sum_same(json, why)))
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

/* XXH64 of the text of an object without its "xxh64"; false without memory. The object is printed
 * and parsed first, so that numbers stored as raw digits become numbers, as for a reader of the
 * file. */
static bool sum_of(const cJSON *json, char sum[ORR_DIGEST])
{
    char *written = cJSON_PrintUnformatted(json);
    cJSON *read = written ? cJSON_Parse(written) : NULL;
    cJSON_DeleteItemFromObjectCaseSensitive(read, "xxh64");
    char *text = read ? cJSON_PrintUnformatted(read) : NULL;
    cJSON_Delete(read);
    cJSON_free(written);
    if (text)
        snprintf(sum, ORR_DIGEST, "%016llx", (unsigned long long)XXH64(text, strlen(text), 0));
    cJSON_free(text);
    return text != NULL;
}

bool orr_sum_add(cJSON *json)
{
    char sum[ORR_DIGEST];
    return sum_of(json, sum) && cJSON_AddStringToObject(json, "xxh64", sum);
}

bool orr_sum_same(const cJSON *json, char why[ORR_WHY])
{
    char sum[ORR_DIGEST];
    const cJSON *said = orr_json_get(json, "xxh64");
    if (cJSON_IsString(said) && sum_of(json, sum) && !strcmp(sum, said->valuestring))
        return true;
    snprintf(why, ORR_WHY, "it has been changed since it was made");
    return false;
}

bool orr_sum_kept(const cJSON *json, char why[ORR_WHY])
{
    return !cJSON_HasObjectItem(json, "xxh64") || orr_sum_same(json, why);
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
