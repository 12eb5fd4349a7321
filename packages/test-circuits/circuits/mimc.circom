pragma circom 2.0.0;
include "circomlib/circuits/mimc.circom";
component main { public [k] } = MultiMiMC7(3, 91);
