// A memory with one write port and two read ports, whose data comes one cycle after the address. Of RAM macros with
// one read port it takes two, which are written together.
module value_ram #(
    parameter int WIDTH = 128,
    parameter int DEPTH = 64
) (
    input  logic                     clk,
    input  logic                     write,
    input  logic [$clog2(DEPTH)-1:0] write_at,
    input  logic [WIDTH-1:0]         write_data,
    input  logic [$clog2(DEPTH)-1:0] read_at_0,
    output logic [WIDTH-1:0]         read_data_0,
    input  logic [$clog2(DEPTH)-1:0] read_at_1,
    output logic [WIDTH-1:0]         read_data_1
);
  logic [WIDTH-1:0] words[DEPTH];
  always_ff @(posedge clk) begin
    if (write) words[write_at] <= write_data;
    read_data_0 <= words[read_at_0];
    read_data_1 <= words[read_at_1];
  end
endmodule
