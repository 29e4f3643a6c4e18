/* fuzz_preset.c - any bytes as a preset file: settings that are saved and read again unchanged, or
 * an error; never more. */
#include <string.h>

#include "base/base.h"
#include "fuzz.h"
#include "stage/settings.h"

FUZZ_TARGET(preset)
{
    char path[4096];
    static struct orr_settings preset, again;
    fuzz_file(path, "a.json", bytes, size);
    if (orr_settings_load(&preset, path)) {
        FUZZ_EXPECT(*orr_error());
        return 0;
    }
    FUZZ_EXPECT(orr_is_name(preset.name));
    for (int i = 0; i < preset.attention.count; i++)
        FUZZ_EXPECT(orr_is_name(preset.attention.item[i]));
    const int rc = orr_settings_check(&preset);
    snprintf(path, sizeof path, "%s/b.json", fuzz_folder());
    FUZZ_EXPECT(orr_settings_save(&preset, path) == 0);
    FUZZ_EXPECT(orr_settings_load(&again, path) == 0);
    FUZZ_EXPECT(orr_settings_check(&again) == rc);
    memcpy(again.name, preset.name, sizeof again.name); /* it is the file's */
    FUZZ_EXPECT(!memcmp(&preset, &again, sizeof preset));
    return 0;
}
