//! Workload models.
