// Packets that wait for room in the table, in order of age; their data stays in the input buffer. Packets of one
// block form a group. A group is aged when it has waited since the timer of inc.patience was started.
module waiting_list #(
    parameter int BUFFERS = 16,
    parameter int ID = 4
) (
    input  logic          clk,
    input  logic          rst,
    input  key_t          find_key,
    output logic          any,
    output logic          any_push,
    output logic          any_of_key,       // a packet of that block waits
    output logic          key_is_aged,
    output logic          any_pushed_of_key,
    output logic          any_aged,
    // The packet that is looked at: the oldest of all, of a key, or of the aged ones.
    input  logic          by_key,
    input  logic          by_age,
    output logic [ID-1:0] id,
    // At most one of the changes in a cycle; `remove` is for the packet that is looked at.
    input  logic          add,
    input  logic [ID-1:0] new_id,
    input  key_t          new_key,
    input  logic          new_push,
    input  logic          new_aged,
    input  logic          remove,
    input  logic          age_all
);
  logic [BUFFERS-1:0] valid, push, aged, match, among, chosen, upwards, after_last;
  logic [BUFFERS*ID-1:0] ids;
  logic [BUFFERS*$bits(new_key)-1:0] keys;
  logic [BUFFERS:0] next_valid, next_push, next_aged;
  logic [(BUFFERS+1)*ID-1:0] next_ids;
  logic [(BUFFERS+1)*$bits(new_key)-1:0] next_keys;

  assign any = valid[0];
  assign any_push = |(valid & push);
  assign any_of_key = |match;
  assign any_pushed_of_key = |(match & push);
  assign key_is_aged = |(match & aged);
  assign any_aged = |(valid & push & aged);
  assign among = by_key ? match & push : by_age ? valid & push & aged : valid;
  assign chosen = among & ~(among - BUFFERS'(1));
  assign upwards = ~(chosen - BUFFERS'(1));
  assign after_last = ~valid & {valid[BUFFERS-2:0], 1'b1};
  assign next_ids = {{ID{1'b0}}, ids};
  assign next_keys = {{$bits(new_key) {1'b0}}, keys};
  assign next_valid = {1'b0, valid};
  assign next_push = {1'b0, push};
  assign next_aged = {1'b0, aged};

  always_comb begin
    id = '0;
    for (int i = 0; i < BUFFERS; i++) begin
      match[i] = valid[i] && keys[i*$bits(new_key)+:$bits(new_key)] == find_key;
      id |= ids[i*ID+:ID] & {ID{chosen[i]}};
    end
  end

  always_ff @(posedge clk) begin
    for (int i = 0; i < BUFFERS; i++) begin
      if (remove && upwards[i]) begin
        valid[i] <= next_valid[i+1];
        push[i] <= next_push[i+1];
        aged[i] <= next_aged[i+1];
        ids[i*ID+:ID] <= next_ids[(i+1)*ID+:ID];
        keys[i*$bits(new_key)+:$bits(new_key)] <= next_keys[(i+1)*$bits(new_key)+:$bits(new_key)];
      end else if (add && after_last[i]) begin
        valid[i] <= 1'b1;
        push[i] <= new_push;
        aged[i] <= new_aged;
        ids[i*ID+:ID] <= new_id;
        keys[i*$bits(new_key)+:$bits(new_key)] <= new_key;
      end else if (age_all) begin
        aged[i] <= 1'b1;
      end
      if (rst) valid[i] <= 1'b0;
    end
  end
endmodule
