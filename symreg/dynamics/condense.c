/* condense.c - the equations of a step of multiple shooting. Where pieces are joined, the change of
 * a piece's start is A times that of the piece before, plus B times the change of the numbers, plus
 * the gap (Bock 1981, section 5): products of these eliminate all starts but the first of an arc.
 * What is left is a small system with a block for each arc and a border of the numbers. */
#include "shooting.h"
#include "symreg/value/cholesky.h"
#include "symreg/value/vec.h"

int sr_joint_create(size_t count, size_t states, const struct sr_flow_numbers *numbers,
                    struct sr_joint *joint)
{
    const size_t width = states + (size_t)numbers->count, total = (size_t)numbers->total;
    const size_t all = states + total;
    *joint = (struct sr_joint){.map = numbers, .begins = orr_alloc(count, sizeof *joint->begins)};
    const size_t sizes[] = {
        count * states * width, count * states, count * width * width,
        count * width,          total * total,  total,
        count * width,          total,          all * all + width * width + 2 * all + width};
    double **const arrays[] = {&joint->follow,   &joint->offset,  &joint->corner,
                               &joint->gradient, &joint->numbers, &joint->numbers_gradient,
                               &joint->step,     &joint->change,  &joint->work};
    bool ok = joint->begins != NULL;
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        *arrays[k] = orr_alloc(sizes[k] + 1, sizeof **arrays[k]);
        ok = ok && *arrays[k];
    }
    if (ok)
        return 0;
    sr_joint_free(joint);
    return ORR_ENOMEM;
}

void sr_joint_free(struct sr_joint *joint)
{
    free(joint->begins);
    free(joint->follow);
    free(joint->offset);
    free(joint->corner);
    free(joint->gradient);
    free(joint->numbers);
    free(joint->numbers_gradient);
    free(joint->step);
    free(joint->change);
    free(joint->work);
    *joint = (struct sr_joint){0};
}

/* How piece p's start depends on the parameters of its arc, from piece p - 1. False where errors
 * have grown too far. */
static bool follow_piece(const struct sr_shot *shot, size_t p, size_t states, const double *spread,
                         const struct sr_join *join, struct sr_joint *joint)
{
    const size_t width = shot->width, before = p - 1;
    const double *const by = shot->by + before * states * width;
    const double *const from = joint->follow + before * states * width;
    double *const to = joint->follow + p * states * width;
    for (size_t i = 0; i < states; i++) {
        for (size_t c = 0; c < width; c++) {
            double sum = c < states ? 0 : by[i * width + c];
            for (size_t k = 0; k < states; k++)
                sum += by[i * width + k] * from[k * width + c];
            to[i * width + c] = sum;
            if (c < states && !(fabs(sum) * spread[c] <= join->growth * spread[i]))
                return false;
        }
        double offset = join->share * shot->end[before * states + i];
        for (size_t k = 0; k < states; k++)
            offset += by[i * width + k] * joint->offset[before * states + k];
        joint->offset[p * states + i] = offset;
        joint->gaps += fabs(shot->end[before * states + i]) / spread[i];
    }
    return true;
}

/* The piece begins an arc: its start is a parameter. */
static void begin_arc(size_t p, size_t states, size_t width, struct sr_joint *joint)
{
    double *const to = joint->follow + p * states * width;
    joint->begins[p] = true;
    joint->arcs++;
    sr_fill(to, states * width, 0);
    sr_fill(joint->offset + p * states, states, 0);
    for (size_t i = 0; i < states; i++)
        to[i * width + i] = 1;
}

/* Adds the normal equations of piece p, in terms of its arc's parameters, to those of the arc's
 * first piece: T' M T and T' (g + M o), where T is `follow` above a unit matrix of the numbers, and
 * o the offset. */
static void add_piece(const struct sr_shot *shot, size_t p, size_t arc, size_t states,
                      struct sr_joint *joint)
{
    const size_t width = shot->width;
    const double *const normal = shot->normal + p * width * width;
    const double *const follow = joint->follow + p * states * width;
    const double *const offset = joint->offset + p * states;
    double *const half = joint->work, *const moved = joint->work + width * width;
    for (size_t a = 0; a < width; a++) {
        moved[a] = shot->gradient[p * width + a];
        for (size_t k = 0; k < states; k++)
            moved[a] += normal[a * width + k] * offset[k];
        for (size_t b = 0; b < width; b++) {
            double sum = b < states ? 0 : normal[a * width + b];
            for (size_t k = 0; k < states; k++)
                sum += normal[a * width + k] * follow[k * width + b];
            half[a * width + b] = sum;
        }
    }
    double *const corner = joint->corner + arc * width * width;
    for (size_t a = 0; a < width; a++) {
        double slope = a < states ? 0 : moved[a];
        for (size_t k = 0; k < states; k++)
            slope += follow[k * width + a] * moved[k];
        joint->gradient[arc * width + a] += slope;
        for (size_t b = 0; b < width; b++) {
            double sum = a < states ? 0 : half[a * width + b];
            for (size_t k = 0; k < states; k++)
                sum += follow[k * width + a] * half[k * width + b];
            corner[a * width + b] += sum;
        }
    }
}

