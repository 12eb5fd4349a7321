pragma circom 2.2.0;

include "domains.circom";
include "hash.circom";

// The tag that names the owner of a note without naming the key that spends it.
template OwnerTag() {
    signal input spendingKey;
    signal output tag;

    // [C:note.owner_tag] the tag follows from the key: who cannot open it does not own the note.
    tag <== Hash(1, DOMAIN_OWNER_TAG())([spendingKey]);
}

// The leaf of a note in the tree. amount: token base units; who uses it range-checks the amount. The blinding hides
// amount and tag, and keeps two notes of one owner and amount apart.
template NoteCommitment() {
    signal input amount;
    signal input ownerTag;
    signal input blinding;
    signal output commitment;

    // [C:note.commitment] binds amount and owner: a commitment opens to one note only.
    commitment <== Hash(3, DOMAIN_NOTE())([amount, ownerTag, blinding]);
}
