// What a payer sees of an upstream's stream, without a network.
import assert from "node:assert/strict";
import { test } from "node:test";
import { concealInEvents } from "../src/upstream.ts";

const KEY = "sk-test-0123456789abcdef0123456789abcdef";
const part = (content: string) => `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`;

/** What passes of a stream with these chunks. */
function passed(...chunks: readonly string[]): Promise<string> {
  const upstream = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(new TextEncoder().encode(chunk));
      controller.close();
    },
  });
  return new Response(upstream.pipeThrough(concealInEvents(KEY))).text();
}

test("the parts of an answer, its usage and its end pass as they are", async () => {
  const usage = `data: ${JSON.stringify({ choices: [], usage: { prompt_tokens: 1, completion_tokens: 1 } })}`;
  const chunks = [part("ä"), `${usage}\n\n`, `${part("the last")}data: [DONE]\n\n`];
  assert.equal(await passed(...chunks), chunks.join(""));
  assert.equal(await passed(part("a"), `${usage}\r\n\r\n`), `${part("a")}${usage}\n\n`);
});

test("only the data of a part passes", async () => {
  assert.equal(await passed(`: acme\nid: acme\nevent: acme\n${part("a")}`), part("a"));
  assert.equal(
    await passed('data: {"choices":[],\ndata: "usage":{}}\n\n'),
    'data: {"choices":[],\ndata: "usage":{}}\n\n',
  );
});

test("a part that quotes the key conceals it", async () => {
  assert.equal(await passed(part(`my key is ${KEY}`)), part("my key is (concealed)"));
});

test("an error inside a stream reaches the payer without the upstream's message", async () => {
  for (const error of [
    { error: { message: "acme has no credit" } },
    { error: "acme", choices: [{ index: 0, delta: { content: "" }, finish_reason: "error" }] },
    { choices: [{ index: 0, delta: { content: "" }, error: { message: "acme" } }] },
  ]) {
    const text = await passed(part("a"), `event: error\ndata: ${JSON.stringify(error)}\n\n`);
    const shown = JSON.parse(text.slice(part("a").length + "data: ".length));
    assert.ok(text.startsWith(part("a")));
    assert.equal(shown.error.code, "upstream_failed");
    assert.doesNotMatch(text, /acme/);
  }
});

test("comments, and events that are no part of an answer, do not pass", async () => {
  const others = [
    ": acme\n\n",
    'data: {"organization":"acme"}\n\n',
    "data: acme\n\n",
    'data: {"choices":null,"usage":null}\n\n',
  ];
  assert.equal(await passed(part("a"), ...others, part("b")), part("a") + part("b"));
});
