//! DPDK on memory and vdevs that every machine has; requires libdpdk, but no hugepages or
//! privileges.

use narrows_common::{Duration, Payload};
use narrows_dpdk::{Clock, Eal, EalConfig, Error, Mbuf, Mempool, Offloads, Port};

const ALL: Offloads = Offloads { verifies_checksums: true, stamps: true, writes_checksums: true };

fn eal() -> Eal {
    Eal::start(&EalConfig::default()).unwrap_or_else(|error| panic!("{error}"))
}

fn filled(pool: &Mempool, bytes: &[u8]) -> Mbuf {
    let mut mbuf = pool.alloc().expect("the pool has one");
    mbuf.resize(bytes.len()).expect("it fits").copy_from_slice(bytes);
    mbuf
}

fn received(port: &mut Port, want: usize) -> Vec<Vec<u8>> {
    let mut packets = vec![];
    for _ in 0..10_000 {
        port.receive(&mut packets);
        if packets.len() >= want {
            break;
        }
        std::thread::sleep(core::time::Duration::from_micros(100));
    }
    packets.iter().map(|packet| packet.data().to_vec()).collect()
}

#[test]
#[cfg_attr(not(has_dpdk), ignore = "needs libdpdk")]
fn rings_carry_the_bytes_both_ways_and_give_the_memory_back() {
    let eal = eal();
    let pool = Mempool::new(eal, 1023, 2048).unwrap();
    let [mut a, mut b] = Port::pair(eal, pool).unwrap();
    let frames: Vec<Vec<u8>> = (0..40u8).map(|n| vec![n; 60 + usize::from(n) * 30]).collect();
    let mut packets: Vec<Mbuf> = frames.iter().map(|frame| filled(&pool, frame)).collect();
    assert_eq!(a.transmit(&mut packets), 32, "a burst");
    assert_eq!((a.transmit(&mut packets), packets.len()), (8, 0));
    assert_eq!(received(&mut b, 40), frames);
    assert_eq!(received(&mut b, 0), Vec::<Vec<u8>>::new());
    b.transmit(&mut vec![filled(&pool, b"back")]);
    assert_eq!(received(&mut a, 1), [b"back"]);
    assert_eq!((b.counts().received, b.counts().sent, a.counts().sent), (40, 1, 40));
    assert_eq!(pool.available(), 1023);
}

#[test]
#[cfg_attr(not(has_dpdk), ignore = "needs libdpdk")]
fn an_exhausted_pool_has_no_mbuf_and_recovers() {
    let eal = eal();
    let pool = Mempool::new(eal, 63, 256).unwrap();
    let mut taken: Vec<Mbuf> = std::iter::from_fn(|| pool.alloc()).collect();
    assert_eq!((taken.len(), pool.available()), (63, 0));
    taken.truncate(60);
    let mut more = vec![];
    pool.alloc_bulk(4, &mut more);
    assert_eq!((more.len(), pool.available()), (0, 3));
    pool.alloc_bulk(3, &mut more);
    assert_eq!((more.len(), pool.available()), (3, 0));
    taken.append(&mut more);
    Mbuf::free_all(&mut taken);
    assert_eq!((taken.len(), pool.available()), (0, 63));
}

#[test]
#[cfg_attr(not(has_dpdk), ignore = "needs libdpdk")]
fn an_mbuf_grows_at_either_end_within_its_room() {
    let eal = eal();
    let pool = Mempool::new(eal, 63, 256).unwrap();
    let mut mbuf = Mbuf::with_front(filled(&pool, b"payload").into_payload(0), b"abc").unwrap();
    assert_eq!(mbuf.data(), b"abcpayload");
    mbuf.resize(8).unwrap();
    assert_eq!(mbuf.data(), b"abcpaylo");
    assert!(mbuf.resize(260).is_none() && mbuf.resize(100_000).is_none());
    let mut payload = mbuf.into_payload(3);
    payload.cut_front(3);
    payload.truncate(1);
    assert_eq!((payload.bytes(), payload.len()), (&b"l"[..], 1));
    let payload = Mbuf::with_front(payload, &[0; 1000]).unwrap_err();
    assert_eq!(Mbuf::with_front(payload, b"").unwrap().data(), b"l");
    assert!(Mbuf::with_front(Payload::leaked(vec![1]), b"").is_err());
    assert_eq!(pool.available(), 63);
}

