/* dynamics_grammar.h - random systems of one to four equations of motion in the manner of the
 * sciences.
 *
 * dyn_make(set, number, &s) of dynamics_system.h draws one system from the random stream of (set,
 * number): its equations, two starts and the times of a table. Kinds: one population or substance
 * (gains and losses), oscillators, prey and predators, excitable pairs, substances in compartments,
 * rings of feedback, sums of linear terms and products, rotors, phases, irregular motion, motion in
 * a plane. Constants have two or three digits. No published system was looked up for it; set
 * DYN_DEVELOPMENT is for work on the engine, set DYN_HELD_OUT for the final measurement, once. */
#ifndef DYNAMICS_GRAMMAR_H
#define DYNAMICS_GRAMMAR_H

#include <gsl/gsl_randist.h>
#include <stdarg.h>

#include "dynamics_flow.h"

enum { DYN_DEVELOPMENT = 30301, DYN_HELD_OUT = 81647, DYN_SYSTEMS = 60 };
enum { DYN_TERMS = 8, DYN_TERM = 160, DYN_TEXT = DYN_TERMS * DYN_TERM, DYN_NODES = 32 };
#define DYN_TOLERANCE 1e-12
static const char *const dyn_name[DYN_DIMS] = {"x0", "x1", "x2", "x3"};

struct dyn_system {
    int dims, terms[DYN_DIMS];
    const char *kind;
    bool uneven, driven;                      /* uneven times; t in an equation */
    char term[DYN_DIMS][DYN_TERMS][DYN_TERM]; /* of each equation, with its sign */
    char text[DYN_DIMS][DYN_TEXT];            /* the equations */
    const char *feature[DYN_DIMS + 1];        /* x0 ..., t */
    struct sr_expr equation[DYN_DIMS];
    double start[2][DYN_DIMS]; /* of the table, and of the other solution */
    double t[DYN_ROWS];
    double x[2][DYN_ROWS * DYN_DIMS]; /* (rows, dims) solutions from both starts */
};

/* ---- terms */

static inline int dyn_below(gsl_rng *rng, int n)
{
    return (int)(gsl_rng_uniform(rng) * n);
}

/* A constant of two or three digits, in equal ratios from low to high. */
static inline double dyn_constant(gsl_rng *rng, double low, double high)
{
    char text[32];
    const double value = low * orr_pow(high / low, gsl_rng_uniform(rng));
    snprintf(text, sizeof text, dyn_below(rng, 2) ? "%.2g" : "%.3g", value);
    return strtod(text, NULL);
}

/* A rate. */
static inline double dyn_rate(gsl_rng *rng)
{
    return dyn_constant(rng, 0.2, 3);
}

/* Adds a term to equation i; the text begins with its sign. */
static inline void dyn_add(struct dyn_system *s, int i, const char *format, ...)
{
    va_list list;
    if (s->terms[i] == DYN_TERMS)
        return;
    va_start(list, format);
    vsnprintf(s->term[i][s->terms[i]++], DYN_TERM, format, list);
    va_end(list);
}

/* A rate that rises with state j, without its factor, as text of DYN_TERM bytes. */
static inline const char *dyn_rising(gsl_rng *rng, int j, char *text)
{
    const char *x = dyn_name[j];
    switch (dyn_below(rng, 6)) {
    case 0:
        snprintf(text, DYN_TERM, "%s / (%g + %s)", x, dyn_constant(rng, 0.3, 3), x);
        break;
    case 1:
        snprintf(text, DYN_TERM, "square(%s) / (%g + square(%s))", x, dyn_constant(rng, 0.3, 4), x);
        break;
    case 2:
        snprintf(text, DYN_TERM, "(1 - exp(-%g * %s))", dyn_constant(rng, 0.3, 2), x);
        break;
    default:
        snprintf(text, DYN_TERM, "%s", x);
    }
    return text;
}

/* A production that state j slows down, without its factor. */
static inline const char *dyn_falling(gsl_rng *rng, int j, char *text)
{
    const char *x = dyn_name[j];
    const double k = dyn_constant(rng, 0.3, 3);
    switch (dyn_below(rng, 3)) {
    case 0:
        snprintf(text, DYN_TERM, "exp(-%g * %s)", k, x);
        break;
    case 1:
        snprintf(text, DYN_TERM, "1 / (%g + %s)", k, x);
        break;
    default:
        snprintf(text, DYN_TERM, "1 / (%g + square(%s))", k, x);
    }
    return text;
}

