/* beside.c - what results of other grids say beside the verdict: the claims that they bear on, and
 * which of them are not there. */
#include "beside.h"

#include <math.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "claims.h"

/* Files of tools/claims.sh, and the grids that make them. */
static const struct {
    const char *file, *grid;
} grids[] = {
    {"inductive.json", "inductive"},
    {"context_linear.json", "context"},
    {"universes.json", "universes"},
    {"ablation.json", "ablation"},
    {"length.json", "ablation (length)"},
    {"table1.json", "table1"},
    {"text_short.json", "text_short"},
    {"table1_p3.json", "table1_p3"},
    {"tables_a4_a6.json", "tables_a4_a6"},
    {"passkey15.json", "passkey15"},
    {"passkey.json", "passkey"},
    {"gate.json", "gate"},
    {"gate_text.csv", "gate_text"},
    {"adaptation.json", "adaptation"},
    {"ladder.json", "ladder"},
    {"study_mini.json", "study_mini"},
};
enum { GRIDS = sizeof grids / sizeof *grids };

static bool is_there(const char *folder, int g)
{
    char path[4096];
    return !orr_path(path, "%s/%s", folder, grids[g].file) && orr_exists(path);
}

void verdict_beside_missing(const char *folder, char *text, size_t bytes)
{
    text[0] = '\0';
    for (int g = 0; g < GRIDS; g++) {
        const size_t used = strlen(text);
        if (!is_there(folder, g))
            snprintf(text + used, bytes - used, "%s%s", used ? ", " : "", grids[g].grid);
    }
}

/* ------------------------------------------------------------------------------ sentences */

/* The claims of lengths beyond training, by softmax: of the whole grid, else of the short one. */
static bool is_of_length(const struct verdict_claim *claim, const char *file)
{
    return !strcmp(claim->file, file) && claim->context == 1024 &&
           claim->source == VERDICT_OF_GRID && !strcmp(claim->from, "softmax");
}

/* Reproduced, refuted or open, also where the ledger only shows the figure. */
static enum verdict_ruling ruling_of(const struct verdict_claim *claim,
                                     const struct verdict_fact *fact)
{
    struct verdict_claim own = *claim;
    char why[256];
    own.measured = own.ground;
    return verdict_rule_on(&own, fact, why);
}

/* What is said of the claims of length of one file; *lssar is the ruling on its first one. "" where
 * no figure is of three seeds. */
static int say_lengths(const char *folder, const char *file, char said[1024],
                       enum verdict_ruling *lssar)
{
    static const char *const word[] = {[VERDICT_REPRODUCED] = "as claimed",
                                       [VERDICT_REFUTED] = "against the claim",
                                       [VERDICT_OPEN] = "open"};
    *said = '\0';
    for (const struct verdict_claim *claim = verdict_claims; claim->claim; claim++) {
        struct verdict_fact fact;
        if (!is_of_length(claim, file))
            continue;
        TRY(verdict_fact(folder, claim, &fact));
        if (!fact.there || fact.n < 3)
            continue;
        const enum verdict_ruling ruling = ruling_of(claim, &fact);
        const size_t used = strlen(said);
        snprintf(said + used, 1024 - used, "%s%.3g +- %.2g (%s, %d seeds, %s)", used ? ", " : "",
                 fact.mean, fact.half, claim->d, fact.n, word[ruling]);
        if (!strcmp(claim->d, "lssar"))
            *lssar = ruling;
    }
    return 0;
}

int verdict_beside_on_text(const char *folder, char text[2048])
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
    TRY(say_lengths(folder, "table1.json", said, &lssar));
    if (!*said) {
        in_short = true;
        TRY(say_lengths(folder, "text_short.json", said, &lssar));
    }
    *text = '\0';
    if (*said)
        snprintf(text, 2048,
                 "On text the claim that LSSAR keeps its loss beyond the trained length %s: "
                 "held-out nats per byte of the positions beyond the trained 128, at 1,024, less "
                 "those of softmax, are %s.",
                 lead[in_short][lssar], said);
    return 0;
}

