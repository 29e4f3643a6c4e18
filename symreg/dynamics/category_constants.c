/* category_constants.c - constants of each category in the formulas of a system. */
#include "flow.h"

uint32_t sr_each_used(const struct sr_expr *expr)
{
    uint32_t used = 0;
    for (int i = 0; i < expr->count; i++)
        if (sr_is_each(&expr->node[i]))
            used |= UINT32_C(1) << (expr->node[i].feature - SR_EACH_FIRST);
    return used;
}

int sr_each_fitted(const struct sr_flow *flow, int slot[SR_EACH])
{
    uint32_t used = 0;
    int count = 0;
    for (int e = 0; e < flow->dims; e++)
        used |= sr_each_used(&flow->equation[e]);
    for (int k = 0; k < SR_EACH; k++)
        if (used & ~flow->held & UINT32_C(1) << k)
            slot[count++] = k;
    return count;
}

/* value (constants from `first` on, SR_CATEGORIES) */
static void replace(const double *value, int first, size_t category, struct sr_expr *expr)
{
    for (int i = 0; i < expr->count; i++)
        if (sr_is_each(&expr->node[i])) {
            const size_t k = (size_t)(expr->node[i].feature - SR_EACH_FIRST - first);
            expr->node[i] = sr_constant_node(value[k * SR_CATEGORIES + category]);
        }
}

void sr_each_fill(const struct sr_each_own *own, int first, size_t category, struct sr_expr *expr)
{
    replace(own->value[0], first, category, expr);
}

void sr_each_settle(const struct sr_each *each, size_t category, struct sr_expr *expr)
{
    replace(each->value[0], 0, category, expr);
}

void sr_each_average(const struct sr_each_own *own, int first, int categories, struct sr_expr *expr)
{
    struct sr_each_own mean = {.value = {{0}}};
    for (int k = 0; k < SR_EACH_OWN; k++)
        for (int i = 0; i < categories; i++)
            mean.value[k][0] += own->value[k][i] / categories;
    sr_each_fill(&mean, first, 0, expr);
}