/* Gains of a quantity by itself or from outside. */
static inline void dyn_gain(struct dyn_system *s, gsl_rng *rng, int i)
{
    const char *x = dyn_name[i];
    char text[DYN_TERM];
    switch (dyn_below(rng, 6)) {
    case 0:
        dyn_add(s, i, "+ %g", dyn_rate(rng));
        break;
    case 1:
        dyn_add(s, i, "+ %g * sqrt(%s)", dyn_rate(rng), x);
        break;
    case 2:
        dyn_add(s, i, "+ %g * %s", dyn_rate(rng), dyn_falling(rng, i, text));
        break;
    case 3:
        dyn_add(s, i, "+ %g", dyn_constant(rng, 0.05, 0.5));
        dyn_add(s, i, "+ %g * %s", dyn_rate(rng), dyn_rising(rng, i, text));
        break;
    default:
        dyn_add(s, i, "+ %g * %s", dyn_rate(rng), x);
    }
}

static inline void dyn_loss(struct dyn_system *s, gsl_rng *rng, int i)
{
    static const char *const form[] = {"- %g * %s",          "- %g * %s",       "- %g * square(%s)",
                                       "- %g * square(%s)",  "- %g * cube(%s)", "- %g * sin(%s)",
                                       "- %g * %s * log(%s)"};
    char text[DYN_TERM];
    const int kind = dyn_below(rng, 10);
    if (kind < 7)
        dyn_add(s, i, form[kind], dyn_rate(rng), dyn_name[i], dyn_name[i]);
    else
        dyn_add(s, i, "- %g * %s", dyn_rate(rng), dyn_rising(rng, i, text));
}

/* Now and then a term that is explicit in time. */
static inline void dyn_drive(struct dyn_system *s, gsl_rng *rng, int i, int one_in)
{
    if (dyn_below(rng, one_in))
        return;
    s->driven = true;
    if (dyn_below(rng, 4))
        dyn_add(s, i, "+ %g * %s(%g * t)", dyn_constant(rng, 0.2, 2),
                dyn_below(rng, 2) ? "sin" : "cos", dyn_constant(rng, 0.5, 3));
    else
        dyn_add(s, i, "+ %g * exp(-%g * t)", dyn_constant(rng, 0.5, 3), dyn_constant(rng, 0.2, 1));
}

/* A force that drives x back, into the equation of its velocity. */
static inline void dyn_restore(struct dyn_system *s, gsl_rng *rng, int v, int x)
{
    const char *n = dyn_name[x];
    switch (dyn_below(rng, 8)) {
    case 0:
        dyn_add(s, v, "- %g * %s", dyn_rate(rng), n);
        dyn_add(s, v, "- %g * cube(%s)", dyn_rate(rng), n);
        break;
    case 1:
        dyn_add(s, v, "+ %g * %s", dyn_rate(rng), n);
        dyn_add(s, v, "- %g * cube(%s)", dyn_rate(rng), n);
        break;
    case 2:
        dyn_add(s, v, "- %g * cube(%s)", dyn_rate(rng), n);
        break;
    case 3:
        dyn_add(s, v, "- %g * %s", dyn_rate(rng), n);
        dyn_add(s, v, "+ %g * square(%s)", dyn_constant(rng, 0.1, 1), n);
        break;
    case 4:
    case 5:
        dyn_add(s, v, "- %g * sin(%s)", dyn_constant(rng, 0.5, 4), n);
        break;
    default:
        dyn_add(s, v, "- %g * %s", dyn_constant(rng, 0.5, 4), n);
    }
}

static inline void dyn_damp(struct dyn_system *s, gsl_rng *rng, int v, int x)
{
    const char *n = dyn_name[v];
    switch (dyn_below(rng, 7)) {
    case 0:
        dyn_add(s, v, "- %g * %s * abs(%s)", dyn_constant(rng, 0.1, 1), n, n);
        break;
    case 1:
        dyn_add(s, v, "- %g * cube(%s)", dyn_constant(rng, 0.05, 0.5), n);
        break;
    case 2: /* towards a limit cycle */
        dyn_add(s, v, "+ %g * %s", dyn_rate(rng), n);
        dyn_add(s, v, "- %g * square(%s) * %s", dyn_rate(rng), dyn_name[x], n);
        break;
    case 3:
        dyn_add(s, v, "+ %g * %s", dyn_constant(rng, 0.1, 1), n);
        dyn_add(s, v, "- %g * cube(%s)", dyn_constant(rng, 0.1, 1), n);
        break;
    case 4:
        break;
    default:
        dyn_add(s, v, "- %g * %s", dyn_constant(rng, 0.05, 1), n);
    }
}

