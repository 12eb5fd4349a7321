/** What a command leaves: for programs, and for people. */
export interface Result {
  /** One JSON document: amounts are decimal strings of base units. */
  json: unknown;
  /** Lines. */
  text: readonly string[];
}

/** What is read: Node's standard input, or anything that gives bytes. */
export interface Input extends AsyncIterable<unknown> {
  readonly isTTY?: boolean;
}

/** Where is written: Node's standard output, or anything that takes text and bytes. */
export interface Sink {
  readonly isTTY?: boolean;
  write(chunk: string | Uint8Array): unknown;
}

export interface Streams {
  stdin: Input;
  stdout: Sink;
  stderr: Sink;
  /** Whether standard error is a terminal: progress is shown there, questions are asked there. */
  terminal: boolean;
}

/** Environment variables. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Characters that a terminal does not show but obeys, or that change how others are shown. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu;

const escaped = (text: string): string =>
  Array.from({ length: text.length }, (_, i) => `\\u${text.charCodeAt(i).toString(16).padStart(4, "0")}`).join("");

/** bigint as decimal string: JSON has no other exact form. What a terminal would obey is escaped. */
export function toJson(value: unknown): string {
  const text = JSON.stringify(value, (_, item) => (typeof item === "bigint" ? item.toString() : item));
  return text.replaceAll(UNSEEN, escaped);
}

/** Text of strangers as it may be shown on a terminal: without control characters, which could rewrite the screen. */
export function printable(text: string): string {
  return text.replaceAll(UNSEEN, "\ufffd");
}

/** The same of several lines. */
const printableLines = (text: string): string =>
  text.replaceAll("\r\n", "\n").replaceAll(UNSEEN, (found) => (found === "\n" || found === "\t" ? found : "\ufffd"));

/**
 * Where a command writes. Standard output holds its result and nothing else; progress goes to standard error, and only
 * where somebody looks: on a terminal, or with --verbose.
 */
export class Output {
  readonly #streams: Streams;
  readonly #json: boolean;
  readonly #verbose: boolean;
  readonly #typed: (text: string) => string;
  #shown = "";

  /** @param typed turns commands that a text names into what is typed here */
  constructor(
    streams: Streams,
    { json, verbose, typed = (text) => text }: { json: boolean; verbose: boolean; typed?: (text: string) => string },
  ) {
    this.#streams = streams;
    this.#typed = typed;
    this.#json = json;
    this.#verbose = verbose;
  }

  get json(): boolean {
    return this.#json;
  }

  get terminal(): boolean {
    return this.#streams.terminal;
  }

  /** One line of progress, in place of the last one on a terminal. */
  progress(line: string): void {
    if (line === this.#shown) return;
    if (this.#verbose) this.#streams.stderr.write(`${line}\n`);
    else if (this.#streams.terminal) this.#streams.stderr.write(`\r\u001b[2K${line}`);
    else return;
    this.#shown = line;
  }

  /** Takes the line of progress away. */
  clear(): void {
    if (this.#shown !== "" && this.#streams.terminal && !this.#verbose) this.#streams.stderr.write("\r\u001b[2K");
    this.#shown = "";
  }

  /** Something a person should know, whatever the options. */
  note(line: string): void {
    this.clear();
    this.#streams.stderr.write(`${this.#typed(line)}\n`);
  }

  result({ json, text }: Result): void {
    this.clear();
    if (this.#json) this.#streams.stdout.write(`${toJson(json)}\n`);
    else for (const line of text) this.#streams.stdout.write(`${this.#typed(line)}\n`);
  }

  /** The body of an answer: as it is, but on a terminal as whole lines of text that cannot steer it. */
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

  /** Bytes as they are. */
  raw(bytes: Uint8Array | string): void {
    this.clear();
    this.#streams.stdout.write(bytes);
  }
}
