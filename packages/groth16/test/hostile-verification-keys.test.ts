import { readFileSync } from "node:fs";
import { join } from "node:path";
import { anyRejection, expectCode, rejection } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import { buildToy } from "@sotto/test-kit/toy";
import { twistPoint } from "@sotto/test-kit/twist-points";
import { assert } from "chai";
import { pairingHolds } from "../src/engine/pairing-check.ts";
import { createCircuitVerifier, parseVerificationKey, type VerificationKey } from "../src/index.ts";
import { BASE_FIELD_ORDER as q } from "../src/proof/orders.ts";
import { exampleProof } from "../src/verifier.ts";

type Json = Record<string, unknown>;

describe("hostile verification keys", function () {
  slow(this, "a circuit is compiled, and its keys made");
  let vkey: Json;

  before(async () => {
    vkey = JSON.parse(readFileSync(join(await buildToy(import.meta.dirname), "toy", "toy.vkey.json"), "utf8"));
  });

  function assertRefused(name: string, change: Json): void {
    // As an object and as text.
    for (const source of [{ ...vkey, ...change }, JSON.stringify({ ...vkey, ...change })])
      assert.isNotEmpty(expectCode("VERIFICATION_KEY_INVALID", () => parseVerificationKey(source)).message, name);
  }

  it("are compared with one that works", () => {
    assert.equal(parseVerificationKey(vkey).nPublic, 2);
    assert.equal(parseVerificationKey({ ...vkey, note: "ignored" }).nPublic, 2);
  });

  it("are refused if they are cut off", () => {
    const text = JSON.stringify(vkey);
    for (let end = 0; end < text.length; end += 37)
      expectCode("VERIFICATION_KEY_INVALID", () => parseVerificationKey(text.slice(0, end)));
  });

  it("are refused if the number of public signals is not that of the points", () => {
    for (const nPublic of [0, 1, 3, 2 ** 28, 2 ** 53, -1, 1.5, "2", null, undefined, [2]])
      assertRefused(`nPublic ${nPublic}`, { nPublic });
    const ic = vkey["IC"] as unknown[];
    for (const IC of [[], ic.slice(0, 2), [...ic, ic[0]], null, {}, "IC", { length: 3 }]) assertRefused("IC", { IC });
  });

  it("are refused for another proof system or curve", () => {
    for (const protocol of ["plonk", "fflonk", "Groth16", "", null, 1]) assertRefused("protocol", { protocol });
    for (const curve of ["bls12381", "BN254", "", null]) assertRefused("curve", { curve });
  });

  it("are refused if any point is missing, infinite, off the curve, not affine or has an alias", () => {
    const ic = vkey["IC"] as string[][];
    const alpha = vkey["vk_alpha_1"] as string[];
    const inG1: readonly (readonly [string, (point: unknown) => Json, readonly string[]])[] = [
      ["alpha", (point) => ({ vk_alpha_1: point }), alpha],
      ...ic.map(
        (point, index) => [`IC ${index}`, (other: unknown) => ({ IC: ic.with(index, other as never) }), point] as const,
      ),
    ];
    for (const [name, put, [x, y]] of inG1) {
      const plusQ = String(BigInt(x!) + q);
      const wrong: unknown[] = [null, [], [x], [x, y], [x, y, "0"], [x, y, "2"], ["0", "1", "0"], ["0", "0", "1"]];
      wrong.push(
        [x, x, "1"],
        [plusQ, y, "1"],
        [`0${x}`, y, "1"],
        [`-${x}`, y, "1"],
        [Number(x), y, "1"],
        [[x], y, "1"],
      );
      wrong.push([`${x} `, y, "1"], [`0x${BigInt(x!).toString(16)}`, y, "1"], ["9".repeat(10_000), y, "1"]);
      for (const point of wrong) assertRefused(`${name}: ${JSON.stringify(point)}`, put(point));
    }
    const { x: outsideX, y: outsideY } = twistPoint();
    for (const name of ["vk_beta_2", "vk_gamma_2", "vk_delta_2"]) {
      const [x, y, z] = vkey[name] as [string[], string[], string[]];
      const wrong: unknown[] = [null, [], [x, y], [x, y, ["0", "0"]], [x, y, ["1", "1"]], [x, x, z], [y, x, z]];
      wrong.push(
        [["0", "0"], ["0", "0"], z],
        [
          ["0", "0"],
          ["1", "0"],
          ["0", "0"],
        ],
        [x.toReversed(), y, z],
      );
      wrong.push([[...x, "0"], y, z], [x[0], y, z], [[String(BigInt(x[0]!) + q), x[1]], y, z]);
      wrong.push([outsideX.map(String), outsideY.map(String), z]);
      for (const point of wrong) assertRefused(`${name}: ${JSON.stringify(point)}`, { [name]: point });
    }
  });

  it("are refused if two of beta, gamma and delta are equal or opposite: anyone could forge proofs", () => {
    const names = ["vk_beta_2", "vk_gamma_2", "vk_delta_2"];
    for (const name of names)
      for (const other of names.filter((each) => each !== name)) {
        const [x, y, z] = vkey[other] as [string[], string[], string[]];
        const opposite = y.map((part) => String(BigInt(part) === 0n ? 0n : q - BigInt(part)));
        assertRefused(`${name} = ${other}`, { [name]: [x, y, z] });
        assertRefused(`${name} = -${other}`, { [name]: [x, opposite, z] });
      }
  });

  it("are refused by a verifier too if nobody has parsed them", async () => {
    const key = parseVerificationKey(vkey);
    const zeros = [
      ["0", "0"],
      ["0", "0"],
      ["1", "0"],
    ] as unknown as VerificationKey["vk_beta_2"];
    const { vk_alpha_1: a, vk_beta_2: b } = key;
    const proof = [a[0], a[1], ...b[0], ...b[1], a[0], a[1]];
    for (const change of [
      { vk_beta_2: zeros, vk_delta_2: zeros },
      { vk_gamma_2: key.vk_delta_2 },
      { vk_alpha_1: ["0", "0", "1"] as const },
    ]) {
      const { verify } = createCircuitVerifier({ ...key, ...change });
      assert.equal((await rejection(verify(proof, ["1", "2"]))).code, "VERIFICATION_KEY_INVALID");
    }
    // A copy of a key that was parsed is as good.
    assert.equal(await createCircuitVerifier(structuredClone(key)).verify(proof, ["1", "2"]), false);
  });

  it("are used only with as many signals as they have: a missing one would count as 0", async () => {
    const key = parseVerificationKey(vkey);
    const [points, signals] = exampleProof(key);
    for (const count of [0, 1, 3])
      assert.instanceOf(await anyRejection(pairingHolds(key, points, new Array(count).fill(1n))), TypeError);
    assert.equal(await pairingHolds(key, points, signals), false);
  });
});
