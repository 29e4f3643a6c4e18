/* claims.c - rules on published claims by our values, and writes the ledger. */
#include "claims.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <gsl/gsl_cdf.h>

const char *const verdict_ruling_name[] = {"reproduced", "refuted here", "open", "shown"};

static enum verdict_ruling rule_equal(double size, double mean, double half, char why[256])
{
    if (fabs(mean - size) > half) {
        snprintf(why, 256, "the published figure lies outside the interval");
        return VERDICT_REFUTED;
    }
    if (half > fabs(size) / 2) {
        snprintf(why, 256, "the interval is too wide to tell");
        return VERDICT_OPEN;
    }
    snprintf(why, 256, "the published figure lies inside the interval");
    return VERDICT_REPRODUCED;
}

static enum verdict_ruling rule_small(double size, double mean, double half, char why[256])
{
    if (fabs(mean) + half <= size) {
        snprintf(why, 256, "the interval lies within +-%g", size);
        return VERDICT_REPRODUCED;
    }
    if (fabs(mean) - half > size) {
        snprintf(why, 256, "the interval lies outside +-%g", size);
        return VERDICT_REFUTED;
    }
    snprintf(why, 256, "the interval is too wide to tell whether it is within +-%g", size);
    return VERDICT_OPEN;
}

/* Rules on a claim that a value is above a limit; signs are reversed for VERDICT_BELOW. */
static enum verdict_ruling one_sided(const struct verdict_claim *claim, double mean, double half,
                                     char why[256])
{
    const double sign = claim->rule == VERDICT_ABOVE ? 1 : -1;
    const double low = sign * mean - half, high = sign * mean + half;
    const double least = sign * claim->size;
    if (high <= 0 || high < least) {
        snprintf(why, 256,
                 high < 0  ? "significant, the other way"
                 : low > 0 ? "significant, but smaller than claimed"
                           : "the interval contains no effect as large as claimed");
        return VERDICT_REFUTED;
    }
    if (low > 0 && sign * mean >= least) {
        snprintf(why, 256, "significant, as claimed");
        return VERDICT_REPRODUCED;
    }
    snprintf(why, 256, low > 0 ? "significant, but perhaps too small" : "not significant");
    return VERDICT_OPEN;
}

static enum verdict_ruling rule_claim(const struct verdict_claim *claim, double mean, double half,
                                      char why[256])
{
    if (claim->rule == VERDICT_EQUAL)
        return rule_equal(claim->size, mean, half, why);
    if (claim->rule == VERDICT_SMALL)
        return rule_small(claim->size, mean, half, why);
    return one_sided(claim, mean, half, why);
}

/* Whether random weights of the same shapes show at least the same difference, so that learning is
 * not needed to explain it. Not applied to text: there random weights have far larger losses (5.5
 * nats), whose small differences are irrelevant to trained models. */
static bool is_explained(const struct verdict_claim *claim, const struct verdict_fact *fact)
{
    const double sign = claim->rule == VERDICT_ABOVE ? 1 : -1;
    return claim->measured != VERDICT_TEXT &&
           (claim->rule == VERDICT_ABOVE || claim->rule == VERDICT_BELOW) && fact->difference &&
           sign * fact->baseline >= sign * fact->mean && sign * fact->mean > 0;
}

/* Rules on a difference. Where no model could show the claimed size, because the other value is
 * too accurate or the truth itself does not have it, the claim stays open. */
static enum verdict_ruling rule_with_headroom(const struct verdict_claim *claim,
                                              const struct verdict_fact *fact, char why[256])
{
    const enum verdict_ruling ruling = rule_claim(claim, fact->mean, fact->half, why);
    if (ruling == VERDICT_REPRODUCED && is_explained(claim, fact)) {
        snprintf(why, 256, "as claimed, but random weights differ by as much: %.3g",
                 fact->baseline);
        return VERDICT_OPEN;
    }
    const bool other_way = claim->rule == VERDICT_ABOVE && fact->mean + fact->half < 0;
    if (!(fact->most <= claim->size) || claim->size == 0 || other_way)
        return ruling;
    snprintf(why, 256, "no model could show more than %.2g, and %g is asked", fact->most,
             claim->size);
    return VERDICT_OPEN;
}

/* The claim with its size as a share of the headroom. */
static struct verdict_claim claim_in_shares(const struct verdict_claim *claim,
                                            const struct verdict_fact *fact)
{
    struct verdict_claim in_shares = *claim;
    if (claim->size != 0)
        in_shares.size /= fact->headroom;
    return in_shares;
}

static enum verdict_ruling rule_on_share(const struct verdict_claim *claim,
                                         const struct verdict_fact *fact)
{
    const struct verdict_claim in_shares = claim_in_shares(claim, fact);
    return rule_claim(&in_shares, fact->share, fact->share_half, (char[256]){0});
}

