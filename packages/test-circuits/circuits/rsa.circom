pragma circom 2.0.0;
include "circomlib/circuits/bitify.circom";

// left * right = quotient * modulus + remainder, in limbs of 64 bits. The carries are checked to be small, so that nothing
// wraps around the field's order.
template ModularProduct(limbs) {
  signal input left[limbs];
  signal input right[limbs];
  signal input modulus[limbs];
  signal input quotient[limbs];
  signal input remainder[limbs];

  component ranges[2 * limbs];
  for (var limb = 0; limb < limbs; limb++) {
    ranges[limb] = Num2Bits(64);
    ranges[limb].in <== quotient[limb];
    ranges[limbs + limb] = Num2Bits(64);
    ranges[limbs + limb].in <== remainder[limb];
  }
  signal products[limbs][limbs];
  signal multiples[limbs][limbs];
  for (var i = 0; i < limbs; i++) {
    for (var j = 0; j < limbs; j++) {
      products[i][j] <== left[i] * right[j];
      multiples[i][j] <== quotient[i] * modulus[j];
    }
  }
  signal carries[2 * limbs];
  component bounds[2 * limbs - 2];
  carries[0] <== 0;
  for (var column = 0; column < 2 * limbs - 1; column++) {
    var sum = carries[column];
    for (var i = 0; i < limbs; i++) {
      var j = column - i;
      if (j >= 0 && j < limbs) sum += products[i][j] - multiples[i][j];
    }
    if (column < limbs) sum -= remainder[column];
    if (column == 2 * limbs - 2) {
      carries[column + 1] <== sum;
      carries[column + 1] === 0;
    } else {
      // The field's quotient is the integers' one, because the sum is a multiple.
      carries[column + 1] <-- sum / (1 << 64);
      carries[column + 1] * (1 << 64) === sum;
      bounds[column] = Num2Bits(72);
      bounds[column].in <== carries[column + 1] + (1 << 71);
    }
  }
}

// signature^3 = message modulo the key, with keys of 64 * limbs bits.
template Rsa(limbs) {
  signal input key[limbs];
  signal input message[limbs];
  signal input signature[limbs];
  signal input square[limbs];
  signal input quotients[2][limbs];
  ModularProduct(limbs)(signature, signature, key, quotients[0], square);
  ModularProduct(limbs)(square, signature, key, quotients[1], message);
}

component main { public [key, message] } = Rsa(16);
