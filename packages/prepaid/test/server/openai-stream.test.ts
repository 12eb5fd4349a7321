// Streams of an OpenAI-compatible upstream over HTTP, metered on their way to a client.
import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setImmediate } from "node:timers/promises";
import { SottoError } from "@sotto/protocol";
import { expect } from "chai";
import type { MeteredRule } from "../../src/index.ts";
import { RequestMeter } from "../../src/server/metered/meter.ts";
import { meterOpenAiStream, type OpenAiStreamOptions } from "../../src/server.ts";

const RULE: MeteredRule = {
  base: 0n,
  units: [
    { name: "input", price: 1n, per: 1 },
    { name: "output", price: 10n, per: 1 },
  ],
  cap: 1_000n,
  grain: 10n,
};

const chunk = (choices: readonly object[], more: object = {}) =>
  `data: ${JSON.stringify({ id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "m", choices, ...more })}\n\n`;
const text = (content: string, index = 0) => chunk([{ index, delta: { content }, finish_reason: null }]);
const ROLE = chunk([{ index: 0, delta: { role: "assistant", content: "" }, finish_reason: null }]);
const STOP = chunk([{ index: 0, delta: {}, finish_reason: "stop" }]);
const LENGTH = chunk([{ index: 0, delta: {}, finish_reason: "length" }]);
const usage = (prompt: number, completion: number) =>
  chunk([], { usage: { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion } });
const DONE = "data: [DONE]\n\n";

