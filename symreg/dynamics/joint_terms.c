/* joint_terms.c - terms of all equations are exchanged together, by least squares along the
 * solution. What a term would change of the states, if so much of it were added to one equation, is
 * the solution of a linear equation along the present solution (its sensitivity), so that all terms
 * of a library become columns, and the measured values are regressed on them: no derivative is
 * estimated, no other state is taken for known, and an error of one equation cannot hide in another
 * one. Sets of terms are changed by one term at a time, as long as that makes them likelier, and
 * the likeliest sets are fitted by integrating. */
#include "joint_terms.h"

#include <math.h>
#include <stdlib.h>

#include "symreg/value/cholesky.h"
#include "weak.h"

enum {
    LONGEST = 6, /* terms of an equation */
    SET = 24,    /* ... of all equations */
    COLUMNS = 1600,
    WIDTH = 60,    /* sets that are changed, at most, at a time */
    ROUNDS = 6,    /* of changes by one term */
    FITTED = 40,   /* sets that are fitted by integrating, of one solution */
    SOLUTIONS = 4, /* along which terms are exchanged */
    SEEDS = 2000,  /* combinations of sums of each equation that are tried, about */
};
/* What a number costs beside half the logarithm of the rows, about. */
static const double nats_of_number = 1;
/* What says that a sum has one more term: ln 2. */
static const double nats_of_term = 0.6931471805599453;
/* A term that others of a set explain up to this share of its squares is not added. */
static const double apart = 1e-6;
/* Sets that linear least squares take for worse than the present one by more are not fitted. */
static const double hopeless = 8;

struct set {
    int count;
    short term[SET];
    bool changed; /* its neighbours are known */
    double nats;
};
struct sets {
    int count;
    struct set item[WIDTH];
};
struct joint {
    struct sr_sensitivities s;
    struct sr_judged *best;
    double worth;  /* numbers measured */
    double *gram;  /* (terms + 1, terms + 1) */
    double *scale; /* (terms) */
    struct set present;
    int sums[SR_STATES]; /* of each equation alone, in integral form along the solution */
    struct set *sum;     /* (dims, SR_SUMS) */
    double present_nats;
};

/* The products of terms and target; the target is that of all terms of the present equations. */
static void fill_gram(struct joint *j)
{
    const size_t n = (size_t)j->s.terms, size = n + 1;
    for (size_t i = 0; i < j->s.rows; i++) {
        double *const row = j->s.column + i * j->s.width;
        row[n] = row[j->s.width - 1];
        for (int m = 0; m < j->present.count; m++)
            row[n] += row[j->present.term[m]];
        for (size_t a = 0; a < size; a++)
            for (size_t b = 0; b <= a; b++)
                j->gram[a * size + b] += row[a] * row[b];
    }
    for (size_t a = 0; a < n; a++) {
        const double squares = j->gram[a * size + a];
        const bool usable = !j->s.term[a].undefined && squares > 0 && isfinite(squares);
        j->scale[a] = usable ? 1 / sqrt(squares) : 0;
    }
    for (size_t a = 0; a < size; a++)
        for (size_t b = 0; b <= a; b++) {
            double *const g = &j->gram[a * size + b];
            *g *= (a < n ? j->scale[a] : 1) * (b < n ? j->scale[b] : 1);
            *g = isfinite(*g) ? *g : 0;
            j->gram[b * size + a] = *g;
        }
}

/* ---- sets */

static bool same_forms(const struct joint *j, const struct set *a, const struct set *b)
{
    bool same = a->count == b->count;
    for (int i = 0; i < a->count && same; i++) {
        bool found = false;
        const struct sr_joint_term *const x = &j->s.term[a->term[i]];
        for (int k = 0; k < b->count && !found; k++) {
            const struct sr_joint_term *const y = &j->s.term[b->term[k]];
            found = x->equation == y->equation && x->form == y->form;
        }
        same = found;
    }
    return same;
}

