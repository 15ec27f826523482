//! The inner loops that a packet passes through, each timed separately, in nanoseconds.
//!
//! `cargo bench -p narrows-engine --bench inner`, with a name to run the benchmarks that contain
//! it. `switch/benches/` times the switch, `hosts/benches/` an ACK.
#![allow(missing_docs)]

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use narrows_common::{Bytes, Duration, Histogram, Packet, Rate, Rng, Serializer, Time, Timers};
use narrows_engine::network::in_flight::InFlight;
use narrows_hosts::Mac;
use narrows_hosts::outstanding::ranges::RangeSet;
use narrows_hosts::wire::segment::{self, Emitter, Flags, Header};
use narrows_hosts::wire::stamp;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hint::black_box;

/// A frame of 1,514 bytes at 1 Gb/s.
const FRAME: Duration = Duration::from_ns(12_112);

/// The first of so many timers fires and is set again; a binary heap does the same for comparison.
fn timers(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("timers");
    for timers in [10, 1_000, 10_000, 20_000] {
        let mut rng = Rng::from_seed(1);
        let mut later = |at: Time| at + Duration::from_ps(rng.range(0, 1 << 30));
        let mut tree = Timers::new(timers);
        for timer in 0..timers {
            tree.set(timer, later(Time::ZERO));
        }
        group.bench_function(BenchmarkId::new("tournament", timers), |bencher| {
            bencher.iter(|| {
                let (at, timer) = tree.first().expect("all are set");
                tree.set(timer, later(at));
            });
        });
        let mut heap: BinaryHeap<_> =
            (0..timers).map(|timer| Reverse((later(Time::ZERO), timer))).collect();
        group.bench_function(BenchmarkId::new("heap", timers), |bencher| {
            bencher.iter(|| {
                let Reverse((at, timer)) = heap.pop().expect("all are in it");
                heap.push(Reverse((later(at), timer)));
            });
        });
    }
}

/// A packet arrives and another one is sent, with so many in flight.
fn in_flight(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("in flight");
    for (packets, directions) in [(300, 8), (30_000, 8), (30_000, 1000)] {
        let mut in_flight = InFlight::new(directions);
        let ahead = FRAME.saturating_mul(packets);
        for n in 0..packets {
            let at = Time::ZERO + FRAME.saturating_mul(n);
            in_flight.send(n as usize % directions, at, Box::default());
        }
        group.bench_function(BenchmarkId::new(packets.to_string(), directions), |bencher| {
            bencher.iter(|| {
                let due = in_flight.poll_timeout();
                let (at, pipeline, packet) = in_flight.poll_receive(due).expect("a packet is due");
                in_flight.send(pipeline, at + ahead, packet);
            });
        });
    }
}

/// A busy serializer sends a packet at a rate that does not divide its bits.
fn serializer(criterion: &mut Criterion) {
    let mut serializer = Serializer::new(Rate::from_bps(622_080_000));
    criterion.bench_function("line", |bencher| {
        bencher.iter(|| serializer.send(black_box(Time::ZERO), Bytes::new(1514).bits()));
    });
}

/// A full segment of simulated data is written, then parsed with its checksums verified.
fn segment(criterion: &mut Criterion) {
    let macs = (Mac([2, 0, 0, 0, 0, 1]), Mac([2, 0, 0, 0, 0, 2]));
    let ips = ([10, 0, 0, 1].into(), [10, 0, 0, 2].into());
    let mut emitter = Emitter::new(macs, ips, (10_001, 5001));
    let header = Header { seq: 1, ack: 1, flags: Flags::ACK, window: 0xffff, ..Header::default() };
    let mut packet = Packet::default();
    criterion.bench_function("segment out", |bencher| {
        bencher.iter(|| {
            emitter.begin(&header, &mut packet);
            packet.data.extend_from_slice(&stamp::emit(1, Time::ZERO));
            packet.zeros = 1432;
            emitter.finish(&mut packet);
        });
    });
    criterion.bench_function("segment in", |bencher| {
        bencher.iter(|| segment::parse(black_box(&packet)).expect("our own segment").payload.len());
    });
}

/// A sample of round trips of 20 to 40 ms.
fn histogram(criterion: &mut Criterion) {
    let (mut histogram, mut rng) = (Histogram::new(6), Rng::from_seed(1));
    criterion.bench_function("histogram", |bencher| {
        bencher.iter(|| histogram.add(Duration::from_us(rng.range(20_000, 40_000))));
    });
}

/// A SACK of every other segment, then an advance of the left edge, with 1,000 ranges stored.
fn ranges(criterion: &mut Criterion) {
    let mut ranges = RangeSet::default();
    let mut top = 0;
    for _ in 0..1000 {
        ranges.insert(top, top + 1, |_, _| ());
        top += 2;
    }
    criterion.bench_function("ranges", |bencher| {
        bencher.iter(|| {
            ranges.insert(top, top + 1, |from, to| {
                black_box(to - from);
            });
            top += 2;
            ranges.remove_below(top - 2000)
        });
    });
}

criterion_group! {
    name = inner;
    config = Criterion::default()
        .warm_up_time(std::time::Duration::from_millis(200))
        .measurement_time(std::time::Duration::from_secs(1))
        .sample_size(30);
    targets = timers, in_flight, serializer, segment, histogram, ranges
}
criterion_main!(inner);
