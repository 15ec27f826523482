//! A JSON value whose strings are parts of the program's text.
//!
//! `serde_json::Value` copies each string, and each object is a tree; most of the text is in
//! objects of two or three keys. The accessors are those of `serde_json::Value`.

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::{Serialize, Serializer};
use serde_json::Number;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Index;

/// A JSON value.
#[derive(Debug, Default)]
pub(crate) enum Value<'a> {
    #[default]
    Null,
    Bool(bool),
    Number(Number),
    String(Cow<'a, str>),
    Array(Vec<Value<'a>>),
    /// The keys with their values, in the text's order. Of equal keys the last one counts.
    Object(Vec<(Cow<'a, str>, Value<'a>)>),
}

impl<'a> Value<'a> {
    /// A list of two strings.
    pub(crate) fn pair(first: &'a str, second: &'a str) -> Self {
        Value::Array([first, second].map(|one| Value::String(one.into())).into())
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Value<'a>> {
        let Value::Object(pairs) = self else { return None };
        pairs.iter().rev().find(|(known, _)| known == key).map(|(_, value)| value)
    }

    pub(crate) fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }

    pub(crate) fn as_bool(&self) -> Option<bool> {
        if let Value::Bool(bool) = self { Some(*bool) } else { None }
    }

    pub(crate) fn as_u64(&self) -> Option<u64> {
        if let Value::Number(number) = self { number.as_u64() } else { None }
    }

    pub(crate) fn as_str(&self) -> Option<&str> {
        if let Value::String(string) = self { Some(string) } else { None }
    }

    pub(crate) fn as_array(&self) -> Option<&[Value<'a>]> {
        if let Value::Array(values) = self { Some(values) } else { None }
    }
}

/// The value of a key; null if there is none.
impl<'a> Index<&str> for Value<'a> {
    type Output = Value<'a>;

    fn index(&self, key: &str) -> &Value<'a> {
        self.get(key).unwrap_or(&Value::Null)
    }
}

/// An array's element; null if there is none.
impl<'a> Index<usize> for Value<'a> {
    type Output = Value<'a>;

    fn index(&self, at: usize) -> &Value<'a> {
        self.as_array().and_then(|values| values.get(at)).unwrap_or(&Value::Null)
    }
}

impl PartialEq<&str> for Value<'_> {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == Some(other)
    }
}

/// For error messages: an object's keys are sorted.
impl Serialize for Value<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::Null => serializer.serialize_unit(),
            Value::Bool(bool) => serializer.serialize_bool(*bool),
            Value::Number(number) => number.serialize(serializer),
            Value::String(string) => serializer.serialize_str(string),
            Value::Array(values) => values.serialize(serializer),
            Value::Object(pairs) => {
                let sorted = pairs.iter().map(|(key, value)| (key, value));
                sorted.collect::<BTreeMap<_, _>>().serialize(serializer)
            }
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Value<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value<'de>, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, bool: bool) -> Result<Value<'de>, E> {
        Ok(Value::Bool(bool))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value<'de>, E> {
        Ok(Value::Number(number.into()))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value<'de>, E> {
        Ok(Value::Number(number.into()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value<'de>, E> {
        Ok(Number::from_f64(number).map_or(Value::Null, Value::Number))
    }

    fn visit_borrowed_str<E>(self, string: &'de str) -> Result<Value<'de>, E> {
        Ok(Value::String(Cow::Borrowed(string)))
    }

    /// A string with escapes is not a part of the text.
    fn visit_str<E>(self, string: &str) -> Result<Value<'de>, E> {
        Ok(Value::String(Cow::Owned(string.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut array: A) -> Result<Value<'de>, A::Error> {
        let mut values = vec![];
        while let Some(value) = array.next_element()? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Value<'de>, A::Error> {
        let mut pairs = vec![];
        while let Some((Key(key), value)) = object.next_entry()? {
            pairs.push((key, value));
        }
        Ok(Value::Object(pairs))
    }
}

/// An object's key. A `Cow` alone always copies.
#[derive(serde::Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        r#"{"b": [1, -2, 1.5, null, true], "a": {"type": "field", "x": "\u0041\n"}, "b": "last"}"#;

    #[test]
    fn strings_are_parts_of_the_text_unless_they_have_escapes() {
        let value: Value<'_> = serde_json::from_str(TEXT).unwrap();
        assert!(matches!(&value["a"]["type"], Value::String(Cow::Borrowed("field"))));
        assert!(value["a"]["type"] == "field");
        assert_eq!(value["a"]["x"].as_str(), Some("A\n"));
    }

    #[test]
    fn it_reads_and_writes_what_serde_json_does() {
        let value: Value<'_> = serde_json::from_str(TEXT).unwrap();
        let other: serde_json::Value = serde_json::from_str(TEXT).unwrap();
        assert_eq!(serde_json::to_string(&value).unwrap(), other.to_string());
        assert_eq!(value["b"].as_str(), other["b"].as_str());
        assert!(value["none"]["type"].is_null() && value["a"][7].is_null());
    }
}
