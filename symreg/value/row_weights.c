/* row_weights.c - what the rows of a table count, and how far predictions are from them. */
#include <math.h>

#include "value.h"

size_t sr_rows_weighted(const struct sr_data *data)
{
    size_t rows = 0;
    for (size_t i = 0; i < data->rows; i++)
        rows += sr_row_weight(data, i) > 0;
    return rows;
}

double sr_rows_counted(const struct sr_data *data)
{
    return data->independent > 0 ? data->independent : (double)sr_rows_weighted(data);
}

/* The weight of a row of which y is known. */
static double weight_of(const struct sr_data *data, size_t row)
{
    return data->low && !sr_interval_is_closed(data, row) ? 0 : sr_row_weight(data, row);
}

double sr_weighted_mean(const struct sr_data *data)
{
    double mean = 0, weights = 0;
    for (size_t i = 0; i < data->rows; i++)
        weights += weight_of(data, i);
    for (size_t i = 0; i < data->rows && weights > 0; i++)
        mean += weight_of(data, i) * data->y[i] / weights;
    return mean;
}

void sr_measure_fit(const struct sr_data *data, const double *value, double *left, double *worst)
{
    const double mean = sr_weighted_mean(data);
    double total = 0, residual = 0;
    *worst = 0;
    for (size_t i = 0; i < data->rows; i++) {
        const double d = value[i] - data->y[i], w = weight_of(data, i);
        total += w * (data->y[i] - mean) * (data->y[i] - mean);
        residual += w * d * d;
        *worst = fmax(*worst, sqrt(w) * fabs(d));
    }
    *left = total > 0 ? residual / total : NAN;
}
