pragma circom 2.2.0;

include "poseidon.circom";
include "domains.circom";

// The secrets that the recipient derives from the shared point S and the ephemeral point R: the blinding of its note,
// and the pad that hides the amount in the hint. So the ciphertext on chain delivers the whole note. They are two lanes
// of one permutation of width 3. All three lanes must never be used, because then the permutation could be inverted.
template NoteSecrets() {
    // Edwards x of S. The caller constrains it.
    signal input sharedX;
    // Edwards x of R. The caller constrains it.
    signal input ephemeralX;
    // Blinding of the recipient's note, a field element. Constrained by [C:note_secrets.hash].
    signal output blinding;
    // Pad of the amount hint, a field element. Constrained by [C:note_secrets.hash].
    signal output pad;

    // [C:note_secrets.hash] If the payer chose these secrets freely, the recipient could not find or spend its note.
    signal hash[2] <== PoseidonEx(2, 2)([sharedX, ephemeralX], DOMAIN_ENCRYPTION());
    blinding <== hash[0];
    pad <== hash[1];
}
