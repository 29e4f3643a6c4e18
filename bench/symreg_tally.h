/* symreg_tally.h - what the regression benchmark counts, prints and writes of its runs. */
#ifndef SYMREG_TALLY_H
#define SYMREG_TALLY_H

#include "bench.h"
#include "symreg/symreg.h"

/* Of all runs of one problem at one noise. */
struct tally {
    int runs, on_front, upper_bound, selected[SR_RULES];
    double seconds, evaluations, first_s; /* sums; first_s of runs that recovered */
};

static bool show_upper_bound; /* columns of --upper-bound */

static inline void print_tally(int number, const char *name, double percent, const struct tally *t)
{
    const double n = t->runs ? t->runs : 1;
    printf("%3d  %-26s%5g%%  %4d  %5.0f%%  %5.0f%% %5.0f%% %5.0f%%  ", number, name, percent,
           t->runs, 100 * t->on_front / n, 100 * t->selected[SR_ACCURACY] / n,
           100 * t->selected[SR_SCORE] / n, 100 * t->selected[SR_BEST] / n);
    if (t->on_front)
        printf("%7.2f", t->first_s / t->on_front);
    else
        printf("%7s", "-");
    printf("  %7.2f  %9.0f", t->seconds / n, t->seconds > 0 ? t->evaluations / t->seconds : 0);
    if (show_upper_bound)
        printf("   %5.0f%%", 100 * t->upper_bound / n);
    printf("\n");
    fflush(stdout);
}

static inline void add_row(struct bench_results *results, const char *what, const char *tool,
                           double percent, double value, const char *unit)
{
    char name[160];
    snprintf(name, sizeof name, "%s, %g%% noise: %s (%s)", what, percent, unit, tool);
    bench_add(results, name, (struct bench_value){value, NAN}, unit, NULL, 0);
}

static inline void add_tally(struct bench_results *results, const char *what, const char *tool,
                             double percent, const struct tally *t)
{
    const double n = t->runs ? t->runs : 1;
    add_row(results, what, tool, percent, 100 * t->on_front / n, "% recovered on front");
    add_row(results, what, tool, percent, 100 * t->selected[SR_BEST] / n, "% selected by best");
    if (t->on_front)
        add_row(results, what, tool, percent, t->first_s / t->on_front, "s to first recovery");
    if (show_upper_bound) {
        add_row(results, what, tool, percent, 100 * t->upper_bound / n,
                "% upper bound of the fronts");
        add_row(results, what, tool, percent, t->upper_bound - t->on_front,
                "runs missed by the search");
        add_row(results, what, tool, percent, t->runs - t->upper_bound, "runs not identifiable");
    }
}

static inline void sum(struct tally *total, const struct tally *part)
{
    total->runs += part->runs;
    total->on_front += part->on_front;
    total->upper_bound += part->upper_bound;
    total->seconds += part->seconds;
    total->evaluations += part->evaluations;
    total->first_s += part->first_s;
    for (int rule = 0; rule < SR_RULES; rule++)
        total->selected[rule] += part->selected[rule];
}

static inline void print_heads(const char *tool)
{
    printf("%s\n  #  %-26s noise  runs   front  accur. score  best   first s  seconds  eval./s%s\n",
           tool, "problem", show_upper_bound ? "  upper bound" : "");
}

static inline void print_published(void)
{
    printf(
        "\nPublished, on other data and longer budgets: PySR recovers Kepler, Newton and Hubble\n"
        "5/5, Planck and Rydberg 0/5 (EmpiricalBench); exact on Feynman (SRBench): Operon 16.6%%\n"
        "at noise 0, 0.3%% at 0.001; the best at 0.01 is gplearn with 13.2%%.\n");
}

#endif
