/**
 * The source of a circuit of bits and hashes: it computes the Poseidon Merkle roots of paths from 64-bit leaves. It has
 * about 520 constraints for each of the `paths * levels` hashes at circom's --O1.
 */
export const largeCircuit = (paths: number, levels: number): string => `pragma circom 2.0.0;
include "circomlib/circuits/poseidon.circom";
include "circomlib/circuits/bitify.circom";
include "circomlib/circuits/mux1.circom";
template Path(levels) {
    signal input leaf;
    signal input index;
    signal input siblings[levels];
    signal output root;
    component range = Num2Bits(64);
    range.in <== leaf;
    component bits = Num2Bits(levels);
    bits.in <== index;
    component pick[levels];
    component hash[levels];
    signal nodes[levels + 1];
    nodes[0] <== leaf;
    for (var i = 0; i < levels; i++) {
        pick[i] = MultiMux1(2);
        pick[i].c[0][0] <== nodes[i];
        pick[i].c[0][1] <== siblings[i];
        pick[i].c[1][0] <== siblings[i];
        pick[i].c[1][1] <== nodes[i];
        pick[i].s <== bits.out[i];
        hash[i] = Poseidon(2);
        hash[i].inputs[0] <== pick[i].out[0];
        hash[i].inputs[1] <== pick[i].out[1];
        nodes[i + 1] <== hash[i].out;
    }
    root <== nodes[levels];
}
template Paths(paths, levels) {
    signal input leaf[paths];
    signal input index[paths];
    signal input siblings[paths][levels];
    signal output root[paths];
    component path[paths];
    for (var i = 0; i < paths; i++) {
        path[i] = Path(levels);
        path[i].leaf <== leaf[i];
        path[i].index <== index[i];
        path[i].siblings <== siblings[i];
        root[i] <== path[i].root;
    }
}
component main = Paths(${paths}, ${levels});`;
