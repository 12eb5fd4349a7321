pragma circom 2.2.0;

include "lib/bound.circom";
include "lib/elgamal.circom";
include "lib/range.circom";

// The amount in a payment's ciphertext is between two bounds: shown to the service and the resource server, never to
// the chain. Signals are described in circuits.json.
template ElgamalRange() {
    // ====================================================================================================== PUBLIC ==
    signal input encryptedAmount[2];
    signal input recipientKey;
    signal input recipientTag;
    signal input lowerBound;
    signal input upperBound;

    // ===================================================================================================== PRIVATE ==
    signal input recipientQ[2];
    signal input scalar;
    signal input amount;

    // =================================================================================================== STATEMENT ==
    // 1. Amount and bounds are 64-bit integers.
    // [C:elgamal_range.amount_range] the bits that are encrypted are those of a 64-bit amount.
    signal amountBits[64] <== Bits(64)(amount);

    // [C:elgamal_range.lower_range] a bound p - x would be taken for one below 0 that every amount satisfies.
    Range(64)(lowerBound);

    // [C:elgamal_range.upper_range] a bound that is no 64-bit amount is a mistake of who states it.
    Range(64)(upperBound);

    // 2. lowerBound <= amount <= upperBound. Numbers of 64 bits: a difference is of 64 bits if and only if it is not
    //    negative.
    // [C:elgamal_range.lower] the amount is enough.
    Range(64)(amount - lowerBound);

    // [C:elgamal_range.upper] the amount is not too much.
    Range(64)(upperBound - amount);

    // 3. The ciphertext holds the amount, for this key.
    // [C:elgamal_range.encryption] encryption of exactly this amount, under a key of the prime-order subgroup.
    signal (recipientKeyX, sharedX, ephemeralX, cipherX) <== ElGamal()(recipientQ, scalar, amountBits);

    // [C:elgamal_range.key] the key is the one named: with a free one any ciphertext holds any amount.
    recipientKey === recipientKeyX;

    // [C:elgamal_range.ephemeral] the ciphertext is the payment's: its R.
    encryptedAmount[0] === ephemeralX;

    // [C:elgamal_range.cipher] the ciphertext is the payment's: its C.
    encryptedAmount[1] === cipherX;

    // 4. With the key, the owner tag names the recipient's shielded address.
    // [C:elgamal_range.tag] without it the proof would hold for any tag.
    Bound()(recipientTag);
}

component main { public [encryptedAmount, recipientKey, recipientTag, lowerBound, upperBound] } = ElgamalRange();
