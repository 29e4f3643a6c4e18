/* angles.h - inside symreg/: searches tables in which columns or the target are angles in
 * degrees. */
#ifndef SR_ANGLES_H
#define SR_ANGLES_H

#include "structure.h"

enum { SR_ANGLE_TABLES = 8 };
/* A derived table. Columns that may be angles are replaced by their sine, cosine (or tangent) and
 * radians; the target y by sin(y), cos(y) or tan(y), with the rows weighted so that the loss is
 * nearly that of y. */
struct sr_angle_table {
    unsigned angles;     /* columns taken as angles, one bit each */
    struct sr_view view; /* data.y and data.weight are part of its storage */
    enum sr_op inverse; /* SR_ASIN, SR_ACOS, SR_ATAN: y = inverse(...) in degrees; SR_CONSTANT: y */
    struct sr_loss loss;
};

/* Whether values can be angles in degrees by their range: within -360 .. 360, and 20 or more apart.
 * Radians span 2 pi at most, and many other columns are 1 .. 10. */
bool sr_angles_look(const double *value, size_t rows);
/* Makes the derived tables of a proposal, at most SR_ANGLE_TABLES; *count is 0 where no column and
 * no target looks like degrees. The caller frees each table, after errors too. */
int sr_angles_make(const struct sr_proposal *p, struct sr_angle_table table[SR_ANGLE_TABLES],
                   int *count);
void sr_angles_free(struct sr_angle_table *table);

#endif
