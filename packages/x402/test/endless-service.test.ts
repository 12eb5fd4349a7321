import { expect } from "chai";
import { SottoScheme } from "../src/facilitator.ts";

describe("a service with an endless response", () => {
  /** Opens a facilitator on such a service; resolves to its error. */
  async function opened(
    pull: (controller: ReadableStreamDefaultController<Uint8Array>) => void | Promise<void>,
    timeoutMs: number,
  ) {
    let canceled = false;
    const cancel = () => {
      canceled = true;
    };
    // The request's signal does not end this body, so only the reader can.
    const send = async () => new Response(new ReadableStream({ pull, cancel }));
    const opening = SottoScheme.open({ service: "https://pay.example/zk", fetch: send, timeoutMs });
    const found = await opening.then(
      () => "opened",
      ({ code, message }) => `${code}: ${message}`,
    );
    expect(canceled).to.equal(true);
    return found;
  }

  it("is aborted at the size limit", async () => {
    let sent = 0;
    const more = (controller: ReadableStreamDefaultController<Uint8Array>) => {
      sent += 1;
      controller.enqueue(new Uint8Array(4096).fill(32));
    };
    expect(await opened(more, 60_000)).to.match(/^X402_FACILITATOR_FAILED: .*more than 65536 bytes/);
    expect(sent).to.be.at.most(20);
  });

  it("is aborted at the timeout", async () => {
    expect(await opened(() => new Promise(() => undefined), 50)).to.match(
      /^X402_FACILITATOR_FAILED: .*does not answer/,
    );
  });
});
