from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class DataField(_message.Message):
    __slots__ = ["bool_val", "field_id", "float_val", "int_arr_val", "str_val", "stream"]
    class IntArray(_message.Message):
        __slots__ = ["val"]
        VAL_FIELD_NUMBER: _ClassVar[int]
        val: _containers.RepeatedScalarFieldContainer[int]
        def __init__(self, val: _Optional[_Iterable[int]] = ...) -> None: ...
    BOOL_VAL_FIELD_NUMBER: _ClassVar[int]
    FIELD_ID_FIELD_NUMBER: _ClassVar[int]
    FLOAT_VAL_FIELD_NUMBER: _ClassVar[int]
    INT_ARR_VAL_FIELD_NUMBER: _ClassVar[int]
    STREAM_FIELD_NUMBER: _ClassVar[int]
    STR_VAL_FIELD_NUMBER: _ClassVar[int]
    bool_val: bool
    field_id: int
    float_val: float
    int_arr_val: DataField.IntArray
    str_val: str
    stream: bytes
    def __init__(self, field_id: _Optional[int] = ..., stream: _Optional[bytes] = ..., float_val: _Optional[float] = ..., str_val: _Optional[str] = ..., int_arr_val: _Optional[_Union[DataField.IntArray, _Mapping]] = ..., bool_val: bool = ...) -> None: ...

class Entity(_message.Message):
    __slots__ = ["table_entry"]
    TABLE_ENTRY_FIELD_NUMBER: _ClassVar[int]
    table_entry: TableEntry
    def __init__(self, table_entry: _Optional[_Union[TableEntry, _Mapping]] = ...) -> None: ...

class Error(_message.Message):
    __slots__ = ["canonical_code", "code", "message", "space"]
    CANONICAL_CODE_FIELD_NUMBER: _ClassVar[int]
    CODE_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    SPACE_FIELD_NUMBER: _ClassVar[int]
    canonical_code: int
    code: int
    message: str
    space: str
    def __init__(self, canonical_code: _Optional[int] = ..., message: _Optional[str] = ..., space: _Optional[str] = ..., code: _Optional[int] = ...) -> None: ...

class ForwardingPipelineConfig(_message.Message):
    __slots__ = ["bfruntime_info", "p4_name"]
    BFRUNTIME_INFO_FIELD_NUMBER: _ClassVar[int]
    P4_NAME_FIELD_NUMBER: _ClassVar[int]
    bfruntime_info: bytes
    p4_name: str
    def __init__(self, p4_name: _Optional[str] = ..., bfruntime_info: _Optional[bytes] = ...) -> None: ...

class GetForwardingPipelineConfigRequest(_message.Message):
    __slots__ = ["client_id", "device_id"]
    CLIENT_ID_FIELD_NUMBER: _ClassVar[int]
    DEVICE_ID_FIELD_NUMBER: _ClassVar[int]
    client_id: int
    device_id: int
    def __init__(self, device_id: _Optional[int] = ..., client_id: _Optional[int] = ...) -> None: ...

class GetForwardingPipelineConfigResponse(_message.Message):
    __slots__ = ["config", "non_p4_config"]
    CONFIG_FIELD_NUMBER: _ClassVar[int]
    NON_P4_CONFIG_FIELD_NUMBER: _ClassVar[int]
    config: _containers.RepeatedCompositeFieldContainer[ForwardingPipelineConfig]
    non_p4_config: NonP4Config
    def __init__(self, config: _Optional[_Iterable[_Union[ForwardingPipelineConfig, _Mapping]]] = ..., non_p4_config: _Optional[_Union[NonP4Config, _Mapping]] = ...) -> None: ...

class KeyField(_message.Message):
    __slots__ = ["exact", "field_id", "lpm", "range", "ternary"]
    class Exact(_message.Message):
        __slots__ = ["value"]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        value: bytes
        def __init__(self, value: _Optional[bytes] = ...) -> None: ...
    class LPM(_message.Message):
        __slots__ = ["prefix_len", "value"]
        PREFIX_LEN_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        prefix_len: int
        value: bytes
        def __init__(self, value: _Optional[bytes] = ..., prefix_len: _Optional[int] = ...) -> None: ...
    class Range(_message.Message):
        __slots__ = ["high", "low"]
        HIGH_FIELD_NUMBER: _ClassVar[int]
        LOW_FIELD_NUMBER: _ClassVar[int]
        high: bytes
        low: bytes
        def __init__(self, low: _Optional[bytes] = ..., high: _Optional[bytes] = ...) -> None: ...
    class Ternary(_message.Message):
        __slots__ = ["mask", "value"]
        MASK_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        mask: bytes
        value: bytes
        def __init__(self, value: _Optional[bytes] = ..., mask: _Optional[bytes] = ...) -> None: ...
    EXACT_FIELD_NUMBER: _ClassVar[int]
    FIELD_ID_FIELD_NUMBER: _ClassVar[int]
    LPM_FIELD_NUMBER: _ClassVar[int]
    RANGE_FIELD_NUMBER: _ClassVar[int]
    TERNARY_FIELD_NUMBER: _ClassVar[int]
    exact: KeyField.Exact
    field_id: int
    lpm: KeyField.LPM
    range: KeyField.Range
    ternary: KeyField.Ternary
    def __init__(self, field_id: _Optional[int] = ..., exact: _Optional[_Union[KeyField.Exact, _Mapping]] = ..., ternary: _Optional[_Union[KeyField.Ternary, _Mapping]] = ..., lpm: _Optional[_Union[KeyField.LPM, _Mapping]] = ..., range: _Optional[_Union[KeyField.Range, _Mapping]] = ...) -> None: ...