/* Rules on a value above random weights, which is measured on two scales (R^2, and the share of the
 * headroom, of which the claimed size is size / headroom). Both must agree; otherwise the claim
 * stays open. */
static enum verdict_ruling rule_on_learned(const struct verdict_claim *claim,
                                           const struct verdict_fact *fact, char why[256])
{
    static const char *const what[] = {"as claimed", "without an effect as large as claimed",
                                       "not decided"};
    const enum verdict_ruling ruling = rule_claim(claim, fact->mean, fact->half, why);
    if (!isfinite(fact->share_half)) {
        snprintf(why, 256, "no upper bound: what share of the headroom was gained is not known");
        return VERDICT_OPEN;
    }
    const enum verdict_ruling of_share = rule_on_share(claim, fact);
    if (of_share == ruling)
        orr_append(why, 256, "; as shares of the headroom above random weights %.2g +- %.2g",
                   fact->share, fact->share_half);
    else
        snprintf(why, 256,
                 "%s in R^2, but as shares of the headroom above random weights %s: %.2g +- %.2g",
                 what[ruling], what[of_share], fact->share, fact->share_half);
    return of_share == ruling ? ruling : VERDICT_OPEN;
}

/* How many seeds would decide a claim if the mean stayed the same, by separating it from 0 or from
 * the smallest claimed effect: 0: more than 1,000; -1: none would, or not known. */
static int seeds_for(const struct verdict_claim *claim, double mean, double half, int n)
{
    const double error = half / gsl_cdf_tdist_Pinv(0.975, n - 1);
    const double sign = claim->rule == VERDICT_BELOW ? -1 : 1;
    const double short_of = sign * (claim->size - mean);
    double effect = fabs(mean);
    if (claim->rule == VERDICT_SMALL)
        effect = fabs(claim->size - effect);
    else if (short_of > 0) /* what is significant, but smaller, stays open */
        effect = short_of;
    if (claim->rule == VERDICT_EQUAL || !isfinite(effect) || !isfinite(error))
        return -1; /* (seeds can exclude a number, not confirm it) */
    return orr_mean_power((struct orr_mean){mean, half, error, n}, effect);
}

/* Adds how many seeds would decide an open claim; with two scales, those that are not decided. */
static void add_power(const struct verdict_claim *claim, const struct verdict_fact *fact,
                      char why[256])
{
    int seeds = -1;
    if (fact->learned && !isfinite(fact->share_half))
        return;
    if (!fact->learned || rule_claim(claim, fact->mean, fact->half, (char[256]){0}) == VERDICT_OPEN)
        seeds = seeds_for(claim, fact->mean, fact->half, fact->n);
    if (fact->learned && seeds && rule_on_share(claim, fact) == VERDICT_OPEN) {
        const struct verdict_claim in_shares = claim_in_shares(claim, fact);
        const int of_share = seeds_for(&in_shares, fact->share, fact->share_half, fact->n);
        seeds = of_share && of_share < seeds ? seeds : of_share;
    }
    if (seeds > 0)
        orr_append(why, 256, "; %d seeds would decide a difference like this", seeds);
    else if (!seeds)
        orr_append(why, 256, "; more than 1,000 seeds for a difference so small");
}

static enum verdict_ruling rule_on(const struct verdict_claim *claim,
                                   const struct verdict_fact *fact, char why[256])
{
    static const char *const other[] = {[VERDICT_ORBITS] = "the claim is of text",
                                        [VERDICT_TEXT] = "the claim is of orbits",
                                        [VERDICT_OTHER_SETTINGS] = "at other settings"};
    if (claim->ground != claim->measured) {
        snprintf(why, 256, "%s",
                 claim->ground == VERDICT_NO_PAPER ? "a question of our own"
                                                   : other[claim->measured]);
        return VERDICT_SHOWN;
    }
    if (fact->there && fact->n == 0) {
        snprintf(why, 256, "a benchmark of another program on another machine");
        return VERDICT_SHOWN;
    }
    if (!fact->there)
        snprintf(why, 256,
                 fact->read ? "the file has no such figure, or lacks cells of it"
                            : "not measured yet");
    else if (fact->n < 3 || !isfinite(fact->half))
        snprintf(why, 256, "%d seed%s: nothing rests on so few", fact->n, fact->n == 1 ? "" : "s");
    else if (fact->learned)
        return rule_on_learned(claim, fact, why);
    else
        return rule_with_headroom(claim, fact, why);
    return VERDICT_OPEN;
}

