// A model for development and tests: it streams the words of the last message back, each as one token. It speaks OpenAI's protocol.
import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Offered } from "./chat-request.ts";
import type { Upstream } from "./upstream.ts";

export const LOCAL_MODEL = "local-echo";

export interface LocalModelOptions {
  /** The key that callers must show; default: any. */
  readonly key?: string;
  /** Time between two tokens, ms. Default: 20. */
  readonly pauseMs?: number;
}

interface Chat {
  readonly messages: readonly { readonly content: string | readonly { readonly text: string }[] }[];
  readonly max_tokens?: number;
  readonly max_completion_tokens?: number;
  readonly stream?: boolean;
  readonly stream_options?: { readonly include_usage?: boolean };
}

/** Starts the model on a port of its own. It ends with the program. */
export async function openLocalModel(): Promise<Upstream & Offered> {
  const server = createServer(localModel()).listen(0, "127.0.0.1");
  await once(server, "listening");
  server.unref();
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/v1`, key: undefined, models: [LOCAL_MODEL], limitField: "max_tokens" };
}

/** Handles POST /v1/chat/completions. */
export const localModel =
  ({ key, pauseMs = 20 }: LocalModelOptions = {}): RequestListener =>
  (request, response) => {
    answer(request, response, key, pauseMs).catch(() => response.destroy());
  };

async function answer(request: IncomingMessage, response: ServerResponse, key: string | undefined, pauseMs: number) {
  const shown = request.headers.authorization?.replace("Bearer ", "");
  if (key !== undefined && shown !== key)
    return sendJson(response, 401, {
      error: { message: `Incorrect API key provided: ${shown}`, code: "invalid_api_key" },
    });
  if (request.method !== "POST" || request.url !== "/v1/chat/completions")
    return sendJson(response, 404, { error: { message: "there is only POST /v1/chat/completions" } });
  const chat = (await readJson(request)) as Chat;
  const words = chat.messages.map(({ content }) => wordsOf(content));
  const wanted = words.at(-1) ?? [];
  const limit = chat.max_completion_tokens ?? chat.max_tokens ?? wanted.length;
  const said = wanted.slice(0, limit);
  const reason = said.length < wanted.length ? "length" : "stop";
  const [input, output] = [words.flat().length, said.length];
  const usage = { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
  const head = { id: "chatcmpl-local", created: Math.floor(Date.now() / 1000), model: LOCAL_MODEL };
  if (chat.stream !== true) {
    await sleep(pauseMs);
    const choice = {
      index: 0,
      message: { role: "assistant", content: said.join(" "), refusal: null },
      finish_reason: reason,
    };
    return sendJson(response, 200, { ...head, object: "chat.completion", choices: [choice], usage });
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  const send = (part: object) =>
    response.write(`data: ${JSON.stringify({ ...head, object: "chat.completion.chunk", ...part })}\n\n`);
  const sendDelta = (delta: object, finished: string | null = null) =>
    send({ choices: [{ index: 0, delta, finish_reason: finished }] });
  sendDelta({ role: "assistant" });
  for (const [i, word] of said.entries()) {
    await sleep(pauseMs);
    if (response.destroyed) return;
    sendDelta({ content: i === 0 ? word : ` ${word}` });
  }
  sendDelta({}, reason);
  if (chat.stream_options?.include_usage === true) send({ choices: [], usage });
  response.end("data: [DONE]\n\n");
}

const wordsOf = (content: Chat["messages"][number]["content"]): string[] =>
  (typeof content === "string" ? content : content.map(({ text }) => text).join(" ")).split(/\s+/).filter(Boolean);

async function readJson(request: IncomingMessage): Promise<unknown> {
  let text = "";
  for await (const part of request.setEncoding("utf8")) text += part;
  return JSON.parse(text);
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}
