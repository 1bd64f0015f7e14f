// Decides what happens to every packet: which entry it joins or opens, whether it waits, is passed on or goes to the
// home GPU, and what happens when a sum is complete, when room appears, and when patience ends. One action per cycle;
// actions that belong together (serving those that wait, a reminder) run to their end before anything else.
module tag_stage #(
    parameter int BUFFERS = 16,
    parameter int ENTRIES = 32,
    parameter int RESULTS = 32,
    parameter int PORTS = 16,
    localparam int ID = $clog2(BUFFERS),
    localparam int SLOTS = ENTRIES + RESULTS,
    localparam int SLOT = $clog2(SLOTS)
) (
    input  logic                     clk,
    input  logic                     rst,
    input  table_full_t              table_full,
    input  logic [$clog2(ENTRIES):0] table_entries,
    input  logic [$clog2(RESULTS):0] results_at_most,  // places of the result buffer that may be used
    input  logic [31:0]              patience,         // cycles
    // Packets that have arrived, and the header of the one that is looked at.
    input  logic                     arrived,
    input  logic [ID-1:0]            arrived_id,
    input  key_t                     arrived_key,
    output logic                     take_arrived,
    output logic [ID-1:0]            id,
    input  header_t                  header,
    input  logic [PORTS-1:0]         targets,
    // A reminder of a block.
    input  logic                     reminder,
    input  key_t                     reminder_key,
    output logic                     begin_reminder,
    output logic                     take_reminder,
    // Sums that are complete, and results whose last copy has left.
    input  logic                     summed,
    input  logic [SLOT-1:0]          summed_slot,
    output logic                     take_summed,
    input  logic                     left,
    input  logic [SLOT-1:0]          left_slot,
    output logic                     take_left,
    // To the ALUs.
    output logic                     alu_push,
    output logic [SLOT-1:0]          alu_slot,
    output logic                     alu_first,
    output logic                     alu_last,
    output logic                     alu_bf16,
    // To the sender.
    output logic                     job_push,
    output logic                     job_is_sum,
    output logic                     job_waits,
    output logic [SLOT-1:0]          job_slot,
    output logic [PORTS-1:0]         job_targets,
    output out_header_t              job_header,
    output logic                     ack,        // for a contribution that is passed on
    // Counted.
    output logic                     counts_result,
    output logic                     counts_stall,
    output logic                     counts_eviction,
    output logic                     counts_bypass,
    output logic                     no_result_room,   // a complete sum has to wait
    output logic [$clog2(ENTRIES):0] used
);
  typedef enum logic [2:0] {
    IDLE, OPEN_ARRIVED, EMIT_COMPLETE, SERVE, SERVE_GROUP, REMIND_WAITING, REMIND_ENTRY, END_PATIENCE
  } state_t;
  state_t state, next_state;

  // The table, and the packets that wait.
  key_t find_key, group_key;
  logic hit, victim, room, by_slot, by_age, add, remove, update;
  /* verilator lint_off UNUSEDSIGNAL */
  entry_t entry;  // an entry that is looked at is there, and whether it is pushed does not matter
  /* verilator lint_on UNUSEDSIGNAL */
  entry_t new_entry;
  logic [SLOT-1:0] find_slot, entry_slot, free_slot;
  logic [PORTS-1:0] entry_targets, home, entry_home, new_targets;
  logic [9:0] first;
  logic [10:0] count;
  logic complete;
  logic waiting, waiting_push, waiting_of_key, waiting_pushed, waiting_aged, key_is_aged;
  logic waiting_by_key, waiting_by_age, wait_add, wait_remove, age_all, look_at_waiting;
  logic [ID-1:0] waiting_id;

  reduction_table #(.ENTRIES(ENTRIES), .SLOT(SLOT), .PORTS(PORTS)) sums (
      .clk, .rst, .table_entries, .find_key, .find_slot, .hit, .victim, .room, .used, .by_slot, .by_age,
      .entry, .slot(entry_slot), .targets(entry_targets),
      .add, .new_entry, .new_slot(free_slot), .new_targets, .remove, .update, .first, .count, .complete,
      .bytes(header.bytes));
  waiting_list #(.BUFFERS(BUFFERS), .ID(ID)) waiters (
      .clk, .rst, .find_key, .any(waiting), .any_push(waiting_push), .any_of_key(waiting_of_key), .key_is_aged,
      .any_pushed_of_key(waiting_pushed), .any_aged(waiting_aged),
      .by_key(waiting_by_key), .by_age(waiting_by_age), .id(waiting_id),
      .add(wait_add), .new_id(id), .new_key(header_key), .new_push(header.kind == KIND_REDUCE_WRITE),
      .new_aged(!timer_runs || key_is_aged), .remove(wait_remove), .age_all);

  // Slots: of entries and of results alike, so that a sum that is complete changes hands and not places.
  logic [SLOTS-1:0] slot_taken, slot_free;
  logic [$clog2(RESULTS):0] results;
  logic result_room, slot_give_back;
  always_comb begin
    slot_free = ~slot_taken & (slot_taken + SLOTS'(1));
    free_slot = '0;
    for (int i = 0; i < SLOTS; i++) free_slot |= SLOT'(i) & {SLOT{slot_free[i]}};
  end
  assign result_room = results == '0 || results < results_at_most;

  // Complete sums that wait for room in the result buffer.
  logic complete_any, complete_push, complete_pop;
  logic [SLOT-1:0] complete_head;
  small_fifo #(.WIDTH(SLOT), .DEPTH(ENTRIES)) complete_sums (
      .clk, .rst, .push(complete_push), .data(summed_slot), .pop(complete_pop), .any(complete_any),
      .head(complete_head));

  // inc.patience
  logic timer_runs, timer_ends, timer_start, timer_stop;
  logic [31:0] timer;
  assign timer_ends = timer_runs && timer == '0;

  key_t header_key;
  logic is_push, is_request;
  assign header_key = {header.region, header.offset};
  assign is_push = header.kind == KIND_REDUCE_WRITE;
  assign is_request = header.kind == KIND_LOAD_REDUCE;
  assign home = PORTS'(1) << header.home;
  assign entry_home = PORTS'(1) << entry.home;

  assign waiting_by_key = state == SERVE_GROUP || state == REMIND_WAITING;
  assign waiting_by_age = state == END_PATIENCE;
  assign look_at_waiting = state == SERVE || waiting_by_key || waiting_by_age;
  assign id = look_at_waiting ? waiting_id : arrived_id;
  assign find_key = state == IDLE ? arrived_key : group_key;
  assign find_slot = state == EMIT_COMPLETE ? complete_head : summed_slot;

  // The one action of this cycle.
  logic open, take, emit, evict, pass_home, pass_on, ask, stall;
  always_comb begin
    next_state = state;
    {open, take, emit, evict, pass_home, pass_on, ask, stall} = '0;
    {take_arrived, take_reminder, take_summed, take_left} = '0;
    {complete_push, complete_pop, wait_remove, timer_stop, age_all, counts_result} = '0;
    unique case (state)
      IDLE:
      if (summed) begin
        take_summed = 1'b1;
        counts_result = 1'b1;
        if (!complete_any && result_room) begin
          emit = 1'b1;
          next_state = SERVE;
        end else complete_push = 1'b1;
      end else if (left) begin
        take_left = 1'b1;
        next_state = EMIT_COMPLETE;
      end else if (timer_ends) begin
        next_state = END_PATIENCE;
      end else if (reminder) begin
        next_state = REMIND_WAITING;
      end else if (arrived) begin
        take_arrived = 1'b1;
        unique case (header.kind)
          KIND_REDUCE_WRITE:
          if (!header.sums) pass_on = 1'b1;
          else if (hit) take = 1'b1;
          else if (waiting_of_key) stall = 1'b1;
          else if (!waiting && room) begin
            open = 1'b1;
            take = 1'b1;
          end else if (!waiting && table_full == TABLE_FULL_EVICT && victim && result_room) begin
            evict = 1'b1;
            take_arrived = 1'b0;
            next_state = OPEN_ARRIVED;
          end else if (table_full == TABLE_FULL_BYPASS) pass_home = 1'b1;
          else stall = 1'b1;
          KIND_LOAD_REDUCE:
          if (!waiting && room && header.open != OPEN_NEVER) begin
            open = 1'b1;
            ask = 1'b1;
          end else if (header.open == OPEN_ALWAYS) stall = 1'b1;
          else ask = 1'b1;
          KIND_REPLY:
          if (hit) take = 1'b1;
          else if (header.home_here) pass_home = 1'b1;
          else pass_on = 1'b1;
          default: pass_on = 1'b1;
        endcase
      end
      OPEN_ARRIVED: begin
        take_arrived = 1'b1;
        open = 1'b1;
        take = 1'b1;
        next_state = IDLE;
      end
      EMIT_COMPLETE:
      if (complete_any && result_room) begin
        complete_pop = 1'b1;
        emit = 1'b1;
      end else next_state = SERVE;
      SERVE:
      if (!waiting) next_state = IDLE;
      else if (room) begin
        open = 1'b1;
        wait_remove = 1'b1;
        take = is_push;
        ask = is_request;
        if (is_push) next_state = SERVE_GROUP;
      end else if (is_push && table_full == TABLE_FULL_EVICT && victim && result_room) evict = 1'b1;
      else next_state = IDLE;
      SERVE_GROUP:
      if (waiting_pushed) begin
        take = 1'b1;
        wait_remove = 1'b1;
      end else next_state = SERVE;
      REMIND_WAITING:
      if (waiting_pushed) begin
        pass_home = 1'b1;
        wait_remove = 1'b1;
      end else next_state = REMIND_ENTRY;
      REMIND_ENTRY: begin
        take_reminder = 1'b1;
        evict = hit && !entry.complete && result_room;
        next_state = evict ? SERVE : IDLE;
      end
      default: // END_PATIENCE
      if (waiting_aged) begin
        pass_home = 1'b1;
        wait_remove = 1'b1;
      end else begin
        timer_stop = 1'b1;
        age_all = 1'b1;
        next_state = SERVE;
      end
    endcase
  end
  // A block without an entry may need the place of the oldest partial sum.
  assign by_age = state == SERVE || (state == IDLE && !hit);
  assign by_slot = state == EMIT_COMPLETE || (state == IDLE && summed);
  assign begin_reminder = state == IDLE && next_state == REMIND_WAITING;
  assign no_result_room = complete_push;
  assign timer_start = (stall && is_push && !timer_runs) || (timer_stop && waiting_push);

  // Effects on the table.
  assign add = open;
  assign update = take && !open;
  assign remove = emit || evict;
  assign wait_add = stall;
  assign count = entry.count + header.count;
  assign complete = count == entry.expected;
  assign first = entry.count == '0 || header.first < entry.first ? header.first : entry.first;
  assign new_targets = is_push ? targets : home;
  always_comb begin
    new_entry = '0;
    new_entry.valid = 1'b1;
    new_entry.key = header_key;
    new_entry.first = header.first;
    new_entry.count = is_push ? header.count : '0;
    new_entry.expected = header.expected;
    new_entry.push = is_push;
    new_entry.complete = is_push && header.count == header.expected;
    new_entry.bf16 = header.bf16;
    new_entry.bytes = header.bytes;
    new_entry.result_kind = header.result_kind;
    new_entry.home = header.home;
  end

  // Effects elsewhere.
  assign alu_push = take;
  assign alu_slot = open ? free_slot : entry_slot;
  assign alu_first = open || entry.count == '0;
  assign alu_last = open ? new_entry.complete : complete;
  assign alu_bf16 = header.bf16;
  assign ack = (pass_home || (pass_on && is_push)) && is_push && header.from_gpu;
  assign counts_stall = stall;
  assign counts_eviction = evict;
  assign counts_bypass = pass_home;
  assign job_is_sum = emit || evict;
  assign job_push = emit || (evict && entry.count != '0) || pass_home || pass_on || ask;
  assign job_waits = evict;
  assign job_slot = entry_slot;
  assign slot_give_back = evict && entry.count == '0;
  always_comb begin
    job_header.kind = evict || pass_home ? KIND_PARTIAL : emit ? entry.result_kind : header.kind;
    job_header.key = job_is_sum ? entry.key : header_key;
    job_header.first = job_is_sum ? entry.first : header.first;
    job_header.count = job_is_sum ? entry.count : header.count;
    job_header.bytes = job_is_sum ? entry.bytes : header.bytes;
    job_header.bf16 = job_is_sum ? entry.bf16 : header.bf16;
    job_header.from = header.from;
    job_targets = emit ? entry_targets : evict ? entry_home
        : pass_home || header.kind == KIND_REPLY ? home : targets;
  end

  always_ff @(posedge clk) begin
    state <= next_state;
    if (open) slot_taken[free_slot] <= 1'b1;
    if (open) group_key <= header_key;
    else if (state == IDLE) group_key <= reminder_key;
    if (slot_give_back) slot_taken[entry_slot] <= 1'b0;
    if (take_left) slot_taken[left_slot] <= 1'b0;
    results <= results + ($clog2(RESULTS) + 1)'(job_push && job_is_sum) - ($clog2(RESULTS) + 1)'(take_left);
    if (timer_start) begin
      timer <= patience - 32'd1;
      timer_runs <= 1'b1;
    end else if (timer_stop) timer_runs <= 1'b0;
    else if (timer != '0) timer <= timer - 32'd1;
    if (rst) begin
      state <= IDLE;
      slot_taken <= '0;
      results <= '0;
      timer_runs <= 1'b0;
    end
  end
endmodule