enum verdict_ruling verdict_rule_on(const struct verdict_claim *claim,
                                    const struct verdict_fact *fact, char why[256])
{
    const enum verdict_ruling ruling = rule_on(claim, fact, why);
    const bool no_headroom = fact->most <= claim->size && claim->size > 0;
    if (ruling == VERDICT_OPEN && fact->there && fact->n > 1 && !no_headroom &&
        !is_explained(claim, fact))
        add_power(claim, fact, why);
    return ruling;
}

/* ------------------------------------------------------------------------------- ledger */

void verdict_fact_text(const struct verdict_fact *fact, char text[64])
{
    if (!fact->there)
        snprintf(text, 64, "-");
    else if (fact->n && isfinite(fact->half))
        snprintf(text, 64, "%.3g +- %.2g (%d seeds)", fact->mean, fact->half, fact->n);
    else
        snprintf(text, 64, "%.3g", fact->mean);
}

static void write_number(struct orr_file *file, double x)
{
    orr_file_printf(file, isfinite(x) ? " %.3g |" : " - |", x);
}

/* Describes the condition that the value must meet. */
static void write_rule(const struct verdict_claim *claim, char text[64])
{
    const char *sign = claim->rule == VERDICT_ABOVE ? ">" : "<";
    if (claim->rule == VERDICT_EQUAL)
        snprintf(text, 64, "%g in the interval", claim->size);
    else if (claim->rule == VERDICT_SMALL)
        snprintf(text, 64, "within +-%g", claim->size);
    else if (claim->size == 0)
        snprintf(text, 64, "%s 0", sign);
    else
        snprintf(text, 64, "%s 0, mean %s= %g", sign, sign, claim->size);
}

int verdict_ledger_read(const char *folder, const char *except, struct verdict_ledger *ledger)
{
    *ledger = (struct verdict_ledger){.folder = folder};
    TRY(verdict_claims_read(NULL, &ledger->claims));
    TRY(verdict_files_read(NULL, &ledger->files));
    ledger->judged = orr_alloc((size_t)ledger->claims.count, sizeof *ledger->judged);
    int rc = ledger->judged ? 0 : ORR_ENOMEM;
    for (int i = 0; i < ledger->claims.count && !rc; i++) {
        struct verdict_judged *j = &ledger->judged[i];
        struct verdict_claim value = ledger->claims.claim[i];
        j->claim = &ledger->claims.claim[i];
        if (!except || strcmp(value.file, except) != 0)
            rc = verdict_fact(folder, &value, &j->fact);
        j->ruling = verdict_rule_on(j->claim, &j->fact, j->why);
        j->shown = j->fact;
        value.statistic = VERDICT_VALUE;
        if (!rc && j->claim->statistic == VERDICT_LEARNED)
            rc = verdict_fact(folder, &value, &j->shown);
    }
    return rc;
}

void verdict_ledger_free(struct verdict_ledger *ledger)
{
    verdict_claims_free(&ledger->claims);
    verdict_files_free(&ledger->files);
    free(ledger->judged);
    *ledger = (struct verdict_ledger){0};
}

int verdict_ledger_there(const struct verdict_ledger *ledger)
{
    struct stat info;
    if (stat(ledger->folder, &info) || !S_ISDIR(info.st_mode))
        return ORR_FAIL(ORR_EMISSING, "%s: no such folder of results; make claims makes it",
                        ledger->folder);
    for (int i = 0; i < ledger->claims.count; i++) /* benchmarks are in another folder */
        if (ledger->judged[i].fact.read && ledger->judged[i].claim->statistic != VERDICT_RATIO)
            return 0;
    return ORR_FAIL(ORR_EMISSING,
                    "%s: no results of a grid there (verdict.json, ...); make claims puts them "
                    "together",
                    ledger->folder);
}

/* The upper bound in the ledger: of a difference, what the truth has in the first model's place. */
static double largest_value(const struct verdict_judged *j)
{
    const struct verdict_fact *fact = &j->fact;
    if (fact->learned)
        return fact->headroom;
    return fact->difference && *j->claim->from ? fact->most : fact->upper_bound;
}

static void write_claim(struct orr_file *file, const struct verdict_judged *j)
{
    const struct verdict_claim *claim = j->claim;
    static const char *const ground[] = {
        [VERDICT_ORBITS] = "orbits", [VERDICT_TEXT] = "text", [VERDICT_NO_PAPER] = "-"};
    char figure[64], rule_text[64], beside[96] = "";
    verdict_fact_text(&j->fact, figure);
    if (j->fact.learned && j->shown.there)
        snprintf(beside, sizeof beside, " (%.3g with the effect on random weights)", j->shown.mean);
    write_rule(claim, rule_text);
    orr_file_printf(file, "| %s | %s | %s | %s | %s | %s | %s%s |", claim->claim, claim->where,
                    ground[claim->ground], claim->published, claim->ours, rule_text, figure,
                    beside);
    write_number(file, largest_value(j));
    write_number(file, j->shown.baseline);
    if (j->ruling != VERDICT_SHOWN)
        orr_file_printf(file, " **%s**:", verdict_ruling_name[j->ruling]);
    orr_file_printf(file, " %s%s%s | `%s` |\n", j->why, *claim->remark ? "; " : "", claim->remark,
                    claim->command);
}

