// Response bodies, as results contain them.
import { expect } from "chai";
import { asText, readPart } from "../src/network/body.ts";

const never = new AbortController().signal;
const read = (text: string, limit: number) => readPart(new Response(text), limit, never);

describe("the body of a response", () => {
  it("is cut at the limit, and says so", async () => {
    expect(await read("12345", 5)).to.deep.equal({ bytes: Buffer.from("12345"), truncated: false });
    expect(await read("123456", 5)).to.deep.equal({ bytes: Buffer.from("12345"), truncated: true });
    expect((await readPart(new Response(null), 5, never)).truncated).to.equal(false);
  });

  it("keeps what arrived before the signal, or before the connection broke", async () => {
    const stop = new AbortController();
    const endless = new ReadableStream({
      start: (controller) => controller.enqueue(Buffer.from("part")),
      pull: () => {
        stop.abort();
        return new Promise(() => undefined);
      },
    });
    expect(await readPart(new Response(endless), 100, stop.signal)).to.deep.equal({
      bytes: Buffer.from("part"),
      truncated: true,
    });
    let pulls = 0;
    const broken = new ReadableStream({
      pull: (controller) => {
        pulls += 1;
        if (pulls > 1) throw new Error("reset");
        controller.enqueue(Buffer.from("part"));
      },
    });
    expect((await readPart(new Response(broken), 100, never)).bytes.toString()).to.equal("part");
  });

  it("is text if both its type and its bytes are, without a character that was cut in half", async () => {
    const body = await read("aé", 2);
    expect(asText(body, "text/plain; charset=utf-8")).to.equal("a");
    expect(asText(await read("{}", 9), "application/problem+json")).to.equal("{}");
    expect(asText(await read("{}", 9), "")).to.equal("{}");
    expect(asText(await read("{}", 9), "image/png")).to.equal(undefined);
    expect(asText({ bytes: Buffer.from([0xff, 0xfe]), truncated: false }, "text/plain")).to.equal(undefined);
  });
});
