pragma circom 2.0.0;
include "circomlib/circuits/eddsaposeidon.circom";
component main { public [enabled, Ax, Ay, M] } = EdDSAPoseidonVerifier();
