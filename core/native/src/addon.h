// What the functions of the addon have in common. Every function checks its arguments: a wrong one throws a TypeError, never
// reads memory.
#pragma once
#define NAPI_VERSION 8
#include <node_api.h>

#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <system_error>

#include "engine.h"

namespace kvad {

// An engine is an object that wraps it. (An external would be a few bytes of Node's that a thread leaves when it ends.)
constexpr napi_type_tag kEngine = {0x6b76616420656e67, 0x9d1f4c07a3b85e21};

inline std::unique_ptr<Engine>* holder_of(napi_env env, napi_value value) {
  bool ours = false;
  void* data = nullptr;
  if (napi_check_object_type_tag(env, value, &kEngine, &ours) != napi_ok || !ours || napi_unwrap(env, value, &data) != napi_ok) return nullptr;
  return static_cast<std::unique_ptr<Engine>*>(data);
}

struct Arguments {
  napi_env env;
  napi_value values[10];
  size_t count = 10;
  bool failed = false;

  Arguments(napi_env e, napi_callback_info info) : env(e) { napi_get_cb_info(e, info, &count, values, nullptr, nullptr); }
  void fail(const char* text) {
    if (!failed) napi_throw_type_error(env, nullptr, text);
    failed = true;
  }
  double number(size_t i) {
    double v = 0;
    if (failed || i >= count || napi_get_value_double(env, values[i], &v) != napi_ok) fail("a number was expected");
    return v;
  }
  int64_t integer(size_t i) {
    const double v = number(i);
    if (failed || (v >= -9007199254740992.0 && v <= 9007199254740992.0)) return failed ? 0 : int64_t(v);
    fail("a whole number was expected");
    return 0;
  }
  // A size in memory: what is made of three of them is a number still.
  int64_t size(size_t i) {
    const int64_t v = integer(i);
    if (v >= 0 && v <= int64_t(1) << 40) return v;
    fail("a size was expected");
    return 0;
  }
  std::string text(size_t i) {
    size_t length = 0;
    if (failed || i >= count || napi_get_value_string_utf8(env, values[i], nullptr, 0, &length) != napi_ok) {
      fail("a text was expected");
      return {};
    }
    std::string out(length + 1, '\0');  // with room for the zero that is written behind it
    napi_get_value_string_utf8(env, values[i], out.data(), out.size(), &length);
    out.resize(length);
    return out;
  }
  void* bytes(size_t i, size_t* length) {
    napi_typedarray_type type;
    napi_value array;
    size_t elements = 0, offset;
    void* data = nullptr;
    *length = 0;
    if (failed || i >= count || napi_get_typedarray_info(env, values[i], &type, &elements, &data, &array, &offset) != napi_ok) {
      fail("a typed array was expected");
      return nullptr;
    }
    const size_t size = type == napi_float64_array || type == napi_bigint64_array || type == napi_biguint64_array ? 8
                        : type == napi_float32_array || type == napi_int32_array || type == napi_uint32_array    ? 4
                        : type == napi_int16_array || type == napi_uint16_array                                  ? 2
                                                                                                                  : 1;
    *length = elements * size;
    return data;
  }
  // Whatever touches an engine waits for the commands that it runs, but for what gives it more of them.
  Engine* engine() {
    Engine* engine = engine_at_work();
    if (engine) engine->wait();
    return engine;
  }
  Engine* engine_at_work() {
    const std::unique_ptr<Engine>* holder = failed || count == 0 ? nullptr : holder_of(env, values[0]);
    if (!holder) fail("an engine was expected");
    Engine* engine = holder ? holder->get() : nullptr;
    if (!failed && !engine) fail("this engine has been disposed");
    return engine;
  }
};

inline napi_value number(napi_env env, double v) { napi_value out; napi_create_double(env, v, &out); return out; }
inline napi_value text(napi_env env, const char* v) { napi_value out; napi_create_string_utf8(env, v, NAPI_AUTO_LENGTH, &out); return out; }
inline napi_value nothing(napi_env env) { napi_value out; napi_get_undefined(env, &out); return out; }

// An ArrayBuffer over memory of ours; `drop` is called when it is collected, by Node also where it finds it too large.
inline napi_value external(Arguments& a, void* data, size_t bytes, napi_finalize drop, void* owner) {
  napi_value out;
  const napi_status status = napi_create_external_arraybuffer(a.env, data, bytes, drop, owner, &out);
  if (status == napi_ok) return out;
  if (status == napi_no_external_buffers_allowed) drop(a.env, data, owner);
  bool pending = false;
  napi_is_exception_pending(a.env, &pending);
  if (!pending) a.fail("no external array buffers of this size here");
  return nullptr;
}

struct AddonFunction {
  const char* name;
  napi_callback call;
};

// Adds `map`, `leave`, `trim`, `passValue`, `joinMerges` and `close`: what has to do with files and not with an engine.
void define_files(napi_env env, napi_value exports);

// No exception leaves through Node-API: it would end the process.
template <napi_value (*Call)(napi_env, napi_callback_info)> napi_value guarded(napi_env env, napi_callback_info info) {
  try {
    return Call(env, info);
  } catch (const std::bad_alloc&) {
    napi_throw_error(env, nullptr, "native arithmetic: no memory left");
  } catch (const std::system_error& error) {
    napi_throw_error(env, "THREADS", error.what());
  } catch (const std::exception& error) {
    napi_throw_error(env, nullptr, error.what());
  }
  return nullptr;
}

template <size_t N> void define(napi_env env, napi_value exports, const AddonFunction (&functions)[N]) {
  for (const AddonFunction& f : functions) {
    napi_value value;
    napi_create_function(env, f.name, NAPI_AUTO_LENGTH, f.call, nullptr, &value);
    napi_set_named_property(env, exports, f.name, value);
  }
}

}  // namespace kvad
