/* shooting.h - inside symreg/dynamics/: a fit under way. */
#ifndef SR_SHOOTING_H
#define SR_SHOOTING_H

#include "lanes.h"

/* Consecutive rows of a track, which are followed from a start of their own. */
struct sr_piece {
    size_t track, category, first, rows;
    bool joined; /* another piece of the track follows: a gap lies between them */
};
struct sr_pieces {
    size_t count, longest;  /* rows of the longest */
    struct sr_piece *piece; /* (count) in the order of tracks and rows */
    double *start;          /* (states, count) */
};
/* Cuts the tracks into pieces of about `rows` rows, at least 2, whose starts are those of the
 * smoothed tracks. spread: as of sr_flow_spread(). */
int sr_pieces_create(const struct sr_flow *flow, size_t tracks, const struct sr_flow_track *track,
                     const double *spread, size_t rows, struct sr_pieces *pieces);
void sr_pieces_free(struct sr_pieces *pieces);
/* The spread of each state over all tracks (states): what errors of starts are measured by. At
 * least a millionth of the largest value; 1 for a state that is 0 everywhere. */
void sr_flow_spread(const struct sr_flow *flow, size_t tracks, const struct sr_flow_track *track,
                    double spread[2 * SR_FLOW_STATES]);

/* What following all pieces gave. `width` parameters of a piece: its start, then the numbers. */
struct sr_shot {
    size_t width;
    bool keeps;       /* the solutions are written to the tracks' models */
    double chi2;      /* sum over all pieces; infinite where one has no solution */
    double *normal;   /* (count, width, width) J' J of the piece's residuals, both triangles */
    double *gradient; /* (count, width) J' residual */
    double *end;      /* (count, states) gap: the solution where the next piece starts, less that */
    double *by;       /* (count, states, width) derivatives of the end */
};
int sr_shot_create(const struct sr_flow *flow, size_t count, size_t width, struct sr_shot *shot);
void sr_shot_free(struct sr_shot *shot);
/* How many lanes follow so many pieces, a block at a time. */
size_t sr_shot_lanes(size_t count);
/* Follows all pieces from their starts; chi2 is infinite where one has no solution. A shot of all
 * zeros gets chi2 alone, with lanes without tangents. */
void sr_shoot(const struct sr_flow_track *track, const struct sr_pieces *pieces,
              struct sr_lanes *lanes, struct sr_shot *shot);

/* The equations of one step for all pieces, where those between two free starts are joined: the
 * changes of the starts follow from that of the first piece of each arc, by linearised continuity.
 * Parameters of an arc: the change of its first start, then of the numbers. */
struct sr_joint {
    size_t arcs;
    bool *begins;     /* (count) the piece begins an arc */
    double *follow;   /* (count, states, width) change of the piece's start by the parameters */
    double *offset;   /* (count, states) ... and by closing the gaps before it */
    double *corner;   /* (count, width, width) of each arc's first piece: the arc's J' J */
    double *gradient; /* (count, width) of each arc's first piece: the arc's J' residual */
    const struct sr_flow_numbers *map; /* of an arc's numbers among those of all categories */
    double *numbers;          /* (total, total) sum of the corners' blocks of the numbers */
    double *numbers_gradient; /* (total) */
    double *step;             /* (count, width) the change of each piece's start and numbers */
    double *change;           /* (total) of the numbers of all categories */
    double *work;
    double predicted; /* chi2 after the step, if all were linear */
    double gaps;      /* sum of the gaps within arcs, over the spread */
};
int sr_joint_create(size_t count, size_t states, const struct sr_flow_numbers *numbers,
                    struct sr_joint *joint);
void sr_joint_free(struct sr_joint *joint);
/* How pieces are joined: at most so many to an arc. A new arc also begins where errors of the start
 * have grown by more than `growth`, states measured by their spread. The gaps within arcs close by
 * a share. */
struct sr_join {
    size_t most;
    double growth, share;
};
/* Joins the pieces of a shot. */
void sr_joint_make(const struct sr_pieces *pieces, const struct sr_shot *shot, size_t states,
                   const double *spread, const struct sr_join *join, struct sr_joint *joint);
/* The step of least squares, damped by Marquardt's rule; false where the equations are singular. */
bool sr_joint_solve(const struct sr_pieces *pieces, const struct sr_shot *shot, size_t states,
                    double damping, struct sr_joint *joint);
/* The covariance of the numbers (total, total) for residuals of variance 1; NAN where they are
 * not determined. */
void sr_joint_covariance(const struct sr_pieces *pieces, size_t states, struct sr_joint *joint,
                         double *covariance);

#endif
