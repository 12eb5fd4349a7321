// Asks the upstream. Its key and its messages to its operator reach neither payers nor logs.
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
/** Statuses for errors in the payer's request. */
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
  // Some upstreams answer 529 when they are overloaded.
  throw unavailable([429, 503, 529].includes(status) ? 503 : 502);
}

/** 503: the same request may work soon; 502: it may not. Nothing is charged. */
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

const END_OF_EVENT = /(?<=\r?\n\r?\n)/;
const DONE = "[DONE]";
const FAILED = {
  message: "the model failed during its answer; what was counted before is charged",
  type: "server_error",
  param: null,
  code: "upstream_failed",
};

/** Passes the parts of an answer, without the key, and conceals the rest. A chunk of the stream has whole events. */
export function concealInEvents(key: string | undefined): TransformStream<Uint8Array, Uint8Array> {
  const [decoder, encoder] = [new TextDecoder(), new TextEncoder()];
  return new TransformStream({
    transform(chunk, controller) {
      const shown = decoder.decode(chunk).split(END_OF_EVENT).map(shownEvent).join("");
      if (shown !== "") controller.enqueue(encoder.encode(concealKey(shown, key)));
    },
  });
}

/**
 * What a payer sees of an event: its data only, because comments and errors may say more than a payer should know, such as the
 * upstream's operator.
 */
function shownEvent(event: string): string {
  const data = event
    .split(/\r?\n/)
    .filter((line) => line.startsWith("data:"))
    .map((line) => line.slice("data:".length).trim())
    .join("\n");
  if (data === DONE) return dataEvent(data);
  const { error, choices, usage } = Object(parseJson(data)) as Json;
  if (isGiven(error) || (Array.isArray(choices) && choices.some((choice) => isGiven(Object(choice).error)))) {
    console.error("the upstream failed during a stream");
    return dataEvent(JSON.stringify({ error: FAILED }));
  }
  return isGiven(choices) || isGiven(usage) ? dataEvent(data) : "";
}

const dataEvent = (data: string): string =>
  `${data
    .split("\n")
    .map((line) => `data: ${line}`)
    .join("\n")}\n\n`;

const isGiven = (value: unknown): boolean => value !== undefined && value !== null;
