/* flow.c - basic blocks, dominators, natural loops, and the part that each instruction belongs to.
 *
 * Loops are those of the back edges u -> h whose head h dominates u (Aho, Lam, Sethi, Ullman 2006,
 * section 9.6.6); dominators by Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm"
 * (2001). Back edges of one head are one loop. */
#include "sass.h"

#include <stdlib.h>
#include <string.h>

struct block {
    int first, last; /* instructions */
    int next[2];     /* successors, -1: none */
    int order;       /* in reverse postorder from 0; -1: nothing leads here */
    int dominator;   /* immediate */
    int loop;        /* innermost, -1: none */
};

struct loop {
    int head, depth, parent, size; /* size: blocks */
    unsigned from, to;
    bool *in; /* (blocks) */
    char name[PREDICT_NAME];
};

struct graph {
    struct predict_code *code;
    const char *path;
    int blocks, loops, reached;
    struct block *block;
    int *sorted; /* (reached) blocks in reverse postorder */
    int *stack;  /* (blocks) scratch */
    struct loop *loop;
    bool *in; /* (blocks, blocks) memory of the loops */
};

/* ---- blocks */

static int make_blocks(struct graph *g)
{
    struct predict_code *code = g->code;
    const int n = (int)code->count;
    bool *first = orr_alloc((size_t)n + 1, sizeof *first);
    if (!first)
        return ORR_ENOMEM;
    first[0] = true;
    for (int i = 0; i < n; i++) {
        const struct predict_instruction *in = &code->instruction[i];
        if (in->target >= 0)
            first[in->target] = true;
        if (in->target >= 0 || in->ends)
            first[i + 1] = true;
    }
    for (int i = 0; i < n; i++)
        g->blocks += first[i];
    const size_t blocks = (size_t)g->blocks;
    g->block = orr_alloc(blocks, sizeof *g->block);
    g->sorted = orr_alloc(blocks, sizeof *g->sorted);
    g->stack = orr_alloc(blocks, sizeof *g->stack);
    g->loop = orr_alloc(blocks, sizeof *g->loop);
    int at = -1;
    for (int i = 0; i < n && g->block; i++) {
        if (first[i])
            g->block[++at].first = i;
        g->block[at].last = i;
        code->instruction[i].block = at;
    }
    free(first);
    return g->block && g->sorted && g->stack && g->loop ? 0 : ORR_ENOMEM;
}

static void link_blocks(struct graph *g)
{
    const struct predict_instruction *in = g->code->instruction;
    for (int b = 0; b < g->blocks; b++) {
        struct block *block = &g->block[b];
        const struct predict_instruction *last = &in[block->last];
        block->next[0] = last->ends || b + 1 == g->blocks ? -1 : b + 1;
        block->next[1] = last->target >= 0 ? in[last->target].block : -1;
        block->order = block->dominator = block->loop = -1;
    }
}

/* ---- dominators */

/* Reverse postorder of what block 0 leads to; depth first, without recursion. */
static int sort_blocks(struct graph *g)
{
    char *seen = orr_alloc((size_t)g->blocks, 1); /* successors that were followed, and 1 */
    if (!seen)
        return ORR_ENOMEM;
    int depth = 0, after = g->blocks;
    g->stack[depth++] = 0;
    seen[0] = 1;
    while (depth > 0) {
        const int b = g->stack[depth - 1];
        if (seen[b] == 3) {
            g->sorted[--after] = b;
            depth--;
            continue;
        }
        const int next = g->block[b].next[seen[b]++ - 1];
        if (next >= 0 && !seen[next]) {
            seen[next] = 1;
            g->stack[depth++] = next;
        }
    }
    free(seen);
    g->reached = g->blocks - after;
    memmove(g->sorted, g->sorted + after, (size_t)g->reached * sizeof *g->sorted);
    for (int i = 0; i < g->reached; i++)
        g->block[g->sorted[i]].order = i;
    return 0;
}

