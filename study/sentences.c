/* sentences.c - the verdict in words. The values alone choose the sentences. */
#include "beside.h"
#include "verdict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NAMED = 3, MOST = 6 }; /* differences and attentions named in a sentence, at most */

static int find_question(const struct verdict *v, const char *id)
{
    int q = 0;
    while (v->question[q].id && strcmp(v->question[q].id, id) != 0)
        q++;
    return q;
}

/* Writes "0.21 +- 0.15", or a lone number such as "1" where there is no interval. */
static void say_mean(char text[2048], struct orr_mean mean)
{
    orr_append(text, 2048, "%.3g", mean.mean);
    if (mean.half > 0)
        orr_append(text, 2048, " +- %.2g", mean.half);
}

/* Lists the means by attention, "0.21 +- 0.15 (softmax), ...", for attentions that have one;
 * returns how many. ORR_ROW_GAIN also marks those that are not significant. */
static int say_column(const struct verdict *v, int question, enum orr_row_number column,
                      char text[2048])
{
    int said = 0;
    for (int a = 0; a < v->attentions; a++) {
        const struct orr_mean mean = verdict_mean(v, question, a, -1, column);
        if (!mean.n || ++said > MOST)
            continue;
        orr_append(text, 2048, said > 1 ? ", " : "");
        say_mean(text, mean);
        orr_append(text, 2048, " (%s", v->attention[a]);
        if (column == ORR_ROW_GAIN && mean.n < 3)
            orr_append(text, 2048, ", %d seed%s", mean.n, mean.n == 1 ? "" : "s");
        else if (column == ORR_ROW_GAIN && !verdict_significant(mean))
            orr_append(text, 2048, ", not significant");
        orr_append(text, 2048, ")");
    }
    if (said > MOST)
        orr_append(text, 2048, ", and %d more", said - MOST);
    return said;
}

/* ------------------------------------------------- 1: is it the positions that teach the force? */

/* The smallest number of labels with values; -1: none. */
static int fewest_labels(const struct verdict *v)
{
    for (int q = 0; v->question[q].id; q++) {
        char scratch[2048] = "";
        if (v->question[q].topic == VERDICT_LABELS && say_column(v, q, ORR_ROW_VALUE, scratch) > 0)
            return q;
    }
    return -1;
}

/* Number of label values with a significant gain or loss against the baseline. */
struct count {
    int gains, losses, all;
};
static struct count count_gains(const struct verdict *v)
{
    struct count count = {0, 0, 0};
    for (int q = 0; v->question[q].id; q++)
        for (int a = 0; v->question[q].topic == VERDICT_LABELS && a < v->attentions; a++) {
            const struct orr_mean mean = verdict_mean(v, q, a, -1, ORR_ROW_GAIN);
            count.all += mean.n >= 3;
            count.gains += verdict_significant(mean) && mean.mean > 0;
            count.losses += verdict_significant(mean) && mean.mean < 0;
        }
    return count;
}

/* Whether a count exceeds its expectation by chance by more than two standard deviations, for
 * independent comparisons. */
static bool is_many(int beyond, double chance)
{
    return beyond > chance + 2 * sqrt(chance);
}

/* Gains and losses are counted separately; by chance 2.5% of the comparisons show each. */
static const char *what_it_teaches(struct count count)
{
    const bool helps = is_many(count.gains, 0.025 * count.all),
               hinders = is_many(count.losses, 0.025 * count.all);
    if (helps && hinders)
        return "Pretraining on positions improves label efficiency in some cases and worsens it "
               "in others";
    if (helps)
        return "Pretraining on positions improves label efficiency";
    return hinders ? "Pretraining on positions worsens label efficiency"
                   : "It is not shown that pretraining on positions improves label efficiency";
}

