/* allowed_operators.c - the operators that settings allow. */
#include "seed.h"

uint64_t sr_settings_operators(const struct sr_settings *settings)
{
    uint64_t set = (uint64_t)1 << SR_CONSTANT | (uint64_t)1 << SR_FEATURE;
    for (int i = 0; i < settings->binary_count; i++)
        set |= (uint64_t)1 << settings->binary[i];
    for (int i = 0; i < settings->unary_count; i++)
        set |= (uint64_t)1 << settings->unary[i];
    return set;
}

bool sr_settings_allow(const struct sr_settings *settings, const struct sr_expr *expr)
{
    const uint64_t product = (uint64_t)1 << SR_MUL;
    uint64_t own = sr_settings_operators(settings);
    bool nests = settings->nests;
    for (int i = 0; i < settings->guesses; i++) {
        own |= sr_expr_operators(&settings->guess[i]);
        nests = nests || sr_expr_nests(&settings->guess[i]);
    }
    const int root = expr->count - 1;
    int products = 0;
    if (settings->form)
        return true;
    if ((sr_expr_operators(expr) & ~(own | product)) || (!nests && sr_expr_nests(expr)))
        return false;
    if (own & product)
        return true;
    for (int i = 0; i < expr->count; i++)
        products += expr->node[i].op == SR_MUL;
    return products == 0 || (products == 1 && expr->node[root].op == SR_MUL &&
                             (expr->node[root - 1].op == SR_CONSTANT ||
                              expr->node[sr_expr_left(expr, root)].op == SR_CONSTANT));
}
