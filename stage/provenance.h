/* provenance.h - what an artefact was made from, and whether it is still what is asked for.
 *
 * A *record* says it: the kind of the artefact, the settings that matter to it, facts (which
 * attention, which set), and the digests of the records of its inputs, down to the data sets. The
 * digest of a record is the XXH64 of its text, so that two artefacts with the same digest were
 * made the same way from the same things. *Records* are held by digest.
 *
 * Settings are part of every record unless stage/settings_table.c takes them out by name, with
 * the reason. A *lineage* knows which artefact of a run is made from which, and makes the record
 * that each should have under given settings; what a file holds is compared with that.
 *
 * In files: "made": {"digest": D, "records": {digest: record, ...}}, the record of the artefact
 * and those of everything below it. It stands in manifest.json (for every set), in the metadata of
 * checkpoints, in evaluation.json and laws.json, and for files that have no room for it in
 * "<name>.made.json" beside them, with their size and checksum (docs/provenance.md). */
#ifndef ORR_PROVENANCE_H
#define ORR_PROVENANCE_H

#include "base/file.h"
#include "cli.h"

enum { ORR_DIGEST = 17 }; /* 16 hexadecimal digits and NUL */
enum { ORR_WHY = 512 };   /* room for the reason why something is made again */

/* Kinds of artefacts, in the order in which a run makes them. */
enum orr_kind {
    ORR_KIND_STATES, /* the sets train, val, test */
    ORR_KIND_TWO_BODY,
    ORR_KIND_SOLAR, /* solar_system, solar_system_two_body */
    ORR_KIND_PLANETS,
    ORR_KIND_PLANETS_SOLAR,
    ORR_KIND_PRETRAIN,
    ORR_KIND_PRETRAIN_PLANETS,
    ORR_KIND_EVALUATION, /* of next-state predictions */
    ORR_KIND_EVALUATION_PLANETS,
    ORR_KIND_MAGNITUDE, /* fine-tuned models */
    ORR_KIND_VECTOR,
    ORR_KIND_MAGNITUDE_TRUTH, /* tables of forces */
    ORR_KIND_MAGNITUDE_ORACLE,
    ORR_KIND_MAGNITUDE_MODEL,
    ORR_KIND_VECTOR_TRUTH,
    ORR_KIND_VECTOR_ORACLE,
    ORR_KIND_VECTOR_MODEL,
    ORR_KIND_LAWS,
    ORR_KIND_REPORT,
    ORR_KINDS
};
/* "pretrain", as in records. */
const char *orr_kind_name(enum orr_kind kind);
/* What is to be done about a file, and why. */
enum orr_action { ORR_KEEP, ORR_GO_ON, ORR_MAKE, ORR_REMAKE, ORR_REFUSE };
struct orr_artefact {
    enum orr_action action;
    bool lengthened; /* a training goes on as a longer one: its files get their new record first */
    char path[4096], why[ORR_WHY];
};
/* Why a setting is no part of the records of a kind; NULL when it is part of them. */
const char *orr_kind_leaves_out(enum orr_kind kind, const char *key);
/* The program whose records are the first to have a setting of that group. */
const char *orr_setting_stage(const char *key);
/* Whether anything up to the laws is made from a setting: not so of texts about it, and of where
 * and how to compute. */
bool orr_made_from(const char *key);

/* ------------------------------------------------------------------------------- records */

struct cJSON;

struct orr_records {
    struct cJSON *by_digest; /* object: digest -> record */
};
int orr_records_create(struct orr_records *records);
void orr_records_free(struct orr_records *records);

/* A record of a kind with its settings, no facts and no inputs. Memory that it lacks is told by
 * orr_records_add(). */
struct cJSON *orr_record_create(enum orr_kind kind, const struct orr_settings *preset);
/* A record of something that no settings of ours made: what ("checkpoint", "data set made
 * elsewhere"), the XXH64 of its content, and a name for messages, which is no part of the
 * digest. */
struct cJSON *orr_record_external(const char *what, uint64_t content, const char *name);
/* A fact, or an input, whose record must be among the records. */
void orr_record_fact(struct cJSON *record, const char *key, const char *value);
void orr_record_input(struct cJSON *record, const char *name, const char digest[ORR_DIGEST]);
/* Adds the record, which belongs to the records from here on, and gives its digest. */
int orr_records_add(struct orr_records *records, struct cJSON *record, char digest[ORR_DIGEST]);
/* Takes over the records of a "made" object; digest is that of its artefact. ORR_EFORMAT when it is
 * none: `path` names the file. */
int orr_records_import(struct orr_records *records, const struct cJSON *made, const char *path,
                       char digest[ORR_DIGEST]);

/* {"digest", "records"} of an artefact; cJSON_Delete() it. */
struct cJSON *orr_records_made(const struct orr_records *records, const char digest[ORR_DIGEST]);
/* The same as text in one line; free() it. NULL without memory. */
char *orr_records_made_text(const struct orr_records *records, const char digest[ORR_DIGEST]);
/* Record of a digest in a "made" object, or NULL. */
const struct cJSON *orr_made_record(const struct cJSON *made, const char *digest);
/* Digest of the artefact in a "made" object, "" when there is none. */
const char *orr_made_digest(const struct cJSON *made);