int verdict_beside_on_claims(const char *folder, char text[2048])
{
    int count[VERDICT_RULINGS] = {0}, missing = 0;
    for (const struct verdict_claim *claim = verdict_claims; claim->claim; claim++) {
        struct verdict_fact fact;
        char why[256];
        if (!strcmp(claim->file, "verdict.json"))
            continue; /* this one itself */
        TRY(verdict_fact(folder, claim, &fact));
        const enum verdict_ruling ruling = verdict_rule_on(claim, &fact, why);
        count[ruling]++;
        missing += ruling == VERDICT_OPEN && !fact.there;
    }
    snprintf(text, 2048,
             "Of %d published claims that other grids bear on %d are reproduced, %d refuted at "
             "this scale and %d open, %d of these because nothing was run for them.",
             count[VERDICT_REPRODUCED] + count[VERDICT_REFUTED] + count[VERDICT_OPEN],
             count[VERDICT_REPRODUCED], count[VERDICT_REFUTED], count[VERDICT_OPEN], missing);
    return 0;
}

/* --------------------------------------------------------------------------------- claims */

static int print_claim(const struct verdict_claim *claim, const struct verdict_fact *fact,
                       cJSON *list)
{
    (void)list;
    char why[256], figure[64];
    const enum verdict_ruling ruling = verdict_rule_on(claim, fact, why);
    verdict_fact_text(fact, figure);
    printf("| %s | %s | %s | %s | %s: %s |\n", claim->claim, claim->where, claim->ours, figure,
           verdict_ruling_name[ruling], why);
    return 0;
}

/* visit()s the claims that a grid which is there bears on. */
static int each_claim(const char *folder, int g,
                      int (*visit)(const struct verdict_claim *, const struct verdict_fact *,
                                   cJSON *list),
                      cJSON *list)
{
    for (const struct verdict_claim *claim = verdict_claims; claim->claim; claim++) {
        struct verdict_fact fact;
        if (strcmp(claim->file, grids[g].file) != 0)
            continue;
        TRY(verdict_fact(folder, claim, &fact));
        TRY(visit(claim, &fact, list));
    }
    return 0;
}

int verdict_beside_print(const char *folder)
{
    char missing[512];
    printf("\n## Other grids\n\n");
    verdict_beside_missing(folder, missing, sizeof missing);
    if (*missing)
        printf("Not run, or not put together: %s.\n\n", missing);
    printf("| claim | where | our figure | ours | ruling |\n|---|---|---|---|---|\n");
    for (int g = 0; g < GRIDS; g++)
        if (is_there(folder, g))
            TRY(each_claim(folder, g, print_claim, NULL));
    return 0;
}

static int add_claim(const struct verdict_claim *claim, const struct verdict_fact *fact,
                     cJSON *list)
{
    char why[256];
    cJSON *json = cJSON_CreateObject();
    cJSON_AddItemToArray(list, json);
    cJSON_AddStringToObject(json, "claim", claim->claim);
    cJSON_AddStringToObject(json, "ours", claim->ours);
    orr_json_add_exact(json, "mean", fact->mean);
    orr_json_add_exact(json, "half_width", fact->half);
    cJSON_AddNumberToObject(json, "seeds", fact->n);
    cJSON_AddStringToObject(json, "ruling", verdict_ruling_name[verdict_rule_on(claim, fact, why)]);
    return 0;
}

int verdict_beside_json(const char *folder, struct cJSON *json)
{
    cJSON *list = cJSON_AddArrayToObject(json, "beside");
    for (int g = 0; g < GRIDS; g++) {
        cJSON *grid = cJSON_CreateObject();
        cJSON_AddItemToArray(list, grid);
        cJSON_AddStringToObject(grid, "grid", grids[g].grid);
        cJSON_AddBoolToObject(grid, "is_there", is_there(folder, g));
        cJSON *claims = cJSON_AddArrayToObject(grid, "claims");
        if (is_there(folder, g))
            TRY(each_claim(folder, g, add_claim, claims));
    }
    return 0;
}
