/* parts.c - data sets that are written in parts, by processes or machines of their own, and put
 * together. A part is a folder <sets>/parts/I-of-N with a progress file of its own and every N-th
 * shard; sequences are a function of seed and index, so that a shard is the same bytes whoever
 * makes it. */
#include "dataset.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cjson/cJSON.h>

struct part {
    char dir[4096];
    int lock;
    struct sim_inventory inventory;
};
struct sim_parts {
    char dir[4096]; /* of the sets */
    size_t count;
    struct part *part; /* (count) */
};

static void note(cJSON *set, const char *key, uint64_t shard, long count)
{
    char name[32];
    cJSON *list = cJSON_GetObjectItemCaseSensitive(set, key);
    if (!list)
        list = cJSON_AddObjectToObject(set, key);
    snprintf(name, sizeof name, "%llu", (unsigned long long)shard);
    cJSON_AddNumberToObject(list, name, (double)count);
}

void sim_part_note(cJSON *set, uint64_t shard, const struct sim_tally *tally)
{
    note(set, "clipped_of_shards", shard, tally->clipped);
    if (cJSON_HasObjectItem(set, "redrawn_systems"))
        note(set, "redrawn_of_shards", shard, tally->redrawn);
}

/* ---------------------------------------------------------------------------- what is there */

/* A number of a part at *at, which moves behind it. Nothing but digits: strtol() would skip blanks
 * and signs. */
static bool read_number(const char **at, int *number)
{
    char *end;
    if (!isdigit((unsigned char)**at))
        return false;
    const long value = strtol(*at, &end, 10); /* LONG_MAX for what is larger */
    *at = end;
    *number = (int)(value <= SIM_PARTS_MOST ? value : SIM_PARTS_MOST + 1);
    return value <= SIM_PARTS_MOST;
}

bool sim_part_parse(const char *text, const char *between, int *part, int *parts)
{
    const char *at = text;
    int number;
    if (!read_number(&at, &number) || strncmp(at, between, strlen(between)) != 0)
        return false;
    at += strlen(between);
    *part = number - 1;
    return read_number(&at, parts) && !*at && *part >= 0 && *part < *parts;
}

int sim_part_path(char path[4096], const char *dir, int part, int parts)
{
    return orr_path(path, "%s/parts/%d-of-%d", dir, part + 1, parts);
}

static int is_part(const struct dirent *entry)
{
    int part, parts;
    return sim_part_parse(entry->d_name, "-of-", &part, &parts);
}

/* Whether a list has as many sequences, in such files, as are wanted: shards of the same name can
 * hold others. */
static bool has_layout(const struct part *part, const struct orr_preset *preset,
                       enum sim_split split)
{
    const cJSON *set =
        cJSON_GetObjectItemCaseSensitive(part->inventory.sets, sim_split_name(split));
    const double wanted = (double)sim_split_written(preset, split);
    const double planned = orr_json_number(set, "planned"); /* of a set that is not whole here */
    return orr_json_number(part->inventory.progress, "shard_sequences") ==
               (double)preset->orbits.shard_sequences &&
           (isnan(planned) ? orr_json_number(set, "sequences") : planned) == wanted;
}

/* Every set of the part is of these settings. Files that are gone, as those of a putting together
 * that was stopped, are made again. */
static int check_part(struct part *part, const struct orr_preset *preset)
{
    for (int i = 0; i < SIM_SPLITS; i++) {
        const enum sim_split split = (enum sim_split)i;
        enum orr_verdict verdict;
        char why[ORR_WHY];
        if (sim_split_written(preset, split) == 0)
            continue;
        TRY(sim_inventory_judge(&part->inventory, split, &verdict, why));
        if (!cJSON_HasObjectItem(part->inventory.sets, sim_split_name(split)))
            continue;
        if (verdict != ORR_REFUSE && !has_layout(part, preset, split)) {
            snprintf(why, sizeof why, "%s",
                     part->inventory.progress
                         ? "other numbers of sequences, or of sequences per file, are expected"
                         : "no progress.json there, as every part has: an earlier version made it "
                           "as the only part, and its files are whole sets");
            verdict = ORR_REFUSE;
        }
        if (verdict == ORR_REFUSE)
            return ORR_FAIL(ORR_EINVAL,
                            "%s: data set %s: %s; delete this part, or make it again with --part",
                            part->dir, sim_split_name(split), why);
    }
    return 0;
}

