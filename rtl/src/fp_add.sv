// Adds two floating-point numbers in four stages, rounding to nearest, ties to even, with denormals. Every NaN
// that comes out is the quiet NaN with a positive sign and no payload, so no operand's NaN shows in a result.
module fp_add #(
    parameter int EXP = 8,
    parameter int MAN = 23
) (
    input  logic             clk,
    input  logic [EXP+MAN:0] a,
    input  logic [EXP+MAN:0] b,
    output logic [EXP+MAN:0] y
);
  localparam int W = MAN + 4;  // the hidden bit and three bits for rounding
  localparam int LW = $clog2(W + 2);
  localparam logic [EXP+MAN:0] NAN = {1'b0, {EXP{1'b1}}, 1'b1, {MAN - 1{1'b0}}};
  localparam logic [EXP+MAN-1:0] INF = {{EXP{1'b1}}, {MAN{1'b0}}};

  // Stage 1: the smaller operand is aligned with the larger; what is shifted out is kept as one sticky bit.
  logic [EXP+MAN:0] larger;
  logic [EXP+MAN-1:0] smaller;
  logic [EXP-1:0] e_big, e_small, apart;
  logic [W-1:0] m_big, m_small, m_aligned, m_lost;
  logic swap, a_nan, b_nan, a_inf, b_inf;
  assign swap = b[EXP+MAN-1:0] > a[EXP+MAN-1:0];
  assign larger = swap ? b : a;
  assign smaller = swap ? a[EXP+MAN-1:0] : b[EXP+MAN-1:0];
  assign e_big = larger[MAN+:EXP] == '0 ? EXP'(1) : larger[MAN+:EXP];
  assign e_small = smaller[MAN+:EXP] == '0 ? EXP'(1) : smaller[MAN+:EXP];
  assign m_big = {larger[MAN+:EXP] != '0, larger[MAN-1:0], 3'b0};
  assign m_small = {smaller[MAN+:EXP] != '0, smaller[MAN-1:0], 3'b0};
  assign apart = e_big - e_small;
  assign m_aligned = m_small >> apart;
  assign m_lost = m_small & ~({W{1'b1}} << apart);
  assign a_nan = a[EXP+MAN-1:0] > INF;
  assign b_nan = b[EXP+MAN-1:0] > INF;
  assign a_inf = a[EXP+MAN-1:0] == INF;
  assign b_inf = b[EXP+MAN-1:0] == INF;

  logic [EXP-1:0] e_1;
  logic [W-1:0] big_1, small_1;
  logic sign_1, minus_1, nan_1, inf_1;
  always_ff @(posedge clk) begin
    e_1 <= e_big;
    big_1 <= m_big;
    small_1 <= {m_aligned[W-1:1], m_aligned[0] | (|m_lost)};
    sign_1 <= larger[EXP+MAN];
    minus_1 <= a[EXP+MAN] ^ b[EXP+MAN];
    nan_1 <= a_nan | b_nan | (a_inf & b_inf & (a[EXP+MAN] ^ b[EXP+MAN]));
    inf_1 <= a_inf | b_inf;
  end

  // Stage 2: the sum of the magnitudes.
  logic [EXP-1:0] e_2;
  logic [W:0] sum_2;
  logic sign_2, minus_2, nan_2, inf_2;
  always_ff @(posedge clk) begin
    sum_2 <= minus_1 ? {1'b0, big_1} - {1'b0, small_1} : {1'b0, big_1} + {1'b0, small_1};
    e_2 <= e_1;
    sign_2 <= sign_1;
    minus_2 <= minus_1;
    nan_2 <= nan_1;
    inf_2 <= inf_1;
  end

  // Stage 3: the leading one moves to its place, but not below the least exponent.
  logic [W:0] mirrored, leading;
  logic [LW-1:0] zeros;
  logic [EXP-1:0] most, left;
  always_comb begin
    for (int i = 0; i <= W; i++) mirrored[i] = sum_2[W-i];
    leading = mirrored & ~(mirrored - (W + 1)'(1));
    zeros = '0;
    for (int i = 0; i <= W; i++) zeros |= LW'(i) & {LW{leading[i]}};
    // One place is there for a carry: the hidden bit belongs one below the top.
    most = EXP'(zeros) - EXP'(1);
    left = most > e_2 - EXP'(1) ? e_2 - EXP'(1) : most;
  end
  logic [EXP:0] e_3;
  logic [W-1:0] m_3;
  logic sign_3, nan_3, inf_3;
  always_ff @(posedge clk) begin
    if (sum_2[W]) begin
      m_3 <= {sum_2[W:2], sum_2[1] | sum_2[0]};
      e_3 <= {1'b0, e_2} + (EXP + 1)'(1);
    end else begin
      m_3 <= sum_2[W-1:0] << left;
      e_3 <= {1'b0, e_2 - left};
    end
    sign_3 <= sign_2 & ~(minus_2 & sum_2 == '0);
    nan_3 <= nan_2;
    inf_3 <= inf_2;
  end

  // Stage 4: rounding. A carry out of the mantissa moves into the exponent by itself.
  logic [EXP+MAN:0] kept, rounded;
  logic up;
  assign up = m_3[2] & (m_3[1] | m_3[0] | m_3[3]);
  assign kept = {m_3[W-1] ? e_3 : '0, m_3[W-2:3]};
  assign rounded = kept + {{EXP + MAN{1'b0}}, up};
  always_ff @(posedge clk) begin
    if (nan_3) y <= NAN;
    else if (inf_3 || rounded >= {1'b0, INF}) y <= {sign_3, INF};
    else y <= {sign_3, rounded[EXP+MAN-1:0]};
  end

endmodule
