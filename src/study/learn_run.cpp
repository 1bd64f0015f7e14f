// Data-parallel gradient descent: every rank has its own weights and samples, and gets the same gradients.
#include "study/learn_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <span>

#include "study/collective/choice.h"
#include "study/simulated_sum.h"
#include "train/learn/perceptron.h"
#include "train/learn/spirals.h"

namespace infold::study {

namespace {

constexpr std::size_t kSamples = 512;
constexpr float kMomentum = 0.9F;

std::size_t index(int i) {
  return static_cast<std::size_t>(i);
}

/// The samples, and which rank sees which of them when.
class Data {
 public:
  explicit Data(const LearnJob& job) : batch_(index(job.batch)), ranks_(index(job.gpus)) {
    const std::vector<train::Sample> all = train::two_spirals(kSamples, job.seed);
    // The samples are repeated as often as a step needs, so that every batch is contiguous.
    const std::size_t need = batch_ * ranks_ + kSamples;
    while (samples_.size() < need) samples_.insert(samples_.end(), all.begin(), all.end());
  }
  std::span<const train::Sample> all() const { return std::span(samples_).first(kSamples); }
  std::span<const train::Sample> batch(int step, std::size_t rank) const {
    const std::size_t begin = (index(step) * ranks_ * batch_) % kSamples + rank * batch_;
    return std::span(samples_).subspan(begin, batch_);
  }
  std::size_t per_step() const { return batch_ * ranks_; }

 private:
  std::size_t batch_;
  std::size_t ranks_;
  std::vector<train::Sample> samples_;
};

/// One copy of the weights, and how they follow the gradient.
struct Learner {
  std::vector<float> weights;
  std::vector<float> momentum;

  explicit Learner(std::vector<float> initial) : weights(std::move(initial)), momentum(weights.size()) {}

