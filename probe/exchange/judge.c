/* judge.c - bin/probe judge, which is `orrery judge`: every probe that the answers of a model of
 * another program allow, the laws of its forces, and its card (docs/exchange.md). Results get their
 * names after all answers were found to be well-formed. */
#include "base/tempdir.h"
#include "card.h"
#include "probe/core/answers.h"
#include "stage/cli.h"
#include "stage/provenance.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cjson/cJSON.h>

/* What can be run, and the file without which it cannot; %s: the split of next-state errors, <l> is
 * layer 0. */
static const struct judged {
    const char *name, *file;
    int (*run)(const struct probe_options *options); /* NULL: laws, by another program */
} judged[] = {
    {"evaluate", "predictions_%s.npy", probe_evaluate},
    {"rollout", "rollout_two_body_test.npy", probe_rollout},
    {"linear", "activations_two_body_train_layer<l>.npy", probe_linear},
    {"labels", "forces_labels.csv", probe_labels},
    {"extrapolate", "forces_extrapolate_r.csv", probe_extrapolate},
    {"inductive", "targets_inductive.csv", probe_inductive},
    {"intervene", "continuations_layer<l>.npy", probe_intervene},
    {"planets", "predictions_planets.npy", probe_planets},
    {"laws", "forces_magnitude.csv", NULL},
};
enum { JUDGED = sizeof judged / sizeof *judged };

/* One training: its answers, and those of its twin. */
struct training {
    struct probe_options options;
    struct probe_answers answers, twin;
    struct probe_card card;
    bool has_twin, quiet;
    char probes[4096];                  /* the folder of its results */
    char variants[ORR_LIST * ORR_NAME]; /* --attention of laws; "": all of the settings */
};

/* The file as the export names it, and as it is in a folder. */
static void name_file(const struct training *t, const struct judged *j, char asked[2 * ORR_NAME],
                      char file[2 * ORR_NAME])
{
    const cJSON *splits = orr_json_get(t->answers.exported, "next_state");
    const char *split = splits && splits->child ? splits->child->string : "test";
    const char *layer;
    snprintf(asked, 2 * ORR_NAME, "%s", j->file);
    if (strstr(j->file, "%s"))
        snprintf(asked, 2 * ORR_NAME, "predictions_%s.npy", split);
    layer = strstr(asked, "<l>");
    if (layer)
        snprintf(file, 2 * ORR_NAME, "%.*s0%s", (int)(layer - asked), asked, layer + 3);
    else
        snprintf(file, 2 * ORR_NAME, "%s", asked);
}

/* Whether a list NAME,NAME has the name; "": it has all. */
static bool is_listed(const char *list, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = list; *at; at += strcspn(at, ","), at += *at == ',')
        if (strcspn(at, ",") == length && !strncmp(at, name, length))
            return true;
    return !*list;
}

/* The item of a list a,b behind that at `at`; NULL: there is none. Behind a comma at the end stands
 * an empty one. */
static const char *next_item(const char *at)
{
    const char *const comma = strchr(at, ',');
    return comma ? comma + 1 : NULL;
}

static int check_list(const char *list)
{
    char known[256] = "";
    for (int k = 0; k < JUDGED; k++)
        orr_append(known, sizeof known, "%s%s", k ? ", " : "", judged[k].name);
    for (const char *at = *list ? list : NULL; at; at = next_item(at)) {
        bool found = false;
        for (int k = 0; k < JUDGED; k++)
            found |= strlen(judged[k].name) == strcspn(at, ",") &&
                     !strncmp(at, judged[k].name, strcspn(at, ","));
        if (!found)
            return ORR_FAIL(ORR_EUSAGE, "--probes: expected some of %s, found \"%.*s\"", known,
                            (int)strcspn(at, ","), at);
    }
    return 0;
}

