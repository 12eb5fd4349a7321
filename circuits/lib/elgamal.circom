pragma circom 2.2.0;

include "amount_point.circom";
include "edwards.circom";
include "ephemeral_point.circom";
include "recipient_key.circom";
include "signs.circom";
include "variable_base.circom";

// Lifted ElGamal for the key PK = 8 Q: R = r Base8, S = r PK, C = S + amount Base8, with r = 2b + 2^249 + 1 for the 249
// bits b of `scalar`. r is between 2^249 + 1 and 3 * 2^249 - 1, so it is never 0 modulo l. With s_i = 2 b_i - 1,
// r = 2^250 + s_0 + 2 s_1 + .. + 2^248 s_248, and both multiplications compute this from the same signs. The outputs
// are the x of PK, S, R and C; in the subgroup, x determines the point.
template ElGamal() {
    // Montgomery (u, v) of Q. Constrained to the curve by [C:elgamal.recipient_key].
    signal input recipientQ[2];
    // b, 249 bits. Nothing to constrain: every choice of bits is allowed.
    signal input scalar;
    // The amount in binary, lowest bit first. The caller constrains each bit to 0 or 1.
    signal input amountBits[64];
    // Edwards x of the encryption key PK. Constrained by [C:elgamal.recipient_key].
    signal output recipientKeyX;
    // Edwards x of the shared point S. Constrained by [C:elgamal.shared].
    signal output sharedX;
    // Edwards x of the ephemeral point R. Constrained by [C:elgamal.ephemeral].
    signal output ephemeralX;
    // Edwards x of C. Constrained by [C:elgamal.cipher].
    signal output cipherX;

    // [C:elgamal.recipient_key] PK is a key of order l, in Montgomery form.
    signal key[2] <== RecipientKey()(recipientQ);
    recipientKeyX <== EdwardsX()(key);

    // [C:elgamal.signs] Both multiplications use the same signs, given as +-v with the v of the key.
    signal square <== key[1] * key[1];
    signal signs[249] <== Signs(249)(scalar, key[1], square);

    // [C:elgamal.shared] S = r PK. Its order is l, so its v is not 0.
    signal shared[2] <== VariableBase(249)(key, signs);
    sharedX <== EdwardsX()(shared);
    signal sharedY <== EdwardsY()(shared);

    // [C:elgamal.ephemeral] R = r Base8.
    ephemeralX <== EphemeralPoint()(signs, key[1], square);

    // [C:elgamal.cipher] C = S + amount Base8. A payer that pays its own key can make S any point, so only a
    // complete addition is safe.
    signal amountPoint[2] <== AmountPoint()(amountBits);
    cipherX <== EdwardsSumX()([sharedX, sharedY], amountPoint);
}
