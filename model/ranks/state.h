/* state.h - private to model/ranks/: what its files tell each other of this process. */
#ifndef CLUSTER_STATE_H
#define CLUSTER_STATE_H

#include <stdbool.h>

/* The failure at hand is known to all ranks: they end by themselves. */
void cluster_told(void);
bool cluster_was_told(void);

#endif
