// Kills or stops this process at an exact point of the relayer's work. It wraps the relayer's store and chain, so that the
// relayer itself is unchanged.
import type { Chain } from "@sotto/chain";
import type { Store } from "@sotto/verifier-service";

/**
 * The point is a write of the store, such as `outbox.record` or `operations.settled`, or `send`, the broadcast to the
 * nodes. before: nothing is written yet; inside: written but not committed; after: committed, or answered by the nodes.
 */
export interface Fault {
  readonly point: string;
  readonly when: "before" | "inside" | "after";
  /** The default is SIGKILL. After SIGSTOP, the process resumes at the same point on SIGCONT. */
  readonly signal?: "SIGSTOP";
}

function send(signal: "SIGKILL" | "SIGSTOP"): void {
  process.kill(process.pid, signal);
  // SIGKILL may take effect with a delay.
  while (signal === "SIGKILL");
}

type Method = (...args: unknown[]) => unknown;

/** Forwards all calls, and calls `seen` before and after each call of a method. */
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
