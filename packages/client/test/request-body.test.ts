// The body of a request, also in browsers whose Request has no `body` property (Firefox).

import { runInNewContext } from "node:vm";
import { anyRejection, expectRejected } from "@sotto/test-kit/rejection";
import { expect } from "chai";
import * as undici from "undici";
import { captureCall } from "../src/fetch/call.ts";

const URL_ASKED = "https://news.example/1";

/** The bytes that a request sends. */
async function sent(init: RequestInit, bodyLimit = 100) {
  let body: BodyInit | null | undefined;
  const send: typeof fetch = async (_, { body: given } = {}) => {
    body = given;
    return new Response();
  };
  await (await captureCall(send, URL_ASKED, init, bodyLimit)).send();
  return body instanceof Uint8Array ? new TextDecoder().decode(body) : body;
}

describe("a Request of the runtime, after a server replaced the global class by one that extends it", () => {
  const { Request: runtime } = globalThis;
  const before = new Request(URL_ASKED, { method: "POST", body: "text" });
  afterEach(() => {
    globalThis.Request = runtime;
  });

  it("is sent like one of the new class", async () => {
    globalThis.Request = class extends runtime {};
    const bodies: string[] = [];
    const send: typeof fetch = async (_, { body } = {}) => {
      bodies.push(new TextDecoder().decode(body as Uint8Array));
      return new Response();
    };
    for (const input of [before, new Request(URL_ASKED, { method: "POST", body: "text" })])
      await (await captureCall(send, input, {}, 100)).send();
    expect(bodies).to.deep.equal(["text", "text"]);
    const stopped = new runtime(URL_ASKED, { signal: AbortSignal.abort(new Error("stopped")) });
    expect(await anyRejection(captureCall(send, stopped, {}, 100))).to.have.property("message", "stopped");
    // The control: an object that only looks like a Request is refused.
    const foreign = new undici.Request(URL_ASKED) as unknown as Request;
    await expectRejected("REQUEST_NOT_SUPPORTED", () => captureCall(fetch, foreign, {}, 100));
  });
});

for (const firefox of [false, true])
  describe(`the body of a request${firefox ? " in a browser without Request.body" : ""}`, () => {
    const { body } = Object.getOwnPropertyDescriptors(Request.prototype);
    before(() => {
      if (firefox) Object.defineProperty(Request.prototype, "body", { get: () => undefined, configurable: true });
    });
    after(() => void Object.defineProperty(Request.prototype, "body", body));

    it("is sent unchanged, and GET has none", async () => {
      expect(await sent({})).to.equal(null);
      expect(await sent({ method: "POST", body: "text" })).to.equal("text");
      expect(await sent({ method: "POST" })).to.equal(null);
    });

    it("has the same fingerprint if the same form is serialized again", async () => {
      const form = (text = "a", file = "b", name = "f.txt", type = "text/plain") => {
        const made = new FormData();
        made.append("text", text);
        made.append("file", new Blob([file], { type }), name);
        return made;
      };
      const fingerprint = async (body: BodyInit, init: RequestInit = {}) =>
        (await captureCall(fetch, URL_ASKED, { method: "POST", body, ...init }, 10_000)).fingerprint;
      const first = await fingerprint(form());
      expect(await fingerprint(form())).to.equal(first);
      const request = new Request(URL_ASKED, { method: "POST", body: form() });
      expect((await captureCall(fetch, request, {}, 10_000)).fingerprint, "as a Request").to.equal(first);
      // The control: each part of an entry counts.
      const others = [form("x"), form("a", "x"), form("a", "b", "x.txt"), form("a", "b", "f.txt", "image/png")];
      for (const other of others) expect(await fingerprint(other)).not.to.equal(first);
      // Bytes that only claim to be a form are compared as bytes.
      const headers = { "content-type": "multipart/form-data; boundary=x" };
      expect(await fingerprint("not a form", { headers })).to.equal(await fingerprint("not a form", { headers }));
      expect(await fingerprint("not a form", { headers })).not.to.equal(await fingerprint("another", { headers }));
    });

    it("is rejected if it is too large to buffer for a retry", async () => {
      await expectRejected("BODY_TOO_LARGE", () => sent({ method: "POST", body: "x".repeat(101) }));
    });
  });

/** A form of another fetch. */
function foreignForm(): BodyInit {
  const form = new undici.FormData();
  form.append("name", "value");
  return form as unknown as BodyInit;
}

