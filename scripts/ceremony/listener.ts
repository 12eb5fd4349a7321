// What snarkjs says while it works, to a logger it is given and, of some things it refuses, to the console.

/** Told of what is going on, a line at a time. */
export type Tell = (line: string) => void;

const EVERY_MS = 10_000;
/** The lists of points of a key in the order they are made. C takes half of the time, B2 a quarter. */
const LISTS = ["IC", "C", "A", "B1", "B2"];
const POSITION = /^Writing points start (\w+): (\d+)\/(\d+)$/;

/** snarkjs's logger: tells how far it is, every ten seconds at most, and keeps why it refused. */
export class Listener {
  readonly #tell: Tell;
  #told = performance.now();
  reason = "snarkjs does not say why";

  constructor(tell: Tell) {
    this.#tell = tell;
  }

  readonly debug = (line: string): void => {
    const [, list = "", at, of] = POSITION.exec(line) ?? [];
    if (at === undefined || performance.now() - this.#told < EVERY_MS) return;
    this.#told = performance.now();
    const percent = Math.floor((100 * Number(at)) / Number(of));
    this.#tell(`list ${LISTS.indexOf(list) + 1} of ${LISTS.length}, ${percent} %`);
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

/** Tells what is being done, how far it is, and how long it took. */
export async function timed(tell: Tell, what: string, action: (tell: Tell) => Promise<void>): Promise<void> {
  tell(what);
  const start = performance.now();
  await action((line) => tell(`${what}: ${line}`));
  tell(`${what}: ${((performance.now() - start) / 1000).toFixed(1)} s`);
}
