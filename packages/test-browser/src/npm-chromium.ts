// Unpacks the Chromium from npm (@sparticuz/chromium) into the checkout. It runs on Linux on x64 with glibc.
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { writeIfChanged } from "@sotto/keys/circuits/files";
import { inflate } from "@sparticuz/chromium";

const ROOT = join(import.meta.dirname, "..", "..", "..");

/**
 * Uses only the package's fonts, none of the machine's. The package's own fonts.conf names only folders of the machines
 * that the package targets. Without a font, Chromium gives text no height and sometimes aborts, because it then calls a
 * function that Skia's font manager does not implement.
 */
const FONTS_CONF = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">
<fontconfig>
  <dir prefix="relative">fonts</dir>
  <cachedir prefix="xdg">fontconfig</cachedir>
</fontconfig>
`;

export interface NpmChromium {
  readonly path: string;
  /** Variables that Chromium needs to find its libraries and fonts. */
  readonly environment: Readonly<Record<string, string>>;
}

/**
 * Unpacks Chromium unless it is unpacked already. The package itself would unpack into the machine's temporary folder,
 * and run any existing file of that name. It also unpacks NSS, NSPR and Expat, which minimal images lack.
 */
export async function unpackChromium(): Promise<NpmChromium> {
  const entry = createRequire(import.meta.url).resolve("@sparticuz/chromium");
  const packed = join(dirname(entry), "..", "bin");
  const { version } = createRequire(import.meta.url)(join(packed, "..", "package.json")) as { version: string };
  const folder = join(ROOT, `.toolchain-chromium-${version}`);
  if (!existsSync(folder)) {
    // Unpacked into another folder and then renamed, so that the final folder is always complete.
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
  const fontsConf = join(folder, "fonts", "sotto.conf");
  writeIfChanged(fontsConf, FONTS_CONF);
  return {
    path: join(folder, "chromium"),
    environment: {
      LD_LIBRARY_PATH: join(folder, "al2023", "lib"),
      FONTCONFIG_FILE: fontsConf,
      // Fontconfig keeps its cache here.
      XDG_CACHE_HOME: join(folder, "cache"),
    },
  };
}
