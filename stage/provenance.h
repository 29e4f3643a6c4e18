/* provenance.h - what an artefact was made from, and whether it still matches the settings.
 *
 * A *record* holds the kind of an artefact, the settings that matter to it, facts (which attention,
 * which set), and the digests of the records of its inputs, down to the data sets. The digest of a
 * record is the XXH64 of its text: two artefacts with equal digests were made in the same way from
 * equal inputs. *Records* are indexed by digest.
 *
 * A setting is part of every record unless stage/settings_table.c excludes it by name, with the
 * reason. A *lineage* knows which artefact of a run is made from which, and makes the record that
 * each should have under given settings. The record in a file is compared with that.
 *
 * In files: "made": {"digest": D, "records": {digest: record, ...}}, the record of the artefact and
 * of everything below it. It is stored in manifest.json (for every set), in the metadata of
 * checkpoints, and in evaluation.json and laws.json. Other files have "<name>.made.json" beside
 * them, with their size and checksum (docs/provenance.md). */
#ifndef ORR_PROVENANCE_H
#define ORR_PROVENANCE_H

#include "base/file.h"
#include "cli.h"

enum { ORR_DIGEST = 17 }; /* 16 hexadecimal digits and NUL */
enum { ORR_WHY = 512 };   /* for the reason why something is remade */

