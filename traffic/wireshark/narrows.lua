-- Wireshark and tshark read Narrows' own formats with this: telemetry reports (p4/headers.p4),
-- segments' stamps (hosts/src/wire/stamp.rs) and messages' headers (traffic/src/message.rs).
--
--   tshark -X lua_script:traffic/wireshark/narrows.lua -r capture.pcapng
--
-- Reports are expected on UDP port 5600, a preference of the protocol; stamps and messages are
-- found by their magic at the front of a segment's payload.

local report = Proto("narrows_report", "Narrows Telemetry Report")
report.prefs.port = Pref.uint("UDP port", 5600, "Where the collector takes reports")

-- Name, kind, bytes before it, its bytes.
local HEADER = {
    { "node_id", "uint32", 4, 4 },
    { "report_words", "uint8", 9, 1 },
    { "metadata_words", "uint8", 10, 1 },
    { "metadata_bits", "uint16", 12, 2 },
    { "domain_id", "uint16", 14, 2 },
    { "domain_bits", "uint16", 16, 2 },
    { "ingress_port", "uint16", 20, 2 },
    { "egress_port", "uint16", 22, 2 },
    { "hop_latency_ns", "uint32", 24, 4 },
    { "queue_id", "uint8", 28, 1 },
    { "queue_depth", "uint24", 29, 3 },
    { "ingress_timestamp_ns", "uint64", 32, 8 },
    { "egress_timestamp_ns", "uint64", 40, 8 },
    { "flow_id", "uint32", 48, 4 },
    { "tcp_sequence", "uint32", 52, 4 },
    { "ip_length", "uint16", 56, 2 },
    { "frame_length", "uint16", 58, 2 },
    { "queue_delay_ns", "uint32", 60, 4 },
    { "enqueue_depth", "uint32", 64, 4 },
}
local HEADER_BYTES = 68
local VERSION = 2

-- A field for every row of a layout, under its protocol's name, beside those given.
local function declare(protocol, layout, fields)
    for _, row in ipairs(layout) do
        local name, kind = row[1], row[2]
        fields[name] = ProtoField[kind](protocol.name:lower() .. "." .. name, name)
    end
    protocol.fields = fields
end

local function add_rows(tree, layout, fields, buffer)
    for _, row in ipairs(layout) do
        tree:add(fields[row[1]], buffer(row[3], row[4]))
    end
end

local report_fields = {
    version = ProtoField.uint8("narrows_report.version", "version"),
    sequence = ProtoField.uint32("narrows_report.sequence", "sequence"),
}
declare(report, HEADER, report_fields)
local inner = { [4] = Dissector.get("ip"), [5] = Dissector.get("ipv6") }

function report.dissector(buffer, packet, tree)
    if buffer:len() < HEADER_BYTES or buffer(0, 1):bitfield(0, 4) ~= VERSION then
        return 0
    end
    local number = buffer(0, 4):bitfield(10, 22)
    local own = tree:add(report, buffer(0, HEADER_BYTES))
    own:add(report_fields.version, buffer(0, 1), VERSION)
    own:add(report_fields.sequence, buffer(0, 4), number)
    add_rows(own, HEADER, report_fields, buffer)
    -- The columns say what the report is; the packet inside it stays in the tree.
    local dissector = inner[buffer(8, 1):bitfield(4, 4)] or inner[4]
    dissector:call(buffer(HEADER_BYTES):tvb(), packet, tree)
    packet.cols.protocol = "NARROWS"
    packet.cols.info = string.format("Report %d: flow %d, %d ns in the queue",
        number, buffer(48, 4):uint(), buffer(60, 4):uint())
    return buffer:len()
end

local by_port = DissectorTable.get("udp.port")
local bound = report.prefs.port
by_port:add(bound, report)

function report.prefs_changed()
    by_port:remove(bound, report)
    bound = report.prefs.port
    by_port:add(bound, report)
end

-- What stands at the front of a TCP payload, by its magic.
local function payload_protocol(name, title, magic, layout, bytes)
    local protocol, fields = Proto(name, title), {}
    declare(protocol, layout, fields)
    local function dissect(buffer, packet, tree)
        if buffer:len() < bytes or buffer(0, 4):string() ~= magic then
            return false
        end
        add_rows(tree:add(protocol, buffer(0, bytes)), layout, fields, buffer)
        packet.cols.protocol = "NARROWS"
        return true
    end
    protocol:register_heuristic("tcp", dissect)
end

payload_protocol("narrows_stamp", "Narrows Stamp", "nrws", {
    { "flow", "uint32", 4, 4 },
    { "sent_at_ps", "uint64", 8, 8 },
}, 16)

payload_protocol("narrows_message", "Narrows Message", "nrwm", {
    { "length_bytes", "uint32", 4, 4 },
    { "number", "uint64", 8, 8 },
    { "written_at_ps", "uint64", 16, 8 },
}, 24)
