pragma circom 2.2.0;

include "montgomery.circom";

// The recipient's encryption key as 8 Q for a witness Q.
template RecipientKey() {
    signal input q[2];
    signal output key[2];

    OnMontgomeryCurve()(q[0], q[1]);
    signal q2[2] <== MontgomeryDoubling()(q);
    signal q4[2] <== MontgomeryDoubling()(q2);
    key <== MontgomeryDoubling()(q4);
}
