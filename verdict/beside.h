/* beside.h - what results of other grids say beside the verdict (docs/verdict.md). `folder` holds
 * them as tools/claims.sh puts them together: inductive.json, context_linear.json, universes.json,
 * ablation.json, passkey.json, gate.json, study_mini.json. */
#ifndef VERDICT_BESIDE_H
#define VERDICT_BESIDE_H

#include "base/base.h"

struct cJSON;

/* The grids whose results are not there: "context, ablation", "" for none. */
void verdict_beside_missing(const char *folder, char *text, size_t bytes);
/* Two more sentences of the verdict: what attention does beyond the trained length on text ("": no
 * such grid was run); what the published claims that other grids bear on come to. ORR_EFORMAT: a
 * file is no such result. */
int verdict_beside_on_text(const char *folder, char text[2048]);
int verdict_beside_on_claims(const char *folder, char text[2048]);
/* Markdown to stdout: the claims that the others bear on. ORR_EFORMAT: a file is no such result. */
int verdict_beside_print(const char *folder);
/* The same as "beside" of verdict.json. */
int verdict_beside_json(const char *folder, struct cJSON *json);

#endif
