pragma circom 2.2.0;

include "shift.circom";

// before[j] = 1 if j < position, else 0, for position = bits[0] + 2 bits[1] + 4 bits[2]. The bits must be boolean.
template PlacesBefore() {
    signal input bits[3];
    signal output before[7];

    // [C:places_before.low] both low bits; either low bit.
    signal and <== bits[0] * bits[1];
    signal or <== bits[0] + bits[1] - and;

    // [C:places_before.upper] positions above 3 to above 6: the high bit and what of the low ones is needed.
    before[3] <== bits[2];
    before[4] <== bits[2] * or;
    before[5] <== bits[2] * bits[1];
    before[6] <== bits[2] * and;

    // [C:places_before.lower] positions above 0 to above 2: the high bit or what of the low ones is needed.
    before[0] <== bits[2] + or - before[4];
    before[1] <== bits[2] + bits[1] - before[5];
    before[2] <== bits[2] + and - before[6];
}

// One level of an append: the children, before and after, of the nodes whose subtrees change. What is left of the
// position stays (`left`, a witness); the node the path comes from is at the position; right of it the old tree is
// empty, and the new one has the other n - 1 new nodes. `empty` is the value of an empty child. The new children may
// go on into the next parent and fill it up with empty ones.
//
// Both sides have the same `left`, and the old one has nothing but empty children behind the position. So an old root
// that is matched leaves no choice: by collision resistance `left` is what the old tree has there, nothing was right
// of the position, and the new tree differs in the new nodes only. What `left` has at and behind the position is
// multiplied by 0.
template AppendChildren(n, empty) {
    var slots = 8 * ((n + 14) \ 8);
    signal input bits[3];
    signal input left[7];
    signal input oldNode;
    signal input newNodes[n];
    signal output oldChildren[8];
    signal output newChildren[slots];

    // [C:append_children.before] which places are left of the position.
    signal before[7] <== PlacesBefore()(bits);

    signal kept[7];
    for (var j = 0; j < 7; j++) {
        // [C:append_children.kept] left siblings count left of the position only: elsewhere they would be leaves that
        // nobody appended.
        kept[j] <== before[j] * (left[j] - empty);
    }

    // Differences to the empty child are shifted, so that the zeros that come in are empty children.
    var differences[n];
    for (var i = 0; i < n; i++) {
        differences[i] = newNodes[i] - empty;
    }
    // [C:append_children.old_shifted] the old node, at the position.
    signal oldShifted[8] <== ShiftRight(1)([oldNode - empty], bits);

    // [C:append_children.new_shifted] the new nodes, from the position on.
    signal newShifted[n + 7] <== ShiftRight(n)(differences, bits);

    for (var j = 0; j < 8; j++) {
        var stays = j < 7 ? kept[j] : 0;
        // [C:append_children.old] the children before.
        oldChildren[j] <== empty + stays + oldShifted[j];
    }
    for (var j = 0; j < slots; j++) {
        var stays = j < 7 ? kept[j] : 0;
        var arrives = j < n + 7 ? newShifted[j] : 0;
        // [C:append_children.new] the children after.
        newChildren[j] <== empty + stays + arrives;
    }
}