/* Keeps the likeliest sets, of each choice of forms one. */
static void keep(const struct joint *j, const struct set *set, struct sets *kept)
{
    int at = 0;
    if (!(set->nats < (kept->count == WIDTH ? kept->item[WIDTH - 1].nats : HUGE_VAL)))
        return;
    while (at < kept->count && !same_forms(j, set, &kept->item[at]))
        at++;
    if (at < kept->count && !(set->nats < kept->item[at].nats - 1e-9))
        return;
    if (at == kept->count && kept->count < WIDTH)
        kept->count++;
    at = at < kept->count ? at : WIDTH - 1;
    for (; at > 0 && kept->item[at - 1].nats > set->nats; at--)
        kept->item[at] = kept->item[at - 1];
    kept->item[at] = *set;
}

static double likelihood(const struct joint *j, double left)
{
    return 0.5 * j->worth * orr_log(fmax(left / (double)j->s.rows, j->s.judge->exact));
}

/* A set by least squares. */
struct fit {
    double L[SET * SET], beta[SET]; /* as sr_cholesky_columns() gives them */
    double left;                    /* sum of squares */
    int column[SET], terms[SR_STATES];
    int empty; /* equations without a term */
    double form, of_choice;
    struct sr_term_shape shape[SET];
    uint32_t mirrors; /* in which all terms keep their form */
};

static bool fit_set(const struct joint *j, const struct set *set, struct fit *f)
{
    const size_t n = (size_t)j->s.terms, size = n + 1, count = (size_t)set->count;
    *f = (struct fit){.left = j->gram[n * size + n], .mirrors = UINT32_MAX};
    for (int k = 0; k < set->count; k++) {
        const struct sr_joint_term *const term = &j->s.term[set->term[k]];
        f->column[k] = set->term[k];
        f->shape[k] = term->shape;
        f->mirrors &= term->mirrors;
        f->form += term->numbers + nats_of_term - orr_log(++f->terms[term->equation]);
    }
    f->form += sr_shapes_nats(f->shape, set->count, &f->of_choice);
    for (int d = 0; d < j->s.along->dims; d++)
        f->empty += f->terms[d] == 0;
    if (!sr_cholesky_columns(j->gram, size, f->column, count, apart, f->L, SET, f->beta))
        return false;
    for (size_t a = 0; a < count; a++)
        f->left -= f->beta[a] * f->beta[a];
    return true;
}

static double nats_of(const struct joint *j, const struct fit *f, int count)
{
    return f->form + likelihood(j, f->left) - (f->mirrors ? SR_BY_MIRROR * count : 0);
}

/* Whether a term may be added: each equation needs one, and forms stand in it once. */
static bool is_free(const struct joint *j, const struct fit *f, int count, int p)
{
    const struct sr_joint_term *const term = &j->s.term[p];
    const int d = term->equation;
    bool has = false;
    if (!(j->scale[p] > 0) || f->terms[d] >= LONGEST || f->empty > (f->terms[d] == 0))
        return false;
    for (int a = 0; a < count && !has; a++)
        has = j->s.term[f->column[a]].form == term->form && j->s.term[f->column[a]].equation == d;
    return !has;
}

/* The nats of a set with term p added. */
static double nats_with(const struct joint *j, const struct fit *f, int count, int p)
{
    const size_t n = (size_t)j->s.terms, size = n + 1;
    const struct sr_joint_term *const term = &j->s.term[p];
    double cross[SET], gain = j->gram[(size_t)p * size + n], rest = 1;
    for (int a = 0; a < count; a++)
        cross[a] = j->gram[(size_t)p * size + (size_t)f->column[a]];
    sr_cholesky_lower(f->L, (size_t)count, SET, cross);
    for (int a = 0; a < count; a++) {
        gain -= cross[a] * f->beta[a];
        rest -= cross[a] * cross[a];
    }
    if (!(rest > apart))
        return HUGE_VAL;
    return f->form + sr_shape_nats(f->shape, count, f->of_choice, &term->shape) + term->numbers +
           nats_of_term - orr_log(f->terms[term->equation] + 1) +
           likelihood(j, f->left - gain * gain / rest) -
           (f->mirrors & term->mirrors ? SR_BY_MIRROR * (count + 1) : 0);
}