/* The place of number k of piece p among those of all categories. */
static size_t place(const struct sr_joint *joint, const struct sr_pieces *pieces, size_t p,
                    size_t k)
{
    return sr_flow_number_at(joint->map, pieces->piece[p].category, k);
}

void sr_joint_make(const struct sr_pieces *pieces, const struct sr_shot *shot, size_t states,
                   const double *spread, const struct sr_join *join, struct sr_joint *joint)
{
    const size_t width = shot->width, numbers = width - states, total = (size_t)joint->map->total;
    size_t arc = 0;
    joint->arcs = 0;
    joint->gaps = 0;
    sr_fill(joint->corner, pieces->count * width * width, 0);
    sr_fill(joint->gradient, pieces->count * width, 0);
    sr_fill(joint->numbers, total * total, 0);
    sr_fill(joint->numbers_gradient, total, 0);
    for (size_t p = 0; p < pieces->count; p++) {
        const double gaps = joint->gaps;
        joint->begins[p] = false;
        if (p == 0 || !pieces->piece[p - 1].joined || p - arc == join->most ||
            !follow_piece(shot, p, states, spread, join, joint)) {
            joint->gaps = gaps;
            arc = p;
            begin_arc(p, states, width, joint);
        }
        add_piece(shot, p, arc, states, joint);
    }
    for (size_t p = 0; p < pieces->count; p++) {
        const double *const corner = joint->corner + p * width * width;
        for (size_t a = 0; a < numbers && joint->begins[p]; a++) {
            const size_t at = place(joint, pieces, p, a);
            joint->numbers_gradient[at] += joint->gradient[p * width + states + a];
            for (size_t b = 0; b < numbers; b++)
                joint->numbers[at * total + place(joint, pieces, p, b)] +=
                    corner[(states + a) * width + states + b];
        }
    }
}

/* The size of a parameter by the diagonal; 1 where nothing depends on it. */
static double unit_of(double diagonal)
{
    return diagonal > 0 && isfinite(diagonal) ? sqrt(diagonal) : 1;
}

/* The scaled and damped block of an arc's start, factorised, in `block` (states, states), its
 * border (states, numbers) times the block's inverse factor in `border`, and `right` (states)
 * likewise. unit (states + total): sizes. */
static bool solve_block(const struct sr_joint *joint, const struct sr_pieces *pieces, size_t p,
                        size_t states, double damping, double *unit, double *block, double *border,
                        double *right)
{
    const size_t numbers = (size_t)joint->map->count, width = states + numbers;
    const double *const corner = joint->corner + p * width * width;
    const double *const gradient = joint->gradient + p * width;
    for (size_t a = 0; a < states; a++)
        unit[a] = unit_of(corner[a * width + a]);
    for (size_t a = 0; a < states; a++) {
        for (size_t b = 0; b < states; b++)
            block[a * states + b] = corner[a * width + b] / (unit[a] * unit[b]);
        /* a start that no residual depends on stays */
        block[a * states + a] = corner[a * width + a] > 0 ? 1 + damping : 1;
        right[a] = -gradient[a] / unit[a];
    }
    if (!sr_cholesky(block, states, states, 1e-15))
        return false;
    sr_cholesky_lower(block, states, states, right);
    double column[2 * SR_FLOW_STATES];
    for (size_t c = 0; c < numbers; c++) {
        const double size = unit[states + place(joint, pieces, p, c)];
        for (size_t a = 0; a < states; a++)
            column[a] = corner[a * width + states + c] / (unit[a] * size);
        sr_cholesky_lower(block, states, states, column);
        for (size_t a = 0; a < states; a++)
            border[a * numbers + c] = column[a];
    }
    return true;
}

/* Parts of joint->work: the complement (total, total), the border of an arc (states, numbers),
 * sizes (states + total), the right-hand side (total), a step (width). */
struct parts {
    double *left, *border, *unit, *right, *arc;
};
static struct parts parts_of(const struct sr_joint *joint, size_t states)
{
    const size_t width = states + (size_t)joint->map->count;
    const size_t all = states + (size_t)joint->map->total;
    double *const border = joint->work + all * all, *const unit = border + width * width;
    return (struct parts){joint->work, border, unit, unit + all, unit + 2 * all};
}

/* The complement of the arcs' blocks, scaled and damped; the right-hand side likewise. False where
 * a block is singular. */
