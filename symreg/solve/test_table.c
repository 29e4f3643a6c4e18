/* test_table.c - --test: the formulas of a front on a second table, which no search has seen. */
#include <math.h>
#include <stdlib.h>

#include "solve.h"

/* What counts as small in a loss is a matter of the table that was searched. */
static int make_loss(const struct sr_settings *s, const struct sr_data *train,
                     const struct sr_data *data, struct sr_loss *loss)
{
    struct sr_loss first;
    TRY(sr_loss_init_with(&first, s->loss, s->loss_parameter, train));
    const int rc = sr_loss_init_with(loss, s->loss, s->loss_parameter, data);
    if (!rc)
        loss->parameter = first.parameter;
    sr_loss_free(&first);
    return rc;
}

int sr_test_measure(const struct sr_settings *s, const struct sr_table *train,
                    const struct sr_table *table, const char *file, const struct sr_front *front,
                    struct sr_test *test)
{
    const struct sr_data *data = &table->data;
    struct sr_loss loss;
    *test = (struct sr_test){.file = file, .data = data, .rows = data->rows};
    TRY(make_loss(s, &train->data, data, &loss));
    double *value = orr_alloc(data->rows, sizeof *value);
    for (int i = 0; i < front->count && value; i++) {
        double worst;
        test->loss[i] = test->r2[i] = NAN;
        if (train->category)
            sr_category_enter(train->category, table->category, data->rows, i);
        if (!sr_eval(&front->expr[i], data, value))
            continue;
        const double reached = sr_loss_value(&loss, value, 1);
        sr_measure_fit(data, value, &test->r2[i], &worst);
        test->r2[i] = 1 - test->r2[i];
        test->loss[i] = isfinite(reached) ? reached : NAN;
    }
    sr_loss_free(&loss);
    const int rc = value ? 0 : ORR_ENOMEM;
    free(value);
    return rc;
}

void sr_test_text(double value, int width, char *text, size_t bytes)
{
    if (isfinite(value))
        snprintf(text, bytes, "%*.6g", width, value);
    else
        snprintf(text, bytes, "%*s", width, "-");
}
