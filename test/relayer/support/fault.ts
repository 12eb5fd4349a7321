// Ends this process as kill -9 does, or stops it, exactly where a test wants it. It stands between the relayer and its store or
// chain; the relayer knows nothing of it.
import type { Chain } from "@sotto/chain";
import type { Store } from "@sotto/verifier-service";

/**
 * Where to end: `outbox.record`, `operations.settled` .. are writes of the store, `send` is the hand-over to the nodes.
 * before: nothing of it is written. inside: it is written, not committed. after: it is committed (or answered).
 */
export interface Fault {
  readonly point: string;
  readonly when: "before" | "inside" | "after";
  /** Left out: SIGKILL. It goes on where it was when it is told to. */
  readonly signal?: "SIGSTOP";
}

function send(signal: "SIGKILL" | "SIGSTOP"): void {
  process.kill(process.pid, signal);
  // SIGKILL takes no answer, but it may take a moment.
  while (signal === "SIGKILL");
}

type Method = (...args: unknown[]) => unknown;

/** Calls through, and tells before and after each call of a method. */
function observed<T extends object>(target: T, seen: (name: string, when: Fault["when"]) => void): T {
  return new Proxy(target, {
    get(object, name) {
      const value = Reflect.get(object, name) as unknown;
      if (typeof value !== "function") return value;
      return async (...args: unknown[]) => {
        seen(String(name), "before");
        const result = await (value as Method).apply(object, args);
        seen(String(name), "inside");
        return result;
      };
    },
  });
}

export interface Parts {
  store: Store;
  chain: Chain;
}

export function withFault(parts: Parts, fault: Fault): Parts {
  const { store, chain } = parts;
  const at = (point: string, when: Fault["when"]) => {
    if (point === fault.point && when === fault.when) send(fault.signal ?? "SIGKILL");
  };
  const asRelayer: Store["asRelayer"] = async (lease, action) => {
    const called = new Set<string>();
    const watch = (group: string) => (name: string, when: Fault["when"]) => {
      called.add(`${group}.${name}`);
      at(`${group}.${name}`, when);
    };
    const result = await store.asRelayer(lease, ({ outbox, operations, ledger, rounds }) =>
      action({
        outbox: observed(outbox, watch("outbox")),
        operations: observed(operations, watch("operations")),
        ledger,
        rounds,
      }),
    );
    for (const point of called) at(point, "after");
    return result;
  };
  const handOver = async (raw: string) => {
    at("send", "before");
    const result = await chain.broadcast(raw);
    at("send", "after");
    return result;
  };
  const wrapped = new Proxy(chain, {
    get(object, name) {
      if (name === "broadcast") return handOver;
      const value = Reflect.get(object, name) as unknown;
      return typeof value === "function" ? (value as Method).bind(object) : value;
    },
  });
  return { store: { ...store, asRelayer }, chain: wrapped };
}
