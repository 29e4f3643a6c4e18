/* networks.c - what the networks of the orbit lab's page compute, by the native library's reference
 * loops: prints the lines of tests/lab/networks.js. networks CHECKPOINT ... */
#include "lab/lab.h"

#include <stdio.h>
#include <string.h>

#include "api/orrery.h"

enum { STEPS = 50, ROWS = 1 + 2 * STEPS };

static void show_doubles(const char *word, int n, const double *x)
{
    for (int i = 0; i < n; i++)
        printf("%s %.9g\n", word, x[i]);
}

static int show_attention(struct orrery_model *model, int rows, const float *orbit, int layer)
{
    double weights[4096];
    int first;
    const int n = lab_model_attention(model, rows, orbit, layer, weights, &first);
    printf("attention %d\n", first);
    show_doubles("attention", n, weights);
    return n < 0;
}

/* How many rows of `next` are those of a single window that begins with a planet's row: the first
 * one, or one in which at least `least` rows come before. */
static int rows_of_windows(struct orrery_model *model, int context, int least, const float *orbit,
                           const double *next)
{
    static float window[2 * ROWS];
    static double direct[2 * ROWS];
    int found = 0;
    for (int row = 0; row < ROWS; row++) {
        int same = 0;
        for (int first = 1; first <= row && !same; first += 2) {
            const int rows = row - first + 2;
            if (rows > context || (first > 1 && rows <= least))
                continue;
            memcpy(window, orbit, 2 * sizeof *orbit);
            memcpy(window + 2, orbit + 2 * first, (size_t)(rows - 1) * 2 * sizeof *orbit);
            const struct orrery_sequences s = {
                .bytes = sizeof s, .sequences = 1, .rows = (size_t)rows, .coordinates = window};
            same = !orrery_model_next(model, &s, 1, direct) &&
                   !memcmp(direct + 2 * (rows - 1), next + 2 * row, 2 * sizeof *next);
        }
        found += same;
    }
    return found;
}

static int show(const char *path, const float *orbit)
{
    static double to[2 * ROWS];
    static float own[2 * ROWS];
    char stage[64] = "";
    struct orrery_model *model;
    struct orrery_shape shape = {.bytes = sizeof shape};
    int failed = orrery_model_create(ORRERY_INTERFACE, &model) ||
                 orrery_model_open(model, path, 1, 1) || orrery_model_describe(model, &shape) ||
                 orrery_model_metadata(model, "stage", stage, sizeof stage, NULL);
    memcpy(own, orbit, sizeof own);
    if (!failed && !strcmp(stage, "magnitude")) {
        failed = lab_model_forces(model, ROWS, orbit, to);
        show_doubles("force", ROWS, to);
    } else if (!failed) {
        failed = lab_model_next(model, ROWS, orbit, to);
        show_doubles("next", 2 * ROWS, to);
        printf("windows %d of %d\n",
               rows_of_windows(model, shape.context, shape.context / 2 - 2, orbit, to), ROWS - 1);
        failed = failed || lab_model_continue(model, 21, ROWS, own);
        for (int i = 0; i < 2 * ROWS; i++)
            printf("continued %.9g\n", (double)own[i]);
    }
    failed = failed || show_attention(model, 25, orbit, shape.layers - 1) ||
             show_attention(model, ROWS, orbit, shape.layers - 1);
    if (failed)
        printf("%s: %s\n", path, orrery_message(model));
    orrery_model_free(model);
    return failed;
}

int main(int argc, char *argv[])
{
    static double track[4 * STEPS] = {1, 0, 0, 5};
    static float orbit[2 * ROWS];
    struct lab_law *law;
    if (lab_law_open("GM/r^2", &law) ||
        lab_orbit(law, 39.47841760435743, 2, 0.04, STEPS, track) != STEPS)
        return 1;
    lab_model_rows(track, STEPS, 0.3, 0.04, orbit);
    lab_law_free(law);
    for (int i = 1; i < argc; i++)
        if (show(argv[i], orbit))
            return 1;
    return 0;
}
