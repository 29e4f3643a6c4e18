/* split.c - splits off a term c m of the target and searches the rest. */
#include "base/stop.h"
#include "split.h"

#include <math.h>
#include <stdlib.h>

#include "base/elementary.h"
#include "derived.h"
#include "products.h"
#include "shared.h"

enum {
    COLUMNS = SR_SMOOTH_COLUMNS,
    FIT_ROWS = 256,   /* rows to which c is fitted */
    MOST_ROWS = 2000, /* rows of the rest */
    FIT_STEPS = 30,
    PER_SIZE = 8, /* seeds of each size */
};

struct rest {
    struct sr_data data;
    struct sr_loss loss;
    double *storage;     /* (features + 1, rows) */
    int column[COLUMNS]; /* of the table */
    double factor;       /* c */
    struct sr_expr term; /* m */
};

/* Mean 0 and variance 1; 0 where there is no variance. */
static bool standardise(double *v, int n, double *unit)
{
    double mean;
    const bool fits = sr_centre(v, n, 1e-12, v, &mean);
    *unit = fits ? sr_scale_to_one(v, n) / sqrt(n) : 0;
    for (int i = 0; i < n; i++)
        v[i] = fits ? v[i] * sqrt(n) : 0;
    return fits;
}

/* c by a smooth model y = a + c m + f(the other columns); 0 where it fails, or where it leaves more
 * than noise of this variance can. */
static int fit_factor(const struct rest *r, const double *m, const double *y, double noise_of_y,
                      double *c)
{
    static const double times = 10,
                        smooth = 2e-5; /* smooth: what the model may lack without noise */
    const size_t rows = r->data.rows, columns = (size_t)r->data.features;
    const int n = (int)((rows < FIT_ROWS ? rows : FIT_ROWS) & ~(size_t)7);
    const size_t size = (size_t)n;
    double *x = orr_alloc((columns + 3) * size + 1, sizeof *x), of_line = 1, of_z = 1, unit;
    struct sr_smooth model = {0};
    *c = 0;
    if (!x)
        return ORR_ENOMEM;
    double *line = x + columns * size, *z = line + size, *noise = z + size;
    for (size_t i = 0; i < size; i++) {
        const size_t row = i * rows / size;
        line[i] = m[row];
        z[i] = y[row];
        noise[i] = fmin(fmax(1 / sr_row_weight(&r->data, row), 0.01), 1e4);
        for (size_t f = 0; f < columns; f++)
            x[f * size + i] = r->data.x[f * rows + row];
    }
    for (size_t f = 0; f < columns; f++) {
        bool positive = true;
        for (size_t i = 0; i < size; i++)
            positive = positive && x[f * size + i] > 0;
        for (size_t i = 0; i < size && positive; i++)
            x[f * size + i] = orr_log(x[f * size + i]);
        standardise(x + f * size, n, &unit);
    }
    const bool fits = standardise(line, n, &of_line) && standardise(z, n, &of_z);
    const struct sr_smooth_data data = {n, r->data.features, 1, x, line, z, noise};
    const int rc = fits ? sr_smooth_fit(&data, FIT_STEPS, &model) : 0;
    const double most = times * noise_of_y / (of_z * of_z) + smooth;
    if (!rc && fits && isfinite(model.slope[0]) && model.noise <= most)
        *c = model.slope[0] * of_z / of_line;
    free(x);
    return rc;
}

/* Copies columns, target and weights of at most MOST_ROWS rows of positive weight, evenly. */
static int take_rows(const struct sr_data *all, const struct sr_term *term, const double *m,
                     struct rest *r, double *m_there)
{
    size_t usable = 0, *row = orr_alloc(all->rows + 1, sizeof *row);
    double *x = r->storage, total = 0;
    int columns = 0;
    if (!row)
        return ORR_ENOMEM;
    for (size_t i = 0; i < all->rows; i++)
        if (sr_row_weight(all, i) > 0)
            row[usable++] = i;
    const size_t rows = usable < MOST_ROWS ? usable : MOST_ROWS;
    for (int f = 0; f < all->features; f++) {
        if (f == term->column)
            continue;
        r->column[columns] = f;
        for (size_t i = 0; i < rows; i++)
            x[(size_t)columns * rows + i] = all->x[(size_t)f * all->rows + row[i * usable / rows]];
        columns++;
    }
    double *y = x + (size_t)columns * rows, *weight = y + rows;
    for (size_t i = 0; i < rows; i++) {
        y[i] = all->y[row[i * usable / rows]];
        m_there[i] = m[row[i * usable / rows]];
        weight[i] = sr_row_weight(all, row[i * usable / rows]);
        total += weight[i] / (double)rows;
    }
    for (size_t i = 0; i < rows; i++)
        weight[i] /= total;
    r->data = (struct sr_data){.rows = rows,
                               .features = columns,
                               .x = x,
                               .y = y,
                               .weight = weight,
                               .language = all->language};
    free(row);
    return 0;
}

