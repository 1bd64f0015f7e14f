// A queue in registers. Its users see to it that it never holds more than DEPTH.
module small_fifo #(
    parameter int WIDTH = 8,
    parameter int DEPTH = 4
) (
    input  logic             clk,
    input  logic             rst,
    input  logic             push,
    input  logic [WIDTH-1:0] data,
    input  logic             pop,
    output logic             any,
    output logic [WIDTH-1:0] head
);
  localparam int AT = DEPTH > 1 ? $clog2(DEPTH) : 1;
  localparam logic [AT-1:0] LAST = AT'(DEPTH - 1);
  logic [WIDTH-1:0] words[DEPTH];
  logic [AT-1:0] first, next;
  logic [AT:0] used;
  assign any  = used != '0;
  assign head = words[first];
  always_ff @(posedge clk) begin
    if (push) words[next] <= data;
    if (rst) begin
      first <= '0;
      next  <= '0;
      used  <= '0;
    end else begin
      if (push) next <= next == LAST ? '0 : next + AT'(1);
      if (pop) first <= first == LAST ? '0 : first + AT'(1);
      used <= used + (AT + 1)'(push) - (AT + 1)'(pop);
    end
  end
endmodule
