// Contributions that the table has taken, on their way through the ALUs, one beat per cycle and packet after packet.
// A beat waits only for the same beat of the same slot that is still between reading and writing.
module alu_queue #(
    parameter int BEAT = 16,
    parameter int BEATS = 8,
    parameter int BUFFERS = 16,
    parameter int SLOT = 6,
    localparam int ID = $clog2(BUFFERS),
    localparam int NR = BEATS > 1 ? $clog2(BEATS) : 1
) (
    input  logic            clk,
    input  logic            rst,
    // A contribution that the table has taken.
    input  logic            push,
    input  logic [ID-1:0]   new_id,
    input  logic [SLOT-1:0] new_slot,
    input  logic            new_first,
    input  logic            new_last,
    input  logic            new_bf16,
    input  logic [12:0]     new_bytes,
    input  logic            new_ack,
    input  logic [7:0]      new_from,
    input  key_t            new_key,
    // The beat that is read in this cycle.
    output logic [ID-1:0]   read_id,
    output logic [SLOT-1:0] read_slot,
    output logic [NR-1:0]   read_beat,
    // The beat that is in the first stage of the adders, and the one that leaves them.
    output logic            add_first,
    output logic            add_bf16,
    output logic            write,
    output logic [SLOT-1:0] write_slot,
    output logic [NR-1:0]   write_beat,
    // The contribution whose last beat is written in this cycle.
    output logic            done,
    output logic            done_last,   // its sum is complete
    output logic [ID-1:0]   done_id,
    output logic            done_ack,
    output logic [7:0]      done_from,
    output key_t            done_key
);
  localparam int STAGES = 5;  // reading comes before four stages of adding
  localparam int WB = ID + SLOT + 3 + NR + 1 + 8 + $bits(new_key);

  logic any, first, last, bf16, ack, same, issue, ends;
  logic [WB-1:0] head;
  logic [NR-1:0] last_beat, beat;
  logic [7:0] from;
  key_t key;
  logic [NR-1:0] new_last_beat;
  assign new_last_beat = NR'((new_bytes - 13'd1) / 13'(BEAT));
  small_fifo #(.WIDTH(WB), .DEPTH(BUFFERS)) waiting (
      .clk, .rst, .push,
      .data({new_id, new_slot, new_first, new_last, new_bf16, new_last_beat, new_ack, new_from, new_key}),
      .pop(issue && ends), .any, .head);
  assign {read_id, read_slot, first, last, bf16, last_beat, ack, from, key} = head;

  logic [STAGES-1:0] s_valid, s_ends;
  logic [STAGES*SLOT-1:0] s_slot;
  logic [STAGES*NR-1:0] s_beat;
  always_comb begin
    same = 1'b0;
    for (int i = 0; i < STAGES; i++) same |= s_valid[i] && s_slot[i*SLOT+:SLOT] == read_slot && s_beat[i*NR+:NR] == beat;
  end
  assign issue = any && (first || !same);
  assign ends = beat == last_beat;
  assign read_beat = beat;

  // What belongs to a contribution as a whole is in flight once or twice: it goes along with each beat.
  localparam int DB = ID + 2 + 8 + $bits(new_key);
  logic [STAGES*DB-1:0] s_done;
  assign write = s_valid[STAGES-1];
  assign write_slot = s_slot[(STAGES-1)*SLOT+:SLOT];
  assign write_beat = s_beat[(STAGES-1)*NR+:NR];
  assign done = write && s_ends[STAGES-1];
  assign {done_id, done_last, done_ack, done_from, done_key} = s_done[(STAGES-1)*DB+:DB];

  always_ff @(posedge clk) begin
    add_first <= first;
    add_bf16 <= bf16;
    s_ends <= {s_ends[STAGES-2:0], ends};
    s_slot <= {s_slot[(STAGES-1)*SLOT-1:0], read_slot};
    s_beat <= {s_beat[(STAGES-1)*NR-1:0], beat};
    s_done <= {s_done[(STAGES-1)*DB-1:0], read_id, last, ack, from, key};
    if (issue) beat <= ends ? '0 : beat + NR'(1);
    s_valid <= {s_valid[STAGES-2:0], issue};
    if (rst) begin
      beat <= '0;
      s_valid <= '0;
    end
  end
endmodule
