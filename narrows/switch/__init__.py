"""The software P4 target. The engine is Rust (`src/`); `server/` is how controllers reach it."""