static int common(const struct graph *g, int a, int b)
{
    while (a != b) {
        while (g->block[a].order > g->block[b].order)
            a = g->block[a].dominator;
        while (g->block[b].order > g->block[a].order)
            b = g->block[b].dominator;
    }
    return a;
}

static void find_dominators(struct graph *g)
{
    g->block[0].dominator = 0;
    for (bool changed = true; changed;) {
        changed = false;
        for (int i = 0; i < g->reached; i++) {
            const int b = g->sorted[i];
            for (int s = 0; s < 2; s++) {
                const int next = g->block[b].next[s];
                if (next <= 0)
                    continue;
                const int old = g->block[next].dominator;
                const int now = old < 0 ? b : common(g, old, b);
                changed |= now != old;
                g->block[next].dominator = now;
            }
        }
    }
}

static bool dominates(const struct graph *g, int a, int b)
{
    while (b != a && b != 0)
        b = g->block[b].dominator;
    return a == b;
}

/* ---- loops */

/* Adds what reaches `from` without passing the loop's head. */
static void grow(struct graph *g, struct loop *loop, int from)
{
    int depth = 0;
    if (!loop->in[from]) {
        loop->in[from] = true;
        g->stack[depth++] = from;
    }
    while (depth > 0) {
        const int b = g->stack[--depth];
        for (int p = 0; p < g->blocks; p++)
            if (g->block[p].order >= 0 && !loop->in[p] &&
                (g->block[p].next[0] == b || g->block[p].next[1] == b)) {
                loop->in[p] = true;
                g->stack[depth++] = p;
            }
    }
}

static struct loop *loop_of(struct graph *g, int head)
{
    for (int l = 0; l < g->loops; l++)
        if (g->loop[l].head == head)
            return &g->loop[l];
    struct loop *loop = &g->loop[g->loops++];
    *loop = (struct loop){.head = head, .parent = -1};
    loop->in = g->in + (size_t)(g->loops - 1) * (size_t)g->blocks;
    loop->in[head] = true;
    return loop;
}

/* Visited in reverse postorder, an edge that does not lead onwards is a back edge. */
static int find_loops(struct graph *g)
{
    int heads = 0;
    for (int i = 0; i < g->reached; i++)
        for (int s = 0; s < 2; s++) {
            const int next = g->block[g->sorted[i]].next[s];
            heads += next >= 0 && g->block[next].order <= i;
        }
    g->in = orr_alloc((size_t)heads * (size_t)g->blocks + 1, sizeof *g->in);
    if (!g->in)
        return ORR_ENOMEM;
    for (int i = 0; i < g->reached; i++) {
        const int b = g->sorted[i];
        for (int s = 0; s < 2; s++) {
            const int next = g->block[b].next[s];
            if (next < 0 || g->block[next].order > i)
                continue;
            if (!dominates(g, next, b))
                return ORR_FAIL(ORR_EFORMAT,
                                "%s: address %04x: a loop that is entered in two places", g->path,
                                g->code->instruction[g->block[next].first].address);
            grow(g, loop_of(g, next), b);
        }
    }
    return 0;
}

static int by_address(const void *a, const void *b)
{
    const struct loop *x = a, *y = b;
    return x->from != y->from ? (x->from < y->from ? -1 : 1)
                              : (x->size < y->size) - (x->size > y->size);
}

