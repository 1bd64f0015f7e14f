// The adders of one port: one beat per cycle, four cycles deep. Sums are kept in fp32, with a place of 32 bits for
// every bf16 element (inc.accumulate: fp32), or in the type of the wire.
module reduction_alu #(
    parameter int BEAT = 16,       // bytes of a beat on the wire
    parameter bit ACCUMULATE = 0,
    localparam int WIDE = ACCUMULATE == ACCUMULATE_FP32 ? 16 * BEAT : 8 * BEAT
) (
    input  logic              clk,
    input  logic              first,    // nothing has been summed yet
    input  logic              bf16,
    input  logic [WIDE-1:0]   sum,
    input  logic [8*BEAT-1:0] values,
    output logic [WIDE-1:0]   result
);
  // Minus zero is what changes no number when it is added.
  localparam logic [31:0] NOTHING_32 = 32'h8000_0000;
  localparam logic [15:0] NOTHING_16 = 16'h8000;

  generate
    if (ACCUMULATE == ACCUMULATE_FP32) begin : g_fp32
      for (genvar i = 0; i < BEAT / 2; i++) begin : g_lane
        logic [31:0] addend;
        if (i < BEAT / 4) begin : g_both
          assign addend = bf16 ? {values[16*i+:16], 16'b0} : values[32*i+:32];
        end else begin : g_bf16
          assign addend = {values[16*i+:16], 16'b0};
        end
        fp_add #(.EXP(8), .MAN(23)) add (
            .clk, .a(first ? NOTHING_32 : sum[32*i+:32]), .b(addend), .y(result[32*i+:32]));
      end
      if (BEAT < 4) begin : g_narrow
        $error("a beat holds one fp32 element at least");
      end
    end else begin : g_wire
      logic [3:0] bf16_q;
      logic [WIDE-1:0] result_32, result_16;
      always_ff @(posedge clk) bf16_q <= {bf16_q[2:0], bf16};
      for (genvar i = 0; i < BEAT / 4; i++) begin : g_lane_32
        fp_add #(.EXP(8), .MAN(23)) add (
            .clk, .a(first ? NOTHING_32 : sum[32*i+:32]), .b(values[32*i+:32]), .y(result_32[32*i+:32]));
      end
      for (genvar i = 0; i < BEAT / 2; i++) begin : g_lane_16
        fp_add #(.EXP(8), .MAN(7)) add (
            .clk, .a(first ? NOTHING_16 : sum[16*i+:16]), .b(values[16*i+:16]), .y(result_16[16*i+:16]));
      end
      assign result = bf16_q[3] ? result_16 : result_32;
    end
  endgenerate
endmodule
