pragma circom 2.2.0;

include "lib/bound.circom";
include "lib/elgamal.circom";
include "lib/range.circom";

// Proves that the amount in a payment's ciphertext is between two bounds. The client shows this proof to the service
// and to the resource server, never to the chain. circuits.json describes every input as callers see it.
template ElgamalRange() {
    // ====================================================================================================== PUBLIC ==
    // Edwards x of R and of C, without the sender commitment. Constrained in 3.
    signal input encryptedAmount[2];
    // Edwards x of the recipient's encryption key PK. Constrained in 3.
    signal input recipientKey;
    // The recipient's owner tag, a field element. Bound in 4; the verifier compares it with the shielded address.
    signal input recipientTag;
    // Token base units, 64 bits. Constrained in 1 and 2.
    signal input lowerBound;
    // Token base units, 64 bits. Constrained in 1 and 2.
    signal input upperBound;

    // ===================================================================================================== PRIVATE ==
    // Montgomery (u, v) of Q, where PK = 8 Q. ElGamal constrains it to the curve.
    signal input recipientQ[2];
    // b, 249 bits; the encryption scalar is r = 2b + 2^249 + 1. Nothing to constrain: every choice of bits is allowed.
    signal input scalar;
    // Token base units, 64 bits. Constrained in 1 and 2.
    signal input amount;

    // =================================================================================================== STATEMENT ==
    // 1. The amount and the bounds are 64-bit integers.
    // [C:elgamal_range.amount_range] The encrypted bits are those of a 64-bit amount.
    signal amountBits[64] <== Bits(64)(amount);

    // [C:elgamal_range.lower_range] Without it, a bound p - x would act as a negative number that every amount exceeds.
    Range(64)(lowerBound);

    // [C:elgamal_range.upper_range] An upper bound above 64 bits is a caller error.
    Range(64)(upperBound);

    // 2. lowerBound <= amount <= upperBound. The difference of two 64-bit numbers has 64 bits if and only if it is not
    //    negative.
    // [C:elgamal_range.lower] The amount is at least the lower bound.
    Range(64)(amount - lowerBound);

    // [C:elgamal_range.upper] The amount is at most the upper bound.
    Range(64)(upperBound - amount);

    // 3. The ciphertext contains the amount, encrypted for this key.
    // [C:elgamal_range.encryption] The ciphertext encrypts exactly this amount, for a key of the prime-order subgroup.
    signal (recipientKeyX, sharedX, ephemeralX, cipherX) <== ElGamal()(recipientQ, scalar, amountBits);

    // [C:elgamal_range.key] The key is the public one. With a free key, any ciphertext could contain any amount.
    recipientKey === recipientKeyX;

    // [C:elgamal_range.ephemeral] R is the R of the payment's ciphertext.
    encryptedAmount[0] === ephemeralX;

    // [C:elgamal_range.cipher] C is the C of the payment's ciphertext.
    encryptedAmount[1] === cipherX;

    // 4. Together with the key, the owner tag names the recipient's shielded address.
    // [C:elgamal_range.tag] Without it, the proof would be valid for any owner tag.
    Bound()(recipientTag);
}

component main { public [encryptedAmount, recipientKey, recipientTag, lowerBound, upperBound] } = ElgamalRange();
