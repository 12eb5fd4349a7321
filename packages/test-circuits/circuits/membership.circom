pragma circom 2.0.0;
include "circomlib/circuits/mux1.circom";
include "circomlib/circuits/poseidon.circom";

// A member of a group signals once for each scope, as in Semaphore.
template Membership(levels) {
  signal input secret;
  signal input siblings[levels];
  signal input sides[levels];
  signal input scope;
  signal input message;
  signal output root;
  signal output nullifier;

  signal nodes[levels + 1];
  nodes[0] <== Poseidon(1)([secret]);
  component switches[levels];
  for (var level = 0; level < levels; level++) {
    sides[level] * (1 - sides[level]) === 0;
    switches[level] = MultiMux1(2);
    switches[level].c[0][0] <== nodes[level];
    switches[level].c[0][1] <== siblings[level];
    switches[level].c[1][0] <== siblings[level];
    switches[level].c[1][1] <== nodes[level];
    switches[level].s <== sides[level];
    nodes[level + 1] <== Poseidon(2)([switches[level].out[0], switches[level].out[1]]);
  }
  root <== nodes[levels];
  nullifier <== Poseidon(2)([scope, secret]);
  signal messageSquared <== message * message;
}

component main { public [scope, message] } = Membership(20);
