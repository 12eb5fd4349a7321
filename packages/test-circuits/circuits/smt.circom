pragma circom 2.0.0;
include "circomlib/circuits/smt/smtverifier.circom";
component main { public [enabled, root, key, value, fnc] } = SMTVerifier(20);
