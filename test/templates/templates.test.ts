// Every template as a stranger uses it: created outside the checkout, installed from a registry, type-checked, started and
// tested against `npm run dev`.
import { writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { createProject, TEMPLATES } from "create-sotto";
import { slow } from "../kit/slow.ts";
import { findChromium } from "../web/support/chromium.ts";
import { install, npm, openWorld, type World } from "./world.ts";

describe("templates", function () {
  slow(this, "packages are packed and installed, and payments proved");
  let world: World;
  /** A program that starts Chromium with what it needs, so that no other program sees these variables. */
  let chromium: string;
  before(async () => {
    world = await openWorld();
    const { path, environment } = await findChromium();
    const variables = Object.entries(environment).map(([name, value]) => `${name}='${value}' `);
    chromium = join(world.folder, "chromium");
    const options = "--disable-gpu --disable-software-rasterizer";
    writeFileSync(chromium, `#!/bin/sh\n${variables.join("")}exec '${path}' ${options} "$@"\n`, { mode: 0o755 });
  });

  for (const template of TEMPLATES)
    describe(template.name, () => {
      let folder: string;
      before(() => {
        folder = join(world.folder, template.name);
        createProject(template.name, folder, world.registry.url);
      });
      // An installed project has thousands of files.
      after(() => rm(folder, { recursive: true, force: true }));
      it("installs", async () => {
        await install(folder);
      });

      it("type-checks", async () => {
        await npm(folder, ["run", "types"]);
      });

      it("passes its tests, which start it", async () => {
        const variables = { ...world.environment, CHROMIUM: chromium };
        expect(await npm(folder, ["test"], variables)).to.match(/^ℹ pass [1-9]\d*$/m);
      });
    });
});
