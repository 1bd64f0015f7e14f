// Writes the tracks first, then every event in the order of time, each as a packet of its own.
#include "report/output/perfetto_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include "perfetto.pb.h"

namespace infold::report {

namespace {

using sim::TraceRecorder;

std::uint64_t nanoseconds(sim::Time t) {
  return static_cast<std::uint64_t>(t.count_ps() / 1000);
}

/// An event before it is written: what it is, and where the rest is in the recorder of its run.
struct Event {
  std::uint64_t at;  // ns
  perfetto::TrackEvent::Type type;
  std::uint32_t run;
  std::uint32_t index;  // index of the span or sample
};

class Writer {
 public:
  explicit Writer(const TraceFile& file) : file_(file) {}

  std::string write() {
    begin_sequence();
    const std::uint64_t about = add_process("infold");
    for (const TracedRun& r : file_.runs) add_tracks(r);
    say_what_it_is(about);
    collect();
    for (const Event& e : events_) write_event(e);
    return std::move(out_);
  }

 private:
  static constexpr std::uint32_t kSequence = 1;
  static constexpr std::uint32_t kStateCleared = 1;  // flags of a sequence
  static constexpr std::uint32_t kNeedsState = 2;

  perfetto::Packet& next() {
    one_.Clear();
    perfetto::Packet& p = *one_.add_packet();
    p.set_sequence_id(kSequence);
    p.set_sequence_flags(kNeedsState);
    return p;
  }
  /// A trace is the concatenation of the bytes of its packets.
  void put() { one_.AppendToString(&out_); }

  void begin_sequence() {
    next().set_sequence_flags(kStateCleared);
    put();
  }

  std::uint64_t add_process(const std::string& name) {
    const auto [place, added] = processes_.try_emplace(name, uuids_ + 1);
    if (!added) return place->second;
    perfetto::TrackDescriptor& t = *next().mutable_track_descriptor();
    t.set_uuid(++uuids_);
    t.mutable_process()->set_pid(static_cast<std::int32_t>(processes_.size()));
    t.mutable_process()->set_process_name(name);
    t.set_child_ordering(perfetto::TrackDescriptor::EXPLICIT);
    put();
    return uuids_;
  }

  /// `counter` is null for spans.
  std::uint64_t add_track(std::uint64_t process, const std::string& label,
                          const TraceRecorder::Track* counter) {
    const auto [place, added] = tracks_.try_emplace({process, label}, uuids_ + 1);
    if (!added) return place->second;
    perfetto::TrackDescriptor& t = *next().mutable_track_descriptor();
    t.set_uuid(++uuids_);
    t.set_parent_uuid(process);
    t.set_name(label);
    t.set_sibling_order_rank(static_cast<std::int32_t>(tracks_.size()));
    if (counter != nullptr) {
      const bool bytes = counter->unit == "bytes";
      t.mutable_counter()->set_unit(bytes ? perfetto::CounterDescriptor::SIZE_BYTES
                                          : perfetto::CounterDescriptor::COUNT);
      if (!bytes) t.mutable_counter()->set_unit_name(counter->unit);
    }
    put();
    return uuids_;
  }

  void add_tracks(const TracedRun& run) {
    std::vector<std::uint64_t> ids;
    for (const TraceRecorder::Track& t : run.trace->tracks()) {
      if (t.kind == TraceRecorder::Kind::kGroup) {
        ids.push_back(add_process(run.place.empty() ? t.label : fmt::format("{}, {}", t.label, run.place)));
      } else {
        ids.push_back(
            add_track(ids[t.parent], t.label, t.kind == TraceRecorder::Kind::kCounter ? &t : nullptr));
      }
    }
    track_ids_.push_back(std::move(ids));
  }

  std::uint64_t name_id(const std::string& text, perfetto::Packet& p) {
    const auto [place, added] = names_.try_emplace(text, names_.size() + 1);
    if (added) {
      perfetto::EventName& name = *p.mutable_interned_data()->add_event_names();
      name.set_iid(place->second);
      name.set_name(text);
    }
    return place->second;
  }

  static void annotate(perfetto::TrackEvent& e, const char* name, const std::string& text) {
    perfetto::DebugAnnotation& a = *e.add_debug_annotations();
    a.set_name(name);
    a.set_string_value(text);
  }
  static void annotate(perfetto::TrackEvent& e, const char* name, std::uint64_t count) {
    perfetto::DebugAnnotation& a = *e.add_debug_annotations();
    a.set_name(name);
    a.set_uint_value(count);
  }

