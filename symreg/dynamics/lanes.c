/* lanes.c - solutions side by side, by the pair of Dormand and Prince. The worst error of all lanes
 * controls the step. Tangents, the derivatives of the states by the start and by constants, follow
 * the variational equations dY/dt = (df/dx) Y + df/dc through the same stages, so that they are the
 * exact derivatives of the computed solution with its steps. */
#include "lanes.h"
#include "symreg/motion/dormand_prince.h"
#include "symreg/value/vec.h"

#include <float.h>

void sr_flow_numbers_find(const struct sr_flow *flow, bool free_exponents,
                          struct sr_flow_numbers *numbers)
{
    numbers->count = 0;
    for (int e = 0; e < flow->dims; e++) {
        int *const column = numbers->column[e];
        numbers->all[e] =
            sr_expr_fitted(&flow->equation[e], free_exponents, &numbers->count, column);
    }
    if (flow->group)
        numbers->count = 0;
    for (int e = 0; e < flow->dims && flow->group; e++)
        for (int k = 0; k < numbers->all[e]; k++) {
            const int column = numbers->column[e][k] = flow->group[e][k];
            numbers->count = column >= numbers->count ? column + 1 : numbers->count;
        }
    const int each = sr_each_fitted(flow, numbers->slot);
    numbers->shared = numbers->count;
    numbers->count += each;
    numbers->total = numbers->shared + each * flow->categories;
}

void sr_flow_numbers_get(const struct sr_flow *flow, const struct sr_flow_numbers *numbers,
                         double *value)
{
    for (int e = 0; e < flow->dims; e++) {
        double all[SR_NODES];
        sr_expr_constants(&flow->equation[e], all);
        for (int k = 0; k < numbers->all[e]; k++)
            if (numbers->column[e][k] >= 0)
                value[numbers->column[e][k]] = all[k];
    }
    for (int k = numbers->shared; k < numbers->count; k++)
        for (size_t c = 0; c < (size_t)flow->categories; c++)
            value[sr_flow_number_at(numbers, c, (size_t)k)] =
                flow->each->value[numbers->slot[k - numbers->shared]][c];
}

void sr_flow_numbers_set(const struct sr_flow_numbers *numbers, const double *value,
                         struct sr_flow *flow)
{
    for (int e = 0; e < flow->dims; e++) {
        double all[SR_NODES], low[SR_NODES], high[SR_NODES];
        sr_expr_constants(&flow->equation[e], all);
        sr_expr_bounds(flow->language, &flow->equation[e], low, high);
        for (int k = 0; k < numbers->all[e]; k++)
            if (numbers->column[e][k] >= 0)
                all[k] = fmin(fmax(value[numbers->column[e][k]], low[k]), high[k]);
        sr_expr_set_constants(&flow->equation[e], all);
    }
    for (int k = numbers->shared; k < numbers->count; k++)
        for (size_t c = 0; c < (size_t)flow->categories; c++)
            flow->each->value[numbers->slot[k - numbers->shared]][c] =
                value[sr_flow_number_at(numbers, c, (size_t)k)];
}

