/* categories.h - one formula for the rows of several categories (stars, samples, runs), with
 * constants that belong to each of them.
 *
 * A formula of categories is an ordinary formula. Each of its constants has a value in every
 * category, `value` (count, constants); a shared constant has the same value in all of them. After
 * Tenachi et al., "Class symbolic regression", arXiv 2312.01816. */
#ifndef SR_CATEGORIES_H
#define SR_CATEGORIES_H

#include "fit.h"

/* The rows of a table by category. Must not be moved. */
struct sr_categories {
    int count;
    struct sr_data *data; /* (count) copies of the rows of each category */
    struct sr_loss *loss; /* (count) with the unit of the whole table */
    double **storage;     /* (count) storage of data */
    struct sr_data
        pooled;           /* all rows, for the stages of a reference of few rows; or without rows */
    double *pooled_x;     /* its storage */
    double total;         /* sum of the weights of all rows */
    double base;          /* loss of the best constant of each category */
    double noise;         /* smaller losses of the whole table are rounding errors */
    size_t cases;         /* different rows of the category that has the fewest */
    int reference;        /* the category with most rows, whose constants a formula carries */
    double forms_until_s; /* no equivalent forms from then on (orr_time_s()); 0: no limit */
};
/* The i-th category of a fit: the reference first. */
static inline int sr_category_at(const struct sr_categories *c, int i)
{
    return i == 0 ? c->reference : i <= c->reference ? i - 1 : i;
}
/* category (rows): the number of each row's category, from 0 to count - 1, each of which has rows.
 * ORR_EINVAL as sr_loss_init_with(). */
int sr_categories_init(struct sr_categories *c, enum orr_symreg_loss kind, double parameter,
                       const struct sr_data *data, const int *category, int count);
/* Also after an error, and of a zeroed struct. */
void sr_categories_free(struct sr_categories *c);

/* Fits the constants of each category by itself: from those of the formula, and where the result is
 * far worse than in the reference, from those of other categories and `restarts` points nearby.
 * Returns the loss over all rows and sets the formula's constants to those of the reference.
 * `value` (count, constants) may be NULL. Once the loss is certain to exceed `limit`, it returns an
 * estimate above it, with `value` incomplete. Infinite where a category cannot be evaluated. */
double sr_categories_fit(const struct sr_categories *c, struct sr_expr *expr, int steps,
                         int restarts, double limit, struct sr_work *work, double *value);
/* Fits the constants of all categories together from `value`, where shared[k] tells which have one
 * value in all categories; `value` holds equal numbers for those. *loss: over all rows. */
int sr_categories_fit_shared(const struct sr_categories *c, const struct sr_expr *expr,
                             const bool *shared, int steps, struct sr_work *work, double *value,
                             double *loss);
/* Standard errors (count, constants) of fitted constants, as sr_constants_errors(). */
int sr_categories_errors(const struct sr_categories *c, const struct sr_expr *expr,
                         const bool *shared, double variance, struct sr_work *work,
                         const double *value, double *error);

#endif
