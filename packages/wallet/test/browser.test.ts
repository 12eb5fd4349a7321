// The browser entry: one call opens a wallet on IndexedDB with a prover in a worker, and stays small in a bundle.

import { join } from "node:path";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { expect } from "chai";
import { build } from "esbuild";
import "fake-indexeddb/auto";
import { CIRCUITS } from "@sotto/protocol";
import { ProverError } from "@sotto/prover";
import { POOL } from "@sotto/test-chain/pool";
import { TOKEN } from "@sotto/test-chain/token";
import { rejection } from "@sotto/test-kit/rejection";
import { createSeedWords, type WalletProver } from "@sotto/wallet";
import {
  connectProver,
  type OpenWalletOptions,
  openWallet,
  type Port,
  type ProverWorker,
  serveProver,
} from "@sotto/wallet/browser";
import { IndexedDbStore } from "@sotto/wallet/indexeddb";
import { LocalService } from "./support/local-service.ts";
import { MERCHANT, URL, World } from "./support/world.ts";

async function databaseNames(): Promise<string[]> {
  return (await indexedDB.databases()).map(({ name }) => name ?? "");
}

describe("openWallet in a browser", () => {
  const world = new World();
  const ports: MessagePort[] = [];
  after(() => {
    for (const port of ports) port.close();
  });
  /** Calls `serveProver` with one port of a channel and these arguments, and returns the other port. */
  const workerOf = (...given: [] | [WalletProver]): ProverWorker => {
    const { port1, port2 } = new MessageChannel();
    ports.push(port1, port2);
    serveProver(port2 as unknown as Port, ...(given as unknown as []));
    return port1 as unknown as ProverWorker;
  };
  const options = (changes: Partial<OpenWalletOptions> = {}): OpenWalletOptions => ({
    deployment: { chainId: 31_337n, pool: POOL, token: TOKEN, deploymentBlock: 0, set: "development" },
    words: createSeedWords(),
    nodes: world.chain,
    clock: world.clock,
    ...changes,
  });

  it("keeps its state in its own database, and pays with the worker's prover", async () => {
    const words = createSeedWords();
    // Other test files of the same process have databases too.
    const before = new Set(await databaseNames());
    const wallet = await openWallet(options({ words, prover: workerOf(world.prover) }));
    await world.deposit(wallet, [5_000n]);
    await world.append();
    const request = { recipient: world.recipient(await world.wallet()), amount: 1_000n, resourceUrl: URL };
    world.settle(await wallet.pay(request));
    await wallet.close();
    const [name, ...others] = (await databaseNames()).filter((each) => !before.has(each));
    expect(others).to.deep.equal([]);
    expect(name).to.match(new RegExp(`^sotto-31337-${POOL}-[0-9a-f]{16}$`));
    const again = await openWallet(options({ words, prover: world.prover }));
    await world.append();
    await again.scan();
    expect(again.balance().spendable).to.equal(4_000n);
    await again.close();
  });

  it("prepares payments in the worker, and keeps them there", async () => {
    const messages: unknown[] = [];
    const worker = workerOf(world.prover);
    worker.addEventListener("message", ({ data }) => messages.push(data));
    const wallet = await openWallet(options({ prover: worker }));
    await world.deposit(wallet, [5_000n, 5_000n]);
    await world.append();
    world.chain.time += 120;
    world.chain.mine();
    const terms = { recipient: world.recipient(await world.wallet()), amount: 1_000n };
    const prepared = [await wallet.prepare(terms), await wallet.prepare({ ...terms, amount: 2_000n })];
    const { finished, discarded } = world.prover;
    world.prover.asked.length = 0;
    world.settle(await wallet.pay({ ...terms, resourceUrl: URL }));
    expect(world.prover.finished).to.equal(finished + 1);
    expect(world.prover.asked).to.deep.equal([]);
    prepared[1]!.discard();
    // Messages arrive in order: after this answer, the worker has discarded it.
    await wallet.pay({ ...terms, amount: 2_000n, resourceUrl: URL });
    expect(world.prover).to.include({ finished: finished + 1, discarded: discarded + 1 });
    const kept = messages.filter((data) => Object.hasOwn(data as object, "preparedSignals"));
    expect(kept.map((data) => Object.keys(data as object).sort())).to.deep.equal([
      ["id", "preparedSignals"],
      ["id", "preparedSignals"],
    ]);
    await wallet.close();
  });

  it("gets no second proof of a prepared one from the worker, and none from a worker that cannot prepare", async () => {
    const prover = await connectProver(workerOf(world.prover));
    const input = Object.fromEntries(
      CIRCUITS.payment.publicSignals.map(({ name, size }) => [name, Array.from({ length: size }, () => 1n)]),
    );
    const prepared = await prover.prepare!("payment", input, "resourceUrl");
    expect(prepared.publicSignals[1]).to.equal("0");
    expect((await prepared.finish(7n)).publicSignals[1]).to.equal("7");
    expect((await rejection(prepared.finish(8n))).code).to.equal("PREPARED_PROOF_GONE");
    prepared.discard();
    const { artifacts } = world.prover;
    const prove = world.prover.prove.bind(world.prover);
    const other = await connectProver(workerOf({ artifacts, prove }));
    expect((await rejection(other.prepare!("payment", input, "resourceUrl"))).code).to.equal("PREPARE_UNSUPPORTED");
  });

  it("loads the worker's prover for the next proofs while it scans, and only proving reports a failure", async () => {
    const { artifacts } = world.prover;
    const prove = world.prover.prove.bind(world.prover);
    const [words, recipient] = [createSeedWords(), world.recipient(await world.wallet())];
    const funded = await openWallet(options({ words }));
    await world.deposit(funded, [5_000n, 3_000n]);
    await world.append();
    await funded.close();
    const loaded: string[] = [];
    const load = async (circuit: string) => {
      loaded.push(circuit);
      if (circuit !== "payment") throw new ProverError("ARTIFACT_MISSING", "no such file");
    };
    const wallet = await openWallet(options({ words, prover: workerOf({ artifacts, prove, load }) }));
    await wallet.scan();
    expect(loaded).to.deep.equal([]);
    const head = world.chain.head.bind(world.chain);
    /** The node does not answer before the prover has loaded these circuits. */
    const loading = async <T>(circuits: string[], action: () => Promise<T>): Promise<T> => {
      loaded.length = 0;
      world.chain.head = async () => {
        while (loaded.length < circuits.length) await new Promise((resolve) => setTimeout(resolve, 1));
        return head();
      };
      const result = await action();
      expect(loaded).to.deep.equal(circuits);
      return result;
    };
    try {
      const proofs = ["payment", "elgamal_range"];
      const payment = await loading(proofs, () => wallet.pay({ recipient, amount: 1_000n, resourceUrl: URL }));
      await loading(proofs, () => wallet.payAgain(payment.id));
      const withdrawal = await loading(["withdrawal"], () => wallet.withdraw({ recipient: MERCHANT, amount: 1_000n }));
      await loading(["withdrawal"], () => wallet.withdrawAgain(withdrawal.id));
    } finally {
      world.chain.head = head;
    }
    await wallet.close();
  });

  it("warms up the worker's prover for both proofs of a payment, and reports why it cannot", async () => {
    const warmed: string[] = [];
    const { artifacts } = world.prover;
    const prove = world.prover.prove.bind(world.prover);
    const warm = async (circuit: string) => {
      warmed.push(circuit);
      if (circuit === "elgamal_range") throw new ProverError("ARTIFACT_MISSING", "no such file");
    };
    const wallet = await openWallet(options({ prover: workerOf({ artifacts, prove, warm }) }));
    expect((await rejection(wallet.warm())).code).to.equal("ARTIFACT_MISSING");
    expect(warmed).to.deep.equal(["payment", "elgamal_range"]);
    await wallet.close();
    const simple = await openWallet(options({ prover: workerOf({ artifacts, prove }) }));
    await simple.warm();
    await simple.close();
    const without = await openWallet(options());
    expect((await rejection(without.warm())).code).to.equal("INVALID_OPTION");
    await without.close();
  });

  it("can be used by one tab at a time, until it is closed", async () => {
    const words = createSeedWords();
    const first = await openWallet(options({ words }));
    expect((await rejection(openWallet(options({ words })))).code).to.equal("WALLET_BUSY");
    const waiting = openWallet(options({ words }));
    await first.close();
    await (await waiting).close();
  });

  it("neither locks nor closes the caller's store", async () => {
    const store = await IndexedDbStore.open("mine");
    const wallet = await openWallet(options({ store }));
    await wallet.scan();
    await wallet.close();
    expect((await store.list("")).length).to.be.greaterThan(0);
    await store.close();
  });

  it("funds through the service it was opened with", async () => {
    const service = new LocalService(world);
    const wallet = await openWallet(options({ service: "https://pay.example/zk" }));
    const account = { getAddress: async () => POOL, signTypedData: async () => "0x" };
    const poor = await rejection(wallet.fund({ amount: 5_000_000_000n, account }));
    expect([poor.code, service.asked]).to.deep.equal(["INSUFFICIENT_TOKENS", []]);
    await wallet.close();
  });

  it("reports why the worker has no prover", async () => {
    const missing = await rejection(connectProver(workerOf()));
    expect(missing.code).to.equal("ARTIFACTS_SOURCE_INVALID");
    const unknown = connectProver(workerOf(), { source: { service: "https://pay.example/zk", set: "ceremony/none" } });
    expect((await rejection(unknown)).code).to.equal("ARTIFACT_SET_UNKNOWN");
    const port = workerOf(world.prover);
    const other = openWallet(options({ prover: port, deployment: { ...options().deployment, set: "ceremony/none" } }));
    expect((await rejection(other)).code).to.equal("SET_MISMATCH");
  });

  it("requires a node unless the chain is local", async () => {
    const deployment = { ...options().deployment, chainId: 84_532n };
    const error = await rejection(openWallet(options({ deployment, nodes: undefined })));
    expect(error.message).to.equal("nodes is missing: the URL of a JSON-RPC node of chain 84532");
  });
});

