pragma circom 2.2.0;

include "lib/bound.circom";
include "lib/elgamal.circom";
include "lib/note.circom";
include "lib/note_secrets.circom";
include "lib/range.circom";
include "lib/recipient.circom";
include "lib/spent_note.circom";

// A private payment. One note is spent; one goes to the recipient, encrypted to it, and one, the change, to whoever the
// payer names. Nothing public tells who pays, who is paid or how much. Signals are described in circuits.json.
template Payment(depth) {
    // ====================================================================================================== PUBLIC ==
    signal input recipientAddress;
    signal input resourceUrl;
    signal input encryptedAmount[2];
    signal input amountHint;
    signal input root;
    signal input nullifier;
    signal input commitments[2];
    signal input changeHint;

    // ===================================================================================================== PRIVATE ==
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

    // =================================================================================================== STATEMENT ==
    // 1. Amount and change are 64-bit integers.
    // [C:payment.amount_range] a negative amount would leave more change than was spent.
    signal amountBits[64] <== Bits(64)(amount);

    // [C:payment.change_range] a negative change would pay more than was spent.
    Range(64)(changeAmount);

    // 2. The payer owns a note in the tree, and its amount is what is paid and what is left.
    // [C:payment.spent_note] money comes from a note, and from nowhere else.
    signal (spentTag, spentRoot, spentNullifier) <== SpentNote(depth)(
        spendingKey, amount + changeAmount, inputBlinding, leafIndex, pathChildren
    );

    // [C:payment.root] the tree is the pool's, not one of the payer's own.
    root === spentRoot;

    // 3. The nullifier is that note's.
    // [C:payment.nullifier] with a free nullifier a note could be spent again and again.
    nullifier === spentNullifier;

    // 4. The payment names its sender, to those who are told how to open it.
    // [C:payment.sender] the sender is the owner of the spent note.
    signal senderCommitment <== SenderCommitment()(spentTag, senderNonce);

    // 5. The ciphertext holds the amount, for the recipient's key.
    // [C:payment.encryption] encryption of exactly this amount, under a key of the prime-order subgroup.
    signal (recipientKeyX, sharedX, ephemeralX, cipherX) <== ElGamal()(recipientQ, scalar, amountBits);

    // [C:payment.ephemeral] the point R on chain, from which the recipient derives everything.
    encryptedAmount[0] === ephemeralX;

    // [C:payment.cipher] the point C, which the range proof is about. The chain must not see it: whoever guesses the
    // amount has S = C - amount Base8 from it, and from S the pad and the blinding, which say whether the guess was
    // right. The sender commitment is fresh, secret and bound by the recipient's signal, so it hides C as a one-time
    // pad does, from all but those the payer shows the bundle to.
    encryptedAmount[1] === cipherX + senderCommitment;

    // 6. The hint gives the recipient the amount without a discrete logarithm.
    // [C:payment.secrets] blinding and pad are those the recipient will derive.
    signal (recipientBlinding, pad) <== NoteSecrets()(sharedX, ephemeralX);

    // [C:payment.hint] a false hint would show the recipient another amount than it was paid.
    amountHint === pad + amount;

    // 7. The first note is the recipient's, the second the change.
    // [C:payment.recipient_note] the recipient can open it: amount and blinding are those of the ciphertext.
    signal recipientNote <== NoteCommitment()(amount, recipientTag, recipientBlinding);
    commitments[0] === recipientNote;

    // [C:payment.change_note] the change is worth what is left of the spent note, not more.
    signal changeNote <== NoteCommitment()(changeAmount, changeTag, changeBlinding);
    commitments[1] === changeNote;

    // 8. The payment names its recipient, to the same.
    // [C:payment.recipient] key and tag of the paid note are those of the recipient whose wallet is named.
    signal recipient <== Recipient()(wallet, recipientKeyX, recipientTag, senderCommitment);
    recipientAddress === recipient;

    // 9. The payment is for one resource on one chain and pool, and carries one hint for its change.
    // [C:payment.resource] without it the proof could be moved to another resource.
    Bound()(resourceUrl);

    // [C:payment.change_hint] without it a front-runner could replace the hint and so hide the payer's change from it.
    Bound()(changeHint);
}

component main { public [
    recipientAddress, resourceUrl, encryptedAmount, amountHint, root, nullifier, commitments, changeHint
] } = Payment(10);
