//! Opens the wires of a network that are in this process.

use narrows_dpdk::{Eal, Error, Mempool, Offloads, Port};

use super::wire::Wire;
use crate::network::socket_hosts::SocketHosts;
use crate::network::wire_map::{Devices, WireEnd, WireMap};
use crate::plan::Plan;

/// Opens the wires of the cables, in number order.
pub(super) fn open_cables(
    wire_map: &WireMap,
    eal: Eal,
    pool: Mempool,
    devices: &Devices,
) -> Result<Vec<Wire>, Error> {
    let mut wires = vec![];
    for cable in wire_map.cables() {
        let named = cable.iter().map(|end| devices.get(&end.name));
        let mut ports = vec![];
        if cable.iter().all(|end| end.wire.is_some()) && named.clone().all(|it| it.is_none()) {
            ports.extend(cable.iter().zip(Port::pair(eal, pool)?));
        }
        for (end, device) in cable.iter().zip(named) {
            if let Some(device) = device {
                // A switch's program writes the checksums of its packets.
                let is_hosts = matches!(end.at, WireEnd::Group { .. });
                let wanted = Offloads {
                    verifies_checksums: is_hosts,
                    stamps: true,
                    writes_checksums: is_hosts,
                };
                ports.push((end, Port::open(eal, device, pool, wanted)?));
            }
        }
        let opened = ports.into_iter();
        wires.extend(opened.map(|(end, port)| Wire::new(end.name.clone(), port, pool)));
    }
    Ok(wires)
}

/// Opens the wires of hosts with the kernel's stack, after all others.
pub(super) fn open_hosts(
    wire_map: &mut WireMap,
    plan: &Plan,
    sockets: &SocketHosts,
    (eal, pool): (Eal, Mempool),
    wires: &mut Vec<Wire>,
) -> Result<(), Error> {
    for (host, planned) in plan.hosts.iter().enumerate() {
        let name = &planned.config.name;
        let Some(device) = sockets.device(name) else { continue };
        let wanted = Offloads { stamps: true, ..Offloads::default() };
        let port = Port::open(eal, &device, pool, wanted)?;
        let wire = wire_map.add_host(host, name);
        debug_assert_eq!(wire, wires.len());
        wires.push(Wire::new(name.clone(), port, pool));
    }
    Ok(())
}
