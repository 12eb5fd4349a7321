// Meters the stream of an OpenAI-compatible model on its way to the client.
import { assertInteger, assertObject, fail } from "@sotto/protocol/extend";
import type { Meter } from "@sotto/resource-server";
import { assertUnitName } from "../core/metered/units.ts";

/** Maximum length of an event of the upstream, characters. */
const MAX_EVENT_LENGTH = 1 << 20;
const END_OF_EVENT = /\r?\n\r?\n/;
const DONE = "data: [DONE]\n\n";
/** The fields of a delta that a model writes. A part of any of them is at least one token. */
const TEXTS = ["content", "reasoning_content", "reasoning", "refusal", "tool_calls", "function_call"];

/** What `meterOpenAiStream` counts, and how. */
export interface OpenAiStreamOptions {
  /** The meter of the request: `payment.meter`. */
  readonly meter: Meter;
  /**
   * Names of the rule's units. Default: `{ input: "input", output: "output" }`. Without `input`, the tokens of the prompt cost
   * nothing.
   */
  readonly units?: { readonly input?: string | undefined; readonly output: string } | undefined;
  /**
   * Tokens of the prompt that are charged before the first part, such as an estimate from its length: the upstream says their
   * number at the end only, so a client could leave just before it. Default: 0.
   */
  readonly input?: number | undefined;
  /**
   * Whether the client gets the part with the usage, which has no choices. Pass false if you asked the upstream for the usage
   * (`stream_options: { include_usage: true }`) and the client did not. Default: true.
   */
  readonly usage?: boolean | undefined;
}

/**
 * Meters the server-sent events of an OpenAI-compatible upstream (chat completions, or completions) on their way to the client.
 *
 *     const upstream = await fetch(`${url}/v1/chat/completions`, { method: "POST", headers, body });
 *     return new Response(meterOpenAiStream(upstream.body, { meter }), { headers: { "content-type": "text/event-stream" } });
 *
 * Each part of a text counts as one token of output. If the upstream sends the usage, what is missing is added: the tokens of the
 * prompt, and those of parts with several tokens. At the cap, the stream ends like that of a model that reached its limit
 * (`finish_reason: "length"`), and the upstream is cancelled. If the client leaves, it pays for the parts that were read.
 * @param upstream the body of the upstream's response
 * @throws SottoError INVALID_ARGUMENT, INVALID_STRING, INVALID_INTEGER
 */
export function meterOpenAiStream(
  upstream: ReadableStream<Uint8Array>,
  options: OpenAiStreamOptions,
): ReadableStream<Uint8Array> {
  if (!(upstream instanceof ReadableStream)) fail("INVALID_ARGUMENT", "the upstream's body must be a ReadableStream");
  assertObject(options, "the options");
  const { meter, units = { input: "input", output: "output" }, input = 0, usage = true } = options;
  if (typeof (Object(meter) as Partial<Meter>).add !== "function")
    fail("INVALID_ARGUMENT", "meter must be the meter of a payment, such as request.payment.meter");
  assertObject(units, "units");
  const count = new TokenCount(meter, {
    input: units.input === undefined ? undefined : assertUnitName(units.input),
    output: assertUnitName(units.output),
  });
  count.reach({ input: assertInteger(input, 0, Number.MAX_SAFE_INTEGER, "input"), output: 0 });
  const reader = upstream.getReader();
  const events = meteredEvents(reader, count, usage);
  const encoder = new TextEncoder();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await events.next();
          if (!done) return controller.enqueue(encoder.encode(value));
          controller.close();
          await reader.cancel();
        } catch (error) {
          controller.error(error);
          await reader.cancel(error);
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    // The client's pace is the upstream's.
    { highWaterMark: 0 },
  );
}

type Reader = ReadableStreamDefaultReader<Uint8Array>;

async function* meteredEvents(reader: Reader, count: TokenCount, usage: boolean): AsyncGenerator<string, void> {
  const answer = new Answer();
  if (!count.isLeft) return yield DONE;
  for await (const event of eventsOf(reader)) {
    const part = parsePart(event);
    count.add(part);
    answer.add(part);
    // The part that reaches the cap is paid, so the client gets it.
    if (usage || part.usage === undefined || part.choices.length > 0) yield event;
    if (!count.isLeft) return yield answer.end() + DONE;
  }
}

