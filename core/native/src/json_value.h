// Passes over a value of a JSON text: a tokenizer's vocabulary is megabytes of which nothing but its ids is looked at.
#pragma once
#include <cstddef>
#include <cstdint>

namespace kvad {

struct JsonValue {
  size_t end;         // behind the bracket that closes the one at `at`; the length of the text if there is none
  int64_t shared_id;  // the first number of `at`'s value that stands there twice; -1: none, or none were asked for
};

// The rules are those of core/src/text/tokenizer/outline.ts, which does the same where there is no addon.
JsonValue pass_value(const uint8_t* text, size_t length, size_t at, bool watch_ids);

}  // namespace kvad
