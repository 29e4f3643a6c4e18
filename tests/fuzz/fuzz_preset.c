/* fuzz_preset.c - any bytes as a preset file: settings that are saved and read again unchanged, or
 * an error; never more. */
#include <string.h>

#include "base/base.h"
#include "fuzz.h"
#include "stage/settings.h"

FUZZ_TARGET(preset)
{
    char path[4096];
    static struct orr_settings settings, again;
    fuzz_file(path, "a.json", bytes, size);
    if (orr_settings_load(&settings, path)) {
        FUZZ_EXPECT(*orr_error());
        return 0;
    }
    FUZZ_EXPECT(orr_is_name(settings.name));
    for (int i = 0; i < settings.attention.count; i++)
        FUZZ_EXPECT(orr_is_name(settings.attention.item[i]));
    const int rc = orr_settings_check(&settings);
    snprintf(path, sizeof path, "%s/b.json", fuzz_folder());
    FUZZ_EXPECT(orr_settings_save(&settings, path) == 0);
    FUZZ_EXPECT(orr_settings_load(&again, path) == 0);
    FUZZ_EXPECT(orr_settings_check(&again) == rc);
    memcpy(again.name, settings.name, sizeof again.name); /* it is the file's */
    FUZZ_EXPECT(!memcmp(&settings, &again, sizeof settings));
    return 0;
}
