// The input buffer of the unit: packets as they come from the crossbar, each in a place of its own that it keeps
// until the ALUs have taken it or its last copy has left. A packet counts as arrived with its last beat.
module input_buffer #(
    parameter int BEAT = 16,
    parameter int BEATS = 8,     // of a whole payload
    parameter int BUFFERS = 16,
    parameter int PORTS = 16,
    localparam int ID = $clog2(BUFFERS),
    localparam int AT = $clog2(BUFFERS * BEATS),
    localparam int NR = BEATS > 1 ? $clog2(BEATS) : 1
) (
    input  logic              clk,
    input  logic              rst,
    // From the crossbar; the header is read with the first beat.
    input  logic              in_valid,
    output logic              in_ready,
    input  header_t           in_header,
    input  logic [PORTS-1:0]  in_targets,
    input  logic [8*BEAT-1:0] in_data,
    input  logic              in_last,
    // Packets that have arrived, in order.
    output logic              any,
    output logic [ID-1:0]     head,
    output key_t              head_key,
    input  logic              pop,
    // The header of any packet.
    input  logic [ID-1:0]     id,
    output header_t           header,
    output logic [PORTS-1:0]  targets,
    // Values: for the ALUs, and for the sender.
    input  logic [ID-1:0]     alu_id,
    input  logic [NR-1:0]     alu_beat,
    output logic [8*BEAT-1:0] alu_data,
    input  logic [ID-1:0]     send_id,
    input  logic [NR-1:0]     send_beat,
    output logic [8*BEAT-1:0] send_data,
    // Places that become free.
    input  logic              free_0,
    input  logic [ID-1:0]     free_id_0,
    input  logic              free_1,
    input  logic [ID-1:0]     free_id_1
);
  localparam int HB = $bits(in_header) + PORTS;
  logic [BUFFERS-1:0] taken, not_taken;
  logic [HB-1:0] headers[BUFFERS];
  // Of the first packet only the block is looked at beside the header of another.
  /* verilator lint_off UNUSEDSIGNAL */
  header_t first_header;
  logic [PORTS-1:0] first_targets;
  /* verilator lint_on UNUSEDSIGNAL */
  logic filling, write;
  logic [ID-1:0] filled, free_place, place;
  logic [NR-1:0] beat;

  always_comb begin
    not_taken = ~taken & (taken + BUFFERS'(1));
    free_place = '0;
    for (int i = 0; i < BUFFERS; i++) free_place |= ID'(i) & {ID{not_taken[i]}};
  end
  assign in_ready = filling || !(&taken);
  assign write = in_valid && in_ready;
  assign place = filling ? filled : free_place;
  assign {targets, header} = headers[id];
  assign {first_targets, first_header} = headers[head];
  assign head_key = {first_header.region, first_header.offset};

  always_ff @(posedge clk) begin
    if (write && !filling) headers[place] <= {in_targets, in_header};
    if (free_0) taken[free_id_0] <= 1'b0;
    if (free_1) taken[free_id_1] <= 1'b0;
    if (write) begin
      taken[place] <= 1'b1;
      filled <= place;
      filling <= !in_last;
      beat <= in_last ? '0 : beat + NR'(1);
    end
    if (rst) begin
      taken <= '0;
      filling <= 1'b0;
      beat <= '0;
    end
  end

  value_ram #(.WIDTH(8 * BEAT), .DEPTH(BUFFERS * BEATS)) values (
      .clk, .write, .write_at(AT'(place) * AT'(BEATS) + AT'(beat)), .write_data(in_data),
      .read_at_0(AT'(alu_id) * AT'(BEATS) + AT'(alu_beat)), .read_data_0(alu_data),
      .read_at_1(AT'(send_id) * AT'(BEATS) + AT'(send_beat)), .read_data_1(send_data));

  small_fifo #(.WIDTH(ID), .DEPTH(BUFFERS)) arrived (
      .clk, .rst, .push(write && in_last), .data(place), .pop, .any, .head);
endmodule
