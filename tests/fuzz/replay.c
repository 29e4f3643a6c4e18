/* replay.c - runs a fuzz target once over every file of the folders named: make check's part. */
#include <dirent.h>
#include <string.h>

#include "base/base.h"
#include "fuzz.h"

static int run_file(const char *path)
{
    char *bytes;
    size_t size;
    if (orr_file_read(path, &bytes, &size)) {
        fprintf(stderr, "%s\n", orr_error());
        return 1;
    }
    /* of exactly this size, so that a reader that goes on is seen */
    uint8_t *exact = malloc(size + 1);
    if (exact) {
        memcpy(exact, bytes, size);
        LLVMFuzzerTestOneInput(exact, size);
    }
    free(exact);
    free(bytes);
    return exact ? 0 : 1;
}

int main(int argc, char **argv)
{
    int passed = 0, failed = 0;
    for (int i = 1; i < argc; i++) {
        DIR *folder = opendir(argv[i]);
        if (!folder) {
            fprintf(stderr, "%s: cannot open\n", argv[i]);
            return 1;
        }
        for (const struct dirent *entry; (entry = readdir(folder));) {
            char path[4096];
            if (*entry->d_name == '.' || orr_path(path, "%s/%s", argv[i], entry->d_name))
                continue;
            const int rc = run_file(path);
            failed += rc;
            passed += !rc;
        }
        closedir(folder);
    }
    printf("%d passed, %d failed\n", passed, failed);
    return failed || !passed;
}
