// A logger for snarkjs that also captures the errors that snarkjs prints on the console.

/** Called with the finished share of a circuit's keys, 0 to 1. */
export type Progress = (part: number) => void;

const EVERY_MS = 10_000;
/**
 * For each list of points in a key, the share of the total work that is done when snarkjs begins to write it, and when it
 * ends. They were measured.
 */
const LISTS: Readonly<Record<string, readonly [from: number, to: number]>> = {
  C: [0, 0.5],
  A: [0.5, 0.62],
  B1: [0.62, 0.75],
  B2: [0.75, 1],
};
const POSITION = /^Writing points start (\w+): (\d+)\/(\d+)$/;

/** Reports progress at most every ten seconds, and stores the text of the last error. */
export class SnarkjsLogger {
  readonly #progress: Progress;
  #reportedAt = performance.now();
  reason = "snarkjs printed no reason";

  constructor(progress: Progress = () => {}) {
    this.#progress = progress;
  }

  readonly debug = (line: string): void => {
    const [, name = "", at, of] = POSITION.exec(line) ?? [];
    const list = LISTS[name];
    if (list === undefined || performance.now() - this.#reportedAt < EVERY_MS) return;
    this.#reportedAt = performance.now();
    this.#progress(list[0] + (list[1] - list[0]) * (Number(at) / Number(of)));
  };

  readonly info = (): void => {};
  readonly warn = (): void => {};

  readonly error = (line: string): void => {
    this.reason = line.replace(/^INVALID(\(\d+\))?:\s*/, "").trim();
  };

  /** Runs `action`; console output during it is stored as an error too. */
  async captureConsole<T>(action: () => Promise<T>): Promise<T> {
    const { log } = console;
    console.log = this.error;
    try {
      return await action();
    } finally {
      console.log = log;
    }
  }
}