/* Writes the table of claims that are ruled on, or of those that are only shown. */
static void write_table(struct orr_file *file, const struct verdict_ledger *ledger, bool shown)
{
    orr_file_printf(file,
                    "| claim | where | about | published | our value | claimed | ours | upper "
                    "bound | baseline | %s | command |\n"
                    "|---|---|---|---|---|---|---|---|---|---|---|\n",
                    shown ? "why it decides nothing" : "ruling");
    for (int i = 0; i < ledger->claims.count; i++)
        if ((ledger->judged[i].ruling == VERDICT_SHOWN) == shown)
            write_claim(file, &ledger->judged[i]);
}

static int write_ledger(struct orr_file *file, const struct verdict_ledger *ledger)
{
    int count[VERDICT_RULINGS] = {0};
    for (int i = 0; i < ledger->claims.count; i++)
        count[ledger->judged[i].ruling]++;
    orr_file_printf(
        file,
        "# Claims\n\n`bin/verdict --claims` makes this page from the files in `%s` (`machines.csv` "
        "there has the commit and the CPU of each) and from `study/claims.csv`; do not edit it. "
        "`study/docs/verdict.md` says how values are compared.\n\n"
        "All models here are small and trained for minutes. Claims about language are tested with "
        "models of text, claims about orbits with models of orbits.\n\n"
        "- *reproduced*: the 95%% interval over at least three seeds lies on the claimed side of "
        "0, and where a size is claimed (\"mean >=\"), its mean is at least as large. Without a "
        "size the direction alone counts, however small the difference.\n"
        "- *refuted here*: the interval contains no effect as large as claimed, at this scale and "
        "by this procedure.\n"
        "- *open*: neither; the ruling says why.\n"
        "- A claim of \"within +-x\" is reproduced if the interval lies within, and refuted if it "
        "lies outside. A published number is reproduced if it lies inside the interval and the "
        "interval is no wider than the number.\n"
        "- A claim stays open if no model could show the claimed difference, because the other "
        "model is already too near to the truth, or the truth itself does not have it; a "
        "significant difference the other way refutes it all the same.\n"
        "- What a readout gained by training is measured in R^2, and as a share of the distance "
        "between random weights and the truth. Both have to agree.\n"
        "- A difference as claimed that random weights show as well leaves the claim open. This "
        "does not apply to "
        "text, where random weights are far from any model's loss.\n\n"
        "The upper bound is what the truth has instead of the model, or of the first of two models "
        "that are compared (- where the truth has no value, or the difference is of errors); of "
        "what a readout gained by training, the distance from random weights to the truth; of how "
        "much nearer to the truth a model is, the largest possible value. The baseline is what "
        "random weights have; of a difference, that of random weights of both shapes, with the "
        "same seeds.\n\n"
        "Papers: [L] Gao et al., *Softplus Attention with Re-weighting* (LSSAR), arXiv 2501.13428, "
        "the version of 2026; "
        "[V] "
        "Vafa et al., *What Has a Foundation Model Found?*, arXiv 2507.06952; [K] *From Kepler to "
        "Newton*, arXiv 2602.06923; [O] *The Observer Effect in World Models*, arXiv 2602.12218; "
        "[G] "
        "*Softplus Gated Attention > Sigmoid Gated Attention*, a note on the web by 1A3ORN, "
        "3 September 2025; [F] results in a public fork of the code of [V].\n\n",
        ledger->folder);
    write_table(file, ledger, false);
    orr_file_printf(file, "\n%d reproduced, %d refuted here, %d open.\n\n## Shown beside\n\n",
                    count[VERDICT_REPRODUCED], count[VERDICT_REFUTED], count[VERDICT_OPEN]);
    orr_file_printf(
        file, "Values that decide no claim: of orbits if the claim is of text, of other settings "
              "than the claim's, benchmarks of another program on another machine, and questions "
              "of our own. They are not counted.\n\n");
    write_table(file, ledger, true);
    return verdict_table1(ledger->folder, file);
}

int verdict_ledger_write(const struct verdict_ledger *ledger, const char *path)
{
    struct orr_file file = {0};
    int rc = orr_file_create(&file, path);
    rc = rc ? rc : write_ledger(&file, ledger);
    rc = rc ? rc : orr_file_commit_changes(&file);
    orr_file_close(&file);
    return rc;
}
