pragma circom 2.2.0;

include "amount_point.circom";
include "edwards.circom";
include "ephemeral_point.circom";
include "recipient_key.circom";
include "signs.circom";
include "variable_base.circom";

// Lifted ElGamal for the key PK = 8 Q: R = r Base8, S = r PK, C = S + amount Base8, with r = 2b + 2^249 + 1 for the 249
// bits b of `scalar`: between 2^249 + 1 and 3 * 2^249 - 1, so never 0 modulo l. With s_i = 2 b_i - 1 it is 2^250 +
// s_0 + 2 s_1 + .. + 2^248 s_248, what both multiplications compute from the same signs. Out: the x of PK, S, R and C;
// in the subgroup x determines the point.
template ElGamal() {
    signal input recipientQ[2];
    signal input scalar;
    signal input amountBits[64];
    signal output recipientKeyX;
    signal output sharedX;
    signal output ephemeralX;
    signal output cipherX;

    // [C:elgamal.recipient_key] a key of order l.
    signal key[2] <== RecipientKey()(recipientQ);
    recipientKeyX <== EdwardsX()(key);

    // [C:elgamal.signs] one set of signs for both multiplications, as +-v, v that of the key.
    signal square <== key[1] * key[1];
    signal signs[249] <== Signs(249)(scalar, key[1], square);

    // [C:elgamal.shared] S = r PK, of order l, so that its v is not 0.
    signal shared[2] <== VariableBase(249)(key, signs);
    sharedX <== EdwardsX()(shared);
    signal sharedY <== EdwardsY()(shared);

    // [C:elgamal.ephemeral] R = r Base8.
    ephemeralX <== EphemeralPoint()(signs, key[1], square);

    // [C:elgamal.cipher] C = S + amount Base8. Who pays an own key can make S any point, so only a complete addition
    // will do.
    signal amountPoint[2] <== AmountPoint()(amountBits);
    cipherX <== EdwardsSumX()([sharedX, sharedY], amountPoint);
}