/* The table of the other columns with the target y - c m. */
static int make_rest(const struct sr_proposal *p, const struct sr_term *term, double noise,
                     struct rest *r, bool *made)
{
    const struct sr_data *all = p->loss->data;
    const size_t kept = all->rows < MOST_ROWS ? all->rows : MOST_ROWS;
    *made = false;
    r->storage = orr_alloc((size_t)(all->features + 2) * kept + all->rows, sizeof *r->storage);
    if (!r->storage)
        return ORR_ENOMEM;
    double *m = r->storage + (size_t)(all->features + 1) * kept, *m_there = m + all->rows;
    if (all->features < 2 || (p->loss->kind != ORR_SR_L2 && p->loss->kind != ORR_SR_L1) ||
        !sr_powers_write(p->settings->language, p->operators, &term->powers, &r->term) ||
        !sr_eval(&r->term, all, m))
        return 0;
    TRY(take_rows(all, term, m, r, m_there));
    double *y = r->storage + (size_t)r->data.features * r->data.rows;
    TRY(fit_factor(r, m_there, y, noise, &r->factor));
    for (size_t i = 0; i < r->data.rows; i++)
        y[i] -= r->factor * m_there[i];
    if (r->factor == 0)
        return 0;
    const int rc = sr_loss_init(&r->loss, p->loss->kind, &r->data);
    *made = !rc;
    if (rc == ORR_ENOMEM)
        return rc;
    orr_error_clear();
    return 0;
}

/* Writes c m + phi in the table's columns. */
static bool write_sum(const struct sr_proposal *p, const void *derived, const struct sr_expr *phi,
                      struct sr_expr *out)
{
    const struct rest *r = derived;
    out->count = 0;
    if (phi->count + r->term.count + 3 > SR_NODES)
        return false;
    sr_put_constant(out, r->factor);
    sr_put_expr(out, &r->term);
    sr_put_op(out, SR_MUL);
    for (int i = 0; i < phi->count; i++)
        sr_put_node(out, phi->node[i].op == SR_FEATURE
                             ? sr_leaf_node(r->column[phi->node[i].feature])
                             : phi->node[i]);
    sr_put_op(out, SR_ADD);
    return sr_put_end(p->settings->language, out, SR_NODES);
}

int sr_split_search(struct sr_proposal *p, const struct sr_term *term, double noise)
{
    enum { ALL = ~(SR_STAGE_ANGLES | SR_STAGE_UNITS | SR_STAGE_PURSUIT) };
    struct search {
        struct rest rest;
        struct sr_settings settings;
        struct sr_proposal proposal;
        struct sr_seeds found;
        double least;
    } *s = orr_alloc(1, sizeof *s);
    bool made = false;
    int rc = s ? 0 : ORR_ENOMEM;
    if (!rc && sr_has(p->operators, SR_ADD))
        rc = make_rest(p, term, noise, &s->rest, &made);
    if (!rc && made) {
        s->settings = sr_derived_settings(p->settings);
        s->least = HUGE_VAL;
        rc = sr_proposal_init(&s->proposal, p->stage, &s->settings, &s->rest.loss, p->thread,
                              p->threads, &s->found);
        s->proposal.is_rest = true;
        if (!rc)
            rc = sr_derived_run(p, &s->proposal, (unsigned)ALL);
        for (int i = 0; i < s->found.count && !rc && !orr_signal_seen(); i++) { /* outer factors */
            double scale;
            if (!isfinite(
                    sr_eval_loss(&s->found.expr[i], &s->rest.loss, &p->thread[0].work, &scale)) ||
                (fabs(scale - 1) > 1e-9 && !sr_expr_scale(&s->found.expr[i], scale)))
                s->found.loss[i] = HUGE_VAL;
        }
        if (!rc)
            rc = sr_derived_add(p, &s->rest.loss, &s->found, PER_SIZE, write_sum, &s->rest,
                                &s->least);
        sr_bank_free(&s->proposal.bank);
        sr_loss_free(&s->rest.loss);
    }
    if (s)
        free(s->rest.storage);
    free(s);
    return rc;
}
