import { prepareOrigin } from "@sotto/protocol";
import { POOL } from "@sotto/test-chain/pool";
import { expectRejected } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import type { Wallet, WalletNote } from "@sotto/wallet";
import { assert } from "chai";
import { World } from "../../../wallet/test/support/world.ts";
import { assertEvidence } from "../../src/evidence.ts";
import {
  encodeEvidence,
  type OriginClaim,
  type OriginEvidence,
  type OriginSet,
  type SignedHead,
} from "../../src/index.ts";
import { originProver, verifier } from "../support/artifacts.ts";
import { MemoryCurator } from "../support/memory-curator.ts";

const RECIPIENT = `0x${"cd".repeat(20)}`;

describe("evidence of a withdrawal", function () {
  slow(this, "proofs are made");
  let world: World;
  let curator: MemoryCurator;
  let wallet: Wallet;
  let set: OriginSet;
  let evidence: OriginEvidence;

  async function claim({ leafIndex, nullifier }: WalletNote, { head }: SignedHead): Promise<OriginClaim> {
    const { maskRoot } = head;
    const path = curator.state.mask.path(leafIndex);
    const proof = await wallet.proveNote(leafIndex, "origin", (note) => prepareOrigin({ note, path, maskRoot }));
    return { nullifier: nullifier!, maskRoot, proof };
  }

  before(async () => {
    world = new World();
    curator = new MemoryCurator({ chain: world.chain, pool: POOL });
    wallet = await world.funded([5_000n, 6_000n], { prover: originProver(world) });
    set = { chainId: 31337, pool: POOL, curator: curator.curator, name: "clean" } as OriginSet;
    const head = await curator.acceptNew();
    const notes = wallet.notes();
    const claims = [await claim(notes[0]!, head), await claim(notes[1]!, head)];
    const block = world.withdraw(await wallet.exit({ recipient: RECIPIENT }));
    for (const one of claims) assert.equal(await curator.claim(one), "stored");
    const next = await curator.sign();
    evidence = {
      set,
      transaction: block.logs[0]!.transactionHash as OriginEvidence["transaction"],
      block: block.number,
      logIndex: block.logs[0]!.logIndex,
      time: block.timestamp,
      notes: claims.map((one) => ({ claim: one, head, next })),
    };
  });

  const check = (changes: Partial<OriginEvidence> = {}, options: object = {}) =>
    assertEvidence(encodeEvidence({ ...evidence, ...changes }), { set, verifier, chain: world.chain, ...options });

  it("shows recipient and amount of the withdrawal, and its set", async () => {
    const { event, notes } = await check();
    assert.equal(notes, 2);
    assert.deepInclude(event, { type: "withdrawn", recipient: RECIPIENT, amount: 11_000n });
    const offline = await check({}, { chain: undefined });
    assert.isUndefined(offline.event);
  });

  it("is refused with another's proof, another set, a note too few, or another block", async () => {
    const [first, second] = evidence.notes as [OriginEvidence["notes"][0], OriginEvidence["notes"][0]];
    const swapped = { ...first, claim: { ...first.claim, proof: second.claim.proof } };
    await expectRejected("EVIDENCE_INVALID", () => check({ notes: [swapped, second] }));
    const proof = first.claim.proof.with(0, "5");
    const offCurve = { ...first, claim: { ...first.claim, proof } };
    await expectRejected("EVIDENCE_INVALID", () => check({ notes: [offCurve, second] }));
    await expectRejected("EVIDENCE_INVALID", () => check({ notes: [first] }));
    await expectRejected("EVIDENCE_INVALID", () => check({ block: evidence.block - 1 }));
    await expectRejected("EVIDENCE_INVALID", () => check({ time: evidence.time + 1 }));
    const other = { ...set, curator: `0x${"ab".repeat(20)}` };
    const error = await expectRejected("EVIDENCE_INVALID", () => check({}, { set: other }));
    assert.include(error.message, curator.curator);
  });

  it("is refused while its block lacks confirmations, and if it is not evidence", async () => {
    const confirmations = world.chain.height - evidence.block + 2;
    await expectRejected("EVIDENCE_NOT_SETTLED", () => check({}, { confirmations }));
    await expectRejected("EVIDENCE_NOT_SETTLED", () => check({ block: 1_000_000 }));
    world.chain.mine();
    await check({}, { confirmations });
    for (const text of ["", "{}", encodeEvidence(evidence).replace(/"signature": "0x../u, '"signature": "0x00')])
      await expectRejected("EVIDENCE_MALFORMED", () => assertEvidence(text, { set, verifier }));
  });
});
