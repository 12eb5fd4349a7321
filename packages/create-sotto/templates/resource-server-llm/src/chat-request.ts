// Checks the body of a chat before it is paid for, and makes the body that the upstream gets.
import type { MeteredRule } from "@sotto/prepaid";
import { outputLeft } from "./price.ts";

/** What the operator offers. */
export interface Offered {
  readonly models: readonly string[];
  /** The field that limits the output at the upstream: some know only one of the two. */
  readonly limitField: "max_tokens" | "max_completion_tokens";
}

/** A chat that the price covers. */
export interface Chat {
  /** For the upstream. */
  readonly body: Json;
  readonly stream: boolean;
  /** Whether the client asked for the usage in its stream. */
  readonly usage: boolean;
  /** A low estimate of the prompt's tokens. */
  readonly input: number;
}

export type Json = Readonly<Record<string, unknown>>;

/** A request that is refused, as OpenAI's clients read it. */
export class ChatRefused extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/**
 * The fields that the upstream gets as they are. Others could cost more than the price covers (several answers, audio, searches), or
 * name the payer: add a field only if it does neither.
 */
const FIELDS = [
  ...["messages", "tools", "tool_choice", "parallel_tool_calls", "response_format", "reasoning_effort", "stop", "seed"],
  ...["temperature", "top_p", "frequency_penalty", "presence_penalty", "logit_bias", "logprobs", "top_logprobs"],
];
/** Fields of this proxy. */
const OWN_FIELDS = ["model", "n", "stream", "stream_options", "max_tokens", "max_completion_tokens"];
const MESSAGE_FIELDS = ["role", "content", "name", "tool_calls", "tool_call_id", "refusal"];
/** Tokens that a model's template adds around the messages. */
const TEMPLATE_TOKENS = 256;
/** Bytes of text in a token, as a high estimate. */
const BYTES_PER_TOKEN = 8;

const invalid = (message: string) => new ChatRefused(400, "invalid_request", message);
const fields = (value: unknown): Json => Object(value) as Json;
const isPositive = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) > 0;

/** @param rule the price @throws ChatRefused */
export function readChat(given: unknown, { models, limitField }: Offered, rule: MeteredRule): Chat {
  if (typeof given !== "object" || given === null || Array.isArray(given))
    throw invalid("the body must be a JSON object");
  const json = given as Json;
  const unknown = Object.keys(json).find((name) => !FIELDS.includes(name) && !OWN_FIELDS.includes(name));
  if (unknown !== undefined)
    throw invalid(`this server does not take the field ${JSON.stringify(unknown.slice(0, 60))}`);
  const { model, n = 1, stream = false, stream_options: streamOptions } = json;
  if (typeof model !== "string" || !models.includes(model))
    throw new ChatRefused(404, "model_not_found", `there is no such model; this server has ${models.join(", ")}`);
  if (n !== 1) throw invalid("n must be 1: the price is for one answer");
  if (typeof stream !== "boolean") throw invalid("stream must be true or false");
  assertMessages(json["messages"]);
  assertTools(json["tools"]);
  const kept = Object.fromEntries(Object.entries(json).filter(([name]) => FIELDS.includes(name)));
  const bytes = Buffer.byteLength(JSON.stringify(kept));
  return {
    body: {
      ...kept,
      model,
      [limitField]: maxOutput(json, outputLeft(rule, bytes + TEMPLATE_TOKENS)),
      ...(stream ? { stream, stream_options: { include_usage: true } } : {}),
    },
    stream,
    usage: fields(streamOptions)["include_usage"] === true,
    input: Math.floor(textBytes(json["messages"]) / BYTES_PER_TOKEN),
  };
}

/** Only texts are priced: an image or a recording costs the upstream tokens that nobody knows before. */
function assertMessages(messages: unknown): void {
  if (!Array.isArray(messages) || messages.length === 0)
    throw invalid("messages must be a list of at least one message");
  for (const message of messages.map(fields)) {
    const { role, content } = message;
    if (typeof role !== "string") throw invalid("each message must have a role");
    const other = Object.keys(message).find((name) => !MESSAGE_FIELDS.includes(name));
    if (other !== undefined)
      throw invalid(`this server does not take the field ${JSON.stringify(other.slice(0, 60))} of a message`);
    const isText =
      content === undefined ||
      content === null ||
      typeof content === "string" ||
      (Array.isArray(content) && content.every(isTextPart));
    if (!isText) throw invalid("the content of a message must be text");
  }
}

const isTextPart = (part: unknown): boolean => {
  const { type, text } = fields(part);
  return type === "text" && typeof text === "string";
};

/** Tools that the upstream runs itself, such as a search, cost more than tokens. */
function assertTools(tools: unknown): void {
  if (tools === undefined) return;
  if (!Array.isArray(tools) || tools.some((tool) => fields(tool)["type"] !== "function"))
    throw invalid("tools must be a list of functions");
}

function textBytes(messages: unknown): number {
  const texts = (messages as readonly Json[]).flatMap(({ content }) =>
    Array.isArray(content)
      ? content.map((part) => String(fields(part)["text"]))
      : typeof content === "string"
        ? [content]
        : [],
  );
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
}

/**
 * The tokens of output that the client may get.
 * @param left what the cap pays at least, because a token of the prompt is at least one byte
 */
function maxOutput({ max_tokens: max, max_completion_tokens: maxCompletion }: Json, left: number): number {
  for (const wanted of [max, maxCompletion])
    if (wanted !== undefined && wanted !== null && !isPositive(wanted))
      throw invalid("max_tokens and max_completion_tokens must be positive integers");
  if (left < 1)
    throw new ChatRefused(400, "context_length_exceeded", "the prompt is longer than the price of a request covers");
  return Math.min(left, ...[max, maxCompletion].filter(isPositive));
}