/* Kinds of artefacts, in the order in which a run makes them. */
enum orr_kind {
    ORR_KIND_STATES, /* the sets train, val, test */
    ORR_KIND_TWO_BODY,
    ORR_KIND_SOLAR, /* solar_system, solar_system_two_body */
    ORR_KIND_PLANETS,
    ORR_KIND_PLANETS_SOLAR,
    ORR_KIND_PRETRAIN,
    ORR_KIND_PRETRAIN_PLANETS,
    ORR_KIND_EVALUATION, /* of next-state prediction */
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
/* What to do about a file, and why. */
enum orr_action { ORR_KEEP, ORR_GO_ON, ORR_MAKE, ORR_REMAKE, ORR_REFUSE };
struct orr_artefact {
    enum orr_action action;
    bool lengthened; /* a longer training continues: its files get their new record first */
    char path[4096], why[ORR_WHY];
};
/* Why a setting is not part of the records of a kind; NULL if it is. */
const char *orr_kind_leaves_out(enum orr_kind kind, const char *key);
/* The first program whose records contain a setting, or its group. */
const char *orr_setting_stage(const char *key);
/* Whether a setting affects any artefact up to the laws. False for texts about a run, and for where
 * and how to compute. */
bool orr_made_from(const char *key);

/* ------------------------------------------------------------------------------- records */

struct cJSON;

struct orr_records {
    struct cJSON *by_digest; /* object: digest -> record */
};
int orr_records_create(struct orr_records *records);
void orr_records_free(struct orr_records *records);

/* A record of a kind with its settings, without facts and inputs. If memory runs out,
 * orr_records_add() reports it. */
struct cJSON *orr_record_create(enum orr_kind kind, const struct orr_settings *settings);
/* A record of something external, that no settings made: `what` ("checkpoint", "data set made
 * elsewhere"), the XXH64 of its content, and a name for messages, which is not part of the
 * digest. */
struct cJSON *orr_record_external(const char *what, uint64_t content, const char *name);
/* Adds a fact, or an input whose record must be among the records. */
void orr_record_fact(struct cJSON *record, const char *key, const char *value);
void orr_record_input(struct cJSON *record, const char *name, const char digest[ORR_DIGEST]);
/* Adds the record, takes ownership of it, and writes its digest. */
int orr_records_add(struct orr_records *records, struct cJSON *record, char digest[ORR_DIGEST]);
/* Imports the records of a "made" object; digest: that of its artefact. ORR_EFORMAT for an invalid
 * object; `path` names the file. */
int orr_records_import(struct orr_records *records, const struct cJSON *made, const char *path,
                       char digest[ORR_DIGEST]);

/* The object {"digest", "records"} of an artefact; cJSON_Delete() it. */
struct cJSON *orr_records_made(const struct orr_records *records, const char digest[ORR_DIGEST]);
/* The object {"digest", "records"} as text in one line; free() it. NULL without memory. */
char *orr_records_made_text(const struct orr_records *records, const char digest[ORR_DIGEST]);
/* The record with a digest in a "made" object, or NULL. */
const struct cJSON *orr_made_record(const struct cJSON *made, const char *digest);
/* The digest of the artefact in a "made" object; "" if there is none. */
const char *orr_made_digest(const struct cJSON *made);

/* A setting in the record of the artefact; "" if there is none. */
const char *orr_made_setting(const struct cJSON *made, const char *key);
/* Whether `made` equals the record `digest` except for the value of one setting, and for the
 * earlier lengths of its training (orr_lineage_earlier_lengths). Writes the value that `made`
 * has. */
bool orr_made_but(const struct orr_records *records, const char digest[ORR_DIGEST],
                  const struct cJSON *made, const char *key, char *value, size_t bytes);

/* Whether `made` (NULL: unknown) is the record `digest`. If not, `why` names the first difference,
 * with the value found and the value expected: "its model: pretrain.steps is 1200, expected
 * 1500". */
bool orr_made_same(const struct orr_records *records, const char digest[ORR_DIGEST],
                   const struct cJSON *made, char why[ORR_WHY]);

/* The names of all external records below a digest, separated by "; ". */
void orr_records_external(const struct orr_records *records, const char *digest, char *text,
                          size_t bytes);

/* ------------------------------------------------------------------------------- sidecars */

/* "files": {name: {bytes, xxh64}} of an artefact of several files. orr_files_add() adds
 * folder/name. orr_files_same() tells whether all files exist with this size and sum; if not,
 * `why`. */
int orr_files_add(struct cJSON *files, const char *folder, const char *name);
bool orr_files_same(const char *folder, const struct cJSON *files, char why[ORR_WHY]);
/* Whether one such file exists with its size and sum; if not, `why`. */
bool orr_file_same(const char *folder, const struct cJSON *file, char why[ORR_WHY]);

/* Whether a JSON object has the record `digest` ("made"), and the files in the folder that it names
 * ("files") are unchanged; if not, `why`. */
bool orr_json_is_whole(const struct cJSON *json, const char *folder,
                       const struct orr_records *records, const char digest[ORR_DIGEST],
                       char why[ORR_WHY]);
/* Decides what to do about status->path, the file of such a JSON object; one that was changed, or
 * that an older version wrote without a sum (base/json.h), is made again. alone: the object may
 * name no files. Only ORR_ENOMEM fails. */
int orr_json_status(const char *folder, const struct orr_records *records,
                    const char digest[ORR_DIGEST], bool alone, struct orr_artefact *status);
/* ORR_EINVAL: an input that another program made does not match the settings. The message has the
 * command that remakes it, and other remedies, ", or ...". */
int orr_refuse_input(const char *path, const char *why, const char *program, const char *else_what);

/* Reads a result that can be made again (base/json.h): *json is NULL with the reason in `why` where
 * it was changed, or has no sum, as older versions wrote it. Errors are those of reading. */
int orr_result_read(const char *path, struct cJSON **json, char why[ORR_WHY]);

/* Writes "<path>.made.json", without the last suffix of path, then commits the file
 * (orr_file_commit_changes). In this order a kill leaves no file without its record, which would
 * count as external. */
int orr_sidecar_commit(struct orr_file *file, const struct orr_records *records,
                       const char digest[ORR_DIGEST]);
/* Reads a sidecar: *made, its "made" object (cJSON_Delete() it), or NULL with the reason in `why`:
 * no file, no sidecar, or a file that has changed since. Only ORR_ENOMEM and ORR_EINVAL (path too
 * long) fail. */
int orr_sidecar_read(const char *path, struct cJSON **made, char why[ORR_WHY]);
bool orr_sidecar_exists(const char *path);
/* Removes a file and its sidecar, if they exist. */
int orr_sidecar_remove(const char *path);

/* ---------------------------------------------------------------------------------- lineage */

/* A training that was continued with more steps than it began with differs from one with all steps
 * from the beginning, if its learning rates depend on the number of steps. Its record then has
 * "went_on": "30 until step 30, 60 until step 45", before the steps of its settings. */
#define ORR_WENT_ON_KEY "went_on"
enum { ORR_WENT_ON = 256 };

/* Folders of answers of models of other programs, each a source by the name of its folder. */
enum { ORR_ANSWERS = 8 };
struct orr_answers {
    int count;
    char name[ORR_ANSWERS][ORR_NAME], folder[ORR_ANSWERS][4096];
};
/* The last part of the path of a folder. ORR_EUSAGE where it is no name of a source. */
int orr_answers_name(const char *folder, char name[ORR_NAME]);
/* Reads a list DIR,DIR. ORR_EUSAGE where a name is taken by another source of the settings,
 * ORR_EMISSING where there is no such folder. */
int orr_answers_parse(struct orr_answers *answers, const char *list,
                      const struct orr_settings *settings);
/* The folder of a source; NULL: it is none of these, or answers is NULL. */
const char *orr_answers_folder(const struct orr_answers *answers, const char *name);
/* The path of its table of forces, and whether that exists. */
int orr_answers_table(const struct orr_answers *answers, const char *name, bool vector,
                      char path[4096], bool *there);

/* The artefacts of a run under its settings. */
struct orr_lineage {
    const struct orr_settings *settings;
    struct orr_records records;
    const char *orbits; /* folder given for the data sets, or of imported tracks; "" = made from the
                           settings */
    const struct orr_answers *answers; /* sources that are other programs' models; NULL: none */
    struct cJSON *recorded_answers;   /* digests of tables by source, orr_lineage_adopt_answers() */
    char external_tables[2][4096];    /* run whose tables of this kind are external, "" = none */
    char text[ORR_DIGEST];            /* record of a text to train on, "" = orbits */
    char start[ORR_LIST][ORR_DIGEST]; /* per attention: start of pretraining, "" = random */
    char from[ORR_LIST][ORR_DIGEST];  /* per attention: start of fine-tuning, "" = the run's */
    char earlier_lengths[4][ORR_LIST + 1][ORR_WENT_ON]; /* orr_lineage_earlier_lengths */
};
/* Opens the lineage of a run. orbits: folder of data sets, NULL or "" = the settings' tracks, if
 * any, else made from the settings.
 * preset and orbits must outlive the lineage. */
int orr_lineage_open(struct orr_lineage *lineage, const struct orr_settings *settings,
                     const char *orbits);
void orr_lineage_close(struct orr_lineage *lineage);
/* Sets the text that is trained on, by the XXH64 of its content. */
int orr_lineage_take_text(struct orr_lineage *lineage, uint64_t content);
/* The record of a checkpoint that a model starts from, with the checkpoint's own record below
 * it. */
int orr_lineage_checkpoint(struct orr_lineage *lineage, const char *path, char digest[ORR_DIGEST]);
/* Takes over from `made` which files its models were started from, and the earlier lengths of its
 * trainings. Artefacts made from these are then expected to have these records. */
int orr_lineage_take_starts(struct orr_lineage *lineage, const struct cJSON *made,
                            const char *path);
/* The earlier lengths of a training that its record should have, a buffer of ORR_WENT_ON bytes; ""
 * = none. source: its attention, or "untrained". */
char *orr_lineage_earlier_lengths(struct orr_lineage *lineage, enum orr_kind kind,
                                  const char *source);
/* Sets the earlier lengths to those that `made` has; NULL: none. */
void orr_lineage_recall_lengths(struct orr_lineage *lineage, enum orr_kind kind, const char *source,
                                const struct cJSON *made);
/* The path <run>/<source>/finetune/forces_magnitude.csv, or forces_vector.csv. */
int orr_table_path(const char *run, const char *source, bool vector, char path[4096]);
/* Finds tables of forces that are external: no source has a record beside its table. They are
 * identified by their content from then on. If some have a record, all need one. */
int orr_lineage_find_external_tables(struct orr_lineage *lineage, const char *run, const char *only,
                                     bool vector);

/* The data sets, as named in file names. The solar system has a sequence for each planet, or for
 * each of these bodies. */
enum { ORR_SETS = 12, ORR_SUN_PLANETS = 8, ORR_SUN_BODIES = 12 };
extern const char *const orr_set_names[ORR_SETS];
/* The number of sequences of a set under a preset, by index in orr_set_names or by name. */
long orr_set_count_at(const struct orr_settings *settings, int set);
long orr_set_count(const struct orr_settings *settings, const char *set);
/* The digest of a set made from the settings, and its "made" object if `made` is not NULL. */
int orr_set_made(const struct orr_settings *settings, const char *set, char digest[ORR_DIGEST],
                 struct cJSON **made);

/* Whether a run has this pretraining under its settings. */
bool orr_has_pretrain(const struct orr_settings *settings, bool planets);
bool orr_has_task(const struct orr_settings *settings, bool vector); /* its data sets exist */
/* Whether a source has a table of the task: truth and oracle always, other sources if their model
 * is fine-tuned. */
bool orr_has_table(const struct orr_settings *settings, const char *source, bool vector);
/* The attention of a source: its own name, or the attention of the untrained baseline. "" for truth
 * and oracle. */
const char *orr_source_attention(const struct orr_settings *settings, const char *source);
/* The colour of an attention variant in every figure, "#rrggbb": fixed for softmax, lssar and lssa,
 * else by its number in the figure. */
const char *orr_attention_colour(const char *attention, int number);

/* The digests that artefacts should have; their records are added to the lineage. */
int orr_lineage_set(struct orr_lineage *lineage, const char *set, char digest[ORR_DIGEST]);
int orr_lineage_pretrain(struct orr_lineage *lineage, const char *attention, bool planets,
                         char digest[ORR_DIGEST]);
int orr_lineage_evaluation(struct orr_lineage *lineage, const char *attention, bool planets,
                           char digest[ORR_DIGEST]);
int orr_lineage_model(struct orr_lineage *lineage, const char *source, bool vector,
                      char digest[ORR_DIGEST]);
int orr_lineage_table(struct orr_lineage *lineage, const char *source, bool vector,
                      char digest[ORR_DIGEST]);
/* The digest of a training by its kind: orr_lineage_pretrain() or orr_lineage_model(). */
int orr_lineage_training(struct orr_lineage *lineage, enum orr_kind kind, const char *source,
                         char digest[ORR_DIGEST]);
/* The sources of a run: truth, oracle, the attention variants of the preset (or `only` one, unless
 * ""), untrained; for laws also ORR_POSITIONS, which has no table: forces are estimated from
 * positions of two_body_test. */
#define ORR_POSITIONS "positions"
enum { ORR_SOURCES = ORR_LIST + 4 + ORR_ANSWERS };
struct orr_sources {
    int count;
    char name[ORR_SOURCES][ORR_NAME];
};
void orr_sources_list(const struct orr_settings *settings, const char *only,
                      struct orr_sources *sources);
/* The digest of the laws found from the tables of these sources, and from the data set of
 * ORR_POSITIONS if that is one of them. */
int orr_lineage_laws(struct orr_lineage *lineage, const struct orr_sources *sources,
                     char digest[ORR_DIGEST]);
/* Whether a source is a model of another program. */
bool orr_lineage_is_answers(const struct orr_lineage *lineage, const char *source);
/* The digest of its table of forces, if it has one. */
int orr_lineage_answers_table(struct orr_lineage *lineage, const char *source, bool vector,
                              char digest[ORR_DIGEST], bool *there);
/* Accepts the answers that laws with the record `made` (NULL: none) were made from, and adds their
 * sources where the list lacks them. */
int orr_lineage_adopt_answers(struct orr_lineage *lineage, const struct cJSON *made,
                              const char *path, struct orr_sources *sources);
/* Whether laws with the record `made` (NULL: none) were made from positions, too. */
bool orr_made_from_positions(const struct cJSON *made);
/* Whether the report shows a source's evaluation on planet runs. */
bool orr_report_shows_evaluation(const struct orr_settings *settings, const char *source);
/* The digest of the report. laws: digest of the laws that it shows; probes: digest of results of
 * probes; "" = none. */
int orr_lineage_report(struct orr_lineage *lineage, const struct orr_sources *sources,
                       const char *laws, const char *probes, char digest[ORR_DIGEST]);

#endif
