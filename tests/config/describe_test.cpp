// What `infold describe` knows, and that a dumped spec loads as itself.
#include "config/yaml/describe.h"

#include <rapidcheck/gtest.h>

#include <algorithm>
#include <limits>
#include <type_traits>

#include "config/catalog.h"
#include "config/loader.h"
#include "config/yaml/dump.h"
#include "config/yaml/overrides.h"
#include "helpers.h"
#include "net/topology/topology_parameters.h"
#include "support/results.h"

namespace infold::config {
namespace {

using ::testing::ElementsAre;

const Parameter* find(const std::vector<Parameter>& all, std::string_view path) {
  const auto it = std::find_if(all.begin(), all.end(), [&](const Parameter& p) { return p.path == path; });
  return it == all.end() ? nullptr : &*it;
}

TEST(Describe, KnowsTheComponents) {
  std::vector<std::string> names;
  for (const Component& c : components()) {
    names.push_back(c.name);
    EXPECT_FALSE(c.about.empty()) << c.name;
  }
  EXPECT_THAT(names, ElementsAre("system", "gpu", "sm", "l2", "hbm", "copy", "ace", "engine", "fabric",
                                 "link", "packet", "switch", "inc", "coll", "ll", "ll128", "nvls", "p2p",
                                 "experts", "fault"));
}

TEST(Describe, AComponentHasItsOwnParametersAndParts) {
  const auto fabric = find_component("fabric");
  ASSERT_TRUE(fabric);
  EXPECT_EQ(fabric->path, "fabric");
  EXPECT_THAT(fabric->components, ElementsAre("link", "packet", "switch"));
  EXPECT_NE(find(fabric->parameters, "fabric.planes"), nullptr);
  EXPECT_EQ(find(fabric->parameters, "fabric.link.rate"), nullptr);
  EXPECT_TRUE(find_component("gpu.hbm"));
  EXPECT_FALSE(find_component("hbmm"));
  EXPECT_FALSE(find_component(""));
  EXPECT_EQ(suggestion_for_component("hbmm"), " (did you mean 'hbm'?)");
}

TEST(Describe, AParameterHasTypeValueRangeAndMeaning) {
  const auto all = parameters(study::SystemSpec{});
  const Parameter* latency = find(all, "fabric.link.latency");
  ASSERT_NE(latency, nullptr);
  EXPECT_EQ(latency->type, "time");
  EXPECT_EQ(latency->value, "150 ns");
  EXPECT_EQ(latency->min, "0 ns");
  EXPECT_EQ(latency->max, "1 ms");
  EXPECT_FALSE(latency->meaning.empty());
  const Parameter* topology = find(all, "fabric.topology");
  ASSERT_NE(topology, nullptr);
  EXPECT_EQ(topology->value, "switch-planes");
  EXPECT_EQ(topology->choices.size(), net::kTopologyNames.size());
  const Parameter* links = find(all, "fabric.links_per_plane");
  ASSERT_NE(links, nullptr);
  EXPECT_EQ(links->value, "[1]");
}

TEST(Describe, EveryPathCanBeSetToTheValueShown) {
  for (const Parameter& p : parameters(study::SystemSpec{})) {
    study::SystemSpec spec;
    EXPECT_EQ(why(apply_override(spec, p.path + "=" + p.value)), "") << p.path;
  }
}

/// Whether a text begins with the name, alone or in a list: "full-mesh, ring: ...", or "...; ring: ...".
bool speaks_of(std::string_view meaning, std::string_view topology) {
  for (std::size_t at = meaning.find(topology); at != std::string_view::npos;
       at = meaning.find(topology, at + 1)) {
    const std::string_view rest = meaning.substr(at + topology.size());
    const bool begins = at == 0 || meaning[at - 1] == ' ';
    if (begins && (rest.starts_with(": ") || rest.starts_with(", "))) return true;
  }
  return false;
}

TEST(Describe, WhatAParameterIsSaidToShapeItShapes) {
  for (const Parameter& p : find_component("fabric").value_or(Component{}).parameters) {
    const std::string_view name = std::string_view(p.path).substr(p.path.rfind('.') + 1);
    const auto all = net::names_of(net::Topology{});
    const bool special =
        std::ranges::any_of(all, [&](const auto& n) { return speaks_of(p.meaning, n.name); });
    for (const auto& n : all)
      EXPECT_EQ(net::uses(n.value, name), !special || speaks_of(p.meaning, n.name))
          << p.path << " " << n.name;
  }
  EXPECT_FALSE(net::uses(net::Topology::kRing, "planes"));
}

TEST(Describe, AGpusPathsAreThoseOfTheSystem) {
  const auto all = parameters(gpu::GpuSpec{});
  EXPECT_NE(find(all, "gpu.hbm.bandwidth"), nullptr);
}

/// Gives every parameter some value of its range.
class Randomiser {
 public:
  template <class T>
  void field(std::string_view, T& value, const sim::Range<T>& range, std::string_view) {
    if constexpr (std::is_same_v<T, int>) {
      value = between(range.min, range.max);
    } else if constexpr (std::is_same_v<T, sim::Time>) {
      value = sim::Time::ps(between(range.min.count_ps(), range.max.count_ps()));
    } else if constexpr (std::is_same_v<T, sim::Bytes>) {
      value = sim::Bytes{between(range.min.count(), range.max.count())};
    } else if constexpr (std::is_same_v<T, sim::Bandwidth>) {
      value =
          sim::Bandwidth::bytes_per_s(between(range.min.count_bytes_per_s(), range.max.count_bytes_per_s()));
    } else {
      value = sim::Frequency::hz(between(range.min.count_hz(), range.max.count_hz()));
    }
  }
  void field(std::string_view, std::vector<int>& value, const sim::Range<int>& range, std::string_view) {
    value.assign(*rc::gen::inRange<std::size_t>(0, 5), 0);
    for (int& v : value) v = between(range.min, range.max);
  }
  template <sim::NamedEnum E>
  void field(std::string_view, E& value, std::string_view) {
    const auto names = names_of(value);
    value = names[*rc::gen::inRange<std::size_t>(0, names.size())].value;
  }
  void field(std::string_view, bool& value, std::string_view) { value = *rc::gen::arbitrary<bool>(); }
  void field(std::string_view, std::string& value, std::string_view) { value = words(); }
  template <class Spec>
  void group(std::string_view, Spec& spec) {
    if constexpr (std::is_same_v<Spec, gpu::GpuSpec>) head(spec);
    spec.visit(*this);
  }
  template <class Spec>
  void head(Spec& spec) {
    spec.name =
        *rc::gen::nonEmpty(rc::gen::container<std::string>(rc::gen::elementOf(std::string("abz09.-"))));
    spec.name.resize(std::min<std::size_t>(spec.name.size(), 60));
    spec.summary = words();
    spec.sources = {words(), words()};
  }

