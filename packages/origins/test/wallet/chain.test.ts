// Money that came through many hands can still show where it comes from.
import { decodeEvent } from "@sotto/chain";
import { POOL } from "@sotto/test-chain/pool";
import { slow } from "@sotto/test-kit/slow";
import { assert } from "chai";
import { assertEvidence, verifyClaim } from "../../src/evidence.ts";
import { auditSet, encodeEvidence, type OriginSet } from "../../src/index.ts";
import { verifier } from "../support/artifacts.ts";
import { Payers } from "../support/payer.ts";

const RECIPIENT = `0x${"cc".repeat(20)}`;
const [PAYMENTS, MERGES_BEFORE] = [20, [6, 12, 18]] as const;

describe("a chain of payments and merges between three wallets", function () {
  slow(this, "proofs of origins are made");

  it("still shows its origin after twenty payments, three merges and a withdrawal", async () => {
    const payers = new Payers();
    const { curator, world } = payers;
    const wallets = [await payers.funded([5_000n, 5_000n]), await payers.wallet(), await payers.wallet()] as const;
    // Another depositor, whom the curator refuses.
    await payers.funded([7_000n]);
    const followers = await Promise.all(wallets.map((wallet) => payers.follow(wallet)));
    await curator.read();
    curator.accept(0, 1);
    await curator.sign();
    const round = async () => {
      for (const origins of followers) assert.deepEqual((await origins.sync()).problems, []);
      payers.minute();
      await curator.sign();
      for (const origins of followers) assert.deepEqual((await origins.sync()).problems, []);
    };
    await round();
    for (let i = 0; i < PAYMENTS; i += 1) {
      const [payer, payee] = [wallets[i % 3]!, wallets[(i + 1) % 3]!];
      if (MERGES_BEFORE.some((merge) => merge === i)) {
        await payers.merge(payer);
        await round();
      }
      // Each holder keeps a small change.
      await payers.pay(payer, payee, 5_000n - 10n * BigInt(i));
      await round();
    }
    const holder = PAYMENTS % 3;
    const { logs } = world.withdraw(await wallets[holder]!.exit({ recipient: RECIPIENT }));
    await round();

    const set: OriginSet = { chainId: 31337, pool: POOL as OriginSet["pool"], ...payers.set };
    const transaction = logs[0]!.transactionHash as `0x${string}`;
    const evidence = encodeEvidence(await followers[holder]!.evidence(payers.set, transaction));
    const { event, notes } = await assertEvidence(evidence, { set, verifier, chain: world.chain });
    assert.deepInclude(event, { type: "withdrawn", recipient: RECIPIENT });
    assert.isAtLeast(notes, 2, "what it received, and its change");
    for (const origins of followers)
      for (const { standing } of origins.status()[0]!.notes) assert.equal(standing.in, "set");

    const events = (await world.chain.logs({ address: POOL, from: 0, to: world.chain.height })).flatMap(
      (log) => decodeEvent(log) ?? [],
    );
    const report = await auditSet(set, {
      heads: curator.heads,
      lines: curator.lines,
      events,
      lastBlock: world.chain.height,
      leafAt: (leaf) => curator.leaves[leaf]!,
      block: (number) => world.chain.block(number),
      verify: (claim) => verifyClaim(verifier, claim),
    });
    assert.deepEqual(report.contradictions, []);
    assert.isUndefined(report.unfinished);
    assert.isAtLeast(report.claims, PAYMENTS + 2 * MERGES_BEFORE.length + notes);
    assert.isFalse(curator.state.mask.has(2), "the refused deposit");
  });
});
