/* joint_terms.h - inside symreg/dynamics/: terms of all equations exchanged together. */
#ifndef SR_JOINT_TERMS_H
#define SR_JOINT_TERMS_H

#include "judge.h"

/* One term of one equation; its first node is the coefficient. */
struct sr_joint_term {
    struct sr_expr expr;
    int equation, form; /* terms of one form differ in numbers within them */
    struct sr_term_shape shape;
    double numbers;   /* nats of them */
    bool undefined;   /* somewhere on a track */
    uint64_t hash;    /* with its numbers, but for the coefficient */
    uint32_t mirrors; /* sr_judge_mirrors() */
};

/* What terms would change of the states, in standard deviations of the noise. */
struct sr_sensitivities {
    const struct sr_judge *judge;
    const struct sr_states *along;  /* smoothed by the solution */
    const struct sr_expr *equation; /* (dims) */
    int terms, present;             /* present: of the equations, which come first */
    struct sr_joint_term *term;
    size_t each;        /* so manieth rows of each track are compared */
    size_t rows, width; /* numbers compared; terms, the starts of a track, and what is left */
    double *column;     /* (rows, width), less what the starts determine */
};
/* Fills in rows and columns, and which terms are undefined. *ok: the present ones are defined.
 * ORR_ENOMEM; the caller frees the columns, after errors too. */
int sr_sensitivities_fill(struct sr_sensitivities *s, bool *ok);

/* Adds, drops and exchanges terms of the equations of a system that follows the tracks as long as
 * that costs less: terms of the library and those of the equations, of functions that are `allowed`
 * (SR_OPS), in formulas of at most `maxsize` nodes. Nothing where states have order 2, categories
 * or chaotic tracks, or an equation is no sum of few terms. ORR_ENOMEM. */
int sr_judge_exchange(const struct sr_judge *judge, const bool *allowed, int maxsize,
                      struct sr_judged *best);

#endif
