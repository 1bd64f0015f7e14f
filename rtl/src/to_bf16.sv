// Rounds an fp32 number to bf16, to nearest, ties to even. NaN stays the NaN that the adders make.
module to_bf16 (
    input  logic [31:0] x,
    output logic [15:0] y
);
  logic up;
  assign up = x[15] & ((|x[14:0]) | x[16]) & (x[30:23] != 8'hff);
  assign y = x[31:16] + {15'b0, up};
endmodule
