pragma circom 2.2.0;

include "lib/bound.circom";
include "lib/elgamal.circom";
include "lib/range.circom";

// The amount in a ciphertext lies between two bounds.
template ElgamalRange() {
    // ======================================================================================================== PUBLIC
    signal input encryptedAmount[2];
    signal input recipientKey;
    signal input recipientTag;
    signal input lowerBound;
    signal input upperBound;

    // ======================================================================================================= PRIVATE
    signal input recipientQ[2];
    signal input scalar;
    signal input amount;

    // 1. Amount and bounds are 64 bits, so that differences cannot wrap.
    signal amountBits[64] <== Bits(64)(amount);
    Range(64)(lowerBound);
    Range(64)(upperBound);

    // 2. lowerBound <= amount <= upperBound.
    Range(64)(amount - lowerBound);
    Range(64)(upperBound - amount);

    // 3. The ciphertext holds this amount for this key.
    signal (keyX, sharedX, ephemeralX, cipherX) <== ElGamal()(recipientQ, scalar, amountBits);
    recipientKey === keyX;
    encryptedAmount[0] === ephemeralX;
    encryptedAmount[1] === cipherX;

    // 4.
    Bound()(recipientTag);
}

component main { public [encryptedAmount, recipientKey, recipientTag, lowerBound, upperBound] } = ElgamalRange();
