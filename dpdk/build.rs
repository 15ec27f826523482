//! Compiles the shim against libdpdk as a shared library, which the crate embeds and loads at run
//! time. So a build has no link to libdpdk, and runs where it is not installed. Shims for other
//! releases of DPDK, whose libraries have other names, come from `NARROWS_DPDK_SHIMS`, a directory.
//! Without any shim the crate still builds, and reports that at run time.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// The shim's files; shim/build.sh compiles the same.
const SOURCES: [&str; 2] = ["shim/shim.c", "shim/connect.c"];
/// The oldest release with the interfaces that the shim uses.
const LEAST_VERSION: &str = "21.11";
/// What the shim calls. `rte_net_ring` makes pairs of ports.
const LIBRARIES: [&str; 6] =
    ["rte_ethdev", "rte_mempool", "rte_mbuf", "rte_ring", "rte_net_ring", "rte_eal"];

fn main() {
    println!("cargo::rustc-check-cfg=cfg(has_dpdk)");
    println!("cargo::rerun-if-changed=shim");
    for name in ["PKG_CONFIG_PATH", "NARROWS_DPDK_SHIMS"] {
        println!("cargo::rerun-if-env-changed={name}");
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    let own = compile(&out);
    let given = env::var_os("NARROWS_DPDK_SHIMS").map(PathBuf::from);
    let given = given.as_deref().map(in_directory).unwrap_or_default();
    let mut list = "&[".to_owned();
    for path in own.iter().chain(&given) {
        write!(list, "include_bytes!({path:?}),").expect("a string grows");
    }
    list.push(']');
    fs::write(out.join("shims.rs"), list).expect("OUT_DIR is writable");
    if own.is_some() {
        println!("cargo::rustc-cfg=has_dpdk");
        println!("cargo::metadata=found=yes");
    }
}

/// The shim for this machine's libdpdk, if it has one that is usable.
fn compile(out: &Path) -> Option<PathBuf> {
    let library = pkg_config::Config::new()
        .atleast_version(LEAST_VERSION)
        .cargo_metadata(false)
        .probe("libdpdk")
        .ok()?;
    let mut build = cc::Build::new();
    build.includes(&library.include_paths).warnings(true).debug(false).pic(true);
    // rte_config.h, and the instruction set that DPDK's inline functions require.
    build.flag("-include").flag("rte_config.h").flag_if_supported("-march=corei7");
    build.define("ALLOW_EXPERIMENTAL_API", None);
    let path = out.join("shim.so");
    let mut command = build.get_compiler().to_command();
    command.args(["-shared", "-Wl,--no-undefined", "-o"]).arg(&path).args(SOURCES);
    for directory in &library.link_paths {
        command.arg("-L").arg(directory);
    }
    command.args(LIBRARIES.map(|name| format!("-l{name}")));
    let compiled = command.status().is_ok_and(|status| status.success());
    if !compiled {
        println!("cargo::warning=libdpdk {} is there, but not usable here", library.version);
    }
    compiled.then_some(path)
}

/// The shims in a directory, by name.
fn in_directory(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory)
        .unwrap_or_else(|error| panic!("NARROWS_DPDK_SHIMS: {}: {error}", directory.display()));
    let mut found: Vec<PathBuf> = entries
        .map(|entry| entry.expect("a readable directory").path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "so"))
        .map(|path| fs::canonicalize(path).expect("it is there"))
        .collect();
    found.sort();
    for path in &found {
        println!("cargo::rerun-if-changed={}", path.display());
    }
    found
}
