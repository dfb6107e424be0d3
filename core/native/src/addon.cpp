// Node-API surface. Every function checks its arguments: a wrong one throws a TypeError, never reads memory.
#define NAPI_VERSION 8
#include <node_api.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <string>

#include "bandwidth.h"
#include "engine.h"
#include "json_value.h"
#include "mapping.h"
#include "opcodes.h"

namespace {

using namespace kvad;

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
    void* data = nullptr;
    if (failed || count == 0 || napi_get_value_external(env, values[0], &data) != napi_ok || !data) fail("an engine was expected");
    Engine* engine = data ? static_cast<std::unique_ptr<Engine>*>(data)->get() : nullptr;
    if (!failed && !engine) fail("this engine has been disposed");
    return engine;
  }
};

napi_value number(napi_env env, double v) { napi_value out; napi_create_double(env, v, &out); return out; }
napi_value text(napi_env env, const char* v) { napi_value out; napi_create_string_utf8(env, v, NAPI_AUTO_LENGTH, &out); return out; }
napi_value nothing(napi_env env) { napi_value out; napi_get_undefined(env, &out); return out; }

// create(threads, kernels name or '', arena bytes, dequantise) -> engine; code THREADS where the system has not so many
napi_value create(napi_env env, napi_callback_info info) {
  Arguments a(env, info);
  const int64_t threads = a.integer(0);
  const std::string name = a.text(1);
  const size_t arena = size_t(a.size(2));
  const bool dequantise = a.number(3) != 0;
  if (a.failed) return nullptr;
  if (threads < 1 || threads > 256) { a.fail("threads: 1 to 256"); return nullptr; }
  const Kernels* kernels = kernels_for(name.c_str());
  if (!kernels) { a.fail("no such kernels on this machine"); return nullptr; }
  auto* holder = new std::unique_ptr<Engine>(new Engine(int(threads), kernels, arena));
  (*holder)->dequantise = dequantise;
  napi_value out;
  napi_create_external(env, holder, [](napi_env, void* data, void*) { delete static_cast<std::unique_ptr<Engine>*>(data); }, nullptr, &out);
  return out;
}

napi_value dispose(napi_env env, napi_callback_info info) {
  Arguments a(env, info);
  void* data = nullptr;
  if (a.count > 0 && napi_get_value_external(env, a.values[0], &data) == napi_ok && data) static_cast<std::unique_ptr<Engine>*>(data)->reset();
  return nothing(env);
}

// An ArrayBuffer over memory of ours; `drop` is called when it is collected, by Node also where it finds it too large.
napi_value external(Arguments& a, void* data, size_t bytes, napi_finalize drop, void* owner) {
  napi_value out;
  const napi_status status = napi_create_external_arraybuffer(a.env, data, bytes, drop, owner, &out);
  if (status == napi_ok) return out;
  if (status == napi_no_external_buffers_allowed) drop(a.env, data, owner);
  bool pending = false;
  napi_is_exception_pending(a.env, &pending);
  if (!pending) a.fail("no external array buffers of this size here");
  return nullptr;
}

// arena(engine, bytes) -> ArrayBuffer over the beginning of the scratch memory, which stays mapped until all are gone
napi_value arena(napi_env env, napi_callback_info info) {
  Arguments a(env, info);
  Engine* engine = a.engine();
  const double bytes = a.number(1);
  if (!a.failed && !(bytes > 0 && bytes <= double(engine->arena_bytes()))) a.fail("arena: more than it has");
  if (a.failed) return nullptr;
  auto* owner = new std::shared_ptr<void>(engine->arena_owner());
  const auto drop = [](napi_env, void*, void* hint) { delete static_cast<std::shared_ptr<void>*>(hint); };
  return external(a, owner->get(), size_t(bytes), drop, owner);
}

napi_value kernels_name(napi_env env, napi_callback_info info) {
  Arguments a(env, info);
  Engine* engine = a.engine();
  return a.failed ? nullptr : text(env, engine->kernels().name);
}

