/* echelon.h - inside symreg/: systems of linear equations that may have many solutions, or none. */
#ifndef SR_ECHELON_H
#define SR_ECHELON_H

/* Brings a matrix (rows, width) to reduced echelon form by Gauss-Jordan elimination with partial
 * pivoting over its first `columns` columns; those behind them, such as right-hand sides, are
 * changed along. pivot[r], of at most `rows`, is the column that row r determines. Pivots below
 * `least` count as 0. Returns the rank. */
int sr_echelon(double *a, int rows, int columns, int width, double least, int *pivot);

#endif
