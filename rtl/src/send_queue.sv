// What the unit sends: sums from the result buffer, and packets from the input buffer that are passed on. Each has the
// ports that still want a copy. A round takes the oldest that can go somewhere, reads it once, and sends it at
// once over all of its ports that have a credit, so that a port without credits holds up nobody else. What does not
// change while a job waits is in a memory; the list holds its place there.
module send_queue #(
    parameter int BEATS = 8,
    parameter int BEAT = 16,
    parameter int BUFFERS = 16,
    parameter int RESULTS = 32,
    parameter int SLOT = 6,
    parameter int PORTS = 16,
    parameter int CREDITS = 4,   // bits of a counter of credits
    localparam int ID = $clog2(BUFFERS),
    localparam int NR = BEATS > 1 ? $clog2(BEATS) : 1
) (
    input  logic                clk,
    input  logic                rst,
    input  logic [CREDITS-1:0]  credits_at_reset,
    input  logic [PORTS-1:0]    credit,       // a place at the end of this port's link has become free
    // A new job. One that waits is ready when the ALUs have done all that is before it.
    input  logic                push,
    input  logic                new_is_sum,
    input  logic                new_waits,
    input  logic [SLOT-1:0]     new_slot,
    input  logic [ID-1:0]       new_id,
    input  logic [PORTS-1:0]    new_targets,
    input  out_header_t         new_header,
    input  logic                alu_push,
    input  logic                alu_done,
    // The beat that is read in this cycle.
    output logic [SLOT-1:0]     read_slot,
    output logic [ID-1:0]       read_id,
    output logic [NR-1:0]       read_beat,
    // The beat whose data is there in this cycle.
    output logic                out_valid,
    output logic                out_is_sum,
    output logic                out_first,
    output logic                out_last,
    output logic                out_final,    // no port wants another copy
    output logic [PORTS-1:0]    out_ports,
    output out_header_t         out_header,
    output logic [SLOT-1:0]     out_slot,
    output logic [ID-1:0]       out_id
);
  localparam int JOBS = BUFFERS + RESULTS;
  localparam int SEQ = $clog2(BUFFERS) + 2;
  localparam int HB = $bits(new_header);
  localparam int JB = 1 + SLOT + ID + HB;  // what does not change while a job waits
  localparam int PLACE = $clog2(JOBS);

  logic [JOBS-1:0] valid, ready, can, chosen, upwards, after_last;
  logic [JOBS:0] next_valid, next_ready;
  logic [JOBS*SEQ-1:0] seq;
  logic [JOBS*PORTS-1:0] targets;
  logic [JOBS*PLACE-1:0] places;
  logic [(JOBS+1)*SEQ-1:0] next_seq;
  logic [(JOBS+1)*PORTS-1:0] next_targets;
  logic [(JOBS+1)*PLACE-1:0] next_places;
  logic [JB-1:0] jobs[JOBS];
  logic [JOBS-1:0] taken, not_taken;
  logic [PLACE-1:0] place, new_place;
  logic [SEQ-1:0] pushed, finished;
  logic [PORTS*CREDITS-1:0] credits;
  logic [PORTS-1:0] has_credit, wanted, granted;
  logic [JB-1:0] job;
  logic pick, remove;

  assign next_valid = {1'b0, valid};
  assign next_ready = {1'b0, ready};
  assign next_seq = {{SEQ{1'b0}}, seq};
  assign next_targets = {{PORTS{1'b0}}, targets};
  assign next_places = {{PLACE{1'b0}}, places};
  assign job = jobs[place];
  assign chosen = can & ~(can - JOBS'(1));
  assign upwards = ~(chosen - JOBS'(1));
  assign after_last = ~valid & {valid[JOBS-2:0], 1'b1};
  assign granted = wanted & has_credit;
  assign remove = pick && granted == wanted;
  always_comb begin
    for (int p = 0; p < PORTS; p++) has_credit[p] = credits[p*CREDITS+:CREDITS] != '0;
    wanted = '0;
    place = '0;
    not_taken = ~taken & (taken + JOBS'(1));
    new_place = '0;
    for (int i = 0; i < JOBS; i++) begin
      new_place |= PLACE'(i) & {PLACE{not_taken[i]}};
      can[i] = valid[i] && ready[i] && (targets[i*PORTS+:PORTS] & has_credit) != '0;
      wanted |= targets[i*PORTS+:PORTS] & {PORTS{chosen[i]}};
      place |= places[i*PLACE+:PLACE] & {PLACE{chosen[i]}};
    end
  end

  // The round under way, and the one whose data comes a cycle later.
  logic busy, is_sum, final_copy;
  logic [NR-1:0] beat, last_beat;
  logic [PORTS-1:0] ports;
  out_header_t header, picked;
  logic picked_is_sum;
  logic [SLOT-1:0] picked_slot;
  logic [ID-1:0] picked_id;
  assign {picked_is_sum, picked_slot, picked_id, picked} = job;
  assign pick = (|can) && (!busy || beat == last_beat);
  assign read_beat = beat;

  always_ff @(posedge clk) begin
    pushed <= pushed + SEQ'(alu_push);
    finished <= finished + SEQ'(alu_done);
    if (push) jobs[new_place] <= {new_is_sum, new_slot, new_id, new_header};
    taken <= (taken | (push ? not_taken : '0)) & ~(remove ? JOBS'(1) << place : '0);
    for (int p = 0; p < PORTS; p++)
      credits[p*CREDITS+:CREDITS] <= credits[p*CREDITS+:CREDITS] + CREDITS'(credit[p]) - CREDITS'(pick && granted[p]);
    for (int i = 0; i < JOBS; i++) begin
      if (remove && upwards[i]) begin
        valid[i] <= next_valid[i+1];
        ready[i] <= next_ready[i+1] || next_seq[(i+1)*SEQ+:SEQ] == finished;
        seq[i*SEQ+:SEQ] <= next_seq[(i+1)*SEQ+:SEQ];
        targets[i*PORTS+:PORTS] <= next_targets[(i+1)*PORTS+:PORTS];
        places[i*PLACE+:PLACE] <= next_places[(i+1)*PLACE+:PLACE];
        // A new job comes to the place that the last one leaves.
        if (push && valid[i] && !next_valid[i+1]) begin
          valid[i] <= 1'b1;
          ready[i] <= !new_waits || pushed == finished;
          seq[i*SEQ+:SEQ] <= pushed;
          targets[i*PORTS+:PORTS] <= new_targets;
          places[i*PLACE+:PLACE] <= new_place;
        end
      end else begin
        if (pick && chosen[i]) targets[i*PORTS+:PORTS] <= targets[i*PORTS+:PORTS] & ~granted;
        ready[i] <= ready[i] || seq[i*SEQ+:SEQ] == finished;
        if (push && after_last[i] && !remove) begin
          valid[i] <= 1'b1;
          ready[i] <= !new_waits || pushed == finished;
          seq[i*SEQ+:SEQ] <= pushed;
          targets[i*PORTS+:PORTS] <= new_targets;
          places[i*PLACE+:PLACE] <= new_place;
        end
      end
      if (rst) valid[i] <= 1'b0;
    end

    if (pick) begin
      busy <= 1'b1;
      beat <= '0;
      last_beat <= picked.bytes == '0 ? '0 : NR'((picked.bytes - 13'd1) / 13'(BEAT));
      is_sum <= picked_is_sum;
      read_slot <= picked_slot;
      read_id <= picked_id;
      header <= picked;
      ports <= granted;
      final_copy <= remove;
    end else if (busy) begin
      busy <= beat != last_beat;
      beat <= beat + NR'(1);
    end
    out_valid <= busy;
    out_is_sum <= is_sum;
    out_first <= beat == '0;
    out_last <= beat == last_beat;
    out_final <= final_copy;
    out_ports <= ports;
    out_header <= header;
    out_slot <= read_slot;
    out_id <= read_id;
    if (rst) begin
      taken <= '0;
      pushed <= '0;
      finished <= '0;
      busy <= 1'b0;
      out_valid <= 1'b0;
      for (int p = 0; p < PORTS; p++) credits[p*CREDITS+:CREDITS] <= credits_at_reset;
    end
  end
endmodule