class NonP4Config(_message.Message):
    __slots__ = ["bfruntime_info"]
    BFRUNTIME_INFO_FIELD_NUMBER: _ClassVar[int]
    bfruntime_info: bytes
    def __init__(self, bfruntime_info: _Optional[bytes] = ...) -> None: ...

class ReadRequest(_message.Message):
    __slots__ = ["client_id", "entities", "p4_name", "target"]
    CLIENT_ID_FIELD_NUMBER: _ClassVar[int]
    ENTITIES_FIELD_NUMBER: _ClassVar[int]
    P4_NAME_FIELD_NUMBER: _ClassVar[int]
    TARGET_FIELD_NUMBER: _ClassVar[int]
    client_id: int
    entities: _containers.RepeatedCompositeFieldContainer[Entity]
    p4_name: str
    target: TargetDevice
    def __init__(self, target: _Optional[_Union[TargetDevice, _Mapping]] = ..., client_id: _Optional[int] = ..., entities: _Optional[_Iterable[_Union[Entity, _Mapping]]] = ..., p4_name: _Optional[str] = ...) -> None: ...

class ReadResponse(_message.Message):
    __slots__ = ["entities", "status"]
    ENTITIES_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    entities: _containers.RepeatedCompositeFieldContainer[Entity]
    status: _containers.RepeatedCompositeFieldContainer[Error]
    def __init__(self, entities: _Optional[_Iterable[_Union[Entity, _Mapping]]] = ..., status: _Optional[_Iterable[_Union[Error, _Mapping]]] = ...) -> None: ...

