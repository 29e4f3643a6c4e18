/* folder.c - writes a folder of data sets, from the plan to the manifest: which files stay, which
 * are made, and which process may write. Several processes write in parallel, each the shards of
 * its part; the one that finds all shards complete writes the manifest. */
#include "sim/data/dataset.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <cjson/cJSON.h>

static int remove_file(const char *dir, const char *name)
{
    char path[4096];
    TRY(orr_path(path, "%s/%s", dir, name));
    if (unlink(path) && errno != ENOENT)
        return ORR_FAIL(ORR_EIO, "%s: cannot replace: %s", path, strerror(errno));
    return 0;
}

static int remove_files(const char *dir, const cJSON *set)
{
    const cJSON *file;
    enum sim_kind kind;
    struct sim_shard shard;
    int rc = 0;
    cJSON_ArrayForEach (file, orr_json_get(set, "files"))
        if (!rc && sim_name_parse(file->string, false, &kind, &shard)) /* our files only */
            rc = remove_file(dir, file->string);
    return rc;
}

/* Begins new sets: removes damaged files and outdated ones, writes the plan, removes the manifest.
 * In this order, an interruption at any instant leaves no incomplete set that looks complete, and
 * the next run can resume. */
static int begin_sets(const struct orr_settings *settings, const struct sim_inventory *before,
                      const cJSON *plan)
{
    const char *dir = before->dir;
    const cJSON *set;
    int rc = 0;
    cJSON_ArrayForEach (set, before->sets) /* damaged sets that the settings do not include */
        if (!rc && !cJSON_HasObjectItem(plan, set->string))
            rc = remove_files(dir, set);
    if (!rc)
        rc = sim_outdated_remove(dir, settings, plan, before->progress ? before->sets : NULL);
    if (!rc)
        rc = sim_progress_write(settings, dir, plan);
    return rc ? rc : remove_file(dir, "manifest.json");
}

/* Refuses a folder with parts of earlier versions, which had folders of their own. */
static int refuse_old_parts(const char *dir)
{
    char path[4096], old[300] = "";
    TRY(orr_path(path, "%s/parts", dir));
    DIR *folder = opendir(path);
    for (const struct dirent *entry; folder && (entry = readdir(folder)) != NULL;)
        if (strstr(entry->d_name, "-of-"))
            snprintf(old, sizeof old, "%s", entry->d_name);
    if (folder)
        closedir(folder);
    return *old ? ORR_FAIL(ORR_EINVAL,
                           "%s/%s: a part by an earlier version, which is not read any more: "
                           "delete %s; --part writes its files into %s itself",
                           path, old, path, dir)
                : 0;
}

/* Plans a set with no shards yet: records will add its files and counts. */
static int plan_set(const struct orr_settings *settings, cJSON *plan, enum sim_split split)
{
    const char *name = sim_split_name(split);
    const uint64_t n = sim_split_written(settings, split);
    char digest[ORR_DIGEST], unused[256];
    cJSON *made = NULL, *set = orr_json_get(plan, name);
    if (n == 0 ||
        (set && (!cJSON_HasObjectItem(set, "planned") || cJSON_HasObjectItem(set, "digest"))))
        return 0;
    TRY(orr_set_made(settings, name, digest, &made));
    if (!set) {
        set = cJSON_AddObjectToObject(plan, name);
        cJSON_AddItemToObject(set, "made", made);
        cJSON_AddObjectToObject(set, "files");
        cJSON_AddNumberToObject(set, "sequences", 0);
        cJSON_AddNumberToObject(set, "clipped_coordinates", 0);
        if (!orr_settings_unused(settings, "orbits.encounters", unused))
            cJSON_AddNumberToObject(set, "redrawn_systems", 0);
        cJSON_AddNumberToObject(set, "planned", (double)n);
    } else {
        cJSON_Delete(made); /* an earlier version planned the set without a digest */
    }
    cJSON_AddStringToObject(set, "digest", digest);
    return 0;
}

/* Reads what exists, and plans what stays and what is made; the folder must be writable. Close the
 * inventory and delete *plan also after an error. */
static int plan_sets(const struct orr_settings *settings, const char *dir, bool force,
                     struct sim_inventory *before, cJSON **plan)
{
    char foreign[SIM_NAME];
    *plan = NULL;
    TRY(sim_inventory_open(before, settings, dir, force));
    TRY(refuse_old_parts(dir));
    TRY(sim_inventory_foreign(before, foreign));
    if (*foreign)
        return ORR_FAIL(ORR_EIO,
                        "%s/%s: there, but not listed in manifest.json: made elsewhere and not "
                        "overwritten; choose another --out",
                        dir, foreign);
    TRY(sim_inventory_keep(before, force, plan));
    for (int i = 0; i < SIM_SPLITS; i++)
        TRY(plan_set(settings, *plan, (enum sim_split)i));
    return 0;
}

int sim_dataset_may_write(const struct orr_settings *settings, const char *dir, bool force)
{
    struct sim_inventory before;
    cJSON *plan;
    const int rc = plan_sets(settings, dir, force, &before, &plan);
    cJSON_Delete(plan);
    sim_inventory_close(&before);
    return rc;
}

/* Writes the plan into the folder. alone: no other process writes there. With force, also removes
 * records of files whose bytes have changed. */
