/* fuzz_dataset.c - any bytes as the arrays of a data set, one .npy file after the other, each from
 * its magic to the next: a set whose rows can be read, or an error; never more. The first byte
 * chooses split and kind of output, its highest bit cuts the set into two shards. */
#include <math.h>
#include <string.h>

#include "fuzz.h"
#include "sim/data/dataset.h"

static const char magic[] = "\x93NUMPY";

/* The end of the file that begins at `at`. */
static size_t end_of(const uint8_t *bytes, size_t size, size_t at)
{
    if (at + sizeof magic - 1 >= size)
        return size;
    const uint8_t *next = memmem(bytes + at + 1, size - at - 1, magic, sizeof magic - 1);
    return next ? (size_t)(next - bytes) : size;
}

/* Every file of the last input goes away. */
static void clear(void)
{
    char path[4096], name[SIM_NAME];
    for (int k = 0; k < SIM_KINDS; k++)
        for (int s = 0; s < SIM_SPLITS; s++)
            for (uint64_t shards = 1; shards <= 2; shards++)
                for (uint64_t shard = 0; shard < shards; shard++) {
                    sim_shard_name(name, (enum sim_kind)k, (enum sim_split)s, shard, shards);
                    snprintf(path, sizeof path, "%s/%s", fuzz_folder(), name);
                    (void)remove(path);
                }
}

static void write_files(const uint8_t *bytes, size_t size, enum sim_split split, bool tokens,
                        uint64_t shards)
{
    size_t at = 0;
    for (int k = 0; k < SIM_KINDS; k++)
        for (uint64_t shard = 0; shard < shards && at < size; shard++) {
            char path[4096], name[SIM_NAME];
            if (!sim_kind_used((enum sim_kind)k, split, tokens))
                continue;
            const size_t end = end_of(bytes, size, at);
            sim_shard_name(name, (enum sim_kind)k, split, shard, shards);
            fuzz_file(path, name, bytes + at, end - at);
            at = end;
        }
}

static void read_rows(const struct sim_dataset *set)
{
    double sum = 0;
    for (size_t i = 0; i < set->n && i < 64; i++) {
        if (sim_dataset_check_rows(set, i))
            continue;
        const uint16_t *tokens = sim_dataset_tokens(set, i);
        const float *coords = sim_dataset_coords(set, i);
        FUZZ_EXPECT(!tokens != !coords);
        for (int k = 0; k < 2 * set->positions; k++)
            sum += tokens ? tokens[k] : fabs((double)coords[k]);
        FUZZ_EXPECT(set->num_bodies[i] >= 2);
    }
    FUZZ_EXPECT(sum >= 0);
}

FUZZ_TARGET(dataset)
{
    struct sim_dataset set;
    static struct orr_settings settings;
    if (size < 2)
        return 0;
    const enum sim_split split = (enum sim_split)(bytes[0] % SIM_SPLITS);
    const bool tokens = bytes[0] & 64;
    clear();
    write_files(bytes + 1, size - 1, split, tokens, bytes[0] & 128 ? 2 : 1);
    if (!sim_dataset_open_any(&set, fuzz_folder(), split)) {
        read_rows(&set);
        sim_dataset_close(&set);
    }
    orr_settings_defaults(&settings);
    settings.orbits.output = tokens ? ORR_OUTPUT_TOKENS : ORR_OUTPUT_CONTINUOUS;
    settings.orbits.positions = 4;
    settings.orbits.bins = 20;
    const int rc = sim_dataset_open(&set, &settings, fuzz_folder(), split);
    FUZZ_EXPECT(!rc || *orr_error());
    if (!rc) {
        read_rows(&set);
        sim_dataset_close(&set);
    }
    return 0;
}
