/* dynamics_textbook.h - systems as textbooks have them, for the benchmark of dynamics.
 *
 * 60 systems of population biology, epidemics, chemistry, physiology, mechanics, circuits, lasers,
 * climate, genetics and economics, written from general knowledge with constants, starts and times
 * of their own; no list of a benchmark was opened. A coin of a fixed seed makes a half for
 * development and a half that is held out of them. Rows, noise, uneven times and the judge are
 * those of the random systems (dynamics_system.h), and every system is fit by their rules. */
#ifndef DYNAMICS_TEXTBOOK_H
#define DYNAMICS_TEXTBOOK_H

#include <gsl/gsl_randist.h>

#include "dynamics_system.h"

/* The sets, which are also the streams of their noise, and the systems of each. */
enum { DYN_TEXTBOOK = 41043, DYN_TEXTBOOK_HELD_OUT = 92831, DYN_TEXTBOOK_SYSTEMS = 30 };

struct dyn_textbook {
    const char *kind;
    double end; /* of the track, from 0 */
    const char *equation[DYN_DIMS];
    double start[2][DYN_DIMS];
};

static const struct dyn_textbook dyn_textbook[2 * DYN_TEXTBOOK_SYSTEMS] = {
    /* one equation */
    {"logistic growth", 8, {"0.8 * x0 * (1 - x0 / 75)"}, {{5}, {20}}},
    {"logistic growth with Allee effect",
     4,
     {"0.9 * x0 * (x0 / 2 - 1) * (1 - x0 / 12)"},
     {{2.6}, {3.2}}},
    {"logistic growth with harvest", 10, {"0.6 * x0 * (1 - x0 / 30) - 2.4"}, {{8}, {13}}},
    {"budworm", 12, {"0.5 * x0 * (1 - x0 / 9.5) - square(x0) / (1 + square(x0))"}, {{3}, {8}}},
    {"Gompertz growth", 10, {"0.35 * x0 * log(40 / x0)"}, {{1.5}, {8}}},
    {"Newton's cooling", 40, {"-0.07 * (x0 - 22)"}, {{90}, {65}}},
    {"fall with quadratic drag", 1.5, {"9.8 - 0.18 * square(x0)"}, {{0.5}, {2}}},
    {"charging of a capacitor", 6, {"(5 - x0) / 2.2"}, {{0.2}, {1.5}}},
    {"Michaelis-Menten", 7, {"-1.2 * x0 / (0.5 + x0)"}, {{8}, {5}}},
    {"autocatalysis", 4, {"1.4 * x0 - 0.6 * square(x0)"}, {{0.1}, {0.8}}},
    {"gene that activates itself",
     8,
     {"0.1 + 2.3 * square(x0) / (1.4 + square(x0)) - 0.8 * x0"},
     {{0.8}, {3.2}}},
    {"overdamped pendulum with torque", 15, {"1.2 - 0.9 * sin(x0)"}, {{0.3}, {2}}},
    {"mean-field magnet", 5, {"tanh(1.7 * x0 + 0.3) - x0"}, {{-0.1}, {0.3}}},
    {"energy balance of a planet", 1, {"2.4 - 0.034 * square(square(x0))"}, {{2.2}, {3.5}}},
    {"draining tank", 7, {"-0.4 * sqrt(x0)"}, {{4}, {3.2}}},
    {"Solow's growth", 30, {"0.3 * x0 ^ 0.33 - 0.12 * x0"}, {{0.5}, {7}}},
    {"SIS epidemic", 10, {"0.9 * x0 * (1 - x0) - 0.3 * x0"}, {{0.05}, {0.3}}},
    {"Bass's diffusion of innovations", 12, {"(0.03 + 0.4 * x0) * (1 - x0)"}, {{0.01}, {0.2}}},
    {"bimolecular reaction", 3, {"0.4 * (3 - x0) * (5 - x0)"}, {{0.1}, {1}}},
    /* two equations */
    {"Lotka-Volterra",
     20,
     {"1.1 * x0 - 0.4 * x0 * x1", "0.1 * x0 * x1 - 0.4 * x1"},
     {{5, 2}, {8, 3}}},
    {"Rosenzweig-MacArthur",
     40,
     {"0.9 * x0 * (1 - x0 / 7) - 1.2 * x0 * x1 / (1.5 + x0)",
      "0.8 * x0 * x1 / (1.5 + x0) - 0.4 * x1"},
     {{3, 0.5}, {5, 1.5}}},
    {"competition of two species",
     10,
     {"0.8 * x0 * (1 - (x0 + 0.6 * x1) / 10)", "0.5 * x1 * (1 - (x1 + 0.7 * x0) / 8)"},
     {{1, 2}, {4, 1}}},
    {"SIR epidemic with births",
     30,
     {"0.05 - 1.6 * x0 * x1 - 0.05 * x0", "1.6 * x0 * x1 - 0.45 * x1"},
     {{0.95, 0.02}, {0.6, 0.1}}},
    {"van der Pol", 15, {"x1", "1.4 * (1 - square(x0)) * x1 - x0"}, {{0.5, 0.1}, {2.5, 1}}},
    {"Duffing without forcing",
     15,
     {"x1", "1.2 * x0 - 0.5 * cube(x0) - 0.12 * x1"},
     {{2.6, 0.1}, {0.4, 0.8}}},
    {"pendulum with friction", 8, {"x1", "-0.15 * x1 - 4.9 * sin(x0)"}, {{2.2, 0.1}, {1.2, 0.5}}},
    {"FitzHugh-Nagumo",
     60,
     {"x0 - cube(x0) / 3 - x1 + 0.5", "0.08 * (x0 + 0.7 - 0.8 * x1)"},
     {{-1, -0.5}, {1.5, 0.4}}},
    {"Brusselator",
     15,
     {"1 + square(x0) * x1 - 3.6 * x0", "2.6 * x0 - square(x0) * x1"},
     {{1.5, 2}, {0.6, 1.2}}},
    {"Schnakenberg",
     25,
     {"0.1 - x0 + square(x0) * x1", "0.6 - square(x0) * x1"},
     {{0.4, 1.5}, {1.2, 0.8}}},
    {"Selkov's glycolysis",
     30,
     {"-x0 + 0.08 * x1 + square(x0) * x1", "0.6 - 0.08 * x1 - square(x0) * x1"},
     {{0.5, 1}, {1.2, 2}}},
    {"Lengyel-Epstein",
     10,
     {"10 - x0 - 4 * x0 * x1 / (1 + square(x0))", "2 * x0 * (1 - x1 / (1 + square(x0)))"},
     {{2, 6}, {1, 3}}},
    {"genetic toggle switch",
     6,
     {"3.5 / (1 + square(x1)) - x0", "2.6 / (1 + square(x0)) - 0.8 * x1"},
     {{0.5, 0.4}, {0.2, 1.5}}},
    {"charge in a magnetic field with friction",
     20,
     {"0.9 * x1 - 0.1 * x0 + 0.5", "-0.9 * x0 - 0.1 * x1"},
     {{2, 0.3}, {-1, 1.5}}},
    {"series circuit RLC", 12, {"x1", "4 - 0.5 * x1 - 2.7 * x0"}, {{0.2, 0.1}, {3, 1}}},
    {"cubic oscillator", 12, {"x1", "-1.5 * x0 - 0.6 * cube(x0)"}, {{1.2, 0.1}, {0.5, 1.8}}},
    {"laser, photons and inversion",
     6,
     {"1.4 * x0 * x1 - 0.9 * x0", "2 - 0.3 * x1 - 1.4 * x0 * x1"},
     {{0.1, 1}, {0.4, 0.3}}},
    {"phugoid of a glider",
     12,
     {"-sin(x1) - 0.1 * square(x0)", "x0 - cos(x1) / x0"},
     {{1.5, 0.2}, {0.9, -0.3}}},
    {"enzyme and complex",
     8,
     {"0.3 * x1 - 1.2 * x0 * (1 - x1)", "1.2 * x0 * (1 - x1) - 0.8 * x1"},
     {{4, 0.1}, {2.5, 0.3}}},
    {"chemostat",
     7,
     {"0.9 * x0 * x1 / (0.8 + x1) - 0.3 * x0", "0.3 * (5 - x1) - 1.8 * x0 * x1 / (0.8 + x1)"},
     {{0.3, 5}, {0.6, 3}}},
    {"pharmacokinetics of two compartments",
     8,
     {"0.3 * x1 - 0.9 * x0", "0.5 * x0 - 0.3 * x1"},
     {{10, 0.5}, {4, 6}}},
    {"two phase oscillators",
     12,
     {"1.5 + 0.4 * sin(x1 - x0)", "0.9 + 0.4 * sin(x0 - x1)"},
     {{0.2, 1.5}, {2, 0.5}}},
    {"recharge oscillator of El Nino",
     25,
     {"0.3 * x0 + 0.8 * x1 - 0.4 * cube(x0)", "-0.7 * x0 - 0.2 * x1"},
     {{0.4, 0.2}, {-1, 0.9}}},
    {"bead on a rotating hoop",
     15,
     {"x1", "sin(x0) * (2.6 * cos(x0) - 1.5) - 0.2 * x1"},
     {{0.2, 0.3}, {1.8, 0.2}}},
    /* three equations */
    {"Lorenz",
     4,
     {"10 * (x1 - x0)", "x0 * (28 - x2) - x1", "x0 * x1 - 2.7 * x2"},
     {{2, 3, 14}, {-4, -6, 18}}},
    {"Roessler",
     12,
     {"-x1 - x2", "x0 + 0.2 * x1", "0.2 + x2 * (x0 - 5.7)"},
     {{4, 3, 0.5}, {-5, 2, 0.1}}},
    {"Chen",
     1.5,
     {"35 * (x1 - x0)", "-7 * x0 - x0 * x2 + 28 * x1", "x0 * x1 - 3 * x2"},
     {{-3, 2, 20}, {5, 4, 16}}},
    {"SEIR epidemic with births",
     25,
     {"0.02 - 1.9 * x0 * x2 - 0.02 * x0", "1.9 * x0 * x2 - 0.52 * x1", "0.5 * x1 - 0.32 * x2"},
     {{0.9, 0.05, 0.03}, {0.7, 0.1, 0.1}}},
    {"rigid rotor",
     15,
     {"0.4 * x1 * x2", "-0.9 * x0 * x2", "0.5 * x0 * x1"},
     {{1.5, 0.3, 0.8}, {0.6, 1.4, -0.9}}},
    {"food chain of three",
     40,
     {"x0 * (1 - x0 / 5) - 1.1 * x0 * x1 / (1.2 + x0)",
      "0.9 * x0 * x1 / (1.2 + x0) - 0.6 * x1 * x2 / (0.8 + x1) - 0.25 * x1",
      "0.4 * x1 * x2 / (0.8 + x1) - 0.15 * x2"},
     {{2, 0.8, 0.4}, {3.5, 1.5, 0.9}}},
    {"Oregonator",
     10,
     {"5 * (0.02 * x1 - x0 * x1 + x0 * (1 - x0))", "10 * (0.7 * x2 - 0.02 * x1 - x0 * x1)",
      "x0 - x2"},
     {{0.1, 0.7, 0.5}, {0.6, 0.2, 0.2}}},
    {"repressilator",
     12,
     {"4 / (1 + cube(x2)) - x0", "4 / (1 + cube(x0)) - x1", "4 / (1 + cube(x1)) - x2"},
     {{0.5, 1, 2}, {1.5, 0.4, 0.8}}},
    {"drug by mouth",
     5,
     {"-1.2 * x0", "1.2 * x0 + 0.2 * x2 - x1", "0.4 * x1 - 0.2 * x2"},
     {{10, 0.2, 0.1}, {6, 2, 1}}},
    {"virus and target cells",
     15,
     {"1 - 0.2 * x0 - 0.5 * x0 * x2", "0.5 * x0 * x2 - 0.7 * x1", "2.5 * x1 - 2 * x2"},
     {{4, 0.1, 0.1}, {2, 0.8, 0.3}}},
    {"thermostat of Nose and Hoover",
     12,
     {"x1", "-x0 - x1 * x2", "1.5 * (square(x1) - 1)"},
     {{0.8, 1.2, 0.3}, {-1.5, 0.6, -0.4}}},
    {"competition of May and Leonard",
     40,
     {"x0 * (1 - x0 - 0.8 * x1 - 1.4 * x2)", "x1 * (1 - x1 - 0.8 * x2 - 1.4 * x0)",
      "x2 * (1 - x2 - 0.8 * x0 - 1.4 * x1)"},
     {{0.7, 0.2, 0.1}, {0.2, 0.3, 0.5}}},
    /* four equations */
    {"Kepler in the plane",
     12,
     {"x2", "x3", "-1.5 * x0 / (square(x0) + square(x1)) ^ 1.5",
      "-1.5 * x1 / (square(x0) + square(x1)) ^ 1.5"},
     {{1.4, 0.2, -0.1, 0.9}, {0.9, -0.6, 0.7, 1.1}}},
    {"two masses on springs",
     12,
     {"x2", "x3", "0.9 * x1 - 3.3 * x0", "0.9 * x0 - 2.1 * x1"},
     {{1.2, -0.3, 0.1, 0.5}, {0.4, 1.1, -0.8, 0.2}}},
    {"Henon-Heiles",
     25,
     {"x2", "x3", "-x0 - 2 * x0 * x1", "square(x1) - x1 - square(x0)"},
     {{0.3, 0.1, 0.1, 0.35}, {0.1, -0.25, 0.3, 0.1}}},
    {"projectile with quadratic drag",
     3,
     {"x2", "x3", "-0.06 * x2 * sqrt(square(x2) + square(x3))",
      "-9.8 - 0.06 * x3 * sqrt(square(x2) + square(x3))"},
     {{0.2, 1.5, 12, 14}, {3, 0.8, 7, 18}}},
    {"elastic pendulum",
     5,
     {"x2", "x3", "x0 * square(x3) + 9.8 * cos(x1) - 24 * (x0 - 1)",
      "-(9.8 * sin(x1) + 2 * x2 * x3) / x0"},
     {{1.3, 0.6, 0.1, 0.2}, {1.6, -0.4, 0.3, 0.5}}},
};