 private:
  template <class N>
  static N between(N low, N high) {
    return *rc::gen::inRange<N>(low, high == std::numeric_limits<N>::max() ? high : high + 1);
  }
  static std::string words() {
    std::string text =
        *rc::gen::container<std::string>(rc::gen::elementOf(std::string("ab :#'\"\\-[]{}&*!|>%@`,?~ ")));
    text.resize(std::min<std::size_t>(text.size(), 200));
    return text + *rc::gen::elementOf(std::vector<std::string>{"", "\u00e9", "null", "~", " "});
  }
};

template <class Spec>
sim::Result<OpenFile> opened(const Spec& spec) {
  return open_file(Source{"dump.yaml", "dump", "dump", {}, false, to_yaml(spec)});
}

RC_GTEST_PROP(DumpProperty, ASystemLoadsAsItWas, ()) {
  study::SystemSpec spec;
  Randomiser randomiser;
  randomiser.head(spec);
  spec.visit(randomiser);
  sim::Result<OpenFile> file = opened(spec);
  RC_ASSERT(error_of(file) == std::string());
  const sim::Result<study::SystemSpec> loaded = Loader({}).system(file.value());
  RC_ASSERT(error_of(loaded) == std::string());
  const auto& again = loaded.value();
  RC_ASSERT(to_yaml(again) == to_yaml(spec));
  RC_ASSERT(again.summary == spec.summary);
  RC_ASSERT(again.machine.gpu.sources == spec.machine.gpu.sources);
  RC_ASSERT(again.machine.gpu.hbm.capacity == spec.machine.gpu.hbm.capacity);
}

TEST(Dump, EveryPresetLoadsAsItWas) {
  for (const PresetInfo& info : list_systems()) {
    const auto spec = load_system(info.name, {}).value();
    sim::Result<OpenFile> file = opened(spec);
    ASSERT_EQ(error_of(file), "");
    const sim::Result<study::SystemSpec> again = Loader({}).system(file.value());
    ASSERT_EQ(error_of(again), "");
    EXPECT_EQ(to_yaml(again.value()), to_yaml(spec));
  }
}

TEST(Dump, AGpuLoadsAsItWas) {
  const auto spec = load_gpu("h200").value();
  sim::Result<OpenFile> file = opened(spec);
  ASSERT_EQ(error_of(file), "");
  const sim::Result<gpu::GpuSpec> again = Loader({}).gpu(file.value());
  ASSERT_EQ(error_of(again), "");
  EXPECT_EQ(to_yaml(again.value()), to_yaml(spec));
}

}  // namespace
}  // namespace infold::config