static int open_part(struct sim_parts *parts, const struct orr_preset *preset, const char *name)
{
    struct part *more = realloc(parts->part, (parts->count + 1) * sizeof *more);
    if (!more)
        return ORR_FAIL(ORR_ENOMEM, "%s: out of memory", parts->dir);
    parts->part = more;
    struct part *part = &more[parts->count];
    memset(part, 0, sizeof *part);
    TRY(orr_path(part->dir, "%s/parts/%s", parts->dir, name));
    TRY(orr_lock(part->dir, "writing data sets", ORR_LOCK_WAIT_S, &part->lock));
    parts->count++;
    return sim_inventory_open(&part->inventory, preset, part->dir, false);
}

int sim_parts_open(const struct orr_preset *preset, const char *dir, struct sim_parts **opened)
{
    struct dirent **entry = NULL;
    char folder[4096];
    *opened = NULL;
    TRY(orr_path(folder, "%s/parts", dir));
    if (!orr_exists(folder))
        return 0;
    struct sim_parts *parts = calloc(1, sizeof *parts);
    if (!parts)
        return ORR_FAIL(ORR_ENOMEM, "%s: out of memory", folder);
    *opened = parts;
    int rc = orr_path(parts->dir, "%s", dir);
    const int count = scandir(folder, &entry, is_part, alphasort);
    if (!rc && count < 0)
        rc = ORR_FAIL(ORR_EIO, "%s: cannot list: %s", folder, strerror(errno));
    for (int i = 0; i < count; i++) {
        rc = rc ? rc : open_part(parts, preset, entry[i]->d_name);
        free(entry[i]);
    }
    free(entry);
    for (size_t i = 0; i < parts->count && !rc; i++) {
        parts->part[i].inventory.dir = parts->part[i].dir; /* the array has moved */
        rc = check_part(&parts->part[i], preset);
    }
    return rc;
}

/* Takes the sets that are whole now out of the part's list; names the others that have files. */
static void forget_sets(struct part *part, const struct orr_preset *preset, char left[512])
{
    size_t length = 0;
    left[0] = '\0';
    for (int i = 0; i < SIM_SPLITS; i++) {
        const char *name = sim_split_name((enum sim_split)i);
        const cJSON *set = cJSON_GetObjectItemCaseSensitive(part->inventory.sets, name);
        const cJSON *files = cJSON_GetObjectItemCaseSensitive(set, "files");
        if (sim_split_written(preset, (enum sim_split)i) > 0)
            cJSON_DeleteItemFromObjectCaseSensitive(part->inventory.sets, name);
        else if (files && files->child && length < 512)
            length += (size_t)snprintf(left + length, 512 - length, " %s", name);
    }
}

/* Data files of sets that are whole now were of no use, and temporary ones are of none. */
static void remove_files(const struct part *part, const struct orr_preset *preset)
{
    char path[4096];
    DIR *folder = opendir(part->dir);
    for (struct dirent *entry; folder && (entry = readdir(folder)) != NULL;) {
        enum sim_kind kind;
        enum sim_split split;
        if (sim_name_parse(entry->d_name, true, &kind, &split) &&
            (sim_split_written(preset, split) > 0 ||
             !sim_name_parse(entry->d_name, false, &kind, &split)) &&
            !orr_path(path, "%s/%s", part->dir, entry->d_name))
            (void)unlink(path);
    }
    if (folder)
        closedir(folder);
}

/* The list goes after the files, and a shorter one comes after them: files that are listed and gone
 * are made again, files that are not listed would be somebody else's. */
static void tidy_part(struct part *part, const struct orr_preset *preset, bool quiet)
{
    char path[4096], left[512];
    remove_files(part, preset);
    forget_sets(part, preset, left);
    if (*left)
        orr_note(quiet, "orbits: %s stays: the settings do not ask for some of its sets:%s",
                 part->dir, left);
    if (orr_path(path, "%s/progress.json", part->dir))
        return;
    if (!*left)
        (void)unlink(path);
    else if (part->inventory.progress)
        (void)orr_json_write(path, part->inventory.progress);
    (void)rmdir(part->dir); /* one with something else in it stays */
}

void sim_parts_tidy(struct sim_parts *parts, const struct orr_preset *preset, bool quiet)
{
    char path[4096];
    for (size_t i = 0; parts && i < parts->count; i++)
        tidy_part(&parts->part[i], preset, quiet);
    if (parts && !orr_path(path, "%s/parts", parts->dir))
        (void)rmdir(path);
    orr_error_clear(); /* what can not go does no harm */
}

void sim_parts_close(struct sim_parts *parts)
{
    if (!parts)
        return;
    for (size_t i = 0; i < parts->count; i++) {
        sim_inventory_close(&parts->part[i].inventory);
        orr_unlock(parts->part[i].lock);
    }
    free(parts->part);
    free(parts);
}

