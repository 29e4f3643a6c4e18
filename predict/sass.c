/* sass.c - reads nvdisasm's text of one function. A line is a directive, a label, or
 *
 *         (address) @!P0 HMMA.16816.F32.BF16 R4, R8, R12, R4 ;
 *
 * with the address in a comment, in hexadecimal, and a predicate or none. */
#include "sass.h"

#include <stdlib.h>
#include <string.h>

struct label {
    const char *name; /* in the text, up to the colon */
    size_t length;
    int at; /* instruction that it stands before */
};

/* Target of an instruction by name, until all labels are known. */
struct jump {
    const char *name;
    size_t length;
    int from, line;
    bool needed; /* a call of another function is none of ours */
};

struct reader {
    const char *path;
    struct predict_code *code;
    struct label *label;
    struct jump *jump;
    size_t lines, labels, jumps;
};

/* ---- one instruction */

static bool is_base(const char *opcode, const char *base)
{
    const size_t length = strlen(base);
    return !strncmp(opcode, base, length) && (opcode[length] == '.' || !opcode[length]);
}

/* Notes the label in `(name), if the operands have one. */
static void note_jump(struct reader *r, const char *operands, const char *end, int line,
                      bool needed)
{
    const char *at = memchr(operands, '`', (size_t)(end - operands));
    if (!at || at + 2 >= end || at[1] != '(')
        return;
    const char *close = memchr(at, ')', (size_t)(end - at));
    if (close)
        r->jump[r->jumps++] = (struct jump){.name = at + 2,
                                            .length = (size_t)(close - at - 2),
                                            .from = (int)r->code->count,
                                            .line = line,
                                            .needed = needed};
}

/* Where control goes from an instruction. Branches by BRA.DIV are for warps whose lanes went apart,
 * and are taken for never taken; calls return. */
static int flow_of(struct reader *r, struct predict_instruction *i, const char *opcode,
                   const char *operands, const char *end, bool always, int line)
{
    if (is_base(opcode, "BRX") || is_base(opcode, "JMX"))
        return ORR_FAIL(ORR_EFORMAT, "%s:%d: %s jumps through a register, which is not read",
                        r->path, line, opcode);
    if (is_base(opcode, "EXIT") || is_base(opcode, "RET") || is_base(opcode, "KILL")) {
        i->ends = always;
    } else if (!strncmp(opcode, "BRA.DIV", 7)) {
        ;
    } else if (is_base(opcode, "BRA") || is_base(opcode, "JMP")) {
        i->ends = always && *operands == '`'; /* else a predicate stands before the label */
        note_jump(r, operands, end, line, true);
    } else if (is_base(opcode, "CALL")) {
        note_jump(r, operands, end, line, false);
    }
    return 0;
}

/* The line from behind its address on. */
static int read_instruction(struct reader *r, const char *at, const char *end, unsigned address,
                            int line)
{
    struct predict_instruction *i = &r->code->instruction[r->code->count];
    bool always = true, never = false;
    at += strspn(at, " ");
    if (*at == '@') {
        never = !strncmp(at, "@!PT ", 5) || !strncmp(at, "@!UPT ", 6);
        always = !strncmp(at, "@PT ", 4);
        at += strcspn(at, " ");
        at += strspn(at, " ");
    }
    const size_t length = strcspn(at, " ;\n");
    char opcode[PREDICT_NAME];
    if (length == 0 || length >= sizeof opcode || at + length >= end)
        return ORR_FAIL(ORR_EFORMAT, "%s:%d: expected an opcode after the address", r->path, line);
    snprintf(opcode, sizeof opcode, "%.*s", (int)length, at);
    at += length;
    at += strspn(at, " ");
    *i = (struct predict_instruction){.address = address, .target = -1};
    i->class = predict_classify(opcode, at, &i->one);
    if (i->class == PREDICT_OTHER && !*r->code->unknown)
        snprintf(r->code->unknown, sizeof r->code->unknown, "%s", opcode);
    if (never) { /* takes a slot and moves nothing */
        i->one = (struct predict_tally){0};
        i->one.count[PREDICT_CONTROL] = 1;
    }
    const int rc = never ? 0 : flow_of(r, i, opcode, at, end, always, line);
    r->code->count++;
    return rc;
}

/* ---- the lines of the function */

static int resolve(struct reader *r)
{
    for (size_t j = 0; j < r->jumps; j++) {
        const struct jump *jump = &r->jump[j];
        const struct label *found = NULL;
        for (size_t l = 0; l < r->labels && !found; l++)
            if (r->label[l].length == jump->length &&
                !strncmp(r->label[l].name, jump->name, jump->length))
                found = &r->label[l];
        const bool ours = found && *jump->name == '.' && (size_t)found->at < r->code->count;
        if (jump->needed && !ours)
            return ORR_FAIL(ORR_EFORMAT, "%s:%d: no label \"%.*s\" in the function", r->path,
                            jump->line, (int)jump->length, jump->name);
        if (ours)
            r->code->instruction[jump->from].target = found->at;
    }
    return 0;
}

