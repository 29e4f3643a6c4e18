/* follow_pieces.c - follows the pieces of tracks from their starts, in blocks of lanes, and adds up
 * the normal equations of each piece. Blocks stay in the cache, and a piece that wants short steps
 * shortens those of its block alone. */
#include "shooting.h"
#include "symreg/value/vec.h"

enum { BLOCK = 128 };

size_t sr_shot_lanes(size_t count)
{
    return count < BLOCK ? count : BLOCK;
}

int sr_shot_create(const struct sr_flow *flow, size_t count, size_t width, struct sr_shot *shot)
{
    const size_t states = (size_t)sr_flow_states(flow);
    *shot = (struct sr_shot){.width = width};
    shot->normal = orr_alloc(count * width * width, sizeof *shot->normal);
    shot->gradient = orr_alloc(count * width, sizeof *shot->gradient);
    shot->end = orr_alloc(count * states, sizeof *shot->end);
    shot->by = orr_alloc(count * states * width, sizeof *shot->by);
    return shot->normal && shot->gradient && shot->end && shot->by ? 0 : ORR_ENOMEM;
}

void sr_shot_free(struct sr_shot *shot)
{
    free(shot->normal);
    free(shot->gradient);
    free(shot->end);
    free(shot->by);
    *shot = (struct sr_shot){0};
}

/* Pieces that are followed side by side: piece first + i in lane i. */
struct block {
    const struct sr_flow_track *track;
    const struct sr_pieces *pieces;
    size_t first;
    struct sr_lanes *lanes;
};

/* The interval of each piece up to its row `row`; 0 long where the piece is over. */
static void set_interval(const struct block *b, size_t row)
{
    struct sr_lanes *const lanes = b->lanes;
    const size_t n = lanes->count;
    for (size_t i = 0; i < n; i++) {
        const struct sr_piece *piece = &b->pieces->piece[b->first + i];
        const struct sr_flow_track *track = &b->track[piece->track];
        const size_t last = piece->first + piece->rows - (piece->joined ? 0 : 1);
        const size_t to = piece->first + row < last ? piece->first + row : last;
        const size_t from = piece->first + row <= last ? to - 1 : to;
        lanes->t[i] = track->t[from];
        lanes->dt[i] = track->t[to] - track->t[from];
        for (size_t k = 0; k < (size_t)lanes->flow->inputs; k++) {
            lanes->input[k * n + i] = track->input[k * track->n + from];
            lanes->input_end[k * n + i] = track->input[k * track->n + to];
        }
    }
}

/* Writes the states of lane i at row `row` of its piece to the track's model. */
static void keep_row(const struct block *b, size_t i, size_t row)
{
    const struct sr_piece *piece = &b->pieces->piece[b->first + i];
    const struct sr_flow_track *track = &b->track[piece->track];
    for (size_t k = 0; k < (size_t)b->lanes->states && track->model; k++)
        track->model[k * track->n + piece->first + row] = b->lanes->x[k * b->lanes->count + i];
}

/* Adds the residuals of lane i at row `row` of its piece. */
static void add_row(const struct block *b, size_t i, size_t row, struct sr_shot *shot)
{
    const struct sr_lanes *const lanes = b->lanes;
    const struct sr_piece *piece = &b->pieces->piece[b->first + i];
    const struct sr_flow_track *track = &b->track[piece->track];
    const size_t n = lanes->count, width = shot->width, p = b->first + i;
    double *const normal = shot->normal + p * width * width;
    double *const gradient = shot->gradient + p * width;
    for (size_t d = 0; d < (size_t)lanes->flow->dims; d++) {
        const size_t at = d * track->n + piece->first + row;
        if (isnan(track->x[at]))
            continue;
        const double weight = track->sigma ? 1 / track->sigma[at] : 1;
        const double residual = weight * (lanes->x[d * n + i] - track->x[at]);
        const double *const tangent = lanes->tangent + d * width * n + i;
        shot->chi2 += residual * residual;
        for (size_t a = 0; a < width; a++) {
            const double by = weight * tangent[a * n];
            gradient[a] += by * residual;
            for (size_t c = 0; c <= a; c++)
                normal[a * width + c] += by * weight * tangent[c * n];
        }
    }
}

/* The gap behind lane i's piece: where its solution is at the first row of the next piece, less
 * where that starts. */
static void note_end(const struct block *b, size_t i, struct sr_shot *shot)
{
    const struct sr_lanes *const lanes = b->lanes;
    const size_t n = lanes->count, width = shot->width, states = (size_t)lanes->states;
    const size_t p = b->first + i;
    for (size_t k = 0; k < states; k++) {
        shot->end[p * states + k] =
            lanes->x[k * n + i] - b->pieces->start[k * b->pieces->count + p + 1];
        for (size_t a = 0; a < width; a++)
            shot->by[(p * states + k) * width + a] = lanes->tangent[(k * width + a) * n + i];
    }
}

/* False where a piece of the block has no solution. */
static bool follow_block(const struct block *b, struct sr_shot *shot)
{
    const struct sr_piece *const piece = b->pieces->piece + b->first;
    size_t longest = 0;
    for (size_t i = 0; i < b->lanes->count; i++)
        longest = piece[i].rows > longest ? piece[i].rows : longest;
    sr_lanes_start(b->lanes, b->pieces->start + b->first, b->pieces->count);
    for (size_t i = 0; i < b->lanes->count; i++)
        sr_lanes_enter(b->lanes, i, piece[i].category);
    for (size_t row = 0; row <= longest; row++) {
        if (row) {
            set_interval(b, row);
            if (!sr_lanes_advance(b->lanes))
                return false;
        }
        for (size_t i = 0; i < b->lanes->count && shot->keeps; i++)
            if (row < piece[i].rows)
                keep_row(b, i, row);
        for (size_t i = 0; i < b->lanes->count; i++)
            if (row < piece[i].rows)
                add_row(b, i, row, shot);
            else if (row == piece[i].rows && piece[i].joined)
                note_end(b, i, shot);
    }
    return true;
}

void sr_shoot(const struct sr_flow_track *track, const struct sr_pieces *pieces,
              struct sr_lanes *lanes, struct sr_shot *shot)
{
    const size_t width = shot->width;
    bool followed = true;
    if (width) {
        sr_fill(shot->normal, pieces->count * width * width, 0);
        sr_fill(shot->gradient, pieces->count * width, 0);
    }
    shot->chi2 = 0;
    for (size_t first = 0; first < pieces->count && followed; first += BLOCK) {
        const struct block block = {track, pieces, first, lanes};
        lanes->count = sr_shot_lanes(pieces->count - first);
        followed = follow_block(&block, shot);
    }
    for (size_t p = 0; p < pieces->count; p++)
        for (size_t a = 0; a < width; a++)
            for (size_t b = 0; b < a; b++)
                shot->normal[(p * width + b) * width + a] =
                    shot->normal[(p * width + a) * width + b];
    if (!followed || !isfinite(shot->chi2))
        shot->chi2 = HUGE_VAL;
}
