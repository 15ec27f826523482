"""bfrt.json for the fake BfRuntime server, as a switch returns it.

`device` has the Tofino's own tables that the controller uses. Their ids, types and choices are
facts of the open SDE's bf_rt_{tm,port,mirror}_tf{1,2}.json. If NARROWS_BFRT names the directory of
these files, a test compares both. `program` has the tables of p4/tna.p4, which p4c's Tofino back
end made (p4/build/tofino and p4/build/tofino2).
"""

from __future__ import annotations

import json
from typing import Any

from tests.support.world import ROOT

SPEEDS = "NONE 1G 10G 25G 40G 40G_NB 40G_NON_BREAKABLE 50G 100G 200G 400G"
FECS = "NONE FIRECODE REED_SOLOMON FC RS"

Fields = list[str]
"""`ID NAME TYPE`, then `ro` for read-only, `rep` for a list, or the choices of a string."""

SHAPING = ["1 unit string PPS BPS", "2 provisioning string UPPER LOWER MIN_ERROR"]
BUFFER = ["1 guaranteed_cells uint32", "2 hysteresis_cells uint32", "3 tail_drop_enable bool"]
SHARED = [
    "4 pool_id string EG_APP_POOL_0 EG_APP_POOL_1 EG_APP_POOL_2 EG_APP_POOL_3",
    "5 pool_max_cells uint32",
    "6 dynamic_baf string 1.5% 3% 6% 11% 20% 33% 50% 66% 80% DISABLE",
]
QUEUE_KEY = ["1 pg_id uint8", "2 pg_queue uint8"]

TM: dict[str, tuple[int, str, Fields, Fields, dict[str, Fields]]] = {
    "cfg": (4278517889, "TmCfg", [],
            ["2 cell_size_bytes uint32 ro", "3 total_cells uint32 ro"], {}),
    "port.cfg": (4278517776, "TmPortCfg", ["1 dev_port uint32"],
                 ["1 pg_id uint8 ro", "2 pg_port_nr uint8 ro",
                  "5 egress_qid_queues uint8 ro rep"], {}),
    "port.sched_cfg": (4278517782, "TmPortSchedCfg", ["1 dev_port uint32"],
                       ["1 max_rate_enable bool"], {}),
    "port.sched_shaping": (4278517783, "TmPortSchedShaping", ["1 dev_port uint32"],
                           [*SHAPING, "3 max_rate uint32", "4 max_burst_size uint32"], {}),
    "queue.buffer": (4278517796, "TmQueueBuffer", QUEUE_KEY, BUFFER,
                     {"shared_pool": SHARED, "buffer_only": []}),
    "counter.queue": (4278517827, "TmCounterQueue", QUEUE_KEY,
                      ["1 drop_count_packets uint64", "2 usage_cells uint64 ro",
                       "3 watermark_cells uint64"], {}),
}  # fmt: skip
"""The traffic manager's tables: id, type, key, data, and the actions' data; the same on both."""

PORT: Fields = [
    "1 $SPEED string " + " ".join("BF_SPEED_" + one for one in SPEEDS.split()),
    "2 $FEC string " + " ".join("BF_FEC_TYP_" + one for one in FECS.split()),
    "4 $PORT_ENABLE bool",
    "5 $AUTO_NEGOTIATION string PM_AN_DEFAULT PM_AN_FORCE_ENABLE PM_AN_FORCE_DISABLE",
    "25 $PORT_UP bool ro",
]
PORT_STAT: Fields = [
    "33 $FramesTransmittedOK uint64",
    "36 $OctetsTransmittedwithouterror uint64",
]
MIRROR = (
    "$session_enable bool", "$direction string INGRESS EGRESS BOTH", "$ucast_egress_port uint32",
    "$ucast_egress_port_valid bool", "$max_pkt_len uint16",
)  # fmt: skip
MIRROR_IDS = {"tf1": (5, 6, 7, 8, 23), "tf2": (6, 15, 16, 17, 32)}

PRIORITY_ID = 65537


def field(words: str, match_type: str = "") -> dict[str, Any]:
    """One field."""
    number, name, kind, *rest = words.split()
    type_: dict[str, Any] = {"type": kind}
    if choices := [word for word in rest if word not in ("ro", "rep")]:
        type_["choices"] = choices
    made = {"id": int(number), "name": name, "repeated": "rep" in rest, "type": type_}
    if match_type:
        return made | {"mandatory": True, "match_type": match_type}
    return made | {"read_only": "ro" in rest}


def table(
    name: str, number: int, kind: str, key: Fields, data: Fields, actions: dict[str, Fields]
) -> dict[str, Any]:
    """One of the device's tables."""
    fields = [field(words) for words in data]
    return {
        "name": name,
        "id": number,
        "table_type": kind,
        "key": [field(words, "Exact") for words in key],
        "data": [{"read_only": one.pop("read_only"), "singleton": one} for one in fields],
        "action_specs": [
            {"id": number, "name": action, "data": [field(words) for words in own]}
            for number, (action, own) in enumerate(actions.items(), 1)
        ],
        "attributes": [],
    }


def device(prefix: str) -> dict[str, Any]:
    """The tables of a Tofino's own; `tf1` or `tf2`."""
    tables = [table(f"{prefix}.tm.{name}", *rest) for name, rest in TM.items()]
    key = ["1 $DEV_PORT uint32"]
    tables += [
        table("$PORT", 4278255617, "PortConfigure", key, PORT, {}),
        table("$PORT_STAT", 4278255618, "PortStat", key, PORT_STAT, {}),
    ]
    mirror = [f"{number} {words}" for number, words in zip(MIRROR_IDS[prefix], MIRROR, strict=True)]
    actions: dict[str, Fields] = {"$coalescing": [], "$normal": []}
    tables.append(table("$mirror.cfg", 4278452225, "MirrorCfg", ["1 $sid uint16"], mirror, actions))
    return {"schema_version": "1.0.0", "tables": tables}


def program(prefix: str) -> dict[str, Any]:
    """The tables of p4/tna.p4, as the Tofino back end made them; `tf1` or `tf2`."""
    target = {"tf1": "tofino", "tf2": "tofino2"}[prefix]
    content: dict[str, Any] = json.loads((ROOT / "p4/build" / target / "bfrt.json").read_text())
    return content


def as_bytes(content: dict[str, Any]) -> bytes:
    """A bfrt.json."""
    return json.dumps(content).encode()
