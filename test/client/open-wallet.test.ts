// One call opens a wallet from a manifest and words, with a real chain and service: it funds itself and pays.

import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { wrapFetch } from "@sotto/client";
import { parseDeployment } from "@sotto/protocol";
import { closedAfterTest } from "@sotto/test-kit/closed-after";
import { rejection } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { SmallServer } from "@sotto/test-world/small-server";
import { accountOf, openWallet as openTestWallet, openWorld, type World } from "@sotto/test-world/wallets";
import { createSeedWords, MemoryStore, seedFromWords } from "@sotto/wallet";
import { type OpenWalletOptions, openWallet } from "@sotto/wallet/node";
import { expect } from "chai";

const PRICE = 10_000n;
/** The second account, which holds the test tokens. */
const account = accountOf(1);

describe("openWallet", function () {
  slow(this, "a chain, a service and proofs");
  const folder = temporaryFolder("open");
  let world: World;
  let server: SmallServer;
  before(async () => {
    world = await openWorld();
    server = await SmallServer.open(world, await openTestWallet(world), { price: PRICE });
  });
  after(async () => {
    await server?.close();
  });

  const options = (changes: Partial<OpenWalletOptions> = {}): OpenWalletOptions => ({
    deployment: parseDeployment(world),
    words: createSeedWords(),
    nodes: world.node.url,
    service: world.serviceUrl,
    folder,
    ...changes,
  });
  const stores = () => readdirSync(join(folder, "wallets")).filter((name) => name.endsWith(".sqlite"));

  it("opens, funds and pays from a manifest and words alone", async () => {
    const downloaded = new Set<string>();
    const wallet = closedAfterTest(
      await openWallet(
        options({
          onDownload: ({ circuit, kind, received, total }) =>
            received === total && downloaded.add(`${circuit}.${kind}`),
        }),
      ),
    );
    expect(existsSync(join(folder, "artifacts")), "nothing is downloaded to open").to.equal(false);
    const stages: string[] = [];
    const funded = await wallet.fund({
      amounts: [3n * PRICE, PRICE],
      account,
      onProgress: ({ stage }) => stages.push(stage),
    });
    expect(funded.transaction).to.match(/^0x[0-9a-f]{64}$/);
    expect(funded.amounts).to.deep.equal([3n * PRICE, PRICE]);
    expect(stages[0]).to.equal("signing");
    expect(stages.at(-1)).to.equal("spendable");
    expect(wallet.balance().spendable).to.equal(4n * PRICE);
    const pay = wrapFetch(fetch, wallet, { services: [world.serviceUrl], maxPerRequest: PRICE });
    expect(await (await pay(`${server.url}/open`)).text()).to.equal("sold /open ");
    const kinds = ["wasm", "zkey", "vkey"];
    const expected = ["payment", "elgamal_range"].flatMap((circuit) => kinds.map((kind) => `${circuit}.${kind}`));
    expect([...downloaded].sort()).to.deep.equal(expected.sort());
    expect(readdirSync(join(folder, "artifacts"))).to.have.lengthOf(expected.length);
    expect(stores()).to.have.lengthOf(1);
    expect(stores()[0]).to.match(/^31337-0x[0-9a-f]{40}-[0-9a-f]{16}\.sqlite$/);
    expect(statSync(join(folder, "wallets", stores()[0]!)).mode & 0o777).to.equal(0o600);
  });

  it("keeps its state when it is reopened, and allows one user at a time", async () => {
    const words = createSeedWords();
    const first = await openWallet(options({ words }));
    await first.fund({ amount: PRICE, account });
    const busy = await rejection(openWallet(options({ words })));
    expect(busy.code).to.equal("WALLET_BUSY");
    // A second wallet has its own store.
    await (await openWallet(options())).close();
    await first.close();
    await first.close();
    expect((await rejection(first.scan())).code).to.equal("WALLET_CLOSED");
    const second = await openWallet(options({ seed: seedFromWords(words), words: undefined }));
    await second.scan();
    expect(second.balance().spendable).to.equal(PRICE);
    await second.close();
  });

  it("releases the store if opening fails", async () => {
    const words = createSeedWords();
    const wrong = { ...parseDeployment(world), pool: `0x${"12".repeat(20)}` as const };
    const store = join(folder, "released.sqlite");
    expect((await rejection(openWallet(options({ words, store, deployment: wrong })))).code).to.equal(
      "POOL_NOT_DEPLOYED",
    );
    await (await openWallet(options({ words, store }))).close();
  });

  it("rejects missing and contradictory options before it touches the disk", async () => {
    const nowhere = join(folder, "nowhere");
    const deployment = parseDeployment(world);
    const cases: [string, Partial<Record<keyof OpenWalletOptions, unknown>>][] = [
      ["INVALID_OPTION", { deployment: undefined }],
      ["INVALID_OPTION", { deployment: { ...deployment, set: undefined } }],
      ["INVALID_OPTION", { words: undefined }],
      ["INVALID_OPTION", { seed: new Uint8Array(32) }],
      ["INVALID_WORDS", { words: "one two" }],
      ["INVALID_OPTION", { deployment: { ...deployment, chainId: 84532 }, nodes: undefined }],
      ["INVALID_ADDRESS", { deployment: { ...deployment, pool: "0x12" } }],
      ["INVALID_OPTION", { store: "" }],
    ];
    for (const [code, changes] of cases) {
      const error = await rejection(openWallet({ ...options({ folder: nowhere }), ...changes } as OpenWalletOptions));
      expect(error.code, JSON.stringify(Object.keys(changes))).to.equal(code);
    }
    expect(existsSync(nowhere)).to.equal(false);
  });

  it("refuses development keys on a chain that is not local, and downloads nothing", async () => {
    // The same chain, under the id of a public chain.
    const { chain } = await openTestWallet(world);
    const elsewhere = new Proxy(chain, {
      get: (target, name) => (name === "chainId" ? async () => 84_532n : Reflect.get(target, name).bind(target)),
    });
    const deployment = { ...parseDeployment(world), chainId: 84_532n };
    const nowhere = join(folder, "elsewhere");
    const refused = openWallet(options({ deployment, nodes: elsewhere, folder: nowhere, store: new MemoryStore() }));
    expect((await rejection(refused)).code).to.equal("DEVELOPMENT_KEYS_REFUSED");
    expect(existsSync(nowhere)).to.equal(false);
  });
});
