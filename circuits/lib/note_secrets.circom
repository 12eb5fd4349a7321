pragma circom 2.2.0;

include "circomlib/circuits/poseidon.circom";
include "domains.circom";

// What the recipient derives from the shared point S and the ephemeral point R (their x): the blinding of the note it
// was paid, and the pad over the amount in the hint. So the ciphertext on chain delivers the whole note. Two outputs of
// one permutation of width 3: never all three, or it could be run backwards.
template NoteSecrets() {
    signal input sharedX;
    signal input ephemeralX;
    signal output blinding;
    signal output pad;

    // [C:note_secrets.hash] with secrets of the payer's choice the recipient could neither find nor spend its note.
    signal hash[2] <== PoseidonEx(2, 2)([sharedX, ephemeralX], DOMAIN_ENCRYPTION());
    blinding <== hash[0];
    pad <== hash[1];
}