int sr_lanes_create(struct sr_lanes *lanes, const struct sr_flow *flow,
                    const struct sr_flow_numbers *numbers, size_t count, double tolerance)
{
    const size_t states = (size_t)sr_flow_states(flow), inputs = (size_t)flow->inputs;
    const size_t columns = numbers ? states + (size_t)numbers->count : 0;
    size_t most = 1;
    *lanes = (struct sr_lanes){.flow = flow,
                               .numbers = numbers,
                               .count = count,
                               .states = (int)states,
                               .columns = (int)columns,
                               .features = (int)(states + 1 + inputs),
                               .tolerance = tolerance,
                               .step = 1,
                               .least = 1e-12};
    for (int e = 0; e < flow->dims; e++) {
        const struct sr_expr *expr = &flow->equation[e];
        for (int i = 0; i < expr->count; i++)
            if (expr->node[i].op == SR_FEATURE)
                lanes->uses[e] |= UINT64_C(1) << expr->node[i].feature;
        lanes->used |= lanes->uses[e];
        if (numbers && (size_t)numbers->all[e] > most)
            most = (size_t)numbers->all[e];
    }
    for (int k = SR_EACH_FIRST; k < SR_EACH_FIRST + SR_EACH; k++)
        if (lanes->used >> k & 1)
            lanes->features = k + 1;
    const size_t features = (size_t)lanes->features, tangent = states * columns;
    const size_t width = 2 + 2 * inputs + 3 * states + 2 * features + most +
                         SR_LANES_STAGES * (states + tangent) + 2 * tangent;
    double *at = lanes->block = orr_alloc(width * count, sizeof *at);
    if (!at)
        return ORR_ENOMEM;
    const struct {
        double **array;
        size_t width;
    } arrays[] = {{&lanes->t, 1},
                  {&lanes->dt, 1},
                  {&lanes->input, inputs},
                  {&lanes->input_end, inputs},
                  {&lanes->x, states},
                  {&lanes->peak, states},
                  {&lanes->table, features},
                  {&lanes->slope, features},
                  {&lanes->jacobian, most},
                  {&lanes->tangent, tangent},
                  {&lanes->trial_tangent, tangent}};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) {
        *arrays[k].array = at;
        at += arrays[k].width * count;
    }
    for (int s = 0; s < SR_LANES_STAGES; s++) {
        lanes->rate[s] = at;
        lanes->tangent_rate[s] = at + states * count;
        at += (states + tangent) * count;
    }
    return 0;
}

void sr_lanes_free(struct sr_lanes *lanes)
{
    free(lanes->block);
    *lanes = (struct sr_lanes){0};
}

void sr_lanes_start(struct sr_lanes *lanes, const double *x, size_t stride)
{
    const size_t n = lanes->count, states = (size_t)lanes->states;
    for (size_t k = 0; k < states; k++)
        memcpy(lanes->x + k * n, x + k * stride, n * sizeof *x);
    for (size_t i = 0; i < states * n; i++)
        lanes->peak[i] = fabs(lanes->x[i]);
    sr_fill(lanes->tangent, states * (size_t)lanes->columns * n, 0);
    for (size_t i = 0; i < states && lanes->columns; i++)
        sr_fill(lanes->tangent + (i * (size_t)lanes->columns + i) * n, n, 1);
    lanes->has_rate = false;
    lanes->step = 1;
    lanes->steps = lanes->intervals = 0;
}

void sr_lanes_enter(struct sr_lanes *lanes, size_t i, size_t category)
{
    for (size_t k = 0; k < SR_EACH; k++)
        if (lanes->used >> (SR_EACH_FIRST + k) & 1)
            lanes->table[(SR_EACH_FIRST + k) * lanes->count + i] =
                lanes->flow->each->value[k][category];
}

/* Adds the tangents' rate by one equation: row `row` of (df/dx) Y + df/dc at the states of the
 * table, Y = tangent. */
static bool tangent_row(struct sr_lanes *lanes, int e, const struct sr_data *data,
                        const double *tangent, double *value, double *out)
{
    const size_t n = lanes->count, columns = (size_t)lanes->columns;
    const struct sr_expr *expr = &lanes->flow->equation[e];
    if (!sr_eval_slopes(expr, data, value, lanes->slope))
        return false;
    sr_fill(out, columns * n, 0);
    for (size_t k = 0; k < (size_t)lanes->states; k++) {
        const double *const slope = lanes->slope + k * n, *const from = tangent + k * columns * n;
        if (!(lanes->uses[e] >> k & 1))
            continue;
        for (size_t c = 0; c < columns; c++)
            for (size_t i = 0; i < n; i++)
                out[c * n + i] += slope[i] * from[c * n + i];
    }
    for (int k = lanes->numbers->shared; k < lanes->numbers->count; k++) {
        const int feature = SR_EACH_FIRST + lanes->numbers->slot[k - lanes->numbers->shared];
        const double *const slope = lanes->slope + (size_t)feature * n;
        double *const to = out + (size_t)(lanes->states + k) * n;
        for (size_t i = 0; i < n && lanes->uses[e] >> feature & 1; i++)
            to[i] += slope[i];
    }
    if (lanes->numbers->all[e] == 0)
        return true;
    if (!sr_eval_jacobian(expr, data, value, lanes->jacobian))
        return false;
    for (int k = 0; k < lanes->numbers->all[e]; k++) {
        const int column = lanes->numbers->column[e][k];
        const double *const by = lanes->jacobian + (size_t)k * n;
        double *const to = out + ((size_t)lanes->states + (size_t)(column < 0 ? 0 : column)) * n;
        for (size_t i = 0; i < n && column >= 0; i++)
            to[i] += by[i];
    }
    return true;
}