/* -------------------------------------------------------------------------------- one shard */

/* Whether the part's list has every file of the shard, with its size, and with sums its bytes;
 * name: the first that it has not. */
static bool has_shard(const struct part *part, enum sim_split split, const bool used[SIM_KINDS],
                      uint64_t shard, uint64_t shards, bool sums, char name[SIM_NAME])
{
    const cJSON *set =
        cJSON_GetObjectItemCaseSensitive(part->inventory.sets, sim_split_name(split));
    const cJSON *files = cJSON_GetObjectItemCaseSensitive(set, "files");
    bool whole = files != NULL;
    for (int kind = 0; kind < SIM_KINDS && whole; kind++) {
        if (!used[kind])
            continue;
        sim_shard_name(name, (enum sim_kind)kind, split, shard, shards);
        const cJSON *file = cJSON_GetObjectItemCaseSensitive(files, name);
        whole = file && sim_file_matches(part->dir, file, sums);
    }
    return whole;
}

/* Whether its files have the bytes of the list. What reads them later would refuse them, when the
 * part is gone. */
static bool has_bytes(const struct part *part, enum sim_split split, const bool used[SIM_KINDS],
                      uint64_t shard, uint64_t shards, struct orr_progress *progress)
{
    char name[SIM_NAME];
    if (has_shard(part, split, used, shard, shards, true, name))
        return true;
    orr_progress_end(progress, NULL); /* its line makes room */
    orr_note(progress->quiet,
             "orbits: %s/%s: not the bytes that progress.json there lists, made again", part->dir,
             name);
    return false;
}

bool sim_parts_have(const struct sim_parts *parts, enum sim_split split, const bool used[SIM_KINDS],
                    uint64_t shard, uint64_t shards)
{
    char name[SIM_NAME];
    bool have = false;
    for (size_t i = 0; i < parts->count && !have; i++)
        have = has_shard(&parts->part[i], split, used, shard, shards, false, name);
    return have;
}

static int move_file(const struct sim_parts *parts, const struct part *part, const char *name)
{
    char from[4096], to[4096];
    TRY(orr_path(from, "%s/%s", part->dir, name));
    TRY(orr_path(to, "%s/%s", parts->dir, name));
    return orr_rename(from, to);
}

static int read_count(const struct part *part, const cJSON *set, const char *key, uint64_t shard,
                      long *count)
{
    char number[32];
    snprintf(number, sizeof number, "%llu", (unsigned long long)shard);
    const double found = orr_json_number(cJSON_GetObjectItemCaseSensitive(set, key), number);
    if (!(found >= 0 && found < 1e18))
        return ORR_FAIL(ORR_EFORMAT,
                        "%s/progress.json: data set %s: \"%s\": expected a number of "
                        "shard %s",
                        part->dir, set->string, key, number);
    *count = (long)found;
    return 0;
}

int sim_parts_adopt(struct sim_parts *parts, enum sim_split split, const bool used[SIM_KINDS],
                    uint64_t shard, uint64_t shards, struct orr_progress *progress, cJSON *set,
                    struct sim_tally *tally, bool *adopted)
{
    char name[SIM_NAME];
    const struct part *part = NULL;
    for (size_t i = 0; i < parts->count && !part; i++)
        if (has_shard(&parts->part[i], split, used, shard, shards, false, name) &&
            has_bytes(&parts->part[i], split, used, shard, shards, progress))
            part = &parts->part[i];
    *adopted = part != NULL;
    *tally = (struct sim_tally){0};
    if (!part)
        return 0;
    const cJSON *theirs =
        cJSON_GetObjectItemCaseSensitive(part->inventory.sets, sim_split_name(split));
    TRY(read_count(part, theirs, "clipped_of_shards", shard, &tally->clipped));
    if (cJSON_HasObjectItem(set, "redrawn_systems"))
        TRY(read_count(part, theirs, "redrawn_of_shards", shard, &tally->redrawn));
    for (int kind = 0; kind < SIM_KINDS; kind++) {
        if (!used[kind])
            continue;
        sim_shard_name(name, (enum sim_kind)kind, split, shard, shards);
        TRY(move_file(parts, part, name));
        const cJSON *file = cJSON_GetObjectItemCaseSensitive(
            cJSON_GetObjectItemCaseSensitive(theirs, "files"), name);
        cJSON_AddItemToObject(cJSON_GetObjectItemCaseSensitive(set, "files"), name,
                              cJSON_Duplicate(file, true));
    }
    return 0;
}
