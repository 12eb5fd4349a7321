// A 402 says the server's time. The client compares it before it pays, because a server whose clock is wrong takes the money
// and refuses the proof.
import { rejection } from "@sotto/test-kit/rejection";
import { expect } from "chai";
import { SEED } from "../../wallet/test/support/merchant.ts";
import { World } from "../../wallet/test/support/world.ts";
import type { PayingFetch } from "../src/fetch/options.ts";
import { quotePayment, wrapFetch } from "../src/fetch/wrap.ts";
import { openPurchases } from "../src/purchase/open.ts";
import { ORIGIN, openScene, type Scene } from "./support/scene.ts";

describe("a server whose clock is wrong", () => {
  let scene: Scene;
  let pay: PayingFetch;
  /** Milliseconds by which the payer's clock is ahead. */
  let off = 0;
  beforeEach(async () => {
    off = 0;
    const world = new World();
    scene = await openScene({ seed: SEED, clock: () => world.clock() + off }, world);
    pay = wrapFetch(scene.merchant.fetch, scene.payer, scene.terms());
  });
  const quote = () => quotePayment(scene.merchant.fetch, scene.payer, scene.terms(), `${ORIGIN}/a`);

  /** Moves the time in every 402. */
  function move(ms: number): void {
    scene.merchant.misbehave = async (_, answer) => {
      const response = await answer();
      if (response.status !== 402) return response;
      const body = (await response.json()) as { metadata: { timestamp: number } };
      body.metadata.timestamp += ms;
      return Response.json(body, { status: 402, headers: response.headers });
    };
  }

  for (const [seconds, direction] of [
    [360, "ahead"],
    [121, "ahead"],
    [-31, "behind"],
    [-86_400, "behind"],
  ] as const)
    it(`is not paid if it is ${Math.abs(seconds)} s ${direction}`, async () => {
      move(seconds * 1000);
      for (const act of [() => pay(`${ORIGIN}/a`), quote]) {
        const error = await rejection(act());
        expect([error.code, error.details]).to.deep.equal([
          "SERVER_CLOCK_WRONG",
          { host: "data.example", seconds: Math.abs(seconds), direction },
        ]);
      }
      expect([await scene.paid(), scene.service.asked, await openPurchases(scene.payer)]).to.deep.equal([0n, [], []]);
      expect(scene.payer.history()).to.deep.equal([]);
      move(0);
      await pay(`${ORIGIN}/a`);
      expect(scene.merchant.served.map(({ by }) => by)).to.deep.equal(["proof"]);
    });

  for (const seconds of [30, 120, -30])
    it(`is paid if it is ${seconds} s off`, async () => {
      move(seconds * 1000);
      await quote();
      await pay(`${ORIGIN}/a`);
      expect(scene.merchant.served.map(({ by }) => by)).to.deep.equal(["proof"]);
    });

  it("is paid over a connection that takes a minute", async () => {
    scene.merchant.misbehave = async (_, answer) => {
      const response = await answer();
      scene.world.chain.time += 60;
      return response;
    };
    await pay(`${ORIGIN}/a`);
    expect(scene.merchant.served.map(({ by }) => by)).to.deep.equal(["proof"]);
  });

  it("is not blamed for the payer's clock", async () => {
    off = 600_000;
    for (const act of [() => pay(`${ORIGIN}/a`), quote]) {
      const error = await rejection(act());
      expect([error.code, error.details["direction"]]).to.deep.equal(["CLOCK_WRONG", "ahead"]);
    }
    expect(scene.service.asked).to.deep.equal([]);
  });
});
