// Runs a curator through two slots, with claims in between, on a chain that is the same in every process. It is killed after the n-th
// write to the database or just before the n-th file is replaced, and prints the number of both if it is not.
import { depositCall } from "@sotto/chain/ethers";
import { POOL } from "@sotto/test-chain/pool";
import { Curator } from "../../src/curator/curator.ts";
import { ALICE, BOB, CuratorWorld, testJudge } from "./curator-world.ts";

export interface Crash {
  readonly store: string;
  readonly folder: string;
  /** 0: never. */
  readonly write: number;
  /** 0: never. */
  readonly file: number;
}

const crash = JSON.parse(process.argv[2]!) as Crash;
const counts = { write: 0, file: 0 };
const count = (kind: "write" | "file"): void => {
  counts[kind] += 1;
  if (counts[kind] === crash[kind]) process.kill(process.pid, "SIGKILL");
};

const world = new CuratorWorld();
world.chain.sender = ALICE;
world.chain.mine(depositCall(POOL, [11n, 12n], [5_000n, 6_000n]));
world.chain.sender = BOB;
world.chain.mine(depositCall(POOL, [13n], [7_000n]));
await world.append();
world.chain.sender = ALICE;
world.chain.mine(depositCall(POOL, [14n], [8_000n]));
for (const nullifier of [77n, 78n]) await world.settleNullifier(nullifier);

const { store, folder } = crash;
const curator = await Curator.open(
  world.curatorOptions({
    store,
    folder,
    judges: () => [testJudge(new Set([BOB]))],
    onQuery: (text) => /^(insert|update|delete)/i.test(text) && count("write"),
    onFile: () => count("file"),
  }),
);
await curator.round();
const { maskRoot } = curator.newest!.signed.head;
const claim = (nullifier: bigint) => ({ nullifier, maskRoot, proof: Array.from({ length: 8 }, () => "1") });
// The root of the first slot: the newest head may be the second one's.
if (curator.newest!.signed.head.number === 0) await curator.claim([claim(77n), claim(78n)], "client");
world.nextSlot();
await curator.round();
await curator.close();
console.log(JSON.stringify(counts));
