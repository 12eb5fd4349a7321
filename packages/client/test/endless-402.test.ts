import { rejection } from "@sotto/test-kit/rejection";
import { MemoryStore } from "@sotto/wallet";
import { expect } from "chai";
import { World } from "../../wallet/test/support/world.ts";
import { captureCall } from "../src/fetch/call.ts";
import { receiveChallenge } from "../src/fetch/challenge.ts";

describe("an endless 402 body", () => {
  let given: unknown;
  /** The error for a 402 whose body never ends. */
  async function challenge(pull: (controller: ReadableStreamDefaultController<Uint8Array>) => void, bodyMs?: number) {
    const wallet = await new World().wallet({ store: new MemoryStore() });
    given = undefined;
    const cancel = (reason: unknown) => {
      given = reason ?? "given up";
    };
    const response = new Response(new ReadableStream({ pull, cancel }), { status: 402 });
    const call = await captureCall(fetch, "https://data.example/report", {}, 0);
    const error = await rejection(receiveChallenge(call, response, wallet, bodyMs));
    expect(error.code).to.equal("CHALLENGE_INVALID");
    expect(given).to.not.equal(undefined);
    return error.message;
  }

  it("is not read beyond the size limit", async () => {
    let sent = 0;
    const message = await challenge((controller) => {
      sent += 1;
      controller.enqueue(new Uint8Array(1024).fill(32));
    });
    expect(message).to.match(/more than 65536 bytes/);
    expect(sent).to.be.at.most(70);
  });

  it("is read until the timeout", async () => {
    expect(await challenge(() => new Promise(() => undefined), 50)).to.match(/more than 50 ms/);
    const drip = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
      await new Promise((resolve) => setImmediate(resolve));
      // The client may have cancelled the body; then sending fails.
      if (controller.desiredSize !== null && given === undefined) controller.enqueue(new Uint8Array(1));
    };
    expect(await challenge(drip, 50)).to.match(/more than 50 ms/);
  });
});
