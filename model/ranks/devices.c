/* devices.c - gives each rank a GPU of its own, and joins the GPUs for exchanges. */
#include "ranks.h"

#include "kernels/collectives.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Number of ranks on this machine with a lower number; names (size, NAME) of the machines of all
 * ranks. */
enum { NAME = 256 };
static int place_of(const char *names)
{
    int place = 0;
    for (int r = 0; r < cluster_rank(); r++)
        place += !strcmp(names + (size_t)r * NAME, names + (size_t)cluster_rank() * NAME);
    return place;
}

static int gather_names(const char *mine, char **names)
{
    char name[NAME] = "";
    snprintf(name, sizeof name, "%s", mine);
    *names = orr_alloc((size_t)cluster_size(), NAME);
    int rc = cluster_agree(*names ? 0 : ORR_ENOMEM);
    if (!rc)
        rc = cluster_gather(name, *names, NAME);
    if (rc) {
        free(*names);
        *names = NULL;
    }
    return rc;
}

static void host_name(char host[NAME])
{
    if (gethostname(host, NAME - 1))
        host[0] = '\0';
    host[NAME - 1] = '\0';
}

/* All ranks must use one backend: gradients of different backends are not summed. */
static int check_backend(const struct k_ops *ops)
{
    char *names;
    TRY(gather_names(ops->name, &names));
    const int rc = strcmp(names, ops->name)
                       ? ORR_FAIL(ORR_EUSAGE,
                                  "ranks of one job must be alike: it computes on %s, rank 0 on %s",
                                  ops->name, names)
                       : 0;
    free(names);
    return cluster_agree(rc);
}

int gpt_ranks_choose(const struct k_ops *ops, int asked)
{
    char host[NAME] = "", *names;
    if (cluster_size() < 2)
        return 0;
    host_name(host);
    TRY(gather_names(host, &names)); /* collective, so that every rank calls it */
    const int count = ops->collectives ? ops->collectives->count() : 0;
    if (ops->choose && asked < 0)
        ops->choose(count > 0 ? place_of(names) % count : 0);
    free(names);
    return 0;
}

/* Two ranks on one device would share its memory and time, and NCCL rejects them. */
static int check_devices(const char *names)
{
    const char *mine = names + (size_t)cluster_rank() * NAME;
    for (int r = 0; r < cluster_rank(); r++)
        if (!strcmp(names + (size_t)r * NAME, mine))
            return ORR_FAIL(ORR_EUSAGE,
                            "%s: expected a GPU for each rank, found it taken by rank %d as well",
                            mine, r);
    return 0;
}

int gpt_ranks_join(const struct k_ops *ops)
{
    char host[NAME] = "", device[K_COLLECTIVES_DEVICE] = "", mine[NAME], *names;
    unsigned char id[K_COLLECTIVES_ID];
    if (cluster_size() < 2)
        return 0;
    TRY(check_backend(ops));
    if (ops->host)
        return 0;
    TRY(cluster_agree(ops->collectives->device(device)));
    host_name(host);
    snprintf(mine, sizeof mine, "GPU %s of %.180s", device, host);
    TRY(gather_names(mine, &names));
    const int rc = cluster_agree(check_devices(names));
    free(names);
    if (rc)
        return rc;
    TRY(cluster_agree(cluster_leads() ? ops->collectives->identify(id) : 0));
    TRY(cluster_broadcast(id, sizeof id, 0));
    return cluster_agree(ops->collectives->open(id, cluster_rank(), cluster_size()));
}