// dense(engine, bytes, kind, count, rows, cols) -> weight; the bytes are not copied and must outlive it
napi_value weight(napi_env env, napi_callback_info info) {
  Arguments a(env, info);
  Engine* engine = a.engine();
  size_t length;
  void* data = a.bytes(1, &length);
  Weight w;
  const int64_t kind = a.integer(2);
  w.count = a.size(3);
  w.rows = a.size(4);
  w.cols = a.size(5);
  if (a.failed) return nullptr;
  w.kind = Kind(kind);
  // no more values than bytes hold two of, before their number is computed
  const bool few = w.count >= 1 && w.rows >= 1 && w.cols >= 1 && double(w.count) * double(w.rows) * double(w.cols) <= 2.0 * double(length);
  if (kind < 0 || kind > 4 || !few || length != size_t(w.count) * w.bytes_each()) {
    a.fail("weight: the bytes do not have the size of its shape");
    return nullptr;
  }
  w.data = static_cast<const uint8_t*>(data);
  return number(env, engine->add_weight(std::move(w)));
}

// quantBytes(kind, rows, cols) -> bytes of one matrix
napi_value quant_size(napi_env env, napi_callback_info info) {
  Arguments a(env, info);
  const int64_t kind = a.integer(0), rows = a.size(1), cols = a.size(2);
  if (!a.failed && ((kind != int(Kind::Q8) && kind != int(Kind::Q4)) || rows < 1 || cols < 1 || double(rows) * double(cols) > 1e15)) a.fail("quantBytes: no such matrix");
  return a.failed ? nullptr : number(env, double(quant_bytes(Kind(kind), rows, cols)));
}

// quantise(engine, bytes, from kind, rows, cols, to kind, out) -> blocks whose scale does not fit
napi_value quantise(napi_env env, napi_callback_info info) {
  Arguments a(env, info);
  Engine* engine = a.engine();
  size_t length, room;
  const void* data = a.bytes(1, &length);
  const int64_t stored = a.integer(2), rows = a.size(3), cols = a.size(4), wanted = a.integer(5);
  void* out = a.bytes(6, &room);
  if (a.failed) return nullptr;
  const Kind from = Kind(stored), to = Kind(wanted);
  const bool kinds = stored >= 0 && stored <= 2 && (to == Kind::Q8 || to == Kind::Q4);
  if (!kinds || rows < 1 || cols < 1 || double(rows) * double(cols) > double(length) || length != size_t(rows * cols) * dense_bytes(from) || room != quant_bytes(to, rows, cols)) {
    a.fail("quantise: sizes do not agree");
    return nullptr;
  }
  return number(env, double(quantise_matrix(engine->pool(), from, data, rows, cols, to, static_cast<uint8_t*>(out))));
}

napi_value vector(napi_env env, napi_callback_info info) {
  Arguments a(env, info);
  Engine* engine = a.engine();
  size_t length;
  const void* data = a.bytes(1, &length);
  return a.failed ? nullptr : number(env, engine->add_vector(static_cast<const float*>(data), int64_t(length / 4)));
}

State* state_of(Arguments& a, Engine* engine) {
  const int64_t id = a.integer(1);
  if (a.failed) return nullptr;
  if (id < 0 || size_t(id) >= engine->state_count() || !engine->state(int(id)).alive) { a.fail("no such state"); return nullptr; }
  return &engine->state(int(id));
}

// state(engine, width, half, init) -> state
napi_value state(napi_env env, napi_callback_info info) {
  Arguments a(env, info);
  Engine* engine = a.engine();
  const int64_t width = a.size(1);
  const bool half = a.number(2) != 0;
  const float init = float(a.number(3));
  if (!a.failed && width < 1) a.fail("state: width");
  return a.failed ? nullptr : number(env, engine->add_state(width, half, init));
}
napi_value state_reserve(napi_env env, napi_callback_info info) {
  Arguments a(env, info);
  Engine* engine = a.engine();
  if (!state_of(a, engine)) return nullptr;
  const int64_t rows = a.size(2);
  if (a.failed) return nullptr;
  if (double(rows) * double(engine->state(int(a.integer(1))).row_bytes()) > 1e15) { a.fail("state: rows"); return nullptr; }
  engine->reserve_state(int(a.integer(1)), rows);
  // of the rows only: what the memory has behind them holds none
  const State& state = engine->state(int(a.integer(1)));
  return number(env, double(state.capacity) * double(state.row_bytes()));
}
napi_value state_free(napi_env env, napi_callback_info info) {
  Arguments a(env, info);
  Engine* engine = a.engine();
  State* s = state_of(a, engine);
  if (!s) return nullptr;
  *s = State();
  return nothing(env);
}
// stateRead(engine, state, first row, rows, out bytes) / stateWrite: raw rows
napi_value state_move(napi_env env, napi_callback_info info, bool write) {
  Arguments a(env, info);
  Engine* engine = a.engine();
  State* s = state_of(a, engine);
  if (!s) return nullptr;
  const int64_t first = a.integer(2), rows = a.integer(3);
  size_t length;
  void* data = a.bytes(4, &length);
  if (a.failed) return nullptr;
  if (first < 0 || rows < 0 || rows > s->capacity - first || length != size_t(rows) * s->row_bytes()) { a.fail("state: rows out of range"); return nullptr; }
  char* at = s->memory.as<char>() + size_t(first) * s->row_bytes();
  if (write) std::memcpy(at, data, length);
  else std::memcpy(data, at, length);
  return nothing(env);
}
napi_value state_read(napi_env env, napi_callback_info info) { return state_move(env, info, false); }
napi_value state_write(napi_env env, napi_callback_info info) { return state_move(env, info, true); }

