/**
 * Computes the known-answer vectors with the oracle. Run it once: the tests compare with the committed files.
 *
 *     node test/vectors/generate.ts
 */
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import * as oracle from "../support/oracle.ts";
import { payment } from "./payment.ts";

/** Reproducible numbers below `modulus`. */
function sample(label: string, modulus: bigint): bigint {
  return BigInt(`0x${createHash("sha512").update(`sotto vectors ${label}`).digest("hex")}`) % modulus;
}

function write(name: string, value: unknown): void {
  const text = JSON.stringify(
    value,
    (_, item) => {
      if (typeof item === "bigint") return item.toString();
      return item instanceof Uint8Array ? `0x${Buffer.from(item).toString("hex")}` : item;
    },
    1,
  );
  writeFileSync(new URL(`${name}.json`, import.meta.url), `${text}\n`);
}

const hashes = [];
for (let width = 1; width <= 16; width++) {
  for (const domain of [0n, BigInt(1 + (width % 6)), oracle.P - 1n]) {
    const inputs = Array.from({ length: width }, (_, i) => sample(`poseidon ${width} ${domain} ${i}`, oracle.P));
    hashes.push({ inputs, domain, outputs: oracle.poseidonEx(inputs, width, domain) });
  }
}
for (const edge of [0n, 1n, oracle.P - 1n]) {
  const inputs = new Array<bigint>(3).fill(edge);
  hashes.push({ inputs, domain: 0n, outputs: oracle.poseidonEx(inputs, 3, 0n) });
}
const nodes = [new Array<bigint>(8).fill(0n), new Array<bigint>(8).fill(oracle.P - 1n)];
for (let i = 0; i < 4; i++) nodes.push(Array.from({ length: 8 }, (_, j) => sample(`node ${i} ${j}`, oracle.P)));
write("poseidon", { hashes, nodes: nodes.map((children) => ({ children, node: oracle.node(children) })) });

const scalars = [1n, 2n, 3n, 8n, oracle.L - 1n, oracle.L - 2n, (1n << 249n) + 1n];
for (let i = 0; i < 6; i++) scalars.push(sample(`scalar ${i}`, oracle.L));
const points = scalars.map((scalar) => {
  const point = oracle.multiply(oracle.base8, scalar);
  const eighth = oracle.montgomery(oracle.multiply(point, oracle.eighth()));
  return { scalar, point, packed: oracle.pack(point), montgomeryEighth: eighth };
});
const products = points.slice(-6).map(({ point }, i) => {
  const scalar = sample(`product ${i}`, oracle.L);
  return { point, scalar, product: oracle.multiply(point, scalar), sumWithBase: oracle.add(point, oracle.base8) };
});
write("babyjub", { points, products });

const seeds = [32, 33, 64].map((size) => Uint8Array.from({ length: size }, (_, i) => (i * 37 + size) & 255));
write(
  "keys",
  seeds.map((seed) => ({ seed, ...oracle.keys(seed) })),
);

const sizes = [0, 1, 7, 8, 9, 64, 65, 513];
write("tree", {
  leaf: "leaf i is i + 1",
  roots: sizes.map((size) => ({ size, root: oracle.treeRoot(Array.from({ length: size }, (_, i) => BigInt(i + 1))) })),
});

write("payment", payment(sample));