class SetForwardingPipelineConfigRequest(_message.Message):
    __slots__ = ["action", "client_id", "config", "device_id"]
    class Action(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = []
    ACTION_FIELD_NUMBER: _ClassVar[int]
    BIND: SetForwardingPipelineConfigRequest.Action
    CLIENT_ID_FIELD_NUMBER: _ClassVar[int]
    CONFIG_FIELD_NUMBER: _ClassVar[int]
    DEVICE_ID_FIELD_NUMBER: _ClassVar[int]
    action: SetForwardingPipelineConfigRequest.Action
    client_id: int
    config: _containers.RepeatedCompositeFieldContainer[ForwardingPipelineConfig]
    device_id: int
    def __init__(self, device_id: _Optional[int] = ..., client_id: _Optional[int] = ..., action: _Optional[_Union[SetForwardingPipelineConfigRequest.Action, str]] = ..., config: _Optional[_Iterable[_Union[ForwardingPipelineConfig, _Mapping]]] = ...) -> None: ...

class SetForwardingPipelineConfigResponse(_message.Message):
    __slots__ = []
    def __init__(self) -> None: ...

class StreamMessageRequest(_message.Message):
    __slots__ = ["client_id", "subscribe"]
    CLIENT_ID_FIELD_NUMBER: _ClassVar[int]
    SUBSCRIBE_FIELD_NUMBER: _ClassVar[int]
    client_id: int
    subscribe: Subscribe
    def __init__(self, client_id: _Optional[int] = ..., subscribe: _Optional[_Union[Subscribe, _Mapping]] = ...) -> None: ...

class StreamMessageResponse(_message.Message):
    __slots__ = ["subscribe"]
    SUBSCRIBE_FIELD_NUMBER: _ClassVar[int]
    subscribe: Subscribe
    def __init__(self, subscribe: _Optional[_Union[Subscribe, _Mapping]] = ...) -> None: ...

class Subscribe(_message.Message):
    __slots__ = ["device_id"]
    DEVICE_ID_FIELD_NUMBER: _ClassVar[int]
    device_id: int
    def __init__(self, device_id: _Optional[int] = ...) -> None: ...

class TableData(_message.Message):
    __slots__ = ["action_id", "fields"]
    ACTION_ID_FIELD_NUMBER: _ClassVar[int]
    FIELDS_FIELD_NUMBER: _ClassVar[int]
    action_id: int
    fields: _containers.RepeatedCompositeFieldContainer[DataField]
    def __init__(self, action_id: _Optional[int] = ..., fields: _Optional[_Iterable[_Union[DataField, _Mapping]]] = ...) -> None: ...

class TableEntry(_message.Message):
    __slots__ = ["data", "entry_tgt", "is_default_entry", "key", "table_flags", "table_id"]
    DATA_FIELD_NUMBER: _ClassVar[int]
    ENTRY_TGT_FIELD_NUMBER: _ClassVar[int]
    IS_DEFAULT_ENTRY_FIELD_NUMBER: _ClassVar[int]
    KEY_FIELD_NUMBER: _ClassVar[int]
    TABLE_FLAGS_FIELD_NUMBER: _ClassVar[int]
    TABLE_ID_FIELD_NUMBER: _ClassVar[int]
    data: TableData
    entry_tgt: TargetDevice
    is_default_entry: bool
    key: TableKey
    table_flags: TableFlags
    table_id: int
    def __init__(self, table_id: _Optional[int] = ..., key: _Optional[_Union[TableKey, _Mapping]] = ..., data: _Optional[_Union[TableData, _Mapping]] = ..., is_default_entry: bool = ..., entry_tgt: _Optional[_Union[TargetDevice, _Mapping]] = ..., table_flags: _Optional[_Union[TableFlags, _Mapping]] = ...) -> None: ...

class TableFlags(_message.Message):
    __slots__ = ["from_hw"]
    FROM_HW_FIELD_NUMBER: _ClassVar[int]
    from_hw: bool
    def __init__(self, from_hw: bool = ...) -> None: ...

class TableKey(_message.Message):
    __slots__ = ["fields"]
    FIELDS_FIELD_NUMBER: _ClassVar[int]
    fields: _containers.RepeatedCompositeFieldContainer[KeyField]
    def __init__(self, fields: _Optional[_Iterable[_Union[KeyField, _Mapping]]] = ...) -> None: ...

class TargetDevice(_message.Message):
    __slots__ = ["device_id", "direction", "pipe_id", "prsr_id"]
    DEVICE_ID_FIELD_NUMBER: _ClassVar[int]
    DIRECTION_FIELD_NUMBER: _ClassVar[int]
    PIPE_ID_FIELD_NUMBER: _ClassVar[int]
    PRSR_ID_FIELD_NUMBER: _ClassVar[int]
    device_id: int
    direction: int
    pipe_id: int
    prsr_id: int
    def __init__(self, device_id: _Optional[int] = ..., pipe_id: _Optional[int] = ..., direction: _Optional[int] = ..., prsr_id: _Optional[int] = ...) -> None: ...

class Update(_message.Message):
    __slots__ = ["entity", "type"]
    class Type(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = []
    DELETE: Update.Type
    ENTITY_FIELD_NUMBER: _ClassVar[int]
    INSERT: Update.Type
    INSERT_OR_MODIFY: Update.Type
    MODIFY: Update.Type
    MODIFY_INC: Update.Type
    RESET: Update.Type
    TYPE_FIELD_NUMBER: _ClassVar[int]
    UNSPECIFIED: Update.Type
    entity: Entity
    type: Update.Type
    def __init__(self, type: _Optional[_Union[Update.Type, str]] = ..., entity: _Optional[_Union[Entity, _Mapping]] = ...) -> None: ...

class WriteRequest(_message.Message):
    __slots__ = ["atomicity", "client_id", "p4_name", "target", "updates"]
    class Atomicity(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = []
    ATOMICITY_FIELD_NUMBER: _ClassVar[int]
    CLIENT_ID_FIELD_NUMBER: _ClassVar[int]
    CONTINUE_ON_ERROR: WriteRequest.Atomicity
    DATAPLANE_ATOMIC: WriteRequest.Atomicity
    P4_NAME_FIELD_NUMBER: _ClassVar[int]
    ROLLBACK_ON_ERROR: WriteRequest.Atomicity
    TARGET_FIELD_NUMBER: _ClassVar[int]
    UPDATES_FIELD_NUMBER: _ClassVar[int]
    atomicity: WriteRequest.Atomicity
    client_id: int
    p4_name: str
    target: TargetDevice
    updates: _containers.RepeatedCompositeFieldContainer[Update]
    def __init__(self, target: _Optional[_Union[TargetDevice, _Mapping]] = ..., client_id: _Optional[int] = ..., updates: _Optional[_Iterable[_Union[Update, _Mapping]]] = ..., atomicity: _Optional[_Union[WriteRequest.Atomicity, str]] = ..., p4_name: _Optional[str] = ...) -> None: ...

class WriteResponse(_message.Message):
    __slots__ = ["status"]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    status: _containers.RepeatedCompositeFieldContainer[Error]
    def __init__(self, status: _Optional[_Iterable[_Union[Error, _Mapping]]] = ...) -> None: ...
