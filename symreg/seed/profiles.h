/* profiles.h - inside symreg/: shapes of one column whose origin, width or period is unknown. */
#ifndef SR_PROFILES_H
#define SR_PROFILES_H

#include "stages.h"

enum sr_profile_shape {
    SR_PROFILE_POWER, /* |x - c|^p, c outside of the rows: a decay from an unknown start */
    SR_PROFILE_CLIP,  /* min(|x - c|^p, w), a plateau before a decay */
    SR_PROFILE_STEP,  /* 1 / (1 + exp((x - c) / s)), a logistic curve */
    SR_PROFILE_FLAT,  /* 1 / (1 + ((x - c) / s)^4), a line or dip with a flat bottom */
    SR_PROFILE_BOX,   /* 1 / (1 + exp((|x - c| - w) / s)), or of squares: a box of smooth edges */
    SR_PROFILE_SAW,   /* mod(x - c, p), a sawtooth */
    SR_PROFILE_DAYS,  /* greater(mod(x - c, p), w), some days of a week */
    SR_PROFILE_SHAPES
};

/* y = weight g(x) + slope x + constant; slope and constant where `base` says so. */
struct sr_profile {
    double left; /* squared residuals as a share; comes first (sr_best_insert()) */
    enum sr_profile_shape shape;
    int column, base; /* 0: g alone, 1: with a constant, 2: and with a slope */
    int side;         /* of a power: 1 where c is below the rows, -1 where above */
    double c, s, w, p;
    double weight, slope, constant;
};

/* Whether the operators can write the shape (one bit each). */
bool sr_profile_possible(uint64_t operators, enum sr_profile_shape shape);
/* Writes the formula; false where it is too long. */
bool sr_profile_write(const struct sr_proposal *p, const struct sr_profile *profile,
                      struct sr_expr *out);

#endif
