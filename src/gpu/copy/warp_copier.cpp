// Dealing runs to warps; loading and storing them.
#include "gpu/copy/warp_copier.h"

#include <algorithm>

#include "sim/check.h"

namespace infold::gpu {

namespace {
constexpr std::uint32_t kDone = ~std::uint32_t{0};
}  // namespace

WarpCopier::WarpCopier(const Setup& setup, sim::EventQueue& events, MemorySystem& memory, Client& client,
                       std::uint32_t cookie)
    : setup_(setup),
      events_(events),
      memory_(memory),
      client_(client),
      cookie_(cookie),
      pace_(setup.port),
      run_(std::max(kAccess, static_cast<std::uint32_t>(setup.run.count()) / kAccess * kAccess)),
      warps_(static_cast<std::size_t>(setup.warps)) {}

void WarpCopier::start(std::vector<Piece> pieces) {
  INFOLD_DCHECK(idle() && !pieces.empty(), "one copy after the other, each with pieces");
  pieces_ = std::move(pieces);
  cursors_.clear();
  for (const Piece& p : pieces_) {
    cursors_.push_back({{Actor::kCollective, p.from.buffer, p.from.offset, p.bytes},
                        {Actor::kCollective, p.to.buffer, p.to.offset, p.bytes}});
  }
  working_ = warps_.size();
  for (std::uint32_t w = 0; w < warps_.size(); ++w) {
    warps_[w] = {.piece = 0, .run = w};
    load(w);
  }
}

/// Finds where the warp's run lies, or its next if the piece has no such run. Whole runs come first; what
/// remains is dealt access by access. False: the warp is through.
bool WarpCopier::locate(Warp& w) const {
  const auto first = w.run % static_cast<std::uint32_t>(warps_.size());
  for (; w.piece < pieces_.size(); ++w.piece, w.run = first) {
    const std::uint32_t bytes = pieces_[w.piece].bytes;
    const std::uint32_t whole = bytes / run_;
    if (w.run < whole) {
      w.offset = w.run * run_;
      w.bytes = run_;
      return true;
    }
    w.offset = whole * run_ + (w.run - whole) * kAccess;
    if (w.offset < bytes) {
      w.bytes = std::min(kAccess, bytes - w.offset);
      return true;
    }
  }
  return false;
}

void WarpCopier::load(std::uint32_t index) {
  Warp& w = warps_[index];
  if (!locate(w)) {
    if (--working_ == 0)
      events_.schedule(sim::max(visible_, events_.now()), sim::Priority::kWork, *this, kDone);
    return;
  }
  if (setup_.loads == nullptr || setup_.loads->take(sim::Bytes{w.bytes}, *this, index)) may_load(index);
}

void WarpCopier::may_load(std::uint32_t index) {
  const Warp& w = warps_[index];
  const sim::Time there = memory_.read(cursors_[w.piece].from, w.bytes, events_.now());
  load_free_ = sim::max(load_free_, there) + pace_.time(sim::Bytes{w.bytes});
  events_.schedule(load_free_, sim::Priority::kWork, *this, index);
}

/// A warp's run is there: it is stored, and when the port has taken it the warp goes on.
void WarpCopier::handle(std::uint32_t event) {
  if (event == kDone) return client_.copy_complete(cookie_);
  const auto warps = static_cast<std::uint32_t>(warps_.size());
  Warp& w = warps_[event % warps];
  if (event >= warps) {
    w.run += warps;
    return load(event % warps);
  }
  if (setup_.loads != nullptr) setup_.loads->give_back(sim::Bytes{w.bytes});
  store_free_ = sim::max(store_free_, events_.now()) + pace_.time(sim::Bytes{w.bytes});
  const sim::Time taken = memory_.write(cursors_[w.piece].to, w.bytes, events_.now());
  visible_ = sim::max(visible_, sim::max(store_free_, taken));
  if (setup_.functional) client_.copied(cookie_, w.piece, w.offset, w.bytes);
  events_.schedule(store_free_, sim::Priority::kWork, *this, event + warps);
}

}  // namespace infold::gpu