/* Leaves a probe out, with the reason; one that was asked for by name is an error. */
static int leave_out(struct training *t, const char *list, const char *name, const char *why)
{
    struct probe_card *c = &t->card;
    if (*list)
        return ORR_FAIL(ORR_EMISSING, "--probes: %s: %s", name, why);
    c->without[c->left_out].what = name;
    snprintf(c->without[c->left_out++].why, PROBE_CARD_TEXT, "%s", why);
    return 0;
}

/* Finds the tables of forces of the run. Laws are searched for the variants that are there; `why`
 * says which of the others is missing, "": none. */
static int find_tables(struct training *t, char why[PROBE_CARD_TEXT])
{
    struct orr_sources sources;
    const char *run = t->options.run;
    char path[4096], first[ORR_NAME] = "";
    int there = 0, gone = 0;
    *why = *t->variants = '\0';
    orr_sources_list(t->options.settings, "", &sources);
    for (int i = 0; i < sources.count && !*why; i++) {
        const char *name = sources.name[i];
        const bool is_variant = !strcmp(orr_source_attention(t->options.settings, name), name);
        TRY(orr_table_path(run, name, false, path));
        if (!orr_has_table(t->options.settings, name, false))
            continue;
        if (orr_exists(path) && is_variant)
            orr_append(t->variants, sizeof t->variants, "%s%s", there++ ? "," : "", name);
        else if (!orr_exists(path) && is_variant)
            snprintf(gone++ ? path : first, ORR_NAME, "%s", name);
        else if (!orr_exists(path))
            snprintf(why, PROBE_CARD_TEXT, "no %s/finetune/forces_magnitude.csv in the run", name);
    }
    if (!*why && gone && !there)
        snprintf(why, PROBE_CARD_TEXT, "no %s/finetune/forces_magnitude.csv in the run", first);
    if (!gone)
        *t->variants = '\0';
    return 0;
}

/* Lists what the answers allow. */
static int choose_probes(struct training *t, const char *list)
{
    struct probe_card *c = &t->card;
    char asked[2 * ORR_NAME], file[2 * ORR_NAME], why[PROBE_CARD_TEXT];
    for (int k = 0; k < JUDGED; k++) {
        if (!is_listed(list, judged[k].name))
            continue;
        name_file(t, &judged[k], asked, file);
        if (probe_answers_has(&t->answers, file)) {
            *why = '\0';
            TRY(judged[k].run ? 0 : find_tables(t, why));
            if (*why)
                TRY(leave_out(t, list, judged[k].name, why));
            else
                c->probe[c->probes++] = judged[k].name;
            continue;
        }
        const bool wanted =
            cJSON_HasObjectItem(orr_json_get(t->answers.exported, "answers"), asked);
        snprintf(why, sizeof why, wanted ? "the answers have no %s" : "the run does not ask for %s",
                 wanted ? file : asked);
        TRY(leave_out(t, list, judged[k].name, why));
    }
    if (!c->probes)
        return ORR_FAIL(ORR_EMISSING, "%s: no answers there that a probe reads", t->answers.folder);
    if (!t->has_twin) {
        c->without[c->left_out].what = "untrained";
        snprintf(c->without[c->left_out++].why, PROBE_CARD_TEXT,
                 "no twin was given, so that nothing shows what training added");
    }
    return 0;
}

static int open_training(struct training *t, const struct probe_options *options,
                         const char *folder, const char *twin)
{
    t->has_twin = *twin != '\0';
    TRY(probe_answers_open(&t->answers, folder, options->settings));
    if (t->has_twin) {
        TRY(probe_answers_open(&t->twin, twin, options->settings));
        TRY(probe_answers_check_twin(&t->answers, &t->twin));
    }
    t->card.settings = options->settings;
    snprintf(t->card.name, ORR_NAME, "%s", t->answers.name);
    TRY(orr_path(t->probes, "%s/probe", t->answers.folder));
    t->options = *options;
    t->quiet = options->quiet;
    t->options.answers = &t->answers;
    t->options.twin = t->has_twin ? &t->twin : NULL;
    t->options.checkpoint = t->answers.folder;
    t->options.no_untrained = !t->has_twin;
    t->options.sequences = t->answers.sequences;
    t->options.draws = t->answers.draws;
    t->options.sizes = *t->answers.sizes ? t->answers.sizes : NULL;
    t->options.no_table = t->options.quiet = true;
    return choose_probes(t, options->judged);
}

