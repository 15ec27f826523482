// What the driver says of bmv2's two Thrift services; names, numbers and types are bmv2's.
// The services share one port: a call's name begins with its service's, `standard` or
// `simple_switch` (Thrift's multiplexed protocol).

struct Port {
  1: i32 port_num
  2: string iface_name
  3: bool is_up
}

service Standard {
  list<Port> bm_dev_mgr_show_ports()
  i64 bm_register_read(1: i32 cxt_id, 2: string register_array_name, 3: i32 idx)
}

service SimpleSwitch {
  i32 set_egress_queue_depth(1: i32 port_num, 2: i32 depth_pkts)
  i32 set_egress_queue_rate(1: i32 port_num, 2: i64 rate_pps)
}
