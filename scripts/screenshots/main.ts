// `npm run screenshots`: starts `npm run dev` with a new state, pays in the web app, and writes the pictures in
// docs/images, and the layout of each page, with which a test compares the app.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connectChain, decodeEvent } from "@sotto/chain";
import { runCommand } from "@sotto/command/command";
import { portsFrom } from "@sotto/dev/ports";
import { toJson, writeAtomically } from "@sotto/keys/circuits/files";
import { root } from "@sotto/keys/circuits/paths";
import { parseDeployment } from "@sotto/protocol";
import { launchChromium } from "@sotto/test-browser/chromium";
import { eventually } from "@sotto/test-kit/eventually";
import type { Page } from "playwright-core";
import { freePorts, RUNNING, startDev } from "../../test/dev/support/dev.ts";
import { PICTURES, type Picture, readLayout, VIEWPORT } from "../../test/web/support/pictures.ts";
import { WalletPage } from "../../test/web/support/wallet-page.ts";

const IMAGES = join(root, "docs", "images");
/** Number of other wallets' payments before the pictures are taken. */
const OTHERS = 12;
/** Payments a second. */
const TRAFFIC = "0.3";

const tell = (line: string): void => void process.stderr.write(`  ${line}\n`);

/** Creates a wallet, deposits test tokens and pays the news server. */
async function useWallet(wallet: WalletPage): Promise<void> {
  await wallet.go("/wallet");
  await wallet.create();
  await wallet.page.getByRole("link", { name: "Add funds" }).click();
  await wallet.button("Get test USDC").click();
  await wallet.page.locator("dialog").getByText("100.00").waitFor();
  await wallet.field("Amount").fill("20");
  await wallet.button("Sign and deposit").click();
  await wallet.reach(wallet.button("Done"));
  await wallet.button("Done").click();
  await wallet.hasSpendable("20.00");
  await wallet.page.locator("li", { hasText: "News" }).getByRole("link").click();
  await wallet.page.getByTestId("confirm").waitFor();
  await wallet.agree();
  await wallet.delivered();
  await wallet.button("Done").click();
  await wallet.hasSpendable("19.95");
}

/** Waits until the traffic of `npm run dev` has made private payments. The pool's events show them, after the one of the web app. */
async function waitForOthers(port: number, state: string): Promise<void> {
  const { chainId, pool } = parseDeployment(JSON.parse(readFileSync(join(state, "deployment.json"), "utf8")));
  const chain = connectChain({ urls: [`http://127.0.0.1:${portsFrom(port).chain}`], chainId: BigInt(chainId) });
  await eventually(async () => {
    const logs = await chain.logs({ address: pool, from: 0, to: (await chain.head()).number });
    return logs.filter((log) => decodeEvent(log)?.type === "settled").length > OTHERS;
  });
}

async function take(page: Page, { name, prepare }: Picture, viewingKey: string): Promise<void> {
  await prepare(page, viewingKey);
  writeAtomically(join(IMAGES, `${name}.json`), toJson(await readLayout(page)));
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    await prepare(page, viewingKey);
    const file = `${name}-${colorScheme}.png`;
    const png = await page.screenshot({ animations: "disabled" });
    writeAtomically(join(IMAGES, file), png);
    tell(`${file}: ${Math.ceil(png.length / 1000)} kB`);
  }
  await page.emulateMedia({ colorScheme: "light" });
}

await runCommand(async () => {
  const state = mkdtempSync(join(tmpdir(), "sotto-screenshots-"));
  const port = await freePorts();
  tell("starting npm run dev");
  const dev = startDev("--port", String(port), "--state", state, "--traffic", TRAFFIC);
  const browser = await launchChromium();
  try {
    await dev.until(RUNNING);
    await browser.during(async () => {
      // Without a locale, Chromium reports one that Intl rejects.
      const page = await browser.newPage({
        viewport: VIEWPORT,
        locale: "en-US",
        timezoneId: "UTC",
        colorScheme: "light",
      });
      const wallet = new WalletPage(page, `http://127.0.0.1:${port}`);
      tell("paying in the web app");
      await useWallet(wallet);
      tell(`waiting for ${OTHERS} payments by others`);
      await waitForOthers(port, state);
      const viewingKey = readFileSync(join(state, "viewing-key.json"), "utf8");
      for (const picture of PICTURES) {
        await wallet.go(picture.route);
        await take(page, picture, viewingKey);
      }
    });
  } finally {
    await browser.close();
    dev.child.kill("SIGTERM");
    await dev.ended;
    rmSync(state, { recursive: true });
  }
});
