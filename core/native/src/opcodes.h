// Commands of a list: opcode, number of arguments, arguments, all as doubles. A tensor is four numbers: its first element
// (counted from the arena's start), rows, cols, elements from row to row. The names are compared with those of the
// TypeScript side when the addon is loaded.
#pragma once

#define KVAD_OPCODES(X) \
  X(embed) X(linear) X(rmsNorm) X(layerNorm) X(activate) X(gated) X(xielu) X(add) X(multiply) X(scaleGroups) \
  X(affine) X(scale) X(clamp) X(softcap) X(copy) X(rope) X(append) X(attend) \
  X(softmax) X(keepGroups) X(topK) X(gather) X(normaliseRows) X(expertLinear) X(combine) X(headLinear) \
  X(causalConv) X(l2Norm) X(deltaRule)

namespace kvad {

enum class Opcode : int {
#define KVAD_ENUM(name) name,
  KVAD_OPCODES(KVAD_ENUM)
#undef KVAD_ENUM
  count
};

inline const char* opcode_names() {
#define KVAD_NAME(name) #name ","
  return KVAD_OPCODES(KVAD_NAME) "";
#undef KVAD_NAME
}

// The code of the command at `at`; -1: there is none that is whole.
inline int opcode_at(const double* at, const double* end) {
  if (end - at < 2) return -1;
  const bool known = at[0] >= 0 && at[0] < double(int(Opcode::count)), whole = at[1] >= 0 && at[1] <= double(end - at - 2);
  return known && whole ? int(at[0]) : -1;
}

}  // namespace kvad