  void follow(std::span<const float> sum, float rate, std::size_t samples) {
    for (std::size_t i = 0; i < weights.size(); ++i) {
      momentum[i] = kMomentum * momentum[i] + sum[i] / static_cast<float>(samples);
      weights[i] -= rate * momentum[i];
    }
  }
};

double accuracy(train::Perceptron& network, const Learner& learner, const Data& data) {
  std::size_t right = 0;
  for (const train::Sample& s : data.all())
    right += (network.answer(learner.weights, s) > 0) == (s.label > 0) ? 1 : 0;
  return static_cast<double>(right) / static_cast<double>(data.all().size());
}

/// A gradient in the type in which a rank sends it.
float on_the_wire(coll::DataType type, double value) {
  std::array<std::byte, 4> memory{};
  coll::store(type, memory, 0, value);
  return static_cast<float>(coll::load(type, memory, 0));
}

/// Training in one process: the gradients of the ranks are added in their order, in fp32.
Learner learn_alone(const LearnJob& job, const Data& data, train::Perceptron& network, LearnReference& out) {
  Learner learner(network.initial_weights(job.seed));
  std::vector<float> sum(network.parameters());
  std::vector<float> gradient(network.parameters());
  for (int step = 0; step < job.steps; ++step) {
    float loss = 0;
    for (std::size_t rank = 0; rank < index(job.gpus); ++rank) {
      std::ranges::fill(gradient, 0.0F);
      loss += network.learn(learner.weights, data.batch(step, rank), gradient);
      for (std::size_t i = 0; i < sum.size(); ++i) {
        const float sent = on_the_wire(job.type, static_cast<double>(gradient[i]));
        sum[i] = rank == 0 ? sent : sum[i] + sent;
      }
    }
    for (float& s : sum) s = on_the_wire(job.type, static_cast<double>(s));
    out.loss.push_back(loss / static_cast<float>(data.per_step()));
    learner.follow(sum, job.rate, data.per_step());
  }
  out.accuracy = accuracy(network, learner, data);
  return learner;
}

void compare(const std::vector<Learner>& ranks, const Learner& reference, LearnResult& result) {
  for (std::size_t i = 0; i < reference.weights.size(); ++i) {
    float least = ranks.front().weights[i];
    float most = least;
    for (const Learner& rank : ranks) {
      const float w = rank.weights[i];
      least = std::min(least, w);
      most = std::max(most, w);
      if (std::bit_cast<std::uint32_t>(w) != std::bit_cast<std::uint32_t>(reference.weights[i]))
        ++result.different_weights;
      result.largest_difference =
          std::max(result.largest_difference, std::fabs(static_cast<double>(w) - reference.weights[i]));
    }
    result.ranks_apart = std::max(result.ranks_apart, static_cast<double>(most) - least);
  }
}

/// The all-reduce of all gradients, with what auto chooses filled in; or why there is none.
sim::Result<PreparedJob> all_reduce_of(const LearnJob& job, std::size_t parameters) {
  CollectiveJob all_reduce;
  all_reduce.system = job.system;
  all_reduce.engine = job.method.engine;
  all_reduce.bytes = coll::size_of(job.type) * static_cast<std::int64_t>(parameters);
  all_reduce.type = job.type;
  all_reduce.gpus = job.gpus;
  all_reduce.check = true;
  all_reduce.burst = {.automatic = false, .bytes = {}};
  const std::vector<Choice> offers = offers_of(all_reduce, job.method.algorithm, job.protocol);
  all_reduce.algorithm = offers.empty() ? job.method.algorithm : offers.front().algorithm;
  all_reduce.protocol = job.protocol.value_or(coll::Protocol::kSimple);
  if (all_reduce.algorithm == nullptr) return sim::fail(why_no_offers(all_reduce, job.protocol));
  if (auto ok = check_request(all_reduce); !ok) return sim::fail(ok.error());
  const Choice choice = choose(all_reduce, offers);
  all_reduce.algorithm = choice.algorithm;
  all_reduce.protocol = choice.protocol;
  return prepare(all_reduce);
}

}  // namespace

sim::Result<LearnResult> run(const LearnJob& job, const KeepGoing& keep_going) {
  train::Perceptron network(job.hidden);
  auto prepared = all_reduce_of(job, network.parameters());
  if (!prepared) return sim::fail_as(std::move(prepared));
  const CollectiveJob& all_reduce = prepared->job();
  const Data data(job);
  SimulatedSum machine(*prepared);
  LearnResult result{.layers = network.layers(),
                     .parameters = network.parameters(),
                     .algorithm = all_reduce.algorithm,
                     .protocol = all_reduce.protocol,
                     .engine = machine.engine(),
                     .loss = {},
                     .all_reduce = {},
                     .reference = {}};
  std::vector<Learner> ranks(index(job.gpus), Learner(network.initial_weights(job.seed)));
  std::vector<std::vector<float>> gradients(ranks.size(), std::vector<float>(network.parameters()));
  for (int step = 0; step < job.steps; ++step) {
    if (keep_going && !keep_going(static_cast<double>(step) / job.steps)) return sim::interrupted();
    float loss = 0;
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      std::ranges::fill(gradients[r], 0.0F);
      loss += network.learn(ranks[r].weights, data.batch(step, r), gradients[r]);
    }
    result.loss.push_back(loss / static_cast<float>(data.per_step()));
    if (!std::isfinite(loss)) {
      return sim::fail(
          fmt::format("in step {} the loss is no number any more: weights overflow; take a smaller --rate",
                      step),
          "--rate");
    }
    auto summed = machine.add_up(gradients);
    if (!summed) return sim::fail_as(std::move(summed));
    result.all_reduce += summed->time;
    result.wrong += summed->wrong;
    for (std::size_t r = 0; r < ranks.size(); ++r) ranks[r].follow(gradients[r], job.rate, data.per_step());
  }
  result.all_reduce = result.all_reduce / job.steps;
  result.accuracy = accuracy(network, ranks.front(), data);
  compare(ranks, learn_alone(job, data, network, result.reference), result);
  return result;
}

}  // namespace infold::study
