// The tags of the reduction table of one port: which blocks are being summed, what is known of each, and in which
// slot its values are. Every place compares its key at once. Places are selected by one bit each.
module reduction_table #(
    parameter int ENTRIES = 32,
    parameter int SLOT = 6,
    parameter int PORTS = 16
) (
    input  logic                     clk,
    input  logic                     rst,
    input  logic [$clog2(ENTRIES):0] table_entries,  // inc.table_entries, at most ENTRIES
    // Finding.
    input  key_t                     find_key,
    input  logic [SLOT-1:0]          find_slot,
    output logic                     hit,            // there is an entry of that key
    output logic                     victim,         // there is a partial sum that can be evicted
    output logic                     room,
    output logic [$clog2(ENTRIES):0] used,
    // The entry that is looked at: the one of the key, the one of the slot, or the oldest partial sum.
    input  logic                     by_slot,
    input  logic                     by_age,
    output entry_t                   entry,
    output logic [SLOT-1:0]          slot,
    output logic [PORTS-1:0]         targets,
    // Changes: at most one in a cycle, to the entry that is looked at or, for add, behind the youngest.
    input  logic                     add,
    input  entry_t                   new_entry,
    input  logic [SLOT-1:0]          new_slot,
    input  logic [PORTS-1:0]         new_targets,
    input  logic                     remove,
    input  logic                     update,
    input  logic [9:0]               first,
    input  logic [10:0]              count,
    input  logic                     complete,
    input  logic [12:0]              bytes
);
  localparam int EB = $bits(new_entry);

  logic [ENTRIES-1:0] valid, has_key, has_slot, evictable, oldest, chosen, upwards, after_last;
  logic [(ENTRIES+1)*EB-1:0] entries;
  logic [(ENTRIES+1)*SLOT-1:0] slots;
  logic [(ENTRIES+1)*PORTS-1:0] all_targets;

  assign entries[ENTRIES*EB+:EB] = '0;
  assign slots[ENTRIES*SLOT+:SLOT] = '0;
  assign all_targets[ENTRIES*PORTS+:PORTS] = '0;
  assign hit = |has_key;
  assign victim = |evictable;
  assign room = used < table_entries;
  assign chosen = by_slot ? has_slot : by_age ? oldest : has_key;
  assign oldest = evictable & ~(evictable - ENTRIES'(1));
  // All places from the chosen one on.
  assign upwards = ~(chosen - ENTRIES'(1));
  assign after_last = ~valid & {valid[ENTRIES-2:0], 1'b1};

  for (genvar i = 0; i < ENTRIES; i++) begin : g_entry
    table_entry #(.SLOT(SLOT), .PORTS(PORTS)) place (
        .clk, .rst,
        .shift(remove & upwards[i]),
        .next_entry(entries[(i+1)*EB+:EB]), .next_slot(slots[(i+1)*SLOT+:SLOT]), .next_targets(all_targets[(i+1)*PORTS+:PORTS]),
        .load(add & after_last[i]),
        .new_entry, .new_slot, .new_targets,
        .update(update & chosen[i]),
        .first, .count, .complete, .bytes,
        .find_key, .find_slot,
        .entry(entries[i*EB+:EB]), .valid(valid[i]), .slot(slots[i*SLOT+:SLOT]), .targets(all_targets[i*PORTS+:PORTS]),
        .has_key(has_key[i]), .has_slot(has_slot[i]), .evictable(evictable[i]));
  end

  always_comb begin
    entry = '0;
    slot = '0;
    targets = '0;
    for (int i = 0; i < ENTRIES; i++) begin
      entry |= entries[i*EB+:EB] & {EB{chosen[i]}};
      slot |= slots[i*SLOT+:SLOT] & {SLOT{chosen[i]}};
      targets |= all_targets[i*PORTS+:PORTS] & {PORTS{chosen[i]}};
    end
  end

  always_ff @(posedge clk) begin
    if (rst) used <= '0;
    else used <= used + ($clog2(ENTRIES) + 1)'(add) - ($clog2(ENTRIES) + 1)'(remove);
  end
endmodule
