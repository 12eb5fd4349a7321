// Asks the upstream. Its key, and what only concerns its operator, reach neither payers nor logs.
import { ChatRefused, type Json } from "./chat-request.ts";

/** An OpenAI-compatible upstream. */
export interface Upstream {
  /** Base URL, such as https://api.example/v1. */
  readonly url: string;
  /** Sent as a bearer token; undefined for none. */
  readonly key: string | undefined;
}

/** How long the upstream may take for a whole answer or a stream, ms: less than a paid request may run (options.ts). */
const UPSTREAM_MS = 280_000;
const MAX_ANSWER_BYTES = 8 * 1024 * 1024;
const MAX_REFUSAL_BYTES = 64 * 1024;
const MAX_MESSAGE_LENGTH = 500;
/** Local servers take any word as their key. Such a word is no secret, and may be part of an answer. */
const MIN_SECRET_LENGTH = 16;
/** What the payer can mend. */
const MENDABLE = [400, 413, 422];

/** Asks for a chat. @param gone the client has left @throws ChatRefused */
export async function askUpstream({ url, key }: Upstream, body: Json, gone: AbortSignal): Promise<Response> {
  const signal = AbortSignal.any([gone, AbortSignal.timeout(UPSTREAM_MS)]);
  const headers = {
    "content-type": "application/json",
    ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
  };
  const request = { method: "POST", headers, body: JSON.stringify(body), signal, redirect: "manual" } as const;
  const response = await fetch(`${url}/chat/completions`, request).catch(() => undefined);
  if (response?.ok === true && response.body !== null) return response;
  if (response === undefined) {
    if (!gone.aborted) console.error("the upstream does not answer");
    throw unavailable(502);
  }
  const { status } = response;
  if (MENDABLE.includes(status)) throw new ChatRefused(400, "upstream_refused", await refusalOf(response, key));
  await response.body?.cancel().catch(() => undefined);
  console.error(`the upstream answered ${status}`);
  // 529 is what some upstreams answer if they are overloaded.
  throw unavailable([429, 503, 529].includes(status) ? 503 : 502);
}

/** Which of the two says whether the same request may work soon. A failure costs nothing. */
export const unavailable = (status: 502 | 503): ChatRefused =>
  new ChatRefused(
    status,
    "upstream_unavailable",
    status === 503 ? "the model is busy; nothing was charged" : "the model is unavailable; nothing was charged",
  );

/** The upstream's reason, which may quote the request. */
async function refusalOf(response: Response, key: string | undefined): Promise<string> {
  const text = await readText(response, MAX_REFUSAL_BYTES).catch(() => "");
  const { message } = Object((Object(parseJson(text)) as Json)["error"]) as Json;
  const shown = typeof message === "string" ? concealKey(message, key).slice(0, MAX_MESSAGE_LENGTH) : "no reason given";
  return `the model refuses the request: ${shown}`;
}

/** A whole answer. @throws ChatRefused if it is not JSON with the usage */
export async function readAnswer(response: Response): Promise<{ json: Json; input: number; output: number }> {
  const json = parseJson(await readText(response, MAX_ANSWER_BYTES).catch(() => "")) as Json | undefined;
  const { prompt_tokens: input, completion_tokens: output } = Object(Object(json)["usage"]) as Json;
  if (json === undefined || !isCount(input) || !isCount(output)) {
    console.error("the upstream's answer is incomplete, or has no usage, so it cannot be charged");
    throw unavailable(502);
  }
  return { json, input, output };
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

async function readText({ body }: Response, maxBytes: number): Promise<string> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of body ?? []) {
    length += part.length;
    if (length > maxBytes) throw new Error("the upstream's answer is too long");
    parts.push(part);
  }
  return Buffer.concat(parts).toString();
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Replaces the key in a text of the upstream, in case it quotes its caller. */
export const concealKey = (text: string, key: string | undefined): string =>
  key === undefined || key.length < MIN_SECRET_LENGTH ? text : text.replaceAll(key, "(concealed)");

/** The same for a stream, whose parts are whole events. */
export function concealKeyInEvents(key: string | undefined): TransformStream<Uint8Array, Uint8Array> {
  const [decoder, encoder] = [new TextDecoder(), new TextEncoder()];
  return new TransformStream({
    transform(event, controller) {
      controller.enqueue(encoder.encode(concealKey(decoder.decode(event), key)));
    },
  });
}
