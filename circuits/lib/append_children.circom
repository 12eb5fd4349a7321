pragma circom 2.2.0;

include "shift.circom";

// Marks the places before a position: before[j] = 1 if j < position, otherwise 0, for position = bits[0] + 2 bits[1] +
// 4 bits[2].
template PlacesBefore() {
    // The position in binary, lowest bit first. The caller constrains each bit to 0 or 1.
    signal input bits[3];
    // 1 for each place before the position, otherwise 0. Constrained by the groups below.
    signal output before[7];

    // [C:places_before.low] 1 if both low bits are set; 1 if at least one low bit is set.
    signal and <== bits[0] * bits[1];
    signal or <== bits[0] + bits[1] - and;

    // [C:places_before.upper] The position is above 3, 4, 5 or 6 if the high bit and the required low bits are set.
    before[3] <== bits[2];
    before[4] <== bits[2] * or;
    before[5] <== bits[2] * bits[1];
    before[6] <== bits[2] * and;

    // [C:places_before.lower] The position is above 0, 1 or 2 if the high bit or the required low bits are set.
    before[0] <== bits[2] + or - before[4];
    before[1] <== bits[2] + bits[1] - before[5];
    before[2] <== bits[2] + and - before[6];
}

// One level of an append: the children, before and after it, of the nodes whose subtrees change. The nodes left of the
// position stay (`left`, a witness). The node that the path comes from is at the position. Right of it, the old tree is
// empty, and the new tree has the other n - 1 new nodes. `empty` is the value of an empty child. The new children may
// extend into the next parent, which is then filled up with empty children.
//
// The old and the new children use the same `left`, and all old children after the position are empty. So a match with
// the old root leaves the prover no choice: by collision resistance, `left` is what the old tree has there, nothing was
// right of the position, and the new tree differs only in the new nodes. Entries of `left` at and after the position
// are multiplied by 0.
template AppendChildren(n, empty) {
    var slots = 8 * ((n + 14) \ 8);
    // The position in binary, lowest bit first. The caller constrains each bit to 0 or 1.
    signal input bits[3];
    // Siblings left of the position, field elements. The match of the old root constrains them.
    signal input left[7];
    // The old node at the position, a field element. The caller constrains it.
    signal input oldNode;
    // The new nodes from the position on, field elements. The caller constrains them.
    signal input newNodes[n];
    // Children of the parent in the old tree. Constrained by [C:append_children.old].
    signal output oldChildren[8];
    // Children of all parents in the new tree. Constrained by [C:append_children.new].
    signal output newChildren[slots];

    // [C:append_children.before] Marks the places left of the position.
    signal before[7] <== PlacesBefore()(bits);

    // Left siblings that count, as differences to the empty child.
    signal kept[7];
    for (var j = 0; j < 7; j++) {
        // [C:append_children.kept] A left sibling counts only left of the position. Elsewhere it would be a leaf that
        // nobody appended.
        kept[j] <== before[j] * (left[j] - empty);
    }

    // The shift applies to differences to the empty child, so that the zeros it brings in are empty children.
    var differences[n];
    for (var i = 0; i < n; i++) {
        differences[i] = newNodes[i] - empty;
    }
    // [C:append_children.old_shifted] The old node, moved to the position.
    signal oldShifted[8] <== ShiftRight(1)([oldNode - empty], bits);

    // [C:append_children.new_shifted] The new nodes, moved to the position and the places after it.
    signal newShifted[n + 7] <== ShiftRight(n)(differences, bits);

    for (var j = 0; j < 8; j++) {
        var stays = j < 7 ? kept[j] : 0;
        // [C:append_children.old] The children in the old tree.
        oldChildren[j] <== empty + stays + oldShifted[j];
    }
    for (var j = 0; j < slots; j++) {
        var stays = j < 7 ? kept[j] : 0;
        var arrives = j < n + 7 ? newShifted[j] : 0;
        // [C:append_children.new] The children in the new tree.
        newChildren[j] <== empty + stays + arrives;
    }
}
