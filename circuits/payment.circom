pragma circom 2.2.0;

include "lib/bound.circom";
include "lib/elgamal.circom";
include "lib/note.circom";
include "lib/note_secrets.circom";
include "lib/range.circom";
include "lib/recipient.circom";
include "lib/spent_note.circom";

// A private payment. It spends one note and makes two: one for the recipient, encrypted to it, and the change, for the
// owner tag that the payer chooses. No public signal reveals the payer, the recipient or the amount. circuits.json
// describes every input as callers see it.
template Payment(depth) {
    // ====================================================================================================== PUBLIC ==
    // Salted hash of the recipient's wallet, encryption key and owner tag. Constrained in 8.
    signal input recipientAddress;
    // Hash of chain, pool, expiry and resource, a field element. The contract computes it; bound in 9.
    signal input resourceUrl;
    // Edwards x of R; Edwards x of C plus the sender commitment. Constrained in 5.
    signal input encryptedAmount[2];
    // pad + amount mod p. Constrained in 6.
    signal input amountHint;
    // Root of the tree that contains the spent note. Constrained in 2; the contract checks that it is known.
    signal input root;
    // Nullifier of the spent note. Constrained in 3.
    signal input nullifier;
    // Commitments of the recipient's note and of the change note. Constrained in 7.
    signal input commitments[2];
    // changePad + changeAmount mod p, a field element for the payer. Bound in 9.
    signal input changeHint;

    // ===================================================================================================== PRIVATE ==
    // Spending key of the spent note, a field element. Constrained in 2.
    signal input spendingKey;
    // Blinding of the spent note, a field element. Constrained in 2.
    signal input inputBlinding;
    // Index of the spent note in the tree, 3 * depth bits. Constrained in 2.
    signal input leafIndex;
    // The eight children of every node on the path, leaves first. Constrained in 2.
    signal input pathChildren[depth][8];
    // The recipient's wallet address. Constrained in 8.
    signal input wallet;
    // Montgomery (u, v) of Q, where 8 Q is the recipient's encryption key. ElGamal constrains it to the curve.
    signal input recipientQ[2];
    // Owner tag of the recipient's note, a field element. Constrained in 7 and 8.
    signal input recipientTag;
    // Blinding of the sender commitment, a field element. Free: the payer chooses it.
    signal input senderNonce;
    // b, 249 bits; the encryption scalar is r = 2b + 2^249 + 1. Nothing to constrain: every choice of bits is allowed.
    signal input scalar;
    // Token base units for the recipient, 64 bits. Constrained in 1.
    signal input amount;
    // Token base units of the change note, 64 bits. Constrained in 1.
    signal input changeAmount;
    // Owner tag of the change note, a field element. Free: the payer chooses it.
    signal input changeTag;
    // Blinding of the change note, a field element. Free: the payer chooses it.
    signal input changeBlinding;

    // =================================================================================================== STATEMENT ==
    // 1. The amount and the change are 64-bit integers.
    // [C:payment.amount_range] With a negative amount, the change would exceed the spent note.
    signal amountBits[64] <== Bits(64)(amount);

    // [C:payment.change_range] With a negative change, the amount would exceed the spent note.
    Range(64)(changeAmount);

    // 2. The payer owns a note in the tree, whose amount is the sum of the amount and the change.
    // [C:payment.spent_note] The money comes from a note, and from nowhere else.
    signal (spentTag, spentRoot, spentNullifier) <== SpentNote(depth)(
        spendingKey, amount + changeAmount, inputBlinding, leafIndex, pathChildren
    );

    // [C:payment.root] The note is in the pool's tree, not in a tree that the payer made up.
    root === spentRoot;

    // 3. The nullifier is that of the spent note.
    // [C:payment.nullifier] With a free nullifier, the payer could spend the note again and again.
    nullifier === spentNullifier;

    // 4. The payment commits to its sender. Those who receive the opening learn the sender.
    // [C:payment.sender] The sender is the owner of the spent note.
    signal senderCommitment <== SenderCommitment()(spentTag, senderNonce);

    // 5. The ciphertext contains the amount, encrypted for the recipient's key.
    // [C:payment.encryption] The ciphertext encrypts exactly this amount, for a key of the prime-order subgroup.
    signal (recipientKeyX, sharedX, ephemeralX, cipherX) <== ElGamal()(recipientQ, scalar, amountBits);

    // [C:payment.ephemeral] The chain shows R, from which the recipient derives everything else.
    encryptedAmount[0] === ephemeralX;

    // [C:payment.cipher] The range proof is about this C, but the chain must not see it. Anyone who guesses the amount
    // could compute S = C - amount Base8 and, from S, the pad and the blinding, which confirm the guess. The sender
    // commitment is fresh, secret and bound by recipientAddress, so it hides C like a one-time pad from everyone who
    // does not receive the bundle.
    encryptedAmount[1] === cipherX + senderCommitment;

    // 6. The hint gives the recipient the amount without a discrete logarithm.
    // [C:payment.secrets] The blinding and the pad are those that the recipient will derive.
    signal (recipientBlinding, pad) <== NoteSecrets()(sharedX, ephemeralX);

    // [C:payment.hint] A false hint would show the recipient an amount that it was not paid.
    amountHint === pad + amount;

    // 7. The first note belongs to the recipient, the second is the change.
    // [C:payment.recipient_note] The recipient can open its note: amount and blinding are those of the ciphertext.
    signal recipientNote <== NoteCommitment()(amount, recipientTag, recipientBlinding);
    commitments[0] === recipientNote;

    // [C:payment.change_note] The change note is worth the rest of the spent note, not more.
    signal changeNote <== NoteCommitment()(changeAmount, changeTag, changeBlinding);
    commitments[1] === changeNote;

    // 8. The payment commits to its recipient. Those who receive the opening learn the recipient.
    // [C:payment.recipient] The key and the owner tag of the paid note belong to the recipient whose wallet is named.
    signal recipient <== Recipient()(wallet, recipientKeyX, recipientTag, senderCommitment);
    recipientAddress === recipient;

    // 9. The payment is for one resource on one chain and pool, and has one hint for its change.
    // [C:payment.resource] Without it, the proof could be moved to another resource.
    Bound()(resourceUrl);

    // [C:payment.change_hint] Without it, a front-runner could replace the hint and hide the change from the payer.
    Bound()(changeHint);
}

component main { public [
    recipientAddress, resourceUrl, encryptedAmount, amountHint, root, nullifier, commitments, changeHint
] } = Payment(10);
