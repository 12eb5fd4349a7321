// Bytes of another realm, such as those of jsdom or an iframe, whose constructors are not this realm's.
import { runInNewContext } from "node:vm";
import { expectCode } from "@sotto/test-kit/rejection";
import { expect } from "chai";
import { bytesToHex, deriveKeys, isArrayBuffer, isBytes, NoteTree, readBody, requestedUrl } from "../src/index.ts";
import { encodePss, finalizeSignatures } from "../src/prepaid/blind-rsa.ts";
import {
  decodePrepaidToken,
  encodePrepaidKey,
  encodePrepaidToken,
  parsePrepaidKey,
  preparePrepaidPack,
} from "../src/prepaid.ts";
import { receiptKeyOf, signWithReceiptKey } from "../src/receipt-key.ts";
import { DEPLOYMENT } from "./support/deployment.ts";
import { createSigner } from "./support/prepaid-signer.ts";

/** The same bytes, made in another realm. */
const foreign = (bytes: Uint8Array): Uint8Array => runInNewContext("Uint8Array.from(bytes)", { bytes: [...bytes] });

/** Values that are not bytes, although some of them claim to be or have the methods. */
const OTHERS: readonly unknown[] = [
  undefined,
  null,
  "0x00",
  7,
  [1, 2],
  new Uint16Array(32),
  new Int8Array(32),
  new DataView(new ArrayBuffer(32)),
  new ArrayBuffer(32),
  Object.create(Uint8Array.prototype),
  new Proxy(new Uint8Array(32), {}),
  { [Symbol.toStringTag]: "Uint8Array", length: 32, constructor: Uint8Array },
  runInNewContext("({ [Symbol.toStringTag]: 'Uint8Array', length: 32, constructor: Uint8Array })"),
  runInNewContext("new Uint16Array(32)"),
];

describe("bytes of another realm", () => {
  it("are recognized, while objects that only claim to be bytes are not", () => {
    const bytes = new Uint8Array([1, 2, 3]);
    expect(foreign(bytes) instanceof Uint8Array, "the control: another constructor").to.equal(false);
    for (const good of [bytes, Buffer.from(bytes), foreign(bytes), foreign(bytes).subarray(1)])
      expect(isBytes(good)).to.equal(true);
    for (const other of OTHERS) expect(isBytes(other)).to.equal(false);
    for (const good of [new ArrayBuffer(1), foreign(bytes).buffer]) expect(isArrayBuffer(good)).to.equal(true);
    const notBuffers = [undefined, "", bytes, new SharedArrayBuffer(1), { byteLength: 1 }];
    const claims = [Object.create(ArrayBuffer.prototype), { [Symbol.toStringTag]: "ArrayBuffer", byteLength: 1 }];
    for (const other of [...notBuffers, ...claims]) expect(isArrayBuffer(other)).to.equal(false);
  });

  it("are written as hex, and other values are refused", () => {
    expect(bytesToHex(foreign(new Uint8Array([1, 254])))).to.equal("0x01fe");
    for (const other of OTHERS) expectCode("INVALID_ARGUMENT", () => bytesToHex(other as Uint8Array));
  });

  it("are a seed, a receipt key and a message, and other values are not", () => {
    const seed = new Uint8Array(32).map((_, i) => i);
    const address = (given: unknown) => deriveKeys(given as Uint8Array, DEPLOYMENT).shieldedAddress();
    expect(address(foreign(seed))).to.equal(address(seed));
    expect(receiptKeyOf(foreign(seed))).to.deep.equal(receiptKeyOf(seed));
    expect(signWithReceiptKey(foreign(seed), foreign(seed))).to.deep.equal(signWithReceiptKey(seed, seed));
    for (const other of OTHERS) {
      expectCode("INVALID_KEY", () => address(other));
      expectCode("INVALID_KEY", () => receiptKeyOf(other as Uint8Array));
      expectCode("INVALID_ARGUMENT", () => signWithReceiptKey(other as Uint8Array, seed));
    }
  });

  it("are a stored tree, and other values are not", () => {
    const bytes = new NoteTree([1n, 2n]).serialize();
    expect(NoteTree.deserialize(foreign(bytes)).root).to.equal(NoteTree.deserialize(bytes).root);
    for (const other of OTHERS) expectCode("INVALID_TREE_STATE", () => NoteTree.deserialize(other as Uint8Array));
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

  it("are keys, tokens, secrets and signatures of prepaid packs, and other values are not", () => {
    const signer = createSigner();
    const spki = encodePrepaidKey(signer.key.modulus);
    expect(parsePrepaidKey(foreign(spki))).to.deep.equal(parsePrepaidKey(spki));
    const secret = new Uint8Array(32).fill(7);
    const pack = (given: Uint8Array) => preparePrepaidPack(given, signer.key, "https://data.example", 1);
    const { request } = pack(secret);
    expect(pack(foreign(secret)).request).to.deep.equal(request);
    const signatures = signer.sign(request);
    const [token] = pack(secret).finish(foreign(signatures));
    expect([token]).to.deep.equal(pack(secret).finish(signatures));
    const encoded = encodePrepaidToken(token!);
    expect(encodePrepaidToken({ ...token!, signature: foreign(token!.signature) })).to.deep.equal(encoded);
    expect(decodePrepaidToken(foreign(encoded))).to.deep.equal({ ...token!, signature: foreign(token!.signature) });
    const salt = new Uint8Array(48);
    const { modulus } = signer.key;
    expect(encodePss(secret, foreign(salt), modulus)).to.equal(encodePss(secret, salt, modulus));
    for (const other of OTHERS as readonly Uint8Array[]) {
      expectCode("INVALID_KEY", () => parsePrepaidKey(other));
      expectCode("INVALID_KEY", () => pack(other));
      expectCode("INVALID_ARGUMENT", () => decodePrepaidToken(other));
      expectCode("INVALID_ARGUMENT", () => encodePrepaidToken({ ...token!, signature: other }));
      expectCode("INVALID_ARGUMENT", () => encodePss(secret, other, modulus));
      expectCode("INVALID_SIGNATURE", () => finalizeSignatures([], other, modulus));
    }
  });
});

describe("the URL of a fetch", () => {
  it("is found in a text, a URL and a Request, also of another realm", () => {
    const url = "https://data.example/report";
    for (const input of [url, new URL(url), new Request(url), runInNewContext("({ url })", { url })])
      expect(requestedUrl(input)).to.equal(url);
  });
});
