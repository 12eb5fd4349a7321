pragma circom 2.2.0;

include "domains.circom";
include "hash.circom";

// Who paid, as a commitment: to the owner tag of the spent note, blinded by a nonce that the sender can reveal later.
template SenderCommitment() {
    signal input ownerTag;
    signal input nonce;
    signal output commitment;

    // [C:recipient.sender] binds the sender: otherwise anyone could later claim to have paid.
    commitment <== Hash(2, DOMAIN_SENDER_COMMITMENT())([ownerTag, nonce]);
}

// Who is paid, as the chain sees it: wallet address and shielded address (encryption key, owner tag), salted by the
// sender commitment, which the chain never sees. The wallet needs no check of its 160 bits: whoever opens the hash puts
// in an address it knows, so a number that is none opens to nobody.
template Recipient() {
    signal input wallet;
    signal input keyX;
    signal input ownerTag;
    signal input senderCommitment;
    signal output address;

    // [C:recipient.address] binds the recipient: otherwise one payment could be shown to any merchant as its own.
    address <== Hash(4, DOMAIN_RECIPIENT())([wallet, keyX, ownerTag, senderCommitment]);
}
