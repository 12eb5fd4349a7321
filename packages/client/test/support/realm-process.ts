// Request bodies in a program whose Uint8Array and ArrayBuffer are not the platform's, as in tests that run under jsdom: what
// the platform makes, such as the bytes of a TextEncoder, are of another realm. Prints what it did.
import { runInNewContext } from "node:vm";

const platformBytes = new Uint8Array(32);
for (const name of ["Uint8Array", "ArrayBuffer"]) Object.assign(globalThis, { [name]: runInNewContext(name) });

// After the swap, as under jsdom.
const { captureCall } = await import("../../src/fetch/call.ts");

const sent: unknown[] = [];
const send: typeof fetch = async (_, init) => {
  sent.push(new TextDecoder().decode(init?.body as Uint8Array));
  return new Response();
};
for (const body of ["text", new TextEncoder().encode("text"), new Blob(["text"])])
  await (await captureCall(send, "https://data.example/", { method: "POST", body }, 100)).send();

console.log(JSON.stringify({ foreign: !(platformBytes instanceof Uint8Array), sent }));
