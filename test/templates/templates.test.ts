// Every template as users use it: created outside the checkout, installed from a registry, type-checked, started and
// tested against `npm run dev`.
import { copyFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { inLongRun } from "@sotto/test-kit/matrix";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { createProject, TEMPLATES } from "create-sotto";
import { findChromium } from "../web/support/chromium.ts";
import { install, npm, openWorld, type World } from "./world.ts";

/**
 * Templates that are installed separately, as users do. The agent project starts programs from its own node_modules.
 */
const ALONE = inLongRun(
  ["resource-server-express", "client-mcp"],
  ["resource-server-fastify", "resource-server-hono", "client", "browser"],
);
/** The other templates share one installation; packages/create-sotto tests that each declares its imports. */
const TOGETHER = TEMPLATES.map(({ name }) => name).filter((name) => !ALONE.includes(name));

describe("templates", function () {
  slow(this, "packages are packed and installed, and payments proved");
  let world: World;
  /** A program that starts Chromium with the variables that it needs, so that no other program sees them. */
  let chromium: string;
  before(async () => {
    world = await openWorld();
    const { path, environment } = await findChromium();
    const variables = Object.entries(environment).map(([name, value]) => `${name}='${value}' `);
    chromium = join(world.folder, "chromium");
    const options = "--disable-gpu --disable-software-rasterizer";
    writeFileSync(chromium, `#!/bin/sh\n${variables.join("")}exec '${path}' ${options} "$@"\n`, { mode: 0o755 });
  });

  /** Creates projects as members of a workspace, and installs them with one command. */
  async function installTogether(names: readonly string[]): Promise<void> {
    const folder = join(world.folder, "together");
    for (const name of names) createProject(name, join(folder, name), world.registry.url);
    writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, workspaces: names }));
    copyFileSync(join(folder, names[0]!, ".npmrc"), join(folder, ".npmrc"));
    await install(folder);
  }

  const worksIn = (folder: () => string) => {
    it("type-checks", async () => {
      await npm(folder(), ["run", "types"]);
    });

    it("passes its own tests, which start the project", async () => {
      const variables = { ...world.environment, CHROMIUM: chromium };
      expect(await npm(folder(), ["test"], variables)).to.match(/^ℹ pass [1-9]\d*$/m);
    });
  };

  for (const name of ALONE)
    describe(name, () => {
      const folder = () => join(world.folder, name);
      it("installs", async () => {
        createProject(name, folder(), world.registry.url);
        await install(folder());
      });
      worksIn(folder);
    });

  describe("together", () => {
    before(() => (TOGETHER.length === 0 ? undefined : installTogether(TOGETHER)));
    for (const name of TOGETHER) describe(name, () => worksIn(() => join(world.folder, "together", name)));
  });
});
