// A 402 says the server's time. A pack is paid for by a proof, which a server whose clock is wrong would refuse; a token is
// not.
import { rejection } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { ORIGIN, PrepaidWorld } from "./support/world.ts";

describe("a server whose clock is wrong", function () {
  slow(this, "packs of 100 tokens are blinded, signed and verified");

  /** A scene in which the time in every 402 is moved. */
  async function open() {
    const scene = await PrepaidWorld.open();
    const move = (ms: number): void => {
      scene.merchant.misbehave = async (_, answer) => {
        const response = await answer();
        if (response.status !== 402) return response;
        const body = (await response.json()) as { metadata: { timestamp: number } };
        body.metadata.timestamp += ms;
        return Response.json(body, { status: 402, headers: response.headers });
      };
    };
    return { scene, move };
  }

  it("sells no pack, and is not paid for it", async () => {
    const { scene, move } = await open();
    move(360_000);
    const { code, details } = await rejection(scene.buy());
    expect([code, details]).to.deep.equal([
      "SERVER_CLOCK_WRONG",
      { host: "data.example", seconds: 360, direction: "ahead" },
    ]);
    expect([await scene.paid(), scene.service.asked]).to.deep.equal([0n, []]);
    move(0);
    expect(await scene.buy(), "the control").to.include({ state: "ready" });
  });

  it("still takes tokens, which do not expire by its clock", async () => {
    const { scene, move } = await open();
    await scene.buy();
    move(360_000);
    await scene.wrap()(`${ORIGIN}/a`);
    expect(scene.merchant.served.at(-1)?.by).to.equal("token");
  });
});
