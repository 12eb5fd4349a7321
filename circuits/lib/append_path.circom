pragma circom 2.2.0;

include "append_children.circom";
include "empty_subtree.circom";
include "merkle.circom";

// Nodes over `count` groups of eight children.
template Parents(count) {
    signal input children[8 * count];
    signal output nodes[count];

    for (var i = 0; i < count; i++) {
        var group[8];
        for (var j = 0; j < 8; j++) {
            group[j] = children[8 * i + j];
        }
        nodes[i] <== TreeNode()(group);
    }
}

// The root before and after 64 leaves are put into the tree from startIndex on (bits, the lowest first), all places
// from there on being empty before. 64 leaves starting anywhere touch nine groups of eight at most; nine nodes in a row
// have two parents at most, and so have two: 72 slots, then nine nodes, then two a level, then the root.
// depth >= 3.
template AppendPath(depth) {
    signal input startBits[3 * depth];
    signal input leftSiblings[depth][7];
    signal input leaves[64];
    signal output oldRoot;
    signal output newRoot;

    var bits[depth][3];
    for (var level = 0; level < depth; level++) {
        for (var i = 0; i < 3; i++) {
            bits[level][i] = startBits[3 * level + i];
        }
    }

    signal oldChildren[depth][8];
    signal oldNodes[depth + 1];
    oldNodes[0] <== EMPTY_SUBTREE(0);

    signal slots[72];
    (oldChildren[0], slots) <== AppendChildren(64, EMPTY_SUBTREE(0))(bits[0], leftSiblings[0], oldNodes[0], leaves);
    signal groups[9] <== Parents(9)(slots);
    oldNodes[1] <== TreeNode()(oldChildren[0]);

    signal newChildren[depth][16];
    signal newNodes[depth][2];
    (oldChildren[1], newChildren[1]) <== AppendChildren(9, EMPTY_SUBTREE(1))(bits[1], leftSiblings[1], oldNodes[1], groups);
    newNodes[1] <== Parents(2)(newChildren[1]);
    oldNodes[2] <== TreeNode()(oldChildren[1]);

    for (var level = 2; level < depth; level++) {
        (oldChildren[level], newChildren[level]) <== AppendChildren(2, EMPTY_SUBTREE(level))(
            bits[level], leftSiblings[level], oldNodes[level], newNodes[level - 1]
        );
        oldNodes[level + 1] <== TreeNode()(oldChildren[level]);
        if (level < depth - 1) {
            newNodes[level] <== Parents(2)(newChildren[level]);
        }
    }

    // The root has no right neighbour.
    // [C:append.inside_tree] leaves beyond the last place of the tree would be evaluated but inserted nowhere.
    newChildren[depth - 1][8] === EMPTY_SUBTREE(depth - 1);
    var top[8];
    for (var j = 0; j < 8; j++) {
        top[j] = newChildren[depth - 1][j];
    }
    newRoot <== TreeNode()(top);
    oldRoot <== oldNodes[depth];
}