static void does_it_learn(const struct verdict *v, char text[2048])
{
    const int q = fewest_labels(v), law = find_question(v, "law_selected");
    char models[2048] = "", baselines[2048] = "";
    *text = '\0';
    if (q < 0) {
        orr_append(
            text, 2048,
            "Whether pretraining on positions improves label efficiency is open: there is no label "
            "curve");
    } else {
        const struct count count = count_gains(v);
        orr_append(text, 2048, "%s: ", what_it_teaches(count));
        if (count.all)
            orr_append(
                text, 2048,
                "of %d comparisons of label curves with the untrained baseline, pretrained models "
                "are "
                "significantly nearer to the truth in %d and farther in %d (%.1f of each expected "
                "by "
                "chance); ",
                count.all, count.gains, count.losses, 0.025 * count.all);
        orr_append(text, 2048, "%s, is nearer by ", v->question[q].title);
        say_column(v, q, ORR_ROW_GAIN, text);
    }
    if (say_column(v, law, ORR_ROW_VALUE, models) &&
        say_column(v, law, ORR_ROW_BASELINE, baselines))
        orr_append(
            text, 2048,
            "; with all labels the law is recovered from a share of %s of the samples, and from "
            "the "
            "untrained baseline, fine-tuned the same way, from %s",
            models, baselines);
    orr_append(text, 2048, ".");
}

/* ------------------------------------------------------------ 2: does attention matter? */

struct named {
    int question, attention;
    struct orr_mean nearer;
};

static double strength_of(const struct named *named)
{
    return fabs(named->nearer.mean) / named->nearer.half;
}

static int by_strength(const void *a, const void *b)
{
    const double x = strength_of(a), y = strength_of(b);
    return (x < y) - (x > y);
}

/* Comparisons with the first attention over at least three seeds, and how many are significant. */
struct comparisons {
    int compared, beyond;
    struct named named[VERDICT_MOST_QUESTIONS * ORR_LIST];
};

static void count_comparisons(const struct verdict *v, struct comparisons *all)
{
    *all = (struct comparisons){.compared = 0};
    for (int q = 0; v->question[q].id; q++)
        for (int a = 1; a < v->attentions; a++) {
            const struct orr_mean mean = verdict_mean(v, q, a, 0, ORR_ROW_NEARNESS);
            if (!verdict_compares(v, q, a))
                continue;
            all->compared += mean.n >= 3;
            if (verdict_significant(mean))
                all->named[all->beyond++] = (struct named){q, a, mean};
        }
}

static void does_attention_decide(const struct verdict *v, char text[2048])
{
    struct comparisons all;
    *text = '\0';
    count_comparisons(v, &all);
    if (!all.compared) {
        orr_append(text, 2048,
                   "Whether attention matters is open: no two attentions share three seeds.");
        return;
    }
    const int compared = all.compared, beyond = all.beyond;
    const double chance = 0.05 * compared;
    struct named *named = all.named; /* the most significant first */
    qsort(named, (size_t)beyond, sizeof *named, by_strength);
    orr_append(
        text, 2048,
        "%s: of %d comparisons with %s, paired by seed, %d are significant (95%%; %.1f expected by "
        "chance)",
        is_many(beyond, chance) ? "Attention changes values"
                                : "It is not shown that attention matters",
        compared, v->attention[0], beyond, chance);
    for (int i = 0; i < beyond && i < NAMED; i++) {
        struct orr_mean size = named[i].nearer;
        size.mean = fabs(size.mean);
        orr_append(text, 2048, "%s %s is %s the truth with %s by ", i ? ";" : ", first of all",
                   v->question[named[i].question].title,
                   named[i].nearer.mean > 0 ? "nearer to" : "farther from",
                   v->attention[named[i].attention]);
        say_mean(text, size);
    }
    orr_append(text, 2048, ".");
}

/* ------------------------------------------------------- 3: is it the law that was learned? */

/* Describes the exponents beyond the labels: whether those of all attentions are closer to the
 * law's than the baseline's are, and whether their intervals contain the law's. */
