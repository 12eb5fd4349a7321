// The body of a request, also in browsers whose Request has no `body` property (Firefox).

import { expectRejected } from "@sotto/test-kit/rejection";
import { expect } from "chai";
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