/* ---- kinds: each fills the terms of all equations */

static inline void dyn_one(struct dyn_system *s, gsl_rng *rng)
{
    dyn_gain(s, rng, 0);
    dyn_loss(s, rng, 0);
    if (dyn_below(rng, 3) == 0)
        dyn_loss(s, rng, 0);
    dyn_drive(s, rng, 0, 8);
}

/* x0' = x1, or two such pairs that are coupled; a third state drives where dims is 3. */
static inline void dyn_oscillator(struct dyn_system *s, gsl_rng *rng)
{
    for (int i = 0; i + 1 < s->dims; i += 2) {
        dyn_add(s, i, "+ %s", dyn_name[i + 1]);
        dyn_restore(s, rng, i + 1, i);
        dyn_damp(s, rng, i + 1, i);
        dyn_drive(s, rng, i + 1, 8);
    }
    if (s->dims == 3) {
        dyn_add(s, 1, "+ %g * %s", dyn_rate(rng), dyn_name[2]);
        dyn_add(s, 2, "- %g * %s", dyn_rate(rng), dyn_name[2]);
        dyn_add(s, 2, "- %g * %s", dyn_rate(rng), dyn_name[dyn_below(rng, 2)]);
    }
    if (s->dims == 4) {
        const double k = dyn_rate(rng), other = dyn_below(rng, 2) ? k : dyn_rate(rng);
        dyn_add(s, 1, "+ %g * (x2 - x0)", k);
        dyn_add(s, 3, "- %g * (x2 - x0)", other);
    }
}

/* Each state is eaten by the next, or all compete for one resource. */
static inline void dyn_food(struct dyn_system *s, gsl_rng *rng)
{
    const bool compete = s->dims < 4 && dyn_below(rng, 4) == 0;
    char rate[DYN_TERM];
    for (int i = 0; i < s->dims; i++) {
        if (i == 0 || compete)
            dyn_add(s, i, "+ %g * %s", dyn_rate(rng), dyn_name[i]);
        else
            dyn_add(s, i, "- %g * %s", dyn_constant(rng, 0.2, 1.5), dyn_name[i]);
        if (compete || (i == 0 && dyn_below(rng, 2)) || dyn_below(rng, 6) == 0)
            dyn_add(s, i, "- %g * square(%s)", dyn_constant(rng, 0.1, 1), dyn_name[i]);
        if (i + 1 == s->dims)
            break;
        if (compete) {
            dyn_add(s, i, "- %g * %s * %s", dyn_rate(rng), dyn_name[i], dyn_name[i + 1]);
            dyn_add(s, i + 1, "- %g * %s * %s", dyn_rate(rng), dyn_name[i], dyn_name[i + 1]);
            continue;
        }
        dyn_rising(rng, i, rate);
        dyn_add(s, i, "- %g * %s * %s", dyn_rate(rng), dyn_name[i + 1], rate);
        dyn_add(s, i + 1, "+ %g * %s * %s", dyn_rate(rng), dyn_name[i + 1], rate);
    }
}