static const char *how_it_goes_on(const struct verdict *v, int question)
{
    int all = 0, nearer = 0, inside = 0, outside = 0;
    for (int a = 0; a < v->attentions; a++) {
        const struct orr_mean value = verdict_mean(v, question, a, -1, ORR_ROW_VALUE),
                              gain = verdict_mean(v, question, a, -1, ORR_ROW_GAIN);
        const double off =
            fabs(value.mean - verdict_mean(v, question, a, -1, ORR_ROW_UPPER_BOUND).mean);
        all += value.n >= 3;
        nearer += verdict_significant(gain) && gain.mean > 0;
        inside += value.n >= 3 && off <= value.half;
        outside += value.n >= 3 && off > value.half;
    }
    if (all && nearer == all && inside == all)
        return "The law extrapolates beyond the labels";
    return all && outside == all ? "The law does not extrapolate beyond the labels"
                                 : "It is not shown that the law extrapolates beyond the labels";
}

static void is_it_the_law(const struct verdict *v, char text[2048])
{
    char models[2048] = "", baselines[2048] = "", lines[2048] = "", random[2048] = "";
    const int outside = find_question(v, "outside_exponent_r"),
              readout = find_question(v, "readout_log_force");
    const bool far = say_column(v, outside, ORR_ROW_VALUE, models) > 0;
    const int q = far ? outside : find_question(v, "exponent_r");
    *text = '\0';
    if (!far && !say_column(v, q, ORR_ROW_VALUE, models)) {
        orr_append(text, 2048,
                   "Whether it is the law that was learned is open: no exponents are there");
    } else {
        say_column(v, q, ORR_ROW_BASELINE, baselines);
        orr_append(
            text, 2048,
            "%s: the exponent of r (-2 under Newton) is %s in the predictions %s, and %s in the "
            "untrained baseline's",
            far ? how_it_goes_on(v, q) : "Whether it is the law that was learned is open", models,
            far ? "there" : "where labels were (a law and a fit look alike there)", baselines);
    }
    if (say_column(v, readout, ORR_ROW_VALUE, lines) &&
        say_column(v, readout, ORR_ROW_BASELINE, random))
        orr_append(
            text, 2048,
            "; before any label a linear readout of log F has an R2 of %s, in random weights %s, "
            "and "
            "1 from the orbit fitted to the same positions",
            lines, random);
    orr_append(text, 2048, ".");
}

/* --------------------------------------------------------------------------- limitations */

static void cannot_say(const struct verdict *v, char text[2048])
{
    const struct orr_settings *settings = &v->cells.cell[0].settings;
    char other[512] = "";
    *text = '\0';
    orr_append(
        text, 2048,
        "These are models of %d layer%s of %d numbers, trained for %ld steps of %d sequences under "
        "the preset %s, %d seed%s: they say nothing of larger ones or of longer training. An "
        "interval over few seeds is wide, and one in twenty misses by chance. A "
        "difference that is not significant is not shown to be zero. Recovered laws, readouts and "
        "exponents are of "
        "predictions and states, not proofs of what a model computes.",
        settings->model.layers, settings->model.layers == 1 ? "" : "s", settings->model.width,
        settings->pretrain.steps, settings->pretrain.batch, settings->name, v->seeds,
        v->seeds == 1 ? "" : "s");
    for (int i = 0; i < v->unasked.count; i++)
        orr_append(text, 2048, "%s%s", i ? ", " : " Not measured here: ", v->unasked.item[i]);
    if (v->unasked.count)
        orr_append(text, 2048, ".");
    if (v->beside)
        verdict_beside_missing(v->beside, other, sizeof other);
    if (*other)
        orr_append(text, 2048, " Other grids that were not run: %s.", other);
    if (v->missing.count)
        orr_append(text, 2048, " Incomplete: %zu of what was asked for %s missing.",
                   v->missing.count, v->missing.count == 1 ? "is" : "are");
}

void verdict_sentences(const struct verdict *v, struct verdict_sentences *s)
{
    s->count = 3;
    does_it_learn(v, s->text[0]);
    does_attention_decide(v, s->text[1]);
    is_it_the_law(v, s->text[2]);
    cannot_say(v, s->cannot);
    if (!v->beside)
        return;
    verdict_beside_on_text(v->beside, s->text[s->count]);
    s->count += *s->text[s->count] != '\0';
    verdict_beside_on_claims(v->beside, s->text[s->count]);
    s->count++;
}
