//! A discipline's timer is handled at its own time, even if the caller is late.

use crate::support::*;
use narrows_common::{Duration, Packet, Time};
use narrows_queueing::{
    Backlog, DisciplineConfig, Fifo, Outcomes, QueueDiscipline, QueueLimit, Queued, Room,
    TrafficManager,
};

const PERIOD: Duration = Duration::from_ms(3);

/// Records its timer's times, every 3 ms while packets are queued.
#[derive(Default)]
struct Ticking {
    fifo: Fifo<Packet>,
    next: Option<Time>,
    ticks: std::rc::Rc<std::cell::RefCell<Vec<(Time, u64)>>>,
}

impl QueueDiscipline<Packet> for Ticking {
    fn enqueue(
        &mut self,
        packet: Queued<Packet>,
        now: Time,
        _room: &Room,
        _out: &mut Outcomes<Packet>,
    ) {
        self.fifo.push(packet);
        self.next.get_or_insert(now + PERIOD);
    }
    fn dequeue(&mut self, _now: Time, _out: &mut Outcomes<Packet>) -> Option<Queued<Packet>> {
        self.fifo.pop()
    }
    fn next_timer(&self) -> Option<Time> {
        self.next
    }
    fn on_timer(&mut self, now: Time) {
        let waiting = self.fifo.backlog().packets;
        self.ticks.borrow_mut().push((now, waiting));
        self.next = (waiting > 0).then_some(now + PERIOD);
    }
    fn backlog(&self) -> Backlog {
        self.fifo.backlog()
    }
    fn visit(&self, each: &mut dyn FnMut(&Queued<Packet>)) {
        self.fifo.iter().for_each(each);
    }
    fn hand_over(&mut self) -> Option<Queued<Packet>> {
        self.fifo.pop()
    }
}

#[test]
fn timers_precede_departures_of_their_instant_in_order() {
    // 1,000 bytes at 8 Mb/s: one packet per millisecond. Ten that arrive together leave at 0, 1 ..
    // 9 ms.
    let ports = [port(8_000_000, QueueLimit::Packets(100), DisciplineConfig::default())];
    let ticks = std::rc::Rc::default();
    let make = |_: &_, _| Ok(Ticking { ticks: std::rc::Rc::clone(&ticks), ..Ticking::default() });
    let mut bench = Bench::new(TrafficManager::with(&ports, 0, true, 1, make).expect("a port"));
    let packet = Segment { flow: 1, ack: 0, payload: 946, ecn: 0 };
    for _ in 0..10 {
        bench.arrive(&Came { at_ps: 0, packet });
    }
    let at = |ms| Time::ZERO + Duration::from_ms(ms);
    assert_eq!(bench.tm.next_due(), Some(at(1)));
    bench.go_on(at(2));
    assert_eq!(bench.tm.next_due(), Some(at(3)));
    bench.go_on(at(60));
    // At 3 ms two of the nine have left; the third leaves after the timer.
    assert_eq!(*ticks.borrow(), [(at(3), 7), (at(6), 4), (at(9), 1), (at(12), 0)]);
    assert_eq!(bench.tm.next_due(), None);
    let starts: Vec<_> = bench.sent.iter().map(|sent| sent.start_ps / 1_000_000_000).collect();
    assert_eq!(starts, (0..10).collect::<Vec<_>>());
}