/* A setting of its artefact's record, "" when there is none. */
const char *orr_made_setting(const struct cJSON *made, const char *key);
/* Whether `made` is the record `digest` but for the value of one setting, and for the
 * lengths that its training had before (orr_lineage_earlier_lengths): value = the one of `made`. */
bool orr_made_but(const struct orr_records *records, const char digest[ORR_DIGEST],
                  const struct cJSON *made, const char *key, char *value, size_t bytes);

/* Whether `made` (NULL: it does not say) is the record `digest`. If not, why tells the
 * first link that differs, with what was found and what is expected: "its model:
 * pretrain.steps is 1200, expected 1500". */
bool orr_made_same(const struct orr_records *records, const char digest[ORR_DIGEST],
                   const struct cJSON *made, char why[ORR_WHY]);

/* Names of all that is below a digest and that no settings of ours made, "; " between them. */
void orr_records_external(const struct orr_records *records, const char *digest, char *text,
                          size_t bytes);

/* ------------------------------------------------------------------------------- sidecars */

/* "files": {name: {bytes, xxh64}} of an artefact of several files. Adds folder/name; whether all
 * are there and as they were, if not why. */
int orr_files_add(struct cJSON *files, const char *folder, const char *name);
bool orr_files_same(const char *folder, const struct cJSON *files, char why[ORR_WHY]);
/* The same of one of them. */
bool orr_file_same(const char *folder, const struct cJSON *file, char why[ORR_WHY]);

/* Whether a JSON object has the record `digest` ("made"), and the files of the folder that it names
 * ("files") are as they were written; if not, why. */
bool orr_json_is_whole(const struct cJSON *json, const char *folder,
                       const struct orr_records *records, const char digest[ORR_DIGEST],
                       char why[ORR_WHY]);
/* What is to be done about status->path, the file of such an object; summed: it also has its own
 * sum (orr_sum_add), and names files only where it has any. Only ORR_ENOMEM fails. */
int orr_json_status(const char *folder, const struct orr_records *records,
                    const char digest[ORR_DIGEST], bool summed, struct orr_artefact *status);
/* ORR_EINVAL: an input that another program made is not what the settings make; with the command
 * that makes it again, and what else can be done, ", or ...". */
int orr_refuse_input(const char *path, const char *why, const char *program, const char *else_what);

/* "xxh64" of a JSON object that has its record inside: of its text without "xxh64". Adds it (false
 * without memory); whether the object is as it was then, if not why. */
bool orr_sum_add(struct cJSON *json);
bool orr_sum_same(const struct cJSON *json, char why[ORR_WHY]);
/* For readers of what version 0.1 wrote without: as orr_sum_same, and true where there is none. */
bool orr_sum_kept(const struct cJSON *json, char why[ORR_WHY]);

/* Writes "<path>.made.json", without the last suffix of path, then gives the file its name
 * (orr_file_commit_changes): a file without a record beside it was made elsewhere, and a kill in
 * between leaves none. */
int orr_sidecar_commit(struct orr_file *file, const struct orr_records *records,
                       const char digest[ORR_DIGEST]);
/* Reads it: *made = its "made" object (cJSON_Delete() it), or NULL with the reason in why: no file,
 * no sidecar, or a file that has changed since. Only ORR_ENOMEM and ORR_EINVAL (a path that is too
 * long) fail. */
int orr_sidecar_read(const char *path, struct cJSON **made, char why[ORR_WHY]);
bool orr_sidecar_exists(const char *path);
/* Removes file and sidecar, as far as they are there. */
int orr_sidecar_remove(const char *path);

/* ---------------------------------------------------------------------------------- lineage */

/* A training that went on with more steps than it was begun with, under a schedule whose learning
 * rates depend on their number, is another one than that of these steps at once. Its record says
 * so: "went_on": "30 until step 30, 60 until step 45" before the steps of its settings. */
#define ORR_WENT_ON_KEY "went_on"
enum { ORR_WENT_ON = 256 };

/* The artefacts of a run under its settings. */
struct orr_lineage {
    const struct orr_settings *preset;
    struct orr_records records;
    const char *orbits; /* folder of data sets that was named, "" = those of the settings */
    char external_tables[2][4096];    /* run whose tables (magnitudes, vectors) were all made
                                           elsewhere, "" = none */
    char text[ORR_DIGEST];            /* record of a text to train on, "" = orbits */
    char start[ORR_LIST][ORR_DIGEST]; /* per attention: what pretraining starts from, "" = random */
    char from[ORR_LIST][ORR_DIGEST];  /* ... fine-tuning, "" = the run's pretrained model */
    char earlier_lengths[4][ORR_LIST + 1][ORR_WENT_ON]; /* orr_lineage_earlier_lengths */
};
/* orbits: see above, NULL = "". preset and orbits must live as long as the lineage. */
int orr_lineage_open(struct orr_lineage *lineage, const struct orr_settings *preset,
                     const char *orbits);
