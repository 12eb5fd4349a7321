pragma circom 2.2.0;

include "domains.circom";
include "hash.circom";

// The tag that names the owner of a note without revealing the spending key.
template OwnerTag() {
    // A field element. Constrained by [C:note.owner_tag].
    signal input spendingKey;
    // The owner tag, a field element. Constrained by [C:note.owner_tag].
    signal output tag;

    // [C:note.owner_tag] Without it, the prover could claim any owner tag and spend the notes of others.
    tag <== Hash(1, DOMAIN_OWNER_TAG())([spendingKey]);
}

// The commitment of a note, which is its leaf in the tree.
template NoteCommitment() {
    // Token base units. The caller constrains the range.
    signal input amount;
    // Owner tag of the note, a field element. The caller constrains it.
    signal input ownerTag;
    // A field element. It hides the amount and the tag, and makes two notes of the same owner and amount different.
    signal input blinding;
    // The commitment, a field element. Constrained by [C:note.commitment].
    signal output commitment;

    // [C:note.commitment] Binds the amount and the owner: a commitment opens to one note only.
    commitment <== Hash(3, DOMAIN_NOTE())([amount, ownerTag, blinding]);
}
