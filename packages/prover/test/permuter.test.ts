import { spawnSync } from "node:child_process";
import { DOMAIN, FIELD_MODULUS, hashNode, NoteTree, poseidonEx } from "@sotto/protocol";
import { randomBelow } from "@sotto/test-kit/random-below";
import { assert } from "chai";
import { createTreeKernel } from "../src/scan/kernels.ts";
import { Permuter } from "../src/scan/permuter.ts";
import { memoriesOf } from "./support/memories.ts";

const ROUNDS = process.env["SOTTO_LONG"] === "1" ? 40 : 1;
const WIDTHS = [2, 3, 4, 5, 6, 7, 8];
/** More than two chunks, and an odd number, so that one lane of the last pair is unused. */
const COUNT = 263;
const P = FIELD_MODULUS;
const EDGES = [0n, 1n, 2n, P - 1n, P - 2n, P >> 1n, (P >> 1n) + 1n, (1n << 51n) - 1n, 1n << 51n, (1n << 204n) - 1n];

/** The public hash of @sotto/protocol, which returns at most all lanes but one. */
const expected = (states: readonly (readonly bigint[])[], outputs: number) =>
  states.map(([domain, ...inputs]) => poseidonEx(inputs, outputs, domain!));

async function create(width: number): Promise<Permuter> {
  const permuter = await Permuter.create(width);
  assert.isDefined(permuter, "these tests need relaxed SIMD and fused multiply-add");
  return permuter!;
}

const randomState = (width: number) => Array.from({ length: width }, () => randomBelow(P));

describe("Poseidon of many states in the kernel", () => {
  it("equals the permutation of @sotto/protocol for random and extreme states of every width", async () => {
    for (const width of WIDTHS) {
      const permuter = await create(width);
      for (let round = 0; round < ROUNDS; round += 1) {
        const states = [
          ...EDGES.map((edge) => new Array<bigint>(width).fill(edge)),
          ...Array.from({ length: 30 }, (_, i) =>
            Array.from({ length: width }, (_, lane) => EDGES[(i * 7 + lane * (i + 1)) % EDGES.length]!),
          ),
          ...Array.from({ length: 20 }, () => randomState(width)),
        ];
        for (const outputs of new Set([1, width - 1]))
          assert.deepEqual(permuter.permute(states, outputs), expected(states, outputs));
      }
    }
  });

  it("permutes any number of states, in their order, and none", async () => {
    const permuter = await create(3);
    for (const count of [0, 1, 2, 3, 127, 128, 129, COUNT]) {
      const states = Array.from({ length: count }, () => randomState(3));
      assert.deepEqual(permuter.permute(states, 2), expected(states, 2));
    }
  });

  it("has the same result for a state in either lane, next to any other state", async () => {
    const permuter = await create(8);
    for (const other of EDGES) {
      const [state, neighbour] = [randomState(8), new Array<bigint>(8).fill(other)];
      const [left] = permuter.permute([state, neighbour], 1);
      const [, right] = permuter.permute([neighbour, state], 1);
      assert.deepEqual(left, right);
      assert.deepEqual([left], permuter.permute([state], 1));
      assert.equal((left![0]! + state[0]!) % P, hashNode(state));
    }
  });

  it("rejects states of another width, and widths that the kernel's bounds do not allow", async () => {
    const permuter = await create(3);
    for (const width of [2, 4]) assert.throws(() => permuter.permute([randomState(3), randomState(width)], 1), /lanes/);
    for (const width of [1, 9]) {
      const error = await Permuter.create(width).catch((error: Error) => error);
      assert.match(String(error), /2 to 8 lanes/);
    }
  });

  it("leaves nothing of a state in its memory: its lanes are secret in a scan", async () => {
    let permuter: Permuter | undefined;
    const [memory] = await memoriesOf(async () => {
      permuter = await create(3);
    });
    const empty = Buffer.from(memory!.buffer.slice(0));
    permuter!.permute([[BigInt(DOMAIN.encryption), randomBelow(P), randomBelow(P)]], 2);
    assert.isTrue(empty.equals(Buffer.from(memory!.buffer)));
  });

  it("builds the same tree", async () => {
    const permute = (await createTreeKernel())!;
    const leaves = Array.from({ length: 700 }, () => randomBelow(P - 1n) + 1n);
    const [fast, plain] = [new NoteTree(), new NoteTree()];
    for (const [start, end] of [
      [0, 1],
      [1, 9],
      [9, 600],
      [600, 700],
    ]) {
      fast.append(leaves.slice(start, end), permute);
      plain.append(leaves.slice(start, end));
      assert.deepEqual(fast.serialize(), plain.serialize());
    }
  });

  it("is not available without relaxed SIMD", () => {
    const script = `
      WebAssembly.validate = () => false;
      const { createScanKernel, createTreeKernel } = await import(${JSON.stringify(new URL("../src/scan.ts", import.meta.url).href)});
      console.log(await createScanKernel(), await createTreeKernel());
    `;
    const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" });
    assert.equal(stdout, "undefined undefined\n", stderr);
  });
});
