pragma circom 2.2.0;

include "merkle.circom";
include "note.circom";
include "nullifier.circom";
include "range.circom";

// A note that its owner spends. Computes the root of the tree that contains the note, and the nullifier, from the
// spending key and from the content and the index of the note.
template SpentNote(depth) {
    // Spending key of the note, a field element. Constrained by [C:spent_note.owner].
    signal input spendingKey;
    // Token base units. The caller constrains the range.
    signal input amount;
    // Blinding of the note, a field element. Constrained by [C:spent_note.commitment].
    signal input blinding;
    // Index of the note in the tree, 3 * depth bits. Constrained by [C:spent_note.index].
    signal input leafIndex;
    // The eight children of every node on the path, leaves first. Constrained by [C:spent_note.root].
    signal input pathChildren[depth][8];
    // Owner tag of the note, a field element. Constrained by [C:spent_note.owner].
    signal output ownerTag;
    // Root of the tree, a field element. Constrained by [C:spent_note.root]; the caller compares it.
    signal output root;
    // Nullifier of the note, a field element. Constrained by [C:spent_note.nullifier].
    signal output nullifier;

    // [C:spent_note.owner] Only a prover who knows the spending key of the owner tag can spend the note.
    ownerTag <== OwnerTag()(spendingKey);

    // [C:spent_note.commitment] The spent note is the one with this amount and owner.
    signal commitment <== NoteCommitment()(amount, ownerTag, blinding);

    // [C:spent_note.index] An index with more bits would give the note a second nullifier.
    signal indexBits[3 * depth] <== Bits(3 * depth)(leafIndex);

    // [C:spent_note.root] The commitment is in the tree, at this index.
    root <== MerklePath(depth)(commitment, indexBits, pathChildren);

    // [C:spent_note.nullifier] Key, commitment and index have one nullifier, so a second spend shows the same number.
    nullifier <== Nullifier()(spendingKey, commitment, leafIndex);
}
