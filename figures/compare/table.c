/* table.c - the table of the verdict's questions, one line each. */
#include "verdict.h"

#define LABELS(n)                                                                                  \
    {                                                                                              \
        "labels_" #n, "R2 of log F, " #n " labelled sequences", VERDICT_LABELS, VERDICT_PROBE,     \
            "labels", "log force", "R^2", n, false                                                 \
    }
#define READOUT(id, title, quantity)                                                               \
    {                                                                                              \
        "readout_" id, "readout, R2 of " title, VERDICT_READOUT, VERDICT_PROBE, "linear",          \
            quantity, "R^2, best layer", -1, false                                                 \
    }
#define COLUMN(id, title, figure)                                                                  \
    {                                                                                              \
        id, title, VERDICT_LAW, VERDICT_COLUMN, NULL, NULL, NULL, figure, false                    \
    }

const struct verdict_question verdict_table[VERDICT_QUESTIONS + 1] = {
    {"next_state", "next-state error, AU", VERDICT_WORLD, VERDICT_COLUMN, NULL, NULL, NULL,
     VERDICT_NEXT_STATE, false},
    LABELS(100),
    LABELS(300),
    LABELS(1000),
    LABELS(3000),
    COLUMN("law_selected", "samples whose law is the true one, share", VERDICT_SHARE),
    COLUMN("exponent_r", "exponent of r, all labels", VERDICT_EXPONENT),
    COLUMN("exponent_m1", "exponent of m1, all labels", VERDICT_EXPONENT + 1),
    COLUMN("exponent_m2", "exponent of m2, all labels", VERDICT_EXPONENT + 2),
    COLUMN("r2_log", "R2 of log F, all labels", VERDICT_R2),
    READOUT("log_force", "log F", "log force"),
    READOUT("inverse_square", "1/r^2", "1/r^2"),
    READOUT("newton", "Newtonian quantities, mean", "mean of Newtonian"),
    READOUT("kepler", "Keplerian quantities, mean", "mean of Keplerian"),
    {"outside_r", "R2 of log F, r outside the labels", VERDICT_OUTSIDE, VERDICT_PROBE,
     "extrapolate", "log force, r outside", "R^2", -1, false},
    {"outside_exponent_r", "exponent of r where no r was labelled", VERDICT_OUTSIDE, VERDICT_PROBE,
     "extrapolate", "exponent of r, r outside", "slope", -1, false},
    {"outside_m", "R2 of log F, m1 m2 outside the labels", VERDICT_OUTSIDE, VERDICT_PROBE,
     "extrapolate", "log force, m1 m2 outside", "R^2", -1, false},
    {"outside_exponent_m1", "exponent of m1 where no m1 m2 was labelled", VERDICT_OUTSIDE,
     VERDICT_PROBE, "extrapolate", "exponent of m1, m1 m2 outside", "slope", -1, false},
    {"outside_exponent_m2", "exponent of m2 where no m1 m2 was labelled", VERDICT_OUTSIDE,
     VERDICT_PROBE, "extrapolate", "exponent of m2, m1 m2 outside", "slope", -1, false},
    {"rollout_place", "rollout, position after the longest time, AU", VERDICT_USE, VERDICT_PROBE,
     "rollout", "position", "AU", -1, false},
    {"rollout_energy", "rollout, drift of energy", VERDICT_USE, VERDICT_PROBE, "rollout", "energy",
     "drift", -1, false},
    {"rollout_momentum", "rollout, drift of angular momentum", VERDICT_USE, VERDICT_PROBE,
     "rollout", "angular momentum", "drift", -1, false},
    {"intervene_velocity_x", "intervention, slope of velocity x", VERDICT_USE, VERDICT_PROBE,
     "intervene", "velocity x", "slope, likely", 1, true},
    {"intervene_velocity_y", "intervention, slope of velocity y", VERDICT_USE, VERDICT_PROBE,
     "intervene", "velocity y", "slope, likely", 1, true},
    {"intervene_pull", "intervention, slope of 1/r^2", VERDICT_USE, VERDICT_PROBE, "intervene",
     "1/r^2", "slope, likely", 1, true},
    {"planets_cosine", "eight planets, cosine of force vectors", VERDICT_USE, VERDICT_BODIES, NULL,
     NULL, NULL, 2, false},
    {"planets_error", "eight planets, relative error of force vectors", VERDICT_USE, VERDICT_BODIES,
     NULL, NULL, NULL, 3, false},
    {"bodies_cosine", "eccentric bodies, cosine of force vectors", VERDICT_USE, VERDICT_BODIES,
     NULL, NULL, NULL, 0, false},
    {"bodies_error", "eccentric bodies, relative error of force vectors", VERDICT_USE,
     VERDICT_BODIES, NULL, NULL, NULL, 1, false},
    {NULL, NULL, 0, 0, NULL, NULL, NULL, 0, false},
};
