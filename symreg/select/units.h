/* units.h - inside symreg/select/: reading units. `option` names the option in messages. */
#ifndef SR_UNITS_H
#define SR_UNITS_H

#include "select.h"

/* Index of a base unit; a new one is added. ORR_EUSAGE where there are too many. */
int sr_units_base(struct sr_units *units, const char *option, const char *name, size_t length,
                  int *base);
/* Reads a unit, "kg*AU/yr^2", which is the whole text; its base units are found or added. */
int sr_units_read(const char *text, const char *option, struct sr_units *units,
                  struct sr_dimension *dimension);

#endif
