// Only one tab of a browser has the wallet: two engines with one store could together exceed the limits.

type Message =
  | { readonly ask: "since" }
  | { readonly since: number }
  | { readonly ask: "release" }
  | { readonly released: true };

const NAME = "sotto-wallet";
/** Maximum time for another tab to close its wallet, ms. */
const RELEASE_MS = 3_000;
const ANSWER_MS = 500;

export interface TabEvents {
  /** This tab has the wallet now. */
  acquired(): void;
  /** Another tab has it, since `since` if that tab reports the time. */
  elsewhere(since: number | undefined): void;
  /** Closes the wallet before another tab opens it. */
  release(): Promise<void>;
}

export class Tabs {
  readonly #channel = new BroadcastChannel(NAME);
  readonly #events: TabEvents;
  /** The time since which this tab has the wallet; undefined while it does not have it. */
  #since: number | undefined;
  #letGo: () => void = () => {};
  #queued = new AbortController();

  constructor(events: TabEvents) {
    this.#events = events;
    this.#channel.addEventListener("message", ({ data }: MessageEvent<Message>) => void this.#answer(data));
  }

  async start(): Promise<void> {
    const free = await this.#hold({ ifAvailable: true });
    if (!free) await this.#wait();
  }

  async takeOver(): Promise<void> {
    await this.#ask({ ask: "release" }, "released", RELEASE_MS);
    this.#queued.abort();
    await this.#hold({ steal: true });
  }

  /** Waits in the background until no other tab has the wallet. */
  async #wait(): Promise<void> {
    const since = await this.#ask({ ask: "since" }, "since", ANSWER_MS);
    this.#events.elsewhere(typeof since === "number" ? since : undefined);
    this.#queued = new AbortController();
    void this.#hold({ signal: this.#queued.signal });
  }

  /** Resolves once this tab has the lock, or cannot acquire it. */
  #hold(options: LockOptions): Promise<boolean> {
    return new Promise((resolve) => {
      const held = navigator.locks.request(NAME, options, (lock) => {
        resolve(lock !== null);
        if (lock === null) return undefined;
        this.#since = Date.now();
        this.#events.acquired();
        return new Promise<void>((letGo) => {
          this.#letGo = letGo;
        });
      });
      held.catch(() => {
        resolve(false);
        // Another tab took the lock, because this one did not respond in time.
        if (this.#since !== undefined) void this.#lose();
      });
    });
  }

  async #lose(): Promise<void> {
    this.#since = undefined;
    await this.#events.release();
    this.#channel.postMessage({ released: true } satisfies Message);
    this.#letGo();
    await this.#wait();
  }

  async #answer(message: Message): Promise<void> {
    if (!("ask" in message) || this.#since === undefined) return;
    if (message.ask === "since") this.#channel.postMessage({ since: this.#since } satisfies Message);
    else await this.#lose();
  }

  /** The field `name` of the first response that has it. */
  #ask(question: Message, name: string, timeoutMs: number): Promise<unknown> {
    return new Promise((resolve) => {
      const done = (value: unknown) => {
        clearTimeout(timer);
        this.#channel.removeEventListener("message", listen);
        resolve(value);
      };
      const timer = setTimeout(() => done(undefined), timeoutMs);
      const listen = ({ data }: MessageEvent<Record<string, unknown>>) => name in data && done(data[name]);
      this.#channel.addEventListener("message", listen);
      this.#channel.postMessage(question);
    });
  }
}
