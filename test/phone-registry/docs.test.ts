// Checks that the settings, commands and metrics of docs/phone-registry.md exist. test/templates runs its programs.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { REGISTRY_SETTINGS } from "@sotto/phone-registry";
import { expect } from "chai";
import { registryOf } from "./support/world.ts";

const root = join(import.meta.dirname, "..", "..");
const text = readFileSync(join(root, "docs", "phone-registry.md"), "utf8");

describe("docs/phone-registry.md", function () {
  const registry = registryOf(this);

  it("names only existing settings, commands and metrics", async () => {
    const known = new Set(Object.values(REGISTRY_SETTINGS).map(({ variable }) => variable as string));
    known.add("SOTTO_PHONE_REGISTRY");
    const named = [...text.matchAll(/SOTTO_[A-Z_]+/g)].map((match) => match[0].replace(/_FILE$/, ""));
    expect(named.filter((name) => !known.has(name) && !known.has(`${name}_FILE`))).to.deep.equal([]);
    const program = join(root, "packages", "phone-registry", "dist", "main.js");
    const { stdout: usage } = spawnSync(process.execPath, [program, "help"], { encoding: "utf8" });
    for (const [, command = ""] of text.matchAll(/sotto-phone-registry ([a-z-]+)/g))
      expect(usage).to.include(`  ${command}`);
    const shown = await (await fetch(`${new URL(registry.url).origin}/metrics`)).text();
    for (const [, name = ""] of text.matchAll(/`(sotto_phone_[a-z_]+)/g)) expect(shown).to.include(`# TYPE ${name} `);
  });
});