/* ---------------------------------------------------------------------------------- measure */

/* Copies or moves all files of a folder into another. */
static int take_files(const char *from, const char *to, bool move)
{
    struct orr_entries entries = {0};
    char a[4096], b[4096];
    int rc = orr_entries_read(from, &entries);
    for (int i = 0; i < entries.count && !rc; i++) {
        rc = orr_path(a, "%s/%s", from, entries.at[i]->d_name);
        rc = rc ? rc : orr_path(b, "%s/%s", to, entries.at[i]->d_name);
        if (!rc && entries.at[i]->d_name[0] != '.')
            rc = move ? orr_rename(a, b) : orr_file_copy(a, b);
    }
    orr_entries_free(&entries);
    return rc;
}

/* Searches the laws of the run, of these answers and of their twin into <answers>/laws. */
static int search_laws(const struct training *t)
{
    char both[2 * 4096 + 1], out[4096];
    snprintf(both, sizeof both, "%s%s%s", t->answers.folder, t->has_twin ? "," : "",
             t->has_twin ? t->twin.folder : "");
    TRY(orr_path(out, "%s/laws", t->answers.folder));
    const char *arguments[] = {"--answers", both, "--out", out, "--quiet", NULL, NULL, NULL, NULL};
    int n = 5;
    if (t->options.resume)
        arguments[n++] = "--resume";
    if (*t->variants) {
        arguments[n++] = "--attention";
        arguments[n++] = t->variants;
    }
    return orr_program_run("laws", arguments, true);
}

/* Measures into a folder of its own, which becomes the results when every probe has read its
 * answers. */
static int measure_in(struct training *t, const char *work)
{
    if (t->options.resume && orr_exists(t->probes))
        TRY(take_files(t->probes, work, false));
    t->options.out = work;
    for (int k = 0; k < JUDGED; k++)
        for (int i = 0; i < t->card.probes; i++)
            if (judged[k].run && !strcmp(t->card.probe[i], judged[k].name)) {
                orr_note(t->quiet, "judge: %s: %s", t->card.name, judged[k].name);
                TRY(judged[k].run(&t->options));
            }
    TRY(orr_mkdir(t->probes));
    return take_files(work, t->probes, true);
}

/* Removes a folder and the files in it; what cannot be removed stays. */
static void remove_folder(const char *folder)
{
    struct orr_entries entries = {0};
    char path[4096];
    if (!orr_entries_read(folder, &entries))
        for (int i = 0; i < entries.count; i++)
            if (!orr_path(path, "%s/%s", folder, entries.at[i]->d_name))
                (void)unlink(path);
    orr_entries_free(&entries);
    (void)rmdir(folder);
}

/* Probes lock the folder that they write into, which is one inside of the temporary one. */
static int measure(struct training *t)
{
    struct orr_tempdir work = {.folder = ""};
    char folder[4096] = "";
    int rc = orr_tempdir_create(&work, t->answers.folder, "judge");
    rc = rc ? rc : orr_path(folder, "%s/probe", work.folder);
    rc = rc ? rc : orr_mkdir(folder);
    rc = rc ? rc : measure_in(t, folder);
    if (*folder)
        remove_folder(folder);
    orr_tempdir_remove(&work);
    TRY(rc);
    if (!strcmp(t->card.probe[t->card.probes - 1], "laws")) {
        orr_note(t->quiet, "judge: %s: laws", t->card.name);
        TRY(search_laws(t));
    }
    return probe_card_read(&t->card, t->answers.folder, t->has_twin ? t->twin.name : "");
}

