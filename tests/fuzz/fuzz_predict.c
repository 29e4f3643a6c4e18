/* fuzz_predict.c - any bytes as the front.json of a search, and as a table whose target it
 * predicts. The first lines are the options index, rule, interval and missing (an empty line: not
 * given); front.json continues to a form feed, and the rest is the table. */
#include <string.h>

#include "fuzz.h"
#include "symreg/table/program.h"

FUZZ_TARGET(predict)
{
    char front[4096], table[4096];
    char *text = malloc(size + 1), *rest = text;
    FUZZ_EXPECT(text);
    memcpy(text, bytes, size);
    text[size] = '\0';
    fuzz_quiet();
    struct sr_predict_options options = {.quiet = true, .index = fuzz_line(&rest)};
    options.rule = fuzz_line(&rest);
    options.interval = fuzz_line(&rest);
    options.missing = fuzz_line(&rest);
    char *end = strchr(rest, '\f');
    fuzz_file(front, "front.json", rest, end ? (size_t)(end - rest) : strlen(rest));
    fuzz_file(table, "a.csv", end ? end + 1 : "x\n1\n", end ? strlen(end + 1) : 4);
    const int rc = sr_predict_run(front, table, &options);
    FUZZ_EXPECT(!rc || (*orr_error() && !strchr(orr_error(), '\n')));
    free(text);
    return 0;
}
