/* fit.c - the shortest way from arrays to a formula: Kepler's third law in one call.
 *
 *     cc fit.c -o fit $(pkg-config --cflags --libs orrery) -lm
 *     ./fit */
#include <math.h>
#include <orrery.h>
#include <stdio.h>

enum { ROWS = 40 };

int main(void)
{
    static const char *const names[] = {"a", "M"};
    double x[2 * ROWS], y[ROWS];
    char text[256];
    int row = 0;
    for (int i = 0; i < ROWS; i++) {
        x[2 * i] = 0.4 + 0.7 * i;
        x[2 * i + 1] = 0.5 + (i * 7 % 11) * 0.2;
        y[i] = sqrt(pow(x[2 * i], 3) / x[2 * i + 1]);
    }
    const struct orrery_table table = {.bytes = sizeof table,
                                       .rows = ROWS,
                                       .columns = 2,
                                       .x = x,
                                       .y = y,
                                       .names = names,
                                       .target = "T"};
    struct orrery_regression *fit = NULL;
    int status = orrery_fit(&table, "maxsize=10\nseconds=20", &fit);
    if (!status)
        status = orrery_regression_select(fit, "best", &row);
    if (!status)
        status = orrery_regression_print(fit, row, ORRERY_TEXT, text, sizeof text, NULL);
    printf("T = %s\n", status ? orrery_message(fit) : text);
    orrery_regression_free(fit);
    return status;
}
