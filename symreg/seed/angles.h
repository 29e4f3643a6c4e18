/* angles.h - inside symreg/: searches tables in which columns or the target are angles in
 * degrees. */
#ifndef SR_ANGLES_H
#define SR_ANGLES_H

#include "derived.h"
#include "gaussian_process.h"

enum { SR_ANGLE_TABLES = 8 };
/* A derived table. Columns that may be angles are replaced by their sine, cosine (or tangent) and
 * radians, or by radians alone; the target y by sin(y), cos(y) or tan(y), with the rows weighted so
 * that the loss is nearly that of y. */
struct sr_angles {
    unsigned columns;   /* taken as angles, one bit each */
    bool functions;     /* sine, cosine (or tangent), too */
    enum sr_op inverse; /* SR_ASIN, SR_ACOS, SR_ATAN: y = inverse(...) in degrees; SR_CONSTANT: y */
};

/* Whether values can be angles in degrees by their range: within -360 .. 360, and 20 or more apart.
 * Radians span 2 pi at most, and many other columns are 1 .. 10. */
bool sr_angles_look(const double *value, size_t rows);
/* Lists the derived tables of a proposal with functions, and returns how many; 0 where no column
 * and no target looks like degrees. */
int sr_angles_list(const struct sr_proposal *p, struct sr_angles list[SR_ANGLE_TABLES]);
/* Makes table `number` of such a list. ORR_ENOMEM. */
int sr_angles_make(const struct sr_proposal *p, const void *list, int number,
                   struct sr_derived *derived);

#endif
