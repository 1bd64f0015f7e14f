// The reduction unit of one port of a switch: contributions come in, sums go out. Parameters and inputs are named as
// in YAML (inc.*); docs/rtl.md describes the pipeline cycle by cycle.
module reduction_unit #(
    parameter int TABLE_BYTES = 4096,    // inc.table_bytes
    parameter int RESULT_BUFFER = 4096,  // inc.result_buffer
    parameter int PAYLOAD = 128,         // inc.payload
    parameter int BEAT = 16,             // bytes per cycle: inc.alu_rate / clock
    parameter bit ACCUMULATE = 0,        // inc.accumulate: 0 fp32, 1 wire
    parameter int PORTS = 16,            // of the switch
    parameter int BUFFERS = 16,          // packets in the input buffer
    parameter int CREDITS = 4,           // bits of a counter of credits
    localparam int ENTRIES = TABLE_BYTES / PAYLOAD,
    localparam int RESULTS = RESULT_BUFFER / PAYLOAD,
    localparam int SLOTS = ENTRIES + RESULTS,
    localparam int BEATS = PAYLOAD / BEAT,
    localparam int ID = $clog2(BUFFERS),
    localparam int SLOT = $clog2(SLOTS)
) (
    input  logic                     clk,
    input  logic                     rst,
    // Registers that software sets before anything arrives.
    input  table_full_t              table_full,       // inc.table_full: 0 stall, 1 bypass, 2 evict
    input  logic [$clog2(ENTRIES):0] table_entries,    // inc.table_entries
    input  logic [$clog2(RESULTS):0] results_at_most,  // inc.result_buffer, in packets, if less is to be used
    input  logic [31:0]              patience,         // inc.patience, in cycles
    input  logic [CREDITS-1:0]       credits_at_reset,
    // Packets from the crossbar.
    input  logic                     in_valid,
    output logic                     in_ready,
    input  header_t                  in_header,
    input  logic [PORTS-1:0]         in_targets,
    input  logic [8*BEAT-1:0]        in_data,
    input  logic                     in_last,
    // A home GPU asks for what is left of a block; answered by `reminder_done`.
    input  logic                     reminder,
    input  key_t                     reminder_key,
    output logic                     reminder_done,
    // Packets to the outputs of the switch: the same beat to every port of out_ports.
    output logic                     out_valid,
    output logic                     out_first,
    output logic                     out_last,
    output logic                     out_final,
    output logic [PORTS-1:0]         out_ports,
    output out_header_t              out_header,
    output logic [8*BEAT-1:0]        out_data,
    input  logic [PORTS-1:0]         credit,
    // Places in the input buffer that have become free, by the port of the packet; two in a cycle are possible.
    output logic                     release_added,
    output logic [7:0]               release_added_from,
    output logic                     release_passed,
    output logic [7:0]               release_passed_from,
    // Acknowledgements for GPUs: of a contribution that is added, and of one that is passed on.
    output logic                     ack_added,
    output logic [7:0]               ack_added_to,
    output key_t                     ack_added_key,
    output logic                     ack_passed,
    output logic [7:0]               ack_passed_to,
    output key_t                     ack_passed_key,
    // Counters, named as in the results of the simulator.
    output logic [31:0]              contributions,
    output logic [31:0]              results,
    output logic [31:0]              stalls,
    output logic [31:0]              evictions,
    output logic [31:0]              bypasses,
    output logic [31:0]              table_peak,
    output logic [$clog2(ENTRIES):0] table_used,
    // What is acted on in this cycle, for test benches.
    output logic                     acts_on_arrival,
    output logic                     acts_on_sum,
    output logic                     acts_on_left,
    output logic                     acts_on_reminder,
    output logic                     adds,
    output logic                     adds_first,
    output key_t                     adds_key,
    output logic [12:0]              adds_bytes,
    output logic                     no_result_room
);
  localparam int NR = BEATS > 1 ? $clog2(BEATS) : 1;
  localparam int AT = $clog2(SLOTS * BEATS);
  localparam int WIDE = ACCUMULATE == ACCUMULATE_FP32 ? 16 * BEAT : 8 * BEAT;

  logic arrived, summed, left, alu_push, alu_first, alu_last, alu_bf16;
  logic [ID-1:0] arrived_id, id, alu_id, done_id, send_id, sent_id;
  header_t header;
  logic [PORTS-1:0] targets, job_targets;
  logic [SLOT-1:0] alu_slot, job_slot, summed_slot, left_slot, read_slot, write_slot, send_slot, sent_slot;
  logic [NR-1:0] read_beat, write_beat, send_beat;
  logic job_push, job_is_sum, job_waits, tag_ack, done, done_last, done_ack, write, add_first, add_bf16;
  logic counts_result, counts_stall, counts_eviction, counts_bypass;
  out_header_t job_header, sent_header;
  logic [8*BEAT-1:0] alu_values, sent_values, sent_data;
  logic [WIDE-1:0] sum, result, sent_sum;
  logic sent, sent_is_sum, sent_first, sent_last, sent_final;
  logic [PORTS-1:0] sent_ports;
  logic [7:0] done_from;
  key_t done_key, arrived_key;

  input_buffer #(.BEAT(BEAT), .BEATS(BEATS), .BUFFERS(BUFFERS), .PORTS(PORTS)) buffer (
      .clk, .rst, .in_valid, .in_ready, .in_header, .in_targets, .in_data, .in_last,
      .any(arrived), .head(arrived_id), .head_key(arrived_key), .pop(acts_on_arrival), .id, .header, .targets,
      .alu_id, .alu_beat(read_beat), .alu_data(alu_values),
      .send_id, .send_beat, .send_data(sent_values),
      .free_0(done), .free_id_0(done_id),
      .free_1(sent && sent_last && sent_final && !sent_is_sum), .free_id_1(sent_id));

  tag_stage #(.BUFFERS(BUFFERS), .ENTRIES(ENTRIES), .RESULTS(RESULTS), .PORTS(PORTS)) tags (
      .clk, .rst, .table_full(table_full), .table_entries, .results_at_most, .patience,
      .arrived, .arrived_id, .arrived_key, .take_arrived(acts_on_arrival), .id, .header, .targets,
      .reminder, .reminder_key, .take_reminder(reminder_done), .begin_reminder(acts_on_reminder), .no_result_room,
      .summed, .summed_slot, .take_summed(acts_on_sum), .left, .left_slot, .take_left(acts_on_left),
      .alu_push, .alu_slot, .alu_first, .alu_last, .alu_bf16,
      .job_push, .job_is_sum, .job_waits, .job_slot, .job_targets, .job_header, .ack(tag_ack),
      .counts_result, .counts_stall, .counts_eviction, .counts_bypass, .used(table_used));

  alu_queue #(.BEAT(BEAT), .BEATS(BEATS), .BUFFERS(BUFFERS), .SLOT(SLOT)) adding (
      .clk, .rst, .push(alu_push), .new_id(id), .new_slot(alu_slot), .new_first(alu_first),
      .new_last(alu_last), .new_bf16(alu_bf16), .new_bytes(header.bytes),
      .new_ack(header.kind == KIND_REDUCE_WRITE && header.from_gpu), .new_from(header.from),
      .new_key({header.region, header.offset}),
      .read_id(alu_id), .read_slot, .read_beat, .add_first, .add_bf16, .write, .write_slot, .write_beat,
      .done, .done_last, .done_id, .done_ack, .done_from, .done_key);

  reduction_alu #(.BEAT(BEAT), .ACCUMULATE(ACCUMULATE)) alu (
      .clk, .first(add_first), .bf16(add_bf16), .sum, .values(alu_values), .result);

  // The partial sums of the table and the sums of the result buffer.
  value_ram #(.WIDTH(WIDE), .DEPTH(SLOTS * BEATS)) sums (
      .clk, .write, .write_at(AT'(write_slot) * AT'(BEATS) + AT'(write_beat)), .write_data(result),
      .read_at_0(AT'(read_slot) * AT'(BEATS) + AT'(read_beat)), .read_data_0(sum),
      .read_at_1(AT'(send_slot) * AT'(BEATS) + AT'(send_beat)), .read_data_1(sent_sum));

  small_fifo #(.WIDTH(SLOT), .DEPTH(ENTRIES)) complete_sums (
      .clk, .rst, .push(done && done_last), .data(write_slot), .pop(acts_on_sum), .any(summed), .head(summed_slot));
  small_fifo #(.WIDTH(SLOT), .DEPTH(RESULTS)) sums_that_left (
      .clk, .rst, .push(sent && sent_last && sent_final && sent_is_sum), .data(sent_slot), .pop(acts_on_left),
      .any(left), .head(left_slot));

  send_queue #(.BEATS(BEATS), .BEAT(BEAT), .BUFFERS(BUFFERS), .RESULTS(RESULTS), .SLOT(SLOT), .PORTS(PORTS),
               .CREDITS(CREDITS)) sending (
      .clk, .rst, .credits_at_reset, .credit, .push(job_push), .new_is_sum(job_is_sum), .new_waits(job_waits),
      .new_slot(job_slot), .new_id(id), .new_targets(job_targets), .new_header(job_header),
      .alu_push, .alu_done(done), .read_slot(send_slot), .read_id(send_id), .read_beat(send_beat),
      .out_valid(sent), .out_is_sum(sent_is_sum), .out_first(sent_first), .out_last(sent_last),
      .out_final(sent_final), .out_ports(sent_ports), .out_header(sent_header), .out_slot(sent_slot),
      .out_id(sent_id));

  // What leaves: values of packets as they are, sums rounded to the type of the wire.
  if (ACCUMULATE == ACCUMULATE_FP32) begin : g_round
    logic [8*BEAT-1:0] as_bf16;
    for (genvar i = 0; i < BEAT / 2; i++) begin : g_lane
      to_bf16 round (.x(sent_sum[32*i+:32]), .y(as_bf16[16*i+:16]));
    end
    assign sent_data = !sent_is_sum ? sent_values : sent_header.bf16 ? as_bf16 : sent_sum[8*BEAT-1:0];
  end else begin : g_keep
    assign sent_data = sent_is_sum ? sent_sum : sent_values;
  end

  assign release_added = done;
  assign release_added_from = done_from;
  assign ack_added = done && done_ack;
  assign ack_added_to = done_from;
  assign ack_added_key = done_key;
  assign adds = alu_push;
  assign adds_first = alu_first;
  assign adds_key = {header.region, header.offset};
  assign adds_bytes = header.bytes;

  always_ff @(posedge clk) begin
    out_valid <= sent && !rst;
    out_first <= sent_first;
    out_last <= sent_last;
    out_final <= sent_final;
    out_ports <= sent_ports;
    out_header <= sent_header;
    out_data <= sent_data;
    release_passed <= sent && sent_last && sent_final && !sent_is_sum && !rst;
    release_passed_from <= sent_header.from;
    ack_passed <= tag_ack && !rst;
    ack_passed_to <= header.from;
    ack_passed_key <= {header.region, header.offset};
    contributions <= contributions + 32'(alu_push);
    results <= results + 32'(counts_result);
    stalls <= stalls + 32'(counts_stall);
    evictions <= evictions + 32'(counts_eviction);
    bypasses <= bypasses + 32'(counts_bypass);
    if (32'(table_used) > table_peak) table_peak <= 32'(table_used);
    if (rst) begin
      contributions <= '0;
      results <= '0;
      stalls <= '0;
      evictions <= '0;
      bypasses <= '0;
      table_peak <= '0;
    end
  end
endmodule
