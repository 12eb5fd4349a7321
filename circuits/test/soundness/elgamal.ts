import { add, BASE8, montgomeryEighth, multiply, type Point, toMontgomery } from "@sotto/certify/check/curve";
import type { Attack } from "../kit/attack.ts";
import { encrypt } from "../model/encrypt.ts";
import { otherY, T8 } from "../model/small-order.ts";
import { bitsOf } from "../model/tree.ts";
import { on, swap } from "./define.ts";

const KEY = multiply(BASE8, 424242n);
const OWN = multiply(BASE8, 434343n);
const SCALAR = 0x1122334455667788n;
const AMOUNT = 1_000_000n;
const honest = encrypt(KEY, AMOUNT, SCALAR);
const montgomery = (point: Point) => `[${toMontgomery(point).join(", ")}]`;

const elgamal = on("lib/elgamal.circom", "ElGamal()", {
  inputs: () => ({ recipientQ: montgomeryEighth(KEY), scalar: SCALAR, amountBits: bitsOf(AMOUNT, 64) }),
  // The key and R are correct, but the secrets that the recipient derives from R do not match the encryption.
  harm: (read) =>
    read("recipientKeyX") === KEY.x &&
    read("ephemeralX") === honest.R.x &&
    (read("sharedX") !== honest.S.x || read("cipherX") !== honest.C.x),
});

export const elgamalAttacks: readonly Attack[] = [
  elgamal("elgamal.recipient_key", "an encryption for the payer's own key in the recipient's name", {
    edits: [
      { find: "key[2] <-- cut0.key", replace: `key[2] <-- ${montgomery(OWN)}` },
      { find: "cut1.point <-- key", replace: "cut1.point <-- cut0.key" },
    ],
  }),
  elgamal(
    "elgamal.recipient_key",
    "the other point with the x of the recipient's key",
    swap("key[2] <-- cut0.key", `key[2] <-- ${montgomery(otherY(KEY))}`),
  ),
  elgamal("elgamal.recipient_key", "a key outside the subgroup", {
    ...swap("key[2] <-- cut0.key", `key[2] <-- ${montgomery(add(KEY, T8))}`),
    harm: (read) => read("recipientKeyX") === add(KEY, T8).x,
  }),
  elgamal("elgamal.signs", "an R that belongs to another S", {
    edits: [
      { find: "square <-- key[1] * key[1]", replace: "square <-- key[1] * key[1] + 1" },
      { find: "cut0.square <-- square", replace: "cut0.square <-- key[1] * key[1]" },
    ],
    harm: (read) => read("sharedX") === honest.S.x && read("ephemeralX") !== honest.R.x,
  }),
  elgamal(
    "elgamal.shared",
    "a shared point that the recipient cannot derive",
    swap("shared[2] <-- cut0.out", `shared[2] <-- ${montgomery(OWN)}`),
  ),
  elgamal("elgamal.ephemeral", "an R that belongs to another scalar", {
    ...swap("ephemeralX <-- cut0.x", `ephemeralX <-- ${OWN.x}`),
    harm: (read) => read("sharedX") === honest.S.x && read("ephemeralX") !== honest.R.x,
  }),
  elgamal(
    "elgamal.cipher",
    "a ciphertext of a thousand times the amount",
    swap(
      "amountPoint[2] <-- cut0.point",
      `amountPoint[2] <-- [${multiply(BASE8, 1000n * AMOUNT).x}, ${multiply(BASE8, 1000n * AMOUNT).y}]`,
    ),
  ),
];
