/* beside.c - what the results of other grids add to the verdict: the claims that they concern, and
 * which results are missing. */
#include "beside.h"

#include <math.h>
#include <string.h>

#include <cjson/cJSON.h>

static bool is_there(const struct verdict_ledger *ledger, int g)
{
    char path[4096];
    return !orr_path(path, "%s/%s", ledger->folder, ledger->files.file[g].name) && orr_exists(path);
}

void verdict_beside_missing(const struct verdict_ledger *ledger, char *text, size_t bytes)
{
    text[0] = '\0';
    for (int g = 0; g < ledger->files.count; g++)
        if (!is_there(ledger, g))
            orr_append(text, bytes, "%s%s", *text ? ", " : "", ledger->files.file[g].grid);
}

/* ------------------------------------------------------------------------------ sentences */

/* Whether a claim is about lengths beyond training with softmax, measured in the given file. */
static bool is_of_length(const struct verdict_claim *claim, const char *file)
{
    return !strcmp(claim->file, file) && !strcmp(claim->quantity, "next token, beyond, NTK") &&
           claim->context == 1024 && !strcmp(claim->from, "attention=softmax");
}

/* Reproduced, refuted or open, also for a claim that the ledger only shows. */
static enum verdict_ruling ruling_of(const struct verdict_judged *j)
{
    struct verdict_claim own = *j->claim;
    char why[256];
    own.measured = own.ground;
    return verdict_rule_on(&own, &j->fact, why);
}

/* Describes the length claims of one file; *lssar is the ruling on the first one. "" where no value
 * has three seeds. */
static void say_lengths(const struct verdict_ledger *ledger, const char *file, char said[1024],
                        enum verdict_ruling *lssar)
{
    static const char *const word[] = {[VERDICT_REPRODUCED] = "as claimed",
                                       [VERDICT_REFUTED] = "against the claim",
                                       [VERDICT_OPEN] = "open"};
    *said = '\0';
    for (int i = 0; i < ledger->claims.count; i++) {
        const struct verdict_judged *j = &ledger->judged[i];
        const char *attention = strchr(j->claim->of, '=');
        if (!is_of_length(j->claim, file) || !j->fact.there || j->fact.n < 3)
            continue;
        const enum verdict_ruling ruling = ruling_of(j);
        orr_append(said, 1024, "%s%.3g +- %.2g (%s, %d seeds, %s)", *said ? ", " : "", j->fact.mean,
                   j->fact.half, attention ? attention + 1 : "", j->fact.n, word[ruling]);
        if (!strcmp(j->claim->of, "attention=lssar"))
            *lssar = ruling;
    }
}

void verdict_beside_on_text(const struct verdict_ledger *ledger, char text[2048])
{
    static const char *const lead[][VERDICT_RULINGS] = {
        {[VERDICT_REPRODUCED] = "holds here",
         [VERDICT_REFUTED] = "does not hold here",
         [VERDICT_OPEN] = "is open here"},
        {[VERDICT_REPRODUCED] = "is borne out by the short form, which rules on nothing",
         [VERDICT_REFUTED] = "is not borne out by the short form, which rules on nothing",
         [VERDICT_OPEN] = "is open in the short form"}};
    enum verdict_ruling lssar = VERDICT_OPEN;
    char said[1024];
    bool in_short = false;
    say_lengths(ledger, "table1.json", said, &lssar);
    if (!*said) {
        in_short = true;
        say_lengths(ledger, "text_short.json", said, &lssar);
    }
    *text = '\0';
    if (*said)
        snprintf(text, 2048,
                 "On text the claim that LSSAR is better beyond the trained length %s: "
                 "held-out nats per byte of the positions beyond the trained 128, at 1,024 with "
                 "NTK scaling, less those of softmax, are %s.",
                 lead[in_short][lssar], said);
}

void verdict_beside_on_claims(const struct verdict_ledger *ledger, char text[2048])
{
    int count[VERDICT_RULINGS] = {0}, missing = 0;
    for (int i = 0; i < ledger->claims.count; i++) {
        const struct verdict_judged *j = &ledger->judged[i];
        if (!strcmp(j->claim->file, "verdict.json"))
            continue; /* this verdict itself */
        count[j->ruling]++;
        missing += j->ruling == VERDICT_OPEN && !j->fact.there;
    }
    snprintf(text, 2048,
             "Of %d published claims that other grids bear on %d are reproduced, %d refuted at "
             "this scale and %d open, %d of these because nothing was run for them.",
             count[VERDICT_REPRODUCED] + count[VERDICT_REFUTED] + count[VERDICT_OPEN],
             count[VERDICT_REPRODUCED], count[VERDICT_REFUTED], count[VERDICT_OPEN], missing);
}

/* --------------------------------------------------------------------------------- claims */

static void print_claim(const struct verdict_judged *j, cJSON *list)
{
    char figure[64];
    (void)list;
    verdict_fact_text(&j->fact, figure);
    printf("| %s | %s | %s | %s | %s: %s |\n", j->claim->claim, j->claim->where, j->claim->ours,
           figure, verdict_ruling_name[j->ruling], j->why);
}

static void add_claim(const struct verdict_judged *j, cJSON *list)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddItemToArray(list, json);
    cJSON_AddStringToObject(json, "claim", j->claim->claim);
    cJSON_AddStringToObject(json, "ours", j->claim->ours);
    orr_json_add_exact(json, "mean", j->fact.mean);
    orr_json_add_exact(json, "half_width", j->fact.half);
    cJSON_AddNumberToObject(json, "seeds", j->fact.n);
    cJSON_AddStringToObject(json, "ruling", verdict_ruling_name[j->ruling]);
}

/* Calls visit() for the claims that a grid concerns, if the grid exists. */
static void each_claim(const struct verdict_ledger *ledger, int g,
                       void (*visit)(const struct verdict_judged *j, cJSON *list), cJSON *list)
{
    for (int i = 0; is_there(ledger, g) && i < ledger->claims.count; i++)
        if (!strcmp(ledger->judged[i].claim->file, ledger->files.file[g].name))
            visit(&ledger->judged[i], list);
}

void verdict_beside_print(const struct verdict_ledger *ledger)
{
    char missing[512];
    printf("\n## Other grids\n\n");
    verdict_beside_missing(ledger, missing, sizeof missing);
    if (*missing)
        printf("Not run, or not put together: %s.\n\n", missing);
    printf("| claim | where | our value | ours | ruling |\n|---|---|---|---|---|\n");
    for (int g = 0; g < ledger->files.count; g++)
        each_claim(ledger, g, print_claim, NULL);
}

void verdict_beside_json(const struct verdict_ledger *ledger, cJSON *json)
{
    cJSON *list = cJSON_AddArrayToObject(json, "beside");
    for (int g = 0; g < ledger->files.count; g++) {
        cJSON *grid = cJSON_CreateObject();
        cJSON_AddItemToArray(list, grid);
        cJSON_AddStringToObject(grid, "grid", ledger->files.file[g].grid);
        cJSON_AddBoolToObject(grid, "is_there", is_there(ledger, g));
        each_claim(ledger, g, add_claim, cJSON_AddArrayToObject(grid, "claims"));
    }
}
