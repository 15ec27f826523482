// The stages' externs on TNA; externs/v1model.p4 documents each. Counts are counters here, because
// they do not need the 64-bit sums of TNA's registers.

#define CONST_LPM ternary
#define CONST_SIZE(entries) size = entries;

#define PACKET_COUNTER(size, name) Counter<bit<64>, bit<32>>(size, CounterType_t.PACKETS) name;
#define COUNT(name, index) name.count((bit<32>) (index))

#define TABLE_COUNTER(name) DirectCounter<bit<64>>(CounterType_t.PACKETS_AND_BYTES) name;
#define COUNTED_BY(name) counters = name
#define COUNT_ENTRY(name) name.count()

#define REGISTER_COUNT(width, size, name) PACKET_COUNTER(size, name)
#define REGISTER_COUNT_ONE(name, width, index) COUNT(name, index)

// A stateful ALU adds 32 bits; for 64 the low half carries into the high one.
struct sum_t {
    bit<32> low;
    bit<32> high;
}

#define REGISTER_SUM(width, size, name, amount) REGISTER_SUM_##width(size, name, amount)
#define REGISTER_SUM_64(size, name, amount) \
    Register<sum_t, bit<32>>(size) name; \
    bit<32> name##_carries_above = 0; \
    RegisterAction<sum_t, bit<32>, bit<32>>(name) name##_add = { \
        void apply(inout sum_t sum) { \
            if (sum.low > name##_carries_above) { sum.high = sum.high + 1; } \
            sum.low = sum.low + (amount); \
        } \
    };
#define REGISTER_ADD(name, width, index, amount) \
    name##_carries_above = ~(amount); name##_add.execute(index)

#define REGISTER_MAXIMUM(width, size, name, value) \
    Register<bit<width>, bit<32>>(size) name; \
    RegisterAction<bit<width>, bit<32>, bit<width>>(name) name##_raise = { \
        void apply(inout bit<width> most) { most = max(most, value); } \
    };
#define REGISTER_MAX(name, width, index, value) name##_raise.execute(index)

#define REGISTER_CYCLE(width, size, name, last) \
    Register<bit<width>, bit<32>>(size) name; \
    RegisterAction<bit<width>, bit<32>, bit<1>>(name) name##_step = { \
        void apply(inout bit<width> count, out bit<1> begins_again) { \
            if (count >= last) { count = 0; begins_again = 1; } \
            else { count = count + 1; begins_again = 0; } \
        } \
    };
#define REGISTER_STEP(name, width, index, last, begins_again) begins_again = name##_step.execute(index)

#define REGISTER_SEQUENCE(width, size, name) \
    Register<bit<width>, bit<32>>(size) name; \
    RegisterAction<bit<width>, bit<32>, bit<width>>(name) name##_next = { \
        void apply(inout bit<width> next, out bit<width> value) { value = next; next = next + 1; } \
    };
#define REGISTER_NEXT(name, width, index, value) value = name##_next.execute(index)

#define RANDOM_SOURCE(name) Random<bit<32>>() name;
#define RANDOM32(name, value) value = name.get()

#define HASH_SOURCE(name) Hash<bit<31>>(HashAlgorithm_t.CRC32) name;
#define HASH_WITH_TOP_BIT(name, value, ...) value = 1w1 ++ name.get({ __VA_ARGS__ })
