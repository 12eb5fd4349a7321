// A software bill of materials for each packed package, beside its tarball. It is not in the package: it lists the versions
// of this checkout's lockfile, and a user's package manager may choose newer ones of indirect dependencies.
import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { CommandError } from "@sotto/command/command";
import { root } from "@sotto/keys/circuits/paths";
import type { PackedPackage } from "./pack.ts";

/** The part of a CycloneDX document that is changed. */
interface Bom {
  serialNumber?: string;
  readonly metadata: { timestamp?: string; readonly component: { hashes?: object[] } };
  readonly components: { readonly "bom-ref": string }[];
}

const run = promisify(execFile);

/** @returns the path of a package's bill of materials */
export const sbomPath = ({ tarball }: PackedPackage): string => tarball.replace(/\.tgz$/, ".cdx.json");

/** Writes CycloneDX documents; the same packages always give the same bytes. @throws CommandError PACK_FAILED */
export async function writeSboms(packages: readonly PackedPackage[]): Promise<void> {
  const filters = packages.map(({ folder }) => `--filter=./${folder}`);
  const out = join(dirname(packages[0]!.tarball), "%s-%v.cdx.json");
  const args = ["sbom", "--sbom-format=cyclonedx", "--prod", "--split", `--out=${out}`, ...filters];
  await run("pnpm", args, { cwd: root }).catch((error) => {
    const { stderr, message } = error as { stderr?: string; message: string };
    throw new CommandError("PACK_FAILED", `pnpm could not list the dependencies: ${stderr || message}`, {
      inLines: true,
    });
  });
  for (const one of packages) {
    const bom = JSON.parse(readFileSync(sbomPath(one), "utf8")) as Bom;
    // Both fields are optional, and differ in each run.
    delete bom.serialNumber;
    delete bom.metadata.timestamp;
    // pnpm lists them in any order.
    bom.components.sort((left, right) => (left["bom-ref"] < right["bom-ref"] ? -1 : 1));
    const content = Buffer.from(one.integrity.replace("sha512-", ""), "base64").toString("hex");
    bom.metadata.component.hashes = [{ alg: "SHA-512", content }];
    writeFileSync(sbomPath(one), `${JSON.stringify(bom, null, 2)}\n`);
  }
}
