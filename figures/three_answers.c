/* three_answers.c - the answers to three questions at the top of the page, from the run's own
 * values.
 *
 * A run has one seed, so no interval separates a difference from chance. The rule is therefore
 * coarse (docs/report.md): an error counts as better when it is at most 0.8 times the other, as
 * worse when the other is at most 0.8 times it, and as about equal in between. */
#include "report.h"

#include <math.h>
#include <string.h>

static const double clearly = 0.8; /* ratio of the smaller to the larger error */

enum { MAGNITUDES, PLANETS, ECCENTRIC, MEASURES };

/* A value of a source as shown, and the error used for comparison; NaN: none. */
struct measured {
    double error;
    char shown[64];
};

void report_percent(double error, char text[32])
{
    const double percent = 100 * error;
    const int decimals = percent >= 9.95 ? 0 : percent >= 0.995 ? 1 : percent >= 0.0995 ? 2 : 3;
    if (error >= 10)
        snprintf(text, 32, "%.0f times", error);
    else if (percent > 0 && percent < 0.001)
        snprintf(text, 32, "<0.001%%");
    else
        snprintf(text, 32, "%.*f%%", percent > 0 ? decimals : 0, percent);
}

static int measure_source(const struct report_run *run, int source, int measure, struct measured *m)
{
    const struct report_source *s = &run->source[source];
    *m = (struct measured){.error = NAN};
    if (measure == MAGNITUDES) {
        if (s->has_laws && isfinite(s->r2_log)) {
            m->error = 1 - s->r2_log;
            snprintf(m->shown, sizeof m->shown, "%.3f", s->r2_log);
        }
        return 0;
    }
    const int first = measure == PLANETS ? 0 : REPORT_PLANETS,
              end = measure == PLANETS ? REPORT_PLANETS : REPORT_BODIES;
    if (!s->has_vectors || report_bodies(run) < end)
        return 0;
    struct report_agreement a;
    TRY(report_agree(&s->orbit[first], (size_t)(end - first),
                     measure == PLANETS ? REPORT_EVEN_IN_TIME : REPORT_EVEN_IN_ANOMALY,
                     REPORT_NO_BASELINE, &a));
    m->error = a.relative_error;
    if (isfinite(m->error))
        report_percent(m->error, m->shown);
    return 0;
}

/* Comparison of source a with source b: numbers of values. */
struct compared {
    int better, worse, all;
};

static int compare_sources(const struct report_run *run, int a, int b, struct compared *total,
                           char *text)
{
    static const char *const name[MEASURES] = {"R\u00b2 of log force", "median error on planets",
                                               "median error on eccentric bodies"};
    bool any = false;
    for (int k = 0; k < MEASURES; k++) {
        struct measured x, y;
        TRY(measure_source(run, a, k, &x));
        TRY(measure_source(run, b, k, &y));
        if (!isfinite(x.error) || !isfinite(y.error))
            continue;
        const bool better = x.error <= clearly * y.error && x.error < y.error,
                   worse = y.error <= clearly * x.error && y.error < x.error;
        total->better += better;
        total->worse += worse;
        total->all++;
        orr_append(text, REPORT_ANSWER, "%s%s %s against %s (%s)", any ? ", " : "", name[k],
                   x.shown, y.shown,
                   better  ? "better"
                   : worse ? "worse"
                           : "about equal");
        any = true;
    }
    return 0;
}

