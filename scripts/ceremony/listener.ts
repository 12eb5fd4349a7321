// Listens to snarkjs's logger, and to the console for errors that snarkjs prints there.

/** Called with the finished part of a circuit's keys, 0 to 1. */
export type Progress = (part: number) => void;

const EVERY_MS = 10_000;
/** The share of the work for each list of points in a key, in order. */
const LISTS: Readonly<Record<string, readonly [from: number, to: number]>> = {
  C: [0, 0.5],
  A: [0.5, 0.62],
  B1: [0.62, 0.75],
  B2: [0.75, 1],
};
const POSITION = /^Writing points start (\w+): (\d+)\/(\d+)$/;

/** snarkjs's logger: reports progress at most every ten seconds, and keeps the reason of an error. */
export class Listener {
  readonly #progress: Progress;
  #told = performance.now();
  reason = "snarkjs gives no reason";

  constructor(progress: Progress = () => {}) {
    this.#progress = progress;
  }

  readonly debug = (line: string): void => {
    const [, name = "", at, of] = POSITION.exec(line) ?? [];
    const list = LISTS[name];
    if (list === undefined || performance.now() - this.#told < EVERY_MS) return;
    this.#told = performance.now();
    this.#progress(list[0] + (list[1] - list[0]) * (Number(at) / Number(of)));
  };

  readonly info = (): void => {};
  readonly warn = (): void => {};

  readonly error = (line: string): void => {
    this.reason = line.replace(/^INVALID(\(\d+\))?:\s*/, "").trim();
  };

  /** Treats console output during `action` as a reason too. */
  async hear<T>(action: () => Promise<T>): Promise<T> {
    const { log } = console;
    console.log = this.error;
    try {
      return await action();
    } finally {
      console.log = log;
    }
  }
}
