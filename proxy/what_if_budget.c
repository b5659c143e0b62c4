/* SPDX-License-Identifier: MIT */
/* Owns the arithmetic of the share of CPU.  Who waits, and on what, is
 * what_if.c's. */
#include "what_if_budget.h"

void
what_if_budget_init(struct what_if_budget *budget, unsigned percent,
                    uint64_t now_ns)
{
    budget->percent = percent;
    budget->credit_ns = WHAT_IF_BURST_NS;
    budget->filled_ns = now_ns;
}

void
what_if_budget_spend(struct what_if_budget *budget, uint64_t cpu_ns,
                     uint64_t now_ns)
{
    uint64_t passed_ns = now_ns - budget->filled_ns;

    budget->filled_ns = now_ns;
    budget->credit_ns += (int64_t)(passed_ns * budget->percent / 100);
    if (budget->credit_ns > WHAT_IF_BURST_NS)
        budget->credit_ns = WHAT_IF_BURST_NS;
    budget->credit_ns -= (int64_t)cpu_ns;
}

uint64_t
what_if_budget_wait(const struct what_if_budget *budget)
{
    if (budget->credit_ns >= 0)
        return 0;
    return (uint64_t)(WHAT_IF_BURST_NS - budget->credit_ns) * 100 /
           budget->percent;
}
