pragma circom 2.2.0;

include "shift.circom";

// before[j] = 1 if j < position, else 0, position = bits[0] + 2 bits[1] + 4 bits[2], boolean bits.
template PlacesBefore() {
    signal input bits[3];
    signal output before[7];

    // [C:append.low_and] both low bits.
    signal lowAnd <== bits[0] * bits[1];
    signal lowOr <== bits[0] + bits[1] - lowAnd;
    // [C:append.high_or] position 5, 6 or 7.
    before[4] <== bits[2] * lowOr;
    // [C:append.high_middle] position 6 or 7.
    before[5] <== bits[2] * bits[1];
    // [C:append.high_and] position 7.
    before[6] <== bits[2] * lowAnd;
    before[3] <== bits[2];
    before[2] <== bits[2] + lowAnd - before[6];
    before[1] <== bits[2] + bits[1] - before[5];
    before[0] <== bits[2] + lowOr - before[4];
}

// One level of an append: the children, before and after, of the nodes whose subtrees change. What stands left of the
// position stays (`left`, a witness), the node the path comes from stands at the position, and to its right the old
// tree is empty while the new one has the remaining n - 1 nodes. `empty` is the value of an empty child.
//
// Both sides are built from the same `left`, and the old one has nothing but empty children from the position on. So
// an old root that is matched leaves the prover no choice: by collision resistance `left` is what the tree holds,
// nothing stands right of the position, and the new tree differs from the old one in the new nodes only. Entries of
// `left` at the position and beyond are multiplied by 0 and do not matter.
template AppendChildren(n, empty) {
    var slots = 8 * ((n + 14) \ 8);
    signal input bits[3];
    signal input left[7];
    signal input oldNode;
    signal input newNodes[n];
    signal output oldChildren[8];
    signal output newChildren[slots];

    // [C:append.places_before] ..
    signal before[7] <== PlacesBefore()(bits);
    signal kept[7];
    for (var j = 0; j < 7; j++) {
        // [C:append.kept] a left sibling counts at places before the position only.
        kept[j] <== before[j] * (left[j] - empty);
    }

    // Differences to the empty child are shifted, so that the zeros that come in are empty children.
    signal oldShifted[8] <== ShiftRight(1)([oldNode - empty], bits);
    var differences[n];
    for (var i = 0; i < n; i++) {
        differences[i] = newNodes[i] - empty;
    }
    signal newShifted[n + 7] <== ShiftRight(n)(differences, bits);

    for (var j = 0; j < 8; j++) {
        oldChildren[j] <== empty + oldShifted[j] + (j < 7 ? kept[j] : 0);
    }
    for (var j = 0; j < slots; j++) {
        newChildren[j] <== empty + (j < n + 7 ? newShifted[j] : 0) + (j < 7 ? kept[j] : 0);
    }
}