static int did_pretraining_help(const struct report_run *run, struct report_answer *answer)
{
    const int untrained = report_find(run, "untrained");
    struct compared total = {0};
    answer->question = "Did pretraining help?";
    if (untrained < 0) {
        snprintf(answer->text, REPORT_ANSWER, "Not known: this run has no untrained model.");
        return 0;
    }
    char rest[REPORT_ANSWER] = "";
    for (int s = 0; s < run->source_count; s++) {
        if (run->source[s].role != REPORT_ATTENTION)
            continue;
        char one[REPORT_ANSWER] = "";
        TRY(compare_sources(run, s, untrained, &total, one));
        if (*one)
            orr_append(rest, REPORT_ANSWER, "\n%s: %s.", run->source[s].title, one);
    }
    const struct compared t = total;
    orr_append(
        answer->text, REPORT_ANSWER, "%s%s",
        !t.all                              ? "Not known: no forces were predicted."
        : !t.better && !t.worse             ? "No clear difference."
        : !t.worse && 2 * t.better >= t.all ? "Yes."
        : !t.better && 2 * t.worse >= t.all ? "No, it hurt."
        : t.better > t.worse                ? "In part."
        : t.better < t.worse                ? "No: values are about equal or worse."
                                            : "It helped in some values and hurt in others.",
        t.all ? " Pretrained models against the untrained one, by forces that were not labelled:"
              : "");
    orr_append(answer->text, REPORT_ANSWER, "%s", rest);
    return 0;
}

static int did_attention_matter(const struct report_run *run, struct report_answer *answer)
{
    int first = -1, models = 0;
    struct compared total = {0};
    char rest[REPORT_ANSWER] = "";
    answer->question = "Did attention matter?";
    for (int s = 0; s < run->source_count; s++) {
        if (run->source[s].role != REPORT_ATTENTION)
            continue;
        char one[REPORT_ANSWER] = "";
        if (models++)
            TRY(compare_sources(run, s, first, &total, one));
        else
            first = s;
        if (*one)
            orr_append(rest, REPORT_ANSWER, "\n%s against %s: %s.", run->source[s].title,
                       run->source[first].title, one);
    }
    orr_append(answer->text, REPORT_ANSWER, "%s%s",
               models < 2                      ? "Not known: this run has one attention variant."
               : !total.all                    ? "Not known: no forces were predicted."
               : !total.better && !total.worse ? "Not clearly."
               : total.better && total.worse   ? "In some values, in both directions."
                                               : "In some values.",
               rest);
    return 0;
}

/* Number of samples for which the headline rule selects the law; -1: no search. */
static int samples_found(const struct report_run *run, int source)
{
    int count = -1;
    for (size_t i = 0; i < run->law_count; i++) {
        const struct report_law *law = &run->law[i];
        if (law->source == source && !strcmp(law->rule, report_headline_rule(run)))
            count = (count < 0 ? 0 : count) + law->selected_true;
    }
    return count;
}

static void is_the_law_there(const struct report_run *run, struct report_answer *answer)
{
    int most = -1;
    char rest[REPORT_ANSWER] = "";
    answer->question = "Does the untrained model find the law as well?";
    const int untrained = report_find(run, "untrained"),
              ours = untrained < 0 || !run->law_count ? -1 : samples_found(run, untrained);
    for (int s = 0; s < run->source_count && run->law_count; s++) {
        const int count = samples_found(run, s);
        if (count < 0)
            continue;
        if (run->source[s].role == REPORT_ATTENTION && count > most)
            most = count;
        orr_append(rest, REPORT_ANSWER, "%s%s %d", *rest ? ", " : "", run->source[s].title, count);
    }
    if (ours < 0 || most < 0) {
        snprintf(answer->text, REPORT_ANSWER,
                 "Not known: this run has no search for laws in its models and an untrained one.");
        return;
    }
    const bool fails = !samples_found(run, report_find(run, "truth"));
    orr_append(
        answer->text, REPORT_ANSWER,
        "%s Samples of %d from which %s law is selected by the rule \"%s\": %s.",
        fails ? "Not known: the search does not find the law in the true forces either, so that it "
                "says nothing about the models."
        : !most && !ours ? "No model finds it, trained or not."
        : ours >= most   ? "Yes, so that finding it says nothing about pretraining."
        : ours           ? "Less often than trained models."
                         : "No, only trained models find it.",
        run->samples, run->true_law.newton ? "Newton's" : "the run's", report_headline_rule(run),
        rest);
}

int report_answers(const struct report_run *run, struct report_answer answer[REPORT_ANSWERS])
{
    memset(answer, 0, REPORT_ANSWERS * sizeof *answer);
    TRY(did_pretraining_help(run, &answer[0]));
    TRY(did_attention_matter(run, &answer[1]));
    is_the_law_there(run, &answer[2]);
    return 0;
}
