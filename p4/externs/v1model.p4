// What the stages need of an architecture, in v1model's words. externs/tna.p4 says the same in
// TNA's; a stage is written once. Declarations end themselves, statements take a semicolon.

#define PACKET_COUNTER(size, name) counter(size, CounterType.packets) name;
#define COUNT(name, index) name.count((bit<32>) (index))

#define TABLE_COUNTER(name) direct_counter(CounterType.packets_and_bytes) name;
#define COUNTED_BY(name) counters = name

#define REGISTER(width, size, name) register<bit<width>>(size) name;
#define REGISTER_ADD(name, width, index, amount) \
    { bit<width> old; name.read(old, index); name.write(index, old + (bit<width>) (amount)); }
#define REGISTER_MAX(name, width, index, value) \
    { bit<width> old; name.read(old, index); if ((value) > old) { name.write(index, value); } }
// Adds one, begins again at zero when `period` is reached, and says whether it was.
#define REGISTER_EVERY(name, width, index, period, reached) \
    { bit<width> count; name.read(count, index); count = count + 1; reached = count >= (period); \
      if (reached) { count = 0; } name.write(index, count); }
// Reads into `value` and leaves the successor behind.
#define REGISTER_NEXT(name, width, index, value) \
    { name.read(value, index); name.write(index, value + 1); }

#define RANDOM_SOURCE(name)
#define RANDOM32(name, value) random<bit<32>>(value, 0, 0xFFFFFFFF)

#define HASH_SOURCE(name)
#define HASH32(name, value, ...) \
    hash(value, HashAlgorithm.crc32, 32w0, { __VA_ARGS__ }, 33w0x100000000)
