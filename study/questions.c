/* questions.c - reads the verdict's questions, rows of study/questions.csv. */
#include "reader.h"
#include "verdict.h"

#include <string.h>

/* A column of a cell by its key in runs.json, or -1. */
static int find_column(const char *key)
{
    for (int c = 0; c < COMPARE_COLUMNS; c++)
        if (!strcmp(compare_column_name[c].key, key))
            return c;
    return -1;
}

/* Reads which value of its kind a question has. */
static int take_value(const struct verdict_reader *r, struct verdict_question *q)
{
    if (q->kind == VERDICT_BODIES)
        return verdict_take_word(r, "quantity",
                                 "eccentric cosine|eccentric error|planets cosine|planets error",
                                 &q->value);
    if (q->kind == VERDICT_COLUMN && (q->value = find_column(q->quantity)) < 0)
        return verdict_bad_cell(r, "quantity", "a key of runs.json, such as \"exponents.r\"");
    return 0;
}

static int take_question(const struct verdict_reader *r, struct verdict_question *q)
{
    const struct {
        const char *column, **to;
    } texts[] = {{"id", &q->id},
                 {"title", &q->title},
                 {"probe", &q->probe},
                 {"quantity", &q->quantity},
                 {"measure", &q->measure}};
    int topic, kind, layer;
    double context;
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
        if (!(*texts[k].to = verdict_cell_of(r, texts[k].column)))
            return ORR_EFORMAT;
    TRY(verdict_take_word(r, "topic", "world|labels|law|readout|outside|use", &topic));
    TRY(verdict_take_word(r, "kind", "column|bodies|probe", &kind));
    TRY(verdict_take_word(r, "layer", "|last", &layer));
    TRY(verdict_take_number(r, "context", -1, &context));
    if (!(context >= -1 && context < 1e9))
        return verdict_bad_cell(r, "context", "positions");
    q->topic = (enum verdict_topic)topic;
    q->kind = (enum verdict_kind)kind;
    q->last_layer = layer;
    q->context = (int)context;
    return take_value(r, q);
}

int verdict_questions_read(const char *path, struct verdict_questions *questions)
{
    char found[4096];
    struct verdict_reader r;
    *questions = (struct verdict_questions){.id = {NULL}};
    TRY(verdict_reader_open(path, "questions.csv", found, &r, &questions->csv));
    if (questions->csv.rows > VERDICT_MOST_QUESTIONS)
        return ORR_FAIL(ORR_EFORMAT, "%s: expected at most %d questions, found %zu", r.path,
                        VERDICT_MOST_QUESTIONS, questions->csv.rows);
    for (; r.row < questions->csv.rows; r.row++) {
        TRY(take_question(&r, &questions->at[r.row]));
        for (size_t k = 0; k < r.row; k++)
            if (!strcmp(questions->id[k], questions->at[r.row].id))
                return verdict_bad_cell(&r, "id", "another id than those above");
        questions->id[r.row] = questions->at[r.row].id;
    }
    return 0;
}

void verdict_questions_free(struct verdict_questions *questions)
{
    orr_csv_free(&questions->csv);
    *questions = (struct verdict_questions){.id = {NULL}};
}