void orr_lineage_close(struct orr_lineage *lineage);
/* The text that is trained on, by the XXH64 of its content. */
int orr_lineage_take_text(struct orr_lineage *lineage, uint64_t content);
/* Record of a file that a model is started from, with the file's own record below it. */
int orr_lineage_checkpoint(struct orr_lineage *lineage, const char *path, char digest[ORR_DIGEST]);
/* Takes over which files the models of `made` were started from, and which lengths trainings had
 * before: artefacts that are made from these say so, and are not expected to be made from
 * others. */
int orr_lineage_take_starts(struct orr_lineage *lineage, const struct cJSON *made,
                            const char *path);
/* The lengths that a training (pretraining, fine-tuning; source: its attention, or "untrained") had
 * before, which its record is expected to say; "" = none. A buffer of ORR_WENT_ON bytes. */
char *orr_lineage_earlier_lengths(struct orr_lineage *lineage, enum orr_kind kind,
                                  const char *source);
/* Sets it to what `made` says of its artefact; NULL: none. */
void orr_lineage_recall_lengths(struct orr_lineage *lineage, enum orr_kind kind, const char *source,
                                const struct cJSON *made);
/* <run>/<source>/finetune/forces_magnitude.csv, or forces_vector.csv. */
int orr_table_path(const char *run, const char *source, bool vector, char path[4096]);
/* Tables of forces without any record beside them, of all sources: they were made elsewhere, and
 * are known by their content from here on. Where some have a record, all need one. */
int orr_lineage_find_external_tables(struct orr_lineage *lineage, const char *run, const char *only,
                                     bool vector);

/* The data sets, by their names in file names; planets, and with other bodies of the sun, of which
 * some of them have a sequence each. */
enum { ORR_SETS = 12, ORR_SUN_PLANETS = 8, ORR_SUN_BODIES = 12 };
extern const char *const orr_set_names[ORR_SETS];
/* Sequences of a set under a preset, by its name or its place in orr_set_names. */
long orr_set_count_at(const struct orr_settings *preset, int set);
long orr_set_count(const struct orr_settings *preset, const char *set);
/* Digest of a set made of the settings, and its "made" object when made is not NULL. */
int orr_set_made(const struct orr_settings *preset, const char *set, char digest[ORR_DIGEST],
                 struct cJSON **made);

/* What a run has under its settings. */
bool orr_has_pretrain(const struct orr_settings *preset, bool planets);
bool orr_has_task(const struct orr_settings *preset, bool vector); /* its data sets are there */
/* Whether a source has a table of the task: truth and oracle always, models that are fine-tuned. */
bool orr_has_table(const struct orr_settings *preset, const char *source, bool vector);
/* The attention of a source: its own name, or the untrained baseline's. "" for truth, oracle. */
const char *orr_source_attention(const struct orr_settings *preset, const char *source);
/* The colour of an attention variant in every figure, "#rrggbb": softmax, lssar and lssa have their
 * own, others by their number in the figure. */
const char *orr_attention_colour(const char *attention, int number);

/* Digests of the artefacts as they should be; their records are in the lineage. */
int orr_lineage_set(struct orr_lineage *lineage, const char *set, char digest[ORR_DIGEST]);
int orr_lineage_pretrain(struct orr_lineage *lineage, const char *attention, bool planets,
                         char digest[ORR_DIGEST]);
int orr_lineage_evaluation(struct orr_lineage *lineage, const char *attention, bool planets,
                           char digest[ORR_DIGEST]);
int orr_lineage_model(struct orr_lineage *lineage, const char *source, bool vector,
                      char digest[ORR_DIGEST]);
int orr_lineage_table(struct orr_lineage *lineage, const char *source, bool vector,
                      char digest[ORR_DIGEST]);
/* Of a training: orr_lineage_pretrain or orr_lineage_model, by its kind. */
int orr_lineage_training(struct orr_lineage *lineage, enum orr_kind kind, const char *source,
                         char digest[ORR_DIGEST]);
/* truth, oracle, the attention variants of the preset (or `only` one, unless ""), untrained. */
struct orr_sources {
    int count;
    char name[ORR_LIST + 3][ORR_NAME];
};
void orr_sources_list(const struct orr_settings *preset, const char *only,
                      struct orr_sources *sources);
/* Of the tables of these sources. */
int orr_lineage_laws(struct orr_lineage *lineage, const struct orr_sources *sources,
                     char digest[ORR_DIGEST]);
/* Whether the report shows numbers of the evaluation of a source on planet runs. */
bool orr_report_shows_evaluation(const struct orr_settings *preset, const char *source);
/* laws: digest of the laws that it shows; verdict: of the file of a grid's verdict; "" = none. */
int orr_lineage_report(struct orr_lineage *lineage, const struct orr_sources *sources,
                       const char *laws, const char *verdict, char digest[ORR_DIGEST]);

#endif
