//! The cache that a core has to itself.

use std::fs;
use std::path::Path;
use std::sync::OnceLock;

/// Where Linux describes the caches of a core.
const CACHES: &str = "/sys/devices/system/cpu/cpu0/cache";
/// The size that is assumed where Linux does not tell.
const USUAL_BYTES: usize = 1 << 20;

/// Bytes of a core's second-level cache.
pub(super) fn second_level_bytes() -> usize {
    static BYTES: OnceLock<usize> = OnceLock::new();
    *BYTES.get_or_init(|| read(Path::new(CACHES)).unwrap_or(USUAL_BYTES))
}

/// The size by the files of a directory: `index2/level` has `2`, `index2/size` has `512K`.
fn read(caches: &Path) -> Option<usize> {
    let directories = fs::read_dir(caches).ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    let text = |path: &Path, name: &str| fs::read_to_string(path.join(name)).ok();
    let second = directories
        .filter(|path| text(path, "level").is_some_and(|level| level.trim() == "2"))
        .find_map(|path| text(&path, "size"))?;
    let kib: usize = second.trim().strip_suffix('K')?.parse().ok()?;
    Some(kib << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linux_says_the_size_of_the_second_level() {
        let caches = std::env::temp_dir().join(format!("narrows-caches-{}", std::process::id()));
        for (index, level, size) in
            [("index1", "1", "32K"), ("index2", "2", "512K"), ("index3", "3", "32768K")]
        {
            fs::create_dir_all(caches.join(index)).expect("a directory");
            fs::write(caches.join(index).join("level"), format!("{level}\n")).expect("a file");
            fs::write(caches.join(index).join("size"), format!("{size}\n")).expect("a file");
        }
        assert_eq!(read(&caches), Some(512 << 10));
        fs::write(caches.join("index2/size"), "much\n").expect("a file");
        assert_eq!(read(&caches), None);
        fs::remove_dir_all(&caches).expect("the directory");
        assert_eq!(read(&caches), None);
    }
}
