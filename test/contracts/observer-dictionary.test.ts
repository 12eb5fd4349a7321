import {
  addPoints,
  BASE8,
  multiplyPoint,
  negatePoint,
  noteCommitment,
  noteSecrets,
  openHint,
  type Point,
  pointFromX,
  unpackCiphertext,
} from "@sotto/protocol";
import { slow } from "@sotto/test-kit/slow";
import { PoolWorld } from "@sotto/test-pool/hardhat/pool-world";
import { expect } from "chai";
import { type Merchant, merchant, type Observed, observe, payers } from "./support/observed.ts";

const AMOUNTS = [1n, 250_000n, 1_000_000n];

/**
 * Amounts are prices, so anyone can try them all. With C = S + amount Base8, a guess of the amount gives S, and S gives
 * the pad and the blinding, which confirm or refute the guess. So C must not be on the chain in a form that an observer
 * can reverse.
 */
describe("an observer that tries every amount", function () {
  slow(this, "transactions and proofs on a chain in this process");
  let observed: Observed;
  let merchants: Merchant[];

  before(async () => {
    const world = await PoolWorld.create("dictionary");
    merchants = [1, 2, 3].map((seed) => merchant(world, seed));
    const [[payer]] = (await payers(world, 1, 1)) as [[Awaited<ReturnType<typeof payers>>[number][number]]];
    const secret = { payer, merchant: merchants[1]!, amount: AMOUNTS[1]!, resourceUrl: "https://api.example/" };
    observed = await observe(world, secret);
  });

  /**
   * Returns the amounts and recipients that these points confirm; tries each of the payment's numbers as R.x, hint and
   * commitment.
   */
  function confirmed(points: readonly Point[]): string[] {
    const shown = observed.prepared.publicSignals;
    const found: string[] = [];
    for (const point of points.flatMap((one) => [one, negatePoint(one)])) {
      for (const amount of AMOUNTS) {
        const { x } = addPoints(point, negatePoint(multiplyPoint(BASE8, amount)));
        for (const ephemeral of shown) {
          const { blinding, pad } = noteSecrets(x, ephemeral);
          if (shown.some((hint) => openHint(hint, pad) === amount)) found.push(`amount ${amount}`);
          for (const [m, { ownerTag }] of merchants.entries()) {
            if (shown.includes(noteCommitment({ amount, ownerTag, blinding }))) found.push(`recipient ${m}`);
          }
        }
      }
    }
    return found;
  }

  /** Points whose x-coordinate is one of the payment's numbers. */
  const pointsOf = (numbers: readonly bigint[]) =>
    numbers.flatMap((number) => {
      try {
        return [pointFromX(number)];
      } catch {
        return [];
      }
    });

  it("learns nothing from the chain", () => {
    const { publicSignals } = observed.prepared;
    const differences = publicSignals.flatMap((a) => publicSignals.map((b) => a - b)).filter((value) => value > 0n);
    expect(confirmed(pointsOf(publicSignals))).to.deep.equal([]);
    expect(confirmed(pointsOf(differences))).to.deep.equal([]);
  });

  it("would learn the amount from the ciphertext in the bundle, so that ciphertext stays off the chain", () => {
    const { C } = unpackCiphertext(observed.prepared.encryptedAmount);
    expect(confirmed([C])).to.include.members(["amount 250000", "recipient 1"]);
  });
});
