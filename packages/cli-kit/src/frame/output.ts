/** A command's result, for programs and for people. */
export interface Result {
  /** One JSON document. Amounts are decimal strings of base units. */
  json: unknown;
  /** Lines. */
  text: readonly string[];
}

/** Node's standard input, or anything else that yields bytes. */
export interface Input extends AsyncIterable<unknown> {
  /** Whether it is a terminal. */
  readonly isTTY?: boolean;
}

/** Node's standard output, or anything else that accepts text and bytes. */
export interface Sink {
  /** Whether it is a terminal. */
  readonly isTTY?: boolean;
  /** Writes text or bytes as they are. */
  write(chunk: string | Uint8Array): unknown;
}

/** The streams of a command. */
export interface Streams {
  /** Read by commands that take words, a body or an answer. */
  stdin: Input;
  /** Receives the result and nothing else. */
  stdout: Sink;
  /** Receives errors, progress and questions. */
  stderr: Sink;
  /** Whether standard error is a terminal, which shows progress and questions. */
  terminal: boolean;
}

/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Characters that control a terminal, or that change how other characters are shown. */
const CONTROL = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu;

const escaped = (text: string): string =>
  Array.from({ length: text.length }, (_, i) => `\\u${text.charCodeAt(i).toString(16).padStart(4, "0")}`).join("");

/** Converts a value to JSON, with bigints as decimal strings and control characters escaped. */
export function toJson(value: unknown): string {
  const text = JSON.stringify(value, (_, item) => (typeof item === "bigint" ? item.toString() : item));
  return text.replaceAll(CONTROL, escaped);
}

/** Replaces control characters, because a server could use them to rewrite the screen. */
export function printable(text: string): string {
  return text.replaceAll(CONTROL, "\ufffd");
}

/** Like `printable`, but keeps line ends and tabs. */
const printableLines = (text: string): string =>
  text.replaceAll("\r\n", "\n").replaceAll(CONTROL, (found) => (found === "\n" || found === "\t" ? found : "\ufffd"));

/**
 * Writes a command's result to standard output and its progress to standard error. Progress is written only to a
 * terminal or with --verbose.
 */
export class Output {
  readonly #streams: Streams;
  readonly #json: boolean;
  readonly #verbose: boolean;
  readonly #typed: (text: string) => string;
  #shown = "";

  /** @param typed rewrites the commands that a text names: see typed-command.ts */
  constructor(
    streams: Streams,
    { json, verbose, typed = (text) => text }: { json: boolean; verbose: boolean; typed?: (text: string) => string },
  ) {
    this.#streams = streams;
    this.#typed = typed;
    this.#json = json;
    this.#verbose = verbose;
  }

  /** Whether the result is one JSON document. */
  get json(): boolean {
    return this.#json;
  }

  /** Whether standard error is a terminal. */
  get terminal(): boolean {
    return this.#streams.terminal;
  }

  /** Shows one line of progress. On a terminal, it replaces the previous line. */
  progress(line: string): void {
    if (line === this.#shown) return;
    if (this.#verbose) this.#streams.stderr.write(`${line}\n`);
    else if (this.#streams.terminal) this.#streams.stderr.write(`\r\u001b[2K${line}`);
    else return;
    this.#shown = line;
  }

  /** Removes the progress line. */
  clear(): void {
    if (this.#shown !== "" && this.#streams.terminal && !this.#verbose) this.#streams.stderr.write("\r\u001b[2K");
    this.#shown = "";
  }

  /** Shows a line on standard error whether or not progress is shown. */
  note(line: string): void {
    this.clear();
    this.#streams.stderr.write(`${this.#typed(line)}\n`);
  }

  /** Writes the result to standard output, as text or as JSON. */
  result({ json, text }: Result): void {
    this.clear();
    if (this.#json) this.#streams.stdout.write(`${toJson(json)}\n`);
    else for (const line of text) this.#streams.stdout.write(`${this.#typed(line)}\n`);
  }

  /** Writes a response's body: unchanged to a file or pipe, without control characters to a terminal. */
  async body(chunks: AsyncIterable<Uint8Array>): Promise<void> {
    if (this.#streams.stdout.isTTY !== true) {
      for await (const chunk of chunks) this.raw(chunk);
      return;
    }
    const decoder = new TextDecoder();
    let last = "\n";
    const show = (text: string) => {
      this.raw(printableLines(text));
      last = text.at(-1) ?? last;
    };
    for await (const chunk of chunks) show(decoder.decode(chunk, { stream: true }));
    show(decoder.decode());
    if (last !== "\n") this.raw("\n");
  }

  /** Writes to standard output, unchanged. */
  raw(bytes: Uint8Array | string): void {
    this.clear();
    this.#streams.stdout.write(bytes);
  }
}
