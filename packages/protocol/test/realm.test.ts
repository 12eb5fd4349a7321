// Bytes of another realm, such as those of jsdom or an iframe, whose constructors are not this realm's.
import { runInNewContext } from "node:vm";
import { foreign, NOT_BYTES } from "@sotto/test-kit/realm";
import { expectCode } from "@sotto/test-kit/rejection";
import { expect } from "chai";
import { bytesToHex, deriveKeys, isArrayBuffer, isBytes, NoteTree, readBody, requestedUrl } from "../src/index.ts";
import { receiptKeyOf, signWithReceiptKey } from "../src/receipt-key.ts";
import { DEPLOYMENT } from "./support/deployment.ts";

describe("bytes of another realm", () => {
  it("are recognized, while objects that only claim to be bytes are not", () => {
    const bytes = new Uint8Array([1, 2, 3]);
    expect(foreign(bytes) instanceof Uint8Array, "the control: another constructor").to.equal(false);
    for (const good of [bytes, Buffer.from(bytes), foreign(bytes), foreign(bytes).subarray(1)])
      expect(isBytes(good)).to.equal(true);
    for (const other of NOT_BYTES) expect(isBytes(other)).to.equal(false);
    for (const good of [new ArrayBuffer(1), foreign(bytes).buffer]) expect(isArrayBuffer(good)).to.equal(true);
    const notBuffers = [undefined, "", bytes, new SharedArrayBuffer(1), { byteLength: 1 }];
    const claims = [Object.create(ArrayBuffer.prototype), { [Symbol.toStringTag]: "ArrayBuffer", byteLength: 1 }];
    for (const other of [...notBuffers, ...claims]) expect(isArrayBuffer(other)).to.equal(false);
  });

  it("are written as hex, and other values are refused", () => {
    expect(bytesToHex(foreign(new Uint8Array([1, 254])))).to.equal("0x01fe");
    for (const other of NOT_BYTES) expectCode("INVALID_ARGUMENT", () => bytesToHex(other as Uint8Array));
  });

  it("are a seed, a receipt key and a message, and other values are not", () => {
    const seed = new Uint8Array(32).map((_, i) => i);
    const address = (given: unknown) => deriveKeys(given as Uint8Array, DEPLOYMENT).shieldedAddress();
    expect(address(foreign(seed))).to.equal(address(seed));
    expect(receiptKeyOf(foreign(seed))).to.deep.equal(receiptKeyOf(seed));
    expect(signWithReceiptKey(foreign(seed), foreign(seed))).to.deep.equal(signWithReceiptKey(seed, seed));
    for (const other of NOT_BYTES) {
      expectCode("INVALID_KEY", () => address(other));
      expectCode("INVALID_KEY", () => receiptKeyOf(other as Uint8Array));
      expectCode("INVALID_ARGUMENT", () => signWithReceiptKey(other as Uint8Array, seed));
    }
  });

  it("are a stored tree, and other values are not", () => {
    const bytes = new NoteTree([1n, 2n]).serialize();
    expect(NoteTree.deserialize(foreign(bytes)).root).to.equal(NoteTree.deserialize(bytes).root);
    for (const other of NOT_BYTES) expectCode("INVALID_TREE_STATE", () => NoteTree.deserialize(other as Uint8Array));
  });

  it("are chunks of a body, and chunks of text are refused", async () => {
    const body = (chunk: unknown) => {
      const start = (controller: ReadableStreamDefaultController) => {
        controller.enqueue(chunk);
        controller.close();
      };
      return new Response(new ReadableStream({ start }));
    };
    expect(await readBody(body(foreign(new Uint8Array([7, 8]))), 10)).to.deep.equal(new Uint8Array([7, 8]));
    const refused = await readBody(body("text"), 10).catch((error: unknown) => error);
    expect(refused).to.be.instanceOf(TypeError);
  });
});

describe("the URL of a fetch", () => {
  it("is found in a text, a URL and a Request, also of another realm", () => {
    const url = "https://data.example/report";
    for (const input of [url, new URL(url), new Request(url), runInNewContext("({ url })", { url })])
      expect(requestedUrl(input)).to.equal(url);
  });
});