// start(engine, commands, count): runs them, after those started before, while the caller goes on
napi_value start(napi_env env, napi_callback_info info) {
  Arguments a(env, info);
  Engine* engine = a.engine_at_work();
  size_t length;
  const void* data = a.bytes(1, &length);
  const int64_t count = a.integer(2);
  if (a.failed) return nullptr;
  if (count < 0 || size_t(count) * 8 > length) { a.fail("start: count"); return nullptr; }
  engine->start(static_cast<const double*>(data), count);
  return nothing(env);
}
// finish(engine): waits for all that was started
napi_value finish(napi_env env, napi_callback_info info) {
  Arguments a(env, info);
  Engine* engine = a.engine_at_work();
  if (a.failed) return nullptr;
  const std::string wrong = engine->finish();
  if (!wrong.empty()) napi_throw_error(env, nullptr, ("native arithmetic refused " + wrong).c_str());
  return nothing(env);
}

// The collector counts the bytes of an ArrayBuffer as memory that it could free: with gigabytes in its books it would
// collect everything at each further one. A mapped file is the system's memory, so its bytes are taken off again.
void account(napi_env env, int64_t bytes) {
  int64_t now;
  napi_adjust_external_memory(env, bytes, &now);
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

// trim(): what has been freed goes back to the system, as far as its allocator keeps any
napi_value trim(napi_env env, napi_callback_info) {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
  return nothing(env);
}

// readSeconds(engine, bytes) -> seconds that the engine's threads take to read all of them once
napi_value read_time(napi_env env, napi_callback_info info) {
  Arguments a(env, info);
  Engine* engine = a.engine();
  size_t length;
  const void* data = a.bytes(1, &length);
  return a.failed ? nullptr : number(env, read_seconds(engine->pool(), static_cast<const uint8_t*>(data), length));
}

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

napi_value init(napi_env env, napi_value exports) {
  const struct { const char* name; napi_callback call; } functions[] = {
      {"create", guarded<create>}, {"dispose", guarded<dispose>}, {"arena", guarded<arena>}, {"kernels", guarded<kernels_name>},
      {"weight", guarded<weight>}, {"quantBytes", guarded<quant_size>}, {"quantise", guarded<quantise>}, {"vector", guarded<vector>},
      {"state", guarded<state>}, {"stateReserve", guarded<state_reserve>}, {"stateFree", guarded<state_free>}, {"stateRead", guarded<state_read>},
      {"stateWrite", guarded<state_write>}, {"start", guarded<start>}, {"finish", guarded<finish>}, {"map", guarded<map>},
      {"leave", guarded<leave>}, {"trim", guarded<trim>}, {"passValue", guarded<pass_json>}, {"readSeconds", guarded<read_time>}};
  for (const auto& f : functions) {
    napi_value value;
    napi_create_function(env, f.name, NAPI_AUTO_LENGTH, f.call, nullptr, &value);
    napi_set_named_property(env, exports, f.name, value);
  }
  napi_set_named_property(env, exports, "opcodes", text(env, opcode_names()));
  napi_set_named_property(env, exports, "available", text(env, kernels_here()));
  napi_set_named_property(env, exports, "distrusted", text(env, kernels_distrusted()));
  napi_set_named_property(env, exports, "layoutVersion", number(env, kLayoutVersion));
  return exports;
}

}  // namespace

NAPI_MODULE(kvad, init)
