// Shows what a long action is doing, how long it has taken, and how long it is expected to take: on a terminal in one
// line that changes, elsewhere in a new line every few seconds. Plain JavaScript for Node 20: the launcher uses it
// before the project's own Node is installed.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const REDRAW_MS = 200;
/** Interval between lines if the output is not a terminal: nobody should wait longer than 3 s without output. */
const LINE_MS = 2500;

/** The durations of earlier runs in seconds, by the action's name. */
const durationsFile = (root) => join(root, ".dev", "durations.json");

function readDurations(root) {
  try {
    return JSON.parse(readFileSync(durationsFile(root), "utf8"));
  } catch {
    // The first run, or a damaged file: the defaults are shown.
    return {};
  }
}

/** @returns how long the action took the last time, or undefined; seconds */
export function lastDuration(root, name) {
  const seconds = readDurations(root)[name];
  return typeof seconds === "number" && seconds >= 0 ? seconds : undefined;
}

/** Remembers how long an action took, in seconds. */
export function recordDuration(root, name, seconds) {
  const file = durationsFile(root);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify({ ...readDurations(root), [name]: Math.round(seconds * 10) / 10 })}\n`);
}

/** @param seconds any number @returns for example `8 s` or `2:05` */
export function clock(seconds) {
  const whole = Math.floor(seconds);
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}

/** `8 s of about 30 s`. @param start from performance.now() @param expected seconds; undefined: unknown */
export function elapsed(start, expected) {
  const seconds = (performance.now() - start) / 1000;
  return expected === undefined || expected < 1
    ? clock(seconds)
    : `${clock(seconds)} of about ${clock(Math.max(1, expected))}`;
}

export class Progress {
  #stream;
  #text = () => "";
  #timer;
  #last = "";

  /** @param stream where the lines go; default: standard error */
  constructor(stream = process.stderr) {
    this.#stream = stream;
  }

  /** Shows a text until `stop`. @param text called for each line; returns one line, "" for none */
  show(text) {
    this.#text = text;
    this.#draw();
    this.#timer ??= setInterval(() => this.#draw(), this.#stream.isTTY ? REDRAW_MS : LINE_MS);
    // The timer does not keep the process alive; the awaited action does.
    this.#timer.unref();
  }

  /** Writes permanent lines above the changing line. */
  print(text) {
    this.#clear();
    this.#stream.write(`${text}\n`);
    if (this.#timer !== undefined && this.#stream.isTTY) this.#draw();
  }

  stop() {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#clear();
  }

  #draw() {
    const text = this.#text();
    if (!this.#stream.isTTY) {
      if (text !== "" && text !== this.#last) this.#stream.write(`${text}\n`);
      this.#last = text;
      return;
    }
    const width = Math.max(20, this.#stream.columns ?? 80) - 1;
    const line = text.length > width ? `${text.slice(0, width - 3)}...` : text;
    this.#clear();
    this.#stream.write(line);
    this.#last = line;
  }

  #clear() {
    if (this.#stream.isTTY && this.#last !== "") this.#stream.write("\r\u001b[2K");
    if (this.#stream.isTTY) this.#last = "";
  }
}
