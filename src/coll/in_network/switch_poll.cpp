// Polls one after the other; those that are bound to be in vain are reckoned, not sent.
#include "coll/in_network/switch_poll.h"

#include <algorithm>

namespace infold::coll {

SwitchPoll::SwitchPoll(const gpu::SwitchClient::Setup& setup, const gpu::UnitTask& task,
                       sim::EventQueue& events, gpu::SwitchPort& port, Owner& owner)
    : task_(task), events_(events), owner_(owner), pipeline_(setup, events, port, *this) {}

void SwitchPoll::await(std::uint32_t above) {
  above_ = above;
  if (state_ == State::kIdle) ask();
}

void SwitchPoll::ask() {
  state_ = State::kAsked;
  least_ = ~std::uint32_t{0};
  asked_at_ = events_.now();
  pipeline_.start(task_);
}

void SwitchPoll::sampled(std::uint32_t flag) {
  least_ = std::min(least_, flag);
}

void SwitchPoll::task_complete() {
  answered_at_ = events_.now();
  round_trip_ = sim::max(answered_at_ - asked_at_, sim::Time::ps(1));
  answered(least_);
}

void SwitchPoll::answered(std::uint32_t least) {
  if (least > above_) {
    state_ = State::kIdle;
    owner_.poll_answered(least);
  } else if (owner_.least_flag() > above_) {
    ask();
  } else {
    state_ = State::kVain;
  }
}

/// The polls in vain have gone on meanwhile, each as long as the last that was sent, and looked at the flags
/// half-way. The one on its way now has either looked already, or will see the flag.
void SwitchPoll::flag_written() {
  if (state_ != State::kVain || owner_.least_flag() <= above_) return;
  state_ = State::kAsked;
  const std::int64_t since = (events_.now() - answered_at_).count_ps();
  const std::int64_t trip = round_trip_.count_ps();
  const bool sees = since % trip <= trip / 2;
  const sim::Time back = answered_at_ + round_trip_ * (since / trip + 1);
  events_.schedule(back, sim::Priority::kWork, *this, sees ? kAnswered : kAsk);
}

void SwitchPoll::handle(std::uint32_t event) {
  if (event == kAsk) return ask();
  answered_at_ = events_.now();
  answered(owner_.least_flag());
}

}  // namespace infold::coll