/* The rates of a stage at the states, time and inputs of the table, and at the tangents `tangent`.
 * False where one is not finite. */
static bool find_rates(struct sr_lanes *lanes, int stage, const double *tangent)
{
    const struct sr_flow *flow = lanes->flow;
    const size_t n = lanes->count, dims = (size_t)flow->dims, states = (size_t)lanes->states;
    const size_t row = (size_t)lanes->columns * n;
    const struct sr_data data = {
        .rows = n, .features = lanes->features, .x = lanes->table, .language = flow->language};
    double *const rate = lanes->rate[stage], *const tangents = lanes->tangent_rate[stage];
    if (flow->order == 2) {
        memcpy(rate, lanes->table + dims * n, dims * n * sizeof *rate);
        if (lanes->columns)
            memcpy(tangents, tangent + dims * row, dims * row * sizeof *tangents);
    }
    for (size_t e = 0; e < dims; e++) {
        const size_t at = states - dims + e;
        if (lanes->columns
                ? !tangent_row(lanes, (int)e, &data, tangent, rate + at * n, tangents + at * row)
                : !sr_eval(&flow->equation[e], &data, rate + at * n))
            return false;
    }
    return true;
}

/* out = from + h dt sum_j sr_dp_part[stage][j] rate[j], of `rows` rows of all lanes. */
static void combine(const struct sr_lanes *lanes, int stage, double h, size_t rows,
                    const double *from, double *const *rate, double *out)
{
    const size_t n = lanes->count;
    memcpy(out, from, rows * n * sizeof *out);
    for (int j = 0; j < stage; j++) {
        const double weight = h * sr_dp_part[stage][j];
        if (weight == 0)
            continue;
        for (size_t k = 0; k < rows; k++)
            for (size_t i = 0; i < n; i++)
                out[k * n + i] += weight * lanes->dt[i] * rate[j][k * n + i];
    }
}

/* Fills the table's time and inputs at a share of the interval. */
static void fill_time(struct sr_lanes *lanes, double share)
{
    const size_t n = lanes->count;
    double *const time = lanes->table + (size_t)lanes->states * n, *const input = time + n;
    for (size_t i = 0; i < n; i++)
        time[i] = lanes->t[i] + share * lanes->dt[i];
    for (size_t i = 0; i < n * (size_t)lanes->flow->inputs; i++)
        input[i] = lanes->input[i] + share * (lanes->input_end[i] - lanes->input[i]);
}

/* The largest error of a step over what is tolerated; infinite where a state is not finite. */
static double step_error(const struct sr_lanes *lanes, double h)
{
    const size_t n = lanes->count;
    double worst = 0;
    for (size_t k = 0; k < (size_t)lanes->states; k++)
        for (size_t i = 0; i < n; i++) {
            const size_t at = k * n + i;
            double error = 0;
            for (int j = 0; j < SR_LANES_STAGES; j++)
                error += sr_dp_difference[j] * lanes->rate[j][at];
            error = fabs(h * lanes->dt[i] * error);
            const double size = fmax(lanes->peak[at], fabs(lanes->table[at]));
            if (!isfinite(error) || !isfinite(lanes->table[at]))
                return HUGE_VAL;
            if (error > 0 && size > 0)
                worst = fmax(worst, error / (lanes->tolerance * size));
        }
    return worst;
}

