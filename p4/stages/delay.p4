// Queueing delay per output port: count, sum, maximum and a log2 histogram over every packet, so
// that exact figures exist without reports. All times are in nanoseconds. Bucket 0 counts delays of
// 0, bucket b counts 2^(b-1) .. 2^b - 1.

control MeasureDelay(inout metadata_t meta) {
    REGISTER_COUNT(64, PORTS, delay_count)
    REGISTER_SUM(64, PORTS, delay_sum, meta.queue_delay)
    REGISTER_MAXIMUM(32, PORTS, delay_max, meta.queue_delay)
    REGISTER_COUNT(64, PORTS * DELAY_BUCKETS, delay_histogram)

    bit<8> bucket = 0;

    action set_bucket(bit<8> number) {
        bucket = number;
    }

    // The position of the most significant one.
    table delay_log2 {
        key = { meta.queue_delay : CONST_LPM; }
        actions = { set_bucket; }
        default_action = set_bucket(0);
        CONST_SIZE(32)
        const entries = {
            0x80000000 &&& 0x80000000 : set_bucket(32);
            0x40000000 &&& 0xC0000000 : set_bucket(31);
            0x20000000 &&& 0xE0000000 : set_bucket(30);
            0x10000000 &&& 0xF0000000 : set_bucket(29);
            0x08000000 &&& 0xF8000000 : set_bucket(28);
            0x04000000 &&& 0xFC000000 : set_bucket(27);
            0x02000000 &&& 0xFE000000 : set_bucket(26);
            0x01000000 &&& 0xFF000000 : set_bucket(25);
            0x00800000 &&& 0xFF800000 : set_bucket(24);
            0x00400000 &&& 0xFFC00000 : set_bucket(23);
            0x00200000 &&& 0xFFE00000 : set_bucket(22);
            0x00100000 &&& 0xFFF00000 : set_bucket(21);
            0x00080000 &&& 0xFFF80000 : set_bucket(20);
            0x00040000 &&& 0xFFFC0000 : set_bucket(19);
            0x00020000 &&& 0xFFFE0000 : set_bucket(18);
            0x00010000 &&& 0xFFFF0000 : set_bucket(17);
            0x00008000 &&& 0xFFFF8000 : set_bucket(16);
            0x00004000 &&& 0xFFFFC000 : set_bucket(15);
            0x00002000 &&& 0xFFFFE000 : set_bucket(14);
            0x00001000 &&& 0xFFFFF000 : set_bucket(13);
            0x00000800 &&& 0xFFFFF800 : set_bucket(12);
            0x00000400 &&& 0xFFFFFC00 : set_bucket(11);
            0x00000200 &&& 0xFFFFFE00 : set_bucket(10);
            0x00000100 &&& 0xFFFFFF00 : set_bucket(9);
            0x00000080 &&& 0xFFFFFF80 : set_bucket(8);
            0x00000040 &&& 0xFFFFFFC0 : set_bucket(7);
            0x00000020 &&& 0xFFFFFFE0 : set_bucket(6);
            0x00000010 &&& 0xFFFFFFF0 : set_bucket(5);
            0x00000008 &&& 0xFFFFFFF8 : set_bucket(4);
            0x00000004 &&& 0xFFFFFFFC : set_bucket(3);
            0x00000002 &&& 0xFFFFFFFE : set_bucket(2);
            0x00000001 &&& 0xFFFFFFFF : set_bucket(1);
        }
    }

    apply {
        bit<32> port = (bit<32>) meta.egress_port;
        REGISTER_COUNT_ONE(delay_count, 64, port);
        REGISTER_ADD(delay_sum, 64, port, meta.queue_delay);
        REGISTER_MAX(delay_max, 32, port, meta.queue_delay);
        delay_log2.apply();
        bit<32> cell = (bit<32>) (meta.egress_port ++ bucket[5:0]);
        REGISTER_COUNT_ONE(delay_histogram, 64, cell);
    }
}
