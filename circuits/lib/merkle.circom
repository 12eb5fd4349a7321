pragma circom 2.2.0;

include "circomlib/circuits/poseidon.circom";

// A node of the 8-ary tree: the Poseidon permutation of width 8 over the children, first lane, plus the first child.
// All eight lanes carry data, there is no capacity lane; adding the input (feed-forward) makes the permutation one
// way again. This is the compression mode of the Poseidon2 paper, 18 constraints a node cheaper than width 9.
template TreeNode() {
    signal input children[8];
    signal output node;

    var rest[7];
    for (var i = 0; i < 7; i++) {
        rest[i] = children[i + 1];
    }
    // [C:merkle.permutation] a node commits to its eight children.
    signal state[1] <== PoseidonEx(7, 1)(rest, children[0]);

    // [C:merkle.feed_forward] without the added input the permutation runs backwards, from any wanted node to children.
    node <== state[0] + children[0];
}

// children[index] == current, index = bits[0] + 2 bits[1] + 4 bits[2], by three layers of choices between two. The
// bits must be boolean.
template ChildAt() {
    signal input children[8];
    signal input bits[3];
    signal input current;

    signal fours[4];
    for (var i = 0; i < 4; i++) {
        // [C:merkle.choose_of_eight] the lowest bit picks one of two neighbours.
        fours[i] <== children[2 * i] + bits[0] * (children[2 * i + 1] - children[2 * i]);
    }
    signal twos[2];
    for (var i = 0; i < 2; i++) {
        // [C:merkle.choose_of_four] the middle bit picks one of two of those.
        twos[i] <== fours[2 * i] + bits[1] * (fours[2 * i + 1] - fours[2 * i]);
    }
    // [C:merkle.child_selected] what the highest bit picks of these is the node the path has come to.
    bits[2] * (twos[1] - twos[0]) === current - twos[0];
}

// The root of the tree that has `leaf` at the index given as bits, the lowest first; these must be boolean. The same
// bits give the place for the nullifier. pathChildren[0] holds the leaf and its siblings, pathChildren[k] the nodes k
// levels above.
template MerklePath(depth) {
    signal input leaf;
    signal input indexBits[3 * depth];
    signal input pathChildren[depth][8];
    signal output root;

    signal nodes[depth + 1];
    // [C:merkle.path_leaf] the path begins at the leaf.
    nodes[0] <== leaf;

    for (var level = 0; level < depth; level++) {
        var bits[3];
        for (var i = 0; i < 3; i++) {
            bits[i] = indexBits[3 * level + i];
        }
        // [C:merkle.path_child] the children of this level have the node below at its index.
        ChildAt()(pathChildren[level], bits, nodes[level]);

        // [C:merkle.path_parent] the next node is their parent.
        nodes[level + 1] <== TreeNode()(pathChildren[level]);
    }

    // [C:merkle.path_root] the path ends at the root.
    root <== nodes[depth];
}
