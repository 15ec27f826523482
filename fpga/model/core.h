/* The decision core of fpga/rtl as a library: one core is one port's queue and serializer.
 *
 * Times are picoseconds. Calls come in the order of their times. A call returns when the core has
 * finished the event. Every function that can fail returns a negative number then; core_error()
 * says why, and the core takes no more calls.
 */
#ifndef NARROWS_CORE_H
#define NARROWS_CORE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Changes with any function or structure here. */
#define CORE_ABI 2

typedef struct core core_t;

/* The settings that take effect together; fpga/rtl/narrows_types.sv has their meanings. */
typedef struct {
    uint64_t rate_bps;
    uint64_t limit;
    uint64_t ecn_packets;
    uint64_t ecn_bytes;
    uint64_t ecn_time_ps;
    uint64_t loss_threshold;
    uint64_t loss_state[4];
    uint64_t codel_target_ps;
    uint64_t codel_interval_ps;
    uint32_t codel_mtu;
    uint8_t basis;
    uint8_t limit_kind;
    uint8_t ecn_enable;
    uint8_t loss_set_state;
    uint8_t codel_enable;
    uint8_t codel_marks;
} core_settings_t;

/* A row of the ledger. */
typedef struct {
    uint64_t number;
    uint64_t at_ps;
    uint64_t bytes;
    uint64_t sojourn_ps;
    uint32_t packets;
    uint32_t counted;
    uint8_t kind;
    uint8_t reason;
} core_row_t;

/* A packet that left the queue. */
typedef struct {
    uint64_t number;
    uint64_t at_ps;
    uint8_t is_marked;
} core_dequeued_t;

uint32_t core_abi(void);
core_t *core_new(void);
void core_free(core_t *core);
const char *core_error(const core_t *core);
/* Cycles of the clock since the start. */
uint64_t core_cycles(const core_t *core);

int core_set(core_t *core, uint64_t at_ps, const core_settings_t *settings);
/* A packet arrives: 1 if it is in the queue now, 0 if it was dropped. */
int core_offer(core_t *core, uint64_t at_ps, uint32_t frame_bytes, int is_ecn_capable);
/* Whether a packet is due, and when. */
int core_due(const core_t *core, uint64_t *at_ps);
/* The next packet that is due by a time: 1, or 0 if there is none. core_finish() must follow. Those
 * that CoDel drops before it are in the ledger. */
int core_dequeue(core_t *core, uint64_t by_ps, core_dequeued_t *dequeued);
/* What became of the dequeued packet. The times of its transmission if it was sent (fate 0). */
int core_finish(core_t *core, int fate, uint32_t frame_bytes, uint64_t *start_ps, uint64_t *end_ps);
/* Takes up to `most` rows of the ledger. */
int core_rows(core_t *core, core_row_t *rows, uint32_t most);

#ifdef __cplusplus
}
#endif
#endif
