/* fuzz_model.c - any bytes as a checkpoint of a model, its checksum made right: a model that is
 * loaded, saved and loaded again, or an error; never more. */
#include <string.h>

#include <cjson/cJSON.h>

#include "fuzz.h"
#include "model/gpt.h"

FUZZ_TARGET(model)
{
    char path[4096], again[4096];
    struct gpt_model model, copy;
    cJSON *made = NULL;
    long step = -1, other = -1;
    bool ended;
    uint8_t *summed = fuzz_with_sum(bytes, size);
    fuzz_file(path, "a.safetensors", summed, size);
    (void)gpt_progress(path, &step, &ended);
    (void)gpt_checkpoint_made(path, &made);
    cJSON_Delete(made);
    const int rc = gpt_load(&model, path, &k_ref, &step);
    FUZZ_EXPECT(!rc || *orr_error());
    if (!rc) {
        FUZZ_EXPECT(step >= 0 && model.total * sizeof(real) <= size);
        snprintf(again, sizeof again, "%s/b.safetensors", fuzz_folder());
        FUZZ_EXPECT(gpt_save(&model, again, step, true, NULL) == 0);
        FUZZ_EXPECT(gpt_load(&copy, again, &k_ref, &other) == 0 && other == step);
        FUZZ_EXPECT(!memcmp(model.param, copy.param, model.total * sizeof(real)));
        gpt_free(&copy);
        gpt_free(&model);
    }
    free(summed);
    return 0;
}