/* Keeps the set itself, and each that has one more term. */
static void extend(const struct joint *j, const struct set *from, struct sets *kept)
{
    struct fit f;
    struct set set = *from;
    set.changed = false;
    if (!fit_set(j, from, &f))
        return;
    if (!f.empty) {
        set.nats = nats_of(j, &f, set.count);
        keep(j, &set, kept);
    }
    for (int p = 0; p < j->s.terms && from->count < SET; p++) {
        if (!is_free(j, &f, from->count, p))
            continue;
        set.count = from->count + 1;
        set.term[from->count] = (short)p;
        set.nats = nats_with(j, &f, from->count, p);
        keep(j, &set, kept);
    }
}

/* Changes all sets by one term: one more, one less, another one. */
static bool change_sets(const struct joint *j, struct sets *kept)
{
    struct sets *const now = orr_alloc(1, sizeof *now);
    bool any = false;
    if (!now) {
        orr_error_recover();
        return false;
    }
    *now = *kept;
    for (int k = 0; k < kept->count; k++)
        kept->item[k].changed = true;
    for (int k = 0; k < now->count && !sr_judge_over(j->s.judge); k++) {
        if (now->item[k].changed)
            continue;
        any = true;
        extend(j, &now->item[k], kept);
        for (int m = 0; m < now->item[k].count; m++) {
            struct set less = now->item[k];
            less.term[m] = less.term[--less.count];
            extend(j, &less, kept);
        }
    }
    free(now);
    return any;
}

/* ---- terms */

static uint64_t hash_of(const struct joint *j, const struct sr_expr *expr)
{
    struct sr_expr one;
    sr_expr_copy(&one, expr);
    one.node[0].value = 1;
    return sr_expr_canonical_hash(j->s.judge->language, &one);
}

static int add_term(struct joint *j, const struct sr_expr *expr, int d, int form)
{
    const struct sr_states *const s = j->s.along;
    struct sr_joint_term *const term = &j->s.term[j->s.terms];
    double value[SR_NODES];
    if (j->s.terms == COLUMNS)
        return -1;
    sr_expr_copy(&term->expr, expr);
    term->hash = hash_of(j, expr);
    term->equation = d;
    term->form = form;
    sr_equation_shapes(expr, s->names - !s->explicit_time, 1, &term->shape);
    term->mirrors = sr_judge_mirrors(j->s.judge, expr, d);
    term->numbers =
        sr_expr_constants(expr, value) * (0.5 * orr_log(j->worth / s->dims) + nats_of_number);
    return j->s.terms++;
}

/* The terms of the present equations, then those of the library in every equation. False where
 * there are too many, or an equation is no sum. */
static bool list_terms(struct joint *j, const struct sr_weak_library *library)
{
    const struct sr_states *const s = j->s.along;
    struct sr_expr term[LONGEST];
    for (int d = 0; d < s->dims; d++) {
        const int count = sr_equation_terms(j->s.judge->language, &j->best->expr[d], LONGEST, term);
        if (!count || j->present.count + count > SET)
            return false;
        for (int k = 0; k < count; k++)
            j->present.term[j->present.count++] =
                (short)add_term(j, &term[k], d, library->forms + 1 + k);
    }
    for (int d = 0; d < s->dims; d++)
        for (int k = 0; k < library->count; k++) {
            struct sr_expr expr = {.count = 0};
            sr_put_constant(&expr, 1);
            if (library->term[k].expr.count > 1 ||
                library->term[k].expr.node[0].op != SR_CONSTANT) {
                sr_put_expr(&expr, &library->term[k].expr);
                sr_put_op(&expr, SR_MUL);
            }
            if (sr_put_end(j->s.judge->language, &expr, SR_NODES) &&
                add_term(j, &expr, d, library->term[k].form) < 0)
                return false;
        }
    return true;
}

