pragma circom 2.2.0;

include "append_children.circom";
include "empty_subtree.circom";
include "merkle.circom";

// The parent nodes of n groups of eight children.
template Parents(n) {
    // The children of all groups in order, field elements. The caller constrains them.
    signal input children[8 * n];
    // The parent of each group. Constrained by [C:parents.node].
    signal output nodes[n];

    for (var i = 0; i < n; i++) {
        var group[8];
        for (var j = 0; j < 8; j++) {
            group[j] = children[8 * i + j];
        }
        // [C:parents.node] Each node is the parent of its own group.
        nodes[i] <== TreeNode()(group);
    }
}

// Computes the roots before and after 64 leaves are inserted into the tree at an index from which every leaf was empty.
// 64 leaves touch at most nine groups of eight. Nine adjacent nodes have at most two parents, and so have two. So there
// are 72 slots, nine nodes, then two nodes on each level, and the root: 36 hashes, one on each level for the old tree
// and 26 for the new one. depth >= 3.
template AppendPath(depth) {
    // Index of the first leaf in binary, lowest bit first. The caller constrains each bit to 0 or 1.
    signal input startBits[3 * depth];
    // Siblings left of the path on each level, field elements. The match with the old root constrains them.
    signal input leftSiblings[depth][7];
    // The leaves, then zeros. The caller constrains them.
    signal input leaves[64];
    // Root before. Constrained by [C:append_path.root].
    signal output oldRoot;
    // Root after. Constrained by [C:append_path.root].
    signal output newRoot;

    var bits[depth][3];
    for (var level = 0; level < depth; level++) {
        for (var i = 0; i < 3; i++) {
            bits[level][i] = startBits[3 * level + i];
        }
    }
    // On each level, the children of the path's node in the old tree.
    signal oldChildren[depth][8];
    // On each level above the leaves, the children of the two changed nodes in the new tree.
    signal newChildren[depth][16];
    // On each level, the path's node in the old tree.
    signal oldNodes[depth];
    // On each level, the two changed nodes in the new tree.
    signal newNodes[depth][2];

    // [C:append_path.leaves] The first new leaf is at the start index. In the old tree, every leaf from there is empty.
    signal slots[72];
    (oldChildren[0], slots) <== AppendChildren(64, EMPTY_SUBTREE(0))(
        bits[0], leftSiblings[0], EMPTY_SUBTREE(0), leaves
    );
    oldNodes[0] <== TreeNode()(oldChildren[0]);
    signal groups[9] <== Parents(9)(slots);

    // [C:append_path.groups] The nodes of the nine groups are adjacent, under two parents.
    (oldChildren[1], newChildren[1]) <== AppendChildren(9, EMPTY_SUBTREE(1))(
        bits[1], leftSiblings[1], oldNodes[0], groups
    );
    oldNodes[1] <== TreeNode()(oldChildren[1]);
    newNodes[1] <== Parents(2)(newChildren[1]);

    for (var level = 2; level < depth - 1; level++) {
        // [C:append_path.level] The two changed nodes are adjacent, under two parents.
        (oldChildren[level], newChildren[level]) <== AppendChildren(2, EMPTY_SUBTREE(level))(
            bits[level], leftSiblings[level], oldNodes[level - 1], newNodes[level - 1]
        );
        oldNodes[level] <== TreeNode()(oldChildren[level]);
        newNodes[level] <== Parents(2)(newChildren[level]);
    }

    // [C:append_path.root] The last two changed nodes are under the root.
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

    // [C:append_path.inside] The root has no right neighbour. Leaves past the end of the tree would be lost.
    newChildren[top][8] === EMPTY_SUBTREE(top);
}
