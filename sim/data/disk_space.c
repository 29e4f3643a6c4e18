/* disk_space.c - the disk space that data sets need, or a part of them, and how much of it is
 * already used. */
#include "sim/data/dataset.h"

#include <dirent.h>
#include <sys/stat.h>

double sim_dataset_bytes(const struct orr_settings *settings, int part, int parts)
{
    double bytes = 0;
    for (int i = 0; i < SIM_SPLITS; i++) {
        const enum sim_split split = (enum sim_split)i;
        const uint64_t n = sim_split_written(settings, split),
                       shards = sim_shard_count(settings, n);
        double mine = 0;
        for (uint64_t shard = (uint64_t)part; shard < shards; shard += (uint64_t)parts)
            mine += (double)sim_shard_size(settings, n, shard);
        for (int kind = 0; kind < SIM_KINDS; kind++)
            if (sim_kind_used((enum sim_kind)kind, split,
                              settings->orbits.output == ORR_OUTPUT_TOKENS))
                bytes += mine * (double)sim_kind_bytes((enum sim_kind)kind,
                                                       sim_split_positions(settings, split),
                                                       settings->orbits.dimensions);
    }
    return bytes;
}

/* Whether another part makes this shard of the settings: it stays, and this part does not need
 * it. */
static bool is_of_others(const struct orr_settings *settings, const struct sim_shard *shard,
                         int part, int parts)
{
    const uint64_t n = sim_split_written(settings, shard->split);
    return n == 0 || (shard->count == sim_shard_count(settings, n) &&
                      shard->number % (uint64_t)parts != (uint64_t)part);
}

double sim_dataset_bytes_there(const struct orr_settings *settings, const char *dir, int part,
                               int parts)
{
    double bytes = 0;
    DIR *folder = opendir(dir);
    if (!folder)
        return 0;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        enum sim_kind kind;
        struct sim_shard shard;
        struct stat info;
        char path[4096];
        if (sim_name_parse(entry->d_name, true, &kind, &shard) &&
            !is_of_others(settings, &shard, part, parts) &&
            !orr_path(path, "%s/%s", dir, entry->d_name) && !stat(path, &info) &&
            S_ISREG(info.st_mode))
            bytes += (double)info.st_size;
    }
    closedir(folder);
    return bytes;
}