static bool complement(const struct sr_pieces *pieces, size_t states, double damping,
                       struct sr_joint *joint, const struct parts *w)
{
    const size_t numbers = (size_t)joint->map->count, total = (size_t)joint->map->total;
    double block[4 * SR_FLOW_STATES * SR_FLOW_STATES], start[2 * SR_FLOW_STATES];
    for (size_t a = 0; a < total; a++)
        w->unit[states + a] = unit_of(joint->numbers[a * total + a]);
    for (size_t a = 0; a < total; a++) {
        for (size_t b = 0; b < total; b++)
            w->left[a * total + b] =
                joint->numbers[a * total + b] / (w->unit[states + a] * w->unit[states + b]);
        w->left[a * total + a] = joint->numbers[a * total + a] > 0 ? 1 + damping : 1;
        w->right[a] = -joint->numbers_gradient[a] / w->unit[states + a];
    }
    for (size_t p = 0; p < pieces->count; p++) {
        if (!joint->begins[p])
            continue;
        if (!solve_block(joint, pieces, p, states, damping, w->unit, block, w->border, start))
            return false;
        for (size_t k = 0; k < states; k++)
            for (size_t a = 0; a < numbers; a++) {
                const size_t at = place(joint, pieces, p, a);
                const double by = w->border[k * numbers + a];
                w->right[at] -= by * start[k];
                for (size_t b = 0; b < numbers; b++)
                    w->left[at * total + place(joint, pieces, p, b)] -=
                        by * w->border[k * numbers + b];
            }
    }
    return true;
}

/* The change of an arc's start, given the numbers' (scaled), into w->arc. */
static void step_of_arc(const struct sr_joint *joint, const struct sr_pieces *pieces, size_t p,
                        size_t states, double damping, const struct parts *w)
{
    const size_t numbers = (size_t)joint->map->count;
    double block[4 * SR_FLOW_STATES * SR_FLOW_STATES], start[2 * SR_FLOW_STATES];
    solve_block(joint, pieces, p, states, damping, w->unit, block, w->border, start);
    for (size_t k = 0; k < states; k++)
        for (size_t a = 0; a < numbers; a++)
            start[k] -= w->border[k * numbers + a] * w->right[place(joint, pieces, p, a)];
    sr_cholesky_upper(block, states, states, start);
    for (size_t k = 0; k < states; k++)
        w->arc[k] = start[k] / w->unit[k];
    for (size_t a = 0; a < numbers; a++)
        w->arc[states + a] = joint->change[place(joint, pieces, p, a)];
}

bool sr_joint_solve(const struct sr_pieces *pieces, const struct sr_shot *shot, size_t states,
                    double damping, struct sr_joint *joint)
{
    const size_t width = shot->width, total = (size_t)joint->map->total;
    const struct parts w = parts_of(joint, states);
    if (!complement(pieces, states, damping, joint, &w) ||
        !sr_cholesky(w.left, total, total, 1e-15))
        return false;
    sr_cholesky_solve(w.left, total, total, w.right);
    for (size_t a = 0; a < total; a++)
        joint->change[a] = w.right[a] / w.unit[states + a];
    joint->predicted = shot->chi2;
    for (size_t p = 0; p < pieces->count; p++) {
        const double *const normal = shot->normal + p * width * width;
        const double *const follow = joint->follow + p * states * width;
        double *const step = joint->step + p * width;
        if (joint->begins[p])
            step_of_arc(joint, pieces, p, states, damping, &w);
        memcpy(step, w.arc, width * sizeof *step);
        for (size_t k = 0; k < states; k++) {
            step[k] = joint->offset[p * states + k];
            for (size_t a = 0; a < width; a++)
                step[k] += follow[k * width + a] * w.arc[a];
        }
        for (size_t a = 0; a < width; a++) {
            joint->predicted += 2 * shot->gradient[p * width + a] * step[a];
            for (size_t b = 0; b < width; b++)
                joint->predicted += step[a] * normal[a * width + b] * step[b];
        }
    }
    return isfinite(joint->predicted);
}

void sr_joint_covariance(const struct sr_pieces *pieces, size_t states, struct sr_joint *joint,
                         double *covariance)
{
    const size_t total = (size_t)joint->map->total;
    const struct parts w = parts_of(joint, states);
    const bool found =
        complement(pieces, states, 0, joint, &w) && sr_cholesky(w.left, total, total, 1e-13);
    for (size_t a = 0; a < total; a++) {
        for (size_t b = 0; b < total; b++)
            w.right[b] = a == b;
        if (found)
            sr_cholesky_solve(w.left, total, total, w.right);
        for (size_t b = 0; b < total; b++)
            covariance[a * total + b] =
                found ? w.right[b] / (w.unit[states + a] * w.unit[states + b]) : (double)NAN;
    }
}
