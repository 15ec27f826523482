//! Finds libdpdk by pkg-config and compiles the shim with it. Without libdpdk the crate still
//! builds, and reports the missing library at run time.

/// The oldest release with the interfaces that the shim uses.
const LEAST_VERSION: &str = "21.11";

fn main() {
    println!("cargo::rustc-check-cfg=cfg(has_dpdk)");
    println!("cargo::rerun-if-changed=shim/shim.c");
    println!("cargo::rerun-if-env-changed=PKG_CONFIG_PATH");
    // `-l` flags must come after the shim that needs them, so the metadata is printed last.
    let probe = pkg_config::Config::new()
        .atleast_version(LEAST_VERSION)
        .cargo_metadata(false)
        .probe("libdpdk");
    let Ok(library) = probe else { return };
    let mut build = cc::Build::new();
    build.file("shim/shim.c").includes(&library.include_paths).warnings(true);
    // rte_config.h, and the instruction set that DPDK's inline functions require.
    build.flag("-include").flag("rte_config.h").flag_if_supported("-march=corei7");
    build.define("ALLOW_EXPERIMENTAL_API", None);
    if build.try_compile("narrows_dpdk_shim").is_err() {
        println!("cargo::warning=libdpdk {} is there, but not usable here", library.version);
        return;
    }
    for path in &library.link_paths {
        println!("cargo::rustc-link-search=native={}", path.display());
    }
    for name in ["rte_ethdev", "rte_mempool", "rte_mbuf", "rte_ring", "rte_net_ring", "rte_eal"] {
        println!("cargo::rustc-link-lib={name}");
    }
    println!("cargo::rustc-cfg=has_dpdk");
    println!("cargo::metadata=found=yes");
}
