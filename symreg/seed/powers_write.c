/* powers_write.c - writes sums of products of powers as formulas. */
#include "powers.h"

#include <math.h>

#include "shared.h"
#include "sums.h"

bool sr_put_power(uint64_t operators, const struct sr_expr *base, double power, struct sr_expr *out)
{
    static const struct {
        double power; /* 0: any */
        const char *text;
    } list[] = {{1, "u"},         {2, "square(u)"}, {3, "cube(u)"},
                {0.5, "sqrt(u)"}, {0, "u ^ p"},     {0, "exp(log(u) * p)"}};
    const bool whole = power > 1 && fmod(2 * power, 1) == 0; /* u * u, where there is no u ^ p */
    for (size_t k = 0; k < sizeof list / sizeof *list - (whole ? 1 : 0); k++)
        if ((list[k].power == power || list[k].power == 0) &&
            !(sr_text_operators(list[k].text, "p") & ~operators)) {
            sr_put_text(list[k].text, base, "p", &power, out);
            return true;
        }
    if (whole) {
        sr_put_expr(out, base);
        if (!sr_put_power(operators, base, power - 1, out))
            return false;
        sr_put_op(out, SR_MUL);
    }
    return whole;
}

/* The quotient of the columns whose exponent has the size of `power`; *above: whether any is in the
 * numerator. */
static void put_group(const struct sr_expr *column, int columns, const double *exponent,
                      double power, struct sr_expr *out, bool *above)
{
    *above = false;
    for (int part = 1; part >= -1; part -= 2)
        for (int j = 0; j < columns; j++) {
            if (exponent[j] != part * power)
                continue;
            const bool begins = out->count == 0;
            sr_put_expr(out, &column[j]);
            if (!begins)
                sr_put_op(out, part > 0 || !*above ? SR_MUL : SR_DIV);
            *above = *above || part > 0;
        }
}

/* Writes a product of powers; columns of the same power stand together. Count 0: the product is
 * 1. */
static bool put_product(const struct sr_language *language, uint64_t operators,
                        const struct sr_expr *column, int columns, const double *exponent,
                        struct sr_expr *out)
{
    out->count = 0;
    for (int below = 0; below < 2; below++)
        for (int j = 0; j < columns; j++) {
            const double power = fabs(exponent[j]);
            bool seen = power == 0, above;
            for (int i = 0; i < j && !seen; i++)
                seen = fabs(exponent[i]) == power;
            if (seen)
                continue;
            struct sr_expr group = {.count = 0};
            put_group(column, columns, exponent, power, &group, &above);
            if (above == below)
                continue;
            const bool begins = out->count == 0, inverts = begins && below;
            const enum sr_op op = !below                                 ? SR_MUL
                                  : inverts && sr_has(operators, SR_INV) ? SR_INV
                                                                         : SR_DIV;
            if (inverts && op == SR_DIV)
                sr_put_constant(out, 1);
            if (!sr_put_power(operators, &group, power, out) || out->count > SR_NODES ||
                (below && !sr_has(operators, op)))
                return false;
            if (below || !begins)
                sr_put_op(out, op);
        }
    return out->count == 0 || sr_put_end(language, out, SR_NODES);
}

bool sr_powers_write(const struct sr_language *language, uint64_t operators,
                     const struct sr_powers *powers, struct sr_expr *out)
{
    struct sr_expr column[SR_SMOOTH_COLUMNS];
    double exponent[SR_SMOOTH_COLUMNS];
    for (int f = 0; f < SR_SMOOTH_COLUMNS; f++) {
        column[f] = (struct sr_expr){.count = 1, .node = {sr_feature_node(f)}};
        exponent[f] = 0.5 * powers->half[f];
    }
    return put_product(language, operators, column, SR_SMOOTH_COLUMNS, exponent, out);
}

static bool put_outer(const struct sr_proposal *p, struct sr_power_outer outer, struct sr_expr *out)
{
    const struct sr_expr base = *out;
    const bool inverts = outer.power < 0;
    out->count = 0;
    if (!sr_put_power(p->operators, &base, fabs(outer.power), out) ||
        (inverts && !sr_has(p->operators, SR_INV)))
        return false;
    if (inverts || outer.op != SR_CONSTANT)
        sr_put_op(out, inverts ? SR_INV : outer.op);
    return sr_put_end(p->settings->language, out, SR_NODES);
}

/* Takes the powers that all terms share out of them, as far as these are equal or whole. */
static void take_common(int columns, struct sr_power_sum *sum, double *common)
{
    for (int j = 0; j < columns; j++) {
        common[j] = sum->terms > 1 ? sum->exponent[0][j] : 0;
        for (int k = 1; k < sum->terms; k++) {
            const double other = sum->exponent[k][j];
            const bool whole = fmod(other, 1) == 0 && fmod(common[j], 1) == 0;
            if (other * common[j] <= 0 || (other != common[j] && !whole))
                common[j] = 0;
            else if (fabs(other) < fabs(common[j]))
                common[j] = other;
        }
        for (int k = 0; k < sum->terms; k++)
            sum->exponent[k][j] -= common[j];
    }
}

/* Writes H(h sum); `common`: h is the product of powers that all terms share, else 1. */
static bool put_sum(const struct sr_proposal *p, const struct sr_expr *column, int columns,
                    const struct sr_power_outer *outer, const struct sr_power_sum *sum, bool common,
                    struct sr_expr *out)
{
    const bool power = outer->op == SR_CONSTANT, odd = power && fabs(outer->power) == 1;
    const double *c = sum->weight + (outer->op == SR_EXP ? 1 + columns : 0);
    const double unit = odd ? c[0] : power ? fabs(c[0]) : 1;
    struct sr_expr product[SR_POWER_TERMS], factor = {.count = 0};
    struct sr_sum written = {.factor = &factor};
    struct sr_power_sum rest = *sum;
    double shared[SR_POWER_COLUMNS] = {0};
    if (common)
        take_common(columns, &rest, shared);
    if (!put_product(p->settings->language, p->operators, column, columns, shared, &factor))
        return false;
    for (int k = 0; k < sum->terms; k++) {
        if (!put_product(p->settings->language, p->operators, column, columns, rest.exponent[k],
                         &product[k]))
            return false;
        const double weight = c[k] / unit;
        const bool whole = fabs(fabs(weight) - 1) < 1e-6;
        const bool minus = whole && weight < 0 && written.terms && sr_has(p->operators, SR_SUB);
        if (!product[k].count) {
            written.offset = true;
            written.d += weight;
            continue;
        }
        written.term[written.terms++] = (struct sr_written_term){
            &product[k], weight, whole && (weight > 0 || minus), minus ? SR_SUB : SR_ADD};
    }
    if (!written.terms || !sr_sum_write(p->settings->language, &written, SR_NODES, out) ||
        !put_outer(p, *outer, out))
        return false;
    if (outer->op == SR_EXP && (!put_product(p->settings->language, p->operators, column, columns,
                                             sum->weight + 1, &factor) ||
                                !sr_put_times(p->settings->language, &factor, out)))
        return false;
    return sr_proposal_shorten(p, out);
}

bool sr_powers_put(const struct sr_proposal *p, const struct sr_expr *column, int columns,
                   const struct sr_power_outer *outer, const struct sr_power_sum *sum,
                   struct sr_expr *out)
{
    struct sr_expr shorter;
    const bool written = put_sum(p, column, columns, outer, sum, false, out);
    if (written && out->count + 2 <= p->settings->maxsize) /* with its outer factor */
        return true;
    if (!put_sum(p, column, columns, outer, sum, true, &shorter))
        return written;
    *out = shorter;
    return true;
}
