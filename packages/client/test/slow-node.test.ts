// A node that does not answer, or lies once: calls end with their signal, and later calls work.
import type { ChainSource } from "@sotto/chain";
import { anyRejection, rejection } from "@sotto/test-kit/rejection";
import { Lock } from "@sotto/wallet";
import { expect } from "chai";
import { World } from "../../wallet/test/support/world.ts";
import { wrapFetch } from "../src/fetch/wrap.ts";
import { ORIGIN, openScene } from "./support/scene.ts";

const DECIMALS = "0x313ce567";

/** A node of a world's chain. Requests that `hangs` returns true for are never answered. */
class SlowNode {
  hangs: (request: string) => boolean = () => false;
  /** Replaces the result of a request. */
  lie: (request: string) => string | undefined = () => undefined;
  readonly chain: ChainSource;

  constructor(world: World) {
    this.chain = new Proxy<ChainSource>(world.chain, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name, target);
        if (typeof member !== "function") return member;
        return (...values: unknown[]): unknown => {
          const request = name === "call" ? String((values[0] as { data: string }).data.slice(0, 10)) : String(name);
          if (this.hangs(request)) return new Promise(() => undefined);
          const lie = this.lie(request);
          return lie === undefined ? Reflect.apply(member, target, values) : Promise.resolve(lie);
        };
      },
    });
  }

  /** Hangs at this request, and aborts the signal as soon as it does. */
  abortAt(request: string): { signal: AbortSignal; reason: Error } {
    const stop = new AbortController();
    const reason = new Error(`aborted at ${request}`);
    this.hangs = (asked) => {
      if (asked === request) setImmediate(() => stop.abort(reason));
      return asked === request;
    };
    return { signal: stop.signal, reason };
  }

  answer(): void {
    this.hangs = () => false;
  }
}

describe("a node that does not answer", () => {
  let world: World;
  let node: SlowNode;
  beforeEach(() => {
    world = new World();
    node = new SlowNode(world);
  });

  for (const request of ["head", "block", "logs"])
    it(`does not delay the end of a scan beyond its signal (${request})`, async () => {
      const wallet = await world.wallet({ chain: node.chain });
      await world.deposit(wallet, [5_000n]);
      const { signal, reason } = node.abortAt(request);
      expect(await anyRejection(wallet.scan({ signal }))).to.equal(reason);
      node.answer();
      await wallet.scan();
      expect(wallet.balance().total).to.equal(5_000n);
    });

  it("does not delay a call that waits for another one beyond its own signal", async () => {
    const wallet = await world.wallet({ chain: node.chain });
    const first = node.abortAt("head");
    const stop = new AbortController();
    const scans = [wallet.scan(), wallet.scan({ signal: stop.signal })];
    first.signal.addEventListener("abort", () => stop.abort(first.reason));
    expect(await anyRejection(scans[1]!)).to.equal(first.reason);
    await wallet.close();
    expect((await rejection(scans[0]!)).code).to.equal("WALLET_CLOSED");
  });

  it("does not delay closing the wallet", async () => {
    const wallet = await world.wallet({ chain: node.chain });
    node.hangs = () => true;
    const scan = wallet.scan();
    await wallet.close();
    expect((await rejection(scan)).code).to.equal("WALLET_CLOSED");
  });

  it("does not delay the end of opening a wallet beyond its signal, which has no effect later", async () => {
    for (const request of ["chainId", "code"]) {
      const { signal, reason } = node.abortAt(request);
      expect(await anyRejection(world.wallet({ chain: node.chain, signal }))).to.equal(reason);
    }
    node.answer();
    const stop = new AbortController();
    const wallet = await world.wallet({ chain: node.chain, signal: stop.signal });
    stop.abort();
    await wallet.scan();
  });

  for (const request of ["head", DECIMALS])
    it(`does not delay the end of a paid request beyond its signal (${request}); the next one pays once`, async () => {
      const scene = await openScene({ chain: node.chain }, world);
      const pay = wrapFetch(scene.merchant.fetch, scene.payer, scene.terms());
      const { signal, reason } = node.abortAt(request);
      expect(await anyRejection(pay(`${ORIGIN}/slow`, { signal }))).to.equal(reason);
      expect(scene.merchant.served).to.deep.equal([]);
      node.answer();
      expect((await pay(`${ORIGIN}/slow`)).status).to.equal(200);
      expect(await scene.paid()).to.equal(10n);
    });
});

describe("a node that lies once about the token's decimals", () => {
  for (const [what, lie] of [
    ["other decimals", `0x${"12".padStart(64, "0")}`],
    ["no contract", "0x"],
  ] as const)
    it(`refuses one request and no later one (${what})`, async () => {
      const world = new World();
      const node = new SlowNode(world);
      const scene = await openScene({ chain: node.chain }, world);
      const pay = wrapFetch(scene.merchant.fetch, scene.payer, scene.terms());
      node.lie = (request) => (request === DECIMALS ? lie : undefined);
      await rejection(pay(`${ORIGIN}/first`));
      node.lie = () => undefined;
      expect((await pay(`${ORIGIN}/second`)).status).to.equal(200);
      expect(await scene.paid()).to.equal(10n);
    });

  it("does not hide a 402 that states other decimals than the token", async () => {
    const scene = await openScene();
    const pay = wrapFetch(scene.merchant.fetch, scene.payer, scene.terms());
    for (const decimals of [9, 6, 9]) {
      scene.merchant.misbehave = async (_, answer) => {
        const response = await answer();
        if (response.status !== 402) return response;
        const terms = (await response.json()) as { payment: object };
        const stated = { decimals, amount: 10 / 10 ** decimals };
        const headers = { "www-authenticate": "x402-zk" };
        return Response.json({ ...terms, payment: { ...terms.payment, ...stated } }, { status: 402, headers });
      };
      const asked = pay(`${ORIGIN}/${decimals}`);
      if (decimals === 6) expect((await asked).status).to.equal(200);
      else expect((await rejection(asked)).code).to.equal("CHALLENGE_MISMATCH");
    }
  });
});

describe("a lock", () => {
  it("ends a wait with its signal, and leaves out the action", async () => {
    const lock = new Lock();
    let release = () => {};
    const first = lock.run(() => new Promise<void>((resolve) => (release = resolve)));
    const stop = new AbortController();
    const ran: number[] = [];
    const second = lock.run(async () => ran.push(2), stop.signal);
    const third = lock.run(async () => ran.push(3));
    const reason = new Error("enough");
    stop.abort(reason);
    expect(await anyRejection(second)).to.equal(reason);
    release();
    await Promise.all([first, third]);
    expect(ran).to.deep.equal([3]);
  });
});
