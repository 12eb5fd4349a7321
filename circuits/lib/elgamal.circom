pragma circom 2.2.0;

include "circomlib/circuits/babyjub.circom";
include "circomlib/circuits/escalarmulfix.circom";
include "circomlib/circuits/montgomery.circom";
include "range.circom";
include "recipient_key.circom";
include "variable_base.circom";

template ElGamal() {
    signal input recipientQ[2];
    signal input scalar;
    signal input amountBits[64];
    signal output recipientKeyX;
    signal output sharedX;
    signal output ephemeralX;
    signal output cipherX;

    var BASE8[2] = [
        5299619240641551281634865583518297030282874472190772894086521144482721001553,
        16950150798460657717958625567821834550301663161624707787222815936182638968203
    ];
    signal scalarBits[249] <== Bits(249)(scalar);
    signal key[2] <== RecipientKey()(recipientQ);
    signal keyEdwards[2] <== Montgomery2Edwards()(key);
    recipientKeyX <== keyEdwards[0];
    signal sharedM[2] <== VariableBase(249)(key, scalarBits);
    signal shared[2] <== Montgomery2Edwards()(sharedM);
    sharedX <== shared[0];

    component r = EscalarMulFix(250, BASE8);
    r.e[0] <== 1;
    for (var i = 0; i < 249; i++) { r.e[i + 1] <== scalarBits[i]; }
    signal (ex, ey) <== BabyAdd()(r.out[0], r.out[1], 19770875486055357231464976665155595723245424221724704572412615515366030800948, 11426680139972549304394780604480797483302238743554080027960742755442896461615);
    ephemeralX <== ex;
    component a = EscalarMulFix(64, BASE8);
    a.e <== amountBits;
    signal (cx, cy) <== BabyAdd()(shared[0], shared[1], a.out[0], a.out[1]);
    cipherX <== cx;
}
