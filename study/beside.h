/* beside.h - results of other grids shown with the verdict (study/docs/verdict.md): the files of
 * results that files.csv lists, in the folder of the ledger, which study/claims.sh fills. */
#ifndef VERDICT_BESIDE_H
#define VERDICT_BESIDE_H

#include "claims.h"

struct cJSON;

/* Lists the grids whose results are missing: "context, ablation", "" for none. */
void verdict_beside_missing(const struct verdict_ledger *ledger, char *text, size_t bytes);
/* Two more sentences of the verdict. The first describes attention beyond the trained length on
 * text ("" without such a grid), the second the outcome of the published claims that other grids
 * concern. */
void verdict_beside_on_text(const struct verdict_ledger *ledger, char text[2048]);
void verdict_beside_on_claims(const struct verdict_ledger *ledger, char text[2048]);
/* Prints as Markdown the claims that the other grids concern. */
void verdict_beside_print(const struct verdict_ledger *ledger);
/* Adds these claims as "beside" to verdict.json. */
void verdict_beside_json(const struct verdict_ledger *ledger, struct cJSON *json);

#endif