#[test]
#[cfg_attr(not(has_dpdk), ignore = "needs libdpdk")]
fn memif_joins_two_ports_by_their_device_strings() {
    let eal = eal();
    let pool = Mempool::new(eal, 8191, 2048).unwrap();
    let socket = format!("socket=narrows-test-{}", std::process::id());
    let [mut server, mut client] = ["0,role=server", "1,role=client"].map(|end| {
        let device = format!("net_memif{end},id=0,{socket}");
        Port::open(eal, &device, pool, ALL).unwrap()
    });
    assert_eq!(
        server.offloads(),
        Offloads::default(),
        "shared memory checks, stamps and sums nothing"
    );
    let up = (0..1000).any(|_| {
        std::thread::sleep(core::time::Duration::from_millis(2));
        server.is_up() && client.is_up()
    });
    assert!(up, "the two never met: {:?}", Eal::take_log());
    client.transmit(&mut vec![filled(&pool, &[7; 1514])]);
    assert_eq!(received(&mut server, 1), [[7; 1514]]);
}

#[test]
#[cfg_attr(not(has_dpdk), ignore = "needs libdpdk")]
fn memifs_open_and_close_beside_other_memifs_that_disconnect() {
    let eal = eal();
    let connect_often = |thread: u32| {
        let pool = Mempool::new(eal, 8191, 2048).unwrap();
        for round in 0..150 {
            let socket = format!("socket=narrows-end{thread}-{round}-{}", std::process::id());
            let [server, client] = ["a,role=server", "b,role=client"].map(|end| {
                let device = format!("net_memif_{thread}_{round}{end},id=0,rsize=4,{socket}");
                Port::open(eal, &device, pool, ALL).unwrap()
            });
            let up = (0..10_000).any(|_| {
                std::thread::sleep(core::time::Duration::from_millis(1));
                server.is_up() && client.is_up()
            });
            if !up {
                // To close them could take forever.
                core::mem::forget((server, client));
                panic!("the two never met: {:?}", Eal::take_log());
            }
            drop(server);
            drop(client);
        }
    };
    std::thread::scope(|scope| {
        for thread in 0..3 {
            scope.spawn(move || connect_often(thread));
        }
    });
}

#[test]
#[cfg_attr(not(has_dpdk), ignore = "needs libdpdk")]
fn a_memifs_client_without_its_server_is_open_and_down() {
    let eal = eal();
    let pool = Mempool::new(eal, 1023, 2048).unwrap();
    let device = format!("net_memif5,role=client,id=0,socket=narrows-none-{}", std::process::id());
    let mut client = Port::open(eal, &device, pool, ALL).unwrap();
    assert!(!client.look() && !client.is_up());
    let mut packets = vec![filled(&pool, &[1])];
    assert_eq!((client.receive(&mut vec![]), client.transmit(&mut packets)), (0, 0));
    assert_eq!(client.counts().sent, 0);
}

#[test]
#[cfg_attr(not(has_dpdk), ignore = "needs libdpdk")]
fn a_device_that_is_not_there_is_named_with_the_drivers_reason() {
    let eal = eal();
    let pool = Mempool::new(eal, 63, 2048).unwrap();
    for device in ["net_fish0", "net_af_packet9,iface=narrows-none", "net_memif7,role=fish", ""] {
        let text = Port::open(eal, device, pool, ALL).unwrap_err().to_string();
        assert!(text.starts_with(&format!("device '{device}': ")), "{text}");
    }
    assert!(matches!(Port::open(eal, "a\0b", pool, ALL), Err(Error::Text(_))));
}

/// The tests that send to the loopback interface: one's flood would fill the other's socket.
static LOOPBACK: std::sync::Mutex<()> = std::sync::Mutex::new(());

