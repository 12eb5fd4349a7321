pragma circom 2.2.0;

include "append_children.circom";
include "empty_subtree.circom";
include "merkle.circom";

// The nodes over groups of eight children.
template Parents(n) {
    signal input children[8 * n];
    signal output nodes[n];

    for (var i = 0; i < n; i++) {
        var group[8];
        for (var j = 0; j < 8; j++) {
            group[j] = children[8 * i + j];
        }
        // [C:parents.node] each node is over its own group.
        nodes[i] <== TreeNode()(group);
    }
}

// The roots before and after 64 leaves are put into the tree from the place startBits on (the lowest bit first; they
// must be boolean), where everything was empty. 64 leaves touch at most nine groups of eight, and nine nodes in a row
// have at most two parents, as have two: 72 slots, nine nodes, then two a level, and the root. 36 hashes: one a level
// for the old tree, 26 for the new one. depth >= 3.
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
    signal newChildren[depth][16];
    signal oldNodes[depth];
    signal newNodes[depth][2];

    // [C:append_path.leaves] the first new leaf is at the place startBits, in the old tree nothing from there on.
    signal slots[72];
    (oldChildren[0], slots) <== AppendChildren(64, EMPTY_SUBTREE(0))(
        bits[0], leftSiblings[0], EMPTY_SUBTREE(0), leaves
    );
    oldNodes[0] <== TreeNode()(oldChildren[0]);
    signal groups[9] <== Parents(9)(slots);

    // [C:append_path.groups] the nine groups, side by side under two parents.
    (oldChildren[1], newChildren[1]) <== AppendChildren(9, EMPTY_SUBTREE(1))(
        bits[1], leftSiblings[1], oldNodes[0], groups
    );
    oldNodes[1] <== TreeNode()(oldChildren[1]);
    newNodes[1] <== Parents(2)(newChildren[1]);

    for (var level = 2; level < depth - 1; level++) {
        // [C:append_path.level] two changed nodes, side by side under two parents.
        (oldChildren[level], newChildren[level]) <== AppendChildren(2, EMPTY_SUBTREE(level))(
            bits[level], leftSiblings[level], oldNodes[level - 1], newNodes[level - 1]
        );
        oldNodes[level] <== TreeNode()(oldChildren[level]);
        newNodes[level] <== Parents(2)(newChildren[level]);
    }

    // [C:append_path.root] the last two, under the root.
    var top = depth - 1;
    (oldChildren[top], newChildren[top]) <== AppendChildren(2, EMPTY_SUBTREE(top))(
        bits[top], leftSiblings[top], oldNodes[top - 1], newNodes[top - 1]
    );
    oldRoot <== TreeNode()(oldChildren[top]);
    var children[8];
    for (var j = 0; j < 8; j++) {
        children[j] = newChildren[top][j];
    }
    newRoot <== TreeNode()(children);

    // [C:append_path.inside] the root has no right neighbour: leaves behind the last place would be counted and lost.
    newChildren[top][8] === EMPTY_SUBTREE(top);
}
