/* split.c - splits off a term c m of the target and searches the rest. */
#include "base/stop.h"
#include "structure.h"

#include <math.h>
#include <stdlib.h>

#include "base/elementary.h"
#include "derived.h"
#include "powers.h"
#include "shared.h"

enum {
    FIT_ROWS = 256, /* rows to which c is fitted */
    FIT_STEPS = 30,
    PER_SIZE = 8, /* seeds of each size */
};

/* A term and the variance of noise beside it. */
struct split {
    const struct sr_term *term;
    double noise;
};

/* Mean 0 and variance 1; all 0 where there is no variance. Returns the standard deviation. */
static double standardise(double *v, int n)
{
    double mean;
    const bool fits = sr_centre(v, n, 1e-12, v, &mean);
    const double length = fits ? sr_scale_to_one(v, n) : 0;
    for (int i = 0; i < n; i++)
        v[i] = fits ? v[i] * sqrt(n) : 0;
    return length / sqrt(n);
}

/* c by a smooth model y = a + c m + f(the other columns); 0 where it fails, or where it leaves more
 * than noise of this variance can. */
static int fit_factor(const struct sr_derived *r, const double *m, double noise_of_y, double *c)
{
    static const double times = 10, smooth = 2e-5; /* what the model may lack without noise */
    const size_t rows = r->data.rows, columns = (size_t)r->data.features;
    const int n = (int)((rows < FIT_ROWS ? rows : FIT_ROWS) & ~(size_t)7);
    const size_t size = (size_t)n;
    double *x = orr_alloc((columns + 3) * size + 1, sizeof *x);
    struct sr_smooth model = {0};
    *c = 0;
    if (!x)
        return ORR_ENOMEM;
    double *line = x + columns * size, *z = line + size, *noise = z + size;
    for (size_t i = 0; i < size; i++) {
        const size_t row = i * rows / size;
        line[i] = m[r->row[row]];
        z[i] = r->y[row];
        noise[i] = fmin(fmax(1 / r->weight[row], 0.01), 1e4);
        for (size_t f = 0; f < columns; f++)
            x[f * size + i] = r->data.x[f * rows + row];
    }
    for (size_t f = 0; f < columns; f++) {
        const bool positive = sr_all_positive(x + f * size, size);
        for (size_t i = 0; i < size && positive; i++)
            x[f * size + i] = orr_log(x[f * size + i]);
        standardise(x + f * size, n);
    }
    const double of_line = standardise(line, n), of_z = standardise(z, n);
    const struct sr_smooth_data data = {n, r->data.features, 1, x, line, z, noise};
    const bool fits = of_line > 0 && of_z > 0;
    const int rc = fits ? sr_smooth_fit(&data, FIT_STEPS, &model) : 0;
    const double most = times * noise_of_y / (of_z * of_z) + smooth;
    if (!rc && fits && isfinite(model.slope[0]) && model.noise <= most)
        *c = model.slope[0] * of_z / of_line;
    free(x);
    return rc;
}

/* Fills the table of the other columns with the target y - c m; m (all rows): values of m. */
static int fill_rest(const struct sr_proposal *p, const struct split *split,
                     const struct sr_expr *term, const double *m, struct sr_derived *d)
{
    const struct sr_data *all = p->loss->data;
    double factor;
    for (int f = 0; f < all->features; f++)
        if (f != split->term->column)
            sr_derived_feature(d, all, f);
    d->near = 1e-9;
    d->is_rest = true;
    sr_weights_level(d->weight, d->data.rows);
    TRY(fit_factor(d, m, split->noise, &factor));
    for (size_t i = 0; i < d->data.rows; i++)
        d->y[i] -= factor * m[d->row[i]];
    sr_put_text("c * u", term, "c", &factor, &d->before);
    sr_put_op(&d->after, SR_ADD);
    return sr_derived_close(d, factor != 0 ? sr_loss_init(&d->loss, p->loss->kind, &d->data)
                                           : ORR_EINVAL);
}

static int make_rest(const struct sr_proposal *p, const void *context, int number,
                     struct sr_derived *d)
{
    const struct split *split = context;
    const struct sr_data *all = p->loss->data;
    const bool squares = p->loss->kind == ORR_SR_L2;
    struct sr_expr term;
    (void)number;
    if (all->features < 2 || (!squares && p->loss->kind != ORR_SR_L1) ||
        !sr_has(p->operators, SR_ADD) ||
        !sr_powers_write(p->settings->language, p->operators, &split->term->powers, &term))
        return 0;
    double *m = orr_alloc(all->rows, sizeof *m);
    size_t *row = orr_alloc(all->rows, sizeof *row);
    int rc = m && row ? 0 : ORR_ENOMEM;
    if (!rc && sr_eval(&term, all, m)) {
        const size_t rows = sr_rows_spread(row, sr_rows_usable(all, row), SR_DERIVED_ROWS);
        rc = sr_derived_init(d, all, rows, row, all->features - 1);
        rc = rc ? rc : fill_rest(p, split, &term, m, d);
    }
    free(m);
    free(row);
    return rc;
}

int sr_split_search(struct sr_proposal *p, const struct sr_term *term, double noise)
{
    return sr_race(p, &(struct sr_race){.count = 1,
                                        .make = make_rest,
                                        .context = &(struct split){term, noise},
                                        .round = {{.stages = SR_STAGES_OF_REST}},
                                        .per_size = PER_SIZE});
}
