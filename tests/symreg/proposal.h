/* proposal.h - what stages of a proposal add, by themselves. */
#ifndef TESTS_SYMREG_PROPOSAL_H
#define TESTS_SYMREG_PROPOSAL_H

#include "formulas.h"
#include "seed/stages.h"

/* Runs the stage of which find() is a part, as a search does; a function that is none by itself. */
static inline int run_stage(struct sr_proposal *p, int (*find)(struct sr_proposal *p))
{
    for (const struct sr_stage *stage = p->stage; stage->find; stage++)
        if (stage->find == find)
            return sr_proposal_run(p, stage->bit);
    return find(p);
}

/* The seeds that find() adds to none by at most so many evaluations and up to three threads; it
 * returns 0. */
static inline void seeds_within(double evaluations, int (*find)(struct sr_proposal *p),
                                const struct sr_settings *s, const struct sr_loss *loss,
                                int threads, struct sr_seeds *seeds)
{
    enum { MOST = 3 };
    struct sr_thread worker[MOST];
    struct sr_proposal p;
    assert_true(threads <= MOST);
    for (int i = 0; i < threads; i++) {
        worker[i].rng = random_stream(1 + (uint64_t)i);
        const size_t rows = loss->data->rows < SR_ROWS ? SR_ROWS : loss->data->rows;
        assert_int_equal(sr_work_init(&worker[i].work, rows, s->maxsize), 0);
    }
    assert_int_equal(sr_proposal_init(&p, sr_stages, s, loss, worker, threads, seeds), 0);
    p.limit.evaluations = evaluations;
    assert_int_equal(run_stage(&p, find), 0);
    sr_bank_free(&p.bank);
    for (int i = 0; i < threads; i++) {
        sr_work_free(&worker[i].work);
        gsl_rng_free(worker[i].rng);
    }
}

static inline void seeds_of(int (*find)(struct sr_proposal *p), const struct sr_settings *s,
                            const struct sr_loss *loss, int threads, struct sr_seeds *seeds)
{
    seeds_within(HUGE_VAL, find, s, loss, threads, seeds);
}

#endif
