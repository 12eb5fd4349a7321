import {
  addPoints,
  BASE8,
  decodeShieldedAddress,
  multiplyPoint,
  type Point,
  packPoint,
  pointFromX,
  SUBGROUP_ORDER,
} from "@sotto/protocol";
import { POOL } from "@sotto/test-chain/pool";
import { rejection } from "@sotto/test-kit/rejection";
import type { TotalsStatement } from "@sotto/wallet/receipts";
import { expect } from "chai";
import { cipherX } from "../../src/receipts/open.ts";
import { type Claim, challengeOf, claimHash, parseTotals, relationOf } from "../../src/receipts/totals/statement.ts";
import { isSettled, poolEvents } from "../../src/scan/pool-events.ts";
import { AMOUNTS, lastingKey, openTotals, type TotalsWorld } from "../support/totals.ts";

/** (0, -1), which has order 2. */
const SMALL = { x: 0n, y: 21888242871839275222246405745257275088548364400416034343698204186575808495616n };

describe("forged totals", () => {
  let world: TotalsWorld["world"];
  let other: TotalsWorld["other"];
  let merchant: TotalsWorld["merchant"];
  let statement: TotalsWorld["statement"];
  let prove: TotalsWorld["prove"];
  let check: TotalsWorld["check"];
  let refused: TotalsWorld["refused"];
  before(async () => {
    ({ world, merchant, other, statement, prove, check, refused } = await openTotals());
  });

  it("are rejected with another total, or with the total shifted by the group order", async () => {
    for (const hiddenTotal of ["4343", "4345", "0"]) await refused({ hiddenTotal });
    await refused({ hiddenTotal: String(4_344n + SUBGROUP_ORDER) }, "RECEIPT_MALFORMED");
  });

  it("are rejected if a payment is missing", async () => {
    await refused({ hidden: statement.hidden.slice(1) });
    await refused({ shared: statement.shared.slice(1) });
    await refused({ hidden: [...statement.hidden, statement.hidden[0]!] });
    await refused({ hidden: [...statement.hidden, { ...statement.hidden[0]!, leafIndex: 3 }] });
  });

  it("cannot declare a payment to the merchant as another recipient's", async () => {
    // With the correct S, the note opens and the auditor counts the payment. Any other S differs from vk times R.
    const [dropped, ...hidden] = statement.hidden;
    const random = multiplyPoint(BASE8, 12345n);
    const shared = [{ leafIndex: dropped!.leafIndex, shared: packPoint(random) }, ...statement.shared];
    const hiddenTotal = String(4_344n - AMOUNTS[0]!);
    await refused({ hidden, shared, hiddenTotal });
    // Two wrong points whose errors cancel out fail too, because the weights depend on the points.
    const entries = statement.shared.map(({ leafIndex, shared: packed }) => ({ leafIndex, packed }));
    expect(entries.length).to.equal(2);
    const swapped = [
      { leafIndex: entries[0]!.leafIndex, shared: entries[1]!.packed },
      { leafIndex: entries[1]!.leafIndex, shared: entries[0]!.packed },
    ];
    await refused({ shared: swapped });
  });

  describe("that the merchant proves again after changing the claim", () => {
    /** Computes the proof as the prover does, but for any claim, true or false. */
    const reprove = async (change: Partial<Claim>, ciphers?: readonly Point[]): Promise<TotalsStatement> => {
      const claim = { ...parseTotals(statement), ...change };
      const all = await poolEvents(world.chain, POOL, { from: claim.fromBlock, to: claim.toBlock });
      const events = all.filter(isSettled);
      const byLeaf = new Map(events.map((event) => [event.leafIndex, event]));
      const { viewingKey } = lastingKey(merchant);
      const hash = claimHash(claim, byLeaf);
      const trueC = claim.hidden.map(({ leafIndex, senderCommitment }) =>
        pointFromX(cipherX(byLeaf.get(leafIndex)!.hiddenCipherX, senderCommitment)),
      );
      const relation = relationOf(claim, hash, byLeaf, ciphers ?? trueC);
      const nonce = 987_654_321n;
      const [first, second] = [multiplyPoint(BASE8, nonce), multiplyPoint(relation.base, nonce)];
      const challenge = challengeOf(hash, relation, first, second);
      const response = String((nonce + challenge * viewingKey) % SUBGROUP_ORDER);
      return {
        ...statement,
        hiddenTotal: String(claim.hiddenTotal),
        hidden: statement.hidden.filter(({ leafIndex }) => claim.hidden.some((one) => one.leafIndex === leafIndex)),
        shared: claim.shared.map(({ leafIndex, point }) => ({ leafIndex, shared: packPoint(point) })),
        proof: { challenge: String(challenge), response },
      };
    };
    const lies = async (change: Partial<Claim>) =>
      expect((await rejection(check(await reprove(change)))).code).to.equal("RECEIPT_INVALID");

    it("are accepted if the claim is true", async () => {
      expect((await check(await reprove({}))).total).to.equal(4_421n);
    });

    it("are rejected with another total", async () => {
      for (const hiddenTotal of [4_343n, 4_345n, 0n]) await lies({ hiddenTotal });
    });

    it("are rejected if a payment is declared as another recipient's", async () => {
      const claim = parseTotals(statement);
      const [dropped, ...hidden] = claim.hidden;
      const hiddenTotal = claim.hiddenTotal - AMOUNTS[0]!;
      const point = multiplyPoint(BASE8, 12345n);
      await lies({ hidden, hiddenTotal, shared: [...claim.shared, { leafIndex: dropped!.leafIndex, point }] });
    });

    it("are rejected if two wrong points cancel out, or one cancels a wrong total", async () => {
      const claim = parseTotals(statement);
      const [one, two] = claim.shared;
      const shift = (point: Point, by: bigint) => addPoints(point, multiplyPoint(BASE8, by));
      const [more, less] = [shift(one!.point, 5n), shift(two!.point, SUBGROUP_ORDER - 5n)];
      await lies({
        shared: [
          { ...one!, point: more },
          { ...two!, point: less },
        ],
      });
      await lies({ hiddenTotal: claim.hiddenTotal + 5n, shared: [{ ...one!, point: more }, two!] });
      await lies({ hiddenTotal: claim.hiddenTotal - 5n, shared: [{ ...one!, point: more }, two!] });
    });
  });

  it("cannot be made with a C that differs from the one on chain", async () => {
    const [first, ...hidden] = statement.hidden;
    for (const change of [
      { senderCommitment: String(BigInt(first!.senderCommitment) + 1n) },
      { senderCommitment: statement.hidden[1]!.senderCommitment },
      { resource: "1" },
      { root: "1" },
    ])
      await refused({ hidden: [{ ...first!, ...change }, ...hidden] });
    // R comes from the event, so a statement can only name another payment.
    const swapped = [
      { ...statement.hidden[1]!, leafIndex: first!.leafIndex },
      { ...first!, leafIndex: statement.hidden[1]!.leafIndex },
      ...statement.hidden.slice(2),
    ];
    await refused({ hidden: swapped });
  });

  it("cannot be made with another key or for another address", async () => {
    const theirs = lastingKey(other);
    const wrong = { viewingKey: theirs.viewingKey, shieldedAddress: merchant.shieldedAddress };
    expect((await rejection(prove(wrong))).code).to.equal("INVALID_KEY");
    await refused({ shieldedAddress: other.shieldedAddress });
    const { encryptionKey } = decodeShieldedAddress(merchant.shieldedAddress);
    const sameKey = `${packPoint(encryptionKey)}${other.shieldedAddress.slice(66)}`;
    await refused({ shieldedAddress: sameKey });
  });

  it("reject points outside the subgroup and non-canonical encodings", async () => {
    const [first, ...shared] = statement.shared;
    const point = (packed: string) =>
      refused({ shared: [{ ...first!, shared: packed }, ...shared] }, "RECEIPT_MALFORMED");
    await point(`0x${"00".repeat(32)}`);
    await point(`0x01${"00".repeat(31)}`);
    await point(`0x${"ff".repeat(32)}`);
    await point("0x");
    const torsion = addPoints(multiplyPoint(BASE8, 7n), SMALL);
    const packed = packedAnyway(torsion);
    await point(packed);
  });

  it("are valid only for their auditor, period, chain and pool", async () => {
    expect((await rejection(check(statement, { auditor: "Someone else" }))).code).to.equal("RECEIPT_OTHER_CHALLENGE");
    expect((await rejection(check(statement, { chainId: 1n }))).code).to.equal("RECEIPT_ELSEWHERE");
    await refused({ auditor: "Someone else" }, "RECEIPT_OTHER_CHALLENGE");
    const renamed = { ...statement, auditor: "Someone else" };
    expect((await rejection(check(renamed, { auditor: "Someone else" }))).code).to.equal("RECEIPT_INVALID");
    await refused({ wallet: `0x${"99".repeat(20)}` });
    await refused({ fromBlock: statement.fromBlock + 1 });
    // With another last block, its hash differs or payments are missing.
    await refused({ toBlock: statement.toBlock - 1 }, "RECEIPT_NOT_SETTLED");
    const { hash } = world.chain.blocks[statement.toBlock - 1]!;
    await refused({ toBlock: statement.toBlock - 1, blockHash: hash });
  });

  it("are rejected with an altered proof", async () => {
    const { challenge, response } = statement.proof;
    await refused({ proof: { challenge, response: String((BigInt(response) + 1n) % SUBGROUP_ORDER) } });
    await refused({ proof: { challenge: String((BigInt(challenge) + 1n) % SUBGROUP_ORDER), response } });
    await refused({ proof: { challenge: "0", response: "0" } });
    await refused({ proof: { challenge, response: String(SUBGROUP_ORDER) } }, "RECEIPT_MALFORMED");
  });
});

/** Encodes any point, in the subgroup or not: y in little-endian order, with the sign of x in the highest bit. */
function packedAnyway({ x, y }: { x: bigint; y: bigint }): string {
  const half = 21888242871839275222246405745257275088548364400416034343698204186575808495617n >> 1n;
  const bytes = Array.from({ length: 32 }, (_, i) => Number((y >> BigInt(8 * i)) & 0xffn));
  if (x > half) bytes[31]! |= 0x80;
  return `0x${bytes.map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