  /// States where each run lies on the timeline, how it was made, and what was left out of it.
  void say_what_it_is(std::uint64_t process) {
    std::vector<std::pair<sim::Time, std::uint64_t>> lanes;  // free from, track
    for (const TracedRun& r : file_.runs) {
      const sim::Time end = r.begins + end_of(*r.trace);
      auto lane = std::ranges::find_if(lanes, [&](const auto& l) { return l.first <= r.begins; });
      if (lane == lanes.end()) {
        const std::string label = lanes.empty() ? "runs" : fmt::format("runs ({})", lanes.size() + 1);
        const std::uint64_t id = add_track(process, label, nullptr);
        lane = lanes.insert(lanes.end(), {sim::Time{}, id});
      }
      lane->first = end;
      perfetto::Packet& p = next();
      p.set_timestamp(nanoseconds(r.begins));
      perfetto::TrackEvent& e = *p.mutable_track_event();
      e.set_type(perfetto::TrackEvent::SLICE_BEGIN);
      e.set_track_uuid(lane->second);
      e.set_name_iid(name_id(r.label, p));
      const sim::TraceSpec& spec = r.trace->spec();
      annotate(e, "infold", file_.version);
      annotate(e, "command", file_.typed);
      annotate(e, "sampling interval",
               fmt::format("{} ns", static_cast<double>(spec.interval.count_ps()) / 1000));
      annotate(e, "spans at most", spec.most_spans);
      annotate(e, "spans left out", r.trace->dropped().spans);
      annotate(e, "steps of collectives at most", spec.most_details);
      annotate(e, "steps of collectives left out", r.trace->dropped().details);
      annotate(e, "samples at most", spec.most_samples);
      put();
      perfetto::Packet& ends = next();
      ends.set_timestamp(nanoseconds(end));
      ends.mutable_track_event()->set_type(perfetto::TrackEvent::SLICE_END);
      ends.mutable_track_event()->set_track_uuid(lane->second);
      put();
    }
  }

  void collect() {
    for (std::uint32_t r = 0; r < file_.runs.size(); ++r) {
      const TracedRun& run = file_.runs[r];
      number_flows(r);
      collect_spans(r, run);
      const auto& samples = run.trace->samples();
      for (std::uint32_t i = 0; i < samples.size(); ++i)
        events_.push_back({nanoseconds(run.begins + samples[i].at), perfetto::TrackEvent::COUNTER, r, i});
    }
    std::ranges::stable_sort(events_, {}, &Event::at);
  }

  /// Collects begins and ends of a track in the order in which a reader must see them: a span inside another
  /// begins after it and ends before it, even if rounding makes their times the same.
  void collect_spans(std::uint32_t r, const TracedRun& run) {
    const auto& spans = run.trace->spans();
    std::vector<std::uint32_t> order(spans.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::stable_sort(order, [&](std::uint32_t a, std::uint32_t b) {
      const auto& x = spans[a];
      const auto& y = spans[b];
      if (x.track != y.track) return x.track < y.track;
      return x.start != y.start ? x.start < y.start : x.end > y.end;
    });
    std::vector<std::uint32_t> open;
    const auto close = [&] {
      const std::uint32_t i = open.back();
      open.pop_back();
      events_.push_back({nanoseconds(run.begins + spans[i].end), perfetto::TrackEvent::SLICE_END, r, i});
    };
    for (const std::uint32_t i : order) {
      while (!open.empty() &&
             (spans[open.back()].track != spans[i].track || spans[open.back()].end <= spans[i].start))
        close();
      events_.push_back({nanoseconds(run.begins + spans[i].start), perfetto::TrackEvent::SLICE_BEGIN, r, i});
      open.push_back(i);
    }
    while (!open.empty()) close();
  }

  /// Every arrow is a flow of its own; those of a span are consecutive.
  struct Flows {
    std::vector<std::vector<std::uint64_t>> from;  // by span
    std::vector<std::vector<std::uint64_t>> to;
  };
  void number_flows(std::uint32_t r) {
    const TraceRecorder& trace = *file_.runs[r].trace;
    Flows f{std::vector<std::vector<std::uint64_t>>(trace.spans().size()),
            std::vector<std::vector<std::uint64_t>>(trace.spans().size())};
    for (const TraceRecorder::Arrow& a : trace.arrows()) {
      f.from[a.from].push_back(++flow_ids_);
      f.to[a.to].push_back(flow_ids_);
    }
    flows_.push_back(std::move(f));
  }

  void write_event(const Event& event) {
    const TraceRecorder& trace = *file_.runs[event.run].trace;
    perfetto::Packet& p = next();
    p.set_timestamp(event.at);
    perfetto::TrackEvent& e = *p.mutable_track_event();
    e.set_type(event.type);
    if (event.type == perfetto::TrackEvent::COUNTER) {
      const TraceRecorder::Sample& s = trace.samples()[event.index];
      e.set_track_uuid(track_ids_[event.run][s.track]);
      e.set_double_counter_value(s.value);
    } else {
      const TraceRecorder::Span& s = trace.spans()[event.index];
      e.set_track_uuid(track_ids_[event.run][s.track]);
      if (event.type == perfetto::TrackEvent::SLICE_BEGIN) {
        e.set_name_iid(name_id(trace.names()[s.name], p));
        for (const std::uint64_t id : flows_[event.run].from[event.index]) e.add_flow_ids(id);
        for (const std::uint64_t id : flows_[event.run].to[event.index]) e.add_terminating_flow_ids(id);
      }
    }
    put();
  }

  const TraceFile& file_;
  std::string out_;
  perfetto::Trace one_;
  std::uint64_t uuids_ = 0;
  std::uint64_t flow_ids_ = 0;
  std::map<std::string, std::uint64_t> processes_;
  std::map<std::pair<std::uint64_t, std::string>, std::uint64_t> tracks_;
  std::map<std::string, std::uint64_t> names_;
  std::vector<std::vector<std::uint64_t>> track_ids_;  // by run and track
  std::vector<Flows> flows_;                           // by run
  std::vector<Event> events_;
};

}  // namespace

sim::Time end_of(const sim::TraceRecorder& trace) {
  sim::Time end;
  for (const auto& s : trace.spans()) end = sim::max(end, s.end);
  for (const auto& s : trace.samples()) end = sim::max(end, s.at);
  return end;
}

std::string perfetto_trace(const TraceFile& file) {
  return Writer(file).write();
}

}  // namespace infold::report
