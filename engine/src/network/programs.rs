//! The P4 program that this process loaded last. The switches of a network share it with its
//! machine code, and so do the runs of a sweep.

use std::sync::{Arc, Mutex, PoisonError};

use narrows_switch::{LoadError, Program};

/// The program loaded last, and its text.
static LATEST: Mutex<Option<(String, Arc<Program>)>> = Mutex::new(None);

/// Loads a program in p4c's JSON, unless it is the latest one.
///
/// # Errors
/// If the text is not a program.
pub(crate) fn load(text: &str) -> Result<Arc<Program>, LoadError> {
    let mut latest = LATEST.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((known, program)) = &*latest
        && known == text
    {
        return Ok(program.clone());
    }
    let program = Arc::new(Program::from_json(text)?);
    *latest = Some((text.to_owned(), program.clone()));
    Ok(program)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROGRAM: &str = include_str!("../../../p4/build/v1model.json");

    #[test]
    fn the_same_text_is_loaded_once() {
        let first = load(PROGRAM).expect("a program");
        assert!(load("{").is_err());
        assert!(Arc::ptr_eq(&first, &load(PROGRAM).expect("a program")));
        let other = load(&format!("{PROGRAM}\n")).expect("a program");
        assert!(!Arc::ptr_eq(&first, &other));
    }
}