/* ------------------------------------------------------------------------------------- judge */

/* Whether a list DIR,DIR has empty items, as behind a comma at its end. */
static int check_items(const char *option, const char *list)
{
    for (const char *at = *list ? list : NULL; at; at = next_item(at))
        if (!strcspn(at, ","))
            return ORR_FAIL(ORR_EUSAGE, "%s: expected folders, DIR,DIR, found \"%s\"", option,
                            list);
    return 0;
}

/* Item i of a list DIR,DIR; "" behind its end. */
static int item_of(const char *list, int i, char item[4096])
{
    for (; *list && i > 0; i--) {
        list += strcspn(list, ",");
        list += *list == ',';
    }
    return orr_path(item, "%.*s", (int)strcspn(list, ","), list);
}

static int count_of(const char *list)
{
    int count = 0;
    for (const char *at = *list ? list : NULL; at; at = next_item(at))
        count++;
    return count;
}

static int check_counts(const struct probe_options *o, int count)
{
    const int twins = count_of(o->twins_list);
    TRY(check_items("--answers", o->answers_list));
    TRY(check_items("--untrained", o->twins_list));
    if (count > PROBE_TRAININGS)
        return ORR_FAIL(ORR_EUSAGE, "--answers: expected at most %d trainings, found %d",
                        PROBE_TRAININGS, count);
    if (twins && twins != count)
        return ORR_FAIL(ORR_EUSAGE,
                        "--untrained: expected a twin of each of %d trainings, found %d", count,
                        twins);
    if (count > 1 && !*o->out)
        return ORR_FAIL(ORR_EUSAGE, "--answers: several trainings need --out DIR, the folder of "
                                    "their card");
    if (count == 1 && *o->out)
        return ORR_FAIL(ORR_EUSAGE, "--out: the card of one training is in its folder of answers");
    return 0;
}

/* The card of all trainings, in --out. */
static int write_joined(struct training *const t[], const struct probe_options *o, int count)
{
    const struct probe_card *of[PROBE_TRAININGS];
    for (int i = 0; i < count; i++)
        of[i] = &t[i]->card;
    struct probe_card *all = orr_alloc(1, sizeof *all);
    if (!all)
        return ORR_ENOMEM;
    *all = t[0]->card;
    int rc = orr_answers_name(o->out, all->name);
    probe_card_join(all, of, count);
    rc = rc ? rc : orr_mkdir(o->out);
    rc = rc ? rc : probe_card_write(all, o->out, true);
    free(all);
    return rc;
}

static int judge_all(struct training *t[PROBE_TRAININGS], const struct probe_options *o, int count)
{
    char folder[4096], twin[4096];
    for (int i = 0; i < count; i++) {
        t[i] = orr_alloc(1, sizeof *t[i]);
        if (!t[i])
            return ORR_ENOMEM;
        TRY(item_of(o->answers_list, i, folder));
        TRY(item_of(o->twins_list, i, twin));
        TRY(open_training(t[i], o, folder, twin));
    }
    for (int i = 0; i < count; i++)
        TRY(measure(t[i]));
    for (int i = 0; i < count; i++)
        TRY(probe_card_write(&t[i]->card, t[i]->answers.folder, count == 1));
    return count > 1 ? write_joined(t, o, count) : 0;
}

int probe_judge(const struct probe_options *options)
{
    struct training *t[PROBE_TRAININGS] = {NULL};
    const int count = count_of(options->answers_list);
    TRY(check_list(options->judged));
    TRY(check_counts(options, count));
    const int rc = judge_all(t, options, count);
    for (int i = 0; i < count; i++)
        if (t[i]) {
            probe_answers_close(&t[i]->answers);
            probe_answers_close(&t[i]->twin);
            free(t[i]);
        }
    return rc;
}
