//! Says whether `dpdk/` found libdpdk, for tests that need it.

fn main() {
    println!("cargo::rustc-check-cfg=cfg(has_dpdk)");
    if std::env::var_os("DEP_NARROWS_DPDK_SHIM_FOUND").is_some() {
        println!("cargo::rustc-cfg=has_dpdk");
    }
}