describe("the body of a request", () => {
  const code = async (body: unknown) =>
    ((await anyRejection(sent({ method: "POST", body: body as BodyInit }))) as { code?: string }).code;

  it("is refused if the platform would send it as text", async () => {
    const refused: unknown[] = [
      foreignForm(),
      { name: "value" },
      ["name"],
      new Date(0),
      new Map(),
      7,
      true,
      { [Symbol.toStringTag]: "Uint8Array", length: 1, 0: 1 },
      { [Symbol.toStringTag]: "FormData", toString: () => "name=value" },
      runInNewContext("({ [Symbol.toStringTag]: 'ArrayBuffer', byteLength: 1 })"),
    ];
    for (const body of refused) expect(await code(body), String(body)).to.equal("REQUEST_NOT_SUPPORTED");
    const { message } = (await anyRejection(sent({ method: "POST", body: foreignForm() }))) as Error;
    expect(message).to.match(/another library's FormData.*this runtime's own Blob, FormData/);
  });

  it("is refused if a caller's Request has the text of an object instead of a body", async () => {
    for (const [body, headers] of [
      [foreignForm(), {}],
      [{ name: "value" } as unknown as BodyInit, { "content-type": "application/json" }],
    ] as const) {
      const request = new Request(URL_ASKED, { method: "POST", body, headers });
      await expectRejected("REQUEST_NOT_SUPPORTED", () => captureCall(fetch, request, {}, 100));
    }
    // The control: a caller may send these characters as a text or as bytes.
    expect(await sent({ method: "POST", body: "[object FormData]" })).to.equal("[object FormData]");
    expect(await sent({ method: "POST", body: Buffer.from("[object FormData]") })).to.equal("[object FormData]");
    const request = new Request(URL_ASKED, { method: "POST", body: "[object FormData], as JavaScript says" });
    await captureCall(fetch, request, {}, 100);
  });

  it("is sent if the platform knows it, also bytes of another realm", async () => {
    const bytes = new TextEncoder().encode("text");
    const chunks = async function* () {
      yield bytes.slice(0, 2);
      yield bytes.slice(2);
    };
    const accepted: unknown[] = [
      "text",
      bytes,
      bytes.buffer,
      new DataView(bytes.buffer),
      new Blob([bytes]),
      new Blob([bytes]).stream(),
      chunks(),
      runInNewContext("Uint8Array.of(116, 101, 120, 116)"),
      runInNewContext("Uint8Array.of(116, 101, 120, 116).buffer"),
    ];
    for (const [index, body] of accepted.entries())
      expect(await sent({ method: "POST", body: body as BodyInit }), `body ${index}`).to.equal("text");
    expect(await sent({ method: "POST", body: new URLSearchParams({ a: "b" }) })).to.equal("a=b");
    const form = new FormData();
    form.append("name", "value");
    expect(await sent({ method: "POST", body: form }, 1_000)).to.match(/form-data; name="name"\r\n\r\nvalue/);
  });

  it("is refused if it is a stream of texts, which fetch refuses too", async () => {
    const stream = (chunk: unknown) =>
      new ReadableStream({
        start(controller) {
          controller.enqueue(chunk);
          controller.close();
        },
      });
    expect(await code(stream("text"))).to.equal("BODY_NOT_REPLAYABLE");
    // The control: the same stream with bytes, also of another realm.
    for (const chunk of [Buffer.from("text"), runInNewContext("Uint8Array.of(116, 101, 120, 116)")])
      expect(await sent({ method: "POST", body: stream(chunk) })).to.equal("text");
  });
});

describe("the target of a request", () => {
  it("is refused if it is a Request of another fetch, or if the options are a Request", async () => {
    const init = { method: "POST", body: "text" };
    const foreign = new undici.Request(URL_ASKED, init) as unknown as Request;
    for (const input of [foreign, undefined, {}] as Request[])
      await expectRejected("REQUEST_NOT_SUPPORTED", () => captureCall(fetch, input, {}, 100));
    for (const options of [foreign, new Request(URL_ASKED, init)] as RequestInit[])
      await expectRejected("REQUEST_NOT_SUPPORTED", () => captureCall(fetch, URL_ASKED, options, 100));
    // The control: this runtime's Request, and URLs of any kind.
    const link = { toString: () => URL_ASKED } as unknown as URL;
    for (const input of [new Request(URL_ASKED, init), URL_ASKED, new URL(URL_ASKED), link])
      expect((await captureCall(fetch, input, {}, 100)).url.href).to.equal(URL_ASKED);
  });
});
