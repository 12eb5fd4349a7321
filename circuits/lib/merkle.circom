pragma circom 2.2.0;

include "poseidon.circom";

// A node of the 8-ary tree: the first lane of the Poseidon permutation of width 8 over the children, plus the first
// child. All eight lanes contain data, so there is no capacity lane. Adding the input (feed-forward) makes the function
// one-way again. This is the compression mode of the Poseidon2 paper. It saves 18 constraints per node over width 9.
template TreeNode() {
    // Field elements. The caller constrains them.
    signal input children[8];
    // The node, a field element. Constrained by [C:merkle.feed_forward].
    signal output node;

    var rest[7];
    for (var i = 0; i < 7; i++) {
        rest[i] = children[i + 1];
    }
    // [C:merkle.permutation] The node commits to its eight children.
    signal state[1] <== PoseidonEx(7, 1)(rest, children[0]);

    // [C:merkle.feed_forward] Without it, the prover could invert the permutation and find children for any node.
    node <== state[0] + children[0];
}

// Checks that children[index] == current for index = bits[0] + 2 bits[1] + 4 bits[2], with three layers of selections
// between two values.
template ChildAt() {
    // Field elements. The caller constrains them.
    signal input children[8];
    // The index in binary, lowest bit first. The caller constrains each bit to 0 or 1.
    signal input bits[3];
    // The expected child. Constrained by [C:merkle.child_selected].
    signal input current;

    // The children that remain after the lowest bit.
    signal fours[4];
    for (var i = 0; i < 4; i++) {
        // [C:merkle.choose_of_eight] For each pair of neighbouring children, the lowest bit selects one.
        fours[i] <== children[2 * i] + bits[0] * (children[2 * i + 1] - children[2 * i]);
    }
    // The children that remain after the middle bit.
    signal twos[2];
    for (var i = 0; i < 2; i++) {
        // [C:merkle.choose_of_four] For each pair of the four that remain, the middle bit selects one.
        twos[i] <== fours[2 * i] + bits[1] * (fours[2 * i + 1] - fours[2 * i]);
    }
    // [C:merkle.child_selected] The highest bit selects the expected child.
    bits[2] * (twos[1] - twos[0]) === current - twos[0];
}

// Computes the root of the tree that has `leaf` at an index. The nullifier uses the same index.
template MerklePath(depth) {
    // The leaf, a field element. The caller constrains it.
    signal input leaf;
    // The index in binary, lowest bit first. The caller constrains each bit to 0 or 1.
    signal input indexBits[3 * depth];
    // pathChildren[0] contains the leaf and its siblings, pathChildren[k] the nodes k levels above. Constrained on each
    // level by [C:merkle.path_child].
    signal input pathChildren[depth][8];
    // The root, a field element. Constrained by [C:merkle.path_root].
    signal output root;

    // The path's node on each level, from the leaf to the root.
    signal nodes[depth + 1];
    // [C:merkle.path_leaf] The path starts at the leaf.
    nodes[0] <== leaf;

    for (var level = 0; level < depth; level++) {
        var bits[3];
        for (var i = 0; i < 3; i++) {
            bits[i] = indexBits[3 * level + i];
        }
        // [C:merkle.path_child] The children on this level include the path's node, at its index.
        ChildAt()(pathChildren[level], bits, nodes[level]);

        // [C:merkle.path_parent] The next node is their parent.
        nodes[level + 1] <== TreeNode()(pathChildren[level]);
    }

    // [C:merkle.path_root] The path ends at the root.
    root <== nodes[depth];
}
