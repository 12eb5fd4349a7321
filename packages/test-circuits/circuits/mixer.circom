pragma circom 2.0.0;
include "circomlib/circuits/bitify.circom";
include "circomlib/circuits/mimcsponge.circom";
include "circomlib/circuits/pedersen.circom";

template HashPair() {
  signal input left;
  signal input right;
  signal output out;
  component sponge = MiMCSponge(2, 220, 1);
  sponge.ins[0] <== left;
  sponge.ins[1] <== right;
  sponge.k <== 0;
  out <== sponge.outs[0];
}

// A withdrawal from a tree of deposits, as in Tornado Cash.
template Mixer(levels) {
  signal input nullifier;
  signal input secret;
  signal input siblings[levels];
  signal input sides[levels];
  signal input recipient;
  signal input fee;
  signal output root;
  signal output nullifierHash;

  component nullifierBits = Num2Bits(248);
  component secretBits = Num2Bits(248);
  nullifierBits.in <== nullifier;
  secretBits.in <== secret;
  component commitment = Pedersen(496);
  component hashed = Pedersen(248);
  for (var bit = 0; bit < 248; bit++) {
    hashed.in[bit] <== nullifierBits.out[bit];
    commitment.in[bit] <== nullifierBits.out[bit];
    commitment.in[bit + 248] <== secretBits.out[bit];
  }
  nullifierHash <== hashed.out[0];

  signal nodes[levels + 1];
  signal lefts[levels];
  signal rights[levels];
  nodes[0] <== commitment.out[0];
  for (var level = 0; level < levels; level++) {
    sides[level] * (1 - sides[level]) === 0;
    lefts[level] <== nodes[level] + sides[level] * (siblings[level] - nodes[level]);
    rights[level] <== siblings[level] + nodes[level] - lefts[level];
    nodes[level + 1] <== HashPair()(lefts[level], rights[level]);
  }
  root <== nodes[levels];
  signal recipientSquared <== recipient * recipient;
  signal feeSquared <== fee * fee;
}

component main { public [recipient, fee] } = Mixer(8);
