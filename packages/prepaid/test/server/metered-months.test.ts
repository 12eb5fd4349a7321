// Metered credit at the end of a month: which keys sign change, and until when it can be claimed.
import { join } from "node:path";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { expect } from "chai";
import { createMerchant, openServer, type PrepaidServer, told } from "./support/merchant.ts";
import {
  type Answer,
  blind,
  blindChange,
  buy,
  claim,
  claimed,
  METERED_VALUES,
  meteredOptions,
  type Owned,
  showMetered,
  spendMetered,
  swap,
} from "./support/metered.ts";
import { overStores } from "./support/store.ts";

const merchant = await createMerchant({}, METERED_VALUES);
const statusOf = ({ status, code }: Answer) => (code === undefined ? String(status) : `${status} ${code}`);
/** Tokens of 2026-11 are accepted until the end of December. */
const END = Date.UTC(2027, 0, 1);
/** From then on, the keys of December sign their change. */
const LAST_WEEK = END - 7 * 86_400_000;

overStores("metered credit at the end of a month", (newUrl) => {
  let server: PrepaidServer;
  beforeEach(async () => {
    const guard = join(temporaryFolder("months"), "guard");
    server = await openServer(meteredOptions(merchant, await newUrl(), guard));
  });
  afterEach(() => server.close());

  const spendAt = async (time: number, owned: Owned) => {
    server.at(time);
    await spendMetered(server, owned, { input: 3_000 });
  };
  /** The month of the change of a charge of 4,000, whose tokens must be signed by the keys of that month alone. */
  const changeOf = async (owned: Owned, epoch: string): Promise<readonly Owned[]> => {
    const blinded = blindChange(server, 4_000n, epoch);
    const answer = await claimed(server, owned, blinded.batch);
    expect(answer.epoch).to.equal(epoch);
    // The receipt is of the month of the request.
    expect(answer.receipt.receipt.epoch).to.equal("2026-12");
    return blinded.finish(answer.signatures!);
  };

  it("signs change by the token's own month until seven days before its end, and then by the next", async () => {
    const [before, after, late] = await buy(server, 3, { epoch: "2026-11" });
    await spendAt(LAST_WEEK - 1, before!);
    await spendAt(LAST_WEEK, after!);
    await spendAt(END - 1, late!);
    // When the token was spent counts, not when its change is claimed.
    const own = await changeOf(before!, "2026-11");
    const next = await changeOf(after!, "2026-12");
    expect(await changeOf(late!, "2026-12")).to.have.length(2);
    // Change of November pays as long as tokens of November do; change of December pays in January.
    const [five, one] = own;
    expect(five!.token.keyId).to.not.equal(next[0]!.token.keyId);
    const mates = await buy(server, 1, { value: 5_000n, epoch: "2026-11" });
    const cap = blind(server, [10_000n], "2026-11");
    expect(statusOf(await swap(server, [mates[0]!, five!], cap, "2026-11"))).to.equal("200");
    server.at(END);
    const more = await buy(server, 1, { value: 1_000n, epoch: "2026-11" });
    const two = blind(server, [2_000n], "2026-11");
    expect(statusOf(await swap(server, [more[0]!, one!], two, "2026-11"))).to.equal("410 METERED_ENDED");
    const fives = [next[0]!, ...(await buy(server, 1, { value: 5_000n }))];
    const december = blind(server, [10_000n]);
    expect(statusOf(await swap(server, fives, december))).to.equal("200");
  });

  it("takes a token until its month ends, and answers claims until the month of the change ends", async () => {
    const [own, next, unspent] = await buy(server, 3, { epoch: "2026-11" });
    await spendAt(LAST_WEEK - 1, own!);
    await spendAt(END - 1, next!);
    expect(statusOf(await claim(server, own!))).to.equal("200");
    server.at(END);
    expect(told(await showMetered(server, unspent!))).to.equal("402");
    const refused = await claim(server, own!, blindChange(server, 4_000n, "2026-11").batch);
    expect(statusOf(refused)).to.equal("410 METERED_ENDED");
    server.at(Date.UTC(2027, 1, 1) - 1);
    expect(await changeOf(next!, "2026-12")).to.have.length(2);
    server.at(Date.UTC(2027, 1, 1));
    expect(statusOf(await claim(server, next!))).to.equal("410 METERED_ENDED");
    expect(statusOf(await claim(server, unspent!))).to.equal("404 METERED_UNKNOWN");
  });

  it("swaps tokens of a month for those of the next in its last week only", async () => {
    const ones = await buy(server, 4, { value: 1_000n, epoch: "2026-11" });
    const swapAt = async (time: number, spent: readonly Owned[]) => {
      server.at(time);
      return statusOf(await swap(server, spent, blind(server, [2_000n]), "2026-12"));
    };
    expect(await swapAt(LAST_WEEK - 1, ones.slice(0, 2))).to.equal("400 METERED_REQUEST_INVALID");
    expect(await swapAt(LAST_WEEK, ones.slice(0, 2))).to.equal("200");
    expect(await swapAt(END - 1, ones.slice(2))).to.equal("200");
  });
});