describe("a metered stream of an OpenAI-compatible upstream", () => {
  let server: Server;
  let answer: (response: ServerResponse) => unknown;
  let upstreamClosed: Promise<unknown>;
  let meter: RequestMeter;
  let checkpoints: number;
  let failure: Error | undefined;
  before(async () => {
    server = createServer((_request, response) => {
      upstreamClosed = once(response, "close");
      response.setHeader("content-type", "text/event-stream");
      void answer(response);
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
  });
  after(() => server.close());
  const newMeter = () =>
    new RequestMeter(RULE, async () => {
      checkpoints += 1;
      if (failure !== undefined) throw failure;
    });
  beforeEach(() => {
    checkpoints = 0;
    failure = undefined;
    meter = newMeter();
  });
  const open = async (options: Partial<OpenAiStreamOptions> = {}) => {
    const upstream = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    return meterOpenAiStream(upstream.body!, { meter, ...options });
  };
  /** What the client reads of an upstream that sends these texts. */
  const pass = async (sent: readonly string[], options: Partial<OpenAiStreamOptions> = {}) => {
    answer = (response) => {
      for (const one of sent) response.write(one);
      response.end();
    };
    return new Response(await open(options)).text();
  };

  it("passes as it is, and costs its tokens", async () => {
    const sent = [ROLE, text("Hel"), text("lo"), STOP, usage(12, 2), DONE];
    expect(await pass(sent)).to.equal(sent.join(""));
    expect(meter.counted).to.deep.equal({ units: { input: 12n, output: 2n }, charge: 40n });
  });

  it("costs a token for each part if the upstream sends no usage", async () => {
    const calls = chunk([{ index: 0, delta: { tool_calls: [{ index: 0, function: { arguments: "{" } }] } }]);
    const thought = chunk([{ index: 0, delta: { reasoning_content: "hm" } }]);
    await pass([ROLE, thought, text("a"), text("b", 1), calls, STOP, DONE], { input: 30 });
    expect(meter.counted.units).to.deep.equal({ input: 30n, output: 4n });
  });

  it("costs what the usage says, if that is more than what was counted, and never less", async () => {
    await pass([text("two tokens"), usage(50, 2), DONE], { input: 30 });
    expect(meter.counted.units).to.deep.equal({ input: 50n, output: 2n });
    meter = newMeter();
    await pass([text("a"), text("b"), usage(20, 1), DONE], { input: 30 });
    expect(meter.counted.units).to.deep.equal({ input: 30n, output: 2n });
    // Some upstreams send the usage so far with each part.
    meter = newMeter();
    const running = [1, 3, 6].map((output) =>
      chunk([{ index: 0, delta: { content: "x" } }], { usage: { prompt_tokens: 5, completion_tokens: output } }),
    );
    await pass([...running, DONE]);
    expect(meter.counted.units).to.deep.equal({ input: 5n, output: 6n });
  });

  it("hides the usage from a client that did not ask for it", async () => {
    const sent = [text("a"), STOP, usage(1, 1), DONE];
    expect(await pass(sent, { usage: false })).to.equal([text("a"), STOP, DONE].join(""));
    expect(meter.counted.units).to.deep.equal({ input: 1n, output: 1n });
  });

  it("counts the units of the rule, and no input without a unit for it", async () => {
    await pass([text("a"), usage(9, 3), DONE], { units: { output: "output" }, input: 7 });
    expect(meter.counted.units).to.deep.equal({ output: 3n });
  });

  it("ends at the cap like a model at its limit, and cancels the upstream", async () => {
    answer = async (response) => {
      while (!response.destroyed) {
        response.write(text("x"));
        await setImmediate();
      }
    };
    // The prompt and 99 tokens cost 995, which is rounded up to the cap.
    const got = await new Response(await open({ input: 5 })).text();
    expect(got).to.equal(text("x").repeat(99) + LENGTH + DONE);
    expect([meter.charge, meter.left]).to.deep.equal([RULE.cap, 0n]);
    await upstreamClosed;
  });

  it("finishes every open choice at the cap, also of completions", async () => {
    const part = (index: number, reason: string | null = null) =>
      chunk([{ index, text: "x", finish_reason: reason }], { object: "text_completion" });
    const got = await pass([part(0, "stop"), part(1), part(2), usage(2_000, 3), part(1)]);
    const end = [1, 2].map((index) => ({ index, text: "", finish_reason: "length" }));
    expect(got.slice(got.indexOf(usage(2_000, 3)) + usage(2_000, 3).length)).to.equal(
      chunk(end, { object: "text_completion" }) + DONE,
    );
  });

  it("is only finished if the usage of a complete answer reaches the cap", async () => {
    expect(await pass([text("a"), STOP, usage(5_000, 1), DONE])).to.equal(text("a") + STOP + usage(5_000, 1) + DONE);
    expect(meter.charge).to.equal(RULE.cap);
  });

  it("sends nothing if the prompt reaches the cap", async () => {
    expect(await pass([text("a"), DONE], { input: 1_000 })).to.equal(DONE);
    await upstreamClosed;
  });

  it("costs what was read if the client leaves", async () => {
    let sent = 0;
    answer = async (response) => {
      for (; !response.destroyed && sent < 50; sent++) response.write(text("x"));
    };
    const reader = (await open()).getReader();
    for (let read = 0; read < 3; read++) await reader.read();
    await reader.cancel();
    await upstreamClosed;
    expect(meter.counted.units).to.deep.equal({ output: 3n });
  });

  it("fails with the upstream, and with a meter that has ended", async () => {
    answer = async (response) => {
      response.write(text("x"));
      await setImmediate();
      response.destroy();
    };
    expect(await new Response(await open()).text().catch(() => "failed")).to.equal("failed");
    expect(meter.charge <= 10n).to.equal(true);
    answer = (response) => response.write(text("x"));
    const stream = await open();
    meter.end();
    expect(await new Response(stream).text().catch(({ code }: SottoError) => code)).to.equal("METER_ENDED");
    await upstreamClosed;
  });

  it("is stored on the way, and continues if the store fails", async () => {
    failure = new Error("the store does not answer");
    expect(await pass([text("a"), text("b"), DONE])).to.equal(text("a") + text("b") + DONE);
    expect(checkpoints).to.be.greaterThan(0);
  });

  it("is read in parts of any size and with any line ends", async () => {
    const whole = [
      ": hello",
      "",
      `event: message\r\ndata: ${text("ü").slice(6).trim()}`,
      "",
      "data: [DONE]",
      "",
      "",
    ].join("\r\n");
    const bytes = Buffer.from(whole);
    answer = async (response) => {
      for (const byte of bytes) {
        response.write(Buffer.of(byte));
        await setImmediate();
      }
      response.end("data: no empty line");
    };
    expect(await new Response(await open()).text()).to.equal(`${whole}data: no empty line`);
    expect(meter.counted.units).to.deep.equal({ output: 1n });
  });

  it("passes events that are not part of an answer, and refuses one without an end", async () => {
    const odd = ["data: {\n\n", "data: null\n\n", 'data: {"error":{"message":"overloaded"}}\n\n', "data: 5\n\n"];
    const wrong = ["NaN", "-1", "1e99", '"7"', "null", "0.5"].map(
      (count) => `data: {"choices":[],"usage":{"prompt_tokens":${count},"completion_tokens":${count}}}\n\n`,
    );
    const all = [...odd, ...wrong, 'data: {"choices":[null,7,{"delta":null}]}\n\n'];
    expect(await pass(all)).to.equal(all.join(""));
    expect(meter.counted.units).to.deep.equal({});
    const refused = await pass(["data: ".padEnd(1_100_000, "x")]).catch((error: unknown) => error);
    expect(refused).to.be.instanceOf(SottoError);
  });

  it("is refused with junk", () => {
    const body = new ReadableStream<Uint8Array>();
    for (const [upstream, options] of [
      [undefined, { meter }],
      ["data", { meter }],
      [body, undefined],
      [body, {}],
      [body, { meter: {} }],
      [body, { meter, input: -1 }],
      [body, { meter, input: Number.NaN }],
      [body, { meter, units: 5 }],
      [body, { meter, units: { output: "" } }],
      [body, { meter, units: { output: "Output" } }],
    ] as const)
      expect(() => meterOpenAiStream(upstream as never, options as never)).to.throw(SottoError);
    expect(body.locked).to.equal(false);
  });
});
