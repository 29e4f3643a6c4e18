/* main_sample.c - bin/sample: continues a prompt by a trained model of text. */
#include "checkpoint.h"
#include "device.h"
#include "optimizer.h"
#include "sample.h"
#include "model/text/text.h"
#include "model/train/train.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *prompt_text, *length_text, *temperature_text, *top_k_text, *count_text;
static const struct orr_option options[] = {
    {"--prompt", "TEXT", "the text to continue; of a model of tokens: their numbers, \"464 3290\"",
     &prompt_text, NULL},
    {"--length", "N", "tokens to write, of bytes: characters (default: 256)", &length_text, NULL},
    {"--temperature", "X",
     "divides the logits: below 1 probable tokens become more probable; 0: always the most "
     "probable one (default: 1)",
     &temperature_text, NULL},
    {"--top-k", "K", "draws from the K most probable tokens alone (default: 0, from all)",
     &top_k_text, NULL},
    {"--count", "N", "continuations, one after the other (default: 1)", &count_text, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static const struct orr_program program = {
    .name = "sample",
    .purpose = "Continues a prompt by a trained model of text (docs/text.md). The same seed\n"
               "gives the same text.",
    .usage = "sample --run DIR [--attention NAME] [options]\n"
             "       sample --checkpoint FILE [options]",
    .options = options,
    .groups = "",
    .without = "--out,--plan,--resume,--set",
    .usual = "--prompt,--length,--temperature,--top-k,--count,--run,--attention,--checkpoint,"
             "--preset,--seed,--device,--threads,--quiet,--help",
};

struct call {
    struct gpt_model model;
    struct gpt_sampling sampling;
    long length, count, seed_tokens;
    uint16_t *tokens; /* (seed_tokens + length) */
};

static int read_whole(const char *option, const char *text, long least, long most, long *value)
{
    if (text && !orr_whole(text, least, most, value))
        return ORR_FAIL(ORR_EUSAGE, "%s: expected a whole number from %ld to %ld, found \"%s\"",
                        option, least, most, text);
    return 0;
}

static int read_options(const struct orr_cli *cli, struct call *c)
{
    long top_k = 0;
    char *end = NULL;
    c->length = 256;
    c->count = 1;
    c->sampling = (struct gpt_sampling){.temperature = 1, .seed = cli->settings.seed};
    TRY(read_whole("--length", length_text, 1, 10000000, &c->length));
    TRY(read_whole("--count", count_text, 1, 1000000, &c->count));
    TRY(read_whole("--top-k", top_k_text, 0, 65536, &top_k));
    c->sampling.top_k = (int)top_k;
    if (temperature_text) {
        const double t = c->sampling.temperature = strtod(temperature_text, &end);
        if (end == temperature_text || *end || !(t == 0 || (t >= 1e-6 && t <= 1e6)))
            return ORR_FAIL(ORR_EUSAGE,
                            "--temperature: expected 0 or a number from 1e-06 to 1e+06, found "
                            "\"%s\"",
                            temperature_text);
    }
    return *cli->checkpoint && *cli->attention
               ? ORR_FAIL(ORR_EUSAGE, "--attention: chooses a model of --run, not with "
                                      "--checkpoint")
               : 0;
}

/* The checkpoint that is named, or that of the run's first variant or of --attention. */
static int find_checkpoint(const struct orr_cli *cli, char path[4096])
{
    const struct orr_settings *p = &cli->settings;
    const char *attention = *cli->attention ? cli->attention : p->attention.item[0];
    if (*cli->checkpoint)
        return orr_exists(cli->checkpoint)
                   ? orr_path(path, "%s", cli->checkpoint)
                   : ORR_FAIL(ORR_EMISSING, "%s: no such checkpoint", cli->checkpoint);
    if (!orr_settings_is_text(p))
        return ORR_FAIL(ORR_EINVAL,
                        "%s: expected a run of text, found preset %s, of orbits; orrery probe "
                        "rollout continues orbits",
                        cli->run, p->name);
    TRY(orr_path(path, "%s/%s/pretrain/%s", cli->run, attention,
                 gpt_final_checkpoint(&p->pretrain)));
    if (!orr_exists(path)) {
        char command[ORR_COMMAND];
        orr_command_of_run("pretrain", command);
        return ORR_FAIL(ORR_EMISSING, "%s: no such model; make it with: %s", path, command);
    }
    if (!*cli->attention && p->attention.count > 1)
        orr_note(cli->quiet, "sample: the model with %s, of %d of the run; --attention chooses",
                 attention, p->attention.count);
    return 0;
}

static int load_model(const struct orr_cli *cli, const struct gpt_device *device, struct call *c)
{
    char path[4096];
    TRY(find_checkpoint(cli, path));
    TRY(gpt_load(&c->model, path, device->ops, NULL));
    const struct gpt_config *config = &c->model.config;
    if (config->input != GPT_INPUT_TEXT || config->head != GPT_HEAD_TEXT)
        return ORR_FAIL(ORR_EINVAL,
                        "%s: expected a model of text, found one of orbits (%s); orrery probe "
                        "rollout continues orbits",
                        path, config->input == GPT_INPUT_CONTINUOUS ? "coordinates" : "tokens");
    gpt_swap_average(&c->model); /* the averaged weights, which evaluations use */
    return 0;
}

static bool is_bytes(const struct call *c)
{
    return c->model.config.vocab == GPT_TEXT_BYTES;
}

/* Appends the number at *at, of digits up to a blank or comma, to the prompt; false where there is
 * none below the vocabulary. */
static bool take_number(const char **at, const struct call *c, uint16_t *token)
{
    char word[8];
    const size_t length = strcspn(*at, " ,\t\n");
    long number;
    if (length >= sizeof word)
        return false;
    memcpy(word, *at, length);
    word[length] = '\0';
    *at += length;
    if (!orr_whole(word, 0, c->model.config.vocab - 1, &number))
        return false;
    *token = (uint16_t)number;
    return true;
}

/* Reads the prompt: bytes, or numbers of tokens. Without one, a line break begins a text of bytes,
 * and the last token, which is GPT-2's end of a text, one of tokens. */
static int read_prompt(struct call *c)
{
    const int last = c->model.config.vocab - 1;
    const char *text = prompt_text ? prompt_text : "";
    c->tokens = orr_alloc(strlen(text) + 1 + (size_t)c->length, sizeof *c->tokens);
    if (!c->tokens)
        return ORR_ENOMEM;
    if (is_bytes(c)) {
        for (; text[c->seed_tokens]; c->seed_tokens++)
            c->tokens[c->seed_tokens] = (unsigned char)text[c->seed_tokens];
    } else
        for (const char *at = text; *(at += strspn(at, " ,\t\n"));) {
            const char *word = at;
            char shown[64];
            if (!take_number(&at, c, &c->tokens[c->seed_tokens++]))
                return ORR_FAIL(ORR_EUSAGE,
                                "--prompt: the model has %d tokens: expected their numbers, 0 to "
                                "%d, found \"%.40s\"",
                                last + 1, last, orr_shown(shown, sizeof shown, word));
        }
    if (prompt_text && !c->seed_tokens)
        return ORR_FAIL(ORR_EUSAGE, "--prompt: expected a text, found none");
    if (!c->seed_tokens)
        c->tokens[c->seed_tokens++] = is_bytes(c) ? '\n' : (uint16_t)last;
    return 0;
}

/* Prints bytes as they are; on a terminal "?" for what is no character or may command it. */
static void print_bytes(const char *text)
{
    const bool terminal = isatty(STDOUT_FILENO);
    for (const char *at = text; *at;) {
        uint32_t code = 0;
        const size_t bytes = orr_character(at, &code);
        const bool plain = !terminal || *at == '\n' || *at == '\t' || (code && !orr_unseen(at));
        printf("%.*s", plain ? (int)bytes : 1, plain ? at : "?");
        at += bytes;
    }
}

static int print_sample(const struct call *c, long number)
{
    const size_t count = (size_t)(c->seed_tokens + c->length);
    if (c->count > 1)
        printf("%s---- %ld\n", number ? "\n" : "", number + 1);
    if (is_bytes(c)) {
        char *text = orr_alloc(count + 1, 1);
        if (!text)
            return ORR_ENOMEM;
        const size_t from = prompt_text ? 0 : 1; /* not the line break that nobody gave */
        for (size_t i = from; i < count; i++)
            text[i - from] = c->tokens[i] ? (char)c->tokens[i] : '?';
        print_bytes(text);
        free(text);
    } else
        for (size_t i = 0; i < count; i++)
            printf("%s%d", i ? " " : "", c->tokens[i]);
    putchar('\n');
    fflush(stdout);
    return 0;
}

static int sample_all(struct call *c)
{
    TRY(read_prompt(c));
    const size_t given = (size_t)c->seed_tokens;
    for (long i = 0; i < c->count; i++) {
        c->sampling.index = (uint64_t)i;
        TRY(gpt_sample(&c->model, &c->sampling, c->tokens, given, given + (size_t)c->length));
        TRY(print_sample(c, i));
    }
    return 0;
}

static int run(const struct orr_cli *cli)
{
    struct call call = {.length = 0};
    struct gpt_device device;
    TRY(read_options(cli, &call));
    TRY(gpt_device_find(&device, cli));
    TRY(gpt_device_open(&device, cli, true));
    int rc = load_model(cli, &device, &call);
    rc = rc ? rc : sample_all(&call);
    free(call.tokens);
    gpt_free(&call.model);
    device.ops->close();
    return rc;
}

int main(int argc, char **argv)
{
    return orr_main(&program, argc, argv, run);
}