/* Lists the sums that explain each equation alone, whose terms are of the library. */
static int list_sums(struct joint *j, const bool *allowed)
{
    struct sr_equations_found *const sums = orr_alloc(1, sizeof *sums);
    struct sr_expr term[LONGEST];
    int rc = sums ? 0 : ORR_ENOMEM;
    for (int d = 0; d < j->s.along->dims && !rc; d++) {
        sums->count = 0;
        rc = sr_states_weak(j->s.along, d, allowed, SR_NODES, sums);
        for (int k = sums->count - 1; k >= 0 && !rc; k--) {
            struct set *const set = &j->sum[d * SR_SUMS + j->sums[d]];
            const int count =
                sr_equation_terms(j->s.judge->language, &sums->expr[k], LONGEST, term);
            set->count = 0;
            for (int m = 0; m < count; m++) {
                const uint64_t hash = hash_of(j, &term[m]);
                int p = 0;
                while (p < j->s.terms && (j->s.term[p].equation != d || j->s.term[p].hash != hash))
                    p++;
                if (p < j->s.terms)
                    set->term[set->count++] = (short)p;
            }
            j->sums[d] += count && set->count == count;
        }
    }
    free(sums);
    return rc;
}

/* Adds the nats of combinations of these sums, of each equation so many that there are not too
 * many: errors of one equation alone are not those of all together. */
static void combine_sums(const struct joint *j, struct sets *kept)
{
    const int dims = j->s.along->dims;
    int of[SR_STATES] = {0}, most = 1, d = 0;
    while (orr_pow(most + 1, dims) <= SEEDS)
        most++;
    while (d < dims && !sr_judge_over(j->s.judge)) {
        struct set set = {.count = 0};
        struct fit f;
        for (d = 0; d < dims; d++) {
            const struct set *const sum = &j->sum[d * SR_SUMS + of[d]];
            for (int m = 0; m < sum->count && j->sums[d] && set.count < SET; m++)
                set.term[set.count++] = sum->term[m];
        }
        if (fit_set(j, &set, &f) && !f.empty) {
            set.nats = nats_of(j, &f, set.count);
            keep(j, &set, kept);
        }
        for (d = 0; d < dims && ++of[d] >= (most < j->sums[d] ? most : j->sums[d]); d++)
            of[d] = 0;
    }
}

/* The equation of state d in a set, with the coefficients beta; *changed: it has other terms than
 * the present one. */
static void write_equation(const struct joint *j, const struct set *set, int d, const double *beta,
                           struct sr_expr *expr, bool *changed)
{
    int own = 0, kept = 0, before = 0;
    expr->count = 0;
    for (int a = 0; a < j->present.count; a++)
        before += j->s.term[j->present.term[a]].equation == d;
    for (int a = 0; a < set->count; a++) {
        const struct sr_joint_term *const term = &j->s.term[set->term[a]];
        const int from = expr->count;
        if (term->equation != d)
            continue;
        sr_put_expr(expr, &term->expr);
        if (from < SR_NODES)
            expr->node[from].value *= beta[a] * j->scale[set->term[a]];
        if (own++)
            sr_put_op(expr, SR_ADD);
        for (int b = 0; b < j->present.count; b++)
            kept += j->present.term[b] == set->term[a];
    }
    *changed = own != before || kept != own;
}

/* The equations of a set; those that are not changed stay. False where one is too long. */
static bool write_set(const struct joint *j, const struct set *set, int maxsize,
                      struct sr_judged *out)
{
    struct fit f;
    struct sr_expr expr;
    bool changed;
    if (!fit_set(j, set, &f))
        return false;
    sr_cholesky_upper(f.L, (size_t)set->count, SET, f.beta);
    sr_judged_copy(j->best, out);
    for (int d = 0; d < j->s.along->dims; d++) {
        write_equation(j, set, d, f.beta, &expr, &changed);
        if (!changed)
            continue;
        if (!sr_put_end(j->s.judge->language, &expr, maxsize < SR_NODES ? maxsize : SR_NODES))
            return false;
        sr_expr_copy(&out->expr[d], &expr);
    }
    return true;
}

