/* test_grids.c - the commands of grids whose results are kept: they still have the settings that
 * the results were made with, whatever became of the presets that grids name. */
#include "base/scratch.h"
#include "stage/settings.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

enum { LONG = 1 << 16 };

/* Whether results depend on the setting: where a training is saved and computed changes none. */
static bool matters(const char *key)
{
    static const char *const none[] = {
        "about",          "attention", "model.device", "checkpoint_every", "orbits.shard_sequences",
        "model.precision"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        if (strstr(key, none[i]))
            return false;
    return true;
}

/* The next word, without the shell's quotes: no value has a space or a quote. */
static char *next_word(void)
{
    char *word = strtok(NULL, " ");
    assert_non_null(word);
    const size_t length = strlen(word);
    if (*word != '\'')
        return word;
    assert_true(length > 1 && word[length - 1] == '\'');
    word[length - 1] = '\0';
    return word + 1;
}

/* The settings of the first command of a cell that has them: --preset NAME, --set KEY=VALUE,
 * --seed N; false where no command names a preset. */
static bool asked(char *commands, struct orr_settings *settings)
{
    char *at = strstr(commands, "bin/finetune --preset "); /* has settings that earlier ones lack */
    at = at ? at : strstr(commands, "bin/pretrain --preset ");
    at = at ? at : strstr(commands, "--preset ");
    if (!at)
        return false;
    char *end = strstr(at, " && ");
    if (end)
        *end = '\0';
    for (char *word = strtok(at, " "); word; word = strtok(NULL, " ")) {
        char seed[64];
        if (!strcmp(word, "--preset"))
            assert_int_equal(orr_settings_load(settings, next_word()), 0);
        else if (!strcmp(word, "--set"))
            assert_int_equal(orr_settings_set(settings, next_word()), 0);
        else if (!strcmp(word, "--seed")) {
            snprintf(seed, sizeof seed, "seed=%s", next_word());
            assert_int_equal(orr_settings_set(settings, seed), 0);
        }
    }
    return true;
}

/* Whether the JSON has a value for the key "group.name" or "name". */
static bool states(const cJSON *json, const char *key)
{
    char part[ORR_NAME];
    for (const char *dot; (dot = strchr(key, '.')); key = dot + 1) {
        snprintf(part, sizeof part, "%.*s", (int)(dot - key), key);
        json = orr_json_get(json, part);
    }
    return orr_json_get(json, key) != NULL;
}

/* Holds the commands of a cell against its kept result; false where one of them states no settings.
 */
static bool compare(const char *grid, const char *file, char *commands)
{
    struct orr_settings now, kept;
    cJSON *json;
    const char *key;
    if (!asked(commands, &now))
        return false;
    assert_int_equal(orr_json_read(file, &json), 0);
    cJSON *of = orr_json_get(json, "settings");
    if (!of) {
        cJSON_Delete(json);
        return false;
    }
    cJSON_DeleteItemFromObjectCaseSensitive(of, "name");
    orr_settings_defaults(&kept);
    assert_int_equal(orr_settings_from_json(&kept, of, file), 0);
    for (int i = 0; (key = orr_settings_key(i)) != NULL; i++) {
        char a[ORR_SETTING], b[ORR_SETTING], why[256];
        const bool planets = !strncmp(key, "pretrain_planets.", 17);
        if (planets && !now.pretrain_planets.steps && !kept.pretrain_planets.steps)
            continue;
        if (!matters(key) || (!states(of, key) && !strstr(key, ".optimizer")))
            continue;
        if (orr_settings_unused(&now, key, why) && orr_settings_unused(&kept, key, why))
            continue; /* its default may be another now */
        orr_settings_value(&now, key, a);
        orr_settings_value(&kept, key, b);
        if (strcmp(a, b) != 0)
            fail_msg("%s: %s is %s, %s has %s", grid, key, a, file, b);
    }
    cJSON_Delete(json);
    return true;
}

/* Lines of `orrery cells` of a grid. */
static FILE *cells(const char *grid, const char *option)
{
    char command[4096];
    snprintf(command, sizeof command, "\"${BIN:-bin}/orrery\" cells %s %s", grid, option);
    FILE *pipe = popen(command, "r"); // NOLINT(cert-env33-c): a script of this repository
    assert_non_null(pipe);
    return pipe;
}

TEST(test_kept_results)
{
    static char commands[LONG], folder[4096];
    const char *bin = getenv("BIN");
    glob_t grids;
    int compared = 0;
    snprintf(folder, sizeof folder, "%s/orbits", bin ? bin : "bin"); /* cells.sh asks it */
    if (!orr_exists(folder)) { /* a build of unit tests alone, as check-asan-unit's */
        print_message("skipped: there is no %s\n", folder);
        skip();
    }
    assert_int_equal(glob("presets/grids/*.grid", 0, NULL, &grids), 0);
    assert_int_equal(glob("study/grids/*.grid", GLOB_APPEND, NULL, &grids), 0);
    for (size_t g = 0; g < grids.gl_pathc; g++) {
        FILE *lines = cells(grids.gl_pathv[g], ""), *names = cells(grids.gl_pathv[g], "--folders");
        while (fgets(commands, sizeof commands, lines) && fgets(folder, sizeof folder, names)) {
            char file[8192];
            folder[strcspn(folder, "\n")] = '\0';
            assert_true(!strncmp(folder, "runs/", 5));
            snprintf(file, sizeof file, "study/results/cells/%s.json", folder + 5);
            compared += orr_exists(file) && compare(grids.gl_pathv[g], file, commands);
        }
        assert_int_equal(pclose(lines), 0);
        assert_int_equal(pclose(names), 0);
    }
    globfree(&grids);
    if (compared < 200)
        fail_msg("kept results of grids: %d found", compared);
    print_message("%d kept results have the settings of their grid\n", compared);
}

TESTS(NULL, NULL)
