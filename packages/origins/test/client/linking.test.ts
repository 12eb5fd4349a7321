// What curator, merchant, service and mirror can learn together from everything that they see and store: not which deposit a payment
// that shows an origin came from.
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { CLAIMS_PATH } from "../../src/index.ts";
import { type Habit, isClaim, type Seen, structureOf, tell } from "../support/linking-story.ts";
import { CURATOR, MIRROR } from "../support/payer.ts";

/** The same story, in which one payer comes first or the other one. */
async function swapped(habit?: Habit): Promise<[Seen, Seen]> {
  return [structureOf(await tell([0, 1], habit)), structureOf(await tell([1, 0], habit))];
}

describe("curator, merchant, service and mirror together", function () {
  slow(this, "proofs of origins are made");

  it("see the same in two runs with the payers exchanged, but for random values", async () => {
    const [one, two] = await swapped();
    for (const part of Object.keys(one) as (keyof Seen)[]) expect(two[part], part).to.deep.equal(one[part]);
    // All four saw something, and the claims of each payment came from the merchant and from its payer.
    expect([one.merchant.shown.map((sets) => sets.length), one.service.admitted.length]).to.deep.equal([
      [1, 1, 1, 1],
      4,
    ]);
    for (const base of [CURATOR, MIRROR, "https://data.example", "https://pay.example"])
      expect(one.requests.filter(({ url }) => url.startsWith(`${base}/`)).length, base).to.be.greaterThan(3);
    expect(one.requests.filter(isClaim)).to.have.length(8);
    const { origin_entries: entries, origin_spends: spends, origin_heads: heads } = one.curator.tables;
    expect([entries?.length, spends?.length, heads?.length, one.mirror.length]).to.deep.equal([8, 4, 3, 3]);
    for (const result of ["stored", "known"])
      expect(one.curator.figures).to.include(`sotto_origin_claims_total{result="${result}"} 4`);
  });

  it("would see a payer that sends the claims of two spends in one request", async () => {
    const together: Habit["sending"] = (send) => {
      const claims: unknown[] = [];
      return async (input, init) => {
        if (!String(input).endsWith(CLAIMS_PATH)) return send(input, init);
        claims.push(...JSON.parse(String(init?.body)).claims);
        if (claims.length === 2) await send(input, { ...init, body: JSON.stringify({ claims }) });
        return Response.json({ results: ["known"] });
      };
    };
    const [one, two] = await swapped({ sending: together });
    expect(one.requests.filter(isClaim)).to.have.length(7);
    expect(two.requests).to.not.deep.equal(one.requests);
    expect({ ...two, requests: [] }, "the rest").to.deep.equal({ ...one, requests: [] });
  });

  it("would see a payer that asks for the bitmap of its own notes alone", async () => {
    const [one, two] = await swapped({ beforePaying: (send, bitmap) => send(bitmap) });
    expect(two.requests).to.not.deep.equal(one.requests);
    expect({ ...two, requests: [] }, "the rest").to.deep.equal({ ...one, requests: [] });
  });
});
