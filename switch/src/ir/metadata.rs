//! The standard, intrinsic and queueing metadata: which fields a program has, and their slots.

use super::slot::{NOWHERE, Slot, Slots};

/// A field of the standard metadata.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MetadataField {
    pub slot: Slot,
    pub mask: u64,
}

impl Default for MetadataField {
    fn default() -> Self {
        MetadataField { slot: NOWHERE, mask: 0 }
    }
}

impl MetadataField {
    /// Writes the field; a write to a missing field has no effect.
    #[inline]
    pub(crate) fn put(self, slots: &mut Slots, value: u64) {
        slots[self.slot as usize] = value & self.mask;
    }

    /// `None` if the program does not have the field.
    pub(crate) fn known(self) -> Option<Self> {
        (self.slot != NOWHERE).then_some(self)
    }
}

/// The standard, intrinsic and queueing metadata.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StandardMetadata {
    pub ingress_port: MetadataField,
    pub packet_length: MetadataField,
    pub instance_type: MetadataField,
    pub egress_spec: MetadataField,
    pub egress_port: MetadataField,
    pub parser_error: MetadataField,
    pub checksum_error: MetadataField,
    pub ingress_timestamp: MetadataField,
    pub egress_timestamp: MetadataField,
    pub mcast_grp: MetadataField,
    pub egress_rid: MetadataField,
    pub priority: MetadataField,
    pub enq_timestamp: MetadataField,
    pub enq_qdepth: MetadataField,
    pub deq_timedelta: MetadataField,
    pub deq_qdepth: MetadataField,
    pub qid: MetadataField,
}

/// Fields that the architecture sets before egress.
pub(crate) const SET_BEFORE_EGRESS: [(&str, &str); 7] = [
    ("standard_metadata", "ingress_port"),
    ("standard_metadata", "packet_length"),
    ("standard_metadata", "instance_type"),
    ("standard_metadata", "parser_error"),
    ("standard_metadata", "checksum_error"),
    ("intrinsic_metadata", "ingress_global_timestamp"),
    ("intrinsic_metadata", "egress_rid"),
];

/// Fields that the architecture sets for each packet that leaves its queue.
pub(crate) const SET_AT_DEQUEUE: [(&str, &str); 9] = [
    ("queueing_metadata", "enq_timestamp"),
    ("queueing_metadata", "enq_qdepth"),
    ("queueing_metadata", "deq_timedelta"),
    ("queueing_metadata", "deq_qdepth"),
    ("queueing_metadata", "qid"),
    ("intrinsic_metadata", "egress_global_timestamp"),
    ("standard_metadata", "egress_port"),
    ("standard_metadata", "egress_spec"),
    ("standard_metadata", "packet_length"),
];

impl StandardMetadata {
    /// Finds the fields. The error is the name of a missing field that bmv2 requires too.
    pub(crate) fn find(
        find: impl Fn(&str, &str) -> Option<(Slot, u32)>,
    ) -> Result<Self, &'static str> {
        let field = |header: &str, name: &str| match find(header, name) {
            Some((slot, width)) => MetadataField { slot, mask: super::slot::mask(width) },
            None => MetadataField::default(),
        };
        let standard = |name: &str| field("standard_metadata", name);
        let intrinsic = |name: &str| field("intrinsic_metadata", name);
        let queueing = |name: &str| field("queueing_metadata", name);
        let required = |name: &'static str| standard(name).known().ok_or(name);
        Ok(StandardMetadata {
            ingress_port: required("ingress_port")?,
            packet_length: required("packet_length")?,
            instance_type: required("instance_type")?,
            egress_spec: required("egress_spec")?,
            egress_port: required("egress_port")?,
            parser_error: standard("parser_error"),
            checksum_error: standard("checksum_error"),
            ingress_timestamp: intrinsic("ingress_global_timestamp"),
            egress_timestamp: intrinsic("egress_global_timestamp"),
            mcast_grp: intrinsic("mcast_grp"),
            egress_rid: intrinsic("egress_rid"),
            priority: intrinsic("priority"),
            enq_timestamp: queueing("enq_timestamp"),
            enq_qdepth: queueing("enq_qdepth"),
            deq_timedelta: queueing("deq_timedelta"),
            deq_qdepth: queueing("deq_qdepth"),
            qid: queueing("qid"),
        })
    }

    /// The fields of [`SET_AT_DEQUEUE`].
    pub(crate) fn set_at_dequeue(&self) -> [MetadataField; 9] {
        [
            self.enq_timestamp,
            self.enq_qdepth,
            self.deq_timedelta,
            self.deq_qdepth,
            self.qid,
            self.egress_timestamp,
            self.egress_port,
            self.egress_spec,
            self.packet_length,
        ]
    }

    /// The slots of all fields that the program has.
    pub(crate) fn slots(&self) -> impl Iterator<Item = Slot> {
        let fields = [
            self.ingress_port,
            self.packet_length,
            self.instance_type,
            self.egress_spec,
            self.egress_port,
            self.parser_error,
            self.checksum_error,
            self.ingress_timestamp,
            self.egress_timestamp,
            self.mcast_grp,
            self.egress_rid,
            self.priority,
            self.enq_timestamp,
            self.enq_qdepth,
            self.deq_timedelta,
            self.deq_qdepth,
            self.qid,
        ];
        fields.into_iter().filter_map(MetadataField::known).map(|field| field.slot)
    }
}