/** The events of a stream as they are, with the empty line that ends them. */
async function* eventsOf(reader: Reader): AsyncGenerator<string, void> {
  const decoder = new TextDecoder();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    text += decoder.decode(value, { stream: !done });
    for (let end = END_OF_EVENT.exec(text); end !== null; end = END_OF_EVENT.exec(text)) {
      const length = end.index + end[0].length;
      yield text.slice(0, length);
      text = text.slice(length);
    }
    if (text.length > MAX_EVENT_LENGTH)
      fail("INVALID_ARGUMENT", `an event of the upstream has more than ${MAX_EVENT_LENGTH} characters`);
    if (done) break;
  }
  if (text !== "") yield text;
}

type Json = Readonly<Record<string, unknown>>;

/** An event of the upstream, as far as it concerns the meter. */
interface Part {
  /** All fields. */
  readonly json: Json;
  readonly choices: readonly Json[];
  readonly usage: Tokens | undefined;
}

interface Tokens {
  readonly input: number;
  readonly output: number;
}

const fields = (value: unknown): Json => Object(value) as Json;
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

/** Anything but a part of an answer, such as a comment or an error, has no choices. */
function parsePart(event: string): Part {
  const data = event
    .split(/\r?\n/)
    .filter((line) => line.startsWith("data:"))
    .map((line) => line.slice("data:".length).replace(/^ /, ""))
    .join("\n");
  const json = fields(parseJson(data));
  const { choices } = json;
  const { prompt_tokens: input, completion_tokens: output } = fields(json["usage"]);
  return {
    json,
    choices: Array.isArray(choices) ? choices.map(fields) : [],
    usage: isCount(input) && isCount(output) ? { input, output } : undefined,
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const isWritten = (value: unknown): boolean =>
  typeof value === "string" || Array.isArray(value) ? value.length > 0 : typeof value === "object" && value !== null;

/** Whether a model wrote something in this choice of a part: in `text` of a completion, else in `delta`. */
const hasText = ({ text, delta }: Json): boolean =>
  isWritten(text) || TEXTS.some((name) => isWritten(fields(delta)[name]));

interface UnitNames {
  readonly input: string | undefined;
  readonly output: string;
}

/** Counts tokens up to the cap, each once. */
class TokenCount {
  readonly #meter: Meter;
  readonly #units: UnitNames;
  #counted: Tokens = { input: 0, output: 0 };
  #checkpoint: Promise<void> | undefined;
  /** Whether anything is left of what was paid. */
  isLeft: boolean;

  constructor(meter: Meter, units: UnitNames) {
    this.#meter = meter;
    this.#units = units;
    this.isLeft = meter.left > 0n;
  }

  add({ choices, usage }: Part): void {
    const { input, output } = this.#counted;
    this.reach(usage ?? { input, output: output + choices.filter(hasText).length });
  }

  /** Adds what is missing in the sum so far. Nothing is ever subtracted. */
  reach({ input, output }: Tokens): void {
    const counted = { input: Math.max(input, this.#counted.input), output: Math.max(output, this.#counted.output) };
    const units = [
      [this.#units.input, counted.input - this.#counted.input],
      [this.#units.output, counted.output - this.#counted.output],
    ] as const;
    const added = units.filter(([name, number]) => name !== undefined && number > 0);
    this.#counted = counted;
    if (added.length === 0) return;
    this.isLeft = this.#meter.add(Object.fromEntries(added));
    // The meter says how often it stores. If a store fails, the end of the response stores the charge.
    this.#checkpoint ??= this.#meter
      .checkpoint()
      .catch(() => undefined)
      .finally(() => {
        this.#checkpoint = undefined;
      });
  }
}

/** The answer so far, of one or several choices. */
class Answer {
  #last: Json = {};
  /** Whether each choice was finished, by its index. */
  readonly #finished = new Map<number, boolean>();

  add({ json, choices }: Part): void {
    if (choices.length > 0) this.#last = json;
    for (const { index, finish_reason: reason } of choices)
      if (isCount(index)) this.#finished.set(index, typeof reason === "string" || this.#finished.get(index) === true);
  }

  /** The event that finishes the choices which are not finished; none if there are none. */
  end(): string {
    const open = [...this.#finished].flatMap(([index, isFinished]) => (isFinished ? [] : [index]));
    if (open.length === 0) return "";
    const { id, object, created, model } = this.#last;
    const empty = object === "text_completion" ? { text: "" } : { delta: {} };
    const choices = open.map((index) => ({ index, ...empty, finish_reason: "length" }));
    return `data: ${JSON.stringify({ id, object, created, model, choices })}\n\n`;
  }
}