/* A fast state with a cubic or a self-reinforcing reaction, and slow ones that hold it back. */
static inline void dyn_excitable(struct dyn_system *s, gsl_rng *rng)
{
    if (dyn_below(rng, 2)) {
        dyn_add(s, 0, "+ %g * x0", dyn_rate(rng));
        dyn_add(s, 0, "- %g * cube(x0)", dyn_constant(rng, 0.2, 2));
        dyn_add(s, 0, "- %g * x1", dyn_rate(rng));
        if (dyn_below(rng, 2))
            dyn_add(s, 0, "+ %g", dyn_constant(rng, 0.2, 1));
        dyn_add(s, 1, "+ %g * x0", dyn_constant(rng, 0.1, 1));
        dyn_add(s, 1, "- %g * x1", dyn_constant(rng, 0.1, 1));
        if (dyn_below(rng, 2))
            dyn_add(s, 1, "+ %g", dyn_constant(rng, 0.05, 0.5));
    } else {
        const double k = dyn_rate(rng);
        const char *reaction = dyn_below(rng, 2) ? "square(x0) * x1" : "x0 * x1";
        dyn_add(s, 0, "+ %g * %s", k, reaction);
        dyn_add(s, 0, "- %g * x0", dyn_rate(rng));
        if (dyn_below(rng, 2))
            dyn_add(s, 0, "+ %g", dyn_constant(rng, 0.1, 1));
        dyn_add(s, 1, "+ %g", dyn_rate(rng));
        dyn_add(s, 1, "- %g * %s", k, reaction);
        if (dyn_below(rng, 2))
            dyn_add(s, 1, "- %g * x1", dyn_constant(rng, 0.05, 0.5));
    }
    for (int i = 2; i < s->dims; i++) {
        dyn_add(s, i, "+ %g * %s", dyn_constant(rng, 0.2, 1), dyn_name[dyn_below(rng, i)]);
        dyn_add(s, i, "- %g * %s", dyn_constant(rng, 0.2, 1), dyn_name[i]);
        if (dyn_below(rng, 2))
            dyn_add(s, 0, "- %g * %s", dyn_constant(rng, 0.1, 1), dyn_name[i]);
    }
}

/* What leaves one compartment arrives in the next. */
static inline void dyn_compartments(struct dyn_system *s, gsl_rng *rng)
{
    char rate[DYN_TERM];
    for (int i = 0; i + 1 < s->dims || (i < s->dims && dyn_below(rng, 2)); i++) {
        const int to = (i + 1) % s->dims;
        const double k = dyn_rate(rng);
        dyn_rising(rng, i, rate);
        if (dyn_below(rng, 3) == 0)
            snprintf(rate + strlen(rate), DYN_TERM - strlen(rate), " * %s", dyn_name[to]);
        dyn_add(s, i, "- %g * %s", k, rate);
        dyn_add(s, to, "+ %g * %s", k, rate);
    }
    if (dyn_below(rng, 2))
        dyn_add(s, 0, "+ %g", dyn_constant(rng, 0.1, 2));
    if (dyn_below(rng, 2))
        dyn_add(s, s->dims - 1, "- %g * %s", dyn_rate(rng), dyn_name[s->dims - 1]);
    dyn_drive(s, rng, 0, 10);
}

/* Each state is produced as the one before it says, and decays. */
static inline void dyn_feedback(struct dyn_system *s, gsl_rng *rng)
{
    char rate[DYN_TERM];
    for (int i = 0; i < s->dims; i++) {
        const int from = (i + s->dims - 1) % s->dims;
        const bool falls = i == 0 || dyn_below(rng, 4) == 0;
        dyn_add(s, i, "+ %g * %s", dyn_constant(rng, 0.5, 5),
                falls ? dyn_falling(rng, from, rate) : dyn_rising(rng, from, rate));
        dyn_add(s, i, "- %g * %s", dyn_constant(rng, 0.2, 2), dyn_name[i]);
    }
}

/* Linear terms and products of two states, as they come. */
static inline void dyn_quadratic(struct dyn_system *s, gsl_rng *rng)
{
    for (int i = 0; i < s->dims; i++) {
        const int j = (i + 1 + dyn_below(rng, s->dims - 1)) % s->dims;
        dyn_add(s, i, "- %g * %s", dyn_rate(rng), dyn_name[i]);
        dyn_add(s, i, "%c %g * %s", dyn_below(rng, 2) ? '+' : '-', dyn_constant(rng, 0.3, 10),
                dyn_name[j]);
        if (dyn_below(rng, 3))
            dyn_add(s, i, "%c %g * %s * %s", dyn_below(rng, 2) ? '+' : '-', dyn_rate(rng),
                    dyn_name[dyn_below(rng, s->dims)], dyn_name[(j + 1) % s->dims]);
        if (dyn_below(rng, 4) == 0)
            dyn_add(s, i, "+ %g", dyn_rate(rng));
    }
}

/* Products of the other states, whose energy is kept or damped. */
static inline void dyn_rotor(struct dyn_system *s, gsl_rng *rng)
{
    const bool damped = dyn_below(rng, 2);
    for (int i = 0; i < s->dims; i++) {
        dyn_add(s, i, "%c %g * %s * %s", i % 2 ? '-' : '+', dyn_rate(rng),
                dyn_name[(i + 1) % s->dims], dyn_name[(i + 2) % s->dims]);
        if (damped)
            dyn_add(s, i, "- %g * %s", dyn_constant(rng, 0.03, 0.3), dyn_name[i]);
    }
}

