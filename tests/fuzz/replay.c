/* replay.c - runs the fuzz targets once over every file of their corpus: make check's part.
 *
 *   replay CORPUS [NAME]...    all targets, or those named; CORPUS holds a folder for each
 *
 * The name of each file is printed before it is read, so that the log of a crash says which. */
#include <dirent.h>
#include <string.h>

#include "base/base.h"
#include "fuzz.h"

#define FUZZ(name, sources, input) int fuzz_##name(const uint8_t *bytes, size_t size);
#include "targets.h"
#undef FUZZ

static const struct target {
    const char *name;
    int (*run)(const uint8_t *bytes, size_t size);
} targets[] = {
#define FUZZ(name, sources, input) {#name, fuzz_##name},
#include "targets.h"
#undef FUZZ
};
enum { TARGETS = sizeof targets / sizeof *targets };

static int run_file(const struct target *target, const char *path)
{
    char *bytes;
    size_t size;
    fprintf(stderr, "%s\n", path);
    if (orr_file_read(path, &bytes, &size)) {
        fprintf(stderr, "%s\n", orr_error());
        return 1;
    }
    /* of exactly this size, so that a reader that goes on is seen */
    uint8_t *exact = malloc(size + !size);
    if (exact) {
        memcpy(exact, bytes, size);
        target->run(exact, size);
    }
    free(exact);
    free(bytes);
    return exact ? 0 : 1;
}

/* A target without a file of its corpus has failed. */
static void run_target(const struct target *target, const char *corpus, int *passed, int *failed)
{
    char path[4096];
    int before = *passed + *failed;
    DIR *folder = orr_path(path, "%s/%s", corpus, target->name) ? NULL : opendir(path);
    for (const struct dirent *entry; folder && (entry = readdir(folder)) != NULL;) {
        if (*entry->d_name == '.' ||
            orr_path(path, "%s/%s/%s", corpus, target->name, entry->d_name))
            continue;
        const int rc = run_file(target, path);
        *failed += rc;
        *passed += !rc;
    }
    if (folder)
        closedir(folder);
    if (*passed + *failed == before) {
        fprintf(stderr, "%s/%s: expected files, found none\n", corpus, target->name);
        ++*failed;
    }
}

static bool is_wanted(const char *name, int argc, char **argv)
{
    for (int i = 2; i < argc; i++)
        if (!strcmp(argv[i], name))
            return true;
    return argc == 2;
}

int main(int argc, char **argv)
{
    int passed = 0, failed = 0;
    if (argc < 2) {
        fprintf(stderr, "replay: expected the folder of the corpora\n");
        return 2;
    }
    for (int t = 0; t < TARGETS; t++)
        if (is_wanted(targets[t].name, argc, argv))
            run_target(&targets[t], argv[1], &passed, &failed);
    fprintf(stderr, "%d passed, %d failed\n", passed, failed);
    return failed || !passed;
}