#[test]
#[cfg_attr(not(has_dpdk), ignore = "needs libdpdk")]
fn frames_that_a_full_packet_socket_drops_are_missed() {
    let _alone = LOOPBACK.lock();
    let eal = eal();
    let pool = Mempool::new(eal, 1023, 2048).unwrap();
    let ring = "net_af_packet8,iface=lo,framesz=2048,blocksz=4096,framecnt=16";
    let Ok(mut port) = Port::open(eal, ring, pool, ALL) else {
        eprintln!("no packet socket without CAP_NET_RAW");
        return;
    };
    let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    for _ in 0..1000 {
        socket.send_to(b"frame", "127.0.0.1:9").unwrap();
    }
    let came = received(&mut port, 16).len() as u64;
    assert!(came + port.counts().missed >= 1000, "{came} came: {:?}", port.counts());
    assert!(port.counts().missed >= 900, "a second reading has lost them: {:?}", port.counts());
}

/// Sends an IPv4 fragment without its rest to the loopback interface; false without the privilege.
fn send_lone_fragment(id: u16) -> bool {
    let mut packet = [0u8; 44];
    packet[..4].copy_from_slice(&[0x45, 0, 0, 44]);
    packet[4..6].copy_from_slice(&id.to_be_bytes());
    // More fragments follow, it says.
    packet[6..10].copy_from_slice(&[0x20, 0, 64, 17]);
    packet[12..20].copy_from_slice(&[127, 0, 0, 1, 127, 0, 0, 1]);
    // SAFETY: the address and the packet live until the calls return.
    unsafe {
        let socket = libc::socket(libc::AF_INET, libc::SOCK_RAW, libc::IPPROTO_RAW);
        let mut to: libc::sockaddr_in = core::mem::zeroed();
        to.sin_family = libc::AF_INET as u16;
        to.sin_addr.s_addr = u32::from_ne_bytes([127, 0, 0, 1]);
        let length = core::mem::size_of_val(&to) as u32;
        let sent = libc::sendto(
            socket,
            packet.as_ptr().cast(),
            packet.len(),
            0,
            (&raw const to).cast(),
            length,
        );
        libc::close(socket);
        sent == packet.len() as isize
    }
}

#[test]
#[cfg_attr(not(has_dpdk), ignore = "needs libdpdk")]
fn fragments_without_their_rest_come_through_a_packet_socket() {
    let _alone = LOOPBACK.lock();
    let eal = eal();
    let pool = Mempool::new(eal, 1023, 2048).unwrap();
    let Ok(mut port) = Port::open(eal, "net_af_packet7,iface=lo", pool, ALL) else {
        eprintln!("no packet socket without CAP_NET_RAW");
        return;
    };
    let is_fragment = |frame: &Vec<u8>| frame.len() >= 34 && frame[14..18] == [0x45, 0, 0, 44];
    if !(0..20).all(send_lone_fragment) {
        eprintln!("no raw socket");
        return;
    }
    // The interface carries other frames, too.
    let mut came = vec![];
    for _ in 0..100 {
        came.extend(received(&mut port, 1).into_iter().filter(is_fragment));
        if came.len() >= 20 {
            break;
        }
    }
    assert!(came.len() >= 20, "{} of 20 came", came.len());
}

#[test]
#[cfg_attr(not(has_dpdk), ignore = "needs libdpdk")]
fn the_clock_keeps_the_systems_seconds() {
    let eal = eal();
    let mut clock = Clock::start(eal);
    clock.restart();
    let begin = std::time::Instant::now();
    std::thread::sleep(core::time::Duration::from_millis(300));
    let (ours, theirs) = (clock.now(), Duration::from_ns(begin.elapsed().as_nanos() as u64));
    let off = ours.as_ps() as f64 / theirs.as_ps() as f64 - 1.0;
    // The scheduler may interrupt between the two readings: a millisecond of 300.
    assert!(off.abs() < 3e-3, "{ours} for {theirs}");
    assert!(clock.error_ppm().abs() < 100.0, "{}", clock.error_ppm());
    assert_eq!(clock.steps_back(), 0);
}

#[test]
#[cfg_attr(not(has_dpdk), ignore = "needs libdpdk")]
fn eal_runs_once() {
    eal();
    let other = EalConfig { memory_mib: 64, ..EalConfig::default() };
    assert!(matches!(Eal::start(&other), Err(Error::Started)));
}

#[test]
#[cfg_attr(has_dpdk, ignore = "libdpdk is there")]
fn without_libdpdk_it_says_so() {
    let error = Eal::start(&EalConfig::default()).unwrap_err();
    assert!(error.to_string().contains("narrows doctor"), "{error}");
    assert_eq!(Eal::version(), None);
}
