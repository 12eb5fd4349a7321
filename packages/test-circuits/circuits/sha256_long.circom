pragma circom 2.0.0;
include "circomlib/circuits/sha256/sha256.circom";
// Eight blocks: 2^18 rows.
component main = Sha256(3648);
