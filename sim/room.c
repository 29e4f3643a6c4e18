/* room.c - what data sets need on a disk, in whole or in part, and what of it is there. */
#include "dataset.h"

#include <dirent.h>
#include <sys/stat.h>

uint64_t sim_part_share(const struct orr_preset *preset, uint64_t n, int part, int parts)
{
    const uint64_t shards = sim_shard_count(preset, n), first = (uint64_t)part,
                   each = (uint64_t)parts;
    const uint64_t size = shards == 1 ? n : (uint64_t)preset->orbits.shard_sequences;
    if (first >= shards)
        return 0;
    const uint64_t whole = ((shards - 1 - first) / each + 1) * size;
    const bool has_last = (shards - 1) % each == first; /* which may be shorter */
    return has_last ? whole - (shards * size - n) : whole;
}

double sim_dataset_bytes(const struct orr_preset *preset, int part, int parts)
{
    double bytes = 0;
    for (int i = 0; i < SIM_SPLITS; i++) {
        const enum sim_split split = (enum sim_split)i;
        const uint64_t n = sim_part_share(preset, sim_split_written(preset, split), part, parts);
        for (int kind = 0; kind < SIM_KINDS; kind++)
            if (sim_kind_used((enum sim_kind)kind, split,
                              preset->orbits.output == ORR_OUTPUT_TOKENS))
                bytes += (double)n * (double)sim_kind_bytes((enum sim_kind)kind,
                                                            sim_split_positions(preset, split));
    }
    return bytes;
}

double sim_folder_bytes(const char *dir)
{
    double bytes = 0;
    DIR *folder = opendir(dir);
    if (!folder)
        return 0;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        enum sim_kind kind;
        enum sim_split split;
        struct stat info;
        char path[4096];
        if (sim_name_parse(entry->d_name, true, &kind, &split) &&
            !orr_path(path, "%s/%s", dir, entry->d_name) && !stat(path, &info) &&
            S_ISREG(info.st_mode))
            bytes += (double)info.st_size;
    }
    closedir(folder);
    return bytes;
}

double sim_dataset_bytes_there(const char *dir, int part, int parts)
{
    char path[4096];
    if (parts > 1)
        return sim_part_path(path, dir, part, parts) ? 0 : sim_folder_bytes(path);
    double bytes = sim_folder_bytes(dir);
    DIR *folder = orr_path(path, "%s/parts", dir) ? NULL : opendir(path);
    for (struct dirent *entry; folder && (entry = readdir(folder)) != NULL;)
        if (sim_part_parse(entry->d_name, "-of-", &part, &parts) &&
            !orr_path(path, "%s/parts/%s", dir, entry->d_name))
            bytes += sim_folder_bytes(path);
    if (folder)
        closedir(folder);
    return bytes;
}