/* Orders the loops by address, the outer first, and names them. */
static void nest_loops(struct graph *g)
{
    for (int l = 0; l < g->loops; l++) {
        struct loop *loop = &g->loop[l];
        loop->from = ~0u;
        for (int b = 0; b < g->blocks; b++) {
            if (!loop->in[b])
                continue;
            const unsigned from = g->code->instruction[g->block[b].first].address;
            const unsigned to = g->code->instruction[g->block[b].last].address;
            loop->size++;
            loop->from = from < loop->from ? from : loop->from;
            loop->to = to > loop->to ? to : loop->to;
        }
    }
    qsort(g->loop, (size_t)g->loops, sizeof *g->loop, by_address);
    for (int l = 0; l < g->loops; l++) {
        struct loop *loop = &g->loop[l];
        int number = 1;
        for (int o = 0; o < g->loops; o++)
            if (o != l && g->loop[o].in[loop->head] && g->loop[o].size > loop->size &&
                (loop->parent < 0 || g->loop[o].size < g->loop[loop->parent].size))
                loop->parent = o;
        for (int o = 0; o < l; o++)
            number += g->loop[o].parent == loop->parent;
        loop->depth = loop->parent < 0 ? 1 : g->loop[loop->parent].depth + 1;
        if (loop->parent < 0)
            snprintf(loop->name, sizeof loop->name, "%d", number);
        else
            snprintf(loop->name, sizeof loop->name, "%.50s.%d", g->loop[loop->parent].name, number);
        for (int b = 0; b < g->blocks; b++)
            if (loop->in[b] &&
                (g->block[b].loop < 0 || g->loop[g->block[b].loop].size > loop->size))
                g->block[b].loop = l;
    }
}

/* ---- parts */

/* Its place among "once", the loops, the ranges and "cold". */
static int part_of(const struct graph *g, const struct predict_instruction *i,
                   const struct predict_range range[], int ranges)
{
    for (int r = 0; r < ranges; r++)
        if (i->address >= range[r].from && i->address <= range[r].to)
            for (int s = 0; s <= r; s++) /* ranges of one name are one part */
                if (!strcmp(range[s].name, range[r].name))
                    return 1 + g->loops + s;
    if (g->block[i->block].order < 0)
        return 1 + g->loops + ranges;
    return 1 + g->block[i->block].loop;
}

static int make_parts(struct graph *g, const struct predict_range range[], int ranges)
{
    struct predict_code *code = g->code;
    const int all = g->loops + ranges + 2;
    struct predict_part *part = orr_alloc((size_t)all, sizeof *part);
    code->part = part;
    if (!part)
        return ORR_ENOMEM;
    snprintf(part[0].name, sizeof part->name, "once");
    for (int l = 0; l < g->loops; l++) {
        snprintf(part[1 + l].name, sizeof part->name, "%s", g->loop[l].name);
        part[1 + l].depth = g->loop[l].depth;
    }
    for (int r = 0; r < ranges; r++)
        snprintf(part[1 + g->loops + r].name, sizeof part->name, "%s", range[r].name);
    snprintf(part[all - 1].name, sizeof part->name, "cold");
    for (size_t i = 0; i < code->count; i++) {
        struct predict_instruction *in = &code->instruction[i];
        in->part = part_of(g, in, range, ranges);
        struct predict_part *p = &part[in->part];
        if (predict_tally_instructions(&p->tally) <= 0)
            p->from = in->address;
        p->to = in->address;
        predict_tally_add(&p->tally, &in->one, 1);
    }
    int kept = 0; /* parts that hold something */
    for (int i = 0; i < all; i++) {
        if (predict_tally_instructions(&part[i].tally) <= 0)
            continue;
        for (size_t k = 0; k < code->count; k++)
            if (code->instruction[k].part == i)
                code->instruction[k].part = kept;
        part[kept++] = part[i];
    }
    code->parts = kept;
    return 0;
}

int predict_flow(struct predict_code *code, const char *path, const struct predict_known *known)
{
    struct graph g = {.code = code, .path = path};
    int rc = make_blocks(&g);
    if (!rc) {
        link_blocks(&g);
        rc = sort_blocks(&g);
    }
    if (!rc) {
        find_dominators(&g);
        rc = find_loops(&g);
    }
    if (!rc) {
        nest_loops(&g);
        rc = make_parts(&g, known->range, known->ranges);
    }
    free(g.block);
    free(g.sorted);
    free(g.stack);
    free(g.loop);
    free(g.in);
    return rc;
}
