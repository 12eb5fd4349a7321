pragma circom 2.2.0;

include "domains.circom";
include "hash.circom";

// What the recipient derives from the shared point S and the ephemeral point R (their x): the blinding of the note it
// was paid, and the pad over the amount in the hint. So the ciphertext on chain delivers the whole note.
template NoteSecrets() {
    signal input sharedX;
    signal input ephemeralX;
    signal output blinding;
    signal output pad;

    // [C:note_secrets.hash] with secrets of the payer's choice the recipient could neither find nor spend its note.
    signal hash[2] <== Hash(2, 2, DOMAIN_ENCRYPTION())([sharedX, ephemeralX]);
    blinding <== hash[0];
    pad <== hash[1];
}
