// Node-API surface: files, and what is no engine's.
#include "addon.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <unistd.h>

#include "join_merges.h"
#include "json_value.h"
#include "mapping.h"

namespace kvad {
namespace {

// The collector counts the bytes of an ArrayBuffer as memory that it could free: with gigabytes in its books it would
// collect everything at each further one. A mapped file is the system's memory, so its bytes are taken off again. Newer
// collectors end the process where their books fall below nothing, as they do between the end of a buffer and `drop`: there
// the bytes stay in them, at the price of a collection for each window.
bool bytes_may_be_taken_off(napi_env env) {
  constexpr uint32_t checked_since = 23;
  const napi_node_version* node = nullptr;
  return napi_get_node_version(env, &node) == napi_ok && node->major < checked_since;
}

void account(napi_env env, int64_t bytes) {
  int64_t now;
  if (bytes_may_be_taken_off(env)) napi_adjust_external_memory(env, bytes, &now);
}

// map(path, descriptor, offset, bytes, shrank) -> ArrayBuffer over these bytes of the file, read-only; unmapped when it is
// collected. The last: see Mapping::open
napi_value map(napi_env env, napi_callback_info info) {
  Arguments a(env, info);
  const std::string path = a.text(0);
  const int file = int(a.integer(1));
  const int64_t offset = a.size(2), bytes = a.size(3);
  const std::string shrank = a.text(4);
  if (!a.failed && bytes < 1) a.fail("map: nothing of a file");
  if (a.failed) return nullptr;
  std::string wrong;
  Mapping* mapping = Mapping::open({path, file, size_t(offset), size_t(bytes), shrank}, wrong);
  if (!mapping) { napi_throw_error(env, nullptr, wrong.c_str()); return nullptr; }
  const auto drop = [](napi_env e, void*, void* hint) {
    Mapping* ended = static_cast<Mapping*>(hint);
    account(e, int64_t(ended->bytes()));
    delete ended;
  };
  napi_value out = external(a, mapping->data(), mapping->bytes(), drop, mapping);
  if (out) account(env, -bytes);
  return out;
}

// passValue(bytes, at, ids) -> [behind the JSON value that begins there, an id that stands in it twice or -1]
napi_value pass_json(napi_env env, napi_callback_info info) {
  Arguments a(env, info);
  size_t length;
  const void* data = a.bytes(0, &length);
  const int64_t at = a.integer(1);
  const bool ids = a.number(2) != 0;
  if (!a.failed && (at < 0 || size_t(at) >= length)) a.fail("passValue: outside of the bytes");
  if (a.failed) return nullptr;
  const JsonValue value = pass_value(static_cast<const uint8_t*>(data), length, size_t(at), ids);
  napi_value out;
  napi_create_array_with_length(env, 2, &out);
  napi_set_element(env, out, 0, number(env, double(value.end)));
  napi_set_element(env, out, 1, number(env, double(value.shared_id)));
  return out;
}

// leave(bytes): of a mapped file, and not needed in memory any more
napi_value leave(napi_env env, napi_callback_info info) {
  Arguments a(env, info);
  size_t length;
  const void* data = a.bytes(0, &length);
  if (!a.failed) Mapping::leave(static_cast<const uint8_t*>(data), length);
  return nothing(env);
}

// trim() -> bytes that the process has allocated and not freed, -1 where that is not known. What has been freed goes back to
// the system, as far as its allocator keeps any
napi_value trim(napi_env env, napi_callback_info) {
  double held = -1;
#ifdef __GLIBC__
  malloc_trim(0);
#if __GLIBC_PREREQ(2, 33)
  const struct mallinfo2 facts = mallinfo2();
  held = double(facts.uordblks) + double(facts.hblkhd);
#endif
#endif
  return number(env, held);
}

// joinMerges(bytes, at, end) -> descriptor of a file in memory with the pairs of this list joined; -1: the list is left
napi_value join_pairs(napi_env env, napi_callback_info info) {
  Arguments a(env, info);
  size_t length;
  const void* data = a.bytes(0, &length);
  const int64_t at = a.size(1), end = a.size(2);
  if (!a.failed && (at >= end || size_t(end) > length)) a.fail("joinMerges: outside of the bytes");
  return a.failed ? nullptr : number(env, join_merges(static_cast<const uint8_t*>(data), length, size_t(at), size_t(end)));
}

// close(descriptor): one of joinMerges. Node's own function warns of descriptors that it has not opened.
napi_value close_file(napi_env env, napi_callback_info info) {
  Arguments a(env, info);
  const int64_t file = a.size(0);
  if (!a.failed) ::close(int(file));
  return nothing(env);
}

}  // namespace

void define_files(napi_env env, napi_value exports) {
  const AddonFunction functions[] = {{"map", guarded<map>}, {"leave", guarded<leave>}, {"trim", guarded<trim>},
                                     {"passValue", guarded<pass_json>}, {"joinMerges", guarded<join_pairs>}, {"close", guarded<close_file>}};
  define(env, exports, functions);
}

}  // namespace kvad