/* Fits the likeliest sets; *better: one costs less than the present equations. */
static int fit_sets(const struct joint *j, const struct sets *kept, int maxsize, bool *better)
{
    struct sr_judged *const trial = orr_alloc(1, sizeof *trial);
    struct sr_judged *const best = orr_alloc(1, sizeof *best);
    int rc = trial && best ? 0 : ORR_ENOMEM, fits = 0;
    if (!rc)
        *best = *j->best;
    for (int k = 0; k < kept->count && fits < FITTED && !rc && !sr_judge_over(j->s.judge); k++) {
        if (kept->item[k].nats > j->present_nats + hopeless)
            break;
        if (same_forms(j, &kept->item[k], &j->present) ||
            !write_set(j, &kept->item[k], maxsize, trial))
            continue;
        fits++;
        rc = sr_judge_fit(j->s.judge, trial);
        orr_trace("joint set %d: %.2f nats by least squares, %.2f fitted, residual %.4g", k + 1,
                  kept->item[k].nats - j->present_nats + j->best->nats, trial->nats,
                  sqrt(trial->misfit));
        if (!rc && trial->nats < best->nats) {
            *best = *trial;
            *better = true;
        }
    }
    if (!rc && *better)
        *j->best = *best;
    free(best);
    free(trial);
    return rc;
}

/* Exchanges terms along the solution of the present equations. */
static int exchange(struct joint *j, const struct sr_weak_library *library, const bool *allowed,
                    int maxsize, bool *better)
{
    const struct sr_states *const s = j->s.along;
    bool ok = false;
    j->worth = (double)(s->rows * (size_t)s->dims);
    j->s.term = orr_alloc(COLUMNS, sizeof *j->s.term);
    struct sets *const kept = orr_alloc(1, sizeof *kept);
    j->sum = orr_alloc((size_t)s->dims * SR_SUMS, sizeof *j->sum);
    int rc = j->s.term && kept && j->sum ? 0 : ORR_ENOMEM;
    if (!rc && list_terms(j, library)) {
        const size_t size = (size_t)j->s.terms + 1;
        j->s.present = j->present.count;
        j->gram = orr_alloc(size * size, sizeof *j->gram);
        j->scale = orr_alloc(size, sizeof *j->scale);
        rc = j->gram && j->scale ? sr_sensitivities_fill(&j->s, &ok) : ORR_ENOMEM;
    }
    if (!rc && ok) {
        fill_gram(j);
        extend(j, &j->present, kept);
        for (int k = 0; k < kept->count; k++)
            if (same_forms(j, &kept->item[k], &j->present))
                j->present_nats = kept->item[k].nats;
        rc = list_sums(j, allowed);
        combine_sums(j, kept);
        for (int round = 1; round < ROUNDS && change_sets(j, kept); round++)
            ;
        rc = rc ? rc : fit_sets(j, kept, maxsize, better);
    }
    free(kept);
    free(j->s.term);
    free(j->sum);
    free(j->s.column);
    free(j->gram);
    free(j->scale);
    return rc;
}

int sr_judge_exchange(const struct sr_judge *c, const bool *allowed, int maxsize,
                      struct sr_judged *best)
{
    const struct sr_states *const s = c->states;
    struct sr_weak_library *const library = orr_alloc(1, sizeof *library);
    int rc = library ? 0 : ORR_ENOMEM;
    bool better = true;
    if (s->order != 1 || s->categories || best->starts > s->count)
        better = false;
    for (int k = 0; k < SOLUTIONS && better && !rc && !sr_judge_over(c); k++) {
        struct sr_states along = {0};
        bool follows = false;
        better = false;
        rc = sr_states_resmooth(c, best, &along, &follows);
        if (!rc && follows) {
            struct joint j = {.s = {.judge = c, .along = &along, .equation = best->expr},
                              .best = best};
            sr_weak_library(&along, allowed, library);
            rc = exchange(&j, library, allowed, maxsize, &better);
            orr_trace("terms exchanged along the solution: %.2f nats", best->nats);
        }
        sr_states_free(&along);
    }
    free(library);
    return rc;
}
