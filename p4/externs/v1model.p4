// The stages' externs on v1model. externs/tna.p4 has the same names for TNA, so each stage is
// written once. Declarations include their semicolon; statements need one.
//
// TNA fixes a register's operation at its declaration, v1model at its use, so both places name it:
// a stage has REGISTER_SUM(32, SIZE, total, amount) and REGISTER_ADD(total, 32, index, amount).

#define HAS_VARBIT

// Not on TNA: with a second route and flow table the program would need more than Tofino 1's 12
// stages, all of which the IPv4 program uses (docs/reports/tofino-resources.md).
#define HAS_IPV6

// How a table with constant prefixes matches, and its size. The Tofino back end wants masks, and the
// size; p4c takes it from the entries.
#define CONST_LPM lpm
#define CONST_SIZE(entries)

#define PACKET_COUNTER(size, name) counter(size, CounterType.packets) name;
#define COUNT(name, index) name.count((bit<32>) (index))

#define TABLE_COUNTER(name) direct_counter(CounterType.packets_and_bytes) name;
#define COUNTED_BY(name) counters = name
#define COUNT_ENTRY(name)

// A register that counts packets.
#define REGISTER_COUNT(width, size, name) register<bit<width>>(size) name;
#define REGISTER_COUNT_ONE(name, width, index) REGISTER_ADD(name, width, index, 1)

#define REGISTER_SUM(width, size, name, amount) register<bit<width>>(size) name;
#define REGISTER_ADD(name, width, index, amount) \
    { bit<width> old; name.read(old, index); name.write(index, old + (bit<width>) (amount)); }

#define REGISTER_MAXIMUM(width, size, name, value) register<bit<width>>(size) name;
#define REGISTER_MAX(name, width, index, value) \
    { bit<width> old; name.read(old, index); if ((value) > old) { name.write(index, value); } }

// Counts from zero to `last`, and reports when it restarts.
#define REGISTER_CYCLE(width, size, name, last) register<bit<width>>(size) name;
#define REGISTER_STEP(name, width, index, last, begins_again) \
    { bit<width> count; name.read(count, index); begins_again = 0; if (count >= (last)) { begins_again = 1; } \
      if (begins_again == 1) { count = 0; } else { count = count + 1; } name.write(index, count); }

// Reads into `value`, and stores its successor.
#define REGISTER_SEQUENCE(width, size, name) register<bit<width>>(size) name;
#define REGISTER_NEXT(name, width, index, value) \
    { name.read(value, index); name.write(index, value + 1); }

#define RANDOM_SOURCE(name)
#define RANDOM32(name, value) random<bit<32>>(value, 0, 0xFFFFFFFF)

// CRC-32 of the fields, with the top bit set.
#define HASH_SOURCE(name)
#define HASH_WITH_TOP_BIT(name, value, ...) \
    hash(value, HashAlgorithm.crc32, 32w0, { __VA_ARGS__ }, 33w0x100000000); \
    value = value | 0x80000000
