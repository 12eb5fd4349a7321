/**
 * The same high and low parts without fused multiply-add. Dekker's algorithm gives the error e of the rounded product p exactly,
 * from factors that are split into halves of 26 bits (Veltkamp). p + 3·2^102 is rounded to a multiple of 2^51, and what is left of
 * p is a multiple of p's last bit; e is an integer of at most half of that bit. So their sum is an exact integer below 2^51 in
 * absolute value, and adding it rounds as if the product had never been rounded.
 */
import type { Code, Local } from "./assembler.ts";
import { f64x2 } from "./instructions.ts";
import { doubleOf, LOW, type MakeProducts } from "./limb-products.ts";

const SPLIT = 2 ** 27 + 1;

export const exactProducts: MakeProducts = (pool) => ({
  variables: (f, count) =>
    f.locals("v128", count).map((value) => {
      const [high, low] = f.locals("v128", 2) as [Local, Local];
      const set = (from: Code): Code => [
        value.set(from),
        low.set(f64x2.mul(value.get, doubleOf(pool, SPLIT))),
        high.set(f64x2.sub(low.get, f64x2.sub(low.get, value.get))),
        low.set(f64x2.sub(value.get, high.get)),
      ];
      return { value: value.get, high: high.get, low: low.get, set };
    }),
  constant(value) {
    const high = value * SPLIT - (value * SPLIT - value);
    return { value: doubleOf(pool, value), high: doubleOf(pool, high), low: doubleOf(pool, value - high) };
  },
  parts(f, { toHigh }) {
    const [product, rest, sum] = f.locals("v128", 3) as [Local, Local, Local];
    return {
      setHigh: (high, left, right) => [
        product.set(f64x2.mul(left.value, right.value)),
        rest.set(f64x2.sub(product.get, f64x2.mul(left.high, right.high))),
        rest.set(f64x2.sub(rest.get, f64x2.mul(left.low, right.high))),
        rest.set(f64x2.sub(rest.get, f64x2.mul(left.high, right.low))),
        rest.set(f64x2.sub(f64x2.mul(left.low, right.low), rest.get)),
        sum.set(f64x2.add(product.get, toHigh)),
        rest.set(f64x2.add(f64x2.sub(product.get, f64x2.sub(sum.get, toHigh)), rest.get)),
        high.set(f64x2.add(sum.get, rest.get)),
      ],
      low: (high, _left, _right, plus) => {
        const low = f64x2.sub(rest.get, f64x2.sub(high.get, sum.get));
        return plus === "nothing" ? low : f64x2.add(low, doubleOf(pool, LOW));
      },
    };
  },
});
