// One place of the reduction table. Places are in order of age: when an entry is removed, the younger ones move
// down by one place, so that no age has to be stored and the oldest partial sum is the first one found.
module table_entry #(
    parameter int SLOT = 4,
    parameter int PORTS = 16
) (
    input  logic             clk,
    input  logic             rst,
    input  logic             shift,       // takes what the next place holds
    input  entry_t           next_entry,
    input  logic [SLOT-1:0]  next_slot,
    input  logic [PORTS-1:0] next_targets,
    input  logic             load,        // takes a new entry
    input  entry_t           new_entry,
    input  logic [SLOT-1:0]  new_slot,
    input  logic [PORTS-1:0] new_targets,
    input  logic             update,      // takes the counts of a contribution
    input  logic [9:0]       first,
    input  logic [10:0]      count,
    input  logic             complete,
    input  logic [12:0]      bytes,
    input  key_t             find_key,
    input  logic [SLOT-1:0]  find_slot,
    output entry_t           entry,
    output logic [SLOT-1:0]  slot,
    output logic [PORTS-1:0] targets,
    output logic             valid,
    output logic             has_key,
    output logic             has_slot,
    output logic             evictable
);
  assign valid = entry.valid;
  assign has_key = entry.valid && entry.key == find_key;
  assign has_slot = entry.valid && slot == find_slot;
  assign evictable = entry.valid && entry.push && !entry.complete;

  always_ff @(posedge clk) begin
    if (rst) begin
      entry.valid <= 1'b0;
    end else if (shift) begin
      entry <= next_entry;
    end else if (load) begin
      entry <= new_entry;
    end else if (update) begin
      entry.first <= first;
      entry.count <= count;
      entry.complete <= complete;
      entry.bytes <= bytes;
    end
    if (shift) begin
      slot <= next_slot;
      targets <= next_targets;
    end else if (load) begin
      slot <= new_slot;
      targets <= new_targets;
    end
  end
endmodule
