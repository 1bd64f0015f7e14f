// What the modules of the reduction unit share: the kinds of packets, the policies by their names in YAML, and
// the part of a header that does not depend on the number of ports. These stand outside of a package because Yosys 0.23 imports none;
// this file is read before the others.
typedef enum logic [2:0] {
  KIND_REDUCE_WRITE = 3'd0,  // a contribution that is pushed
  KIND_LOAD_REDUCE  = 3'd1,  // a request for a sum
  KIND_REPLY        = 3'd2,  // a contribution to a sum that was asked for
  KIND_MULTICAST    = 3'd3,  // data for every member
  KIND_RESULT       = 3'd4,  // a finished sum
  KIND_PARTIAL      = 3'd5   // a sum of some contributions, for the home GPU
} kind_t;

// inc.table_full
typedef enum logic [1:0] {
  TABLE_FULL_STALL  = 2'd0,
  TABLE_FULL_BYPASS = 2'd1,
  TABLE_FULL_EVICT  = 2'd2
} table_full_t;

// inc.accumulate
typedef enum logic {
  ACCUMULATE_FP32 = 1'b0,
  ACCUMULATE_WIRE = 1'b1
} accumulate_t;

// What a request does where the table has room: further in than the first switch it may do without.
typedef enum logic [1:0] {
  OPEN_NEVER   = 2'd0,
  OPEN_IF_ROOM = 2'd1,
  OPEN_ALWAYS  = 2'd2
} open_t;

typedef logic [43:0] key_t;  // region and offset

// A block of a region, the ranks in a contribution, and the row of the multicast table that the switch looked
// up for the region. The targets (one bit per port) go beside it.
typedef struct packed {
  kind_t       kind;
  logic [11:0] region;
  logic [31:0] offset;
  logic [9:0]  first;        // lowest rank in it
  logic [10:0] count;        // ranks in it
  logic [12:0] bytes;        // of payload
  logic [7:0]  from;         // port by which it came
  logic        from_gpu;     // its sender is a GPU, which gets an acknowledgement
  logic        bf16;         // else fp32
  logic        sums;         // inc.levels: this switch sums what is pushed
  open_t       open;         // of a request: see OPEN_*
  logic [10:0] expected;     // ranks of a complete sum here
  kind_t       result_kind;  // what a complete sum goes on as
  logic [7:0]  home;         // port that leads to the home GPU
  logic        home_here;    // the home GPU is at that port
} header_t;

// An entry of the table; its targets and its slot go beside it.
typedef struct packed {
  logic        valid;
  key_t        key;
  logic [9:0]  first;
  logic [10:0] count;
  logic [10:0] expected;
  logic        push;         // else its contributions were asked for
  logic        complete;
  logic        bf16;
  logic [12:0] bytes;
  kind_t       result_kind;
  logic [7:0]  home;
} entry_t;

// The header of a packet that leaves.
typedef struct packed {
  kind_t       kind;
  key_t        key;
  logic [9:0]  first;
  logic [10:0] count;
  logic [12:0] bytes;
  logic        bf16;
  logic [7:0]  from;         // of a packet that is passed on: where its place becomes free
} out_header_t;
