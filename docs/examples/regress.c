/* regress.c - a formula for Kepler's third law from a table in memory, with a line of progress.
 *
 *     cc regress.c -o regress $(pkg-config --cflags --libs orrery) -lm
 *     ./regress */
#include <math.h>
#include <orrery.h>
#include <stdio.h>

enum { ROWS = 40 };

static int show(const struct orrery_progress *now, void *context)
{
    (void)context;
    fprintf(stderr, "\r%5.1f s  epoch %3d  loss %.3g  %-40.40s", now->seconds, now->epoch,
            now->loss, now->best);
    return now->epoch >= 50; /* anything but 0 ends the search */
}

int main(void)
{
    static const char *const names[] = {"a", "M"};
    double x[2 * ROWS], y[ROWS], predicted[ROWS];
    char text[256];
    int status, row = 0;
    for (int i = 0; i < ROWS; i++) {
        const double a = 0.4 + 0.7 * i, M = 0.5 + (i * 7 % 11) * 0.2;
        x[2 * i] = a;
        x[2 * i + 1] = M;
        y[i] = sqrt(a * a * a / M);
    }
    const struct orrery_table table = {.bytes = sizeof table,
                                       .rows = ROWS,
                                       .columns = 2,
                                       .type = ORRERY_FLOAT64,
                                       .order = ORRERY_ROWS,
                                       .x = x,
                                       .y = y,
                                       .names = names,
                                       .target = "T"};
    struct orrery_regression *r = NULL;
    status = orrery_regression_create(ORRERY_INTERFACE, &r);
    if (!status)
        status = orrery_regression_set(r, "maxsize", "10");
    if (!status)
        status = orrery_regression_set(r, "seconds", "20");
    if (!status)
        status = orrery_regression_data(r, &table);
    if (!status)
        status = orrery_regression_search(r, 2, show, NULL);
    fputc('\n', stderr);
    if (status == ORRERY_STOPPED) /* by show(); the front is there */
        status = ORRERY_OK;
    if (!status)
        status = orrery_regression_select(r, "best", &row);
    if (!status)
        status = orrery_regression_print(r, row, ORRERY_TEXT, text, sizeof text, NULL);
    if (!status)
        status = orrery_regression_predict(r, row, &table, predicted);
    if (status) {
        fprintf(stderr, "regress: %s\n", r ? orrery_message(r) : orrery_status_text(status));
        orrery_regression_free(r);
        return 1;
    }
    printf("T = %s; at a = %g: %.6f, expected %.6f\n", text, x[20], predicted[10], y[10]);
    orrery_regression_free(r);
    return 0;
}
