// Symbols: variables of the device by the address of their shadow on the host.
#include "cudart/call_name.hpp"
#include "cudart/copy.hpp"
#include "engine/images.hpp"

namespace sb::cudart {
namespace {

enum class symbol_role : bool { destination, source };

// CUDA: the kind has to fit the side that the symbol is on.
bool fits(cudaMemcpyKind kind, symbol_role role) {
  const cudaMemcpyKind plain =
      role == symbol_role::destination ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost;
  return kind == plain || kind == cudaMemcpyDeviceToDevice || kind == cudaMemcpyDefault;
}

struct symbol_copy {
  const void* symbol;
  symbol_role role;
  void* destination;   // role == source
  const void* source;  // role == destination
  std::size_t count, offset;
  cudaMemcpyKind kind;
};

status transfer(const symbol_copy& c, cudaStream_t stream, call_form form) {
  const auto variable = engine::find_variable(c.symbol, current_device());
  if (!variable) return status::invalid_symbol;
  if (!fits(c.kind, c.role)) return status::invalid_memcpy_direction;
  if (c.offset > variable->bytes || c.count > variable->bytes - c.offset) {
    return status::invalid_value;
  }
  char* at = static_cast<char*>(variable->address) + c.offset;
  copy_request r;
  r.destination = c.role == symbol_role::destination ? at : c.destination;
  r.source = c.role == symbol_role::source ? at : c.source;
  r.width = c.count;
  r.kind = c.kind;
  return copy(r, stream, form);
}

cudaError_t symbol_entry(const symbol_copy& c, cudaStream_t stream, call_form form) {
  return transfer_entry([&] { return c.count == 0 ? status::not_ready : status::success; },
                        [&] { return transfer(c, stream, form); });
}

template <class Use>
cudaError_t with_variable(const void* symbol, const void* out, Use&& use) {
  return entry(call_kind::device, [&]() -> status {
    if (out == nullptr) return status::invalid_value;
    const auto variable = engine::find_variable(symbol, current_device());
    if (!variable) return status::invalid_symbol;
    use(*variable);
    return status::success;
  });
}

}  // namespace

SB_API cudaError_t CUDARTAPI cudaGetSymbolAddress(void** address, const void* symbol) {
  return as_call([&] {
    return with_variable(symbol, address,
                         [&](const engine::variable_info& v) { *address = v.address; });
  });
}

SB_API cudaError_t CUDARTAPI cudaGetSymbolSize(size_t* size, const void* symbol) {
  return as_call([&] {
    return with_variable(symbol, size, [&](const engine::variable_info& v) { *size = v.bytes; });
  });
}

SB_API cudaError_t CUDARTAPI cudaMemcpyToSymbol(const void* symbol, const void* source,
                                                size_t count, size_t offset, cudaMemcpyKind kind) {
  return as_call([&] {
    return symbol_entry({symbol, symbol_role::destination, nullptr, source, count, offset, kind},
                        nullptr, call_form::synchronous);
  });
}
SB_PTDS(cudaMemcpyToSymbol,
        (const void* symbol, const void* source, size_t count, size_t offset, cudaMemcpyKind kind),
        (symbol, source, count, offset, kind))

SB_API cudaError_t CUDARTAPI cudaMemcpyToSymbolAsync(const void* symbol, const void* source,
                                                     size_t count, size_t offset,
                                                     cudaMemcpyKind kind, cudaStream_t stream) {
  return as_call([&] {
    return symbol_entry({symbol, symbol_role::destination, nullptr, source, count, offset, kind},
                        stream, call_form::asynchronous);
  });
}
SB_PTSZ(cudaMemcpyToSymbolAsync,
        (const void* symbol, const void* source, size_t count, size_t offset, cudaMemcpyKind kind,
         cudaStream_t stream),
        (symbol, source, count, offset, kind, stream))

SB_API cudaError_t CUDARTAPI cudaMemcpyFromSymbol(void* destination, const void* symbol,
                                                  size_t count, size_t offset,
                                                  cudaMemcpyKind kind) {
  return as_call([&] {
    return symbol_entry({symbol, symbol_role::source, destination, nullptr, count, offset, kind},
                        nullptr, call_form::synchronous);
  });
}
SB_PTDS(cudaMemcpyFromSymbol,
        (void* destination, const void* symbol, size_t count, size_t offset, cudaMemcpyKind kind),
        (destination, symbol, count, offset, kind))

SB_API cudaError_t CUDARTAPI cudaMemcpyFromSymbolAsync(void* destination, const void* symbol,
                                                       size_t count, size_t offset,
                                                       cudaMemcpyKind kind, cudaStream_t stream) {
  return as_call([&] {
    return symbol_entry({symbol, symbol_role::source, destination, nullptr, count, offset, kind},
                        stream, call_form::asynchronous);
  });
}
SB_PTSZ(cudaMemcpyFromSymbolAsync,
        (void* destination, const void* symbol, size_t count, size_t offset, cudaMemcpyKind kind,
         cudaStream_t stream),
        (destination, symbol, count, offset, kind, stream))

}  // namespace sb::cudart