/* Tries a step of h from a share of the interval; its error. The new states are then those of the
 * table. */
static double try_step(struct sr_lanes *lanes, double from, double h)
{
    const size_t states = (size_t)lanes->states, tangents = states * (size_t)lanes->columns;
    for (int s = 1; s < SR_LANES_STAGES; s++) {
        combine(lanes, s, h, states, lanes->x, lanes->rate, lanes->table);
        if (tangents)
            combine(lanes, s, h, tangents, lanes->tangent, lanes->tangent_rate,
                    lanes->trial_tangent);
        fill_time(lanes, from + h * sr_dp_node[s]);
        if (!find_rates(lanes, s, lanes->trial_tangent))
            return HUGE_VAL;
    }
    return step_error(lanes, h);
}

static void exchange(double **a, double **b)
{
    double *const kept = *a;
    *a = *b;
    *b = kept;
}

/* Takes the step that was tried. */
static void take_step(struct sr_lanes *lanes)
{
    const size_t n = (size_t)lanes->states * lanes->count;
    memcpy(lanes->x, lanes->table, n * sizeof *lanes->x);
    for (size_t i = 0; i < n; i++)
        lanes->peak[i] = fmax(lanes->peak[i], fabs(lanes->x[i]));
    exchange(&lanes->tangent, &lanes->trial_tangent);
    exchange(&lanes->rate[0], &lanes->rate[SR_LANES_STAGES - 1]);
    exchange(&lanes->tangent_rate[0], &lanes->tangent_rate[SR_LANES_STAGES - 1]);
}

/* The rates at the begin of the interval. */
static bool first_rates(struct sr_lanes *lanes)
{
    if (lanes->has_rate)
        return true;
    memcpy(lanes->table, lanes->x, (size_t)lanes->states * lanes->count * sizeof *lanes->x);
    fill_time(lanes, 0);
    return lanes->has_rate = find_rates(lanes, 0, lanes->tangent);
}

void sr_lanes_first_step(struct sr_lanes *lanes)
{
    const size_t n = lanes->count;
    if (!first_rates(lanes))
        return;
    for (size_t k = 0; k < (size_t)lanes->states; k++)
        for (size_t i = 0; i < n; i++) {
            const double change = fabs(lanes->rate[0][k * n + i] * lanes->dt[i]);
            const double share = 0.01 * lanes->peak[k * n + i] / change;
            if (change > 0)
                lanes->step = fmin(lanes->step, fmax(share, 1e-6));
        }
}

bool sr_lanes_advance(struct sr_lanes *lanes)
{
    /* a fit gives up a formula that is that stiff, or has a pole, instead of spending seconds */
    const int most_steps = lanes->numbers ? 500 : 100000, usual_steps = 30;
    double done = 0;
    lanes->done = 0;
    lanes->intervals++;
    if (!first_rates(lanes))
        return false;
    for (int steps = 0; done < 1; steps++) {
        const bool last = done + 1.000001 * lanes->step >= 1;
        const double h = last ? 1 - done : lanes->step;
        lanes->exhausted = steps == most_steps;
        if (lanes->exhausted || h < lanes->least ||
            (lanes->numbers && lanes->steps++ > most_steps + usual_steps * lanes->intervals) ||
            (lanes->until_s > 0 && steps % 64 == 63 && orr_time_s() > lanes->until_s))
            return false;
        const double error = try_step(lanes, done, h);
        /* the rule of Hairer, Norsett and Wanner, Solving Ordinary Differential Equations I,
         * Springer 1993, eq. (II.4.13) */
        const double factor = error == 0 ? 5 : fmin(5, fmax(0.2, 0.9 * orr_pow(error, -1.0 / 5)));
        if (error <= 1) {
            take_step(lanes);
            done = last ? 1 : done + h;
            lanes->done = done;
            /* a last step that was cut short says little of the next one */
            lanes->step = last ? fmin(1, fmax(lanes->step, h * factor)) : fmin(1, h * factor);
        } else {
            lanes->step = h * fmin(factor, 1);
        }
    }
    return true;
}
