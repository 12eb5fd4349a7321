// What snarkjs says while it works, to a logger it is given and, of some things it refuses, to the console.

/** Told how much of a circuit's keys is made, 0 to 1. */
export type Progress = (part: number) => void;

const EVERY_MS = 10_000;
/** Where the lists of points begin that a key is made of, in their order, and the end. */
const LISTS: Readonly<Record<string, readonly [from: number, to: number]>> = {
  C: [0, 0.5],
  A: [0.5, 0.62],
  B1: [0.62, 0.75],
  B2: [0.75, 1],
};
const POSITION = /^Writing points start (\w+): (\d+)\/(\d+)$/;

/** snarkjs's logger: tells how far it is, every ten seconds at most, and keeps why it refused. */
export class Listener {
  readonly #progress: Progress;
  #told = performance.now();
  reason = "snarkjs does not say why";

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

  /** Takes what is printed meanwhile for reasons too. */
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
