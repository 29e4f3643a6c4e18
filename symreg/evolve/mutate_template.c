/* mutate_template.c - changes of formulas; of those of a template, each applies to one unknown
 * function, over its own columns, as to a formula of its own. */
#include <math.h>

#include "search.h"

/* Settings for a function alone, of at most `maxsize` nodes. */
static struct sr_settings settings_alone(const struct sr_settings *s, int maxsize)
{
    struct sr_settings own = *s;
    own.form = NULL;
    own.maxsize = maxsize < SR_NODES ? maxsize : SR_NODES;
    return own;
}

static int draw_function(const struct sr_template *form, gsl_rng *rng)
{
    int left = (int)(gsl_rng_uniform(rng) * form->functions), k = 0;
    for (; form->part[k].columns == 0 || left > 0; k++)
        left -= form->part[k].columns > 0;
    return k;
}

/* The first value of a constant: 1, or its bound; in a template without functions, whose constants
 * are all there is to search, any number within its bounds. */
static double first_constant(const struct sr_template *form, const struct sr_part *part,
                             gsl_rng *rng)
{
    static const double spread = 2; /* of the logarithm */
    if (form->functions)
        return fmin(fmax(1, part->low), part->high);
    if (isfinite(part->low) && isfinite(part->high))
        return part->low + (part->high - part->low) * orr_rng_uniform(rng);
    const double size = orr_exp(spread * orr_draw_normal(rng));
    if (isfinite(part->low) || isfinite(part->high))
        return isfinite(part->low) ? part->low + size : part->high - size;
    return orr_rng_uniform(rng) < 0.5 ? -size : size;
}

void sr_parts_start(const struct sr_settings *s, gsl_rng *rng, struct sr_expr *expr)
{
    const struct sr_template *form = s->form;
    const int fixed = form->form.count - form->functions;
    const struct sr_settings own =
        settings_alone(s, form->functions ? (s->maxsize - fixed) / form->functions : 1);
    *expr = form->form;
    for (int k = 0; k < form->parts; k++) {
        const double first = first_constant(form, &form->part[k], rng);
        struct sr_expr part = {.count = 1, .node = {sr_constant_node(first)}};
        if (form->part[k].columns)
            s->algorithm->start(&own, form->part[k].columns, rng, &part);
        sr_template_put(form, k, &part, s->maxsize, expr);
    }
}

bool sr_mutate(const struct sr_settings *s, int features, gsl_rng *rng, struct sr_expr *expr)
{
    if (!s->form)
        return sr_mutate_whole(s, features, rng, expr);
    if (!s->form->functions)
        return false;
    const int k = draw_function(s->form, rng);
    struct sr_expr part;
    if (!sr_template_take(s->form, k, expr, &part))
        return false;
    const struct sr_settings own = settings_alone(s, s->maxsize - expr->count + part.count);
    return sr_mutate_whole(&own, s->form->part[k].columns, rng, &part) &&
           sr_template_put(s->form, k, &part, s->maxsize, expr);
}

bool sr_crossover(const struct sr_settings *s, gsl_rng *rng, struct sr_expr *a, struct sr_expr *b)
{
    if (!s->form)
        return sr_cross_whole(s, rng, a, b);
    if (!s->form->functions)
        return false;
    const int k = draw_function(s->form, rng);
    const struct sr_settings own = settings_alone(s, s->maxsize);
    struct sr_expr from_a, from_b;
    return sr_template_take(s->form, k, a, &from_a) && sr_template_take(s->form, k, b, &from_b) &&
           sr_cross_whole(&own, rng, &from_a, &from_b) &&
           sr_template_put(s->form, k, &from_a, s->maxsize, a) &&
           sr_template_put(s->form, k, &from_b, s->maxsize, b);
}

bool sr_rewrite(const struct sr_settings *s, struct sr_expr *expr)
{
    const uint64_t operators = sr_settings_operators(s);
    bool changed = false;
    struct sr_expr part;
    if (!s->form)
        return sr_expr_rewrite(s->language, expr, operators);
    for (int k = 0; k < s->form->parts; k++)
        if (s->form->part[k].columns && sr_template_take(s->form, k, expr, &part) &&
            sr_expr_rewrite(s->language, &part, operators))
            changed = sr_template_put(s->form, k, &part, s->maxsize, expr) || changed;
    return changed;
}

/* ---- scales: every function stands for its multiples, where that takes a factor */

unsigned sr_parts_scale(const struct sr_settings *s, struct sr_expr *expr)
{
    unsigned scaled = 0;
    struct sr_expr part;
    if (!sr_has(sr_settings_operators(s), SR_MUL))
        return 0;
    for (int k = 0; k < s->form->parts; k++) {
        if (!s->form->part[k].columns || !sr_template_take(s->form, k, expr, &part) ||
            sr_expr_absorb(&part, 1) || !sr_expr_scale(&part, 1))
            continue;
        if (sr_template_put(s->form, k, &part, s->maxsize, expr))
            scaled |= 1U << k;
    }
    return scaled;
}

void sr_parts_unscale(const struct sr_settings *s, unsigned scaled, struct sr_expr *expr)
{
    struct sr_expr part;
    for (int k = 0; k < s->form->parts; k++) {
        if (!(scaled >> k & 1) || !sr_template_take(s->form, k, expr, &part))
            continue;
        const struct sr_expr inner = part; /* scale, nodes, product */
        part.count = 0;
        for (int i = 1; i + 1 < inner.count; i++)
            sr_put_node(&part, inner.node[i]);
        sr_template_put(s->form, k, &part, s->maxsize, expr);
    }
}
