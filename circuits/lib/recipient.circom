pragma circom 2.2.0;

include "domains.circom";
include "hash.circom";

// A commitment to the sender of a payment: to the owner tag of the spent note, with a nonce that the sender can reveal
// later.
template SenderCommitment() {
    // Owner tag of the spent note, a field element. The caller constrains it.
    signal input ownerTag;
    // Blinding of the commitment, a field element. Free: the payer chooses it.
    signal input nonce;
    // The sender commitment, a field element. Constrained by [C:recipient.sender].
    signal output commitment;

    // [C:recipient.sender] Binds the sender. Without it, anyone could later claim to have paid.
    commitment <== Hash(2, DOMAIN_SENDER_COMMITMENT())([ownerTag, nonce]);
}

// The recipient as the chain sees it: a hash of wallet address and shielded address (encryption key, owner tag), salted
// with the sender commitment, which the chain never sees.
template Recipient() {
    // The recipient's wallet address. It needs no range check: the verifier compares an opening with an address
    // that it knows, so a number above 160 bits never matches.
    signal input wallet;
    // Edwards x of the recipient's encryption key. The caller constrains it.
    signal input keyX;
    // The recipient's owner tag, a field element. The caller constrains it.
    signal input ownerTag;
    // The salt, a field element. The caller constrains it.
    signal input senderCommitment;
    // The hash, a field element. Constrained by [C:recipient.address].
    signal output address;

    // [C:recipient.address] Binds the recipient. Without it, a payer could show one payment to many recipients.
    address <== Hash(4, DOMAIN_RECIPIENT())([wallet, keyX, ownerTag, senderCommitment]);
}
