/* fuzz_names.c - any bytes as the name of a file in a folder of data sets: known names are those
 * that the simulator gives, temporary ones end as ours do. */
#include <string.h>

#include "fuzz.h"
#include "sim/data/dataset.h"

FUZZ_TARGET(names)
{
    char name[256];
    size_t stem;
    enum sim_kind kind;
    struct sim_shard shard;
    if (size >= sizeof name)
        return 0;
    memcpy(name, bytes, size);
    name[size] = '\0';
    const bool temporary = orr_is_temporary(name, &stem);
    if (temporary)
        FUZZ_EXPECT(stem > 0 && stem < strlen(name) && strstr(name, ".orrery-partial"));
    if (sim_name_parse(name, false, &kind, &shard)) {
        const size_t length = strlen(sim_arrays[kind].name);
        FUZZ_EXPECT(!temporary && !strchr(name, '/'));
        FUZZ_EXPECT(!strncmp(name, sim_arrays[kind].name, length) && name[length] == '_');
        FUZZ_EXPECT(!strcmp(name + strlen(name) - 4, ".npy"));
    } else if (sim_name_parse(name, true, &kind, &shard)) {
        FUZZ_EXPECT(temporary && !strchr(name, '/'));
    }
    if (sim_record_parse(name, false, &shard))
        FUZZ_EXPECT(!temporary && !strncmp(name, "progress_", 9) && !strchr(name, '/'));
    (void)sim_is_unlisted(name, NULL);
    return 0;
}
