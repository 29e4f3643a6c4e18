/* beside.h - what results of other grids say beside the verdict (docs/verdict.md): those of the
 * ledger's folder, as tools/claims.sh puts them together: inductive.json, context_linear.json,
 * universes.json, ablation.json, passkey.json, gate.json, study_mini.json. */
#ifndef VERDICT_BESIDE_H
#define VERDICT_BESIDE_H

#include "claims.h"

struct cJSON;

/* The grids whose results are not there: "context, ablation", "" for none. */
void verdict_beside_missing(const struct verdict_ledger *ledger, char *text, size_t bytes);
/* Two more sentences of the verdict: what attention does beyond the trained length on text ("": no
 * such grid was run); what the published claims that other grids bear on come to. */
void verdict_beside_on_text(const struct verdict_ledger *ledger, char text[2048]);
void verdict_beside_on_claims(const struct verdict_ledger *ledger, char text[2048]);
/* Markdown to stdout: the claims that the others bear on. */
void verdict_beside_print(const struct verdict_ledger *ledger);
/* The same as "beside" of verdict.json. */
void verdict_beside_json(const struct verdict_ledger *ledger, struct cJSON *json);

#endif
