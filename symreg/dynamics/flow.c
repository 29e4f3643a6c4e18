/* flow.c - one solution of a system. */
#include "lanes.h"

static int check(const struct sr_flow *flow, const double *start, size_t n, const double *t,
                 const double *input)
{
    for (int k = 0; k < sr_flow_states(flow); k++)
        if (!isfinite(start[k]))
            return ORR_FAIL(ORR_EINVAL, "start: expected finite numbers, found %g as number %d",
                            start[k], k + 1);
    for (size_t i = 0; i < n; i++)
        if (!isfinite(t[i]) || (i && !(t[i] > t[i - 1])))
            return ORR_FAIL(ORR_EINVAL, "times: expected rising numbers, found %.10g as number %zu",
                            t[i], i + 1);
    for (size_t i = 0; i < n * (size_t)flow->inputs; i++)
        if (!isfinite(input[i]))
            return ORR_FAIL(ORR_EINVAL, "inputs: expected finite numbers, found %g at the time %g",
                            input[i], t[i % n]);
    return 0;
}

int sr_flow_solve(const struct sr_flow *flow, const double *start, size_t n, const double *t,
                  const double *input, double tolerance, double *x)
{
    const size_t states = (size_t)sr_flow_states(flow), inputs = (size_t)flow->inputs;
    struct sr_lanes lanes;
    TRY(check(flow, start, n, t, input));
    TRY(sr_lanes_create(&lanes, flow, NULL, 1, tolerance));
    int rc = 0;
    sr_lanes_start(&lanes, start, 1);
    for (size_t i = 0; i < n && !rc; i++) {
        if (i) {
            lanes.t[0] = t[i - 1];
            lanes.dt[0] = t[i] - t[i - 1];
            for (size_t k = 0; k < inputs; k++) {
                lanes.input[k] = input[k * n + i - 1];
                lanes.input_end[k] = input[k * n + i];
            }
            if (i == 1)
                sr_lanes_first_step(&lanes);
            if (!sr_lanes_advance(&lanes))
                rc = ORR_FAIL(ORR_EINVAL, "the solution ends at the time %.10g: %s",
                              lanes.t[0] + lanes.done * lanes.dt[0],
                              lanes.exhausted
                                  ? "its steps are so short there that they do not reach the next "
                                    "time, as of stiff equations; nearer times have more steps"
                                  : "it becomes infinite there or leaves where the equations are "
                                    "defined");
        }
        for (size_t k = 0; k < states; k++)
            for (size_t j = i; j < (rc ? n : i + 1); j++)
                x[k * n + j] = rc ? (double)NAN : lanes.x[k];
    }
    sr_lanes_free(&lanes);
    return rc;
}
