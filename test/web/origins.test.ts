// The wallet page follows a curator: in a real browser, with a real chain, a real service, real proofs, and a resource server that
// asks where the money comes from. The tests follow one wallet.
import { connectChain } from "@sotto/chain";
import { origins } from "@sotto/origins/server";
import { createVerifier, loadArtifacts } from "@sotto/prover";
import { verifyOrigin } from "@sotto/prover/origin";
import { assertLayouts } from "@sotto/test-browser/accessible";
import { launchChromium } from "@sotto/test-browser/chromium";
import { STEP_MS, type TestBrowser } from "@sotto/test-browser/test-browser";
import { clearOfMidnight } from "@sotto/test-kit/clock";
import { eventually } from "@sotto/test-kit/eventually";
import { slow } from "@sotto/test-kit/slow";
import { openResourceServer, type ResourceServer } from "@sotto/test-world/resource-server";
import { ARTIFACTS, closeWorld, openWorld, type World } from "@sotto/test-world/wallets";
import { expect } from "chai";
import type { Locator } from "playwright-core";
import { MemoryCurator } from "../../packages/origins/test/support/memory-curator.ts";
import { type ServedCurator, serveCurator } from "../../packages/origins/test/support/served-curator.ts";
import { type Host, openHost } from "./support/host.ts";
import { PASSPHRASE, WalletPage } from "./support/wallet-page.ts";

const verifier = createVerifier({ artifacts: await loadArtifacts({ folder: ARTIFACTS }) });

describe("the wallet page that follows a curator", function () {
  slow(this, "a browser, a chain and proofs");
  // Each test continues with the wallet from the previous test.
  this.bail(true);
  let world: World;
  let curator: MemoryCurator;
  let site: ServedCurator;
  let resourceServer: ResourceServer;
  let host: Host;
  let browser: TestBrowser;
  let wallet: WalletPage;

  before(async () => {
    browser = await launchChromium();
    world = await openWorld({ SOTTO_CORS_ORIGINS: "*" });
    const chain = connectChain({ urls: [world.node.url], chainId: BigInt(world.chainId) });
    curator = new MemoryCurator({ chain, pool: world.pool, verify: (claim) => verifyOrigin(verifier, claim) });
    site = await serveCurator(curator);
    const sets = [{ curator: site.url, key: curator.curator, name: curator.name }];
    resourceServer = await openResourceServer(world, "0.01", false, [origins({ sets })]);
    host = await openHost({ chain: world.node.url, token: world.token });
    const { version, network, set, chainId, pool, token, deploymentBlock, smallestDeposit, contracts } = world;
    const { verificationKeys } = world;
    const place = { version, network, set, chainId, pool, token, deploymentBlock };
    host.config = {
      name: "Test chain",
      deployment: { ...place, smallestDeposit, contracts, verificationKeys },
      nodes: [world.node.url],
      service: world.serviceUrl,
      faucet: host.faucetUrl,
    };
    await clearOfMidnight();
    const context = await browser.browser.newContext({ viewport: { width: 1280, height: 900 }, locale: "en-US" });
    const page = await context.newPage();
    page.setDefaultTimeout(STEP_MS);
    wallet = new WalletPage(page, host.url);
  });
  after(async () => {
    await browser?.close();
    await host?.close();
    await resourceServer?.close();
    site?.close();
    await closeWorld();
  });

  const during = (steps: () => Promise<void>) => () =>
    browser.during(steps).catch(async (error: Error) => {
      const shown = await wallet.page
        .locator("main")
        .textContent()
        .catch(() => "nothing");
      error.cause ??= new Error(`the page says: ${shown}; its console: ${wallet.said.join("; ") || "nothing"}`);
      throw error;
    });
  const settings = () => ({ curator: curator.curator, name: curator.name, url: site.url, minimumCrowd: 0 });
  const amount = (place: string, text: string): Locator =>
    wallet.page.getByTestId(place).filter({ hasText: new RegExp(`^${text.replace(".", "\\.")} USDC$`) });
  const claims = () => site.asked.filter((line) => line === "POST /claims").length;

  it(
    "follows a set that its owner enters, and refuses a setting with a typo",
    during(async () => {
      await wallet.go("/wallet");
      await wallet.create();
      await wallet.go("/wallet/add");
      await wallet.button("Get test USDC").click();
      await wallet.page.locator("dialog").getByText("100.00").waitFor();
      await wallet.field("Amount").fill("2");
      await wallet.button("Sign and deposit").click();
      await wallet.reach(wallet.button("Done"));
      await wallet.button("Done").click();
      await wallet.hasSpendable("2.00");
      await curator.acceptNew();

      await wallet.go("/wallet/origins");
      await assertLayouts(wallet.page, "no curator");
      await wallet.page.setViewportSize({ width: 1280, height: 900 });
      await wallet.field("Settings (JSON)").fill(JSON.stringify({ ...settings(), minimum: 5 }));
      await wallet.button("Follow").click();
      await wallet.showsError("CURATOR_SETTINGS_INVALID");
      await wallet.field("Settings (JSON)").fill(JSON.stringify(settings()));
      await wallet.button("Follow").click();
      await amount("in-set", "2.00").waitFor();
      await amount("waiting", "0.00").waitFor();
      expect(await wallet.errors()).to.deep.equal([]);
      expect(site.asked).to.include("GET /head.json");
    }),
  );

  it(
    "shows the set to a merchant that asks, claims the payment, and the change inherits the origin",
    during(async () => {
      const url = `${resourceServer.url}/article`;
      await wallet.ask(url);
      await wallet.agree();
      expect(await wallet.delivered()).to.equal("sold /article");
      expect(resourceServer.events).to.include("origin");
      await wallet.hasArrived();
      await wallet.go("/wallet/origins");
      // The merchant claims too: what the wallet sends itself has another connection.
      await amount("in-set", "1.50").waitFor();
      await amount("waiting", "0.49").waitFor();
      const before = claims();
      await wallet.button("Read it now").click();
      await wallet.page.getByText("Waits: the curator's next head decides.").waitFor();
      await eventually(async () => claims() > before);
      await assertLayouts(wallet.page, "a followed set");
      await wallet.page.setViewportSize({ width: 1280, height: 900 });
      await curator.sign();
      await wallet.button("Read it now").click();
      await amount("in-set", "1.99").waitFor();
      await amount("waiting", "0.00").waitFor();
      expect(await wallet.errors()).to.deep.equal([]);
    }),
  );

  it(
    "follows the set after a reload, and no longer once its owner says so",
    during(async () => {
      await wallet.page.reload();
      await wallet.field("Passphrase").fill(PASSPHRASE);
      await wallet.button("Unlock").click();
      await amount("in-set", "1.99").waitFor();
      await wallet.button("Unfollow").click();
      await wallet.page.getByText("No curator followed").waitFor();
      const shown = resourceServer.events.filter((event) => event === "origin").length;
      await wallet.ask(`${resourceServer.url}/second`);
      await wallet.agree();
      expect(await wallet.delivered()).to.equal("sold /second");
      expect(resourceServer.events.filter((event) => event === "origin")).to.have.length(shown);
    }),
  );
});
