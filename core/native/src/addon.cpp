// Node-API surface: engines and what they hold.
#include "addon.h"

#include <cstring>

#include "bandwidth.h"
#include "convert.h"
#include "opcodes.h"

namespace {

using namespace kvad;

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
  auto holder = std::make_unique<std::unique_ptr<Engine>>(new Engine(int(threads), kernels, arena));
  (*holder)->dequantise = dequantise;
  napi_value out;
  const auto drop = [](napi_env, void* data, void*) { delete static_cast<std::unique_ptr<Engine>*>(data); };
  if (napi_create_object(env, &out) != napi_ok || napi_type_tag_object(env, out, &kEngine) != napi_ok || napi_wrap(env, out, holder.get(), drop, nullptr, nullptr) != napi_ok)
    return nullptr;
  holder.release();
  return out;
}

napi_value dispose(napi_env env, napi_callback_info info) {
  Arguments a(env, info);
  std::unique_ptr<Engine>* holder = a.count > 0 ? holder_of(env, a.values[0]) : nullptr;
  if (holder) holder->reset();
  return nothing(env);
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

// convert(engine, bytes, from kind, to kind, out): floats in another float type
napi_value convert_values(napi_env env, napi_callback_info info) {
  Arguments a(env, info);
  Engine* engine = a.engine();
  size_t length, room;
  const void* data = a.bytes(1, &length);
  const int64_t stored = a.integer(2), wanted = a.integer(3);
  void* out = a.bytes(4, &room);
  if (a.failed) return nullptr;
  const Kind from = Kind(stored), to = Kind(wanted);
  const bool kinds = stored >= 0 && stored <= 2 && wanted >= 0 && wanted <= 2;
  if (!kinds || length % dense_bytes(from) != 0 || room != length / dense_bytes(from) * dense_bytes(to)) {
    a.fail("convert: sizes do not agree");
    return nullptr;
  }
  convert(engine->pool(), from, data, int64_t(length / dense_bytes(from)), to, out);
  return nothing(env);
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

// readSeconds(engine, bytes) -> seconds that the engine's threads take to read all of them once
napi_value read_time(napi_env env, napi_callback_info info) {
  Arguments a(env, info);
  Engine* engine = a.engine();
  size_t length;
  const void* data = a.bytes(1, &length);
  return a.failed ? nullptr : number(env, read_seconds(engine->pool(), static_cast<const uint8_t*>(data), length));
}

napi_value init(napi_env env, napi_value exports) {
  const AddonFunction functions[] = {
      {"create", guarded<create>}, {"dispose", guarded<dispose>}, {"arena", guarded<arena>}, {"kernels", guarded<kernels_name>},
      {"weight", guarded<weight>}, {"quantBytes", guarded<quant_size>}, {"quantise", guarded<quantise>}, {"convert", guarded<convert_values>},
      {"vector", guarded<vector>}, {"state", guarded<state>}, {"stateReserve", guarded<state_reserve>}, {"stateFree", guarded<state_free>},
      {"stateRead", guarded<state_read>}, {"stateWrite", guarded<state_write>}, {"start", guarded<start>}, {"finish", guarded<finish>},
      {"readSeconds", guarded<read_time>}};
  define(env, exports, functions);
  define_files(env, exports);
  napi_set_named_property(env, exports, "opcodes", text(env, opcode_names()));
  napi_set_named_property(env, exports, "available", text(env, kernels_here()));
  napi_set_named_property(env, exports, "distrusted", text(env, kernels_distrusted()));
  napi_set_named_property(env, exports, "layoutVersion", number(env, kLayoutVersion));
  return exports;
}

}  // namespace

NAPI_MODULE(kvad, init)
