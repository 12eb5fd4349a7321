pragma circom 2.2.0;

include "lib/bound.circom";
include "lib/elgamal.circom";
include "lib/merkle.circom";
include "lib/note.circom";
include "lib/nullifier.circom";
include "lib/range.circom";

// A private payment: one note in, a note to the recipient and a change note out.
template Payment(depth) {
    // ======================================================================================================== PUBLIC
    signal input recipientAddress;
    signal input resourceUrl;
    signal input encryptedAmount[2];
    signal input amountHint;
    signal input root;
    signal input nullifier;
    signal input commitments[2];
    signal input changeHint;

    // ======================================================================================================= PRIVATE
    signal input spendingKey;
    signal input inputBlinding;
    signal input leafIndex;
    signal input pathChildren[depth][8];
    signal input wallet;
    signal input recipientQ[2];
    signal input recipientTag;
    signal input senderNonce;
    signal input scalar;
    signal input amount;
    signal input changeAmount;
    signal input changeTag;
    signal input changeBlinding;

    // 1. Both amounts are 64 bits
    signal amountBits[64] <== Bits(64)(amount);
    Range(64)(changeAmount);

    // 2.
    signal spentTag <== OwnerTag()(spendingKey);
    signal spentNote <== NoteCommitment()(amount + changeAmount, spentTag, inputBlinding);

    // 3.
    signal indexBits[3 * depth] <== Bits(3 * depth)(leafIndex);
    signal spentRoot <== MerklePath(depth)(spentNote, indexBits, pathChildren);
    root === spentRoot;

    // 4.
    signal spentNullifier <== Nullifier()(spendingKey, spentNote, leafIndex);
    nullifier === spentNullifier;

    // 5.
    signal (recipientKeyX, sharedX, ephemeralX, cipherX) <== ElGamal()(recipientQ, scalar, amountBits);
    encryptedAmount[0] === ephemeralX;
    encryptedAmount[1] === cipherX;

    // 6.
    signal secrets[2] <== PoseidonEx(2, 2)([sharedX, ephemeralX], DOMAIN_ENCRYPTION());
    amountHint === secrets[1] + amount;

    // 7.
    signal recipientNote <== NoteCommitment()(amount, recipientTag, secrets[0]);
    commitments[0] === recipientNote;
    signal changeNote <== NoteCommitment()(changeAmount, changeTag, changeBlinding);
    commitments[1] === changeNote;

    // 8.
    signal senderCommitment <== Hash(2, DOMAIN_SENDER_COMMITMENT())([spentTag, senderNonce]);
    signal recipient <== Hash(4, DOMAIN_RECIPIENT())([wallet, recipientKeyX, recipientTag, senderCommitment]);
    recipientAddress === recipient;

    // 9.
    Bound()(resourceUrl);
    Bound()(changeHint);
}

component main { public [
    recipientAddress, resourceUrl, encryptedAmount, amountHint, root, nullifier, commitments, changeHint
] } = Payment(10);