describe("a browser's bundle", () => {
  const folder = temporaryFolder("bundle");

  /** Bytes that an export loads before it runs, and all packages that it loads then or later. */
  async function bundle(name: string) {
    const { outputs } = (
      await build({
        stdin: {
          contents: `export { ${name} } from "./browser/index.ts";`,
          resolveDir: join(import.meta.dirname, "../src"),
        },
        outdir: join(folder, name),
        bundle: true,
        splitting: true,
        format: "esm",
        platform: "browser",
        target: "es2022",
        minify: true,
        metafile: true,
        logLevel: "error",
      })
    ).metafile;
    const first = new Set<string>();
    const visit = (file: string) => {
      if (first.has(file)) return;
      first.add(file);
      for (const { path, kind } of outputs[file]?.imports ?? []) if (kind === "import-statement") visit(path);
    };
    for (const [file, { entryPoint }] of Object.entries(outputs)) if (entryPoint === "<stdin>") visit(file);
    const packagesOf = (files: Iterable<string>) =>
      new Set(
        [...files]
          .flatMap((file) => Object.entries(outputs[file]?.inputs ?? {}))
          .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
          .map(([input]) => packageOf(input)),
      );
    const bytes = [...first].reduce((sum, file) => sum + (outputs[file]?.bytes ?? 0), 0);
    return { bytes, first: packagesOf(first), all: packagesOf(Object.keys(outputs)) };
  }
  const packageOf = (input: string): string => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(input)?.[1] ?? "sotto";

  it("needs at most 350 KB to open a wallet, without the proving code", async () => {
    const { bytes, first } = await bundle("openWallet");
    expect(bytes).to.be.within(100_000, 350_000);
    for (const later of ["snarkjs", "wasmcurves"]) expect(first.has(later)).to.equal(false);
  });

  it("loads neither snarkjs nor another curve in the prover's worker", async () => {
    const { bytes, first, all } = await bundle("serveProver");
    expect(bytes).to.be.within(20_000, 250_000);
    for (const other of ["snarkjs", "ffjavascript", "wasmcurves"]) expect(all.has(other)).to.equal(false);
    expect(first.has("ethers")).to.equal(false);
  });
});
