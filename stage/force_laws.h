/* force_laws.h - the laws of force and the settings that belong to them (docs/laws.md), which
 * become the choices of orbits.law, its settings and their help. To add a law: its lines here, its
 * functions in sim/law.c, its force written a second time in tests/sim/laws.h. */
#ifndef ORR_FORCE_LAWS_H
#define ORR_FORCE_LAWS_H

/* LAW(ID, name, help, settings): orbits.law=name is ORR_LAW_ID. Its settings, which have an effect
 * only beside it, between blanks: NUMBER(law, key, default, least, most, help) is orbits.key;
 * FORMULA(law, key, default, help) a text. */
/* clang-format off */
#define ORR_FORCE_LAWS(LAW, NUMBER, FORMULA)                                                       \
    LAW(NEWTON, newton, "F = G m1 m2 / r^2", )                                                     \
    LAW(POWER, power, "F = G m1 m2 r^n, n > -3",                                                   \
        NUMBER(power, law_exponent, "-2", -1000, 10, "exponent n of F ~ r^n, above -3"))           \
    LAW(YUKAWA, yukawa, "Newton and a force of finite range",                                      \
        NUMBER(yukawa, law_alpha, "0.1", -1, 1e+06, "strength relative to Newton's force")         \
        NUMBER(yukawa, law_lambda_au, "10", 1e-06, 1e+09, "range, AU"))                            \
    LAW(MOND, mond, "modified dynamics, simple interpolation",                                     \
        NUMBER(mond, law_a0, "7.99e-07", 0, 1e+09, "acceleration scale, AU/yr^2"))                 \
    LAW(PLUMMER, plummer, "softened Newton",                                                       \
        NUMBER(plummer, law_softening_au, "0.1", 0, 1e+06, "softening length, AU"))                \
    LAW(POST_NEWTONIAN, post_newtonian, "first post-Newtonian order, harmonic coordinates", )      \
    LAW(HOOKE, hooke, "F = G m1 m2 r", )                                                           \
    LAW(LAMBDA, lambda, "Newton and a linear repulsion",                                           \
        NUMBER(lambda, law_constant, "0", -1e+09, 1e+09,                                           \
               "outward relative acceleration per distance, 1/yr^2"))                              \
    LAW(EXPRESSION, expression, "F as an expression of r, m1, m2, G",                              \
        FORMULA(expression, expression, "39.4784176043574*m1*m2/r^2",                              \
                "attraction F of r, m1, m2 and G = 4 pi^2 (AU, years, solar masses)"))
/* clang-format on */

/* For uses of the list that need only some of it. */
#define ORR_NO_FORCE_LAW(...)
#define ORR_SETTINGS_OF_LAW(id, name, help, settings) settings

#define ORR_LAW_ID(id, name, help, settings) ORR_LAW_##id,
/* Force laws; numbers are indices of orr_force_laws[] and of sim_laws[]. */
enum orr_law { ORR_FORCE_LAWS(ORR_LAW_ID, ORR_NO_FORCE_LAW, ORR_NO_FORCE_LAW) ORR_LAWS };
#undef ORR_LAW_ID

struct orr_force_law {
    const char *name;     /* value of orbits.law */
    const char *settings; /* keys of its settings, each after a blank */
    const char *help;
};
extern const struct orr_force_law orr_force_laws[ORR_LAWS];

#endif