static int begin_folder(const struct orr_settings *settings, const char *dir, bool force,
                        bool alone)
{
    struct sim_inventory before;
    cJSON *plan;
    int rc = plan_sets(settings, dir, force, &before, &plan);
    const bool follows = !rc && sim_inventory_follows(&before, plan);
    if (!rc && alone && (force || !follows))
        rc = begin_sets(settings, &before, plan);
    else if (!rc && !follows)
        rc = ORR_FAIL(ORR_EIO,
                      "%s: another process is writing data sets there, of other settings or in "
                      "files of other sizes",
                      dir);
    cJSON_Delete(plan);
    sim_inventory_close(&before);
    return rc;
}

/* Writes the manifest, with its sets in a fixed order. */
static int write_manifest(const struct orr_settings *settings, const char *dir, const cJSON *sets)
{
    char path[4096];
    cJSON *json = sim_manifest_create(settings), *all = cJSON_Duplicate(sets, true);
    for (int i = 0; i < SIM_SPLITS; i++) {
        const char *name = sim_split_name((enum sim_split)i);
        cJSON *set = cJSON_DetachItemFromObjectCaseSensitive(all, name);
        if (set)
            cJSON_AddItemToObject(all, name, set);
    }
    cJSON_ReplaceItemInObjectCaseSensitive(json, "sets", all);
    int rc = orr_path(path, "%s/manifest.json", dir);
    if (!rc)
        rc = orr_json_write(path, json);
    cJSON_Delete(json);
    if (!rc)
        rc = remove_file(dir, "progress.json");
    return rc ? rc : sim_scaffold_remove(dir);
}

/* Writes the manifest if all sets are complete. Otherwise other processes still make parts, and the
 * last of them calls this again. */
static int finish_folder(const struct orr_settings *settings, const char *dir, bool *whole)
{
    struct sim_inventory inventory;
    *whole = false;
    int rc = sim_inventory_open(&inventory, settings, dir, false);
    if (!rc)
        rc = sim_inventory_whole(&inventory, whole);
    if (!rc && *whole && !inventory.manifest)
        rc = write_manifest(settings, dir, inventory.sets);
    sim_inventory_close(&inventory);
    return rc;
}

/* Removes the plan if no file is finished: there is nothing to resume. */
static void forget_plan(const char *dir)
{
    if (!sim_folder_has_data(dir) && remove_file(dir, "progress.json"))
        orr_error_clear();
}

/* Makes the missing shards of this part. */
static int write_missing(const struct orr_settings *settings, const char *dir, int part, int parts,
                         int threads, bool quiet)
{
    struct sim_inventory there;
    int rc = sim_inventory_open(&there, settings, dir, false);
    if (!rc)
        rc = sim_shards_write(settings, dir, there.sets, part, parts, threads, quiet);
    sim_inventory_close(&there);
    return rc;
}

static const char writing[] = "writing data sets";

/* Whether no other process uses the folder: then it is locked for this process alone, else *fd is
 * -1. */
static int lock_alone(const char *dir, int *fd)
{
    const int rc = orr_lock(dir, writing, 0, fd);
    if (rc != ORR_EIO)
        return rc;
    orr_error_clear();
    *fd = -1;
    return 0;
}

/* A single process, which locks the folder from the plan to the manifest. */
static int write_alone(const struct orr_settings *settings, const char *dir, int threads,
                       bool force, bool quiet)
{
    bool whole = true;
    int fd;
    TRY(orr_lock(dir, writing, ORR_LOCK_WAIT_S, &fd));
    int rc = begin_folder(settings, dir, force, true);
    if (!rc)
        rc = write_missing(settings, dir, 0, 1, threads, quiet);
    if (rc) {
        struct sim_failure first;
        sim_failure_keep(&first, rc);
        forget_plan(dir);
        rc = sim_failure_raise(&first);
    }
    if (!rc)
        rc = finish_folder(settings, dir, &whole);
    if (!rc && !whole)
        rc = ORR_FAIL(ORR_EIO, "%s: files are gone that were written; run the same command again",
                      dir);
    orr_unlock(fd);
    return rc;
}

/* One of several processes, which share the folder. The first locks it exclusively for the plan,
 * and the last for the manifest; a process that finds it locked leaves the work to the others. */
int sim_dataset_write_part(const struct orr_settings *settings, const char *dir, int part,
                           int parts, int threads, bool force, bool quiet)
{
    bool whole = false;
    int alone, shared;
    TRY(orr_mkdir(dir));
    if (parts == 1)
        return write_alone(settings, dir, threads, force, quiet);
    TRY(lock_alone(dir, &alone));
    if (alone >= 0) {
        const int rc = begin_folder(settings, dir, force, true);
        orr_unlock(alone);
        TRY(rc);
    }
    TRY(orr_lock_shared(dir, writing, ORR_LOCK_WAIT_S, &shared));
    int rc = begin_folder(settings, dir, force && alone < 0, false);
    if (!rc)
        rc = write_missing(settings, dir, part, parts, threads, quiet);
    orr_unlock(shared);
    TRY(rc);
    TRY(lock_alone(dir, &alone));
    if (alone >= 0) {
        rc = finish_folder(settings, dir, &whole);
        orr_unlock(alone);
    }
    if (!rc && !whole)
        orr_note(quiet, "orbits: part %d of %d is there; the last part writes manifest.json",
                 part + 1, parts);
    return rc;
}

int sim_dataset_write(const struct orr_settings *settings, const char *dir, int threads, bool force,
                      bool quiet)
{
    return sim_dataset_write_part(settings, dir, 0, 1, threads, force, quiet);
}

int sim_dataset_tidy(const char *dir)
{
    int fd;
    TRY(orr_lock(dir, writing, ORR_LOCK_WAIT_S, &fd));
    int rc = remove_file(dir, "progress.json");
    if (!rc)
        rc = sim_scaffold_remove(dir);
    orr_unlock(fd);
    return rc;
}