/* From the line after the function's header to the next function's, or the end. */
static int read_body(struct reader *r, const char *text, int line)
{
    for (; *text; line++) {
        const char *end = text + strcspn(text, "\n");
        const char *at = text + strspn(text, " \t");
        if (!strncmp(at, "//-----", 7))
            break;
        char *behind;
        if (!strncmp(at, "/*", 2)) {
            const unsigned long address = strtoul(at + 2, &behind, 16);
            if (behind > at + 2 && !strncmp(behind, "*/", 2))
                TRY(read_instruction(r, behind + 2, end, (unsigned)address, line));
        } else if (!strncmp(at, ".sectioninfo", 12)) {
            const char *registers = strstr(at, "SHI_REGISTERS=");
            if (registers && registers < end)
                r->code->registers = (int)strtol(registers + 14, NULL, 10);
        } else if (end > at + 1 && end[-1] == ':') {
            r->label[r->labels++] = (struct label){
                .name = at, .length = (size_t)(end - 1 - at), .at = (int)r->code->count};
        }
        text = *end ? end + 1 : end;
    }
    return 0;
}

static const char header[] = "\t.section\t.text.";

/* The header line of the one function whose symbol contains `kernel`; *line counts from 1. */
static int find(const char **function, int *line, const char *path, const char *text,
                const char *kernel)
{
    int found = 0, now = 1;
    for (const char *at = text; *at; now++) {
        const size_t length = strcspn(at, "\n");
        if (!strncmp(at, header, sizeof header - 1)) {
            const char *name = at + sizeof header - 1;
            const char *inside = strstr(name, kernel);
            if (inside && inside + strlen(kernel) <= name + strcspn(name, ",\n")) {
                found++;
                *function = at;
                *line = now;
            }
        }
        at += length + (at[length] == '\n');
    }
    if (found == 1)
        return 0;
    if (found)
        return ORR_FAIL(ORR_EINVAL, "%s: %d functions have \"%s\" in their symbols; expected one",
                        path, found, kernel);
    return ORR_FAIL(ORR_EMISSING,
                    "%s: no function with \"%s\" in its symbol; expected the text of nvdisasm -c",
                    path, kernel);
}

static int read_function(struct reader *r, const char *text, const char *kernel)
{
    const char *function = NULL;
    int line = 0;
    TRY(find(&function, &line, r->path, text, kernel));
    struct predict_code *code = r->code;
    const char *name = function + sizeof header - 1;
    const size_t length = strcspn(name, ",\n");
    const char *target = strstr(text, ".target\t");
    if (target)
        snprintf(code->target, sizeof code->target, "%.*s", (int)strcspn(target + 8, "\n"),
                 target + 8);
    code->symbol = orr_alloc(length + 1, 1);
    code->instruction = orr_alloc(r->lines + 1, sizeof *code->instruction);
    r->label = orr_alloc(r->lines + 1, sizeof *r->label);
    r->jump = orr_alloc(r->lines + 1, sizeof *r->jump);
    if (!code->symbol || !code->instruction || !r->label || !r->jump)
        return ORR_ENOMEM;
    memcpy(code->symbol, name, length);
    const char *body = function + strcspn(function, "\n");
    TRY(read_body(r, *body ? body + 1 : body, line + 1));
    if (code->count == 0)
        return ORR_FAIL(ORR_EFORMAT, "%s:%d: the function has no instructions", r->path, line);
    return resolve(r);
}

/* Branches that go one way lose the other. */
static int settle_branches(struct predict_code *code, const char *path,
                           const struct predict_known *known)
{
    for (int b = 0; b < known->branches; b++) {
        const struct predict_branch *branch = &known->branch[b];
        struct predict_instruction *i = NULL;
        for (size_t k = 0; k < code->count && !i; k++)
            if (code->instruction[k].address == branch->address &&
                code->instruction[k].target >= 0 && !code->instruction[k].ends)
                i = &code->instruction[k];
        if (!i)
            return ORR_FAIL(ORR_EINVAL, "%s: address %04x: expected a branch that may go both ways",
                            path, branch->address);
        i->ends = branch->taken;
        i->target = branch->taken ? i->target : -1;
    }
    return 0;
}

int predict_code_read(struct predict_code *code, const char *path, const char *kernel,
                      const struct predict_known *known)
{
    const struct predict_known nothing = {0};
    char *text;
    *code = (struct predict_code){0};
    TRY(orr_file_read(path, &text, NULL));
    known = known ? known : &nothing;
    struct reader r = {.path = path, .code = code};
    for (const char *at = text; *at; at++)
        r.lines += *at == '\n';
    int rc = read_function(&r, text, kernel);
    if (!rc)
        rc = settle_branches(code, path, known);
    if (!rc)
        rc = predict_flow(code, path, known);
    free(r.label);
    free(r.jump);
    free(text);
    if (rc)
        predict_code_free(code);
    return rc;
}

void predict_code_free(struct predict_code *code)
{
    free(code->symbol);
    free(code->instruction);
    free(code->part);
    *code = (struct predict_code){0};
}
