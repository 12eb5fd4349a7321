import { expectRejected } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import type { Wallet } from "@sotto/wallet";
import { assert } from "chai";
import { assertEvidence } from "../../src/evidence.ts";
import { encodeEvidence, type OriginSet } from "../../src/index.ts";
import type { Origins } from "../../src/wallet.ts";
import { verifier } from "../support/artifacts.ts";
import { CURATOR, Payers } from "../support/payer.ts";

const RECIPIENT = `0x${"cc".repeat(20)}`;

describe("evidence that a wallet makes", function () {
  slow(this, "proofs of origins are made");
  let payers: Payers;
  let wallet: Wallet;
  let origins: Origins;

  beforeEach(async () => {
    payers = new Payers();
    wallet = await payers.funded([5_000n, 6_000n]);
    origins = await payers.follow(wallet);
    await payers.curator.acceptNew();
    await origins.sync();
  });
  afterEach(() => origins.close());

  /** Withdraws everything. @returns the transaction */
  async function withdraw(): Promise<`0x${string}`> {
    const { logs } = payers.world.withdraw(await wallet.exit({ recipient: RECIPIENT }));
    await origins.sync();
    return logs[0]!.transactionHash as `0x${string}`;
  }
  const setOf = (): OriginSet => ({ chainId: 31337, pool: payers.world.pool.address as `0x${string}`, ...payers.set });
  const check = async (text: string) => {
    return assertEvidence(text, { set: setOf(), verifier, chain: payers.world.chain });
  };

  it("shows a withdrawal of several notes to its reader, while its roots are the newest and afterwards", async () => {
    const transaction = await withdraw();
    const evidence = await origins.evidence(payers.set, transaction);
    assert.lengthOf(evidence.notes, 2);
    assert.isUndefined(evidence.notes[0]!.next);
    const { event } = await check(encodeEvidence(evidence));
    assert.deepInclude(event, { type: "withdrawn", recipient: RECIPIENT, amount: 11_000n });
    // Two more heads with the same root, and one with another.
    for (let i = 0; i < 2; i += 1) {
      payers.minute();
      await payers.curator.sign();
    }
    await payers.funded([7_000n]);
    payers.minute();
    await payers.curator.acceptNew();
    await origins.sync();
    const later = await origins.evidence(payers.set, transaction);
    assert.equal(later.notes[0]!.head.head.number, 2, "the last one with the root");
    assert.equal(later.notes[0]!.next!.head.number, 3);
    assert.deepEqual(later.notes[0]!.claim, evidence.notes[0]!.claim);
    assert.equal((await check(encodeEvidence(later))).notes, 2);
  });

  it("does not exist for transactions of others, and for notes outside of the set", async () => {
    await expectRejected("ORIGIN_SPEND_UNKNOWN", () => origins.evidence(payers.set, `0x${"12".repeat(32)}`));
    payers.curator.refuse(0);
    payers.minute();
    await payers.curator.sign();
    const transaction = await withdraw();
    await expectRejected("ORIGIN_NOT_IN_SET", () => origins.evidence(payers.set, transaction));
    const other = { ...payers.set, name: "other" };
    await expectRejected("ORIGIN_NOT_FOLLOWED", () => origins.evidence(other, transaction));
  });

  it("does not exist if a root was shown long before the note was spent", async () => {
    await origins.prove(0, payers.set);
    await payers.funded([7_000n]);
    payers.minute();
    await payers.curator.acceptNew();
    payers.minute(70);
    await payers.curator.sign();
    await origins.sync();
    const transaction = await withdraw();
    await expectRejected("ORIGIN_TOO_LATE", () => origins.evidence(payers.set, transaction));
  });

  it("is not made from packs that lack heads", async () => {
    const transaction = await withdraw();
    const good = payers.servers.get(CURATOR)!;
    payers.servers.set(CURATOR, async (input, init) =>
      String(input).endsWith(".jsonl") ? new Response("") : good(input, init),
    );
    await expectRejected("CURATOR_HEAD_INVALID", () => origins.evidence(payers.set, transaction));
  });
});
