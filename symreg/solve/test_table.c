/* test_table.c - --test: the formulas of a front on a second table, which no search has seen. */
#include <math.h>
#include <stdlib.h>

#include "solve.h"

void sr_measure_fit(const struct sr_data *data, const double *value, double *left, double *worst)
{
    const double mean = sr_weighted_mean(data);
    double total = 0, residual = 0;
    *worst = 0;
    for (size_t i = 0; i < data->rows; i++) {
        const double d = value[i] - data->y[i], w = sr_row_weight(data, i);
        total += w * (data->y[i] - mean) * (data->y[i] - mean);
        residual += w * d * d;
        *worst = fmax(*worst, sqrt(w) * fabs(d));
    }
    *left = total > 0 ? residual / total : NAN;
}

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
    *test = (struct sr_test){.file = file, .rows = data->rows};
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