/* Splits an equation into its terms, each with its sign, as the grammar writes them. */
static inline void dyn_textbook_terms(struct dyn_system *s, int i, const char *equation)
{
    int depth = 0;
    const char *from = equation;
    for (const char *at = equation;; at++) {
        depth += (*at == '(') - (*at == ')');
        const bool splits = depth == 0 && at > from && (*at == '+' || *at == '-') && at[-1] == ' ';
        if (*at && !splits)
            continue;
        const int length = (int)(at - from) - (splits ? 1 : 0);
        dyn_add(s, i, "%s%.*s", *from == '-' || *from == '+' ? "" : "+ ", length, from);
        from = at;
        if (!*at)
            return;
    }
}

/* System number 0 .. DYN_TEXTBOOK_SYSTEMS - 1 of a half; ORR_EINVAL where it is not fit. */
static inline int dyn_textbook_make(int set, int number, struct dyn_system *s)
{
    int order[2 * DYN_TEXTBOOK_SYSTEMS], at = number;
    gsl_rng *rng = orr_rng_create(72, ORR_STAGE_TEST_SUITE, 8200);
    if (!rng)
        return ORR_ENOMEM;
    for (int k = 0; k < 2 * DYN_TEXTBOOK_SYSTEMS; k++)
        order[k] = k;
    gsl_ran_shuffle(rng, order, 2 * DYN_TEXTBOOK_SYSTEMS, sizeof *order);
    if (set == DYN_TEXTBOOK_HELD_OUT)
        at += DYN_TEXTBOOK_SYSTEMS;
    const struct dyn_textbook *book = &dyn_textbook[order[at]];
    *s = (struct dyn_system){.kind = book->kind, .uneven = at % 4 == 3};
    while (s->dims < DYN_DIMS && book->equation[s->dims])
        s->dims++;
    memcpy(s->feature, dyn_name, (size_t)s->dims * sizeof *dyn_name);
    s->feature[s->dims] = "t";
    memcpy(s->start, book->start, sizeof s->start);
    for (int i = 0; i < s->dims; i++)
        dyn_textbook_terms(s, i, book->equation[i]);
    gsl_rng_set(rng, (unsigned long)(set + number));
    for (int i = 0; i < DYN_ROWS; i++)
        s->t[i] = book->end / (DYN_ROWS - 1) *
                  (i + (s->uneven && i ? 0.8 * gsl_rng_uniform(rng) - 0.4 : 0));
    gsl_rng_free(rng);
    return dyn_join(s) && dyn_is_fit(s, false)
               ? 0
               : ORR_FAIL(ORR_EINVAL, "textbook system \"%s\" is not fit", s->kind);
}

/* Of any set. */
static inline int dyn_make_any(int set, int number, struct dyn_system *s)
{
    return set == DYN_TEXTBOOK || set == DYN_TEXTBOOK_HELD_OUT ? dyn_textbook_make(set, number, s)
                                                               : dyn_make(set, number, s);
}

#endif