/* Angles that run at their own rates and pull each other. */
static inline void dyn_phases(struct dyn_system *s, gsl_rng *rng)
{
    for (int i = 0; i < s->dims; i++) {
        const int j = (i + 1) % s->dims;
        dyn_add(s, i, "+ %g", dyn_constant(rng, 0.3, 2));
        dyn_add(s, i, "+ %g * %s(%s - %s)", dyn_rate(rng), dyn_below(rng, 4) ? "sin" : "cos",
                dyn_name[j], dyn_name[i]);
    }
}

/* x0, x1 and their velocities x2, x3: a central force, a turning field, drag. */
static inline void dyn_plane(struct dyn_system *s, gsl_rng *rng)
{
    const double k = dyn_constant(rng, 0.5, 4);
    const double turn = dyn_rate(rng), drag = dyn_constant(rng, 0.05, 0.5);
    const bool turns = dyn_below(rng, 2), drags = dyn_below(rng, 2);
    char by[DYN_TERM] = "";
    switch (dyn_below(rng, 4)) {
    case 0:
        snprintf(by, sizeof by, " / (square(x0) + square(x1)) ^ 1.5");
        break;
    case 1:
        snprintf(by, sizeof by, " / (square(x0) + square(x1))");
        break;
    case 2:
        snprintf(by, sizeof by, " / (%g + square(x0) + square(x1))", dyn_constant(rng, 0.2, 2));
        break;
    default:
        break;
    }
    for (int i = 0; i < 2; i++) {
        dyn_add(s, i, "+ x%d", i + 2);
        dyn_add(s, i + 2, "- %g * x%d%s", k, i, by);
        if (turns)
            dyn_add(s, i + 2, "%c %g * x%d", i ? '-' : '+', turn, 3 - i);
        if (drags)
            dyn_add(s, i + 2, "- %g * x%d", drag, i + 2);
    }
}

/* Products that keep the energy, losses, and linear terms that drive; dyn_make() takes those whose
 * solutions do not repeat. */
static inline void dyn_irregular(struct dyn_system *s, gsl_rng *rng)
{
    const int i = dyn_below(rng, s->dims), j = (i + 1) % s->dims, k = (i + 2) % s->dims;
    const double rate = dyn_rate(rng);
    for (int d = 0; d < s->dims; d++)
        dyn_add(s, d, "- %g * %s", dyn_constant(rng, 0.2, 10), dyn_name[d]);
    dyn_add(s, i, "+ %g * %s", dyn_constant(rng, 1, 10), dyn_name[j]);
    dyn_add(s, j, "+ %g * %s", dyn_constant(rng, 1, 30), dyn_name[i]);
    if (dyn_below(rng, 3) == 0)
        dyn_add(s, dyn_below(rng, s->dims), "%c %g", dyn_below(rng, 2) ? '+' : '-', dyn_rate(rng));
    dyn_add(s, j, "- %g * %s * %s", rate, dyn_name[i], dyn_name[k]);
    dyn_add(s, k, "+ %g * %s * %s", rate, dyn_name[i], dyn_name[j]);
}

struct dyn_kind {
    const char *name;
    void (*write)(struct dyn_system *, gsl_rng *);
    int least, most;  /* dimensions */
    double low, high; /* of starts; low below 0: of either sign */
};
static const struct dyn_kind dyn_kinds[] = {{"one quantity", dyn_one, 1, 1, 0.1, 5},
                                            {"oscillator", dyn_oscillator, 2, 4, -2, 2},
                                            {"food chain", dyn_food, 2, 4, 0.3, 3},
                                            {"excitable", dyn_excitable, 2, 3, 0.1, 2},
                                            {"compartments", dyn_compartments, 2, 4, 0.1, 4},
                                            {"feedback", dyn_feedback, 2, 4, 0.1, 3},
                                            {"quadratic", dyn_quadratic, 2, 4, -2, 2},
                                            {"rotor", dyn_rotor, 3, 3, -2, 2},
                                            {"phases", dyn_phases, 2, 3, 0.1, 3},
                                            {"irregular", dyn_irregular, 3, 3, -2, 2},
                                            {"plane", dyn_plane, 4, 4, -1.5, 1.5}};
enum { DYN_KINDS = sizeof dyn_kinds / sizeof *dyn_kinds };

#endif
