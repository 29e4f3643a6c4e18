/* native.c - what the module of the orbit lab computes, by the native library: prints the lines of
 * tests/lab/module.js for the same questions. native FILE.csv [EVALUATIONS]: columns r and F. */
#include "lab/lab.h"

#include <stdio.h>
#include <stdlib.h>

enum { ROWS_MAX = 1000, TRACK = 101 };

void lab_progress(int epoch, double evaluations, double loss, const char *best);
void lab_progress(int epoch, double evaluations, double loss, const char *best)
{
    (void)epoch, (void)evaluations, (void)loss, (void)best;
}

static int show_orbit(const char *text, double vy)
{
    static double track[4 * TRACK];
    struct lab_law *law;
    track[0] = 1;
    track[1] = track[2] = 0;
    track[3] = vy;
    if (lab_law_open(text, &law)) {
        printf("%s\n", lab_message());
        return 1;
    }
    const int rows = lab_orbit(law, 39.47841760435743, 2, 0.05, TRACK, track);
    printf("orbit %d", rows);
    for (int c = 0; c < 4; c++)
        printf(" %.17g", track[4 * (rows - 1) + c]);
    printf("\n");
    static const double from[4] = {1, 0, 0.5, 3.0};
    const double turn = lab_precession(law, 39.47841760435743, 2, 5, from);
    if (turn == turn) /* not NaN, of an orbit that is never nearest twice */
        printf("precession %.15g\n", turn);
    lab_law_free(law);
    return 0;
}

int main(int argc, char *argv[])
{
    static double x[ROWS_MAX], y[ROWS_MAX];
    int n = 0;
    char options[96];
    FILE *file = argc == 2 || argc == 3 ? fopen(argv[1], "r") : NULL;
    snprintf(options, sizeof options, "seed=3\nevaluations=%.20s\nseconds=100000",
             argc == 3 ? argv[2] : "20000");
    if (!file)
        return 2;
    if (fscanf(file, "r,F\n") == EOF)
        return 1;
    while (n < ROWS_MAX && fscanf(file, "%lf,%lf\n", &x[n], &y[n]) == 2)
        n++;
    fclose(file);
    if (show_orbit("GM/r^2", 6.283185307179586) || show_orbit("GM/r^2", 4.1) ||
        show_orbit("GM/r^p*(1+0.01/r)", 5.5) || show_orbit("GM/r^2+1/r^3", 5.5) ||
        show_orbit("GM/r^3", 1.5))
        return 1;
    if (lab_search(x, y, n, 1, "r", options)) {
        printf("%s\n", lab_message());
        return 1;
    }
    for (int row = 0; row < lab_rows(); row++)
        printf("row %d %d %.12g %s\n", row == lab_best(), lab_complexity(row), lab_loss(row),
               lab_formula(row, 0));
    return 0;
}
