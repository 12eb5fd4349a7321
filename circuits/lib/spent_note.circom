pragma circom 2.2.0;

include "merkle.circom";
include "note.circom";
include "nullifier.circom";
include "range.circom";

// A note its owner spends: from the key and the note's content and place, the root of the tree it is in and the
// nullifier that marks it. A tree of depth levels has 8^depth places, and the index has that many bits: a larger one
// with the same bits below would give the note a second nullifier.
template SpentNote(depth) {
    signal input spendingKey;
    signal input amount;
    signal input blinding;
    signal input leafIndex;
    signal input pathChildren[depth][8];
    signal output ownerTag;
    signal output root;
    signal output nullifier;

    // [C:spent_note.owner] only who knows the key of the owner tag spends the note.
    ownerTag <== OwnerTag()(spendingKey);

    // [C:spent_note.commitment] the note that is spent is the one with this amount and owner.
    signal commitment <== NoteCommitment()(amount, ownerTag, blinding);

    // [C:spent_note.index] the place, in bits.
    signal indexBits[3 * depth] <== Bits(3 * depth)(leafIndex);

    // [C:spent_note.root] the commitment is in the tree, at this place.
    root <== MerklePath(depth)(commitment, indexBits, pathChildren);

    // [C:spent_note.nullifier] key, commitment and place have one nullifier: a second spend shows the same number.
    nullifier <== Nullifier()(spendingKey, commitment, leafIndex);
}
